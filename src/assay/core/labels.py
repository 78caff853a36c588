# SPDX-License-Identifier: Apache-2.0
"""What a class is called, and the order classes stand in when nobody declared one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Label: TypeAlias = str | int | bool


def in_order(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Labels in their natural order: False before True, numbers by size, text by code point.

    >>> in_order([10, 9]), in_order(["b", "a"])
    ((9, 10), ('a', 'b'))
    """
    return tuple(sorted(labels, key=lambda label: (isinstance(label, str), label)))
