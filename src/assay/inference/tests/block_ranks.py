# SPDX-License-Identifier: Apache-2.0
"""Three models or more compared by ranks within blocks: Friedman's test and what follows it."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import listed, quoted
from assay.core.traits import EXTENSION, RAINIO
from assay.core.values import Undefined
from assay.inference.declare import significance
from assay.inference.estimates import Interval
from assay.inference.findings import Check, Effect, Finding
from assay.inference.intervals.proportion import student_quantile
from assay.inference.power import least_normal, least_student
from assay.inference.resampling import SEED, stream
from assay.inference.tail_probabilities import (
    CERTAIN,
    Tail,
    chi_squared,
    fisher_f,
    normal,
    range_quantile,
    student,
    studentised_range,
)
from assay.tally.real_values import Blocks

if TYPE_CHECKING:
    from assay.core.arrays import Floats

SHUFFLES: Final = 9999
HELD: Final = 1 << 20
"""Random numbers held at a time."""
SMALL_J, SMALL_K = 10, 5
"""With fewer blocks or models the chi-squared form of Friedman's test is unreliable (Rainio et al. 2024)."""
TIED: Final = Undefined(reason="all models are tied in every block", code="all-tied")
SAME: Final = Undefined(reason="every block ranks the models alike, so F is infinite", code="overflow")
RESAMPLED: Final = ("on values from resampling one data set, unless the dependence is accepted and labelled",)
BLOCKED: Final = ("blocks are independent", "the values of a block come from the same item or data set")
RANKS: Final = "difference of two mean ranks, 1 being best"


_friedman_form = partial(
    significance,
    family="friedman",
    asks="do several models rank alike over the same items or data sets?",
    null="all models have the same distribution of ranks",
    effect="Kendall's W",
    assumes=BLOCKED,
    never=RESAMPLED,
)


@_friedman_form(
    title="Friedman's test",
    source=RAINIO("Friedman test"),
    spec="T-17",
    errata=("E-RAI-21", "E-RAI-18", "E-XS-11"),
)
def friedman(t: Blocks, *, level: float = 0.95) -> Finding:
    ranks = ranked(t)
    value = friedman_statistic(ranks)
    if value is None:
        return _all_tied(t, ranks, "chi-squared", level)
    return _friedman(t, ranks, chi_squared(value, t.k - 1), value, name="chi-squared", df=(t.k - 1,), level=level)


@_friedman_form(
    title="Friedman's test by random permutation",
    null="within a block every order of the models is equally likely",
    source=(RAINIO("Friedman test"), EXTENSION),
    spec="T-17",
    errata=("E-RAI-21",),
)
def friedman_permutation(t: Blocks, *, level: float = 0.95, draws: int = SHUFFLES, seed: int = SEED) -> Finding:
    ranks = ranked(t)
    value = friedman_statistic(ranks)
    if value is None:
        return _all_tied(t, ranks, "chi-squared", level)
    found = _friedman(t, ranks, _shuffled(ranks, draws, seed), value, name="chi-squared", df=(t.k - 1,), level=level)
    return found.said(notes=(*found.notes, f"{draws:,} random orders within blocks, seed {seed}"))


@_friedman_form(
    title="Iman-Davenport test",
    source=RAINIO("Iman-Davenport"),
    spec="T-18",
    errata=("E-RAI-21", "E-XS-11"),
)
def iman_davenport(t: Blocks, *, level: float = 0.95, draws: int = SHUFFLES, seed: int = SEED) -> Finding:
    ranks = ranked(t)
    value = friedman_statistic(ranks)
    j, k = t.j, t.k
    if value is None:
        return _all_tied(t, ranks, "F", level)
    df = (k - 1, (k - 1) * (j - 1))
    room = j * (k - 1) - value
    if room <= 1e-9 * j * (k - 1):
        found = _friedman(t, ranks, _shuffled(ranks, draws, seed), value, name="F", df=df, level=level)
        told = f"every block ranks the models alike, so p is that of {draws:,} random orders, seed {seed}"
        return found.said(statistic=SAME, notes=(*found.notes, told))
    f = (j - 1) * value / room
    return _friedman(t, ranks, fisher_f(f, *df), f, name="F", df=df, level=level)


@significance(
    title="Nemenyi's comparison of all pairs",
    asks="which models differ in their mean rank?",
    null="the two mean ranks are equal",
    effect=RANKS,
    assumes=BLOCKED,
    never=RESAMPLED,
    source=EXTENSION,
    spec="T-19",
)
def nemenyi(t: Blocks, *, level: float = 0.95) -> tuple[Finding, ...]:
    means, error = ranked(t).mean(axis=0), _rank_error(t)
    critical = critical_difference(t, level)
    findings = []
    for a, b in combinations(range(t.k), 2):
        gap = float(means[a] - means[b])
        findings.append(
            _pair(
                t,
                (a, b),
                studentised_range(math.sqrt(2) * abs(gap) / error, t.k),
                gap,
                critical,
                method="nemenyi",
                level=level,
            ).said(
                statistic=math.sqrt(2) * abs(gap) / error,
                statistic_name="q",
                notes=(f"p holds for all {t.k * (t.k - 1) // 2} pairs together",),
                least=critical + least_normal(error, 0.5) - least_normal(error, 0.5, 0.5),
            )
        )
    return tuple(findings)


@significance(
    title="Conover's comparison of all pairs after Friedman's test",
    asks="which models differ in their mean rank?",
    null="the two mean ranks are equal",
    effect=RANKS,
    assumes=(*BLOCKED, "Friedman's test was significant"),
    never=RESAMPLED,
    source=EXTENSION,
    spec="T-20",
)
def conover(t: Blocks, *, level: float = 0.95) -> tuple[Finding, ...]:
    ranks = ranked(t)
    j, k = ranks.shape
    sums, df = ranks.sum(axis=0), (j - 1) * (k - 1)
    a, c = float((ranks**2).sum()), j * k * (k + 1) ** 2 / 4
    t1 = (k - 1) * float(((sums - j * (k + 1) / 2) ** 2).sum()) / (a - c) if a > c else 0.0
    error = math.sqrt(max(2 * j * (a - c) / df * (1 - t1 / (j * (k - 1))), 0.0)) if df else 0.0
    findings = []
    for x, y in combinations(range(k), 2):
        gap = float(sums[x] - sums[y])
        if error <= 1e-9 * max(1.0, abs(gap)):
            lost = SAME if gap else TIED
            findings.append(
                _pair(t, (x, y), SAME if gap else CERTAIN, gap / j, None, method="", level=level).said(
                    statistic=lost, least=lost
                )
            )
            continue
        reach = student_quantile(df, (1 + level) / 2) * error / j
        findings.append(
            _pair(t, (x, y), student(gap / error, df), gap / j, reach, method="conover", level=level).said(
                statistic=gap / error, statistic_name="t", df=(df,), least=least_student(error / j, df, level)
            )
        )
    return tuple(findings)


@significance(
    title="Mean ranks against a control",
    asks="which models differ in their mean rank from one that was named beforehand?",
    null="the mean rank is that of the control",
    effect=RANKS,
    assumes=BLOCKED,
    never=RESAMPLED,
    source=EXTENSION,
    spec="T-19",
)
def against_control(t: Blocks, *, control: str, level: float = 0.95) -> tuple[Finding, ...]:
    if control not in t.models:
        raise PlanError(
            "option-unknown", f"there is no model {quoted(control)}", known=listed(t.models), fix="name one of them"
        )
    means, error, at = ranked(t).mean(axis=0), _rank_error(t), t.models.index(control)
    findings = []
    for a in range(t.k):
        if a != at:
            gap = float(means[a] - means[at])
            reach = least_normal(error, level, 0.5)
            findings.append(
                _pair(t, (a, at), normal(gap / error), gap, reach, method="normal", level=level).said(
                    statistic=gap / error, statistic_name="z", least=least_normal(error, level)
                )
            )
    return tuple(findings)


def ranked(t: Blocks) -> Floats:
    """Ranks within each block, 1 being best, ties sharing the mean."""
    from scipy.stats import rankdata

    if t.k < 2:  # noqa: PLR2004  nothing to rank
        raise PlanError("test-needs", "ranks need two models at least", fix="give more models")
    values = t.matrix()
    found: Floats = rankdata(values if t.lower_is_better else -values, axis=1)
    return found


def friedman_statistic(ranks: Floats) -> float | None:
    """Friedman's chi-squared with its tie correction; None where everything is tied."""
    j, k = ranks.shape
    spread = float((ranks**2).sum()) - j * k * (k + 1) ** 2 / 4
    if spread <= 1e-9 * j:
        return None
    sums = ranks.sum(axis=0)
    return float((k - 1) * ((sums - j * (k + 1) / 2) ** 2).sum() / spread)


def critical_difference(t: Blocks, level: float) -> float:
    """How far two mean ranks must lie apart by Nemenyi."""
    return range_quantile(level, t.k) / math.sqrt(2) * _rank_error(t)


def _rank_error(t: Blocks) -> float:
    return math.sqrt(t.k * (t.k + 1) / (6 * t.j))


def _shuffled(ranks: Floats, draws: int, seed: int) -> Tail:
    rng, observed = stream(seed), float((ranks.sum(axis=0) ** 2).sum())
    step, as_far = max(1, HELD // ranks.size), 0
    for start in range(0, draws, step):
        many = np.broadcast_to(ranks, (min(step, draws - start), *ranks.shape))
        sums = rng.permuted(many, axis=2).sum(axis=1)
        as_far += int(((sums**2).sum(axis=1) >= observed * (1 - 1e-12)).sum())
    return Tail.of((1 + as_far) / (1 + draws))


def _friedman(
    t: Blocks, ranks: Floats, chance: Tail, value: float, *, name: str, df: tuple[float, ...], level: float
) -> Finding:
    chi = friedman_statistic(ranks) or 0.0
    means = ranks.mean(axis=0)
    return Finding(
        chance=chance,
        effect=Effect(name="Kendall's W", value=chi / (t.j * (t.k - 1)), no_interval="none is customary"),
        statistic=value,
        statistic_name=name,
        df=df,
        n=t.j,
        counts={f"mean rank of {m}": round(float(r), 6) for m, r in zip(t.models, means, strict=True)},
        checks=(
            Check(
                assumes="enough blocks and models for the approximation",
                holds=t.j >= SMALL_J or t.k >= SMALL_K,
                seen=f"{t.j} {t.unit}s, {t.k} models",
            ),
        ),
        notes=("the difference that could have been detected is one of mean ranks",),
        least=critical_difference(t, level),
    )


def _all_tied(t: Blocks, ranks: Floats, name: str, level: float) -> Finding:
    found = _friedman(t, ranks, CERTAIN, 0.0, name=name, df=(), level=level)
    return found.said(statistic=TIED, notes=("all models are tied in every block",))


def _pair(
    t: Blocks,
    at: tuple[int, int],
    chance: Tail | Undefined,
    gap: float,
    reach: float | None,
    *,
    method: str,
    level: float,
) -> Finding:
    a, b = at
    interval = Interval(low=gap - reach, high=gap + reach, level=level, method=method) if reach is not None else None
    return Finding(
        chance=chance,
        effect=Effect(
            name=f"mean rank of {t.models[a]} minus {t.models[b]}, 1 being best",
            value=gap,
            interval=interval,
            no_interval=None if interval else "the ranks do not vary",
        ),
        statistic=gap,
        statistic_name="difference of mean ranks",
        models=(t.models[a], t.models[b]),
        n=t.j,
    )
