# SPDX-License-Identifier: Apache-2.0
"""Proper scores of probabilities: log loss, Brier score with its decomposition, spherical score."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from assay.core.text import counted
from assay.core.traits import EXTENSION, HIGHER, LOWER, NEITHER, RAINIO
from assay.core.values import NO_ROWS, Number, Undefined, number
from assay.measures.declare import measure
from assay.tally.scores.ranked_table import Ranked
from assay.tally.scores.score_tally import clipped
from assay.tasks.classification.measures.roc_hull import hulls

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.values import Amount

    Floats: TypeAlias = NDArray[np.float64]

proper_score = partial(measure, range=(0, 1), better=LOWER, family="probabilities", source=EXTENSION)


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
    total = (parts[0] + parts[1]).sum(axis=-1)
    return cast("Amount", total if np.ndim(total) else float(total))


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
    left = parts.added(parts.pos * parts.neg / (parts.pos + parts.neg))
    return cast("Amount", left.reshape(np.shape(t.pos)[:-1]) if np.ndim(t.pos) > 1 else left.item())


def _without_scores(t: Ranked) -> Amount:
    """The Brier score, times n, of the prevalence given to every row."""
    n = np.asarray(t.n, dtype=np.float64)
    product = np.asarray(t.positives, dtype=np.float64) * np.asarray(t.negatives, dtype=np.float64)
    found = np.divide(product, n, out=np.zeros(n.shape), where=n > 0)
    return cast("Amount", found if found.ndim else float(found))


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
