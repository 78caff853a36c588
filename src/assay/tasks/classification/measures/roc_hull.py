# SPDX-License-Identifier: Apache-2.0
"""The upper convex hull of a ROC curve: neighbouring scores pooled until their share of positives rises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from assay.tally.scores.ranked_table import Ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Hull:
    """Positives and negatives between the corners of the hull, from the lowest scores to the highest."""

    pos: Floats
    neg: Floats
    start: NDArray[np.intp]

    @property
    def shares(self) -> Floats:
        """The share of positives of each part; it rises."""
        return self.pos / (self.pos + self.neg)

    @property
    def area(self) -> float:
        """The area under the hull."""
        below = np.cumsum(self.neg) - self.neg
        pairs = self.pos.sum() * self.neg.sum()
        return max(0.5, float((self.pos * (below + self.neg / 2)).sum() / pairs)) if pairs else np.nan

    def loss(self, alpha: float | None, beta: float | None) -> float:
        """Expected loss under Beta(alpha, beta) costs, over that of the best constant call (Hand 2009, 2014).

        Letters as in errata E-SCH-09: c is the cost of a false positive as a share of both costs, b0 and b1 are the
        integrals of c and 1 - c up to a point.
        """
        from scipy.special import betainc

        pos, neg = (np.append(counts, counts.sum()) for counts in (self.pos, self.neg))  # each part, and all
        if not pos[-1] or not neg[-1]:
            return np.nan
        n = pos[-1] + neg[-1]
        a = 1 + pos[-1] / n if alpha is None else alpha
        b = 1 + neg[-1] / n if beta is None else beta
        # Of 1 - c and of its integral nothing must be lost where c is 1 but for rounding: then either is all there is.
        b0 = a / (a + b) * betainc(a + 1, b, pos / (pos + neg))
        b1 = b / (a + b) * betainc(b + 1, a, neg / (pos + neg))
        lost = neg / n * b0 + pos / n * b1
        # No hull loses more than the best constant call, but for rounding.
        return min(1.0, float(lost[:-1].sum() / lost[-1]))


def hulls(t: Ranked) -> tuple[Hull, ...]:
    """The hull of each table of a stack; three measures look at those of the same draws, one after the other."""
    if "hulls" not in t.shared:
        tables = int(np.prod(np.shape(t.pos)[:-1]))
        flat = (np.asarray(each, dtype=np.float64).reshape(tables, len(t.score)) for each in (t.pos, t.neg))
        t.shared["hulls"] = tuple(hull(p, q) for p, q in zip(*flat, strict=True))
    return cast("tuple[Hull, ...]", t.shared["hulls"])


def hull(pos: Floats, neg: Floats) -> Hull:
    """The hull of one table: pooling adjacent violators."""
    from scipy.optimize import isotonic_regression

    both = pos + neg
    occupied_places = np.flatnonzero(both > 0)
    if not len(occupied_places):
        return Hull(np.zeros(0), np.zeros(0), occupied_places)
    blocks = isotonic_regression(pos[occupied_places] / both[occupied_places], weights=both[occupied_places]).blocks[
        :-1
    ]
    start = occupied_places[blocks]
    # Scores without rows before the first part belong to none and count nothing.
    return Hull(np.add.reduceat(pos, start), np.add.reduceat(neg, start), start)
