# SPDX-License-Identifier: Apache-2.0
"""Measures that do not depend on the names of documents: expected values over all orders of equal scores.

McSherry and Najork 2008. Without ties they equal the plain ones.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.traits import EXTENSION, HIGHER, Source
from assay.core.values import Number
from assay.measures.declare import measure
from assay.tasks.retrieval.measures.gains import NO_GAIN, discount_sums, ideal_gain
from assay.tasks.retrieval.measures.lists import check_cutoff, divide, has_relevant, mean
from assay.tasks.retrieval.tally import Rankings, find_groups, sum_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats


MCSHERRY: Final = Source("McSherry and Najork 2008", "section 2")
of_ties = partial(measure, range=(0, 1), better=HIGHER, source=(MCSHERRY, EXTENSION), family="ties")


def _inside(t: Rankings, k: int | None) -> Floats:
    """The chance of each judged document to stand among the first k."""
    return np.clip((check_cutoff(k) - t.first + 1) / t.tied, 0.0, 1.0)


@of_ties(
    says="expected precision over all orders of tied documents",
    formula="mean over queries of (expected relevant documents up to rank k) / k",
)
def precision_expected(t: Rankings, *, k: int) -> Number:
    return mean(t, t.sum_by_query(np.where(t.hit, _inside(t, k), 0.0)) / k, has_relevant(t))


@of_ties(
    says="expected recall over all orders of tied documents",
    formula="mean over queries of (expected relevant documents up to rank k) / R",
)
def recall_expected(t: Rankings, *, k: int) -> Number:
    found = t.sum_by_query(np.where(t.hit, _inside(t, k), 0.0))
    return mean(t, divide(found, t.relevant_count), has_relevant(t))


@of_ties(
    says="expected normalised discounted gain over all orders of tied documents",
    formula="mean over queries of (expected DCG@k) / (DCG@k of all judged documents in the order of their grades)",
)
def ndcg_expected(t: Rankings, *, k: int | None = None) -> Number:
    most = int(min(check_cutoff(k), t.retrieved.max(initial=1)))
    sums = discount_sums(most)
    last, before = np.minimum(t.first + t.tied - 1, most), np.minimum(t.first - 1, most)
    gains = np.maximum(t.grade, 0.0) * (sums[last] - sums[before]) / t.tied
    ideal = ideal_gain(t, k, exponential=False)
    return mean(t, np.minimum(divide(t.sum_by_query(gains), ideal), 1.0), ideal > 0, NO_GAIN)


class _Groups:
    """Groups of tied documents with a relevant one among them."""

    def __init__(self, t: Rankings) -> None:
        rows = np.flatnonzero(t.hit)
        owner, first = t.owner[rows], t.first[rows]
        begin, self.relevant = find_groups(owner, first)
        self.owner, self.first, self.size = owner[begin], first[begin], t.tied[rows][begin]
        start = np.searchsorted(self.owner, self.owner)
        running = np.cumsum(self.relevant) - self.relevant
        self.before = running - running[start] if len(begin) else running
        """Relevant documents above the group."""

    def places(self) -> tuple[NDArray[np.intp], Floats]:
        """For every place of every group: the group, and which of its places it is, from 1."""
        group = np.repeat(np.arange(len(self.size)), self.size)
        begin = np.cumsum(self.size) - self.size
        return group, (np.arange(len(group)) - begin[group] + 1).astype(np.float64)


@of_ties(
    says="expected average precision over all orders of tied documents",
    formula="mean over queries of (1 / R) sum over places i of tie groups of "
    "(r / n) (c + (i - 1)(r - 1) / (n - 1) + 1) / (s + i), n documents and r relevant ones in the group, "
    "c relevant ones and s documents above it",
)
def map_expected(t: Rankings) -> Number:
    groups = _Groups(t)
    group, place = groups.places()
    size, relevant = groups.size[group].astype(np.float64), groups.relevant[group].astype(np.float64)
    others = (place - 1) * divide(relevant - 1, size - 1)
    parts = relevant / size * (groups.before[group] + others + 1) / (groups.first[group] - 1 + place)
    total = sum_weights(groups.owner[group], parts, t.units)
    return mean(t, divide(total, t.relevant_count), has_relevant(t))


@of_ties(
    says="expected reciprocal rank of the first relevant document over all orders of tied documents",
    formula="mean over queries of sum over places i of the first tie group with a relevant document of "
    "C(n - i, r - 1) / C(n, r) / (s + i)",
)
def mrr_expected(t: Rankings) -> Number:
    from scipy.special import gammaln

    groups = _Groups(t)
    group, place = groups.places()
    leading = groups.before[group] == 0
    group, place = group[leading], place[leading]
    size, relevant = groups.size[group].astype(np.float64), groups.relevant[group].astype(np.float64)
    possible = size - place >= relevant - 1
    group, place, size, relevant = (part[possible] for part in (group, place, size, relevant))
    chance = np.exp(
        gammaln(size - place + 1) - gammaln(size - place - relevant + 2) - gammaln(relevant)
        + gammaln(relevant + 1) + gammaln(size - relevant + 1) - gammaln(size + 1)
    )  # fmt: skip
    total = sum_weights(groups.owner[group], chance / (groups.first[group] - 1 + place), t.units)
    return mean(t, np.minimum(total, 1.0), has_relevant(t))
