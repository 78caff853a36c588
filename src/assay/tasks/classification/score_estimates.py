# SPDX-License-Identifier: Apache-2.0
"""Estimates from the scores of some rows: all of them, or one level of a group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from assay.core.labels import Label
from assay.core.values import Number, Undefined, Value
from assay.inference.intervals.interval_choice import Found, Wanted
from assay.inference.intervals.score_intervals import ScoreUncertainty
from assay.measures import Measure
from assay.rows.score_columns import Kind
from assay.tally.scores.log_odds import Linked, LinkedScores
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.row_probabilities import RowScores
from assay.tally.scores.score_tally import Scores
from assay.tally.scores.true_class_ranks import Ranks

if TYPE_CHECKING:
    from assay.core.values import Amount
    from assay.tasks.classification.score_part import ScorePart

OF_PROBABILITIES: Final = ("probabilities", "calibration", "cost")
"""Families whose measures of scores need probabilities."""
SAME: Final = 1e-12
"""Relative difference up to which two values are the same, as `verify` compares reals."""
UNASKED: Final = "the value is undefined"
"""No interval was asked for here: one is made by unit, where there is a value."""
Table: TypeAlias = Ranked | Scores | Ranks | RowScores


@dataclass(frozen=True, slots=True, kw_only=True)
class Sure:
    """A value with its interval, and the value from the scores that a Record stores where that is another."""

    value: Value
    interval: Found
    stored_value: float | None = None


class ScoreEstimates:
    """What is estimated from the scores of some rows; draws are kept, because measures share them."""

    def __init__(self, part: ScorePart) -> None:
        self._part = part
        self._ranked: dict[tuple[int, Label], Ranked] = {}
        self._uncertain: dict[tuple[str, Label | None], ScoreUncertainty] = {}

    @property
    def said(self) -> Kind:
        """What can be made of the scores: probabilities, where they are or are linked to such."""
        return "probability" if self._part.probability else self._part.kind

    def estimate(self, measure: Measure, positive: Label | None, wanted: Wanted | None) -> Sure:
        """The value of a measure with its interval, or the reasons why one or both are missing.

        The interval rests on the scores that a Record stores, so whoever has the Record gets the same one.
        Without `wanted`, whoever asks makes the interval.
        """
        table = self._table(measure, positive, self._part.whole, self._part.by_row)
        if isinstance(table, Undefined):
            return Sure(value=table, interval=table.reason)
        value = measure(table)
        stored = self._stored_table(measure, positive, table)
        again = value if stored is table else measure(stored)
        known = self._part.all_digits.get((measure.title, positive))
        if known is not None and isinstance(value, Number):
            value = Number(cast("Amount", known), note=value.note)
        both = not (isinstance(value, Undefined) or isinstance(again, Undefined))
        differs = both and not math.isclose(cast("Number", again).value, cast("Number", value).value, rel_tol=SAME)
        return Sure(
            value=value,
            interval=UNASKED
            if wanted is None
            else self._uncertainty(stored, positive, wanted).interval(measure, value),
            stored_value=cast("Number", again).value if differs else None,
        )

    def _uncertainty(self, table: Table, positive: Label | None, wanted: Wanted) -> ScoreUncertainty:
        """What makes intervals for one table; kept, because measures share its draws."""
        key = (type(table).__name__, positive)
        if key not in self._uncertain:
            self._uncertain[key] = ScoreUncertainty(table, wanted)
        return self._uncertain[key]

    def _stored_table(self, measure: Measure, positive: Label | None, table: Table) -> Table:
        """The same table made of what a Record stores."""
        part = self._part
        tally = part.stored_scores(part.whole)
        by_row = None if part.by_row is None else part.stored_rows(part.by_row)
        if tally is part.whole and by_row is part.by_row:
            return table
        return cast("Table", self._table(measure, positive, tally, by_row))

    def _table(
        self, measure: Measure, positive: Label | None, tally: Scores, by_row: RowScores | None
    ) -> Table | Undefined:
        linked = self._part.link is not None and measure.family in OF_PROBABILITIES
        if measure.takes is Ranks:
            return self._part.ranks or Undefined(
                reason="ranks are counted for all rows together only", code="not-counted"
            )
        if measure.takes is RowScores:
            return by_row or Undefined(reason="rows are looked at whole for all of them together", code="not-counted")
        if measure.takes is not Ranked:
            return LinkedScores.of_logits(tally) if linked else tally
        key = (id(tally), cast("Label", positive))
        if key not in self._ranked:
            self._ranked[key] = tally.one_vs_rest(key[1])
        return Linked.of(self._ranked[key]) if linked else self._ranked[key]
