# SPDX-License-Identifier: Apache-2.0
"""Two error rates against each other on axes of normal deviates: which stretch is drawn, and what lies in it.

On such axes the curve of two normal classes is a straight line, and small rates have room (Martin et al. 1997).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Final, TypeAlias

Rates: TypeAlias = tuple[float, float]
"""False positive rate and false negative rate at one threshold."""
TICKS: Final = (1e-5, 1e-4, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)
ASKED: Final = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5)
"""False positive rates at which a table has a row."""
REACH: Final = 2.2
"""Deviates drawn on each side of the equal-error point; beyond, a handful of rows decides."""
MARGIN: Final = 0.12
_NORMAL: Final = NormalDist()


def deviate(rate: float) -> float:
    """The normal deviate of a rate; infinite for none and for all.

    >>> round(deviate(0.025), 2), deviate(0)
    (-1.96, -inf)
    """
    if not 0 < rate < 1:
        return -math.inf if rate <= 0 else math.inf
    return _NORMAL.inv_cdf(rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviates:
    """An axis of rates whose places are normal deviates; its ends are deviates, its ticks rates."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float, left: float, right: float) -> float:
        """Where a rate stands, kept inside the chart."""
        part = (deviate(value) - self.low) / (self.high - self.low)
        return left + (right - left) * min(1.0, max(0.0, part))


def errors(fpr: Iterable[float], tpr: Iterable[float]) -> list[Rates]:
    """The points of a curve at which both rates have a deviate: some rows of each class are mistaken, not all."""
    every = ((x, 1 - y) for x, y in zip(fpr, tpr, strict=True))
    return [(x, y) for x, y in every if 0 < x < 1 and 0 < y < 1]


def equal(points: Sequence[Rates]) -> float | None:
    """The rate at which a drawn curve errs equally often on both sides, if it comes across it."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 <= y0 and x1 >= y1:
            a, b = deviate(y0) - deviate(x0), deviate(x1) - deviate(y1)
            part = a / (a + b) if a + b else 0.0
            return _NORMAL.cdf(deviate(x0) + part * (deviate(x1) - deviate(x0)))
    return None


def window(curves: Iterable[Sequence[Rates]]) -> Deviates | None:
    """One axis for both rates of some curves, around where they err equally often; None where nothing can be drawn."""
    low, high = math.inf, -math.inf
    for points in curves:
        if len(points) < 2:  # noqa: PLR2004  a line has two ends
            continue
        at = [deviate(rate) for one in points for rate in one]
        rate = equal(points)
        ends = (min(at), max(at)) if rate is None else (deviate(rate) - REACH, deviate(rate) + REACH)
        low, high = min(low, max(min(at), ends[0])), max(high, min(max(at), ends[1]))
    if low >= high:
        return None
    low, high = low - MARGIN, high + MARGIN
    return Deviates(low=low, high=high, ticks=tuple(tick for tick in TICKS if low <= deviate(tick) <= high))


def inside(points: Sequence[Rates], axis: Deviates) -> list[Rates]:
    """The part of a falling line that lies in the window, cut at its edges."""
    kept: list[Rates] = []
    for a, b in pairwise(points):
        cut = _cut((deviate(a[0]), deviate(a[1])), (deviate(b[0]), deviate(b[1])), axis)
        if cut is not None:
            kept += [(_NORMAL.cdf(x), _NORMAL.cdf(y)) for x, y in (cut if not kept else cut[1:])]
    return kept


def chance(axis: Deviates) -> list[Rates]:
    """The line of a ranking by chance, whose rates add up to 1, as far as the window shows it."""
    first, last = max(axis.low, -axis.high), min(axis.high, -axis.low)
    return [(_NORMAL.cdf(z), _NORMAL.cdf(-z)) for z in (first, last)] if first < last else []


def _cut(a: Rates, b: Rates, axis: Deviates) -> tuple[Rates, Rates] | None:
    """The part of a segment inside a square (Liang and Barsky 1984)."""
    first, last = 0.0, 1.0
    for side in (0, 1):
        step = b[side] - a[side]
        for towards, room in ((-step, a[side] - axis.low), (step, axis.high - a[side])):
            if not towards:
                if room < 0:
                    return None
            elif towards < 0:
                first = max(first, room / towards)
            else:
                last = min(last, room / towards)
    if first > last:
        return None
    ends = [(a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])) for part in (first, last)]
    return ends[0], ends[1]


def reached(fpr: Sequence[float]) -> list[tuple[float, int]]:
    """For each rate people ask about the last point whose false positive rate is not above it."""
    return [(asked, max(i for i, x in enumerate(fpr) if x <= asked)) for asked in ASKED] if fpr else []
