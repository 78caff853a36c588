# SPDX-License-Identifier: Apache-2.0
"""The commands that say whether Records and ledgers can be trusted."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from assay.app.messages import say, say_line, tell_line
from assay.app.option_types import Group
from assay.core.text import counted, listed, visible

MOST = 50
"""Mismatches listed for people; --json lists them all."""
LINE = 64
"""Bytes that hold the first line of a key."""


@click.command()
@click.argument("record", type=click.Path())
@click.option("--key", metavar="FILE", type=click.Path(), help="Also check the signature by this public key.")
@click.option(
    "--signature", metavar="FILE", type=click.Path(), help="Where the signature lies [default: RECORD.dsse.json]"
)
@click.option("--json", "as_json", is_flag=True, help="Print what was checked as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing for people.")
def verify(record: str, *, key: str | None, signature: str | None, as_json: bool, quiet: bool) -> None:
    """Compute every number of a Record again from its tallies, check its digests, row accounting and signature."""
    from assay.assess.record.record import Record
    from assay.assess.record.verification import verify as verified

    verification = verified(Record.load(record, unsealed=True))
    signed = None if key is None else _signature(record, key, signature)
    holds = verification.holds and (signed is None or signed["holds"] is True)
    if as_json:
        told = {"record": record, **verification.to_json(), "verified": holds}
        told |= {} if signed is None else {"signature": signed}
        click.echo(json.dumps(told, indent=1, ensure_ascii=False, allow_nan=False))
    if not quiet:
        for one in verification.mismatches[:MOST]:
            tell_line(f"mismatch {one.said()}")
        if len(verification.mismatches) > MOST:
            tell_line(f"  and {len(verification.mismatches) - MOST:,} more; --json lists them all")
        for text in verification.unchecked:
            tell_line(f"? not computed again: {text}")
        parts = ", ".join(name.replace("_", " ") for name, n in verification.checked.items() if n)
        tell_line(f"checked  digests, row accounting, and computed again: {parts or 'nothing'}")
        for line in _said_of(signed, record):
            tell_line(line)
        done = (
            "verified: everything"
            if verification.made_by is None
            else f"only assay {verification.made_by} recomputes it; the rest"
        )
        verdict = f"{done} is as it was written" if verification.holds else "NOT as it was written"
        if signed is not None:
            verdict += ", and signed by the key" if signed["holds"] else ", and NOT signed by the key"
        tell_line(f"verdict  {verdict}")
    if not holds:
        raise SystemExit(1)


def _signature(record: str, key: str, place: str | None) -> dict[str, object]:
    """The signature by a key, or why there is none."""
    from assay.assess.record.signatures import signed_by
    from assay.core.errors import RecordError

    try:
        return signed_by(record, key, place).to_json()
    except RecordError as error:
        return {"holds": False, "why": error.what, "where": error.where, "known": error.known}


def _said_of(signed: dict[str, object] | None, record: str) -> Iterator[str]:
    from assay.assess.record.signatures import envelope_of

    if signed is None:
        if envelope_of(record).is_file():
            yield f"? signed, not checked: assay verify {record} --key KEY.pub"
    elif signed["holds"]:
        yield f"signed   {signed['signed_at']} by the key {str(signed['keyid'])[:16]}…"
    else:
        known = f"; {signed['known']}" if signed.get("known") else ""
        yield f"mismatch signature: {signed['why']}{known}"


@click.command()
@click.argument("record", type=click.Path())
@click.option("--key", metavar="FILE", required=True, type=click.Path(), help="The private key, see `assay key new`.")
@click.option("--out", "-o", type=click.Path(), help="The signature [default: RECORD.dsse.json]")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing for people.")
def sign(record: str, *, key: str, out: str | None, quiet: bool) -> None:
    """Sign a Record that verifies: a DSSE envelope with an in-toto statement, beside the Record.

    The passphrase of a key is taken from ASSAY_KEY_PASSPHRASE, or asked for at a terminal.
    """
    from assay.assess.record.signatures import sign as signed

    written, keyid = signed(record, key, passphrase=_passphrase(key), out=out)
    if not quiet:
        say_line(f"signed   {written} by the key {keyid[:16]}…")
        say_line(f"next     assay verify {record} --key {key}.pub")


def _passphrase(key: str) -> str | None:
    given = os.environ.get("ASSAY_KEY_PASSPHRASE")
    if given is not None or not sys.stdin.isatty():
        return given
    try:
        hidden = b"ENCRYPTED" in Path(key).read_bytes()[:LINE]
    except OSError:
        return None  # told of when the key is read
    return str(click.prompt(f"Passphrase of {key}", hide_input=True, err=True)) if hidden else None


@click.group("key", cls=Group)
def keys() -> None:
    """Commands about keys that sign Records."""


@keys.command("new")
@click.option("--out", "-o", default="assay.key", show_default=True, type=click.Path(), help="The private key.")
@click.option("--passphrase", "asked", is_flag=True, help="Ask for a passphrase, or take ASSAY_KEY_PASSPHRASE.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing for people.")
def key_new(*, out: str, asked: bool, quiet: bool) -> None:
    """Make an Ed25519 key pair: FILE, to be kept secret, and FILE.pub, to be handed out."""
    from assay.assess.record.signatures import new_key

    passphrase = os.environ.get("ASSAY_KEY_PASSPHRASE") if asked else None
    if asked and passphrase is None:
        passphrase = str(click.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True))
    private, public, keyid = new_key(out, passphrase)
    if not quiet:
        say_line(f"key      {private}   keep it secret{'' if passphrase else '; it has no passphrase'}")
        say_line(f"public   {public}   hand it out; id {keyid[:16]}…")
        say_line(f"next     assay sign record.json --key {private}")


@click.group(cls=Group)
def ledger() -> None:
    """Commands about the ledger of choices made before the test."""


@ledger.command("add")
@click.argument("says", metavar="SENTENCE")
@click.option(
    "--ledger", "path", default="assay-ledger.jsonl", show_default=True, type=click.Path(), help="The ledger."
)
@click.option("--purpose", default="tune", show_default=True, help="What the choice was: tune, select, early stopping.")
@click.option("--data", type=click.Path(), help="The file the choice was made on; its digest is entered.")
@click.option("--model", metavar="NAME", help="The model it was made for.")
def ledger_add(says: str, *, path: str, purpose: str, data: str | None, model: str | None) -> None:
    """Enter a choice, such as "tuned C on validation", at the end of the chain."""
    from assay.assess.conformity.ledger import add_note
    from assay.rows.files.file_digests import digest_of

    digest = "" if data is None else digest_of(data)
    end = add_note(Path(path), says, purpose=purpose, data=digest, model=model)
    say_line(f"ledger   {visible(path)}, line {end.lines:,}, {end.digest[:16]}…")
    if data is None:
        say("note     without --data the entry counts as a statement")


@ledger.command("check")
@click.argument("path", metavar="LEDGER", type=click.Path())
@click.argument("records", metavar="RECORD...", nargs=-1, type=click.Path())
def ledger_check(path: str, records: tuple[str, ...]) -> None:
    """See whether the lines of a ledger follow on one another, and whether it still ends where Records say it did."""
    from assay.assess.conformity.ledger import read_ledger
    from assay.assess.record.record import Record

    ledger_read = read_ledger(Path(path))
    wrong = [f"lines changed or taken out: {listed(ledger_read.broken)}"] if ledger_read.broken else []
    ends = {(end.lines, end.digest) for end in ledger_read.ends}
    for name in records:
        end_told = Record.load(name).get("ledger", {}).get("end")
        if end_told and end_told["lines"] and (end_told["lines"], end_told["digest"]) not in ends:
            wrong.append(f"{visible(name)}: line {end_told['lines']:,} is cut off or another one")
    for line in wrong:
        tell_line(line)
    if wrong:
        raise SystemExit(1)
    tell_line(
        f"{counted(len(ledger_read.entries), 'line')} in one chain, {counted(len(records), 'Record')} found in it"
    )
