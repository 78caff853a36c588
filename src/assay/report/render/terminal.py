# SPDX-License-Identifier: Apache-2.0
"""The summary a terminal shows: plain text, at most 100 columns, colours only when asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.assess.record.record import Record
from assay.core.blocks import (
    Block,
    Bullets,
    Cell,
    Figure,
    Grid,
    Heading,
    Item,
    Paragraph,
    Reach,
    Table,
    Terms,
    Threshold,
)
from assay.core.text import counted
from assay.report.assessment_document import report_of
from assay.report.estimate_rows import Entry, Values
from assay.report.fit_text import cells, fitted, wrapped

WIDEST: Final = 100
NARROWEST: Final = 50
MOST_ROWS: Final = 20
MOST_REASONS: Final = 12
MOST_CELLS: Final = 6
BAR: Final = 24
ROOMS: Final = (24, 16, 10, 6)
"""Cells of a name, from the roomiest table to the tightest."""
LEAST: Final = 2
"""Columns that a table keeps beside its names before it gives up intervals."""
STYLES: Final = {"strong": "\x1b[1m", "blue": "\x1b[34m", "orange": "\x1b[33m", "soft": "\x1b[2m"}
TONES: Final = {"warn": "orange", "bad": "orange", "open": "orange", "good": "blue", "soft": "soft", "strong": "strong"}
RESET: Final = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text and how it is painted."""

    text: str
    style: str = ""


class Lines:
    """Rows under a head; text starts at the left, numbers end at the right."""

    def __init__(
        self, head: Sequence[str], rows: Iterable[Sequence[Text]], right: Sequence[bool], columns: int = 0
    ) -> None:
        self.body = [[Text(name, "soft") for name in head], *map(list, rows)]
        self.right, self.columns = right, columns
        self.widths = [max(cells(row[i].text) for row in self.body) for i in range(len(head))]

    @property
    def width(self) -> int:
        """The cells of the longest line."""
        return sum(self.widths) + 2 * (len(self.widths) - 1)


def summary(record: Record, *, width: int = WIDEST, colour: bool = False) -> str:
    """What a Record says, in one screen or two."""
    report = report_of(record)
    page = _Page(width=max(NARROWEST, min(width, WIDEST)), colour=colour)
    page.line(Text(fitted(report.title, page.width), "strong"))
    kind = f"{report.kind}, {report.about}" if report.about else report.kind
    page.line(Text(fitted(kind, page.width), "soft"))
    page.blank()
    for verdict in report.verdicts:
        page.said(f"{verdict.sign} {verdict.word}: {verdict.says}".rstrip(": "), "strong", hang="  ")
    page.said(report.opening)
    for remark in report.remarks:
        page.said(f"{remark.sign} {remark.sentence}", hang="  ")
    for section in report.plain(Reach.BRIEF):
        if all(isinstance(block, (Figure, Heading)) for block in section.blocks):
            continue
        page.head(section.title)
        for block in section.blocks:
            DRAWN[type(block)](page, block)
    return page.text()


class _Page:
    """Lines of text within a width."""

    def __init__(self, *, width: int, colour: bool) -> None:
        self.width, self._colour = width, colour
        self._lines: list[str] = []

    def line(self, *texts: Text) -> None:
        """One line of pieces."""
        self._lines.append("".join(map(self._painted, texts)).rstrip())

    def blank(self) -> None:
        """An empty line, never two."""
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def head(self, text: str) -> None:
        """The head of a part."""
        self.blank()
        self.said(text, "strong")

    def said(self, text: str, style: str = "", *, hang: str = "") -> None:
        """A sentence, wrapped; lines after the first begin with `hang`."""
        for line in wrapped(text, self.width, hang):
            self.line(Text(line, style))

    def indented(self, text: str, style: str = "") -> None:
        """A sentence below another one."""
        for line in wrapped(text, self.width - 4):
            self.line(Text(f"    {line}", style))

    def columns(self, ways: Iterable[Lines]) -> Lines:
        """Columns side by side, in the first way that fits the width, else in the last."""
        known = []
        for way in ways:
            known.append(way)
            if way.width <= self.width:
                break
        chosen = known[-1]
        for row in chosen.body:
            pieces: list[Text] = []
            for i, (piece, width) in enumerate(zip(row, chosen.widths, strict=True)):
                space, gap = " " * (width - cells(piece.text)), "  " if i else ""
                pieces += [Text(gap + space), piece] if chosen.right[i] else [Text(gap), piece, Text(space)]
            self.line(*pieces)
        return chosen

    def text(self) -> str:
        """Everything, ending in one newline."""
        return "\n".join(self._lines).rstrip("\n") + "\n"

    def _painted(self, piece: Text) -> str:
        painted = self._colour and piece.style and piece.text
        return f"{STYLES[piece.style]}{piece.text}{RESET}" if painted else piece.text


def _paragraph(page: _Page, block: Paragraph) -> None:
    page.said(block.text, TONES.get(block.tone, ""), hang="  ")


def _heading(page: _Page, block: Heading) -> None:
    page.head(block.text)


def _bullets(page: _Page, block: Bullets) -> None:
    for item in block.items[:MOST_ROWS]:
        page.said(_item(item), hang="  ")
        for text in (item.label, *item.below):
            if text:
                page.indented(text, "soft")
    _rest(page, len(block.items) - MOST_ROWS, ("entry", "entries"))


def _item(item: Item) -> str:
    name = f"{item.name}:" if item.name else ""
    return " ".join(filter(None, (item.sign or "-", item.word, name, item.text)))


def _terms(page: _Page, block: Terms) -> None:
    for term in block.terms:
        page.said(f"{term.name}: {term.text}", hang="  ")


def _rest(page: _Page, count: int, things: tuple[str, str]) -> None:
    if count > 0:
        page.said(f"and {counted(count, f'more {things[0]}', f'more {things[1]}')}: see the report")


def _table(page: _Page, block: Table) -> None:
    kept = [i for i, column in enumerate(block.columns) if column.kind != "prose"]
    rows = block.rows[:MOST_ROWS] if block.things else block.rows
    drawn = len(block.columns)
    if len(kept) < len(block.columns):
        _told(page, block, kept)
    else:
        drawn = page.columns(_ways(block, [row.cells for row in rows])).columns
    if block.things:
        _rest(page, len(block.rows) + block.hidden - len(rows), block.things)
    if drawn < len(block.columns):
        page.said(f"{counted(len(block.columns) - drawn, 'more column')} in the report")
    reasons = list(block.reasons(MOST_ROWS, drawn))
    for column, row, why in reasons[:MOST_REASONS]:
        page.said(f'∅ {column} of "{fitted(row, ROOMS[0])}": {why}', hang="  ")
    _rest(page, len(reasons) - MOST_REASONS, ("undefined value", "undefined values"))


def _told(page: _Page, block: Table, kept: Sequence[int]) -> None:
    """A table with sentences: what is short on a line, the sentences below it."""
    for row in block.rows[:MOST_ROWS]:
        shown = [_shown(row.cells[i]) for i in kept]
        page.said("  ".join(filter(None, shown)), hang="  ")
        for i, column in enumerate(block.columns):
            if i not in kept and row.cells[i].text:
                cell = row.cells[i]
                page.indented(f"{column.name}: {'; '.join(filter(None, (cell.text, cell.below)))}", "soft")


def _shown(cell: Cell) -> str:
    return f"{cell.sign} {cell.text}" if cell.sign else cell.text


def _ways(block: Table, rows: Sequence[Sequence[Cell]]) -> Iterator[Lines]:
    """From the roomiest to the tightest: names are cut first, then columns from the last, then intervals."""
    every = len(block.columns)
    for count in range(every, min(LEAST, every - 1), -1):
        for room in ROOMS[:-1]:
            yield _side_by_side(block, rows, count, room=room, intervals=True)
    for count in range(every, 1, -1):
        yield _side_by_side(block, rows, count, room=ROOMS[-2], intervals=False)
    yield _side_by_side(block, rows, min(every, 2), room=ROOMS[-1], intervals=False)


def _side_by_side(block: Table, rows: Sequence[Sequence[Cell]], count: int, *, room: int, intervals: bool) -> Lines:
    head: list[str] = []
    right: list[bool] = []
    body: list[list[Text]] = [[] for _ in rows]
    for i, column in enumerate(block.columns[:count]):
        number = column.kind == "number"
        head.append(fitted(column.typed or column.name, ROOMS[0]))
        right.append(number)
        for line, row in zip(body, rows, strict=True):
            cell = row[i]
            shown = _shown(cell) if number else fitted(_shown(cell) if not cell.typed else cell.typed, room)
            line.append(Text(shown, TONES.get(cell.tone, "") if cell.tone else "blue" if number and cell.below else ""))
        if intervals and number and any(row[i].below for row in rows):
            head.append("interval")
            right.append(True)
            for line, row in zip(body, rows, strict=True):
                line.append(Text(row[i].below, "soft"))
    return Lines(head, body, right, count)


def _grid(page: _Page, block: Grid) -> None:
    if block.hidden or len(block.labels) > MOST_CELLS:
        page.said(f"{len(block.labels)} by {len(block.labels)} cells: see the report")
        return

    def cut(room: int) -> Lines:
        rows = [
            [
                Text(fitted(label, max(room, 6))),
                *(Text(c.text, "blue" if c.right else "soft" if c.empty else "orange") for c in counts),
                Text(total, "soft"),
            ]
            for label, counts, total in zip(block.labels, block.rows, block.sums, strict=True)
        ]
        totals = [Text(one, "soft") for one in ("all", *block.totals, block.total)]
        corner = f"{block.down} ↓ {block.across} →" if room > 3 else ""  # noqa: PLR2004  the tightest way
        head = [corner, *(fitted(name, room) for name in block.labels), "all"]
        return Lines(head, [*rows, totals], [False] + [True] * (len(block.labels) + 1))

    page.columns(map(cut, (24, 12, 6, 3)))


def _values(page: _Page, block: Values) -> None:
    head = ["measure", "value", f"{block.level} interval", "on its range"]
    rows = [
        [
            Text(value.about.measure),
            Text(value.shown, "blue") if value.defined else Text(f"∅ {value.shown}", "orange"),
            Text(value.interval or ("none" if value.defined else "")),
            Text(_bar(value)),
        ]
        for value in block.entries
    ]
    page.columns(Lines(head[:n], [row[:n] for row in rows], [False] * n) for n in (4, 3, 2))
    for value in block.entries:
        for note in value.notes:
            page.said(f"{value.about.measure}: {note}", hang="  ")
    for why in sorted({value.missing for value in block.entries if value.defined and not value.interval}):
        page.said(why if why.startswith("no interval") else f"no interval: {why}", hang="  ")
    if block.baseline is not None:
        page.said(f"baseline: {block.beside} {block.baseline.shown}: {block.mark}", hang="  ")


def _bar(value: Entry) -> str:
    low, high = value.about.span
    if value.value is None or not all(map(math.isfinite, (low, high, value.value))):
        return ""

    def at(place: float) -> int:
        return round((min(max(place, low), high) - low) / (high - low) * (BAR - 1))

    marks = ["·"] * BAR
    if value.low is not None and value.high is not None:
        for i in range(at(value.low), at(value.high) + 1):
            marks[i] = "━"
    marks[at(value.value)] = "●"
    return f"{low:>2g} {''.join(marks)} {high:g}"


def _nothing(page: _Page, block: Figure | Threshold) -> None:
    """The numbers of figures stand in tables."""
    del page, block


DRAWN: Final[dict[type[Block], Callable[[_Page, Any], None]]] = {
    Paragraph: _paragraph,
    Heading: _heading,
    Bullets: _bullets,
    Terms: _terms,
    Figure: _nothing,
    Threshold: _nothing,
    Table: _table,
    Grid: _grid,
    Values: _values,
}
