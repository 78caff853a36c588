# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import e, inf, log

import numpy as np
import pytest

from assay.core.errors import PlanError
from assay.core.values import Undefined
from assay.measures import parse
from assay.tally.labels.one_vs_rest import Multiclass
from assay.tasks.classification.measures.class_shares import _chance_csmf

NEVER_CALLED = Multiclass.of([[5, 0, 0], [2, 0, 1], [0, 0, 2]], labels=("a", "b", "c"))
NEVER_TRUE = Multiclass.of([[5, 2, 0], [0, 0, 0], [0, 1, 2]], labels=("a", "b", "c"))


def test_a_class_never_predicted_makes_the_forward_divergence_infinite_and_is_named():
    forward, backward = parse("kl_truth_pred")(NEVER_CALLED), parse("kl_pred_truth")(NEVER_CALLED)
    assert forward.value == inf
    assert forward.note == 'infinite because of "b", never predicted'
    assert backward.value < inf
    assert backward.note is None


def test_a_class_never_true_makes_the_reverse_divergence_infinite_and_is_named():
    assert parse("kl_pred_truth")(NEVER_TRUE).note == 'infinite because of "b", never true'
    assert parse("kl_truth_pred")(NEVER_TRUE).value < inf


def test_the_bounded_companions_stay_finite():
    for name in ("jensen_shannon", "total_variation", "csmf_accuracy"):
        assert 0 <= parse(name)(NEVER_CALLED).value <= 1


def test_disjoint_shares_reach_the_upper_ends():
    table = Multiclass.of([[0, 7], [0, 0]])
    assert parse("jensen_shannon")(table).value == log(2)
    assert parse("total_variation")(table).value == 1
    assert parse("csmf_accuracy")(table).value == 0
    assert parse("cccsmf_accuracy")(table).value == pytest.approx(1 - e, abs=1e-15)


def test_permuted_predictions_with_right_totals_score_perfectly():
    table = Multiclass.of([[0, 5], [5, 0]])
    assert parse("kl_truth_pred")(table).value == 0
    assert parse("csmf_accuracy")(table).value == 1
    assert parse("accuracy")(table).value == 0


def test_divergence_is_on_shares_so_more_of_the_same_rows_changes_nothing():
    # E-TS-03: summed over counts it would grow with the rows.
    one, ten = Multiclass.of([[4, 1], [0, 5]]), Multiclass.of([[40, 10], [0, 50]])
    assert parse("kl_pred_truth")(one).value == parse("kl_pred_truth")(ten).value


def test_divergence_of_nearly_equal_shares_is_never_negative():
    for n in (10**6, 10**9, 10**15):
        assert parse("kl_truth_pred")(Multiclass.of([[n, 1], [0, n]])).value >= 0


@pytest.mark.parametrize("k", [2, 3, 10, 127, 128, 129, 1000, 100_000])
def test_the_finite_chance_level_is_between_ln_2_and_the_limit_and_falls(k):
    here, next_ = _chance_csmf(k, "finite-k"), _chance_csmf(k + 1, "finite-k")
    assert 1 - 1 / e < next_ < here <= log(2) + 1e-12


def test_the_finite_chance_level_of_two_classes_is_ln_2():
    assert _chance_csmf(2, "finite-k") == pytest.approx(log(2), abs=1e-14)


@pytest.mark.parametrize("k", [3, 5, 10])
def test_the_finite_chance_level_is_what_random_shares_give(k):
    rng = np.random.default_rng(k)
    shares = rng.dirichlet(np.ones(k), 200_000)
    simulated = 1 - np.abs(shares - 1 / k).sum(axis=1) / (2 * (1 - shares.min(axis=1)))
    assert _chance_csmf(k, "finite-k") == pytest.approx(simulated.mean(), abs=4 * simulated.std() / 200_000**0.5)


def test_the_chance_level_is_a_choice_among_two():
    plain, limit = parse("csmf_accuracy")(NEVER_TRUE).value, parse("cccsmf_accuracy")(NEVER_TRUE).value
    finite = parse("cccsmf_accuracy(baseline='finite-k')")(NEVER_TRUE).value
    assert limit == pytest.approx((plain - (1 - 1 / e)) * e, abs=1e-14)
    assert finite < limit
    with pytest.raises(PlanError) as refused:
        parse("cccsmf_accuracy").with_(baseline="0.632")(NEVER_TRUE)
    assert refused.value.code == "option-unknown"


def test_one_class_has_no_csmf_accuracy():
    for name in ("csmf_accuracy", "cccsmf_accuracy"):
        found = parse(name)(Multiclass.of([[4]]))
        assert isinstance(found, Undefined)
        assert found.reason == "there is only one class"


def test_the_impurity_reaches_at_most_one_minus_one_in_k():
    # E-SCH-21
    assert parse("gini_impurity")(Multiclass.of([[2, 0, 0], [0, 2, 0], [0, 0, 2]])).value == pytest.approx(2 / 3)
    assert parse("gini_impurity")(Multiclass.of([[2, 0], [0, 0]])).value == 0
