# SPDX-License-Identifier: Apache-2.0
"""Whether measured values follow one distribution: two samples, or one sample for each class; for any number of rows.

The declared tests work on exact values of a few thousand items; these screen columns of millions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from assay.core.arrays import Floats


def kolmogorov_smirnov(x: Floats, y: Floats) -> tuple[float, float]:
    """The largest gap between two distributions, and the chance of one as large.

    >>> kolmogorov_smirnov(np.arange(10.0), np.arange(10.0) + 10)[0]
    1.0
    """
    from scipy.stats import kstwo

    x, y = np.sort(x), np.sort(y)
    every = np.concatenate([x, y])
    first, second = np.searchsorted(x, every, "right") / len(x), np.searchsorted(y, every, "right") / len(y)
    gap = float(np.abs(first - second).max())
    size = len(x) * len(y) / (len(x) + len(y))
    return gap, float(kstwo.sf(gap, max(1, round(size))))


def kruskal_wallis_screen(groups: Sequence[Floats]) -> tuple[float, float]:
    """The share of the ranks' spread that lies between groups (epsilon squared), and the chance of one as large.

    >>> round(kruskal_wallis_screen([np.arange(5.0), np.arange(5.0) + 5])[0], 2)
    0.76
    """
    from scipy.stats import kruskal

    samples = [one for one in groups if len(one)]
    pooled_values = np.concatenate(samples) if samples else np.zeros(0)
    if len(samples) < 2 or pooled_values.min() == pooled_values.max():  # noqa: PLR2004  nothing can differ
        return 0.0, 1.0
    found = kruskal(*samples)
    share = float(found.statistic) / (len(pooled_values) - 1)
    return min(1.0, share), 1.0 if math.isnan(found.pvalue) else float(found.pvalue)
