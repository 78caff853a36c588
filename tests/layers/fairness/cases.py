# SPDX-License-Identifier: Apache-2.0
"""Counts of groups as assessments: COMPAS by race, and six groups of which some have no value."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import assay
from assay.fairness.example import read_compas
from assay.fairness.fairness_by_factor import Fairness
from assay.fairness.settings import FairnessSettings

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
    return Fairness(a.by_group, a.grouped.factors, settings=FairnessSettings(**settings))


@cache
def compas(races=None):
    """The assessment of COMPAS: a decile of 5 or more is called positive."""
    columns = read_compas()
    kept = [i for i, race in enumerate(columns["race"]) if races is None or race in races]
    given = {name: [column[i] for i in kept] for name, column in columns.items()}
    group = {"race": given.pop("race")}
    return assay.assess(**given, positive=1, group=group)
