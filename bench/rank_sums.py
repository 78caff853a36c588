# SPDX-License-Identifier: Apache-2.0
"""False alarms and power of Mann-Whitney's test on small groups with ties, counted out and by the normal distribution.

python bench/rank_sums.py [RUNS]

Values are whole numbers from 0 to 3; for power, four of five values of the second group are one higher.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.stats import mannwhitneyu

from assay.inference.tests.ranks import mann_whitney
from assay.tally.real_values import Groups

LEVEL = 0.05


def rejections(size: int, runs: int, *, shifted: bool) -> tuple[float, float]:
    """How often, in per cent, each form rejects."""
    rng, exact, normal = np.random.default_rng(4213), 0, 0
    for _ in range(runs):
        a, b = rng.integers(0, 4, size).astype(float), rng.integers(0, 4, size).astype(float)
        if shifted:
            b += rng.random(size) < 0.8
        p = mann_whitney(Groups.of({"A": a, "B": b})).p
        exact += p is not None and p <= LEVEL
        normal += bool(mannwhitneyu(a, b, method="asymptotic", use_continuity=False).pvalue <= LEVEL)
    return 100 * exact / runs, 100 * normal / runs


def main() -> None:
    """Print a table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print("| rows of each group | false alarms, counted out | normal | power, counted out | normal |")
    print("|---|---|---|---|---|")
    for size in (4, 6, 10, 20):
        shares = [*rejections(size, runs, shifted=False), *rejections(size, runs, shifted=True)]
        print(f"| {size} | " + " | ".join(f"{share:.1f}" for share in shares) + " |", flush=True)


if __name__ == "__main__":
    main()
