# SPDX-License-Identifier: Apache-2.0
"""Interval of a mean of values between 0 and 1 of which some are exactly 0 or 1, such as the Dice of images.

Shares of exact 0, of exact 1 and of the rest are drawn from a Dirichlet distribution with one half more at both ends;
the mean of the rest varies by Student's t on the logit scale. Coverage: `docs/why/segmentation-coverage.md`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.text import counted
from assay.inference.estimates import Interval
from assay.inference.resampling import JEFFREYS, SEED, stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST: Final = 10
"""Values below which there is no interval: coverage was measured from here on."""
DRAWS: Final = 20_000
HURDLE: Final = 31
"""The place of these draws among the random streams."""


def hurdle_interval(
    values: NDArray[np.float64],
    level: float,
    *,
    what: str = "image",
    draws: int = DRAWS,
    seed: int = SEED,
    near: float = 0.0,
) -> Interval | str:
    """The interval of the mean, or the reason why there is none.

    Nothing is added at 1 where all values are below `near`: then a value of exactly 1 is not to be expected.
    """
    n = len(values)
    if n < FEWEST:
        return f"only {counted(n, what)} with a value; an interval of this mean needs {FEWEST} or more"
    zeros, ones = int((values <= 0).sum()), int((values >= 1).sum())
    rest = values[(values > 0) & (values < 1)]
    rng = stream(seed, HURDLE)
    top = ones + JEFFREYS * (values.max() >= near)
    shares = rng.dirichlet([zeros + JEFFREYS, *([top] if top else []), *([len(rest)] if len(rest) else [])], size=draws)
    drawn = shares[:, 1] if top else np.zeros(draws)
    if len(rest):
        drawn = drawn + shares[:, -1] * _draw_middle(rest, draws, rng)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist()
    mean = math.fsum(values.tolist()) / n
    return Interval(
        low=max(0.0, min(low, mean)),
        high=min(1.0, max(high, mean)),
        level=level,
        method=f"hurdle draws: {counted(zeros, 'value')} of 0, {ones:,} of 1, {len(rest):,} between",
        draws=draws,
        seed=seed,
    )


def _draw_middle(rest: NDArray[np.float64], draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draws of the mean of the values between 0 and 1."""
    size = len(rest)
    if size == 1:  # nothing is known of the spread
        return rng.uniform(size=draws)
    mean = math.fsum(rest.tolist()) / size
    error = math.sqrt(math.fsum(((rest - mean) ** 2).tolist()) / (size - 1) / size)
    scaled = math.log(mean / (1 - mean)) + rng.standard_t(size - 1, size=draws) * error / (mean * (1 - mean))
    middle: NDArray[np.float64] = 0.5 * (1 + np.tanh(scaled / 2))
    return middle
