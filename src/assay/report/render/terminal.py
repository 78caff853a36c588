# SPDX-License-Identifier: Apache-2.0
"""The summary a terminal shows: plain text, at most 100 columns, colours only when asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from assay.assess.record import Record
from assay.core.text import figure
from assay.report import sentences
from assay.report.assessment_document import Document, Factor, read
from assay.report.blocks.claims import told
from assay.report.blocks.conformity import Statement
from assay.report.blocks.confusion_matrix import Matrix
from assay.report.blocks.decisions import Verdicts
from assay.report.estimate_rows import About, Entry
from assay.report.fit_text import cells, fitted, wrapped

Row: TypeAlias = tuple[str, str, Sequence[Entry]]
"""A class or group: its name, its size, its measures."""

WIDEST: Final = 100
NARROWEST: Final = 50
MOST_ROWS: Final = 20
MOST_UNDEFINED: Final = 12
MOST_CELLS: Final = 6
GROUPED: Final = ("accuracy", "balanced_accuracy", "precision", "recall", "f1_macro")
ACROSS: Final = 3
"""Measures side by side in a table of classes or groups."""
BAR: Final = 24
LABEL: Final = 24
STYLES: Final = {"strong": "\x1b[1m", "blue": "\x1b[34m", "orange": "\x1b[33m", "soft": "\x1b[2m"}
RESET: Final = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text and how it is painted."""

    text: str
    style: str = ""


class Table:
    """Rows under a head; the first `left` columns start at the left, the others end at the right."""

    def __init__(self, head: Sequence[str], rows: Iterable[Sequence[Text]], *, left: int = 1) -> None:
        self.body = [[Text(one, "soft") for one in head], *map(list, rows)]
        self.left = left
        self.widths = [max(cells(row[i].text) for row in self.body) for i in range(len(head))]

    @property
    def width(self) -> int:
        """The cells of the longest line."""
        return sum(self.widths) + 2 * (len(self.widths) - 1)


def summary(record: Record, *, width: int = WIDEST, colour: bool = False) -> str:
    """What a Record says, in one screen or two."""
    document = read(record)
    page = _Page(width=max(NARROWEST, min(width, WIDEST)), colour=colour)
    page.line(Text(fitted(document.title, page.width), "strong"))
    page.line(
        Text(document.kind + (f", positive class {fitted(document.positive, 40)}" if document.positive else ""), "soft")
    )
    page.blank()
    _decided(page, document.verdicts)
    page.said(document.opening)
    page.blank()
    _headline(page, document)
    _matrix(page, document.matrix, weighted=document.weighted)
    _operating(page, document)
    _classes(page, document)
    _averages(page, document)
    for factor in document.factors:
        _factor(page, factor)
    _undefined(page, document)
    for kind, text, hang in told(document.claims, document.contests):
        page.head(text) if kind == "head" else page.said(text, hang=hang)
    _conformity(page, document.statement)
    _closing(page, document)
    return page.text()


class _Page:
    """Lines of text within a width."""

    def __init__(self, *, width: int, colour: bool) -> None:
        self.width, self._colour = width, colour
        self._lines: list[str] = []

    def line(self, *texts: Text) -> None:
        """One line of pieces."""
        self._lines.append("".join(self._painted(one) for one in texts).rstrip())

    def blank(self) -> None:
        """An empty line, never two."""
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def head(self, text: str) -> None:
        """The head of a part."""
        self.blank()
        for line in wrapped(text, self.width):
            self.line(Text(line, "strong"))

    def said(self, text: str, *, hang: str = "") -> None:
        """A sentence, wrapped; lines after the first begin with `hang`."""
        self._lines += wrapped(text, self.width, hang)

    def table(self, *ways: Table) -> None:
        """Columns side by side, in the first way that fits the width, else in the last."""
        chosen = next((one for one in ways if one.width <= self.width), ways[-1])
        for row in chosen.body:
            pieces: list[Text] = []
            for i, (one, width) in enumerate(zip(row, chosen.widths, strict=True)):
                space = " " * (width - cells(one.text))
                gap = "  " if i else ""
                pieces += [Text(gap), one, Text(space)] if i < chosen.left else [Text(gap + space), one]
            self.line(*pieces)

    def text(self) -> str:
        """Everything, ending in one newline."""
        return "\n".join(self._lines).rstrip("\n") + "\n"

    def _painted(self, one: Text) -> str:
        return f"{STYLES[one.style]}{one.text}{RESET}" if self._colour and one.style and one.text else one.text


def _value(one: Entry) -> Text:
    return Text(one.shown, "blue") if one.defined else Text(f"∅ {one.shown}", "orange")


def _headline(page: _Page, document: Document) -> None:
    if not document.headline:
        return
    head = ["measure", "value", f"{document.level} interval", "on its range"]
    rows = [
        [Text(one.about.measure), _value(one), Text(one.interval or ("none" if one.defined else "")), Text(_bar(one))]
        for one in document.headline
    ]
    page.table(Table(head, rows, left=4), Table(head[:3], [row[:3] for row in rows], left=3))
    for one in document.headline:
        for note in one.notes:
            page.said(f"{one.about.measure}: {note}", hang="  ")
    for why in sorted({one.missing for one in document.headline if one.defined and not one.interval}):
        page.said(sentences.no_interval(why), hang="  ")
    if document.baseline is not None and document.baseline.defined:
        page.said(f"baseline: accuracy {sentences.largest(document.baseline.shown)}", hang="  ")


def _bar(one: Entry) -> str:
    low, high = one.about.span
    if one.value is None or not all(map(math.isfinite, (low, high, one.value))):
        return ""

    def at(value: float) -> int:
        return round((min(max(value, low), high) - low) / (high - low) * (BAR - 1))

    marks = ["·"] * BAR
    if one.low is not None and one.high is not None:
        for i in range(at(one.low), at(one.high) + 1):
            marks[i] = "━"
    marks[at(one.value)] = "●"
    return f"{low:>2g} {''.join(marks)} {high:g}"


def _matrix(page: _Page, matrix: Matrix, *, weighted: bool) -> None:
    if matrix.hidden or len(matrix.labels) > MOST_CELLS:
        return
    page.head(f"Confusion: {'weight' if weighted else 'rows'} by what was predicted (down) and what was true (across)")
    page.table(*(_cells(matrix, room) for room in (LABEL, 12, 6, 3)))


def _cells(matrix: Matrix, room: int) -> Table:
    rows = [
        [
            Text(fitted(row.label, max(room, 6))),
            *(Text(cell.count, "blue" if cell.right else "soft" if cell.empty else "orange") for cell in row.cells),
            Text(row.total, "soft"),
        ]
        for row in matrix.rows
    ]
    totals = [Text(one, "soft") for one in ("all", *matrix.totals, matrix.total)]
    return Table(["", *(fitted(name, room) for name in matrix.labels), "all"], [*rows, totals])


def _side_by_side(
    first: tuple[str, str], columns: Sequence[About], rows: Sequence[Row], *, digits: int, room: int
) -> Table:
    head = [*first]
    for column in columns:
        head += [column.measure, *(["interval"] if digits else [])]
    body = []
    for name, size, entries in rows:
        line = [Text(fitted(name, room)), Text(size)]
        for one in entries:
            line += [_value(one), *([Text(_short(one, digits), "soft")] if digits else [])]
        body.append(line)
    return Table(head, body)


def _tables(first: tuple[str, str], columns: Sequence[About], rows: Sequence[Row]) -> Iterable[Table]:
    """From the roomiest to the tightest: names are cut first, then digits, then intervals, then measures."""
    for digits in (3, 2, 0):
        for room in (LABEL, 16, 10):
            yield _side_by_side(first, columns, rows, digits=digits, room=room)
    yield _side_by_side(first, columns[:1], [(name, size, one[:1]) for name, size, one in rows], digits=2, room=10)


def _short(one: Entry, digits: int) -> str:
    if one.low is None or one.high is None:
        return "" if not one.defined else "none"
    return f"{figure(one.low, digits=digits)}–{figure(one.high, digits=digits)}"


def _operating(page: _Page, document: Document) -> None:
    found = document.scoring
    if found is None:
        return
    page.head("Scores")
    page.said(found.said)
    if not found.operating:
        return
    several = any(one.label for one in found.operating)
    head = [*(["class"] if several else []), "threshold", "TP", "FP", "FN", "TN", "recall", "specificity", "precision"]
    rows = [
        [
            *([Text(fitted(one.label, 16))] if several else []),
            Text(f"△ {one.threshold}" if one.optimistic else one.threshold, "orange" if one.optimistic else ""),
            *map(Text, (one.tp, one.fp, one.fn, one.tn)),
            *(Text(value, "blue") for value, _ in one.rates),
        ]
        for one in found.operating
    ]
    short = 6 if several else 5
    ways = [Table(head, rows), Table(head[:short], [row[:short] for row in rows])]
    if any(one.sure for one in found.operating):
        wide = [
            [
                *row[:short],
                *(Text(said, mood) for pair in one.rates for said, mood in zip(pair, ("blue", ""), strict=True)),
            ]
            for row, one in zip(rows, found.operating, strict=True)
        ]
        full = [*head[:short], *(word for name in head[short:] for word in (name, "interval"))]
        ways.insert(0, Table(full, wide))
    page.table(*ways)
    for one in found.operating:
        if one.chosen != "stated":
            page.said(f"{one.threshold}: {one.chosen}", hang="  ")


def _classes(page: _Page, document: Document) -> None:
    classes = document.classes
    if classes is None:
        return
    page.head("Class by class")
    if classes.columns:
        rows = [(row.label, row.size, row.entries) for row in classes.rows[:MOST_ROWS]]
        page.table(*_tables(("class", "weight" if document.weighted else "rows"), classes.columns, rows))
    else:
        page.said(sentences.unlisted(classes.total))
        counts = [
            [Text(fitted(row.label, 16)), *map(Text, (row.size, row.called, row.right))]
            for row in classes.rows[:MOST_ROWS]
        ]
        page.table(Table(["class", "true", "predicted", "right"], counts))
    if classes.total > MOST_ROWS:
        page.said(sentences.more(classes.total - MOST_ROWS, "class", "classes"))


def _averages(page: _Page, document: Document) -> None:
    if not document.averages:
        return
    page.head("Averages over classes")
    page.table(*(_average_table(document, digits) for digits in (3, 2, 0)))


def _average_table(document: Document, digits: int) -> Table:
    rows = []
    for row in document.averages:
        line = [Text(row.name)]
        for one in row.entries:
            line.append(Text("-", "soft") if one is None else _value(one))
            if digits:
                line.append(Text("" if one is None else _short(one, digits), "soft"))
        rows.append(line)
    head = [part for way in sentences.AVERAGES for part in ((way, "interval") if digits else (way,))]
    return Table(["measure", *head], rows)


def _factor(page: _Page, factor: Factor) -> None:
    if not factor.levels:
        return
    page.head(f'By "{fitted(factor.name, LABEL)}"')
    wanted = [i for i, column in enumerate(factor.columns) if column.measure in GROUPED] or list(
        range(len(factor.columns))
    )
    wanted = wanted[:ACROSS]
    rows = [
        (f"△ {level.label}" if level.small else level.label, f"{level.rows:,}", [level.entries[i] for i in wanted])
        for level in factor.levels[:MOST_ROWS]
    ]
    page.table(*_tables(("level", "rows"), [factor.columns[i] for i in wanted], rows))
    rest = len(factor.levels) + factor.hidden - MOST_ROWS
    if rest > 0:
        page.said(sentences.more(rest, "level"))
    if factor.spreads:
        page.blank()
        page.said(sentences.SPREAD)
        page.table(*(_spread_table(factor, room) for room in (LABEL, 16, 10)))


def _spread_table(factor: Factor, room: int) -> Table:
    rows = [
        [
            Text(one.about.measure),
            *(Text(fitted(end, room)) for end in (one.lowest, one.highest)),
            *map(Text, (one.p, one.beyond_chance)),
        ]
        for one in factor.spreads
    ]
    return Table(list(sentences.SPREAD_HEAD), rows)


def _undefined(page: _Page, document: Document) -> None:
    lost = (
        [(row.label, row.entries) for row in document.classes.rows[:MOST_ROWS]] if document.classes is not None else []
    )
    for factor in document.factors:
        for level in factor.levels[:MOST_ROWS]:
            lost += [(level.label, tuple(one for one in level.entries if one.about.measure in GROUPED))]
    lines = [
        f'{one.about.measure} of "{fitted(label, LABEL)}": {one.reason}'
        for label, entries in lost
        for one in entries
        if not one.defined
    ]
    lines += [f"{one.about.measure}: {one.reason}" for one in document.undefined]
    if document.infinite:
        page.head("Infinite, and why")
        for one in document.infinite:
            so = f" ({document.level} interval {one.interval})" if one.interval else ""
            page.said(f"  {one.about.measure}{so}: {sentences.infinite(one.about.formula)}", hang="    ")
    if not lines:
        return
    page.head("∅ Undefined, and why")
    for line in lines[:MOST_UNDEFINED]:
        page.said(f"  {line}", hang="    ")
    if len(lines) > MOST_UNDEFINED:
        page.said(f"  {sentences.more(len(lines) - MOST_UNDEFINED, 'undefined value')}")


def _decided(page: _Page, found: Verdicts | None) -> None:
    """The verdict first, then each criterion with the reason."""
    if found is None:
        return
    page.line(Text(f"{found.sign} {found.overall}: {found.says}", "strong"))
    for one in found.rows[:MOST_ROWS]:
        why = f"{one.why}; {one.needed}" if one.needed else one.why
        page.said(f"  {one.sign} {one.verdict:<12} {one.criterion}: {why}", hang=" " * 17)
    if len(found.rows) > MOST_ROWS:
        page.said(sentences.more(len(found.rows) - MOST_ROWS, "criterion", "criteria"))
    page.blank()


def _conformity(page: _Page, statement: Statement | None) -> None:
    """The rows that decide, the deviations, and how many rows have which verdict; the report lists them all."""
    if statement is None:
        return
    page.head(f"Conformity with {statement.document}: {statement.overall}")
    shown = [*statement.shall, *statement.deviations]
    for row in shown[:MOST_ROWS]:
        why = f" Found: {row.why}." if row.verdict in ("fail", "suspect") else ""
        page.said(f"{row.sign} {row.verdict:<11} {row.id:<11} {row.says}{why}", hang=" " * 26)
    tally = ", ".join(f"{n} {name}" for _, name, _, n in statement.counts if n)
    page.said(f"{sum(n for *_, n in statement.counts)} rows: {tally}")


def _closing(page: _Page, document: Document) -> None:
    page.blank()
    page.said(document.rows)
    for remark in document.remarks:
        if remark.word != "undefined":
            page.said(f"{remark.sign} {remark.sentence}", hang="  ")
    for note in document.notes:
        page.said(f"note: {note}", hang="  ")
