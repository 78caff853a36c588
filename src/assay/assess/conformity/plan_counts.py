# SPDX-License-Identifier: Apache-2.0
"""Counting what a plan describes: every model on every test split, of any task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.assess.arguments import arrange, name_factors
from assay.assess.assess import assess
from assay.assess.conformity.plan_sources import Held, MadeHere, Progress, of_model, of_split
from assay.assess.plan.checked_plan import LoadedPlan
from assay.assess.plan.plan_answers import channel_columns, splits_of
from assay.assess.shared_tally import pooled
from assay.assess.task_assessment import assess_task
from assay.core.errors import PlanError, RowsError
from assay.core.text import quoted, visible
from assay.fairness.crossed_groups import add_crossed

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.plan.section_fields import Model
    from assay.rows.limits import Limits

CLASSIFICATION: Final = (None, "binary", "multiclass")


def is_task_plan(loaded: LoadedPlan) -> bool:
    """Whether a plan is about another task than one label a row."""
    return loaded.plan.task.type not in CLASSIFICATION


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One model on one test split."""

    model: str
    split: str
    rows: Held | None
    """None where another task reads files of its own."""
    truth: Held | None = None
    """Where truth is, if not beside the predictions."""

    @property
    def place(self) -> str:
        """What errors call its rows."""
        return "the plan" if self.rows is None else self.rows.name

    def title(self, parts: tuple[Part, ...]) -> str:
        """What tells it apart from the other parts; nothing where there is only one."""
        own, others = (self.model, self.split), [(part.model, part.split) for part in parts]
        return "-".join(name for name, known in zip(own, zip(*others, strict=True), strict=True) if len({*known}) > 1)


def parts_of(loaded: LoadedPlan, made: Mapping[tuple[str, str], MadeHere] | None = None) -> tuple[Part, ...]:
    """Every model with predictions, in files or made here, on every test split."""
    plan, where = loaded.plan, visible(loaded.path)
    if is_task_plan(loaded):
        return _task_parts(loaded)
    if plan.columns.truth is None:
        raise _lack(where, "the truth column", 'columns.truth = "..."')
    splits = {name: one for name, one in splits_of(loaded, "test").items() if one.path is not None}
    if not splits:
        raise _lack(where, "a test split with a file", '[data.test] path = "..."')
    models = {name: one for name, one in plan.models.items() if one.counted}
    if not models:
        raise _lack(where, "a model with predictions", '[models.NAME] predicted = "COLUMN", or score and threshold')
    parts = []
    for split, of in splits.items():
        for name, model in models.items():
            answers = (made or {}).get((name, split))
            rows, truth = of_model(loaded, model, of)
            if answers is not None:
                rows, truth = Held(places=(str(answers.path),)), of_split(loaded, of)
            parts.append(Part(model=name, split=split, rows=rows, truth=truth))
    return tuple(parts)


def _task_parts(loaded: LoadedPlan) -> tuple[Part, ...]:
    """Every model of another task; without any, the one that the task itself is given."""
    plan, splits = loaded.plan, splits_of(loaded, "test") or dict(loaded.plan.data)
    if plan.run.command or plan.run.artefacts:
        what = "a plan makes predictions here of one label a row only"
        raise PlanError("run-refused", what, where="run", fix="write them to a file first, and leave [run] out")
    models = [name for name, model in plan.models.items() if model.given] or [""]
    if plan.task.given is None and models == [""]:
        fix = '[task.given] truth = "..." and [models.NAME.given] predicted = "..."'
        raise _lack(visible(loaded.path), "what the task reads", fix)
    split, of = next(iter(splits.items()), ("", None))
    rows = None if of is None else of_split(loaded, of)
    return tuple(Part(model=name, split=split, rows=rows) for name in models)


def _lack(where: str, what: str, fix: str) -> PlanError:
    return PlanError("role-missing", f"the plan does not name {what}", where=where, fix=fix)


def columns_by_group(loaded: LoadedPlan) -> dict[str, object]:
    """Columns whose levels are assessed one by one: groups of people, crossed ones, channels, strata."""
    plan = loaded.plan
    strata, people = (stratum.column for stratum in plan.use.strata or ()), plan.fairness.groups or ()
    columns = name_factors(list(dict.fromkeys([*people, *channel_columns(plan).values(), *strata])) or None)
    return add_crossed(columns, plan.fairness.cross)


def count_part(
    loaded: LoadedPlan, part: Part, frozen_at: str, limits: Limits | None, progress: Progress | None
) -> Assessment:
    """The assessment of one part, with the plan it followed and when that was fixed."""
    if part.rows is None or is_task_plan(loaded):
        return _settle(loaded, part, _count_task(loaded, part, limits, progress), frozen_at)
    plan, model, joined = loaded.plan, loaded.plan.models[part.model], part.truth is not None
    assessment = assess(
        **arrange(
            **dict(plan.intervals),
            **dict(plan.reading),
            **part.rows.selected(part.truth),
            data=part.rows.data,
            # A pin would be asked of the validation file too; controls hold every split against its own.
            sha256=part.rows.pinned if model.threshold_from is None and not joined else None,
            truth_data=None if part.truth is None else part.truth.data,
            id=plan.columns.id if joined else None,
            truth=plan.columns.truth,
            predicted=model.predicted,
            score=model.score,
            threshold=model.threshold if model.threshold_rule is None else model.threshold_rule,
            threshold_from=_elsewhere(loaded, model),
            scores=model.scores,
            missing_score=model.missing_score,
            renormalise=model.renormalise,
            operating_points=plan.metrics.operating_points or () if model.score is not None else (),
            unit=plan.columns.subject if plan.columns.weight is None else None,
            weight=plan.columns.weight,
            group=columns_by_group(loaded) or None,
            positive=plan.task.positive,
            labels=plan.task.classes,
            measures=plan.metrics.measures,
            costs=plan.metrics.costs,
            undefined=plan.metrics.undefined,
            spelled=True,
            progress=progress,
            limits=limits,
        )
    )
    _check_part(loaded, part, assessment)
    return _settle(loaded, part, assessment, frozen_at)


def _settle(loaded: LoadedPlan, part: Part, assessment: Assessment, frozen_at: str) -> Assessment:
    """What a plan asks of what was counted: small cells pooled, groups judged, criteria decided."""
    plan = loaded.plan
    if plan.fairness.smallest_cell is not None:
        assessment = pooled(assessment, plan.fairness.smallest_cell)
    if (fair := plan.fairness).judged is not None:
        assessment = assessment.require_fairness(
            fair.judged, tolerance=fair.tolerance, minimum=fair.minimum or 10, reason=fair.criterion or ""
        )
    if plan.metrics.accept:
        against = None if plan.metrics.against is None else loaded.folder / plan.metrics.against
        assessment = assessment.accept(*plan.metrics.accept, against=against, correction=plan.metrics.correction)
    stated = {
        "given": "plan",
        "name": Path(loaded.path).name,
        "format": loaded.format,
        "sha256": loaded.sha256,
        "frozen_at": frozen_at,
        "declared": loaded.document,
        "declared_digest": loaded.digest,
        "model": part.model,
        "split": part.split,
    }
    return assessment.with_evidence(plan=stated)


def _count_task(loaded: LoadedPlan, part: Part, limits: Limits | None, progress: Progress | None) -> Assessment:
    """The assessment of one model by another task."""
    plan = loaded.plan
    own = (plan.models[part.model].given or {}) if part.model else {}
    given = {role: _resolve(loaded, value) for role, value in {**(plan.task.given or {}), **own}.items()}
    if part.rows is not None:
        given["data"] = part.rows.data
    reading = {name: value for name, value in plan.reading if name not in ("unmatched", "unknown")}
    stated = arrange(level=plan.intervals.level, seed=plan.intervals.seed, **reading, progress=progress, limits=limits)
    groups = {"group": plan.fairness.groups, "cross": plan.fairness.cross}
    own_options = plan.task.options or {}
    return assess_task(str(plan.task.type), **own_options, **given, **groups, measures=plan.metrics.measures, **stated)


def _resolve(loaded: LoadedPlan, value: Any) -> Any:  # noqa: ANN401
    """A file beside the plan by its path; anything else as it is written."""
    if isinstance(value, list):
        return [_resolve(loaded, part) for part in value]
    return str(loaded.folder / value) if isinstance(value, str) and (loaded.folder / value).exists() else value


def _elsewhere(loaded: LoadedPlan, model: Model) -> str | list[str] | None:
    """The rows of the split on which a threshold is chosen."""
    if model.threshold_from is None:
        return None
    source = of_split(loaded, loaded.plan.data[model.threshold_from])
    if source is None:
        raise _lack(visible(loaded.path), "the file", f'[data.{model.threshold_from}] path = "..."')
    return source.data


def _check_part(loaded: LoadedPlan, part: Part, assessment: Assessment) -> None:
    """Refuse rows that are not as many, or of another task, than the plan states."""
    wanted, kind = loaded.plan.data[part.split].rows, loaded.plan.task.type
    if wanted is not None and assessment.census.read != wanted:
        what = "the file does not hold as many rows as the plan states"
        rows = f"{assessment.census.read:,} rows"
        known = f"data.{part.split}.rows = {wanted}"
        fix = "give the file that was planned, or plan anew"
        raise RowsError("digest-mismatch", what, where=part.place, found=rows, known=known, fix=fix)

    if kind is not None and str(assessment.task) != kind:
        what = f"the plan speaks of a {kind} task, the data are {assessment.task}"
        classes = f"{len(assessment.labels)} classes: {', '.join(quoted(one) for one in assessment.labels[:8])}"
        fix = "correct task.type and task.classes, or the file"
        raise RowsError("label-types-differ", what, where=part.place, found=classes, fix=fix)
