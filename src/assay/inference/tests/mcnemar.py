# SPDX-License-Identifier: Apache-2.0
"""McNemar's test in its four forms, the intervals that go with it, and the same question asked channel by channel."""

from __future__ import annotations

import math
from functools import partial
from typing import Final

from assay.core.text import counted
from assay.core.traits import EXTENSION, RAINIO, TS4213
from assay.core.values import Undefined
from assay.inference.declare import significance
from assay.inference.estimates import Interval
from assay.inference.findings import Effect, Finding, Real
from assay.inference.intervals.proportion import clopper_pearson, normal_quantile, outermost, recovered, wilson
from assay.inference.power import least_disagreement
from assay.inference.tail_probabilities import CERTAIN, Alternative, Tail, binomial, chi_squared, mid_binomial, normal
from assay.tally.contingency_tables import Channels, Outcomes

NO_DISPUTE: Final = Undefined(reason="the models never disagree", code="no-discordant-pairs")
POWERLESS: Final = "the models are right on exactly the same rows, so the test has no power here"
NO_ROWS: Final = Undefined(reason="there are no rows", code="n=0")
ASKS: Final = "are A and B right equally often on the same rows?"
EFFECT: Final = "share only A gets right, minus share only B gets right"
ASSUMES: Final = ("rows are independent", "both models were run on the same rows")
NEVER: Final = ("on folds pooled from several training runs", "on models tested on different rows", "on totals only")
_mcnemar = partial(
    significance,
    family="mcnemar",
    asks=ASKS,
    null="P(only A right) = P(only B right)",
    effect=EFFECT,
    assumes=ASSUMES,
    never=NEVER,
    source=(TS4213("7.9"), RAINIO("McNemar's test")),
    spec="T-14",
)


@_mcnemar(
    title="McNemar's test, exact form",
    errata=("E-RAI-03", "E-RAI-16", "E-TS-30", "E-XS-02"),
)
def mcnemar_exact(t: Outcomes, *, level: float = 0.95, alternative: Alternative = "two-sided") -> Finding:
    chance = binomial(t.only_a, t.disagree, alternative) if t.disagree else CERTAIN
    return _finding(t, chance, float(t.only_a), "rows only A gets right", level=level, alternative=alternative)


@_mcnemar(
    title="McNemar's test, mid-p form",
    source=(TS4213("7.9"), EXTENSION),
    errata=("E-RAI-03",),
)
def mcnemar_midp(t: Outcomes, *, level: float = 0.95) -> Finding:
    chance = mid_binomial(t.only_a, t.disagree) if t.disagree else CERTAIN
    return _finding(t, chance, float(t.only_a), "rows only A gets right", level=level)


@_mcnemar(
    title="McNemar's test, chi-squared with continuity correction",
    assumes=(*ASSUMES, "25 rows in dispute, at least"),
    errata=("E-RAI-03", "E-XS-02"),
)
def mcnemar_continuity(t: Outcomes, *, level: float = 0.95) -> Finding:
    if not t.disagree:
        return _finding(t, CERTAIN, NO_DISPUTE, "chi-squared", level=level, df=(1,))
    value = max(abs(t.only_a - t.only_b) - 1, 0) ** 2 / t.disagree
    return _finding(t, chi_squared(value, 1), value, "chi-squared", level=level, df=(1,))


@_mcnemar(
    title="McNemar's test, plain chi-squared",
    assumes=(*ASSUMES, "25 rows in dispute, at least"),
    errata=("E-RAI-03",),
)
def mcnemar_plain(t: Outcomes, *, level: float = 0.95) -> Finding:
    if not t.disagree:
        return _finding(t, CERTAIN, NO_DISPUTE, "chi-squared", level=level, df=(1,))
    value = (t.only_a - t.only_b) ** 2 / t.disagree
    return _finding(t, chi_squared(value, 1), value, "chi-squared", level=level, df=(1,))


@significance(
    title="Difference of two shares on the same rows, normal approximation",
    asks=ASKS,
    null="the two shares of right rows are equal",
    effect=EFFECT,
    assumes=(*ASSUMES, "many rows in dispute"),
    never=NEVER,
    source=TS4213("7.8"),
    spec="T-13",
    errata=("E-TS-20",),
)
def paired_shares(t: Outcomes, *, level: float = 0.95, alternative: Alternative = "two-sided") -> Finding:
    error = standard_error(t)
    if not t.disagree or not error:
        lost = NO_DISPUTE if not t.disagree else Undefined(reason="every row is in dispute", code="zero-variance")
        return _finding(t, CERTAIN if not t.disagree else lost, lost, "z", level=level, alternative=alternative)
    z = (t.only_a - t.only_b) / t.n / error
    return _finding(t, normal(z, alternative), z, "z", level=level, alternative=alternative)


@significance(
    title="Heterogeneity of the disagreements between channels",
    asks="is one model ahead by as much in every channel?",
    null="P(only A right | in dispute) is the same in every channel",
    effect="largest minus smallest difference of a channel",
    assumes=("rows are independent", "five rows in dispute expected in each cell"),
    source=(TS4213("5.3.8"), EXTENSION),
    spec="T-34",
)
def channel_heterogeneity(t: Channels, *, level: float = 0.95) -> Finding:  # noqa: ARG001  the finding is told at it
    used = {name: one for name, one in t.by.items() if one.disagree}
    spread = [(one.only_a - one.only_b) / one.n for one in t.by.values() if one.n]
    effect = Effect(
        name="largest minus smallest difference of a channel",
        value=max(spread) - min(spread) if spread else NO_ROWS,
        no_interval="a range of several differences",
        share=True,
    )
    counts = {
        f"{name}: only {t.models[i]} right": (one.only_a, one.only_b)[i] for name, one in t.by.items() for i in (0, 1)
    }
    total = sum(one.disagree for one in used.values())
    ahead = sum(one.only_a for one in used.values())
    notes: tuple[str, ...] = ()
    statistic: Real
    chance: Tail | Undefined
    if len(used) < 2 or ahead in (0, total):  # noqa: PLR2004  nothing to differ
        statistic = Undefined(
            reason="fewer than two channels have rows in dispute, or all fall one way", code="too-few"
        )
        chance = CERTAIN
        notes = ("the channels cannot differ here",)
    else:
        share = ahead / total
        statistic = sum(
            (one.only_a - one.disagree * share) ** 2 / (one.disagree * share * (1 - share)) for one in used.values()
        )
        chance = chi_squared(statistic, len(used) - 1)
        small = [name for name, one in used.items() if one.disagree * min(share, 1 - share) < 5]  # noqa: PLR2004  Cochran
        notes = (f"fewer than five expected in {counted(len(small), 'channel')}: read p with care",) if small else ()
    return Finding(
        chance=chance,
        effect=effect,
        statistic=statistic,
        statistic_name="chi-squared",
        df=(max(len(used) - 1, 0),),
        n=sum(one.n for one in t.by.values()),
        counts=counts,
        notes=notes,
        least=Undefined(reason="it depends on how the rows spread over the channels", code="design"),
    )


def standard_error(t: Outcomes) -> float:
    """Of the difference of the two shares."""
    return math.sqrt(t.disagree - (t.only_a - t.only_b) ** 2 / t.n) / t.n if t.n else 0.0


def newcombe(t: Outcomes, level: float) -> tuple[float, float]:
    """Interval of a difference of shares on the same rows (Newcombe 1998, method 10, built from two Wilson intervals).

    >>> [round(x, 3) for x in newcombe(Outcomes(both=212, only_a=19, only_b=5, neither=22), 0.95)]
    [0.017, 0.094]
    """
    n, a, b = t.n, t.both + t.only_a, t.both + t.only_b
    margins = a * (n - a) * b * (n - b)
    product = t.both * t.neither - t.only_a * t.only_b
    corrected = max(product - n / 2, 0.0) if product > 0 else float(product)
    phi = corrected / math.sqrt(margins) if margins else 0.0
    low, high = recovered(a / n, wilson(a, n, level), b / n, wilson(b, n, level), phi)
    return max(low, -1.0), min(high, 1.0)


def difference(t: Outcomes, level: float) -> Effect:
    """The share A gets right minus the share B gets right, with Newcombe's interval."""
    if not t.n:
        return Effect(name=f"{t.about}, {t.models[0]} minus {t.models[1]}", value=NO_ROWS, share=True)
    low, high = newcombe(t, level)
    return Effect(
        name=f"{t.about}, {t.models[0]} minus {t.models[1]}",
        value=(t.only_a - t.only_b) / t.n,
        interval=Interval(low=low, high=high, level=level, method="newcombe paired"),
        share=True,
    )


def odds(t: Outcomes, level: float) -> Effect:
    """Rows only A gets right over rows only B gets right, with the exact interval of their share."""
    name = f"odds that {t.models[0]} is the right one where one is"
    if not t.disagree:
        return Effect(name=name, value=NO_DISPUTE)
    low, high = clopper_pearson(t.only_a, t.disagree, level)
    ends = [share / (1 - share) if share < 1 else math.inf for share in (low, high)]
    value = t.only_a / t.only_b if t.only_b else math.inf
    interval = Interval(low=ends[0], high=ends[1], level=level, method="clopper-pearson of the share")
    return Effect(name=name, value=value, interval=interval)


def _finding(
    t: Outcomes,
    chance: Tail | Undefined,
    statistic: Real,
    name: str,
    *,
    level: float,
    alternative: Alternative = "two-sided",
    df: tuple[float, ...] = (),
) -> Finding:
    if not t.n:
        chance, statistic = NO_ROWS, NO_ROWS
    elif not t.disagree:
        statistic = NO_DISPUTE
    return Finding(
        chance=chance,
        effect=difference(t, level),
        statistic=statistic,
        statistic_name=name,
        df=df,
        about=t.about,
        n=t.n,
        alternative=alternative,
        counts=t.counts,
        more=(odds(t, level),),
        notes=(POWERLESS,) if t.n and not t.disagree else (),
        least=least_disagreement(t.disagree, t.n, level),
    )


def test_outcomes(t: Outcomes, level: float) -> Finding:
    """McNemar's test in its default form, mid-p."""
    return mcnemar_midp(t, level=level).said(chosen=f"{t.among}: {t.disagree:,} disagree; the mid-p form is used")


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

    low = outermost(seen, -1.0, lambda gap: reached(gap, z) <= 0)
    return low, outermost(seen, 1.0, lambda gap: reached(gap, -z) >= 0)
