# SPDX-License-Identifier: Apache-2.0
"""What the figures of a run show, as it stands in a Record: values by rank, precision by recall, the worst queries."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.measures.declare import parse
from assay.tasks.retrieval.estimates import RankingEstimates, query_values
from assay.tasks.retrieval.tally import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANKS: Final = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100, 200, 500, 1000)
BINS: Final = 20
WORST: Final = 10
LEAD: Final = "ndcg@10"


def describe_figures(tally: Rankings, estimates: RankingEstimates) -> dict[str, object]:
    """Small parts of a Record that the report draws."""
    longest = int(tally.retrieved.max(initial=0))
    ranks = [rank for rank in RANKS if rank <= max(longest, 1)]
    values = query_values(parse(LEAD, estimates.task.registry), tally)
    defined = values[~np.isnan(values)]
    counts, edges = np.histogram(defined, bins=BINS, range=(0.0, 1.0))
    return {
        "by_rank": [
            {"rank": rank, "ndcg": _ends(estimates, f"ndcg@{rank}"), "judged": estimates[f"judged@{rank}"].value}
            for rank in ranks
        ],
        "precision_by_recall": interpolated_precision(tally),
        "by_query": {"measure": LEAD, "edges": [round(float(edge), 4) for edge in edges], "counts": counts.tolist()},
        "worst": list_worst(tally, values),
    }


def _ends(estimates: RankingEstimates, name: str) -> list[float | None]:
    estimate = estimates[name]
    return [estimate.value, estimate.low, estimate.high]


def interpolated_precision(tally: Rankings) -> list[float] | None:
    """The highest precision at a recall of 0, 0.1, ... 1 or beyond, averaged over queries."""
    counts = tally.relevant_count > 0
    if not counts.any():
        return None
    rows = np.flatnonzero(tally.hit)
    owner = tally.owner[rows]
    number = tally.count_before(tally.hit)[rows] + 1
    best = _running_best(number / tally.rank[rows], owner)
    curve = []
    for step in range(11):
        needed = np.maximum(np.ceil(tally.relevant_count * step / 10 - 1e-9), 1)  # documents that make up this recall
        at = number == needed[owner]
        total = np.bincount(owner[at], weights=best[at], minlength=tally.units)
        curve.append(math.fsum(total[counts].tolist()) / int(counts.sum()))
    return curve


def _running_best(values: NDArray[np.float64], owner: NDArray[np.int64]) -> NDArray[np.float64]:
    """The highest of each value and those that follow it in its query."""
    shift = 2.0 * (owner.max(initial=0) - owner)  # backwards, each query lies above the ones before
    return np.maximum.accumulate((values + shift)[::-1])[::-1] - shift if len(values) else values


def list_worst(tally: Rankings, values: NDArray[np.float64]) -> list[dict[str, Any]]:
    """The queries with the lowest values: how many relevant documents, where the first stands, what stands first."""
    order = [place for place in np.argsort(values, kind="stable").tolist() if not math.isnan(values[place])][:WORST]
    hit_counts = tally.sum_by_query(tally.hit)
    worst = []
    for place in order:
        ranks = tally.rank[(tally.owner == place) & tally.hit]
        worst.append(
            {
                "query": tally.ids[place],
                "value": float(values[place]),
                "relevant": int(tally.relevant_count[place]),
                "relevant_found": int(hit_counts[place]),
                "first_relevant": int(ranks[0]) if len(ranks) else None,
                "retrieved": int(tally.retrieved[place]),
                "documents": [list(pair) for pair in tally.shown.get(tally.ids[place], ())],
            }
        )
    return worst
