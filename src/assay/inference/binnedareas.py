# SPDX-License-Identifier: Apache-2.0
"""DeLong's covariance of areas from bins: variances from fine bins, covariances from coarse tables, both with bounds.

A row's placement is the share of the other class that it beats. Fine bins give it but for the order inside a bin, and
its variance. Of two models only the coarse cells of a row are known, so a placement is the mean of its coarse bin plus
a rest. The sum of products of both models is then that of the means, which the table gives, and a remainder. The
remainder is estimated by how the mean of one model rises with the other's placement from bin to bin, and bounded by
the inequality of Cauchy and Schwarz, bin by bin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.inference.areas import Areas, Open
from assay.inference.auc import freedom

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tally.pairedbins import PairedBins

    Floats: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]

ROUNDING: Final = 1e-9
"""Of a matrix of covariances from sums of doubles: what is below this, as a share of its trace, has no rank."""
DUST: Final = 1e-12
"""How far a sum of doubles may be off, as a share of its terms."""
OWN_CELL: Final = 4
"""Rows spread evenly over the width of one bin leave their own cell one time in four; then the table sees the slope."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Side:
    """The placements of one class of rows in one model, centred: by coarse bin, and in all."""

    rows: Floats
    mean: Floats
    rest: Floats
    """Sum of squares around the mean of each coarse bin."""
    squares: float
    """Sum of squares of all rows."""
    inside: float
    """The largest length of what the order inside fine bins adds to the placements of all rows."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Model:
    area: float
    off: float
    sides: tuple[_Side, _Side]


def binned_areas(t: PairedBins) -> Areas:
    """The areas of all models and DeLong's covariance of them, and what the bins leave open."""
    k, m, n = len(t.models), t.m, t.n
    models = [_model(t, i) for i in range(k)]
    scale = (1 / (m * (m - 1)), 1 / (n * (n - 1)))
    covariance, gaps, low, high = (np.zeros((k, k)) for _ in range(4))
    parts = [(scale[0] * one.sides[0].squares, scale[1] * one.sides[1].squares) for one in models]
    for i, own in enumerate(parts):
        covariance[i, i] = math.fsum(own)
    for a, b in combinations(range(k), 2):
        both = [_products(t, models, (a, b), side) for side in (0, 1)]
        shared = math.fsum(s * one.estimate for s, one in zip(scale, both, strict=True))
        spread = float(covariance[a, a] + covariance[b, b])
        dust = DUST * spread
        ends = [
            math.fsum([spread, *(-2 * s * (one.means + sign * one.bound) for s, one in zip(scale, both, strict=True))])
            for sign in (1, -1)
        ]
        inside = math.sqrt(
            math.fsum(s * (models[a].sides[i].inside + models[b].sides[i].inside) ** 2 for i, s in enumerate(scale))
        )
        low[a, b] = low[b, a] = max(math.sqrt(max(ends[0] - dust, 0.0)) - inside, 0.0)
        high[a, b] = high[b, a] = math.sqrt(max(ends[1], 0.0) + dust) + inside
        variance = spread - 2 * shared
        if variance <= dust:  # nothing of it is left: none, or as much as the bins may hide
            known = all(one.bound <= DUST * spread / s for s, one in zip(scale, both, strict=True)) and not inside
            same = models[a].area == models[b].area
            variance = 0.0 if known or same else float(high[a, b]) ** 2
            high[a, b] = high[b, a] = 0.0 if known else high[a, b]
        covariance[a, b] = covariance[b, a] = shared
        gaps[a, b] = gaps[b, a] = variance
    return Areas(
        models=t.models,
        area=np.array([one.area for one in models]),
        covariance=covariance,
        gaps=gaps,
        known=tuple(freedom(own, (m, n)) for own in parts),
        m=m,
        n=n,
        rounding=ROUNDING,
        open=Open(areas=np.array([one.off for one in models]), low=low, high=high),
    )


def _model(t: PairedBins, i: int) -> _Model:
    bins, m, n = t.margins[i], t.m, t.n
    pos, neg = bins.pos.astype(np.int64), bins.neg.astype(np.int64)
    several = np.isnan(bins.only)
    # Twice the negatives below a positive of each bin, and twice the positives above a negative; a tie is half.
    below, above = 2 * np.cumsum(neg) - neg, 2 * m - 2 * np.cumsum(pos) + pos
    area = Fraction(_dot(pos, below), 2 * m * n)
    tied = Fraction(_dot(np.where(several, pos, 0), neg), 2 * m * n)
    coarse, size = t.coarse(i), len(t.starts[i])
    first = _side(pos, below / (2 * n) - float(area), coarse, size, np.where(several, neg / (2 * n), 0.0))
    second = _side(neg, above / (2 * m) - float(area), coarse, size, np.where(several, pos / (2 * m), 0.0))
    return _Model(area=float(area), off=float(tied), sides=(first, second))


def _dot(a: Whole, b: Whole) -> int:
    """The exact sum of products of counts, which may pass 63 bits."""
    return (int(a @ (b >> 32)) << 32) + int(a @ (b & 0xFFFFFFFF))


def _side(rows: Whole, placement: Floats, coarse: Whole, size: int, half: Floats) -> _Side:
    total = _summed(coarse, rows.astype(np.float64), size)
    summed = _summed(coarse, rows * placement, size)
    mean = np.divide(summed, total, out=np.zeros(size), where=total > 0)
    rest = _summed(coarse, rows * (placement - mean[coarse]) ** 2, size)
    return _Side(
        rows=total,
        mean=mean,
        rest=rest,
        squares=math.fsum(rows * placement**2),
        inside=math.sqrt(math.fsum(rows * half**2)),
    )


def _summed(at: Whole, values: Floats, size: int) -> Floats:
    """The sum of some values by place."""
    return cast("Floats", np.bincount(at, weights=values, minlength=size))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Products:
    """Of the placements of two models: the sum of products of their means, of all as estimated, and how far off."""

    means: float
    estimate: float
    bound: float


def _products(t: PairedBins, models: list[_Model], pair: tuple[int, int], side: int) -> _Products:
    table, across = t.table(*pair), len(t.starts[pair[1]])
    rows = (table.pos, table.neg)[side].astype(np.float64)
    at = (table.cell // across, table.cell % across)
    sides = [models[i].sides[side] for i in pair]
    means = math.fsum(rows * sides[0].mean[at[0]] * sides[1].mean[at[1]])
    rises, bounds = zip(*(_rise(sides[i], rows, at[i], sides[1 - i].mean[at[1 - i]]) for i in (0, 1)), strict=True)
    rests = math.sqrt(math.fsum(sides[0].rest) * math.fsum(sides[1].rest))
    bound = math.fsum((*bounds, rests))
    return _Products(means=means, bound=bound, estimate=means + min(max(math.fsum(rises), -bound), bound))


def _rise(own: _Side, rows: Floats, at: Whole, other: Floats) -> tuple[float, float]:
    """What the rests of one model add to the sum of products, and at most, its bins being `at` and the other's means.

    The rest of one model goes with all of the other's placement, the rest of the other only with the means of the
    first. Either counts half, so that no model comes first; the second only as far as the table can see it: where rows
    of a bin hardly leave one cell, the means of the other model do not rise inside it.
    """
    size = len(own.rows)
    mean = np.divide(_summed(at, rows * other, size), own.rows, out=np.zeros(size), where=own.rows > 0)
    scatter = _summed(at, rows * (other - mean[at]) ** 2, size)
    fullest = np.zeros(size)
    np.maximum.at(fullest, at, rows)
    held = np.flatnonzero(own.rows > 0)
    x, y = own.mean[held], mean[held]
    before, after = np.maximum(np.arange(len(held)) - 1, 0), np.minimum(np.arange(len(held)) + 1, len(held) - 1)
    step = x[after] - x[before]
    slope = np.divide(y[after] - y[before], step, out=np.zeros(len(held)), where=step != 0)
    seen = np.minimum(1.0, OWN_CELL * (1 - fullest[held] / own.rows[held]))
    return math.fsum(own.rest[held] * slope * (1 + seen) / 2), math.fsum(np.sqrt(own.rest * scatter))
