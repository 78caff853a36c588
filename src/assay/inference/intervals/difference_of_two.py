# SPDX-License-Identifier: Apache-2.0
"""Differences from intervals: of two samples from the intervals of both values, and p values that agree with them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from assay.core.errors import PlanError
from assay.core.values import Undefined
from assay.inference.estimates import Estimate, Interval
from assay.inference.intervals.proportion import normal_quantile, recovered
from assay.inference.power import least_normal
from assay.inference.tail_probabilities import CERTAIN, Tail, normal

if TYPE_CHECKING:
    from assay.inference.findings import Real
    from assay.inference.intervals.proportion import Bounds

LEAST_LEVEL = 0.75
"""Its two-sided interval has a level of one half, below which the tails overlap."""
NO_WIDTH = Undefined(reason="the interval has no width on that side", code="zero-variance")
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


def apart_from_zero(gap: float, ends: Bounds, level: float) -> dict[str, Any]:
    """What a finding says of a difference against none: the standard error is that of the interval on the side of zero.

    >>> round(apart_from_zero(0.2, (0.0, 0.3), 0.95)["chance"].p, 6)
    0.05
    """
    below, above = gap - ends[0], ends[1] - gap
    z = normal_quantile((1 + level) / 2)
    error = (below if gap > 0 else above) / z
    statistic: Real = gap / error if error > 0 else NO_WIDTH
    chance: Tail | Undefined = statistic if isinstance(statistic, Undefined) else normal(statistic)
    least = least_normal((below + above) / 2 / z, level)
    return {"statistic": statistic, "chance": chance if gap else CERTAIN, "least": least}


def one_sided(level: float) -> float:
    """The level of the two-sided interval whose ends are bounds at the level, each alone."""
    if level < LEAST_LEVEL:
        what = f"level = {level!r} is too low to hold an interval to a margin, which is one-sided"
        fix = "give a share such as 0.95"
        raise PlanError("confidence-level-range", what, known=f"{LEAST_LEVEL} up to, but not including, 1", fix=fix)
    return 2 * level - 1


def rooms(ahead: float, ends: Bounds, margin: float, level: float) -> tuple[Real, Real, float]:
    """Standard errors above -margin and below +margin, and what could be detected; ends are one-sided bounds.

    >>> from assay.inference.tail_probabilities import normal
    >>> round(normal(rooms(0.0, (-0.1, 0.2), 0.1, 0.95)[0], "greater").p, 6)
    0.05
    """
    z = normal_quantile(level)
    left, right = (ahead - ends[0]) / z, (ends[1] - ahead) / z
    above: Real = (ahead + margin) / left if left > 0 else NO_WIDTH
    below: Real = (margin - ahead) / right if right > 0 else NO_WIDTH
    return above, below, least_normal((ends[1] - ends[0]) / 2 / z, one_sided(level))
