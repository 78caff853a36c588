# SPDX-License-Identifier: Apache-2.0
"""Plots of plain data over two axes: lines, distributions, time lines and clouds of points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from assay.core.text import counted
from assay.report.blocks.det_axes import Deviates, _cut
from assay.report.charts.plane import (
    BELOW,
    LEFT,
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
    QUIET,
    Data,
    Look,
    label_beside,
    legend,
    listed_phrases,
    look_of,
    named_places,
    number,
    safe_text,
    short_name,
    text_at,
    tuples,
    value_text,
)
from assay.report.charts.svg import _near
from assay.report.fit_text import ems

LOW: Final = 150
"""Height of a plane that needs no square."""
FEW: Final = 12
"""Points of a line that are marked one by one."""
SQUARE: Final = Deviates(low=0.0, high=1.0, ticks=())
PLACES: Final = (False, False)


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


def lines(chart: Data) -> str:
    """Lines with bands, steps, marks and a legend; a step of `true` holds back to the x before, one of "after" on."""
    logs = bool(chart.get("log_x")), bool(chart.get("log_y"))
    series, loud = [], 0
    for raw in chart["series"]:
        series.append(_series(raw, logs, loud))
        loud += not series[-1].quiet
    spots = named_places(chart.get("marks"), "x", "y", logs=logs)
    kept_series = [line for line in series if line.points]
    if not kept_series:
        return ""
    xs = [x for line in kept_series for x, *_ in (*line.points, *line.band)] + [place[0] for place, _ in spots]
    ys = [y for line in kept_series for _, *ends in (*line.points, *line.band) for y in ends]
    plane = plane_of(chart, xs, ys + [place[1] for place, _ in spots], logs)
    body = [diagonal_line(plane)] if chart.get("diagonal") else []
    body += [_band(line, plane) for line in kept_series if line.band]
    body += [_line(line, plane) for line in sorted(kept_series, key=lambda line: not line.quiet)]
    taken = [(plane.x(x) - 5, plane.x(x) + 5, plane.y(y) + 1) for (x, y), _ in spots]
    for (x, y), text in spots:
        at = plane.x(x), plane.y(y)
        look = 'class="mk" fill="#fff" stroke="currentColor" stroke-width="2"'
        body.append(f'<circle {look} cx="{_near(at[0])}" cy="{_near(at[1])}" r="4"/>')
        body.append(label_beside(taken, at, text, plane.left + SIDE))
    entries = {line.name: line.look for line in sorted(kept_series, key=lambda line: line.quiet)}
    foot, room = legend([(look, name) for name, look in entries.items()], TOP + SIDE + BELOW, left=plane.left)
    phrases = [_described(raw, line, logs) for raw, line in zip(chart["series"], series, strict=True) if not line.quiet]
    described = f"{counted(len(kept_series), 'line')}: {listed_phrases([text for text in phrases if text])}."
    return plane.draw(safe_text(chart["title"]), described, "".join(body), foot=foot, room=room)


def _series(raw: Data, logs: tuple[bool, bool], loud: int) -> Series:
    points = [(x, y) for x, y in tuples(raw["points"], logs)]
    step = raw.get("step")
    if step and points:
        corners = ((b[0], a[1]) if step == "after" else (a[0], b[1]) for a, b in pairwise(points))
        points = [points[0], *(spot for pair in zip(corners, points[1:], strict=True) for spot in pair)]
    quiet = bool(raw.get("quiet"))
    look = QUIET if quiet else look_of(loud)
    return Series(
        name=safe_text(raw.get("name")),
        points=points,
        band=tuples(raw.get("band") or (), (logs[0], logs[1], logs[1])),
        look=replace(look, dash=look.dash or "4 3") if raw.get("dashed") else look,
        quiet=quiet,
        corners=bool(step),
    )


def _described(raw: Data, line: Series, logs: tuple[bool, bool]) -> str:
    """The range of a line and its last point."""
    if not line.points:
        return ""
    ys = [y for _, y in line.points]
    least, most = (_back(end, log=logs[1]) for end in (min(ys), max(ys)))
    x, y = (_back(part, log=log) for part, log in zip(line.points[-1], logs, strict=True))
    name = f"{short_name(raw['name'])} " if raw.get("name") else ""
    return f"{name}from {least} to {most}, ending at {y} (at {x})"


def _back(value: float, *, log: bool) -> str:
    return value_text(10**value if log else value)


def plane_of(
    chart: Data, xs: Iterable[float], ys: Iterable[float], logs: Sequence[bool] = PLACES, tall: int = SIDE
) -> Plane:
    """A plane over some values, whose left edge has room for the numbers beside it."""
    axes = []
    for name, values, log in zip("xy", (xs, ys), logs, strict=True):
        ends = tuples([chart.get(f"{name}_range") or (None, None)], (log, log))
        kept = (ends[0][0], ends[0][1]) if ends and ends[0][0] < ends[0][1] else None
        axes.append(axis_over(values, ends=kept, log=log))
    numbers = [tick_texts(axis.ticks, log=log) for axis, log in zip(axes, logs, strict=True)]
    wide = max(map(ems, numbers[1]), default=0) * 10
    left = round(min(76, max(LEFT, wide + 20)))
    names = safe_text(chart.get("x")), safe_text(chart.get("y"))
    return Plane(across=axes[0], up=axes[1], names=names, left=left, tall=tall, numbers=(numbers[0], numbers[1]))


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
    return line.look.fill(path_text(straightened(thinned_columns(edges))) + "Z", ".15")


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
    edges = [x for (x,) in tuples([(edge,) for edge in chart["edges"]], (False,))]
    counts = [number(count) or 0.0 for count in chart["counts"]]
    second = chart.get("second") or {}
    others = [number(count) or 0.0 for count in second.get("counts") or ()]
    if len(edges) != len(counts) + 1 or not counts:
        return ""
    marks = [(x, text) for (x,), text in named_places(chart.get("marks"), "x")]
    plane = plane_of({"y": "count", **chart}, [*edges, *(x for x, _ in marks)], [0, *counts, *others, 1], tall=LOW)
    body = BLUE.fill(_blocks(edges, counts, plane), ".65")
    if len(others) == len(counts):
        tops = [spot for (a, b), n in zip(pairwise(edges), others, strict=True) for spot in ((a, n), (b, n))]
        body += ORANGE.stroke(path_text([(plane.x(x), plane.y(y)) for x, y in ((edges[0], 0), *tops, (edges[-1], 0))]))
    body += _uprights(marks, plane)
    names = [(replace(BLUE, width=8), safe_text(chart.get("name"))), (ORANGE, safe_text(second.get("name")))]
    foot, room = legend(names, TOP + LOW + BELOW, left=plane.left)
    most = max(range(len(counts)), key=counts.__getitem__)
    phrases = [f"most, {value_text(counts[most])}, from {value_text(edges[most])} to {value_text(edges[most + 1])}"]
    phrases += [f"{short_name(text)} at {value_text(x)}" for x, text in marks if text]
    ends = f"{value_text(edges[0])} to {value_text(edges[-1])}"
    described = f"{value_text(sum(counts))} values from {ends}; {listed_phrases(phrases)}."
    return plane.draw(safe_text(chart["title"]), described, body, foot=foot, room=room)


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
    points = [(t, value) for t, value in tuples(chart["points"], PLACES)]
    if not points:
        return ""
    spans = sorted((a, b, text) for (a, b), text in named_places(chart.get("marks"), "from", "to"))
    plane = plane_of(
        chart, [t for t, _ in points] + [t for *ends, _ in spans for t in ends], [y for _, y in points], tall=LOW
    )
    body, last = [], 0.0
    for start, stop, text in spans:
        a, b = plane.x(start), max(plane.x(stop), plane.x(start) + 1.5)
        body.append(ORANGE.fill(f"M{_near(a)} {TOP}H{_near(b)}V{TOP + LOW}H{_near(a)}z", ".28"))
        at = min(a, plane.left + SIDE - ems(text) * 10)
        if text and at > last:  # one that would cover another is in the text alternative only
            body.append(text_at(at, TOP - 3, text, SIDE, kind="to"))
            last = at + ems(text) * 10 + 6
    line = Series(name="", points=points, band=[], look=replace(BLUE, width=1.2), quiet=False, corners=False)
    body.append(_line(line, plane))
    when, most = max(points, key=lambda point: point[1])
    phrases = [f"{short_name(text or 'marked')} from {value_text(a)} to {value_text(b)}" for a, b, text in spans]
    described = f"{counted(len(points), 'point')}; highest {value_text(most)} at {value_text(when)}"
    described = "; ".join(filter(None, (described, listed_phrases(phrases))))
    return plane.draw(safe_text(chart["title"]), f"{described}.", "".join(body))
