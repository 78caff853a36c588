# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows: tables of numbers first, which survive a sanitiser; no script and no style sheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from assay.assess.record import Record
from assay.report import sentences
from assay.report.assessment_document import Document, read
from assay.report.blocks.confusion_matrix import Matrix
from assay.report.charts.svg import Point, axis, forest
from assay.report.estimate_rows import Entry
from assay.report.fit_text import fitted

MOST_ROWS: Final = 20
MOST_CELLS: Final = 12
LONGEST: Final = 60


def render(record: Record) -> str:
    """A fragment of HTML that begins with the verdicts of a plan, if there is one, and a table of numbers."""
    document = read(record)
    parts = [_paragraph(f"{one.sign} {one.word}. {one.says}".rstrip()) for one in document.standing]
    parts += [_headline(document), _classes(document), _matrix(document.matrix, weighted=document.weighted)]
    parts += [_paragraph(f"{one.sign} {one.sentence}") for one in document.remarks]
    parts += [_paragraph(note) for note in document.notes]
    parts += [_paragraph(document.rows), _charts(document)]
    return "\n".join(part for part in parts if part) + "\n"


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column names its rows; everything is escaped here and nowhere else."""
    columns = "".join(f'<th scope="col">{escape(one)}</th>' for one in head)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(one)}</td>" for one in row[1:])}</tr>\n'
        for row in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption>\n<thead><tr>{columns}</tr></thead>\n<tbody>{body}</tbody></table>"
    )


def _value(one: Entry) -> str:
    if not one.defined:
        return f"∅ undefined: {one.reason}"
    return f"{one.shown} ({one.short})" if one.interval else one.shown


def _headline(document: Document) -> str:
    rows = [
        (one.about.name, one.shown if one.defined else "∅ undefined", one.so if one.defined else one.reason)
        for one in document.headline
    ]
    if document.baseline is not None and document.baseline.defined:
        rows.append((document.baseline.about.name, document.baseline.shown, document.baseline.so))
    return _table(document.opening, ("measure", "value", f"{document.level} interval"), rows)


def _classes(document: Document) -> str:
    classes = document.classes
    if classes is None:
        return ""
    rows = [
        (fitted(row.label, LONGEST), row.size, row.called, row.right, *map(_value, row.entries))
        for row in classes.rows[:MOST_ROWS]
    ]
    rest = classes.total - len(rows)
    head = ("class", "true", "predicted", "right", *(column.name for column in classes.columns))
    more = f"; {sentences.more(rest, 'class', 'classes')}" if rest else ""
    return _table(f"Class by class{more}", head, rows)


def _matrix(matrix: Matrix, *, weighted: bool) -> str:
    if len(matrix.labels) > MOST_CELLS:
        return ""
    names = [fitted(name, LONGEST) for name in matrix.labels]
    rows = [(fitted(row.label, LONGEST), *(cell.count for cell in row.cells), row.total) for row in matrix.rows]
    caption = f"{'Weight' if weighted else 'Rows'}: predicted class down, true class across"
    return _table(caption, ("", *names, "all"), [*rows, ("all", *matrix.totals, matrix.total)])


def _charts(document: Document) -> str:
    shares = [one for one in document.headline if one.about.span == document.headline[0].about.span]
    points = [Point(label=one.about.name, entry=one) for one in shares]
    charts = [forest(points, by="measure", scale=axis(shares), head=sentences.HEADLINE, room=130)] if shares else []
    classes = document.classes
    if classes is not None and len(classes.rows) <= MOST_ROWS:
        scale = axis([one for row in classes.rows for one in row.entries])
        for i in range(len(classes.columns)):
            points = [Point(label=row.label, entry=row.entries[i]) for row in classes.rows]
            charts.append(forest(points, by="class", scale=scale))
    return f"<div>{''.join(charts)}</div>"
