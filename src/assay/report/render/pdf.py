# SPDX-License-Identifier: Apache-2.0
"""The report as a PDF made by Typst: PDF/A-3a and PDF/UA-1, with the Record attached, the same bytes on every run.

Text from outside reaches the typesetter as data of a JSON input and is never part of its program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from typing import Any, Final, TypeAlias, cast

from assay.assess.record.record import Record
from assay.core.blocks import Block, Chart, Figure, Grid, GridCell, Heading, Reach, Table, Threshold
from assay.core.errors import AssayError, PlanError
from assay.core.text import visible
from assay.report import charts, colours
from assay.report.fit_text import fitted
from assay.report.pdf_text import breakable, mapped
from assay.report.render.html import version
from assay.report.render.html_blocks import part_of_page
from assay.report.report_document import report_of
from assay.report.sections import Report

STANDARDS: Final = ("a-3a", "ua-1")
"""Both are checked by the compiler, which refuses a document that is not tagged, dated or wholly covered by fonts."""
UNKNOWN: Final = 0
"""The date of a Record that does not say when it was counted: the start of Unix time."""
Json: TypeAlias = "str | float | list[Json] | dict[str, Json] | None"

ROOM: Final = ((3, 44), (12, 24), (30, 18))
"""Names of a grid up to which each may take so many cells; a table has it whole."""
_RULE: Final = re.compile(r"^(\.[\w.,\s-]+)\{((?:stroke|fill|opacity)[^}]*)\}$", re.MULTILINE)


def render(record: Record) -> bytes:
    """The report of an assessment or a comparison."""
    report = report_of(record)
    try:
        return _compiled(record, report, strict=False)
    except _Uncovered:
        # Each character is in a font, but some mixture, such as a mark on a foreign letter, is in none.
        return _compiled(record, report, strict=True)


class _Uncovered(Exception):  # noqa: N818  it never leaves this file
    """Some text cannot be shown by any font."""


def typesetter() -> Any:  # noqa: ANN401  a module without types
    """The typesetter, or an error that says what to install."""
    try:
        import typst
    except ImportError as error:
        raise PlanError(
            "missing-extra", "PDF and PNG need the typesetter Typst", fix="pip install 'typst>=0.15,<0.16'"
        ) from error
    return typst


def _compiled(record: Record, report: Report, *, strict: bool) -> bytes:
    typst = typesetter()
    counted = _counted_at(record)
    shown = mapped(report, strict=strict)
    content: dict[str, Any] = {
        **cast("dict[str, Any]", _piece(replace(shown, sections=()))),
        "sections": [
            {"title": part.title, "blocks": blocks}
            for part in shown.plain(Reach.FULL)
            if (blocks := pieces(part.blocks))
        ],
        "escaped": shown != report,
        "version": version(),
        "digest": visible(record.get("digests", {}).get("tallies", ""))[:16],
        "date": None if counted is None else [counted.year, counted.month, counted.day],
        "style": f"<style>{style()}</style>",
        "theme": {name: getattr(colours.LIGHT, name) for name in colours.LIGHT.__slots__},
        "shades": {name: [ground, text] for name, ground, text in colours.steps(colours.LIGHT)},
    }
    try:
        made = typst.compile(
            part_of_page("paper.typ").encode(),
            format="pdf",
            ignore_system_fonts=True,
            font_paths=[],
            pdf_standards=list(STANDARDS),
            timestamp=UNKNOWN if counted is None else int(counted.timestamp()),
            sys_inputs={"paper": json.dumps(content, allow_nan=False), "record": _attached(record)},
        )
    except typst.TypstError as error:
        if not strict and "could not be displayed" in str(error):
            raise _Uncovered from error
        raise AssayError(
            "internal",
            f"the typesetter refused the report: {visible(error)}",
            fix="write it as .html, and report this with the Record",
        ) from error
    return bytes(made)


def _attached(record: Record) -> str:
    """The Record's own text; a lone surrogate has no UTF-8, so a Record with one is attached in ASCII."""
    text = record.to_text()
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(dict(record), indent=1, allow_nan=False) + "\n"
    return text


def _counted_at(record: Record) -> datetime | None:
    try:
        timestamp = datetime.fromisoformat(str(record.get("environment", {}).get("counted_at")))
    except ValueError:
        return None
    return timestamp.replace(tzinfo=timestamp.tzinfo or UTC).astimezone(UTC)


@cache
def style() -> str:
    """The rules of the page's style sheet that colour charts, with the colours of paper."""
    rules = "".join(f"{names}{{{look}}}" for names, look in _RULE.findall(part_of_page("page.css")))
    rules = re.sub(r"var\(--(\w+)\)", lambda found: getattr(colours.LIGHT, found.group(1)), rules)
    return f"{rules}svg{{color:{colours.LIGHT.ink}}}"


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
    for alike, run in groupby(blocks, key=lambda block: isinstance(block, Figure) and not block.look):
        parts = list(run)
        figures = [block for block in parts if isinstance(block, Figure)] if alike else []
        charts = tuple(chart for block in figures for chart in block.charts)
        yield from [replace(figures[-1], charts=charts)] if figures else parts


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
