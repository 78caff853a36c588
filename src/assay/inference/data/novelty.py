# SPDX-License-Identifier: Apache-2.0
"""How many new values chance alone brings: rows outside a range, and categories that were not met before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from assay.core.labels import Label
from assay.inference.resampling import SEED, stream

DRAWS: Final = 999
"""With the data that were seen this makes 1,000."""
AT_ONCE: Final = 1 << 20
"""Numbers drawn at a time: 8 MiB."""
PLACE: Final = 11
"""The stream of these draws, apart from those of other rooms."""


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
