# SPDX-License-Identifier: Apache-2.0
"""The tally of tasks whose measures are functions of sums: one row of named sums for each unit.

A unit is what was drawn from the population: a row, an image, a query, a patient.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.registry import Declared, Registry
from assay.core.text import listed
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
        return cls.build(
            names,
            np.array(content["sums"], dtype=np.float64).reshape(-1, len(names)),
            rows=cast("int", content["rows"]),
            ids=cast("list[str] | None", content["ids"]),
        )
