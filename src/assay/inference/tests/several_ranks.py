# SPDX-License-Identifier: Apache-2.0
"""Three models or more compared by ranks, within blocks or over independent groups, and what follows such a test."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import listed, quoted
from assay.core.traits import EXTENSION, RAINIO, TS4213
from assay.core.values import Undefined
from assay.inference.declare import significance
from assay.inference.findings import Check, Effect, Finding, Real, no_number, refer_statistic
from assay.inference.intervals.proportion import student_quantile
from assay.inference.power import least_normal, least_student
from assay.inference.resampling import SEED, stream
from assay.inference.tail_probabilities import (
    CERTAIN,
    Tail,
    chi_squared,
    fisher_f,
    range_quantile,
    studentised_range,
)
from assay.tally.real_values import Blocks, Groups

if TYPE_CHECKING:
    from assay.core.arrays import Floats

    Judged: TypeAlias = tuple[Tail, Real, tuple[str, ...]]

SHUFFLES: Final = 9999
HELD: Final = 1 << 20
"""Random numbers held at a time."""
ENOUGH: Final = "enough blocks and models for the approximation"
SMALL_J, SMALL_K = 10, 5
"""With fewer blocks or models the chi-squared form of Friedman's test is unreliable (Rainio et al. 2024)."""
TIED: Final = Undefined(reason="all models are tied in every block", code="all-tied")
SAME: Final = Undefined(reason="every block ranks the models alike, so F is infinite", code="overflow")
RESAMPLED: Final = ("on values from resampling one data set, unless the dependence is accepted and labelled",)
BLOCKED: Final = ("blocks are independent", "the values of a block come from the same item or data set")
_friedman_form = partial(
    significance,
    family="friedman",
    asks="do several models rank alike over the same items or data sets?",
    null="all models have the same distribution of ranks",
    effect="Kendall's W",
    assumes=BLOCKED,
    never=RESAMPLED,
)
ALL_EQUAL: Final = Undefined(reason="all values are equal", code="all-tied")
_pairs_of_blocks = partial(
    significance,
    asks="which models differ in their mean rank?",
    null="the two mean ranks are equal",
    effect="difference of two mean ranks, 1 being best",
    assumes=BLOCKED,
    never=RESAMPLED,
    source=EXTENSION,
    spec="T-19",
)
_of_groups = partial(
    significance,
    assumes=("all values are independent",),
    never=("on values of the same items, folds or data sets: those are paired",),
)


@_friedman_form(
    title="Friedman's test",
    source=RAINIO("Friedman test"),
    spec="T-17",
    errata=("E-RAI-21", "E-RAI-18", "E-XS-11"),
)
def friedman(t: Blocks, *, level: float = 0.95) -> Finding:
    return _friedman(t, "chi-squared", (t.k - 1,), level, lambda _, value: (chi_squared(value, t.k - 1), value, ()))


@_friedman_form(
    title="Friedman's test by random permutation",
    null="within a block every order of the models is equally likely",
    source=(RAINIO("Friedman test"), EXTENSION),
    spec="T-17",
    errata=("E-RAI-21",),
)
def friedman_permutation(t: Blocks, *, level: float = 0.95, draws: int = SHUFFLES, seed: int = SEED) -> Finding:
    told = (f"{draws:,} random orders within blocks, seed {seed}",)
    return _friedman(
        t, "chi-squared", (t.k - 1,), level, lambda ranks, value: (_shuffled(ranks, draws, seed), value, told)
    )


@_friedman_form(
    title="Iman-Davenport test",
    source=RAINIO("Iman-Davenport"),
    spec="T-18",
    errata=("E-RAI-21", "E-XS-11"),
)
def iman_davenport(t: Blocks, *, level: float = 0.95, draws: int = SHUFFLES, seed: int = SEED) -> Finding:
    j, k = t.j, t.k
    df = (k - 1, (k - 1) * (j - 1))

    def judge(ranks: Floats, value: float) -> Judged:
        room = j * (k - 1) - value
        if room <= 1e-9 * j * (k - 1):
            told = f"every block ranks the models alike, so p is that of {draws:,} random orders, seed {seed}"
            return _shuffled(ranks, draws, seed), SAME, (told,)
        f = (j - 1) * value / room
        return fisher_f(f, *df), f, ()

    return _friedman(t, "F", df, level, judge)


@_pairs_of_blocks(title="Nemenyi's comparison of all pairs")
def nemenyi(t: Blocks, *, level: float = 0.95) -> tuple[Finding, ...]:
    means, error, critical = ranked(t).mean(axis=0), _rank_error(t), critical_difference(t, level)
    least = critical + least_normal(error, 0.5) - least_normal(error, 0.5, 0.5)
    notes = (f"p holds for all {t.k * (t.k - 1) // 2} pairs together",)

    def compare(a: int, b: int) -> Finding:
        gap = float(means[a] - means[b])
        q = math.sqrt(2) * abs(gap) / error
        parts = {"chance": studentised_range(q, t.k), "statistic": q, "statistic_name": "q", "least": least}
        return _pair(t, (a, b), gap, critical, level, method="nemenyi", notes=notes, **parts)

    return tuple(compare(a, b) for a, b in combinations(range(t.k), 2))


@_pairs_of_blocks(
    title="Conover's comparison of all pairs after Friedman's test",
    assumes=(*BLOCKED, "Friedman's test was significant"),
    spec="T-20",
)
def conover(t: Blocks, *, level: float = 0.95) -> tuple[Finding, ...]:
    ranks = ranked(t)
    j, k = ranks.shape
    sums, df = ranks.sum(axis=0), (j - 1) * (k - 1)
    a, c = float((ranks**2).sum()), j * k * (k + 1) ** 2 / 4
    t1 = (k - 1) * float(((sums - j * (k + 1) / 2) ** 2).sum()) / (a - c) if a > c else 0.0
    error = math.sqrt(max(2 * j * (a - c) / df * (1 - t1 / (j * (k - 1))), 0.0)) if df else 0.0

    def compare(x: int, y: int) -> Finding:
        gap = float(sums[x] - sums[y])
        if error <= 1e-9 * max(1.0, abs(gap)):
            lost = SAME if gap else TIED
            parts = refer_statistic("difference of mean ranks", lost, differs=bool(gap))
            return _pair(t, (x, y), gap / j, None, level, least=lost, **parts)
        reach, least = student_quantile((1 + level) / 2, df) * error / j, least_student(error / j, df, level)
        parts = refer_statistic("t", gap / error, df)
        return _pair(t, (x, y), gap / j, reach, level, method="conover", least=least, **parts)

    return tuple(compare(x, y) for x, y in combinations(range(k), 2))


@_pairs_of_blocks(
    title="Mean ranks against a control",
    asks="which models differ in their mean rank from one that was named beforehand?",
    null="the mean rank is that of the control",
)
def against_control(t: Blocks, *, control: str, level: float = 0.95) -> tuple[Finding, ...]:
    if control not in t.models:
        raise PlanError(
            "option-unknown", f"there is no model {quoted(control)}", known=listed(t.models), fix="name one of them"
        )
    means, error, at = ranked(t).mean(axis=0), _rank_error(t), t.models.index(control)
    others = [a for a in range(t.k) if a != at]
    return tuple(_normal_pair(t, (a, at), float(means[a] - means[at]), error, level, "normal") for a in others)


def ranked(t: Blocks) -> Floats:
    """Ranks within each block, 1 being best, ties sharing the mean."""
    from scipy.stats import rankdata

    if t.k < 2:  # noqa: PLR2004  nothing to rank
        raise PlanError("test-needs", "ranks need two models at least", fix="give more models")
    values = t.matrix()
    return cast("Floats", rankdata(values if t.lower_is_better else -values, axis=1))


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
    t: Blocks, name: str, df: tuple[float, ...], level: float, judge: Callable[[Floats, float], Judged]
) -> Finding:
    """Ranks within blocks and their statistic, from which `judge` makes p, the statistic that is told, and notes."""
    ranks = ranked(t)
    value, means = friedman_statistic(ranks), ranks.mean(axis=0)
    notes: tuple[str, ...] = ("the difference that could have been detected is one of mean ranks",)
    chance, statistic, more = (CERTAIN, TIED, ()) if value is None else judge(ranks, value)
    return Finding(
        chance=chance,
        effect=Effect(name="Kendall's W", value=(value or 0.0) / (t.j * (t.k - 1)), no_interval="none is customary"),
        statistic=statistic,
        statistic_name=name,
        df=() if value is None else df,
        n=t.j,
        counts={f"mean rank of {m}": round(float(r), 6) for m, r in zip(t.models, means, strict=True)},
        checks=(Check(assumes=ENOUGH, holds=t.j >= SMALL_J or t.k >= SMALL_K, seen=f"{t.j} {t.unit}s, {t.k} models"),),
        notes=(TIED.reason,) if value is None else (*notes, *more),
        least=critical_difference(t, level),
    )


def _pair(
    t: Blocks | Groups,
    at: tuple[int, int],
    gap: float,
    reach: float | None,
    level: float,
    *,
    method: str = "",
    **parts: Any,  # noqa: ANN401  parts of a finding
) -> Finding:
    """Two mean ranks and how far they lie apart."""
    a, b = (t.models[place] for place in at)
    blocks = isinstance(t, Blocks)
    name = f"mean rank of {a} minus {b}{', 1 being best' if blocks else ''}"
    effect = Effect(name=name, value=gap, no_interval="the ranks do not vary" if blocks else None)
    if reach is not None:
        effect = Effect.around(name, gap, reach, level, method)
    return Finding(effect=effect, models=(a, b), n=t.j if isinstance(t, Blocks) else t.n, **parts)


def _normal_pair(  # noqa: PLR0917  one comparison
    t: Blocks | Groups, at: tuple[int, int], gap: float, error: float, level: float, method: str
) -> Finding:
    z, least = (gap / error, least_normal(error, level)) if error else (ALL_EQUAL, ALL_EQUAL)
    reach = least_normal(error, level, 0.5) if error else None
    return _pair(t, at, gap, reach, level, method=method, least=least, **refer_statistic("z", z))


@_of_groups(
    title="Kruskal-Wallis test",
    asks="do independent groups have the same distribution?",
    null="all groups have the same distribution",
    effect="epsilon squared",
    source=TS4213("7.4"),
    spec="T-08",
    errata=("E-TS-22",),
)
def kruskal_wallis(t: Groups, *, level: float = 0.95) -> Finding:
    ranks, ties = _pooled(t)
    n, k = t.n, len(t.values)
    spare = 1 - ties / (n**3 - n)
    if not spare:
        none = Effect(name="epsilon squared", value=0.0)
        return no_number(none.name, ALL_EQUAL, "H", chance=CERTAIN, effect=none, n=n, notes=(ALL_EQUAL.reason,))
    h = (12 / (n * (n + 1)) * math.fsum(float(r.sum()) ** 2 / len(r) for r in ranks) - 3 * (n + 1)) / spare
    h = max(h, 0.0)
    small = min(t.sizes) < 5  # noqa: PLR2004  the usual floor of the chi-squared form
    return Finding(
        **refer_statistic("H", h, k - 1),
        effect=Effect(name="epsilon squared", value=h / (n - 1), no_interval="none is customary"),
        n=n,
        checks=(Check(assumes="five values in every group", holds=not small, seen=f"smallest group {min(t.sizes)}"),),
        notes=(
            "a difference in spread alone also makes it significant",
            "the difference that could have been detected is one of mean ranks",
        ),
        least=least_normal(_dunn_error(n, ties, min(t.sizes), min(t.sizes)), level),
    )


@_of_groups(
    title="Dunn's comparison of all pairs after the Kruskal-Wallis test",
    asks="which groups differ in their mean rank?",
    null="the two mean ranks are equal",
    effect="difference of two mean ranks",
    assumes=("all values are independent", "the Kruskal-Wallis test was significant"),
    source=EXTENSION,
    spec="T-32",
)
def dunn(t: Groups, *, level: float = 0.95) -> tuple[Finding, ...]:
    ranks, ties = _pooled(t)
    means, sizes = [float(one.mean()) for one in ranks], [len(one) for one in ranks]
    return tuple(
        _normal_pair(t, (a, b), means[a] - means[b], _dunn_error(t.n, ties, sizes[a], sizes[b]), level, "dunn")
        for a, b in combinations(range(len(ranks)), 2)
    )


def _pooled(t: Groups) -> tuple[list[Floats], float]:
    """Ranks of all values together, by group, and how much they are tied."""
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate(t.arrays()))
    _, times = np.unique(ranks, return_counts=True)
    return np.split(ranks, np.cumsum(t.sizes)[:-1]), float((times.astype(np.float64) ** 3 - times).sum())


def _dunn_error(n: int, ties: float, first: int, second: int) -> float:
    return math.sqrt(max((n * (n + 1) / 12 - ties / (12 * (n - 1))) * (1 / first + 1 / second), 0.0))
