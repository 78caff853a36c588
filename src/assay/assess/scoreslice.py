# SPDX-License-Identifier: Apache-2.0
"""Estimates from the scores of some rows: all of them, or one level of a group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from assay.core.labels import Label
from assay.core.values import Number, Undefined, Value
from assay.inference.intervals import Found, Wanted
from assay.inference.scoreintervals import ScoreUncertainty
from assay.measures import Measure
from assay.measures.brackets import bracket, bracket_of_classes, bracket_of_rows, bracketed
from assay.measures.scoreaverages import ONE_VS_ONE
from assay.rows.linking import Link
from assay.rows.scores import Kind
from assay.tally.binned import Binned, Tallied
from assay.tally.linked import Linked, LinkedBins, LinkedScores
from assay.tally.ranked import Ranked
from assay.tally.ranks import Ranks
from assay.tally.rowscores import RowScores
from assay.tally.scores import Scores
from assay.tally.truthbins import MOST_PAIRED

if TYPE_CHECKING:
    from assay.core.values import Amount

OF_PROBABILITIES: Final = ("probabilities", "calibration", "cost")
"""Families whose measures of scores need probabilities."""
AT_LOWER_ENDS: Final = "computed at the lower ends of score bins"
Table: TypeAlias = Ranked | Scores | Binned | Ranks | RowScores


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
    keep: Callable[[Tallied], Tallied] = lambda tally: tally
    """What a Record holds of a tally: bins, where there are very many scores."""
    keep_rows: Callable[[RowScores], RowScores] = lambda rows: rows
    """The same of what looks at whole rows."""
    told: dict[tuple[str, Label | None], float] = field(default_factory=dict, repr=False)
    """Values from every score by measure and class, where bins are all that is left of the scores."""
    _kept: list[Tallied] = field(default_factory=list, repr=False)
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
        interval = self._sure(table, positive, wanted).interval(measure, self._told(value, table, measure, positive))
        if not self._in_bins(table) or isinstance(value, Undefined):
            return Sure(value=value, interval=interval)
        if not bracketed(measure) or isinstance(table, Linked | LinkedBins):
            return Sure(value=value, interval=interval, notes=(AT_LOWER_ENDS,))
        ends = self._ends(measure, table, positive)
        return Sure(
            value=value,
            interval=interval,
            bracket=None if isinstance(ends, Undefined) else ends,
            notes=()
            if isinstance(ends, Undefined)
            else (f"from score bins: {ends[0]:.9g} to {ends[1]:.9g} for certain",),
        )

    def _told(self, value: Value, table: Table, measure: Measure, positive: Label | None) -> Value:
        """The value whose interval is wanted: that from every score, if this is made of bins and it is known."""
        known = self.told.get((measure.title, positive)) if self._in_bins(table) else None
        return value if known is None or isinstance(value, Undefined) else Number(cast("Amount", known))

    def _ends(self, measure: Measure, table: Table, positive: Label | None) -> tuple[float, float] | Undefined:
        """Between which ends a value lies for certain."""
        if isinstance(table, RowScores):
            return bracket_of_rows(measure, table)
        if isinstance(table, Binned):
            return bracket_of_classes(measure, table)
        return bracket(measure, cast("Binned", self.tally).bins(cast("Label", positive)))

    def _in_bins(self, table: Table) -> bool:
        """Whether a table was made of bins; ranks are counted row by row, and so may be what looks at whole rows."""
        if isinstance(table, RowScores):
            return isinstance(table.top, Binned)
        return isinstance(self.tally, Binned) and not isinstance(table, Ranks)

    def _sure(self, table: Table, positive: Label | None, wanted: Wanted) -> ScoreUncertainty:
        """What makes intervals for one table; kept, because measures share its draws."""
        key = (type(table).__name__, positive)
        if key not in self._uncertain:
            drawn_from = self._in_record(table, positive)
            self._uncertain[key] = ScoreUncertainty(table, wanted, drawn_from=drawn_from)
        return self._uncertain[key]

    def _in_record(self, table: Table, positive: Label | None) -> Table:
        """The same table made of what a Record holds, so that who has only that makes the very same draws."""
        if isinstance(table, RowScores):
            return self.keep_rows(table)
        if isinstance(table, Ranks):
            return table
        if not self._kept:
            self._kept.append(self.keep(self.tally))
        kept = self._kept[0]
        if kept is self.tally or (not isinstance(table, Ranked) and isinstance(kept, Binned) and not kept.averaged):
            return table
        found = kept.one_vs_rest(cast("Label", positive)) if isinstance(table, Ranked) else kept
        return cast("Table", _linked(found)) if isinstance(table, Linked | LinkedScores) else cast("Table", found)

    def _table(self, measure: Measure, positive: Label | None) -> Table | Undefined:
        if measure.takes is Ranked:
            return self.ranked(cast("Label", positive))
        if measure.takes is Ranks:
            return self.ranks or Undefined(reason="ranks are counted for all rows together only", code="not-counted")
        if measure.takes is RowScores:
            return self.by_row or Undefined(
                reason="rows are looked at whole for all of them together", code="not-counted"
            )
        if isinstance(self.tally, Binned) and not self.tally.averaged:
            return Undefined(reason="so many distinct scores are counted in bins, class by class", code="binned")
        if isinstance(self.tally, Binned) and measure.average == ONE_VS_ONE and not self.tally.paired:
            return Undefined(
                reason=f"so many distinct scores are counted in bins, and pairs of classes up to {MOST_PAIRED} classes",
                code="binned",
            )
        return self.tally


def _linked(table: Table | Undefined) -> Table | Undefined:
    """Log-odds read as probabilities; what looks at whole rows was counted from probabilities."""
    if isinstance(table, Ranked):
        return Linked.of(table)
    if isinstance(table, Binned):
        return LinkedBins.of_logits(table)
    return LinkedScores.of_logits(table) if isinstance(table, Scores) else table
