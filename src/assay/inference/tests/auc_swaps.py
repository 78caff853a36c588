# SPDX-License-Identifier: Apache-2.0
"""Two areas under the ROC curve by swaps of ranks, for few rows of a class (Bandos, Rockette and Gur 2005).

Scores become ranks within each model, and the two ranks of a row are swapped at random. The difference of the areas of
a swap is a sum of one signed term a row, so that a swap costs one addition a row, and rows of equal terms one in all.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.errors import PlanError
from assay.core.traits import EXTENSION, Source
from assay.inference.declare import significance
from assay.inference.findings import Finding
from assay.inference.resampling import SEED, stream
from assay.inference.tail_probabilities import Tail
from assay.inference.tests.auc_near_one import AGREES, METHOD, judged_areas
from assay.inference.tests.delong import too_few
from assay.tally.paired.joint_scores import PairedScores

if TYPE_CHECKING:
    from assay.core.arrays import Whole

DRAWS: Final = 9999
PAIR: Final = 2
SOURCE: Final = (
    Source("Bandos, Rockette and Gur 2005", "Statistics in Medicine 24"),
    Source("Venkatraman and Begg 1996", "section 2"),
    EXTENSION,
)
NEAR_ONE: Final = "a model ranks nearly every pair right or wrong, and DeLong's variance is too small or 0 there"
NULL: Final = "the ranks that A and B give a row can be swapped"


@significance(
    title="Permutation test of two areas under the ROC curve, by swaps of ranks",
    family="delong",
    asks="do A and B rank the positives above the negatives equally well, where a class has few rows?",
    null=NULL,
    effect="AUROC of A minus AUROC of B",
    assumes=("rows are independent", "both models scored the same rows"),
    never=("on clustered rows: swap the clusters",),
    source=SOURCE,
    spec="T-21",
)
def auroc_permutation(t: PairedScores, *, level: float = 0.95, draws: int = DRAWS, seed: int = SEED) -> Finding:
    if len(t.models) != PAIR:
        raise PlanError("test-needs", f"this form takes two models, not {len(t.models)}", fix="use auroc_permutations")
    plain = judged_areas(t, level)
    terms, times = (None, None) if too_few(t) else signed_terms(t)
    if terms is None or times is None or not terms.any():  # no area, or no row that is ranked differently
        return plain
    chance, note = _chance(terms, times, draws, seed)
    kept = tuple(one.removesuffix(f"; {AGREES}") for one in plain.notes)
    gap, ends = plain.effect.value, plain.effect.interval
    near = (NEAR_ONE,) if ends is not None and ends.method == METHOD else ()
    return plain.said(chance=chance, statistic=gap, statistic_name="difference", notes=(note, *near, *kept))


@significance(
    title="Permutation test of all pairs of areas under the ROC curve, by swaps of ranks",
    family="delong",
    asks="which models differ in how well they rank the positives above the negatives, where a class has few rows?",
    null=NULL,
    effect="difference of two areas",
    assumes=("rows are independent", "all models scored the same rows"),
    never=("on clustered rows: swap the clusters",),
    source=SOURCE,
    spec="T-21",
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
    a, b = (_midranks(scores, times) for scores in columns)
    (pos_a, neg_a), (pos_b, neg_b) = (a[:m], a[m:]), (b[:m], b[m:])
    of_pos, of_neg = times[:m], times[m:]
    up = _placed(pos_a, neg_a, of_neg) - _placed(pos_b, neg_b, of_neg)
    up += _placed(pos_a, neg_b, of_neg) - _placed(pos_b, neg_a, of_neg)
    down = _placed(neg_b, pos_b, of_pos) - _placed(neg_a, pos_a, of_pos)
    down += _placed(neg_b, pos_a, of_pos) - _placed(neg_a, pos_b, of_pos)
    return np.concatenate([up, down]), times


def _midranks(scores: Whole, times: Whole) -> Whole:
    """Twice the midrank of each column, which stands for some rows."""
    _, place = np.unique(scores, return_inverse=True)
    size = np.bincount(place, weights=times).astype(np.int64)
    twice: Whole = (2 * np.cumsum(size) - size)[place]
    return twice


def _placed(values: Whole, others: Whole, times: Whole) -> Whole:
    """Twice the others below each value, ties counting once."""
    order = np.argsort(others, kind="stable")
    below = np.concatenate([[0], np.cumsum(times[order])])
    places = (np.searchsorted(others[order], values, side=side) for side in ("left", "right"))
    low, high = (below[place] for place in places)
    both: Whole = low + high
    return both


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
