# SPDX-License-Identifier: Apache-2.0
"""Intervals of means between known bounds: a mean cost, and a mean of values of which some are exactly 0 or 1.

A mean cost: the means that would make the observed one unsurprising, given every declared cost. For each mean in
question the shares of the costs are taken as likely as they can be with that mean, a dear mistake that was never seen
included; the spread of a row then says how far the observed mean may lie from it. With two costs that is Wilson's
interval. How often it covers the truth is simulated in `bench/costs.py`.

A mean such as the Dice of images: shares of exact 0, of exact 1 and of the rest are drawn from a Dirichlet distribution
with one half more at both ends; the mean of the rest varies by Student's t on the logit scale. Coverage:
`docs/why/segmentation-coverage.md`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.text import counted
from assay.core.values import floats
from assay.inference.estimates import Interval
from assay.inference.intervals.functions_of_counts import built
from assay.inference.intervals.proportion import normal_quantile
from assay.inference.resampling import JEFFREYS, SEED, stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats
    from assay.core.values import Amount, Number
    from assay.inference.intervals.interval_choice import Found, Wanted
    from assay.measures.declare import Measure
    from assay.tally.labels.confusion import Priced

NAME: Final = "score of costs"
EDGE: Final = 1e-10
"""Share of the range of costs that the means in question keep from its ends, where all rows would cost the same."""
TIGHT: Final = 1e-12
"""How near, in relation, roots are found, and how near a pull may come to its bound."""
FEWEST: Final = 10
"""Values below which there is no interval: coverage was measured from here on."""
DRAWS: Final = 20_000
HURDLE: Final = 31
"""The place of these draws among the random streams."""


def cost_interval(t: Priced, measure: Measure, result: Number, wanted: Wanted) -> Found:
    """The interval of the mean cost of these rows, or the reason why there is none."""
    cost, count = np.array([float(one) for one in t.cost]), floats(_array(t.count))
    value, held = result.value, None if t.squares is None else floats(_array(t.squares))
    ends = score_ends(cost, worth(count, held, cost, value) * count / count.sum(), wanted.level)
    notes = () if wanted.cells == "auto" else (f"{wanted.cells} is for counts; a mean cost has the score interval",)
    return built(wanted, measure, value, ends, NAME, notes=notes)


def _array(count: tuple[object, ...]) -> Amount:
    held = np.empty(len(count), dtype=object)
    held[:] = count
    return held


def worth(count: Floats, squares: Floats | None, cost: Floats, mean: float) -> float:
    """How many rows of equal weight would tell the mean as surely as these do, from weights and their squares."""
    if squares is None:
        return float(count.sum())
    spread, error = (float((part * (cost - mean) ** 2).sum()) for part in (count, squares))
    # Rows that all cost the same show no spread; they are worth what equal costs would be (Kish 1965).
    return float(count.sum()) * spread / error if error else float(count.sum() ** 2 / squares.sum())


def score_ends(cost: Floats, rows: Floats, level: float) -> tuple[float, float]:
    """The means of these values, ascending, that would make the mean of the rows unsurprising.

    >>> low, high = score_ends(np.array([0.0, 1.0]), np.array([90.0, 10.0]), 0.95)  # Wilson's of 10 in 100
    >>> round(low, 4), round(high, 4)
    (0.0552, 0.1744)
    """
    from scipy.optimize import brentq

    n, z2 = float(rows.sum()), normal_quantile((1 + level) / 2) ** 2
    mean = float(rows @ cost) / n
    first, last = float(cost[0]), float(cost[-1])
    edge = EDGE * (last - first)

    def surprise(at: float) -> float:
        share = _likeliest(cost, rows, at)
        return (mean - at) ** 2 - z2 * float(share @ (cost - at) ** 2) / n

    ends = []
    for end, towards in ((first, first + edge), (last, last - edge)):
        start = min(max(mean, first + edge), last - edge)
        if abs(mean - end) <= edge or surprise(towards) <= 0:
            ends.append(end)
        elif surprise(start) >= 0:  # so many rows that the end is nearer to the mean than any mean in question
            ends.append(start)
        else:
            ends.append(float(brentq(surprise, start, towards, xtol=TIGHT * (last - first))))
    return ends[0], ends[1]


def _likeliest(cost: Floats, rows: Floats, mean: float) -> Floats:
    """The shares of the costs under which these rows are most likely, among those with a given mean."""
    from scipy.optimize import brentq

    n, away, seen = rows.sum(), cost - mean, rows > 0

    def shares(pull: float) -> Floats:
        return np.where(seen, rows / np.where(seen, n + pull * away, 1.0), 0.0)

    def drift(pull: float) -> float:
        return float(shares(pull) @ away)

    # A stronger pull would ask the dearest or the cheapest cost for a negative share. Where it was seen, its share
    # grows without end as the pull nears that bound; where it was never, or hardly, seen, it takes what others leave.
    least, most = -n / away[-1], -n / away[0]
    first, last = least * (1 - TIGHT * seen[-1]), most * (1 - TIGHT * seen[0])
    for pull, extreme, sign in ((first, -1, 1), (last, 0, -1)):
        if sign * drift(pull) <= 0:
            likely = shares(pull)
            likely[extreme] = 0.0
            likely[extreme] = max(0.0, 1 - float(likely.sum()))
            return likely
    return shares(float(brentq(drift, first, last, xtol=TIGHT * min(-least, most))))


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
    return 0.5 * (1 + np.tanh(scaled / 2))
