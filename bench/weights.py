# SPDX-License-Identifier: Apache-2.0
"""How much slower than DuckDB's weighted group-by of a Parquet file `assay.assess` with weights is.

python bench/weights.py [--rows 4000000] [--repeat 7] [--threads N]

Every call runs in a process of its own, turn by turn, and each side reports its least time. Imports are not timed,
opening the engine is. `assess` is read to the values of accuracy and recall; it also checks, hashes and accounts for
the rows, and adds the squares of the weights, which the plain group-by does not.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

MEASURED = """
import json, sys, time
{imports}
path, threads = sys.argv[1], int(sys.argv[2])
for _ in range(2):  # the second call is timed
    began, used = time.perf_counter(), time.process_time()
    {work}
    seconds, processor = time.perf_counter() - began, time.process_time() - used
print(json.dumps([seconds, processor, float(value)]))
"""
RAW = """cells = duckdb.connect(config={'threads': threads} if threads else {}).execute(
        f"SELECT truth, predicted, count(*), sum(weight) FROM '{path}' GROUP BY ALL"
    ).fetchall()
    value = sum(weight for truth, predicted, _, weight in cells if truth == predicted) / sum(row[3] for row in cells)"""
OURS = """found = assay.assess(
        data=path, truth="truth", predicted="predicted", positive=1, weight=%s,
        limits=assay.Limits(threads=threads) if threads else None,
    )
    value, _ = found["accuracy"].value, found["recall"].value"""
SIDES = {
    "DuckDB, sum(weight)": ("import duckdb", RAW),
    "assay.assess, weights": ("import assay", OURS % "'weight'"),
    "assay.assess, no weights": ("import assay", OURS % "None"),
}
AGREE = 1e-10


def write_rows(path: Path, rows: int) -> None:
    """A file of two classes and log-normal weights, no two alike."""
    rng = np.random.default_rng(4213)
    truth = rng.integers(0, 2, rows)
    predicted = np.where(rng.random(rows) < 0.8, truth, 1 - truth)
    pq.write_table(pa.table({"truth": truth, "predicted": predicted, "weight": rng.lognormal(size=rows)}), path)


def timed(side: str, path: Path, threads: int) -> tuple[float, float, float]:
    """Seconds, processor seconds and the accuracy of one call."""
    imports, work = SIDES[side]
    script = MEASURED.format(imports=imports, work=work)
    answer = subprocess.run(
        [sys.executable, "-c", script, str(path), str(threads)], capture_output=True, text=True, check=True
    )
    seconds, processor, value = json.loads(answer.stdout)
    return seconds, processor, value


def main() -> None:
    """Print the least times of each side, and their ratios to the plain group-by."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--rows", type=int, default=4_000_000)
    given.add_argument("--repeat", type=int, default=7)
    given.add_argument("--threads", type=int, default=0, help="threads of the engine; 0 leaves them to it")
    asked = given.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_rows(path, asked.rows)
        times: dict[str, list[tuple[float, float, float]]] = {side: [] for side in SIDES}
        for _ in range(asked.repeat):
            for side in SIDES:
                times[side].append(timed(side, path, asked.threads))
        print(f"{asked.rows:,} rows of Parquet, {path.stat().st_size / 1e6:.0f} MB")
    plain, weighted, _ = (times[side][0][2] for side in SIDES)
    if abs(plain - weighted) > AGREE:
        message = f"the accuracies differ: {plain} and {weighted}"
        raise SystemExit(message)
    least = {side: [min(column) for column in zip(*found, strict=True)] for side, found in times.items()}
    first = next(iter(least.values()))
    for side, (seconds, processor, _) in least.items():
        print(
            f"{side:26} {seconds * 1e3:6.0f} ms ({seconds / first[0]:.2f}x),"
            f" {processor * 1e3:6.0f} ms of processor time ({processor / first[1]:.2f}x)"
        )


if __name__ == "__main__":
    main()
