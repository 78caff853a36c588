# SPDX-License-Identifier: Apache-2.0
"""Compares models of any task but classification on the same test data, and keeps the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from assay.assess.arguments import TestSettings
from assay.assess.compare.comparison import Comparison, Place
from assay.assess.environment import environment
from assay.assess.record.record import VERSION, Record, sealed
from assay.assess.record.report_formats import Result
from assay.assess.task_assessment import sort_arguments
from assay.core.errors import PlanError, RecordError
from assay.core.task import Task, find_task
from assay.core.text import listed, nearest
from assay.core.traits import HIGHER, NEITHER
from assay.inference.findings import Finding
from assay.inference.multiplicity import adjusted
from assay.measures.declare import Measure, parse
from assay.tally.base import digest
from assay.tally.census import Census
from assay.tasks.task_settings import SWAPS, TaskSettings

if TYPE_CHECKING:
    from assay.core.registry import Registry
    from assay.inference.estimates import Estimate, Estimates

PAIR: Final = 2
CLASSIFIED: Final = ("binary", "multiclass", "values")
"""What Records of comparisons of classifiers, or of values from elsewhere, call their task."""
MARGINS: Final = ("non_inferiority", "equivalence")


def compare_task(name: str, *tables: object, tests: TestSettings | None = None, **given: Any) -> TaskComparison:  # noqa: ANN401
    """Compare models by a task: roles that differ by model are mappings, or one table a model is given."""
    task, tests = find_task(name), tests or TestSettings()
    shared, models = _split_models(task, tables, given)
    intervals = shared.get("intervals")
    call = sort_arguments(task, (), shared)
    settings = replace(
        call.settings,
        correction=tests.correction, margin=tests.margin, equivalence=tests.equivalence, control=tests.control,
        swaps=SWAPS if intervals is None or intervals.draws is None else intervals.draws,
    )  # fmt: skip
    if tests.control is not None and tests.control not in models:
        raise PlanError("option-unknown", "the control is not a model", known=listed(models), fix="name one of them")
    counted = task.read_models(call.request, models)
    return TaskComparison(
        task, counted.tally, settings, models=tuple(models), census=cast("Census", counted.census),
        notes=counted.notes, data=counted.data, found_in=environment(cast("Any", call.request.limits)),
    )  # fmt: skip


def _split_models(
    task: Task, tables: tuple[object, ...], given: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """What all models share, and what each has of its own."""
    shared, models = dict(given), dict[str, dict[str, Any]]()
    own = [role.name for role in task.roles if role.by_model]
    if tables:
        names = [Path(str(table)).stem for table in tables]
        if len(set(names)) < len(names):
            names = [str(table) for table in tables]
        shared[own[0]] = dict(zip(names, tables, strict=True))
    for name in own:
        column = shared.pop(name, None)
        if column is None:
            continue
        if not isinstance(column, Mapping):
            raise PlanError(
                "comparison-needs",
                f"{name} is not given by model",
                where=name,
                fix=f'give {name}={{"A": ..., "B": ...}}',
            )
        for model, values in column.items():
            models.setdefault(str(model), {})[name] = values
    if len(models) < PAIR:
        raise PlanError(
            "comparison-needs",
            "a comparison needs two models or more",
            found=listed(models) or "none",
            fix=f'give {own[0] if own else "predicted"}={{"A": ..., "B": ...}}',
        )
    return shared, models


class TaskComparison(Result):
    """Findings about several models on the same test data."""

    def __init__(
        self,
        task: Task,
        paired: Any,  # noqa: ANN401  the paired tally of the task
        settings: TaskSettings,
        *,
        models: tuple[str, ...],
        census: Census,
        notes: tuple[str, ...] = (),
        data: Mapping[str, Any] | None = None,
        found_in: Mapping[str, Any] | None = None,
    ) -> None:
        self.task, self.counts, self.settings, self.models = task, paired, settings, models
        self.census, self.notes = census, notes
        self._data, self._environment = dict(data or {}), dict(found_in or environment())

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding, corrected for all questions together."""
        found = cast("list[Finding]", list(self.task.compare(self.counts, self.settings)))
        margins = [finding for finding in found if finding.test.endswith(MARGINS)]
        others = [finding for finding in found if not finding.test.endswith(MARGINS)]
        by = self.settings.correction
        families = (adjusted(family, by) if len(family) > 1 else family for family in (others, margins))
        return tuple(finding for family in families for finding in family)

    def __iter__(self) -> Iterator[Finding]:
        """The findings."""
        return iter(self.findings)

    def __len__(self) -> int:
        """How many findings there are."""
        return len(self.findings)

    def __getitem__(self, name: str | tuple[str, ...]) -> Finding:
        """A finding by measure ("rmse") or test; with three models also by pair: c["rmse", "A", "B"]."""
        wanted, *models = (name,) if isinstance(name, str) else name
        matches = [
            finding
            for finding in self.findings
            if wanted in (finding.test, finding.about) and (not models or set(models) == set(finding.models))
        ]
        if not matches:
            known = list(dict.fromkeys(word for finding in self.findings for word in (finding.about, finding.test)))
            close = nearest(wanted, known)
            raise PlanError(
                "test-unknown",
                f"there is no finding {name!r}",
                known=listed(known, most=20),
                fix=f'did you mean "{close}"?' if close else "ask for one of the known ones",
            )
        if len({finding.models for finding in matches}) > 1:
            first = matches[0].models
            raise PlanError(
                "test-ambiguous",
                f"{wanted!r} was asked of several pairs",
                known="; ".join(" and ".join(finding.models) for finding in matches),
                fix=f"name the pair: c[{wanted!r}, {first[0]!r}, {first[-1]!r}]",
            )
        return matches[0]

    @cached_property
    def estimates(self) -> dict[str, list[Estimate]]:
        """The compared measures of each model with their intervals."""
        views = cast("Mapping[str, Estimates]", self.task.model_estimates(self.counts, self.settings))
        names = list(dict.fromkeys(finding.about for finding in self.findings if finding.about in self._declared))
        names = names or list(self.task.headline)
        return {model: [view[name] for name in names] for model, view in views.items()}

    @cached_property
    def _declared(self) -> set[str]:
        registry = cast("Registry[Measure]", self.task.registry)
        known = set()
        for finding in self.findings:
            try:
                parse(finding.about, registry)
            except PlanError:
                continue
            known.add(finding.about)
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
                return self._ranked(measure, cast("dict[str, float]", values))
        return []

    def _ranked(self, measure: Measure, values: dict[str, float]) -> list[Place]:
        sign = 1 if measure.better is HIGHER else -1
        ahead: dict[str, list[str]] = {model: [] for model in values}
        of_measure = [finding for finding in self.findings if finding.about == measure.title and finding.significant]
        for finding in of_measure:
            if len(finding.models) == PAIR and not finding.test.endswith(MARGINS):
                best, other = sorted(finding.models, key=lambda model: -sign * values[model])
                ahead[best].append(other)
        order = sorted(values, key=lambda model: -sign * values[model])
        return [
            Place(model=model, value=values[model], measure=measure.title, ahead_of=tuple(dict.fromkeys(ahead[model])))
            for model in order
        ]

    @cached_property
    def record(self) -> Record:
        """The Record of this comparison."""
        tallies = self.counts.to_json()
        settings = self.settings
        plan = {
            "given": "ad hoc", **settings.to_json(), "correction": settings.correction, "margin": settings.margin,
            "equivalence": settings.equivalence, "control": settings.control, "data": self._data,
        }  # fmt: skip
        registry = cast("Registry[Measure]", self.task.registry)
        used = {name for title in self._declared for name in parse(title, registry).errata}
        content: dict[str, Any] = {
            "assay": VERSION,
            "kind": "comparison",
            "task": self.task.name,
            "samples": self.census.scored,
            "rows": self.census.to_json(),
            "labels": [],
            "positive": None,
            "models": list(self.models),
            "estimates": [
                {"model": model, **estimate.to_json()} for model, own in self.estimates.items() for estimate in own
            ],
            "answers": [],
            "findings": [finding.to_json() for finding in self.findings],
            "ranking": [place.to_json() for place in self.ranking],
            "test_data": {"pairing": self._data.get("pairing"), "digest": None},
            "controls": [],
            "conformity": {"overall": "conformity not demonstrated", "rows": []},
            "decisions": [],
            "tallies": tallies,
            "plan": {**plan, "digest": digest(plan)},
            "environment": self._environment,
            "errata": sorted(used),
            "notes": list(self.notes),
            "digests": {"tallies": digest(tallies), "files": self._data.get("files", {})},
        }
        return Record(sealed(content))

    @classmethod
    def from_record(cls, record: Record) -> TaskComparison:
        """The comparison a Record was written from, computed again from its tallies."""
        try:
            task, plan, rows, tallies = find_task(record["task"]), record["plan"], record["rows"], record["tallies"]
            if digest(tallies) != record["digests"]["tallies"]:
                raise RecordError(
                    "digest-mismatch",
                    "the tallies are not the ones this Record was written with",
                    fix="restore the file from its source",
                )
            return cls(
                task,
                task.read_paired(tallies, plan),
                cast("TaskSettings", task.read_settings(plan)),
                models=tuple(record["models"]),
                census=Census(**{part: rows[part] for part in ("read", "scored", "excluded", "unmatched")}),
                notes=tuple(record["notes"]),
                data=plan["data"],
                found_in=record["environment"],
            )
        except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
            raise RecordError(
                "record-unreadable",
                f"a part of the Record is missing or malformed: {error}",
                fix="restore the file from its source",
            ) from error

    def __repr__(self) -> str:
        """What it is about, in one line."""
        return f"<Comparison: {self.task.name}, {', '.join(self.models)}; {len(self)} findings>"


def restore_comparison(record: Record) -> Comparison | TaskComparison:
    """The comparison a Record was written from, whatever its task."""
    return (Comparison if record.get("task") in CLASSIFIED else TaskComparison).from_record(record)
