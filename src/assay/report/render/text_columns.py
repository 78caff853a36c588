# SPDX-License-Identifier: Apache-2.0
"""Columns of text side by side, as a terminal shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from assay.core.blocks import Table
from assay.report.fit_text import cells

INTERVAL: Final = "interval"


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text and how it is painted, with the interval of a value softly after it."""

    text: str
    style: str = ""
    interval: str = ""


class Lines:
    """Rows under a head; text starts at the left, numbers end at the right, and a head spans values and intervals."""

    def __init__(
        self,
        head: Sequence[str],
        rows: Iterable[Sequence[Text]],
        right: Sequence[bool],
        table: Table | None = None,
        gap: int = 2,
    ) -> None:
        self.head, self.body, self.right, self.table, self.gap = head, [*rows], right, table, gap
        self.widths: list[tuple[int, int]] = []
        """Of the values of each column, and of the intervals with the gap before them."""
        for i, name in enumerate(head):
            value = max((cells(row[i].text) for row in self.body), default=0)
            interval = max((cells(row[i].interval) for row in self.body), default=0)
            interval += gap if interval else 0
            self.widths.append((max(value, cells(name) - interval), interval))

    @property
    def width(self) -> int:
        """The cells of the longest line."""
        return sum(map(sum, self.widths)) + self.gap * (len(self.widths) - 1)

    def lines(self) -> Iterator[list[Text]]:
        """The head, then the rows, as pieces."""
        pieces: list[Text] = []
        for i, (name, (value, interval)) in enumerate(zip(self.head, self.widths, strict=True)):
            rest = value + interval - cells(name) - len(INTERVAL)
            shown = f"{name}{' ' * rest}{INTERVAL}" if interval and rest > 0 else name
            pieces += self._placed(i, Text(shown, "soft"), value + interval, right=self.right[i] and not interval)
        yield pieces
        for row in self.body:
            pieces = []
            for i, (piece, (value, interval)) in enumerate(zip(row, self.widths, strict=True)):
                pieces += self._placed(i, piece, value, right=self.right[i])
                if interval:
                    pieces += self._placed(1, Text(piece.interval, "soft"), interval - self.gap, right=False)
            yield pieces

    def _placed(self, i: int, piece: Text, wide: int, *, right: bool) -> list[Text]:
        space, gap = Text(" " * (wide - cells(piece.text))), Text(" " * self.gap if i else "")
        return [gap, space, piece] if right else [gap, piece, space]
