# SPDX-License-Identifier: Apache-2.0
"""Plots of plain data over two axes: lines, distributions and clouds of points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count, groupby, pairwise
from typing import Final
from xml.sax.saxutils import escape

from assay.core.text import counted, phrases
from assay.report.charts import plot_parts as parts
from assay.report.charts.plot_parts import BLUE, INK, ORANGE, TOP, Data, Look, Spot, near, path_text, value_text
from assay.report.colours import LIGHT
from assay.report.fit_text import ems, fitted

SIDE: Final = 240
LOW: Final = 150
"""Height of a plane that needs no square."""
LEFT, RIGHT = 40, 14
BELOW: Final = 38
"""Room for the numbers and the name of the axis across."""
FEW: Final = 12
"""Points of a line that are marked one by one."""
FLOOR: Final = 34
"""Height of the highest block on the floor of a plane."""
CELLS: Final = 40
"""Cells of a side at most."""
LEVELS: Final = 8
SPOTS: Final = 400
BANDED: Final = Look("iv", "bd", LIGHT.blue, width=8)


class Plane:
    """Two axes that hold some places, whose left edge has room for the numbers beside it."""

    def __init__(
        self, chart: Data, places: Iterable[Sequence[float]], scales: Sequence[str] = parts.PLAIN, tall: int = SIDE
    ) -> None:
        self.chart, self.bottom = chart, TOP + tall
        self.across, self.up = (
            parts.axis_over(values, ends=parts.span(chart.get(f"{name}_range"), scale), scale=scale)
            for name, values, scale in zip("xy", zip(*places, strict=True), scales, strict=True)
        )
        self.numbers = parts.tick_texts(self.across.ticks, scales[0]), parts.tick_texts(self.up.ticks, scales[1])
        self.left = round(min(76, max(LEFT, max(map(ems, self.numbers[1]), default=0) * 10 + 20)))
        self.right = self.left + SIDE
        self.taken: list[tuple[float, float, float]] = []
        """Where texts stand that others keep off."""

    def x(self, value: float) -> float:
        """Where a value stands across, kept inside the plane."""
        return self.across.at(value, self.left, self.right)

    def y(self, value: float) -> float:
        """Where a value stands upwards, kept inside the plane."""
        return self.bottom - self.up.at(value, 0, self.bottom - TOP)

    def path(self, places: Iterable[Spot]) -> str:
        """A line through some places, without points that nobody would see."""
        return path_text(parts.straightened(parts.thinned_columns([(self.x(x), self.y(y)) for x, y in places])))

    def dots(self, places: Iterable[Sequence[float]]) -> str:
        """A round mark at each place."""
        return "".join(f"M{near(self.x(x))} {near(self.y(y))}h0" for x, y in places)

    def block(self, a: float, b: float, top: float) -> str:
        """An area from the floor up to a height, between two places across."""
        floor = near(self.bottom)
        return f"M{near(a)} {floor}V{near(top)}H{near(b)}V{floor}z"

    def name(self, at: Spot, text: str) -> str:
        """A text beside a place, on the side that has room, moved down from texts that are there already."""
        if not text:
            return ""
        (x, y), wide = (at[0], at[1] - 4), ems(text) * 10
        after = self.right - x - 6
        before = wide > after and x - 6 > after
        room = min(wide, x - 6 if before else after) + 1
        start = x - 6 - room if before else x + 6
        while any(start < b and a < start + room and abs(y - other) < 11 for a, b, other in self.taken):  # noqa: PLR2004
            y += 11
        self.taken.append((start, start + room, y))
        return parts.text_at(x - 6 if before else x + 6, y, text, room, anchor="end" if before else "start")

    def diagonal(self) -> str:
        """Where both axes have the same value, if the chart asks for it."""
        low, high = max(self.across.low, self.up.low), min(self.across.high, self.up.high)
        shown = self.chart.get("diagonal") and low < high
        return parts.CHANCE.stroke(path_text([(self.x(at), self.y(at)) for at in (low, high)])) if shown else ""

    def draw(self, described: str, body: str, named: Iterable[tuple[Look, str]] = (), notes: Sequence[str] = ()) -> str:
        """The plane around what is drawn, a legend and notes; where a mark has an id, a page knows the axis."""
        chart, bottom = self.chart, self.bottom
        xs = [near(self.x(tick)) for tick in self.across.ticks]
        ys = [self.y(tick) for tick in self.up.ticks]
        grid = "".join(f"M{x} {TOP}V{bottom}" for x in xs) + "".join(f"M{self.left} {near(y)}H{self.right}" for y in ys)
        across, up = zip(xs, self.numbers[0], strict=True), zip(ys, self.numbers[1], strict=True)
        numbers = "".join(f'<text x="{x}" y="{bottom + 14}">{text}</text>' for x, text in across)
        left = "".join(f'<text x="{self.left - 5}" y="{near(y + 3.5)}">{text}</text>' for y, text in up)
        middle, rooms = near((TOP + bottom) / 2), {"x": SIDE + 24, "y": bottom - TOP + 30}
        below, beside = (escape(fitted(parts.safe_text(chart.get(key)), rooms[key] / 11, ems)) for key in "xy")
        name = f'<text transform="rotate(-90 9 {middle})" x="9" y="{middle}">{beside}</text>' if beside else ""
        foot, room = parts.legend(named, bottom + BELOW, left=self.left, right=self.right + RIGHT)
        foot += "".join(
            parts.text_at(self.left, bottom + BELOW + 11 + parts.LINE * i, note, SIDE, kind="so")
            for i, note in enumerate(notes)
        )
        room += parts.LINE * len(notes) + 4 if notes else 0
        framed = (
            f'<path class="gr" stroke="currentColor" stroke-opacity=".18" d="{grid}"/>'
            f'<g class="ax" text-anchor="middle">{numbers}</g><g class="ax" text-anchor="end">{left}</g>'
            f'<g class="ax" text-anchor="middle" font-size="11">'
            f'<text x="{self.left + SIDE // 2}" y="{bottom + 31}">{below}</text>{name}</g>{body}{foot}'
        )
        data = ""
        if any("id" in mark for mark in chart.get("marks") or ()):
            data = f' data-left="{self.left}" data-low="{self.across.low:.6g}" data-high="{self.across.high:.6g}"'
        return parts.svg_document(chart, (self.right + RIGHT, bottom + BELOW + room), described, framed, data=data)


class Series:
    """A line with its bands, its values taken to the scales of the axes; `raw` says how it is drawn."""

    def __init__(self, raw: Data, scales: tuple[str, str], places: Iterator[int]) -> None:
        self.raw, self.name = raw, parts.safe_text(raw.get("name"))
        points = [(x, y) for x, y in parts.tuples(raw["points"], scales)]
        if raw.get("step") and points:
            points = [points[0], *(spot for a, b in pairwise(points) for spot in ((a[0], b[1]), b))]
        self.points: list[Spot] = points
        self.bands = [parts.tuples(raw.get(key), (*scales, scales[1])) for key in ("band", "outer")]
        """The band that holds at each place, and the one that holds for the whole line."""
        place = 0 if raw.get("quiet") else next(places)
        look = parts.QUIET if raw.get("quiet") else parts.LOOKS[place % len(parts.LOOKS)]
        look = replace(
            look, width=max(0.8, look.width - place // len(parts.LOOKS))
        )  # those after the first four are thinner
        look = replace(look, width=1.2) if raw.get("thin") else look
        look = replace(look, dash=look.dash or "4 3") if raw.get("dashed") else look
        self.look = parts.CHANCE if raw.get("chance") else look

    @property
    def extent(self) -> list[Sequence[float]]:
        """The places that the axes must hold."""
        return [*self.points, *((x, end) for band in self.bands for x, *ends in band for end in ends)]


def lines(chart: Data) -> str:
    """Lines with bands, steps that hold back to the x before, marks, shaded stretches such as stalls, and a legend."""
    scales = ("log" if chart.get("log_x") else ""), ""
    places = count()
    series = [line for raw in chart["series"] if (line := Series(raw, scales, places)).points]
    if not series:
        return ""
    series.sort(key=lambda line: bool(line.raw.get("quiet")))
    marks = parts.named_places(chart.get("marks"), "x", "y", scales=scales)
    spans = sorted((a, b, text) for (a, b), text in parts.named_places(chart.get("spans"), "from", "to"))
    extent = [place for line in series for place in line.extent] + [place for place, _ in marks]
    extent += [(x, series[0].points[0][1]) for *ends, _ in spans for x in ends]
    plane = Plane(chart, extent, scales, LOW if chart.get("low") else SIDE)
    body = _floor(chart, plane) + plane.diagonal() + _spans(spans, plane)
    body += "".join(_bands(line, plane) for line in series)
    body += "".join(_line(line, plane) for line in reversed(series)) + _marks(chart, scales, plane)
    facts = [_described(line, scales) for line in series]
    facts += [f"{parts.short_name(text or 'marked')} from {value_text(a)} to {value_text(b)}" for a, b, text in spans]
    return plane.draw(f"{counted(len(series), 'line')}: {phrases(facts, most=6)}.", body, _named(chart, series))


def _named(chart: Data, series: Iterable[Series]) -> list[tuple[Look, str]]:
    """What a legend names: the lines, the diagonal and the band."""
    named = [(look, name) for name, look in {line.name: line.look for line in series}.items()]
    named += [(parts.CHANCE, str(chart["diagonal"]))] if isinstance(chart.get("diagonal"), str) else []
    return [*named, (BANDED, str(chart.get("shaded") or ""))]


def _described(line: Series, scales: tuple[str, str]) -> str:
    """The range of a line and its last point."""
    (x, last), ys = line.points[-1], [y for _, y in line.points]
    low, high, last_text = (value_text(parts.from_scale(y, scales[1])) for y in (min(ys), max(ys), last))
    name = f"{parts.short_name(line.name)} " if line.name else ""
    return f"{name}from {low} to {high}, ending at {last_text} (at {value_text(parts.from_scale(x, scales[0]))})"


def _floor(chart: Data, plane: Plane) -> str:
    """Blocks on the floor of the plane, such as how many rows each bin holds: two edges and a share of the height."""
    shares = [(a, b, share) for a, b, share in parts.tuples(chart.get("floor"), ("", "", "")) if share]
    path = "".join(plane.block(plane.x(a), plane.x(b) - 1, plane.bottom - FLOOR * share) for a, b, share in shares)
    return f'<path class="hs" fill="currentColor" fill-opacity=".25" d="{path}"/>' if path else ""


def _spans(spans: Iterable[tuple[float, float, str]], plane: Plane) -> str:
    """Shaded stretches of the axis across; a name that would cover another is in the text alternative only."""
    body, last = "", 0.0
    for start, stop, text in spans:
        a, b = plane.x(start), max(plane.x(stop), plane.x(start) + 1.5)
        body += ORANGE.fill(plane.block(a, b, TOP), ".28")
        at = max(plane.left, min(a, plane.right - ems(text) * 10))
        if text and at > last:
            body += parts.text_at(at, TOP - 3, text, plane.right - at + 1, kind="to")
            last = at + ems(text) * 10 + 6
    return body


def _marks(chart: Data, scales: Sequence[str], plane: Plane) -> str:
    """Named points; a name keeps off the points and the other names, and one with an id can be moved."""
    places = [
        (mark.get("id"), (plane.x(x), plane.y(y)), text)
        for mark in chart.get("marks") or ()
        for (x, y), text in parts.named_places([mark], "x", "y", scales=scales)
    ]
    plane.taken += [(x - 5, x + 5, y + 1) for _, (x, y), _ in places]
    drawn = ""
    for name, at, text in places:
        size = '6" stroke-width="3' if name else '4" stroke-width="2'
        look = 'class="mk" fill="#fff" stroke="currentColor"' + (f' id="{name}"' if name else "")
        drawn += f'<circle {look} cx="{near(at[0])}" cy="{near(at[1])}" r="{size}"/>'
        drawn += plane.name((at[0] + 3, at[1] + 20) if name else at, text)  # off the curve that it stands on
    return drawn


def _bands(line: Series, plane: Plane) -> str:
    drawn = ""
    for band in () if line.raw.get("whiskers") else filter(None, line.bands):
        edges = [*((x, high) for x, _, high in band), *((x, low) for x, low, _ in reversed(band))]
        drawn += line.look.fill(plane.path(edges) + "Z", ".15")
    return drawn


def _line(line: Series, plane: Plane) -> str:
    """A line without its points outside the plane, with its points marked where they are few."""
    if line.raw.get("whiskers"):  # the points stand alone, each with its own ends
        ends = "".join(f"M{near(plane.x(x))} {near(plane.y(a))}V{near(plane.y(b))}" for x, a, b in line.bands[0])
        bars = replace(line.look, line="iv").stroke(ends, width=4, opacity=".4")
        return bars + line.look.stroke(plane.dots(line.points), width=7, ends="round")
    across, up = plane.across, plane.up
    inside = groupby(line.points, lambda p: across.low <= p[0] <= across.high and up.low <= p[1] <= up.high)
    runs = [list(run) for kept, run in inside if kept]
    path = "".join(plane.path(run) for run in runs if len(run) > 1)
    corners = any(line.raw.get(kind) for kind in ("step", "chance", "bare"))  # they are no points of data
    dots = [spot for run in runs for spot in run if len(run) == 1 or (len(line.points) <= FEW and not corners)]
    quiet = line.raw.get("quiet")
    drawn = line.look.stroke(path, opacity=".5" if quiet else "")
    if dots and not quiet:
        drawn += replace(line.look, dash="").stroke(plane.dots(dots), width=6, ends="round")
    return drawn


def distribution(chart: Data) -> str:
    """A histogram, a second one as an outline over it, and named places as dashed lines."""
    edges, second = parts.finite(chart["edges"]), chart.get("second") or {}
    counts, others = ([parts.number(n) or 0.0 for n in part.get("counts") or ()] for part in (chart, second))
    if len(edges) != len(counts) + 1 or not counts:
        return ""
    marks = [(x, text) for (x,), text in parts.named_places(chart.get("marks"), "x")]
    least = 0 if 0 < max(counts) < 1 else 1  # shares have no room for a whole one
    extent = [(x, 0.0) for x in (*edges, *(x for x, _ in marks))] + [(edges[0], n) for n in (*counts, *others, least)]
    plane = Plane({"y": "count", **chart}, extent, tall=LOW)
    bins = [(plane.x(a), plane.x(b), n) for (a, b), n in zip(pairwise(edges), counts, strict=True) if n > 0]
    blocks = (plane.block(a, max(b - 0.6, a + 0.4), min(plane.y(n), plane.bottom - 0.6)) for a, b, n in bins)
    body = BLUE.fill("".join(blocks), ".65")
    body += _outline(edges, others, plane)
    uprights = "".join(
        INK.stroke(f"M{near(plane.x(x))} {TOP}V{plane.bottom}", width=1.2) + plane.name((plane.x(x), TOP + 14), text)
        for x, text in marks
    )
    movable = next((f' id="{mark["id"]}"' for mark in chart.get("marks") or () if "id" in mark), "")
    body += uprights.replace("<path", f"<path{movable}", 1)
    names = (replace(BLUE, width=8), parts.safe_text(chart.get("name"))), (ORANGE, parts.safe_text(second.get("name")))
    return plane.draw(f"{phrases(_bin_facts(edges, counts, marks), most=6)}.", body, names)


def _bin_facts(edges: Sequence[float], counts: Sequence[float], marks: Iterable[tuple[float, str]]) -> Iterator[str]:
    """How many values there are, where most of them are, and the named places."""
    most = counts.index(max(counts))
    yield f"{value_text(sum(counts))} values from {value_text(edges[0])} to {value_text(edges[-1])}"
    yield f"most, {value_text(counts[most])}, from {value_text(edges[most])} to {value_text(edges[most + 1])}"
    yield from (f"{parts.short_name(text)} at {value_text(x)}" for x, text in marks if text)


def _outline(edges: Sequence[float], counts: Sequence[float], plane: Plane) -> str:
    if len(edges) != len(counts) + 1:
        return ""
    tops = [spot for (a, b), n in zip(pairwise(edges), counts, strict=True) for spot in ((a, n), (b, n))]
    return ORANGE.stroke(path_text([(plane.x(x), plane.y(y)) for x, y in ((edges[0], 0), *tops, (edges[-1], 0))]))


def cloud(chart: Data) -> str:
    """A density by the shade of equal cells, at most 40 a side, with limit lines and single points over it."""
    across, up = parts.finite(chart["x_edges"]), parts.finite(chart["y_edges"])
    counts = [[max(parts.number(count) or 0.0, 0.0) for count in row] for row in chart["counts"]]
    shape = {(len(row), len(counts)) for row in counts}
    fits = shape == {(len(across) - 1, len(up) - 1)} and max(len(across), len(up)) <= CELLS + 1
    if not (fits and parts.span((across[0], across[-1])) and parts.span((up[0], up[-1]))):
        return ""
    rules = [(at, rule) for rule in chart.get("lines") or () for at in parts.finite([rule["y"]])]
    points = parts.tuples(chart.get("points"))
    corners = [(across[0], up[0]), (across[-1], up[-1])]
    plane = Plane(chart, [*corners, *points, *((across[0], at) for at, _ in rules)])
    body = _shades(counts, plane, corners) + plane.diagonal()
    body += replace(INK, dash="").stroke(plane.dots(points[:SPOTS]), width=2.6, opacity=".7", ends="round")
    body += "".join(_rule(at, rule, plane) for at, rule in rules)
    peak, row, column = max((n, -i, -j) for i, cells in enumerate(counts) for j, n in enumerate(cells))
    notes = [f"Darker cells hold more, up to {value_text(round(peak) if peak >= 1 else peak)}."]
    notes += [f"{SPOTS} of {len(points):,} points are drawn."] if len(points) > SPOTS else []
    facts = [f"{value_text(round(sum(map(sum, counts)), 6))} values{_most(peak, (across, column), (up, row))}"]
    facts += [f"{parts.short_name(rule.get('text') or 'line')} at {value_text(at)}" for at, rule in rules]
    return plane.draw(f"{phrases(facts, most=6)}.", body, notes=notes)


def _most(peak: float, *sides: tuple[Sequence[float], int]) -> str:
    """Where the fullest cell is."""
    x, y = (f"{value_text(edges[-i])} to {value_text(edges[1 - i])}" for edges, i in sides)
    return f", most at {x} across and {y} up" if peak else ""


def _rule(value: float, rule: Data, plane: Plane) -> str:
    """A named level line."""
    look, at = replace(ORANGE, dash="6 3" if rule.get("dashed") else "", width=1.4), plane.y(value)
    name = plane.name((plane.right, at), parts.safe_text(rule.get("text")))
    return look.stroke(f"M{plane.left} {near(at)}H{plane.right}") + name


def _shades(grid: Sequence[Sequence[float]], plane: Plane, corners: Sequence[Spot]) -> str:
    """Equal cells by the logarithm of their counts; neighbours of one level are one stroke."""
    peak = math.log1p(max(map(max, grid))) or 1.0
    paths = [""] * (LEVELS + 1)
    for i, row in enumerate(grid):
        start = 0
        for level, run in groupby(math.ceil(LEVELS * math.log1p(n) / peak - 1e-9) for n in row):
            cells = len(list(run))
            paths[level] += f"M{start} {i}h{cells}"
            start += cells
    (x, y), (right, top) = ((plane.x(a), plane.y(b)) for a, b in corners)
    wide, high = (right - x) / len(grid[0]), (y - top) / len(grid)
    look = f'transform="translate({near(x)} {y - high / 2:.3f}) scale({wide:.4f} {-high:.4f})"'
    strokes = "".join(
        replace(BLUE, width=1).stroke(path, opacity=f"{0.08 + 0.84 * level / LEVELS:.2f}")
        for level, path in enumerate(paths)
        if level and path
    )
    return f'<g {look} shape-rendering="crispEdges">{strokes}</g>'
