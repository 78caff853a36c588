# SPDX-License-Identifier: Apache-2.0
"""Tests on counts of independent rows: association, fit to given shares, two shares, strata."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import counted
from assay.core.traits import TS4213
from assay.core.values import Undefined
from assay.inference.declare import significance
from assay.inference.findings import Check, Effect, Finding, Real, no_number, refer_statistic
from assay.inference.intervals.proportion import recovered, wilson
from assay.inference.power import least_chi_squared, least_normal
from assay.inference.resampling import SEED, stream
from assay.inference.tail_probabilities import CERTAIN, Tail, fisher_f
from assay.tally.contingency_tables import Successes, Table

if TYPE_CHECKING:
    from assay.core.arrays import Floats

SAME: Final = 1e-7
"""Tables whose chances differ by less, relatively, are equally likely (the tolerance of R's fisher.test)."""
TABLES: Final = 9999
NOT_PAIRED: Final = ("on two models of the same rows: those are paired", "on shares instead of counts")
LARGE_COUNTS: Final = "expected counts are 1 or more, and 5 or more in four cells of five"
TOO_FEW: Final = Undefined(reason="too few rows for the correction", code="too-few")
ALL_ALIKE: Final = Undefined(reason="every row is a success, or none is", code="zero-variance")
EMPTY_MARGIN: Final = Undefined(reason="a whole row or column of the table is zero", code="zero-margin")
_association = partial(
    significance,
    asks="do two factors of independent rows go together?",
    null="the factors are independent",
    effect="Cramér's V",
    assumes=("rows are independent",),
    never=NOT_PAIRED,
    source=TS4213("7.7"),
    spec="T-10",
    errata=("E-TS-22",),
)


@_association(
    title="Chi-squared test of association",
    assumes=("rows are independent", LARGE_COUNTS),
    source=TS4213("7.5"),
    spec="T-09",
)
def chi_squared_association(t: Table, *, level: float = 0.95) -> Finding:
    seen = _occupied(t)
    r, c = seen.shape
    if min(r, c) < 2:  # noqa: PLR2004  one level left
        return _no_table(t, "Cramér's V", "chi-squared")
    n, expected = float(seen.sum()), _expected(seen)
    value, df = _pearson(seen, expected), (r - 1) * (c - 1)
    phi2 = value / n
    corrected = max(0.0, phi2 - df / (n - 1))
    wide, tall = r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)
    spare, shape = min(wide, tall) - 1, min(r, c) - 1
    unbiased: Real = math.sqrt(corrected / spare) if spare > 0 else TOO_FEW
    return Finding(
        **refer_statistic("chi-squared", value, df),
        effect=_cramer(value, t.n, shape),
        n=t.n,
        more=(_bounded(unbiased, value, df, n * shape, level),),
        checks=(_large_enough(expected),),
        least=_least_cramer(df, t.n, shape, level),
    )


def _cramer(value: float, n: int, shape: int) -> Effect:
    return Effect(name="Cramér's V", value=math.sqrt(value / n / shape), no_interval="none is customary")


def _least_cramer(df: int, n: int, shape: int, level: float) -> float:
    return min(1.0, least_chi_squared(df, n, level) / math.sqrt(shape))


def _pearson(seen: Floats, expected: Floats) -> float:
    return float(((seen - expected) ** 2 / expected).sum())


def _bounded(unbiased: Real, value: float, df: int, scale: float, level: float) -> Effect:
    """Cramér's V with the ends whose noncentral chi-squared puts what was seen at its tails (Smithson 2003).

    It covers in 93 to 100 of 100 tables, the more the stronger the association.
    """
    name = "Cramér's V, bias-corrected (Bergsma 2013)"
    if isinstance(unbiased, Undefined):
        return Effect(name=name, value=unbiased)
    low, high = (min(1.0, math.sqrt(end / scale)) for end in noncentral_ends(value, df, level))
    return Effect.between(name, unbiased, (min(low, unbiased), max(high, unbiased)), level, "noncentral chi-squared")


def noncentral_ends(value: float, df: int, level: float) -> tuple[float, float]:
    """The noncentralities for which a chi-squared statistic lies at the upper and at the lower tail.

    >>> [round(end, 3) for end in noncentral_ends(10.0, 1, 0.95)]
    [1.445, 26.237]
    """
    from scipy.optimize import brentq
    from scipy.special import chndtr

    tail = (1 - level) / 2

    def end(share: float) -> float:
        if chndtr(value, df, 0.0) <= share:
            return 0.0
        top = 4 * value + 100.0
        return float(brentq(lambda x: chndtr(value, df, x) - share, 0.0, top))

    return end(1 - tail), end(tail)


@significance(
    title="Chi-squared test of fit to given shares",
    asks="do the classes occur as often as stated?",
    null="the classes have the stated shares",
    effect="Cohen's w",
    assumes=("rows are independent", "expected counts are 5 or more"),
    source=TS4213("7.5"),
    spec="T-09",
)
def chi_squared_fit(t: Table, *, level: float = 0.95) -> Finding:
    """The first row of the table is what was seen, the second the reference counts."""
    seen, reference = (np.array(row, dtype=np.float64) for row in t.rows[:2])
    if len(t.rows) != 2 or not seen.sum() or not (reference > 0).all():  # noqa: PLR2004  seen and reference
        what = "a test of fit needs one row of counts seen and one of reference counts above 0"
        raise PlanError("test-needs", what, fix="give two rows of counts")
    n = int(seen.sum())
    expected = reference / reference.sum() * seen.sum()
    value, df = _pearson(seen, expected), len(seen) - 1
    return Finding(
        **refer_statistic("chi-squared", value, df),
        effect=Effect(name="Cohen's w", value=math.sqrt(value / n), no_interval="none is customary"),
        n=n,
        checks=(_large_enough(expected),),
        least=least_chi_squared(df, n, level),
    )


@_association(
    title="Fisher's exact test",
    asks="do two yes-or-no factors of independent rows go together?",
    null="the odds ratio is 1",
    effect="odds ratio",
)
def fisher_exact(t: Table, *, level: float = 0.95) -> Finding:
    from scipy.stats.contingency import odds_ratio

    (a, b), (c, d) = _four_cells(t, "this form takes", "use fisher_monte_carlo for a larger table")
    if 0 in (a + b, c + d, a + c, b + d):
        return _no_table(t, "odds ratio", "count of the first cell")
    conditional = odds_ratio([[a, b], [c, d]], kind="conditional")
    ends = conditional.confidence_interval(confidence_level=level)
    sample = a * d / (b * c) if b * c else math.inf if a * d else Undefined(reason="both diagonals hold a zero")
    name, value = "odds ratio, conditional", float(conditional.statistic)
    return Finding(
        chance=_hypergeometric(a, a + b, a + c, t.n),
        effect=Effect.between(name, value, (float(ends.low), float(ends.high)), level, "conditional exact"),
        statistic=float(a),
        statistic_name="count of the first cell",
        n=t.n,
        more=(Effect(name="odds ratio, of the sample", value=sample),),
        least=_least_of_two(_error_of_two(a + b, c + d, (a + c) / t.n), level),
        notes=("the difference that could have been detected is one of shares",),
    )


@_association(title="Fisher's exact test for larger tables, by Monte Carlo")
def fisher_monte_carlo(t: Table, *, level: float = 0.95, draws: int = TABLES, seed: int = SEED) -> Finding:
    from scipy.special import gammaln
    from scipy.stats import random_table

    seen = _occupied(t)
    if min(seen.shape) < 2:  # noqa: PLR2004  one level left
        return _no_table(t, "Cramér's V", "log chance of the table")
    whole = seen.astype(np.int64)
    drawn = random_table.rvs(whole.sum(axis=1), whole.sum(axis=0), size=draws, random_state=stream(seed))
    log = -gammaln(drawn + 1).sum(axis=(1, 2))
    observed = float(-gammaln(seen + 1).sum())
    as_rare = int((log <= observed + SAME).sum())
    shape, df = min(seen.shape) - 1, (seen.shape[0] - 1) * (seen.shape[1] - 1)
    return Finding(
        chance=Tail.of((1 + as_rare) / (1 + draws)),
        effect=_cramer(_pearson(seen, _expected(seen)), t.n, shape),
        statistic=observed,
        statistic_name="log chance of the table, up to a constant",
        n=t.n,
        notes=(f"{draws:,} random tables with the same margins, seed {seed}; p = (1 + as rare) / (1 + drawn)",),
        least=_least_cramer(df, t.n, shape, level),
    )


@significance(
    title="Difference of two independent shares, normal approximation",
    asks="are two shares of different rows equal?",
    null="both shares are equal",
    effect="difference of the shares",
    assumes=("all rows are independent", "five successes and five failures expected in each group"),
    never=NOT_PAIRED,
    source=TS4213("7.8"),
    spec="T-13",
    errata=("E-TS-20",),
)
def two_shares(t: Table, *, level: float = 0.95) -> Finding:
    """Rows of the table are the groups; its columns are successes and failures."""
    (a, b), (c, d) = _four_cells(t, "two shares need", "give successes and failures of each")
    first, second = a + b, c + d
    name = "share of the first group minus share of the second"
    if not (first and second):
        return _no_table(t, name, "z")
    p, q, pooled = a / first, c / second, (a + c) / t.n
    gap, ends = p - q, recovered(p, wilson(a, first, level), q, wilson(c, second, level))
    error = _error_of_two(first, second, pooled)
    expected = np.array([[first * pooled, first * (1 - pooled)], [second * pooled, second * (1 - pooled)]])
    return Finding(
        **refer_statistic("z", gap / error if error else ALL_ALIKE),
        effect=Effect.between(name, gap, ends, level, "newcombe", share=True),
        n=t.n,
        checks=(_large_enough(expected),),
        least=_least_of_two(error, level),
    )


@significance(
    title="Exact binomial test",
    asks="is a share different from a stated one?",
    null="the share is the stated one",
    effect="share minus the stated one",
    assumes=("rows are independent",),
    source=TS4213("7.8"),
    spec="G.2 row 2",
)
def exact_binomial(t: Successes, *, level: float = 0.95) -> Finding:
    from scipy.special import bdtr, bdtrc

    name = f"share minus {t.against:g}"
    if not t.n:
        lost = Undefined(reason="there are no rows", code="n=0")
        return no_number(name, lost, "successes", least=None)
    below = float(bdtr(t.successes, t.n, t.against))
    above = float(bdtrc(t.successes - 1, t.n, t.against)) if t.successes else 1.0
    if p := 2 * min(below, above):
        chance = Tail.of(p)
    else:  # the same tail as one of F, whose logarithm is known
        k, share = (t.successes, t.against) if above < below else (t.n - t.successes, 1 - t.against)
        tail = fisher_f(k * (1 - share) / ((t.n - k + 1) * share), 2 * (t.n - k + 1), 2 * k)
        chance = Tail.of(2 * tail.p, tail.log10 + math.log10(2))
    low, high = (end - t.against for end in wilson(t.successes, t.n, level))
    error = math.sqrt(t.against * (1 - t.against) / t.n)
    return Finding(
        chance=chance,
        effect=Effect.between(name, t.successes / t.n - t.against, (low, high), level, "wilson", share=True),
        statistic=float(t.successes),
        statistic_name="successes",
        n=t.n,
        least=least_normal(error, level),
    )


def _four_cells(t: Table, needs: str, fix: str) -> tuple[tuple[int, ...], ...]:
    """The rows of a table of two by two counts."""
    if len(t.rows) != 2 or len(t.rows[0]) != 2:  # noqa: PLR2004  two by two
        raise PlanError("test-needs", f"{needs} two by two counts", fix=fix)
    return t.rows


def _occupied(t: Table) -> Floats:
    cells = np.array(t.rows, dtype=np.float64)
    return cast("Floats", cells[cells.sum(axis=1) > 0][:, cells.sum(axis=0) > 0])


def _expected(seen: Floats) -> Floats:
    return cast("Floats", seen.sum(axis=1, keepdims=True) * seen.sum(axis=0, keepdims=True) / seen.sum())


def _large_enough(expected: Floats) -> Check:
    small = float((expected < 5).mean())  # noqa: PLR2004  Cochran 1954: 1 at least, and 5 in four cells of five
    holds = bool(expected.min() >= 1 and small <= 0.2)  # noqa: PLR2004
    seen = f"smallest expected count {expected.min():.3g}, {small:.0%} of the cells below 5"
    return Check(assumes=LARGE_COUNTS, holds=holds, seen=seen)


def _hypergeometric(a: int, row: int, column: int, n: int) -> Tail:
    """The chance of a table at most as likely as the one seen, margins fixed; ratios of neighbours are exact."""
    low, high = max(0, row + column - n), min(row, column)
    x = np.arange(low, high, dtype=np.float64)
    steps = np.log((row - x) * (column - x)) - np.log((x + 1) * (n - row - column + x + 1))
    log = np.concatenate([[0.0], np.cumsum(steps)])
    log -= log.max()
    rare = log <= log[a - low] + math.log1p(SAME)
    edge = float(log[rare].max())
    return Tail.of_log(edge + math.log(math.fsum(np.exp(log[rare] - edge))) - math.log(math.fsum(np.exp(log))))


def _error_of_two(first: int, second: int, pooled: float) -> float:
    return math.sqrt(pooled * (1 - pooled) * (1 / first + 1 / second))


def _least_of_two(error: float, level: float) -> Real:
    return min(1.0, least_normal(error, level)) if error else ALL_ALIKE


def _no_table(t: Table, effect: str, name: str) -> Finding:
    notes = (f"{counted(t.n, 'row')} with one level of a factor show no association",)
    return no_number(effect, EMPTY_MARGIN, name, chance=CERTAIN, n=t.n, notes=notes)
