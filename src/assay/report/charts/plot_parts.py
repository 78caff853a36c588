# SPDX-License-Identifier: Apache-2.0
"""Parts that all plots of plain data share: looks that differ without colour, checked numbers, texts and legends."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from xml.sax.saxutils import escape

from assay.core.text import figure, visible
from assay.report.charts.plane import near
from assay.report.colours import LIGHT
from assay.report.fit_text import ems, fitted

Data: TypeAlias = Mapping[str, Any]
"""The data of a chart as a Record holds them; what is missing or not finite is not drawn."""

WIDTH: Final = 330
HUGE: Final = 1e300
"""Beyond it, differences overflow."""
LINE: Final = 15
HEAD: Final = 22
"""Room for a title, in em."""
SPOKEN: Final = 60
"""Characters of a name in a text alternative."""
ENTRIES: Final = 12
"""Names in a legend."""
PLAIN: Final = ("", "")
"""Two axes of plain numbers."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a series is drawn: classes and colours of strokes and areas, and a dash that is its own without colour."""

    line: str
    area: str
    colour: str
    dash: str = ""
    width: float = 2

    def stroke(self, path: str, *, width: float | None = None, opacity: str = "", ends: str = "") -> str:
        """A path in this look; nothing for an empty one."""
        if not path:
            return ""
        dash = f' stroke-dasharray="{self.dash}"' if self.dash else ""
        seen = f' opacity="{opacity}"' if opacity else ""
        cap = f' stroke-linecap="{ends}"' if ends else ""
        wide = f' stroke-width="{near(width or self.width)}"'
        return f'<path class="{self.line}" fill="none" stroke="{self.colour}"{wide}{dash}{seen}{cap} d="{path}"/>'

    def fill(self, path: str, opacity: str = "") -> str:
        """An area in this look."""
        seen = f' opacity="{opacity}"' if opacity else ""
        return f'<path class="{self.area}" fill="{self.colour}"{seen} d="{path}"/>'


BLUE: Final = Look("ln", "pt", LIGHT.blue)
ORANGE: Final = Look("ln2", "up", LIGHT.orange, "7 3")
INK: Final = Look("ct", "ik", "currentColor", "2 2.5")
SOFT: Final = Look("rf", "so", "currentColor", "9 2 2 2")
LOOKS: Final = (BLUE, ORANGE, INK, SOFT)
"""Those of series in order, which differ by dash and colour."""
CHANCE: Final = Look("rf", "so", "currentColor", "3 3", 1)
QUIET: Final = Look("rf", "so", "currentColor", width=0.8)


def number(value: object, scale: str = "") -> float | None:
    """A finite number, taken to a scale, where only positive ones have a logarithm; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < HUGE:
        return None
    return float(value) if not scale else math.log10(value) if value > 0 else None


def finite(values: Iterable[object]) -> list[float]:
    """Those of some values that are finite numbers."""
    return [value for raw in values if (value := number(raw)) is not None]


def tuples(raw: Iterable[Sequence[object]] | None, scales: Sequence[str] = PLAIN) -> list[tuple[float, ...]]:
    """Those of some points whose parts are all finite, each taken to its scale."""
    parsed = (tuple(number(part, scale) for part, scale in zip(point, scales, strict=True)) for point in raw or ())
    return [tuple(part for part in point if part is not None) for point in parsed if None not in point]


def span(raw: Sequence[object] | None, scale: str = "") -> tuple[float, float] | None:
    """Two ends, the lower one first; None for anything else."""
    ends = tuples([raw] if raw else None, (scale, scale))
    return (ends[0][0], ends[0][1]) if ends and ends[0][0] < ends[0][1] else None


def named_places(
    raw: Iterable[Data] | None, *keys: str, scales: Sequence[str] = ()
) -> list[tuple[tuple[float, ...], str]]:
    """Those of some marks whose places are finite, and their texts."""
    return [
        (place, safe_text(mark.get("text")))
        for mark in raw or ()
        for place in tuples([[mark[key] for key in keys]], scales or ("",) * len(keys))
    ]


def safe_text(thing: object) -> str:
    """A text from outside as it may be shown; nothing for nothing."""
    return "" if thing is None or thing == "" else visible(thing)


def svg_document(
    chart: Data, size: tuple[int, int], described: str, body: str, *, kind: str = "plot", data: str = ""
) -> str:
    """A chart with its title, its text alternative and as much of the title above as fits."""
    (width, height), title = size, safe_text(chart["title"])
    alternative = safe_text(chart.get("described")) or described
    return (
        f'<svg class="{kind}" role="img" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" fill="currentColor" font-family="system-ui, sans-serif"'
        f' font-size="10"{data}><title>{escape(title)}</title><desc>{escape(alternative)}</desc>'
        f'<text class="hd" x="0" y="14" font-weight="600" font-size="13">{escape(fitted(title, HEAD, ems))}</text>'
        f"{body}</svg>"
    )


def short_name(thing: object) -> str:
    """A name for a text alternative, of bounded length."""
    return fitted(visible(thing), SPOKEN)


def value_text(value: float) -> str:
    """A value as people read it.

    >>> value_text(3), value_text(0.87), value_text(-7.4), value_text(12345.6)
    ('3', '0.870', '-7.4', '12,346')
    """
    size = abs(value)
    if size >= 1e15 or size < 1:  # noqa: PLR2004  nobody reads so many digits
        return figure(value) if value else "0"
    short = f"{value:,.0f}" if size >= 1000 or value == int(value) else f"{value:.4g}"  # noqa: PLR2004
    return figure(value) if short in ("1", "-1") and size != 1 else short


def text_at(
    x: float,
    y: float,
    text: str,
    room: float,
    *,
    size: float = 10,
    given: float = 10,
    anchor: str = "",
    kind: str = "",
    more: str = "",
) -> str:
    """A text that fits its room, with its size where it is not `given`; a tooltip has the whole of what was cut."""
    if not text:
        return ""
    short = fitted(text, room / size, ems)
    whole = "" if short == text else f"<title>{escape(text)}</title>"
    named = f' class="{kind}"' if kind else ""
    side = f' text-anchor="{anchor}"' if anchor else ""
    sized = f' font-size="{size:g}"' if size != given else ""
    return f'<text{named} x="{near(x)}" y="{near(y)}"{side}{sized}{more}>{escape(short)}{whole}</text>'


def legend(
    entries: Iterable[tuple[Look, str]], top: float, *, left: float = 0, right: float = WIDTH
) -> tuple[str, int]:
    """Names beside a piece of their line, in two columns where they fit; with the height this takes."""
    named = [(look, name) for look, name in entries if name]
    shown = named[:ENTRIES]
    columns = 2 if all(ems(name) * 10 < (right - left) / 2 - 34 for _, name in shown) else 1
    wide = (right - left) / columns
    parts = []
    for i, (look, name) in enumerate(shown):
        x, y = left + wide * (i % columns), top + LINE * (i // columns) + 8
        parts.append(look.stroke(f"M{near(x)} {near(y)}h22"))
        parts.append(text_at(x + 28, y + 3.5, name, wide - 34))
    room = LINE * math.ceil(len(shown) / columns) + 4 if shown else 0
    if len(named) > ENTRIES:
        parts.append(text_at(left, top + room + 8, f"and {len(named) - ENTRIES:,} more", wide, kind="so"))
        room += LINE
    return "".join(parts), room
