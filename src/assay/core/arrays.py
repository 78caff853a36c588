# SPDX-License-Identifier: Apache-2.0
"""The kinds of arrays that annotations name, and what rows and tallies both compute of one."""

from __future__ import annotations

from typing import Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

KEPT: Final = 30 << 20
"""Bytes; glibc follows the size of freed arrays up to 32 MiB."""


def keep_freed_memory() -> None:
    """Let freed arrays of some MiB be used again, where otherwise each new one has its pages mapped afresh.

    glibc keeps as much free memory as twice the largest array that it gave back; one is given back here, untouched.
    """
    np.empty(KEPT, np.uint8)


def chance(logit: Floats) -> Floats:
    """The probability of each log-odds.

    >>> chance(np.array([-800.0, 0.0, 800.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    small = np.exp(-np.abs(logit))
    return cast("Floats", np.where(logit >= 0, 1.0, small) / (1 + small))
