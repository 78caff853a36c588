# SPDX-License-Identifier: Apache-2.0
"""Labels of models on the same rows: McNemar's test in four forms, channel by channel, of several, and by class."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

import numpy as np

from assay.core.text import counted
from assay.core.traits import EXTENSION, RAINIO, TS4213
from assay.core.values import Undefined
from assay.inference.declare import significance
from assay.inference.findings import Check, Effect, Finding, Real, refer_statistic
from assay.inference.intervals.proportion import clopper_pearson, normal_quantile, outermost, recovered, wilson
from assay.inference.power import least_chi_squared, least_disagreement
from assay.inference.tail_probabilities import CERTAIN, Alternative, binomial, mid_binomial
from assay.tally.contingency_tables import Calls, Channels, Outcomes, Patterns

NO_DISPUTE: Final = Undefined(reason="the models never disagree", code="no-discordant-pairs")
ALL_DISPUTED: Final = Undefined(reason="every row is in dispute", code="zero-variance")
SAME_CALLS: Final = "the models call every row the same"
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
LARGE: Final = "rows in dispute times models is 24 or more"
MANY: Final = 24
"""Rows in dispute times models from which the chi-squared form of Cochran's Q is trusted (Tate and Brown 1970)."""
_of_calls = partial(
    significance,
    effect="largest difference between the shares of one class called by A and by B",
    assumes=("rows are independent", "many rows called differently"),
    never=("as a test of accuracy: use McNemar's test on right and wrong",),
    source=(TS4213("7.9"), EXTENSION),
    spec="T-35",
)


@_mcnemar(
    title="McNemar's test, exact form",
    errata=("E-RAI-03", "E-RAI-16", "E-TS-30", "E-XS-02"),
)
def mcnemar_exact(t: Outcomes, *, level: float = 0.95, alternative: Alternative = "two-sided") -> Finding:
    chance = binomial(t.only_a, t.disagree, alternative)
    return _finding(t, level, chance=chance, alternative=alternative)


@_mcnemar(
    title="McNemar's test, mid-p form",
    source=(TS4213("7.9"), EXTENSION),
    errata=("E-RAI-03",),
)
def mcnemar_midp(t: Outcomes, *, level: float = 0.95) -> Finding:
    return _finding(t, level, chance=mid_binomial(t.only_a, t.disagree))


@_mcnemar(
    title="McNemar's test, chi-squared with continuity correction",
    assumes=(*ASSUMES, "25 rows in dispute, at least"),
    errata=("E-RAI-03", "E-XS-02"),
)
def mcnemar_continuity(t: Outcomes, *, level: float = 0.95) -> Finding:
    return _chi_squared(t, max(abs(t.only_a - t.only_b) - 1, 0), level)


@_mcnemar(
    title="McNemar's test, plain chi-squared",
    assumes=(*ASSUMES, "25 rows in dispute, at least"),
    errata=("E-RAI-03",),
)
def mcnemar_plain(t: Outcomes, *, level: float = 0.95) -> Finding:
    return _chi_squared(t, t.only_a - t.only_b, level)


def _chi_squared(t: Outcomes, gap: int, level: float) -> Finding:
    value = gap**2 / t.disagree if t.disagree else NO_DISPUTE
    return _finding(t, level, **refer_statistic("chi-squared", value, 1))


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
    z: Real = (t.only_a - t.only_b) / t.n / error if error else ALL_DISPUTED
    return _finding(t, level, **refer_statistic("z", z, alternative=alternative, differs=True))


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
    statistic: Real
    if len(used) < 2 or ahead in (0, total):  # noqa: PLR2004  nothing to differ
        reason = "fewer than two channels have rows in dispute, or all fall one way"
        statistic, note = Undefined(reason=reason, code="too-few"), "the channels cannot differ here"
    else:
        share = ahead / total
        statistic = sum(
            (one.only_a - one.disagree * share) ** 2 / (one.disagree * share * (1 - share)) for one in used.values()
        )
        small = [name for name, one in used.items() if one.disagree * min(share, 1 - share) < 5]  # noqa: PLR2004  Cochran
        note = f"fewer than five expected in {counted(len(small), 'channel')}: read p with care" if small else ""
    return Finding(
        **refer_statistic("chi-squared", statistic, max(len(used) - 1, 0)),
        effect=effect,
        n=sum(one.n for one in t.by.values()),
        counts=counts,
        notes=(note,) if note else (),
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
    name = f"{t.about}, {t.models[0]} minus {t.models[1]}"
    if not t.n:
        return Effect(name=name, value=NO_ROWS, share=True)
    gap = (t.only_a - t.only_b) / t.n
    return Effect.between(name, gap, newcombe(t, level), level, "newcombe paired", share=True)


def odds(t: Outcomes, level: float) -> Effect:
    """Rows only A gets right over rows only B gets right, with the exact interval of their share."""
    name = f"odds that {t.models[0]} is the right one where one is"
    if not t.disagree:
        return Effect(name=name, value=NO_DISPUTE)
    shares = clopper_pearson(t.only_a, t.disagree, level)
    low, high = (share / (1 - share) if share < 1 else math.inf for share in shares)
    value = t.only_a / t.only_b if t.only_b else math.inf
    return Effect.between(name, value, (low, high), level, "clopper-pearson of the share")


def _finding(t: Outcomes, level: float, **parts: Any) -> Finding:  # noqa: ANN401  parts of a finding
    parts = {"statistic": float(t.only_a), "statistic_name": "rows only A gets right", **parts}
    if not t.disagree:
        parts |= {"chance": CERTAIN, "statistic": NO_DISPUTE} if t.n else {"chance": NO_ROWS, "statistic": NO_ROWS}
    return Finding(
        **parts,
        effect=difference(t, level),
        about=t.about,
        n=t.n,
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


@significance(
    title="Cochran's Q test",
    asks="are several models right equally often on the same rows?",
    null="every model is right with the same chance",
    effect="largest minus smallest share of right rows",
    assumes=("rows are independent", "all models were run on the same rows", "many rows in dispute"),
    never=("on models tested on different rows",),
    source=(TS4213("7.9"), EXTENSION),
    spec="T-16",
)
def cochran_q(t: Patterns, *, level: float = 0.95) -> Finding:
    k, right = len(t.models), t.right
    disputed = {key: n for key, n in t.counts.items() if 0 < sum(key) < k}
    dispute = sum(disputed.values())
    shares = [x / t.n for x in right] if t.n else []
    rows = sum(sum(key) * n for key, n in t.counts.items())
    squares = sum(sum(key) ** 2 * n for key, n in t.counts.items())
    under = k * rows - squares
    lost = NO_DISPUTE if t.n else NO_ROWS
    value = (k - 1) * (k * sum(x * x for x in right) - sum(right) ** 2) / under if under else lost
    return Finding(
        **refer_statistic("Q", value, k - 1),
        effect=Effect(
            name=f"largest minus smallest {t.about}",
            value=max(shares) - min(shares) if shares else NO_ROWS,
            no_interval="see the differences of the pairs",
            share=True,
        ),
        n=t.n,
        counts={**{f"{name} right": x for name, x in zip(t.models, right, strict=True)}, "rows in dispute": dispute},
        checks=(Check(assumes=LARGE, holds=dispute * k >= MANY, seen=f"{dispute:,} rows in dispute, {k} models"),),
        notes=("all models are right on exactly the same rows",) if t.n and not dispute else (),
        least=least_disagreement(max((one.disagree for one in t.pairs()), default=0), t.n, level),
    )


@_of_calls(
    title="Bowker's test of symmetry",
    asks="where A and B call a row differently, do the swaps go both ways equally often?",
    null="P(A calls i, B calls j) = P(A calls j, B calls i) for all classes",
)
def bowker(t: Calls, *, level: float = 0.95) -> Finding:
    value, pairs = 0.0, 0
    for i, row in enumerate(t.rows):
        for j in range(i + 1, len(row)):
            there, back = row[j], t.rows[j][i]
            if there + back:
                value += (there - back) ** 2 / (there + back)
                pairs += 1
    return _labels(t, value, pairs, level)


@_of_calls(
    title="Stuart-Maxwell test of marginal homogeneity",
    also=("marginal homogeneity",),
    asks="do A and B call every class equally often?",
    null="P(A calls i) = P(B calls i) for every class",
    errata=("E-TS-30",),
)
def stuart_maxwell(t: Calls, *, level: float = 0.95) -> Finding:
    cells = np.array(t.rows, dtype=np.float64)
    gap = cells.sum(axis=1) - cells.sum(axis=0)
    moves = cells + cells.T
    np.fill_diagonal(moves, 0.0)
    used = moves.sum(axis=1) > 0
    if not used.any():
        return _labels(t, 0.0, 0, level)
    spread = np.diag(moves.sum(axis=1)) - moves
    # Rows and columns of each connected set of classes add up to zero, so the rank is what counts, not K - 1.
    inverse, rank = np.linalg.pinv(spread, hermitian=True), int(np.linalg.matrix_rank(spread, hermitian=True))
    return _labels(t, float(gap @ inverse @ gap), rank, level)


def _labels(t: Calls, value: float, df: int, level: float) -> Finding:
    rows, n = np.array(t.rows, dtype=np.float64), t.n
    gaps = (rows.sum(axis=1) - rows.sum(axis=0)) / n if n else np.zeros(1)
    worst = int(np.argmax(np.abs(gaps)))
    lost = Undefined(reason=SAME_CALLS, code="no-discordant-pairs") if n else NO_ROWS
    return Finding(
        **refer_statistic("chi-squared", value if df else lost, df),
        effect=Effect(
            name=f"share called {t.labels[worst]!s}, {t.models[0]} minus {t.models[1]}",
            value=float(gaps[worst]) if n else NO_ROWS,
            no_interval="the largest of several differences",
            share=True,
        ),
        n=n,
        counts={"called differently": n - int(np.trace(rows))},
        notes=(SAME_CALLS,) if n and not df else (),
        least=min(1.0, least_chi_squared(df, n, level) * math.sqrt((n - np.trace(rows)) / n)) if df else lost,
    )
