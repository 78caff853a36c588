# SPDX-License-Identifier: Apache-2.0
"""The tally of tasks whose measures are functions of sums: one row of named sums for each unit, of one or more models.

A unit is what was drawn from the population: a row, an image, a query, a patient.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from assay.core.errors import PlanError, RecordError, UnpairedRows
from assay.core.registry import Declared, Registry
from assay.core.text import counted, listed
from assay.tally.base import VERSION, Digested, demand_kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.values import Amount


class Sums:
    """Named sums that measures read: one number each, or a stack of tables along leading axes.

    A subclass annotates its sums in the order of the table's columns.

    >>> class Errors(Sums):
    ...     n: Amount
    ...     absolute: Amount
    >>> Errors.NAMES, Errors(np.array([4.0, 6.0])).absolute
    (('n', 'absolute'), 6.0)
    """

    NAMES: ClassVar[tuple[str, ...]] = ()
    MEASURES: ClassVar[Registry[Declared]]
    """Every measure whose function takes these sums."""

    def __init_subclass__(cls) -> None:
        """Take the names from the annotations, and have measures of their own."""
        cls.NAMES, cls.MEASURES = tuple(cls.__annotations__), Registry("measure", {})

    def __init__(self, values: NDArray[np.float64]) -> None:
        columns = values.tolist() if values.ndim == 1 else [values[..., place] for place in range(len(self.NAMES))]
        for name, column in zip(self.NAMES, columns, strict=True):
            setattr(self, name, cast("Amount", column))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitTable(Digested):
    """One row of sums for each unit, in an order that does not depend on how they were counted."""

    names: tuple[str, ...]
    sums: NDArray[np.float64]
    """Units by sums."""
    rows: int
    """Rows of the data that were added up."""
    ids: tuple[str, ...] | None = None
    """What the units are called; None where every row is a unit."""

    @classmethod
    def build(
        cls,
        names: Sequence[str],
        sums: NDArray[np.float64],
        *,
        rows: int | None = None,
        ids: Sequence[str] | None = None,
    ) -> UnitTable:
        """Sort the units by name, or by their sums where they have none."""
        values = np.asarray(sums, dtype=np.float64).reshape(-1, len(names)) + 0.0  # minus zero is zero
        if not np.isfinite(values).all():
            msg = "a sum of a unit is not finite"
            raise ArithmeticError(msg)
        rows = len(values) if rows is None else rows
        if ids is None:
            order = np.lexsort(values.T[::-1]) if len(values) else np.arange(0)
            return cls(names=tuple(names), sums=values[order], rows=rows)
        order = np.argsort(np.array(ids, dtype=object), kind="stable")
        return cls(names=tuple(names), sums=values[order], rows=rows, ids=tuple(ids[place] for place in order))

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.sums)

    def total(self) -> NDArray[np.float64]:
        """The sums over all units, each rounded once."""
        return np.array([math.fsum(column) for column in self.sums.T.tolist()])

    def without_each(self) -> NDArray[np.float64]:
        """The sums with one unit left out, for each unit."""
        return self.total() - self.sums

    def select(self, ids: Sequence[str]) -> UnitTable:
        """The rows of some units, by name."""
        place = {name: number for number, name in enumerate(self.ids or ())}
        rows = np.array([place[name] for name in ids], dtype=np.intp)
        return UnitTable.build(self.names, self.sums[rows], ids=ids)

    def __add__(self, other: UnitTable) -> UnitTable:
        """All units of both; a unit that both hold is added up."""
        if self.names != other.names or (self.ids is None) != (other.ids is None):
            raise PlanError(
                "tally-mismatch",
                "the two tallies hold different sums, or only one of them names its units",
                found=f"{listed(self.names)} and {listed(other.names)}",
                fix="count both by the same task and with the same unit",
            )
        sums, rows = np.concatenate([self.sums, other.sums]), self.rows + other.rows
        if self.ids is None or other.ids is None:
            return UnitTable.build(self.names, sums, rows=rows)
        names, place = np.unique(np.array([*self.ids, *other.ids], dtype=object), return_inverse=True)
        added = np.zeros((len(names), len(self.names)))
        np.add.at(added, place, sums)
        return UnitTable.build(self.names, added, rows=rows, ids=names.tolist())

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "units": {
                "kind": "units",
                "version": VERSION,
                "names": list(self.names),
                "rows": self.rows,
                "ids": None if self.ids is None else list(self.ids),
                "sums": self.sums.tolist(),
            }
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> UnitTable:
        """The inverse of `to_json`."""
        content = cast("Mapping[str, object]", content.get("units", {}))
        demand_kind(content, "units", "a table of units")
        names = cast("list[str]", content["names"])
        rows, ids = cast("int", content["rows"]), cast("list[str] | None", content["ids"])
        return cls.build(names, np.array(content["sums"], dtype=np.float64), rows=rows, ids=ids)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitModels(Digested):
    """Sums of several models on the same units: a row of sums by model for each unit, in the order of such tables."""

    models: tuple[str, ...]
    names: tuple[str, ...]
    sums: NDArray[np.float64]
    """Units by models by sums."""
    rows: int
    ids: tuple[str, ...] | None = None

    @classmethod
    def build(
        cls,
        models: Sequence[str],
        names: Sequence[str],
        sums: NDArray[np.float64],
        *,
        rows: int | None = None,
        ids: Sequence[str] | None = None,
    ) -> UnitModels:
        """Sort the units as a table of units is sorted."""
        columns = [f"{model}|{name}" for model in models for name in names]
        return cls._split(models, names, UnitTable.build(columns, sums, rows=rows, ids=ids))

    @classmethod
    def _split(cls, models: Sequence[str], names: Sequence[str], wide: UnitTable) -> UnitModels:
        sums = wide.sums.reshape(-1, len(models), len(names))
        return cls(models=tuple(models), names=tuple(names), sums=sums, rows=wide.rows, ids=wide.ids)

    @classmethod
    def join(cls, tables: Mapping[str, UnitTable]) -> UnitModels:
        """Tables of models that name their units, matched by name; every model must have every unit."""
        first = next(iter(tables.values()))
        for model, table in tables.items():
            if table.ids is None or table.names != first.names:
                raise PlanError(
                    "tally-mismatch", f"the units of {model} have no names", fix="count all models by the same unit"
                )
            if table.ids != first.ids:
                lacking = sorted(set(first.ids or ()) ^ set(table.ids))
                raise UnpairedRows(
                    "rows-unmatched",
                    f"the models were not tested on the same units: {counted(len(lacking), 'unit')} differ",
                    found=listed(lacking, most=5),
                    fix="give predictions of every model for the same units",
                )
        stacked = np.stack([table.sums for table in tables.values()], axis=1)
        return cls.build(tuple(tables), first.names, stacked, rows=first.rows, ids=first.ids)

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.sums)

    def table(self, model: str) -> UnitTable:
        """The table of one model."""
        own = self.sums[:, self.models.index(model)]
        return UnitTable.build(self.names, own, rows=self.rows, ids=self.ids)

    def pair(self, a: str, b: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums of two models, unit by unit."""
        return self.sums[:, self.models.index(a)], self.sums[:, self.models.index(b)]

    def __add__(self, other: UnitModels) -> UnitModels:
        """All units of both; sums of a unit that both hold are added."""
        if (self.models, self.names) != (other.models, other.names):
            raise PlanError("tally-mismatch", "the tallies hold other models or sums", fix="count both alike")
        return self._split(self.models, self.names, self._wide() + other._wide())

    def _wide(self) -> UnitTable:
        names = tuple(f"{model}|{name}" for model in self.models for name in self.names)
        return UnitTable(names=names, sums=self.sums.reshape(self.units, -1), rows=self.rows, ids=self.ids)

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {"models": list(self.models), "names": list(self.names), **self._wide().to_json()}

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> UnitModels:
        """The inverse of `to_json`."""
        models, names = (tuple(cast("list[str]", content.get(part, []))) for part in ("models", "names"))
        wide = UnitTable.from_json(content)
        if len(wide.names) != len(models) * len(names):
            raise RecordError(
                "record-unreadable", f"this is not a paired tally of version {VERSION}", fix="restore the file"
            )
        return cls._split(models, names, wide)
