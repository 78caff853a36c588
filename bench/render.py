# SPDX-License-Identifier: Apache-2.0
"""Time and size of reports: a Record is drawn as page and paper, which compute nothing again.

    python bench/render.py [--rows 20000] [--repeats 3]

Processor time is what counts, because a machine may have other things to do; it is that of this process and all its
threads, the best of some runs after the first, which loads templates and fonts. Before the times are taken, what a
reader relies on is checked: the same bytes twice, and the Record inside the paper.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import assay
import assay.report
from assay.assess.record.record import Record
from assay.assess.record.report_formats import BINARY, RENDERERS


def labels(classes: int, groups: int, rows: int) -> Record:
    """An assessment of many classes, its rows in many groups."""
    rng = np.random.default_rng(4213)
    truth = rng.integers(0, classes, rows)
    called = np.where(rng.random(rows) < 0.8, truth, rng.integers(0, classes, rows))
    by = {"site": rng.integers(0, groups, rows)} if groups else None
    return assay.assess(truth=truth, predicted=called, group=by, labels=list(range(classes))).record


def scores(rows: int) -> Record:
    """Two classes with probabilities and a threshold, in two groups."""
    rng = np.random.default_rng(4213)
    truth = rng.random(rows) < 0.25
    score = 1 / (1 + np.exp(-(rng.normal(size=rows) * 1.2 + 1.9 * truth - 1.3)))
    by = {"sex": rng.choice(["female", "male"], rows)}
    return assay.assess(
        truth=truth, score=score, scores=assay.ScoreSettings(kind="probability"), threshold=0.4, group=by
    ).record


def best(work: Callable[[], object], repeats: int) -> float:
    """The least processor time of some runs after the first, in seconds."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def checked(record: Record) -> None:
    """The paper has the same bytes on two runs and carries the Record; its compiler refuses what is not PDF/A and PDF/UA."""
    first, second = (BINARY[".pdf"](record) for _ in range(2))
    if first != second:
        sys.exit("two papers of one Record differ")
    from pypdf import PdfReader

    (attached,) = PdfReader(io.BytesIO(first)).attachments["record.json"]
    if json.loads(attached) != json.loads(record.to_text()):
        sys.exit("the attached Record differs")


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    cases = {
        "2 classes, scores, 1,000 rows": scores(1_000),
        "2 classes, scores, 1,000,000 rows": scores(1_000_000),
        "10 classes, 1,000 rows": labels(10, 0, 1_000),
        "10 classes, 1,000,000 rows": labels(10, 0, 1_000_000),
        f"100 classes, 50 groups, {asked.rows:,} rows": labels(100, 50, asked.rows),
    }
    print("| Record | page | processor time | paper | processor time |\n|---|---|---|---|---|")
    for name, record in cases.items():
        checked(record)
        sizes, times = {}, {}
        for kind, draw in (("page", RENDERERS[".html"]), ("paper", BINARY[".pdf"])):
            made = draw(record)
            sizes[kind] = len(made.encode() if isinstance(made, str) else made) / 1000
            times[kind] = best(partial(draw, record), asked.repeats)
        print(
            f"| {name} | {sizes['page']:,.0f} KB | {times['page']:.2f} s"
            f" | {sizes['paper']:,.0f} KB | {times['paper']:.2f} s |",
            flush=True,
        )


if __name__ == "__main__":
    main()
