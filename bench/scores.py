# SPDX-License-Identifier: Apache-2.0
"""Speed of scores to curve measures with intervals, side by side with scikit-learn in one process.

    python bench/scores.py [--rows 10000000]

Ratios are what counts; times belong to the machine they were taken on.
"""

from __future__ import annotations

import argparse
import gc
import time
import tracemalloc
from collections.abc import Callable

import numpy as np


def best(work: Callable[[], object], repeats: int) -> float:
    """The shortest of some runs, in seconds."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def three(scores: np.ndarray, truth: np.ndarray) -> tuple[float, ...]:
    """Exact AUROC and average precision, and DeLong's interval."""
    from assay.inference.auc import area_interval
    from assay.measures import parse
    from assay.tally.scores import Scores

    table = Scores.binary(scores, truth).one_vs_rest(1)
    area = parse("auroc")(table).value
    return area, parse("average_precision")(table).value, *area_interval(table, area, 0.95)[:2]


def everything(scores: np.ndarray, truth: np.ndarray) -> dict[str, object]:
    """All curve measures of two classes, each with its interval."""
    from assay.inference.intervals import Wanted
    from assay.inference.scoreintervals import ScoreUncertainty
    from assay.measures import REGISTRY
    from assay.tally.ranked import Ranked
    from assay.tally.scores import Scores

    table = Scores.binary(scores, truth).one_vs_rest(1)
    sure = ScoreUncertainty(table, Wanted())
    given = {
        "partial_auroc": {"max_fpr": 0.1},
        "partial_auroc_standardised": {"max_fpr": 0.1},
        "lift_at": {"share": 0.1},
    }
    found: dict[str, object] = {}
    for one in REGISTRY:
        if one.takes is Ranked and one.family == "curves":
            ready = one.with_(**given.get(one.name, {}))
            found[ready.title] = sure.interval(ready, ready(table))
    return found


def shapes(rows: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Scores of the kinds that break bins."""
    rng = np.random.default_rng(0)
    truth = rng.random(rows) < 0.3
    z = rng.normal(size=rows) + truth
    return {
        "smooth": (1 / (1 + np.exp(-z)), truth),
        "over-confident": (1 / (1 + np.exp(-6 * z)), truth),
        "heavy-tailed": (rng.standard_cauchy(rows) + truth, truth),
        "heavily tied": (np.round(1 / (1 + np.exp(-z)), 2), truth),
    }


def main(rows: int) -> None:
    """The table of results."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    from assay.inference.auc import delong_variance
    from assay.measures import parse
    from assay.measures.brackets import bracket
    from assay.tally.scorebins import PROBABILITY, REAL, BinMap, ScoreBins
    from assay.tally.scores import Scores

    data = shapes(rows)
    scores, truth = data["smooth"]
    everything(scores[:1000], truth[:1000])
    area = best(lambda: roc_auc_score(truth, scores), 2)
    precision = best(lambda: average_precision_score(truth, scores), 1)
    print("| what | assay | scikit-learn | ratio | bar |\n|---|---|---|---|---|")
    ours = best(lambda: three(scores, truth), 5)
    name = f"{rows:,} float64: exact AUROC, average precision, DeLong interval"
    print(f"| {name} | {ours:.3f} s | {area:.3f} s (roc_auc_score) | 1/{area / ours:.1f} | 1/8 |", flush=True)
    ours = best(lambda: everything(scores, truth), 2)
    both = area + precision
    name = f"{rows:,} float64: all curve measures with intervals"
    print(
        f"| {name} | {ours:.3f} s | {both:.3f} s (and average_precision_score) | 1/{both / ours:.1f} | 1/1 |",
        flush=True,
    )
    for name, by in (
        ("probability map", PROBABILITY),
        ("real map", REAL),
        ("quantile edges", BinMap.quantile(scores[: 1 << 20])),
    ):
        ours = best(lambda m=by: ScoreBins.of(scores, truth, m), 3)
        print(
            f"| {rows:,} float64, binned, {name} | {ours:.3f} s | {area:.3f} s (roc_auc_score) | 1/{area / ours:.1f} | 1/40 |",
            flush=True,
        )
    print("\n| scores | map | bins held | AUROC bracket | of its standard error | bar |\n|---|---|---|---|---|---|")
    for kind, (held, y) in data.items():
        table = Scores.binary(held, y).one_vs_rest(1)
        error, exact = delong_variance(table) ** 0.5, parse("auroc")(table).value
        maps = {"quantile edges": BinMap.quantile(held[: 1 << 20]), "real map": REAL}
        if held.min() >= 0 and held.max() <= 1:
            maps["probability map"] = PROBABILITY
        for name, by in maps.items():
            bins = ScoreBins.of(held, y, by)
            low, high = bracket(parse("auroc"), bins)  # type: ignore[misc]
            if not low <= exact <= high:
                msg = f"{kind}, {name}: {exact} lies outside {low} to {high}"
                raise ArithmeticError(msg)
            print(
                f"| {kind} | {name} | {len(bins.place):,} | {high - low:.1e} | {(high - low) / error:.3f} | 0.1 |",
                flush=True,
            )
    tracemalloc.start()
    peaks = []
    for part in (rows // 10, rows):
        tracemalloc.reset_peak()
        ScoreBins.of(scores[:part], truth[:part], PROBABILITY)
        peaks.append(tracemalloc.get_traced_memory()[1] / 2**20)
    print(f"\nPeak memory of binning: {peaks[0]:.0f} MiB for {rows // 10:,} rows, {peaks[1]:.0f} MiB for {rows:,}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    main(parser.parse_args().rows)
