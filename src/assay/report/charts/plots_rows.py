# SPDX-License-Identifier: Apache-2.0
"""Plots of plain data in labelled rows: points with intervals, bars, and strips of dots."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from assay.core.text import counted, phrases
from assay.report.charts import plot_parts as parts
from assay.report.charts.plot_parts import BLUE, INK, TOP, WIDTH, Data, finite, near, safe_text, text_at, value_text
from assay.report.fit_text import ems

SIZE: Final = 11
"""Of the texts of rows."""
GAP, ROW, STRIP, DOT = 10, 21, 28, 3.6
MOST: Final = 100
MOST_BARS: Final = 30
SINGLE: Final = 300
"""Values of a lane that are drawn one by one."""
GOLDEN: Final = 0.6180339887
"""Steps of this share of a turn spread points evenly, the same way on each run."""
BINS: Final = 20


class Lane:
    """A row of a chart: its label, the texts to the right of it, its numbers, and where its middle is."""

    def __init__(self, row: Data, y: float) -> None:
        self.row, self.y, self.label = row, y, safe_text(row["label"])
        aside = (f"{value_text(part['count'])} {safe_text(part['text'])}" for part in row.get("aside") or ())
        self.text, self.small = safe_text(row.get("text")) or ", ".join(aside), safe_text(row.get("small"))
        """A second text, softer than the first."""
        self.low, self.value, self.high = (parts.number(row.get(key)) for key in ("low", "value", "high"))


class Rows:
    """Lanes on one axis; labels and texts take the room they need, the axis the rest."""

    def __init__(self, chart: Data, lanes: Sequence[Lane], values: Sequence[float], bottom: float) -> None:
        self.chart, self.lanes, self.bottom = chart, lanes, bottom
        self.scale, self.wide = (
            parts.axis_over(values, ends=parts.span(chart.get("ends"))),
            int(chart.get("wide") or WIDTH),
        )
        label = max(ems(lane.label) for lane in lanes)
        self.left = min(104.0 * self.wide / WIDTH, max(24.0, label * SIZE)) + GAP
        text = max(ems(lane.text) + 0.95 * ems(lane.small) for lane in lanes)
        self.right = self.wide - (min(118.0 * self.wide / WIDTH, text * SIZE + 4) + GAP if text else GAP)

    def x(self, value: float) -> float:
        """Where a value stands, kept inside the axis."""
        return self.scale.at(value, self.left, self.right)

    def whisker(self, lane: Lane) -> str:
        """The interval of a row, with upright ends."""
        a, b = (near(self.x(end)) for end in parts.span((lane.low, lane.high)) or (0, 0))
        path = f"M{a} {near(lane.y)}H{b}M{a} {near(lane.y - 4)}v8M{b} {near(lane.y - 4)}v8"
        return replace(INK, dash="").stroke(path, width=1.4) if a != b else ""

    def draw(self, described: str, body: str, *, note: str = "", heads: Sequence[tuple[float, str]] = ()) -> str:
        """The rows around what is drawn, with the heads of groups between them and a note below."""
        left, right = self.left, self.right
        texts = [text_at(0, y, text, self.wide, size=SIZE, given=SIZE, kind="so") for y, text in heads]
        for lane in self.lanes:
            texts.append(text_at(0, lane.y + 4, lane.label, left - GAP + 1, size=SIZE, given=SIZE))
            room = self.wide - right - GAP + 1
            texts.append(text_at(right + GAP, lane.y + 4, lane.text, room, size=SIZE, given=SIZE))
            x = right + GAP + ems(lane.text) * SIZE + 3
            texts.append(text_at(x, lane.y + 4, lane.small, self.wide + 1 - x, given=SIZE, kind="so"))
        places = [near(self.x(tick)) for tick in self.scale.ticks]
        grid = "".join(f"M{x} {TOP - 2}V{near(self.bottom)}" for x in places)
        ticks = zip(places, parts.tick_texts(self.scale.ticks), strict=True)
        numbers = "".join(f'<text x="{x}" y="{near(self.bottom + 13)}">{text}</text>' for x, text in ticks)
        middle = (left + right) / 2
        across = 2 * min(middle, self.wide - middle)
        name = text_at(middle, self.bottom + 28, safe_text(self.chart.get("x")), across, size=SIZE)
        framed = (
            f'<path class="gr" stroke="currentColor" stroke-opacity=".18" d="{grid}"/>'
            f'<g class="ax" text-anchor="middle">{numbers}{name}</g>{body}'
            f'<g class="lb" font-size="{SIZE}">{"".join(texts)}</g>'
            f"{text_at(0, self.bottom + 42, note, self.wide, kind='so')}"
        )
        size = (self.wide, round(self.bottom + 34 + parts.LINE * bool(note)))
        return parts.svg_document(self.chart, size, described, framed, kind="plot wd" if self.wide > WIDTH else "plot")


def _more(rows: Sequence[object], most: int) -> str:
    return f"and {counted(len(rows) - most, 'more row')}" if len(rows) > most else ""


def dots(chart: Data) -> str:
    """The values of each lane as dots, or as shades of equal counts where they are many, with its median."""
    rows = chart["lanes"][:MOST_BARS]
    values = [sorted(finite(row["values"])) for row in rows]
    if not any(values):
        return ""
    lanes = [Lane(row, TOP + STRIP * (i + 0.5)) for i, row in enumerate(rows)]
    ends = finite(row.get(key) for row in rows for key in ("low", "median", "high"))
    ends += [x for kept in values for x in (*kept[:1], *kept[-1:])]
    shape = Rows(chart, lanes, ends, TOP + STRIP * len(lanes))
    body, facts, note = "", [], ""
    for lane, kept in zip(lanes, values, strict=True):
        body += _strip(shape, kept, lane.y) + shape.whisker(lane)
        medians = finite([lane.row.get("median")])
        for middle in medians:
            path = f"M{near(shape.x(middle))} {near(lane.y - 11)}v22"
            body += replace(INK, dash="").stroke(path, width=2.4)
            note = "Upright bars are medians. "
        middles = medians or [statistics.median(part) for part in (kept,) if part]
        about = f"{parts.short_name(lane.row['label'])}: {counted(len(kept), 'value')}"
        facts.append(", ".join((about, *(f"median {value_text(m)}" for m in middles), *filter(None, [lane.text]))))
    note += _more(chart["lanes"], MOST_BARS)
    return shape.draw(f"{phrases(facts, most=6)}.", body, note=note.strip())


def _strip(shape: Rows, values: Sequence[float], y: float) -> str:
    """The sorted values of a lane, spread by their rank; many values as bins of equal counts, dark where narrow."""
    if not values:
        return ""
    if len(values) <= SINGLE:
        places = ((shape.x(value), y + 18 * (i * GOLDEN % 1 - 0.5)) for i, value in enumerate(values))
        return BLUE.stroke("".join(f"M{near(a)} {near(b)}h0" for a, b in places), width=4, opacity=".5", ends="round")
    edges = [shape.x(values[round(i * (len(values) - 1) / BINS)]) for i in range(BINS + 1)]
    widths = [max(b - a, 1.0) for a, b in pairwise(edges)]
    return "".join(
        BLUE.fill(
            f"M{near(a)} {near(y - 9)}h{near(width)}v18h-{near(width)}z",
            f"{0.1 + 0.7 * (min(widths) / width) ** 0.5:.2f}",
        )
        for a, width in zip(edges, widths, strict=False)
    )


def intervals(chart: Data) -> str:
    """A point and an interval for each row on one axis, or a bar from zero, with groups and a reference line."""
    most = MOST_BARS if chart.get("bars") else MOST
    rows, reference = chart["rows"][:most], chart.get("reference") or {}
    if not rows:
        return ""
    lanes, heads, bottom = _grouped(rows)
    ends = finite([x for lane in lanes for x in (lane.low, lane.value, lane.high)])
    ends += finite([reference.get("x"), *(chart.get("holds") or ())])
    shape = Rows(chart, lanes, [*ends, *([0.0] if chart.get("bars") else [])], bottom)
    defined = [(lane.value, lane.row["label"]) for lane in lanes if lane.value is not None]
    extremes = (end(defined, key=lambda pair: pair[0]) for end in (min, max)) if defined else ()
    said = [f"{value_text(value)} ({parts.short_name(label)})" for value, label in extremes]
    described = f"lowest {said[0]}, highest {said[1]}" if said else "none with a value"
    described, body = f"{counted(len(chart['rows']), 'row')}; {described}.", ""
    for line in finite([reference.get("x")]):
        at, name = shape.x(line), safe_text(reference.get("text"))
        body += replace(parts.SOFT, dash="3 3", width=1).stroke(f"M{near(at)} {TOP - 2}V{near(bottom)}")
        body += text_at(at, TOP - 5, name, 2 * min(at, shape.wide - at), anchor="middle", kind="so")
        described += f" Reference: {parts.short_name(name or 'line')} at {value_text(line)}."
    body += (_bars if chart.get("bars") else _intervals)(shape)
    note = " ".join(filter(None, (safe_text(chart.get("note")), _more(chart["rows"], most))))
    return shape.draw(described, body, note=note, heads=heads)


def _grouped(rows: Sequence[Data]) -> tuple[list[Lane], list[tuple[float, str]], float]:
    """The lanes of some rows below the heads of their groups, and where they end."""
    lanes, heads = [], []
    y, group = float(TOP), None
    for row in rows:
        if row.get("group") != group:
            group = row.get("group")
            heads.append((y + 15, safe_text(group)))
            y += ROW - 1
        lane = Lane(row, y + ROW / 2)
        if lane.low is not None and lane.high is not None and not lane.text:
            lane.small = f"{value_text(lane.low)}{'–' if lane.low >= 0 else ' to '}{value_text(lane.high)}"
        lane.text = lane.text or ("–" if lane.value is None else value_text(lane.value))
        lanes.append(lane)
        y += ROW
    return lanes, heads, y


def _bars(shape: Rows) -> str:
    """Bars from zero, with the interval of each value."""
    drawn = ""
    for lane in shape.lanes:
        path = f"M{near(shape.x(0.0))} {near(lane.y)}H{near(shape.x(lane.value or 0.0))}"
        drawn += (BLUE.stroke(path, width=12) if lane.value else "") + shape.whisker(lane)
    return drawn


def _intervals(shape: Rows) -> str:
    """Intervals as one path, then their points; an end beyond the axis is an arrow."""
    bars, arrows, dots, rings = "", "", "", ""
    for lane in shape.lanes:
        y = near(lane.y)
        if lane.low is not None and lane.high is not None:
            a, b = near(shape.x(lane.low)), near(shape.x(lane.high))
            bars += f"M{a} {y}H{b}"
            arrows += f"M{a} {near(lane.y - 4)}l-5 4l5 4z" if lane.low < shape.scale.low else ""
            arrows += f"M{b} {near(lane.y - 4)}l5 4l-5 4z" if lane.high > shape.scale.high else ""
        if lane.value is not None and shape.scale.low <= lane.value <= shape.scale.high:
            x = near(shape.x(lane.value))
            rings += f'<circle cx="{x}" cy="{y}" r="{DOT}"/>' if lane.row.get("hollow") else ""
            dots += "" if lane.row.get("hollow") else f"M{x} {y}h0"
    drawn = f'<path class="iv" stroke="currentColor" stroke-width="5" stroke-opacity=".35" d="{bars}"/>' if bars else ""
    drawn += BLUE.fill(arrows) if arrows else ""
    drawn += BLUE.stroke(dots, width=2 * DOT, ends="round")
    return drawn + (f'<g class="ln" fill="none" stroke="{BLUE.colour}">{rings}</g>' if rings else "")
