# SPDX-License-Identifier: Apache-2.0
"""What a curve measure can be at least and at most when only the bins of the scores are known.

Where a better order inside bins never harms a measure, the worst and the best order give its ends. Average precision
also gains when positives are tied, so its ends are taken position by position; scores of probabilities from the ends
of the bins, and calibration errors from how far the rows of each can be off.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.values import Undefined
from assay.measures.averages import Policy, averaged_values
from assay.measures.declare import REGISTRY, Measure
from assay.measures.gapbrackets import Cells, gap_ends
from assay.measures.probabilities import not_probability
from assay.measures.scoreaverages import bins_of
from assay.tally.binned import Binned
from assay.tally.ranked import Ranked
from assay.tally.rowscores import RIGHT, RowScores
from assay.tally.scorebins import ScoreBins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tally.calibration import Binning

    Floats: TypeAlias = NDArray[np.float64]

BY_ORDER: Final = (
    "auroc",
    "gini_coefficient",
    "partial_auroc",
    "partial_auroc_standardised",
    "auroc_convex_hull",
    "h_measure",
    "equal_error_rate",
    "kolmogorov_smirnov",
    "area_cumulative_response",
    "lift_at",
    "brier_discrimination",
)
"""Measures that no rise of the ROC curve can worsen."""
BY_EDGES: Final = ("brier_score", "log_loss", "spherical_score")
BY_GAPS: Final = ("expected_calibration_error", "adaptive_calibration_error", "maximum_calibration_error")
OF_CLASSES: Final = ("log_loss_multiclass", "brier_score_multiclass")
"""Measures of all columns that are no average of a measure of one."""
TOP_LABEL: Final = "top_label_calibration_error"
STEP: Final = 1e-12
"""Ends are moved outwards by as much as sums of doubles may be off."""
ROUNDED: Final = 32 * 2.0**-52
"""The same for each bin of weighted rows, whose sums are rounded at every step; counts are added exactly."""


def bracketed(measure: Measure) -> bool:
    """Whether score bins bound a measure on both sides."""
    known = ("average_precision", *BY_ORDER, *BY_EDGES, *BY_GAPS, "brier_uncertainty")
    return measure.name in (*known, *OF_CLASSES, TOP_LABEL) or (measure.base or "") in known


def bracket(measure: Measure, bins: ScoreBins) -> tuple[float, float] | Undefined:
    """The lowest and the highest value that scores in these bins allow; the value itself lies between for certain."""
    if measure.name == "average_precision":
        return _average_precision(bins)
    if measure.name in BY_GAPS:
        return _gaps(measure, bins)
    if measure.name in BY_ORDER:
        found = [measure(table) for table in (bins.worst(), bins.best())]
    elif measure.name in BY_EDGES:
        found = [measure(table) for table in _edges(bins)]
    elif measure.name == "brier_uncertainty":
        found = [measure(bins.ranked())] * 2
    else:
        raise PlanError(
            "measure-unfit",
            f"{measure.name} has no bracket from binned scores",
            known=", ".join(("average_precision", *BY_ORDER, *BY_EDGES, *BY_GAPS)),
            fix="ask for one of these, or count the scores exactly",
        )
    if isinstance(found[0], Undefined):
        return found[0]
    ends = sorted(one.value for one in found if not isinstance(one, Undefined))
    return _outward(measure, ends[0], ends[-1], bins)


def bracket_of_classes(measure: Measure, t: Binned) -> tuple[float, float] | Undefined:
    """The same of an average over classes or pairs of them, and of all columns together.

    Each class may be at its end on its own, so no order of rows in any column takes the average beyond.
    """
    if measure.name == "log_loss_multiclass":
        return bracket(REGISTRY.find("log_loss").with_(**measure.given), t.own())
    if measure.name == "brier_score_multiclass":  # the pooled table has one row for each class of a row
        found = bracket(REGISTRY.find("brier_score"), t.pooled())
        return found if isinstance(found, Undefined) else (t.k * found[0], t.k * found[1])
    given = {name: value for name, value in measure.given.items() if name != "undefined"}
    base = REGISTRY.find(cast("str", measure.base)).with_(**given)
    if measure.average == "micro":
        return bracket(base, t.pooled())
    every = bins_of(t, cast("str", measure.average))
    ends = [bracket(base, bins) for _, bins, _ in every]
    weights = np.array([weight for *_, weight in every])
    policy = cast("Policy", measure.given.get("undefined", "propagate"))
    if policy == "propagate" and any(isinstance(one, Undefined) and w for one, w in zip(ends, weights, strict=True)):
        return next(one for one in ends if isinstance(one, Undefined))
    sides = [np.array([np.nan if isinstance(one, Undefined) else one[side] for one in ends]) for side in (0, 1)]
    low, high = (averaged_values(side, weights, policy) for side in sides)
    if low is None or high is None:
        return Undefined(reason="no class has a value", code="absent-class")
    return _outward(measure, low, high)


def bracket_of_rows(measure: Measure, t: RowScores) -> tuple[float, float] | Undefined:
    """The same of the largest probability of every row, where these were counted in bins."""
    base = REGISTRY.find("expected_calibration_error").with_(**measure.given)
    return bracket(base, cast("Binned", t.top).bins(RIGHT))


def _outward(measure: Measure, low: float, high: float, bins: ScoreBins | None = None) -> tuple[float, float]:
    rounded = 0.0 if bins is None or bins.weight is None else ROUNDED * len(bins.place)
    down, up = (STEP + rounded * max(1.0, abs(end)) if math.isfinite(end) else 0.0 for end in (low, high))
    return max(measure.range[0], low - down), min(measure.range[1], high + up)


def _average_precision(bins: ScoreBins) -> tuple[float, float] | Undefined:
    """Each positive of a bin reaches at most the precision of all of them before any negative, tied.

    At least, negatives come first and positives follow one by one; weighted ones in steps that may be as small as any.
    """
    from assay.measures.gains import average_precision

    value = average_precision(bins.ranked())
    if isinstance(value, Undefined):
        return value
    pos, neg = (cells[::-1].astype(np.float64) for cells in (bins.pos, bins.neg))
    tied = ~np.isnan(bins.only[::-1])
    tp, fp = (np.concatenate([[0.0], np.cumsum(cells)[:-1]]) for cells in (pos, neg))
    whole = tp + pos + fp + neg
    known = pos * np.divide(tp + pos, whole, out=np.zeros(len(pos)), where=whole > 0)
    above = tp + pos + fp
    best = pos * np.divide(tp + pos, above, out=np.zeros(len(pos)), where=above > 0)
    a, b = tp, fp + neg
    low, high = (np.where(tied, known, each).sum() / pos.sum() for each in (_least(bins, pos, a, b), best))
    return _outward(average_precision, float(low), float(high), bins)


def _least(bins: ScoreBins, pos: Floats, a: Floats, b: Floats) -> Floats:
    """Precision summed over the positives of each bin when all its negatives stand above them."""
    if bins.weight is not None:
        # The integral of (a + x) / (a + b + x) over x from 0 to p is p - b ln((a + b + p) / (a + b)).
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            share = np.divide(pos, a + b, out=np.zeros(len(pos)), where=b > 0)
            # Next to a positive of weight 1 a negative may weigh so little that no double holds their quotient.
            grown = np.where(np.isinf(share), np.log(pos) - np.log(a + b), np.log1p(share))
        return pos - b * grown
    from scipy.special import digamma

    # The sum of (a + i) / (a + b + i) over i = 1 to p is p - b (H(a + b + p) - H(a + b)), H the harmonic numbers.
    return cast("Floats", pos - b * (digamma(a + b + pos + 1) - digamma(a + b + 1)))


def _gaps(measure: Measure, bins: ScoreBins) -> tuple[float, float] | Undefined:
    """Calibration errors, from how far the rows of each bin can be off."""
    low, high = _sides(bins)
    value = measure(Ranked(score=low, pos=bins.pos, neg=bins.neg))
    if isinstance(value, Undefined):
        return value
    if wrong := not_probability(high):
        return wrong
    given = {**{name: one for name, one in measure.parameters.items() if name in ("bins", "binning")}, **measure.given}
    binning = "mass" if measure.name == "adaptive_calibration_error" else given["binning"]
    pos, neg = (np.asarray(cells, dtype=np.float64) for cells in (bins.pos, bins.neg))
    cells = Cells(low=low, high=high, pos=pos, neg=neg)
    largest = measure.name == "maximum_calibration_error"
    ends = gap_ends(cells, cast("int", given["bins"]), cast("Binning", binning), largest=largest)
    return _outward(measure, *ends, bins)


def _edges(bins: ScoreBins) -> tuple[Ranked, Ranked]:
    """Every score at the end of its bin that suits its class least, and most."""
    low, high = _sides(bins)
    return _placed(bins, low, high), _placed(bins, high, low)


def _sides(bins: ScoreBins) -> tuple[Floats, Floats]:
    """The lowest and the highest score that each bin can hold."""
    low = bins.map.floor(bins.place)
    top = 1.0 if bins.map.kind == "probability" else np.inf
    after = np.where(bins.place + 1 < bins.map.size, bins.map.floor(np.minimum(bins.place + 1, bins.map.size - 1)), top)
    high = np.maximum(low, np.where(bins.place + 1 < bins.map.size, np.nextafter(after, -np.inf), top))
    return np.where(np.isnan(bins.only), low, bins.only), np.where(np.isnan(bins.only), high, bins.only)


def _placed(bins: ScoreBins, of_positive: Floats, of_negative: Floats) -> Ranked:
    score, place = np.unique(np.concatenate([of_positive, of_negative]), return_inverse=True)
    size = len(of_positive)
    cells = ((place[:size], bins.pos), (place[size:], bins.neg))
    pos, neg = (cast("Floats", np.bincount(at, weights=c, minlength=len(score))) for at, c in cells)
    return Ranked(score=score, pos=pos, neg=neg)
