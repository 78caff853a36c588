# SPDX-License-Identifier: Apache-2.0
"""Plots of plain data over two axes: lines, distributions, time lines and clouds of points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise
from typing import Final

from assay.core.text import counted
from assay.report.blocks.det_axes import Deviates, _cut
from assay.report.charts.plane import (
    BELOW,
    LEFT,
    RIGHT,
    SIDE,
    TOP,
    Plane,
    Spot,
    axis_over,
    path_text,
    straightened,
    thinned_columns,
    tick_texts,
)
from assay.report.charts.plot_parts import (
    BLUE,
    INK,
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
from assay.report.charts.svg import _near
from assay.report.fit_text import ems, fitted

LOW: Final = 150
"""Height of a plane that needs no square."""
FEW: Final = 12
"""Points of a line that are marked one by one."""
SQUARE: Final = Deviates(low=0.0, high=1.0, ticks=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A line with its band, its values taken to the scales of the axes."""

    name: str
    points: list[Spot]
    band: list[tuple[float, ...]]
    look: Look
    quiet: bool
    corners: bool
    """Whether the line is made of steps, whose corners are no points."""

    @property
    def extent(self) -> list[Spot]:
        """The places that the axes must hold."""
        return [*self.points, *((x, end) for x, *ends in self.band for end in ends)]


def lines(chart: Data) -> str:
    """Lines with bands, steps, marks and a legend; a step of `true` holds back to the x before, one of "after" on."""
    logs = bool(chart.get("log_x")), bool(chart.get("log_y"))
    places = count()
    series = [line for raw in chart["series"] if (line := _series(raw, logs, places)).points]
    if not series:
        return ""
    series.sort(key=lambda line: line.quiet)
    marks = [((x, y), text) for (x, y), text in named_places(chart.get("marks"), "x", "y", logs=logs)]
    extent = [place for line in series for place in line.extent]
    plane = plane_of(chart, [*extent, *(place for place, _ in marks)], logs)
    body = diagonal_line(plane) if chart.get("diagonal") else ""
    body += "".join(_band(line, plane) for line in series)
    body += "".join(_line(line, plane) for line in reversed(series)) + _marks(marks, plane)
    entries = {line.name: line.look for line in series}
    foot, room = legend(
        ((look, name) for name, look in entries.items()),
        TOP + SIDE + BELOW,
        left=plane.left,
        right=plane.left + SIDE + RIGHT,
    )
    phrases = [_described(line, logs) for line in series]
    described = f"{counted(len(series), 'line')}: {listed_phrases(phrases)}."
    title, head = head_of(chart)
    return plane.draw(title, described, body, foot=foot, room=room, head=head)


def _series(raw: Data, logs: tuple[bool, bool], places: Iterator[int]) -> Series:
    points = [(x, y) for x, y in tuples(raw["points"], logs)]
    step = raw.get("step")
    if step and points:
        corners = ((b[0], a[1]) if step == "after" else (a[0], b[1]) for a, b in pairwise(points))
        points = [points[0], *(spot for pair in zip(corners, points[1:], strict=True) for spot in pair)]
    quiet = bool(raw.get("quiet"))
    look = QUIET if quiet else look_of(next(places))
    return Series(
        name=safe_text(raw.get("name")),
        points=points,
        band=tuples(raw.get("band"), (*logs, logs[1])),
        look=replace(look, dash=look.dash or "4 3") if raw.get("dashed") else look,
        quiet=quiet,
        corners=bool(step),
    )


def _described(line: Series, logs: tuple[bool, bool]) -> str:
    """The range of a line and its last point."""
    ys = [y for _, y in line.points]
    x, *heights = (
        value_text(10**value if log else value)
        for value, log in zip((line.points[-1][0], min(ys), max(ys), ys[-1]), (logs[0], *logs[1:] * 3), strict=True)
    )
    name = f"{short_name(line.name)} " if line.name else ""
    return f"{name}from {heights[0]} to {heights[1]}, ending at {heights[2]} (at {x})"


def _marks(marks: Iterable[tuple[Spot, str]], plane: Plane) -> str:
    """Named points; a name keeps off the points and the other names."""
    places = [((plane.x(x), plane.y(y)), text) for (x, y), text in marks]
    taken = [(x - 5, x + 5, y + 1) for (x, y), _ in places]
    look = 'class="mk" fill="#fff" stroke="currentColor" stroke-width="2"'
    return "".join(
        f'<circle {look} cx="{_near(at[0])}" cy="{_near(at[1])}" r="4"/>'
        + label_beside(taken, at, text, plane.left + SIDE)
        for at, text in places
    )


def plane_of(chart: Data, places: Iterable[Sequence[float]], logs: Sequence[bool] = PLAIN, tall: int = SIDE) -> Plane:
    """A plane that holds some places, whose left edge has room for the numbers beside it."""
    across, up = (
        axis_over(values, ends=span(chart.get(f"{name}_range"), log=log), log=log)
        for name, values, log in zip("xy", zip(*places, strict=True), logs, strict=True)
    )
    numbers = tick_texts(across.ticks, log=logs[0]), tick_texts(up.ticks, log=logs[1])
    left = round(min(76, max(LEFT, max(map(ems, numbers[1]), default=0) * 10 + 20)))
    names = [fitted(safe_text(chart.get(key)), room / 11, ems) for key, room in (("x", SIDE + 24), ("y", tall + 30))]
    return Plane(across=across, up=up, names=(names[0], names[1]), left=left, tall=tall, numbers=numbers)


def diagonal_line(plane: Plane) -> str:
    """Where both axes have the same value."""
    up = plane.up or plane.across
    low, high = max(plane.across.low, up.low), min(plane.across.high, up.high)
    if low >= high:
        return ""
    ends = path_text([(plane.x(at), plane.y(at)) for at in (low, high)])
    return f'<path class="rf" fill="none" stroke="currentColor" stroke-dasharray="3 3" d="{ends}"/>'


def _band(line: Series, plane: Plane) -> str:
    edges = [(plane.x(x), plane.y(high)) for x, _, high in line.band]
    edges += [(plane.x(x), plane.y(low)) for x, low, _ in reversed(line.band)]
    return line.look.fill(path_text(straightened(thinned_columns(edges))) + "Z", ".15") if edges else ""


def _line(line: Series, plane: Plane) -> str:
    """A line cut at the edges of the plane, with its points marked where they are few."""
    runs = _runs(line.points, plane)
    path = "".join(path_text(straightened(thinned_columns(run))) for run in runs if len(run) > 1)
    dots = [spot for run in runs for spot in run if len(run) == 1 or (len(line.points) <= FEW and not line.corners)]
    drawn = line.look.stroke(path, opacity=".5" if line.quiet else "") if path else ""
    if dots and not line.quiet:
        round_ones = "".join(f"M{_near(x)} {_near(y)}h0" for x, y in dots)
        drawn += replace(line.look, dash="").stroke(round_ones, width=6, ends="round")
    return drawn


def _runs(points: Sequence[Spot], plane: Plane) -> list[list[Spot]]:
    """The parts of a line inside the plane, as places on it."""
    across, up = plane.across, plane.up or plane.across
    parts = [((x - across.low) / (across.high - across.low), (y - up.low) / (up.high - up.low)) for x, y in points]
    inside = [0 <= x <= 1 and 0 <= y <= 1 for x, y in parts]
    runs: list[list[Spot]] = [parts] if len(parts) == 1 and inside[0] else []
    for i, (a, b) in enumerate(pairwise(parts)):
        ends = _cut(a, b, SQUARE)
        if ends is None:
            continue
        # Points inside stay as they are: rounding in the cut would part one line into many.
        start, stop = a if inside[i] else ends[0], b if inside[i + 1] else ends[1]
        if runs and runs[-1][-1] == start:
            runs[-1].append(stop)
        else:
            runs.append([start, stop])
    return [[(plane.left + SIDE * x, TOP + plane.tall * (1 - y)) for x, y in run] for run in runs]


def distribution(chart: Data) -> str:
    """A histogram, a second one as an outline over it, and named places."""
    edges, second = finite(chart["edges"]), chart.get("second") or {}
    counts, others = ([number(n) or 0.0 for n in part.get("counts") or ()] for part in (chart, second))
    if len(edges) != len(counts) + 1 or not counts:
        return ""
    marks = [(x, text) for (x,), text in named_places(chart.get("marks"), "x")]
    extent = [(x, 0.0) for x in (*edges, *(x for x, _ in marks))] + [(edges[0], n) for n in (*counts, *others, 1)]
    plane = plane_of({"y": "count", **chart}, extent, tall=LOW)
    body = BLUE.fill(_blocks(edges, counts, plane), ".65")
    if len(others) == len(counts):
        tops = [spot for (a, b), n in zip(pairwise(edges), others, strict=True) for spot in ((a, n), (b, n))]
        body += ORANGE.stroke(path_text([(plane.x(x), plane.y(y)) for x, y in ((edges[0], 0), *tops, (edges[-1], 0))]))
    body += _uprights(marks, plane)
    names = (replace(BLUE, width=8), safe_text(chart.get("name"))), (ORANGE, safe_text(second.get("name")))
    foot, room = legend(names, TOP + LOW + BELOW, left=plane.left, right=plane.left + SIDE + RIGHT)
    most = counts.index(max(counts))
    phrases = [f"most, {value_text(counts[most])}, from {value_text(edges[most])} to {value_text(edges[most + 1])}"]
    phrases += [f"{short_name(text)} at {value_text(x)}" for x, text in marks if text]
    phrases.insert(0, f"{value_text(sum(counts))} values from {value_text(edges[0])} to {value_text(edges[-1])}")
    described = f"{listed_phrases(phrases)}."
    title, head = head_of(chart)
    return plane.draw(title, described, body, foot=foot, room=room, head=head)


def _blocks(edges: Sequence[float], counts: Sequence[float], plane: Plane) -> str:
    floor = plane.y(0)
    places = [(plane.x(a), plane.x(b), plane.y(n)) for (a, b), n in zip(pairwise(edges), counts, strict=True) if n > 0]
    return "".join(
        f"M{_near(a)} {_near(floor)}V{_near(min(y, floor - 0.6))}H{_near(max(b - 0.6, a + 0.4))}V{_near(floor)}z"
        for a, b, y in places
    )


def _uprights(marks: Iterable[tuple[float, str]], plane: Plane) -> str:
    """Named places across the plane, as dashed lines."""
    taken: list[tuple[float, float, float]] = []
    parts = []
    for x, text in marks:
        at = plane.x(x)
        parts.append(INK.stroke(f"M{_near(at)} {TOP}V{TOP + plane.tall}", width=1.2))
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
        body.append(ORANGE.fill(f"M{_near(a)} {TOP}H{_near(b)}V{TOP + LOW}H{_near(a)}z", ".28"))
        at = max(plane.left, min(a, plane.left + SIDE - ems(text) * 10))
        if text and at > last:  # one that would cover another is in the text alternative only
            body.append(text_at(at, TOP - 3, text, plane.left + SIDE - at + 1, kind="to"))
            last = at + ems(text) * 10 + 6
    line = Series(name="", points=points, band=[], look=replace(BLUE, width=1.2), quiet=False, corners=False)
    body.append(_line(line, plane))
    when, most = max(points, key=lambda point: point[1])
    phrases = [f"{short_name(text or 'marked')} from {value_text(a)} to {value_text(b)}" for a, b, text in spans]
    described = f"{counted(len(points), 'point')}; highest {value_text(most)} at {value_text(when)}"
    described = "; ".join(filter(None, (described, listed_phrases(phrases))))
    title, head = head_of(chart)
    return plane.draw(title, f"{described}.", "".join(body), head=head)
