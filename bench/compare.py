# SPDX-License-Identifier: Apache-2.0
"""Speed of comparisons, side by side with peers in one process.

    python bench/compare.py [--rows 1000000] [--replicates 10000] [--sampled 10]

DeLong's test for two models against plain numpy midranks, against MLstatkit and against pROC in R (where they are
installed); a paired bootstrap of F1 and MCC differences on joint cells against resampling rows with scikit-learn, of
which only some replicates are run and the rest is extrapolated. Of pROC only the call of `roc.test` is timed, inside R,
once from the columns to the p value and once with the two curves made before, which is set against assay with its tally
made before. Ratios are what counts; times belong to the machine they were taken on.
"""

from __future__ import annotations

import argparse
import gc
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

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


def alternating(ours: Callable[[], object], theirs: Callable[[], object], repeats: int) -> tuple[float, float]:
    """The shortest of some runs of both, taken in turn, so that a busy machine is busy for both."""
    mine, peer = [], []
    for _ in range(repeats):
        mine.append(best(ours, 1))
        peer.append(best(theirs, 1))
    return min(mine), min(peer)


def line(name: str, ours: float, theirs: float, peer: str, bar: str) -> None:
    """One row of the table."""
    print(f"| {name} | {ours:.3f} s | {theirs:.3f} s ({peer}) | 1/{theirs / ours:.1f} | {bar} |", flush=True)


def midranks(x: np.ndarray) -> np.ndarray:
    """Midranks as the fast DeLong papers write them, without a Python loop."""
    order = np.argsort(x)
    ordered = x[order]
    _, start, times = np.unique(ordered, return_index=True, return_counts=True)
    found = np.empty(len(x))
    found[order] = np.repeat(start + (times - 1) / 2 + 1, times)
    return found


def plain(y: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """DeLong's z by Sun and Xu, three midrank passes a model."""
    m, n = int(y.sum()), int((~y).sum())
    above, below, areas = [], [], []
    for s in (a, b):
        x, z = s[y], s[~y]
        pooled = midranks(np.concatenate([x, z]))
        first, second = midranks(x), midranks(z)
        above.append((pooled[:m] - first) / n)
        below.append(1 - (pooled[m:] - second) / m)
        areas.append(pooled[:m].sum() / m / n - (m + 1) / 2 / n)
    s10, s01 = np.cov(above), np.cov(below)
    s = s10 / m + s01 / n
    return float((areas[0] - areas[1]) / np.sqrt(s[0, 0] + s[1, 1] - 2 * s[0, 1]))


PROC = """
suppressMessages(library(pROC))
given <- commandArgs(TRUE)
n <- as.integer(given[2])
read <- function(name) readBin(file.path(given[1], name), "double", n)
y <- read("y")
x <- read("a")
z <- read("b")
from_rows <- function() roc.test(y, x, z, levels = c(0, 1), direction = "<", method = "delong", paired = TRUE)
curves <- lapply(list(x, z), function(one) roc(y, one, levels = c(0, 1), direction = "<"))
from_curves <- function() roc.test(curves[[1]], curves[[2]], method = "delong", paired = TRUE)
best <- function(test) min(sapply(seq_len(as.integer(given[3])), function(i) system.time(test())[["elapsed"]]))
cat(sprintf("%.6f %.6f %.17g\n", best(from_rows), best(from_curves), from_curves()$statistic))
"""


def proc(y: np.ndarray, a: np.ndarray, b: np.ndarray, repeats: int) -> tuple[float, float, float] | None:
    """Seconds of pROC's test from the rows and from its curves, and its z; None where R or pROC is missing."""
    command = shutil.which("Rscript")
    if command is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        for name, column in (("y", y), ("a", a), ("b", b)):
            column.astype("<f8").tofile(Path(folder, name))
        script = Path(folder, "test.R")
        script.write_text(PROC)
        done = subprocess.run(
            [command, str(script), folder, str(len(y)), str(repeats)], capture_output=True, text=True, check=False
        )
    if done.returncode:
        return None
    rows, curves, z = map(float, done.stdout.split())
    return rows, curves, z


def delong(rows: int, repeats: int) -> None:
    """Two models on the same rows."""
    from assay.inference.tests.delong import delong as test
    from assay.tally.paired.joint_scores import PairedScores

    rng = np.random.default_rng(1)
    y = rng.random(rows) < 0.5
    a = rng.normal(size=rows) + y
    b = a + rng.normal(size=rows)
    for name, round_ in (("distinct", None), ("tied", 3)):
        x, z = (a, b) if round_ is None else (np.round(a, round_), np.round(b, round_))

        def ours(x: np.ndarray = x, z: np.ndarray = z) -> float:
            return float(test(PairedScores.of(y, {"A": x, "B": z})).statistic)  # type: ignore[arg-type]

        def midranked(x: np.ndarray = x, z: np.ndarray = z) -> float:
            return plain(y, x, z)

        what = f"DeLong, {rows:,} {name} scores"
        assert abs(ours() / midranked() - 1) < 1e-9  # noqa: S101  a bench of two different numbers is none
        line(what, *alternating(ours, midranked, repeats), "numpy midranks", "1/2")
        if find_spec("MLstatkit"):
            from MLstatkit import Delong_test

            line(
                what,
                best(ours, repeats),
                best(lambda x=x, z=z: Delong_test(y.astype(int), x, z), 1),
                "MLstatkit",
                "1/5",
            )
        peer = proc(y, x, z, 3)
        if peer is None:
            print(f"| {what} | | R with pROC is not installed | | 1/5 |")
            continue
        assert abs(ours() / peer[2] - 1) < 1e-9  # noqa: S101
        line(what, best(ours, repeats), peer[0], "pROC", "1/5")
        tally = PairedScores.of(y, {"A": x, "B": z})

        def again(tally: PairedScores = tally) -> float:
            tally.shared.clear()  # the areas of a tally are kept once they are known
            return test(tally)

        line(f"{what}, tally and curves made", best(again, repeats), peer[1], "pROC", "none")


def bootstrap(rows: int, replicates: int, sampled: int, repeats: int) -> None:
    """Differences of F1 and of MCC with intervals, from labels."""
    from sklearn.metrics import f1_score, matthews_corrcoef

    import assay

    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, rows)
    a, b = (np.where(rng.random(rows) < share, y, 1 - y) for share in (0.9, 0.89))

    def ours() -> object:
        from assay.inference.units.permutation_and_bootstrap import paired_bootstrap

        t = assay.compare(
            truth=y, predicted={"A": a, "B": b}, measures=[], intervals=assay.IntervalSettings(draws=100)
        ).paired
        return [paired_bootstrap(t, measure=m, positive=1, draws=replicates) for m in ("f1", "matthews_corrcoef")]  # type: ignore[arg-type]

    def theirs() -> None:
        for _ in range(sampled):
            at = rng.integers(0, rows, rows)
            for measure in (f1_score, matthews_corrcoef):
                measure(y[at], a[at])
                measure(y[at], b[at])

    mine = best(ours, repeats)
    peer = best(theirs, 1) / sampled * replicates
    line(
        f"{replicates:,} paired draws, F1 and MCC, {rows:,} rows, counting included",
        mine,
        peer,
        f"scikit-learn, from {sampled} replicates",
        "1/100",
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--replicates", type=int, default=10_000)
    parser.add_argument("--sampled", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    print("| what | assay | peer | ratio | bar |\n|---|---|---|---|---|")
    delong(given.rows, given.repeats)
    bootstrap(given.rows, given.replicates, given.sampled, given.repeats)


if __name__ == "__main__":
    main()
