# SPDX-License-Identifier: Apache-2.0
"""Speed of `assay.assess` on scores, side by side with scikit-learn in one process.

    python bench/scores.py [--rows 10000000] [--rounds 3] [--file-rows 20000000]

Every time is that of the call a user makes, read to the interval. The first call in a process is stated as cold; the
best of the following ones as warm. All take turns: what others on the machine do can only add to a time.
Ratios are what counts; times belong to the machine they were taken on.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TWO = ("auroc", "average_precision")


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds on the clock and of processor time."""

    clock: float
    processor: float

    def ratio(self, peer: Took) -> str:
        """How this compares with a peer."""
        return f"1/{peer.clock / self.clock:.1f} (1/{peer.processor / self.processor:.1f} of processor time)"


def timed(work: Callable[[], object]) -> Took:
    """One run."""
    gc.collect()
    start, used = time.perf_counter(), time.process_time()
    work()
    return Took(time.perf_counter() - start, time.process_time() - used)


def best(runs: list[Took]) -> Took:
    """The shortest clock time and the least processor time."""
    return Took(min(run.clock for run in runs), min(run.processor for run in runs))


def rows_of(rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Smooth scores, their truth, and predictions at one half."""
    rng = np.random.default_rng(0)
    truth = rng.random(rows) < 0.3
    scores = 1 / (1 + np.exp(-rng.normal(size=rows) - truth))
    return scores, truth.astype(np.int8), (scores >= 0.5).astype(np.int8)


def arrays(rows: int, rounds: int) -> None:
    """Scores in arrays, against roc_auc_score on the same arrays."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    scores, truth, predicted = rows_of(rows)
    found: dict[str, tuple[float | None, ...]] = {}

    def assess() -> None:
        import assay

        a = assay.assess(truth=truth, score=scores, predicted=predicted, positive=1, measures=list(TWO))
        found.update({name: (a[name].value, a[name].low, a[name].high) for name in TWO})

    cold, peer = [timed(assess)], [timed(lambda: roc_auc_score(truth, scores))]
    warm = []
    for _ in range(rounds):
        warm.append(timed(assess))
        peer.append(timed(lambda: roc_auc_score(truth, scores)))
    print("| call | assay | roc_auc_score | ratio | bar |\n|---|---|---|---|---|")
    theirs = best(peer)
    for name, took in (("cold", best(cold)), ("warm", best(warm))):
        told = f"{took.clock:.3f} s ({took.processor:.3f} s of processor time)"
        print(f"| {rows:,} scores in arrays, {name} | {told} | {theirs.clock:.3f} s | {took.ratio(theirs)} | 1/6 |")
    area, precision = roc_auc_score(truth, scores), average_precision_score(truth, scores)
    print(f"\nAUROC differs by {abs(found['auroc'][0] - area):.1e} (bar 1e-10),", end=" ")  # type: ignore[operator]
    print(f"average precision by {abs(found['average_precision'][0] - precision):.1e} (bar 1e-9).")  # type: ignore[operator]


def files(rows: int, rounds: int) -> None:
    """A Parquet file of more distinct scores than are kept with all digits, against a plain group-by of even bins."""
    import duckdb

    import assay

    scores, truth, predicted = rows_of(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"y": truth, "p": predicted, "s": scores}), path)

        def assess() -> None:
            a = assay.assess(data=path, truth="y", predicted="p", score="s", positive=1, measures=list(TWO))
            _ = [(a[name].value, a[name].low) for name in TWO]

        def plain() -> None:
            query = f"SELECT y, floor(s * 65536), count(*) FROM '{path}' GROUP BY ALL"  # noqa: S608  a path of ours
            duckdb.sql(query).fetchnumpy()

        runs = [(timed(assess), timed(plain)) for _ in range(rounds + 1)]
    mine, theirs = (best([run[side] for run in runs]) for side in (0, 1))
    print("\n| call | assay | group-by of 65,536 even bins | ratio |\n|---|---|---|---|")
    print(
        f"| {rows:,} scores in a file | {mine.clock:.3f} s | {theirs.clock:.3f} s | {mine.clock / theirs.clock:.1f} |"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--file-rows", type=int, default=20_000_000)
    given = parser.parse_args()
    arrays(given.rows, given.rounds)
    if given.file_rows:
        files(given.file_rows, given.rounds)
