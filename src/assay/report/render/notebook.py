# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows: tables of numbers first, which survive a sanitiser; no script and no style sheet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from typing import Any, Final

from assay.assess.record.record import Record
from assay.core.blocks import (
    Block,
    Bullets,
    Cell,
    Chart,
    Figure,
    Grid,
    Heading,
    Paragraph,
    Reach,
    Table,
    Terms,
    Threshold,
)
from assay.report.assessment_document import report_of
from assay.report.blocks.estimates import headline_chart
from assay.report.charts import draw
from assay.report.estimate_rows import Values
from assay.report.fit_text import fitted

MOST_ROWS: Final = 20
MOST_CELLS: Final = 12
LONGEST: Final = 60


def render(record: Record) -> str:
    """A fragment of HTML that begins with the verdicts of a plan, if there is one, and a table of numbers."""
    report = report_of(record)
    parts = [_paragraph(f"{v.sign} {v.word}. {v.says}".rstrip()) for v in report.verdicts]
    sections = list(report.plain(Reach.BRIEF))
    values = [block for part in sections for block in part.blocks if isinstance(block, Values)]
    parts += [_headline(values[0], report.opening) if values else _paragraph(report.opening)]
    for section in sections:
        for block in section.blocks:
            parts += DRAWN[type(block)](block)
    parts += [_paragraph(f"{remark.sign} {remark.sentence}") for remark in report.remarks]
    parts += [_chart(values[0])] if values else []
    return "\n".join(part for part in parts if part) + "\n"


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _rows(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column names its rows."""
    columns = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(text)}</td>" for text in row[1:])}</tr>\n'
        for row in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption>\n<thead><tr>{columns}</tr></thead>\n<tbody>{body}</tbody></table>"
    )


def _headline(block: Values, opening: str) -> str:
    shown = [*block.entries, *([block.baseline] if block.baseline is not None else [])]
    rows = [(v.about.name, v.shown if v.defined else "∅ undefined", v.so if v.defined else v.reason) for v in shown]
    return _rows(opening, ("measure", "value", f"{block.level} interval"), rows)


def _chart(block: Values) -> str:
    chart = headline_chart(block.entries, block.level, block.baseline)
    return f"<div>{_neutral(chart)}</div>" if chart is not None else ""


def _neutral(chart: Chart) -> str:
    """A chart in the colour of the text around it, which may be light or dark."""
    return re.sub(r'"#[0-9a-f]{3,6}"', '"currentColor"', draw(chart).replace('fill="#fff"', 'fill="none"'))


def _table(block: Table) -> Iterator[str]:
    rows = block.rows[:MOST_ROWS] if block.things else block.rows
    rest = len(block.rows) + block.hidden - len(rows) if block.things else 0
    more = f"; {rest:,} more in the report" if rest else ""
    cells = ([fitted(_text(row.cells[0]), LONGEST), *map(_text, row.cells[1:])] for row in rows if row.cells)
    yield _rows(f"{block.caption}{more}", [column.name for column in block.columns], cells)


def _text(cell: Cell) -> str:
    text = f"{cell.sign} {cell.text}" if cell.sign else cell.text
    reason = f": {cell.why}" if cell.why else ""
    return f"{text}{reason} ({cell.below})" if cell.below else f"{text}{reason}"


def _grid(block: Grid) -> Iterator[str]:
    if len(block.labels) > MOST_CELLS:
        return
    names = [fitted(name, LONGEST) for name in block.labels]
    rows = [
        (name, *(cell.text for cell in cells), total)
        for name, cells, total in zip(names, block.rows, block.sums, strict=True)
    ]
    caption = f"{block.down} class down, {block.across} class across"
    yield _rows(caption, ("", *names, "all"), [*rows, ("all", *block.totals, block.total)])


def _bullets(block: Bullets) -> Iterator[str]:
    for item in block.items[:MOST_ROWS]:
        name = f"{item.name}:" if item.name else ""
        yield _paragraph(" ".join(filter(None, (item.sign, item.word, name, item.text, item.label))))


DRAWN: Final[dict[type[Block], Callable[[Any], Iterable[str]]]] = {
    Paragraph: lambda block: (_paragraph(block.text),),
    Heading: lambda _: (),  # the captions of tables say it
    Bullets: _bullets,
    Terms: lambda block: (_paragraph(f"{term.name}: {term.text}") for term in block.terms),
    Figure: lambda block: (f"<div>{''.join(map(_neutral, block.charts))}</div>",),
    Threshold: lambda _: (),
    Table: _table,
    Grid: _grid,
    Values: lambda _: (),
}
