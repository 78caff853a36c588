# SPDX-License-Identifier: Apache-2.0
"""Two areas under the ROC curve where DeLong's test does not serve: areas near 1 or 0, and few rows of a class.

An area of 1 has no DeLong variance, so DeLong's interval of a difference takes it for known. The intervals of the two
areas are then combined as those of two means are (Newcombe 1998, Zou and Donner 2008), with the correlation that
DeLong's covariance gives, or none where it cannot be estimated; p is the one that agrees with that interval.

With few rows of a class p comes from swaps of ranks (Bandos, Rockette and Gur 2005): scores become ranks within each
model, and the two ranks of a row are swapped at random. The difference of the areas of a swap is a sum of one signed
term a row, so that a swap costs one addition a row, and rows of equal terms one in all.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import figure
from assay.core.traits import EXTENSION, Source
from assay.core.values import Undefined
from assay.inference.findings import Effect, Finding
from assay.inference.intervals.auc import ADDED, MISRANKED_OF_TWO, Areas, area_ends, near_an_end
from assay.inference.intervals.difference_of_two import apart_from_zero
from assay.inference.intervals.proportion import Bounds, recovered
from assay.inference.resampling import SEED, stream
from assay.inference.tail_probabilities import CERTAIN, Tail
from assay.inference.tests.delong import (
    IDENTICAL,
    SAME_RANKING,
    area_finding,
    areas,
    components,
    delong,
    name_difference,
    of_area_pairs,
    of_two_areas,
    too_few,
    undefined_areas,
)
from assay.tally.paired.joint_scores import PairedScores

if TYPE_CHECKING:
    from assay.core.arrays import Floats, Whole

PAIR: Final = 2
METHOD: Final = ADDED
SOURCE: Final = (
    Source("Newcombe 2006", "method 5: the score interval of an area"),
    Source("Zou and Donner 2008", "eq. 11 and 12: dependent values"),
    EXTENSION,
)
AGREES: Final = "p agrees with the interval"
SAME: Final = "the two rankings are identical: the models cannot differ on any rows like these"
DRAWS: Final = 9999
SWAPS: Final = (
    Source("Bandos, Rockette and Gur 2005", "Statistics in Medicine 24"),
    Source("Venkatraman and Begg 1996", "section 2"),
    EXTENSION,
)
NEAR_ONE: Final = "a model ranks nearly every pair right or wrong, and DeLong's variance is too small or 0 there"
NULL: Final = "the ranks that A and B give a row can be swapped"


@of_two_areas(
    title="Square-and-add test of two areas under the ROC curve",
    also=("MOVER of areas",),
    asks="do A and B rank the positives above the negatives equally well, where one hardly errs?",
    source=SOURCE,
)
def area_difference(t: PairedScores, *, level: float = 0.95) -> Finding:
    _demand_pair(t, "area_differences")
    return _pairs(t, level)[0]


@of_area_pairs(
    title="Square-and-add test of all pairs of areas under the ROC curve",
    asks="which models differ in how well they rank the positives above the negatives, where one hardly errs?",
    source=SOURCE,
)
def area_differences(t: PairedScores, *, level: float = 0.95) -> tuple[Finding, ...]:
    return _pairs(t, level)


def _demand_pair(t: PairedScores, many: str) -> None:
    if len(t.models) != PAIR:
        raise PlanError("test-needs", f"this form takes two models, not {len(t.models)}", fix=f"use {many}")


def near_perfect(t: PairedScores) -> bool:
    """Whether a model hardly errs or hardly ever is right, or two areas differ without a variance.

    >>> y = [False] * 3 + [True] * 3
    >>> near_perfect(PairedScores.of(y, {"A": [1, 2, 3, 4, 5, 6], "B": [1, 5, 3, 4, 2, 6]}))
    True
    """
    if too_few(t):
        return False
    roc_areas, fewest = areas(t), min(t.m, t.n)
    pairs = combinations(range(len(t.models)), 2)
    return any(near_an_end(area, fewest, MISRANKED_OF_TWO) for area in roc_areas.area.tolist()) or any(
        gap and not variance for gap, variance in (roc_areas.gap(a, b) for a, b in pairs)
    )


def judged_areas(t: PairedScores, level: float) -> Finding:
    """The difference of two areas as the table has it compared: by DeLong's test, or near the ends by intervals."""
    return area_difference(t, level=level) if near_perfect(t) else delong(t, level=level)


def added_ends(roc_areas: Areas, a: int, b: int, level: float) -> Bounds:
    """The ends of the difference of two areas from the ends of both."""
    (x, of_x), (y, of_y) = (
        (area, area_ends(area, float(roc_areas.covariance[i, i]), roc_areas.m, roc_areas.n, level, roc_areas.known[i]))
        for i, area in ((a, float(roc_areas.area[a])), (b, float(roc_areas.area[b])))
    )
    low, high = recovered(x, of_x[:2], y, of_y[:2], correlation(roc_areas, a, b) or 0.0)
    return max(low, -1.0), min(high, 1.0)


def correlation(roc_areas: Areas, a: int, b: int) -> float | None:
    """Of two areas; None where one has no variance, or their difference has none."""
    spread = float(roc_areas.covariance[a, a]) * float(roc_areas.covariance[b, b])
    if spread <= 0 or roc_areas.gap(a, b)[1] <= 0:
        return None
    return min(max(float(roc_areas.covariance[a, b]) / math.sqrt(spread), -1.0), 1.0)


def same_ranking(t: PairedScores, a: int, b: int) -> bool:
    """Whether two models bring the rows into the same order, ties alike."""
    rows = np.concatenate([t.positives[[a, b]], t.negatives[[a, b]]], axis=1)
    first, second = (np.unique(one, return_inverse=True)[1] for one in rows)
    return bool(np.array_equal(first, second))


def _pairs(t: PairedScores, level: float) -> tuple[Finding, ...]:
    pairs = list(combinations(range(len(t.models)), 2))
    if lost := too_few(t):
        return tuple(undefined_areas(t.only(t.models[a], t.models[b]), lost, "z") for a, b in pairs)
    found = areas(t)
    return tuple(_pair(found, a, b, level, same=same_ranking(t, a, b)) for a, b in pairs)


def _pair(roc_areas: Areas, a: int, b: int, level: float, *, same: bool) -> Finding:
    gap, name = roc_areas.gap(a, b)[0], name_difference(roc_areas, a, b)
    if same:
        parts = {"effect": Effect(name=name, value=0.0, no_interval=SAME), "statistic": IDENTICAL, "least": IDENTICAL}
        return area_finding(roc_areas, (a, b), level, chance=CERTAIN, notes=(SAME_RANKING,), **parts)
    ends = added_ends(roc_areas, a, b, level)
    parts = apart_from_zero(gap, ends, level)
    if not gap and isinstance(parts["statistic"], Undefined):
        parts["statistic"] = 0.0
    effect = Effect.between(name, gap, ends, level, METHOD)
    return area_finding(roc_areas, (a, b), level, effect=effect, notes=(_told(roc_areas, a, b),), **parts)


def _told(found: Areas, a: int, b: int) -> str:
    """How the interval was made, and p with it."""
    shared = correlation(found, a, b)
    known = "taken to be 0, which is careful: it cannot be estimated" if shared is None else figure(shared)
    return f"the intervals of both areas, squared and added; their correlation: {known}; {AGREES}"


@of_two_areas(
    title="Permutation test of two areas under the ROC curve, by swaps of ranks",
    asks="do A and B rank the positives above the negatives equally well, where a class has few rows?",
    null=NULL,
    never=("on clustered rows: swap the clusters",),
    source=SWAPS,
)
def auroc_permutation(t: PairedScores, *, level: float = 0.95, draws: int = DRAWS, seed: int = SEED) -> Finding:
    _demand_pair(t, "auroc_permutations")
    plain = judged_areas(t, level)
    terms, times = (None, None) if too_few(t) else signed_terms(t)
    if terms is None or times is None or not terms.any():  # no area, or no row that is ranked differently
        return plain
    chance, note = _chance(terms, times, draws, seed)
    kept = tuple(one.removesuffix(f"; {AGREES}") for one in plain.notes)
    gap, ends = plain.effect.value, plain.effect.interval
    near = (NEAR_ONE,) if ends is not None and ends.method == METHOD else ()
    return plain.said(chance=chance, statistic=gap, statistic_name="difference", notes=(note, *near, *kept))


@of_area_pairs(
    title="Permutation test of all pairs of areas under the ROC curve, by swaps of ranks",
    asks="which models differ in how well they rank the positives above the negatives, where a class has few rows?",
    null=NULL,
    never=("on clustered rows: swap the clusters",),
    source=SWAPS,
)
def auroc_permutations(
    t: PairedScores, *, level: float = 0.95, draws: int = DRAWS, seed: int = SEED
) -> tuple[Finding, ...]:
    pairs = [t.only(a, b) for a, b in combinations(t.models, 2)]
    return tuple(auroc_permutation(one, level=level, draws=draws, seed=seed).said(models=one.models) for one in pairs)


def signed_terms(t: PairedScores) -> tuple[Whole, Whole]:
    """One term a row and how many rows have it; their sum is 4 mn times the difference of the areas.

    A swap changes the sign of a row's term and no other: the product of two signs cancels, because squared signs are 1.
    """
    m, columns = t.positives.shape[1], np.concatenate([t.positives, t.negatives], axis=1)
    times = np.concatenate(t.counts())
    ranks = np.stack([_midranks(scores, times) for scores in columns])
    # Each model against itself, then against the other one.
    (aa, bb, ab, ba), (below_aa, below_bb, below_ba, below_ab) = components(
        ranks[[0, 1, 0, 1], :m], ranks[[0, 1, 1, 0], m:], (times[:m], times[m:])
    )
    return np.concatenate([aa - bb + ab - ba, below_aa - below_bb + below_ab - below_ba]), times


def _midranks(scores: Floats, times: Whole) -> Floats:
    """Twice the midrank of each column, which stands for some rows."""
    _, place = np.unique(scores, return_inverse=True)
    size = np.bincount(place, weights=times).astype(np.float64)
    return (2 * np.cumsum(size) - size)[place]


def _chance(terms: Whole, times: Whole, draws: int, seed: int) -> tuple[Tail, str]:
    """How often random signs bring as large a sum."""
    seen = abs(int(terms @ times))
    size, place = np.unique(np.abs(terms), return_inverse=True)
    count = np.bincount(place, weights=times).astype(np.int64)
    size, count = size[size > 0], count[size > 0]
    flipped = stream(seed, 1).binomial(count, 0.5, size=(draws, len(count)))
    far = int((np.abs(2 * flipped @ size - int(count @ size)) >= seen).sum())
    return Tail.of((1 + far) / (1 + draws)), (
        f"{draws:,} random swaps of the ranks of a row, seed {seed}; p = (1 + as far) / (1 + drawn); "
        "the interval is that of the areas"
    )
