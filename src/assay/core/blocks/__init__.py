# SPDX-License-Identifier: Apache-2.0
"""What a report is made of: sections of paragraphs, lists, tables and figures, as data without any look.

A section is built once and every renderer draws it. A new task adds blocks of these kinds and no renderer code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Flag, auto
from typing import TypeAlias


class Reach(Flag):
    """The renderers that draw a block."""

    TERMINAL = auto()
    NOTEBOOK = auto()
    TEXT = auto()
    """Markdown."""
    FULL = auto()
    """HTML and PDF."""
    BRIEF = TERMINAL | NOTEBOOK
    DIGEST = BRIEF | TEXT
    REPORT = TEXT | FULL
    ALL = BRIEF | TEXT | FULL


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A part of a section."""

    reach: Reach = Reach.ALL


@dataclass(frozen=True, slots=True)
class Paragraph(Block):
    """Sentences; `tone` is empty, soft, strong or warn."""

    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Heading(Block):
    """The title of a part of a section."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An entry of a list: sign and word first, then the name it links to, the text, and what is said below."""

    text: str
    sign: str = ""
    word: str = ""
    name: str = ""
    anchor: str = ""
    below: tuple[str, ...] = ()
    style: str = ""


@dataclass(frozen=True, slots=True)
class Bullets(Block):
    """Entries one below the other; `look` is empty, signed or verdicts."""

    items: tuple[Item, ...]
    look: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A name and what is said of it."""

    name: str
    text: str
    symbol: str = ""
    more: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Terms(Block):
    """Names and texts: side by side (`rows`), with digests (`code`), or as a list with room for sentences (`list`)."""

    terms: tuple[Term, ...]
    look: str = "rows"


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure by the name of the function that draws it, and its data."""

    kind: str
    data: tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure(Block):
    """Charts side by side; `look` is empty, many (small) or wide."""

    charts: tuple[Chart, ...]
    alt: str
    look: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A piece of evidence and where it stands."""

    text: str
    anchor: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell: a text, a smaller one below, and the reason why there is no value."""

    text: str
    sign: str = ""
    below: str = ""
    why: str = ""
    tone: str = ""
    """Empty, soft, warn, good, bad or open."""
    typed: str = ""
    """The name that is typed to get the value, where it differs from the one that is read."""
    anchor: str = ""
    links: tuple[Link, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `kind` is text, name (from outside), number, prose (long) or formula."""

    name: str
    kind: str = "text"
    width: float = 0.0
    """A share of what is left of a page; 0 is as wide as the contents."""
    typed: str = ""
    reach: Reach = Reach.ALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The cells of a row; a row with a title and no cells heads those below it."""

    cells: tuple[Cell, ...] = ()
    title: str = ""
    id: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A style of rows that a reader may choose to see alone."""

    style: str
    sign: str
    name: str
    more: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Block):
    """Rows under heads. A table with `things` may be cut by a renderer, which then says how many things are left."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    look: str = ""
    small: bool = False
    things: tuple[str, str] | None = None
    hidden: int = 0
    filters: tuple[Filter, ...] = ()

    def picked(self, places: Sequence[int]) -> Table:
        """The table with some of its columns, in an order."""
        rows = (replace(row, cells=tuple(row.cells[i] for i in places)) if row.cells else row for row in self.rows)
        return replace(self, columns=tuple(self.columns[i] for i in places), rows=tuple(rows))

    def drawn_by(self, reach: Reach) -> Table:
        """The table with the columns that a renderer draws."""
        return self.picked([i for i, column in enumerate(self.columns) if column.reach & reach])

    def cut(self, most: int) -> Table:
        """The first rows of a table that may be cut; those left out are hidden."""
        rest = len(self.rows) - most if self.things else 0
        return replace(self, rows=self.rows[:most], hidden=self.hidden + rest) if rest > 0 else self

    def reasons(self) -> Iterator[tuple[str, str, str]]:
        """Column, row and reason of every cell without a value, where they cannot stand in the cells."""
        for row in self.rows:
            for column, cell in zip(self.columns, row.cells, strict=False):
                if cell.why:
                    yield column.typed or column.name, row.cells[0].text, cell.why


@dataclass(frozen=True, slots=True, kw_only=True)
class GridCell:
    """A cell of a grid; `share` is its part of its column."""

    text: str
    below: str
    share: float | None
    right: bool
    empty: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid(Block):
    """Counts by two sets of the same names, shaded by share, with totals."""

    caption: str
    down: str
    across: str
    labels: tuple[str, ...]
    rows: tuple[tuple[GridCell, ...], ...]
    sums: tuple[str, ...]
    totals: tuple[str, ...]
    total: str
    hidden: int = 0
    """Names that were added up."""
    instead: str = ""
    """What is said where the grid does not fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold(Block):
    """What a threshold does to the rows; a page lets readers move it over the points."""

    threshold: str
    chosen: str
    warning: str
    unit: str
    positive: str
    cells: tuple[str, str, str, str]
    """True and false positives, false and true negatives."""
    rates: tuple[tuple[str, str, str], ...]
    """Short name, name and value."""
    points: str = ""
    at: int = 0
    totals: str = ""
    """Positives and negatives, where the last point does not reach them all."""


@dataclass(frozen=True, slots=True)
class Card(Block):
    """Blocks that belong together; `look` is empty, folds or judged."""

    blocks: tuple[Block, ...]
    look: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold(Block):
    """Blocks under a title that a page may close. A fold without `named` only serves a page: others draw its blocks."""

    title: str
    blocks: tuple[Block, ...]
    more: str = ""
    lead: str = ""
    """A sentence that belongs to the title."""
    id: str = ""
    open: bool = False
    named: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a report with a title and a place."""

    id: str
    title: str
    blocks: tuple[Block, ...]
    listed: str = ""
    """Its name among the contents, where that is shorter."""
    reach: Reach = Reach.ALL
    folded: bool = False
    """Whether it may be closed."""
    after: str = ""
    """Of a section of a task: what it stands after, `classes` or `groups`, if not before both."""


def terms(pairs: Iterable[tuple[str, str]], look: str = "rows", **more: Reach) -> Terms:
    """Names and texts."""
    return Terms(tuple(Term(name=name, text=text) for name, text in pairs), look, **more)


def bullets(texts: Iterable[str]) -> Bullets:
    """Plain sentences one below the other."""
    return Bullets(tuple(Item(text=text) for text in texts))


def row_of(*cells: str | Cell, **more: str) -> Row:
    """A row of cells, of which some are plain texts."""
    return Row(cells=tuple(Cell(cell) if isinstance(cell, str) else cell for cell in cells), **more)


Head: TypeAlias = "Column | str | tuple[str, str] | tuple[str, str, float]"
Cells: TypeAlias = Sequence[str | Cell]


def table(name: str, caption: str, heads: Iterable[Head], rows: Iterable[Row | Cells], **more: object) -> Table:
    """A table of rows, or of their cells, under heads: columns, or the name, kind and width of each."""
    columns = (h if isinstance(h, Column) else Column(h) if isinstance(h, str) else Column(*h) for h in heads)
    drawn = (row if isinstance(row, Row) else row_of(*row) for row in rows)
    return Table(name=name, caption=caption, columns=tuple(columns), rows=tuple(drawn), **more)  # type: ignore[arg-type]


def number_table(name: str, caption: str, heads: Sequence[str], rows: Iterable[Cells], *, small: bool = False) -> Table:
    """A table of names and numbers."""
    sides = ((head, "number" if i else "text", 1) for i, head in enumerate(heads))
    return table(name, caption, sides, rows, small=small)


def chart(kind: str, **data: object) -> Chart:
    """A figure by its kind and data."""
    return Chart(kind, (data,))


def section(id: str, title: str, blocks: Iterable[Block], **more: object) -> Section:
    """A section of whatever blocks there are."""
    return Section(id=id, title=title, blocks=tuple(blocks), **more)  # type: ignore[arg-type]
