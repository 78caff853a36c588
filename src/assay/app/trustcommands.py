# SPDX-License-Identifier: Apache-2.0
"""The commands that say whether a Record can be trusted."""

from __future__ import annotations

import json

import click

from assay.app.saying import say

MOST = 50
"""Mismatches listed for people; --json lists them all."""


@click.command()
@click.argument("record", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print what was checked as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing for people.")
def verify(record: str, *, as_json: bool, quiet: bool) -> None:
    """Compute every number of a Record again from its tallies, check its digests and its row accounting."""
    from assay.assess.record import Record
    from assay.assess.verifying import verify as verified

    found = verified(Record.load(record, unsealed=True))
    if as_json:
        click.echo(json.dumps({"record": record, **found.to_json()}, indent=1, ensure_ascii=False, allow_nan=False))
    if not quiet:
        for one in found.mismatches[:MOST]:
            say(f"mismatch {one.said()}")
        if len(found.mismatches) > MOST:
            say(f"  and {len(found.mismatches) - MOST:,} more; --json lists them all")
        for text in found.unchecked:
            say(f"? not computed again: {text}")
        if not found.sealed:
            say("? no digest of the whole content: written by an early version; notes and environment are not covered")
        parts = ", ".join(name.replace("_", " ") for name, n in found.checked.items() if n)
        say(f"checked  digests, row accounting, and computed again: {parts or 'nothing'}")
        say(f"verdict  {'verified: everything is as it was written' if found.holds else 'NOT as it was written'}")
    if not found.holds:
        raise SystemExit(1)
