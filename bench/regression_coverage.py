# SPDX-License-Identifier: Apache-2.0
"""How often intervals of regression hold the true value: four shapes of errors, 20 to 1,000 rows, and rows of units.

    python bench/regression_coverage.py [--tables 200] [--sizes 20,50,200,1000]

Truth is gamma with mean 50 and standard deviation 10. Errors have standard deviation 5 and are normal, proportional to
the truth (heteroscedastic), Student's t with three degrees of freedom, or lognormal (skewed). True values are exact
where a formula is known, otherwise from four million rows.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from assay.inference.intervals.interval_choice import Wanted
from assay.tasks.regression import TASK
from assay.tasks.regression.tally import Facts, Residuals, RowTable
from assay.tasks.task_settings import TaskSettings

LEVEL = 0.95
MEASURES = (
    "mean_absolute_error", "median_absolute_error", "mean_absolute_percentage_error", "mean_error",
    "root_mean_squared_error", "r2", "pearson_r", "spearman_r", "concordance_correlation", "bland_altman_high",
    "error_quantile(q=0.975)",
)  # fmt: skip
Errors = Callable[[np.random.Generator, np.ndarray], np.ndarray]
SKEW = math.sqrt((math.e - 1) * math.e)
SHAPES: dict[str, Errors] = {
    "normal": lambda rng, y: 5 * rng.normal(size=len(y)),
    "heteroscedastic": lambda rng, y: 0.1 * y * rng.normal(size=len(y)),
    "t3": lambda rng, y: 5 / math.sqrt(3) * rng.standard_t(3, size=len(y)),
    "skewed": lambda rng, y: 5 * (np.exp(rng.normal(size=len(y))) - math.exp(0.5)) / SKEW,
}


def draw_truth(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Truth with mean 50 and standard deviation 10."""
    return rng.gamma(25.0, 2.0, size=rows)


@cache
def true_values(shape: str) -> dict[str, float]:
    """What the intervals should hold."""
    rng = np.random.default_rng(99)
    truth = draw_truth(rng, 4_000_000)
    error = SHAPES[shape](rng, truth)
    size = np.abs(error)
    variance = 0.01 * (50**2 + 100) if shape == "heteroscedastic" else 25.0
    half = math.sqrt(2 / math.pi)
    mean = {"normal": 5 * half, "heteroscedastic": 5 * half, "t3": 5 / math.sqrt(3) * 2 * math.sqrt(3) / math.pi}
    absolute = mean.get(shape, float(size.mean()))
    share = 0.1 * half if shape == "heteroscedastic" else absolute / 48
    both = 100 + variance
    ranks = np.argsort(np.argsort(truth[:1_000_000])), np.argsort(np.argsort((truth - error)[:1_000_000]))
    return {
        "mean_absolute_error": absolute,
        "median_absolute_error": float(np.median(size)),
        "mean_absolute_percentage_error": 100 * share,
        "mean_error": 0.0,
        "root_mean_squared_error": math.sqrt(variance),
        "r2": 1 - variance / 100,
        "pearson_r": 100 / math.sqrt(100 * both),
        "spearman_r": float(np.corrcoef(*ranks)[0, 1]),
        "concordance_correlation": 200 / (100 + both),
        "bland_altman_high": 1.96 * math.sqrt(variance),
        "error_quantile(q=0.975)": float(np.quantile(error, 0.975)),
    }


def estimate(truth: np.ndarray, error: np.ndarray, units: tuple[str, ...] | None = None) -> Any:  # noqa: ANN401
    """The estimates of a table."""
    table = RowTable(names=("truth", "predicted"), values=np.array([truth, truth - error]), units=units)
    return TASK.estimates(Residuals.of(Facts(), table), TaskSettings(wanted=Wanted(level=LEVEL)))


def cover(shape: str, rows: int, tables: int, seed: int) -> dict[str, tuple[int, int, int]]:
    """For each measure: intervals that hold the true value, intervals given, intervals that carry a warning."""
    expected, rng = true_values(shape), np.random.default_rng(seed)
    counts = dict.fromkeys(MEASURES, (0, 0, 0))
    for _ in range(tables):
        truth = draw_truth(rng, rows)
        estimates = estimate(truth, SHAPES[shape](rng, truth))
        for name in MEASURES:
            part, (inside, given, warned) = estimates[name], counts[name]
            if part.interval is not None:
                warning = any("kurtosis" in note or "skewness" in note for note in part.interval.notes)
                hit = part.interval.low <= expected[name] <= part.interval.high
                counts[name] = (inside + hit, given + 1, warned + warning)
    return counts


def cover_units(units: int, tables: int, seed: int) -> dict[str, tuple[int, int, int, int]]:
    """Rows of units that share half of their error variance: intervals by unit, and as if rows were independent."""
    rng = np.random.default_rng(seed)
    expected = {"mean_absolute_error": 5 * math.sqrt(2 / math.pi), "root_mean_squared_error": 5.0, "mean_error": 0.0}
    counts = dict.fromkeys(expected, (0, 0, 0, 0))
    for _ in range(tables):
        sizes = np.maximum(1, rng.lognormal(1.9, 0.8, size=units).astype(int))
        place = np.repeat(np.arange(units), sizes)
        truth = draw_truth(rng, len(place))
        error = 5 * math.sqrt(0.5) * (rng.normal(size=units)[place] + rng.normal(size=len(place)))
        by_unit, by_row = estimate(truth, error, tuple(map(str, place))), estimate(truth, error)
        for name, value in expected.items():
            hits = []
            for estimates in (by_unit, by_row):
                part = estimates[name].interval
                hits += [part is not None and part.low <= value <= part.high, part is not None]
            counts[name] = tuple(a + b for a, b in zip(counts[name], hits, strict=True))  # type: ignore[assignment]
    return counts


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--sizes", default="20,50,200,1000")
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    print(
        f"{given.tables} tables a cell; coverage in per cent at {' / '.join(map(str, sizes))} rows; (w) share warned\n"
    )
    print("| measure | " + " | ".join(SHAPES) + " |\n|---|" + "---|" * len(SHAPES))
    results = {
        (shape, size): cover(shape, size, given.tables, 1000 * place + size)
        for place, shape in enumerate(SHAPES)
        for size in sizes
    }
    for name in MEASURES:
        cells = []
        for shape in SHAPES:
            counts = [results[shape, size][name] for size in sizes]
            shares = " / ".join(f"{100 * hit / out:.1f}" if out else "none" for hit, out, _ in counts)
            warned = max((100 * w / out for _, out, w in counts if out), default=0)
            cells.append(shares + (f" (w {warned:.0f})" if warned >= 1 else ""))
        print(f"| {name} | " + " | ".join(cells) + " |")
    print("\n| units | measure | by unit | as if rows were independent |\n|---|---|---|---|")
    for units in (10, 20, 50, 200):
        for name, (hit, out, row_hit, row_out) in cover_units(units, given.tables, units).items():
            by_unit = f"{100 * hit / out:.1f}" if out else "none"
            print(f"| {units} | {name} | {by_unit} | {100 * row_hit / row_out:.1f} |")


if __name__ == "__main__":
    main()
