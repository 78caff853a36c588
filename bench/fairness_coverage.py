# SPDX-License-Identifier: Apache-2.0
"""Coverage of the interval of the largest gap between groups, in twelve settings, beside the percentile bootstrap.

python bench/fairness_coverage.py [tables]
"""

from __future__ import annotations

import sys
import time

import numpy as np

from assay.fairness.gaps import measure_gap
from assay.fairness.group_statistics import value_of_share

LEVEL = 0.95
DRAWS = 300
SETTINGS: tuple[tuple[str, tuple[int, ...], tuple[float, ...]], ...] = (
    ("2 x 100, gap 0", (100,) * 2, (0.5, 0.5)),
    ("2 x 1,000, gap 0", (1000,) * 2, (0.5, 0.5)),
    ("1,000 + 20, .1/.1", (1000, 20), (0.1, 0.1)),
    ("1,000 + 20, .1/.3", (1000, 20), (0.1, 0.3)),
    ("5 x 100, gap 0", (100,) * 5, (0.5,) * 5),
    ("5 x 100, gap .1", (100,) * 5, (0.45, 0.5, 0.5, 0.5, 0.55)),
    ("1,000, 1,000, 200, 50, 10, gap 0", (1000, 1000, 200, 50, 10), (0.3,) * 5),
    ("10 x 200, gap 0", (200,) * 10, (0.5,) * 10),
    ("10 x 200, gap .1", (200,) * 10, (0.45, *(0.5,) * 8, 0.55)),
    ("2 x 1,000, gap .1", (1000,) * 2, (0.45, 0.55)),
    ("2 x 50, .05/.05", (50,) * 2, (0.05, 0.05)),
    ("equalised odds, 4 x (100 + 100), gap 0", (100,) * 4, (0.8,) * 4),
)


def gap_interval(tops: np.ndarray, sizes: tuple[int, ...], families: int) -> tuple[float, float]:
    """The interval that a user gets."""
    groups = [value_of_share(int(x), n, str(i), n) for i, (x, n) in enumerate(zip(tops, sizes, strict=True))]
    gap = measure_gap("share", "group", groups, LEVEL, families=families)
    return float(gap.low or 0.0), float(gap.high or 0.0)


def percentile_interval(tops: np.ndarray, sizes: tuple[int, ...], rng: np.random.Generator) -> tuple[float, float]:
    """What Fairlearn's bootstrap gives: percentiles of the gap of draws."""
    n = np.array(sizes)
    drawn = rng.binomial(n, tops / n, size=(DRAWS, len(n))) / n
    low, high = np.quantile(drawn.max(axis=1) - drawn.min(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def main(tables: int = 1000) -> None:
    """Print one row a setting."""
    print(f"{'setting':<40} {'mean gap':>8} {'percentile':>10} {'assay':>7} {'width':>6}   ({tables} tables)")
    for place, (title, sizes, shares) in enumerate(SETTINGS):
        rng = np.random.default_rng([4213, place])
        odds = title.startswith("equalised")
        true = max(shares) - min(shares)
        seen, ours, theirs, width, started = 0.0, 0, 0, 0.0, time.process_time()
        for _ in range(tables):
            both = [rng.binomial(sizes, shares) for _ in range(2 if odds else 1)]
            ends = [gap_interval(tops, sizes, len(both)) for tops in both]
            low, high = max(low for low, _ in ends), max(high for _, high in ends)
            rates = [tops / np.array(sizes) for tops in both]
            seen += max(float(rate.max() - rate.min()) for rate in rates)
            ours += low <= true <= high
            width += high - low
            low, high = percentile_interval(both[0], sizes, rng)
            theirs += low <= true <= high
        spent = time.process_time() - started
        print(
            f"{title:<40} {seen / tables:8.3f} {theirs / tables:10.3f} {ours / tables:7.3f} {width / tables:6.3f}   {spent:.1f} s"
        )


if __name__ == "__main__":
    main(*(int(arg) for arg in sys.argv[1:]))
