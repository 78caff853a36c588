# SPDX-License-Identifier: Apache-2.0
"""A cloud of points as the shade of cells, small enough for a page however many points there are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from assay.report.charts.plane import BELOW, SIDE, TOP, Plane, Spot, near
from assay.report.charts.plot_parts import (
    BLUE,
    INK,
    LINE,
    ORANGE,
    Data,
    finite,
    head_of,
    label_beside,
    listed_phrases,
    number,
    safe_text,
    short_name,
    span,
    text_at,
    tuples,
    value_text,
)
from assay.report.charts.plots import diagonal_line, plane_of

CELLS: Final = 40
"""Cells of a side at most."""
LEVELS: Final = 8
SPOTS: Final = 400
Rule: TypeAlias = tuple[float, Data]
"""A level line: its value and what is said of it."""


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
    described = _described(counts, across, up, rules)
    title, head = head_of(chart)
    return plane.draw(title, described, body, foot=foot, room=LINE * len(notes) + 4, head=head)


def _described(
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
