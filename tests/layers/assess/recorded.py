# SPDX-License-Identifier: Apache-2.0
"""Small Records of every kind, to be verified and tampered with.

`python -m tests.layers.assess.recorded` writes those that are kept anew; run it when what a Record holds changes.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from functools import cache
from pathlib import Path
from unittest import mock

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from assay.assess.arguments import IntervalSettings, TestSettings
from assay.assess.assess import assess
from assay.assess.compare.compare import compare, compare_values
from assay.assess.compare.estimators import conduct
from assay.assess.conformity import plan_run as planned
from assay.assess.merge import merge
from assay.assess.plan.checked_plan import load_plan
from assay.assess.record.record import Record
from assay.assess.record.signatures import new_key, sign
from tests import flat
from tests.layers.assess.examples import maker

KEPT = Path(__file__).parent / "records"
MEASURES = ["accuracy", "recall", "f1", "matthews_corrcoef", "true_positives"]
OF_MANY = ["accuracy", "recall", "f1_macro", "matthews_corrcoef"]


MACHINE = {"system": "Linux", "release": "6.1", "machine": "x86_64", "processor": "a processor", "processors": 4,
           "memory": 16 * 2**30, "accelerators": [], "python": "3.12.1", "packages": {"numpy": "2.3.0"},
           "linear_algebra": {"blas": "openblas"}, "governor": None}  # fmt: skip
"""What stands for the machine in the Record of a plan, which would list every package of the real one."""
ACCEPT = """accept = ["accuracy >= 0.5", "f1_macro non-inferior margin 0.2"]
against = "reference.json"
primary ="""


@cache
def planned_record() -> Record:
    """A model of a plan: claims, a comparison, a ledger, decisions against a reference, controls, conformity."""
    make = maker()
    make.SIZES = {"train": 60, "validation": 40, "test": 60}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = make.make(folder, faulty=True)
        rows = {"data": folder / "test.csv", "truth": "truth", "predicted": "model_b"}
        flat.assess(**rows, measures=["accuracy", "f1_macro"], draws=100).save(folder / "reference.json")
        text = plan.read_text(encoding="utf-8").replace("primary =", ACCEPT)
        text = re.sub(r"measures = \[.*?\]", 'measures = ["accuracy", "f1_macro"]', text, count=1)
        text = re.sub(r"(balanced_accuracy|precision_macro|recall_macro) = .*\n", "", text)
        plan.write_text(text, encoding="utf-8")
        with mock.patch.object(planned, "fingerprint", return_value=MACHINE):
            return planned.run_planned(load_plan(plan))[0][1].record


def _rows(seed, rows, labels, right=0.85):
    rng = np.random.default_rng(seed)
    truth = rng.choice(labels, rows)
    return rng, truth, np.where(rng.random(rows) < right, truth, rng.choice(labels, rows))


@cache
def records() -> dict[str, Record]:
    """Every kind of Record, each a few hundred leaves but for that of a plan."""
    rng, truth, called = _rows(1, 200, ["no", "yes"])
    binary = assess(
        truth=truth, predicted=called, positive="yes", measures=MEASURES, intervals=IntervalSettings(draws=100)
    )
    _, other, also = _rows(2, 150, ["no", "yes"])
    second = assess(
        truth=other, predicted=also, positive="yes", measures=MEASURES, intervals=IntervalSettings(draws=100)
    )
    many = _rows(3, 240, ["cat", "dog", "owl"])
    weight = rng.choice([0.5, 1.0, 2.25], 200)
    group = {"sex": rng.choice(["f", "m"], 200)}
    score = np.round(np.clip(0.5 * (truth == "yes") + rng.random(200) * 0.5, 0, 1), 2)
    return {
        "binary": binary.record,
        "multiclass": assess(
            truth=many[1], predicted=many[2], measures=OF_MANY, intervals=IntervalSettings(draws=100)
        ).record,
        "grouped": assess(
            truth=truth,
            predicted=called,
            positive="yes",
            group=group,
            measures=MEASURES[:3],
            intervals=IntervalSettings(draws=100),
        ).record,
        "weighted": assess(
            truth=truth,
            predicted=called,
            positive="yes",
            weight=weight,
            measures=MEASURES,
            intervals=IntervalSettings(draws=100),
        ).record,
        "merged": merge(sites={"north": binary, "south": second}).record,
        "scored": assess(
            truth=truth,
            score=score,
            threshold=0.5,
            positive="yes",
            measures=["recall", "auroc"],
            intervals=IntervalSettings(draws=100),
        ).record,
        "decided": binary.accept(
            "recall >= 0.85", "accuracy >= 0.5 simple", "recall non-inferior margin 0.1", against=second
        ).record,
        "compared": compare(truth=truth, predicted={"A": called, "B": np.roll(called, 1)}, positive="yes").record,
        "tally": binary.tally(site="north", smallest_cell=1),
        **_comparisons(rng, truth, called, score),
        "planned": planned_record(),
    }


def _comparisons(rng, truth, called, score) -> dict[str, Record]:
    """By scores of two and of all classes, channel, subjects with weights, values of sets and folds, different rows."""
    given = {"truth": truth, "predicted": {"A": called, "B": np.roll(called, 1)}, "positive": "yes"}
    other = np.round(rng.random(200), 2)
    few = {"draws": 100, "measures": ["accuracy"]}
    values = {name: np.round(rng.normal(0.8, 0.05, 10), 3) for name in "ABC"}
    rows = np.round(rng.normal(size=(60, 2)), 3)
    label = (rows[:, 0] + rng.normal(size=60) > 0).astype(int)
    models = {"bayes": GaussianNB(), "most": DummyClassifier()}
    return {
        "compared-scores": compare(truth=truth, score={"A": score, "B": other}, positive="yes").record,
        "compared-channels": flat.compare(**given, channel=["N", "S"] * 100, **few).record,
        "compared-subjects": flat.compare(
            **given, subject=[i // 4 for i in range(200)], weight=[1.0, 2.5] * 100, **few
        ).record,
        "compared-data-sets": compare_values(values=values, per="data set").record,
        "compared-groups": compare_values(values=values, tests=TestSettings(independent=True)).record,
        "conducted": conduct(models, rows, label, "5x2", measures="accuracy").compare().record,
        "compared-apart": _apart(truth, called, score),
        "compared-class-scores": _class_scores(),
    }


def _apart(truth, called, score) -> Record:
    """Batches of one model: different rows."""
    parts = {"May": slice(0, 120), "June": slice(120, 200)}
    columns = {"truth": truth, "predicted": called, "score": score}
    given = {role: {name: column[part] for name, part in parts.items()} for role, column in columns.items()}
    return flat.compare(**given, positive="yes", independent=True, measures=["f1"]).record


def _class_scores() -> Record:
    """Scores of all classes."""
    rng = np.random.default_rng(4)
    truth = np.arange(30) % 3
    scores = {name: np.round(rng.random((30, 3)) + 0.5 * np.eye(3)[truth], 2) for name in "AB"}
    return compare(
        truth=truth, score=scores, intervals=IntervalSettings(draws=100), measures=["top_k_accuracy(k=2)"]
    ).record


if __name__ == "__main__":
    (KEPT / "signed").mkdir(parents=True, exist_ok=True)
    for name, record in records().items():
        record.save(KEPT / f"{name}.json")
    signed = records()["decided"].save(KEPT / "signed" / "record.json")
    signed.with_name("record.dsse.json").unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        key, public, _ = new_key(Path(folder) / "ada.key")
        sign(signed, key)
        shutil.copy(public, signed.with_name("ada.key.pub"))
