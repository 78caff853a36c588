# SPDX-License-Identifier: Apache-2.0
"""Running a plan from the command line: every model counted, compared and judged, each in a folder of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from assay.app.commands.plan_checks import refuse_options, run_plan
from assay.app.commands.report_command import beside, write_run
from assay.app.commands.run_command import limits_of
from assay.app.criteria_options import Stated, decided_by
from assay.app.messages import say_end, say_line, say_summary


def run_and_write(
    path: str,
    out: str,
    *,
    reports: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    ledger: bool,
    given: dict[str, Any],
    wanted: Stated,
    require: str | None = None,
    allow_command: bool = False,
) -> None:
    """Run a plan, write a folder for each of its models, say what was found, and leave with what was decided."""
    refuse_options(given)
    every = run_plan(path, quiet=quiet, limits=limits_of(given), ledger=ledger, allow_command=allow_command)
    found = [(name, wanted.held_to(one)) for name, one in every]
    folders = []
    for name, assessment in found:
        folder = Path(out) / name
        folders.append(write_run(assessment, folder, reports if len(found) == 1 else beside(folder, reports)))
    if as_json:
        records = {name: dict(assessment.record) for name, assessment in found}
        alone = found[0][1].record.to_text() if len(found) == 1 else json.dumps(records, ensure_ascii=False) + "\n"
        click.echo(alone, nl=False)
    if not quiet:
        for name, assessment in found:
            if name:
                say_line(click.style(f"── {name} " + "─" * max(0, 70 - len(name)), bold=True))
            say_summary(assessment)
        say_end([one for _, one in found], folders, f"assay plan check {path}   (what the plan still leaves open)")
    decided_by([one for _, one in found], require=require)
