# SPDX-License-Identifier: Apache-2.0
"""Intervals for a share of independent rows: Wilson (the default), Clopper-Pearson, Jeffreys."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import TypeAlias

Bounds: TypeAlias = tuple[float, float]


def wilson(successes: int, of: int, level: float) -> Bounds:
    """Wilson score interval.

    >>> low, high = wilson(231, 258, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.852, 0.927)
    """
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    p = successes / of
    middle = (successes + z2 / 2) / (of + z2)
    half = math.sqrt(z2 * (p * (1 - p) / of + z2 / (4 * of * of))) / (1 + z2 / of)
    # At 0 and n the formula gives the end of the range up to rounding; it is exact there by algebra.
    return (0.0 if successes == 0 else max(0.0, middle - half)), (1.0 if successes == of else min(1.0, middle + half))


def clopper_pearson(successes: int, of: int, level: float) -> Bounds:
    """Clopper-Pearson interval: never covers less than its level, at the price of width.

    >>> low, high = clopper_pearson(1, 1, 0.95)
    >>> round(low, 3), high
    (0.025, 1.0)
    """
    from scipy.special import betaincinv  # noqa: PLC0415  scipy costs a second to import

    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, of - successes + 1, tail))
    high = 1.0 if successes == of else float(betaincinv(successes + 1, of - successes, 1 - tail))
    return low, high


def jeffreys(successes: int, of: int, level: float) -> Bounds:
    """Jeffreys interval: the middle of the Beta(x + 1/2, n - x + 1/2) distribution, open at 0 and n.

    >>> low, high = jeffreys(0, 10, 0.95)
    >>> low, round(high, 3)
    (0.0, 0.217)
    """
    from scipy.special import betaincinv  # noqa: PLC0415  scipy costs a second to import

    tail = (1 - level) / 2
    a, b = successes + 0.5, of - successes + 0.5
    low = 0.0 if successes == 0 else float(betaincinv(a, b, tail))
    high = 1.0 if successes == of else float(betaincinv(a, b, 1 - tail))
    return low, high


SHARES: dict[str, Callable[[int, int, float], Bounds]] = {
    "wilson": wilson,
    "clopper-pearson": clopper_pearson,
    "jeffreys": jeffreys,
}
