# SPDX-License-Identifier: Apache-2.0
"""Two models in two Parquet paths, matched by id on a Spark cluster of two workers: time and memory of the driver.

    python bench/sparkcompare.py [--rows 1_000_000] [--ids number text] [--only labels scores subject weight]

A real standalone cluster is started on this machine, with one core a worker. Each row of the table is a driver of its
own, in which assay and the same join written by hand take turns after a round of few rows that warms up. By hand
nothing is checked: ids may be doubled or lost, truths may differ, and no digest is taken. Processor time is that of
the driver and of both executors together. Memory is the peak of the driver while assay works: of Python, and of Java,
whose heap is held to what `spark.driver.memory` allows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from tests.engines.spark.cluster import APPLICATION, HOSTS, Cluster

MAKE = """
COPY (SELECT {id} AS id, CAST(hash(i) % 2 AS TINYINT) AS truth,
  CAST(CASE WHEN hash(i * {salt}) % 100 < 85 THEN hash(i) % 2 ELSE 1 - hash(i) % 2 END AS TINYINT) AS label,
  (hash(i) % 2) * 0.5 + (hash(i * {salt} + 1) % 1000003) / 1000003.0 AS score, i // 10 AS subject,
  (hash(i + 7) % 8 + 1) / 8 AS weight
  FROM range({rows}) AS t(i) ORDER BY hash(i + {salt})) TO '{path}' (FORMAT parquet)
"""
IDS = {"number": "i", "text": "printf('case-%09d', i)"}
WARM = 200_000
KINDS = ("labels", "scores", "subject", "weight")
SETTINGS = {
    **APPLICATION,
    "spark.executor.memory": "2g",
    "spark.driver.memory": "1g",  # Spark's own default
    "spark.sql.shuffle.partitions": "200",  # the same
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}


def peak(process: int | str) -> float:
    """The most memory that a process held since it was last forgotten, in MB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def forget(process: int | str) -> None:
    """Take the present memory of a process for its peak."""
    Path(f"/proc/{process}/clear_refs").write_text("5")


def by_hand(frames: dict[str, Any], kind: str) -> Callable[[], int]:
    """The join of the two, counted by truth and labels, or brought here with the columns that are compared."""
    one, two = (frame.toDF(*(f"{name}_{of}" for name in frame.columns)) for of, frame in frames.items())
    both = one.join(two, one["id_A"] == two["id_B"])
    cells = ["truth_A", "label_A", "label_B"]

    def counted(*more: str) -> int:
        return sum(row["count"] for row in both.groupBy(*cells, *more).count().collect())

    def brought(*columns: str) -> int:
        return len(both.select(*columns).toArrow())

    works = {
        "labels": counted,
        "scores": lambda: min(counted(), brought("truth_A", "score_A", "score_B")),
        "subject": lambda: min(counted(), brought(*cells, "subject_A")),
        "weight": lambda: min(counted(), brought(*cells, "weight_A")),
    }
    return works[kind]


def ours(frames: dict[str, Any], kind: str) -> Callable[[], int]:
    """The same through assay, with every check and the digest of the rows."""
    from assay.assess.compare.joined_models import read_joined
    from assay.assess.compare.model_columns import Given

    more = {"scores": {"score": "score"}, "subject": {"subject": "subject"}, "weight": {"weight": "weight"}}

    def work() -> int:
        found = read_joined(frames, Given(truth="truth", id="id", predicted="label", **more.get(kind, {})))
        if not found.proof:
            sys.exit("there is no digest")
        return sum((found.cells or {}).values())

    return work


def processor(sessions: list[int]) -> float:
    """Seconds that this driver, and everything that the workers started, have worked."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # gone in between
            continue
        if int(path.parent.name) == os.getpid() or int(fields[1]) == os.getpid() or int(fields[3]) in sessions:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def driver(address: str, workers: list[int], paths: list[list[str]], kind: str, rows: int, rounds: int) -> Any:  # noqa: ANN401, PLR0917
    """What one driver measures: seconds of both in every round, and the peaks of its memory."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master(address).appName("assay bench").config(map=SETTINGS).getOrCreate()
    java = spark._jvm.java.lang.ProcessHandle.current().pid()  # noqa: SLF001  no other way
    warm, frames = ({name: spark.read.parquet(path) for name, path in zip("AB", pair, strict=True)} for pair in paths)
    for work in (by_hand(warm, kind), ours(warm, kind)):
        work()
    works = {"assay": ours(frames, kind), "by hand": by_hand(frames, kind)}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    peaks: dict[str, float] = dict.fromkeys(("python", "java"), 0.0)
    for number in range(rounds):
        for name in sorted(works, reverse=number % 2 == 0):
            for process in ("self", java):
                forget(process)
            began, busy = time.perf_counter(), processor(workers)
            if works[name]() != rows:
                sys.exit("not every row was counted")
            times[name].append((time.perf_counter() - began, processor(workers) - busy))
            if name == "assay":
                peaks = {"python": max(peaks["python"], peak("self")), "java": max(peaks["java"], peak(java))}
    spark.stop()
    return {"times": times, "peaks": peaks}


def measured(*asked: Any) -> Any:  # noqa: ANN401
    """The same in a process of its own."""
    line = [sys.executable, __file__, "--driver", json.dumps(asked)]
    return json.loads(subprocess.run(line, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()[-1])


def told(found: Any) -> str:  # noqa: ANN401
    """What was measured, as cells of the table."""
    mine, theirs = ([median(side) for side in zip(*found["times"][name], strict=True)] for name in ("assay", "by hand"))
    times = [f"{a:.1f} s | {b:.1f} s | {a / b:.2f}" for a, b in zip(mine, theirs, strict=True)]
    return " | ".join([*times, *(f"{found['peaks'][side]:,.0f} MB" for side in ("python", "java"))])


def written(folder: Path, rows: int, ids: str) -> list[str]:
    """The paths of both models."""
    paths = [str(folder / f"{ids}-{rows}-{salt}.parquet") for salt in (11, 23)]
    for path, salt in zip(paths, (11, 23), strict=True):
        if not Path(path).exists():
            query = MAKE.format(id=IDS[ids], rows=rows, salt=salt, path=path)
            subprocess.run(
                [sys.executable, "-c", f"import duckdb\nduckdb.sql({query!r})"], check=True, stdout=subprocess.DEVNULL
            )
    return paths


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000])
    parser.add_argument("--ids", nargs="*", choices=IDS, default=["number"])
    parser.add_argument("--only", nargs="*", choices=KINDS, default=KINDS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the rows are kept; a temporary folder if not given")
    parser.add_argument("--driver", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.driver:
        print(json.dumps(driver(*json.loads(given.driver))))
        return
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as temporary:
        cluster = Cluster(Path(tempfile.mkdtemp(dir=temporary)), java="")
        folder = given.folder or Path(temporary)
        try:
            cluster.start_workers()
            print(f"{len(HOSTS)} workers of one core, medians of {given.rounds} rounds\n", flush=True)
            workers = [cluster.processes[name].pid for name in HOSTS]
            print("| ids, rows | compared | assay | by hand | ratio | processor | by hand | ratio | Python | Java |")
            print("|---|---|---|---|---|---|---|---|---|---|")
            for rows in given.rows:
                for ids in given.ids:
                    paths = [written(folder, size, ids) for size in (WARM, rows)]
                    for kind in given.only:
                        found = measured(cluster.address, workers, paths, kind, rows, given.rounds)
                        print(f"| {ids}, {rows:,} | {kind} | {told(found)} |", flush=True)
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
