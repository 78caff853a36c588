# SPDX-License-Identifier: Apache-2.0
"""Choosing a threshold from the scores of tuning data: a row is called positive when its score reaches it.

Candidates are the distinct scores and, above them all, a threshold that calls nothing positive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from assay.core.errors import RowsError
from assay.core.text import figure
from assay.core.values import WORST
from assay.tally.scores.ranked_table import Ranked
from assay.tasks.classification.measures.ratios import demand_at_least_zero, demand_number
from assay.tasks.classification.measures.score_curves import share_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A threshold, the range of thresholds that do equally well, what was reached, and why it was taken."""

    threshold: float
    low: float
    high: float
    reached: float
    reason: str


def youden(t: Ranked) -> Chosen:
    """Where true positive rate minus false positive rate is largest."""
    x, y = _rates(t)
    return _best(t, y - x, "the Youden index is largest")


def cost_ratio(t: Ranked, *, cost_fp: float, cost_fn: float) -> Chosen:
    """Where the expected cost on these rows is lowest."""
    demand_at_least_zero("the rule", cost_fp=cost_fp, cost_fn=cost_fn)
    x, y = _corners(t)
    mean = (cost_fp * x + cost_fn * (float(t.positives) - y)) / float(t.n)
    found = _best(t, -mean, f"the cost is lowest at {cost_fp:g} a false positive and {cost_fn:g} a miss")
    return replace(found, reached=-found.reached)


def target_recall(t: Ranked, *, recall: float) -> Chosen:
    """The highest threshold that finds at least a share of the positives."""
    _, y = _rates(t)
    kept = y >= share_of(recall, "the rule", "recall")
    return _at(t, np.flatnonzero(kept)[0], y, f"the highest threshold with a recall of at least {figure(recall)}")


def target_specificity(t: Ranked, *, specificity: float) -> Chosen:
    """The lowest threshold that leaves at least a share of the negatives alone."""
    x, _ = _corners(t)
    left = (float(t.negatives) - x) / float(t.negatives)  # 1 - 9/10 would be a little less than the 1/10 asked for
    kept = left >= share_of(specificity, "the rule", "specificity")
    why = f"the lowest threshold with a specificity of at least {figure(specificity)}"
    return _at(t, np.flatnonzero(kept)[-1], left, why)


def target_precision(t: Ranked, *, precision: float) -> Chosen:
    """The lowest threshold whose positive calls are right at least so often: it finds the most positives."""
    x, y = _corners(t)
    right = np.divide(y, x + y, out=np.zeros(y.shape), where=x + y > 0)
    kept = (right >= share_of(precision, "the rule", "precision")) & (x + y > 0)
    if not kept.any():
        raise RowsError(
            "target-not-reached",
            f"no threshold reaches a precision of {figure(precision)}",
            found=f"the highest is {figure(float(right.max()))}",
            fix="ask for less, or choose in another way",
        )
    why = f"the lowest threshold with a precision of at least {figure(precision)}"
    return _at(t, np.flatnonzero(kept)[-1], right, why)


def largest_f(t: Ranked, *, beta: float = 1.0) -> Chosen:
    """Where the F-score is largest."""
    demand_number("the rule", "beta", beta, "a number above 0, such as 1", lambda x: 0 < x < inf)
    x, y = _corners(t)
    square = beta * beta
    score = (1 + square) * y / (square * float(t.positives) + x + y)
    return _best(t, score, f"the F-score with beta = {beta:g} is largest")


def equal_error(t: Ranked) -> Chosen:
    """Where positives and negatives are wrong equally often, as nearly as the scores allow."""
    x, y = _rates(t)
    return _best(t, -np.abs(x - (1 - y)), "the two error rates are nearest to each other")


def _corners(t: Ranked) -> tuple[Floats, Floats]:
    """False and true positives at each candidate; refused without rows of both classes."""
    if not t.positives or not t.negatives:
        lost = "positive" if not t.positives else "negative"
        raise RowsError(
            "one-class",
            f"no row of the tuning data is truly {lost}, so no threshold can be chosen",
            fix="choose the threshold on rows of both classes",
        )
    return t.corners


def _rates(t: Ranked) -> tuple[Floats, Floats]:
    x, y = _corners(t)
    return x / float(t.negatives), y / float(t.positives)


def _candidates(t: Ranked) -> Floats:
    """Thresholds from high to low, as corners are; the first one calls nothing positive."""
    return np.concatenate([[np.inf], t.score[::-1]])


def _best(t: Ranked, value: Floats, why: str) -> Chosen:
    """The middle of the thresholds that do best; they lie between a score and the next lower one."""
    at = _candidates(t)
    best = np.flatnonzero(value >= value.max() - 4 * np.finfo(np.float64).eps)
    # Only neighbours form a range; of several ranges the one with the highest thresholds is taken.
    breaks = np.flatnonzero(np.diff(best) > 1)
    first, last = int(best[0]), int(best[breaks[0]] if len(breaks) else best[-1])
    high, low = float(at[first]), float(at[last + 1]) if last + 1 < len(at) else -inf
    if high == inf:
        taken = float(np.nextafter(at[1], np.inf))
    elif low in (-inf, WORST):  # rows without a score stand at no number to be halfway to
        taken = float(at[last])
    else:
        middle = low + (high - low) / 2
        taken = middle if middle > low else high
    return Chosen(threshold=taken, low=low, high=high, reached=float(value[first]), reason=why)


def _at(t: Ranked, place: np.intp, value: Floats, why: str) -> Chosen:
    """The threshold of one corner; the first one calls nothing positive."""
    at = _candidates(t)
    low, high = float(at[place + 1]) if place + 1 < len(at) else -inf, float(at[place])
    taken = high if place else float(np.nextafter(at[1], np.inf))
    return Chosen(threshold=taken, low=low, high=high, reached=float(value[place]), reason=why)
