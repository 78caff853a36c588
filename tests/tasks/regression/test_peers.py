# SPDX-License-Identifier: Apache-2.0
"""Agreement with scikit-learn, scipy and statsmodels where conventions agree."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from tests.tasks.regression.residual_cases import draw_rows, estimate

SKLEARN = {
    "mean_absolute_error": metrics.mean_absolute_error,
    "mean_squared_error": metrics.mean_squared_error,
    "root_mean_squared_error": metrics.root_mean_squared_error,
    "r2": metrics.r2_score,
    "explained_variance": metrics.explained_variance_score,
    "median_absolute_error": metrics.median_absolute_error,
    "max_absolute_error": metrics.max_error,
    "root_mean_squared_log_error": metrics.root_mean_squared_log_error,
}


@pytest.mark.parametrize("seed", range(5))
def test_values_agree_with_scikit_learn_and_scipy(seed):
    truth, predicted = draw_rows(211, seed)
    predicted = np.abs(predicted)
    estimates = estimate(truth, predicted, options={"baseline": "median"})
    for name, peer in SKLEARN.items():
        assert estimates[name].value == pytest.approx(peer(truth, predicted), rel=1e-12), name
    assert estimates["mape"].value == pytest.approx(100 * metrics.mean_absolute_percentage_error(truth, predicted))
    assert estimates["pearson_r"].value == pytest.approx(stats.pearsonr(truth, predicted).statistic, rel=1e-12)
    assert estimates["spearman_r"].value == pytest.approx(stats.spearmanr(truth, predicted).statistic, rel=1e-12)
    skill = estimates["skill_score(error='mean_absolute_error')"].value
    assert skill == pytest.approx(metrics.d2_absolute_error_score(truth, predicted), rel=1e-12)
    errors = truth - predicted
    assert estimates["error_kurtosis"].value == pytest.approx(stats.kurtosis(errors, fisher=False), rel=1e-10)
    assert estimates["error_skewness"].value == pytest.approx(stats.skew(errors), rel=1e-9)


def test_ties_take_mean_ranks_as_in_scipy():
    rng = np.random.default_rng(3)
    truth, predicted = rng.integers(0, 6, size=(2, 300)).astype(float)
    estimates = estimate(truth, predicted)["spearman_r"]
    assert estimates.value == pytest.approx(stats.spearmanr(truth, predicted).statistic, rel=1e-12)


def test_the_interval_of_the_mean_error_is_the_t_interval():
    truth, predicted = draw_rows(64)
    estimates = estimate(truth, predicted)["mean_error"]
    expected = stats.ttest_1samp(truth - predicted, 0).confidence_interval(0.95)
    assert (estimates.low, estimates.high) == pytest.approx(tuple(expected), rel=1e-9)


def test_quantiles_and_intervals_agree_with_scikit_learn():
    truth, predicted = draw_rows(150)
    low, high = predicted - 6, predicted + 7
    estimates = estimate(truth, predicted, lower=low, upper=high, quantile={0.1: low, 0.9: high},
                     options={"interval_level": 0.8})  # fmt: skip
    for level, column in ((0.1, low), (0.9, high)):
        loss = metrics.mean_pinball_loss(truth, column, alpha=level)
        assert estimates[f"pinball_loss(q={level})"].value == pytest.approx(loss, rel=1e-12)
        assert estimates[f"quantile_coverage(q={level})"].value == np.mean(truth <= column)
    inside = np.mean((truth >= low) & (truth <= high))
    assert estimates["interval_coverage"].value == inside
    assert estimates["interval_width"].value == pytest.approx(13.0)
    # the interval score is the sum of the two pinball losses over half the tail
    both = sum(estimates[f"pinball_loss(q={q})"].value for q in (0.1, 0.9))
    assert estimates["interval_score"].value == pytest.approx(2 / 0.2 * both, rel=1e-12)


def test_the_interval_of_the_median_covers_as_the_binomial_says():
    values = np.arange(1.0, 101.0)
    estimates = estimate(values, np.zeros(100))["median_absolute_error"]
    assert (estimates.value, estimates.low, estimates.high) == (50.5, 40.0, 61.0)  # ranks 40 and 61: 95.4 %
