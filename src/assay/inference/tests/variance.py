# SPDX-License-Identifier: Apache-2.0
"""Spread and shape: do values scatter alike, and do they look normal?"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

import numpy as np

from assay.core.errors import PlanError
from assay.core.traits import EXTENSION, RAINIO
from assay.core.values import Undefined
from assay.inference.declare import significance
from assay.inference.findings import Check, Effect, Finding, no_number, refer_statistic
from assay.inference.intervals.proportion import student_quantile
from assay.inference.tail_probabilities import CERTAIN, Tail, fisher_f
from assay.tally.real_values import Exact, Groups, Pairs, Sample

SHAPE_LEAST, SHAPE_MOST = 3, 5000
"""Royston's approximation of the Shapiro-Wilk p value holds between these sizes."""
HEAVY: Final = 6.0
"""Kurtosis from which a test of variances that assumes normal values misses its level; normal values have 3."""
FEW: Final = 20
"""Below this many values a passed check of normality says next to nothing."""
NO_SPREAD: Final = Undefined(reason="the values have no spread", code="zero-variance")
NONE_SCATTERS: Final = "no sample scatters, so there is no spread to compare"
ONE_SCATTERS: Final = "a sample has no spread, or a single value, while another scatters: no ratio of variances"
INDEPENDENT: Final = ("on values of the same items: use Pitman-Morgan", "on values from resampling one data set")
DESIGN: Final = Undefined(reason="for variances it depends on the shape of the values", code="design")
_equal_variances = partial(
    significance,
    asks="do independent samples scatter alike?",
    null="all variances are equal",
    effect="largest over smallest variance",
    assumes=("all values are independent", "values are normal"),
    never=INDEPENDENT,
)


@significance(
    title="F test of two variances",
    asks="do two independent normal samples scatter alike?",
    null="the variances are equal",
    effect="ratio of the variances",
    assumes=("all values are independent", "values are normal"),
    never=(*INDEPENDENT, "on values that are not normal"),
    source=RAINIO("F test"),
    spec="T-22",
    errata=("E-RAI-14", "E-RAI-15"),
)
def variance_f(t: Groups, *, level: float = 0.95) -> Finding:
    from scipy.special import fdtri

    need_groups(t, 2, 2)
    a, b = t.values
    checks = tuple(normality(one, f"values of {name}") for one, name in zip(t.values, t.models, strict=True))
    name = f"variance of {t.models[0]} over variance of {t.models[1]}"
    if not (a.squares and b.squares):  # one value has none
        return _flat(name, "F", t.n, ONE_SCATTERS if a.squares or b.squares else "")
    ratio, above, below = float(a.variance / b.variance), a.n - 1, b.n - 1
    upper = fisher_f(ratio, above, below)
    p = upper if upper.p <= 0.5 else fisher_f(1 / ratio, below, above)  # noqa: PLR2004  the smaller tail
    ends = (ratio / float(fdtri(above, below, (1 + level) / 2)), ratio * float(fdtri(below, above, (1 + level) / 2)))
    parts = refer_statistic("F", ratio, above, below) | {"chance": Tail.of(2 * p.p, p.log10 + math.log10(2))}
    effect = Effect.between(name, ratio, ends, level, "fisher f")
    return Finding(effect=effect, n=t.n, checks=checks, least=DESIGN, **parts)


@_equal_variances(
    title="Bartlett's test of equal variances",
    asks="do independent normal samples scatter alike?",
    never=(*INDEPENDENT, "on values that are not normal: it is not a remedy for that"),
    source=RAINIO("Bartlett's test"),
    spec="T-23",
    errata=("E-RAI-14",),
)
def bartlett(t: Groups, *, level: float = 0.95) -> Finding:  # noqa: ARG001  the finding is told at it
    k, df = len(t.values), t.n - len(t.values)
    if not all(one.squares for one in t.values):  # one value has none
        lost = ONE_SCATTERS if any(one.squares for one in t.values) else ""
        return _flat("largest over smallest variance", "chi-squared", t.n, lost)
    variances = [float(one.variance) for one in t.values]
    pooled = float(sum(one.squares for one in t.values) / df)
    top = df * math.log(pooled) - sum((one.n - 1) * math.log(v) for one, v in zip(t.values, variances, strict=True))
    under = 1 + (sum(1 / (one.n - 1) for one in t.values) - 1 / df) / (3 * (k - 1))
    value = max(top / under, 0.0)
    checks = tuple(normality(one, f"values of {m}") for one, m in zip(t.values, t.models, strict=True))
    return _spread(t, checks, **refer_statistic("chi-squared", value, k - 1))


@_equal_variances(
    title="Levene's test of equal variances, from the means",
    assumes=("all values are independent", "values are symmetric"),
    source=RAINIO("Levene's test"),
    spec="T-24",
)
def levene(t: Groups, *, level: float = 0.95) -> Finding:  # noqa: ARG001  the finding is told at it
    return _from_centre(t, [float(one.mean) for one in t.values])


@_equal_variances(
    title="Brown-Forsythe test of equal variances, from the medians",
    assumes=("all values are independent",),
    source=(RAINIO("Levene's test"), EXTENSION),
    spec="T-24",
    errata=("E-RAI-14",),
)
def brown_forsythe(t: Groups, *, level: float = 0.95) -> Finding:  # noqa: ARG001  the finding is told at it
    return _from_centre(t, [float(np.median(one)) for one in t.arrays()])


@significance(
    title="Pitman-Morgan test of equal variances of paired values",
    asks="do two models scatter alike over the same items?",
    null="the variances are equal",
    effect="ratio of the variances",
    assumes=("pairs are independent", "values are normal together"),
    never=("on values from resampling one data set",),
    source=(RAINIO("variances"), EXTENSION),
    spec="T-25",
    errata=("E-RAI-15",),
)
def pitman_morgan(t: Pairs, *, level: float = 0.95) -> Finding:
    name = f"variance of {t.models[0]} over variance of {t.models[1]}"
    n, df = t.n, t.n - 2
    if n < 3 and (t.a.squares or t.b.squares):  # noqa: PLR2004  n - 2 degrees of freedom
        return _flat(name, "t", n, "the test needs three pairs or more")
    if not (t.a.squares and t.b.squares):
        return _flat(name, "t", n, ONE_SCATTERS if t.a.squares or t.b.squares else "")
    a, b = t.a.squares, t.b.squares
    product = (a + b - t.difference.squares) / 2  # sum of cross products, exact
    free = float(a * b - product * product)
    ratio = float(a / b)
    if free <= 0:
        line = "the values of the models lie on one line"
        if ratio != 1:
            return _flat(name, "t", n, line)
        return _flat(name, "t", n, "").said(effect=Effect(name=name, value=1.0, no_interval=line), notes=())
    value = float(a - b) * math.sqrt(df) / (2 * math.sqrt(free))
    reach = 1 + 2 * student_quantile((1 + level) / 2, df) ** 2 * free / float(a * b) / df  # half of F + 1/F at the ends
    low, high = ratio / (reach + math.sqrt(reach**2 - 1)), ratio * (reach + math.sqrt(reach**2 - 1))
    return Finding(
        **refer_statistic("t", value, df),
        effect=Effect.between(name, ratio, (low, high), level, "pitman-morgan"),
        n=n,
        checks=tuple(_light_tails(one, f"values of {m}") for one, m in zip((t.a, t.b), t.models, strict=True)),
        least=DESIGN,
    )


def _light_tails(values: Exact, of: str) -> Check:
    """Whether values are about normal; of too many for Shapiro and Wilk, whether their tails are light enough."""
    check = normality(values, of)
    if check.holds is not None or values.n <= SHAPE_MOST:
        return check
    centred = values.floats() - values.floats().mean()
    kurtosis = float((centred**4).mean() / (centred**2).mean() ** 2)
    return Check(assumes=check.assumes, holds=kurtosis < HEAVY, seen=f"kurtosis {kurtosis:.3g}")


@significance(
    title="Shapiro-Wilk test of normality",
    asks="do the values look as if they came from a normal distribution?",
    null="the values are normal",
    effect="W, 1 for a perfectly normal sample",
    assumes=("values are independent", "3 to 5,000 values"),
    never=("as proof of normality in a small sample",),
    source=RAINIO("Shapiro-Wilk test"),
    spec="T-26",
)
def shapiro_wilk(t: Sample, *, level: float = 0.95) -> Finding:  # noqa: ARG001  the finding is told at it
    from scipy.stats import shapiro

    name, n = "W", t.values.n
    if not SHAPE_LEAST <= n <= SHAPE_MOST or not t.values.squares:
        reason = "all values are equal" if SHAPE_LEAST <= n <= SHAPE_MOST else f"{n:,} values; 3 to 5,000 are needed"
        lost = Undefined(reason=reason, code="too-few" if n < SHAPE_LEAST else "zero-variance")
        return no_number(name, lost, name, n=n, least=None)
    scipy_result = shapiro(t.values.floats())
    return Finding(
        chance=Tail.of(max(float(scipy_result.pvalue), 1e-19)),  # Royston's fit has no figures below
        effect=Effect(name=name, value=float(scipy_result.statistic), no_interval="none is customary"),
        statistic=float(scipy_result.statistic),
        statistic_name=name,
        n=n,
        notes=("with so few values a pass proves nothing",) if n < FEW else (),
        least=Undefined(reason="shapes other than normal have no one size", code="design"),
    )


def normality(values: Exact, of: str) -> Check:
    """Whether some values look normal, by Shapiro and Wilk at 5 %, and how skew they are."""
    found = shapiro_wilk.function(Sample(values=values))
    finding = found if not isinstance(found, tuple) else found[0]
    if finding.p is None:
        return Check(assumes=f"{of} are about normal", holds=None, seen=finding.reason or "")
    real = values.floats()
    centred = real - real.mean()
    skew = float((centred**3).mean() / (centred**2).mean() ** 1.5)
    seen = f"Shapiro-Wilk {finding.p_shown}, skewness {skew:.2f}"
    small = "; with so few values a pass proves nothing" if values.n < FEW else ""
    return Check(assumes=f"{of} are about normal", holds=finding.p > 0.05, seen=seen + small)  # noqa: PLR2004


def equal_spread(t: Groups) -> Check:
    """Whether independent groups scatter alike, by Brown and Forsythe at 5 %."""
    found = brown_forsythe(t)
    held = None if found.p is None else found.p > 0.05  # noqa: PLR2004
    return Check(assumes="the groups scatter alike", holds=held, seen=f"Brown-Forsythe {found.p_shown}")


def _from_centre(t: Groups, centres: list[float]) -> Finding:
    away = [np.abs(x - c) for x, c in zip(t.arrays(), centres, strict=True)]
    k, n = len(away), t.n
    means = [float(x.mean()) for x in away]
    grand = math.fsum(float(x.sum()) for x in away) / n
    between = math.fsum(len(x) * (m - grand) ** 2 for x, m in zip(away, means, strict=True))
    within = math.fsum(float(((x - m) ** 2).sum()) for x, m in zip(away, means, strict=True))
    if n <= k or not within:
        lost = "distances from the centre differ between samples and in none of them: their ratio has no end"
        return _flat("largest over smallest variance", "F", n, lost if between else "")
    value = (between / (k - 1)) / (within / (n - k))
    return _spread(t, **refer_statistic("F", value, k - 1, n - k))


def _spread(t: Groups, checks: tuple[Check, ...] = (), **parts: Any) -> Finding:  # noqa: ANN401  parts of a finding
    variances = [float(one.variance) for one in t.values if one.n > 1]
    size = max(variances) / min(variances) if min(variances) else math.inf
    effect = Effect(name="largest over smallest variance", value=size, no_interval="a ratio of extremes")
    return Finding(effect=effect, n=t.n, checks=checks, least=DESIGN, **parts)


def _flat(name: str, statistic: str, n: int, lost: str) -> Finding:
    """What is said where nothing scatters; where something does, why the test has no value."""
    if not lost:
        return no_number(name, NO_SPREAD, statistic, chance=CERTAIN, n=n, notes=(NONE_SCATTERS,))
    reason = Undefined(reason=lost, code="zero-variance")
    return no_number(name, reason, statistic, chance=reason, n=n)


def need_groups(t: Groups, least: int, most: int | None = None) -> None:
    """Refuse another number of groups than a test takes."""
    k = len(t.values)
    if k < least or (most is not None and k > most):
        what = f"the test takes {least} groups{' or more' if most is None else ''}, not {k}"
        raise PlanError("test-needs", what, fix="choose a test for this number of groups")
