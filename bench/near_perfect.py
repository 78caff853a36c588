# SPDX-License-Identifier: Apache-2.0
"""How often intervals of the difference of two areas cover it where a model hardly errs.

    python bench/near_perfect.py [--runs 1000] [--seed 1]

Binormal scores of two models, correlated by 0.5. DeLong's interval (what R's pROC gives) stands beside the one that
the table of tests chooses: square-and-add near the ends, DeLong's elsewhere. Rejections are at 5 %.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from scipy.special import ndtri

from assay.inference.findings import Finding
from assay.inference.tests.auc_beyond_delong import judged_areas, near_perfect
from assay.inference.tests.delong import delong
from assay.tally.paired.joint_scores import PairedScores

SIZES = ((10, 10), (10, 40), (25, 25), (50, 50), (20, 180), (100, 100))
AREAS = ((0.98, 0.98), (0.995, 0.995), (0.995, 0.95), (0.99, 0.9))
SHARED = 0.5


def drawn(rng: np.random.Generator, sizes: tuple[int, int], areas: tuple[float, float]) -> PairedScores:
    """Scores of two models whose areas are known."""
    y = np.arange(sum(sizes)) < sizes[0]
    base = rng.normal(size=len(y)) * math.sqrt(SHARED)
    own = math.sqrt(1 - SHARED)
    return PairedScores.of(
        y,
        {
            name: base + own * rng.normal(size=len(y)) + y * float(ndtri(area)) * math.sqrt(2)
            for name, area in zip("AB", areas, strict=True)
        },
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(
        "| positives, negatives | true areas | near an end | DeLong covers | assay covers | DeLong rejects | assay rejects |"
    )
    print("|---|---|---|---|---|---|---|")
    for place, (sizes, areas) in enumerate((s, a) for s in SIZES for a in AREAS):
        rng = np.random.default_rng([given.seed, place])
        near, hits, alarms = 0, [0, 0], [0, 0]
        for _ in range(given.runs):
            t = drawn(rng, sizes, areas)
            near += near_perfect(t)
            for i, found in enumerate((delong(t), judged_areas(t, 0.95))):
                hits[i] += covers(found, areas[0] - areas[1])
                alarms[i] += found.p is not None and found.p <= 0.05
        rates = [f"{100 * n / given.runs:.1f} %" for n in (*hits, *alarms)]
        print(
            f"| {sizes[0]}, {sizes[1]} | {areas[0]:g}, {areas[1]:g} | {100 * near / given.runs:.0f} % | {' | '.join(rates)} |",
            flush=True,
        )


def covers(found: Finding, truth: float) -> bool:
    """Whether the interval holds the true difference; without one, only if the difference is met exactly."""
    ends = found.effect.interval
    return found.effect.value == truth if ends is None else ends.low <= truth <= ends.high


if __name__ == "__main__":
    main()
