# SPDX-License-Identifier: Apache-2.0
"""How much slower than DuckDB's bare group-by a checked, hashed and accounted count of a file is, and its memory.

python bench/engines.py [--folder DIR] [--only NAME ...] [--repeat 3] [--keep]

Makes its files (about 4 GB for everything), runs each side in processes of its own, turn by turn, and prints the best
time of each. Scores are compared with a group-by of 65,536 even bins, the plainest that anyone would write.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CLASSES = 10
GROUP = 1_000_000
MEASURED = """
import json, os, resource, sys, time
path = sys.argv[1]
{imports}
began, used = time.perf_counter(), time.process_time()
found = {work}
seconds, processor = time.perf_counter() - began, time.process_time() - used
high = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
cells = {cells}
print(json.dumps([seconds, processor, int(high.split()[1]) / 1024, sorted(cells)]))
"""
RAW = "import duckdb"
OURS = "import assay, assay.assess.assess, duckdb, narwhals"
LABELS = (
    "[[str(found.labels[t]), str(found.labels[p]), int(n)] for found in "
    "[assay.assess(data=path, truth='truth', predicted='predicted'{options}).confusion] "
    "for t, p, n in zip(found.truth.tolist(), found.predicted.tolist(), found.count.tolist())]"
)
EVEN = 65536
"""Even bins of the group-by that scores are compared with."""
SCORES = """
def tally(path):
    given = {"truth": "truth", "predicted": "predicted", "score": "score", "scores": "probability", "positive": 1}
    return assay.assess(data=path, **given, measures=["auroc"]).scores.whole.one_vs_rest(1)

def sides(found):
    return [["0", "", int(found.neg.sum())], ["1", "", int(found.pos.sum())]]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A file, how DuckDB alone would count it, and what we may cost."""

    name: str
    file: str
    make: Callable[[Path], None]
    query: str
    bar: float = 1.5
    memory: int | None = None
    imports: str = OURS
    work: str = LABELS.format(options="")
    cells: str = "found"


def labels(rows: int, seed: int) -> dict[str, np.ndarray]:
    """Truth, and predictions that are right four times in five."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, CLASSES, rows, dtype=np.int8)
    other = rng.integers(0, CLASSES, rows, dtype=np.int8)
    return {"truth": truth, "predicted": np.where(rng.random(rows) < 0.8, truth, other).astype(np.int8)}


def parquet(rows: int, *, distinct: int, wide: bool = False) -> Callable[[Path], None]:
    """A file of labels in row groups of a million; `distinct` groups are drawn, then repeated."""

    def make(path: Path) -> None:
        groups = []
        for seed in range(distinct):
            columns: dict[str, object] = dict(labels(GROUP, seed))
            if wide:
                rng = np.random.default_rng(seed)
                columns |= {name: rng.random(GROUP) for name in ("score", "t", "p")}
            groups.append(pa.table(columns))
        with pq.ParquetWriter(path, groups[0].schema) as writer:
            for number in range(rows // GROUP):
                writer.write_table(groups[number % distinct], row_group_size=GROUP)

    return make


def scored(rows: int, *, steep: float) -> Callable[[Path], None]:
    """A file of labels and probabilities, all of them distinct; the steeper, the nearer to 0 and 1."""

    def make(path: Path) -> None:
        writer = None
        for seed in range(rows // GROUP):
            rng = np.random.default_rng(seed)
            truth = (rng.random(GROUP) < 0.3).astype(np.int8)
            z = rng.normal(size=GROUP) + truth
            chance = 1 / (1 + np.exp(-steep * z))
            table = pa.table({"truth": truth, "predicted": (z > 0.5).astype(np.int8), "score": chance})
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table, row_group_size=GROUP)
        if writer is not None:
            writer.close()

    return make


def weighted(rows: int, *, distinct: int | None = None, text: bool = False) -> Callable[[Path], None]:
    """A file of labels and weights, all of them different or as many as are said; Parquet, or CSV."""

    def make(path: Path) -> None:
        import duckdb

        held = path.with_suffix(".made") if text else path
        writer = None
        for seed in range(rows // GROUP):
            rng = np.random.default_rng(seed)
            few = None if distinct is None else np.sqrt(rng.integers(1, distinct + 1, GROUP))
            table = pa.table({**labels(GROUP, seed), "weight": rng.gamma(0.5, 2.0, GROUP) if few is None else few})
            writer = writer or pq.ParquetWriter(held, table.schema)
            writer.write_table(table, row_group_size=GROUP)
        if writer is not None:
            writer.close()
        if text:
            duckdb.connect().execute(f"COPY (FROM read_parquet('{held}')) TO '{path}' (FORMAT csv, header)")
            held.unlink()

    return make


def csv(rows: int, *, quoted: bool) -> Callable[[Path], None]:
    """A file of text labels beside an id and a score."""

    def make(path: Path) -> None:
        import duckdb

        columns = {"id": np.arange(rows), **labels(rows, 0), "score": np.random.default_rng(1).random(rows).round(6)}
        connection = duckdb.connect()
        connection.register("made", columns)
        query = "SELECT id, 'class_' || truth AS truth, 'class_' || predicted AS predicted, score FROM made"
        force = ", force_quote (truth, predicted)" if quoted else ""
        connection.execute(f"COPY ({query}) TO '{path}' (header{force})")

    return make


def cases() -> list[Case]:
    """Everything that has a bar."""
    parquet_query = "SELECT truth, predicted, count(*) FROM read_parquet('{path}') GROUP BY ALL"
    csv_query = (
        "SELECT truth, predicted, count(*), count(CAST(score AS DOUBLE)) "
        "FROM read_csv('{path}', all_varchar = true) GROUP BY ALL"
    )
    hundred = 100 * GROUP
    weight_query = (
        "SELECT truth, predicted, printf('%.6e', sum({weight})), sum({weight} * {weight}), count(*) "
        "FROM {rows} GROUP BY ALL"
    )
    by_parquet = weight_query.format(weight="weight", rows="read_parquet('{path}')")
    by_csv = weight_query.format(weight="CAST(weight AS DOUBLE)", rows="read_csv('{path}', all_varchar = true)")
    weights = [
        Case(
            name=f"{name}, sums of weights and of their squares",
            file=file,
            make=make,
            query=query,
            bar=bar,
            memory=300,
            work=LABELS.format(options=", weight='weight'").replace("int(n)", "format(float(n), '.6e')"),
        )
        for name, file, make, query, bar in (
            (
                "40,000,000 rows of Parquet, weights all different",
                "weights.parquet",
                weighted(40 * GROUP),
                by_parquet,
                8,
            ),
            (
                "40,000,000 rows of Parquet, ten weights",
                "few.parquet",
                weighted(40 * GROUP, distinct=10),
                by_parquet,
                8,
            ),
            ("4,000,000 rows of CSV, weights all different", "weights.csv", weighted(4 * GROUP, text=True), by_csv, 6),
        )
    ]
    score_query = "SELECT truth, floor(score * 65536)::INTEGER, count(*) FROM read_parquet('{path}') GROUP BY ALL"
    scores = [
        Case(
            name=f"100,000,000 rows of Parquet, {name}",
            file=file,
            make=scored(hundred, steep=steep),
            query=score_query,
            memory=300,
            imports=OURS + SCORES,
            work="tally(path)",
            cells="sides(found)",
        )
        for name, file, steep in (
            ("probabilities", "scores.parquet", 1.0),
            ("probabilities near 0 and 1", "confident.parquet", 6.0),
        )
    ]
    return [
        Case(
            name="100,000,000 rows of Parquet, int8 labels",
            file="labels.parquet",
            make=parquet(hundred, distinct=10),
            query=parquet_query,
            memory=300,
        ),
        Case(
            name="100,000,000 rows of Parquet, labels beside three float64 columns",
            file="wide.parquet",
            make=parquet(hundred, distinct=10, wide=True),
            query=parquet_query,
            memory=300,
        ),
        Case(
            name="the same without a digest",
            file="wide.parquet",
            make=parquet(hundred, distinct=10, wide=True),
            query=parquet_query,
            memory=300,
            work=LABELS.format(options=", reading=assay.Reading(digest=False)"),
        ),
        Case(
            name="10,000,000 rows of CSV, no quotes",
            file="plain.csv",
            make=csv(10 * GROUP, quoted=False),
            query=csv_query,
        ),
        Case(
            name="10,000,000 rows of CSV, labels quoted",
            file="quoted.csv",
            make=csv(10 * GROUP, quoted=True),
            query=csv_query,
        ),
        Case(
            name="1,000,000,000 rows of Parquet, int8 labels",
            file="billion.parquet",
            make=parquet(10 * hundred, distinct=10),
            query=parquet_query,
            memory=1024,
        ),
        *scores,
        *weights,
    ]


def measured(
    path: Path, imports: str, work: str, cells: str = "found"
) -> tuple[float, float, float, list[list[object]]]:
    """Seconds, processor seconds, peak MiB and cells of some work in a process of its own."""
    code = MEASURED.format(imports=imports, work=work, cells=cells)
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    seconds, processor, memory, found = json.loads(done.stdout.splitlines()[-1])  # DuckDB shows its progress before
    return seconds, processor, memory, found


def by_truth(cells: list[list[object]]) -> dict[object, int]:
    """Rows by true label."""
    sums: dict[object, int] = {}
    for truth, _, rows in cells:
        sums[truth] = sums.get(truth, 0) + int(str(rows))
    return sums


def run(case: Case, folder: Path, repeat: int) -> None:
    """One line of the table."""
    path = folder / case.file
    if not path.exists():
        case.make(path)
    query = case.query.format(path=path)
    raw_work = f'[[str(t), str(p), n] for t, p, n, *_ in duckdb.connect().sql("""{query}""").fetchall()]'
    raw, ours = [], []
    for _ in range(repeat):
        raw.append(measured(path, RAW, raw_work))
        ours.append(measured(path, case.imports, case.work, case.cells))
    alike = (lambda cells: cells) if case.cells == "found" else by_truth  # rounded scores are of other bins
    if any(alike(one[3]) != alike(raw[0][3]) for one in ours):
        sys.exit(f"{case.name}: the cells differ")
    theirs, mine = min(one[0] for one in raw), min(one[0] for one in ours)
    their_cpu, my_cpu = min(one[1] for one in raw), min(one[1] for one in ours)
    memory = max(one[2] for one in ours)
    bars = f"{case.bar}x" + (f", {case.memory:,} MiB" if case.memory else "")
    size = path.stat().st_size / 1e6
    print(
        f"| {case.name}, {size:,.0f} MB | {mine:.2f} s, {memory:.0f} MiB | {theirs:.2f} s | {mine / theirs:.2f}x "
        f"({my_cpu / their_cpu:.2f}x of processor time) | {bars} |",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where to make the files; else a folder for the time of the run")
    parser.add_argument("--only", nargs="*", default=[], help="files of the cases to run, such as plain.csv")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--keep", action="store_true", help="leave the files in the folder")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="assay-bench-")) if given.folder is None else given.folder
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [case for case in cases() if not given.only or case.file in given.only]
    print("| file | assay | DuckDB alone | ratio | bar |\n|---|---|---|---|---|", flush=True)
    try:
        for place, case in enumerate(wanted, start=1):
            run(case, folder, given.repeat)
            if not given.keep and all(later.file != case.file for later in wanted[place:]):
                (folder / case.file).unlink()
    finally:
        if given.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
