# SPDX-License-Identifier: Apache-2.0
"""How often the intervals of rates at a threshold hold the true rate when rows carry weights.

    python bench/weightedpoints.py [--tables 1000]

Scores are normal around 0 and a shift; weights are lognormal, and either say nothing about the score or grow with it,
as weights of a sample do that was drawn unevenly. Beside ours stands Wilson's interval of the weighted share, which
takes as many rows as the weights are worth (Kish 1965).
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.special import ndtr
from scipy.stats import norm

from assay.inference.intervals.interval_choice import Wanted
from assay.tally.scores.score_tally import Scores
from assay.tasks.classification.curves import rates

SHIFT, THRESHOLD = 1.5, 0.8
SHOWN = ("recall", "specificity", "precision")


def true_rates(prevalence: float, lean: float) -> dict[str, float]:
    """Rates of the weighted population; a weight exp(lean * score) moves both normals by lean."""
    found, alarms = (float(ndtr(centre + lean - THRESHOLD)) for centre in (SHIFT, 0.0))
    heavy = np.exp(lean * SHIFT)  # how much more a positive weighs on average
    positive = prevalence * heavy / (prevalence * heavy + 1 - prevalence)
    called = positive * found + (1 - positive) * alarms
    return {"recall": found, "specificity": 1 - alarms, "precision": positive * found / called}


def kish(weight: np.ndarray, hit: np.ndarray) -> tuple[float, float]:
    """Wilson's interval of a weighted share at the size the weights are worth."""
    n, p = weight.sum() ** 2 / (weight**2).sum(), float(weight[hit].sum() / weight.sum())
    z = norm.ppf(0.975)
    middle, half = (
        (p + z * z / (2 * n)) / (1 + z * z / n),
        z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)),
    )
    return middle - half, middle + half


def studied(rows: int, prevalence: float, spread: float, lean: float, tables: int) -> None:
    """Print one line for each rate."""
    rng = np.random.default_rng([rows, int(1000 * prevalence), int(10 * spread), int(10 * lean)])
    true, wanted = true_rates(prevalence, lean), Wanted()
    held = {name: np.zeros(2) for name in SHOWN}
    width = {name: np.zeros(2) for name in SHOWN}
    seen = dict.fromkeys(SHOWN, 0)
    for _ in range(tables):
        truth = rng.random(rows) < prevalence
        score = rng.normal(size=rows) + SHIFT * truth
        weight = np.exp(spread * rng.normal(size=rows) + lean * score)
        if not 1 < truth.sum() < rows - 1:
            continue
        tally = Scores.binary(score, truth, weight)
        cells = tally.one_vs_rest(1).at(THRESHOLD)
        made = rates(
            cells, None, label=None, named={}, optimistic=False, wanted=wanted, squares=tally.squares_at(1, THRESHOLD)
        )
        called = score >= THRESHOLD
        parts = {"recall": (truth, called), "specificity": (~truth, ~called), "precision": (called, truth)}
        for one in made:
            name = str(one["measure"])
            if name not in SHOWN or one.get("low") is None:
                continue
            among, hit = parts[name]
            ends = ((one["low"], one["high"]), kish(weight[among], hit[among]))
            seen[name] += 1
            held[name] += [low <= true[name] <= high for low, high in ends]
            width[name] += [high - low for low, high in ends]
    leaning = "by the score" if lean else "by chance"
    for name in SHOWN:
        covered, wide = 100 * held[name] / seen[name], width[name] / seen[name]
        print(
            f"| {name} | {rows} | {prevalence:g} | {leaning}, spread {spread:g} | {true[name]:.3f} "
            f"| {covered[0]:.1f} ({wide[0]:.3f}) | {covered[1]:.1f} ({wide[1]:.3f}) |",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=1000)
    given = parser.parse_args()
    print(
        "| rate | rows | prevalence | weights vary | true | ours | Wilson at the size of Kish |\n|---|---|---|---|---|---|---|"
    )
    for rows in (100, 400):
        for prevalence in (0.1, 0.5):
            for spread, lean in ((0.5, 0.0), (1.0, 0.0), (0.3, 0.5)):
                studied(rows, prevalence, spread, lean, given.tables)
