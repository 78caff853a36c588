# SPDX-License-Identifier: Apache-2.0
"""Where a row stands: its number, and the file where there are several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from assay.core.text import visible


class Row(int):
    """The number of a row, from 1, that knows its file.

    >>> Row(3, "a.csv") == 3, str(Row(3, "a.csv").said())
    (True, 'row 3 of a.csv')
    """

    file: str

    def __new__(cls, number: int, file: str = "") -> Self:
        """A number like any other, with a file beside it."""
        row = super().__new__(cls, number)
        row.file = file
        return row

    def said(self) -> str:
        """The row and its file in words."""
        return f"row {int(self):,}" + (f" of {visible(self.file)}" if self.file else "")


class Index(int):
    """The place of a value in memory, from 0."""


class Unplaced(int):
    """A row of a table on a server, where rows have no order and no number."""


def places(rows: Sequence[int]) -> str:
    """Some rows in words.

    >>> (
    ...     places([2]),
    ...     places([2, 5]),
    ...     places([Row(2, "a.csv"), Row(7, "b.csv")]),
    ...     places([Index(0)]),
    ...     places([Unplaced()]),
    ... )
    ('in row 2', 'in rows 2, 5', 'in row 2 of a.csv, row 7 of b.csv', 'at index 0', '')
    """
    rows = [row for row in rows if not isinstance(row, Unplaced)]
    if not rows:
        return ""
    if all(isinstance(row, Index) for row in rows):
        return f"at index {', '.join(f'{row:,}' for row in rows)}"
    if any(isinstance(row, Row) and row.file for row in rows):
        return "in " + ", ".join(row.said() if isinstance(row, Row) else f"row {row:,}" for row in rows)
    return f"in row{'s' if len(rows) > 1 else ''} {', '.join(f'{row:,}' for row in rows)}"
