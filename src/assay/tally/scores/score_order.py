# SPDX-License-Identifier: Apache-2.0
"""The order of very many scores: one sort of whole numbers that hold the upper bits of a score and the row it is of.

Sorting numbers is several times as fast as sorting row numbers by what they point at. Scores that agree in their upper
bits are looked at again, so the order is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole

MOST: Final = np.int64(2**63 - 1)


def in_order(scores: Floats) -> tuple[Whole, Whole | None]:
    """The rows from the lowest score to the highest, and where runs of equal scores begin, unless all scores differ.

    >>> order, starts = in_order(np.array([0.5, 0.1, 0.5, -2.0]))
    >>> order.tolist(), starts.tolist()
    ([3, 1, 0, 2], [0, 1, 2])
    """
    size = len(scores)
    low = np.int64((1 << max(size - 1, 1).bit_length()) - 1)
    order = np.arange(size, dtype=np.int64)
    keys = (scores + 0.0).view(np.int64)  # minus zero and zero are one score
    if size and keys.min() < 0:  # below zero, larger bits are a smaller number
        keys ^= (keys >> 63) & MOST
    keys &= ~low
    keys |= order
    keys.sort()
    np.bitwise_and(keys, low, out=order)
    keys &= ~low
    near = keys[1:] == keys[:-1]
    if not near.any():
        return order, None
    ordered = np.take(scores, order, out=keys.view(np.float64), mode="clip")
    if bool((ordered[1:] < ordered[:-1]).any()):
        _resolve(order, ordered, near)
    starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return order, None if len(starts) == size - 1 else np.concatenate([[0], starts])


def _resolve(order: Whole, ordered: Floats, near: NDArray[np.bool_]) -> None:
    """Sort, in place, the runs that agree in their upper bits and yet are out of order."""
    joined = np.concatenate([[False], near, [False]])
    at = np.flatnonzero(joined[1:] | joined[:-1])
    run = np.cumsum(~joined[at])
    wrong = np.zeros(int(run[-1]) + 1, dtype=bool)
    wrong[run[1:][(ordered[at[1:]] < ordered[at[:-1]]) & (run[1:] == run[:-1])]] = True
    at, run = at[wrong[run]], run[wrong[run]]
    sorted_ = at[np.lexsort((order[at], ordered[at], run))]
    order[at], ordered[at] = order[sorted_], ordered[sorted_]
