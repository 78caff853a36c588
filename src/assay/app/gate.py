# SPDX-License-Identifier: Apache-2.0
"""The gate of a pipeline: what is held to criteria, what it is held against, and how the two are brought together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import assay
import assay.report  # an assessment can draw itself once the report layer has introduced itself
from assay.app.input_kind import columns_named, is_plan, is_record
from assay.app.options import typed
from assay.assess.arguments import arrange
from assay.assess.assessment import Assessment
from assay.assess.compare.comparison import Comparison
from assay.assess.decide.criteria import Criterion, criterion
from assay.assess.decide.references import Paired
from assay.assess.record.record import Record
from assay.core.errors import PlanError
from assay.core.task import find_task
from assay.core.text import visible
from assay.core.traits import Task
from assay.inference.intervals.interval_choice import Wanted
from assay.tasks.classification import CLASSIFICATION
from assay.tasks.classification.settings import Settings
from assay.tasks.classification.tally import Classified

if TYPE_CHECKING:
    from assay.assess.decide.references import Against
    from assay.core.registry import Registry
    from assay.measures.declare import Measure

USUAL: Final = {Task.BINARY: ("recall", "specificity"), Task.MULTICLASS: ("accuracy", "f1_macro")}
"""What a model must not lose where only a margin is stated."""


STATED: Final = ("level", "seed", "delimiter", "decimal", "show_ids", "engine")
PAIRED: Final = ("truth", "predicted", "ids", "positive", "labels", *STATED)
"""Options that a paired gate heeds."""


def gated(paths: Sequence[str], options: dict[str, Any], *, quiet: bool) -> dict[str, Assessment]:
    """Every assessment that the paths lead to, by name, with its criteria decided."""
    record = Record.load(paths[0]) if len(paths) == 1 and is_record(paths[0]) else None
    registry = _measures_of(record)
    accept = [criterion(text, registry) for text in options.pop("accept", ())]
    against, margin, correction = (options.pop(name, None) for name in ("against", "margin", "correction"))
    if margin is not None and against is None and not (len(paths) == 1 and is_record(paths[0])):
        raise PlanError("role-missing", "a margin needs a reference", where="--against", fix="--against RECORD")
    found, reference = _opened(paths, against, options, quiet=quiet)
    out = {}
    for name, assessment in found.items():
        wanted = [*accept, *([] if margin is None else _usual(assessment, margin))]
        if wanted:
            called = None if against is None else Path(against).name
            out[name] = assessment.accept(*wanted, against=reference, name=called, correction=correction or "holm")
        elif len(assessment.decisions):
            out[name] = assessment
        else:
            raise _nothing_asked(against)
    return out


def _measures_of(record: Record | None) -> Registry[Measure]:
    """The measures of the task of a Record, or of classification."""
    task = CLASSIFICATION if record is None or record["task"] == "values" else find_task(str(record["task"]))
    return cast("Registry[Measure]", task.registry)


def _usual(one: Assessment, margin: float) -> list[Criterion]:
    names = one.contract.headline[:2] if one.contract is not CLASSIFICATION else USUAL[one.task]
    return [criterion(f"{measure} non-inferior margin {margin!r}", one.measures) for measure in names]


def _nothing_asked(against: str | None) -> PlanError:
    return PlanError(
        "role-missing",
        "no criterion is stated, and the Record has none",
        where="--accept",
        fix='--accept "recall >= 0.85", for one' + (", or --margin 0.02" if against is not None else ""),
    )


def _opened(
    paths: Sequence[str], against: str | None, options: dict[str, Any], *, quiet: bool
) -> tuple[dict[str, Assessment], object]:
    """What is gated, and its reference: paired where both were counted on the same rows."""
    if len(paths) == 1 and is_record(paths[0]):
        if against is None or is_record(against):
            _refuse(options, (), "a Record is gated as it is: what it was counted by is in it", "leave them out")
        record = Record.load(paths[0])
        if record["kind"] == "comparison":
            return _of_comparison(Comparison.from_record(record), against)
        return {"": Assessment.from_record(record)}, _reference(against, options, quiet=quiet)
    if len(paths) == 1 and is_plan(paths[0], columns=columns_named(options)):
        from assay.app.commands.plan_commands import refuse_options, run_plan
        from assay.app.commands.run_command import limits_of

        refuse_options(options)
        return dict(run_plan(paths[0], quiet=quiet, limits=limits_of(options))), _reference(against, {}, quiet=quiet)
    if against is not None and not is_record(against) and options.get("ids") and len(paths) == 1:
        return _of_comparison(_compared(paths[0], against, options), None)
    from assay.app.commands.run_command import run_file

    return {"": run_file(paths, quiet=quiet, **dict(options))}, _reference(against, options, quiet=quiet)


def _refuse(options: Mapping[str, Any], taken: Iterable[str], why: str, fix: str) -> None:
    """An option that would be left aside is an error, because somebody relies on it."""
    if found := typed(options, free=taken):
        raise PlanError("role-clash", why, found=", ".join(found), fix=fix)


def _reference(against: str | None, options: dict[str, Any], *, quiet: bool) -> object:
    if against is None:
        return None
    if is_record(against):
        return Record.load(against)
    from assay.app.commands.run_command import run_file

    return run_file(against, quiet=quiet, **dict(options))


def _compared(new: str, reference: str, options: dict[str, Any]) -> Comparison:
    """Both tables matched by id, so that every row meets itself."""
    from assay.app.commands.run_command import limits_of

    if options.get("predicted") is None or len(options["ids"]) != 1:
        raise PlanError(
            "comparison-needs",
            "a paired gate takes predicted labels and one id column",
            where="--id",
            fix="--predicted COLUMN --id COLUMN; or leave --id out: the comparison is then unpaired, and says so",
        )
    why = "a paired gate matches predicted labels by id, and takes nothing else"
    _refuse(options, PAIRED, why, "leave them out, or leave --id out: the comparison is then unpaired, and says so")
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
    if comparison.paired is None or len(comparison.models) != 2 or against is not None:  # noqa: PLR2004  a pair
        raise PlanError(
            "comparison-needs",
            "a gate takes a comparison of the labels of two models, which is its own reference",
            found=f"{len(comparison.models)} models" + ("" if comparison.paired is not None else " without labels"),
            fix="assay compare NEW REFERENCE --id COLUMN, then gate that Record without --against",
        )
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
