# SPDX-License-Identifier: Apache-2.0
"""Estimates from the scores of some rows: all of them, or one level of a group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, cast

from assay.core.labels import Label
from assay.core.values import Undefined, Value
from assay.inference.intervals import Found, Wanted
from assay.inference.scoreintervals import ScoreUncertainty
from assay.measures import Measure
from assay.measures.brackets import BY_EDGES, BY_ORDER, bracket
from assay.rows.linking import Link
from assay.rows.scores import Kind
from assay.tally.binned import Binned, Tallied
from assay.tally.linked import Linked, LinkedScores
from assay.tally.ranked import Ranked
from assay.tally.ranks import Ranks
from assay.tally.rowscores import RowScores
from assay.tally.scores import Scores

OF_PROBABILITIES: Final = ("probabilities", "calibration", "cost")
"""Families whose measures of scores need probabilities."""
BRACKETED: Final = ("average_precision", *BY_ORDER, *BY_EDGES, "brier_uncertainty")
"""Measures that score bins bound on both sides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sure:
    """A value, how sure it is, and between which ends it lies for certain where scores were counted in bins."""

    value: Value
    interval: Found
    bracket: tuple[float, float] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSlice:
    """The score tallies of some rows."""

    kind: Kind
    tally: Tallied
    ranks: Ranks | None = None
    by_row: RowScores | None = None
    link: Link | None = None
    """How log-odds became probabilities, where that was stated; the tally holds the log-odds."""
    _ranked: dict[Label, Ranked] = field(default_factory=dict, repr=False)
    _uncertain: dict[tuple[str, Label | None], ScoreUncertainty] = field(default_factory=dict, repr=False)

    def ranked(self, label: Label) -> Ranked:
        """One class against the rest."""
        if label not in self._ranked:
            self._ranked[label] = self.tally.one_vs_rest(label)
        return self._ranked[label]

    @property
    def said(self) -> Kind:
        """What can be made of the scores: probabilities, where they are or are linked to such."""
        return "probability" if self.link is not None else self.kind

    def estimate(self, measure: Measure, positive: Label | None, wanted: Wanted) -> Sure:
        """The value of a measure with its interval, or the reasons why one or both are missing."""
        table = self._table(measure, positive)
        if self.link is not None and measure.family in OF_PROBABILITIES:
            table = _linked(table)
        if isinstance(table, Undefined):
            return Sure(value=table, interval=table.reason)
        value = measure(table)
        interval = self._sure(table, positive, wanted).interval(measure, value)
        if not isinstance(self.tally, Binned) or isinstance(value, Undefined):
            return Sure(value=value, interval=interval)
        if measure.name not in BRACKETED or isinstance(table, Linked):
            return Sure(value=value, interval=interval, notes=("computed at the lower ends of score bins",))
        ends = bracket(measure, self.tally.bins(cast("Label", positive)))
        return Sure(
            value=value,
            interval=interval,
            bracket=None if isinstance(ends, Undefined) else ends,
            notes=()
            if isinstance(ends, Undefined)
            else (f"from score bins: {ends[0]:.9g} to {ends[1]:.9g} for certain",),
        )

    def _sure(
        self, table: Ranked | Scores | Ranks | RowScores, positive: Label | None, wanted: Wanted
    ) -> ScoreUncertainty:
        """What makes intervals for one table; kept, because measures share its draws."""
        key = (type(table).__name__, positive)
        if key not in self._uncertain:
            self._uncertain[key] = ScoreUncertainty(table, wanted)
        return self._uncertain[key]

    def _table(self, measure: Measure, positive: Label | None) -> Ranked | Scores | Ranks | RowScores | Undefined:
        if measure.takes is Ranked:
            return self.ranked(cast("Label", positive))
        if measure.takes is Ranks:
            return self.ranks or Undefined(reason="ranks are counted for all rows together only", code="not-counted")
        if measure.takes is RowScores:
            return self.by_row or Undefined(
                reason="rows are looked at whole for all of them together", code="not-counted"
            )
        if isinstance(self.tally, Binned):
            return Undefined(reason="so many distinct scores are counted in bins, class by class", code="binned")
        return self.tally


def _linked(
    table: Ranked | Scores | Ranks | RowScores | Undefined,
) -> Ranked | Scores | Ranks | RowScores | Undefined:
    """Log-odds read as probabilities; what looks at whole rows was counted from probabilities."""
    if isinstance(table, Ranked):
        return Linked.of(table)
    return LinkedScores.of_logits(table) if isinstance(table, Scores) else table
