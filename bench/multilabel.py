# SPDX-License-Identifier: Apache-2.0
"""Multi-label: time beside scikit-learn on 1,000,000 rows x 20 labels, and coverage of intervals by rows.

python bench/multilabel.py [rows] [labels] [data sets for coverage]
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np

import assay


def make_sets(rows: int, labels: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Correlated labels, and predictions that err in one slot of ten, more where a row is hard."""
    rng = np.random.default_rng(seed)
    mood, hard = rng.normal(size=(rows, 1)), rng.beta(1, 9, size=(rows, 1))
    truth = (mood * 0.8 + rng.normal(size=(rows, labels)) > 1.0).astype(np.uint8)
    predicted = np.where(rng.random((rows, labels)) < hard, 1 - truth, truth).astype(np.uint8)
    return truth, predicted


def time_of(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds, the better of two runs."""
    times = []
    for _ in range(2):
        wall, spent = time.perf_counter(), time.process_time()
        work()
        times.append((time.perf_counter() - wall, time.process_time() - spent))
    return min(times)


def ask_sklearn(truth: np.ndarray, predicted: np.ndarray) -> None:
    """Confusion matrices, Hamming, exact match, Jaccard and F1 averages."""
    from sklearn import metrics

    metrics.multilabel_confusion_matrix(truth, predicted)
    metrics.hamming_loss(truth, predicted)
    metrics.accuracy_score(truth, predicted)
    for average in ("micro", "macro", "samples"):
        metrics.jaccard_score(truth, predicted, average=average, zero_division=0)
        metrics.f1_score(truth, predicted, average=average, zero_division=0)


def ask_assay(truth: np.ndarray, predicted: np.ndarray) -> None:
    """Every measure with its interval, label by label too."""
    len(assay.multilabel(truth=truth, predicted=predicted).estimates)


def measure_coverage(sets: int, sizes: tuple[int, ...] = (50, 100, 400), labels: int = 6) -> None:
    """How often 95 % intervals of samples hold the value of a population."""
    truth, predicted = make_sets(200_000, labels, seed=1)
    names = (
        "hamming_loss",
        "exact_match_ratio",
        "jaccard_samples",
        "f1_samples",
        "f1_micro",
        "f1_macro",
        "jaccard_macro",
    )
    whole = assay.multilabel(truth=truth, predicted=predicted)
    rng = np.random.default_rng(4213)
    print(f"\n{'coverage of 95 %, rows':<24}" + "".join(f"{name:>19}" for name in names))
    for size in sizes:
        held = dict.fromkeys(names, 0)
        for _ in range(sets):
            rows = rng.integers(0, len(truth), size)
            a = assay.multilabel(truth=truth[rows], predicted=predicted[rows], measures=list(names))
            for name in names:
                low, high = a[name].low, a[name].high
                held[name] += low is not None and high is not None and low <= (whole[name].value or 0) <= high
        print(f"{size:<24}" + "".join(f"{held[name] / sets:19.3f}" for name in names))


def main(rows: int = 1_000_000, labels: int = 20, sets: int = 400) -> None:
    """Print times, the ratio, memory and coverage."""
    truth, predicted = make_sets(rows, labels)
    print(f"{rows:,} rows x {labels} labels, uint8: {truth.nbytes * 2 / 1e6:,.0f} MB")
    ours = time_of(lambda: ask_assay(truth, predicted))
    print(f"assay, all measures and intervals   {ours[0]:7.2f} s wall {ours[1]:7.2f} s processor")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = time_of(lambda: ask_sklearn(truth, predicted))
    print(f"scikit-learn, values only           {theirs[0]:7.2f} s wall {theirs[1]:7.2f} s processor")
    print(f"ratio                               {ours[0] / theirs[0]:7.3f}        {ours[1] / theirs[1]:7.3f}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")
    if sets:
        measure_coverage(sets)


if __name__ == "__main__":
    main(*(int(arg) for arg in sys.argv[1:]))
