# SPDX-License-Identifier: Apache-2.0
"""Processor time of the first call, in fresh processes, against `import sklearn.metrics`.

python bench/startup.py [--runs 7]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

COUNTING = "; import sys; print(sum(name.split('.')[0] == 'assay' for name in sys.modules))"
ARRAYS = "import assay; a = assay.assess(truth=[1, 0, 1, 1] * 250, predicted=[1, 0, 0, 1] * 250)"
CALLS = {
    "import sklearn.metrics": "import sklearn.metrics",
    "import numpy": "import numpy",
    "import assay": "import assay",
    "assay.assess of arrays": ARRAYS,
    "and one value of it": f"{ARRAYS}; a['recall'].low",
}


def run_once(command: list[str]) -> tuple[float, str]:
    """Return the processor time of a command, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, printed


def main() -> None:
    """Print one JSON line for each call."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    pick = random.Random(1).choices
    with tempfile.TemporaryDirectory() as folder:
        # Compiled modules are kept in a folder of this run, also where the environment forbids to write them.
        os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPYCACHEPREFIX": folder}
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        path = Path(folder) / "rows.csv"
        truth, predicted = pick(["ill", "well"], k=1000), pick(["ill", "well"], k=1000)
        score = [pick(range(1, 1000))[0] / 1000 + (label == "ill") / 1e4 for label in truth]
        rows = zip(truth, predicted, score, strict=True)
        path.write_text("truth,predicted,score\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows), encoding="utf-8")
        words = ["run", str(path), "--truth", "truth", "--predicted", "predicted", "--positive", "ill", "--quiet"]
        commands = {name: [sys.executable, "-c", code + COUNTING] for name, code in CALLS.items()}
        words = [sys.executable, "-m", "assay", *words, "--out", str(Path(folder) / "out")]
        commands["assay run, 1,000 labels (bar 0.6)"] = words
        commands["assay run, 1,000 labels and scores (bar 1.2)"] = [*words, "--score", "score"]
        rounds = [  # each round runs every command, for the speed of a machine drifts; the first one fills caches
            {name: run_once(command) for name, command in commands.items()} for _ in range(runs + 1)
        ]
    results = {name: min(done[name] for done in rounds[1:]) for name in commands}
    unit = results["import sklearn.metrics"][0]
    for name, (seconds, printed) in results.items():
        modules = printed.strip() if name in CALLS else ""
        print(
            json.dumps(
                {"what": name, "seconds": round(seconds, 3), "ratio": round(seconds / unit, 2), "modules": modules}
            )
        )


if __name__ == "__main__":
    main()
