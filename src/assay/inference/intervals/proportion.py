# SPDX-License-Identifier: Apache-2.0
"""Intervals for a share of independent rows, and for the ratio of two such shares; one by one or in a stack."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

if TYPE_CHECKING:
    from assay.core.arrays import Floats

    Stack: TypeAlias = tuple[Floats, Floats]

Bounds: TypeAlias = tuple[float, float]

FEWEST: Final = 4
"""With fewer rows Wilson covers shares from 0.05 to 0.95 as rarely as 79 to 83 times in 100; the exact one is used."""
FREE, FAR = 2000, 4.5
"""Degrees of freedom from which, and standard errors up to which, Student's quantile is expanded."""
HALVINGS: Final = 60
"""Enough to bring a share down to neighbouring doubles."""
TOGETHER: Final = 1 << 11
"""Ratios solved at a time, so that the numbers stay in a processor's cache."""
PARTS, ROUNDS = 4, 21
"""A bracket of logarithms is cut into 4 at once, 21 times, which leaves a relative error below 1e-10."""


@lru_cache(maxsize=64)
def normal_quantile(share: float) -> float:
    """The point below which a standard normal variable falls with some chance.

    >>> round(normal_quantile(0.975), 4)
    1.96
    """
    return NormalDist().inv_cdf(share)


def student_quantile(share: float, freedom: float) -> float:
    """The quantile of Student's distribution; with much freedom by its expansion, which needs no SciPy.

    What is left out is below 1e-14 of the value there (Abramowitz and Stegun 1964, 26.7.5).

    >>> round(student_quantile(0.975, 10_000), 9), round(student_quantile(0.975, 9), 9)
    (1.96020124, 2.262157163)
    """
    z = normal_quantile(share)
    if freedom < FREE or abs(z) > FAR:
        from scipy.special import stdtrit

        return float(stdtrit(freedom, share))
    terms = (
        z,
        z * (z**2 + 1) / 4,
        z * (5 * z**4 + 16 * z**2 + 3) / 96,
        z * (3 * z**6 + 19 * z**4 + 17 * z**2 - 15) / 384,
        z * (79 * z**8 + 776 * z**6 + 1482 * z**4 - 1920 * z**2 - 945) / 92160,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))


def wilson(successes: float, of: float, level: float) -> Bounds:
    """Wilson score interval.

    >>> low, high = wilson(231, 258, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.852, 0.927)
    """
    low, high = _wilson_stack(np.float64(successes), np.float64(of), level)  # type: ignore[arg-type]
    return float(low), float(high)


def recovered(x: float, of_x: Bounds, y: float, of_y: Bounds, correlation: float = 0.0) -> Bounds:
    """Ends of x - y from the ends of two values (Zou and Donner 2008, eq. 9 to 12); of Wilson's ends it is Newcombe's.

    >>> low, high = recovered(0.8, wilson(56, 70, 0.95), 0.6, wilson(48, 80, 0.95))  # Newcombe 1998, method 10, row (a)
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    """

    def added(a: float, b: float) -> float:
        return math.sqrt(max(a * a + b * b - 2 * correlation * a * b, 0.0)) if correlation else math.hypot(a, b)

    return x - y - added(x - of_x[0], of_y[1] - y), x - y + added(of_x[1] - x, y - of_y[0])


def outermost(inside: float, outside: float, holds: Callable[[float], bool]) -> float:
    """The last value on the way from one inside to one outside for which something still holds."""
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


def clopper_pearson(successes: float, of: float, level: float) -> Bounds:
    """Clopper-Pearson interval: never covers less than its level, at the price of width.

    >>> low, high = clopper_pearson(1, 1, 0.95)
    >>> round(low, 3), high
    (0.025, 1.0)
    """
    return _beta_ends(successes, of - successes, 1, level)


def jeffreys(successes: float, of: float, level: float) -> Bounds:
    """Jeffreys interval: the middle of the Beta(x + 1/2, n - x + 1/2) distribution, open at 0 and n.

    >>> low, high = jeffreys(0, 10, 0.95)
    >>> low, round(high, 3)
    (0.0, 0.217)
    """
    return _beta_ends(successes + 0.5, of - successes + 0.5, 0, level, open_at=0.5)


def _beta_ends(successes: float, failures: float, more: int, level: float, open_at: float = 0.0) -> Bounds:
    """Ends from Beta distributions, of which the side that an end moves away from holds `more` rows."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if successes == open_at else float(betaincinv(successes, failures + more, tail))
    high = 1.0 if failures == open_at else 1 - float(betaincinv(failures, successes + more, tail))
    return low, high


SHARES: Final[dict[str, Callable[[float, float, float], Bounds]]] = {
    "wilson": wilson,
    "clopper-pearson": clopper_pearson,
    "jeffreys": jeffreys,
}


def fitting(method: str, of: float) -> str:
    """The method itself, or the exact one where there are too few rows for Wilson.

    >>> fitting("wilson", 3), fitting("wilson", 4)
    ('clopper-pearson', 'wilson')
    """
    return "clopper-pearson" if method == "wilson" and of < FEWEST else method


def of_share(successes: float, of: float, level: float, method: str) -> Bounds:
    """The interval of one share by a named method, exact for very few rows."""
    return SHARES[fitting(method, of)](successes, of, level)


def of_shares(successes: Floats, of: Floats, level: float, method: str) -> Stack:
    """The intervals of many shares at once; NaN where nothing was counted."""
    low, high = np.full(len(of), np.nan), np.full(len(of), np.nan)
    plain = (of >= FEWEST) if method == "wilson" else np.zeros(len(of), dtype=bool)
    low[plain], high[plain] = _wilson_stack(successes[plain], of[plain], level)
    rest = np.flatnonzero(~plain & (of > 0))
    if not len(rest):
        return low, high
    pairs, which = np.unique(np.stack([successes[rest], of[rest]]), axis=1, return_inverse=True)
    ends = [of_share(int(x), int(n), level, method) for x, n in pairs.T]
    low[rest], high[rest] = np.array(ends).reshape(-1, 2)[np.ravel(which)].T
    return low, high


def _wilson_stack(successes: Floats, of: Floats, level: float) -> Stack:
    z2 = normal_quantile((1 + level) / 2) ** 2
    p = successes / of
    middle = (successes + z2 / 2) / (of + z2)
    half = np.sqrt(z2 * (p * (1 - p) / of + z2 / (4 * of * of))) / (1 + z2 / of)
    low, high = np.maximum(0.0, middle - half), np.minimum(1.0, middle + half)
    # At 0 and n the formula gives the end of the range up to rounding; it is exact there by algebra.
    return np.where(successes == 0, 0.0, low), np.where(successes == of, 1.0, high)


def koopman(above: Floats, above_of: Floats, below: Floats, below_of: Floats, level: float) -> Stack:
    """Score interval for the ratio of two independent shares (Koopman 1984), open above where the lower share is zero.

    >>> low, high = koopman(*(np.array([x]) for x in (36.0, 40.0, 16.0, 80.0)), 0.95)
    >>> round(float(low[0]), 2), round(float(high[0]), 2)
    (2.94, 7.15)
    """
    counts = np.stack([above, above_of, below, below_of])
    parts = [_ratio_ends(counts[:, at : at + TOGETHER], level) for at in range(0, len(above), TOGETHER)]
    low, high = np.concatenate(parts, axis=1)
    return np.where(above == 0, 0.0, low), np.where(below == 0, np.inf, high)


def _ratio_ends(counts: Floats, level: float) -> Floats:
    """Where the score passes the two normal quantiles, by cutting a bracket of logarithms again and again."""
    above, above_of, below, below_of = counts
    # A ratio of shares of n and m rows lies between 1/n and m when both are positive, and its interval not far outside.
    reach = np.log(1e4 * (above_of + below_of) ** 2)
    z = normal_quantile((1 + level) / 2)
    left, right = np.stack([-reach, -reach])[:, np.newaxis], np.stack([reach, reach])[:, np.newaxis]
    wanted, steps = np.array([z, -z])[:, np.newaxis, np.newaxis], np.arange(1, PARTS)[:, np.newaxis] / PARTS
    for _ in range(ROUNDS):
        inner = left + (right - left) * steps
        passed = (_score(above, above_of, below, below_of, np.exp(inner)) > wanted).sum(axis=1, keepdims=True)
        left, right = left + (right - left) * (passed / PARTS), left + (right - left) * ((passed + 1) / PARTS)
    return cast("Floats", np.exp((left + right) / 2)[:, 0])


def _score(above: Floats, above_of: Floats, below: Floats, below_of: Floats, ratio: Floats) -> Floats:
    """How many standard errors the ratio seen lies above an assumed one, whose shares are fitted to the rows."""
    square, middle = (above_of + below_of) * ratio, above_of * ratio + above + below_of + below * ratio
    total = above + below
    # The smaller root in the form that does not cancel.
    fitted = 2 * total / (middle + np.sqrt(np.maximum(middle * middle - 4 * square * total, 0.0)))
    first = np.minimum(fitted * ratio, 1.0)
    variance = first * (1 - first) / above_of + ratio * ratio * fitted * (1 - fitted) / below_of
    gap = above / above_of - ratio * below / below_of
    tiny = np.finfo(np.float64).tiny
    return cast("Floats", gap / np.sqrt(np.maximum(variance, tiny)))
