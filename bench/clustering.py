# SPDX-License-Identifier: Apache-2.0
"""Measures clustering: time beside scikit-learn, and how often intervals and tests hold.

python bench/clustering.py [rows, 1000000 by default] [data sets a cell, 300 by default]
"""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn import metrics

import assay
from assay.inference.estimates import Interval
from assay.tasks.clustering import TASK
from assay.tasks.clustering.compare import ClusteredModels, compare_pair
from assay.tasks.clustering.intervals import agreement_interval
from assay.tasks.clustering.tally import Contingency

NAMES = ("adjusted_rand_index", "ami_arithmetic", "nmi_arithmetic", "fowlkes_mallows", "purity")
MIDDLING = np.array([[0.25, 0.05, 0.02], [0.03, 0.3, 0.02], [0.05, 0.08, 0.2]])
GOOD = np.array([[0.32, 0.01, 0.0], [0.01, 0.33, 0.01], [0.005, 0.015, 0.3]])
RNG = np.random.default_rng(4213)


def measure_time(rows: int) -> None:
    """All measures of agreement with intervals, beside six scores of scikit-learn."""
    truth = RNG.integers(0, 10, rows)
    cluster = np.where(RNG.random(rows) < 0.7, truth, RNG.integers(0, 12, rows))
    start = time.perf_counter()
    estimates = assay.clustering(truth, cluster).estimates
    ours = time.perf_counter() - start
    start = time.perf_counter()
    for score in (metrics.rand_score, metrics.adjusted_rand_score, metrics.adjusted_mutual_info_score,
                  metrics.homogeneity_completeness_v_measure, metrics.fowlkes_mallows_score,
                  metrics.normalized_mutual_info_score):  # fmt: skip
        score(truth, cluster)
    peer = time.perf_counter() - start
    print(
        f"| {rows:,} rows | assay: {len(estimates)} measures with intervals {ours:.2f} s | scikit-learn: 6 scores {peer:.2f} s |"
    )


def draw_table(shares: np.ndarray, rows: int) -> Contingency:
    """A sample of rows from shares of cells."""
    drawn = RNG.multinomial(rows, (shares / shares.sum()).ravel()).reshape(shares.shape)
    return Contingency.build({(i, j): int(n) for (i, j), n in np.ndenumerate(drawn)})


def measure_coverage(runs: int) -> None:
    """How often intervals hold the agreement of the population."""
    print(f"| table | rows | {' | '.join(NAMES)} |\n|---|---|{'---|' * len(NAMES)}")
    for name, shares in (("middling", MIDDLING), ("good", GOOD)):
        population = Contingency.build(
            {(i, j): round(n * 10**9) for (i, j), n in np.ndenumerate(shares / shares.sum())}
        )
        for rows in (50, 100, 200, 500):
            hits, given = dict.fromkeys(NAMES, 0), dict.fromkeys(NAMES, 0)
            for _ in range(runs):
                tally = draw_table(shares, rows)
                for measure in map(TASK.registry.find, NAMES):
                    interval = agreement_interval(measure, measure(tally.agreement).value, tally, 0.95)
                    if isinstance(interval, Interval):
                        given[measure.name] += 1
                        hits[measure.name] += interval.low <= measure(population.agreement).value <= interval.high
            cells = (
                f"{hits[n] / given[n]:.1%}" + (f", {runs - given[n]} refused" if given[n] < runs else "") for n in NAMES
            )
            print(f"| {name} | {rows} | {' | '.join(cells)} |", flush=True)


def measure_size(runs: int) -> None:
    """How often two equally good clusterings are called different at 5 %."""
    print(f"| rows | {' | '.join(NAMES)} |\n|---|{'---|' * len(NAMES)}")
    for rows in (50, 100, 200, 500):
        rejected = dict.fromkeys(NAMES, 0)
        for _ in range(runs):
            truth = RNG.integers(0, 3, rows)
            both = [np.where(RNG.random(rows) < 0.75, truth, RNG.integers(0, 3, rows)).tolist() for _ in range(2)]
            cells: dict[tuple[int, ...], int] = {}
            for cell in zip(truth.tolist(), *both, strict=True):
                cells[cell] = cells.get(cell, 0) + 1
            paired = ClusteredModels(models=("a", "b"), cells=cells)
            for measure in map(TASK.registry.find, NAMES):
                p = compare_pair(measure, paired, ("a", "b"), 0.95).p
                rejected[measure.name] += p is not None and p <= 0.05
        print(f"| {rows} | {' | '.join(f'{rejected[n] / runs:.1%}' for n in NAMES)} |", flush=True)


if __name__ == "__main__":
    measure_time(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
    measure_coverage(int(sys.argv[2]) if len(sys.argv) > 2 else 300)
    measure_size(int(sys.argv[2]) if len(sys.argv) > 2 else 300)
