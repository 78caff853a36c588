# SPDX-License-Identifier: Apache-2.0
"""Charts as small static SVG: valid XML, readable without styles, with a text alternative in each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from xml.sax.saxutils import escape

from assay.report import sentences
from assay.report.estimate_rows import Entry
from assay.report.fit_text import ems, fitted

LABEL: Final = 92
PLOT: Final = 120
TEXT: Final = 108
GAP: Final = 10
TOP: Final = 30
ROW: Final = 21
EM: Final = 11.5
DOT: Final = 3.6

BAR_WIDTH, BAR_LEFT, BAR_RIGHT = 200, 4, 196


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One row of a forest plot."""

    label: str
    entry: Entry
    small: bool = False


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


def axis(entries: Sequence[Entry]) -> Axis:
    """An axis that holds every interval of some entries, inside the range the measures can take."""
    ends = [x for one in entries for x in (one.low, one.value, one.high) if x is not None and math.isfinite(x)]
    floor = min((one.about.span[0] for one in entries), default=0.0)
    ceiling = max((one.about.span[1] for one in entries), default=1.0)
    low, high = (min(ends), max(ends)) if ends else (max(floor, 0.0), min(ceiling, 1.0))
    step = step_of(max(high - low, 0.2))
    start, stop = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    start, stop = max(start, floor), min(stop, ceiling)
    if stop - start < 2 * step:  # two steps at least, or a chart of equal values would have no width
        start, stop = max(start - step, floor), min(stop + step, ceiling)
    count = max(1, round((stop - start) / step))
    return Axis(low=start, high=stop, ticks=tuple(start + i * (stop - start) / count for i in range(count + 1)))


def step_of(width: float) -> float:
    """A round step that divides a width into three to five parts."""
    rough = width / 4
    power = 10.0 ** math.floor(math.log10(rough))
    return next((m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * (1 - 1e-9)), 10 * power)


Rows: TypeAlias = "Sequence[tuple[str, bool, Sequence[Entry]]]"
"""Label, whether it is small, and the values of some rows."""


def forest_of(rows: Rows, place: int, by: str, whole: Entry | None) -> str:
    """One of several values of some rows; values of the same range share an axis, so that they can be compared."""
    points = [Point(label=label, entry=entries[place], small=small) for label, small, entries in rows]
    span = points[0].entry.about.span
    alike = [value for *_, entries in rows for value in entries if value.about.span == span]
    return forest(points, by=by, scale=axis(alike), whole=whole)


def forest(
    points: Sequence[Point], *, by: str, scale: Axis, whole: Entry | None = None, head: str = "", room: int = LABEL
) -> str:
    """Point and interval of one measure, row by row; `whole` draws a dashed line for all rows together."""
    width = room + GAP + PLOT + GAP + TEXT
    head = head or points[0].entry.about.name
    height = TOP + ROW * len(points) + 22
    bottom = TOP + ROW * len(points)
    marks: dict[str, list[str]] = {"iv": [], "pt": [], "lb": [], "vl": []}
    for i, point in enumerate(points):
        y = TOP + ROW * i + ROW / 2
        marks["lb"].append(_label(point, y + 4, room))
        marks["vl"].append(_value(point.entry, y + 4))
        one = point.entry
        if one.low is not None and one.high is not None:
            a, b = (_near(scale.at(x, 0, PLOT)) for x in (one.low, one.high))
            marks["iv"].append(f"M{a} {_near(y)}H{b}")
        if one.value is not None and math.isfinite(one.value):
            marks["pt"].append(f'<circle cx="{_near(scale.at(one.value, 0, PLOT))}" cy="{_near(y)}" r="{DOT}"/>')
    reference = ""
    if whole is not None and whole.value is not None and math.isfinite(whole.value):
        x = _near(scale.at(whole.value, 0, PLOT))
        reference = f'<path class="rf" stroke="currentColor" stroke-dasharray="3 3" d="M{x} {TOP - 4}V{bottom}"/>'
    described = sentences.forest_described(len(points), *_extremes(points))
    title = sentences.forest_title(head, by)
    return (
        f'<svg class="forest" role="img" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" fill="currentColor" font-family="system-ui, sans-serif"'
        f' font-size="{EM}"><title>{escape(title)}</title><desc>{escape(described)}</desc>'
        f'<text class="hd" x="0" y="14" font-weight="600" font-size="13">{escape(head)}</text>'
        f'<g class="lb">{"".join(marks["lb"])}</g><g transform="translate({room + GAP} 0)">'
        f"{_grid(scale, bottom)}{reference}"
        f'<path class="iv" stroke="currentColor" stroke-width="5" stroke-opacity=".35" d="{"".join(marks["iv"])}"/>'
        f'<g class="pt">{"".join(marks["pt"])}</g><g class="vl">{"".join(marks["vl"])}</g></g></svg>'
    )


def _grid(scale: Axis, bottom: float) -> str:
    places = [_near(scale.at(tick, 0, PLOT)) for tick in scale.ticks]
    lines = "".join(f"M{x} {TOP - 4}V{bottom}" for x in places)
    numbers = "".join(
        f'<text x="{x}" y="{bottom + 14}">{_tick(tick)}</text>' for x, tick in zip(places, scale.ticks, strict=True)
    )
    return (
        f'<path class="gr" stroke="currentColor" stroke-opacity=".18" d="{lines}"/>'
        f'<g class="ax" text-anchor="middle" font-size="10">{numbers}</g>'
    )


def _label(point: Point, y: float, room: int) -> str:
    shown = fitted(point.label, (room - (14 if point.small else 0)) / EM, ems)
    mark = '<tspan class="sm">△ </tspan>' if point.small else ""
    # The whole name is a tooltip only where it was cut, because the table below has it anyway.
    whole = "" if shown == point.label else f"<title>{escape(point.label)}</title>"
    return f'<text x="0" y="{_near(y)}">{mark}{escape(shown)}{whole}</text>'


def _value(one: Entry, y: float) -> str:
    if not one.defined:
        return f'<text class="un" x="{PLOT + GAP}" y="{_near(y)}">∅ {escape(one.shown)}</text>'
    rest = f' <tspan class="so" font-size="10.5">{escape(one.short)}</tspan>' if one.interval else ""
    return f'<text x="{PLOT + GAP}" y="{_near(y)}">{escape(one.shown)}{rest}</text>'


def _extremes(points: Sequence[Point]) -> tuple[tuple[str, str] | None, tuple[str, str] | None]:
    with_value = [p for p in points if p.entry.value is not None]
    if not with_value:
        return None, None
    lowest = min(with_value, key=lambda p: p.entry.value or 0.0)
    highest = max(with_value, key=lambda p: p.entry.value or 0.0)
    return (lowest.label, lowest.entry.shown), (highest.label, highest.entry.shown)


def bar(one: Entry, baseline: Entry | None = None) -> str:
    """The interval of one value on the whole range of its measure; nothing when either has no ends."""
    low, high = one.about.span
    if one.value is None or not all(map(math.isfinite, (low, high, one.value))):
        return ""
    scale = Axis(low=low, high=high, ticks=())
    x = _near(scale.at(one.value, BAR_LEFT, BAR_RIGHT))
    interval = ""
    if one.low is not None and one.high is not None:
        a, b = (_near(scale.at(end, BAR_LEFT, BAR_RIGHT)) for end in (one.low, one.high))
        interval = f'<path class="iv" stroke="currentColor" stroke-width="10" stroke-opacity=".35" d="M{a} 10H{b}"/>'
    ends: list[tuple[float, str, str]] = [(BAR_LEFT, "start", f"{low:g}"), (BAR_RIGHT, "end", f"{high:g}")]
    ticks = f"M{BAR_LEFT} 6V14M{BAR_RIGHT} 6V14"
    if low < 0 < high:
        middle = _near(scale.at(0, BAR_LEFT, BAR_RIGHT))
        ends.insert(1, (float(middle), "middle", "0"))
        ticks += f"M{middle} 6V14"
    numbers = "".join(f'<text x="{_near(at)}" y="27" text-anchor="{to}">{escape(text)}</text>' for at, to, text in ends)
    base = ""
    if baseline is not None and baseline.value is not None:
        at = _near(scale.at(baseline.value, BAR_LEFT, BAR_RIGHT))
        base = f'<path class="bs" stroke="currentColor" stroke-width="2" d="M{at} 2V18"/>'
    described = sentences.bar_described(one.shown, one.interval, f"{low:g}", f"{high:g}")
    return (
        f'<svg class="bar" role="img" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {BAR_WIDTH} 30"'
        f' fill="currentColor" font-family="system-ui, sans-serif" font-size="10"><title>{escape(described)}</title>'
        f'<path class="gr" stroke="currentColor" stroke-opacity=".3" d="M{BAR_LEFT} 10H{BAR_RIGHT}{ticks}"/>'
        f'{interval}{base}<path class="tk" stroke="currentColor" stroke-width="2.5" d="M{x} 2V18"/>'
        f'<g class="ax">{numbers}</g></svg>'
    )


def _near(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _tick(value: float) -> str:
    return f"{round(value, 6):g}"
