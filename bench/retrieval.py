# SPDX-License-Identifier: Apache-2.0
"""Measures retrieval beside trec_eval's own code (pytrec_eval): all measures and intervals, text and Parquet.

    python bench/retrieval.py [queries of the large run, 10000 by default]

Every line is a process of its own: seconds of the clock, seconds of the processors, peak memory.
Needs pytrec-eval-terrier for the peer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

DOCUMENTS = 1000
MEASURED = """
import json, resource, sys, time
import numpy, {warm}
{imports}
before, cpu = time.perf_counter(), time.process_time()
{work}
print(json.dumps({{
    "seconds": time.perf_counter() - before, "processor": time.process_time() - cpu,
    "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "map": value,
}}))
"""
OURS = """
assessment = assay.retrieval(truth={truth!r}, predicted={run!r})
estimates = assessment.estimates
value = assessment["map"].value
"""
PEER = """
with open({truth!r}) as file:
    truth = pytrec_eval.parse_qrel(file)
with open({run!r}) as file:
    run = pytrec_eval.parse_run(file)
measures = {{"map", "recip_rank", "ndcg", "ndcg_cut", "P", "recall", "bpref", "Rprec", "success"}}
values = pytrec_eval.RelevanceEvaluator(truth, measures).evaluate(run)
value = sum(query["map"] for query in values.values()) / len(values)
"""


def write_run(folder: Path, queries: int) -> None:
    """A run of 1,000 documents a query, and 30 judgements a query of which 20 were retrieved."""
    rng = np.random.default_rng(0)
    with (folder / "run.txt").open("w") as run, (folder / "qrels.txt").open("w") as truth:
        for query in range(queries):
            documents = rng.choice(1_000_000, size=DOCUMENTS, replace=False)
            scores = np.sort(np.round(rng.gamma(2, 2, DOCUMENTS), 4))[::-1]
            lines = (
                f"q{query} Q0 d{d} {i + 1} {s:.4f} x\n" for i, (d, s) in enumerate(zip(documents, scores, strict=True))
            )
            run.write("".join(lines))
            judged = [
                *rng.choice(documents, 20, replace=False),
                *(1_000_000 + rng.choice(1_000_000, 10, replace=False)),
            ]
            grades = rng.choice([0, 0, 0, 1, 1, 2, 3], len(judged))
            grades[0] = 1
            truth.write("".join(f"q{query} 0 d{d} {g}\n" for d, g in zip(judged, grades, strict=True)))


def write_parquet(folder: Path) -> None:
    """The same rows as Parquet."""
    import duckdb

    columns = "{'query': 'VARCHAR', 'q0': 'VARCHAR', 'document': 'VARCHAR', 'rank': 'INT', 'score': 'DOUBLE', 'tag': 'VARCHAR'}"
    duckdb.execute(
        f"COPY (SELECT query, document, score FROM read_csv('{folder}/run.txt', delim=' ', header=false, "  # noqa: S608
        f"auto_detect=false, columns={columns})) TO '{folder}/run.parquet'"
    )


def measure(imports: str, work: str) -> dict[str, float]:
    """Run some work in a process of its own."""
    warm = "duckdb, scipy.special" if "assay" in imports else "json"
    code = MEASURED.format(warm=warm, imports=imports, work=work)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir()) / "bytecode")  # as of an installed package
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return dict(json.loads(done.stdout))


def main(large: int) -> None:
    """Print the table."""
    print("| queries x 1,000 | tool | s | processor s | MB | times trec_eval |\n|---|---|---|---|---|---|")
    for queries in (1000, large):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            subprocess.run([sys.executable, __file__, str(queries), name], check=True)  # or its memory would count
            truth = str(folder / "qrels.txt")
            rows = {
                "pytrec_eval, text": measure(
                    "import pytrec_eval", PEER.format(truth=truth, run=str(folder / "run.txt"))
                ),
                "assay, text": measure(
                    "import assay; assay.retrieval", OURS.format(truth=truth, run=str(folder / "run.txt"))
                ),
                "assay, Parquet": measure(
                    "import assay; assay.retrieval", OURS.format(truth=truth, run=str(folder / "run.parquet"))
                ),
            }
        peer = rows["pytrec_eval, text"]
        for tool, row in rows.items():
            assert abs(row["map"] - peer["map"]) < 1e-12, tool  # noqa: S101
            print(
                f"| {queries:,} | {tool} | {row['seconds']:.2f} | {row['processor']:.2f} | {row['megabytes']:.0f} | "
                f"{row['seconds'] / peer['seconds']:.2f} (processor {row['processor'] / peer['processor']:.2f}) |",
                flush=True,
            )


if __name__ == "__main__":
    if len(sys.argv) > 2:
        write_run(Path(sys.argv[2]), int(sys.argv[1]))
        write_parquet(Path(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
