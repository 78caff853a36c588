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
    """A piece of text and how it is painted."""

    text: str
    style: str = ""


class Lines:
    """Rows under a head; text starts at the left, numbers end at the right.

    Below a head of None stand the intervals of the values before it: the head of those spans both.
    """

    def __init__(
        self,
        head: Sequence[str | None],
        rows: Iterable[Sequence[Text]],
        right: Sequence[bool],
        table: Table | None = None,
        gap: int = 2,
    ) -> None:
        self.head, self.body, self.right, self.table, self.gap = head, [*map(list, rows)], right, table, gap
        spans = [i + 1 < len(head) and head[i + 1] is None for i in range(len(head))]
        self.widths = [
            max([0 if spans[i] else cells(name or ""), *(cells(row[i].text) for row in self.body)])
            for i, name in enumerate(head)
        ]
        for i, name in enumerate(head):
            if spans[i]:
                self.widths[i] += max(0, cells(name or "") - self.widths[i] - gap - self.widths[i + 1])

    @property
    def width(self) -> int:
        """The cells of the longest line."""
        return sum(self.widths) + self.gap * (len(self.widths) - 1)

    def lines(self) -> Iterator[list[Text]]:
        """The head, then the rows, as pieces."""
        pieces: list[Text] = []
        for i, name in enumerate(self.head):
            if name is None:
                continue
            wide, right = self.widths[i], self.right[i]
            if i + 1 < len(self.head) and self.head[i + 1] is None:
                wide, right = wide + self.gap + self.widths[i + 1], False
                rest = wide - cells(name) - len(INTERVAL)
                name = f"{name}{' ' * rest}{INTERVAL}" if rest > 0 else name  # noqa: PLW2901  both over both
            pieces += self._placed(i, Text(name, "soft"), wide, right=right)
        yield pieces
        for row in self.body:
            pieces = []
            for i, piece in enumerate(row):
                pieces += self._placed(i, piece, self.widths[i], right=self.right[i])
            yield pieces

    def _placed(self, i: int, piece: Text, wide: int, *, right: bool) -> list[Text]:
        space, gap = Text(" " * (wide - cells(piece.text))), Text(" " * self.gap if i else "")
        return [gap, space, piece] if right else [gap, piece, space]
