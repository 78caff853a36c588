# SPDX-License-Identifier: Apache-2.0
"""Compares models of any task but classification on the same test data, and keeps the result."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from assay.assess.arguments import TestSettings
from assay.assess.compare.comparison_requirements import demand_two
from assay.assess.compare.comparison_result import ComparisonResult, Place, read_whole
from assay.assess.compare.model_columns import by_model, named
from assay.assess.environment import environment
from assay.assess.record.record import Record
from assay.assess.task_assessment import sort_arguments
from assay.core.errors import PlanError, unknown_choice
from assay.core.task import Task, find_task
from assay.core.traits import HIGHER, NEITHER
from assay.inference.findings import Finding
from assay.inference.multiplicity import adjusted
from assay.inference.unit_intervals import OF_DIFFERENCES, check_margin
from assay.measures.declare import Measure, parse
from assay.tally.census import Census
from assay.tasks.task_settings import SWAPS, TaskSettings

if TYPE_CHECKING:
    from assay.core.registry import Registry
    from assay.inference.estimates import Estimate, Estimates


def compare_task(name: str, *tables: object, tests: TestSettings | None = None, **given: Any) -> TaskComparison:  # noqa: ANN401
    """Compare models by a task: roles that differ by model are mappings, or one table a model is given."""
    task, tests = find_task(name), tests or TestSettings()
    shared, models = _split_models(task, tables, given)
    intervals = shared.get("intervals")
    request, settings = sort_arguments(task, (), shared)
    settings = replace(
        settings,
        correction=tests.correction, margin=tests.margin, equivalence=tests.equivalence, control=tests.control,
        swaps=SWAPS if intervals is None or intervals.draws is None else intervals.draws,
    )  # fmt: skip
    if tests.control is not None and tests.control not in models:
        raise unknown_choice(tests.control, models, "the control is not a model")
    counted = task.read_models(request, models)
    return TaskComparison(
        task, counted.tally, settings, models=tuple(models), census=cast("Census", counted.census),
        notes=counted.notes, data=counted.data, found_in=environment(cast("Any", request.limits)),
    )  # fmt: skip


def _split_models(
    task: Task, tables: tuple[object, ...], given: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """What all models share, and what each has of its own."""
    shared, models = dict(given), dict[str, dict[str, Any]]()
    own = [role.name for role in task.roles if role.by_model]
    if tables:
        shared[own[0]] = named(tables, None)
    for name in own:
        if (column := shared.pop(name, None)) is not None:
            for model, values in by_model(column, name).items():
                models.setdefault(model, {})[name] = values
    demand_two(tuple(models))
    return shared, models


class TaskComparison(ComparisonResult):
    """Findings about several models on the same test data."""

    def __init__(
        self,
        task: Task,
        paired: Any,  # noqa: ANN401  the paired tally of the task
        settings: TaskSettings,
        **shared: Any,  # noqa: ANN401  what every comparison has
    ) -> None:
        super().__init__(**shared)
        self.task, self.counts, self.settings = task, paired, settings

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding, corrected for all questions together."""
        families = self._tested, self._held_to_margin()
        return tuple(finding for family in families for finding in adjusted(family, self.settings.correction))

    @cached_property
    def _tested(self) -> list[Finding]:
        return cast("list[Finding]", list(self.task.compare(self.counts, self.settings)))

    def _held_to_margin(self) -> list[Finding]:
        """Every difference of a measure against the margin, where one is stated."""
        margin, equivalence = self.settings.margin, self.settings.equivalence
        return [
            check_margin(finding, margin, equivalence=equivalence, higher_is_better=measure.better is HIGHER)
            for finding in self._tested
            if margin is not None and finding.test in OF_DIFFERENCES and (measure := self._declared.get(finding.about))
        ]

    @cached_property
    def estimates(self) -> dict[str, list[Estimate]]:
        """The compared measures of each model with their intervals."""
        views = cast("Mapping[str, Estimates]", self.task.model_estimates(self.counts, self.settings))
        names = list(dict.fromkeys(finding.about for finding in self.findings if finding.about in self._declared))
        names = names or list(self.task.headline)
        return {model: [view[name] for name in names] for model, view in views.items()}

    @cached_property
    def _declared(self) -> dict[str, Measure]:
        """The measures that findings are about, by title; some are about other things, such as one label."""
        registry, known = cast("Registry[Measure]", self.task.registry), {}
        for finding in self._tested:
            with suppress(PlanError):
                known[finding.about] = parse(finding.about, registry)
        return known

    @cached_property
    def ranking(self) -> list[Place]:
        """The models from best to worst by the first measure that has a value for all of them."""
        registry = cast("Registry[Measure]", self.task.registry)
        columns = zip(*self.estimates.values(), strict=True)
        for estimates in columns:
            measure = parse(estimates[0].measure, registry)
            values = dict(zip(self.estimates, (estimate.value for estimate in estimates), strict=True))
            if None not in values.values() and measure.better is not NEITHER:
                floats = cast("dict[str, float]", values)
                return self._ranked(measure.title, floats, (measure.title,), high=measure.better is HIGHER)
        return []

    @cached_property
    def record(self) -> Record:
        """The Record of this comparison."""
        settings = self.settings
        asked = {name: getattr(settings, name) for name in ("correction", "margin", "equivalence", "control")}
        return self._recorded(
            task=self.task.name,
            plan={**settings.to_json(), **asked},
            tallies=self.counts.to_json(),
            errata={name for measure in self._declared.values() for name in measure.errata},
        )

    @classmethod
    def from_record(cls, record: Record) -> TaskComparison:
        """The comparison a Record was written from, computed again from its tallies."""
        with read_whole(record) as shared:
            task, plan = find_task(record["task"]), record["plan"]
            settings = cast("TaskSettings", task.read_settings(plan))
            return cls(task, task.read_paired(record["tallies"], plan), settings, **shared)

    def __repr__(self) -> str:
        """What it is about, in one line."""
        return f"<Comparison: {self.task.name}, {', '.join(self.models)}; {len(self)} findings>"
