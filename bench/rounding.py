# SPDX-License-Identifier: Apache-2.0
"""How far rounding scores to 13 significant bits moves values, in standard errors.

    python bench/rounding.py [--rows 1000000 10000000] [--bits 13]

The values are those of a Record: from all digits, and from the rounded scores that it stores; the standard error is the
half width of the 95 % interval over 1.96. The bar is 0.05 standard errors.
"""

from __future__ import annotations

import argparse

import numpy as np

BAR = 0.05
OF_RANKS = ("auroc", "average_precision")
OF_PROBABILITIES = ("brier_score", "log_loss", "expected_calibration_error")


def shapes(rows: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Scores of four kinds with their truth; those of heavy tails are not probabilities."""
    rng = np.random.default_rng(0)
    truth = rng.random(rows) < 0.1
    z = rng.normal(size=rows) + 1.5 * truth - 2
    return {
        "smooth": (1 / (1 + np.exp(-z)), truth),
        "over-confident": (1 / (1 + np.exp(-7 * z)), truth),
        "heavy-tailed": (rng.standard_cauchy(rows) + truth, truth),
        "discrete": (np.round(1 / (1 + np.exp(-z)), 3), truth),
    }


def moved(scores: np.ndarray, truth: np.ndarray, bits: int) -> dict[str, tuple[float, float, float]]:
    """Value, standard error, and how many of these rounding moves it by; measure by measure."""
    from assay.inference.intervals.interval_choice import Wanted
    from assay.inference.intervals.score_intervals import ScoreUncertainty
    from assay.measures import parse
    from assay.tally.scores.rounded_scores import Rounding
    from assay.tally.scores.score_tally import Scores

    probability = bool(scores.min() >= 0 and scores.max() <= 1)
    exact = Scores.binary(scores, truth)
    rounded = exact.rounded(Rounding(bits=bits, probability=probability)).one_vs_rest(1)
    table, uncertainty = exact.one_vs_rest(1), ScoreUncertainty(rounded, Wanted())
    found = {}
    for name in (*OF_RANKS, *(OF_PROBABILITIES if probability else ())):
        measure = parse(name)
        value, again = measure(table), measure(rounded)
        interval = uncertainty.interval(measure, value)
        error = (interval.high - interval.low) / (2 * 1.959964)  # type: ignore[union-attr]
        found[name] = value.value, error, abs(again.value - value.value) / error  # type: ignore[union-attr]
    return found


def main(sizes: list[int], bits: int) -> None:
    """The table, and whether every move is below the bar."""
    print(
        "| rows | scores | measure | value | standard error | moved by, in standard errors |\n|---|---|---|---|---|---|"
    )
    worst = 0.0
    for rows in sizes:
        for kind, (scores, truth) in shapes(rows).items():
            for name, (value, error, by) in moved(scores, truth, bits).items():
                worst = max(worst, by)
                print(f"| {rows:,} | {kind} | {name} | {value:.6f} | {error:.1e} | {by:.5f} |", flush=True)
    print(
        f"\nAt most {worst:.4f} standard errors at {bits} bits; the bar is {BAR}: {'met' if worst < BAR else 'MISSED'}."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--bits", type=int, default=13)
    given = parser.parse_args()
    main(given.rows, given.bits)
