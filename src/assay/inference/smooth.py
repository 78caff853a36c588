# SPDX-License-Identifier: Apache-2.0
"""Intervals for smooth functions of cells, from draws of the cells or from how each cell moves the value."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from assay.core.values import floats
from assay.tally.tables import Multiclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.measures.declare import Measure
    from assay.tally.confusion import Confusion

NUDGE = 1e-6
"""Share of the rows added to a cell to see how the value moves; small against curvature, large against rounding."""


def equal_tailed(draws: NDArray[np.float64], level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The middle `level` of the draws, column by column; undefined draws are left out."""
    tail = (1 - level) / 2
    quantile = np.nanquantile if np.isnan(draws).any() else np.quantile
    ends = quantile(draws, [tail, 1 - tail], axis=0)
    return ends[0], ends[1]


def bca(value: float, draws: NDArray[np.float64], influence: NDArray[np.float64], count: NDArray[np.float64], level: float) -> tuple[float, float]:
    """Bias-corrected and accelerated interval (Efron 1987) from draws and the influence of each cell."""
    normal = NormalDist()
    below = float(np.mean(draws < value) + np.mean(draws == value) / 2)
    edge = 0.5 / len(draws)
    bias = normal.inv_cdf(min(max(below, edge), 1 - edge))
    spread = float((count * influence**2).sum())
    acceleration = float((count * influence**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        shifted = bias + normal.inv_cdf(tail)
        squeeze = 1 - acceleration * shifted
        at = normal.cdf(bias + shifted / squeeze) if squeeze > 0 else (1.0 if shifted > 0 else 0.0)
        ends.append(float(np.quantile(draws, min(max(at, edge), 1 - edge))))
    return ends[0], ends[1]


def delta(value: float, influence: NDArray[np.float64], count: NDArray[np.float64], level: float) -> tuple[float, float]:
    """The value plus and minus normal quantiles of its first-order standard error."""
    reach = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(float((count * influence**2).sum()))
    return value - reach, value + reach


class Influence:
    """How the value of a measure moves when a row is added to a cell of a K-class tally."""

    def __init__(self, confusion: Confusion) -> None:
        self._rows, self._columns = confusion.truth, confusion.predicted
        self.count = floats(confusion.count)  # type: ignore[arg-type]
        exact = confusion.multiclass()
        hits, actual, called = floats(exact.hits), floats(exact.actual), floats(exact.called)
        self._k, self._step = confusion.k, NUDGE * float(self.count.sum())
        one, none = np.eye(self._k) * self._step, np.zeros((self._k, self._k))
        self._centre = Multiclass(hits=hits, actual=actual, called=called, labels=confusion.labels)
        self._nudged = Multiclass(
            hits=hits + np.concatenate([one, none, none]),
            actual=actual + np.concatenate([one, one, none]),
            called=called + np.concatenate([one, none, one]),
            labels=confusion.labels,
        )

    def of(self, measure: Measure) -> NDArray[np.float64]:
        """The influence of one more row in each occupied cell, centred."""
        slope = (measure.values(self._nudged) - measure.values(self._centre)) / self._step
        on, row, column = slope[: self._k], slope[self._k : 2 * self._k], slope[2 * self._k :]
        found = np.where(self._rows == self._columns, on[self._rows], row[self._rows] + column[self._columns])
        centred: NDArray[np.float64] = found - (self.count * found).sum() / self.count.sum()
        return centred
