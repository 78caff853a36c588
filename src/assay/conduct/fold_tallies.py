# SPDX-License-Identifier: Apache-2.0
"""What one model answered in one fold, what is counted of it, and the value of a measure on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import quoted
from assay.core.values import Undefined, Value
from assay.measures import Measure
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.one_vs_rest import Binary
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.row_probabilities import RowScores
from assay.tally.scores.score_tally import Scores
from assay.tally.scores.true_class_ranks import Ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places: TypeAlias = NDArray[np.int64]

Scored: TypeAlias = Literal["probability", "any"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """What one model did in one fold: class numbers, scores by class or of the positive one, and seconds."""

    predicted: NDArray[np.int64]
    scores: NDArray[np.float64] | None
    kind: Scored | None
    fitting: float
    predicting: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoldTally:
    """The tallies of one test part: labels, and scores where the model gives some."""

    confusion: Confusion
    positive: Label | None
    kind: Scored | None = None
    scores: Scores | None = None
    ranks: Ranks | None = None
    by_row: RowScores | None = None

    @classmethod
    def of(cls, outcome: Outcome, truth: Places, labels: tuple[Label, ...], positive: Label | None) -> FoldTally:
        """From the true classes of a test part, by number, and what a model answered."""
        pairs, count = np.unique(truth * len(labels) + outcome.predicted, return_counts=True)
        confusion = Confusion.from_codes(labels, pairs // len(labels), pairs % len(labels), count, rows=len(truth))
        if outcome.scores is None:
            return cls(confusion=confusion, positive=positive)
        if positive is not None:
            own = labels.index(positive)
            column = outcome.scores[:, own] if outcome.scores.shape[1] > 1 else outcome.scores[:, 0]
            named = (next(label for label in labels if label != positive), positive)
            scores = Scores.binary(column, truth == own, labels=named)
            return cls(confusion=confusion, positive=positive, kind=outcome.kind, scores=scores)
        return cls(
            confusion=confusion,
            positive=None,
            kind=outcome.kind,
            scores=Scores.per_class(outcome.scores, truth, labels),
            ranks=Ranks.of(outcome.scores, truth),
            by_row=RowScores.of(outcome.scores, truth) if outcome.kind == "probability" else None,
        )

    def value(self, measure: Measure) -> Value:
        """The value of a measure, or why there is none."""
        if measure.takes in (Binary, Ranked) and self.positive is None:
            raise PlanError(
                "measure-unfit",
                f"{measure.name} speaks of one class, and there are {self.confusion.k}",
                fix="ask for an average over the classes, such as f1_macro",
            )
        result = self._value(measure)
        if not isinstance(result, Undefined):
            return result
        other = next((x for x in self.confusion.labels if x != self.positive), None)
        some = self.positive is not None
        return result.named(
            positive=quoted(self.positive) if some else "any class", negative=quoted(other) if some else "any other"
        )

    def _value(self, measure: Measure) -> Value:
        if measure.takes is Binary:
            return measure(self.confusion.binary(cast("Label", self.positive)))
        if not measure.from_scores:
            return measure(self.confusion.multiclass())
        tally = {Ranks: self.ranks, RowScores: self.by_row}.get(measure.takes, self.scores)
        if tally is None or self.scores is None:
            return Undefined(reason="the model gives no such scores", code="not-counted")
        if measure.takes is Ranked:
            return measure(self.scores.one_vs_rest(cast("Label", self.positive)))
        return measure(tally)
