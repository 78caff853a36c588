# SPDX-License-Identifier: Apache-2.0
"""Intervals of means over queries: Student's t on the logit scale, hurdle draws where values are high and zeros rare.

Coverage: `docs/why/retrieval-coverage.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.text import counted
from assay.inference.estimates import Interval
from assay.inference.intervals.proportion import student_quantile, wilson
from assay.inference.resampling import stream

if TYPE_CHECKING:
    from assay.core.arrays import Floats


FEWEST: Final = 10
"""Queries below which there is no interval."""
FEW: Final = 25
"""Queries below which an interval carries a note."""
FEW_ZEROS: Final = 5
"""From so many zeros on, Student's t knows how often they occur."""
HIGH: Final = 0.75
"""A mean above which rare zeros decide, seen or not; below, hurdle draws are no better and up to four times as wide."""
DRAWS: Final = 10_000
PLACE: Final = 22
"""The stream of random numbers of this method."""
NO_SPREAD: Final = "no query differs from the others, so the spread is unknown"


def query_interval(values: Floats, ends: tuple[float, float], *, level: float, seed: int) -> Interval | str:
    """The interval of the mean of queries, or why there is none."""
    size = len(values)
    if size < FEWEST:
        return f"only {counted(size, 'query', 'queries')}; an interval needs {FEWEST} or more"
    notes = (f"only {size} queries: the interval may be too narrow",) if size < FEW else ()
    bounded = tuple(map(float, ends)) == (0.0, 1.0)
    zeros, ones = int((values == 0).sum()), int((values == 1).sum())
    if bounded and zeros + ones == size:
        low, high = wilson(ones, size, level)
        return Interval(low=low, high=high, level=level, method=f"wilson of {size:,} queries", notes=notes)
    middle = math.fsum(values.tolist()) / size
    if bounded and zeros < FEW_ZEROS and middle > HIGH:
        return _by_hurdle(values, zeros, ones, level=level, seed=seed, notes=notes)
    error = math.sqrt(math.fsum(((values - middle) ** 2).tolist()) / (size - 1) / size)
    if not error:
        return NO_SPREAD
    reach = student_quantile((1 + level) / 2, size - 1) * error
    if bounded:
        centre, reach = _logit(middle), reach / (middle * (1 - middle))
        low, high, scale = _share(centre - reach), _share(centre + reach), "logit"
    elif middle > 0 and not ends[0]:
        low, high, scale = middle * math.exp(-reach / middle), middle * math.exp(reach / middle), "log"
    else:
        low, high, scale = middle - reach, middle + reach, "linear"
    method = f"Student's t over {size:,} queries, {scale} scale"
    return Interval(low=low, high=high, level=level, method=method, notes=notes)


def _by_hurdle(values: Floats, zeros: int, ones: int, *, level: float, seed: int, notes: Sequence[str]) -> Interval:
    """Shares of 0, of 1 and of the rest from Dirichlet draws; the mean of the rest by Student on the logit scale."""
    rest = values[(values != 0) & (values != 1)]
    middle = math.fsum(rest.tolist()) / len(rest)
    df = max(len(rest) - 1, 1)  # one value alone has no spread, but then the shares of 0 and 1 decide
    error = math.sqrt(math.fsum(((rest - middle) ** 2).tolist()) / df / len(rest))
    random = stream(seed, PLACE)
    shares = random.dirichlet([zeros + 0.5, ones + 0.5, len(rest)], size=DRAWS)
    steps = random.standard_t(df, size=DRAWS) * error / (middle * (1 - middle))
    means = 1 / (1 + np.exp(-np.clip(_logit(middle) + steps, -700, 700)))
    low, high = np.quantile(shares[:, 1] + shares[:, 2] * means, [(1 - level) / 2, (1 + level) / 2])
    method = f"hurdle draws over {len(values):,} queries, {zeros} of them 0 and {ones} of them 1"
    return Interval(
        low=float(low), high=float(high), level=level, method=method, draws=DRAWS, seed=seed, notes=tuple(notes)
    )


def _logit(share: float) -> float:
    return math.log(share) - math.log1p(-share)


def _share(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))
