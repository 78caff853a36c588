# SPDX-License-Identifier: Apache-2.0
"""Two shares on the same rows: the score test of an assumed difference, and the interval it inverts to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.core.values import Undefined
from assay.inference.intervals.proportion import HALVINGS, normal_quantile

if TYPE_CHECKING:
    from assay.inference.findings import Real
    from assay.tally.contingency_tables import Outcomes


def tango(t: Outcomes, gap: float) -> Real:
    """How many standard errors the difference lies above an assumed one, whose chances are fitted to the rows.

    >>> from assay.tally.contingency_tables import Outcomes
    >>> round(tango(Outcomes(both=43, only_a=0, only_b=1, neither=0), -0.1), 2)
    1.71
    """
    n, b, c = t.n, t.only_a, t.only_b
    if not n:
        return Undefined(reason="there are no rows", code="n=0")
    # b - c has mean n gap and variance n (2 q + gap - gap^2), q the fitted chance that only B is right.
    middle, last = -b - c + (2 * n - b + c) * gap, -c * gap * (1 - gap)
    q = (math.sqrt(max(middle * middle - 8 * n * last, 0.0)) - middle) / (4 * n)
    variance = n * (2 * q + gap * (1 - gap))
    if variance <= 0:
        return Undefined(reason="the difference has no variance", code="zero-variance")
    return (b - c - n * gap) / math.sqrt(variance)


def score_interval(t: Outcomes, level: float) -> tuple[float, float]:
    """Tango's interval of the difference: the gaps that the score test does not reject; wide where nothing is disputed.

    >>> from assay.tally.contingency_tables import Outcomes
    >>> low, high = score_interval(Outcomes(both=43, only_a=0, only_b=1, neither=0), 0.95)
    >>> round(low, 4), round(high, 4)
    (-0.1181, 0.0594)
    """
    z, seen = normal_quantile((1 + level) / 2), (t.only_a - t.only_b) / t.n

    def reached(gap: float, edge: float) -> float:
        found = tango(t, gap)
        return math.copysign(math.inf, seen - gap) if isinstance(found, Undefined) else found - edge

    ends = []
    for edge, far in ((z, -1.0), (-z, 1.0)):
        near, out = seen, far
        for _ in range(HALVINGS):
            middle = (near + out) / 2
            inside = reached(middle, edge) <= 0 if far < 0 else reached(middle, edge) >= 0
            near, out = (middle, out) if inside else (near, middle)
        ends.append((near + out) / 2)
    return ends[0], ends[1]
