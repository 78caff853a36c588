# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import inf

import pytest

import assay
from assay.core.errors import PlanError
from assay.core.values import Share, Undefined
from assay.measures import parse
from assay.tally.labels.one_vs_rest import Multiclass

TABLE = Multiclass.of([[8, 1, 1], [2, 5, 3], [0, 0, 10]], labels=("a", "b", "c"))


def test_accuracy_and_its_complement_are_shares_of_all_rows():
    accuracy, error = parse("accuracy")(TABLE), parse("error_rate")(TABLE)
    assert isinstance(accuracy, Share)
    assert (accuracy.numerator, accuracy.denominator) == (23, 30)
    assert (error.numerator, error.denominator) == (7, 30)


@pytest.mark.parametrize(
    "weights",
    [
        {},
        {"a": 1, "b": 1},
        {"a": 1, "b": 1, "c": 1, "d": 1},
        {"a": -1, "b": 1, "c": 1},
        {"a": 0, "b": 0, "c": 0},
        {"a": inf, "b": 1, "c": 1},
        {"a": float("nan"), "b": 1, "c": 1},
    ],
    ids=["none", "one short", "one too many", "negative", "all zero", "infinite", "NaN"],
)
def test_class_weights_must_be_complete_and_sensible(weights):
    with pytest.raises(PlanError) as refused:
        parse("balanced_accuracy_weighted").with_(weights=weights)(TABLE)
    assert refused.value.code == "measure-needs"
    assert "weights={" in refused.value.fix


def test_class_weights_weigh_the_recalls():
    found = parse("balanced_accuracy_weighted(weights={'a': 1, 'b': 3, 'c': 0})")(TABLE)
    assert found.value == pytest.approx((0.8 + 3 * 0.5) / 4, abs=1e-15)


def test_a_class_without_rows_matters_only_if_it_has_weight():
    table = Multiclass.of([[8, 2, 0], [5, 5, 0], [0, 0, 0]], labels=("a", "b", "c"))
    measure = parse("balanced_accuracy_weighted")
    assert measure.with_(weights={"a": 1, "b": 2, "c": 0})(table).value == pytest.approx(0.6)
    found = measure.with_(weights={"a": 1, "b": 2, "c": 1})(table)
    assert isinstance(found, Undefined)
    assert '"c"' in found.reason


def test_a_perfect_table_never_scores_above_one_whatever_the_weights():
    weights = {
        0: 0.09204938554384978,
        1: 8.812338589221554,
        2: 6.864838541790798,
        3: 9.690406502940995,
        4: 7.258526014465152,
        5: 5.276294143623982,
    }
    perfect = Multiclass.of([[int(i == j) for j in range(6)] for i in range(6)])
    assert parse("balanced_accuracy_weighted").with_(weights=weights)(perfect).value == 1


def test_a_group_whose_class_sizes_happen_to_be_the_weights_does_not_sink_the_assessment():
    # Costs are declared once, for all rows; that the rows of one group are balanced is nobody's mistake.
    truth = ["a", "b", "c", "a", "b", "c", "a", "a"]
    group = ["x", "x", "x", "y", "y", "y", "y", "y"]
    found = assay.assess(
        truth=truth,
        predicted=truth,
        group={"g": group},
        measures=["balanced_accuracy_weighted(weights={'a': 1, 'b': 1, 'c': 1})"],
        intervals=assay.IntervalSettings(draws=100),
    )
    assert found.estimates[0].value == 1
    assert len(found.estimates) == 3


@pytest.mark.parametrize("cells", ["auto", "percentile", "bca"])
def test_equal_class_weights_have_the_interval_of_the_balanced_accuracy(cells):
    # Also where a draw can lose the one row of "c": it then knows nothing of its recall, and must not count it as 0.
    weighted, plain = (
        assay.from_confusion_matrix(
            confusion=[[20, 1, 0], [2, 20, 0], [0, 0, 1]],
            orientation="rows=truth",
            labels=["a", "b", "c"],
            intervals=assay.IntervalSettings(draws=400, cells=cells),
        )[name]
        for name in ("balanced_accuracy_weighted(weights={'a': 1, 'b': 1, 'c': 1})", "balanced_accuracy")
    )
    assert (weighted.low, weighted.high) == pytest.approx((plain.low, plain.high), abs=1e-12)


@pytest.mark.parametrize("reference", [-0.1, 1.1, "best", None, inf, float("nan"), True])
@pytest.mark.parametrize("name", ["skill_score", "relative_improvement_factor"])
def test_a_reference_must_be_an_accuracy_or_a_named_baseline(name, reference):
    if reference is True:
        assert parse(name).with_(reference=1)(TABLE) is not None
        return
    with pytest.raises(PlanError) as refused:
        parse(name).with_(reference=reference)(TABLE)
    assert refused.value.code == "measure-needs"


def test_skill_compares_errors():
    assert parse("skill_score(reference=0.5)")(TABLE).value == pytest.approx((23 / 30 - 0.5) / 0.5)
    assert parse("skill_score(reference='majority')")(TABLE).value == pytest.approx((23 / 30 - 1 / 3) / (2 / 3))
    assert parse("skill_score(reference='stratified')")(TABLE).value == pytest.approx((23 / 30 - 1 / 3) / (2 / 3))
    assert parse("skill_score(reference=0.9)")(TABLE).value < 0


def test_a_best_possible_score_in_the_numerator_would_say_nothing():
    # E-SCH-13, E-SCH-14: read literally, both would be constant; ours move with the model.
    worse = Multiclass.of([[5, 4, 1], [2, 5, 3], [0, 0, 10]])
    for name in ("skill_score(reference=0.5)", "relative_improvement_factor(reference=0.5)"):
        assert parse(name)(TABLE).value > parse(name)(worse).value


def test_the_improvement_over_a_reference_is_a_ratio_of_errors():
    assert parse("RIF").with_(reference=0.5)(TABLE).value == pytest.approx(0.5 / (7 / 30))
    perfect = Multiclass.of([[3, 0], [0, 3]])
    assert parse("RIF").with_(reference=0.5)(perfect).value == inf
    assert isinstance(parse("RIF").with_(reference=1)(perfect), Undefined)


def test_one_class_only_has_values_or_reasons():
    lonely = Multiclass.of([[7]])
    assert parse("accuracy")(lonely).value == 1
    assert parse("balanced_accuracy")(lonely).value == 1
    for name in ("specificity_macro", "cohen_kappa", "MCC", "csmf_accuracy"):
        assert isinstance(parse(name)(lonely), Undefined)
