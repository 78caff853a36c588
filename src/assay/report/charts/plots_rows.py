# SPDX-License-Identifier: Apache-2.0
"""Plots of plain data in labelled rows: bars, strips of dots, and points with intervals."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from assay.core.text import counted
from assay.report.charts.plane import TOP, axis_over, svg_document, tick_texts
from assay.report.charts.plot_parts import (
    BLUE,
    INK,
    LINE,
    WIDTH,
    Data,
    legend,
    listed_phrases,
    look_of,
    number,
    safe_text,
    short_name,
    text_at,
    value_text,
)
from assay.report.charts.svg import DOT, GAP, ROW, Axis, _near
from assay.report.fit_text import ems

SIZE: Final = 11
"""Of the texts of rows."""
BARS: Final = 30
INTERVALS: Final = 100
STRIP: Final = 28
SINGLE: Final = 300
"""Values of a lane that are drawn one by one."""
GOLDEN: Final = 0.6180339887
"""Steps of this share of a turn spread points evenly, the same way on each run."""
BINS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A row: its label, the text to the right of it, and where its middle is."""

    label: str
    text: str
    y: float
    small: str = ""
    """A second text, softer than the first."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Lanes on one axis; labels and texts take the room they need, the axis the rest."""

    lanes: Sequence[Lane]
    scale: Axis
    bottom: float
    heads: Sequence[tuple[float, str]] = ()

    @property
    def left(self) -> float:
        """Where the axis begins."""
        widest = max((max(ems(lane.label), 0.85 * ems(lane.note)) for lane in self.lanes), default=0.0)
        return min(104.0, max(24.0, widest * SIZE)) + GAP

    @property
    def right(self) -> float:
        """Where the axis ends."""
        widest = max((ems(lane.text) + 0.95 * ems(lane.small) for lane in self.lanes), default=0.0)
        return WIDTH - (min(118.0, widest * SIZE) + GAP if widest else GAP)

    def x(self, value: float) -> float:
        """Where a value stands, kept inside the axis."""
        return self.scale.at(value, self.left, self.right)

    def draw(self, chart: Data, described: str, body: str, *, foot: str = "", room: int = 0) -> str:
        """The rows around what is drawn."""
        title = safe_text(chart["title"])
        left, right = self.left, self.right
        parts = [text_at(0, y, text, WIDTH, size=SIZE, kind="so") for y, text in self.heads]
        for lane in self.lanes:
            y = lane.y - 2 if lane.note else lane.y + 4
            parts.append(text_at(0, y, lane.label, left - GAP + 1, size=SIZE))
            parts.append(text_at(0, y + 11, lane.note, left - GAP + 1, size=9.5, kind="so") if lane.note else "")
            wide = ems(lane.text) * SIZE
            parts.append(text_at(right + GAP, lane.y + 4, lane.text, WIDTH - right - GAP + 1, size=SIZE))
            after = WIDTH - right - GAP - wide - 2
            small = lane.small and text_at(right + GAP + wide + 3, lane.y + 4, lane.small, after, kind="so")
            parts.append(small)
        places = [_near(self.x(tick)) for tick in self.scale.ticks]
        grid = "".join(f"M{x} {TOP - 2}V{_near(self.bottom)}" for x in places)
        texts = zip(places, tick_texts(self.scale.ticks), strict=True)
        numbers = "".join(f'<text x="{x}" y="{_near(self.bottom + 13)}">{text}</text>' for x, text in texts)
        name = text_at((left + right) / 2, self.bottom + 28, safe_text(chart.get("x")), WIDTH, size=SIZE)
        framed = (
            f'<path class="gr" stroke="currentColor" stroke-opacity=".18" d="{grid}"/>'
            f'<g class="ax" text-anchor="middle">{numbers}{name}</g>{body}<g class="lb">{"".join(parts)}</g>{foot}'
        )
        return svg_document("plot", (WIDTH, round(self.bottom + 34 + room)), title, described, framed)


def bars(chart: Data) -> str:
    """Horizontal bars from zero, whole or in parts, with the interval of each value."""
    rows = chart["rows"][:BARS]
    if not rows:
        return ""
    parts = [_parts(row) for row in rows]
    values = [number(row.get("value")) for row in rows]
    totals = [sum(size for _, size in some) if some else value for some, value in zip(parts, values, strict=True)]
    ends = [(number(row.get("low")), number(row.get("high"))) for row in rows]
    texts = [
        safe_text(row.get("text")) or ("–" if total is None else value_text(total))
        for row, total in zip(rows, totals, strict=True)
    ]
    lanes = [
        Lane(label=safe_text(row["label"]), text=text, y=TOP + ROW * (i + 0.5))
        for i, (row, text) in enumerate(zip(rows, texts, strict=True))
    ]
    scale = axis_over([x for x in (0.0, *totals, *(end for pair in ends for end in pair)) if x is not None])
    shape = Rows(lanes=lanes, scale=scale, bottom=TOP + ROW * len(rows))
    names = list(dict.fromkeys(name for some in parts for name, _ in some))
    body = []
    for lane, some, total, (low, high) in zip(lanes, parts, totals, ends, strict=True):
        pieces = [(names.index(name), size) for name, size in some] if some else [(0, total or 0.0)]
        start = 0.0
        for place, size in pieces:
            a, b = sorted((shape.x(start), shape.x(start + size)))
            path = f"M{_near(a)} {_near(lane.y)}H{_near(b)}"
            look = look_of(place)
            body.append(look.stroke(path, width=12, opacity=".35") if look.dash and size else "")
            body.append(look.stroke(path, width=12) if size else "")
            start += size
        body.append(_whisker(shape, low, high, lane.y))
    hidden = len(chart["rows"]) - len(rows)
    top = shape.bottom + 34
    foot = text_at(0, top + 8, f"and {counted(hidden, 'more row')}", WIDTH, kind="so") if hidden > 0 else ""
    named, room = legend([(look_of(i), safe_text(n)) for i, n in enumerate(names)], top + LINE * bool(foot), thick=True)
    described = _extremes(len(chart["rows"]), [(row["label"], v) for row, v in zip(rows, totals, strict=True)])
    if names:
        described += f" Parts: {listed_phrases([short_name(name) for name in names])}."
    return shape.draw(chart, described, "".join(body), foot=foot + named, room=room + LINE * bool(foot))


def _parts(row: Data) -> list[tuple[Any, float]]:
    """The parts of a bar that have a size."""
    sized = [(part["name"], number(part["value"])) for part in row.get("parts") or ()]
    return [(name, size) for name, size in sized if size is not None and size >= 0]


def _whisker(shape: Rows, low: float | None, high: float | None, y: float) -> str:
    if low is None or high is None:
        return ""
    a, b = _near(shape.x(low)), _near(shape.x(high))
    caps = "".join(f"M{x} {_near(y - 4)}v8" for x in (a, b))
    return replace(INK, dash="").stroke(f"M{a} {_near(y)}H{b}{caps}", width=1.4)


def _extremes(count: int, values: Iterable[tuple[Any, float | None]]) -> str:
    """How many rows there are, and the lowest and the highest of them."""
    defined = [(label, value) for label, value in values if value is not None]
    if not defined:
        return f"{counted(count, 'row')}, none with a value."
    ends = (end(defined, key=lambda pair: pair[1]) for end in (min, max))
    lowest, highest = (f"{value_text(value)} ({short_name(label)})" for label, value in ends)
    return f"{counted(count, 'row')}; lowest {lowest}, highest {highest}."


def dots(chart: Data) -> str:
    """The values of each lane as dots, or as shades of equal counts where they are many, with its median."""
    lanes, values, phrases = [], [], []
    for i, row in enumerate(chart["lanes"][:BARS]):
        kept = sorted(value for raw in row["values"] if (value := number(raw)) is not None)
        aside = ", ".join(f"{value_text(part['count'])} {safe_text(part['text'])}" for part in row.get("aside") or ())
        lanes.append(Lane(label=safe_text(row["label"]), text=aside, y=TOP + STRIP * (i + 0.5)))
        values.append(kept)
        middle = number(row.get("median"))
        middle = statistics.median(kept) if middle is None and kept else middle
        about = f"{short_name(row['label'])}: {counted(len(kept), 'value')}"
        about += f", median {value_text(middle)}" if middle is not None else ""
        phrases.append(f"{about}, {aside}" if aside else about)
    if not any(values):
        return ""
    raw_ends = [number(row.get(key)) for row in chart["lanes"] for key in ("median", "low", "high")]
    scale = axis_over(
        [*(x for kept in values for x in (kept[:1] + kept[-1:])), *(x for x in raw_ends if x is not None)]
    )
    shape = Rows(lanes=lanes, scale=scale, bottom=TOP + STRIP * len(lanes))
    body = []
    for lane, row, kept in zip(lanes, chart["lanes"], values, strict=False):
        body.append(_strip(shape, kept, lane.y))
        low, middle, high = (number(row.get(key)) for key in ("low", "median", "high"))
        body.append(_whisker(shape, low, high, lane.y))
        if middle is not None:
            at = _near(shape.x(middle))
            body.append(replace(INK, dash="").stroke(f"M{at} {_near(lane.y - 11)}v22", width=2.4))
    hidden = len(chart["lanes"]) - len(lanes)
    note = "Upright bars are medians." if any(number(row.get("median")) is not None for row in chart["lanes"]) else ""
    note += f" And {counted(hidden, 'more lane')}." if hidden > 0 else ""
    foot = text_at(0, shape.bottom + 42, note.strip(), WIDTH, kind="so") if note else ""
    return shape.draw(chart, f"{listed_phrases(phrases)}.", "".join(body), foot=foot, room=LINE * bool(note))


def _strip(shape: Rows, values: Sequence[float], y: float) -> str:
    """The sorted values of a lane, spread by their rank; many values as bins of equal counts, dark where narrow."""
    if not values:
        return ""
    if len(values) <= SINGLE:
        places = ((shape.x(value), y + 18 * (i * GOLDEN % 1 - 0.5)) for i, value in enumerate(values))
        return BLUE.stroke("".join(f"M{_near(a)} {_near(b)}h0" for a, b in places), width=4, opacity=".5", ends="round")
    edges = [shape.x(values[round(i * (len(values) - 1) / BINS)]) for i in range(BINS + 1)]
    widths = [max(b - a, 1.0) for a, b in pairwise(edges)]
    return "".join(
        BLUE.fill(
            f"M{_near(a)} {_near(y - 9)}h{_near(width)}v18h-{_near(width)}z",
            f"{0.1 + 0.7 * (min(widths) / width) ** 0.5:.2f}",
        )
        for a, width in zip(edges, widths, strict=False)
    )


def intervals(chart: Data) -> str:
    """A point and an interval for each row on one axis, with groups, a reference line and a shaded tolerance."""
    rows = chart["rows"][:INTERVALS]
    points = [tuple(number(row.get(key)) for key in ("low", "value", "high")) for row in rows]
    if not rows:
        return ""
    reference = chart.get("reference") or {}
    line, band = number(reference.get("x")), [number(end) for end in chart.get("band") or ()]
    ends = [number(end) for end in chart.get("ends") or ()]
    fixed = (ends[0], ends[1]) if len(ends) == 2 and None not in ends else None  # noqa: PLR2004  both ends
    every_end = [x for x in (*(x for point in points for x in point), line, *band) if x is not None]
    scale = axis_over(every_end, ends=fixed if fixed and fixed[0] < fixed[1] else None)  # type: ignore[operator,arg-type]
    lanes, heads, bottom = _grouped(rows, points)
    shape = Rows(lanes=lanes, scale=scale, bottom=bottom, heads=heads)
    body = []
    if len(band) == 2 and None not in band:  # noqa: PLR2004  both ends
        a, b = (_near(shape.x(end)) for end in band if end is not None)
        area = f"M{a} {TOP - 2}H{b}V{_near(bottom)}H{a}z"
        body.append(f'<path class="hs" fill="currentColor" fill-opacity=".2" d="{area}"/>')
    if line is not None:
        at = shape.x(line)
        look = 'class="rf" stroke="currentColor" stroke-dasharray="3 3"'
        body.append(f'<path {look} d="M{_near(at)} {TOP - 2}V{_near(bottom)}"/>')
        room = 2 * min(at, WIDTH - at)
        name = safe_text(reference.get("text"))
        body.append(text_at(at, TOP - 5, name, room, anchor="middle", kind="so") if name else "")
    body += [_interval(shape, point, lane.y) for point, lane in zip(points, lanes, strict=True)]
    hidden = len(chart["rows"]) - len(rows)
    foot = text_at(0, bottom + 42, f"and {counted(hidden, 'more row')}", WIDTH, kind="so") if hidden > 0 else ""
    described = _extremes(len(chart["rows"]), [(row["label"], p[1]) for row, p in zip(rows, points, strict=True)])
    if line is not None:
        described += f" Reference: {short_name(reference.get('text') or 'line')} at {value_text(line)}."
    return shape.draw(chart, described, "".join(body), foot=foot, room=LINE * bool(foot))


def _grouped(
    rows: Sequence[Data], points: Sequence[Sequence[float | None]]
) -> tuple[list[Lane], list[tuple[float, str]], float]:
    """The lanes of some rows below the heads of their groups, and where they end."""
    lanes, heads = [], []
    y, group = float(TOP), None
    for row, (low, value, high) in zip(rows, points, strict=True):
        if row.get("group") != group:
            group = row.get("group")
            heads.append((y + 15, safe_text(group)))
            y += ROW - 1
        text = safe_text(row.get("text")) or ("–" if value is None else value_text(value))
        small = ""
        if low is not None and high is not None and not row.get("text"):
            small = f"{value_text(low)}{'–' if low >= 0 else ' to '}{value_text(high)}"
        note = safe_text(row.get("note"))
        tall = ROW + 6 * bool(note)
        lanes.append(Lane(label=safe_text(row["label"]), text=text, small=small, note=note, y=y + tall / 2))
        y += tall
    return lanes, heads, y


def _interval(shape: Rows, point: Sequence[float | None], y: float) -> str:
    """An interval and its point; an end beyond the axis is an arrow."""
    low, value, high = point
    parts = []
    if low is not None and high is not None:
        a, b = _near(shape.x(low)), _near(shape.x(high))
        look = 'class="iv" stroke="currentColor" stroke-width="5" stroke-opacity=".35"'
        parts.append(f'<path {look} d="M{a} {_near(y)}H{b}"/>')
        arrows = f"M{a} {_near(y - 4)}l-5 4l5 4z" if low < shape.scale.low else ""
        arrows += f"M{b} {_near(y - 4)}l5 4l-5 4z" if high > shape.scale.high else ""
        parts.append(BLUE.fill(arrows) if arrows else "")
    if value is not None and shape.scale.low <= value <= shape.scale.high:
        dot = f'cx="{_near(shape.x(value))}" cy="{_near(y)}" r="{DOT}"'
        parts.append(f'<circle class="pt" fill="{BLUE.colour}" {dot}/>')
    return "".join(parts)
