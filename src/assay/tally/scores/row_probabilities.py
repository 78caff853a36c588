# SPDX-License-Identifier: Apache-2.0
"""What the probabilities of a row say together: the largest with whether its class is true, and how much the true has.

The score tallies of classes cannot tell either, because each of them looks at one column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, ClassVar, Final, cast

import numpy as np

from assay.tally.base import VERSION, demand_kind
from assay.tally.fixed_point import Weights
from assay.tally.scores.score_tally import Scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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

    READS: ClassVar = "scores"
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
