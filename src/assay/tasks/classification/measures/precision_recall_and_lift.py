# SPDX-License-Identifier: Apache-2.0
"""How clean the highest scores are: the precision-recall curve, the cumulative response curve and lift."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from assay.core.traits import RAINIO, SCHLOSSER, TS4213
from assay.core.values import Number, number
from assay.tally.scores.ranked_table import Ranked
from assay.tasks.classification.measures.counts import NO_ACTUAL
from assay.tasks.classification.measures.roc import both, curve, share_of, taken_up_to, wins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.values import Amount

    Floats: TypeAlias = NDArray[np.float64]


def _divided(top: Floats, over: Floats) -> Floats:
    """Elementwise, 0 where nothing is called positive; no rows stand there that could count."""
    return cast("Floats", np.divide(top, over, out=np.zeros(np.broadcast(top, over).shape), where=over > 0))


@curve(
    symbol="AUPRC",
    also=("area under the precision-recall curve", "average precision (step)"),
    says="precision at the score of each positive, averaged over the positives",
    formula="sum(TP(x) / (TP(x) + FP(x)) for x in X) / P",
    chance="about the prevalence",
    source=(TS4213("6.3.7"), RAINIO("PR curve"), SCHLOSSER("eq. 47")),
    spec=("M-CUR-04", "M-CUR-06"),
    errata=("E-TS-26", "E-SCH-07", "E-SCH-08"),
)
def average_precision(t: Ranked) -> Number:
    if not t.exact and np.ndim(t.pos) == 1:
        # Weights from the top: beside a heavy row further down, what is left of all of them would be rounded away.
        won = t.pos * _divided(t.tp, t.tp + t.fp)
        return number(cast("Amount", won.sum(axis=-1)), over=t.positives, empty=NO_ACTUAL)
    side, positives, negatives = t.by_positive, t.positives, t.negatives
    if np.ndim(side.count) > 1:
        positives, negatives = positives[..., np.newaxis], negatives[..., np.newaxis]
    tp = positives - (np.cumsum(side.count, axis=-1) - side.count)
    precision = _divided(tp, tp + (negatives - side.below))
    return number(cast("Amount", (side.count * precision).sum(axis=-1)), over=t.positives, empty=NO_ACTUAL)


@curve(
    also=("area under the precision-recall curve by trapezoids",),
    says="area under straight lines between the points of the precision-recall curve, which no classifier may reach",
    formula="sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(pr, pr[1:]))",
    chance="about the prevalence",
    source=TS4213("6.3.7"),
    spec="M-CUR-05",
    errata=("E-TS-26",),
)
def auprc_trapezoid(t: Ranked) -> Number:
    x, y = t.corners
    called, precision = x + y, _divided(y, x + y)
    # The curve starts at the precision of the highest score that has rows: none is known for calling nothing positive.
    highest = np.take_along_axis(precision, (called > 0).argmax(axis=-1)[..., np.newaxis], axis=-1)
    precision = np.where(called > 0, precision, highest)
    area = (np.diff(y) * (precision[..., 1:] + precision[..., :-1]) / 2).sum(axis=-1)
    return number(cast("Amount", area), over=t.positives, empty=NO_ACTUAL)


@curve(
    also=("area under the precision-recall curve by Davis and Goadrich",),
    says="area under the precision-recall curve with false positives growing evenly between its points",
    formula="sum(between(a, b) for a, b in zip(counts, counts[1:])) / P",
    chance="about the prevalence",
    source=TS4213("6.3.7"),
    spec="M-CUR-05",
    errata=("E-TS-26",),
)
def auprc_davis_goadrich(t: Ranked) -> Number:
    x, y = t.corners
    rise = np.diff(y)
    area = np.where(rise > 0, _between(x[..., :-1], np.diff(x), y[..., :-1], y[..., 1:], rise), 0.0).sum(axis=-1)
    return number(cast("Amount", area), over=t.positives, empty=NO_ACTUAL)


def _between(x: Floats, step: Floats, y: Floats, after: Floats, rise: Floats) -> Floats:
    """The area under segments that start at x false and y true positives and rise to `after`."""
    # Along a segment precision is tp / (tp + fp) with fp = fp0 + slope (tp - tp0): tp / (d tp + e).
    slope = _divided(step, rise)
    d, e = 1 + slope, x - slope * y
    start, end = y * d + e, after * d + e
    there = (start > 0) & (end > 0)
    growth = np.where(there, (end - start) / np.where(there, start, 1.0), 0.0)
    # e ln(end / start) / d^2, with a logarithm that keeps small steps.
    bend = np.where(e == 0, 0.0, e * np.log1p(growth))
    return rise / d - bend / d**2


@curve(
    also=("area under the cumulative response curve", "area under the gain curve"),
    says="area under the share of positives found against the share of rows called positive",
    formula="(P/2 + sum((x > y) + (x == y)/2 for x in X for y in Y) / P) / n",
    chance="0.5",
    source=TS4213("6.3.8"),
    spec=("M-CUR-08", "M-CUR-09"),
    errata=("E-TS-09",),
)
def area_cumulative_response(t: Ranked) -> Number:
    return number(wins(t) + t.positives * t.positives, over=2 * (t.positives * t.n), empty=both(t))


@curve(
    symbol="lift",
    says="how many times more positives are among the highest scored share of rows than among all rows",
    formula="at(gains, share) / share",
    range=(0, inf),
    chance="1",
    source=TS4213("6.3.9"),
    spec="M-CUR-10",
)
def lift_at(t: Ranked, *, share: float) -> Number:
    wanted = share_of(share, "lift_at", "share")
    x, y = t.corners
    called = x + y
    found = (np.diff(y) * taken_up_to(called, wanted * called[..., -1:])).sum(axis=-1)
    return number(found, over=wanted * t.positives, empty=NO_ACTUAL)
