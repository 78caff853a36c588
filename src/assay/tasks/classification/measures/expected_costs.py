# SPDX-License-Identifier: Apache-2.0
"""What decisions are worth: expected cost, net benefit and the decision curve."""

from __future__ import annotations

from math import inf, isfinite
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from assay.core.errors import PlanError
from assay.core.traits import EXTENSION, FUND, HIGHER, LOWER, Task
from assay.core.values import NO_ROWS, Number, number
from assay.measures.declare import measure
from assay.tally.labels.one_vs_rest import Binary
from assay.tally.labels.row_costs import Priced
from assay.tally.scores.ranked_table import Ranked
from assay.tasks.classification.measures.ratios import declared, is_number

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
    for name, cost in (("cost_fp", cost_fp), ("cost_fn", cost_fn)):
        _finite("expected_cost", name, cost)
        if cost < 0:
            raise PlanError("measure-needs", f"{name} = {cost!r}", known="0 or above", fix=f"give {name} >= 0")
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
    if not is_number(threshold) or not 0 < threshold < 1:
        raise PlanError(
            "measure-needs",
            f"net_benefit got threshold = {threshold!r}",
            known="above 0, below 1",
            fix="give the probability at which a positive call is worth its harm",
        )
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


def _finite(name: str, parameter: str, cost: float) -> None:
    if not is_number(cost) or not isfinite(cost):
        raise PlanError(
            "measure-needs", f"{name} got {parameter} = {cost!r}", known="a finite number", fix=f"give {parameter}"
        )
