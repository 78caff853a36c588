# SPDX-License-Identifier: Apache-2.0
"""Runs a plan of a task that TS 4213:2022 does not speak of: every model is counted, decided and kept with its plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.assess.arguments import IntervalSettings
from assay.assess.task_assessment import assess_task
from assay.core.errors import PlanError
from assay.core.task import find_task
from assay.core.text import visible
from assay.rows.files.formats import Reading

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.plan.checked_plan import LoadedPlan
    from assay.rows.limits import Limits

CLASSIFICATION: Final = (None, "binary", "multiclass")
OUTSIDE: Final = "outside the scope of TS 4213:2022"


def is_task_plan(loaded: LoadedPlan) -> bool:
    """Whether a plan is about another task than classification."""
    return loaded.plan.task.type not in CLASSIFICATION


def run_task_plan(
    loaded: LoadedPlan,
    *,
    limits: Limits | None = None,
    working: Callable[[str], AbstractContextManager[Any]] | None = None,
) -> list[tuple[str, Assessment]]:
    """Every model of the plan, each with the name that tells it apart."""
    plan, frozen_at = loaded.plan, datetime.now(tz=UTC).isoformat(timespec="microseconds")
    models = {name: model.given or {} for name, model in plan.models.items() if model.given} or {"": {}}
    overall, says = OUTSIDE, f"the Technical Specification is about classification; {OUTSIDE}"
    if find_task(str(plan.task.type)).in_scope:
        overall, says = "conformity not demonstrated", "requirement rows are judged for one label a row only"
    assessments = []
    for name, own in models.items():
        with nullcontext(None) if working is None else working(name) as progress:
            assessment = _count_model(loaded, own, limits, progress)
        stated = {
            "given": "plan", "name": Path(loaded.path).name, "format": loaded.format, "sha256": loaded.sha256,
            "frozen_at": frozen_at, "declared": loaded.document, "declared_digest": loaded.digest, "model": name,
        }  # fmt: skip
        conformity = {"overall": overall, "says": says, "rows": []}
        assessments.append(
            (name if len(models) > 1 else "", assessment.with_evidence(plan=stated, conformity=conformity))
        )
    return assessments


def _count_model(loaded: LoadedPlan, own: Mapping[str, Any], limits: Limits | None, progress: Any) -> Assessment:  # noqa: ANN401
    plan = loaded.plan
    if plan.task.given is None and not own:
        raise PlanError(
            "role-missing",
            "the plan does not say what the task reads",
            where=visible(loaded.path),
            fix='add [task.given] truth = "..." and [models.NAME.given] predicted = "..."',
        )
    given = {role: _resolve(loaded, value) for role, value in {**(plan.task.given or {}), **own}.items()}
    split = plan.data.get("test") or next(iter(plan.data.values()), None)
    if split is not None and split.path is not None:
        given["data"] = _resolve(loaded, split.path)
    reading = Reading(
        delimiter=plan.reading.delimiter, decimal=plan.reading.decimal, max_rows=plan.reading.max_rows,
        progress=progress,
    )  # fmt: skip
    assessment = assess_task(
        str(plan.task.type),
        **{**(plan.task.options or {}), **given},
        group=plan.fairness.groups,
        level=plan.intervals.level,
        measures=plan.metrics.measures,
        missing=plan.reading.missing,
        engine=plan.reading.engine,
        intervals=IntervalSettings(seed=plan.intervals.seed),
        reading=reading,
        limits=limits,
    )
    if plan.metrics.accept:
        against = None if plan.metrics.against is None else loaded.folder / plan.metrics.against
        assessment = assessment.accept(*plan.metrics.accept, against=against, correction=plan.metrics.correction)
    return assessment


def _resolve(loaded: LoadedPlan, value: Any) -> Any:  # noqa: ANN401
    """A file beside the plan by its path; anything else as it is written."""
    if isinstance(value, list):
        return [_resolve(loaded, part) for part in value]
    return str(loaded.folder / value) if isinstance(value, str) and (loaded.folder / value).exists() else value
