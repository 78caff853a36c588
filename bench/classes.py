# SPDX-License-Identifier: Apache-2.0
"""A whole assessment with scores of many classes, in groups: time and memory until the Record is there.

    python bench/classes.py [--settings 10000x10x0 10000x10x5 5000x100x0]

A setting is rows x classes x groups. Each is a process of its own. Beside it, scikit-learn in a row bootstrap: four
values of each class (AUROC, average precision, Brier score, log loss) on a few resamples, scaled up to the 1,000 that
an interval of ours rests on, where each class and group has 16 values with draws, and curves with bands.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

SETTINGS = ("2000x10x0", "10000x10x0", "10000x10x5", "5000x100x0")
DRAWS, SOME = 1000, 3


def rows(n: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes and probabilities that lean towards them."""
    rng = np.random.default_rng(1)
    truth, chance = rng.integers(0, classes, n), rng.dirichlet(np.full(classes, 0.7), n)
    chance[np.arange(n), truth] += 0.5
    return truth, chance / chance.sum(axis=1, keepdims=True)


def ours(n: int, classes: int, groups: int) -> dict[str, float]:
    """Seconds and peak MB of one assessment, in this process."""
    import assay

    truth, chance = rows(n, classes)
    group = {"site": np.random.default_rng(2).integers(0, groups, n)} if groups else None
    began = time.perf_counter()
    record = assay.assess(truth=truth, score=chance, scores=assay.ScoreSettings(kind="probability"), group=group).record
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": time.perf_counter() - began, "peak": peak, "estimates": len(record["estimates"])}


def theirs(n: int, classes: int, groups: int) -> float:
    """Seconds that scikit-learn would take for its four values of each class and group on every resample."""
    from sklearn import metrics

    truth, chance = rows(n, classes)
    site = np.random.default_rng(2).integers(0, max(groups, 1), n)
    parts = [np.ones(n, dtype=bool), *(site == one for one in range(groups))]
    each = (metrics.roc_auc_score, metrics.average_precision_score, metrics.brier_score_loss, metrics.log_loss)
    rng, began = np.random.default_rng(3), time.perf_counter()
    for _ in range(SOME):
        for part in parts:
            drawn = rng.choice(np.flatnonzero(part), part.sum())
            for label in range(classes):
                for value in each:
                    value(truth[drawn] == label, chance[drawn, label])
    return (time.perf_counter() - began) * DRAWS / SOME


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", nargs="+", default=SETTINGS)
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        print(json.dumps(ours(*map(int, given.alone.split("x")))))
        return
    print("| rows | classes | groups | estimates | assay | peak memory | scikit-learn, 4 values, 1,000 resamples |")
    print("|---|---|---|---|---|---|---|")
    for setting in given.settings:
        n, classes, groups = map(int, setting.split("x"))
        line = [sys.executable, __file__, "--alone", setting]
        found = json.loads(subprocess.run(line, stdout=subprocess.PIPE, check=True, text=True).stdout)
        print(
            f"| {n:,} | {classes} | {groups} | {found['estimates']:,} | {found['seconds']:.1f} s | {found['peak']:,.0f} MB"
            f" | {theirs(n, classes, groups):,.0f} s |",
            flush=True,
        )


if __name__ == "__main__":
    main()
