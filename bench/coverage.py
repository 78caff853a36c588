# SPDX-License-Identifier: Apache-2.0
"""How often intervals hold the truth: tables drawn from known truths, our default beside the ways of the peers.

    python bench/coverage.py [--classes 2 3 10 50] [--tables 1000] [--measures NAME ...] [--processes 2] [--quick]

Figures are kept in bench/coverage.json, a part at a time; docs/why/coverage.md is written from all of them.
A quick run is a rehearsal: it prints its figures and writes nothing.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import multiprocessing
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from coverage_seeds import steadiness
from coverage_truths import (
    Ends,
    Truth,
    Z,
    cells_of,
    keep_likely,
    log_chance,
    margins,
    takahashi_binary,
    takahashi_macro,
    truths,
)
from scipy.stats import binom

from assay.core.values import Number, Share
from assay.inference import resampling
from assay.inference.estimates import Interval
from assay.inference.intervals.functions_of_counts import Tables
from assay.inference.intervals.interval_choice import Uncertainty, Wanted
from assay.inference.intervals.proportion import of_shares
from assay.inference.intervals.smooth_functions import Influence, Ordered, bca, delta, table_influence, two_classes
from assay.inference.resampling import CellDraws, TableDraws, stream
from assay.measures import REGISTRY, Measure
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.one_vs_rest import Binary

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "bench" / "coverage.json"
LEVEL, SEED, DRAWS = 0.95, 20220, 2000
SIZES = (30, 50, 200, 1000)
BINARY = (
    "accuracy",
    "f1",
    "f2",
    "matthews_corrcoef",
    "cohen_kappa",
    "f1_macro",
    "balanced_accuracy",
    "precision_macro",
    "youden_index",
    "likelihood_ratio_positive",
    "likelihood_ratio_negative",
    "total_variation",
)
MANY = (
    "f1_macro",
    "balanced_accuracy",
    "precision_macro",
    "f1_weighted",
    "cohen_kappa",
    "matthews_corrcoef",
    "jaccard_macro",
    "total_variation",
)
METHODS = ("ours", "percentile", "bca", "delta", "takahashi", "wald", "dirichlet + 1/2")
TOGETHER = 128
SHIPPED, SHORT = resampling.STAGES, (1,)
"""All draws as shipped; or the least number only, which leaves each bound 2 to 4 % of the width less steady."""


class Score:
    """What happened to the intervals of one measure by one method, weighted by the chance of each table."""

    def __init__(self, truth: float) -> None:
        self.truth, self.seen, self.left, self.right, self.none, self.open, self.width = (
            truth,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        )

    def add(self, ends: Ends, weight: np.ndarray) -> None:
        """Intervals of tables that have a value; NaN ends where the method gives none, which counts as a miss."""
        low, high = ends
        with np.errstate(invalid="ignore"):  # a peer may put both ends at infinity
            width = high - low
        finite = np.isfinite(width)
        self.seen += weight.sum()
        self.none += weight[np.isnan(low) | np.isnan(high)].sum()
        self.left += weight[low > self.truth + 1e-12].sum()
        self.right += weight[high < self.truth - 1e-12].sum()
        self.open += weight[~finite].sum()
        self.width += (weight[finite] * width[finite]).sum()

    def figures(self, drawn: float) -> dict[str, float | None]:
        """In percent, and the mean width of the closed intervals."""
        if not self.seen:
            return {"undefined": 100.0}
        left, right, none = (100 * x / self.seen for x in (self.left, self.right, self.none))
        closed = self.seen - self.open
        return {
            "coverage": round(100 - left - right - none, 2),
            "left": round(left, 2),
            "right": round(right, 2),
            "none": round(none, 2),
            "open": round(100 * self.open / self.seen, 2),
            "width": float(f"{self.width / closed:.4g}") if closed else math.inf,
            "undefined": round(100 * (1 - self.seen / drawn), 2),
        }


def ends_of(found: list[Interval | str]) -> Ends:
    """Intervals as two columns; NaN where there is a reason instead."""
    pairs = [(f.low, f.high) if isinstance(f, Interval) else (math.nan, math.nan) for f in found]
    low, high = np.array(pairs).T
    return low, high


@dataclass(frozen=True)
class Stack:
    """Some 2 x 2 tables, as counts tp fp fn tn, with what makes intervals of them."""

    counts: np.ndarray
    ours: Tables
    draws: TableDraws


def binary_ends(measure: Measure, stack: Stack, kept: np.ndarray, values: np.ndarray) -> dict[str, Ends]:
    """The intervals of those of the tables that have a value, by every method."""

    def at(table: Binary) -> np.ndarray:
        return measure.values(table if measure.takes is Binary else two_classes(table, (0, 1), 1))

    counts, value = stack.counts[kept], values[kept]
    tp, fp, fn, tn = counts.T
    with np.errstate(all="ignore"):
        ordered = Ordered(at(stack.draws.of(DRAWS, kept)), LEVEL)
        slopes = table_influence(at, counts)
        found = {
            "percentile": (ordered.low, ordered.high),
            "bca": bca(value, ordered, np.nan_to_num(slopes, posinf=0, neginf=0), counts, LEVEL),
            "delta": delta(value, slopes, counts, LEVEL),
        }
        if measure.name == "f1":
            found["takahashi"] = takahashi_binary(tp, fp, fn, counts.sum(axis=1))
        if measure.name == "accuracy":
            n = counts.sum(axis=1)
            reach = Z * np.sqrt(value * (1 - value) / n)
            return {**found, "wald": (value - reach, value + reach), "ours": of_shares(tp + tn, n, LEVEL, "wilson")}
    results = [Number(np.float64(v)) for v in value]  # type: ignore[arg-type]
    return {**found, "ours": ends_of(stack.ours.intervals(measure, results, kept))}


def binary_part(task: tuple[int, list[Truth], int, list[str]]) -> list[dict]:
    """All figures of 2 x 2 tables of one size: every table for few rows, drawn ones for many."""
    n, chosen, drawn, wanted = task
    names = [name for name in BINARY[n > 50 :] if name in wanted]
    resampling.STAGES = SHIPPED  # type: ignore[misc]
    if n <= 50:
        three = np.array([t for t in itertools.product(range(n + 1), repeat=3) if sum(t) <= n])
        tables = np.column_stack([three, n - three.sum(axis=1)]).astype(float)
        logs = [log_chance(tables, t) for t in chosen]
        tables, weights = keep_likely(tables, np.exp(logs))
    else:
        rng = stream(SEED, n)
        lots = [rng.multinomial(n, cells_of(t), size=drawn) for t in chosen]
        tables, back = np.unique(np.concatenate(lots), axis=0, return_inverse=True)
        weights = np.stack(
            [np.bincount(part, minlength=len(tables)) / drawn for part in np.ravel(back).reshape(len(chosen), drawn)]
        )
        tables = tables.astype(float)
    scores: dict[tuple[int, str, str], Score] = {}
    known = {name: [truth.value(REGISTRY.find(name)) for truth in chosen] for name in names}
    for start in range(0, len(tables), TOGETHER):
        part, weight = tables[start : start + TOGETHER], weights[:, start : start + TOGETHER]
        table = Binary(**dict(zip(("tp", "fp", "fn", "tn"), part.T, strict=True)))
        both = two_classes(table, (0, 1), 1)
        stack = Stack(part, Tables(table, Wanted(), (0, 1), 1), TableDraws(table, "multinomial", SEED))
        for name in names:
            measure = REGISTRY.find(name)
            values = measure.values(table if measure.takes is Binary else both)
            hole = np.isnan(values)
            if measure.average == "macro":  # a stack leaves an undefined class out, a single table does not
                hole |= np.isnan(REGISTRY.find(str(measure.base)).values(both.one_vs_rest())).any(axis=-1)
            kept = np.flatnonzero(~hole)
            if not len(kept):
                continue
            for method, ends in binary_ends(measure, stack, kept, values).items():
                for i, value in enumerate(known[name]):
                    scores.setdefault((i, name, method), Score(value)).add(ends, weight[i, kept])
    print(f"K = 2, n = {n}: {len(tables):,} tables", flush=True)
    return [
        {
            "k": 2,
            "truth": chosen[i].name,
            "n": n,
            "measure": name,
            "method": method,
            "tables": None if n <= 50 else drawn,
            **score.figures(float(weights[i].sum())),
        }
        for (i, name, method), score in scores.items()
    ]


def many_part(task: tuple[Truth, int, int, list[str]]) -> list[dict]:
    """All figures of tables of three classes and more, of one truth and size."""
    truth, n, drawn, wanted = task
    resampling.STAGES = SHORT  # type: ignore[misc]
    k, rng = truth.k, stream(SEED, truth.k, n)
    names = [name for name in MANY if name in wanted]
    chosen = [REGISTRY.find(name) for name in names]
    values = {measure.name: truth.value(measure) for measure in chosen}
    scores: dict[tuple[str, str], Score] = {}
    for table in rng.multinomial(n, truth.cells.ravel(), size=drawn).reshape(drawn, k, k):
        rows, columns = np.nonzero(table)
        tally = Confusion.from_codes(tuple(range(k)), rows, columns, table[rows, columns], rows=n)
        exact = tally.multiclass()
        ours, draws, influence = (
            Uncertainty(tally, Wanted(), positive=None),
            CellDraws(tally, "multinomial", SEED),
            Influence(tally),
        )
        blurred = margins(stream(SEED, 1).standard_gamma(table + 0.5, size=(500, k, k))) if k <= 10 else None
        for measure in chosen:
            result = measure(exact)
            if not isinstance(result, (Share, Number)):
                continue
            value = np.array([result.value])
            with np.errstate(all="ignore"):
                slopes, ordered = influence.of(measure), Ordered(draws.values(measure, DRAWS), LEVEL)
                found = {
                    "ours": ends_of([ours.overall(measure, result)]),
                    "percentile": (ordered.low, ordered.high),
                    "bca": bca(value, ordered, slopes, influence.count, LEVEL),
                    "delta": delta(value, slopes, influence.count, LEVEL),
                }
            if blurred is not None:
                middle = Ordered(measure.values(blurred), LEVEL)
                found["dirichlet + 1/2"] = middle.low, middle.high
            if measure.name == "f1_macro":
                found["takahashi"] = takahashi_macro(table.astype(float))
            for method, ends in found.items():
                scores.setdefault((measure.name, method), Score(values[measure.name])).add(ends, np.ones(1))
    print(f"K = {k}, n = {n}, {truth.name}: {drawn:,} tables", flush=True)
    lost = [
        {"k": k, "truth": truth.name, "n": n, "measure": m, "method": "ours", "tables": drawn, "undefined": 100.0}
        for m in names
        if (m, "ours") not in scores
    ]
    return lost + [
        {
            "k": k,
            "truth": truth.name,
            "n": n,
            "measure": name,
            "method": method,
            "tables": drawn,
            **score.figures(drawn),
        }
        for (name, method), score in scores.items()
    ]


def accuracy_part(task: tuple[str, int, list[Truth]]) -> list[dict]:
    """The figures of accuracy, which is a share of the rows: every number of right rows, each with its chance."""
    _, n, chosen = task
    right, measure = np.arange(n + 1.0), REGISTRY.find("accuracy")
    table = Binary(tp=right, fp=0 * right, fn=n - right, tn=0 * right)
    counts = np.column_stack([table.tp, table.fp, table.fn, table.tn])
    stack = Stack(counts, Tables(table, Wanted(), (0, 1), 1), TableDraws(table, "multinomial", SEED))
    found = binary_ends(measure, stack, np.arange(n + 1), measure.values(two_classes(table, (0, 1), 1)))
    figures = []
    for truth in chosen:
        chance = binom.pmf(right, n, np.trace(truth.cells))
        for method, ends in found.items():
            score = Score(truth.value(measure))
            score.add(ends, chance)
            place = {"k": truth.k, "truth": truth.name, "n": n, "measure": "accuracy", "method": method}
            figures.append({**place, "tables": None, **score.figures(float(chance.sum()))})
    print(f"accuracy, n = {n}: every number of right rows", flush=True)
    return figures


def main() -> None:
    """Run what is asked for, keep the figures, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classes", type=int, nargs="*", default=[2, 3, 10, 50], help="numbers of classes to simulate")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES), help="numbers of rows")
    parser.add_argument("--tables", type=int, default=1000, help="tables drawn for each truth and size")
    parser.add_argument("--measures", nargs="*", default=["accuracy", *BINARY, *MANY], help="only these measures")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=40, help="seeds for the Monte Carlo error; 0 leaves it as it is")
    parser.add_argument("--quick", action="store_true", help="a rehearsal: few tables, nothing is written")
    given = parser.parse_args()
    started = time.perf_counter()
    tables, seeds, sizes = (60, 5, [50]) if given.quick else (given.tables, given.seeds, given.sizes)
    tasks: list[tuple] = [(n, truths(2), 4 * tables, given.measures) for n in sizes if 2 in given.classes]
    tasks += [
        ("accuracy", n, [t for k in given.classes for t in truths(k) if k > 2 or n > 50])
        for n in sizes
        if "accuracy" in given.measures
    ]
    tasks += [
        (t, n, max(60, tables if k < 50 else tables // 3), given.measures)
        for k in given.classes
        if k > 2
        for n in sizes
        for t in truths(k)
    ]
    with multiprocessing.get_context("spawn").Pool(given.processes) as pool:
        results = pool.map(work, sorted(tasks, key=cost, reverse=True), chunksize=1)
    figures = [figure for part in results for figure in part]
    kept = {"figures": [], "steadiness": []} if given.quick or not FIGURES.exists() else unpacked(FIGURES.read_text())
    fresh = {(f["k"], f["n"], f["measure"]) for f in figures}
    kept["figures"] = [f for f in kept["figures"] if (f["k"], f["n"], f["measure"]) not in fresh] + figures
    if seeds:
        resampling.STAGES = SHIPPED  # type: ignore[misc]
        kept["steadiness"] = steadiness(seeds, SEED, lambda k: BINARY if k == 2 else MANY)
    from coverage_page import page

    if given.quick:
        print(page(kept))
    else:
        FIGURES.write_text(packed(kept))
        (ROOT / "docs" / "why" / "coverage.md").write_text(page(kept), encoding="utf-8")
    print(f"{time.perf_counter() - started:.0f} s")


def packed(kept: dict[str, list[dict]]) -> str:
    """Figures as columns and rows, one row a line."""
    parts = []
    for name, figures in kept.items():
        columns = list(dict.fromkeys(key for figure in figures for key in figure))
        rows = ",\n".join(json.dumps([figure.get(key) for key in columns], separators=(",", ":")) for figure in figures)
        parts.append(f'"{name}": {{"columns": {json.dumps(columns)}, "rows": [\n{rows}\n]}}')
    return "{" + ",\n".join(parts) + "}\n"


def unpacked(text: str) -> dict[str, list[dict]]:
    """The inverse of `packed`."""
    held = json.loads(text)
    return {
        name: [
            {k: v for k, v in zip(part["columns"], row, strict=True) if v is not None or k == "tables"}
            for row in part["rows"]
        ]
        for name, part in held.items()
    }


def work(task: tuple) -> list[dict]:
    """One task of the pool."""
    if isinstance(task[0], str):
        return accuracy_part(task)
    if not set(BINARY if isinstance(task[0], int) else MANY) & set(task[3]):
        return []
    return binary_part(task) if isinstance(task[0], int) else many_part(task)


def cost(task: tuple) -> float:
    """Longest first."""
    if isinstance(task[0], (int, str)):
        return 1e9
    return task[0].k ** 1.5 * task[1] ** 0.5 * task[2]


if __name__ == "__main__":
    main()
