# SPDX-License-Identifier: Apache-2.0
"""Counts of groups as assessments: COMPAS by race, and six groups of which some have no value."""

from __future__ import annotations

import csv
import json
from functools import cache
from importlib.resources import files
from pathlib import Path

import assay
from assay.fairness import FairnessSettings, assess_fairness

HERE = Path(__file__).parent


def read_case(name):
    return json.loads((HERE / f"{name}.json").read_text())


def assess_counts(counts, **settings):
    """The fairness of groups given by TP, FN, FP, TN."""
    truth, predicted, group = [], [], []
    for level, (tp, fn, fp, tn) in counts.items():
        truth += [1] * (tp + fn) + [0] * (fp + tn)
        predicted += [1] * tp + [0] * fn + [1] * fp + [0] * tn
        group += [level] * (tp + fn + fp + tn)
    a = assay.assess(truth=truth, predicted=predicted, positive=1, group={"g": group})
    return fairness_of(a, **settings)["g"]


def fairness_of(a, **settings):
    return assess_fairness(a.by_group, a.grouped.factors, settings=FairnessSettings(**settings))


@cache
def compas(races=None):
    """The assessment of COMPAS: a decile of 5 or more is called positive."""
    truth, predicted, score, race = [], [], [], []
    with (files("assay.fairness") / "examples" / "compas_race.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if races is not None and row["race"] not in races:
                continue
            n, decile = int(row["count"]), int(row["decile_score"])
            truth += [int(row["two_year_recid"])] * n
            score += [decile] * n
            predicted += [int(decile >= 5)] * n
            race += [row["race"]] * n
    return assay.assess(truth=truth, predicted=predicted, score=score, positive=1, group={"race": race})
