# SPDX-License-Identifier: Apache-2.0
"""The tally of regression: the rows themselves while they are few, and sums with counts on grids beyond."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import listed
from assay.tally.base import VERSION, Digested, demand_kind
from assay.tasks.regression.summary import Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats


HELD_ROWS: Final = 200_000
"""Rows up to which a tally keeps them all, so that order and units are exact."""
KIND: Final = "residuals"
PAIRED: Final = "paired residuals"
MOST_PAIRED: Final = 1_000_000
"""Rows up to which models are compared; a comparison holds them all."""
OF: Final = " of "
"""Between the name of a column and the output or model it belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowTable:
    """Columns of numbers and, where units are named, the unit of each row."""

    names: tuple[str, ...]
    values: Floats | tuple[Floats, ...]
    """Columns by rows; as they came, until rows are chosen."""
    units: tuple[str, ...] | None = None

    def sorted(self) -> RowTable:
        """The same rows in an order that does not depend on how they came."""
        codes = self.unit_codes
        order = np.lexsort([*self.values[::-1], *([] if codes is None else [codes])])
        units = None if self.units is None else tuple(self.units[place] for place in order.tolist())
        values = np.asarray(self.values)[:, order] + 0.0  # minus zero is zero
        return RowTable(names=self.names, values=values, units=units)

    @property
    def unit_codes(self) -> NDArray[np.intp] | None:
        """The place of the unit of each row among their sorted names; None where rows are the units."""
        return None if self.units is None else np.unique(np.array(self.units), return_inverse=True)[1]

    def columns(self, of: str | None = None) -> dict[str, Floats]:
        """The columns of an output or model, and those that all share."""
        end = f"{OF}{of}"
        return {
            name.removesuffix(end): column
            for name, column in zip(self.names, self.values, strict=True)
            if OF not in name or name.endswith(end)
        }

    def select(self, kept: slice | NDArray[np.bool_]) -> RowTable:
        """Some of the rows."""
        units = None if self.units is None else tuple(np.array(self.units, dtype=object)[kept].tolist())
        return RowTable(names=self.names, values=np.asarray(self.values)[:, kept], units=units)

    def __add__(self, other: RowTable) -> RowTable:
        """All rows of both."""
        units = None if self.units is None or other.units is None else self.units + other.units
        values = np.concatenate([np.asarray(self.values), np.asarray(other.values)], axis=1)
        return RowTable(names=self.names, values=values, units=units)

    def to_json(self) -> dict[str, object]:
        """As in a Record; the names stand beside it."""
        units = None if self.units is None else list(self.units)
        return {"values": np.asarray(self.values).tolist(), "units": units}

    @classmethod
    def from_json(cls, names: tuple[str, ...], content: Mapping[str, Any]) -> RowTable:
        """The inverse of `to_json`."""
        values = np.array(content["values"], dtype=np.float64).reshape(len(names), -1)
        return cls(names=names, values=values, units=None if content["units"] is None else tuple(content["units"]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Facts:
    """What was stated beside the rows, and shapes the measures."""

    outputs: tuple[str, ...] = ("",)
    baseline: str | None = None
    interval_level: float | None = None
    scales: tuple[float | None, ...] = ()
    """By output: the mean absolute step of the series that scales errors; 0 where it has none."""
    weights: tuple[float, ...] = ()
    """By output: its weight in the mean over outputs; empty where all weigh the same."""

    @property
    def shares(self) -> tuple[float, ...]:
        """The weights of outputs, which add up to 1."""
        weights = self.weights or (1.0,) * len(self.outputs)
        return tuple(weight / math.fsum(weights) for weight in weights)

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "outputs": list(self.outputs), "baseline": self.baseline, "interval_level": self.interval_level,
            "scales": list(self.scales), "weights": list(self.weights),
        }  # fmt: skip

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Facts:
        """The inverse of `to_json`."""
        lists = {name: tuple(content[name]) for name in ("outputs", "scales", "weights")}
        return cls(**{**content, **lists})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Residuals(Digested):
    """Truth and predictions of one model: a table of rows, or a summary of each output."""

    facts: Facts
    names: tuple[str, ...]
    rows: int
    table: RowTable | None = None
    summaries: tuple[Summary, ...] | None = None
    """By output; None while the rows are few."""
    by_unit: bool = False
    cache: dict[str, Any] = field(default_factory=dict)
    """Views that estimates share."""

    @classmethod
    def of(cls, facts: Facts, table: RowTable, *, many: bool = False) -> Residuals:
        """Count rows; with `many`, the summary is made at once, because the rows will not be held."""
        rows = len(table.values[0])
        tally = cls(facts=facts, names=table.names, rows=rows, table=table, by_unit=table.units is not None)
        return tally.summarised() if many and rows else tally

    def summarised(self) -> Residuals:
        """The same with a summary beside the rows."""
        if self.summaries is not None or self.table is None:
            return self
        level, units = self.facts.interval_level, self.table.units
        parts = (self.table.columns(output) for output in self.facts.outputs)
        return replace(self, summaries=tuple(Summary.of(part, level, units) for part in parts))

    def final(self) -> Residuals:
        """Either the rows, in order, or the summary: the form depends on the number of rows alone."""
        if self.table is None:
            return self
        if self.rows > HELD_ROWS:
            return replace(self.summarised(), table=None, cache={})
        return replace(self, table=self.table.sorted(), summaries=None, cache={})

    @property
    def units(self) -> int:
        """How many units there are: rows, unless units are named."""
        return len(self.unit_ids) if self.by_unit else self.rows

    @property
    def unit_ids(self) -> tuple[str, ...]:
        """The names of the units, sorted; none where rows are the units."""
        if self.table is not None:
            return tuple(sorted(set(self.table.units or ())))
        moments = self.summaries[0].moments if self.summaries else None
        return () if moments is None else moments.ids

    def __add__(self, other: Residuals) -> Residuals:
        """Both together, equal to counting the rows of both at once."""
        self.check_alike(other)
        rows = self.rows + other.rows
        both = Residuals(facts=self.facts, names=self.names, rows=rows, by_unit=self.by_unit)
        if rows <= HELD_ROWS:
            return replace(both, table=cast("RowTable", self.table) + cast("RowTable", other.table))
        pairs = zip(self.summarised().summaries or (), other.summarised().summaries or (), strict=True)
        return replace(both, summaries=tuple(first + second for first, second in pairs))

    def check_alike(self, other: Residuals) -> None:
        """Raise unless both hold the same columns, counted with the same statements."""
        if self.names != other.names or self.by_unit != other.by_unit:
            raise PlanError(
                "tally-mismatch",
                "the two tallies hold different columns, or only one of them names its units",
                found=f"{listed(self.names)} and {listed(other.names)}",
                fix="count both with the same columns and the same unit",
            )
        if self.facts.to_json() != other.facts.to_json():
            raise PlanError(
                "tally-mismatch",
                "the two tallies were counted with different baselines, levels or training series",
                fix="count both with the same options",
            )

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        tally = self.final()
        content: dict[str, object] = {
            "kind": KIND, "version": VERSION, "names": list(self.names), "rows": self.rows,
            "by_unit": self.by_unit, "facts": self.facts.to_json(),
        }  # fmt: skip
        if tally.table is not None:
            content |= tally.table.to_json()
        else:
            parts = tally.summaries or ()
            content["summaries"] = [part.to_json() for part in parts]
            content["unit_moments"] = [part.moments.to_json() for part in parts if part.moments is not None]
        return {"residuals": content}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Residuals:
        """The inverse of `to_json`."""
        content = content.get("residuals", {})
        demand_kind(content, KIND, "a tally of residuals")
        names, facts = tuple(content["names"]), Facts.from_json(content["facts"])
        plain = cls(facts=facts, names=names, rows=content["rows"], by_unit=content["by_unit"])
        if "values" in content:
            return replace(plain, table=RowTable.from_json(names, content))
        moments = content["unit_moments"] or [None] * len(content["summaries"])
        parts = zip(content["summaries"], moments, strict=True)
        return replace(plain, summaries=tuple(Summary.from_json(*part) for part in parts))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairedResiduals(Digested):
    """Truth, and the predictions of each model, row by row."""

    facts: Facts
    models: tuple[str, ...]
    table: RowTable
    cache: dict[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.table.values[0])

    @property
    def units(self) -> int:
        """How many units there are."""
        return self.rows if self.table.units is None else len(set(self.table.units))

    def __add__(self, other: PairedResiduals) -> PairedResiduals:
        """All rows of both."""
        if self.models != other.models or self.table.names != other.table.names:
            raise PlanError("tally-mismatch", "the tallies hold other models or columns", fix="count both alike")
        return replace(self, table=_limited(self.table + other.table), cache={})

    def final(self) -> PairedResiduals:
        """The rows in an order that does not depend on how they came."""
        return replace(self, table=_limited(self.table).sorted(), cache={})

    def residuals(self, model: str) -> Residuals:
        """The tally of one model."""
        if model not in self.cache:
            columns = self.table.columns(model)
            table = RowTable(names=tuple(columns), values=np.array(list(columns.values())), units=self.table.units)
            self.cache[model] = Residuals.of(self.facts, table).final()
        tally: Residuals = self.cache[model]
        return tally

    def errors(self, model: str) -> Floats:
        """Truth minus prediction of one model."""
        columns = self.table.columns(model)
        return columns["truth"] - columns["predicted"]

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        tally = self.final()
        return {
            "kind": PAIRED, "version": VERSION, "models": list(self.models), "facts": self.facts.to_json(),
            "names": list(self.table.names), **tally.table.to_json(),
        }  # fmt: skip

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> PairedResiduals:
        """The inverse of `to_json`."""
        demand_kind(content, PAIRED, "a paired tally of residuals")
        table = RowTable.from_json(tuple(content["names"]), content)
        return cls(facts=Facts.from_json(content["facts"]), models=tuple(content["models"]), table=table)


def _limited(table: RowTable) -> RowTable:
    if len(table.values[0]) > MOST_PAIRED:
        raise PlanError(
            "too-many-rows", f"a comparison of models holds all rows, and there are more than {MOST_PAIRED:,}",
            fix="compare on a sample of the rows, or assess each model and use a gate",
        )  # fmt: skip
    return table
