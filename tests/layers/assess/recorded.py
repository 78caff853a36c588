# SPDX-License-Identifier: Apache-2.0
"""Small Records of every kind, to be verified and tampered with.

`python -m tests.layers.assess.recorded` writes those that are kept for ever, and never over one that is there.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from assay.assess.comparing import compare
from assay.assess.merging import merge
from assay.assess.record import Record
from assay.assess.run import assess

KEPT = Path(__file__).parent / "records"
MEASURES = ["accuracy", "recall", "f1", "matthews_corrcoef", "true_positives"]
OF_MANY = ["accuracy", "recall", "f1_macro", "matthews_corrcoef"]


def _rows(seed, rows, labels, right=0.85):
    rng = np.random.default_rng(seed)
    truth = rng.choice(labels, rows)
    return rng, truth, np.where(rng.random(rows) < right, truth, rng.choice(labels, rows))


@cache
def records() -> dict[str, Record]:
    """Binary, multi-class, grouped, weighted, merged, scored, decided, compared; each a few hundred leaves."""
    rng, truth, called = _rows(1, 200, ["no", "yes"])
    binary = assess(truth=truth, predicted=called, positive="yes", measures=MEASURES, draws=100)
    _, other, also = _rows(2, 150, ["no", "yes"])
    second = assess(truth=other, predicted=also, positive="yes", measures=MEASURES, draws=100)
    many = _rows(3, 240, ["cat", "dog", "owl"])
    weight = rng.choice([0.5, 1.0, 2.25], 200)
    group = {"sex": rng.choice(["f", "m"], 200)}
    score = np.round(np.clip(0.5 * (truth == "yes") + rng.random(200) * 0.5, 0, 1), 2)
    return {
        "binary": binary.record,
        "multiclass": assess(truth=many[1], predicted=many[2], measures=OF_MANY, draws=100).record,
        "grouped": assess(
            truth=truth, predicted=called, positive="yes", group=group, measures=MEASURES[:3], draws=100
        ).record,
        "weighted": assess(
            truth=truth, predicted=called, positive="yes", weight=weight, measures=MEASURES, draws=100
        ).record,
        "merged": merge(sites={"north": binary, "south": second}).record,
        "scored": assess(
            truth=truth, score=score, threshold=0.5, positive="yes", measures=["recall", "auroc"], draws=100
        ).record,
        "decided": binary.accept(
            "recall >= 0.85", "accuracy >= 0.5 simple", "recall non-inferior margin 0.1", against=second
        ).record,
        "compared": compare(truth=truth, predicted={"A": called, "B": np.roll(called, 1)}, positive="yes").record,
        "tally": binary.tally(site="north", smallest_cell=1),
    }


if __name__ == "__main__":
    KEPT.mkdir(exist_ok=True)
    for name, record in records().items():
        if not (KEPT / f"{name}.json").exists():
            record.save(KEPT / f"{name}.json")
