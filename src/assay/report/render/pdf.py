# SPDX-License-Identifier: Apache-2.0
"""The report as a PDF made by Typst: PDF/A-3a and PDF/UA-1, with the Record attached, the same bytes on every run.

Text from outside reaches the typesetter as data of a JSON input and is never part of its program. A PDF/A file must
hold a glyph for every character it shows, and the bundled fonts have none for Chinese, emoji and many other scripts:
such a character is written as an escape, as invisible ones are everywhere.
"""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from typing import Any, Final, TypeAlias, TypeVar, cast

from assay.assess.environment import own_version
from assay.assess.record.record import Record
from assay.core.blocks import Block, Chart, Figure, Grid, GridCell, Heading, Reach, Table, Threshold
from assay.core.errors import AssayError, PlanError
from assay.core.text import visible
from assay.report import charts, colours
from assay.report.fit_text import fitted
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
COVERED: Final[list[list[int]]] = [
    stretch for stretches in tomllib.loads(part_of_page("fonts.toml")).values() for stretch in stretches
]
"""First and last code point of what the fonts hold together."""
PLAIN: Final = 0x017F
"""Up to here every font has every character, so that no mixture of fonts can fail."""
SIGNS: Final = frozenset("∅△−–…✓✗✎○┃→↓≥≤×·’²")
"""What reports themselves say beyond that."""

_BREAK: Final = "\u200b"
_LONG: Final = re.compile(r"\S{17,}")
_PIECE: Final = 10
T = TypeVar("T")


def render(record: Record) -> bytes:
    """The report of an assessment or a comparison."""
    report = report_of(record)
    # Each character may be in a font and some mixture, such as a mark on a foreign letter, in none.
    return _compiled(record, report, strict=False) or _compiled(record, report, strict=True)


def typesetter() -> Any:  # noqa: ANN401  a module without types
    """The typesetter, or an error that says what to install."""
    try:
        import typst
    except ImportError as error:
        what = "PDF and PNG need the typesetter Typst"
        raise PlanError("missing-extra", what, fix="pip install 'typst>=0.15,<0.16'") from error
    return typst


def _compiled(record: Record, report: Report, *, strict: bool) -> bytes:
    """The file; nothing where some text cannot be shown by any font, unless the spelling was strict."""
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
        "version": own_version(),
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
            return b""
        what = f"the typesetter refused the report: {visible(error)}"
        raise AssayError("internal", what, fix="write it as .html, and report this with the Record") from error
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


def spelled(text: str, *, strict: bool = False) -> str:
    r"""The text with every character that cannot be shown written as an escape.

    >>> spelled("猫 cat"), spelled("שלום"), spelled("שלום", strict=True)
    ('\\u732b cat', 'שלום', '\\u05e9\\u05dc\\u05d5\\u05dd')
    """
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFC", text)
    shown = (ord(c) <= PLAIN or c in SIGNS if strict else _covered(c) for c in composed)
    escapes = (c.encode("unicode_escape").decode("ascii") for c in composed)
    return "".join(c if kept else escape for c, kept, escape in zip(composed, shown, escapes, strict=True))


def breakable(text: str) -> str:
    """Long words with places to break, which take no room.

    >>> breakable("false_negative_rate").split(chr(0x200B))
    ['false_', 'negative_', 'rate']
    """
    return _LONG.sub(lambda found: _parted(found.group()), text)


def mapped(thing: T, *, strict: bool = False) -> T:
    """The same dataclasses and tuples with every text in them spelled."""
    changed: Any = thing
    if isinstance(thing, str):
        changed = spelled(thing, strict=strict)
    elif isinstance(thing, (tuple, list)):
        changed = type(thing)(mapped(part, strict=strict) for part in thing)
    elif isinstance(thing, dict):
        changed = {key: mapped(part, strict=strict) for key, part in thing.items()}
    elif is_dataclass(thing) and not isinstance(thing, type):
        changed = replace(thing, **{f.name: mapped(getattr(thing, f.name), strict=strict) for f in fields(thing)})
    return cast("T", changed)


@cache
def _covered(character: str) -> bool:
    known = unicodedata.category(character) != "Cn"
    return known and any(first <= ord(character) <= last for first, last in COVERED)


def _parted(word: str) -> str:
    pieces: list[str] = []
    for part in re.findall(r"[^_/\\.-]*[_/\\.-]+|[^_/\\.-]+", word):
        start = 0
        while len(part) - start > _PIECE + 4:
            end = start + _PIECE
            while end < len(part) and unicodedata.combining(part[end]):
                end += 1  # a mark stays with its letter
            pieces.append(part[start:end])
            start = end
        pieces.append(part[start:])
    return _BREAK.join(pieces)
