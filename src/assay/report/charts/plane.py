# SPDX-License-Identifier: Apache-2.0
"""Round scales, places of values on them, and short paths."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeAlias

TOP: Final = 30
"""Where a chart begins, below its heading."""
UNSEEN: Final = 0.2
"""Pixels by which a drawn line may leave its points."""
MANY: Final = 1000
"""Points of a line beyond which those of one pixel column are reduced to their extremes."""
DECADES: Final = 6
Spot: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The stretch of numbers a chart shows, with round ends."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float, left: float, right: float) -> float:
        """Where a value stands, kept inside the chart."""
        part = (value - self.low) / (self.high - self.low)
        return left + (right - left) * min(1.0, max(0.0, part))


def near(value: float) -> str:
    """A place to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def from_scale(value: float, scale: str) -> float:
    """What stands at a place of an axis, which is plain or, with "log", one of logarithms to 10."""
    return 10**value if scale else value


def step_of(width: float) -> float:
    """A round step that divides a width into three to five parts."""
    rough = width / 4
    power = 10.0 ** math.floor(math.log10(rough))
    return next((m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * (1 - 1e-9)), 10 * power)


def round_axis(low: float, high: float) -> Axis:
    """An axis with round ends around two values; its step is found at the size of 1, for tiny and huge values."""
    width = (high - low) or 1e-9
    unit = 10.0 ** math.floor(math.log10(width))
    step = step_of(width / unit)
    first, last = round(low / unit / step - 0.5 + 1e-9), round(high / unit / step + 0.5 - 1e-9)
    ticks = tuple(i * step * unit for i in range(first, max(last, first + 1) + 1))
    return Axis(low=ticks[0], high=ticks[-1], ticks=ticks)


def axis_over(values: Iterable[float], *, ends: Spot | None = None, scale: str = "") -> Axis:
    """An axis over finite values, which have been taken to its scale; `ends` are kept as they are."""
    shown = list(values) or [0.0, 1.0]
    low, high = ends or (min(shown), max(shown))
    size = max(abs(low), abs(high))
    if high - low <= 1e-9 * size or low == high:  # an axis needs a width
        low, high = low - (size / 2 or 0.5), high + (size / 2 or 0.5)
    made = _log_axis(low, high) if scale else round_axis(low, high)
    if ends is None:
        return made
    slack = 1e-9 * (high - low)
    return Axis(low=low, high=high, ticks=tuple(tick for tick in made.ticks if low - slack <= tick <= high + slack))


def _log_axis(low: float, high: float) -> Axis:
    first, last = math.floor(low + 1e-9), math.ceil(high - 1e-9)
    last = max(last, first + 1)
    parts = (1, 2, 5) if last - first <= 2 else (1,)  # noqa: PLR2004  two decades have room for more numbers
    step = math.ceil((last - first) / DECADES)
    ticks = [decade + math.log10(part) for decade in range(first, last + 1, step) for part in parts]
    start = max(tick for tick in ticks if tick <= low + 1e-9)
    stop = min((tick for tick in ticks if tick >= high - 1e-9), default=float(last))
    return Axis(low=start, high=stop, ticks=tuple(tick for tick in ticks if start <= tick <= stop))


def tick_texts(ticks: Sequence[float], scale: str = "") -> list[str]:
    """Short numbers for the ticks of an axis, all of them in the same unit.

    >>> tick_texts([0, 5000, 10000]), tick_texts([0, 0.25]), tick_texts([-1, 3], "log")
    (['0', '5k', '10k'], ['0', '0.25'], ['0.1', '1000'])
    """
    values = [from_scale(tick, scale) for tick in ticks]
    size = max(map(abs, values), default=0.0)
    unit, letter = next(((u, s) for u, s in ((1e6, "M"), (1e3, "k")) if 10 * u <= size < 1000 * u), (1, ""))
    if unit == 1 and size >= 1e9:  # noqa: PLR2004  beyond it, powers of ten are shorter
        return [_power(f"{value:.3g}") for value in values]
    # What rounding leaves of a zero is nothing beside the largest tick.
    near = [0.0 if not scale and abs(value) < 1e-9 * size else value / unit for value in values]
    return [f"{_power(f'{value:.6g}')}{letter if value else ''}" for value in near]


def _power(text: str) -> str:
    mantissa, power, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if power else text


def path_text(points: Sequence[Spot]) -> str:
    """A line as the data of a path; level and upright steps are written short."""
    path, before = "", (math.nan, math.nan)
    for at in points:
        x, y = (near(place) for place in at)
        on = f"V{y}" if at[0] == before[0] else f"H{x}" if at[1] == before[1] else f"L{x} {y}"
        path += on if path else f"M{x} {y}"
        before = at
    return path


def straightened(points: Sequence[Spot]) -> list[Spot]:
    """The fewest of some points, both ends among them, whose line passes no other point by more than UNSEEN."""
    kept, stack = {0, len(points) - 1}, [(0, len(points) - 1)]
    while stack:
        a, b = stack.pop()
        away = [(_away(points[i], points[a], points[b]), i) for i in range(a + 1, b)]
        if away and max(away)[0] > UNSEEN:
            middle = max(away)[1]
            kept.add(middle)
            stack += [(a, middle), (middle, b)]
    return [points[i] for i in sorted(kept) if 0 <= i < len(points)]


def _away(point: Spot, a: Spot, b: Spot) -> float:
    """How far a point is from the line between two others."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = math.hypot(dx, dy)
    if not length:
        return math.hypot(point[0] - a[0], point[1] - a[1])
    return abs(dy * (point[0] - a[0]) - dx * (point[1] - a[1])) / length


def thinned_columns(points: Sequence[Spot]) -> list[Spot]:
    """A long line with, of neighbours in one pixel column, the first, the lowest, the highest and the last."""
    if len(points) <= MANY:
        return list(points)
    kept: list[Spot] = []
    for _, column in groupby(points, key=lambda point: round(point[0])):
        part = list(column)
        heights = [y for _, y in part]
        ends = {0, heights.index(min(heights)), heights.index(max(heights)), len(part) - 1}
        kept += [part[place] for place in sorted(ends)]
    return kept
