# SPDX-License-Identifier: Apache-2.0
"""Whether values follow one distribution: two samples or one for each class, and how many new values chance brings.

The declared tests work on exact values of a few thousand items; these screen columns of millions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.labels import Label
from assay.inference.resampling import SEED, stream

if TYPE_CHECKING:
    from assay.core.arrays import Floats

DRAWS: Final = 999
"""With the data that were seen this makes 1,000."""
AT_ONCE: Final = 1 << 20
"""Numbers drawn at a time: 8 MiB."""
PLACE: Final = 11
"""The stream of these draws, apart from those of other rooms."""


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


def outside_by_chance(outside: int, later: int, earlier: int) -> float:
    """The chance that so many of the later values or more lie outside the range of the earlier ones.

    Where both come from one distribution, the share outside follows Beta(2, earlier - 1), whatever the distribution.

    >>> round(outside_by_chance(4, 50, 49), 3)
    0.187
    """
    from scipy.stats import betabinom

    if earlier < 2 or outside == 0:  # noqa: PLR2004  one value has no range
        return 1.0
    return float(betabinom.sf(outside - 1, later, 2, earlier - 1))


def unseen_by_chance(
    earlier: Mapping[Label, int], later: Mapping[Label, int], *, draws: int = DRAWS, seed: int = SEED
) -> tuple[int, float]:
    """Later rows whose category was not met earlier, and the chance of as many if the rows are shuffled.

    >>> unseen_by_chance({"a": 50, "b": 50}, {"a": 10, "c": 40})
    (40, 0.001)
    """
    unseen = sum(n for label, n in later.items() if not earlier.get(label))
    size = sum(earlier.values())
    if not unseen or not size:
        return unseen, 1.0
    both = np.array([earlier.get(one, 0) + later.get(one, 0) for one in {**earlier, **later}], dtype=np.int64)
    random, at_least, left = stream(seed, PLACE), 0, draws
    while left:
        some = min(left, max(1, AT_ONCE // len(both)))
        drawn = random.multivariate_hypergeometric(both, size, size=some, method="marginals")
        at_least += int((np.where(drawn == 0, both, 0).sum(axis=-1) >= unseen).sum())
        left -= some
    return unseen, (1 + at_least) / (1 + draws)
