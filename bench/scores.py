# SPDX-License-Identifier: Apache-2.0
"""Speed of scores to curve measures with intervals, side by side with scikit-learn in one process.

    python bench/scores.py [--rows 10000000] [--rounds 3]
    python bench/scores.py --classes 3 [--rows 10000000]

All take turns, and the best round of each counts: what others on the machine do can only add to it.
Ratios are what counts; times belong to the machine they were taken on.
"""

from __future__ import annotations

import argparse
import gc
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds on the clock and of processor time."""

    clock: float
    processor: float

    def beside(self, *peers: Took) -> tuple[str, str]:
        """How this compares with some peers one after the other."""
        clock, processor = sum(one.clock for one in peers), sum(one.processor for one in peers)
        return f"{clock:.3f} s", f"1/{clock / self.clock:.1f} (1/{processor / self.processor:.1f} of processor time)"


def turns(jobs: dict[str, Callable[[], object]], rounds: int) -> dict[str, Took]:
    """The shortest of some runs of each job."""
    found: dict[str, list[Took]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, work in jobs.items():
            gc.collect()
            start, used = time.perf_counter(), time.process_time()
            work()
            found[name].append(Took(time.perf_counter() - start, time.process_time() - used))
    return {name: Took(min(t.clock for t in took), min(t.processor for t in took)) for name, took in found.items()}


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


def class_shapes(rows: int, k: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The same kinds of scores, one column for each of some classes of equal size."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, k, rows)
    z = rng.normal(size=(rows, k))
    z[np.arange(rows), truth] += 1

    def softmax(steep: float) -> np.ndarray:
        e = np.exp(steep * (z - z.max(axis=1, keepdims=True)))
        return e / e.sum(axis=1, keepdims=True)

    smooth = softmax(1)
    tails = rng.standard_cauchy((rows, k))
    tails[np.arange(rows), truth] += 1
    return {
        "smooth": (smooth, truth),
        "over-confident": (softmax(6), truth),
        "heavy-tailed": (tails, truth),
        "heavily tied": (smooth.round(2), truth),
    }


def pooled_error(held: np.ndarray, truth: np.ndarray, most: int = 500_000) -> float:
    """The standard error of the area of pooled scores, whose rows are the units: DeLong's parts summed by row."""
    some, own = held[:most], truth[:most]
    positive = np.zeros(some.shape, dtype=bool)
    positive[np.arange(len(some)), own] = True
    pos, neg = np.sort(some[positive]), np.sort(some[~positive])

    def placed(values: np.ndarray, among: np.ndarray) -> np.ndarray:
        both = (np.searchsorted(among, values, side=side) for side in ("left", "right"))
        return sum(both) / (2 * len(among))  # type: ignore[return-value]

    parts = np.empty(some.shape)
    parts[positive] = placed(some[positive], neg)
    area = parts[positive].mean()
    parts[positive] = (parts[positive] - area) / len(pos)
    parts[~positive] = (1 - placed(some[~positive], pos) - area) / len(neg)
    return float(np.sqrt((parts.sum(axis=1) ** 2).sum() * len(some) / len(held)))


def of_classes(rows: int, k: int) -> None:
    """The table of brackets of pairs of classes and of pooled classes."""
    from assay.inference.intervals import Wanted
    from assay.inference.scoreintervals import ScoreUncertainty
    from assay.measures import parse
    from assay.measures.brackets import bracket_of_classes
    from assay.tally.binmaps import PROBABILITY, REAL
    from assay.tally.binned import Binned
    from assay.tally.scores import Scores
    from assay.tally.truthbins import CELLS, count_classes

    print(
        "| scores | classes | measure | cells held | bracket | of its standard error | bar | counted in | values in |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    names, block = tuple(range(k)), 1 << 20
    for kind, (held, truth) in class_shapes(rows, k).items():
        by = PROBABILITY if held.min() >= 0 and held.max() <= 1 else REAL
        start = time.perf_counter()
        made = []
        for own in names:
            column = np.ascontiguousarray(held[:, own])
            parts = ((column[i : i + block], truth[i : i + block].astype(np.int8)) for i in range(0, rows, block))
            made.append(count_classes(parts, by, own, k))
        columns, paired, pools = zip(*made, strict=True)
        pool = None if pools[0] is None else reduce(add, pools)
        bins = Binned(labels=names, scored=names, columns=columns, rows=rows, paired=paired, pool=pool)
        counted = time.perf_counter() - start
        exact = Scores.per_class(held, truth, names)
        for name in ("auroc_one_vs_one", "auroc_micro", "average_precision_micro"):
            measure = parse(name)
            start = time.perf_counter()
            value, ends = measure(bins), bracket_of_classes(measure, bins)
            took = time.perf_counter() - start
            low, high = ends  # type: ignore[misc]
            true = measure(exact).value  # type: ignore[union-attr]
            if not low <= true <= high:
                msg = f"{kind}, {name}: {true} lies outside {low} to {high}"
                raise ArithmeticError(msg)
            error = None
            if name == "auroc_one_vs_one":
                error = ScoreUncertainty(bins, Wanted())._error_of_mean(bins, measure)  # noqa: SLF001
            elif name == "auroc_micro":
                error = pooled_error(held, truth)
            share = "" if error is None else f"{(high - low) / error:.3f}"
            held_in = paired if name == "auroc_one_vs_one" else columns if pool is None else (pool,)
            cells = sum(len(one.place) for one in held_in)
            bar = "" if error is None else "0.1"
            print(
                f"| {kind} | {k} | {name} {value.value:.6f} | {cells:,} | {high - low:.1e} | {share} | {bar} "
                f"| {counted:.1f} s | {took:.1f} s |",
                flush=True,
            )
    print(f"\nAt most {CELLS:,} cells are held for pairs of classes, whatever the rows.")


def main(rows: int, rounds: int) -> None:
    """The table of results."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    from assay.inference.auc import delong_variance
    from assay.measures import parse
    from assay.measures.brackets import bracket
    from assay.tally.binmaps import PROBABILITY, REAL, BinMap
    from assay.tally.scorebins import ScoreBins
    from assay.tally.scores import Scores

    data = shapes(rows)
    scores, truth = data["smooth"]
    everything(scores[:1000], truth[:1000])
    maps = {
        "probability map": PROBABILITY,
        "real map": REAL,
        "quantile edges": BinMap.quantile(scores[: 1 << 20]),
    }
    took = turns(
        {
            "area": lambda: roc_auc_score(truth, scores),
            "precision": lambda: average_precision_score(truth, scores),
            "three": lambda: three(scores, truth),
            "everything": lambda: everything(scores, truth),
            **{name: lambda by=by: ScoreBins.of(scores, truth, by) for name, by in maps.items()},
            "quantile edges, 1 thread": lambda: ScoreBins.of(scores, truth, maps["quantile edges"], 1),
        },
        rounds,
    )
    print("| what | assay | scikit-learn | ratio | bar |\n|---|---|---|---|---|")
    lines = {
        "three": ("exact AUROC, average precision, DeLong interval", ("area",), "1/8"),
        "everything": ("all curve measures with intervals", ("area", "precision"), "1/1"),
        **{name: (f"binned, {name}", ("area",), "1/40") for name in (*maps, "quantile edges, 1 thread")},
    }
    told = {"area": "roc_auc_score", "precision": "average_precision_score"}
    for name, (what, peers, bar) in lines.items():
        theirs, ratio = took[name].beside(*(took[peer] for peer in peers))
        named = " and ".join(told[peer] for peer in peers)
        print(f"| {rows:,} float64, {what} | {took[name].clock:.3f} s | {theirs} ({named}) | {ratio} | {bar} |")
    print("\n| scores | map | bins held | AUROC bracket | of its standard error | bar |\n|---|---|---|---|---|---|")
    for kind, (held, y) in data.items():
        table = Scores.binary(held, y).one_vs_rest(1)
        error, exact = delong_variance(table) ** 0.5, parse("auroc")(table).value
        fitting = {**maps, "quantile edges": BinMap.quantile(held[: 1 << 20])}
        if not (held.min() >= 0 and held.max() <= 1):
            del fitting["probability map"]
        for name, by in fitting.items():
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
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--classes", type=int, help="brackets of so many classes instead")
    given = parser.parse_args()
    if given.classes:
        of_classes(given.rows, given.classes)
    else:
        main(given.rows, given.rounds)
