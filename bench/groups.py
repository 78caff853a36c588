# SPDX-License-Identifier: Apache-2.0
"""An assessment of two classes in groups of many levels: processor time and memory until the Record is there.

    python bench/groups.py [--levels 10 100 1000 10000] [--rows 100000]

Each number of levels is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

LEVELS = (10, 100, 1000, 10000)


def run(rows: int, levels: int) -> dict[str, float]:
    """Seconds of processor time and peak MB of one assessment, in this process."""
    import assay

    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, rows)
    predicted = np.where(rng.random(rows) < 0.8, truth, 1 - truth)
    group = np.array([f"level {i}" for i in rng.integers(0, levels, rows)])
    began = time.process_time()
    record = assay.assess(truth=truth, predicted=predicted, group={"group": group}).record
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "peak": peak, "estimates": len(record["estimates"])}


def in_process(rows: int, levels: int) -> dict[str, float]:
    """The same in a process of its own, which finds the byte code of the package as an installed one does."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, __file__, "--here", "--rows", str(rows), "--levels", str(levels)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--levels", type=int, nargs="+", default=LEVELS)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--here", action="store_true", help="measure in this process")
    given = parser.parse_args()
    if given.here:
        print(json.dumps(run(given.rows, given.levels[0])))
        return
    print(f"{'levels':>8} {'estimates':>10} {'processor s':>12} {'peak MB':>8}")
    in_process(1000, 2)
    for levels in given.levels:
        done = in_process(given.rows, levels)
        print(f"{levels:>8,} {done['estimates']:>10,} {done['seconds']:>12.1f} {done['peak']:>8.0f}")


if __name__ == "__main__":
    main()
