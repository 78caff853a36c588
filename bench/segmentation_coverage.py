# SPDX-License-Identifier: Apache-2.0
"""How often intervals of a mean Dice or IoU hold the true mean: six shapes of values, four sizes, several methods.

Run: python bench/segmentation_coverage.py [data sets a cell]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
from scipy.stats import bootstrap, t

from assay.inference.intervals.bounded_means import hurdle_interval
from assay.tasks.segmentation.intervals import NEAR_ONE

SIZES = (10, 25, 50, 200)
LEVEL = 0.95
SEED = 10
Draw = Callable[[np.random.Generator, int], np.ndarray]


def mix(a: float, b: float, zeros: float = 0.0, ones: float = 0.0) -> tuple[Draw, float]:
    """Values of a beta distribution, a share of them exactly 0 and another exactly 1; and their mean."""

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        place = rng.uniform(size=n)
        return np.where(place < zeros, 0.0, np.where(place > 1 - ones, 1.0, rng.beta(a, b, size=n)))

    return draw, ones + (1 - zeros - ones) * a / (a + b)


SHAPES = {
    "beta(18, 2)": mix(18, 2),
    "8 % misses at 0, beta(7, 1)": mix(7, 1, zeros=0.08),
    "10 % at 0, 15 % at 1, beta(6, 2)": mix(6, 2, zeros=0.10, ones=0.15),
    "25 % at 0, beta(1, 1.2)": mix(1, 1.2, zeros=0.25),
    "2 % at 0, near perfect beta(39, 1)": mix(39, 1, zeros=0.02),
    "IoU beta(5, 3)": mix(5, 3),
}


def hurdle(values: np.ndarray) -> tuple[float, float]:
    """The interval of `mean_dice`."""
    interval = hurdle_interval(values, LEVEL, draws=4000, near=NEAR_ONE)
    return (interval.low, interval.high) if not isinstance(interval, str) else (math.nan, math.nan)


def student(values: np.ndarray) -> tuple[float, float]:
    """Student's t, the obvious way."""
    reach = t.ppf((1 + LEVEL) / 2, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return values.mean() - reach, values.mean() + reach


def percentile(values: np.ndarray) -> tuple[float, float]:
    """The percentile bootstrap, the other obvious way."""
    found = bootstrap((values,), np.mean, n_resamples=500, method="percentile", rng=np.random.default_rng(1))
    return found.confidence_interval.low, found.confidence_interval.high


METHODS = {"hurdle draws": hurdle, "Student's t": student, "percentile bootstrap": percentile}


def cover(shape: str, size: int, runs: int) -> list[str]:
    """Coverage in per cent and mean width of each method on one cell."""
    draw, mean = SHAPES[shape]
    rng = np.random.default_rng([SEED, list(SHAPES).index(shape), size])
    hits, widths = dict.fromkeys(METHODS, 0), dict.fromkeys(METHODS, 0.0)
    for _ in range(runs):
        values = draw(rng, size)
        for name, method in METHODS.items():
            low, high = method(values)
            hits[name] += low <= mean <= high
            widths[name] += high - low
    return [f"{100 * hits[name] / runs:.1f} ({widths[name] / runs:.3f})" for name in METHODS]


def main() -> None:
    """Print the table of `docs/why/segmentation-coverage.md`."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"| values | images | true mean | {' | '.join(METHODS)} |")
    print("|---|---:|---:|" + "---:|" * len(METHODS))
    for shape, (_, mean) in SHAPES.items():
        for size in SIZES:
            print(f"| {shape} | {size} | {mean:.3f} | {' | '.join(cover(shape, size, runs))} |", flush=True)


if __name__ == "__main__":
    main()
