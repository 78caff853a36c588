# SPDX-License-Identifier: Apache-2.0
"""What the probabilities of a row say together: the largest with whether its class is true, and how much the true has.

The score tallies of classes cannot tell either, because each of them looks at one column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.labels import Label
from assay.rows.label_types import label_of
from assay.rows.source import FrameSource, Source
from assay.tally.base import VERSION, demand_kind
from assay.tally.fixed_point import Weights
from assay.tally.scores.score_tally import Scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from assay.tally.scores.score_tally import Wanted

TOP: Final = "assay_top"
DIRECTION: Final = "assay_direction"
IS_RIGHT: Final = "assay_right"
WRONG, RIGHT = 0, 1
"""Whether the class with the largest probability is the true one."""
SIDES: Final = (WRONG, RIGHT)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowScores:
    """Two columns by whether the largest probability is that of the true class: it, and the direction of the row.

    The direction is the probability of the true class over the length (the root of the sum of squares) of all.
    """

    top: Scores
    direction: Scores

    @classmethod
    def of(cls, matrix: ArrayLike, truth: ArrayLike, weight: ArrayLike | Weights | None = None) -> RowScores:
        """From a matrix of probabilities and class numbers; of several largest the first class is meant.

        >>> t = RowScores.of([[0.6, 0.8], [1.0, 0.0]], [1, 1]).top.one_vs_rest(RIGHT)
        >>> t.score.tolist(), t.pos.tolist(), t.neg.tolist()
        ([0.8, 1.0], [1, 0], [0, 1])
        """
        rows, codes = np.asarray(matrix, dtype=np.float64), np.asarray(truth, dtype=np.int64)
        own = rows[np.arange(len(rows)), codes] if len(rows) else np.zeros(0)
        right = rows.argmax(axis=1) == codes if len(rows) else np.zeros(0, dtype=bool)
        # From left to right, as every engine adds; a row of zeros has no direction and gives its true class nothing.
        length = np.sqrt(reduce(add, (column * column for column in rows.T))) if len(rows) else np.zeros(0)
        towards = np.divide(own, length, out=np.zeros(len(own)), where=length > 0)
        top = rows.max(axis=1) if len(rows) else np.zeros(0)
        return cls(
            top=Scores.binary(top, right, weight, labels=SIDES),
            direction=Scores.binary(towards, right, weight, labels=SIDES),
        )

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.top.rows

    @property
    def weighted(self) -> bool:
        """Whether rows carry weights."""
        return self.top.weighted

    def __add__(self, other: RowScores) -> RowScores:
        """Both tallies together."""
        return RowScores(top=self.top + other.top, direction=self.direction + other.direction)

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "kind": "row-scores",
            "version": VERSION,
            "top": self.top.to_json(),
            "direction": self.direction.to_json(),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> RowScores:
        """The inverse of `to_json`."""
        demand_kind(content, "row-scores", "a tally of row scores")
        return cls(top=_read(content["top"]), direction=_read(content["direction"]))


def _read(content: object) -> Scores:
    return Scores.from_json(cast("Mapping[str, object]", content))


def count_row_scores(source: Source, wanted: Wanted) -> RowScores:
    """Count the largest probability and the direction of each row; every class must have a column."""
    from assay.tally.scores.score_aggregation import classes_of, count_scores

    if not isinstance(source, FrameSource):
        truth, there = classes_of(source, wanted.labels)
        matrix = np.column_stack([source.score[place][there] for place in wanted.columns])
        weight = None if source.weight is None else Weights.of(source.weight, source.quantum)[there]
        return RowScores.of(matrix, truth[there], weight)
    derived = with_row_scores(source, wanted.columns, wanted.labels)
    both = replace(wanted, labels=SIDES, scored=(RIGHT,), columns=(0,), probability=True)
    top, direction = (count_scores(replace(derived, score=(name,)), both).whole for name in (TOP, DIRECTION))
    return RowScores(top=top, direction=direction)


def with_row_scores(source: FrameSource, columns: Sequence[int], labels: Sequence[Label]) -> FrameSource:
    """The frame with the two columns, and in place of the truth whether the largest score is that of the true class.

    The direction is the score of the true class over the length of all, summed from left to right.
    """
    import narwhals.stable.v2 as nw

    from assay.rows.engines.score_expressions import fetched, first_largest

    every = [nw.col(source.score[place]) for place in columns]
    places = {label: i for i, label in enumerate(labels)}
    truth = nw.col(source.truth)
    best, first = first_largest(every)
    own = nw.lit(0.0)
    right = nw.lit(0)
    for (raw,) in fetched(source, source.frame.select(truth.alias("t")).unique()):
        label = None if raw is None else label_of(raw, where=source.where)
        if label is None or label not in places:
            continue
        hit, place = truth == raw, places[label]
        own = nw.when(hit).then(every[place]).otherwise(own)
        right = nw.when(hit & (first == place)).then(nw.lit(1)).otherwise(right)
    length = reduce(add, (column * column for column in every)).sqrt()
    direction = nw.when(length > 0).then(own / length).otherwise(nw.lit(0.0))
    there = source.frame.filter(~truth.is_null())
    made = there.with_columns(best.alias(TOP), direction.alias(DIRECTION), right.alias(IS_RIGHT))
    return replace(source, frame=made, truth=IS_RIGHT, group={}, seen=None)
