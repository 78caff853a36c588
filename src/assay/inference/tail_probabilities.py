# SPDX-License-Identifier: Apache-2.0
"""Tail probabilities that never become 0: below the smallest double their logarithm is still known."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias

SMALLEST: Final = 1e-300
"""Below this a chance is printed as a bound and only its logarithm is kept (ACCEPTANCE C18)."""
EXACT_TRIALS: Final = 1024
"""Up to this many trials a binomial tail is a quotient of whole numbers, rounded once."""
STEPS, SETTLED = 10_000, 1e-16
"""Of a continued fraction: how many at most, and when it has settled."""
RANGE_FLOOR: Final = 1e-12
"""Below this the quadrature of the studentised range has no figures left; the bound over all pairs is used."""

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
ALTERNATIVES: Final = ("two-sided", "greater", "less")


@dataclass(frozen=True, slots=True)
class Tail:
    """A chance with its decimal logarithm."""

    p: float
    log10: float

    @classmethod
    def of(cls, p: float, log10: float | None = None) -> Tail:
        """A chance held between the smallest that is printed and 1.

        >>> round(Tail.of(0.25).log10, 12)
        -0.602059991328
        """
        if p >= 1:
            return cls(1.0, 0.0)
        known = math.log10(p) if log10 is None and p > 0 else log10
        if known is None:
            msg = "a chance of 0 needs its logarithm"
            raise ValueError(msg)
        return cls(p if known > math.log10(SMALLEST) else SMALLEST, min(known, 0.0))

    @classmethod
    def of_log(cls, log: float) -> Tail:
        """From a natural logarithm."""
        return cls.of(math.exp(max(log, -745.0)), log / math.log(10))

    def __str__(self) -> str:
        """As printed: three digits, never 0, never a false 1."""
        return shown(self.p, self.log10)


CERTAIN: Final = Tail(1.0, 0.0)


def shown(p: float, log10: float | None = None) -> str:
    """A p value with its sign: three significant digits, a bound where it is tiny.

    >>> shown(0.00661), shown(1e-300, -412.0), shown(0.99991), shown(1.0)
    ('= 0.00661', '< 1e-300', '> 0.999', '= 1')
    """
    if p <= SMALLEST and (log10 is None or log10 < math.log10(SMALLEST)):
        return "< 1e-300"
    text = f"{p:.3g}"
    return "> 0.999" if text == "1" and p < 1 else f"= {text}"


def normal(z: float, alternative: Alternative = "two-sided") -> Tail:
    """The chance of a standard normal value at least as far out."""
    from scipy.special import log_ndtr

    if alternative == "two-sided":
        return Tail.of_log(min(float(log_ndtr(-abs(z))) + math.log(2), 0.0))
    return Tail.of_log(float(log_ndtr(-z if alternative == "greater" else z)))


def student(t: float, df: float, alternative: Alternative = "two-sided") -> Tail:
    """The chance of a Student t value at least as far out."""
    log = _log_beta_tail(df / (df + t * t), df / 2, 0.5)  # both tails together
    if alternative == "two-sided":
        return Tail.of_log(log)
    outer = log - math.log(2)
    return Tail.of_log(outer) if (t > 0) == (alternative == "greater") else Tail.of(1 - math.exp(outer))


def fisher_f(f: float, above: float, below: float) -> Tail:
    """The chance of an F value at least as large."""
    return Tail.of_log(_log_beta_tail(below / (below + above * f), below / 2, above / 2))


def chi_squared(x: float, df: float) -> Tail:
    """The chance of a chi-squared value at least as large."""
    from scipy.special import gammaincc

    p = float(gammaincc(df / 2, x / 2))
    return Tail.of(p) if p > SMALLEST else Tail.of_log(_log_gamma_tail(df / 2, x / 2))


def binomial(successes: int, trials: int, alternative: Alternative = "two-sided") -> Tail:
    """The chance of so extreme a number of successes where each is as likely as not; twice the smaller tail."""
    k = trials - successes if alternative == "greater" else successes
    if alternative == "two-sided":
        k = min(successes, trials - successes)
        tail = _lower_half(k, trials)
        return Tail.of(2 * tail.p, tail.log10 + math.log10(2))
    return _lower_half(k, trials)


def mid_binomial(successes: int, trials: int) -> Tail:
    """The same, with what was seen counted half."""
    k = min(successes, trials - successes)
    point = _log_point(k, trials)
    if 2 * k == trials:
        return Tail.of(1 - math.exp(point) / 2)
    log = _lower_half(k, trials).log10 * math.log(10)
    # 2 tail - point, in logarithms: the point is part of the tail, so the difference is at least half of it.
    return Tail.of_log(log + math.log(2 - math.exp(point - log)))


def studentised_range(q: float, groups: int, df: float = math.inf) -> Tail:
    """The chance of so large a range of means; for tiny chances the bound over all pairs, which is above it."""
    from scipy.stats import studentized_range

    pairs = groups * (groups - 1) / 2
    single = normal(q / math.sqrt(2)) if math.isinf(df) else student(q / math.sqrt(2), df)
    bound = Tail.of(pairs * single.p, single.log10 + math.log10(pairs))
    if bound.p < RANGE_FLOOR:
        return bound
    p = float(studentized_range.sf(q, groups, df))
    return Tail.of(min(max(p, single.p), bound.p))


def range_quantile(share: float, groups: int) -> float:
    """The studentised range, infinite degrees of freedom, that is passed with a chance of 1 - share."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(share, groups, math.inf))


def _lower_half(k: int, trials: int) -> Tail:
    """The chance of at most k heads."""
    if k < 0:
        return Tail.of_log(-math.inf)
    if k >= trials:
        return CERTAIN
    if trials <= EXACT_TRIALS:
        ways = sum(math.comb(trials, i) for i in range(k + 1))
        p = ways / 2**trials if ways.bit_length() > trials - 1000 else 0.0
        log2 = math.log2(Fraction(ways, 1 << (ways.bit_length() - 1))) + ways.bit_length() - 1 - trials
        return Tail.of(p, log2 * math.log10(2))
    return Tail.of_log(_log_beta_tail(0.5, trials - k, k + 1))


def _log_point(k: int, trials: int) -> float:
    if trials <= EXACT_TRIALS:
        return math.log(math.comb(trials, k)) - trials * math.log(2)
    lost = math.lgamma(k + 1) + math.lgamma(trials - k + 1)
    return math.lgamma(trials + 1) - lost - trials * math.log(2)


def _log_beta_tail(x: float, a: float, b: float) -> float:
    """The logarithm of the regularised incomplete beta function, also where the function itself is below any double."""
    from scipy.special import betainc, betaln

    if x <= 0:
        return -math.inf
    p = float(betainc(a, b, x))
    if p > SMALLEST:
        return math.log(p)
    front = a * math.log(x) + b * math.log1p(-x) - math.log(a) - float(betaln(a, b))
    return front + math.log(_beta_fraction(x, a, b))


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function by Lentz's method."""

    def term(m: int) -> float:
        half = m // 2
        if m % 2 == 0:
            return half * (b - half) * x / ((a + m - 1) * (a + m))
        return -(a + half) * (a + b + half) * x / ((a + m - 1) * (a + m))

    return _continued(1.0 / (1.0 + term(1)), 1.0, ((term(m), 1.0) for m in range(2, STEPS)))


def _continued(first: float, c: float, terms: Iterable[tuple[float, float]]) -> float:
    """A continued fraction by Lentz's method, from its first value and the terms after that."""
    d = fraction = first
    for above, below in terms:
        d = 1.0 / (above * d + below)
        c = below + above / c
        fraction *= c * d
        if abs(c * d - 1) < SETTLED:
            break
    return fraction


def _log_gamma_tail(a: float, x: float) -> float:
    """The logarithm of the upper regularised incomplete gamma function for x far above a, by its continued fraction."""
    b = x + 1 - a
    fraction = _continued(1.0 / b, 1e300, ((-i * (i - a), b + 2 * i) for i in range(1, STEPS)))
    return a * math.log(x) - x - math.lgamma(a) + math.log(fraction)
