# SPDX-License-Identifier: Apache-2.0
"""Blocks as data for the typesetter: texts with places to break, tables with widths, charts as SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, TypeAlias

from assay.core.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Figure,
    Grid,
    GridCell,
    Heading,
    Item,
    Paragraph,
    Table,
    Terms,
    Threshold,
)
from assay.report import charts, colours
from assay.report.estimate_rows import Values
from assay.report.fit_text import fitted
from assay.report.pdf_text import breakable

Json: TypeAlias = "str | int | bool | list[Json] | dict[str, Json] | None"
Piece: TypeAlias = "dict[str, Json]"

FEW: Final = 3
DENSE: Final = 12
"""Names from which the heads of a grid stand upright."""
CROWDED: Final = 20
ROOM: Final = {"few": 44, "some": 24, "many": 18}
"""Cells of a name beside a grid; a table has it whole."""
SHADES: Final = {name: (ground, text) for name, ground, text in colours.steps(colours.LIGHT)}


def pieces(blocks: Iterable[Block]) -> list[Json]:
    """What the typesetter sets, in order."""
    made: list[Json] = []
    title = ""
    for block in _side_by_side(blocks):
        if isinstance(block, Table) and title and block.caption.startswith(title):
            block = replace(block, caption="")  # noqa: PLW2901  the heading above says it
        made += DRAWN[type(block)](block)
        title = block.text if isinstance(block, Heading) else ""
    return made


def _side_by_side(blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks in which figures that follow each other are one, so that their charts share a row."""
    before: Figure | None = None
    for block in blocks:
        if isinstance(block, Figure) and not block.look:
            charts = block.charts if before is None else (*before.charts, *block.charts)
            before = replace(block, charts=charts)
            continue
        yield from () if before is None else (before,)
        before = None
        yield block
    yield from () if before is None else (before,)


def _says(text: str, *, soft: bool = False) -> Piece:
    return {"kind": "says", "text": breakable(text), "soft": soft}


def _paragraph(block: Paragraph) -> Iterator[Piece]:
    yield _says(block.text, soft=block.tone == "soft")


def _heading(block: Heading) -> Iterator[Piece]:
    yield {"kind": "heading", "text": breakable(f"{block.text} {block.more}".rstrip())}


def _bullets(block: Bullets) -> Iterator[Piece]:
    if block.look in ("signed", "verdicts"):
        yield {"kind": "marked", "lines": [[item.sign, breakable(_item(item))] for item in block.items]}
    else:
        yield {"kind": "bullets", "texts": [breakable(_item(item)) for item in block.items]}


def _item(item: Item) -> str:
    name = f"{item.name}:" if item.name else ""
    return " ".join(filter(None, (item.word, name, item.text, item.label, *item.below)))


def _terms(block: Terms) -> Iterator[Piece]:
    pairs: list[Json] = []
    for term in block.terms:
        name = f"{term.name} ({term.symbol})" if term.symbol else term.name
        more = f" ({term.more})" if term.more and not term.id else f" {term.more}" if term.more else ""
        pairs.append([breakable(name), breakable(f"{term.text.replace('`', '')}{more}")])
    if pairs:
        yield {"kind": "terms", "pairs": pairs, "look": "columns" if block.look == "list" else block.look}


def _figure(block: Figure) -> Iterator[Piece]:
    drawn: list[Json] = [svg for chart in block.charts if (svg := charts.draw(chart))]
    across = {"wide": 1, "many": 3}.get(block.look, 3 if len(drawn) == 3 else 2)  # noqa: PLR2004  none stands alone
    if drawn:
        yield {"kind": "panels", "charts": drawn, "across": across}
    if block.note:
        yield _says(block.note, soft=True)


def _text(text: str, *, below: str = "", tone: str = "", code: bool = False) -> Piece:
    warn, soft = tone in ("warn", "bad", "open"), tone == "soft"
    return {
        "text": breakable(text),
        "below": breakable(below),
        "warn": warn,
        "soft": soft,
        "code": code,
        "strong": tone == "strong",
    }


def _cell(cell: Cell, column: Column) -> Piece:
    text = f"{cell.sign} {cell.text}".strip()
    if cell.facts:
        return _text("", below="; ".join(f"{name}: {value}" for name, value in cell.facts))
    below = "; ".join(filter(None, (cell.typed, cell.below)))
    return _text(text, below=below, tone=cell.tone, code=column.kind == "formula")


def _set_table(caption: str, columns: Iterable[tuple[str, str, float]], rows: list[Json], *, small: bool) -> Piece:
    """A table; a width is `auto` or a share of what is left such as `2fr`, after `l` or `r` for the side."""
    heads = list(columns)
    return {
        "kind": "table",
        "caption": caption,
        "head": [breakable(name) for name, *_ in heads],
        "rows": rows,
        "widths": [f"{side} {f'{width:g}fr' if width else 'auto'}" for _, side, width in heads],
        "small": small,
    }


def _table(block: Table) -> Iterator[Piece]:
    rows: list[Json] = []
    for row in block.rows:
        if row.title:
            rows.append([{"text": breakable(row.title), "span": len(block.columns)}])
        else:
            rows.append([_cell(*pair) for pair in zip(row.cells, block.columns, strict=True)])
    sides = [(c.name, "r" if c.kind == "number" else "l", c.width) for c in block.columns]
    yield _set_table(block.caption, sides, rows, small=block.small)
    reasons: list[Json] = [breakable(f"{column} of {row}: {why}") for column, row, why in block.reasons()]
    if reasons:
        yield _says("∅ Undefined, and why")
        yield {"kind": "bullets", "texts": reasons}


def _grid(block: Grid) -> Iterator[Piece]:
    size = len(block.labels)
    room = ROOM["few" if size <= FEW else "some" if size <= DENSE else "many"]
    labels = [breakable(fitted(name, room)) for name in block.labels]
    rows: list[Json] = [
        {"label": label, "cells": [_shaded(cell, tight=size > DENSE) for cell in cells], "total": total}
        for label, cells, total in zip(labels, block.rows, block.sums, strict=True)
    ]
    yield {
        "kind": "matrix",
        "caption": block.caption,
        "corner": f"{block.down} ↓ {block.across} →",
        "labels": list(labels),
        "rows": rows,
        "totals": list(block.totals),
        "total": block.total,
        "upright": size > DENSE,
        "crowded": size > CROWDED,
    }


def _shaded(cell: GridCell, *, tight: bool) -> Piece:
    ground, ink = SHADES[colours.shade(cell.share, right=cell.right)]
    mark = "✓ " if cell.right and not cell.empty and not tight else ""
    below = "" if tight else cell.below
    return {"text": f"{mark}{cell.text}", "below": below, "ground": ground, "ink": ink, "empty": cell.empty}


def _nothing(block: Threshold | Values) -> Iterator[Piece]:
    """Paper cannot move a threshold, and its first page draws the values."""
    del block
    yield from ()


DRAWN: Final[dict[type[Block], Callable[[Any], Iterable[Json]]]] = {
    Paragraph: _paragraph,
    Heading: _heading,
    Bullets: _bullets,
    Terms: _terms,
    Figure: _figure,
    Table: _table,
    Grid: _grid,
    Values: _nothing,
    Threshold: _nothing,
}
