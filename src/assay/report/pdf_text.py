# SPDX-License-Identifier: Apache-2.0
"""Characters that a printed page can show: what its fonts lack is written out, and long words may break.

A PDF/A file must hold a glyph for every character it shows, and the fonts bundled with the typesetter have none for
Chinese, emoji and many other scripts. Such a character is written as an escape, as invisible ones are everywhere.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import fields, is_dataclass, replace
from typing import Final, TypeVar, cast

COVERED: Final = (
    (0x0020, 0x007E),  # Latin, Greek, Cyrillic; a mark that no letter has taken up may have no font in common with it
    (0x00A0, 0x02FF),
    (0x0370, 0x0482),
    (0x048A, 0x04FF),
    (0x0531, 0x0556),  # Armenian
    (0x0561, 0x0587),
    (0x05D0, 0x05EA),  # Hebrew
    (0x0621, 0x063A),  # Arabic
    (0x0640, 0x0652),
    (0x0904, 0x0939),  # Devanagari
    (0x093E, 0x094D),
    (0x0958, 0x096F),
    (0x10D0, 0x10FA),  # Georgian
    (0x1E00, 0x1EFF),  # Latin and Greek with marks
    (0x1F00, 0x1FFE),
    (0x2010, 0x2027),  # punctuation, superscripts, currencies, letter-like signs
    (0x2030, 0x2040),
    (0x2044, 0x2052),
    (0x2057, 0x205E),
    (0x2070, 0x209C),
    (0x20A0, 0x20AC),
    (0x2100, 0x211E),
    (0x2126, 0x2151),
    (0x2190, 0x22FF),  # arrows, operators
    (0x2500, 0x25FF),  # lines, blocks, shapes
    (0x270E, 0x270E),  # pencil, ticks and crosses
    (0x2713, 0x2714),
    (0x2717, 0x2718),
)
"""What the fonts hold together, less what is rare; a test typesets all of it."""
PLAIN: Final = 0x017F
"""Up to here every font has every character, so that no mixture of fonts can fail."""
SIGNS: Final = frozenset("∅△−–…✓✗✎○┃→↓≥≤×·’²")
"""What reports themselves say beyond that."""

_STARTS: Final = [start for start, _ in COVERED]
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
    return "".join(c if _covered(ord(c), strict=strict) else _escape(c) for c in composed)


def breakable(text: str) -> str:
    """Long words with places to break, which take no room.

    >>> breakable("false_negative_rate").split(chr(0x200B))
    ['false_', 'negative_', 'rate']
    """
    return _LONG.sub(lambda found: _parted(found.group()), text)


def mapped(thing: T, *, strict: bool = False) -> T:
    """The same dataclasses and tuples with every text in them spelled."""
    if isinstance(thing, str):
        return cast("T", spelled(thing, strict=strict))
    if isinstance(thing, tuple):
        return cast("T", tuple(mapped(one, strict=strict) for one in thing))
    if isinstance(thing, list):
        return cast("T", [mapped(part, strict=strict) for part in thing])
    if isinstance(thing, dict):
        return cast("T", {key: mapped(part, strict=strict) for key, part in thing.items()})
    if is_dataclass(thing) and not isinstance(thing, type):
        changed = {f.name: mapped(getattr(thing, f.name), strict=strict) for f in fields(thing)}
        return cast("T", replace(thing, **changed))
    return thing


def _covered(code: int, *, strict: bool) -> bool:
    if strict:
        return code <= PLAIN or chr(code) in SIGNS
    place = bisect_right(_STARTS, code) - 1
    return place >= 0 and code <= COVERED[place][1] and unicodedata.category(chr(code)) != "Cn"


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


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
