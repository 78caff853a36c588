# SPDX-License-Identifier: Apache-2.0
"""The command a pipeline trusts: pass, fail or inconclusive, told to people, to JUnit readers and to GitHub."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.app.messages import tell_line
from assay.app.option_types import Command, Input, flag, give_options, row
from assay.app.options import of_decisions, of_output, of_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.assess.record.record import Record


@click.command(cls=Command)
@click.argument("paths", type=Input(), nargs=-1, required=True, metavar="RECORD|PREDICTIONS...")
@of_decisions
@give_options(
    {
        "Criteria": (
            row(
                "--margin",
                "FLOAT",
                "With --against: the usual measures must not be worse by this much (two classes: recall and"
                " specificity; more: accuracy and f1_macro).",
                type=float,
            ),
        ),
        "Output": (
            row("--junit", "PATH", "Write the decisions as JUnit XML.", type=click.Path()),
            row("--markdown", "PATH", "Write the decisions as Markdown.", type=click.Path()),
            row("--record record_to", "PATH", "Write the Record with its decisions.", type=click.Path()),
            flag(
                "--github/--no-github",
                "Print annotations, and write the step summary [default: if GITHUB_ACTIONS is set]",
                default=None,
            ),
        ),
    }
)
@of_rows
@of_output
def gate(
    paths: tuple[str, ...],
    *,
    junit: str | None,
    markdown: str | None,
    record_to: str | None,
    github: bool | None,
    as_json: bool,
    quiet: bool,
    **given: Any,  # noqa: ANN401  options by name
) -> None:
    """Hold a Record, or predictions, to criteria: exit code 0 pass, 1 fail, 3 inconclusive.

    Against a reference Record the comparison is unpaired; against a file of predictions with --id, or on a Record of
    `assay compare`, it is paired. The output says which.
    """
    from assay.app.criteria_options import decided_by
    from assay.app.gate import gated

    assessments = gated(paths, given, quiet=quiet)
    records = {name: one.record for name, one in assessments.items()}
    _write(records, junit=junit, markdown=markdown, record_to=record_to)
    if github or (github is None and os.environ.get("GITHUB_ACTIONS") == "true"):
        _tell_github(records)
    if as_json:
        click.echo(json.dumps(_told(records), indent=1, ensure_ascii=False, allow_nan=False))
    if not quiet:
        _say(records)
    decided_by(list(assessments.values()), claims=False)


def _write(records: Mapping[str, Record], *, junit: str | None, markdown: str | None, record_to: str | None) -> None:
    """All files, made before the first is written."""
    from assay.core.errors import PlanError
    from assay.report.render.github import step_summary
    from assay.report.render.junit import render
    from assay.rows.temporary_files import write_whole

    if record_to is not None and len(records) > 1:
        raise PlanError("role-clash", "a plan with several models has several Records", fix="assay run PLAN --out DIR")
    made: list[tuple[str | None, str]] = [(junit, render(records)), (markdown, step_summary(records, most=2**24))]
    if record_to is not None:
        made.append((record_to, next(iter(records.values())).to_text()))
    for path, text in made:
        if path is not None:
            write_whole(path, text.encode("utf-8", "surrogatepass"))


def _tell_github(records: Mapping[str, Record]) -> None:
    from assay.report.render.github import commands, step_summary

    for line in commands(records):
        click.echo(line)
    if place := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(place).open("a", encoding="utf-8", errors="surrogatepass") as file:
            file.write(step_summary(records))


def _told(records: Mapping[str, Record]) -> dict[str, Any]:
    from assay.report.blocks.decisions import verdicts

    decisions = {name: verdicts(record) for name, record in records.items()}
    words = [one.overall for one in decisions.values() if one is not None]
    overall = next((word for word in ("fail", "inconclusive") if word in words), "pass")
    return {
        "verdict": overall,
        "gates": [
            {"name": name or None, "verdict": one.overall, "says": one.says, "decisions": records[name]["decisions"]}
            for name, one in decisions.items()
            if one is not None
        ],
    }


def _say(records: Mapping[str, Record]) -> None:
    from assay.report.blocks.decisions import verdicts

    for name, record in records.items():
        decisions = verdicts(record)
        if decisions is None:
            continue
        for decision in decisions.rows:
            tell_line(f"{decision.sign} {decision.verdict:<12} {decision.criterion}")
            tell_line(f"  {decision.why}")
            if decision.needed:
                tell_line(f"  {decision.needed}")
        tell_line(f"verdict  {f'{name}: ' if name else ''}{decisions.overall}: {decisions.says}")
