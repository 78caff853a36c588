# SPDX-License-Identifier: Apache-2.0
"""Weighted scores of several classes in bins, from a Parquet file: peak memory, time, and how wide brackets are.

    python bench/weightedscores.py [--classes 3 10] [--rows 5000000 10000000] [--folder DIR]

Every score and every weight is different. Each count runs in a process of its own, whose peak memory is told beside
that of one that only imports what is needed. One-vs-rest areas are held against the exact ones of the same rows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

BLOCK = 500_000
SEED = 20221
MEASURES = ("auroc_macro", "auroc_weighted", "auroc_one_vs_one", "auroc_micro", "average_precision_micro")


def peak() -> float:
    """The most memory this process has held, in MB; the count of a system call would begin with that of its parent."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise LookupError


def write(path: Path, rows: int, k: int) -> None:
    """The rows as Parquet, block by block."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for start in range(0, rows, BLOCK):
        rng = np.random.default_rng([SEED, start, k])
        size = min(BLOCK, rows - start)
        truth = rng.integers(0, k, size)
        z = rng.normal(size=(size, k))
        z[np.arange(size), truth] += 1
        e = np.exp(z)
        scores = e / e.sum(axis=1, keepdims=True)
        columns = {"y": truth, **{f"p{i}": scores[:, i] for i in range(k)}, "w": rng.lognormal(0, 0.8, size)}
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def opened(path: Path, k: int) -> tuple[object, object]:
    """The source and what is wanted of it."""
    from assay.rows.opening import Roles, open_source
    from assay.rows.scored import sound
    from assay.rows.scores import score_columns
    from assay.tally.scoring import Wanted

    roles = Roles(truth="y", predicted="y", score=score_columns([f"p{i}" for i in range(k)]), weight="w")
    source, _ = sound(open_source(path, roles), "probability", single=False, drop=False)
    labels = tuple(range(k))
    return source, Wanted(labels=labels, scored=labels, columns=labels, probability=True)


def child(path: Path, k: int) -> dict[str, object]:
    """Count the file, and tell what it took."""
    from assay.measures import parse
    from assay.measures.brackets import bracket_of_classes
    from assay.tally.binned import Binned
    from assay.tally.scoring import count_ranks, count_scores

    before = peak()
    start, used = time.perf_counter(), time.process_time()
    source, wanted = opened(path, k)
    bins = count_scores(source, wanted).whole  # type: ignore[arg-type]
    took, processor = time.perf_counter() - start, time.process_time() - used
    counted = peak()
    if not isinstance(bins, Binned):
        raise TypeError(type(bins))
    start = time.perf_counter()
    count_ranks(source, wanted)  # type: ignore[arg-type]
    ranks = time.perf_counter() - start
    start = time.perf_counter()
    ends = {name: bracket_of_classes(parse(name), bins) for name in MEASURES}
    measured, most = time.perf_counter() - start, peak()
    size = len(json.dumps(bins.to_json()))
    return {
        "before": before,
        "counted": counted,
        "peak": most,
        "took": took,
        "processor": processor,
        "ranks": ranks,
        "measured": measured,
        "cells": sum(len(one.place) for one in bins.columns) + sum(len(one.place) for one in bins.paired),
        "json": size / 2**20,
        "ends": ends,
    }


def exact(path: Path, k: int) -> dict[str, tuple[float, float]]:
    """Weighted areas of each class against the rest in plain doubles, averaged; and the error of the mean."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    truth, weight = table["y"].to_numpy(), table["w"].to_numpy()
    areas, errors = [], []
    for own in range(k):
        score = table[f"p{own}"].to_numpy()
        order = np.argsort(score)
        positive, heavy = truth[order] == own, weight[order]
        pos, neg = np.where(positive, heavy, 0.0), np.where(positive, 0.0, heavy)
        below = np.cumsum(neg)
        area = float((pos * below).sum() / pos.sum() / below[-1])
        above = pos.sum() - np.cumsum(pos)
        x, y = (below / below[-1])[positive] - area, (above / pos.sum())[~positive] - area
        spread = [(w**2 * d**2).sum() / w.sum() ** 2 for w, d in ((heavy[positive], x), (heavy[~positive], y))]
        areas.append(area)
        errors.append(float(np.sqrt(sum(spread))))
    return {"areas": areas, "errors": errors}  # type: ignore[dict-item]


def main() -> None:
    """The table of results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classes", type=int, nargs="+", default=[3, 10])
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000_000, 10_000_000])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(child(given.child, given.classes[0])))
        return
    print("| classes | rows | counted in | processor | ranks in | values in | memory | cells | as JSON |")
    print("|---|---|---|---|---|---|---|---|---|")
    brackets = []
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for k in given.classes:
            for rows in given.rows:
                path = Path(folder) / "rows.parquet"
                write(path, rows, k)
                again = [sys.executable, __file__, "--child", str(path), "--classes", str(k)]
                found = json.loads(subprocess.run(again, check=True, capture_output=True, text=True).stdout)
                print(
                    f"| {k} | {rows:,} | {found['took']:.1f} s | {found['processor']:.1f} s | {found['ranks']:.1f} s "
                    f"| {found['measured']:.1f} s | {found['before']:.0f} MB, then {found['counted']:.0f} MB, "
                    f"with values {found['peak']:.0f} MB | {found['cells']:,} | {found['json']:.0f} MB |",
                    flush=True,
                )
                brackets.append((k, rows, found["ends"], exact(path, k)))
                path.unlink()
    print("\n| classes | rows | measure | bracket | of the error of the area of one class |\n|---|---|---|---|---|")
    for k, rows, ends, true in brackets:
        mean = float(np.mean(true["areas"]))
        low, high = ends["auroc_macro"]
        if not low <= mean <= high:
            msg = f"{k} classes, {rows:,} rows: {mean} lies outside {low} to {high}"
            raise ArithmeticError(msg)
        for name in MEASURES:
            wide = ends[name][1] - ends[name][0]
            told = f"{wide / float(np.mean(true['errors'])):.3f}" if name == "auroc_macro" else ""
            print(f"| {k} | {rows:,} | {name} | {wide:.1e} | {told} |")


if __name__ == "__main__":
    main()
