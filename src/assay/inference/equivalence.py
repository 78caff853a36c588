# SPDX-License-Identifier: Apache-2.0
"""Good enough on purpose: not worse by more than a margin, or equal within one, stated beforehand."""

from __future__ import annotations

import math
from typing import Final

from assay.core.errors import PlanError
from assay.core.text import figure
from assay.core.traits import EXTENSION, Source
from assay.core.values import Undefined
from assay.inference.declare import significance
from assay.inference.delong import areas, pair
from assay.inference.findings import Effect, Finding, Real
from assay.inference.mcnemar import difference
from assay.inference.means import paired_t
from assay.inference.power import least_normal, least_student
from assay.inference.proportion import HALVINGS, normal_quantile
from assay.inference.tails import Tail, normal, student
from assay.tally.outcomes import Outcomes
from assay.tally.pairedscores import PairedScores
from assay.tally.samples import Pairs

SOURCE: Final = (Source("Nam 1997; Tango 1998", "score test of paired shares"), EXTENSION)
NOT_WORSE: Final = "is A not worse than B by the margin?"
WORSE: Final = "A is worse than B by the margin or more"
ALIKE: Final = "are A and B equal within the margin?"
APART: Final = "A and B differ by the margin or more"
ROWS: Final = ("rows are independent", "the margin was stated before the rows were seen")


@significance(
    title="Non-inferiority of a share on the same rows (score test)",
    family="non-inferiority",
    asks=NOT_WORSE,
    null=WORSE,
    effect="share only A gets right, minus share only B gets right",
    assumes=ROWS,
    source=SOURCE,
    spec="ADD",
)
def share_non_inferiority(t: Outcomes, *, margin: float, level: float = 0.95) -> Finding:
    z = tango(t, -checked_margin(margin, 1.0))
    return _shares(t, z, normal(z, "greater") if not isinstance(z, Undefined) else z, margin, level)


@significance(
    title="Equivalence of two shares on the same rows (two one-sided score tests)",
    family="equivalence",
    also=("TOST of shares",),
    asks=ALIKE,
    null=APART,
    effect="share only A gets right, minus share only B gets right",
    assumes=ROWS,
    source=SOURCE,
    spec="ADD",
)
def share_equivalence(t: Outcomes, *, margin: float, level: float = 0.95) -> Finding:
    size = checked_margin(margin, 1.0)
    below, above = tango(t, -size), tango(t, size)
    if isinstance(below, Undefined) or isinstance(above, Undefined):
        return _shares(t, below, Undefined(reason="there are no rows", code="n=0"), margin, level)
    chance = max(normal(below, "greater"), normal(above, "less"), key=lambda tail: tail.p)
    return _shares(t, min(below, -above), chance, margin, level)


@significance(
    title="Non-inferiority of a mean over the same items (t test)",
    family="non-inferiority",
    asks=NOT_WORSE,
    null=WORSE,
    effect="mean of A minus B",
    assumes=("items are independent", "differences are about normal", ROWS[1]),
    never=("on values from resampling one data set",),
    source=EXTENSION,
    spec="ADD",
)
def mean_non_inferiority(t: Pairs, *, margin: float, level: float = 0.95) -> Finding:
    return _means(t, margin, level, both=False)


@significance(
    title="Equivalence of two means over the same items (two one-sided t tests)",
    family="equivalence",
    also=("TOST",),
    asks=ALIKE,
    null=APART,
    effect="mean of A minus B",
    assumes=("items are independent", "differences are about normal", ROWS[1]),
    never=("on values from resampling one data set",),
    source=EXTENSION,
    spec="ADD",
)
def mean_equivalence(t: Pairs, *, margin: float, level: float = 0.95) -> Finding:
    return _means(t, margin, level, both=True)


@significance(
    title="Non-inferiority of an area under the ROC curve (DeLong)",
    family="non-inferiority",
    asks=NOT_WORSE,
    null=WORSE,
    effect="AUROC of A minus AUROC of B",
    assumes=ROWS,
    source=(Source("DeLong et al. 1988", "eq. 5"), EXTENSION),
    spec="ADD",
)
def auroc_non_inferiority(t: PairedScores, *, margin: float, level: float = 0.95) -> Finding:
    return _areas(t, margin, level, both=False)


@significance(
    title="Equivalence of two areas under the ROC curve (DeLong, two one-sided tests)",
    family="equivalence",
    asks=ALIKE,
    null=APART,
    effect="AUROC of A minus AUROC of B",
    assumes=ROWS,
    source=(Source("DeLong et al. 1988", "eq. 5"), EXTENSION),
    spec="ADD",
)
def auroc_equivalence(t: PairedScores, *, margin: float, level: float = 0.95) -> Finding:
    return _areas(t, margin, level, both=True)


def tango(t: Outcomes, gap: float) -> Real:
    """How many standard errors the difference lies above an assumed one, whose chances are fitted to the rows.

    >>> round(tango(Outcomes(both=43, only_a=0, only_b=1, neither=0), -0.1), 2)
    1.71
    """
    n, b, c = t.n, t.only_a, t.only_b
    if not n:
        return Undefined(reason="there are no rows", code="n=0")
    # b - c has mean n gap and variance n (2 q + gap - gap^2), q the fitted chance that only B is right.
    middle, last = -b - c + (2 * n - b + c) * gap, -c * gap * (1 - gap)
    q = (math.sqrt(max(middle * middle - 8 * n * last, 0.0)) - middle) / (4 * n)
    variance = n * (2 * q + gap * (1 - gap))
    if variance <= 0:
        return Undefined(reason="the difference has no variance", code="zero-variance")
    return (b - c - n * gap) / math.sqrt(variance)


def score_interval(t: Outcomes, level: float) -> tuple[float, float]:
    """Tango's interval of the difference: the gaps that the score test does not reject; wide where nothing is disputed.

    >>> low, high = score_interval(Outcomes(both=43, only_a=0, only_b=1, neither=0), 0.95)
    >>> round(low, 4), round(high, 4)
    (-0.1181, 0.0594)
    """
    z, seen = normal_quantile((1 + level) / 2), (t.only_a - t.only_b) / t.n

    def reached(gap: float, edge: float) -> float:
        found = tango(t, gap)
        return math.copysign(math.inf, seen - gap) if isinstance(found, Undefined) else found - edge

    ends = []
    for edge, far in ((z, -1.0), (-z, 1.0)):
        near, out = seen, far
        for _ in range(HALVINGS):
            middle = (near + out) / 2
            inside = reached(middle, edge) <= 0 if far < 0 else reached(middle, edge) >= 0
            near, out = (middle, out) if inside else (near, middle)
        ends.append((near + out) / 2)
    return ends[0], ends[1]


def checked_margin(margin: float, most: float) -> float:
    """A margin that is one: above 0, below what is possible."""
    if not isinstance(margin, (int, float)) or isinstance(margin, bool) or not 0 < margin < most:
        raise PlanError(
            "value-out-of-domain",
            f"margin = {margin!r} is not a margin",
            known=f"above 0{'' if math.isinf(most) else f', below {most:g}'}",
            fix="state the largest difference that does not matter, as a positive number",
        )
    return float(margin)


def margin_told(margin: float) -> str:
    """What a small p says there."""
    return f"margin {figure(margin)}; a small p speaks for the first model being good enough, not for a difference"


def _shares(t: Outcomes, statistic: Real, chance: Tail | Undefined, margin: float, level: float) -> Finding:
    error = math.sqrt(t.disagree) / t.n if t.n else 0.0
    return Finding(
        chance=chance,
        effect=difference(t, level),
        statistic=statistic,
        statistic_name="z",
        about=t.about,
        n=t.n,
        level=level,
        alternative="greater",
        counts=t.counts,
        notes=(margin_told(margin),),
        least=least_normal(error, 2 * level - 1)
        if error
        else Undefined(reason="the models never disagree", code="no-discordant-pairs"),
    )


def _means(t: Pairs, margin: float, level: float, *, both: bool) -> Finding:
    size, plain = checked_margin(margin, math.inf), paired_t(t, level=level)
    mean = float(t.difference.mean)
    if isinstance(plain.statistic, Undefined):
        inside = t.n > 1 and (-size < mean < size if both else mean > -size)
        reason = "the difference is the same everywhere" if t.n > 1 else "two items are needed"
        told = f"{reason}, and {'inside' if inside else 'outside'} the margin; no test can add to that"
        return plain.said(
            chance=Undefined(reason=told, code="zero-variance"), notes=(margin_told(size),), alternative="greater"
        )
    df = t.n - 1
    error = math.sqrt(float(t.difference.variance / t.n))
    below = student((mean + size) / error, df, "greater")
    chance, value = below, (mean + size) / error
    if both:
        above = student((mean - size) / error, df, "less")
        chance = max(below, above, key=lambda tail: tail.p)
        value = min(value, (size - mean) / error)
    return plain.said(
        chance=chance,
        statistic=value,
        alternative="greater",
        notes=(margin_told(size),),
        least=least_student(error, df, 2 * level - 1),
    )


def _areas(t: PairedScores, margin: float, level: float, *, both: bool) -> Finding:
    size = checked_margin(margin, 1.0)
    found = areas(t) if min(t.m, t.n) > 1 else None
    if found is None:
        lost = Undefined(reason="it needs two positives and two negatives", code="too-few")
        effect = Effect(name="difference of the areas", value=lost)
        return Finding(chance=lost, effect=effect, statistic=lost, statistic_name="z", about="auroc", level=level)
    plain = pair(found, 0, 1, level)
    gap, variance = found.gap(0, 1)
    if not variance:
        lost = Undefined(reason="the difference of the areas has no variance", code="zero-variance")
        return plain.said(chance=lost, statistic=lost, alternative="greater", notes=(margin_told(size),))

    def standing(gap: float, error: float) -> float:
        above = (gap + size) / error
        return min(above, (size - gap) / error) if both else above

    error = math.sqrt(variance)
    value = standing(gap, error)
    return plain.said(
        chance=normal(value, "greater"),
        statistic=value,
        alternative="greater",
        notes=(margin_told(size), *found.notes),
        least=least_normal(error, 2 * level - 1),
    )
