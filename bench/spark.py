# SPDX-License-Identifier: Apache-2.0
"""Counting on Spark through assay, side by side with the same query written by hand, in one session.

    python bench/spark.py [--rows 10_000_000] [--master local[2]] [--rounds 9] [--only scores groups]

The two take turns, and who begins changes every round, so that a warm cache helps both. The ratio is what counts: that
of the medians, and between which ends the ratios of single rounds lie. The bar is 1.3. Scores are rounded
by hand as assay rounds them, and the cells are compared. On a larger machine:
--rows 100_000_000 --master spark://host:7077 --folder /shared/rows.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

BAR = 1.3
PART = 5_000_000
CLASSES = 10


def write_rows(folder: Path, rows: int) -> None:
    """Parquet files of labels as numbers and as text, with a group, a few weights, and probabilities, all distinct."""
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
                "ill": rng.integers(0, 2, size, dtype=np.int8),
                "chance": 1 / (1 + np.exp(-3 * rng.normal(size=size))),
            }
        ).write_parquet(path)


def rounded(frame: Any) -> Any:  # noqa: ANN401
    """Scores rounded to 13 significant bits and counted, in Spark's SQL."""
    from pyspark.sql import functions as F  # noqa: N812  as everybody calls it

    def nearest(number: str) -> str:
        product = f"{number} * {float((1 << 40) + 1)!r}D"
        return f"({product} - ({product} - {number}))"

    below, above = nearest("chance"), nearest("(1D - chance)")
    score = f"CASE WHEN chance >= 0.5D THEN 1D - {above} ELSE {below} END AS b"
    return frame.selectExpr("ill", score).groupBy("ill", "b").agg(F.count(F.lit(1)).alias("n"))


def jobs(frame: Any, rows: int) -> Iterator[tuple[str, Callable[[], int], Callable[[], int]]]:  # noqa: ANN401
    """Each job twice: through assay, and by hand; both hand back how many rows they counted."""
    import assay
    from assay.rows.limits import EXACT
    from assay.rows.open import open_source
    from assay.rows.score_columns import score_columns
    from assay.rows.scored_source import sound
    from assay.rows.source import Roles
    from assay.tally.labels.array_counts import count
    from assay.tally.scores.score_aggregation import count_scores
    from assay.tally.scores.score_tally import Wanted

    def ours(**roles: Any) -> Callable[[], int]:  # noqa: ANN401
        return lambda: count(open_source(frame, Roles(**roles))).rows

    def by_hand(*keys: str) -> Callable[[], int]:
        return lambda: sum(row["count"] for row in frame.groupBy(*keys).count().collect())

    def whole(**roles: Any) -> Callable[[], int]:  # noqa: ANN401
        return lambda: assay.assess(data=frame, **roles).census.read

    def scored() -> int:
        source = open_source(frame, Roles(truth="ill", predicted="ill", score=score_columns("chance")))
        source, _ = sound(source, "any", single=True, drop=False)
        sound(source, "probability", single=True, drop=False)
        wanted = Wanted(labels=(0, 1), scored=(1,), columns=(0,), probability=True, exact=min(EXACT, rows // 4))
        cells["assay"] = count_scores(source, wanted).whole
        return cells["assay"].rows

    def scored_by_hand() -> int:
        cells["by hand"] = rounded(frame).collect()
        return sum(row.n for row in cells["by hand"])

    cells: dict[str, Any] = {}
    yield "labels, all measures with intervals", whole(truth="y", predicted="p"), by_hand("y", "p")
    yield "labels", ours(truth="y", predicted="p"), by_hand("y", "p")
    yield "labels as text", ours(truth="y_text", predicted="p_text"), by_hand("y_text", "p_text")
    yield "labels and groups", ours(truth="y", predicted="p", group={"g": "g"}), by_hand("g", "y", "p")
    yield "labels and weights", ours(truth="y", predicted="p", weight="w"), by_hand("y", "p", "w")
    yield "scores, rounded", scored, scored_by_hand
    if cells:
        table = cells["assay"].one_vs_rest(1)
        sides = enumerate((table.neg, table.pos))
        mine = {
            (b, side): n
            for side, counts in sides
            for b, n in zip(table.score.tolist(), counts.tolist(), strict=True)
            if n
        }
        if mine != {(row.b, row.ill): row.n for row in cells["by hand"]}:
            sys.exit("the cells of the scores differ")


def turns(ours: Callable[[], int], by_hand: Callable[[], int], rounds: int, rows: int) -> list[tuple[float, float]]:
    """The seconds of each in every round."""
    times: list[tuple[float, float]] = []
    for number in range(rounds + 1):
        took: dict[Callable[[], int], float] = {}
        for work in (ours, by_hand) if number % 2 else (by_hand, ours):
            began = time.perf_counter()
            if work() != rows:
                sys.exit("not every row was counted")
            took[work] = time.perf_counter() - began
        if number:  # the first round warms up
            times.append((took[ours], took[by_hand]))
    return times


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
    parser.add_argument("--only", nargs="*", default=[], help="words in the names of the rows to run")
    parser.add_argument("--folder", type=Path, help="where the rows are kept; a temporary folder if not given")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as temporary, session(given.master) as spark:
        folder = (given.folder or Path(temporary)) / f"rows-{given.rows}"
        write_rows(folder, given.rows)
        frame = spark.read.parquet(str(folder))
        print(f"{given.rows:,} rows, {given.master}, Spark {spark.version}, medians of {given.rounds} rounds\n")
        print("| count | assay | by hand | ratio | of single rounds |\n|---|---|---|---|---|")
        worst = 0.0
        for name, ours, by_hand in jobs(frame, given.rows):
            if given.only and not any(word in name for word in given.only):
                continue
            times = turns(ours, by_hand, given.rounds, given.rows)
            mine, theirs = (median(side) for side in zip(*times, strict=True))
            single = sorted(one / other for one, other in times)
            worst = max(worst, mine / theirs)
            print(
                f"| {name} | {mine:.3f} s | {theirs:.3f} s | {mine / theirs:.2f} | {single[0]:.2f} to {single[-1]:.2f} |",
                flush=True,
            )
    print(f"\nworst ratio {worst:.2f}, bar {BAR}")
    return int(worst > BAR)


if __name__ == "__main__":
    sys.exit(main())
