# SPDX-License-Identifier: Apache-2.0
"""The difference of one measure on two samples of different rows, from the intervals of the two values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from assay.inference.estimates import Estimate, Interval
from assay.inference.intervals.proportion import recovered

METHOD: Final = "mover"
"""Zou and Donner 2008: variances recovered from the intervals; of two Wilson ones it is Newcombe's hybrid score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """How far a model lies above its reference, or why that cannot be said."""

    value: float | None
    interval: Interval | None
    reason: str | None = None


def mover(new: Estimate, reference: Estimate, names: tuple[str, str] = ("this model", "the reference")) -> Gap:
    """The value of one sample minus that of the other, with an interval at the level both have.

    >>> from assay.core.values import Share
    >>> from assay.inference.intervals.proportion import wilson
    >>> def share(x, n):
    ...     low, high = wilson(x, n, 0.95)
    ...     ends = Interval(low=low, high=high, level=0.95, method="wilson")
    ...     return Estimate(measure="recall", result=Share(x, n), interval=ends, no_interval=None, n=n)
    >>> found = mover(share(56, 70), share(48, 80)).interval  # Newcombe 1998, method 10, row (a)
    >>> round(found.low, 4), round(found.high, 4)
    (0.0524, 0.3339)
    """
    pair = ((new, names[0]), (reference, names[1]))
    for estimate, whose in pair:
        if estimate.value is None:
            return Gap(
                value=None, interval=None, reason=f"{estimate.measure} of {whose} is undefined: {estimate.reason}"
            )
    x, y = float(new.value or 0.0), float(reference.value or 0.0)
    for estimate, whose in pair:
        if estimate.interval is None:
            return Gap(value=x - y, interval=None, reason=f"{estimate.measure} of {whose}: {estimate.no_interval}")
    a, b = new.interval, reference.interval
    if a is None or b is None or not all(map(math.isfinite, (x, y, a.low, a.high, b.low, b.high))):
        return Gap(value=None, interval=None, reason=f"{new.measure} is infinite, or an interval of it has no end")
    low, high = recovered(x, (a.low, a.high), y, (b.low, b.high))
    return Gap(value=x - y, interval=Interval(low=low, high=high, level=a.level, method=METHOD))
