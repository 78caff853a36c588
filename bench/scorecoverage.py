# SPDX-License-Identifier: Apache-2.0
"""How often the intervals of score measures hold the true value, beside the usual ones.

    python bench/scorecoverage.py [--tables 1000] [--only auroc]

Two normal distributions for AUROC, average precision, H, lift and KS; probabilities off by a logistic line for the
calibration errors and the line itself. The usual ones: DeLong without a scale (the default of R pROC) for AUROC, and the
percentile bootstrap of rows for everything else.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from assay.core.values import Undefined
from assay.inference.auc import delong_variance
from assay.inference.estimates import Interval
from assay.inference.intervals import Wanted
from assay.inference.scoredraws import ScoreDraws
from assay.inference.scoreintervals import ScoreUncertainty
from assay.measures import parse
from assay.measures.declare import Measure
from assay.tally.ranked import Ranked
from assay.tally.scores import Scores

LEVEL = 0.95
RANKS = ("auroc", "average_precision", "h_measure", "kolmogorov_smirnov", "lift_at(share=0.1)", "equal_error_rate")
LINES = ("expected_calibration_error", "adaptive_calibration_error", "calibration_slope", "brier_score", "log_loss")
SETTINGS = [(n, prevalence, d) for n in (100, 400) for prevalence in (0.1, 0.3, 0.5) for d in (0.5, 1.5, 2.5)]
LINE_SETTINGS = [(n, a, b) for n in (100, 400) for a, b in ((0.0, 1.0), (0.0, 0.6), (0.0, 1.8), (0.7, 1.0))]
MANY = 2_000_000


def normals(rng: np.random.Generator, n: int, prevalence: float, d: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores of negatives around 0 and of positives around d."""
    truth = rng.random(n) < prevalence
    return rng.normal(size=n) + d * truth, truth


def lines(rng: np.random.Generator, n: int, a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities q where the truth follows expit(a + b logit q)."""
    q = expit(1.2 * rng.normal(size=n) - 0.5)
    return q, rng.random(n) < expit(a + b * logit(q))


def population(measure: Measure, kind: str, first: float, second: float) -> float:
    """The value without chance: the expected table on a fine grid, or a sum over the distribution of probabilities."""
    if kind == "normals":
        grid = np.linspace(-7, 7 + second, 200_001)
        pos, neg = (np.diff(norm.cdf(grid - shift), append=1.0) for shift in (second, 0.0))
        table = Ranked(score=grid, pos=(first * pos)[np.newaxis], neg=((1 - first) * neg)[np.newaxis])
    else:
        q = expit(1.2 * norm.ppf((np.arange(MANY) + 0.5) / MANY) - 0.5)
        p = expit(first + second * logit(q))
        table = Ranked(score=q, pos=p[np.newaxis], neg=(1 - p)[np.newaxis])
    return float(measure.values(table)[0])


def usual(measure: Measure, table: Ranked, value: float, draws: ScoreDraws) -> tuple[float, float]:
    """The interval most tools give."""
    if measure.name == "auroc":
        reach = norm.ppf((1 + LEVEL) / 2) * math.sqrt(delong_variance(table))
        return value - reach, value + reach
    low, high = np.nanquantile(draws.values(measure, 500), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def study(kind: str, names: tuple[str, ...], settings: list[tuple[int, float, float]], tables: int) -> None:
    """One table of coverage."""
    head = ("rows", "prevalence", "shift") if kind == "normals" else ("rows", "intercept", "slope")
    print(f"\n| measure | {head[0]} | {head[1]} | {head[2]} | true | ours | width | usual | width |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    rng, wanted = np.random.default_rng(1), Wanted(draws=1000, level=LEVEL)
    for name in names:
        measure = parse(name)
        for n, first, second in settings:
            true = population(measure, kind, first, second)
            held, widths, seen = np.zeros(2), np.zeros(2), 0
            for _ in range(tables):
                scores, truth = (normals if kind == "normals" else lines)(rng, n, first, second)
                if not 2 <= truth.sum() <= n - 2:
                    continue
                table = Scores.binary(scores, truth).one_vs_rest(1)
                value = measure(table)
                if isinstance(value, Undefined):
                    continue
                found = ScoreUncertainty(table, wanted).interval(measure, value)
                if not isinstance(found, Interval):
                    continue
                seen += 1
                ends = ((found.low, found.high), usual(measure, table, value.value, ScoreDraws(table, 1)))
                held += [low <= true <= high for low, high in ends]
                widths += [high - low for low, high in ends]
            ours, theirs = (
                f"{100 * each:.1f} % | {width:.3f}" for each, width in zip(held / seen, widths / seen, strict=True)
            )
            print(f"| {name} | {n} | {first:g} | {second:g} | {true:.4f} | {ours} | {theirs} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--only", action="append")
    given = parser.parse_args()
    for kind, names, settings in (("normals", RANKS, SETTINGS), ("lines", LINES, LINE_SETTINGS)):
        kept = tuple(name for name in names if not given.only or name in given.only)
        if kept:
            study(kind, kept, settings, given.tables)
