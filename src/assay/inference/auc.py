# SPDX-License-Identifier: Apache-2.0
"""How sure an area under the ROC curve is: DeLong's variance from ranks, and an interval on the logit scale."""

from __future__ import annotations

import math
from typing import Final, cast

import numpy as np

from assay.inference.proportion import HALVINGS, normal_quantile
from assay.tally.ranked import Ranked, Side

ENOUGH: Final = 50
"""Rows of the smaller class from which DeLong's variance stands alone."""
MISRANKED: Final = 2
"""Rows of the smaller class on the wrong side, about, below which it does not either."""
BORROWED: Final = 5
"""Rows' worth of the smooth variance mixed in below; with 10 positives coverage rises from 90-93 to 94-97 %."""


def delong_variance(t: Ranked) -> float:
    """DeLong's variance of the area, exact in the midrank form; needs two rows of each class.

    >>> from assay.tally.scores import Scores
    >>> y, s = [1, 1, 1, 1, 0, 0, 0, 0, 0], [0.9, 0.8, 0.6, 0.55, 0.7, 0.5, 0.4, 0.3, 0.2]
    >>> round(delong_variance(Scores.binary(s, y).one_vs_rest(1)), 6)
    0.013333
    """
    if "delong" not in t.shared:
        positives, negatives = float(t.positives), float(t.negatives)
        own = _spread(t.by_positive, positives, negatives)
        t.shared["delong"] = own + _spread(t.by_negative, negatives, positives)
    return cast("float", t.shared["delong"])


def _spread(side: Side, own: float, other: float) -> float:
    """The variance of the mean share of the other class that each row of one class stands above, ties half."""
    # Twice the rank among the other class is a whole number, so its mean and squares lose nothing before the end.
    rank = 2 * side.below + side.tied
    mean = float(np.dot(side.count, rank)) / own
    off = rank - mean
    return float(np.dot(off * off, side.count)) / ((own - 1) * own * 4 * other * other)


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

    def end(inside: float, outside: float) -> float:
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            reached = abs(area - middle) <= z * math.sqrt(smooth_variance(middle, positives, negatives))
            inside, outside = (middle, outside) if reached else (inside, middle)
        return inside

    return (0.0 if area == 0 else end(area, 0.0)), (1.0 if area == 1 else end(area, 1.0))


def area_interval(t: Ranked, area: float, level: float) -> tuple[float, float, str]:
    """The interval of an area and the name of its method."""
    positives, negatives = float(t.positives), float(t.negatives)
    variance = delong_variance(t) if min(positives, negatives) > 1 else 0.0
    return area_ends(area, variance, positives, negatives, level)


def near_an_end(area: float, fewest: float) -> bool:
    """Whether so few rows are on the wrong side that DeLong's variance cannot be trusted, or is 0."""
    return fewest * min(area, 1 - area) < MISRANKED


def area_ends(
    area: float, variance: float, positives: float, negatives: float, level: float
) -> tuple[float, float, str]:
    """The ends of an area from its DeLong variance and the sizes of the classes, and the name of the method.

    >>> low, high, method = area_ends(1.0, 0.0, 10, 10, 0.95)
    >>> round(low, 3), high, method
    (0.8, 1.0, 'newcombe score')
    """
    fewest = min(positives, negatives)
    if not 0 < area < 1 or variance <= 0:
        return *newcombe(area, positives, negatives, level), "newcombe score"
    method = "delong-logit"
    if fewest < ENOUGH or near_an_end(area, fewest):
        smooth = smooth_variance(area, positives, negatives)
        variance = (fewest * variance + BORROWED * smooth) / (fewest + BORROWED)
        method = "delong-logit with borrowed rows"
    logit = math.log(area / (1 - area))
    reach = normal_quantile((1 + level) / 2) * math.sqrt(variance) / (area * (1 - area))
    return 1 / (1 + math.exp(reach - logit)), 1 / (1 + math.exp(-reach - logit)), method
