# SPDX-License-Identifier: Apache-2.0
"""Coverage of the interval of AUROC for scores of other shapes than those it was made with, beside DeLong's.

    python bench/areashapes.py [--tables 2000]

Exponential scores, heavy tails and five grades, with few rows of a class; the true areas are known in closed form, those
of heavy tails from four million pairs.
"""

from __future__ import annotations

import argparse
import math
import zlib
from collections.abc import Callable

import numpy as np
from scipy.stats import norm

from assay.inference.intervals.auc import area_interval, delong_variance
from assay.measures import parse
from assay.tally.scores.score_tally import Scores

LEVEL = 0.95
Draw = Callable[[np.random.Generator, int], np.ndarray]


def exponential(rate: float) -> tuple[Draw, Draw, float]:
    """Positives have `rate` times the mean of the negatives."""
    return lambda rng, n: rate * rng.exponential(size=n), lambda rng, n: rng.exponential(size=n), rate / (1 + rate)


def grades(positives: list[float], negatives: list[float]) -> tuple[Draw, Draw, float]:
    """Grades 0 to 4 with the stated odds."""
    p, q = (np.array(odds) / sum(odds) for odds in (positives, negatives))
    below = np.cumsum(q) - q / 2
    return lambda rng, n: rng.choice(5, n, p=p), lambda rng, n: rng.choice(5, n, p=q), float(p @ below)


def tails(shift: float) -> tuple[Draw, Draw, float]:
    """Student's distribution with three degrees of freedom."""
    rng = np.random.default_rng(1)
    true = float((rng.standard_t(3, 4_000_000) + shift > rng.standard_t(3, 4_000_000)).mean())
    return lambda rng, n: rng.standard_t(3, n) + shift, lambda rng, n: rng.standard_t(3, n), true


SHAPES = {
    "exponential, four times": exponential(4),
    "exponential, nineteen times": exponential(19),
    "five grades": grades([1, 1, 2, 3, 5], [6, 4, 3, 2, 1]),
    "five grades, far apart": grades([0.2, 0.3, 0.5, 2, 9], [9, 4, 1, 0.5, 0.3]),
    "heavy tails": tails(1.5),
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=2000)
    given = parser.parse_args()
    auroc, z = parse("auroc"), float(norm.ppf((1 + LEVEL) / 2))
    print("| scores | rows | positives | true | ours | DeLong, as in pROC |\n|---|---|---|---|---|---|")
    for name, (positive, negative, true) in SHAPES.items():
        for rows in (100, 400):
            for share in (0.1, 0.5):
                rng = np.random.default_rng(zlib.crc32(repr((name, rows, share)).encode()))
                held, seen = np.zeros(2), 0
                for _ in range(given.tables):
                    m = int(rng.binomial(rows, share))
                    if not 1 < m < rows - 1:
                        continue
                    scores = np.concatenate([positive(rng, m), negative(rng, rows - m)]).astype(float)
                    table = Scores.binary(scores, np.arange(rows) < m).one_vs_rest(1)
                    value = float(auroc(table).value)
                    reach = z * math.sqrt(delong_variance(table))
                    ends = area_interval(table, value, LEVEL)[:2], (max(value - reach, 0), min(value + reach, 1))
                    held += [low <= true <= high for low, high in ends]
                    seen += 1
                shown = " | ".join(f"{100 * one / seen:.1f}" for one in held)
                print(f"| {name} | {rows} | {share:.0%} | {true:.3f} | {shown} |", flush=True)
