# SPDX-License-Identifier: Apache-2.0
"""A cloud of points as the shade of cells, small enough for a page however many points there are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from assay.report.charts.plane import BELOW, SIDE, TOP, Plane, Spot
from assay.report.charts.plot_parts import (
    BLUE,
    INK,
    LINE,
    ORANGE,
    Data,
    label_beside,
    number,
    safe_text,
    short_name,
    text_at,
    tuples,
    value_text,
)
from assay.report.charts.plots import PLACES, diagonal_line, plane_of
from assay.report.charts.svg import _near

CELLS: Final = (64, 32, 16)
"""Cells of a side, tried until the chart is small."""
LARGEST: Final = 18_000
LEVELS: Final = 8
SPOTS: Final = 400


def cloud(chart: Data) -> str:
    """A density by the shade of cells, with limit lines and single points over it."""
    x_edges, y_edges = ([number(edge) for edge in chart[key]] for key in ("x_edges", "y_edges"))
    counts = [[max(number(count) or 0.0, 0.0) for count in row] for row in chart["counts"]]
    across, up = ([edge for edge in edges if edge is not None] for edges in (x_edges, y_edges))
    fits = len(counts) == len(up) - 1 and all(len(row) == len(across) - 1 for row in counts)
    if not fits or not counts or not counts[0] or across[0] >= across[-1] or up[0] >= up[-1]:
        return ""
    rules = [
        (key, x, rule) for rule in chart.get("lines") or () for key in "xy" if (x := number(rule.get(key))) is not None
    ]
    points = tuples(chart.get("points") or (), PLACES)
    spread = [[*edges, *(x for axis, x, _ in rules if axis == key)] for key, edges in (("x", across), ("y", up))]
    plane = plane_of(chart, spread[0] + [x for x, _ in points], spread[1] + [y for _, y in points])
    for most in CELLS:
        grid = _regridded(_regridded(counts, up, most), across, most, columns=True)
        body = _shades(grid, plane, (across[0], across[-1]), (up[0], up[-1]))
        if len(body) <= LARGEST:
            break
    body += diagonal_line(plane) if chart.get("diagonal") else ""
    dots = "".join(f"M{_near(plane.x(x))} {_near(plane.y(y))}h0" for x, y in points[:SPOTS])
    body += replace(INK, dash="").stroke(dots, width=2.6, opacity=".7", ends="round") if dots else ""
    body += _rules(rules, plane)
    peak = max(map(max, grid))
    notes = [f"Darker cells hold more, up to {value_text(round(peak) if peak >= 1 else peak)}."] if peak else []
    if len(points) > SPOTS:
        notes.append(f"{SPOTS} of {len(points):,} points are drawn.")
    foot = "".join(
        text_at(plane.left, TOP + SIDE + BELOW + 11 + LINE * i, note, SIDE, kind="so") for i, note in enumerate(notes)
    )
    total, row = sum(map(sum, counts)), max(range(len(counts)), key=lambda i: max(counts[i]))
    column = max(range(len(counts[row])), key=counts[row].__getitem__)
    described = f"{value_text(round(total, 6))} values"
    if peak:
        most_at = [
            f"{value_text(edges[i])} to {value_text(edges[i + 1])}" for edges, i in ((across, column), (up, row))
        ]
        described += f", most at {most_at[0]} across and {most_at[1]} up"
    phrases = "".join(f"; {short_name(rule.get('text') or 'line')} at {value_text(at)}" for _, at, rule in rules)
    return plane.draw(safe_text(chart["title"]), f"{described}{phrases}.", body, foot=foot, room=LINE * len(notes) + 4)


def _regridded(
    counts: Sequence[Sequence[float]], edges: Sequence[float], most: int, *, columns: bool = False
) -> list[list[float]]:
    """Counts of cells in equal cells, `most` at most; a cell that lies in two of them is shared out."""
    rows = list(zip(*counts, strict=True)) if columns else counts
    n, width = len(rows), edges[-1] - edges[0]
    even = all(abs((b - a) * n / width - 1) < 1e-6 for a, b in pairwise(edges))  # noqa: PLR2004  rounding
    size = math.ceil(n / math.ceil(n / most)) if even else most
    merged = [[0.0] * len(rows[0]) for _ in range(size)]
    for row, (low, high) in zip(rows, pairwise(edges), strict=True):
        a, b = ((edge - edges[0]) / width * size for edge in (low, high))
        for i in range(max(0, int(a + 1e-9)), min(size, math.ceil(b - 1e-9))):
            share = (min(b, i + 1) - max(a, i)) / (b - a) if b > a else 0.0
            merged[i] = [old + share * new for old, new in zip(merged[i], row, strict=True)]
    return [list(row) for row in zip(*merged, strict=True)] if columns else merged


def _shades(grid: Sequence[Sequence[float]], plane: Plane, across: Spot, up: Spot) -> str:
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
    x, y = plane.x(across[0]), plane.y(up[0])
    wide, high = (plane.x(across[1]) - x) / len(grid[0]), (y - plane.y(up[1])) / len(grid)
    look = f'transform="translate({_near(x)} {y - high / 2:.3f}) scale({wide:.4f} {-high:.4f})"'
    strokes = "".join(
        replace(BLUE, width=1).stroke(path, opacity=f"{0.08 + 0.84 * level / LEVELS:.2f}")
        for level, path in enumerate(paths)
        if path
    )
    return f'<g {look} shape-rendering="crispEdges">{strokes}</g>'


def _rules(rules: Iterable[tuple[str, float, Data]], plane: Plane) -> str:
    """Named lines across the plane, level or upright."""
    taken: list[tuple[float, float, float]] = []
    parts = []
    for axis, value, rule in rules:
        look = replace(ORANGE, dash="6 3" if rule.get("dashed") else "", width=1.4)
        level, right = axis == "y", plane.left + SIDE
        at = plane.y(value) if level else plane.x(value)
        parts.append(look.stroke(f"M{plane.left} {_near(at)}H{right}" if level else f"M{_near(at)} {TOP}V{TOP + SIDE}"))
        place = (right, at) if level else (at, TOP + 14)
        parts.append(label_beside(taken, place, safe_text(rule.get("text")), right))
    return "".join(parts)
