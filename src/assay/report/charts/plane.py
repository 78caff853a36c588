# SPDX-License-Identifier: Apache-2.0
"""A plane of two axes: round scales, places of values, short paths, and the frame around them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeAlias
from xml.sax.saxutils import escape

SIDE: Final = 240
LEFT: Final = 40
TOP: Final = 30
RIGHT: Final = 14
BELOW: Final = 38
"""Room for the numbers and the name of the axis across."""
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


def to_scale(value: float, scale: str) -> float | None:
    """A value on a plain axis, or on one of logarithms to 10 ("log"), where only positive values have a place."""
    return value if not scale else math.log10(value) if value > 0 else None


def from_scale(value: float, scale: str) -> float:
    """What stands at a place of an axis."""
    return 10**value if scale else value


def step_of(width: float) -> float:
    """A round step that divides a width into three to five parts."""
    rough = width / 4
    power = 10.0 ** math.floor(math.log10(rough))
    return next((m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * (1 - 1e-9)), 10 * power)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane:
    """Two axes with names, and the room they take."""

    across: Axis
    up: Axis
    names: tuple[str, str]
    numbers: tuple[Sequence[str], Sequence[str]]
    """Texts at the ticks of both axes."""
    left: int = LEFT
    tall: int = SIDE

    def x(self, value: float) -> float:
        """Where a value stands across, kept inside the plane."""
        return self.across.at(value, self.left, self.left + SIDE)

    def y(self, value: float) -> float:
        """Where a value stands upwards, kept inside the plane."""
        return TOP + self.tall - self.up.at(value, 0, self.tall)

    def draw(
        self, title: str, described: str, body: str, *, head: str = "", data: str = "", foot: str = "", room: int = 0
    ) -> str:
        """The plane around what is drawn; `foot` stands below it and takes `room`."""
        bottom, right = TOP + self.tall, self.left + SIDE
        xs = [near(self.x(tick)) for tick in self.across.ticks]
        ys = [self.y(tick) for tick in self.up.ticks]
        grid = "".join(f"M{x} {TOP}V{bottom}" for x in xs) + "".join(f"M{self.left} {near(y)}H{right}" for y in ys)
        across, up = zip(xs, self.numbers[0], strict=True), zip(ys, self.numbers[1], strict=True)
        numbers = "".join(f'<text x="{x}" y="{bottom + 14}">{text}</text>' for x, text in across)
        left = "".join(f'<text x="{self.left - 5}" y="{near(y + 3.5)}">{text}</text>' for y, text in up)
        middle, (below, beside) = near(TOP + self.tall / 2), self.names
        name = f'<text transform="rotate(-90 9 {middle})" x="9" y="{middle}">{escape(beside)}</text>' if beside else ""
        framed = (
            f'<g class="fr"><path class="gr" stroke="currentColor" stroke-opacity=".18" d="{grid}"/>'
            f'<g class="ax" text-anchor="middle">{numbers}</g><g class="ax" text-anchor="end">{left}</g></g>'
            f'<g class="ax" text-anchor="middle" font-size="11">'
            f'<text x="{self.left + SIDE // 2}" y="{bottom + 31}">{escape(below)}</text>{name}</g>{body}{foot}'
        )
        size = (right + RIGHT, bottom + BELOW + room)
        return svg_document("plot", size, title, described, framed, head=head, data=data)


def svg_document(
    kind: str, size: tuple[int, int], title: str, described: str, body: str, *, head: str = "", data: str = ""
) -> str:
    """A chart with its title, its text alternative and its heading."""
    width, height = size
    return (
        f'<svg class="{kind}" role="img" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" fill="currentColor" font-family="system-ui, sans-serif"'
        f' font-size="10"{data}><title>{escape(title)}</title><desc>{escape(described)}</desc>'
        f'<text class="hd" x="0" y="14" font-weight="600" font-size="13">{escape(head or title)}</text>{body}</svg>'
    )


def round_axis(low: float, high: float) -> Axis:
    """An axis with round ends around two values."""
    step = step_of(max(high - low, 1e-9))
    first, last = round(low / step - 0.5 + 1e-9), round(high / step + 0.5 - 1e-9)
    last = max(last, first + 1)
    ticks = tuple(i * step for i in range(first, last + 1))
    return Axis(low=ticks[0], high=ticks[-1], ticks=ticks)


def axis_over(values: Iterable[float], *, ends: Spot | None = None, scale: str = "") -> Axis:
    """An axis over finite values, which have been taken to its scale; `ends` are kept as they are."""
    shown = list(values) or [0.0, 1.0]
    low, high = ends or (min(shown), max(shown))
    size = max(abs(low), abs(high))
    if high - low <= 1e-9 * size or low == high:  # an axis needs a width
        low, high = low - (size / 2 or 0.5), high + (size / 2 or 0.5)
    made = _log_axis(low, high) if scale else _scaled(low, high)
    if ends is None:
        return made
    slack = 1e-9 * (high - low)
    return Axis(low=low, high=high, ticks=tuple(tick for tick in made.ticks if low - slack <= tick <= high + slack))


def _scaled(low: float, high: float) -> Axis:
    """A round axis whose step is found at the size of 1, so that tiny and huge values have one, too."""
    unit = 10.0 ** math.floor(math.log10(high - low))
    near = round_axis(low / unit, high / unit)
    return Axis(low=near.low * unit, high=near.high * unit, ticks=tuple(tick * unit for tick in near.ticks))


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
