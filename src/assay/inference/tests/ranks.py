# SPDX-License-Identifier: Apache-2.0
"""Two models compared by ranks and signs: nothing is assumed about the shape of the values but what is said."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.text import counted
from assay.core.traits import RAINIO, TS4213
from assay.core.values import Undefined
from assay.inference.declare import significance
from assay.inference.findings import Check, Effect, Finding, Real, no_number
from assay.inference.intervals.proportion import clopper_pearson, normal_quantile
from assay.inference.power import least_normal, least_student
from assay.inference.tail_probabilities import CERTAIN, Alternative, Tail, binomial, normal
from assay.inference.tests.delong import LEAST, area_effect, areas
from assay.inference.tests.variance import need_groups
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.real_values import Exact, Groups, Pairs

if TYPE_CHECKING:
    from assay.core.arrays import Floats, Whole

EXACT: Final = 50
"""Up to this many differences the null distribution of the rank sum is counted out, ties and all."""
SMALL_GROUPS: Final = 400
"""Up to this product of two group sizes the rank-sum distribution is counted out, ties and all."""
WALSH: Final = 100_000
"""Above this many differences the median of their pairwise means is not searched for."""
ALL_ZERO: Final = Undefined(reason="all differences are zero", code="all-tied")
FEWEST: Final = 6
"""With fewer differences even the clearest result has a two-sided p above 0.05: 2 / 2^5 = 0.0625."""
RESAMPLED: Final = ("on values from resampling one data set, unless the dependence is accepted and labelled",)
WASTE: Final = math.sqrt(math.pi / 3)
"""How much larger a difference must be than for a t test on normal values."""
_wilcoxon_form = partial(
    significance,
    family="wilcoxon",
    null="differences are symmetric about 0",
    effect="Hodges-Lehmann median of the differences",
    assumes=("pairs are independent", "differences are symmetric"),
    never=RESAMPLED,
    source=(TS4213("7.6"), RAINIO("Wilcoxon test")),
    spec="T-11",
)


@_wilcoxon_form(
    title="Wilcoxon signed-rank test",
    also=("signed-rank test",),
    asks="are the differences between A and B spread evenly around zero?",
    errata=("E-TS-15", "E-RAI-05", "E-RAI-18"),
)
def wilcoxon(t: Pairs, *, level: float = 0.95, alternative: Alternative = "two-sided") -> Finding:
    return _signed_rank(t, level, alternative, pratt=False)


@_wilcoxon_form(
    title="Wilcoxon signed-rank test, zeros ranked (Pratt)",
    asks="are the differences between A and B spread evenly around zero, counting ties as small differences?",
    errata=("E-TS-15",),
)
def wilcoxon_pratt(t: Pairs, *, level: float = 0.95, alternative: Alternative = "two-sided") -> Finding:
    return _signed_rank(t, level, alternative, pratt=True)


@significance(
    title="Sign test",
    asks="is A better than B as often as the other way round?",
    null="P(A better) = 1/2",
    effect="share of wins of A",
    assumes=("pairs are independent",),
    never=RESAMPLED,
    source=RAINIO("sign test"),
    spec="T-12",
    errata=("E-RAI-16", "E-RAI-18"),
)
def sign_test(t: Pairs, *, level: float = 0.95, alternative: Alternative = "two-sided") -> Finding:
    signs = [(x > 0) - (x < 0) for x in t.difference.whole]
    wins, losses = signs.count(1), signs.count(-1)
    trials, ties = wins + losses, signs.count(0)
    name = f"share of wins of {t.models[0]}"
    counts = {f"{t.models[0]} higher": wins, f"{t.models[1]} higher": losses, "equal": ties}
    if not trials:
        return _all_zero(t, name, "wins", counts)
    ends = clopper_pearson(wins, trials, level)
    return Finding(
        chance=binomial(wins, trials, alternative),
        effect=Effect.between(name, wins / trials, ends, level, "clopper-pearson"),
        statistic=float(wins),
        statistic_name="wins",
        n=t.n,
        alternative=alternative,
        counts=counts,
        notes=(f"{counted(ties, 'tie')} left out",) if ties else (),
        least=min(least_normal(0.5 / math.sqrt(trials), level), 0.5),
    )


@significance(
    title="Mann-Whitney rank-sum test",
    also=("rank-sum test", "Wilcoxon rank-sum test"),
    asks="does a value of one independent group exceed one of the other as often as not?",
    null="both groups have the same distribution",
    effect="chance that a value of the first group is the higher one, ties half",
    assumes=("all values are independent",),
    never=("on values of the same items: those are paired",),
    source=TS4213("7.6"),
    spec="G.2 row 15",
    errata=("E-TS-15",),
)
def mann_whitney(t: Groups, *, level: float = 0.95, alternative: Alternative = "two-sided") -> Finding:
    from scipy.stats import rankdata

    need_groups(t, 2, 2)
    a, b = t.arrays()
    ranks = rankdata(np.concatenate([a, b]))
    u = float(ranks[: len(a)].sum()) - len(a) * (len(a) + 1) / 2
    area = u / (len(a) * len(b))
    name = f"chance that {t.models[0]} is above {t.models[1]}, ties half"
    if len(np.unique(ranks)) == 1:
        lost, even = Undefined(reason="all values are equal", code="all-tied"), Effect(name=name, value=0.5)
        return no_number(name, lost, "U", chance=CERTAIN, effect=even, n=t.n, notes=(lost.reason,))
    _, times = np.unique(ranks, return_counts=True)
    ties = float((times**3 - times).sum())
    variance = len(a) * len(b) / 12 * (t.n + 1 - ties / (t.n * (t.n - 1)))
    if len(a) * len(b) <= SMALL_GROUPS:
        chance, form = _rank_sum_chance(ranks, len(a), alternative), "exact, ties and all" if ties else "exact"
    else:
        chance, form = normal((u - len(a) * len(b) / 2) / math.sqrt(variance), alternative), "normal, ties corrected"
    effect = Effect(name=name, value=area, no_interval="it needs two values on each side, at least")
    if min(len(a), len(b)) >= LEAST:
        scores = PairedScores(models=("",), positives=a[np.newaxis], negatives=b[np.newaxis])
        effect = replace(area_effect(areas(scores), 0, level, name), value=area)
    return Finding(
        chance=chance,
        effect=effect,
        statistic=u,
        statistic_name="U",
        n=t.n,
        alternative=alternative,
        notes=(f"null distribution: {form}",),
        least=min(0.5, least_normal(math.sqrt(variance) / (len(a) * len(b)), level)),
    )


def _rank_sum_chance(ranks: Floats, size: int, alternative: Alternative) -> Tail:
    """The chance of a rank sum as far out as that of the first ranks, among all ways to draw as many of these ranks."""
    doubled = np.rint(2 * ranks).astype(np.int64)  # ranks of ties are halves
    swapped = 2 * size > len(doubled)  # the smaller group has fewer ways
    drawn = doubled[size:] if swapped else doubled[:size]
    ways = np.zeros((len(drawn) + 1, int(doubled.sum()) + 1))
    ways[0, 0] = 1
    for rank in doubled.tolist():
        ways[1:, rank:] += ways[:-1, :-rank].copy()
    at, total = int(drawn.sum()), float(ways[-1].sum())
    below, above = float(ways[-1, : at + 1].sum()) / total, float(ways[-1, at:].sum()) / total
    sides = {"two-sided": 2 * min(below, above), "greater": below if swapped else above}
    return Tail.of(sides.get(alternative, above if swapped else below))


def _signed_rank(t: Pairs, level: float, alternative: Alternative, *, pratt: bool) -> Finding:
    from scipy.stats import rankdata

    gap = t.difference
    signs = np.array([(x > 0) - (x < 0) for x in gap.whole], dtype=np.int64)
    zeros, used = int((signs == 0).sum()), int((signs != 0).sum())
    name = f"Hodges-Lehmann median of {t.models[0]} minus {t.models[1]}"
    counts = {
        f"{t.models[0]} higher": int((signs > 0).sum()),
        f"{t.models[1]} higher": int((signs < 0).sum()),
        "equal": zeros,
    }
    if not used:
        return _all_zero(t, name, "T", counts)
    places = _places(gap, signs, keep_zeros=pratt)
    ranks = rankdata(places)
    doubled = np.rint(2 * ranks).astype(np.int64)
    kept = signs if pratt else signs[signs != 0]
    plus, minus = int(doubled[kept > 0].sum()), int(doubled[kept < 0].sum())
    moving = doubled[kept != 0]
    if used <= EXACT:
        chance, form = _counted_out(moving, plus, alternative), "counted out"
    else:
        error = math.sqrt(float((moving.astype(np.float64) ** 2).sum())) / 2  # of R+, doubled; ties are in the ranks
        chance, form = normal((plus - minus) / 2 / error, alternative), "normal, ties corrected"
    effect = _hodges_lehmann(name, gap, signs, level)
    tied = len(np.unique(doubled)) < len(doubled)
    return Finding(
        chance=chance,
        effect=effect,
        statistic=min(plus, minus) / 2,
        statistic_name="T",
        n=t.n,
        alternative=alternative,
        counts=counts,
        more=(Effect(name="matched-pairs rank-biserial correlation", value=(plus - minus) / (plus + minus)),),
        checks=(_symmetric(gap),),
        notes=_remarks(used, zeros, form, tied=tied, pratt=pratt),
        least=_least(gap, level),
    )


def _remarks(used: int, zeros: int, form: str, *, tied: bool, pratt: bool) -> tuple[str, ...]:
    notes = [f"null distribution: {form}{', ties and all' if tied and form == 'counted out' else ''}"]
    if zeros:
        notes.append(f"{counted(zeros, 'zero difference')} {'ranked, then set aside' if pratt else 'left out'}")
    if used < FEWEST:
        notes.append(f"with {counted(used, 'difference')} no result can have a two-sided p below {2.0 ** (1 - used):g}")
    return tuple(notes)


def _places(gap: Exact, signs: Whole, *, keep_zeros: bool) -> Floats:
    """Sizes of the differences as places in their order, compared exactly."""
    sizes = [abs(x) for x, s in zip(gap.whole, signs.tolist(), strict=True) if s or keep_zeros]
    order = {size: i for i, size in enumerate(sorted(set(sizes)))}
    return np.array([order[size] for size in sizes], dtype=np.float64)


def _counted_out(doubled: Whole, plus: int, alternative: Alternative) -> Tail:
    """The chance of so extreme a sum of the ranks with a plus, each sign as likely as not; all sums are counted."""
    ways, total = _ways(doubled.tolist()), 1 << len(doubled)
    low, high = int(ways[: plus + 1].sum()), int(ways[plus:].sum())
    if alternative == "two-sided":
        return Tail.of(2 * min(low, high) / total)
    return Tail.of((high if alternative == "greater" else low) / total)


def _ways(ranks: Sequence[int]) -> Whole:
    """In how many ways some of the ranks add up to each sum."""
    ways = np.zeros(sum(ranks) + 1, dtype=np.int64)
    ways[0] = 1
    for rank in ranks:
        ways[rank:] += ways[: len(ways) - rank].copy()
    return ways


def _hodges_lehmann(name: str, gap: Exact, signs: Whole, level: float) -> Effect:
    real = np.sort(gap.floats()[signs != 0])
    n = len(real)
    if n > WALSH:
        median = float(np.median(gap.floats()))
        return Effect(name=f"median difference (not {name})", value=median, no_interval="too many differences")
    pairs = n * (n + 1) // 2
    middle = (_walsh(real, (pairs + 1) // 2) + _walsh(real, pairs // 2 + 1)) / 2
    cut = _cut(n, level)
    if cut < 0:
        return Effect(name=name, value=middle, no_interval=f"{counted(n, 'difference')} are too few for this level")
    return Effect.between(name, middle, (_walsh(real, cut + 1), _walsh(real, pairs - cut)), level, "walsh averages")


def _cut(n: int, level: float) -> int:
    """How many of the smallest Walsh averages lie outside the interval; below 0 where none would be enough."""
    tail = (1 - level) / 2
    if n <= EXACT:
        below = np.cumsum(_ways(range(1, n + 1))) / float(1 << n)
        return int(np.searchsorted(below, tail, side="right")) - 1
    spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return max(0, math.floor(n * (n + 1) / 4 - normal_quantile((1 + level) / 2) * spread))


def _walsh(ordered: Floats, number: int) -> float:
    """The k-th smallest mean of two differences (each with itself, too), without laying all of them out."""
    n = len(ordered)
    if n <= 2000:  # noqa: PLR2004  two million means fit in memory with ease
        at, place = np.triu_indices(n), number - 1
        means = (ordered[at[0]] + ordered[at[1]]) / 2
        return float(np.partition(means, place)[place])
    low, high = float(ordered[0]), float(ordered[-1])
    own = np.arange(n)
    while True:
        middle = low + (high - low) / 2
        if middle in (low, high):
            return high
        at_most = int((np.maximum(np.searchsorted(ordered, 2 * middle - ordered, side="right"), own) - own).sum())
        low, high = (low, middle) if at_most >= number else (middle, high)


def _symmetric(gap: Exact) -> Check:
    real = gap.floats()
    centred = real - real.mean()
    spread, assumes = float((centred**2).mean()), "differences are symmetric"
    if not spread:
        return Check(assumes=assumes, holds=None, seen="the differences have no spread")
    skew = float((centred**3).mean()) / spread**1.5
    # 1 is the usual mark of strong skewness (Bulmer 1979).
    return Check(assumes=assumes, holds=abs(skew) < 1, seen=f"skewness {skew:.2f}")


def _least(gap: Exact, level: float) -> Real:
    if not gap.squares:
        return Undefined(reason="the differences have no spread", code="zero-variance")
    return least_student(WASTE * math.sqrt(float(gap.variance / gap.n)), gap.n - 1, level)


def _all_zero(t: Pairs, name: str, statistic: str, counts: dict[str, int]) -> Finding:
    known = {"n": t.n, "counts": counts, "notes": ("the models have the same value everywhere",)}
    if statistic == "T":
        known["effect"] = Effect(name=name, value=0.0, no_interval="all differences are zero")
    return no_number(name, ALL_ZERO, statistic, chance=CERTAIN, **known)
