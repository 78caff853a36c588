# SPDX-License-Identifier: Apache-2.0
"""The summary a terminal shows: sentences of at most 100 columns, tables as wide as it is, colours when asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from assay.assess.record.record import Record
from assay.core import blocks as tree
from assay.core.text import counted
from assay.report.fit_text import cells, fitted, wrapped
from assay.report.report_document import report_of

WIDEST: Final = 100
"""Columns of a sentence, and of everything where nobody says how wide the terminal is."""
MOST_COLUMNS: Final = 160
NARROWEST: Final = 50
MOST_ROWS: Final = 20
MOST_REASONS: Final = 12
MOST_CELLS: Final = 20
ROOMS: Final = (32, 24, 16, 10, 6)
"""Cells of a name, from the roomiest table to the tightest."""
LEAST_PROSE: Final = 30
"""Cells below which a sentence goes under its row, not beside it."""
FIRST: Final = ("recall", "f1", "recall_macro", "f1_macro", "accuracy")
"""Measures that a table too wide keeps longest."""
STYLES: Final = {"strong": "\x1b[1m", "blue": "\x1b[34m", "orange": "\x1b[33m", "soft": "\x1b[2m"}
TONES: Final = {"warn": "orange", "bad": "orange", "open": "orange", "good": "blue", "soft": "soft", "strong": "strong"}
RESET: Final = "\x1b[0m"
INTERVAL: Final = "interval"
BELOW: Final = "    "


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text and how it is painted, with the interval of a value softly after it."""

    text: str
    style: str = ""
    interval: str = ""


class Lines:
    """Rows under a head; text starts at the left, numbers end at the right, and a head spans values and intervals."""

    def __init__(
        self,
        head: Sequence[str],
        rows: Iterable[Sequence[Text]],
        right: Sequence[bool],
        table: tree.Table | None = None,
        gap: int = 2,
    ) -> None:
        self.head, self.body, self.right, self.table, self.gap = head, [*rows], right, table, gap
        self.widths: list[tuple[int, int]] = []
        """Of the values of each column, and of the intervals with the gap before them."""
        for i, name in enumerate(head):
            value = max((cells(row[i].text) for row in self.body), default=0)
            interval = max((cells(row[i].interval) for row in self.body), default=0)
            interval += gap if interval else 0
            self.widths.append((max(value, cells(name) - interval), interval))

    @property
    def width(self) -> int:
        """The cells of the longest line."""
        return sum(map(sum, self.widths)) + self.gap * (len(self.widths) - 1)

    def lines(self) -> Iterator[list[Text]]:
        """The head, then the rows, as pieces."""
        pieces: list[Text] = []
        for i, (name, (value, interval)) in enumerate(zip(self.head, self.widths, strict=True)):
            rest = value + interval - cells(name) - len(INTERVAL)
            shown = f"{name}{' ' * rest}{INTERVAL}" if interval and rest > 0 else name
            pieces += self._placed(i, Text(shown, "soft"), value + interval, right=self.right[i] and not interval)
        yield pieces
        for row in self.body:
            pieces = []
            for i, (piece, (value, interval)) in enumerate(zip(row, self.widths, strict=True)):
                pieces += self._placed(i, piece, value, right=self.right[i])
                if interval:
                    pieces += self._placed(1, Text(piece.interval, "soft"), interval - self.gap, right=False)
            yield pieces

    def _placed(self, i: int, piece: Text, wide: int, *, right: bool) -> list[Text]:
        space, gap = Text(" " * (wide - cells(piece.text))), Text(" " * self.gap if i else "")
        return [gap, space, piece] if right else [gap, piece, space]


def summary(record: Record, *, width: int = WIDEST, colour: bool = False) -> str:
    """What a Record says, in one screen or two."""
    report = report_of(record)
    page = _Page(width=max(NARROWEST, min(width, MOST_COLUMNS)), colour=colour)
    page.line(Text(fitted(report.title, page.width), "strong"))
    kind = f"{report.kind}, {report.about}" if report.about else report.kind
    page.line(Text(fitted(kind, page.width), "soft"))
    page.blank()
    for verdict in report.verdicts:
        page.said(f"{verdict.sign} {verdict.word}: {verdict.says}".rstrip(": "), "strong", hang="  ")
    page.said(report.opening)
    for remark in report.remarks:
        page.said(f"{remark.sign} {remark.sentence}", hang="  ")
    for section in report.plain(tree.Reach.TERMINAL):
        if all(isinstance(block, (tree.Figure, tree.Threshold, tree.Heading)) for block in section.blocks):
            continue
        page.head(section.title)
        for block in section.blocks:
            _draw(page, block)
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

    def said(self, text: str, style: str = "", *, hang: str = "", indent: str = "") -> None:
        """A sentence, wrapped; lines after the first begin with `hang`, all of them with `indent`."""
        for line in wrapped(text, min(self.width, WIDEST) - len(indent), hang):
            self.line(Text(f"{indent}{line}", style))

    def columns(self, ways: Iterable[Lines], *, must_fit: bool = False) -> Lines | None:
        """Columns side by side, in the first way that fits the width, else in the last, or in none."""
        chosen = None
        for chosen in ways:
            if chosen.width <= self.width:
                break
        else:
            if must_fit:
                return None
        for pieces in chosen.lines() if chosen else ():
            self.line(*pieces)
        return chosen

    def text(self) -> str:
        """Everything, ending in one newline."""
        return "\n".join(self._lines).rstrip("\n") + "\n"

    def _painted(self, piece: Text) -> str:
        painted = self._colour and piece.style and piece.text
        return f"{STYLES[piece.style]}{piece.text}{RESET}" if painted else piece.text


def _draw(page: _Page, block: tree.Block) -> None:
    """A block of any kind but figures, whose numbers stand in tables."""
    match block:
        case tree.Paragraph(text=text, tone=tone):
            page.said(text, TONES.get(tone, ""), hang="  ")
        case tree.Heading(text=text):
            page.head(text)
        case tree.Bullets(items=items):
            for item in items[:MOST_ROWS]:
                name = f"{item.name}:" if item.name else ""
                page.said(" ".join(filter(None, (item.sign or "-", item.word, name, item.text))), hang="  ")
                for text in item.below:
                    page.said(text, "soft", indent=BELOW)
            _rest(page, len(items) - MOST_ROWS, ("entry", "entries"))
        case tree.Terms(terms=terms):
            for term in terms:
                page.said(f"{term.name}: {term.text}", hang="  ")
        case tree.Table():
            _table(page, block)
        case tree.Grid():
            _grid(page, block)


def _rest(page: _Page, count: int, things: tuple[str, str]) -> None:
    if count > 0:
        page.said(f"and {counted(count, f'more {things[0]}', f'more {things[1]}')}: see the report")


def _table(page: _Page, block: tree.Table) -> None:
    """A table in the columns that fit, how much of it is elsewhere, and why values are missing."""
    prose = [i for i, column in enumerate(block.columns) if column.kind == "prose"]
    block = replace(block, rows=block.rows[:MOST_ROWS]) if prose and not block.things else block.cut(MOST_ROWS)
    short = shown = block.picked([i for i in range(len(block.columns)) if i not in prose])
    if prose:
        shown = _told(page, short, block.picked(prose))
    elif block.rows and (chosen := page.columns(_ways(short, ROOMS[:3]))) is not None:
        shown = chosen.table or short
    _rest(page, block.hidden, block.things or ("", ""))
    others = [column for column in short.columns if column not in shown.columns and column.reach & tree.Reach.FULL]
    if others:
        page.said(f"in the report also: {', '.join(column.typed or column.name for column in others)}")
    reasons = list(shown.reasons())
    for column, row, why in reasons[:MOST_REASONS]:
        page.said(f'∅ {column} of "{fitted(row, ROOMS[1])}": {why}', hang="  ")
    _rest(page, len(reasons) - MOST_REASONS, ("undefined value", "undefined values"))


def _told(page: _Page, short: tree.Table, prose: tree.Table) -> tree.Table:
    """A table with sentences: one beside its row where there is room, else below it."""
    wide = min(page.width, WIDEST)
    said = [["; ".join(filter(None, (cell.text, cell.below))) for cell in row.cells] for row in prose.rows]
    ways = (_side_by_side(short, room) for room in (wide, *ROOMS[:2]))
    fits = next((way for way in ways if way.width + 2 + LEAST_PROSE <= wide), None)
    if fits is not None and len(prose.columns) == 1:
        for pieces, (text,) in zip(fits.lines(), [[prose.columns[0].name], *said], strict=True):
            first, *more = wrapped(text, wide - fits.width - 2)
            page.line(*pieces, Text(f"  {first}", "soft"))
            for line in more:
                page.line(Text(" " * (fits.width + 2) + line, "soft"))
        return short
    *others, tightest = _ways(short, (max(wide // 2, ROOMS[0]),))
    chosen = next((way for way in others if way.width <= wide), tightest)
    for pieces, texts in zip(chosen.lines(), [[], *said], strict=True):
        page.line(*pieces)
        for column, text in zip(prose.columns, texts, strict=False):
            if text:
                page.said(f"{column.name}: {text}", "soft", indent=BELOW)
    return chosen.table or short


def _ways(block: tree.Table, rooms: Sequence[int]) -> Iterator[Lines]:
    """From the roomiest to the tightest: names are cut first, then measures are left out; intervals never are."""
    typed = [column.typed for column in block.columns]
    start = next((i for i, name in enumerate(typed) if name), len(typed))
    first = sorted((i for i in range(start, len(typed)) if typed[i] in FIRST), key=lambda i: FIRST.index(typed[i]))
    order = [*range(start), *first, *(i for i in range(start, len(typed)) if i not in first)]
    for part in (block, *(block.picked(order[:count]) for count in range(len(order) - 1, 1, -1))):
        yield from (_side_by_side(part, room) for room in rooms)
    yield from (_side_by_side(block.picked(order[:2]), room) for room in ROOMS)


def _side_by_side(block: tree.Table, room: int) -> Lines:
    """The columns of a table; a number is followed by its interval."""
    heads = [fitted(column.typed or column.name, ROOMS[1]) for column in block.columns]
    body: list[list[Text]] = [[] for _ in block.rows]
    for i, column in enumerate(block.columns):
        number = column.kind == "number"
        for line, row in zip(body, block.rows, strict=True):
            cell = row.cells[i]
            text = f"{cell.sign} {cell.text}" if cell.sign else cell.text
            shown = text.removesuffix(" undefined") if number else cell.typed or fitted(text, room)
            style = TONES.get(cell.tone, "") if cell.tone else "blue" if number and cell.below else ""
            line.append(Text(shown, style, cell.below if number else ""))
    return Lines(heads, body, [column.kind == "number" for column in block.columns], table=block)


def _grid(page: _Page, block: tree.Grid) -> None:
    numbers = [str(i + 1) for i in range(len(block.labels))]
    numbered = [f"{i:>{len(numbers[-1])}} {label}" for i, label in zip(numbers, block.labels, strict=True)]

    def lines(names: Sequence[str], heads: Sequence[str], *, corner: str = "", gap: int = 2) -> Lines:
        rows = [
            [
                Text(name),
                *(Text(c.text, "blue" if c.right else "soft" if c.empty else "orange") for c in counts),
                Text(total, "soft"),
            ]
            for name, counts, total in zip(names, block.rows, block.sums, strict=True)
        ]
        totals = [Text(one, "soft") for one in ("all", *block.totals, block.total)]
        return Lines([corner, *heads, "all"], [*rows, totals], [False] + [True] * (len(heads) + 1), gap=gap)

    def ways() -> Iterator[Lines]:
        corner = f"{block.down} ↓ {block.across} →"
        for room in (24, 12, 6):
            heads = [fitted(name, room) for name in block.labels]
            if len(set(heads)) == len(heads):  # names that are cut alike tell nobody anything
                yield lines(heads, heads, corner=corner)
        for room, gap in ((24, 2), (16, 2), (12, 1)):
            yield lines([fitted(name, room) for name in numbered], numbers, corner=corner[: room + 1], gap=gap)

    few = not block.hidden and len(block.labels) <= MOST_CELLS
    if few and page.columns(ways(), must_fit=True) is not None:
        return
    size = f"{len(block.labels) + block.hidden:,}"
    page.said(f"{size} by {size} cells do not fit here: see the report. {block.instead}")
