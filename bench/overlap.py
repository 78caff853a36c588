# SPDX-License-Identifier: Apache-2.0
"""Rows that two data sets share: time, processor time and peak memory, beside plain semi-joins of Polars and DuckDB.

    python bench/overlap.py [--rows 10000000] [--shared 1000] [--only NAME] [--folder DIR]

Two Parquet files are made, of an id and four features (two reals, a whole number, a word), with some rows in common.
Every way runs in a process of its own; the semi-joins compare values as they stand, the others canonical contents.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

FEATURES = ("x1", "x2", "x3", "x4")
WAYS = ("id", "content", "nearly", "near numbers", "duckdb id", "duckdb content", "polars id", "polars content")
MIB = 1024  # kilobytes, which is what Linux counts in


def made(folder: Path, rows: int, shared: int) -> None:
    """Write both files; the last rows of the first are the first of the second."""
    import duckdb

    for name, start in (("a", 0), ("b", rows - shared)):
        duckdb.execute(
            f"COPY (SELECT i AS id, (hash(i) % 1000000007) / 1000.0 AS x1, (hash(i + 1) % 1000)::INTEGER AS x2, "  # noqa: S608
            f"'word' || (hash(i + 2) % 5000) AS x3, (hash(i + 3) % 1000000007) / 7.0 AS x4 "
            f"FROM range({start}, {start + rows}) t(i)) TO '{folder / name}.parquet' (FORMAT PARQUET)"
        )


def ours(folder: Path, way: str) -> int:
    """The controls' own way."""
    from assay.rows.files.formats import Reading
    from assay.tally.data.near_duplicates import near_numbers
    from assay.tally.data.split_counts import SplitRows

    a, b = (SplitRows.of(str(folder / f"{name}.parquet"), reading=Reading()) for name in "ab")
    if way == "near numbers":
        return near_numbers(a, b, {"x1": 1e-5, "x4": 1e-5}, ["x2", "x3"], None).rows
    return a.shared(b, *(("id",) if way == "id" else FEATURES), nearly=way == "nearly").rows


def duckdb_way(folder: Path, way: str) -> int:
    """A semi-join of DuckDB."""
    import duckdb

    columns = ", ".join(("id",) if way == "id" else FEATURES)
    a, b = (f"'{folder / name}.parquet'" for name in "ab")
    found = duckdb.sql(f"SELECT count(*) FROM {a} WHERE ({columns}) IN (SELECT ({columns}) FROM {b})").fetchall()  # noqa: S608
    return int(found[0][0])


def polars_way(folder: Path, way: str) -> int:
    """A semi-join of Polars, streaming."""
    import polars as pl

    columns = ["id"] if way == "id" else list(FEATURES)
    a, b = (pl.scan_parquet(folder / f"{name}.parquet").select(columns) for name in "ab")
    return int(a.join(b, on=columns, how="semi").select(pl.len()).collect(engine="streaming").item())


def one(folder: Path, way: str) -> dict[str, object]:
    """One way, measured in this process."""
    first, _, rest = way.partition(" ")
    run: Callable[[Path, str], int] = {"duckdb": duckdb_way, "polars": polars_way}.get(first, ours)
    began, spent = time.perf_counter(), time.process_time()
    rows = run(folder, rest if run is not ours else way)
    return {
        "way": way,
        "shared": rows,
        "seconds": round(time.perf_counter() - began, 1),
        "processor_seconds": round(time.process_time() - spent, 1),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // MIB,
    }


def main() -> None:
    """Make the files, and print a table."""
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    given.add_argument("--rows", type=int, default=10_000_000)
    given.add_argument("--shared", type=int, default=1000)
    given.add_argument("--only", choices=WAYS, action="append")
    given.add_argument("--folder", type=Path)
    given.add_argument("--measure", choices=WAYS, help=argparse.SUPPRESS)
    asked = given.parse_args()
    if asked.measure:
        print(json.dumps(one(asked.folder, asked.measure)))
        return
    with tempfile.TemporaryDirectory(prefix="assay-bench-", dir=asked.folder) as held:
        folder = Path(held)
        made(folder, asked.rows, asked.shared)
        print(f"| {asked.rows:,} x {asked.rows:,} rows | shared | seconds | processor seconds | peak MiB |")
        print("|---|---|---|---|---|")
        for way in asked.only or WAYS:
            command = [sys.executable, __file__, "--folder", str(folder), "--measure", way]
            answer = subprocess.run(command, capture_output=True, text=True, check=False)
            if answer.returncode:
                print(f"| {way} | failed: {answer.stderr.strip().splitlines()[-1]} | | | |", flush=True)
                continue
            found = json.loads(answer.stdout)
            print("| " + " | ".join(str(found[key]) for key in found) + " |", flush=True)


if __name__ == "__main__":
    main()
