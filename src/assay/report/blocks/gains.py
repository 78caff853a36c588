# SPDX-License-Identifier: Apache-2.0
"""What calling the rows with the highest scores finds: gains and lift, read off the points of a curve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

Gain: TypeAlias = tuple[float, float, float]
"""Share of rows called positive, share of positives found, and how many times chance that is."""
ASKED: Final = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
"""Shares of rows at which a table has a row."""


def gains(cells: Iterable[tuple[float, float]], positives: float, negatives: float) -> Iterator[Gain]:
    """Of true and false positives at each threshold, where any row is called.

    >>> list(gains([(0, 0), (2, 0), (2, 4)], 2, 4))
    [(0.3333333333333333, 1.0, 3.0), (1.0, 1.0, 1.0)]
    """
    whole = positives + negatives
    for tp, fp in cells:
        if tp + fp and positives:
            called, found = (tp + fp) / whole, tp / positives
            yield called, found, found / called


def nearest(every: Sequence[Gain]) -> Iterator[Gain]:
    """Of all places those nearest to the shares people ask about, each once."""
    chosen = {min(range(len(every)), key=lambda i: abs(every[i][0] - asked)) for asked in ASKED} if every else set()
    return (every[i] for i in sorted(chosen))
