# SPDX-License-Identifier: Apache-2.0
"""Blocks as data for the typesetter: their own fields, texts with places to break, charts as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Final, TypeAlias, cast

from assay.core.blocks import Block, Chart, Figure, Grid, GridCell, Heading, Table, Threshold
from assay.report import charts, colours
from assay.report.fit_text import fitted
from assay.report.pdf_text import breakable

Json: TypeAlias = "str | float | list[Json] | dict[str, Json] | None"

ROOM: Final = ((3, 44), (12, 24), (30, 18))
"""Names of a grid up to which each may take so many cells; a table has it whole."""


def pieces(blocks: Iterable[Block]) -> list[Json]:
    """What the typesetter sets, in order; paper cannot move a threshold."""
    made: list[Json] = []
    title = ""
    for block in _side_by_side(blocks):
        if isinstance(block, Table) and title and block.caption.startswith(title):
            block = replace(block, caption="")  # noqa: PLW2901  the heading above says it
        made += [] if isinstance(block, Threshold) else [_piece(block)]
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


def _piece(thing: object) -> Json:
    """A block or a part of one; `is` says what it is."""
    if isinstance(thing, str):
        return breakable(thing)
    if isinstance(thing, Chart):
        return charts.draw(thing)
    if isinstance(thing, tuple):
        return [_piece(part) for part in thing]
    if not is_dataclass(thing):
        return cast("float | None", thing)
    if isinstance(thing, Grid):
        room = next((room for most, room in ROOM if len(thing.labels) <= most), ROOM[-1][1])
        thing = replace(thing, labels=tuple(fitted(name, room) for name in thing.labels))
    piece: dict[str, Json] = {"is": type(thing).__name__}
    piece |= {field.name: _piece(getattr(thing, field.name)) for field in fields(thing) if field.name != "reach"}
    if isinstance(thing, Table):
        piece["reasons"] = [breakable(f"{column} of {row}: {why}") for column, row, why in thing.reasons()]
    if isinstance(thing, GridCell):
        piece["shade"] = colours.shade(thing.share, right=thing.right)
    return piece
