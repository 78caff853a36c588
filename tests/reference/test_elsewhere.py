# SPDX-License-Identifier: Apache-2.0
"""Calls the scikit-learn function that a measure names as its own name elsewhere, and compares the values."""

from __future__ import annotations

import re
import types
from functools import cache

import numpy as np
import pytest
import sklearn.metrics

import assay
from assay.core.task import find_task, task_names
from assay.measures.catalogue import guidance_of

PREFIX = "sklearn.metrics."
GIVEN = {"beta": 1.7, "w_precision": 2.0, "w_recall": 3.0, "max_fpr": 0.3, "k": 2, "q": 0.3, "foreground": [1, 2]}
"""A value for each parameter that must be given and that a call names."""
KIND = assay.ScoreSettings(kind="probability")
CALLS = [
    (task, measure, call)
    for task in task_names()
    for measure in find_task(task).registry
    for call in guidance_of(measure).elsewhere
    if PREFIX in call
]


def rng():
    return np.random.default_rng(20261117)


@cache
def of_classification(two):
    truth = rng().choice(4, 400, p=[0.4, 0.3, 0.2, 0.1])
    scores = rng().dirichlet(np.ones(4), 400) + np.eye(4)[truth] * rng().random(400)[:, None]
    scores /= scores.sum(axis=1, keepdims=True)
    predicted = scores.argmax(axis=1)
    if two:
        truth = (truth > 1).astype(int)
        scores = np.clip(scores[:, 2:].sum(axis=1), 0.01, 0.99).round(2)
        predicted = (scores >= 0.5).astype(int)
    positive = {"positive": 1} if two else {}
    result = assay.assess(truth=truth, predicted=predicted, score=scores, scores=KIND, **positive)
    return result, truth, predicted, scores


@cache
def of_regression(_):
    truth = rng().gamma(3, 2, 200)
    predicted = truth * rng().normal(1, 0.1, 200).clip(0.5) + 0.2
    result = assay.regression(truth=truth, predicted=predicted, quantile={0.3: predicted}, baseline="mean")
    return result, truth, predicted, None


@cache
def of_clustering(geometric):
    truth, points = rng().integers(0, 3, 150), rng().normal(size=(150, 2))
    clusters = (truth + (rng().random(150) < 0.3)) % 4
    points += clusters[:, None]
    given = {"features": points} if geometric else {}
    return assay.clustering(truth=truth, predicted=clusters, **given), points if geometric else truth, clusters, None


@cache
def of_multilabel(_):
    rows, truth = np.arange(120), rng().random((120, 5)) < 0.4
    truth[rows, rows % 5] = True  # no row without a label, or with all of them: conventions differ there
    truth[rows, (rows + 1) % 5] = False
    scores = np.clip(rng().random((120, 5)) * 0.7 + truth * 0.3, 0, 1)
    predicted = scores > 0.45
    predicted[rows, scores.argmax(axis=1)] = True
    result = assay.multilabel(truth=truth.astype(int), predicted=predicted.astype(int), score=scores)
    return result, truth, predicted, scores


@cache
def of_segmentation(several):
    truth = rng().integers(0, 3 if several else 2, (16, 16))
    predicted = np.where(rng().random((16, 16)) < 0.2, np.roll(truth, 1), truth)
    return assay.segmentation(truth=[truth], predicted=[predicted]), truth.ravel(), predicted.ravel(), None


@cache
def of_retrieval(_):
    grades, scores = rng().integers(0, 4, (30, 8)), rng().integers(0, 4, (30, 8)).astype(float)
    truth = {str(q): {str(d): int(grades[q, d]) for d in range(8)} for q in range(30)}
    run = {str(q): {str(d): float(scores[q, d]) for d in range(8)} for q in range(30)}
    return assay.retrieval(truth=truth, predicted=run), grades, scores, None


INPUTS = {name.removeprefix("of_"): function for name, function in list(globals().items()) if name.startswith("of_")}
VARIANTS = {
    "classification": lambda measure: measure.takes.__name__ in ("Binary", "Ranked"),
    "clustering": lambda measure: measure.name in ("calinski_harabasz", "davies_bouldin", "silhouette"),
    "segmentation": lambda measure: measure.name.endswith("_macro"),
}
RANKED = ("label_ranking", "auroc", "average_precision", "coverage")
"""How measures of several labels that read scores begin."""


def call_elsewhere(expression, truth, predicted):
    """The value of a call that leaves its first two arguments out."""

    def bound(name):
        function = getattr(sklearn.metrics, name)
        return lambda **given: function(truth, predicted, **given)

    names = {name: bound(name) for name in re.findall(r"sklearn\.metrics\.(\w+)", expression)}
    space = {"sklearn": types.SimpleNamespace(metrics=types.SimpleNamespace(**names)), "y": truth, "len": len, **GIVEN}
    return eval(expression.partition(" (")[0], space)  # noqa: S307  text of our own package


@pytest.mark.parametrize(("task", "measure", "call"), CALLS, ids=[f"{t}-{m.name}-{c}" for t, m, c in CALLS])
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::RuntimeWarning")
def test_the_function_named_elsewhere_gives_the_same_value(task, measure, call):
    result, truth, predicted, scores = INPUTS[task](VARIANTS.get(task, bool)(measure))
    if scores is not None and (measure.from_scores or (task == "multilabel" and measure.name.startswith(RANKED))):
        predicted = scores
    given = {name: GIVEN[name] for name in measure.needs if name in GIVEN}
    if task == "retrieval":
        given = {"k": 5}
        call = call.replace("k=k", "k=5")
    if "error" in measure.needs:
        given = {"error": "mean_squared_error"}
    ours = result[measure.with_(**given).title if given else measure.name].value
    assert ours == pytest.approx(call_elsewhere(call, truth, predicted), rel=1e-9, abs=1e-12)


def test_many_measures_name_a_function_that_is_called():
    assert len(CALLS) >= 120
    assert {task for task, _, _ in CALLS} == {*INPUTS}
