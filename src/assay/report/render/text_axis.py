# SPDX-License-Identifier: Apache-2.0
"""One axis for values and their intervals, drawn in characters."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from assay.report.estimate_rows import Entry

BAR: Final = 24
"""Characters of the axis."""
TICKS: Final = 6
"""Steps of the axis at most; its ends are whole steps."""


def axis_of(entries: Iterable[Entry]) -> tuple[float, float] | None:
    """One axis for all values that are better the higher, up to 1: as narrow as whole steps allow; None for none."""
    drawn = [value for value in entries if is_drawn(value) and value.defined]
    ends = [
        end for value in drawn for end in (value.value, value.low, value.high) if end is not None and math.isfinite(end)
    ]
    if len(drawn) < 2:  # noqa: PLR2004  nothing to compare
        return None
    low, high = min(ends), max(ends)
    sizes = (Fraction(mantissa, 10**power) for power in range(6, -1, -1) for mantissa in (1, 2, 5))
    step = next((size for size in sizes if (high - low) / float(size) <= TICKS), Fraction(1))
    start, end = math.floor(Fraction(low) / step) * step, math.ceil(Fraction(high) / step) * step
    return float(start), float(max(end, start + step))


def is_drawn(value: Entry) -> bool:
    """Whether a value stands on the common axis: bounded by 1, the higher the better."""
    return value.about.span[1] == 1 and math.isfinite(value.about.span[0]) and value.about.better.startswith("higher")


def drawn_bar(value: Entry, axis: tuple[float, float]) -> str:
    """A value and its interval on the axis; nothing for a value that does not stand on it."""
    if not is_drawn(value) or value.value is None:
        return ""
    low, high = axis

    def at(place: float) -> int:
        return round((place - low) / (high - low) * (BAR - 1))

    marks = ["·"] * BAR
    if value.low is not None and value.high is not None:
        for i in range(at(value.low), at(value.high) + 1):
            marks[i] = "━"
    marks[at(value.value)] = "●"
    return "".join(marks)
