# SPDX-License-Identifier: Apache-2.0
"""Plots of plain data without axes: a picture with boxes and contours over it, and a shaded grid."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from assay.core.text import counted, phrases
from assay.report.charts import plot_parts as parts
from assay.report.charts.plot_parts import BLUE, LINE, ORANGE, SOFT, TOP, WIDTH, Data, Look, near, number, text_at
from assay.report.colours import LIGHT
from assay.report.fit_text import ems, wrapped

WIDE, TALL = 320, 360
KINDS: Final = {
    "truth": Look("ln", "pt", LIGHT.blue),
    "predicted": Look("ln2", "up", LIGHT.orange, "6 3"),
    "missed": Look("ln", "pt", LIGHT.blue, "1.5 3", 3),
    "wrong": Look("ln2", "up", LIGHT.orange, "9 3 2 3", 3),
}
"""What is true is blue, what is predicted orange; each kind has a dash of its own."""
HALO: Final = Look("ha", "ha", LIGHT.card, width=4)
"""Parts a line from a picture of any colour."""
PNG: Final = re.compile(r"iVBORw0KGgo[A-Za-z0-9+/]+={0,2}")
"""The signature of a PNG file in base 64; nothing else is embedded."""
ROWS, COLUMNS, CELL, NAMES = 30, 24, 20, 84
SLIM: Final = 14
"""A narrower cell has no room for a number."""
SIGNS: Final = {"good": "✓", "bad": "✗", "open": "○"}
SHADES: Final = 8
FILLED: Final = {"pt": BLUE, "up": ORANGE}
OPEN: Final = replace(SOFT, dash="2 2", width=1)


def picture(chart: Data) -> str:
    """A thumbnail, or a plain frame, with boxes and contours over it."""
    width, height = number(chart.get("width")) or 0.0, number(chart.get("height")) or 0.0
    if min(width, height) <= 0:
        return ""
    scale = min(WIDE / width, TALL / height)
    wide, tall = near(width * scale), near(height * scale)
    body = f'<path class="gr" fill="none" stroke="currentColor" stroke-opacity=".3" d="M0 {TOP}h{wide}v{tall}H0z"/>'
    if PNG.fullmatch(data := str(chart.get("png") or "")):
        body += f'<image x="0" y="{TOP}" width="{wide}" height="{tall}" href="data:image/png;base64,{data}"/>'
    kinds: Counter[str] = Counter()
    labels = ""
    for shape in (*(chart.get("contours") or ()), *(chart.get("boxes") or ())):
        corners, kind = _corners(shape), shape["kind"]
        if corners and kind in KINDS:
            kinds[kind] += 1
            places = [(min(max(x, 0), width) * scale, TOP + min(max(y, 0), height) * scale) for x, y in corners]
            path = parts.path_text(parts.straightened(places)) + "Z"
            body += HALO.stroke(path, opacity=".8") + KINDS[kind].stroke(path)
            labels += _label(parts.safe_text(shape.get("text")), places)
    bottom = TOP + height * scale
    key, room = parts.legend(((look, kind) for kind, look in KINDS.items() if kinds[kind]), bottom + 6)
    below = bottom + room + 18
    caption = wrapped(parts.safe_text(chart.get("caption")), 62)[:3] if chart.get("caption") else []
    lines = "".join(text_at(0, below + LINE * i, line, WIDTH, kind="so") for i, line in enumerate(caption))
    marked = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items()) or "nothing marked"
    described = f"{marked}. {parts.safe_text(chart.get('caption'))}".strip()
    size = (WIDTH, round(below - 6 + LINE * len(caption)))
    return parts.svg_document(chart, size, described, f"{body}{labels}{key}{lines}")


def _label(text: str, corners: Sequence[parts.Spot]) -> str:
    """A text above a shape, or inside where it would leave the picture, on a halo."""
    if not text:
        return ""
    x, y = min(a for a, _ in corners), min(b for _, b in corners)
    y = y - 3 if y > TOP + 12 else y + 11
    halo = f' fill="none" stroke="{LIGHT.card}" stroke-width="3"'
    return "".join(text_at(x + 1, y, text, WIDE - x, kind=kind, more=more) for kind, more in (("ha", halo), ("", "")))


def _corners(shape: Data) -> list[tuple[float, ...]]:
    """The corners of a box or of a contour; none where they are not finite."""
    if "points" in shape:
        return parts.tuples(shape["points"])
    sides = parts.tuples([[shape[key] for key in "xywh"]], parts.PLAIN * 2)
    return [corner for x, y, w, h in sides for corner in ((x, y), (x + w, y), (x + w, y + h), (x, y + h))]


def matrix(chart: Data) -> str:
    """A grid of texts, shaded by share; a tone adds a sign, so that no verdict is a colour alone."""
    rows, columns = ([parts.safe_text(name) for name in chart[key]] for key in ("rows", "columns"))
    if not rows or not columns:
        return ""
    left = math.ceil(min(96.0, max(map(ems, rows[:ROWS])) * 11)) + 6
    wide = min(60, (WIDTH - left) // min(len(columns), COLUMNS))
    longest = math.ceil(max(map(ems, columns[:COLUMNS])) * 10)
    upright = longest > wide - 2
    top = TOP + (min(NAMES, longest) if upright else 12)
    middles = [(left + wide * (j + 0.5), name) for j, name in enumerate(columns[:COLUMNS])]
    texts = [
        text_at(x + 3, top - 4, name, NAMES, more=f' transform="rotate(-90 {near(x + 3)} {top - 4})"')
        if upright
        else text_at(x, top - 4, name, wide, anchor="middle")
        for x, name in middles
    ]
    texts += [text_at(0, top + CELL * (i + 0.5) + 4, name, left - 5, size=11) for i, name in enumerate(rows[:ROWS])]
    grounds: dict[tuple[str, str], str] = {}
    cells = [(i, j, cell) for i, row in enumerate(chart["cells"]) for j, cell in enumerate(row)]
    for i, j, cell in cells:
        if i < ROWS and j < COLUMNS:
            place, kind = (left + wide * j, top + CELL * i), _ground(cell)
            outline = f"M{place[0]} {place[1]}h{wide - 1}v{CELL - 1}h{1 - wide}z"
            grounds[kind] = grounds.get(kind, "") + outline
            texts.append(_cell_text(cell, place, wide))
    shades = [
        OPEN.stroke(path, opacity=opacity) if kind == "rf" else FILLED[kind].fill(path, opacity)
        for (kind, opacity), path in grounds.items()
    ]
    bottom = top + CELL * min(len(rows), ROWS)
    limits = (rows, ROWS, "more row"), (columns, COLUMNS, "more column")
    hidden = " and ".join(counted(len(names) - most, what) for names, most, what in limits if len(names) > most)
    foot = text_at(0, bottom + 14, f"and {hidden}", WIDTH, kind="so") if hidden else ""
    size = (WIDTH, bottom + 6 + LINE * bool(hidden))
    return parts.svg_document(chart, size, _described(rows, columns, cells), "".join((*shades, *texts, foot)))


def _ground(cell: Data) -> tuple[str, str]:
    """The class and the opacity of a cell, weak enough for its text to be read."""
    share, tone = number(cell.get("share")), cell.get("tone")
    if share is None:
        return {"good": ("pt", ".2"), "bad": ("up", ".3"), "open": ("rf", ".8")}.get(str(tone), ("pt", "0.04"))
    level = round(SHADES * min(max(share, 0.0), 1.0))
    return "up" if tone == "bad" else "pt", f"{0.04 + 0.41 * level / SHADES:.2f}"


def _cell_text(cell: Data, place: tuple[int, int], wide: int) -> str:
    """The text of a cell with the sign of its tone; only the sign where there is no room for both."""
    sign, text = SIGNS.get(str(cell.get("tone")), ""), parts.safe_text(cell.get("text"))
    whole = f"{sign} {text}".strip()
    fits = ems(whole) * 10 <= wide - 2 or wide > 2 * CELL
    short = whole if fits and wide >= SLIM else sign
    kind = "so" if cell.get("tone") == "soft" else ""
    x, y = place[0] + wide / 2, place[1] + CELL / 2 + 3.5
    return text_at(x, y, short, wide - 2, anchor="middle", kind=kind) if short else ""


def _described(rows: Sequence[str], columns: Sequence[str], cells: Sequence[tuple[int, int, Any]]) -> str:
    """How many cells there are, how they were judged, and which stand out."""
    tones = Counter(str(cell.get("tone")) for *_, cell in cells)
    facts = [f"{tones[tone]:,} {tone}" for tone in SIGNS if tones[tone]]
    marked = [entry for entry in cells if entry[2].get("tone") == "bad"]
    shaded = [entry for entry in cells if number(entry[2].get("share"))]
    marked += [max(shaded, key=lambda entry: entry[2]["share"])] if shaded and not marked else []
    names = [
        f"{parts.short_name(rows[i])}, {parts.short_name(columns[j])}: {parts.short_name(cell.get('text') or '')}"
        for i, j, cell in marked
    ]
    counts = f"{counted(len(rows), 'row')} by {counted(len(columns), 'column')}"
    return f"{'; '.join([counts, *facts])}{'; ' if names else ''}{phrases(names, most=6)}."
