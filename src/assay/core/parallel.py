# SPDX-License-Identifier: Apache-2.0
"""The same work on several things at once, where there is enough of it and numpy lets the interpreter go."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

MOST: Final = 4
"""Threads of ours that still gain: beyond, they wait for memory."""

A = TypeVar("A")
T = TypeVar("T")


class _Forward:
    """A progress function that several threads may call: it passes on only what is more than before."""

    def __init__(self, tell: Callable[[int, int], None]) -> None:
        self._tell, self._lock, self._share = tell, threading.Lock(), -1.0

    def __call__(self, done: int, total: int) -> None:
        """Tell how much of a total is done, unless as much was told before."""
        share = done / total if total else 1.0
        with self._lock:
            if share > self._share:
                self._share = share
                self._tell(done, total)


def monotonic(tell: Callable[[int, int], None] | None) -> Callable[[int, int], None] | None:
    """Return a progress function that never reports less than before; wrapping it again changes nothing.

    >>> forward = monotonic(print)
    >>> forward(1, 4), forward(0, 4), forward(4, 4)
    1 4
    4 4
    (None, None, None)
    """
    return tell if tell is None or isinstance(tell, _Forward) else _Forward(tell)


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
