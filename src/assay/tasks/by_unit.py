# SPDX-License-Identifier: Apache-2.0
"""The common half of tasks whose measures are functions of sums over units: images, queries, rows of numbers.

Such a task declares its roles, its sums, its measures and a kernel; reading, estimates, intervals, comparisons and the
Record follow. A task that reads files of its own overrides `read` and `read_models`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.task import Counted, ReportParts, Request
from assay.core.text import plural
from assay.core.values import Undefined
from assay.inference.estimates import Estimate, Estimates, Interval, build_estimate, note_width
from assay.inference.unit_intervals import compare_measure, jackknife_interval, model_pairs
from assay.measures.declare import Measure, parse
from assay.tally.base import ModelTallies
from assay.tally.unit_table import Sums, UnitModels, UnitTable
from assay.tasks.task_settings import TaskSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from assay.core.registry import Registry
    from assay.core.task import Example, Option, Role
    from assay.inference.findings import Finding


OwnTally: TypeAlias = Any
"""The tally of a task, or that of several models: whatever it declares."""


def name_values(ids: Sequence[str], columns: Mapping[str, Sequence[float]]) -> dict[str, dict[str, float | None]]:
    """By unit and measure: the value, None where there is none."""
    return {
        unit: {name: values[place] if math.isfinite(values[place]) else None for name, values in columns.items()}
        for place, unit in enumerate(ids)
    }


class TaskEstimates(Estimates):
    """Estimates by measure and class, when asked for; a task of any kind but classification says how one is made."""

    def __init__(
        self, task: Any, tally: Any, settings: TaskSettings, slice_: Mapping[str, Label] | None = None  # noqa: ANN401
    ) -> None:  # fmt: skip
        self.task, self.tally, self.settings, self.slice = task, tally, settings, dict(slice_ or {})
        self._estimates: dict[tuple[str, Label | None], Estimate] = {}

    @property
    def registry(self) -> Registry[Measure]:
        """The measures of the task."""
        return cast("Registry[Measure]", self.task.registry)

    @abstractmethod
    def _estimate(self, measure: Measure) -> Estimate:
        """The estimate of all classes together."""

    def _class_estimate(self, measure: Measure, label: Label) -> Estimate:
        """The estimate of one class, where there are classes."""
        raise NotImplementedError

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """The measures asked for, or all that need no parameter."""
        if self.settings.measures is not None:
            return list(self.settings.measures)
        return [measure for measure in self.registry if not measure.needs]

    @property
    def lists_classes(self) -> bool:
        """Whether a Record lists every class."""
        return False

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of a measure, by name, symbol or alias."""
        return self.find(parse(name, self.registry))

    def class_estimate(self, name: str, label: Label) -> Estimate:
        """The same of one class."""
        return self.find(parse(name, self.registry), label)

    def find(self, measure: Measure, label: Label | None = None) -> Estimate:
        """The estimate of a measure of all classes or of one, computed once."""
        key = (measure.title, label)
        if key not in self._estimates:
            new = self._estimate(measure) if label is None else self._class_estimate(measure, label)
            self._estimates[key] = new
        return self._estimates[key]

    def listed(self, done: Callable[[], None] = lambda: None) -> list[Estimate]:
        """What a Record lists: the whole, then class by class."""
        estimates = [self.find(measure) for measure in self.measures]
        if self.lists_classes:
            estimates += [self.find(measure, label) for label in self.by_class for measure in self.class_measures]
        done()
        return estimates


class UnitEstimates(TaskEstimates):
    """Measures of one table of units."""

    def __init__(
        self, task: UnitTask, table: UnitTable, settings: TaskSettings, slice_: Mapping[str, Label] | None = None
    ) -> None:
        super().__init__(task, table, settings, slice_)
        self.table = table

    def _estimate(self, measure: Measure) -> Estimate:
        value = measure(cast("Any", self.task.sums(self.table.total())))
        interval: Interval | str = "the value is undefined"
        if not isinstance(value, Undefined):
            interval = jackknife_interval(measure, self.table, self.task.sums, self.settings.wanted.level)
        notes = note_width(measure, interval if isinstance(interval, Interval) else None)
        return build_estimate(measure.title, value, interval, self.table.units, slice=self.slice, notes=notes)


class UnitTask(ReportParts, ABC):
    """A task that counts into a table of sums by unit."""

    name: ClassVar[str]
    says: ClassVar[str] = ""
    roles: ClassVar[tuple[Role, ...]]
    options: ClassVar[tuple[Option, ...]] = ()
    unit: ClassVar[str] = "row"
    sums: ClassVar[type[Sums]]
    """What its measures read."""
    tally: ClassVar[type] = UnitTable
    """What it counts into."""
    view: ClassVar[type[TaskEstimates]] = UnitEstimates
    """What makes its estimates."""
    paired: ClassVar[type] = UnitModels
    """What it counts several models into; `ModelTallies` where each has a tally of its own."""
    examples: ClassVar[tuple[Example, ...]] = ()
    headline: ClassVar[tuple[str, ...]] = ()
    in_scope = False

    @property
    def variants(self) -> tuple[str, ...]:
        """What a Record calls it."""
        return (self.name,)

    def kernel(self, batch: Mapping[str, NDArray[Any]], options: Mapping[str, Any]) -> NDArray[np.float64]:
        """The sums of every row of a batch: rows by sums."""
        raise NotImplementedError

    def read(self, request: Request) -> Counted:
        """Read the rows of any table."""
        from assay.tasks.unit_inputs import read_units

        return read_units(self, request)

    def read_models(self, request: Request, models: Mapping[str, Mapping[str, object]]) -> Counted:
        """Read the rows of several models."""
        from assay.tasks.unit_inputs import read_unit_models

        return read_unit_models(self, request, models)

    @property
    def measures(self) -> list[Measure]:
        """Every measure that was declared over the sums of this task and needs no parameter."""
        return [measure for measure in self.registry if not measure.needs]

    @property
    def registry(self) -> Registry[Measure]:
        """Its measures by name."""
        return cast("Registry[Measure]", self.sums.MEASURES)

    def variant(self, tally: OwnTally) -> str:  # noqa: ARG002  part of the contract
        """Its name."""
        return self.name

    def read_settings(self, plan: Mapping[str, Any], labels: Iterable[Label] = ()) -> TaskSettings:  # noqa: ARG002
        """The settings of a Record."""
        return TaskSettings.from_json(plan, self.registry)

    def read_tally(self, content: Mapping[str, Any], plan: Mapping[str, Any]) -> OwnTally:  # noqa: ARG002
        """The tally of a Record."""
        return cast("Any", self.tally).from_json(content)

    def read_paired(self, content: Mapping[str, Any], plan: Mapping[str, Any]) -> OwnTally:  # noqa: ARG002
        """The paired tally of the Record of a comparison."""
        if issubclass(self.paired, ModelTallies):
            return self.paired.read(self.tally, content)
        return cast("Any", self.paired).from_json(content)

    def describe(self, tally: OwnTally) -> dict[str, object]:
        """How many units there are."""
        return {"units": tally.units}

    def statement(self, tally: OwnTally) -> dict[str, object]:  # noqa: ARG002
        """Nothing beyond the settings."""
        return {}

    def sections(self, tally: OwnTally, settings: TaskSettings) -> dict[str, object]:  # noqa: ARG002
        """No further parts."""
        return {}

    def unit_values(self, tally: OwnTally) -> dict[str, dict[str, float | None]]:
        """The leading measures of every unit alone."""
        if tally.ids is None:
            return {}
        return self.value_units(tally.ids, self.sums(tally.sums))

    def value_units(self, ids: Sequence[str], stack: object) -> dict[str, dict[str, float | None]]:
        """The leading measures of a stack with one table for each unit."""
        columns = {name: parse(name, self.registry).values(cast("Any", stack)).tolist() for name in self.headline}
        return name_values(ids, columns)

    def estimates(self, tally: OwnTally, settings: TaskSettings, slice_: Mapping[str, Label] | None = None) -> Any:  # noqa: ANN401  whatever `view` makes
        """Every measure of the task."""
        return self.view(self, tally, settings, slice_)

    def model_estimates(self, paired: OwnTally, settings: TaskSettings) -> dict[str, Estimates]:
        """The estimates of each model."""
        return {model: self.estimates(paired.table(model), settings) for model in paired.models}

    def compared_measures(self, settings: TaskSettings) -> list[Measure]:
        """The measures that a comparison turns on: those asked for, or the headline."""
        if settings.measures is not None:
            return list(settings.measures)
        return [parse(name, self.registry) for name in self.headline]

    def compare(self, paired: OwnTally, settings: TaskSettings) -> Iterator[Finding]:
        """Every measure of every two models, by swaps of units."""
        wanted = settings.wanted
        for measure in self.compared_measures(settings):
            for pair in model_pairs(paired.models, settings.control):
                yield compare_measure(
                    measure, paired, self.sums, pair,
                    level=wanted.level, swaps=settings.swaps, seed=wanted.seed, unit=self.unit,
                )  # fmt: skip

    def check_alike(self, new: OwnTally, reference: OwnTally) -> None:
        """The sums are the same by construction; what they are sums of is the task."""
        if new.names != reference.names:
            raise PlanError(
                "tally-mismatch", "the reference holds other sums", fix="count both with this version of assay"
            )

    check_mergeable = check_alike

    def align(self, part: OwnTally, whole: OwnTally) -> OwnTally:  # noqa: ARG002
        """Tables need no common form."""
        return part

    def shareable(self, tally: OwnTally, smallest: int) -> tuple[OwnTally, list[str]]:
        """A table of units shows single units, so it leaves only where that is allowed."""
        if smallest > 1:
            raise PlanError(
                "cell-too-small",
                f"the tally of {self.name} holds the sums of every single {self.unit}",
                where="smallest_cell",
                fix="if your policy allows it, let every cell out: smallest_cell=1 (--smallest-cell 1)",
            )
        return tally, []

    def small_cells(self, tally: OwnTally, smallest: int) -> list[str]:
        """Every unit is a cell of one."""
        return [f"{tally.units} {plural(self.unit)}"] if smallest > 1 else []
