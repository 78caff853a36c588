# SPDX-License-Identifier: Apache-2.0
"""Speed and memory of labels to measures with intervals, side by side with scikit-learn in one process.

    python bench/labels.py [--rows 10000000] [--skip-objects]

Ratios are what counts; times belong to the machine they were taken on.
"""

from __future__ import annotations

import argparse
import gc
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np


def best(work: Callable[[], object], repeats: int) -> float:
    """The shortest of some runs, in seconds."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def everything(truth: object, predicted: object, **given: object) -> object:
    """All measures with intervals, as a user gets them."""
    import assay

    return assay.assess(truth=truth, predicted=predicted, **given).record  # type: ignore[arg-type]


def bincount(truth: np.ndarray, predicted: np.ndarray, k: int) -> np.ndarray:
    """The bar for counting: a chunked bincount of ready codes."""
    total = np.zeros(k * k, dtype=np.int64)
    for start in range(0, len(truth), 1 << 16):
        part = truth[start : start + (1 << 16)] * k + predicted[start : start + (1 << 16)]
        total += np.bincount(part, minlength=k * k)
    return total


def line(name: str, ours: float, theirs: float, bar: str, peer: str) -> None:
    """One row of the table."""
    print(f"| {name} | {ours:.3f} s | {theirs:.3f} s ({peer}) | 1/{theirs / ours:.1f} | {bar} |", flush=True)


def integers(rows: int) -> None:
    """Two int64 arrays: the whole assessment, and the count alone."""
    from sklearn.metrics import classification_report

    from assay.rows.open import open_source
    from assay.rows.source import Roles
    from assay.tally.labels.array_counts import count

    rng = np.random.default_rng(0)
    for k, bar in ((2, "1/20"), (10, "1/20"), (100, "1/5")):
        truth = rng.integers(0, k, rows)
        predicted = np.where(rng.random(rows) < 0.8, truth, rng.integers(0, k, rows))
        everything(truth[:1000], truth[:1000], labels=list(range(k)))
        ours = best(lambda t=truth, p=predicted: everything(t, p), 3)
        theirs = best(lambda t=truth, p=predicted: classification_report(t, p, output_dict=True), 1)
        line(f"{rows:,} int64, K = {k}, all measures with intervals", ours, theirs, bar, "classification_report")
        roles = Roles(truth=truth, predicted=predicted)
        counting = best(lambda r=roles: count(open_source(None, r)), 5)
        plain = best(lambda t=truth, p=predicted, n=k: bincount(t, p, n), 5)
        print(
            f"| {rows:,} int64, K = {k}, counting | {counting:.3f} s | {plain:.3f} s (chunked bincount) | {counting / plain:.2f}x | 3x |",
            flush=True,
        )


def texts(rows: int, *, objects: bool) -> None:
    """String labels of four kinds against scikit-learn's confusion_matrix."""
    import polars as pl
    import pyarrow as pa
    from sklearn.metrics import confusion_matrix

    from assay.rows.open import open_source
    from assay.rows.source import Roles
    from assay.tally.labels.array_counts import count

    rng = np.random.default_rng(0)
    names = np.array([f"class_{i:02d}" for i in range(10)])
    truth = names[rng.integers(0, 10, rows)]
    predicted = names[rng.integers(0, 10, rows)]
    small = slice(0, 1000)
    kinds: list[tuple[str, object, object, str]] = [
        ("U8 arrays", truth, predicted, "1/5"),
        ("Polars strings", pl.Series(truth.tolist()), pl.Series(predicted.tolist()), "1/100"),
        ("Arrow strings", pa.array(truth.tolist()), pa.array(predicted.tolist()), "1/100"),
    ]
    theirs = {"U8 arrays": best(lambda: confusion_matrix(truth, predicted), 1)}
    if objects:
        texts_t, texts_p = truth.astype(object), predicted.astype(object)
        kinds.insert(0, ("object arrays", texts_t, texts_p, "1/50"))
        theirs["object arrays"] = best(lambda: confusion_matrix(texts_t, texts_p), 1)
    for name, t, p, bar in kinds:
        count(open_source(None, Roles(truth=t[small], predicted=p[small])))  # type: ignore[index]
        ours = best(lambda t=t, p=p: count(open_source(None, Roles(truth=t, predicted=p))), 3)
        peer = theirs.get(name, theirs.get("object arrays", theirs["U8 arrays"]))
        which = (
            "confusion_matrix, same labels" if name in theirs else "confusion_matrix on objects" if objects else "on U8"
        )
        line(f"{rows:,} strings, {name}, counting", ours, peer, bar, which)


def in_child(code: str) -> tuple[float, float]:
    """Seconds and peak MiB of some code in a process of its own (ru_maxrss would be carried over from this one)."""
    text = f'import time\nstart=time.perf_counter()\n{code}\nhigh=next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))\nprint(time.perf_counter()-start, int(high.split()[1])/1024)'
    out = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout.split()
    return float(out[-2]), float(out[-1])


def memory(rows: int) -> None:
    """Peak memory of a whole assessment, above that of the arrays and imports alone."""
    make = f"import numpy as np\nrng=np.random.default_rng(0)\nt=rng.integers(0,10,{rows})\np=rng.integers(0,10,{rows})\nimport assay\nassay.assess(truth=t[:1000],predicted=p[:1000]).record"
    _, base = in_child(make)
    _, peak = in_child(make + "\nassay.assess(truth=t,predicted=p).record")
    inputs = 2 * rows * 8 / 2**20
    print(
        f"| {rows:,} int64, K = 10, extra memory | {peak - base:.0f} MiB | inputs {inputs:.0f} MiB | {(peak - base) / inputs:.2f}x | 1x |"
    )
    many = (
        "import numpy as np\nrng=np.random.default_rng(0)\ny=rng.integers(0,100000,1_000_000)\n"
        "p=np.where(rng.random(1_000_000)<.9,y,rng.integers(0,100000,1_000_000))\nimport assay\n"
        "start=time.perf_counter()\nassay.assess(truth=y,predicted=p).record"
    )
    seconds, peak = in_child(many)
    print(
        f"| 1,000,000 rows, 100,000 classes | {seconds:.2f} s, {peak:.0f} MiB peak | scikit-learn asks for 74.5 GiB | | 10 s, 1 GiB |"
    )


def imports() -> None:
    """What it costs to import, best of seven processes, above a bare interpreter."""

    def seconds(code: str) -> float:
        found = []
        for _ in range(7):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(found)

    bare, ours, theirs = seconds("pass"), seconds("import assay"), seconds("import sklearn.metrics")
    print(
        f"| import assay | {1000 * (ours - bare):.0f} ms | {1000 * (theirs - bare):.0f} ms (import sklearn.metrics) | 1/{(theirs - bare) / max(ours - bare, 1e-4):.0f} | 1/20 |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--skip-objects", action="store_true", help="scikit-learn needs minutes for object arrays")
    given = parser.parse_args()
    print("| what | assay | peer | ratio | bar |\n|---|---|---|---|---|", flush=True)
    imports()
    integers(given.rows)
    texts(given.rows, objects=not given.skip_objects)
    memory(given.rows)


if __name__ == "__main__":
    main()
