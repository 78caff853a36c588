# SPDX-License-Identifier: Apache-2.0
"""The paired tally of several models on the same units: for each unit one row of named sums by model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from assay.core.errors import PlanError, RecordError, UnpairedRows
from assay.core.text import counted, listed
from assay.tally.base import VERSION, Digested
from assay.tally.unit_table import UnitTable

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitModels(Digested):
    """Sums of several models on the same units, in an order that does not depend on how they were counted."""

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
        flat = np.asarray(sums, dtype=np.float64).reshape(len(sums), -1)
        wide = UnitTable.build([f"{model}|{name}" for model in models for name in names], flat, rows=rows, ids=ids)
        shaped = wide.sums.reshape(-1, len(models), len(names))
        return cls(models=tuple(models), names=tuple(names), sums=shaped, rows=wide.rows, ids=wide.ids)

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
        whole = self._wide() + other._wide()
        shaped = whole.sums.reshape(-1, len(self.models), len(self.names))
        return UnitModels(models=self.models, names=self.names, sums=shaped, rows=whole.rows, ids=whole.ids)

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
        shaped = wide.sums.reshape(-1, len(models), len(names))
        return cls(models=models, names=names, sums=shaped, rows=wide.rows, ids=wide.ids)
