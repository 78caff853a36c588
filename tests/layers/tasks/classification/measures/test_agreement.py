# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from assay.core.values import Undefined
from assay.measures import parse
from assay.tally.labels.one_vs_rest import Multiclass


@pytest.mark.parametrize(
    ("name", "matrix", "reason"),
    [
        ("kappa", [[5, 0], [0, 0]], 'every row is truly "no" and was predicted so, which chance explains fully'),
        ("MCC", [[5, 2], [0, 0]], 'every row is truly "no"'),
        ("MCC", [[5, 0], [2, 0]], 'every row was predicted "no"'),
        ("MCC", [[0, 0], [0, 3]], 'every row is truly "yes"; every row was predicted "yes"'),
    ],
)
def test_the_reason_names_the_only_class(name, matrix, reason):
    found = parse(name)(Multiclass.of(matrix, labels=("no", "yes")))
    assert isinstance(found, Undefined)
    assert found.reason == reason


@pytest.mark.parametrize("name", ["kappa", "MCC", "accuracy", "NIR", "stratified_chance_accuracy"])
def test_without_rows_the_reason_is_that_there_are_none(name):
    found = parse(name)(Multiclass.of([[0, 0], [0, 0]]))
    assert isinstance(found, Undefined)
    assert found.reason == "there are no rows"


@pytest.mark.parametrize(
    ("matrix", "kappa"),
    [([[10, 0], [0, 10]], 1), ([[0, 10], [10, 0]], -1), ([[5, 5], [5, 5]], 0), ([[20, 0], [1, 0]], 0)],
    ids=["agreement", "all wrong", "chance", "constant call"],
)
def test_kappa_runs_from_minus_one_over_chance_to_one(matrix, kappa):
    # E-RAI-13: the range is -1 to 1, and both ends are reached.
    assert parse("kappa")(Multiclass.of(matrix)).value == kappa


def test_kappa_of_more_rows_in_one_class_is_below_that_of_balanced_ones_at_equal_accuracy():
    balanced, skewed = Multiclass.of([[45, 5], [5, 45]]), Multiclass.of([[85, 5], [5, 5]])
    assert parse("accuracy")(balanced).value == parse("accuracy")(skewed).value
    assert parse("kappa")(balanced).value > parse("kappa")(skewed).value


@pytest.mark.parametrize(
    ("cells", "mcc"), [((50, 50, 50, 50), 0), ((10, 40, 40, 10), -0.6), ((10, 0, 0, 10), 1), ((0, 10, 10, 0), -1)]
)
def test_the_correlation_has_both_its_terms(cells, mcc):
    # E-SCH-06: eq. 44 leaves the second term out and gives 0.25 and 0.04 for the first two.
    tp, fp, fn, tn = cells
    assert parse("MCC")(Multiclass.of([[tn, fp], [fn, tp]])).value == pytest.approx(mcc, abs=1e-16)


def test_the_correlation_of_k_classes_is_that_of_two_when_there_are_two():
    tp, fp, fn, tn = 261, 107, 39, 193
    two = (tp * tn - fp * fn) / ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5
    assert parse("MCC")(Multiclass.of([[tn, fp], [fn, tp]])).value == pytest.approx(two, abs=1e-15)


def test_baselines_describe_the_truth_and_not_the_model():
    one, other = Multiclass.of([[5, 0], [0, 3]]), Multiclass.of([[0, 5], [3, 0]])
    for name in ("NIR", "stratified_chance_accuracy", "uniform_chance_accuracy", "gini_impurity"):
        assert parse(name)(one).value == parse(name)(other).value
    assert parse("NIR")(one).value == 5 / 8
    assert (parse("NIR")(one).numerator, parse("NIR")(one).denominator) == (5, 8)
