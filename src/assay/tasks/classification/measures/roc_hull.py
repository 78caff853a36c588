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
class Hulls:
    """Positives and negatives between the corners of hulls, from the lowest scores to the highest, table by table."""

    pos: Floats
    neg: Floats
    table: NDArray[np.intp]
    """The table of each part."""
    tables: int

    def added(self, parts: Floats) -> Floats:
        """The sum over the parts of each table."""
        return np.bincount(self.table, parts, self.tables).astype(np.float64)

    def areas(self) -> Floats:
        """The areas under the hulls; NaN without positives or negatives."""
        negatives = self.added(self.neg)
        below = np.cumsum(self.neg) - self.neg - (np.cumsum(negatives) - negatives)[self.table]
        pairs = self.added(self.pos) * negatives
        won = self.added(self.pos * (below + self.neg / 2))
        return cast("Floats", np.maximum(0.5, _over(won, pairs, pairs > 0)))

    def losses(self, alpha: float | None, beta: float | None) -> Floats:
        """Expected losses under Beta(alpha, beta) costs, over those of the best constant calls (Hand 2009, 2014).

        Letters as in errata E-SCH-09: c is the cost of a false positive as a share of both costs, b0 and b1 are the
        integrals of c and 1 - c up to a point.
        """
        from scipy.special import betainc

        positives, negatives = self.added(self.pos), self.added(self.neg)
        there = (positives > 0) & (negatives > 0)
        n = np.where(there, positives + negatives, 1.0)
        # Each part, and all parts of a table as one.
        pos, neg = np.append(self.pos, positives), np.append(self.neg, negatives)
        table = np.append(self.table, np.arange(self.tables))
        a = (1 + positives / n if alpha is None else np.full(self.tables, alpha))[table]
        b = (1 + negatives / n if beta is None else np.full(self.tables, beta))[table]
        both = np.where(pos + neg > 0, pos + neg, 1.0)
        # Of 1 - c and of its integral nothing must be lost where c is 1 but for rounding: then either is all there is.
        b0, b1 = a / (a + b) * betainc(a + 1, b, pos / both), b / (a + b) * betainc(b + 1, a, neg / both)
        lost = neg / n[table] * b0 + pos / n[table] * b1
        parts, whole = self.added(lost[: len(self.pos)]), lost[len(self.pos) :]
        # No hull loses more than the best constant call, but for rounding.
        return cast("Floats", np.minimum(1.0, _over(parts, whole, there)))


def _over(top: Floats, under: Floats, there: NDArray[np.bool_]) -> Floats:
    return cast("Floats", np.divide(top, under, out=np.full(len(top), np.nan), where=there))


def hulls(t: Ranked) -> Hulls:
    """The hulls of a stack of tables; three measures look at those of the same draws, one after the other."""
    if "hulls" not in t.shared:
        tables = int(np.prod(np.shape(t.pos)[:-1]))
        pos, neg = (np.asarray(each, dtype=np.float64).reshape(tables, len(t.score)) for each in (t.pos, t.neg))
        t.shared["hulls"] = _pooled(pos, neg)
    return cast("Hulls", t.shared["hulls"])


def _pooled(pos: Floats, neg: Floats) -> Hulls:
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
    return Hulls(pos, neg, table, tables)


def _pooled_in_order(pos: Floats, neg: Floats, table: NDArray[np.intp]) -> tuple[Floats, Floats, NDArray[np.intp]]:
    parts: list[tuple[float, float, int]] = []
    for p, q, which in zip(pos.tolist(), neg.tolist(), table.tolist(), strict=True):
        while parts and parts[-1][2] == which and parts[-1][0] * q >= p * parts[-1][1]:
            before = parts.pop()
            p, q = p + before[0], q + before[1]  # noqa: PLW2901  the part grows downwards
        parts.append((p, q, which))
    pooled_pos, pooled_neg, tables = zip(*parts, strict=True)
    return np.array(pooled_pos), np.array(pooled_neg), np.array(tables)
