# SPDX-License-Identifier: Apache-2.0
"""What a printed section is made of: texts, tables and pictures, without any look."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from assay.report.pdf_text import breakable

Json: TypeAlias = "str | int | bool | list[Json] | dict[str, Json] | None"
Block: TypeAlias = "dict[str, Json]"


def says(text: str, *, soft: bool = False) -> Block:
    """A paragraph."""
    return {"kind": "says", "text": breakable(text), "soft": soft}


def heading(text: str) -> Block:
    """The title of a part of a section."""
    return {"kind": "heading", "text": breakable(text)}


def bullets(texts: Iterable[str]) -> Block:
    """Sentences one below the other."""
    return {"kind": "bullets", "texts": [breakable(text) for text in texts]}


def marked(lines: Iterable[tuple[str, str]]) -> Block:
    """Sentences one below the other, each after its own sign."""
    return {"kind": "marked", "lines": [[breakable(sign), breakable(text)] for sign, text in lines]}


def terms(pairs: Iterable[tuple[str, str]], *, look: str = "rows") -> Block:
    """Names and what is said of them: in rows, in rows with digests (`code`), or in two columns of the page."""
    found: list[Json] = [[breakable(name), breakable(text)] for name, text in pairs]
    return {"kind": "terms", "pairs": found, "look": look}


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Json]], *, widths: Sequence[str]) -> Block:
    """A table; a width is `auto` or a share of what is left such as `2fr`, after `l` or `r` for the side."""
    return {
        "kind": "table",
        "caption": caption,
        "head": [breakable(one) for one in head],
        "rows": [list(row) for row in rows],
        "widths": list(widths),
    }


def panels(charts: Iterable[str], *, alt: str) -> Block:
    """Charts side by side, with what they are for who cannot see them."""
    return {"kind": "panels", "charts": list(charts), "alt": alt}


def text(shown: str, *, below: str = "", warn: bool = False, soft: bool = False, code: bool = False) -> Json:
    """What stands in a cell."""
    return {"text": breakable(shown), "below": breakable(below), "warn": warn, "soft": soft, "code": code}


def across(shown: str, columns: int) -> Json:
    """The one cell of a row that heads the rows below it."""
    return {"text": breakable(shown), "span": columns}
