# SPDX-License-Identifier: Apache-2.0
"""Results that show themselves: a table in a notebook, and in `dir` the names that users need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import ClassVar, TypeAlias

TableRows: TypeAlias = tuple[str, Sequence[str], Iterable[Sequence[str]]]
"""Caption, heads, rows."""


class Shown:
    """A result with a notebook form."""

    __slots__ = ()
    PUBLIC: ClassVar[tuple[str, ...]] = ()
    """What users need of it."""

    def _table(self) -> TableRows:
        """What a notebook shows of it."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """A table, which survives a sanitiser."""
        caption, head, rows = self._table()
        heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
        body = "".join(
            f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(text)}</td>" for text in rest)}</tr>'
            for first, *rest in rows
        )
        return (
            f"<table><caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
        )

    def __dir__(self) -> list[str]:
        """The public names."""
        return list(self.PUBLIC)
