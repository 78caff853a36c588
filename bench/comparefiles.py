# SPDX-License-Identifier: Apache-2.0
"""Two models in two Parquet files, matched by id: processor time and peak memory, beside DuckDB and pandas.

    python bench/comparefiles.py [--rows 10000000] [--memory 1GB]
    python bench/comparefiles.py --whole [--rows 10000000]

Every run is a process of its own, from its start to its end, with what Python and the libraries take. Ours is the
public call: it checks every file and its digest, that every id is once in both files with the same truth, takes the
digest of the same rows, and tests. The peers join and count, and check nothing. `--whole` compares F1 by subject and by
weights that all differ, on as many rows and on half of them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MAKE = """
COPY (SELECT i AS id, CAST(hash(i) % 2 AS TINYINT) AS truth,
  CAST(CASE WHEN hash(i * {salt}) % 100 < 85 THEN hash(i) % 2 ELSE 1 - hash(i) % 2 END AS TINYINT) AS label,
  (hash(i) % 2) * 0.5 + (hash(i * {salt} + 1) % 1000003) / 1000003.0 AS score, i // 10 AS subject,
  (hash(i * 7) % 4503599627370496 + 1) / 4503599627370496.0 AS weight
  FROM range({rows}) AS t(i) ORDER BY hash(i + {salt})) TO '{path}' (FORMAT parquet)
"""
JOIN = "SELECT a.truth, a.label, b.label, count(*) FROM '{a}' AS a JOIN '{b}' AS b ON a.id = b.id GROUP BY ALL"
OURS = """
import assay
given = {{"truth": "truth", "id": "id", "predicted": "label", "positive": 1}} | dict({more})
found = assay.compare(data={{"A": {a!r}, "B": {b!r}}}, limits={limits}, **given)
assert found.record["samples"] == {rows}
"""
WHOLE = """
import assay
found = assay.compare(data={{"A": {a!r}, "B": {b!r}}}, truth="truth", id="id", predicted="label", measures=["f1"],
                      limits={limits}, **{more})
assert {{one.test for one in found.findings}} == {{"unit_z"}}
"""
DUCKDB = (
    "import duckdb\nconnection = duckdb.connect()\n{memory}\nassert len(connection.sql({join!r}).fetchall()) == 8\n"
)
PANDAS = """
import pandas as pd
columns = ["id", "truth", "label", *{columns}]
one, two = (pd.read_parquet(path, columns=columns) for path in ({a!r}, {b!r}))
both = one.merge(two, on="id", validate="one_to_one")
assert len(both) == {rows} and (both.truth_x == both.truth_y).all()
print(len(both.groupby(["truth_x", "label_x", "label_y"]).size()))
"""
TRUTH = """
COPY (SELECT i AS id, CAST(hash(i) % 2 AS TINYINT) AS outcome FROM range({rows}) AS t(i) ORDER BY hash(i)) TO '{path}'
(FORMAT parquet)
"""
BY = {"labels by subject": {"subject": "subject"}, "labels by weight": {"weight": "weight"}}
WANTED = {"labels": {}, "labels and scores": {"score": "score"}, **BY}


def run(code: str) -> tuple[float, float]:
    """Processor seconds and peak memory in MB of a process that runs some code."""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        message = f"a run ended with status {status}"
        raise SystemExit(message)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def told(name: str, one: tuple[float, float], raw: tuple[float, float], peer: tuple[float, float]) -> None:
    """One row of the table."""
    ratios = f"{one[0] / raw[0]:.2f} | {one[0] / peer[0]:.2f}"
    print(f"| {name} | {one[0]:.1f} s | {one[1]:,.0f} MB | {ratios} |", flush=True)


def made(folder: str, rows: int) -> dict[str, str]:
    """Both files; made elsewhere, for a child begins with its parent's peak."""
    paths = {name: str(Path(folder) / f"{name}{rows}.parquet") for name in "ab"}
    for path, salt in zip(paths.values(), (11, 23), strict=True):
        run(f"import duckdb\nduckdb.sql({MAKE.format(rows=rows, salt=salt, path=path)!r})")
    return paths


def whole(folder: str, rows: int, memory: str) -> None:
    """Comparisons by subject and by weight, judged."""
    print("| labels compared, judged | processor | peak memory |\n|---|---|---|")
    for size in (rows // 2, rows):
        paths = made(folder, size)
        for name, more in BY.items():
            for limits, said in (("None", ""), (f"assay.Limits(memory={memory!r})", f" within {memory}")):
                cpu, peak = run(WHOLE.format(limits=limits, more=more, **paths))
                print(f"| {name}, {size:,} rows{said} | {cpu:.1f} s | {peak:,.0f} MB |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--whole", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if asked.whole:
            whole(folder, asked.rows, asked.memory)
            return
        paths = made(folder, asked.rows)

        def best(code: str) -> tuple[float, float]:
            found = [run(code) for _ in range(asked.repeats)]
            return min(cpu for cpu, _ in found), max(memory for _, memory in found)

        raw = best(DUCKDB.format(memory="", join=JOIN.format(**paths)))
        limited = f"connection.execute(\"SET memory_limit = '{asked.memory}'\")"
        raw_limited = best(DUCKDB.format(memory=limited, join=JOIN.format(**paths)))
        print(f"| {asked.rows:,} rows | processor | peak memory | to the raw join | to pandas |\n|---|---|---|---|---|")
        print(f"| DuckDB join and group-by | {raw[0]:.1f} s | {raw[1]:,.0f} MB | 1 | |")
        print(f"| the same within {asked.memory} | {raw_limited[0]:.1f} s | {raw_limited[1]:,.0f} MB | | |", flush=True)
        for name, more in WANTED.items():
            peer = best(PANDAS.format(columns=list(more.values()), rows=asked.rows, **paths))
            told(f"pandas merge, {name}", peer, raw, peer)
            for limits, said in (("None", ""), (f"assay.Limits(memory={asked.memory!r})", f" within {asked.memory}")):
                ours = best(OURS.format(limits=limits, more=more, rows=asked.rows, **paths))
                told(f"{name}{said}", ours, raw, peer)
        truth = str(Path(folder) / "truth.parquet")
        run(f"import duckdb\nduckdb.sql({TRUTH.format(rows=asked.rows, path=truth)!r})")
        in_order = {name: str(Path(folder) / f"{name}_in_order.parquet") for name in "ab"}
        for name, path in in_order.items():
            order = f"COPY (FROM '{paths[name]}' ORDER BY id) TO '{path}' (FORMAT parquet)"
            run(f"import duckdb\nduckdb.sql({order!r})")
        peer = best(PANDAS.format(columns=[], rows=asked.rows, **paths))
        limits = f"assay.Limits(memory={asked.memory!r})"
        elsewhere = f"truth='outcome', reading=assay.Reading(truth_data={truth!r})"
        ours = best(OURS.format(limits=limits, more=elsewhere, rows=asked.rows, **paths))
        told(f"labels, truth in a third file, within {asked.memory}", ours, raw, peer)
        ours = best(
            OURS.format(
                limits=limits, more="id=None, tests=assay.TestSettings(pairing='position')", rows=asked.rows, **in_order
            )
        )
        told(f"labels by position within {asked.memory}", ours, raw, peer)


if __name__ == "__main__":
    main()
