# SPDX-License-Identifier: Apache-2.0
"""The kinds of arrays that annotations name, and what rows and tallies both compute of one."""

from __future__ import annotations

from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]


def chance(logit: Floats) -> Floats:
    """The probability of each log-odds.

    >>> chance(np.array([-800.0, 0.0, 800.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    small = np.exp(-np.abs(logit))
    return cast("Floats", np.where(logit >= 0, 1.0, small) / (1 + small))
