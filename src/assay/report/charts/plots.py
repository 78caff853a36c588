# SPDX-License-Identifier: Apache-2.0
"""Plots of plain data over two axes: lines, distributions, time lines and clouds of points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, groupby, pairwise
from typing import Final, TypeAlias

from assay.core.text import counted
from assay.report.charts.plane import (
    BELOW,
    LEFT,
    RIGHT,
    SIDE,
    TOP,
    Plane,
    Spot,
    axis_over,
    from_scale,
    near,
    path_text,
    straightened,
    thinned_columns,
    tick_texts,
)
from assay.report.charts.plot_parts import (
    BLUE,
    CHANCE,
    INK,
    LINE,
    ORANGE,
    PLAIN,
    QUIET,
    Data,
    Look,
    finite,
    head_of,
    label_beside,
    legend,
    listed_phrases,
    look_of,
    named_places,
    number,
    safe_text,
    short_name,
    span,
    text_at,
    tuples,
    value_text,
)
from assay.report.colours import LIGHT
from assay.report.fit_text import ems, fitted

LOW: Final = 150
"""Height of a plane that needs no square."""
FEW: Final = 12
"""Points of a line that are marked one by one."""
FLOOR: Final = 34
"""Height of the highest block on the floor of a plane."""
CELLS: Final = 40
"""Cells of a side at most."""
LEVELS: Final = 8
SPOTS: Final = 400
Rule: TypeAlias = tuple[float, Data]
"""A level line: its value and what is said of it."""
BANDED: Final = Look("iv", "bd", LIGHT.blue, width=8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A line with its band, its values taken to the scales of the axes."""

    name: str
    points: list[Spot]
    bands: tuple[list[tuple[float, ...]], ...]
    """The band that holds at each place, and the one that holds for the whole line."""
    look: Look
    quiet: bool
    whiskers: bool
    """Whether the points stand alone, each with its own ends."""
    corners: bool
    """Whether the corners of the line are not points of data."""

    @property
    def extent(self) -> list[Spot]:
        """The places that the axes must hold."""
        return [*self.points, *((x, end) for band in self.bands for x, *ends in band for end in ends)]


def lines(chart: Data) -> str:
    """Lines with bands, steps that hold back to the x before, marks and a legend."""
    scales = ("log" if chart.get("log_x") else ""), ""
    places = count()
    series = [line for raw in chart["series"] if (line := _series(raw, scales, places)).points]
    if not series:
        return ""
    series.sort(key=lambda line: line.quiet)
    marks = named_places(chart.get("marks"), "x", "y", scales=scales)
    plane = plane_of(chart, [*(place for line in series for place in line.extent), *(at for at, _ in marks)], scales)
    body = _floor(chart, plane) + (diagonal_line(plane) if chart.get("diagonal") else "")
    body += "".join(_bands(line, plane) for line in series)
    body += "".join(_line(line, plane) for line in reversed(series)) + _marks(chart, scales, plane)
    named = [(look, name) for name, look in {line.name: line.look for line in series}.items()]
    named += [(CHANCE, str(chart["diagonal"]))] if isinstance(chart.get("diagonal"), str) else []
    named += [(BANDED, str(chart["shaded"]))] if chart.get("shaded") else []
    phrases = [_described(line, scales) for line in series]
    return _finished(chart, plane, body, f"{counted(len(series), 'line')}: {listed_phrases(phrases)}.", named)


def _finished(chart: Data, plane: Plane, body: str, described: str, named: Iterable[tuple[Look, str]] = ()) -> str:
    """A plane around what is drawn, with its legend; where a mark has an id, a page is told where the axis is."""
    foot, room = legend(named, TOP + plane.tall + BELOW, left=plane.left, right=plane.left + SIDE + RIGHT)
    title, head = head_of(chart)
    data = ""
    if any("id" in mark for mark in chart.get("marks") or ()):
        data = f' data-left="{plane.left}" data-low="{plane.across.low:.6g}" data-high="{plane.across.high:.6g}"'
    told = safe_text(chart.get("described")) or described
    return plane.draw(title, told, body, foot=foot, room=room, head=head, data=data)


def _series(raw: Data, scales: tuple[str, str], places: Iterator[int]) -> Series:
    points = [(x, y) for x, y in tuples(raw["points"], scales)]
    if raw.get("step") and points:
        points = [points[0], *(spot for a, b in pairwise(points) for spot in ((a[0], b[1]), b))]
    quiet = bool(raw.get("quiet"))
    look = QUIET if quiet else look_of(next(places))
    return Series(
        name=safe_text(raw.get("name")),
        points=points,
        bands=tuple(tuples(raw.get(key), (*scales, scales[1])) for key in ("band", "outer")),
        look=CHANCE if raw.get("chance") else replace(look, dash=look.dash or "4 3") if raw.get("dashed") else look,
        quiet=quiet,
        whiskers=bool(raw.get("whiskers")),
        corners=bool(raw.get("step") or raw.get("chance") or raw.get("bare")),
    )


def _described(line: Series, scales: tuple[str, str]) -> str:
    """The range of a line and its last point."""
    ys = [y for _, y in line.points]
    x, *heights = (
        value_text(from_scale(value, scale))
        for value, scale in zip((line.points[-1][0], min(ys), max(ys), ys[-1]), (*scales, *scales[1:] * 2), strict=True)
    )
    name = f"{short_name(line.name)} " if line.name else ""
    return f"{name}from {heights[0]} to {heights[1]}, ending at {heights[2]} (at {x})"


def _floor(chart: Data, plane: Plane) -> str:
    """Blocks on the floor of the plane, such as how many rows each bin holds: two edges and a share of the height."""
    bottom = TOP + plane.tall
    blocks = [(plane.x(a), plane.x(b), FLOOR * share) for a, b, share in tuples(chart.get("floor"), ("", "", ""))]
    path = "".join(f"M{near(a)} {bottom}v{near(-h)}H{near(b - 1)}V{bottom}z" for a, b, h in blocks if h)
    return f'<path class="hs" fill="currentColor" fill-opacity=".25" d="{path}"/>' if path else ""


def _marks(chart: Data, scales: Sequence[str], plane: Plane) -> str:
    """Named points; a name keeps off the points and the other names, and one with an id can be moved."""
    places = [
        (mark.get("id"), (plane.x(x), plane.y(y)), text)
        for mark in chart.get("marks") or ()
        for (x, y), text in named_places([mark], "x", "y", scales=scales)
    ]
    taken = [(x - 5, x + 5, y + 1) for _, (x, y), _ in places]
    parts = []
    for name, at, text in places:
        size = '6" stroke-width="3' if name else '4" stroke-width="2'
        look = 'class="mk" fill="#fff" stroke="currentColor"' + (f' id="{name}"' if name else "")
        parts.append(f'<circle {look} cx="{near(at[0])}" cy="{near(at[1])}" r="{size}"/>')
        below = (at[0] + 3, at[1] + 20) if name else at  # off the curve that it stands on
        parts.append(label_beside(taken, below, text, plane.left + SIDE))
    return "".join(parts)


def plane_of(chart: Data, places: Iterable[Sequence[float]], scales: Sequence[str] = PLAIN, tall: int = SIDE) -> Plane:
    """A plane that holds some places, whose left edge has room for the numbers beside it."""
    across, up = (
        axis_over(values, ends=span(chart.get(f"{name}_range"), scale), scale=scale)
        for name, values, scale in zip("xy", zip(*places, strict=True), scales, strict=True)
    )
    numbers = tick_texts(across.ticks, scales[0]), tick_texts(up.ticks, scales[1])
    left = round(min(76, max(LEFT, max(map(ems, numbers[1]), default=0) * 10 + 20)))
    names = [fitted(safe_text(chart.get(key)), room / 11, ems) for key, room in (("x", SIDE + 24), ("y", tall + 30))]
    return Plane(across=across, up=up, names=(names[0], names[1]), left=left, tall=tall, numbers=numbers)


def diagonal_line(plane: Plane) -> str:
    """Where both axes have the same value."""
    low, high = max(plane.across.low, plane.up.low), min(plane.across.high, plane.up.high)
    if low >= high:
        return ""
    return CHANCE.stroke(path_text([(plane.x(at), plane.y(at)) for at in (low, high)]))


def _bands(line: Series, plane: Plane) -> str:
    drawn = ""
    for band in () if line.whiskers else line.bands:
        edges = [(plane.x(x), plane.y(high)) for x, _, high in band]
        edges += [(plane.x(x), plane.y(low)) for x, low, _ in reversed(band)]
        drawn += line.look.fill(path_text(straightened(thinned_columns(edges))) + "Z", ".15") if edges else ""
    return drawn


def _line(line: Series, plane: Plane) -> str:
    """A line without its points outside the plane, with its points marked where they are few."""
    if line.whiskers:
        ends = "".join(f"M{near(plane.x(x))} {near(plane.y(a))}V{near(plane.y(b))}" for x, a, b in line.bands[0])
        middles = "".join(f"M{near(plane.x(x))} {near(plane.y(y))}h0" for x, y in line.points)
        look = replace(line.look, line="iv")
        return look.stroke(ends, width=4, opacity=".4") + line.look.stroke(middles, width=7, ends="round")
    runs = _runs(line.points, plane)
    path = "".join(path_text(straightened(thinned_columns(run))) for run in runs if len(run) > 1)
    dots = [spot for run in runs for spot in run if len(run) == 1 or (len(line.points) <= FEW and not line.corners)]
    drawn = line.look.stroke(path, opacity=".5" if line.quiet else "") if path else ""
    if dots and not line.quiet:
        round_ones = "".join(f"M{near(x)} {near(y)}h0" for x, y in dots)
        drawn += replace(line.look, dash="").stroke(round_ones, width=6, ends="round")
    return drawn


def _runs(points: Sequence[Spot], plane: Plane) -> list[list[Spot]]:
    """The parts of a line whose points are inside the plane, as places on it."""
    across, up = plane.across, plane.up
    inside = groupby(points, lambda p: across.low <= p[0] <= across.high and up.low <= p[1] <= up.high)
    return [[(plane.x(x), plane.y(y)) for x, y in run] for kept, run in inside if kept]


def distribution(chart: Data) -> str:
    """A histogram, a second one as an outline over it, and named places."""
    edges, second = finite(chart["edges"]), chart.get("second") or {}
    counts, others = ([number(n) or 0.0 for n in part.get("counts") or ()] for part in (chart, second))
    if len(edges) != len(counts) + 1 or not counts:
        return ""
    marks = [(x, text) for (x,), text in named_places(chart.get("marks"), "x")]
    least = 0 if 0 < max(counts) < 1 else 1  # shares have no room for a whole one
    extent = [(x, 0.0) for x in (*edges, *(x for x, _ in marks))] + [(edges[0], n) for n in (*counts, *others, least)]
    plane = plane_of({"y": "count", **chart}, extent, tall=LOW)
    body = BLUE.fill(_blocks(edges, counts, plane), ".65")
    body += _outline(edges, others, plane) if len(others) == len(counts) else ""
    movable = next((f' id="{mark["id"]}"' for mark in chart.get("marks") or () if "id" in mark), "")
    body += _uprights(marks, plane).replace("<path", f"<path{movable}", 1)
    names = (replace(BLUE, width=8), safe_text(chart.get("name"))), (ORANGE, safe_text(second.get("name")))
    most = counts.index(max(counts))
    phrases = [f"{value_text(sum(counts))} values from {value_text(edges[0])} to {value_text(edges[-1])}"]
    phrases += [f"most, {value_text(counts[most])}, from {value_text(edges[most])} to {value_text(edges[most + 1])}"]
    phrases += [f"{short_name(text)} at {value_text(x)}" for x, text in marks if text]
    return _finished(chart, plane, body, f"{listed_phrases(phrases)}.", names)


def _outline(edges: Sequence[float], counts: Sequence[float], plane: Plane) -> str:
    tops = [spot for (a, b), n in zip(pairwise(edges), counts, strict=True) for spot in ((a, n), (b, n))]
    return ORANGE.stroke(path_text([(plane.x(x), plane.y(y)) for x, y in ((edges[0], 0), *tops, (edges[-1], 0))]))


def _blocks(edges: Sequence[float], counts: Sequence[float], plane: Plane) -> str:
    floor = plane.y(0)
    places = [(plane.x(a), plane.x(b), plane.y(n)) for (a, b), n in zip(pairwise(edges), counts, strict=True) if n > 0]
    return "".join(
        f"M{near(a)} {near(floor)}V{near(min(y, floor - 0.6))}H{near(max(b - 0.6, a + 0.4))}V{near(floor)}z"
        for a, b, y in places
    )


def _uprights(marks: Iterable[tuple[float, str]], plane: Plane) -> str:
    """Named places across the plane, as dashed lines."""
    taken: list[tuple[float, float, float]] = []
    parts = []
    for x, text in marks:
        at = plane.x(x)
        parts.append(INK.stroke(f"M{near(at)} {TOP}V{TOP + plane.tall}", width=1.2))
        parts.append(label_beside(taken, (at, TOP + 14), text, plane.left + SIDE))
    return "".join(parts)


def timeline(chart: Data) -> str:
    """Values over time, with shaded stretches such as stalls."""
    points = [(t, value) for t, value in tuples(chart["points"])]
    if not points:
        return ""
    spans = sorted((a, b, text) for (a, b), text in named_places(chart.get("marks"), "from", "to"))
    plane = plane_of(chart, [*points, *((t, points[0][1]) for *ends, _ in spans for t in ends)], tall=LOW)
    body, last = [], 0.0
    for start, stop, text in spans:
        a, b = plane.x(start), max(plane.x(stop), plane.x(start) + 1.5)
        body.append(ORANGE.fill(f"M{near(a)} {TOP}H{near(b)}V{TOP + LOW}H{near(a)}z", ".28"))
        at = max(plane.left, min(a, plane.left + SIDE - ems(text) * 10))
        if text and at > last:  # one that would cover another is in the text alternative only
            body.append(text_at(at, TOP - 3, text, plane.left + SIDE - at + 1, kind="to"))
            last = at + ems(text) * 10 + 6
    line = Series(
        name="", points=points, bands=(), look=replace(BLUE, width=1.2), quiet=False, whiskers=False, corners=False
    )
    body.append(_line(line, plane))
    when, most = max(points, key=lambda point: point[1])
    phrases = [f"{short_name(text or 'marked')} from {value_text(a)} to {value_text(b)}" for a, b, text in spans]
    described = f"{counted(len(points), 'point')}; highest {value_text(most)} at {value_text(when)}"
    described = "; ".join(filter(None, (described, listed_phrases(phrases))))
    return _finished(chart, plane, "".join(body), f"{described}.")


def cloud(chart: Data) -> str:
    """A density by the shade of equal cells, at most 40 a side, with limit lines and single points over it."""
    across, up = finite(chart["x_edges"]), finite(chart["y_edges"])
    counts = [[max(number(count) or 0.0, 0.0) for count in row] for row in chart["counts"]]
    shape = {(len(row), len(counts)) for row in counts}
    fits = shape == {(len(across) - 1, len(up) - 1)} and max(len(across), len(up)) <= CELLS + 1
    if not (fits and span((across[0], across[-1])) and span((up[0], up[-1]))):
        return ""
    rules = [(at, rule) for rule in chart.get("lines") or () for at in finite([rule["y"]])]
    points = tuples(chart.get("points"))
    corners = [(across[0], up[0]), (across[-1], up[-1])]
    plane = plane_of(chart, [*corners, *points, *((across[0], at) for at, _ in rules)])
    body = _shades(counts, plane, corners) + (diagonal_line(plane) if chart.get("diagonal") else "")
    body += _dots(points[:SPOTS], plane) + _rules(rules, plane)
    peak = max(map(max, counts))
    notes = [f"Darker cells hold more, up to {value_text(round(peak) if peak >= 1 else peak)}."]
    notes += [f"{SPOTS} of {len(points):,} points are drawn."] if len(points) > SPOTS else []
    below = TOP + SIDE + BELOW + 11
    foot = "".join(text_at(plane.left, below + LINE * i, note, SIDE, kind="so") for i, note in enumerate(notes))
    described = _cloud_described(counts, across, up, rules)
    title, head = head_of(chart)
    return plane.draw(title, described, body, foot=foot, room=LINE * len(notes) + 4, head=head)


def _cloud_described(
    counts: Sequence[Sequence[float]], across: Sequence[float], up: Sequence[float], rules: Sequence[Rule]
) -> str:
    """How much there is, where most of it is, and where the limits are."""
    most, row, column = max((n, -i, -j) for i, cells in enumerate(counts) for j, n in enumerate(cells))
    phrases = [f"{value_text(round(sum(map(sum, counts)), 6))} values"]
    if most:
        x, y = (f"{value_text(edges[-i])} to {value_text(edges[1 - i])}" for edges, i in ((across, column), (up, row)))
        phrases[0] += f", most at {x} across and {y} up"
    phrases += [f"{short_name(rule.get('text') or 'line')} at {value_text(at)}" for at, rule in rules]
    return f"{listed_phrases(phrases)}."


def _dots(points: Sequence[Sequence[float]], plane: Plane) -> str:
    path = "".join(f"M{near(plane.x(x))} {near(plane.y(y))}h0" for x, y in points)
    return replace(INK, dash="").stroke(path, width=2.6, opacity=".7", ends="round") if path else ""


def _shades(grid: Sequence[Sequence[float]], plane: Plane, corners: Sequence[Spot]) -> str:
    """Equal cells by the logarithm of their counts; neighbours of one level are one stroke."""
    peak = math.log1p(max(map(max, grid))) or 1.0
    paths = [""] * (LEVELS + 1)
    for i, row in enumerate(grid):
        levels = [math.ceil(LEVELS * math.log1p(count) / peak - 1e-9) for count in row] + [0]
        start = 0
        for j in range(1, len(levels)):
            if levels[j] != levels[start] or j == len(row):
                paths[levels[start]] += f"M{start} {i}h{j - start}" if levels[start] else ""
                start = j
    (x, y), (right, top) = ((plane.x(a), plane.y(b)) for a, b in corners)
    wide, high = (right - x) / len(grid[0]), (y - top) / len(grid)
    look = f'transform="translate({near(x)} {y - high / 2:.3f}) scale({wide:.4f} {-high:.4f})"'
    strokes = "".join(
        replace(BLUE, width=1).stroke(path, opacity=f"{0.08 + 0.84 * level / LEVELS:.2f}")
        for level, path in enumerate(paths)
        if path
    )
    return f'<g {look} shape-rendering="crispEdges">{strokes}</g>'


def _rules(rules: Sequence[Rule], plane: Plane) -> str:
    """Named level lines."""
    taken: list[tuple[float, float, float]] = []
    parts, right = [], plane.left + SIDE
    for value, rule in rules:
        look, at = replace(ORANGE, dash="6 3" if rule.get("dashed") else "", width=1.4), plane.y(value)
        parts.append(look.stroke(f"M{plane.left} {near(at)}H{right}"))
        parts.append(label_beside(taken, (right, at), safe_text(rule.get("text")), right))
    return "".join(parts)
