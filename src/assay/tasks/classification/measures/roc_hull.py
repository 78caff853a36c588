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

ROUNDS = 64  # of pooling before the parts are taken one by one; 1e5 distinct scores needed 17


@dataclass(frozen=True, slots=True, eq=False)
class Hull:
    """Positives and negatives between the corners of the hull, from the lowest scores to the highest."""

    pos: Floats
    neg: Floats

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
        pos, neg = (np.asarray(each, dtype=np.float64).reshape(tables, len(t.score)) for each in (t.pos, t.neg))
        t.shared["hulls"] = _pooled(pos, neg)
    return cast("tuple[Hull, ...]", t.shared["hulls"])


def _pooled(pos: Floats, neg: Floats) -> tuple[Hull, ...]:
    """Pool adjacent violators of all tables at once: each round makes one part of every run of parts that falls.

    SciPy's function does one table a call, and its package takes a third of a second to load.
    """
    tables = len(pos)
    table, place = np.nonzero(pos + neg)
    pos, neg = pos[table, place], neg[table, place]
    for _ in range(ROUNDS):
        falls = (pos[:-1] * neg[1:] >= pos[1:] * neg[:-1]) & (table[:-1] == table[1:])
        if not falls.any():
            break
        first = np.flatnonzero(np.append(True, ~falls))
        pos, neg, table = np.add.reduceat(pos, first), np.add.reduceat(neg, first), table[first]
    else:  # a low part behind many that rise takes in only one of them a round
        pos, neg, table = _pooled_in_order(pos, neg, table)
    cuts = np.searchsorted(table, np.arange(1, tables))
    return tuple(map(Hull, np.split(pos, cuts), np.split(neg, cuts)))


def _pooled_in_order(pos: Floats, neg: Floats, table: NDArray[np.intp]) -> tuple[Floats, Floats, NDArray[np.intp]]:
    parts: list[tuple[float, float, int]] = []
    for p, q, which in zip(pos.tolist(), neg.tolist(), table.tolist(), strict=True):
        while parts and parts[-1][2] == which and parts[-1][0] * q >= p * parts[-1][1]:
            before = parts.pop()
            p, q = p + before[0], q + before[1]  # noqa: PLW2901  the part grows downwards
        parts.append((p, q, which))
    pooled_pos, pooled_neg, tables = zip(*parts, strict=True)
    return np.array(pooled_pos), np.array(pooled_neg), np.array(tables)
