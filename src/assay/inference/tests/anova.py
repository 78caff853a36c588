# SPDX-License-Identifier: Apache-2.0
"""Means of three models or more: independent groups, or the same items for all; sums of squares are exact."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import counted
from assay.core.traits import EXTENSION, TS4213
from assay.core.values import Undefined
from assay.inference.declare import significance
from assay.inference.findings import Check, Effect, Finding, no_number, refer_statistic
from assay.inference.power import least_student
from assay.inference.tail_probabilities import CERTAIN, chi_squared, studentised_range
from assay.inference.tests.variance import equal_spread, need_groups, normality
from assay.tally.real_values import Blocks, Exact, Groups

if TYPE_CHECKING:
    from assay.core.arrays import Floats

NO_SPREAD: Final = Undefined(reason="no group has any spread", code="zero-variance")
NORMAL: Final = ("all values are independent", "values are about normal in each group")
_of_groups = partial(
    significance,
    null="all means are equal",
    assumes=(*NORMAL, "the groups scatter alike"),
    never=("on values of the same items, folds or data sets: those are paired",),
)
_repeated_measures = partial(
    significance,
    null="all means are equal",
    effect="partial eta squared",
    never=("on values from resampling one data set",),
    source=(TS4213("7.3"), EXTENSION),
    spec="T-06",
    errata=("E-TS-22",),
)


@_of_groups(
    title="One-way analysis of variance",
    also=("one-way ANOVA",),
    asks="do independent groups have the same mean?",
    effect="eta squared, the share of the spread that lies between the groups",
    source=TS4213("7.3"),
    spec="T-05",
    errata=("E-TS-16", "E-TS-22"),
)
def one_way_anova(t: Groups, *, level: float = 0.95) -> Finding:
    need_groups(t, 2)
    k, n = len(t.values), t.n
    between, within = squares(t)
    if n <= k or not within:
        return _flat(t.n, "eta squared", equal=not between)
    value = float(between / (k - 1) / (within / (n - k)))
    mean_within = within / (n - k)
    omega = float((between - (k - 1) * mean_within) / (between + within + mean_within))
    return Finding(
        **refer_statistic("F", value, k - 1, n - k),
        effect=Effect(name="eta squared", value=float(between / (between + within)), no_interval="see omega squared"),
        n=n,
        more=(Effect(name="omega squared", value=omega),),
        checks=(_residuals(t), equal_spread(t)),
        least=least_student(math.sqrt(float(mean_within) * 2 * k / n), n - k, level),
        notes=("the difference that could have been detected is one of two means",),
    )


@_of_groups(
    title="Welch's analysis of variance",
    also=("Welch ANOVA",),
    asks="do independent groups have the same mean, however they scatter?",
    effect="largest minus smallest mean",
    assumes=NORMAL,
    source=(TS4213("7.3"), EXTENSION),
    spec="T-05",
)
def welch_anova(t: Groups, *, level: float = 0.95) -> Finding:
    need_groups(t, 2)
    name, k = "largest minus smallest mean", len(t.values)
    if min(t.sizes) < 2 or not all(one.squares for one in t.values):  # noqa: PLR2004  weights are over variances
        return _flat(t.n, name, equal=len({one.mean for one in t.values}) == 1)
    means = np.array([float(one.mean) for one in t.values])
    sizes = np.array(t.sizes, dtype=np.float64)
    weight = np.array([one.n / float(one.variance) for one in t.values])
    share = weight / weight.sum()
    lost = float(((1 - share) ** 2 / (sizes - 1)).sum())
    grand = float((share * means).sum())
    top = float((weight * (means - grand) ** 2).sum()) / (k - 1)
    value, df = top / (1 + 2 * (k - 2) / (k * k - 1) * lost), (k * k - 1) / (3 * lost)
    worst = math.sqrt(max(1 / w + 1 / v for w, v in combinations(weight.tolist(), 2)))
    return Finding(
        **refer_statistic("F", value, k - 1, df),
        effect=Effect(name=name, value=float(means.max() - means.min()), no_interval="a range of several means"),
        n=t.n,
        checks=(_residuals(t),),
        least=least_student(worst, df, level),
    )


@_repeated_measures(
    title="Repeated-measures analysis of variance",
    also=("RM-ANOVA",),
    asks="do several models have the same mean over the same items?",
    assumes=("items are independent", "residuals are about normal", "differences of any two models scatter alike"),
)
def repeated_measures_anova(t: Blocks, *, level: float = 0.95) -> Finding:
    return _repeated(t, level, corrected=False)


@_repeated_measures(
    title="Repeated-measures analysis of variance, Greenhouse-Geisser corrected",
    also=("RM-ANOVA corrected",),
    asks="do several models have the same mean over the same items, whatever their correlations?",
    assumes=("items are independent", "residuals are about normal"),
)
def greenhouse_geisser(t: Blocks, *, level: float = 0.95) -> Finding:
    return _repeated(t, level, corrected=True)


@_of_groups(
    title="Tukey's honestly significant differences",
    also=("Tukey HSD",),
    asks="which groups differ in their mean?",
    null="the two means are equal",
    effect="difference of two means",
    source=EXTENSION,
    spec="T-33",
)
def tukey(t: Groups, *, level: float = 0.95) -> tuple[Finding, ...]:
    from scipy.stats import studentized_range

    need_groups(t, 2)
    k, df, within = len(t.values), t.n - len(t.values), squares(t)[1]
    edge = float(studentized_range.ppf(level, k, df)) if df >= 1 and within else 0.0

    def compare(a: str, first: Exact, b: str, second: Exact) -> Finding:
        gap, n = float(first.mean - second.mean), first.n + second.n
        if not edge:
            return _flat(n, "difference of two means", equal=first.mean == second.mean).said(models=(a, b))
        error = math.sqrt(float(within) / df / 2 * (1 / first.n + 1 / second.n))
        return Finding(
            chance=studentised_range(abs(gap) / error, k, df),
            effect=Effect.around(f"mean of {a} minus {b}", gap, edge * error, level, "tukey, simultaneous"),
            statistic=abs(gap) / error,
            statistic_name="q",
            df=(k, df),
            models=(a, b),
            n=n,
            notes=(f"p holds for all {k * (k - 1) // 2} pairs together",),
            least=(edge / math.sqrt(2) + 0.8416) * error * math.sqrt(2),
        )

    return tuple(compare(*a, *b) for a, b in combinations(zip(t.models, t.values, strict=True), 2))


def squares(t: Groups) -> tuple[Fraction, Fraction]:
    """Sums of squares between and within the groups, exact."""
    grand = sum((one.sum for one in t.values), Fraction(0)) / t.n
    between = sum((one.n * (one.mean - grand) ** 2 for one in t.values), Fraction(0))
    return between, sum((one.squares for one in t.values), Fraction(0))


def _repeated(t: Blocks, level: float, *, corrected: bool) -> Finding:
    j, k = t.j, t.k
    if k < 2 or j < 2:  # noqa: PLR2004  nothing repeated
        what = f"the test takes two models and two {t.unit}s at least, not {k} and {j}"
        raise PlanError("test-needs", what, fix=f"give more models or {t.unit}s")
    over = math.lcm(*(one.over for one in t.values))
    columns = [[x * (over // one.over) for x in one.whole] for one in t.values]
    total = sum(map(sum, columns))
    correction_term = Fraction(total * total, j * k)
    models = Fraction(sum(sum(column) ** 2 for column in columns), j) - correction_term
    items = Fraction(sum(sum(row) ** 2 for row in zip(*columns, strict=True)), k) - correction_term
    error = sum(x * x for column in columns for x in column) - correction_term - models - items
    if not error:
        return _flat(j, "partial eta squared", equal=not models)
    value = float(models / (k - 1) / (error / ((k - 1) * (j - 1))))
    matrix = t.matrix()
    epsilon, sphericity = _sphericity(matrix)
    df = tuple(parts * (epsilon if corrected else 1.0) for parts in (k - 1, (k - 1) * (j - 1)))
    residual = matrix - matrix.mean(axis=0) - matrix.mean(axis=1, keepdims=True) + matrix.mean()
    notes = (f"Greenhouse-Geisser epsilon {epsilon:.3g}{', both degrees of freedom times it' if corrected else ''}",)
    mean_error = float(error) / over**2 / ((k - 1) * (j - 1))
    part = float(models / (models + error))
    return Finding(
        **refer_statistic("F", value, *df),
        effect=Effect(name="partial eta squared", value=part, no_interval="none is customary"),
        n=j,
        checks=(normality(Exact.of(residual.ravel()), "residuals"), *(() if corrected else (sphericity,))),
        notes=(*notes, "the difference that could have been detected is one of two means"),
        least=least_student(math.sqrt(2 * mean_error / j), df[1], level),
    )


def _sphericity(matrix: Floats) -> tuple[float, Check]:
    """Greenhouse and Geisser's epsilon, and Mauchly's test of what it corrects."""
    j, k = matrix.shape
    covariance = np.atleast_2d(np.cov(matrix, rowvar=False))
    centred = covariance - covariance.mean(axis=0) - covariance.mean(axis=1, keepdims=True) + covariance.mean()
    assumes = "differences of any two models scatter alike"
    scale = float((centred**2).sum())
    epsilon = float(np.trace(centred)) ** 2 / ((k - 1) * scale) if scale else 1.0
    epsilon = min(max(epsilon, 1 / (k - 1)), 1.0)
    if k == 2:  # noqa: PLR2004  one difference is always like itself
        return 1.0, Check(assumes=assumes, holds=True, seen="two models have one difference")
    roots = np.linalg.eigvalsh(centred)[1:]
    if j <= k - 1 or roots.min() <= 0:
        return epsilon, Check(assumes=assumes, holds=None, seen="too few items to test it")
    d = k - 1
    log_w = float(np.log(roots).sum()) - d * math.log(float(roots.mean()))
    factor = 1 - (2 * d * d + d + 2) / (6 * d * (j - 1))
    tail = chi_squared(max(-(j - 1) * factor * log_w, 0.0), d * (d + 1) // 2 - 1)
    return epsilon, Check(assumes=assumes, holds=tail.p > 0.05, seen=f"Mauchly p {tail}")  # noqa: PLR2004


def _residuals(t: Groups) -> Check:
    centred = np.concatenate([x - x.mean() for x in t.arrays()])
    return normality(Exact.of(centred), "residuals")


def _flat(n: int, name: str, *, equal: bool) -> Finding:
    """No spread within: p = 1 where the means agree too, otherwise no number means anything."""
    told = f"{counted(n, 'value')} without any spread: the models have the same value everywhere"
    known = {"chance": CERTAIN, "notes": (told,)} if equal else {}
    return no_number(name, NO_SPREAD, "F", n=n, **known)
