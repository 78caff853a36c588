# SPDX-License-Identifier: Apache-2.0
"""Two models on the same rows: paired tests against independent references, and the public comparison."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import assay
from assay.assess.record.verification import verify
from assay.core.errors import AssayError
from assay.tasks.regression.compare import diebold_mariano

RNG = np.random.default_rng(7)
TRUTH = RNG.gamma(3.0, 10.0, size=150)
A, B = TRUTH + RNG.normal(size=150) * 4, TRUTH + RNG.normal(size=150) * 6


def compare(**more):
    return assay.compare(task="regression", truth=TRUTH, predicted={"A": A, "B": B}, **more)


def test_by_default_rows_are_swapped_for_mae_and_rmse():
    findings = compare()
    assert [finding.about for finding in findings.findings] == ["mean_absolute_error", "root_mean_squared_error"]
    finding = findings["mean_absolute_error"]
    assert finding.effect.value == pytest.approx(np.mean(np.abs(TRUTH - A)) - np.mean(np.abs(TRUTH - B)))
    assert finding.effect.interval.low < finding.effect.value < finding.effect.interval.high < 0
    assert finding.p < 0.01
    assert findings.ranking[0].model == "A"


def test_t_and_wilcoxon_agree_with_scipy():
    findings = compare(error_tests=("t", "wilcoxon"))
    gap = np.abs(TRUTH - A) - np.abs(TRUTH - B)
    by_name = {(finding.test, finding.about): finding for finding in findings.findings}
    estimates = by_name["paired_t", "mean_absolute_error"]
    assert estimates.p == pytest.approx(stats.ttest_1samp(gap, 0).pvalue, rel=1e-9)
    squared = (TRUTH - A) ** 2 - (TRUTH - B) ** 2
    assert by_name["paired_t", "mean_squared_error"].p == pytest.approx(stats.ttest_1samp(squared, 0).pvalue, rel=1e-9)
    expected = stats.wilcoxon(gap, method="asymptotic", correction=False).pvalue
    assert by_name["wilcoxon", "mean_absolute_error"].p == pytest.approx(expected, rel=0.05)


def test_pitman_morgan_is_the_correlation_of_sums_and_differences():
    finding = compare(error_tests=("pitman_morgan",))["pitman_morgan"]
    a, b = TRUTH - A, TRUTH - B
    assert finding.p == pytest.approx(stats.pearsonr(a + b, a - b).pvalue, rel=1e-9)
    assert finding.effect.value == pytest.approx(np.var(a) / np.var(b))
    assert finding.effect.interval.low < finding.effect.value < finding.effect.interval.high


@pytest.mark.parametrize(("freedom", "holds"), [(1000, True), (3, False)])
def test_pitman_morgan_looks_at_the_tails_of_many_errors(freedom, holds):
    draw = np.random.default_rng(2).standard_t(freedom, (2, 6000))
    models = {"A": draw[0], "B": draw[1]}
    findings = assay.compare(task="regression", truth=np.zeros(6000), predicted=models, error_tests=("pitman_morgan",))
    assert {check.holds for check in findings["pitman_morgan"].checks} == {holds}


def test_rows_in_time_are_compared_by_diebold_and_mariano():
    findings = compare(time=np.arange(150))
    assert {finding.test for finding in findings.findings} == {"diebold_mariano"}
    gap = np.abs(TRUTH - A) - np.abs(TRUTH - B)
    plain = gap.mean() / np.sqrt(gap.var() / 150) * np.sqrt((150 + 1 - 2) / 150)
    finding = findings["mean_absolute_error"]
    assert finding.statistic == pytest.approx(plain)
    assert finding.p == pytest.approx(2 * stats.t.sf(abs(plain), 149), rel=1e-9)


def test_a_margin_holds_for_rows_in_time_as_well():
    plain, held = compare(time=np.arange(150), tests=assay.TestSettings(margin=0.5)).findings[::2]
    assert (held.test, held.about) == ("unit_non_inferiority", "mean_absolute_error")
    error = plain.effect.value / plain.statistic
    assert held.p == pytest.approx(stats.t.cdf((plain.effect.value - 0.5) / error, 149), rel=1e-9)


def test_diebold_mariano_allows_for_autocorrelation_up_to_the_horizon():
    values = np.array([0.3, 0.4, 0.6, 0.9, 0.5, 0.1, -0.3, -0.1, 0.2, 0.7])
    n, h = len(values), 3
    apart = values - values.mean()
    gamma = [np.sum(apart[k:] * apart[: n - k]) / n for k in range(h)]
    variance = (gamma[0] + 2 * sum(gamma[1:])) / n
    expected = values.mean() / np.sqrt(variance) * np.sqrt((n + 1 - 2 * h + h * (h - 1) / n) / n)
    assert diebold_mariano(values, h, 0.95).statistic == pytest.approx(expected)


def test_a_model_against_itself_has_no_p_and_no_effect():
    tests = ("permutation", "t", "wilcoxon", "pitman_morgan", "diebold_mariano")
    findings = assay.compare(
        task="regression", truth=TRUTH, predicted={"A": A, "B": A.copy()}, error_tests=tests, time=np.arange(150)
    )
    for finding in findings.findings:
        assert finding.p is None or finding.p == 1.0, finding.test


def test_swapping_the_models_turns_the_effect_and_keeps_p():
    there = assay.compare(task="regression", truth=TRUTH, predicted={"A": A, "B": B})
    back = assay.compare(task="regression", truth=TRUTH, predicted={"B": B, "A": A})
    for name in ("mean_absolute_error", "root_mean_squared_error"):
        assert there[name].effect.value == pytest.approx(-back[name].effect.value)
        assert there[name].p == pytest.approx(back[name].p, abs=0.02)


def test_units_are_compared_as_wholes():
    unit = np.arange(150) // 10
    findings = compare(unit=unit, error_tests=("permutation", "t", "pitman_morgan"))
    assert findings["mean_absolute_error", "A", "B"].n == 15
    gap = np.abs(TRUTH - A) - np.abs(TRUTH - B)
    means = gap.reshape(15, 10).mean(axis=1)
    by_test = {finding.test: finding for finding in findings.findings if finding.about == "mean_absolute_error"}
    assert by_test["paired_t"].p == pytest.approx(stats.ttest_1samp(means, 0).pvalue, rel=1e-9)
    assert findings["pitman_morgan"].p is None


def test_the_order_of_the_rows_does_not_matter(tmp_path):
    order = np.random.default_rng(1).permutation(150)
    findings = assay.compare(task="regression", truth=TRUTH[order], predicted={"A": A[order], "B": B[order]})
    assert findings["mean_absolute_error"].p == compare()["mean_absolute_error"].p
    findings.save(tmp_path / "comparison.json")
    assert verify(assay.load(tmp_path / "comparison.json").record).holds


def test_diebold_mariano_without_time_is_refused():
    with pytest.raises(AssayError) as caught:
        _ = compare(error_tests=("diebold_mariano",)).findings
    assert caught.value.code == "comparison-needs"


def test_a_measure_that_is_no_function_of_sums_cannot_be_swapped():
    with pytest.raises(AssayError) as caught:
        _ = compare(measures=["spearman_r"]).findings
    assert caught.value.code == "comparison-needs"


def test_any_measure_of_sums_can_be_compared():
    findings = compare(measures=["r2", "concordance_correlation", "mape"])
    assert [finding.about for finding in findings.findings] == [
        "r2", "concordance_correlation", "mean_absolute_percentage_error",
    ]  # fmt: skip
    assert all(finding.p is not None for finding in findings.findings)
