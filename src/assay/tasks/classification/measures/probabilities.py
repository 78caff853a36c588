# SPDX-License-Identifier: Apache-2.0
"""Scores of probabilities: log loss, Brier score with its decomposition, spherical score; and whether they mean it.

Calibration: errors over bins, the logistic recalibration line, Spiegelhalter's statistic.
"""

from __future__ import annotations

from functools import partial
from math import inf
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from assay.core.text import counted
from assay.core.traits import EXTENSION, HIGHER, LOWER, NEITHER, RAINIO
from assay.core.values import NO_ROWS, Number, Undefined, number
from assay.measures.declare import measure
from assay.tally.calibration_bins import BINS, Binning, gaps
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.score_tally import clipped
from assay.tasks.classification.measures.logistic_fit import lines
from assay.tasks.classification.measures.roc_hull import hulls
from assay.tasks.classification.measures.score_curves import by_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.values import Amount

    Floats: TypeAlias = NDArray[np.float64]

proper_score = partial(measure, range=(0, 1), better=LOWER, family="probabilities", source=EXTENSION)
bin_error = partial(measure, range=(0, 1), better=LOWER, family="calibration", source=EXTENSION, spec="M-PRB-04")
logit_line = partial(bin_error, range=(-inf, inf), better=NEITHER)


def not_probability(score: Floats) -> Undefined | None:
    """Why a measure of probabilities has no value for other scores."""
    if len(score) and (score[0] < 0 or score[-1] > 1):
        return Undefined(reason="the scores are not probabilities: they leave 0 to 1", code="not-probability")
    return None


def infinite_note(rows: int) -> str | None:
    """Why a log loss is infinite."""
    return f"infinite: {counted(rows, 'row')} gave the true class probability 0" if rows else None


def losses(t: Ranked, clip: float | None) -> tuple[Floats, Floats]:
    """The loss of a positive and of a negative at each score; of log-odds without the detour over probabilities."""
    if t.logit is not None and clip is None:
        return np.logaddexp(0.0, -t.logit), np.logaddexp(0.0, t.logit)
    q = clipped(t.score, clip)
    with np.errstate(divide="ignore"):
        return -np.log(q), -np.log1p(-q)


def _sum(t: Ranked, of_positive: Floats, of_negative: Floats) -> Amount:
    """The sum of a loss over all rows, from its value for a positive and for a negative at each score."""
    with np.errstate(invalid="ignore"):  # an infinite loss that no row has counts nothing
        parts = [np.where(c > 0, c * loss, 0.0) for c, loss in ((t.pos, of_positive), (t.neg, of_negative))]
    return cast("Amount", (parts[0] + parts[1]).sum(axis=-1))


@proper_score(
    also=("binary cross-entropy", "cross-entropy", "logarithmic score"),
    says="minus the logarithm of the probability given to what was true, averaged over the rows, in nats",
    formula="-(sum(ln(x) for x in X) + sum(ln(1 - y) for y in Y)) / n",
    range=(0, inf),
    infinite=True,
    source=RAINIO("cross-entropy"),
    spec="M-PRB-01",
    errata=("E-RAI-07",),
)
def log_loss(t: Ranked, *, clip: float | None = None) -> Number:
    if wrong := not_probability(t.score):
        return cast("Number", wrong)
    of_positive, of_negative = losses(t, clip)
    total = _sum(t, of_positive, of_negative)
    endless = (t.pos[..., np.isinf(of_positive)].sum(axis=-1), t.neg[..., np.isinf(of_negative)].sum(axis=-1))
    lost = 0 if np.ndim(t.pos) > 1 else int(sum(endless))
    return Number(total, t.n, NO_ROWS, note=infinite_note(lost))


@proper_score(
    symbol="BS",
    also=("Brier score",),
    says="squared distance between probability and truth, averaged over the rows",
    formula="(sum((1 - x)**2 for x in X) + sum(y**2 for y in Y)) / n",
    spec="M-PRB-03",
)
def brier_score(t: Ranked) -> Number:
    if wrong := not_probability(t.score):
        return cast("Number", wrong)
    return number(_sum(t, (1 - t.score) ** 2, t.score**2), over=t.n, empty=NO_ROWS)


def _recalibrated(t: Ranked) -> Amount:
    """The Brier score, times n, of the best rising recalibration: what no relabelling of scores can mend."""
    parts = hulls(t)
    return cast("Amount", parts.added(parts.pos * parts.neg / (parts.pos + parts.neg)).reshape(np.shape(t.pos)[:-1]))


def _without_scores(t: Ranked) -> Amount:
    """The Brier score, times n, of the prevalence given to every row."""
    n = np.asarray(t.n, dtype=np.float64)
    product = np.asarray(t.positives, dtype=np.float64) * np.asarray(t.negatives, dtype=np.float64)
    return cast("Amount", np.divide(product, n, out=np.zeros(n.shape), where=n > 0))


@proper_score(
    symbol="MCB",
    also=("miscalibration", "reliability part of the Brier score"),
    says="the part of the Brier score that a rising recalibration of the scores would save",
    formula="brier(scores) - brier(recalibrated)",
    spec="M-PRB-03",
)
def brier_miscalibration(t: Ranked) -> Number:
    if wrong := not_probability(t.score):
        return cast("Number", wrong)
    saved = _sum(t, (1 - t.score) ** 2, t.score**2) - _recalibrated(t)
    return number(cast("Amount", np.maximum(saved, 0.0)), over=t.n, empty=NO_ROWS)


@proper_score(
    symbol="DSC",
    also=("resolution part of the Brier score",),
    says="how much the recalibrated scores improve on giving every row the prevalence",
    formula="brier(prevalence) - brier(recalibrated)",
    range=(0, 0.25),
    better=HIGHER,
    spec="M-PRB-03",
)
def brier_discrimination(t: Ranked) -> Number:
    gained = _without_scores(t) - _recalibrated(t)
    return number(cast("Amount", np.maximum(gained, 0.0)), over=t.n, empty=NO_ROWS)


@proper_score(
    symbol="UNC",
    also=("uncertainty part of the Brier score",),
    says="the Brier score of giving every row the prevalence",
    formula="P*N / n**2",
    range=(0, 0.25),
    better=NEITHER,
    spec="M-PRB-03",
)
def brier_uncertainty(t: Ranked) -> Number:
    return number(t.positives * t.negatives, over=t.n * t.n, empty=NO_ROWS)


@proper_score(
    also=("spherical score",),
    says="the probability given to what was true over the length of the pair of probabilities, averaged over the rows",
    formula="(sum(x / sqrt(x**2 + (1 - x)**2) for x in X) + sum((1 - y) / sqrt(y**2 + (1 - y)**2) for y in Y)) / n",
    better=HIGHER,
    spec="M-PRB-01",
)
def spherical_score(t: Ranked) -> Number:
    if wrong := not_probability(t.score):
        return cast("Number", wrong)
    length = np.hypot(t.score, 1 - t.score)
    return number(_sum(t, t.score / length, (1 - t.score) / length), over=t.n, empty=NO_ROWS)


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
    if np.ndim(t.pos) == 1 and np.isnan(fitted[which][0]):
        reason = "the probabilities separate the classes perfectly, so the line is steep without end"
        return cast("Number", Undefined(reason=reason, code="separated"))
    return by_table(t, fitted[which])


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
