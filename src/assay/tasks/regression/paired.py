# SPDX-License-Identifier: Apache-2.0
"""The paired tally of several models on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.errors import PlanError
from assay.tally.base import VERSION, demand_kind, digest
from assay.tasks.regression.tally import OF, Facts, Residuals, RowTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

KIND: Final = "paired residuals"
MOST_ROWS: Final = 1_000_000
"""Rows up to which models are compared; a comparison holds them all."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairedResiduals:
    """Truth, and the predictions of each model, row by row."""

    facts: Facts
    models: tuple[str, ...]
    table: RowTable
    cache: dict[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.table.values.shape[1])

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

    def digest(self) -> str:
        """SHA-256 of the canonical form."""
        return digest(self.to_json())

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        tally = self.final()
        return {
            "kind": KIND, "version": VERSION, "models": list(self.models), "facts": self.facts.to_json(),
            "names": list(self.table.names), "values": tally.table.values.tolist(),
            "units": None if tally.table.units is None else list(tally.table.units),
        }  # fmt: skip

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> PairedResiduals:
        """The inverse of `to_json`."""
        demand_kind(content, KIND, "a paired tally of residuals")
        names = tuple(content["names"])
        values = np.array(content["values"], dtype=np.float64).reshape(len(names), -1)
        units = None if content["units"] is None else tuple(content["units"])
        table = RowTable(names=names, values=values, units=units)
        return cls(facts=Facts.from_json(content["facts"]), models=tuple(content["models"]), table=table)


def _limited(table: RowTable) -> RowTable:
    if table.values.shape[1] > MOST_ROWS:
        raise PlanError(
            "too-many-rows", f"a comparison of models holds all rows, and there are more than {MOST_ROWS:,}",
            fix="compare on a sample of the rows, or assess each model and use a gate",
        )  # fmt: skip
    return table


__all__ = ["OF", "PairedResiduals"]
