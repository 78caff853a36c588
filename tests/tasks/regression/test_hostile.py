# SPDX-License-Identifier: Apache-2.0
"""Hostile inputs by the id of the acceptance case."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from assay.core.errors import AssayError
from assay.tasks.task_settings import TaskSettings
from tests.tasks.regression.residual_cases import TASK, count, draw_rows, estimate, held_rows


def exact_r2(truth, predicted):
    y, p = ([Fraction(float(value)) for value in column] for column in (truth, predicted))
    mean = sum(y) / len(y)
    apart = sum((a - b) ** 2 for a, b in zip(y, p, strict=True))
    return float(1 - apart / sum((a - mean) ** 2 for a in y))


@pytest.mark.parametrize("offset", [1e4, 1e8])
@pytest.mark.parametrize("limit", [200_000, 100])
def test_e02_a_nearly_constant_target_far_from_zero_loses_no_digit(offset, limit):
    rng = np.random.default_rng(0)
    truth = offset + rng.normal(size=1000)
    predicted = truth + rng.normal(size=1000) * 0.1
    with held_rows(limit):
        assert estimate(truth, predicted)["r2"].value == exact_r2(truth, predicted)


def test_e03_zeros_in_the_target_leave_percentages_undefined_and_are_counted():
    estimates = estimate([0.0, 1.0, 2.0], [1.0, 1.0, 2.0])
    for name in ("mape", "mpe", "mean_normalized_bias"):
        assert estimates[name].value is None
        assert "1 of 3 rows" in estimates[name].reason
    assert estimates["wape"].value == pytest.approx(100 / 3)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_e04_values_that_are_not_finite_are_refused_with_their_rows(bad):
    with pytest.raises(AssayError) as caught:
        count([1.0, bad, 3.0], [1.0, 2.0, 3.0])
    assert caught.value.code == "value-not-finite"
    assert "index 1" in str(caught.value)


def test_e04_a_missing_value_may_be_left_out_and_is_counted():
    counted = count([1.0, float("nan"), 3.0], [1.0, 2.0, 3.0], options={"missing": "drop"})
    assert (counted.census.read, counted.census.scored, counted.tally.rows) == (3, 2, 2)


def test_e05_one_row_has_an_error_but_no_r2_and_no_correlation():
    estimates = estimate([2.0], [3.0])
    assert estimates["mae"].value == 1.0
    for name in ("r2", "pearson_r", "spearman_r", "explained_variance", "bland_altman_sd"):
        assert estimates[name].value is None, name
    assert "only one row" in estimates["r2"].reason
    assert estimates["mae"].low is None


def test_e06_single_rows_are_not_lost_beside_very_many():
    truth = np.concatenate([np.full(300_000, 2.0**24), np.full(1000, 3.0)])
    predicted = np.concatenate([np.full(300_000, 2.0**24 - 1), np.zeros(1000)]).astype(np.float32)
    assert estimate(truth.astype(np.float32), predicted)["sum_absolute_error"].value == 303_000.0


def test_e08_reversed_intervals_are_refused_and_counted():
    with pytest.raises(AssayError) as caught:
        count([1.0, 2.0], [1.0, 2.0], lower=[2.0, 1.0], upper=[0.0, 3.0])
    assert caught.value.code == "value-out-of-domain"
    assert "1 interval of 2" in str(caught.value)
    assert "2 above 0" in str(caught.value)


@pytest.mark.parametrize("limit", [200_000, 100])
def test_squares_that_overflow_leave_a_record_without_infinite_numbers(limit):
    truth, predicted = draw_rows(300)
    with held_rows(limit):
        tally = count(truth * 1e200, predicted * 1e200).tally
        estimates = TASK.estimates(tally, TaskSettings())
        for content in (TASK.sections(tally, TaskSettings()), [x.to_json() for x in estimates.listed()]):
            json.dumps(content, allow_nan=False)


def test_predicted_intervals_of_one_width_have_no_interval_of_it():
    truth, predicted = draw_rows(3000)
    with held_rows(100):
        estimates = estimate(truth, predicted, lower=predicted - 1, upper=predicted + 1)
    assert estimates["interval_width"].value == pytest.approx(2)
    assert estimates["interval_width"].low is None or estimates["interval_width"].high == pytest.approx(2)


def test_e09_squares_that_overflow_are_undefined_and_never_infinite():
    estimates = estimate([1e200, 2e200], [0.0, 0.0])
    assert estimates["mse"].value is None
    assert estimates["mse"].result.code == "overflow"
    assert estimates["rmse"].value == pytest.approx(1.5811388300841898e200)
    assert estimates["mae"].value == 1.5e200
    for part in estimates.listed():
        assert part.value is None or np.isfinite(part.value)
        assert part.low is None or np.isfinite([part.low, part.high]).all()


def test_small_whole_numbers_do_not_wrap_around():
    estimates = estimate(np.array([0, 5, 250], np.uint8), np.array([10, 0, 251], np.uint8))
    assert estimates["max_absolute_error"].value == 10
    assert estimates["mean_error"].value == -2.0
    assert estimate(np.array([100, -100], np.int8), np.array([-100, 100], np.int8))["mse"].value == 40000.0


@pytest.mark.parametrize("limit", [200_000, 3])
def test_perfect_predictions_and_constant_truth_have_no_interval_and_no_r2(limit):
    with held_rows(limit):
        estimates = estimate([3.0] * 8, [3.0] * 8)
        assert estimates["mae"].value == 0.0
        assert estimates["mae"].low is None
        assert estimates["r2"].reason == "the truth is constant"
        assert estimates["pearson_r"].value is None
        assert estimates["spearman_r"].value is None
        assert estimates["skill_score(error='mean_absolute_error')"].value is None
        for part in estimates.listed():
            assert part.value is None or np.isfinite(part.value)


def test_lengths_that_differ_are_refused():
    with pytest.raises(AssayError) as caught:
        count([1.0, 2.0, 3.0], [1.0, 2.0])
    assert caught.value.code == "rows-unmatched"


def test_no_rows_are_refused():
    with pytest.raises(AssayError) as caught:
        count([], [])
    assert caught.value.code == "no-rows"


def test_text_is_refused():
    with pytest.raises(AssayError) as caught:
        count(np.array(["a", "b"]), [1.0, 2.0])
    assert caught.value.code == "column-not-numeric"


@pytest.mark.parametrize(
    ("given", "options", "code"),
    [
        ({"lower": [0.0, 0.0]}, {}, "role-missing"),
        ({"quantile": {1.5: [0.0, 0.0]}}, {}, "option-unknown"),
        ({}, {"baseline": "last"}, "role-missing"),
        ({}, {"baseline": "mode"}, "option-unknown"),
        ({"training": "column"}, {}, "option-unknown"),
        ({"lower": [0.0, 0.0], "upper": [3.0, 3.0]}, {"interval_level": 90}, "option-unknown"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_fix(given, options, code):
    with pytest.raises(AssayError) as caught:
        count([1.0, 2.0], [1.0, 2.0], options=options, **given)
    assert caught.value.code == code
    assert caught.value.fix


def test_values_near_the_end_of_doubles_are_refused():
    with pytest.raises(AssayError) as caught:
        count([1e308, 1.0], [-1e308, 1.0])
    assert caught.value.code == "value-out-of-domain"


def test_series_with_the_same_rows_in_another_order_are_refused():
    import pandas as pd

    truth = pd.Series([1.0, 2.0, 3.0], index=list("abc"))
    with pytest.raises(AssayError) as caught:
        count(truth, truth[::-1])
    assert caught.value.code == "rows-unmatched"
    assert "another order" in str(caught.value)
    assert count(truth, truth + 1).tally.rows == 3
