# SPDX-License-Identifier: Apache-2.0
"""How sure an area under the ROC curve is: DeLong's variance from ranks, and an interval on the logit scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.inference.intervals.proportion import normal_quantile, outermost, student_quantile
from assay.tally.scores.ranked_table import Ranked, Side

if TYPE_CHECKING:
    from assay.core.arrays import Floats

ROUNDING: Final = 1e-14
"""Of a matrix of covariances: what is below this, as a share of its trace, has no rank."""
ADDED: Final = "square-and-add of both areas"
"""How the interval of a difference is made where DeLong's does not hold."""
ENOUGH: Final = 50
"""Rows of the smaller class from which DeLong's variance stands alone."""
MISRANKED: Final = 2
"""Rows of the smaller class on the wrong side, about, below which it does not either."""
MISRANKED_OF_TWO: Final = 1
"""Below which DeLong's interval of a difference of two areas covers too seldom (87 to 92 % where areas differ); from
one row on it covers as often as intervals that are squared and added, to 0.7 points (`bench/near_perfect.py`)."""
BORROWED: Final = 5
"""Rows' worth of the smooth variance that are mixed in below at most."""
FULL: Final = 20
"""Rows of the smaller class with which one row's worth is; with fewer, Student's quantile does nearly all of it."""
UNSEEN: Final = 0.2
"""Rows' worth times rows on the wrong side: where there are hardly any, they do not show their own spread."""


def delong_variance(t: Ranked) -> float:
    """DeLong's variance of the area, exact in the midrank form; needs two rows of each class.

    >>> from assay.tally.scores.score_tally import Scores
    >>> y, s = [1, 1, 1, 1, 0, 0, 0, 0, 0], [0.9, 0.8, 0.6, 0.55, 0.7, 0.5, 0.4, 0.3, 0.2]
    >>> round(delong_variance(Scores.binary(s, y).one_vs_rest(1)), 6)
    0.013333
    """
    return sum(_parts(t))


def _parts(t: Ranked) -> tuple[float, float]:
    """What the positives and what the negatives add to the variance."""
    if "delong" not in t.shared:
        positives, negatives = float(t.positives), float(t.negatives)
        own = _spread(t.by_positive, positives, negatives)
        t.shared["delong"] = own, _spread(t.by_negative, negatives, positives)
    return cast("tuple[float, float]", t.shared["delong"])


def freedom(parts: tuple[float, float], sizes: tuple[float, float]) -> float:
    """Satterthwaite's degrees of freedom of a variance that two classes add to; 0 where it is 0.

    >>> freedom((0.02, 0.02), (11, 11))
    20.0
    """
    each = sum(part * part / (size - 1) for part, size in zip(parts, sizes, strict=True) if part)
    return sum(parts) ** 2 / each if each else 0.0


def _spread(side: Side, own: float, other: float) -> float:
    """The variance of the mean share of the other class that each row of one class stands above, ties half."""
    # Twice the rank among the other class is a whole number, so its mean and squares lose nothing before the end.
    rank = 2 * side.below + side.tied
    mean = float(np.dot(side.count, rank)) / own
    off = rank - mean
    off *= off
    return float(np.dot(off, side.count)) / ((own - 1) * own * 4 * other * other)


def smooth_variance(area: float, positives: float, negatives: float) -> float:
    """Variance of an area from its value and the class sizes alone (Hanley and McNeil 1982, Newcombe 2006)."""
    size = (positives + negatives) / 2 - 1
    spread = 1 + size * (1 - area) / (2 - area) + size * area / (1 + area)
    return area * (1 - area) * spread / (positives * negatives)


def newcombe(area: float, positives: float, negatives: float, level: float) -> tuple[float, float]:
    """Score interval: the areas whose own standard error reaches the estimate (Newcombe 2006, method 5).

    >>> low, high = newcombe(1.0, 10, 10, 0.95)
    >>> round(low, 3), high
    (0.8, 1.0)
    """
    z = normal_quantile((1 + level) / 2)

    def reached(other: float) -> bool:
        return abs(area - other) <= z * math.sqrt(smooth_variance(other, positives, negatives))

    return (0.0 if area == 0 else outermost(area, 0.0, reached)), (1.0 if area == 1 else outermost(area, 1.0, reached))


def area_interval(t: Ranked, area: float, level: float) -> tuple[float, float, str]:
    """The interval of an area and the name of its method."""
    sizes = float(t.positives), float(t.negatives)
    parts = _parts(t) if min(sizes) > 1 else (0.0, 0.0)
    return area_ends(area, sum(parts), *sizes, level, freedom(parts, sizes))


def near_an_end(area: float, fewest: float, rows: float = MISRANKED) -> bool:
    """Whether so few rows are on the wrong side that DeLong's variance cannot be trusted, or is 0."""
    return fewest * min(area, 1 - area) < rows


def area_ends(  # noqa: PLR0917  five of them are one estimate
    area: float, variance: float, positives: float, negatives: float, level: float, known: float | None = None
) -> tuple[float, float, str]:
    """The ends of an area from its DeLong variance and the sizes of the classes, and the name of the method.

    `known` are the degrees of freedom of the variance, unless stated those of the smaller class.

    >>> low, high, method = area_ends(1.0, 0.0, 10, 10, 0.95)
    >>> round(low, 3), high, method
    (0.8, 1.0, 'newcombe score')
    """
    fewest = min(positives, negatives)
    if not 0 < area < 1 or variance <= 0:
        return *newcombe(area, positives, negatives, level), "newcombe score"
    method, quantile = "delong-logit", normal_quantile((1 + level) / 2)
    if fewest < ENOUGH or near_an_end(area, fewest):
        method = "delong-logit with Student's quantile"
        rows = min(BORROWED, max((fewest / FULL) ** 2, UNSEEN / (fewest * min(area, 1 - area))))
        quantile = student_quantile((1 + level) / 2, (fewest - 1 if known is None else known) + rows)
        smooth = smooth_variance(area, positives, negatives)
        variance = (fewest * variance + rows * smooth) / (fewest + rows)
    logit = math.log(area / (1 - area))
    reach = quantile * math.sqrt(variance) / (area * (1 - area))
    return 1 / (1 + math.exp(min(reach - logit, 700.0))), 1 / (1 + math.exp(min(-reach - logit, 700.0))), method


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Areas:
    """Areas of several models and their covariance, with the numbers of positives and negatives."""

    models: tuple[str, ...]
    area: Floats
    covariance: Floats
    gaps: Floats
    """Variances of the differences, which are exact: 0 means 0."""
    known: tuple[float, ...]
    """Degrees of freedom of the variance of each area."""
    m: int
    n: int
    notes: tuple[str, ...] = ()

    def gap(self, a: int, b: int) -> tuple[float, float]:
        """The difference of two areas and its variance."""
        return float(self.area[a] - self.area[b]), float(self.gaps[a, b])
