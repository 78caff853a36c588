# SPDX-License-Identifier: Apache-2.0
"""Measures how often intervals of retrieval measures hold the true mean: 10 to 200 queries, twelve shapes of values.

python bench/retrieval_coverage.py [data sets a cell, 1000 by default]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np

from assay.inference.estimates import Interval
from assay.tasks.retrieval.intervals import query_interval

SIZES = (10, 25, 50, 100, 200)
RNG = np.random.default_rng(4213)
Draw = Callable[[int], "np.ndarray"]


def shapes() -> Iterator[tuple[str, Draw, float]]:
    """Distributions of values by query: name, draw, true mean."""
    yield "AP: beta(1, 3)", lambda n: RNG.beta(1, 3, n), 1 / 4
    yield "AP: beta(0.5, 4)", lambda n: RNG.beta(0.5, 4, n), 1 / 9
    for a, b, zero in ((2, 2, 0.05), (3, 2, 0.15), (5, 2, 0.03), (18, 2, 0.02), (40, 1.5, 0.02)):
        yield f"nDCG: beta({a}, {b}), {zero:.0%} zero", _with_zeros(a, b, zero), a / (a + b) * (1 - zero)
    for p, zero in ((0.15, 0.10), (0.5, 0.05), (0.8, 0.02)):
        mean = sum(p * (1 - p) ** (rank - 1) / rank for rank in range(1, 5000)) * (1 - zero)
        yield f"RR: geometric({p}), {zero:.0%} zero", _reciprocal_rank(p, zero), mean
    yield "P@10: binomial of beta(2, 3)", lambda n: RNG.binomial(10, RNG.beta(2, 3, n)) / 10, 0.4
    yield "P@100: binomial of beta(2, 38)", lambda n: RNG.binomial(100, RNG.beta(2, 38, n)) / 100, 0.05
    yield "hit@10: 0.9", lambda n: (RNG.random(n) < 0.9).astype(float), 0.9


def _with_zeros(a: float, b: float, zero: float) -> Draw:
    return lambda n: RNG.beta(a, b, n) * (RNG.random(n) >= zero)


def _reciprocal_rank(p: float, zero: float) -> Draw:
    return lambda n: np.where(RNG.random(n) < zero, 0.0, 1 / RNG.geometric(p, n))


def percentile(values: np.ndarray) -> tuple[float, float]:
    """The percentile bootstrap, for comparison."""
    drawn = values[RNG.integers(0, len(values), (500, len(values)))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def main(runs: int) -> None:
    """Print coverage and mean width of ours, and coverage of the percentile bootstrap."""
    heads = " | ".join(f"{size}" for size in SIZES)
    print(f"| values | {heads} |\n|---|{'---|' * len(SIZES)}")
    for name, draw, mean in shapes():
        cells = []
        for size in SIZES:
            hits = bootstrap = given = 0
            width = 0.0
            for _ in range(runs):
                values = draw(size)
                interval = query_interval(values, (0, 1), level=0.95, seed=4213)
                low, high = percentile(values)
                bootstrap += low <= mean <= high
                if isinstance(interval, Interval):
                    given += 1
                    hits += interval.low <= mean <= interval.high
                    width += interval.high - interval.low
            refused = f", {runs - given} refused" if given < runs else ""
            cells.append(f"{hits / given:.1%} ({width / given:.3f}); {bootstrap / runs:.1%}{refused}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
