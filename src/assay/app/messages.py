# SPDX-License-Identifier: Apache-2.0
"""What commands tell people, on standard error, so that standard output stays for machines."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.core.text import one_line

if TYPE_CHECKING:
    from assay.assess.record.record import Record
    from assay.assess.record.report_formats import Result


def say(text: str) -> None:
    """One line, or several."""
    click.echo(text, err=True)


def say_line(text: str) -> None:
    """One line with names in it, which can neither act on a terminal or a log nor tell the secrets of an address."""
    say(one_line(text))


def colour() -> bool:
    """Whether somebody watches who wants colours."""
    return sys.stderr.isatty() and "NO_COLOR" not in os.environ


def say_summary(found: Result) -> None:
    """What an assessment or a comparison found."""
    from assay.report.render.terminal import summary

    width = min(100, shutil.get_terminal_size((100, 24)).columns)
    say(summary(found.record, width=width, colour=colour()).rstrip("\n"))


def say_end(found: Iterable[Result], folders: list[Path], next_command: str, more: Iterable[str] = ()) -> None:
    """The three lines a run ends with: verdict, where the report is, the next command."""
    say("")
    every = list(found)
    for line in dict.fromkeys(line for one in every for line in _verdict(one.record)):
        say_line(f"verdict  {line}")
    say_line("report   " + "  ".join(str(folder / "report.html") for folder in folders) + "   (record.json beside it)")
    for path in more:
        say_line(f"         {path}")
    say_line(f"next     {next_command}")


def _verdict(record: Record) -> Iterable[str]:
    from assay.report.blocks.claims import claims_counted
    from assay.report.blocks.decisions import verdicts

    decided = verdicts(record)
    if decided is not None:
        yield f"{decided.overall}: {decided.says}"
    if claimed := claims_counted(record):
        yield f"claims: {claimed}"
    if record.get("fairness", {}).get("verdict"):
        yield f"fairness: {record['fairness']['verdict']}"
    overall = record["conformity"]["overall"]
    what = "comparison" if record["kind"] == "comparison" else "run"
    adhoc = f"an ad hoc {what} states no plan, so no clause is shown"
    yield f"{overall}: {record['conformity']['says'] if record['plan']['given'] == 'plan' else adhoc}"
