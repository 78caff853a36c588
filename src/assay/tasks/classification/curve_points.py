# SPDX-License-Identifier: Apache-2.0
"""Curves with fewer points that look the same: the points kept are those that bend the curve most."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

FINE: Final = 4096
"""A longer curve is first cut to points evenly spread along it, each nearer to the next than a pixel."""
FLAT: Final = 2e-4
"""A bend below this share of the chart's side cannot be seen."""


def thinned(curve: NDArray[np.float64], most: int, keep: Iterable[int] = ()) -> NDArray[np.int64]:
    """Places of at most `most` points (besides those to keep) of a curve given as rows of coordinates from 0 to 1.

    >>> thinned(np.array([[0, 0], [0.5, 0.5], [1, 1.0]]), 2).tolist()
    [0, 2]
    """
    places = _spread(curve)
    points = curve[places]
    chosen = {0, len(points) - 1}
    heap = [_widest(points, 0, len(points) - 1)]
    while heap and len(chosen) < most:
        bend, place, start, end = heapq.heappop(heap)
        if -bend < FLAT:
            break
        chosen.add(place)
        for a, b in ((start, place), (place, end)):
            if b - a > 1:
                heapq.heappush(heap, _widest(points, a, b))
    return np.unique(np.concatenate([places[sorted(chosen)], np.asarray(list(keep), dtype=np.int64)]))


def _spread(curve: NDArray[np.float64]) -> NDArray[np.int64]:
    if len(curve) <= FINE:
        return np.arange(len(curve))
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(curve, axis=0)).sum(axis=1))])
    wanted = np.searchsorted(way, np.linspace(0, way[-1], FINE))
    return np.unique(np.concatenate([[0], wanted.clip(max=len(curve) - 1), [len(curve) - 1]]))


def _widest(points: NDArray[np.float64], start: int, end: int) -> tuple[float, int, int, int]:
    """The point farthest from the straight line between two others."""
    if end - start < 2:  # noqa: PLR2004  nothing between
        return 0.0, start, start, end
    base, way = points[start], points[end] - points[start]
    inner = points[start + 1 : end] - base
    length = float(way @ way)
    along = inner @ way / length if length else np.zeros(len(inner))
    apart = np.abs(inner - along[:, None].clip(0, 1) * way).max(axis=1)
    place = int(np.argmax(apart))
    return -float(apart[place]), start + 1 + place, start, end
