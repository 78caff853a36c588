# SPDX-License-Identifier: Apache-2.0
"""The commands about the ledger of choices and looks: add a line, and see whether its end is still there."""

from __future__ import annotations

import click

from assay.app.messages import say, say_line, tell_line
from assay.app.option_types import Group

DEFAULT = "assay-ledger.jsonl"


@click.group(cls=Group)
def ledger() -> None:
    """Commands about the ledger of choices made before the test."""


@ledger.command("add")
@click.argument("says", metavar="SENTENCE")
@click.option("--ledger", "path", default=DEFAULT, show_default=True, type=click.Path(), help="The ledger.")
@click.option("--purpose", default="tune", show_default=True, help="What the choice was: tune, select, early stopping.")
@click.option("--data", type=click.Path(), help="The file the choice was made on; its digest is entered.")
@click.option("--model", metavar="NAME", help="The model it was made for.")
def ledger_add(says: str, *, path: str, purpose: str, data: str | None, model: str | None) -> None:
    """Enter a choice, such as "tuned C on validation", at the end of the chain."""
    from pathlib import Path

    from assay.assess.conformity.ledger import add_note
    from assay.core.text import visible
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
    from pathlib import Path

    from assay.assess.conformity.ledger import read_ledger
    from assay.assess.record.record import Record
    from assay.core.text import counted, listed, visible

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
