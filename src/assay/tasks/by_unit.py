# SPDX-License-Identifier: Apache-2.0
"""The common half of tasks whose measures are functions of sums over units: images, queries, rows of numbers.

Such a task declares its roles, its sums and its measures, and counts; estimates, intervals and the Record follow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.values import Undefined
from assay.inference.estimates import Estimate, Estimates, Interval
from assay.inference.unit_intervals import jackknife_interval
from assay.measures.declare import Measure, parse
from assay.tally.unit_table import Sums, UnitTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.registry import Registry
    from assay.core.task import Role
    from assay.inference.intervals.interval_choice import Wanted
    from assay.tally.census import Census


class UnitSettings(Protocol):
    """What estimates of units need of the settings."""

    @property
    def measures(self) -> Sequence[Measure] | None:
        """The measures asked for; None for all."""

    @property
    def wanted(self) -> Wanted:
        """Level and method of intervals."""


class UnitTask(ABC):
    """A task that counts into a table of sums by unit."""

    name: ClassVar[str]
    roles: ClassVar[tuple[Role, ...]]
    unit: ClassVar[str]
    sums: ClassVar[type[Sums]]
    """What its measures read."""
    in_scope = False

    @property
    def variants(self) -> tuple[str, ...]:
        """What a Record calls it."""
        return (self.name,)

    @abstractmethod
    def count(self, columns: Mapping[str, NDArray[Any]]) -> tuple[UnitTable, Census]:
        """Count columns by role into a tally, and account for every row."""

    @property
    def measures(self) -> list[Measure]:
        """Every measure that was declared over the sums of this task."""
        return [measure for measure in self.registry if not measure.needs]

    @property
    def registry(self) -> Registry[Measure]:
        """Its measures by name."""
        return cast("Registry[Measure]", self.sums.MEASURES)

    def variant(self, tally: UnitTable) -> str:  # noqa: ARG002  part of the contract
        """Its name."""
        return self.name

    def read_tally(self, content: Mapping[str, Any], plan: Mapping[str, Any]) -> UnitTable:  # noqa: ARG002
        """The table of a Record."""
        return UnitTable.from_json(content)

    def describe(self, tally: UnitTable) -> dict[str, object]:
        """How many units there are."""
        return {"units": tally.units}

    def statement(self, tally: UnitTable) -> dict[str, object]:  # noqa: ARG002
        """Nothing beyond the settings."""
        return {}

    def sections(self, tally: UnitTable, settings: object) -> dict[str, object]:  # noqa: ARG002
        """No further parts."""
        return {}

    def estimates(
        self,
        tally: UnitTable,
        settings: UnitSettings,
        slice_: Mapping[str, Label] | None = None,
    ) -> UnitEstimates:
        """Every measure of the task."""
        return UnitEstimates(self, tally, settings, slice_)

    def check_alike(self, new: UnitTable, reference: UnitTable) -> None:
        """The sums are the same by construction; what they are sums of is the task."""
        if new.names != reference.names:
            raise PlanError(
                "tally-mismatch", "the reference holds other sums", fix="count both with this version of assay"
            )

    check_mergeable = check_alike

    def align(self, part: UnitTable, whole: UnitTable) -> UnitTable:  # noqa: ARG002
        """Tables need no common form."""
        return part

    def shareable(self, tally: UnitTable, smallest: int) -> tuple[UnitTable, list[str]]:
        """A table of units shows single units, so it leaves only where that is allowed."""
        if smallest > 1:
            raise PlanError(
                "cell-too-small",
                f"the tally of {self.name} holds the sums of every single {self.unit}",
                where="smallest_cell",
                fix="if your policy allows it, let every cell out: smallest_cell=1 (--smallest-cell 1)",
            )
        return tally, []

    def small_cells(self, tally: UnitTable, smallest: int) -> list[str]:
        """Every unit is a cell of one."""
        return [f"{tally.units} {self.unit}s"] if smallest > 1 else []


class UnitEstimates(Estimates):
    """Measures of one table of units, computed when asked for."""

    def __init__(
        self,
        task: UnitTask,
        table: UnitTable,
        settings: UnitSettings,
        slice_: Mapping[str, Label] | None,
    ) -> None:
        self.task, self.table, self.settings, self.slice = task, table, settings, dict(slice_ or {})
        self._estimates: dict[str, Estimate] = {}

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """The measures asked for, or all."""
        return self.task.measures if self.settings.measures is None else list(self.settings.measures)

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of a measure, by name, symbol or alias."""
        measure = parse(name, self.task.registry)
        if measure.title not in self._estimates:
            self._estimates[measure.title] = self._estimate(measure)
        return self._estimates[measure.title]

    def __iter__(self) -> Iterator[str]:
        """The names of the measures."""
        return iter([measure.title for measure in self.measures])

    def __len__(self) -> int:
        """How many there are."""
        return len(self.measures)

    def listed(self, done: Callable[[], None] = lambda: None) -> list[Estimate]:
        """What a Record lists."""
        estimates = [self[measure.title] for measure in self.measures]
        done()
        return estimates

    def _estimate(self, measure: Measure) -> Estimate:
        value = measure(cast("Any", self.task.sums(self.table.total())))
        interval: Interval | str
        if isinstance(value, Undefined):
            interval = "the value is undefined"
        else:
            interval = jackknife_interval(measure, self.table, self.task.sums, self.settings.wanted.level)
        return Estimate(
            measure=measure.title,
            result=value,
            interval=interval if isinstance(interval, Interval) else None,
            no_interval=interval if isinstance(interval, str) else None,
            n=self.table.units,
            slice=self.slice,
        )
