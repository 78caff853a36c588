# SPDX-License-Identifier: Apache-2.0
"""The same work on several things at once, where there is enough of it and numpy lets the interpreter go."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

MOST: Final = 4
"""Threads of ours that still gain: beyond, they wait for memory."""

A = TypeVar("A")
T = TypeVar("T")


def usable() -> int:
    """Threads that are worth their while: one for each processor we may use, to `MOST`."""
    ours = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(MOST, ours or 1)


def together(work: Callable[[A], T], given: Iterable[A], *, large: bool) -> list[T]:
    """As `map`, by several threads where the work is large.

    >>> together(abs, [4, -5], large=True)
    [4, 5]
    """
    if not large or usable() == 1:
        return list(map(work, given))
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(usable()) as pool:
        return list(pool.map(work, given))
