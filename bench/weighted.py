# SPDX-License-Identifier: Apache-2.0
"""How often the intervals of weighted rows hold the truth: rows drawn from known cells, weights of several kinds.

    python bench/weighted.py [--tables 600]

Weights by class stand for classes drawn at different rates, log-normal and gamma weights for surveys; the gamma ones are
so uneven that 200 rows are worth 70.
"""

from __future__ import annotations

import argparse

import numpy as np

import assay

NAMES = ("accuracy", "recall", "precision", "f1", "matthews_corrcoef")
TRUTHS = {"half positive, 0.80, 0.80": (0.5, 0.8, 0.8), "1 in 10 positive, 0.90, 0.95": (0.1, 0.9, 0.95)}
SEED = 20220


def by_class(rng: np.random.Generator, truth: np.ndarray) -> np.ndarray:
    """Positives were drawn four times as often as negatives."""
    del rng
    return np.where(truth == 1, 1.0, 4.0)


def log_normal(rng: np.random.Generator, truth: np.ndarray) -> np.ndarray:
    """Mean 1, standard deviation 0.95."""
    return np.exp(rng.normal(-0.32, 0.8, len(truth)))


def gamma(rng: np.random.Generator, truth: np.ndarray) -> np.ndarray:
    """Mean 1, standard deviation 1.4."""
    return rng.gamma(0.5, 2.0, len(truth))


WEIGHTS = {"by class": by_class, "log-normal": log_normal, "gamma": gamma}


def coverage(kind: str, setting: str, n: int, tables: int) -> dict[str, float]:
    """Per cent of intervals that hold the value of the whole population."""
    prevalence, recall, specificity = TRUTHS[setting]
    rng = np.random.default_rng([SEED, n, list(WEIGHTS).index(kind), list(TRUTHS).index(setting)])
    cells = np.array([prevalence * recall, (1 - prevalence) * (1 - specificity), prevalence * (1 - recall)])
    cells = np.append(cells, 1 - cells.sum())  # TP, FP, FN, TN
    mean = np.where([True, False, True, False], 1.0, 4.0) if kind == "by class" else np.ones(4)
    tp, fp, fn, tn = np.round(cells * mean * 10**9).astype(int).tolist()
    whole = assay.from_confusion_matrix(confusion=[[tn, fp], [fn, tp]], orientation="rows=truth", labels=[0, 1])
    held = dict.fromkeys(NAMES, 0)
    defined = dict.fromkeys(NAMES, 0)
    for _ in range(tables):
        cell = rng.choice(4, size=n, p=cells)
        truth, predicted = np.isin(cell, (0, 2)).astype(int), np.isin(cell, (0, 1)).astype(int)
        a = assay.assess(
            truth=truth,
            predicted=predicted,
            labels=[0, 1],
            positive=1,
            weight=WEIGHTS[kind](rng, truth),
            intervals=assay.IntervalSettings(draws=1000),
        )
        for name in NAMES:
            if a[name].low is not None:
                defined[name] += 1
                held[name] += a[name].low <= whole[name].value <= a[name].high
    return {name: 100 * held[name] / max(defined[name], 1) for name in NAMES}


def main() -> None:
    """Print one line a setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=600)
    tables = parser.parse_args().tables
    print(f"{'weights':<12} {'truth':<30} {'n':>5}  " + "  ".join(f"{name:>17}" for name in NAMES))
    for kind in WEIGHTS:
        for setting in TRUTHS:
            for n in (50, 200, 1000):
                found = coverage(kind, setting, n, tables)
                print(f"{kind:<12} {setting:<30} {n:>5}  " + "  ".join(f"{found[name]:>17.1f}" for name in NAMES))


if __name__ == "__main__":
    main()
