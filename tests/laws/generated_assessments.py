# SPDX-License-Identifier: Apache-2.0
"""Small assessments made to order: a whole plan with its data, and the same with one thing changed."""

from __future__ import annotations

import copy
import csv
import hashlib
import json
import random
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from assay.assess.conformity.ledger import add_note
from assay.assess.conformity.plan_run import examined
from assay.assess.conformity.statement import judge
from assay.assess.controls import Inquiry, run_controls
from assay.assess.plan.checked_plan import planned

SIZES = {"train": 240, "validation": 160, "test": 200}
YEARS = {"train": 2023, "validation": 2024, "test": 2025}
LARGEST = 99.5
"""The largest size of the training data."""
FAMILIES = ("special_hardware", "gpu", "asic", "instruction_sets", "sparsity", "pruning", "memory")
NONE = dict.fromkeys(FAMILIES, "none")
MEANS = {"A": 0.8, "B": 0.7, "C": 0.6}
SIGNED = {"title": "t", "version": "1", "assessor": "Ada Example", "date": "2026-01-31", "scope": "all of it"}


@cache
def root():
    """A folder that is gone with the process."""
    return tempfile.TemporaryDirectory(prefix="assay-law-")


def answers():
    """Ten runs of 1,500 answers that do not depend on each other, of which one in a hundred is late."""
    rng = np.random.default_rng(7)
    for run in range(10):
        times = np.where(rng.random(1500) < 0.01, 150.0, rng.uniform(9, 12, 1500))
        for place, time in enumerate(times.tolist()):
            yield {"run": run, "scheduled": 0.2 * place, "milliseconds": round(time, 3), "correct": 1}


def rows_of(split, classes, chance):
    """The rows of a split: one a patient, features of their own, scores of two models, a scanner that tells nothing."""
    found = []
    for i in range(SIZES[split]):
        grade = i % len(classes)
        scores = [min(0.999, max(0.001, chance.gauss(0.3 + 0.4 * (grade == 1), spread))) for spread in (0.15, 0.35)]
        guesses = [grade if chance.random() < skill else chance.randrange(len(classes)) for skill in (0.9, 0.7)]
        found.append(
            {
                "id": f"{split}-{i:03}",
                "patient": f"p-{split}-{i:03}",
                "scanner": "XYZ"[i // 3 % 3],
                "sex": "fm"[i // 2 % 2],
                "taken_at": f"{YEARS[split]}-{1 + i * 12 // SIZES[split]:02}-{1 + i % 28:02}",
                "size": round(chance.gauss(5 + grade, 2), 5),
                "shade": round(chance.gauss(0, 1), 5),
                "truth": classes[grade],
                "sa": round(scores[0], 5),
                "sb": round(scores[1], 5),
                "a": classes[guesses[0]],
                "b": classes[guesses[1]],
                "c": classes[chance.randrange(len(classes))],
                "d": classes[guesses[0] if i % 20 else (guesses[0] + 1) % len(classes)],
                "fold": i % 5,
                "site": "PQ"[i == 7],
            }
        )
    return found


def save(path, rows):
    """A table as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def model(**own):
    """A trained model of which everything is said."""
    return {
        "version": "1",
        "objective": "cross-entropy",
        "algorithm": "trees",
        "trained_on": "train",
        "preprocessing": [{"step": "scaling", "fitted_on": "train", "fitted": {"size": {"max": LARGEST}}}],
        "hyperparameters": {"depth": {"value": 3, "type": "whole number", "domain": "1 to 9", "searched": True}},
        "acceleration": {"training": NONE, "testing": NONE, "unused": "there is none"},
        "artefact": "model.bin",
        "latencies": "times.csv",
        **own,
    }


def document(task):
    """A plan that answers everything."""
    two = task == "binary"
    classes = ["no", "yes"] if two else ["low", "middle", "high"]
    scored = {"threshold_rule": "youden", "threshold_from": "validation", "scores": "probability"}
    names = {
        "A": model(**({"score": "sa", **scored} if two else {"predicted": "a"})),
        "B": model(**({"score": "sb", **scored} if two else {"predicted": "b"})),
    }
    measures = (
        [
            "accuracy",
            "balanced_accuracy",
            "recall",
            "specificity",
            "precision",
            "f1",
            "f2",
            "matthews_corrcoef",
            "auroc",
            "average_precision",
            "area_cumulative_response",
            "lift_at(share=0.1)",
            "h_measure",
            "kl_truth_pred",
            "csmf_accuracy",
        ]
        if two
        else [
            "accuracy",
            "balanced_accuracy",
            "precision_macro",
            "recall_macro",
            "recall_micro",
            "recall_weighted",
            "specificity_macro",
            "f1_macro",
            "f_beta_macro(beta=2)",
            "kl_truth_pred",
            "csmf_accuracy",
        ]
    )
    averages = ("macro", "micro", "weighted", "balanced")
    basis = {name: "every class matters" for name in measures if any(word in name for word in averages)}
    everywhere = {
        "source": "clinic",
        "collection": "all",
        "sampling": "by patient",
        "rationale": "largest",
        "context": "c",
    }
    return {
        "plan": SIGNED,
        "purpose": {
            "stage": "verification-validation",
            "aims": ["assessment", "comparison", "out-of-time"],
            "estimand": "trained-model",
        },
        "task": {
            "type": task,
            "classes": classes,
            "ordered": False,
            "one_class": False,
            "encoding": "text",
            **({"positive": "yes"} if two else {}),
        },
        "use": {
            "intended": "triage",
            "system": "a doctor decides",
            "interactive": True,
            "costs": "a miss costs ten",
            "strata": [{"column": "sex", "level": "f", "minimum": 50}],
            "maximum_age_days": 4000.0,
        },
        "metrics": {
            "measures": measures,
            "primary": "balanced_accuracy",
            "reasons": dict.fromkeys(measures, "it matters"),
            "averaging_basis": basis,
            **({"operating_points": [0.5]} if two else {}),
        },
        "columns": {
            "truth": "truth",
            "id": "id",
            "subject": "patient",
            "time": "taken_at",
            "features": ["size", "shade"],
        },
        "data": {
            name: {"path": f"{name}.csv", **everywhere, **({"deviations": "none"} if name == "train" else {})}
            for name in SIZES
        },
        "population": {"classes": {label: 1 / len(classes) for label in classes}, "source": "register"},
        "bias": {"analysis": "compared", "mitigation": "none needed", "historical": "none known"},
        "tuning": {
            "data": "validation",
            "scheme": "holdout",
            "ledger": "ledger.jsonl",
            "test_unused": "sealed",
            "selection_bias": "equal budgets",
            "trials": {"A": 4, "B": 4},
            "seeds": [1],
        },
        "channels": {
            "acquisition": {"column": "scanner"},
            "preprocessing": {"constant": "one"},
            "person": {"constant": "one"},
            "environment": {"constant": "one"},
            "known_effects": "none known",
            "treatment": "by scanner",
        },
        "ground_truth": {
            "test": "two readers",
            "train": "one reader",
            "guideline": "version 3",
            "consensus": "a third",
            "reliability": "good",
            "annotations": "annotations.csv",
            "annotators": ["r1", "r2"],
            "minimum_agreement": 0.5,
        },
        "leakage": {"analysis": "split by patient"},
        "features": {name: {"available": True, "lag": "none"} for name in ("size", "shade")},
        "environment": {"processors": 1, "memory_gb": 0.1, "python": "3.11", "simulated": False},
        "cost": {
            "scope": ["latency", "throughput", "efficiency"],
            "objective": "correct",
            "resource": "seconds",
            "out_of_scope": "no meter",
            "latency_ms": 100.0,
            "energy": "not measured",
            "training_energy": "not measured",
            "not_measured": "no",
        },
        "tests": {
            "alpha": 0.05,
            "chosen": ["mcnemar"],
            "justification": "labels of the same rows",
            "correction": "holm",
            "difference": 0.5,
        },
        "claims": [{"model": "A", "measure": "balanced_accuracy", "at_least": 0.5}],
        "fairness": {"groups": ["sex"], "criterion": "equal recall"},
        "models": names,
    }


LABEL_MEASURES = ["hamming_loss", "exact_match_ratio", "jaccard_dataset", "jaccard_samples", "f1_micro",
                  "kl_truth_pred"]  # fmt: skip


@cache
def several_labels(task, changes="{}"):
    """A plan of several labels a sample, or of numbers, counted."""
    place, chance = Path(root().name) / "labels", random.Random(4213)
    if not place.exists():
        place.mkdir()
        sets = [[name for name in "abc" if chance.random() < 0.4] or ["a"] for _ in range(80)]
        called = [[name for name in "abc" if (name in own) != (chance.random() < 0.1)] for own in sets]
        texts = [
            ("|".join(a), "|".join(b) or "a", len(a), len(a) + chance.random())
            for a, b in zip(sets, called, strict=True)
        ]
        names = ("id", "truth", "called", "y", "p")
        save(place / "test.csv", [dict(zip(names, (i, *each), strict=True)) for i, each in enumerate(texts)])
    several = task == "multilabel"
    base = {
        "plan": SIGNED,
        "purpose": {"stage": "verification-validation", "aims": ["assessment"]},
        "task": {"type": task, "given": {"truth": "truth" if several else "y"}},
        "metrics": {"measures": LABEL_MEASURES if several else ["mae"]},
        "columns": {"id": "id"},
        "data": {"test": {"path": "test.csv"}},
        "models": {"A": {"given": {"predicted": "called" if several else "p"}}},
    }
    if several:
        base["task"]["options"] = {"separator": "|", "labels": ["a", "b", "c"]}
    return examined(planned(merged(base, json.loads(changes)), place), ledger=False)[0]


def merged(base, changes):
    """A document with some of it replaced; None takes a part out."""
    found = copy.deepcopy(base)
    for name, value in changes.items():
        if value is None and name in found and found[name] is not None:
            del found[name]
        elif isinstance(value, dict) and isinstance(found.get(name), dict):
            found[name] = merged(found[name], value)
        else:
            found[name] = value
    return found


@cache
def folder(task):
    """The data of a task."""
    place = Path(root().name) / task
    place.mkdir()
    chance = random.Random(4213)
    classes = document(task)["task"]["classes"]
    splits = {name: rows_of(name, classes, chance) for name in SIZES}
    splits["train"][0]["size"] = LARGEST
    for name, rows in splits.items():
        save(place / f"{name}.csv", rows)
    odd = [
        {
            **row,
            "scanner": "XY"[row["truth"] == classes[1]],
            "size": 900.0 * (row["truth"] == classes[1]),
            "shade": 1.0,
            "id": f"odd-{i}",
            "truth": classes[1] if i % 9 else row["truth"],
        }
        for i, row in enumerate(splits["test"])
    ]
    save(place / "odd_rows.csv", odd)
    read = [
        {"id": row["id"], "r1": row["truth"], "r2": row["truth"] if i % 20 else classes[0]}
        for i, row in enumerate(splits["test"])
    ]
    save(place / "annotations.csv", read)
    save(place / "times.csv", list(answers()))
    save(place / "folds.csv", [{"id": row["id"], "fold": row["fold"], "repetition": 1} for row in splits["test"]])
    five = [
        {"id": row["id"], "repetition": r, "fold": (i // (r + 1)) % 2}
        for r in range(5)
        for i, row in enumerate(splits["test"])
    ]
    save(place / "five.csv", five)
    save(
        place / "nested.csv",
        [
            {"id": row["id"], "fold": f, "inner": "" if row["fold"] == f else i // 5 % 2}
            for f in range(5)
            for i, row in enumerate(splits["test"])
        ],
    )
    known = {row["id"]: row for row in splits["test"]}
    save(place / "five_rows.csv", [{**known[row["id"]], **row} for row in five])
    shapes = {
        "values": lambda: 0.02 * chance.gauss(0, 1),
        "odd": lambda: 0.02 * chance.expovariate(1) ** 3,
        "even": lambda: 0.05 * chance.choice([-1, 1]) + 0.001 * chance.random(),
    }
    for name, drawn in shapes.items():
        save(place / f"{name}.csv", [{model: base + drawn() for model, base in MEANS.items()} for _ in range(40)])
    (place / "model.bin").write_bytes(b"weights")
    seen = hashlib.sha256((place / "validation.csv").read_bytes()).hexdigest()
    add_note(place / "ledger.jsonl", "tuned on validation", purpose="tune", data=seen, model="A")
    return place


@cache
def counted(task, changes="{}"):
    """An assessment counted and looked at, by the changes of its plan as JSON; the first model of it."""
    loaded = planned(merged(document(task), json.loads(changes)), folder(task))
    return examined(loaded, ledger=False)[0]


LIGHT = {
    "metrics": {
        "measures": ["accuracy"],
        "primary": "accuracy",
        "averaging_basis": None,
        "reasons": None,
        "operating_points": None,
    },
    "data": {"train": None, "validation": None},
    "columns": {"features": None},
    "fairness": None,
    "ground_truth": None,
    "use": {"strata": None},
    "claims": None,
    "channels": {"acquisition": {"column": None, "constant": "one"}},
}
"""What a plan leaves out whose tests alone are of interest."""


def light(task, **changes):
    """An assessment of labels alone, without the times of answers."""
    models = {name: {**changes.get("models", {}).get(name, {}), "latencies": None} for name in "AB"}
    return made(task, **merged(LIGHT, {**changes, "models": {**changes.get("models", {}), **models}}))


def made(task, **changes):
    """The same with its changes as values."""
    return counted(task, json.dumps(changes))


def verdicts(inquiry, checked, record):
    """Verdict by row."""
    found = judge(inquiry, checked, record)
    return {one.row.id: one.verdict for one in (*found.rows, *found.supplement)}


def of(part):
    """Of an assessment as it was counted."""
    return verdicts(part.inquiry, part.checked, part.assessment.record)


def again(part, record=None, only=(), **changes):
    """Of the same assessment with another inquiry; `only` names the controls that are run anew, or all are."""
    inquiry = replace(part.inquiry, **changes)
    fresh = [*run_controls(inquiry, "plan", only), *run_controls(inquiry, "assessment", only)]
    kept = [one for one in part.checked if only and one.control.id not in only]
    return verdicts(inquiry, [*kept, *fresh], part.assessment.record if record is None else record)


def replanned(part, only=(), **sections):
    """Of the same assessment with other statements in its plan."""
    loaded = planned(merged(part.inquiry.loaded.document, sections), part.inquiry.loaded.folder)
    return again(part, only=only, loaded=loaded)


def nothing():
    """Of an empty plan."""
    inquiry = Inquiry(loaded=planned({}))
    return verdicts(inquiry, [*run_controls(inquiry, "plan"), *run_controls(inquiry, "assessment")], {})
