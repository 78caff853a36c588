# SPDX-License-Identifier: Apache-2.0
"""Counting on Spark through assay, side by side with the same query written by hand, in one session.

    python bench/spark.py [--rows 10_000_000] [--master local[2]] [--rounds 9]

The two take turns, and who begins changes every round, so that a warm cache helps both. The ratio is what counts.
The bar is 1.3. By hand on a larger machine: --rows 100_000_000 --master spark://host:7077 --folder /shared/rows.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

BAR = 1.3
PART = 5_000_000
CLASSES = 10


def write_rows(folder: Path, rows: int) -> None:
    """Parquet files of labels as numbers and as text, with a group and a few weights."""
    import polars as pl

    folder.mkdir(parents=True, exist_ok=True)
    for part, start in enumerate(range(0, rows, PART)):
        path = folder / f"part-{part:03}.parquet"
        if path.exists():
            continue
        rng, size = np.random.default_rng(part), min(PART, rows - start)
        truth = rng.integers(0, CLASSES, size, dtype=np.int8)
        predicted = np.where(rng.random(size) < 0.8, truth, rng.integers(0, CLASSES, size, dtype=np.int8))
        names = pl.Series([f"class {number:02}" for number in range(CLASSES)])
        pl.DataFrame(
            {
                "y": truth,
                "p": predicted,
                "y_text": names[truth],
                "p_text": names[predicted],
                "g": pl.Series(list("abcdefgh"))[rng.integers(0, 8, size)],
                "w": rng.integers(1, 9, size) / 8,
            }
        ).write_parquet(path)


def jobs(frame: Any) -> Iterator[tuple[str, Callable[[], int], Callable[[], int]]]:  # noqa: ANN401
    """Each job twice: through assay, and by hand; both hand back how many rows they counted."""
    import assay
    from assay.rows.opening import Roles, open_source
    from assay.tally.counting import count

    def ours(**roles: Any) -> Callable[[], int]:  # noqa: ANN401
        return lambda: count(open_source(frame, Roles(**roles))).rows

    def by_hand(*keys: str) -> Callable[[], int]:
        return lambda: sum(row["count"] for row in frame.groupBy(*keys).count().collect())

    def whole(**roles: Any) -> Callable[[], int]:  # noqa: ANN401
        return lambda: assay.assess(data=frame, **roles).census.read

    yield "labels, all measures with intervals", whole(truth="y", predicted="p"), by_hand("y", "p")
    yield "labels", ours(truth="y", predicted="p"), by_hand("y", "p")
    yield "labels as text", ours(truth="y_text", predicted="p_text"), by_hand("y_text", "p_text")
    yield "labels and groups", ours(truth="y", predicted="p", group={"g": "g"}), by_hand("g", "y", "p")
    yield "labels and weights", ours(truth="y", predicted="p", weight="w"), by_hand("y", "p", "w")


def turns(ours: Callable[[], int], by_hand: Callable[[], int], rounds: int, rows: int) -> tuple[float, float]:
    """The best time of each, in seconds: what others on the machine do can only add to it."""
    times: dict[Callable[[], int], list[float]] = {ours: [], by_hand: []}
    for number in range(rounds + 1):
        for work in (ours, by_hand) if number % 2 else (by_hand, ours):
            began = time.perf_counter()
            if work() != rows:
                sys.exit("not every row was counted")
            if number:  # the first round warms up
                times[work].append(time.perf_counter() - began)
    return min(times[ours]), min(times[by_hand])


@contextmanager
def session(master: str) -> Iterator[Any]:
    """One quiet session."""
    from pyspark.sql import SparkSession

    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    if master.startswith("local"):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        settings["spark.driver.memory"] = "2g"
    found = SparkSession.builder.master(master).appName("assay bench").config(map=settings).getOrCreate()
    try:
        yield found
    finally:
        found.stop()


def main() -> int:
    """Print the table; fail if a ratio is above the bar."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", type=Path, help="where the rows are kept; a temporary folder if not given")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as temporary, session(given.master) as spark:
        folder = (given.folder or Path(temporary)) / f"rows-{given.rows}"
        write_rows(folder, given.rows)
        frame = spark.read.parquet(str(folder))
        print(f"{given.rows:,} rows, {given.master}, Spark {spark.version}, best of {given.rounds} rounds\n")
        print("| count | assay | by hand | ratio |\n|---|---|---|---|")
        worst = 0.0
        for name, ours, by_hand in jobs(frame):
            mine, theirs = turns(ours, by_hand, given.rounds, given.rows)
            worst = max(worst, mine / theirs)
            print(f"| {name} | {mine:.3f} s | {theirs:.3f} s | {mine / theirs:.2f} |", flush=True)
    print(f"\nworst ratio {worst:.2f}, bar {BAR}")
    return int(worst > BAR)


if __name__ == "__main__":
    sys.exit(main())
