# SPDX-License-Identifier: Apache-2.0
"""The same numbers as scikit-learn on many random tables, and no number where it has only a stand-in."""

from __future__ import annotations

import math
import os
import warnings

import numpy as np
import pytest
from sklearn import metrics
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.tree import DecisionTreeClassifier

from assay.core.values import Undefined
from assay.measures import REGISTRY, parse
from assay.tally.labels.one_vs_rest import Multiclass
from tests.reference import peers
from tests.reference.compare import TOLERANCE, apart, class_differences, differences

SEEDS = range(1 if os.environ.get("CI") else 4)  # as with Hypothesis: a desk draws more
BETAS = (1, 0.5, 2, 3.7)


def multiclass(matrix):
    return Multiclass.of(matrix.tolist())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_values_of_the_classes_are_those_of_scikit_learn(seed):
    seen = set()
    for i, matrix in enumerate(peers.tables(seed, 250)):
        named = peers.scikit_learn_by_class(matrix, BETAS[i % 4])
        assert not class_differences(named, multiclass(matrix)), matrix
        seen |= {math.isnan(value) for values in named.values() for value in values}
    assert seen == {True, False}


@pytest.mark.parametrize("policy", ["skip", "zero", "one"])
@pytest.mark.parametrize("seed", SEEDS)
def test_averages_are_those_of_scikit_learn_under_each_of_its_stand_ins(seed, policy):
    for i, matrix in enumerate(peers.tables(100 + seed, 80)):
        named = peers.scikit_learn_averages(matrix, BETAS[i % 4], policy)
        told = {}
        for title, value in named.items():
            measure = parse(title)
            told[(measure if measure.average == "micro" else measure.with_(undefined=policy)).title] = value
        assert not differences(told, multiclass(matrix)), matrix


@pytest.mark.parametrize("seed", SEEDS)
def test_overall_values_are_those_of_scikit_learn(seed):
    for matrix in peers.tables(200 + seed, 250):
        named = peers.scikit_learn(matrix)
        assert not differences(named, multiclass(matrix)), matrix


@pytest.mark.parametrize("seed", SEEDS)
def test_binary_values_are_those_of_scikit_learn(seed):
    for matrix in peers.tables(300 + seed, 250, most=2):
        table = multiclass(matrix).one_vs_rest().at(1)
        named = peers.scikit_learn_binary(matrix)
        # scikit-learn has one stand-in for x/0 and 0/0; ours is infinite for the first and undefined for the second.
        assert not differences(named, table, infinite_as_nothing=True), matrix


@pytest.mark.parametrize("seed", SEEDS)
def test_the_matrix_is_that_of_scikit_learn(seed):
    import assay

    rng = np.random.default_rng(400 + seed)
    for _ in range(40):
        k, n = int(rng.integers(3, 12)), int(rng.integers(1, 400))
        truth, predicted = rng.integers(-3, k - 3, n), rng.integers(-3, k - 3, n)
        labels = list(range(-3, k - 3))
        ours = assay.assess(truth=truth, predicted=predicted, labels=labels).confusion.matrix()
        assert ours == metrics.confusion_matrix(truth, predicted, labels=labels).tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_parametrised_measures_are_scikit_learn_by_another_name(seed):
    rng = np.random.default_rng(500 + seed)
    for matrix in peers.tables(500 + seed, 40, most=2):
        truth, predicted, weight = peers.as_rows(matrix)
        table = multiclass(matrix).one_vs_rest().at(1)
        a, b = (float(x) for x in rng.uniform(0.1, 4, 2))
        fbeta = peers.quiet(
            metrics.fbeta_score, truth, predicted, beta=math.sqrt(b / a), sample_weight=weight, zero_division=np.nan
        )
        f0 = peers.quiet(metrics.fbeta_score, truth, predicted, beta=0, sample_weight=weight, zero_division=np.nan)
        assert not apart(f"f_weighted(w_precision={a!r}, w_recall={b!r})", table, fbeta)
        assert not apart("f_0", table, f0)
        if table.actual and table.actual_negative:
            w = float(rng.random())
            recalls = metrics.recall_score(truth, predicted, average=None, sample_weight=weight)
            assert not apart(f"average_class_accuracy(weight={w!r})", table, w * recalls[1] + (1 - w) * recalls[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_declared_class_weights_are_sample_weights_by_another_name(seed):
    rng = np.random.default_rng(600 + seed)
    for matrix in peers.tables(600 + seed, 40, least=3):
        size = matrix.sum(axis=1)
        if size.all():
            w = rng.uniform(0.1, 5, len(matrix))
            truth, predicted, weight = peers.as_rows(matrix)
            theirs = metrics.recall_score(
                truth, predicted, average="weighted", sample_weight=weight * (w / size)[truth]
            )
            ours = REGISTRY.find("BAW").with_(weights=dict(enumerate(w.tolist())))(multiclass(matrix))
            assert abs(ours.value - theirs) <= TOLERANCE


def test_baselines_are_those_of_dummy_classifiers_and_the_root_of_a_tree():
    for matrix in peers.tables(700, 30):
        truth, _, weight = peers.as_rows(matrix)
        nothing, table = np.zeros((len(truth), 1)), multiclass(matrix)
        dummy = DummyClassifier(strategy="most_frequent").fit(nothing, truth, sample_weight=weight)
        tree = DecisionTreeClassifier(max_depth=1).fit(nothing, truth, sample_weight=weight)
        named = {
            "no_information_rate": dummy.score(nothing, truth, sample_weight=weight),
            "gini_impurity": tree.tree_.impurity[0],
        }
        assert not differences(named, table)


# ---------------------------------------------------------------- stand-ins are not values

NEVER_CALLED = ([1, 1, 0, 0], [0, 0, 0, 0])
NEVER_TRUE = ([0, 0, 0, 0], [1, 0, 0, 0])
NOWHERE = ([0, 0, 0, 0], [0, 0, 0, 0])


@pytest.mark.parametrize(
    ("function", "name", "rows"),
    [
        (metrics.precision_score, "precision", NEVER_CALLED),
        (metrics.recall_score, "recall", NEVER_TRUE),
        (metrics.f1_score, "f1", NOWHERE),
        (metrics.jaccard_score, "jaccard", NOWHERE),
    ],
    ids=["precision", "recall", "f1", "jaccard"],
)
def test_a_zero_with_a_warning_is_undefined_here(function, name, rows):
    import assay

    with pytest.warns(UndefinedMetricWarning):
        stand_in = function(*rows, labels=[0, 1])
    assert stand_in == 0
    found = assay.assess(
        truth=rows[0], predicted=rows[1], labels=[0, 1], positive=1, intervals=assay.IntervalSettings(draws=100)
    )[name]
    assert found.value is None
    assert found.reason


def test_a_correlation_of_nothing_is_undefined_here_and_zero_there():
    assert peers.quiet(metrics.matthews_corrcoef, *NEVER_CALLED) == 0
    found = REGISTRY.find("MCC")(Multiclass.of([[2, 0], [2, 0]]))
    assert isinstance(found, Undefined)
    assert found.reason == "every row was predicted 0"


def test_a_class_absent_from_the_truth_is_not_silently_dropped():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert metrics.balanced_accuracy_score([0, 0, 1], [0, 2, 1]) == 0.75
    table = Multiclass.of([[1, 0, 1], [0, 1, 0], [0, 0, 0]])
    found = REGISTRY.find("balanced_accuracy")(table)
    assert isinstance(found, Undefined)
    assert "class 2 has no value" in found.reason
    assert "leaving it out: 0.750" in found.reason


def test_the_clustering_index_of_the_same_name_is_another_number():
    # E-SCH-12: scikit-learn's fowlkes_mallows_score counts pairs; on Rainio's Table 1 it is 0.6400, ours 0.7855.
    matrix = np.array([[193, 107], [39, 261]])
    truth, predicted, weight = peers.as_rows(matrix)
    theirs = metrics.fowlkes_mallows_score(np.repeat(truth, weight), np.repeat(predicted, weight))
    ours = REGISTRY.find("fowlkes_mallows")(multiclass(matrix).one_vs_rest().at(1)).value
    assert round(theirs, 4) == 0.6400
    assert round(ours, 4) == 0.7855


def test_the_area_under_the_precision_recall_curve_is_not_the_mean_of_precisions():
    # E-SCH-11: on Rainio's Table 1 average_precision_score gives 0.6820, the macro precision is 0.7706.
    matrix = np.array([[193, 107], [39, 261]])
    truth, predicted, weight = peers.as_rows(matrix)
    area = metrics.average_precision_score(truth, predicted, sample_weight=weight)
    assert round(area, 4) == 0.6820
    assert round(REGISTRY.find("precision_macro")(multiclass(matrix)).value, 4) == 0.7706
