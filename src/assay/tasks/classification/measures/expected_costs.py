# SPDX-License-Identifier: Apache-2.0
"""What decisions are worth: expected cost, net benefit and the decision curve."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from assay.core.traits import EXTENSION, FUND, HIGHER, LOWER, Task
from assay.core.values import NO_ROWS, Number, number
from assay.measures.declare import measure
from assay.tally.labels.confusion import Priced
from assay.tally.labels.one_vs_rest import Binary
from assay.tally.scores.ranked_table import Ranked
from assay.tasks.classification.measures.ratios import declared, demand_at_least_zero, demand_number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]


@measure(
    also=("expected cost",),
    says="the mean cost of a row, from what a false positive and a miss cost; right calls cost nothing",
    formula="(cost_fp*FP + cost_fn*FN) / n",
    range=(0, inf),
    better=LOWER,
    family="cost",
    only=Task.BINARY,
    source=(FUND("costs of errors"), EXTENSION),
    spec="M-CUR-13",
)
def expected_cost(t: Binary, *, cost_fp: float, cost_fn: float) -> Number:
    demand_at_least_zero("expected_cost", cost_fp=cost_fp, cost_fn=cost_fn)
    return number(declared(cost_fp, t.tp) * t.fp + declared(cost_fn, t.tp) * t.fn, over=t.n, empty=NO_ROWS)


@measure(
    symbol="NB",
    also=("net benefit",),
    says="true positives a row, less false positives at the rate of exchange the threshold implies",
    formula="(TP(threshold) - FP(threshold) * threshold/(1 - threshold)) / n",
    range=(-inf, 1),
    better=HIGHER,
    family="cost",
    chance="0 for calling nothing positive",
    source=EXTENSION,
    spec="M-CUR-13",
)
def net_benefit(t: Ranked, *, threshold: float) -> Number:
    known = "the probability, above 0 and below 1, at which a positive call is worth its harm"
    demand_number("net_benefit", "threshold", threshold, known, lambda x: 0 < x < 1)
    cells = t.at(threshold)
    odds = declared(threshold, cells.tp) / (1 - declared(threshold, cells.tp))
    return number(cells.tp - odds * cells.fp, over=t.n, empty=NO_ROWS)


def decision_curve(t: Ranked, thresholds: ArrayLike) -> tuple[Floats, Floats]:
    """Net benefit of the scores, and of calling every row positive, at some thresholds above 0 and below 1."""
    at = np.asarray(thresholds, dtype=np.float64)
    first = np.searchsorted(t.score, at)
    tp, fp = (np.append(cells, 0)[first] for cells in (t.tp, t.fp))
    odds, n = at / (1 - at), float(t.n)
    return (tp - odds * fp) / n, (float(t.positives) - odds * float(t.negatives)) / n


@measure(
    also=("cost per row", "expected cost of a cost matrix"),
    says="the mean cost of a row, from the declared cost of every pair of true and predicted class",
    formula="sum(c*m for c, m in costs) / n",
    range=(0, inf),
    better=LOWER,
    family="cost",
    source=(FUND("costs of errors"), EXTENSION),
    spec="M-CUR-13",
)
def mean_cost(t: Priced) -> Number:
    return number(t.total, over=t.n, empty=NO_ROWS)
