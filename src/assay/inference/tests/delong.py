# SPDX-License-Identifier: Apache-2.0
"""Areas under the ROC curves of models on the same rows: DeLong's covariance from one sort a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.parallel import together
from assay.core.text import counted
from assay.core.traits import RAINIO, TS4213, Source
from assay.core.values import Undefined
from assay.inference.declare import significance
from assay.inference.findings import Effect, Finding, Real, no_number, refer_statistic
from assay.inference.intervals.auc import ROUNDING, Areas, area_ends, freedom
from assay.inference.intervals.proportion import normal_quantile
from assay.inference.power import least_normal
from assay.inference.tail_probabilities import Alternative
from assay.tally.fixed_point import exact_dot
from assay.tally.paired.joint_scores import PairedScores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole

MOST: Final = np.int64(2**63 - 1)
LEAST: Final = 2
THREADS_FROM: Final = 50_000
"""Rows from which the models are sorted side by side."""
BALANCED: Final = (0.2, 0.8)
"""Outside this prevalence an area under the ROC curve must not stand alone (E-XS-01)."""
SAME_RANKING: Final = "the two rankings are identical"
IDENTICAL: Final = Undefined(reason="zero variance: the two rankings are identical", code="zero-variance")
NO_SPREAD: Final = Undefined(
    reason="zero variance: the difference of the areas would be the same on any rows like these", code="zero-variance"
)
CLUSTERED: Final = "on clustered rows: resample the clusters"
of_two_areas = partial(
    significance,
    family="delong",
    null="the areas under the ROC curves are equal",
    effect="AUROC of A minus AUROC of B",
    assumes=("rows are independent", "both models scored the same rows"),
    never=(CLUSTERED,),
    spec="T-21",
)
of_area_pairs = partial(
    of_two_areas,
    null="the two areas are equal",
    effect="difference of two areas",
    assumes=("rows are independent", "all models scored the same rows"),
)


@of_two_areas(
    title="DeLong's test of two areas under the ROC curve",
    asks="do A and B rank the positives above the negatives equally well, on the same rows?",
    never=("on nested models fitted and tested on the same rows", CLUSTERED),
    source=(RAINIO("DeLong test"), Source("DeLong et al. 1988", "eq. 5"), Source("Sun and Xu 2014", "algorithm 2")),
)
def delong(t: PairedScores, *, level: float = 0.95, alternative: Alternative = "two-sided") -> Finding:
    if len(t.models) != LEAST:
        raise PlanError("test-needs", f"this form takes two models, not {len(t.models)}", fix="use delong_many")
    if lost := too_few(t):
        return undefined_areas(t, lost, "z")
    return pair(areas(t), 0, 1, level, alternative)


@of_area_pairs(
    title="DeLong's test of several areas under the ROC curve",
    asks="do several models rank the positives above the negatives equally well, on the same rows?",
    null="all areas under the ROC curves are equal",
    effect="largest minus smallest AUROC",
    never=("on nested models fitted and tested on the same rows", CLUSTERED),
    source=(TS4213("6.3.6"), Source("DeLong et al. 1988", "eq. 6")),
)
def delong_many(t: PairedScores, *, level: float = 0.95) -> Finding:
    if len(t.models) < LEAST:
        raise PlanError("test-needs", "this form takes two models or more", fix="give the scores of more models")
    if lost := too_few(t):
        return undefined_areas(t, lost, "chi-squared")
    return many(areas(t), level)


@of_area_pairs(
    title="DeLong's test of all pairs of areas under the ROC curve",
    family="",
    asks="which models differ in how well they rank the positives above the negatives?",
    never=(),
    source=Source("DeLong et al. 1988", "eq. 5"),
)
def delong_pairs(t: PairedScores, *, level: float = 0.95) -> tuple[Finding, ...]:
    if lost := too_few(t):
        pairs = combinations(t.models, 2)
        return tuple(undefined_areas(t, lost, "z").said(models=models) for models in pairs)
    found = areas(t)
    return tuple(pair(found, a, b, level) for a, b in combinations(range(len(t.models)), 2))


def pair(roc_areas: Areas, a: int, b: int, level: float, alternative: Alternative = "two-sided") -> Finding:
    """Two of the areas."""
    gap, variance = roc_areas.gap(a, b)
    error, name = math.sqrt(variance), name_difference(roc_areas, a, b)
    if not error:
        effect = Effect(name=name, value=gap, no_interval="the difference has no variance")
        lost = NO_SPREAD if gap else IDENTICAL
        notes, parts = (
            () if gap else (SAME_RANKING,),
            refer_statistic("z", lost, alternative=alternative, differs=bool(gap)),
        )
        return area_finding(roc_areas, (a, b), level, notes=notes, effect=effect, least=lost, **parts)
    reach = normal_quantile((1 + level) / 2) * error
    effect = Effect.between(name, gap, (max(gap - reach, -1.0), min(gap + reach, 1.0)), level, "delong")
    parts = refer_statistic("z", gap / error, alternative=alternative)
    return area_finding(roc_areas, (a, b), level, effect=effect, least=least_normal(error, level), **parts)


def name_difference(roc_areas: Areas, a: int, b: int) -> str:
    """What the difference of two areas is called."""
    return f"AUROC of {roc_areas.models[a]} minus {roc_areas.models[b]}"


def area_finding(
    roc_areas: Areas,
    which: Sequence[int],
    level: float,
    *,
    notes: tuple[str, ...] = (),
    **parts: Any,  # noqa: ANN401  parts of a finding
) -> Finding:
    """A finding on some of the areas, with what is told of all such."""
    common = {
        "statistic_name": "z",
        "about": "auroc",
        "models": tuple(roc_areas.models[i] for i in which),
        "n": roc_areas.m + roc_areas.n,
        "counts": {"positives": roc_areas.m, "negatives": roc_areas.n},
        "more": tuple(area_effect(roc_areas, i, level) for i in which),
        "notes": (*notes, *roc_areas.notes, *prevalence_told(roc_areas)),
    }
    return Finding(**{**common, **parts})


def many(roc_areas: Areas, level: float) -> Finding:
    """All of the areas at once."""
    k = len(roc_areas.models)
    contrast = np.concatenate([np.ones((k - 1, 1)), -np.eye(k - 1)], axis=1)
    gaps, spread = contrast @ roc_areas.area, contrast @ roc_areas.covariance @ contrast.T
    rank = int(np.linalg.matrix_rank(spread, hermitian=True, tol=ROUNDING * max(float(np.trace(spread)), 1e-300) * k))
    equal = not np.any(gaps)
    explained = np.allclose(spread @ np.linalg.pinv(spread, hermitian=True) @ gaps, gaps, atol=1e-12)
    statistic: Real = IDENTICAL if equal else NO_SPREAD
    if rank and explained:
        statistic = max(float(gaps @ np.linalg.pinv(spread, hermitian=True) @ gaps), 0.0)
    widest = max((math.sqrt(roc_areas.gap(a, b)[1]) for a, b in combinations(range(k), 2)), default=0.0)
    value, reason = float(roc_areas.area.max() - roc_areas.area.min()), "see the differences of the pairs"
    effect = Effect(name="largest minus smallest AUROC", value=value, no_interval=reason)
    parts = refer_statistic("chi-squared", statistic, rank, differs=not equal)
    least = least_normal(widest, level) if widest else statistic
    return area_finding(roc_areas, range(k), level, effect=effect, least=least, **parts)


def areas(t: PairedScores) -> Areas:
    """The areas of all models and DeLong's covariance of them, computed once for a tally."""
    if "areas" not in t.shared:
        t.shared["areas"] = _areas(t)
    return cast("Areas", t.shared["areas"])


def _areas(t: PairedScores) -> Areas:
    """From whole numbers: the order of rows cannot matter."""
    above, below = components(t.positives, t.negatives, t.times)
    k, m, n = len(t.models), t.m, t.n
    positive, negative = t.times or (None, None)
    first, second = _Products(above, 2 * n, positive), _Products(below, 2 * m, negative)
    parts = {(a, b): (first.of(a, b) / m, second.of(a, b) / n) for a in range(k) for b in range(a, k)}
    exact = {pair: sum(both, Fraction(0)) for pair, both in parts.items()}
    covariance, gaps = np.zeros((k, k)), np.zeros((k, k))
    for a, b in parts:
        covariance[a, b] = covariance[b, a] = float(exact[a, b])
        gaps[a, b] = gaps[b, a] = float(exact[a, a] + exact[b, b] - 2 * exact[a, b])
    area = np.array([float(Fraction(total, 2 * m * n)) for total in first.sums])
    known = tuple(freedom((float(parts[i, i][0]), float(parts[i, i][1])), (m, n)) for i in range(k))
    return Areas(models=t.models, area=area, covariance=covariance, gaps=gaps, known=known, m=m, n=n, notes=t.notes)


class _Products:
    """Exact covariances of rows of whole numbers up to `most`, which stand for numbers between 0 and 1.

    A row of numbers may stand for several alike: `times` says for how many.
    """

    def __init__(self, rows: tuple[Whole, ...], most: int, times: Whole | None = None) -> None:
        self._rows, self._most, self._times = rows, most, times
        self._size = len(rows[0]) if times is None else int(times.sum())
        self.sums = [int(row.sum(dtype=np.int64) if times is None else row @ times) for row in rows]

    def of(self, a: int, b: int) -> Fraction:
        """The sample covariance of two rows."""
        top = self._size * self._product(a, b) - self.sums[a] * self.sums[b]
        return Fraction(top, self._size * (self._size - 1) * self._most * self._most)

    def _product(self, a: int, b: int) -> int:
        if self._times is None:
            return exact_dot(self._rows[a], self._rows[b])
        # Whole numbers without end: a cell may stand for any number of rows.
        return exact_dot(self._rows[a].astype(object) * self._rows[b], self._times)


def components(
    positives: Floats, negatives: Floats, times: tuple[Whole, Whole] | None = None
) -> tuple[tuple[Whole, ...], tuple[Whole, ...]]:
    """By model: twice the negatives below each positive, and twice the positives above each negative; a tie is half."""
    rows = positives.shape[1] + negatives.shape[1]
    large = rows >= THREADS_FROM and len(positives) > 1
    counts = None if times is None else np.concatenate(times)
    models = together(partial(_placed, counts=counts), zip(positives, negatives, strict=True), large=large)
    above, below = zip(*models, strict=True)
    return above, below


def _placed(model: tuple[Floats, Floats], counts: Whole | None) -> tuple[Whole, Whole]:
    """One sort of all scores; where a row stands says how many of the other kind stand before it."""
    positive, negative = model
    m, n = len(positive), len(negative)
    order, starts = in_order(np.concatenate([positive, negative]))
    if counts is not None or starts is not None:
        return _tied(order, np.arange(len(order)) if starts is None else starts, m, counts)
    above, below = np.empty(m, dtype=np.int64), np.empty(n, dtype=np.int64)
    is_positive = order < m
    at = np.flatnonzero(is_positive)
    above[order[at]] = 2 * (at - np.arange(m))
    at = np.flatnonzero(~is_positive)
    below[order[at] - m] = 2 * (m - at + np.arange(n))
    return above, below


def _tied(order: Whole, starts: Whole, m: int, counts: Whole | None) -> tuple[Whole, Whole]:
    """The same where scores are equal: each row stands in the middle of its tie, so ties are counted, not rows."""
    small = np.int32 if len(order) < np.iinfo(np.int32).max else np.int64
    ends = np.append(starts[1:], len(order))
    if counts is None:
        rows, passed = ends, np.cumsum(order < m, dtype=small)[ends - 1].astype(np.int64)
    else:
        rows = np.cumsum(counts[order])[ends - 1]
        passed = np.cumsum(np.where(order < m, counts[order], 0))[ends - 1]
    positives = passed[-1]
    rows, passed = (both + np.append(0, both[:-1]) for both in (rows, passed))  # up to the end and before each tie
    above, below = rows - passed, 2 * positives - passed
    tie = np.empty(len(order), dtype=small)
    tie[order] = np.repeat(np.arange(len(starts), dtype=small), ends - starts)
    return above[tie[:m]], below[tie[m:]]


def area_effect(roc_areas: Areas, i: int, level: float, name: str = "") -> Effect:
    """One of the areas with its interval, which is that of an assessment."""
    area, variance = float(roc_areas.area[i]), float(roc_areas.covariance[i, i])
    *ends, method = area_ends(area, variance, roc_areas.m, roc_areas.n, level, roc_areas.known[i])
    return Effect.between(name or f"AUROC of {roc_areas.models[i]}", area, (ends[0], ends[1]), level, method)


def prevalence_told(found: Areas) -> tuple[str, ...]:
    """What must be said beside an area where one class is rare."""
    share = found.m / (found.m + found.n)
    if BALANCED[0] <= share <= BALANCED[1]:
        return ()
    told = f"{share:.1%} of the rows are positive: an area under the ROC curve says nothing about precision there"
    return (told,)


def too_few(t: PairedScores) -> Undefined | None:
    """Why there is no area to compare, if so."""
    if min(t.m, t.n) >= LEAST:
        return None
    seen = f"{counted(t.m, 'positive')} and {counted(t.n, 'negative')}"
    return Undefined(reason=f"two of each are needed, and there are {seen}", code="too-few")


def undefined_areas(t: PairedScores, lost: Undefined, name: str) -> Finding:
    """The finding where a class has fewer than two rows."""
    counts = {"positives": t.m, "negatives": t.n}
    known = {"about": "auroc", "models": t.models, "n": t.m + t.n, "counts": counts, "least": None}
    return no_number("difference of the areas", lost, name, **known)


def in_order(scores: Floats) -> tuple[Whole, Whole | None]:
    """The rows from the lowest score to the highest, and where runs of equal scores begin, unless all scores differ.

    One sort of whole numbers that hold the upper bits of a score and its row is several times as fast as sorting row
    numbers by what they point at. Scores that agree in their upper bits are looked at again, so the order is exact.

    >>> order, starts = in_order(np.array([0.5, 0.1, 0.5, -2.0]))
    >>> order.tolist(), starts.tolist()
    ([3, 1, 0, 2], [0, 1, 2])
    """
    size = len(scores)
    low = np.int64((1 << max(size - 1, 1).bit_length()) - 1)
    order = np.arange(size, dtype=np.int64)
    keys = (scores + 0.0).view(np.int64)  # minus zero and zero are one score
    if size and keys.min() < 0:  # below zero, larger bits are a smaller number
        keys ^= (keys >> 63) & MOST
    keys &= ~low
    keys |= order
    keys.sort()
    np.bitwise_and(keys, low, out=order)
    keys &= ~low
    near = keys[1:] == keys[:-1]
    if not near.any():
        return order, None
    ordered = np.take(scores, order, out=keys.view(np.float64), mode="clip")
    if bool((ordered[1:] < ordered[:-1]).any()):
        _resolve(order, ordered, near)
    starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return order, None if len(starts) == size - 1 else np.concatenate([[0], starts])


def _resolve(order: Whole, ordered: Floats, near: NDArray[np.bool_]) -> None:
    """Sort, in place, the runs that agree in their upper bits and yet are out of order."""
    joined = np.concatenate([[False], near, [False]])
    at = np.flatnonzero(joined[1:] | joined[:-1])
    run = np.cumsum(~joined[at])
    wrong = np.zeros(int(run[-1]) + 1, dtype=bool)
    wrong[run[1:][(ordered[at[1:]] < ordered[at[:-1]]) & (run[1:] == run[:-1])]] = True
    at, run = at[wrong[run]], run[wrong[run]]
    sorted_ = at[np.lexsort((order[at], ordered[at], run))]
    order[at], ordered[at] = order[sorted_], ordered[sorted_]
