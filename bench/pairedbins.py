# SPDX-License-Identifier: Apache-2.0
"""Comparing two models on very many scores: from bins, from every score, and DuckDB's bare group-bys beside it.

python bench/pairedbins.py [--folder DIR] [--rows 10000000 100000000] [--exact-up-to 10000000] [--repeat 2] [--keep]
python bench/pairedbins.py --accuracy 1000000

Makes one Parquet file a size (about 18 bytes a row), runs each side in a process of its own, turn by turn, and prints
the best time of each and its largest memory. The group-bys are the plainest that anyone would write for the same
counts: 65,536 even bins of each model, and 1,024 by 1,024 of both. The whole comparison is timed, from the path to p.
With --accuracy, the standard error of the difference from bins is held against that from every score instead.
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

GROUP = 1_000_000
EVEN, COARSE = 65_536, 1_024
MEASURED = """
import json, sys, time
path = sys.argv[1]
{imports}
began = time.perf_counter()
found = {work}
seconds = time.perf_counter() - began
high = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([seconds, int(high.split()[1]) / 1024, {told}]))
"""
GIVEN = "data=path, truth='truth', score={'A': 'a', 'B': 'b'}"
TOLD = "[found['delong'].p, found['delong'].effect.value, dict(found['delong'].within), type(found.scores).__name__]"
OURS = "import assay, assay.assess.comparing, duckdb, narwhals"
BARE = [
    *(f"FROM '$' SELECT truth, floor({one} * {EVEN}) AS k, count(*) GROUP BY ALL" for one in "ab"),
    f"FROM '$' SELECT truth, floor(a * {COARSE}) AS k, floor(b * {COARSE}) AS l, count(*) GROUP BY ALL",
]
SIDES = {
    "bins": (OURS, f"assay.compare({GIVEN})", TOLD),
    "every score": (OURS, f"assay.compare({GIVEN}, exact_scores=10**12)", TOLD),
    "bare group-bys": (
        "import duckdb",
        f"[duckdb.sql(one.replace('$', path)).fetchnumpy() for one in {BARE!r}]",
        "[len(one['k']) for one in found]",
    ),
}


def make(path: Path, rows: int) -> None:
    """Truth of which three in ten are positive, and the probabilities of two models that agree much, all distinct."""
    writer = None
    for seed in range(rows // GROUP):
        rng = np.random.default_rng(seed)
        truth = (rng.random(GROUP) < 0.3).astype(np.int8)
        base = rng.normal(size=GROUP) + truth
        other = 0.9 * base + np.sqrt(1 - 0.9**2) * rng.normal(size=GROUP)
        table = pa.table({"truth": truth, **{n: 1 / (1 + np.exp(-one)) for n, one in (("a", base), ("b", other))}})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=GROUP)
    if writer is not None:
        writer.close()


SHAPES = {
    "smooth": lambda s, _: 1 / (1 + np.exp(-s)),
    "confident": lambda s, _: 1 / (1 + np.exp(-12 * (s - 0.5))),
    "heavy-tailed": lambda s, _: np.sinh(3 * s),
    "two decimals": lambda s, _: np.round(1 / (1 + np.exp(-s)), 2),
    "three in ten rounded": lambda s, rng: np.where(rng.random(len(s)) < 0.3, np.round(s), s),
}


def accuracy(rows: int) -> None:
    """Print how far standard errors from bins lie from the exact ones, and how wide their guaranteed ends are."""
    from assay.inference.delong import areas
    from assay.tally.pairedbins import PairedBins
    from assay.tally.pairedscores import PairedScores

    print("| scores | correlation | error | guaranteed ends |\n|---|---|---|---|")
    cases = [(name, likeness) for name in SHAPES for likeness in (0.5, 0.9, 0.99, 0.9999)]
    for name, likeness in [*cases, ("one row in 10,000 differs", 1.0)]:
        rng = np.random.default_rng(7)
        truth = rng.random(rows) < 0.3
        base = rng.normal(size=rows) + truth
        other = likeness * base + np.sqrt(1 - likeness**2) * rng.normal(size=rows)
        shape = SHAPES.get(name, SHAPES["smooth"])
        if likeness == 1:
            other = np.where(rng.random(rows) < 1e-4, rng.normal(size=rows), base)
        scores = {"A": shape(base, rng), "B": shape(other, rng)}
        exact, found = areas(PairedScores.of(truth, scores)), areas(PairedBins.of(truth, scores))
        error = np.sqrt(exact.gaps[0, 1])
        ends = [f"{100 * (end[0, 1] / error - 1):+.2g}" for end in (found.open.low, found.open.high)]
        off = 100 * (np.sqrt(found.gaps[0, 1]) / error - 1)
        print(f"| {name} | {likeness} | {off:+.1g} % | {ends[0]} to {ends[1]} % |", flush=True)


def run(side: str, path: Path) -> tuple[float, float, object]:
    """Seconds, MB and what was found, in a process of its own."""
    imports, work, told = SIDES[side]
    code = MEASURED.format(imports=imports, work=work, told=told)
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{side}: {done.stderr[-2000:]}")
    seconds, memory, found = json.loads(done.stdout.splitlines()[-1])  # an engine may show progress before
    return seconds, memory, found


def main() -> None:
    """Print one table."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--folder", type=Path)
    asked.add_argument("--rows", type=int, nargs="+", default=[10_000_000, 100_000_000])
    asked.add_argument("--exact-up-to", type=int, default=10_000_000)
    asked.add_argument("--repeat", type=int, default=2)
    asked.add_argument("--keep", action="store_true")
    asked.add_argument("--accuracy", type=int, metavar="ROWS")
    options = asked.parse_args()
    if options.accuracy is not None:
        accuracy(options.accuracy)
        return
    with tempfile.TemporaryDirectory() as made:
        folder = options.folder or Path(made)
        print("| rows | side | time | of the group-bys | peak memory |\n|---|---|---|---|---|")
        for rows in options.rows:
            path = folder / f"scores-{rows}.parquet"
            if not path.exists():
                make(path, rows)
            sides = [side for side in SIDES if side != "every score" or rows <= options.exact_up_to]
            best: dict[str, tuple[float, float, object]] = {}
            for _ in range(options.repeat):
                for side in sides:
                    found = run(side, path)
                    best[side] = min(found, best.get(side, found), key=lambda one: one[0])
            for side in sides:
                seconds, memory, told = best[side]
                bare = best["bare group-bys"][0]
                print(f"| {rows:,} | {side} | {seconds:.1f} s | {seconds / bare:.2f} | {memory:,.0f} MB |", flush=True)
                print(f"{side}: {told}", file=sys.stderr)
            if not options.keep:
                path.unlink()


if __name__ == "__main__":
    main()
