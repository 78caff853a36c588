# SPDX-License-Identifier: Apache-2.0
"""Do probabilities mean what they say: errors over bins, the logistic recalibration line, Spiegelhalter's statistic."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from assay.core.traits import EXTENSION, LOWER, NEITHER
from assay.core.values import NO_ROWS, Number, Undefined, number
from assay.measures.declare import measure
from assay.tally.calibration_bins import BINS, Binning, gaps
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.score_tally import clipped
from assay.tasks.classification.measures.logistic_fit import lines
from assay.tasks.classification.measures.proper_scores import not_probability
from assay.tasks.classification.measures.roc import both

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.values import Amount

    Floats: TypeAlias = NDArray[np.float64]

bin_error = partial(measure, range=(0, 1), better=LOWER, family="calibration", source=EXTENSION, spec="M-PRB-04")
logit_line = partial(bin_error, range=(-inf, inf), better=NEITHER)


def gap_error(t: Ranked, bins: int, binning: Binning) -> Number:
    """The gap between mean probability and share of positives, averaged over bins by their rows."""
    if wrong := not_probability(t.score):
        return cast("Number", wrong)
    off, _ = gaps(t, bins, binning)
    return number(cast("Amount", np.abs(off).sum(axis=-1)), over=t.n, empty=NO_ROWS)


@bin_error(
    symbol="ECE",
    says="the gap between mean probability and share of positives, averaged over bins of equal width by their rows",
    formula="sum(abs(p - s) for p, s, m in groups(bins, binning)) / n",
)
def expected_calibration_error(t: Ranked, *, bins: int = BINS, binning: Binning = "width") -> Number:
    return gap_error(t, bins, binning)


@bin_error(
    symbol="ACE",
    says="the gap between mean probability and share of positives, averaged over bins that hold equally many rows",
    formula='sum(abs(p - s) for p, s, m in groups(bins, "mass")) / n',
)
def adaptive_calibration_error(t: Ranked, *, bins: int = BINS) -> Number:
    return gap_error(t, bins, "mass")


@bin_error(
    symbol="MCE",
    says="the largest gap between mean probability and share of positives among the bins",
    formula="max(abs(p - s) / m for p, s, m in groups(bins, binning))",
)
def maximum_calibration_error(t: Ranked, *, bins: int = BINS, binning: Binning = "width") -> Number:
    if wrong := not_probability(t.score):
        return cast("Number", wrong)
    off, rows = gaps(t, bins, binning)
    each = np.divide(np.abs(off), rows, out=np.zeros(off.shape), where=rows > 0)
    there = np.asarray(t.n) > 0
    return number(cast("Amount", each.max(axis=-1, initial=0.0)), over=cast("Amount", 1 * there), empty=NO_ROWS)


def _fitted(t: Ranked, slope: float | None, clip: float | None) -> tuple[Floats, Floats] | Undefined:
    """Intercept and slope of the logistic regression of the truth on the logit, by Newton steps; slope may be fixed."""
    if wrong := not_probability(t.score):
        return wrong
    if not len(t.score):
        return Undefined(reason=NO_ROWS, code="n=0")
    occupied = (t.pos + t.neg > 0).reshape(-1, len(t.score)).any(axis=0)
    score = clipped(t.score, clip)
    if t.logit is None and ((score == 0) & occupied | (score == 1) & occupied).any():
        name = "calibration_slope" if slope is None else "calibration_intercept"
        reason = f"a probability of 0 or 1 has no logit; {name}(clip=0.001) keeps all of them 0.001 away from both"
        return Undefined(reason=reason, code="infinite-logit")
    if slope is None and occupied.sum() < 2:  # noqa: PLR2004  a line needs two points
        return Undefined(reason="all probabilities are equal, so no line can be fitted", code="constant-score")
    logit = np.log(score) - np.log1p(-score) if t.logit is None or clip is not None else t.logit
    centre, scale = (float(logit.mean()), float(logit.std()) or 1.0) if slope is None else (0.0, 1.0)
    x = (logit - centre) / scale
    pos, rows = np.atleast_2d(np.asarray(t.pos, dtype=np.float64)), np.atleast_2d(np.asarray(t.pos + t.neg, np.float64))
    fixed = slope is not None
    apart = np.zeros(len(pos), dtype=bool) if fixed else _separated(pos, rows - pos)
    first = (0.0, slope or 0.0)
    if len(pos) > 1:  # draws of one table, whose line is near theirs
        together = lines(x, pos.sum(axis=0, keepdims=True), rows.sum(axis=0, keepdims=True), first, fixed=fixed)
        first = first if together[2] else (together[0].item(), together[1].item())
    a, b, failed = lines(x, pos, rows, first, apart, fixed=fixed)
    real = b / scale
    return np.where(failed, np.nan, a - real * centre), np.where(failed, np.nan, real)


def _separated(pos: Floats, neg: Floats) -> NDArray[np.bool_]:
    """Whether one class scores nowhere below the other: then a steeper line always fits better."""
    last = pos.shape[-1] - 1
    first_pos, first_neg = ((cells > 0).argmax(axis=-1) for cells in (pos, neg))
    last_pos, last_neg = (last - (cells[:, ::-1] > 0).argmax(axis=-1) for cells in (pos, neg))
    return cast("NDArray[np.bool_]", (last_neg <= first_pos) | (last_pos <= first_neg))


def _line(t: Ranked, which: int, slope: float | None, clip: float | None) -> Number:
    fitted = (
        _fitted(t, slope, clip) if np.ndim(t.pos) > 1 or (t.positives and t.negatives) else (np.zeros(1), np.zeros(1))
    )
    if isinstance(fitted, Undefined):
        return cast("Number", fitted)
    coefficients = fitted[which]
    if np.ndim(t.pos) > 1:
        return Number(cast("Amount", coefficients.reshape(np.shape(t.pos)[:-1])), empty=NO_ROWS)
    there = 1 if t.positives and t.negatives else 0
    if np.isnan(coefficients[0]):
        return cast(
            "Number",
            Undefined(reason="the probabilities separate the classes perfectly, so the line is steep without end",
                      code="separated"),
        )  # fmt: skip
    return number(cast("Amount", float(coefficients[0]) * there), over=cast("Amount", there), empty=both(t))


@logit_line(
    also=("Cox slope", "slope of the logistic recalibration"),
    says="the slope of the logistic regression of the truth on the logit; below 1 the probabilities are too extreme",
    formula="logistic(X, Y)[1]",
)
def calibration_slope(t: Ranked, *, clip: float | None = None) -> Number:
    return _line(t, 1, None, clip)


@logit_line(
    also=("calibration in the large",),
    says="what must be added to every logit so that the mean probability is the share of positives",
    formula="logistic(X, Y, slope=1)[0]",
)
def calibration_intercept(t: Ranked, *, clip: float | None = None) -> Number:
    return _line(t, 0, 1.0, clip)


@logit_line(
    symbol="Z",
    also=("Spiegelhalter statistic", "Spiegelhalter's z"),
    says="how many standard errors the Brier score lies above what calibrated probabilities would give",
    formula="(sum((1 - x)*(1 - 2*x) for x in X) - sum(y*(1 - 2*y) for y in Y))"
    " / sqrt(sum((1 - 2*q)**2 * q*(1 - q) for q in [*X, *Y]))",
    chance="0, give or take 1",
)
def spiegelhalter_z(t: Ranked) -> Number:
    if wrong := not_probability(t.score):
        return cast("Number", wrong)
    if t.pos.ndim == 1 and not t.exact:
        return cast("Number", Undefined(reason="rows have weights, and the statistic counts rows", code="weighted"))
    q, rows = t.score, t.pos + t.neg
    top = ((t.pos - rows * q) * (1 - 2 * q)).sum(axis=-1)
    spread = (rows * (1 - 2 * q) ** 2 * q * (1 - q)).sum(axis=-1)
    reason = "every probability is 0, 1/2 or 1, so the statistic cannot vary"
    return number(top, over=np.sqrt(spread), empty=((t.n, NO_ROWS), (spread, reason)))
