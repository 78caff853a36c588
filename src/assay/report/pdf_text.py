# SPDX-License-Identifier: Apache-2.0
"""Characters that a printed page can show: what its fonts lack is written out, and long words may break.

A PDF/A file must hold a glyph for every character it shows, and the fonts bundled with the typesetter have none for
Chinese, emoji and many other scripts. Such a character is written as an escape, as invisible ones are everywhere.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import fields, is_dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Final, TypeVar, cast

COVERED: Final[list[list[int]]] = [
    stretch
    for stretches in tomllib.loads(files("assay.report").joinpath("fonts.toml").read_text(encoding="utf-8")).values()
    for stretch in stretches
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
