# SPDX-License-Identifier: Apache-2.0
"""Regression of many rows in Parquet: assay with intervals and pictures beside DuckDB's plain sums and scikit-learn.

    python bench/regression.py [ROWS]

Every way runs in a process of its own, in turn, several times; the fastest run of each counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 3

WAYS = {
    "DuckDB, 17 plain sums": """
import duckdb
u = ["e", "abs(e)", "e*e", "y", "p", "y*y", "p*p", "y*p", "e/y", "abs(e)/abs(y)", "(e/y)*(e/y)", "abs(y)", "ln(1+y)-ln(1+p)",
     "(ln(1+y)-ln(1+p))*(ln(1+y)-ln(1+p))", "e*e*e", "e*e*e*e", "y*e"]
sql = f"SELECT {', '.join(f'sum({x})' for x in u)} FROM (SELECT truth AS y, predicted AS p, truth - predicted AS e FROM '{path}')"
duckdb.sql(sql).fetchall()
""",
    "scikit-learn, 5 measures": """
import pyarrow.parquet as pq
from sklearn import metrics
table = pq.read_table(path, columns=["truth", "predicted"])
y, p = table["truth"].to_numpy(), table["predicted"].to_numpy()
for f in (metrics.mean_absolute_error, metrics.mean_squared_error, metrics.r2_score, metrics.median_absolute_error, metrics.explained_variance_score):
    f(y, p)
""",
    "scikit-learn, with Spearman of scipy": """
import pyarrow.parquet as pq
from scipy import stats
from sklearn import metrics
table = pq.read_table(path, columns=["truth", "predicted"])
y, p = table["truth"].to_numpy(), table["predicted"].to_numpy()
for f in (metrics.mean_absolute_error, metrics.mean_squared_error, metrics.r2_score, metrics.median_absolute_error, metrics.explained_variance_score):
    f(y, p)
stats.spearmanr(y, p)
""",
    "floor: rows in NumPy and SHA-256 of the file": """
import hashlib
import duckdb, numpy
from assay.rows.engines.duckdb_engine import query_batches
with open(path, "rb") as file:
    hashlib.file_digest(file, "sha256")
rows = sum(len(y) for y, p in query_batches(duckdb, f"SELECT truth, predicted FROM '{path}'"))
""",
    "floor: the same, logarithms and two histograms": """
import hashlib
import duckdb
import numpy as np
from assay.rows.engines.duckdb_engine import query_batches
with open(path, "rb") as file:
    hashlib.file_digest(file, "sha256")
for truth, predicted in query_batches(duckdb, f"SELECT truth, predicted FROM '{path}'"):
    for first in range(0, len(truth), 8192):
        y, p = truth[first:first + 8192], predicted[first:first + 8192]
        e = y - p
        np.log1p(e / (1 + p))
        place = np.abs(e).view(np.int64) >> 45
        np.bincount(place - place.min(), minlength=10_000)
        np.bincount((y.view(np.int64) >> 47) - 32_000, minlength=10_000)
""",
    "floor: rows in NumPy, SHA-256 and the exact sums": """
import hashlib
import duckdb
import numpy as np
from assay.rows.engines.duckdb_engine import query_batches
from assay.tasks.regression.row_totals import sum_batch
with open(path, "rb") as file:
    hashlib.file_digest(file, "sha256")
for y, p in query_batches(duckdb, f"SELECT truth, predicted FROM '{path}'"):
    e = y - p
    ends = float(y.min()), float(y.max()), float(e.min()), float(e.max())
    sum_batch({"truth": y, "predicted": p}, e, ends, None)
""",
    "assay, the second call of a process": """
import assay
small = [1.0, 2.0, 4.0] * 20
assay.regression(truth=small, predicted=small[1:] + [1.5]).record["figures"]
start, used = time.perf_counter(), time.process_time()
assessment = assay.regression(data=path, truth="truth", predicted="predicted")
figures = assessment.record["figures"]
assert len(assessment.estimates) > 30 and figures
""",
    "assay, all measures, intervals, pictures": """
import assay
assessment = assay.regression(data=path, truth="truth", predicted="predicted")
estimates = assessment.estimates
figures = assessment.record["figures"]
assert len(estimates) > 30 and figures
""",
}
FRAME = """
import json, resource, sys, time
path = sys.argv[1]
{imports}
start, used = time.perf_counter(), time.process_time()
{body}
wall, used = time.perf_counter() - start, time.process_time() - used
print(json.dumps([wall, used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def write_rows(path: Path, rows: int) -> None:
    """Truth is gamma, errors grow with it; a row group holds 122,880 rows."""
    import duckdb
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(4213)
    truth = rng.gamma(3.0, 10.0, size=rows) + 1
    predicted = np.abs(truth + rng.normal(size=rows) * (1 + 0.1 * truth))
    table = pa.table({"truth": truth, "predicted": predicted})
    duckdb.from_arrow(table).write_parquet(str(path))


def measure_way(body: str, path: Path) -> list[float]:
    """Wall time, processor time and peak memory of one run."""
    imports = "\n".join(line for line in body.splitlines() if line.startswith(("import", "from")))
    rest = "\n".join(line for line in body.splitlines() if not line.startswith(("import", "from")))
    code = FRAME.format(imports=imports, body=rest)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(path.parent / "bytecode")  # an installed package has its bytecode
    answer = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, env=environment
    )
    figures: list[float] = json.loads(answer.stdout.splitlines()[-1])
    return figures


def main() -> None:
    """Write the rows, run every way in turn, print a table."""
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    if len(sys.argv) > 2:
        write_rows(Path(sys.argv[2]), rows)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        subprocess.run([sys.executable, __file__, str(rows), str(path)], check=True)  # or its memory would count
        best: dict[str, list[float]] = {}
        for _ in range(RUNS):
            for name, body in WAYS.items():
                run = measure_way(body, path)
                best[name] = run if name not in best else [min(pair) for pair in zip(best[name], run, strict=True)]
    base = best["DuckDB, 17 plain sums"]
    print(f"{rows:,} rows in Parquet\n")
    print(
        "| way | wall s | processor s | peak MB | processor, of DuckDB | wall, of DuckDB |\n|---|---|---|---|---|---|"
    )
    for name, (wall, used, peak) in best.items():
        print(f"| {name} | {wall:.2f} | {used:.2f} | {peak:.0f} | {used / base[1]:.2f} | {wall / base[0]:.2f} |")


if __name__ == "__main__":
    main()
