# SPDX-License-Identifier: Apache-2.0
"""Measures of ranked lists: means over queries of a value that each query has by itself.

Documents stand in the order of trec_eval: score falling, then document id falling. A query for which the run holds
nothing has the value 0; a query without a relevant document has none and is left out.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.errors import PlanError
from assay.core.traits import EXTENSION, HIGHER, NEITHER, RAINIO, Source
from assay.core.values import Number, number
from assay.measures.declare import measure
from assay.tasks.retrieval.tally import Rankings

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from assay.core.arrays import Floats


NONE_RELEVANT: Final = "no query has a relevant document"
NONE_RETRIEVED: Final = "the run holds no document for any query"
IR: Final = RAINIO("Information retrieval")
TREC: Final = Source("trec_eval", "version 9")
of_lists = partial(measure, range=(0, 1), better=HIGHER, family="lists")


def mean(t: Rankings, values: Floats, defined: NDArray[np.bool_], empty: str = NONE_RELEVANT) -> Number:
    """The mean of the queries that have a value, or the values of a stack of single queries."""
    top: Any
    over: Any
    if t.each:
        top, over = np.where(defined, values, 0.0), defined.astype(np.float64)
    else:
        top, over = math.fsum(values[defined].tolist()), int(defined.sum())
    return number(top, over=over, empty=empty)


def has_relevant(t: Rankings) -> NDArray[np.bool_]:
    """Queries with a relevant document."""
    return t.relevant_count > 0


def check_cutoff(k: int | None) -> float:
    """A cut-off as a number to compare ranks with; none is infinite."""
    if k is None:
        return math.inf
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise PlanError(
            "measure-needs", f"k = {k!r} is not a cut-off", known="whole numbers from 1 on", fix='write "ndcg@10"'
        )
    return float(k)


def divide(top: Floats, over: Floats) -> Floats:
    """Quotients, 0 where the denominator is 0."""
    return np.divide(top, over, out=np.zeros(len(top)), where=over > 0)


@of_lists(
    symbol="P@k",
    also=("precision_at_k",),
    says="of the first k documents, the share that is relevant; a shorter list is filled up with irrelevant ones",
    formula="mean over queries of (relevant documents up to rank k) / k",
    source=IR,
    spec="M-IR-02",
)
def precision(t: Rankings, *, k: int) -> Number:
    values = t.sum_by_query(t.hit & (t.rank <= check_cutoff(k))) / k
    return mean(t, values, has_relevant(t))


@of_lists(
    symbol="R@k",
    also=("recall_at_k",),
    says="of the relevant documents, the share among the first k",
    formula="mean over queries of (relevant documents up to rank k) / R, R = relevant documents of the query",
    source=IR,
    spec="M-IR-01",
)
def recall(t: Rankings, *, k: int) -> Number:
    found = t.sum_by_query(t.hit & (t.rank <= check_cutoff(k)))
    return mean(t, divide(found, t.relevant_count), has_relevant(t))


@of_lists(
    also=("set precision", "set_P"),
    says="of all documents that were returned, the share that is relevant; 0 where nothing was returned",
    formula="mean over queries of (relevant documents returned) / (documents returned)",
    source=IR,
    spec="M-IR-01",
    family="sets",
)
def retrieval_precision(t: Rankings) -> Number:
    return mean(t, divide(t.sum_by_query(t.hit), t.retrieved.astype(np.float64)), has_relevant(t))


@of_lists(
    also=("set recall", "set_recall"),
    says="of the relevant documents, the share that was returned at any rank",
    formula="mean over queries of (relevant documents returned) / R",
    source=IR,
    spec="M-IR-01",
    family="sets",
)
def retrieval_recall(t: Rankings) -> Number:
    return mean(t, divide(t.sum_by_query(t.hit), t.relevant_count), has_relevant(t))


@of_lists(
    also=("retrieval_map", "retrieval_average_precision", "mean average precision over queries"),
    says="precision at every relevant document, averaged over the relevant documents of a query, then over queries",
    formula="mean over queries of (1 / R) sum over relevant ranks i <= k of (relevant documents up to i) / i",
    source=IR,
    spec=("M-IR-03", "M-IR-04"),
    errata=("E-XS-07",),
)
def map(t: Rankings, *, k: int | None = None) -> Number:  # noqa: A001  the name that everybody uses
    chosen = t.hit & (t.rank <= check_cutoff(k))
    above = t.count_before(t.hit) + 1
    return mean(t, divide(t.sum_by_query(np.where(chosen, above / t.rank, 0.0)), t.relevant_count), has_relevant(t))


@of_lists(
    symbol="MRR",
    also=("mean reciprocal rank", "recip_rank"),
    says="how early the first relevant document stands: the mean of one over its rank, 0 where there is none",
    formula="mean over queries of 1 / (rank of the first relevant document up to rank k), or 0",
    source=(TREC, EXTENSION),
)
def mrr(t: Rankings, *, k: int | None = None) -> Number:
    chosen = t.hit & (t.rank <= check_cutoff(k)) & (t.count_before(t.hit) == 0)
    return mean(t, t.sum_by_query(np.where(chosen, 1 / t.rank, 0.0)), has_relevant(t))


@of_lists(
    also=("success", "hit ratio"),
    says="the share of queries with a relevant document among the first k",
    formula="mean over queries of [a relevant document stands up to rank k]",
    source=(TREC, EXTENSION),
)
def hit_rate(t: Rankings, *, k: int) -> Number:
    values = (t.sum_by_query(t.hit & (t.rank <= check_cutoff(k))) > 0).astype(np.float64)
    return mean(t, values, has_relevant(t))


@of_lists(
    also=("Rprec", "R-precision"),
    says="precision at rank R, where R is the number of relevant documents of the query",
    formula="mean over queries of (relevant documents up to rank R) / R",
    source=(TREC, EXTENSION),
)
def r_precision(t: Rankings) -> Number:
    found = t.sum_by_query(t.hit & (t.rank <= t.relevant_count[t.owner]))
    return mean(t, divide(found, t.relevant_count), has_relevant(t))


@of_lists(
    says="how rarely documents judged irrelevant stand above relevant ones; unjudged documents do not count",
    formula="mean over queries of (1 / R) sum over relevant documents returned of 1 - min(n, R) / min(N, R), "
    "n = documents judged irrelevant above it, N = documents judged irrelevant in all",
    source=(Source("Buckley and Voorhees 2004", "with the correction of trec_eval 8"), TREC),
)
def bpref(t: Rankings) -> Number:
    above = np.minimum(t.count_before(~t.hit), t.relevant_count[t.owner])
    lost = divide(above.astype(np.float64), np.minimum(t.other_count, t.relevant_count)[t.owner])
    return mean(t, divide(t.sum_by_query(np.where(t.hit, 1 - lost, 0.0)), t.relevant_count), has_relevant(t))


@of_lists(
    also=("rank-biased precision",),
    says="expected share of relevant documents for a reader who goes on to the next document with probability p",
    formula="mean over queries of (1 - p) sum over relevant ranks i of p^(i - 1)",
    source=(Source("Moffat and Zobel 2008", "eq. 2"), EXTENSION),
    family="readers",
)
def rbp(t: Rankings, *, p: float) -> Number:
    if not 0 < p < 1:
        raise PlanError("measure-needs", f"p = {p!r} is not a probability between 0 and 1", fix='write "rbp(p=0.8)"')
    return mean(t, (1 - p) * t.sum_by_query(np.where(t.hit, p ** (t.rank - 1.0), 0.0)), has_relevant(t))


@of_lists(
    also=("expected reciprocal rank",),
    says="expected reciprocal rank at which a reader is satisfied, where higher grades satisfy more often",
    formula="mean over queries of sum over ranks i <= k of (1 / i) s_i prod over j < i of (1 - s_j), "
    "s = (2^grade - 1) / 2^top, top = the highest grade",
    source=(Source("Chapelle et al. 2009", "eq. 4"), EXTENSION),
    family="readers",
)
def err(t: Rankings, *, k: int | None = None, top: float | None = None) -> Number:
    highest = t.highest if top is None else top
    grade = np.maximum(t.grade, 0.0)
    if len(grade) and float(grade.max()) > highest:
        raise PlanError(
            "measure-needs",
            f"top = {top!r} is below the highest grade",
            found=f"grade {grade.max():g}",
            fix="raise top",
        )
    satisfied = (np.exp2(grade) - 1) / 2.0**highest
    left = np.log1p(-satisfied)
    running = np.cumsum(left) - left
    before = np.exp(running - running[t.starts[t.owner]]) if len(running) else running
    values = t.sum_by_query(np.where(t.rank <= check_cutoff(k), satisfied * before / t.rank, 0.0))
    return mean(t, values, has_relevant(t))


@measure(
    says="of the first k documents that were returned, the share that was judged at all",
    formula="mean over queries of (judged documents up to rank k) / min(k, documents returned)",
    range=(0, 1),
    better=NEITHER,
    source=EXTENSION,
    family="judgements",
)
def judged(t: Rankings, *, k: int) -> Number:
    looked = np.minimum(check_cutoff(k), t.retrieved)
    return mean(t, divide(t.sum_by_query(t.rank <= k), looked), t.retrieved > 0, NONE_RETRIEVED)
