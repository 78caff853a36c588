# SPDX-License-Identifier: Apache-2.0
"""Names cut to fit a chart or a terminal: wide, narrow and combining characters take the room they take."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Final

NARROW: Final = frozenset("iljtfI.,:;'|! ")
BROAD: Final = frozenset("mwMW@%…")
TOWER: Final = 2
"""Combining marks kept on one letter: Vietnamese and polytonic Greek need two; a tower would cover other rows."""


def ems(text: str) -> float:
    """About how many em a text takes in a proportional font."""
    return sum(map(_em, text))


def cells(text: str) -> int:
    """How many cells of a terminal a text takes.

    >>> cells("cat"), cells("猫"), cells("é")
    (3, 2, 1)
    """
    return sum(0 if _rides(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def fitted(label: str, room: float, wide: Callable[[str], float] = cells) -> str:
    """A label that fits its room: the middle goes first, because ends tell long names apart.

    >>> fitted("a", 9), fitted("a rather long name of a class", 9)
    ('a', 'a ra…lass')
    """
    calm = _calmed(label)
    if wide(calm) <= room:
        return calm
    # Nothing that fits has more characters than this, so long names need not be tried one character at a time.
    keep = min(len(calm), int(room / 0.3) + 1)
    while keep > 1:
        keep -= 1
        shown = f"{calm[: (keep + 1) // 2]}…{calm[len(calm) - keep // 2 :]}"
        if wide(shown) <= room:
            return shown
    return "…"


def wrapped(text: str, width: int, hang: str = "") -> list[str]:
    """A sentence in lines of at most a width in cells; lines after the first begin with `hang`.

    >>> wrapped("one two three", 8, "  ")
    ['one two', '  three']
    """
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        rest = word
        if line.strip() and cells(line) + 1 + cells(rest) > width:
            lines, line = [*lines, line], hang + rest
        else:
            line = f"{line} {rest}" if line or lines else rest
        while cells(line) > width:  # a word wider than a line is broken
            cut = next(i for i in range(len(line), 0, -1) if cells(line[:i]) <= width)
            lines, line = [*lines, line[:cut]], hang + line[cut:]
    return [*lines, line]


def _rides(character: str) -> bool:
    """Whether a character stands on the one before it."""
    return unicodedata.category(character) in {"Mn", "Me"}


def _calmed(label: str) -> str:
    kept: list[str] = []
    tower = 0
    for character in label:
        tower = tower + 1 if _rides(character) else 0
        if tower <= TOWER:
            kept.append(character)
    return "".join(kept)


def _em(character: str) -> float:
    if _rides(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.1
    if character in NARROW:
        return 0.3
    return 0.88 if character in BROAD or character.isupper() else 0.57
