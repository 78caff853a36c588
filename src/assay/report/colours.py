# SPDX-License-Identifier: Apache-2.0
"""Colours of the report, light and dark: blue and orange, with text colours picked by measured contrast."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

Colour: TypeAlias = tuple[int, int, int]

STEPS: Final = 16
READABLE: Final = 4.5
"""The least contrast of text against its ground (WCAG 2.2, success criterion 1.4.3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """One set of colours, as hexadecimal texts."""

    page: str
    card: str
    ink: str
    soft: str
    line: str
    blue: str
    orange: str
    right: str
    wrong: str

    def variables(self) -> str:
        """As CSS variables."""
        return "".join(f"--{name}:{getattr(self, name)};" for name in self.__slots__)


LIGHT: Final = Theme(
    page="#f6f7f9", card="#ffffff", ink="#18202c", soft="#566173", line="#dce1e8", blue="#1d5fc4", orange="#a94a06",
    right="#0b4096", wrong="#d4600a",
)  # fmt: skip
DARK: Final = Theme(
    page="#10141b", card="#181e28", ink="#e9edf3", soft="#a4aebd", line="#2f3947", blue="#82b4ff", orange="#f2a65a",
    right="#82b4ff", wrong="#f2a65a",
)  # fmt: skip


def rgb(text: str) -> Colour:
    """A hexadecimal colour as numbers.

    >>> rgb("#1d5fc4")
    (29, 95, 196)
    """
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def luminance(text: str) -> float:
    """Relative luminance as WCAG defines it, 0 for black and 1 for white."""
    parts = [c / 255 for c in rgb(text)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]  # noqa: PLR2004  sRGB
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    """The contrast of two colours, 1 to 21.

    >>> round(contrast("#000000", "#ffffff"))
    21
    """
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def mixed(ground: str, hue: str, share: float) -> str:
    """A colour some way from one to another."""
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(rgb(ground), rgb(hue), strict=True))


def readable(ground: str, theme: Theme) -> str:
    """The text colour for a ground: the theme's own where it can be read, else black or white."""
    for text in (theme.ink, theme.card):
        if contrast(text, ground) >= READABLE:
            return text
    return max(("#000000", "#ffffff"), key=lambda text: contrast(text, ground))


def steps(theme: Theme) -> Iterable[tuple[str, str, str]]:
    """Class name, ground and text colour of every shade: b0 to b16 are blue, o0 to o16 orange."""
    for letter, hue in (("b", theme.right), ("o", theme.wrong)):
        for i in range(STEPS + 1):
            # A small share must still be seen, so the scale starts above the ground of the card.
            ground = mixed(theme.card, hue, 0.03 + 0.97 * i / STEPS) if i else theme.card
            yield f"{letter}{i}", ground, readable(ground, theme)


def shade(share: float | None, *, right: bool) -> str:
    """The class of a cell by its share of its row.

    >>> shade(0.93, right=True), shade(0.004, right=False), shade(0.0, right=False)
    ('b15', 'o1', 'o0')
    """
    step = max(1, round(share * STEPS)) if share else 0
    return f"{'b' if right else 'o'}{step}"


def rules(theme: Theme) -> str:
    """CSS for the shades of one theme."""
    return "".join(f".{name}{{background:{ground};color:{text}}}" for name, ground, text in steps(theme))
