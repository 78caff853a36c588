# SPDX-License-Identifier: Apache-2.0
"""Means of two models: paired by item or data set, of independent items, and from resampling one data set."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Final

from assay.core.text import counted
from assay.core.traits import EXTENSION, RAINIO, TS4213, Source
from assay.core.values import Undefined
from assay.inference.declare import significance
from assay.inference.findings import Effect, Finding, no_number, refer_statistic
from assay.inference.intervals.proportion import student_quantile
from assay.inference.power import least_student
from assay.inference.tail_probabilities import Alternative
from assay.inference.tests.variance import equal_spread, need_groups, normality
from assay.tally.real_values import Exact, FiveByTwo, Folds, Groups, Halved, Pairs

SOME: Final = 2
NO_DIFFERENCE: Final = "the models have the same value everywhere"
CONSTANT: Final = Undefined(reason="the difference is the same everywhere, so it has no spread", code="zero-variance")
HALVINGS: Final = "a 5x2 cross-validation judges algorithms, not one trained model (TS 4213, 5.3.6)"
SHARED: Final = (
    "all ten differences share one data set: with 100 rows this test raised 11 % false alarms at 5 %, with 1,000 rows "
    "6 %; half_sample_t is at its level"
)
BY_LEARNER: Final = (
    "folds do not show how far their mean varies: false alarms at 5 % were 3 % with stable learners, and up to 10 % "
    "with learners that jump; one learner with two seeds was told apart in 0 to 2 %, so differences by seed alone are "
    "found too rarely; half_sample_t is at its level (scheme halved)"
)


@significance(
    title="Paired t test",
    asks="is the mean difference between A and B zero?",
    null="the mean of the differences is 0",
    effect="mean of A minus B",
    assumes=("differences are independent", "differences are about normal"),
    never=(
        "on values from resampling one data set (TS 4213, 7.2)",
        "with three or more models",
        "with strong outliers",
    ),
    source=(TS4213("7.2"), RAINIO("t test")),
    spec="T-01",
    errata=("E-RAI-18",),
)
def paired_t(t: Pairs, *, level: float = 0.95, alternative: Alternative = "two-sided") -> Finding:
    gap = t.difference
    return _student(gap, Fraction(1, gap.n), t.models, unit=t.unit, level=level, alternative=alternative, checks=True)


@significance(
    title="Half-sample t test of cross-validation",
    also=("half-sample t",),
    asks="do two algorithms perform alike on average, judged by cross-validating one data set and halves of it?",
    null="the expected performance of the algorithms is equal",
    effect="mean of A minus B over the folds of all rows",
    assumes=("with half the rows the difference varies about twice as much", "differences are about normal"),
    never=("as proof about one final trained model (TS 4213, 5.3.6)",),
    source=(Source("Nadeau and Bengio 2003", "section 3.4"), EXTENSION),
    spec="T-04",
    errata=("E-RAI-18", "E-XS-10"),
)
def half_sample_t(t: Halved, *, level: float = 0.95, alternative: Alternative = "two-sided") -> Finding:
    # Folds share rows, so their values cannot tell how far the mean varies between data sets. Two halves share none:
    # the squared distance of their results estimates that, training and all.
    name = f"mean of {t.models[0]} minus {t.models[1]}"
    gap, values = float(t.whole), 1 + 2 * t.splits
    if not t.variance:
        return degenerate(name, gap, values, NO_DIFFERENCE)
    error = math.sqrt(t.variance)
    found = by_student(name, gap, error, t.splits, values, level=level, alternative=alternative)
    return found.said(notes=(f"standard error from {t.splits} splits into halves, which share no rows",))


@significance(
    title="Corrected resampled t test (Nadeau and Bengio)",
    also=("Nadeau-Bengio", "corrected t"),
    asks="do two algorithms perform alike on average, judged by resampling one data set?",
    null="the expected performance of the algorithms is equal",
    effect="mean of A minus B over the resamples",
    assumes=("resamples overlap as their sizes say", "differences are about normal"),
    never=("as proof about one final trained model (TS 4213, 5.3.6)",),
    source=(Source("Nadeau and Bengio 2003", "eq. 7"), EXTENSION),
    spec="T-04",
    errata=("E-RAI-18", "E-XS-10"),
)
def corrected_resampled_t(t: Folds, *, level: float = 0.95, alternative: Alternative = "two-sided") -> Finding:
    gap = t.difference
    scale = Fraction(1, gap.n) + t.test_over_train
    found = _student(gap, scale, t.models, unit="resample", level=level, alternative=alternative, checks=False)
    told = f"variance times 1/{gap.n} + {float(t.test_over_train):.4g}, because resamples share rows"
    return found.said(notes=(*found.notes, told, BY_LEARNER))


_five_by_two = partial(
    significance,
    asks="do two algorithms perform alike on training sets of half the size?",
    null="both algorithms have the same expected performance",
    effect="mean of the ten differences",
    assumes=("the ten differences are about normal",),
    never=("for trained models: it judges algorithms", "with data too few to halve"),
    errata=("E-XS-10",),
)


@_five_by_two(title="5x2 cv paired t test (Dietterich)", source=TS4213("7.2"), spec="T-02")
def five_by_two_t(t: FiveByTwo, *, level: float = 0.95) -> Finding:
    order = "the numerator is the first of the ten differences, so the order matters; five_by_two_f is free of that"

    def divide(ten: Sequence[Fraction], spread: Fraction) -> float:
        return float(ten[0]) / math.sqrt(spread / 5)

    return _five(t, level, divide, "t", 5).said(notes=(order, HALVINGS, SHARED))


@_five_by_two(
    title="5x2 cv combined F test (Alpaydin)", source=(Source("Alpaydin 1999", "eq. 9"), EXTENSION), spec="T-03"
)
def five_by_two_f(t: FiveByTwo, *, level: float = 0.95) -> Finding:

    def divide(ten: Sequence[Fraction], spread: Fraction) -> float:
        return float(sum(x * x for x in ten) / (2 * spread))

    return _five(t, level, divide, "F", 10, 5).said(notes=(HALVINGS, SHARED))


@significance(
    title="Welch's t test",
    asks="do two independent groups have the same mean?",
    null="the means are equal",
    effect="mean of the first group minus mean of the second",
    assumes=("all values are independent", "values are about normal in each group"),
    never=("on values of the same items: those are paired",),
    source=TS4213("7.2"),
    spec="G.2 row 15",
)
def welch_t(t: Groups, *, level: float = 0.95, alternative: Alternative = "two-sided") -> Finding:
    need_groups(t, 2, 2)
    a, b = t.values
    name = f"mean of {t.models[0]} minus mean of {t.models[1]}"
    if min(a.n, b.n) < SOME:
        return _too_few(name, min(a.n, b.n), "a group")
    parts = [float(one.variance / one.n) for one in (a, b)]
    gap, error = float(a.mean - b.mean), math.sqrt(sum(parts))
    checks = (*(normality(one, f"values of {name_}") for one, name_ in zip(t.values, t.models, strict=True)),)
    if not error:
        return degenerate(name, gap, a.n + b.n, "no group has any spread")
    df = sum(parts) ** 2 / sum(part**2 / (one.n - 1) for part, one in zip(parts, (a, b), strict=True))
    pooled = math.sqrt(float((a.squares + b.squares) / (a.n + b.n - 2)))
    more = (Effect(name="Cohen's d", value=gap / pooled),) if pooled else ()
    found = by_student(name, gap, error, df, a.n + b.n, level=level, alternative=alternative)
    return found.said(checks=(*checks, equal_spread(t)), more=more)


def _student(
    gap: Exact,
    scale: Fraction,
    models: tuple[str, str],
    *,
    unit: str,
    level: float,
    alternative: Alternative,
    checks: bool,
) -> Finding:
    name = f"mean of {models[0]} minus {models[1]}"
    if gap.n < SOME:
        return _too_few(name, gap.n, f"{unit}s")
    mean, variance = float(gap.mean), gap.variance
    if not variance:
        return degenerate(name, mean, gap.n, NO_DIFFERENCE)
    error = math.sqrt(float(variance * scale))
    found = by_student(name, mean, error, gap.n - 1, gap.n, level=level, alternative=alternative)
    return found.said(
        more=(Effect(name="Cohen's d of the differences", value=mean / math.sqrt(float(variance))),),
        checks=(normality(gap, "differences"),) if checks else (),
    )


def by_student(
    name: str,
    gap: float,
    error: float,
    df: float,
    n: int,
    *,
    level: float,
    alternative: Alternative = "two-sided",
    method: str = "student t",
) -> Finding:
    """A difference over its standard error, against Student's distribution."""
    effect, least = student_effect(name, gap, error, df, level, method=method), least_student(error, df, level)
    return Finding(effect=effect, n=n, least=least, **refer_statistic("t", gap / error, df, alternative=alternative))


def student_effect(
    name: str, value: float, error: float, df: float, level: float, *, method: str = "student t"
) -> Effect:
    """A value plus and minus quantiles of Student's distribution."""
    return Effect.around(name, value, student_quantile((1 + level) / 2, df) * error, level, method)


def _five(
    t: FiveByTwo, level: float, divide: Callable[[Sequence[Fraction], Fraction], float], name: str, *df: float
) -> Finding:
    """The finding on ten differences, whose statistic `divide` makes of them and of the sum of the five variances."""
    ten = [x for run in t.difference for x in run]
    spread = sum((((a - b) ** 2) / 2 for a, b in t.difference), Fraction(0))
    mean, error = float(sum(ten) / len(ten)), math.sqrt(spread / 5)
    title = f"mean of {t.models[0]} minus {t.models[1]}"
    if not error:
        flat = degenerate(title, mean, len(ten), NO_DIFFERENCE, differs=any(ten))
        return flat.said(statistic_name=name, df=df)
    effect, least = student_effect(title, mean, error, 5, level, method="5x2 cv t"), least_student(error, 5, level)
    return Finding(effect=effect, n=len(ten), least=least, **refer_statistic(name, divide(ten, spread), *df))


def _too_few(name: str, n: int, what: str) -> Finding:
    lost = Undefined(reason=f"only {counted(n, 'value')} in {what}; two are needed", code="too-few")
    return no_number(name, lost, "t", n=n, least=None)


def degenerate(name: str, mean: float, n: int, same: str, *, differs: bool | None = None) -> Finding:
    """No spread: p = 1 where there is no difference either, otherwise no number means anything."""
    differs = bool(mean) if differs is None else differs
    lost = CONSTANT if differs else Undefined(reason=same, code="zero-variance")
    effect = Effect(name=name, value=mean, no_interval="the differences have no spread")
    notes = () if differs else (same,)
    return Finding(
        effect=effect, n=n, notes=notes, least=CONSTANT, **refer_statistic("t", lost, n - 1, differs=differs)
    )
