# SPDX-License-Identifier: Apache-2.0
"""Parts that all plots of plain data share: scales, places, short paths, looks, checked numbers, texts and legends."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, TypeAlias
from xml.sax.saxutils import escape

from assay.core.text import figure, visible
from assay.report.colours import LIGHT
from assay.report.fit_text import ems, fitted

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


Data: TypeAlias = Mapping[str, Any]
"""The data of a chart as a Record holds them; what is missing or not finite is not drawn."""

WIDTH: Final = 330
HUGE: Final = 1e300
"""Beyond it, differences overflow."""
LINE: Final = 15
HEAD: Final = 22
"""Room for a title, in em."""
SPOKEN: Final = 60
"""Characters of a name in a text alternative."""
ENTRIES: Final = 12
"""Names in a legend."""
PLAIN: Final = ("", "")
"""Two axes of plain numbers."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a series is drawn: classes and colours of strokes and areas, and a dash that is its own without colour."""

    line: str
    area: str
    colour: str
    dash: str = ""
    width: float = 2

    def stroke(self, path: str, *, width: float | None = None, opacity: str = "", ends: str = "") -> str:
        """A path in this look; nothing for an empty one."""
        if not path:
            return ""
        dash = f' stroke-dasharray="{self.dash}"' if self.dash else ""
        seen = f' opacity="{opacity}"' if opacity else ""
        cap = f' stroke-linecap="{ends}"' if ends else ""
        wide = f' stroke-width="{near(width or self.width)}"'
        return f'<path class="{self.line}" fill="none" stroke="{self.colour}"{wide}{dash}{seen}{cap} d="{path}"/>'

    def fill(self, path: str, opacity: str = "") -> str:
        """An area in this look."""
        seen = f' opacity="{opacity}"' if opacity else ""
        return f'<path class="{self.area}" fill="{self.colour}"{seen} d="{path}"/>'


BLUE: Final = Look("ln", "pt", LIGHT.blue)
ORANGE: Final = Look("ln2", "up", LIGHT.orange, "7 3")
INK: Final = Look("ct", "ik", "currentColor", "2 2.5")
SOFT: Final = Look("rf", "so", "currentColor", "9 2 2 2")
LOOKS: Final = (BLUE, ORANGE, INK, SOFT)
"""Those of series in order, which differ by dash and colour."""
CHANCE: Final = Look("rf", "so", "currentColor", "3 3", 1)
QUIET: Final = Look("rf", "so", "currentColor", width=0.8)


def number(value: object, scale: str = "") -> float | None:
    """A finite number, taken to a scale, where only positive ones have a logarithm; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < HUGE:
        return None
    return float(value) if not scale else math.log10(value) if value > 0 else None


def finite(values: Iterable[object]) -> list[float]:
    """Those of some values that are finite numbers."""
    return [value for raw in values if (value := number(raw)) is not None]


def tuples(raw: Iterable[Sequence[object]] | None, scales: Sequence[str] = PLAIN) -> list[tuple[float, ...]]:
    """Those of some points whose parts are all finite, each taken to its scale."""
    parsed = (tuple(number(part, scale) for part, scale in zip(point, scales, strict=True)) for point in raw or ())
    return [tuple(part for part in point if part is not None) for point in parsed if None not in point]


def span(raw: Sequence[object] | None, scale: str = "") -> tuple[float, float] | None:
    """Two ends, the lower one first; None for anything else."""
    ends = tuples([raw] if raw else None, (scale, scale))
    return (ends[0][0], ends[0][1]) if ends and ends[0][0] < ends[0][1] else None


def named_places(
    raw: Iterable[Data] | None, *keys: str, scales: Sequence[str] = ()
) -> list[tuple[tuple[float, ...], str]]:
    """Those of some marks whose places are finite, and their texts."""
    return [
        (place, safe_text(mark.get("text")))
        for mark in raw or ()
        for place in tuples([[mark[key] for key in keys]], scales or ("",) * len(keys))
    ]


def safe_text(thing: object) -> str:
    """A text from outside as it may be shown; nothing for nothing."""
    return "" if thing is None or thing == "" else visible(thing)


def svg_document(
    chart: Data, size: tuple[int, int], described: str, body: str, *, kind: str = "plot", data: str = ""
) -> str:
    """A chart with its title, its text alternative and as much of the title above as fits."""
    (width, height), title = size, safe_text(chart["title"])
    alternative = safe_text(chart.get("described")) or described
    return (
        f'<svg class="{kind}" role="img" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" fill="currentColor" font-family="system-ui, sans-serif"'
        f' font-size="10"{data}><title>{escape(title)}</title><desc>{escape(alternative)}</desc>'
        f'<text class="hd" x="0" y="14" font-weight="600" font-size="13">{escape(fitted(title, HEAD, ems))}</text>'
        f"{body}</svg>"
    )


def short_name(thing: object) -> str:
    """A name for a text alternative, of bounded length."""
    return fitted(visible(thing), SPOKEN)


def value_text(value: float) -> str:
    """A value as people read it.

    >>> value_text(3), value_text(0.87), value_text(-7.4), value_text(12345.6)
    ('3', '0.870', '-7.4', '12,346')
    """
    size = abs(value)
    if size >= 1e15 or size < 1:  # noqa: PLR2004  nobody reads so many digits
        return figure(value) if value else "0"
    short = f"{value:,.0f}" if size >= 1000 or value == int(value) else f"{value:.4g}"  # noqa: PLR2004
    return figure(value) if short in ("1", "-1") and size != 1 else short


def text_at(
    x: float,
    y: float,
    text: str,
    room: float,
    *,
    size: float = 10,
    given: float = 10,
    anchor: str = "",
    kind: str = "",
    more: str = "",
) -> str:
    """A text that fits its room, with its size where it is not `given`; a tooltip has the whole of what was cut."""
    if not text:
        return ""
    short = fitted(text, room / size, ems)
    whole = "" if short == text else f"<title>{escape(text)}</title>"
    named = f' class="{kind}"' if kind else ""
    side = f' text-anchor="{anchor}"' if anchor else ""
    sized = f' font-size="{size:g}"' if size != given else ""
    return f'<text{named} x="{near(x)}" y="{near(y)}"{side}{sized}{more}>{escape(short)}{whole}</text>'


def legend(
    entries: Iterable[tuple[Look, str]], top: float, *, left: float = 0, right: float = WIDTH
) -> tuple[str, int]:
    """Names beside a piece of their line, in two columns where they fit; with the height this takes."""
    named = [(look, name) for look, name in entries if name]
    shown = named[:ENTRIES]
    columns = 2 if all(ems(name) * 10 < (right - left) / 2 - 34 for _, name in shown) else 1
    wide = (right - left) / columns
    parts = []
    for i, (look, name) in enumerate(shown):
        x, y = left + wide * (i % columns), top + LINE * (i // columns) + 8
        parts.append(look.stroke(f"M{near(x)} {near(y)}h22"))
        parts.append(text_at(x + 28, y + 3.5, name, wide - 34))
    room = LINE * math.ceil(len(shown) / columns) + 4 if shown else 0
    if len(named) > ENTRIES:
        parts.append(text_at(left, top + room + 8, f"and {len(named) - ENTRIES:,} more", wide, kind="so"))
        room += LINE
    return "".join(parts), room
