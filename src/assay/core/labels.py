# SPDX-License-Identifier: Apache-2.0
"""What a class is called, the order classes stand in, and labels that were typed on a command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

Label: TypeAlias = str | int | bool


def in_order(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Labels in their natural order: False before True, numbers by size, text by code point.

    >>> in_order([10, 9]), in_order(["b", "a"])
    ((9, 10), ('a', 'b'))
    """
    return tuple(sorted(labels, key=lambda label: (isinstance(label, str), label)))


def speller(seen: Iterable[Label | None]) -> Callable[[Label], Label]:
    """What turns a label typed on a command line into the data's own, by how it is written.

    >>> one = speller([0, 1])
    >>> one("1"), one("7"), one("cat")
    (1, 7, 'cat')
    """
    known = {str(label): label for label in seen if label is not None}
    numbers = bool(known) and all(not isinstance(x, (str, bool)) for x in known.values())

    def one(text: Label) -> Label:
        if str(text) in known:
            return known[str(text)]
        return int(text) if numbers and str(text).lstrip("-").isdigit() else text

    return one
