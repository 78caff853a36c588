# SPDX-License-Identifier: Apache-2.0
"""How well scores tell two classes apart: what is read off the ROC, precision-recall, gain and lift curves."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.traits import EXTENSION, FUND, HIGHER, LOWER, RAINIO, SCHLOSSER, TS4213
from assay.core.values import Number, number
from assay.measures.declare import measure
from assay.tally.fixed_point import exact_dot
from assay.tally.scores.ranked_table import Ranked
from assay.tasks.classification.measures.rates import NO_ACTUAL, NO_ACTUAL_NEGATIVE
from assay.tasks.classification.measures.ratios import demand_number
from assay.tasks.classification.measures.roc_hull import hulls

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.values import Amount, Empty

    Floats: TypeAlias = NDArray[np.float64]

curve = partial(measure, range=(0, 1), better=HIGHER, family="curves")


def both(t: Ranked) -> Empty:
    """Why a measure that compares positives with negatives has no value."""
    return ((t.positives, NO_ACTUAL), (t.negatives, NO_ACTUAL_NEGATIVE))


def wins(t: Ranked) -> Amount:
    """Twice the pairs of a positive and a negative in which the positive scores higher, ties half; exact for counts."""
    side = t.by_positive
    if t.exact:
        count, below, tied = (cast("NDArray[np.int64]", x) for x in (side.count, side.below, side.tied))
        return cast("Amount", 2 * exact_dot(count, below) + exact_dot(count, tied))
    won = (side.count * (2 * side.below + side.tied)).sum(axis=-1)
    return cast("Amount", np.minimum(won, 2 * (t.positives * t.negatives)))  # sums of weights may round past all pairs


def by_table(t: Ranked, values: Floats) -> Number:
    """A value of one table, or of each of a stack; undefined without positives or negatives."""
    there = np.asarray(t.positives * t.negatives) > 0
    return number(np.where(there, values.reshape(there.shape), 0.0), over=there.astype(np.float64), empty=both(t))


def taken_up_to(x: Floats, limit: Floats) -> Floats:
    """How much of each step of a curve lies before a limit, from 0 to 1."""
    step = np.diff(x)
    return cast("Floats", np.clip((limit - x[..., :-1]) / np.where(step > 0, step, 1.0), 0.0, 1.0))


def share_of(x: float, name: str, parameter: str) -> float:
    """A declared share above 0 and up to 1."""
    demand_number(name, parameter, x, "a share above 0, up to 1, such as 0.1", lambda share: 0 < share <= 1)
    return float(x)


@curve(
    symbol="AUROC",
    also=("AUC", "area under the ROC curve", "ROC AUC", "c-statistic", "concordance"),
    says="the chance that a positive scores higher than a negative, ties counting half",
    formula="sum((x > y) + (x == y)/2 for x in X for y in Y) / (P*N)",
    chance="0.5",
    source=(TS4213("6.3.6"), RAINIO("ROC curve"), FUND("AUC"), SCHLOSSER("eq. 46")),
    spec=("M-CUR-01", "M-CUR-02"),
    errata=("E-SCH-07", "E-FUN-02", "E-XS-01"),
)
def auroc(t: Ranked) -> Number:
    return number(wins(t), over=2 * (t.positives * t.negatives), empty=both(t))


@curve(
    also=("Gini coefficient", "Somers' D of scores", "accuracy ratio"),
    says="the area under the ROC curve, rescaled so that chance gives 0",
    formula="2*sum((x > y) + (x == y)/2 for x in X for y in Y) / (P*N) - 1",
    range=(-1, 1),
    chance="0",
    source=EXTENSION,
    spec="M-CUR-03",
    errata=("E-XS-07",),
)
def gini_coefficient(t: Ranked) -> Number:
    pairs = t.positives * t.negatives
    return number(wins(t) - pairs, over=pairs, empty=both(t))


def _area_up_to(t: Ranked, max_fpr: float) -> Floats:
    """The area under the ROC curve left of a false positive rate, in units of P * N."""
    x, y = t.corners
    limit = max_fpr * np.asarray(t.negatives, dtype=np.float64)[..., np.newaxis]
    step, taken = np.diff(x), taken_up_to(x, limit)
    return cast("Floats", (step * taken * (y[..., :-1] + np.diff(y) * taken / 2)).sum(axis=-1))


@curve(
    also=("partial AUC", "pAUC"),
    says="the area under the ROC curve up to a false positive rate",
    formula="integral(roc, 0, max_fpr)",
    source=EXTENSION,
    spec="M-CUR-02",
)
def partial_auroc(t: Ranked, *, max_fpr: float) -> Number:
    limit = share_of(max_fpr, "partial_auroc", "max_fpr")
    return number(_area_up_to(t, limit), over=t.positives * t.negatives, empty=both(t))


@curve(
    also=("standardised partial AUC", "McClish partial AUC"),
    says="the partial area, rescaled so that chance gives 0.5 and a perfect ranking 1",
    formula="(1 + (integral(roc, 0, max_fpr) - max_fpr**2/2) / (max_fpr - max_fpr**2/2)) / 2",
    chance="0.5",
    source=EXTENSION,
    spec="M-CUR-02",
)
def partial_auroc_standardised(t: Ranked, *, max_fpr: float) -> Number:
    limit = share_of(max_fpr, "partial_auroc_standardised", "max_fpr")
    pairs, least = t.positives * t.negatives, limit**2 / 2
    whole = 2 * (limit - least) * pairs
    # The area is at most the whole; only rounding could say otherwise.
    return number(np.minimum(_area_up_to(t, limit) + (limit - 2 * least) * pairs, whole), over=whole, empty=both(t))


@curve(
    symbol="AUCH",
    also=("area under the ROC convex hull",),
    says="the area under the ROC curve of the best mixtures of thresholds",
    formula="integral(hull(roc), 0, 1)",
    range=(0.5, 1),
    chance="0.5",
    source=EXTENSION,
    spec="M-CUR-12",
)
def auroc_convex_hull(t: Ranked) -> Number:
    return by_table(t, hulls(t).areas())


@curve(
    symbol="H",
    also=("H measure",),
    says="how much less a threshold chosen for the costs loses than the best constant call, averaged over costs",
    formula="1 - expected(lambda c: min(c*FP(t) + (1 - c)*(P - TP(t)) for t in T))"
    " / expected(lambda c: min(c*N, (1 - c)*P))",
    chance="0",
    source=SCHLOSSER("eq. 49"),
    spec="M-CUR-11",
    errata=("E-SCH-09",),
)
def h_measure(t: Ranked, *, alpha: float | None = None, beta: float | None = None) -> Number:
    for name, value in (("alpha", alpha), ("beta", beta)):
        if value is not None:
            demand_number("h_measure", name, value, "a number above 0", lambda x: x > 0)
    if (alpha is None) != (beta is None):
        raise PlanError("measure-needs", "h_measure got one of alpha and beta", fix="give both, or neither")
    return by_table(t, 1 - hulls(t).losses(alpha, beta))


@curve(
    symbol="EER",
    says="the error rate at the threshold that errs equally often on positives and on negatives",
    formula="crossing(roc)",
    better=LOWER,
    chance="0.5",
    source=EXTENSION,
    spec="M-CUR-01",
)
def equal_error_rate(t: Ranked) -> Number:
    x, y = t.corners
    positives, negatives = (np.asarray(each, dtype=np.float64)[..., np.newaxis] for each in (t.positives, t.negatives))
    # False positives grow and misses shrink along the curve; both are compared in units of 1 / (P * N).
    alarm, miss = x * positives, (positives - y) * negatives
    last = (alarm < miss).sum(axis=-1)[..., np.newaxis]  # at the last corner nothing is missed
    first = np.maximum(last - 1, 0)
    a0, a1, m0, m1 = (np.take_along_axis(c, at, axis=-1)[..., 0] for c in (alarm, miss) for at in (first, last))
    gap = (m0 - a0) + (a1 - m1)
    part = np.where(gap > 0, (m0 - a0) / np.where(gap > 0, gap, 1.0), 0.0)
    return number(a0 + part * (a1 - a0), over=t.positives * t.negatives, empty=both(t))


@curve(
    symbol="KS",
    also=("Kolmogorov-Smirnov statistic", "largest Youden index"),
    says="the largest gap between true and false positive rate over all thresholds",
    formula="max(TP(t)/P - FP(t)/N for t in T)",
    source=EXTENSION,
    spec=("M-CUR-01", "M-CUR-14"),
)
def kolmogorov_smirnov(t: Ranked) -> Number:
    x, y = t.corners
    positives, negatives = (np.asarray(each, dtype=np.float64)[..., np.newaxis] for each in (t.positives, t.negatives))
    gaps = y * negatives - x * positives
    return number(cast("Amount", gaps.max(axis=-1)), over=t.positives * t.negatives, empty=both(t))


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
