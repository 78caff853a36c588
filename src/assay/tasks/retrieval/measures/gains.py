# SPDX-License-Identifier: Apache-2.0
"""Measures of graded relevance: discounted cumulative gain, by itself and against two ideals."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.traits import EXTENSION, HIGHER, Source
from assay.core.values import Number
from assay.measures.declare import measure
from assay.tasks.retrieval.measures.lists import IR, check_cutoff, divide, mean
from assay.tasks.retrieval.tally import Rankings, sum_weights

if TYPE_CHECKING:
    from assay.core.arrays import Floats


NO_GAIN: Final = "no query has a document with a grade above 0"
BURGES: Final = Source("Burges et al. 2005", "gain 2^grade - 1")
JARVELIN: Final = Source("Järvelin and Kekäläinen 2002", "discount log2(rank + 1), as in trec_eval")
of_gains = partial(measure, range=(0, 1), better=HIGHER, family="gains")


def discount_sums(size: int) -> Floats:
    """Sums of the discounts of the first ranks, beginning with none of them."""
    return np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, size + 2)))])


def gain_of(grade: Floats, *, exponential: bool) -> Floats:
    """What a document of a grade is worth; negative grades are worth nothing."""
    grade = np.maximum(grade, 0.0)
    return np.exp2(grade) - 1 if exponential else grade


def discounted_gain(t: Rankings, k: int | None, *, exponential: bool) -> Floats:
    """DCG of each query."""
    gains = t.gains[exponential]
    return t.sum_by_query(gains if k is None else np.where(t.rank <= check_cutoff(k), gains, 0.0))


def ideal_gain(t: Rankings, k: int | None, *, exponential: bool) -> Floats:
    """DCG of each query if its judged documents stood in the order of their grades."""
    first = np.searchsorted(t.level_owner, np.arange(t.units + 1))
    last = np.cumsum(t.level_count)
    before = np.concatenate([[0], last])[first[t.level_owner]]
    size = int((last - before).max(initial=0))
    most = int(min(check_cutoff(k), size))
    sums = discount_sums(most)
    ends = np.minimum(last - before, most)
    begins = np.minimum(last - before - t.level_count, most)
    worth = gain_of(t.level, exponential=exponential) * (sums[ends] - sums[begins])
    return sum_weights(t.level_owner, worth, t.units)


def _normalised(t: Rankings, k: int | None, *, exponential: bool) -> Number:
    ideal = ideal_gain(t, k, exponential=exponential)
    values = np.minimum(divide(discounted_gain(t, k, exponential=exponential), ideal), 1.0)
    return mean(t, values, ideal > 0, NO_GAIN)


def _against_full(t: Rankings, k: int, *, exponential: bool) -> Number:
    best = float(gain_of(np.array([t.highest]), exponential=exponential)[0]) * float(discount_sums(int(k))[-1])
    gains = discounted_gain(t, k, exponential=exponential)
    return mean(t, gains / best if best else gains, ideal_gain(t, k, exponential=exponential) > 0, NO_GAIN)


@of_gains(
    symbol="DCG",
    also=("dcg_at_k", "mean_dcg"),
    says="grades of the documents, each divided by the logarithm of its rank; depends on the scale of the grades",
    formula="mean over queries of sum over ranks i <= k of grade_i / log2(i + 1)",
    range=(0, math.inf),
    source=IR,
    spec=("M-IR-05", "M-IR-06"),
)
def dcg(t: Rankings, *, k: int | None = None) -> Number:
    defined = ideal_gain(t, k, exponential=False) > 0
    return mean(t, discounted_gain(t, k, exponential=False), defined, NO_GAIN)


@of_gains(
    symbol="nDCG",
    also=("ndcg_at_k", "ndcg_cut"),
    says="discounted gain as a share of the best that the judged documents of the query allow; the gain is the grade",
    formula="mean over queries of DCG@k / (DCG@k of all judged documents in the order of their grades)",
    source=(JARVELIN, EXTENSION),
    spec="M-IR-07",
)
def ndcg(t: Rankings, *, k: int | None = None) -> Number:
    return _normalised(t, k, exponential=False)


@of_gains(
    also=("ndcg_burges",),
    says="as ndcg, with the gain 2^grade - 1, which favours the highest grades",
    formula="as ndcg, with gain 2^grade - 1 in place of the grade",
    source=(BURGES, EXTENSION),
)
def ndcg_exp(t: Rankings, *, k: int | None = None) -> Number:
    return _normalised(t, k, exponential=True)


@of_gains(
    also=("ndcg_at_k_full",),
    says="discounted gain as a share of k documents of the highest grade, whether or not the query has so many",
    formula="mean over queries of DCG@k / (highest grade * sum over ranks i <= k of 1 / log2(i + 1))",
    source=(Source("RecTools", "NDCG"), EXTENSION),
)
def ndcg_full(t: Rankings, *, k: int) -> Number:
    check_cutoff(k)
    return _against_full(t, k, exponential=False)


@of_gains(
    says="as ndcg_full, with the gain 2^grade - 1",
    formula="as ndcg_full, with gain 2^grade - 1 in place of the grade",
    source=(BURGES, EXTENSION),
)
def ndcg_exp_full(t: Rankings, *, k: int) -> Number:
    check_cutoff(k)
    return _against_full(t, k, exponential=True)
