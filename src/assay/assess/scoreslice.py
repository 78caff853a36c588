# SPDX-License-Identifier: Apache-2.0
"""Estimates from the scores of some rows: all of them, or one level of a group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from assay.core.labels import Label
from assay.core.values import Undefined, Value
from assay.inference.intervals import Found, Wanted
from assay.measures import Measure
from assay.rows.scores import Kind
from assay.tally.binned import Binned, Tallied
from assay.tally.ranked import Ranked
from assay.tally.ranks import Ranks

if TYPE_CHECKING:
    from assay.measures.declare import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSlice:
    """The score tallies of some rows."""

    kind: Kind
    tally: Tallied
    ranks: Ranks | None = None
    _ranked: dict[Label, Ranked] = field(default_factory=dict, repr=False)

    def ranked(self, label: Label) -> Ranked:
        """One class against the rest."""
        if label not in self._ranked:
            self._ranked[label] = self.tally.one_vs_rest(label)
        return self._ranked[label]

    def estimate(
        self,
        measure: Measure,
        positive: Label | None,
        wanted: Wanted,  # noqa: ARG002
    ) -> tuple[Value, Found, tuple[str, ...]]:
        """The value of a measure with its interval, or the reasons why one or both are missing, and notes."""
        table = self._table(measure, positive)
        if isinstance(table, Undefined):
            return table, table.reason, ()
        value = measure(table)
        return value, "intervals of this measure are still to come", ()

    def _table(self, measure: Measure, positive: Label | None) -> Tally | Undefined:
        if measure.takes is Ranked:
            return self.ranked(cast("Label", positive))
        if measure.takes is Ranks:
            return self.ranks or Undefined(reason="ranks are counted for all rows together only", code="not-counted")
        if isinstance(self.tally, Binned):
            return Undefined(reason="so many distinct scores are counted in bins, class by class", code="binned")
        return self.tally
