# SPDX-License-Identifier: Apache-2.0
"""The command a pipeline trusts: pass, fail or inconclusive, told to people, to JUnit readers and to GitHub."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from assay.app.input_kind import columns_named, is_plan, is_record
from assay.app.messages import tell_line
from assay.app.option_types import Command, Input, flag, give_options, row
from assay.app.options import limits_of, of_decisions, of_output, of_rows, refuse_typed
from assay.core.errors import PlanError
from assay.core.text import visible

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.compare.comparison import Comparison
    from assay.assess.decide.criteria import Criterion
    from assay.assess.decide.references import Against
    from assay.assess.record.record import Record
    from assay.core.registry import Registry
    from assay.measures.declare import Measure

USUAL: Final = {"binary": ("recall", "specificity"), "multiclass": ("accuracy", "f1_macro")}
"""What a model must not lose where only a margin is stated."""
STATED: Final = ("level", "seed", "delimiter", "decimal", "show_ids", "engine")
PAIRED: Final = ("truth", "predicted", "ids", "positive", "labels", *STATED)
"""Options that a paired gate heeds."""


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
    from assay.report.render.gate_formats import render, step_summary
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
    from assay.report.render.gate_formats import commands, step_summary

    for line in commands(records):
        click.echo(line)
    if place := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(place).open("a", encoding="utf-8", errors="surrogatepass") as file:
            file.write(step_summary(records))


def _told(records: Mapping[str, Record]) -> dict[str, Any]:
    from assay.report.blocks.decisions import verdicts

    decisions = {name: verdicts(record) for name, record in records.items()}
    words = [one.overall for one in decisions.values()]
    overall = next((word for word in ("fail", "inconclusive") if word in words), "pass")
    return {
        "verdict": overall,
        "gates": [
            {"name": name or None, "verdict": one.overall, "says": one.says, "decisions": records[name]["decisions"]}
            for name, one in decisions.items()
            if one.rows
        ],
    }


def _say(records: Mapping[str, Record]) -> None:
    from assay.report.blocks.decisions import verdicts

    for name, record in records.items():
        decisions = verdicts(record)
        for decision in decisions.rows:
            tell_line(f"{decision.sign} {decision.verdict:<12} {decision.criterion}")
            tell_line(f"  {decision.why}")
            if decision.needed:
                tell_line(f"  {decision.needed}")
        if decisions.rows:
            tell_line(f"verdict  {f'{name}: ' if name else ''}{decisions.overall}: {decisions.says}")


def gated(paths: Sequence[str], options: dict[str, Any], *, quiet: bool) -> dict[str, Assessment]:
    """Every assessment that the paths lead to, by name, with its criteria decided."""
    from assay.assess.decide.criteria import criterion
    from assay.assess.record.record import Record
    from assay.core.task import find_task

    record = Record.load(paths[0]) if len(paths) == 1 and is_record(paths[0]) else None
    task = find_task("classification" if record is None or record["task"] == "values" else str(record["task"]))
    registry = cast("Registry[Measure]", task.registry)
    accept = [criterion(text, registry) for text in options.pop("accept", ())]
    against, margin, correction = (options.pop(name, None) for name in ("against", "margin", "correction"))
    if margin is not None and against is None and record is None:
        raise PlanError("role-missing", "a margin needs a reference", where="--against", fix="--against RECORD")
    found, reference = _opened(paths, record, against, options, quiet=quiet)
    out = {}
    for name, assessment in found.items():
        wanted = [*accept, *([] if margin is None else _usual(assessment, margin))]
        if wanted:
            called = None if against is None else Path(against).name
            out[name] = assessment.accept(*wanted, against=reference, name=called, correction=correction or "holm")
        elif len(assessment.decisions):
            out[name] = assessment
        else:
            fix = '--accept "recall >= 0.85", for one' + (", or --margin 0.02" if against is not None else "")
            what = "no criterion is stated, and the Record has none"
            raise PlanError("role-missing", what, where="--accept", fix=fix)
    return out


def _usual(assessment: Assessment, margin: float) -> list[Criterion]:
    from assay.assess.decide.criteria import criterion

    names = USUAL.get(assessment.contract.variant(assessment.counts), assessment.contract.headline[:2])
    return [criterion(f"{measure} non-inferior margin {margin!r}", assessment.measures) for measure in names]


def _opened(
    paths: Sequence[str], record: Record | None, against: str | None, options: dict[str, Any], *, quiet: bool
) -> tuple[dict[str, Assessment], object]:
    """What is gated, and its reference: paired where both were counted on the same rows."""
    from assay.app.commands.run_command import plan_bars, refuse_options, run_file
    from assay.assess.assessment import Assessment
    from assay.assess.compare.comparison import Comparison
    from assay.assess.conformity.plan_run import run_planned
    from assay.assess.plan.checked_plan import load_plan

    if record is not None:
        if against is None or is_record(against):
            refuse_typed(options, "a Record is gated as it is: what it was counted by is in it", "leave them out")
        if record["kind"] == "comparison":
            return _of_comparison(Comparison.from_record(record), against)
        return {"": Assessment.from_record(record)}, _reference(against, options, quiet=quiet)
    if len(paths) == 1 and is_plan(paths[0], columns=columns_named(options)):
        refuse_options(options)
        every = run_planned(load_plan(paths[0]), **plan_bars(quiet=quiet), limits=limits_of(options))
        return dict(every), _reference(against, {}, quiet=quiet)
    if against is not None and not is_record(against) and options.get("ids") and len(paths) == 1:
        return _of_comparison(_compared(paths[0], against, options), None)
    return {"": run_file(paths, quiet=quiet, **dict(options))}, _reference(against, options, quiet=quiet)


def _reference(against: str | None, options: dict[str, Any], *, quiet: bool) -> object:
    from assay.app.commands.run_command import run_file
    from assay.assess.record.record import Record

    if against is None:
        return None
    if is_record(against):
        return Record.load(against)
    return run_file(against, quiet=quiet, **dict(options))


def _compared(new: str, reference: str, options: dict[str, Any]) -> Comparison:
    """Both tables matched by id, so that every row meets itself."""
    import assay
    from assay.assess.arguments import arrange

    unpaired = "leave --id out: the comparison is then unpaired, and says so"
    if options.get("predicted") is None or len(options["ids"]) != 1:
        what = "a paired gate takes predicted labels and one id column"
        raise PlanError("comparison-needs", what, where="--id", fix=f"--predicted COLUMN --id COLUMN; or {unpaired}")
    why = "a paired gate matches predicted labels by id, and takes nothing else"
    refuse_typed(options, why, f"leave them out, or {unpaired}", free=PAIRED)
    names = ("new", "reference")
    return assay.compare(
        data=dict(zip(names, (new, reference), strict=True)),
        truth=options["truth"],
        predicted=options["predicted"],
        id=options["ids"][0],
        positive=options.get("positive"),
        labels=list(options.get("labels") or ()) or None,
        limits=limits_of(dict(options)),
        **arrange(**{name: options[name] for name in STATED if options.get(name) is not None}, spelled=True),
    )


def _of_comparison(comparison: Comparison, against: str | None) -> tuple[dict[str, Assessment], Against]:
    """The first model of a comparison, held against the second on the same rows."""
    from assay.assess.assessment import Assessment
    from assay.assess.decide.references import Paired
    from assay.inference.intervals.interval_choice import Wanted
    from assay.tasks.classification import CLASSIFICATION
    from assay.tasks.classification.settings import Settings
    from assay.tasks.classification.tally import Classified

    if comparison.paired is None or len(comparison.models) != 2 or against is not None:  # noqa: PLR2004  a pair
        what = "a gate takes a comparison of the labels of two models, which is its own reference"
        found = f"{len(comparison.models)} models" + ("" if comparison.paired is not None else " without labels")
        fix = "assay compare NEW REFERENCE --id COLUMN, then gate that Record without --against"
        raise PlanError("comparison-needs", what, found=found, fix=fix)
    settings = Settings(wanted=Wanted(level=comparison.asked.level, seed=comparison.asked.seed))
    tally = comparison.paired
    new = Assessment(
        CLASSIFICATION,
        Classified(confusion=tally.confusion(tally.models[0]), positive=comparison.positive),
        settings,
        census=comparison.census,
        notes=comparison.notes,
        data={"from": f"{visible(tally.models[0])}, on the rows of {visible(tally.models[1])}"},
    )
    return {"": new}, Paired(tally=tally, positive=comparison.positive)
