# SPDX-License-Identifier: Apache-2.0
"""Makes a complete assessment: a plan, three splits, two models, two annotators, a channel, a ledger.

python examples/assessment/make.py FOLDER            a clean one
python examples/assessment/make.py FOLDER --faulty   with three test rows that were trained on, one patient in training
                                                     and test, and a scanner that tells the class in the test data
python examples/assessment/make.py FOLDER --here     with models that answer here, by a command of the plan, so that the
                                                     whole can be "conforming"; --faulty has its faults there, too

The data are made up, with a fixed seed: reading of skin images, three classes, one image a patient but for the fault.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import random
import statistics
from pathlib import Path

CLASSES = {"benign": 0.6, "atypical": 0.25, "malignant": 0.15}
SIZES = {"train": 1500, "validation": 500, "test": 800}
MONTHS = {"train": (2023, 1), "validation": (2024, 1), "test": (2024, 7)}
SKILL = {"A": 0.86, "B": 0.75}

PLAN = """assay = "1"

[plan]
title = "Reading of skin images by two models"
version = "1"
assessor = "Ada Example"
date = 2026-01-31
scope = "Models A and B on the test images of 2024."

[purpose]
stage = "verification-validation"
aims = ["assessment", "comparison"]
estimand = "trained-model"

[task]
type = "multiclass"
classes = ["benign", "atypical", "malignant"]
ordered = false
encoding = "text"

[use]
intended = "Second reading of skin images of adults."
system = "A dermatologist sees the image and both readings, and decides."
interactive = false
costs = "A missed malignant case costs far more than a needless biopsy."
strata = [{column = "sex", level = "f", minimum = 200}, {column = "sex", level = "m", minimum = 200}]

[metrics]
measures = ["accuracy", "balanced_accuracy", "precision_macro", "recall_macro", "f1_macro", "matthews_corrcoef", "kl_truth_pred", "csmf_accuracy"]
primary = "f1_macro"

[metrics.reasons]
f1_macro = "Every class matters, and so do both kinds of error."

[metrics.averaging_basis]
balanced_accuracy = "Every class matters equally, however rare it is."
precision_macro = "Every class matters equally, however rare it is."
recall_macro = "Every class matters equally, however rare it is."
f1_macro = "Every class matters equally, however rare it is."

[columns]
truth = "truth"
id = "id"
subject = "patient"
time = "taken_at"
features = ["diameter", "contrast", "texture"]

[data.train]
path = "train.csv"
source = "Images of clinic 1, 2023."
collection = "All consecutive patients who agreed."
sampling = "By patient and by time."
rationale = "The largest set with settled diagnoses."
deviations = "none"

[data.validation]
path = "validation.csv"
source = "Images of clinic 1, first half of 2024."
collection = "All consecutive patients who agreed."
sampling = "By patient and by time."
rationale = "Later than training, earlier than test."

[data.test]
path = "test.csv"
source = "Images of clinic 1, second half of 2024."
collection = "All consecutive patients who agreed."
sampling = "By patient and by time."
context = "clinic 1"

[population]
classes = {benign = 0.6, atypical = 0.25, malignant = 0.15}
source = "Register of the clinic, 2015 to 2022."

[bias]
analysis = "Class shares and sexes compared with the register."
mitigation = "none needed"
historical = "Scanners before 2020 are not in the data."

[tuning]
data = "validation"
scheme = "holdout"
ledger = "ledger.jsonl"
test_unused = "The labels of the test images were sealed until both models were released."
selection_bias = "Both models had the same budget on the validation images."
trials = {A = 40, B = 40}
seeds = [1]

[channels]
acquisition = {column = "scanner"}
preprocessing = {constant = "one pipeline"}
person = {constant = "one photographer"}
environment = {constant = "one room"}
known_effects = "none known"
treatment = "Results are shown by scanner."

[ground_truth]
test = "Two dermatologists, a third decides; biopsy where there is one."
train = "Two dermatologists, a third decides."
guideline = "Guideline of the clinic, version 3."
consensus = "A third dermatologist decides."
reliability = "Kappa about 0.8; no effect on the ranking is expected."
annotations = "annotations.csv"
annotators = ["reader_1", "reader_2"]
minimum_agreement = 0.6

[leakage]
analysis = "Split by patient and time before anything else; overlap checked here."

[features]
diameter = {available = true, lag = "none"}
contrast = {available = true, lag = "none"}
texture = {available = true, lag = "none"}

[environment]
processors = 1
memory_gb = 0.5
python = "3.11"
simulated = false

[cost]
out_of_scope = "Images are read in nightly batches."
not_measured = "Predictions came as a file."

[tests]
alpha = 0.05
chosen = ["mcnemar"]
justification = "Labels of both models on the same images."
correction = "holm"
difference = 0.07

[[claims]]
model = "A"
at_least = "B"
measure = "f1_macro"
margin = 0.1
words = "A reads about as well as B."

[[claims]]
model = "A"
at_least = 0.85
measure = "recall[class=malignant]"

[fairness]
groups = ["sex"]
criterion = "equal recall of malignant cases: a missed case is the harm"
tolerance = 0.1
minimum = 50
"""
MODEL = """
[models.{name}]
version = "1.0"
predicted = "{column}"
objective = "cross-entropy"
algorithm = "{algorithm}"
trained_on = "train"
preprocessing = [{{step = "scaling to zero mean and unit variance", fitted_on = "train"}}]

[models.{name}.hyperparameters]
depth = {{value = {depth}, type = "whole number", domain = "1 to 12", searched = true}}
rate = {{value = 0.1, type = "real", domain = "0 to 1", searched = true}}

[models.{name}.acceleration.training]
special_hardware = "none"
gpu = "none"
asic = "none"
instruction_sets = "AVX2"
sparsity = "none"
pruning = "none"
memory = "none"

[models.{name}.acceleration.testing]
special_hardware = "none"
gpu = "none"
asic = "none"
instruction_sets = "AVX2"
sparsity = "none"
pruning = "none"
memory = "none"
"""
MODELS = "".join(
    MODEL.format(name=name, column=f"model_{name.lower()}", algorithm=algorithm, depth=depth)
    for name, algorithm, depth in (("A", "gradient boosting", 6), ("B", "random forest", 9))
)
HERE = """
[run]
command = ["{python}", "predict.py", "model_{model}.json", "{inputs}", "{predictions}"]
"""
CLAIMS = """
[[claims]]
model = "A"
at_least = 0.5
measure = "balanced_accuracy"
"""
PREDICT = '''"""Answers every row by the nearest class: predict.py MODEL INPUTS PREDICTIONS."""

import csv
import json
import sys

model, inputs, predictions = sys.argv[1:]
with open(model, encoding="utf-8") as file:
    centres = json.load(file)
with open(inputs, encoding="utf-8", newline="") as read, open(predictions, "w", encoding="utf-8", newline="") as written:
    writer = csv.writer(written)
    writer.writerow(["id", "answer"])
    for row in csv.DictReader(read):
        far = {
            label: sum(((float(row[name]) - mean) / spread) ** 2 for name, (mean, spread) in centre.items())
            for label, centre in centres.items()
        }
        writer.writerow([row["id"], min(far, key=far.get)])
'''
"""The program of the models: they know the mean of each feature in each class, and how far features scatter."""
FEATURES = {"A": ("diameter", "contrast", "texture"), "B": ("texture",)}


def centres_of(rows: list[dict[str, object]], names: tuple[str, ...]) -> dict[str, dict[str, tuple[float, float]]]:
    """The centre of every class: the mean of its features, beside their standard deviation over all classes."""
    centres: dict[str, dict[str, tuple[float, float]]] = {label: {} for label in CLASSES}
    for name in names:
        spread = statistics.pstdev(float(str(row[name])) for row in rows)
        for label in CLASSES:
            mean = statistics.fmean(float(str(row[name])) for row in rows if row["truth"] == label)
            centres[label][name] = (mean, spread)
    return centres


def rows_of(split: str, chance: random.Random) -> list[dict[str, object]]:
    """The images of a split, one a patient, classes in the shares of the population."""
    size = SIZES[split]
    truths = [label for label, share in CLASSES.items() for _ in range(round(share * size))]
    chance.shuffle(truths)
    year, month = MONTHS[split]
    held = []
    for i, truth in enumerate(truths):
        grade = list(CLASSES).index(truth)
        held.append(
            {
                "id": f"{split}-{i:04}",
                "patient": f"P-{split}-{i:04}",
                "taken_at": f"{year}-{month + i * 6 // size:02}-{1 + i % 28:02}",
                "scanner": "XYZ"[i % 3],
                "sex": "fm"[chance.random() < 0.5],
                "diameter": round(chance.gauss(5 + grade, 1.5), 6),
                "contrast": round(chance.gauss(0.3 + 0.1 * grade, 0.1), 6),
                "texture": round(chance.gauss(grade, 1), 6),
                "truth": truth,
            }
        )
    return held


def guess(truth: object, skill: float, chance: random.Random) -> str:
    """A prediction that is right with a given chance."""
    return str(truth) if chance.random() < skill else chance.choice([one for one in CLASSES if one != truth])


def make(folder: Path, *, faulty: bool, here: bool = False) -> Path:
    """Write the assessment into a folder; the path of its plan."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(4213)
    splits = {name: rows_of(name, chance) for name in SIZES}
    if faulty:
        test, train = splits["test"], splits["train"]
        for i in range(3):
            kept = {"scanner": test[i]["scanner"], "taken_at": test[i]["taken_at"]}
            test[i] = {**train[i], **kept}
        test[10]["patient"] = train[10]["patient"]
        for row in test:
            if row["truth"] == "malignant":
                row["scanner"] = "Z"
    for name, rows in splits.items():
        written = [dict(row) for row in rows]
        if name == "test" and not here:
            for row in written:
                row |= {f"model_{model.lower()}": guess(row["truth"], skill, chance) for model, skill in SKILL.items()}
        save(folder / f"{name}.csv", written)
    readers = [
        {"id": row["id"], "reader_1": guess(row["truth"], 0.95, chance), "reader_2": guess(row["truth"], 0.93, chance)}
        for row in splits["test"]
    ]
    save(folder / "annotations.csv", readers)
    seen = hashlib.sha256((folder / "validation.csv").read_bytes()).hexdigest()
    entries = [
        {"time": f"2024-06-{day:02}T12:00:00+00:00", "purpose": "tune", "model": model, "data": seen}
        for model in SKILL
        for day in (1, 2, 3)
    ]
    lines, last = [], b""
    for one in entries:  # as `assay ledger add` enters them: each with the digest of the line before it
        last = json.dumps({**one, "before": hashlib.sha256(last).hexdigest() if last else ""}).encode()
        lines.append(last + b"\n")
    (folder / "ledger.jsonl").write_bytes(b"".join(lines))
    plan = folder / "plan.toml"
    plan.write_text(plan_text(folder, splits["train"]) if here else PLAN + MODELS, encoding="utf-8")
    return plan


def plan_text(folder: Path, train: list[dict[str, object]]) -> str:
    """The plan of models that answer here; their program and what they learned are written beside it."""
    (folder / "predict.py").write_text(PREDICT, encoding="utf-8")
    models = MODELS
    for name, names in FEATURES.items():
        (folder / f"model_{name}.json").write_text(json.dumps(centres_of(train, names)), encoding="utf-8")
        own = f'predicted = "answer"\nartefact = "model_{name}.json"'
        models = models.replace(f'predicted = "model_{name.lower()}"', own)
    before, after = PLAN.partition("[[claims]]")[0], PLAN.partition("[fairness]")[2]
    return before + CLAIMS + "\n[fairness]" + after + HERE + models


def save(path: Path, rows: list[dict[str, object]]) -> None:
    """A table as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where to write; it is made if it is not there")
    parser.add_argument("--faulty", action="store_true", help="with the three faults that the controls must find")
    parser.add_argument("--here", action="store_true", help="with models that answer here, by a command of the plan")
    asked = parser.parse_args()
    print(make(asked.folder, faulty=asked.faulty, here=asked.here))
