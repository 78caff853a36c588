# SPDX-License-Identifier: Apache-2.0
"""What commands tell people: results on standard output, everything about the work on standard error."""

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
    """One line, or several, about the work: where files are, what comes next, what went wrong."""
    click.echo(text, err=True)


def say_line(text: str) -> None:
    """One line with names in it, which can neither act on a terminal or a log nor tell the secrets of an address."""
    say(one_line(text))


def tell(text: str) -> None:
    """A result; where a command prints JSON on standard output, people read it on standard error."""
    click.echo(text, err=_for_machines())


def tell_line(text: str) -> None:
    """One line of a result with names in it, made harmless as `say_line` does it."""
    tell(one_line(text))


def _for_machines() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool({"as_json", "as_short"} & {name for name, on in context.params.items() if on})


def colour(*, error: bool = False) -> bool:
    """Whether somebody watches who wants colours."""
    stream = sys.stderr if error or _for_machines() else sys.stdout
    return stream is not None and stream.isatty() and "NO_COLOR" not in os.environ


def tell_summary(result: Result) -> None:
    """What an assessment or a comparison found."""
    from assay.report.render.terminal import summary

    width = shutil.get_terminal_size((100, 24)).columns
    tell(summary(result.record, width=width, colour=colour()).rstrip("\n"))


def tell_name(name: str) -> None:
    """The line above one of several results."""
    ruled = f"── {one_line(name)} ".ljust(74, "─")
    tell(click.style(ruled, bold=True) if colour() else ruled)


def tell_end(results: Iterable[Result], written: Iterable[Path], next_command: str) -> None:
    """The lines a run ends with: what was decided, and for who looks on, where the report is and the next command."""
    tell("")
    for line in dict.fromkeys(line for result in results for line in _verdict(result.record)):
        tell_line(f"verdict  {line}")
    paths = list(written)
    for path in paths[:1]:
        say_line(f"report   {path}")
    for path in paths[1:]:
        say_line(f"         {path}")
    program = os.environ.get("ASSAY_PROGRAM", "assay")  # run.py says how it was started
    say_line(f"next     {program}{next_command.removeprefix('assay')}")


def _verdict(record: Record) -> Iterable[str]:
    from assay.report.blocks.decisions import claims_counted, verdicts

    decided = verdicts(record)
    if decided.rows:
        yield f"{decided.overall}: {decided.says}"
    if claimed := claims_counted(record):
        yield f"claims: {claimed}"
    if record.get("fairness", {}).get("verdict"):
        yield f"fairness: {record['fairness']['verdict']}"
    if record["plan"]["given"] == "plan":
        yield f"{record['conformity']['overall']}: {record['conformity']['says']}"
