# SPDX-License-Identifier: Apache-2.0
"""False alarms of the large-sample tests by subject and by weight, which are what their intervals miss, by simulation.

    python bench/unit_z.py [--runs 4000] [--subjects 2000]

Subjects have 1 to 40 rows each, a mean of about 10, and an easiness that all their rows and both models share, so that
taking rows one by one is wrong. Both models are equally good; one in every four subjects is hard for either alone.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

from assay.inference.tests.mcnemar import mcnemar_plain
from assay.inference.tests_catalogue import find_test
from assay.tally.contingency_tables import Outcomes
from assay.tally.labels.label_cells import Codes
from assay.tally.paired.per_unit import PerUnit

MEASURES = ("accuracy", "recall", "specificity", "balanced_accuracy", "f1", "matthews_corrcoef")
MARGIN, ALPHA = 0.01, 0.05


def drawn(rng: np.random.Generator, subjects: int, ahead: float) -> tuple[np.ndarray, ...]:
    """Subject, truth and the calls of two models that part by `ahead` points of accuracy."""
    sizes = np.clip(rng.geometric(0.1, subjects), 1, 40)
    who = np.repeat(np.arange(subjects), sizes)
    truth = rng.random(len(who)) < np.repeat(rng.beta(1, 2, subjects), sizes)
    own = rng.normal(size=(3, subjects))
    calls = []
    for model in (0, 1):
        easy = np.repeat(own[0] + own[1 + model], sizes)
        share = 1 / (1 + np.exp(-1.5 - easy)) + (ahead if model == 0 else 0.0)
        calls.append(np.where(rng.random(len(who)) < share, truth, ~truth))
    return who, truth.astype(int), *(one.astype(int) for one in calls)


def rows_of(truth: np.ndarray, calls: list[np.ndarray], **units: np.ndarray) -> PerUnit:
    """The rows of two models."""
    codes = [Codes(codes=one.astype(np.uint8), names=(0, 1)) for one in (truth, *calls)]
    if "subject" in units:
        names = tuple(range(int(units["subject"].max()) + 1))
        units["subject"] = Codes(codes=units["subject"].astype(np.int32), names=names)
    return PerUnit.of(truth=codes[0], labels=(0, 1), models=("A", "B"), calls=codes[1:], **units)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--subjects", type=int, default=2000)
    asked = parser.parse_args()
    rng, unit_z = np.random.default_rng(4213), find_test("unit_z")
    alarms = {f"{name}, {by}": [0, 0] for by in ("subjects", "weights", "both") for name in MEASURES}
    alarms |= {"non-inferiority by accuracy, subjects": [0, 0], "accuracy, McNemar row by row": [0, 0]}
    for _ in range(asked.runs):
        who, truth, a, b = drawn(rng, asked.subjects, 0.0)
        weight = rng.lognormal(0, 1, len(who))
        flat = np.unique(who, return_index=True)[1]  # one row a subject, so that rows are independent
        tallies = {
            "subjects": rows_of(truth, [a, b], subject=who),
            "weights": rows_of(truth[flat], [a[flat], b[flat]], weight=weight[flat]),
            "both": rows_of(truth, [a, b], subject=who, weight=weight),
        }
        for by, t in tallies.items():
            for name in MEASURES:
                found = unit_z(t, measure=name, positive=1)
                _count(alarms[f"{name}, {by}"], found.p)
        right = [one == truth for one in (a, b)]
        both, only_a, only_b, neither = (
            int((x & y).sum()) for x in (right[0], ~right[0]) for y in (right[1], ~right[1])
        )
        cells = Outcomes(both=both, only_a=only_a, only_b=only_b, neither=neither)
        _count(alarms["accuracy, McNemar row by row"], mcnemar_plain(cells).p)
        who, truth, a, b = drawn(rng, asked.subjects, -MARGIN)
        found = find_test("unit_z_non_inferiority")(rows_of(truth, [a, b], subject=who), margin=MARGIN)
        _count(alarms["non-inferiority by accuracy, subjects"], found.p)
    error = 100 * math.sqrt(ALPHA * (1 - ALPHA) / asked.runs)
    print(f"{asked.runs:,} runs of {asked.subjects:,} subjects; the error of 5 % is {error:.2f} points")
    print("| measure, units | false alarms at 5 % | judged |\n|---|---|---|")
    for name, (wrong, judged) in alarms.items():
        share = f"{100 * wrong / judged:.1f} %" if judged else ""
        print(f"| {name} | {share} | {100 * judged / asked.runs:.0f} % |")


def _count(held: list[int], p: float | None) -> None:
    """Alarms, and how often a test was made; p says the same as the interval, so this is its coverage, too."""
    held[0] += p is not None and p < ALPHA
    held[1] += p is not None


if __name__ == "__main__":
    main()
