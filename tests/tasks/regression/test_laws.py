# SPDX-License-Identifier: Apache-2.0
"""Laws that hold for every measure of regression, in both forms of the tally."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest

from assay.core.values import Undefined
from assay.tasks.regression.digit_sums import cut_range, find_range, sum_exactly, sum_products
from assay.tasks.regression.row_totals import sum_batch
from assay.tasks.regression.summary import view_of
from assay.tasks.regression.sums import Errors, log_ratios
from assay.tasks.regression.tally import Residuals
from tests.tasks.regression.residual_cases import TASK, count, draw_rows, estimate, held_rows

MEASURES = [measure for measure in Errors.MEASURES if not measure.needs]
FORMS = pytest.mark.parametrize("limit", [200_000, 100], ids=["rows", "summary"])


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_the_printed_formula_is_the_function(measure):
    if any(word in measure.formula for word in ("median", "max", "midranks", "quantile", "rows with")):
        pytest.skip("a formula in words")
    truth, predicted = draw_rows(60)
    tally = count(truth, predicted, lower=predicted - 4, upper=predicted + 5, training=[1.0, 3.0, 4.0],
                  options={"interval_level": 0.9}).tally  # fmt: skip
    total = view_of(tally, "").total
    sums = {name: float(value) for name, value in total.items() if not isinstance(value, tuple)}
    expected = eval(measure.formula, {"sqrt": math.sqrt}, sums)  # noqa: S307  our own declaration
    assert measure(Errors(total)).value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_a_stack_of_tables_gives_the_values_of_each(measure):
    truth, predicted = draw_rows(40)
    given = {"lower": predicted - 4, "upper": predicted + 5, "training": [1.0, 3.0, 4.0]}
    options = {"interval_level": 0.9, "baseline": "mean"}
    whole = view_of(count(truth, predicted, options=options, **given).tally, "")
    if measure.name in ("spearman_r", "nrmse_range", "nrmse_iqr", "median_absolute_error", "max_absolute_error"):
        pytest.skip("not a function of sums")
    stack = measure.values(Errors(whole.stack))
    assert stack[0] == pytest.approx(estimate(truth, predicted, options=options, **given)[measure.name].value, rel=1e-9)
    order = np.lexsort((predicted, truth))
    if measure.name not in ("relative_absolute_error", "error_skewness", "error_kurtosis"):
        kept = np.delete(order, 7)
        cut = {name: np.asarray(column)[kept] for name, column in given.items() if name != "training"}
        alone = estimate(truth[kept], predicted[kept], options=options, training=given["training"], **cut)
        assert stack[8] == pytest.approx(alone[measure.name].value, rel=1e-9)


@FORMS
def test_order_and_batches_do_not_matter(limit):
    truth, predicted = draw_rows(3000)
    with held_rows(limit):
        whole = count(truth, predicted).tally
        order = np.random.default_rng(3).permutation(3000)
        assert count(truth[order], predicted[order]).tally == whole
        cuts = [0, 1, 700, 701, 2500, 3000]
        parts = [count(truth[a:b], predicted[a:b]).tally for a, b in itertools.pairwise(cuts)]
        total = parts[3]
        for place in (0, 4, 2, 1):
            total += parts[place]
        assert total == whole


@FORMS
@pytest.mark.parametrize("shape", ["far", "signs", "skewed", "constant", "near"])
def test_merging_equals_pooling_whatever_the_range(limit, shape):
    rng = np.random.default_rng(5)
    truth = {
        "far": 1e8 + rng.normal(size=900), "signs": rng.normal(size=900), "skewed": np.exp(3 * rng.normal(size=900)),
        "constant": np.full(900, 3.5), "near": np.concatenate([np.full(450, 2.0**40), rng.normal(size=450) + 2.0**40]),
    }[shape]  # fmt: skip
    predicted = truth + rng.normal(size=900) * np.exp(rng.normal(size=900))
    truth = np.sort(truth)
    with held_rows(limit):
        parts = [count(truth[a : a + 300], predicted[a : a + 300]).tally for a in (0, 300, 600)]
        assert parts[0] + parts[1] + parts[2] == parts[2] + (parts[1] + parts[0]) == count(truth, predicted).tally


@FORMS
def test_json_brings_the_tally_back(limit):
    truth, predicted = draw_rows(400)
    with held_rows(limit):
        for unit in (None, np.arange(400) // 7):
            tally = count(truth, predicted, unit=unit, options={"baseline": "median"}).tally
            again = Residuals.from_json(json.loads(json.dumps(tally.to_json(), allow_nan=False)))
            assert again == tally
            before, after = (TASK.estimates(part, _settings()).listed() for part in (tally, again))
            assert [x.to_json() for x in before] == [x.to_json() for x in after]


def _settings():
    from assay.tasks.task_settings import TaskSettings

    return TaskSettings()


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_very_many_rows_have_the_same_values_and_nearly_the_same_intervals(offset):
    truth, predicted = draw_rows(40_000, offset=offset)
    few = estimate(truth, predicted, options={"baseline": "mean"})
    with held_rows(1000):
        many = estimate(truth, predicted, options={"baseline": "mean"})
    near = {"spearman_r": 1e-3, "nrmse_iqr": 5e-3, "error_kurtosis": 0.03, "error_skewness": 9.9, "median": 6e-3}
    for name in few:
        a, b = few[name], many[name]
        assert (a.value is None) == (b.value is None), name
        if a.value is None:
            continue
        quantile = "quantile" in name or "median" in name
        loose = "relative_absolute" in name or name.startswith(("skill", "relative_imp"))
        exact = 1e-15 if not loose else 1e-3
        assert b.value == pytest.approx(a.value, rel=6e-3 if quantile else near.get(name, exact)), name
        assert (a.low is None) == (b.low is None), name
        if a.low is not None and not quantile:
            assert (b.high - b.low) / (a.high - a.low) == pytest.approx(1, abs=0.03), name


def test_units_have_the_same_intervals_in_both_forms():
    truth, predicted = draw_rows(5000, offset=1e6)
    unit = np.arange(5000) // 25
    few = estimate(truth, predicted, unit=unit)
    with held_rows(1000):
        many = estimate(truth, predicted, unit=unit)
    for name in ("mean_absolute_error", "root_mean_squared_error", "r2", "pearson_r", "mean_absolute_percentage_error"):
        assert many[name].value == few[name].value
        assert (many[name].low, many[name].high) == pytest.approx((few[name].low, few[name].high), rel=1e-9)


def test_shifting_and_scaling_keep_r2_and_scale_the_error():
    truth, predicted = draw_rows(200)
    plain, moved = estimate(truth, predicted), estimate(truth * 4 + 64, predicted * 4 + 64)
    assert moved["r2"].value == pytest.approx(plain["r2"].value, rel=1e-13)
    assert moved["mae"].value == pytest.approx(4 * plain["mae"].value, rel=1e-13)
    assert moved["spearman_r"].value == plain["spearman_r"].value


def test_swapping_truth_and_prediction_turns_the_sign_of_the_bias():
    truth, predicted = draw_rows(100)
    there, back = estimate(truth, predicted), estimate(predicted, truth)
    for name in ("mean_error", "bland_altman_bias"):
        assert there[name].value == -back[name].value
    for name in ("mean_absolute_error", "pearson_r", "concordance_correlation", "spearman_r"):
        assert there[name].value == pytest.approx(back[name].value, rel=1e-14)


def test_an_interval_holds_the_value_and_nests_with_the_level():
    truth, predicted = draw_rows(80)
    narrow, wide = estimate(truth, predicted, level=0.9), estimate(truth, predicted, level=0.99)
    for name in narrow:
        a, b = narrow[name], wide[name]
        if a.low is not None and b.low is not None:
            assert b.low <= a.low <= a.value <= a.high <= b.high, name


def test_every_value_lies_in_the_range_of_its_measure():
    truth, predicted = draw_rows(50)
    estimates = estimate(truth, predicted)
    for measure in MEASURES:
        value = estimates[measure.name].value
        assert value is None or measure.range[0] <= value <= measure.range[1]


def test_sums_do_not_depend_on_order_or_size_of_numbers():
    rng = np.random.default_rng(2)
    for scale in (1.0, 1e150, 1e-150):
        values = rng.normal(size=20_000) * scale * np.exp(5 * rng.normal(size=20_000))
        other = rng.normal(size=20_000)
        values[:7] = 0.0
        assert sum_exactly(values).fraction == sum(map(Fraction, values.tolist()))
        shuffled = rng.permutation(20_000)
        assert sum_exactly(values[shuffled]).to_json() == sum_exactly(values).to_json()
        expected = sum(Fraction(a) * Fraction(b) for a, b in zip(values.tolist(), other.tolist(), strict=True))
        assert sum_products(values, other).fraction == expected
    wide = np.array([1e300, 1e-300, -1e300, 5e-324])
    assert cut_range(*find_range(wide), 40) is None
    assert sum_exactly(wide).fraction == Fraction(1e-300) + Fraction(5e-324)


@pytest.mark.parametrize("shape", ["small predictions", "zero truth", "zeros in both", "wide", "negative", "far"])
def test_sums_of_very_many_rows_are_exact(shape):
    rng = np.random.default_rng(11)
    truth = rng.gamma(2, size=9_000) * {"far": 1e-3, "wide": 1e200}.get(shape, 1.0) + (1e8 if shape == "far" else 0)
    predicted = truth * np.exp(rng.normal(size=9_000)) - (0.1 if shape == "negative" else 0)
    if shape == "wide":
        truth[1], predicted[2] = 1e-90, 3e-80
    predicted[:40] *= 1e-9 if shape == "small predictions" else 1
    truth[:9] *= shape not in {"zero truth", "zeros in both"}
    predicted[5:9] *= shape != "zeros in both"
    error = truth - predicted
    ends = tuple(float(value) for value in (truth.min(), truth.max(), error.min(), error.max()))
    sums = sum_batch({"truth": truth, "predicted": predicted}, error, ends, None)
    y, e = list(map(Fraction, truth.tolist())), list(map(Fraction, error.tolist()))
    p = [a - b for a, b in zip(y, e, strict=True)]
    expected = {"y": sum(y), "p": sum(p), "abs_e": sum(map(abs, e)), "abs_y": sum(map(abs, y))}
    for name, a, b in (("yy", y, y), ("yp", y, p), ("pp", p, p)):
        expected[name] = sum(first * second for first, second in zip(a, b, strict=True))
    if truth.all():
        ratio = error / truth
        expected |= {"rel": sum(map(Fraction, ratio)), "abs_rel": sum(map(Fraction, np.abs(ratio)))}
        expected |= {"rel*": sum(map(Fraction, np.abs(ratio) ** 2))} if shape != "wide" else {}
    logs = log_ratios(truth, predicted, error, np.empty(9_000)) ** 2
    assert np.abs(logs - (np.log1p(truth) - np.log1p(predicted)) ** 2).max() < 1e-9
    expected |= {"sq_log": sum(map(Fraction, logs)), "sq_log*": sum(map(Fraction, logs * logs))}
    for name, value in expected.items():
        assert sums[name].fraction == value, name
    assert ("rel" in sums) == bool(truth.all())


def test_several_outputs_have_their_own_values_and_a_mean():
    truth, predicted = draw_rows(120)
    both = estimate(np.column_stack([truth, -truth]), np.column_stack([predicted, -predicted - 2]))
    single = estimate(truth, predicted)
    assert both.by_class["1"]["mae"].value == single["mae"].value
    assert (both.by_class["1"]["mae"].low, both.by_class["1"]["mae"].label) == (single["mae"].low, "1")
    assert both["mae"].value == pytest.approx((both.by_class["1"]["mae"].value + both.by_class["2"]["mae"].value) / 2)
    assert both["mae"].low < both["mae"].value < both["mae"].high
    assert len(both.listed()) == 3 * len(both)


def test_groups_are_counted_like_tables_of_their_own():
    truth, predicted = draw_rows(90)
    group = np.array(["a", "b", None], dtype=object)[np.arange(90) % 3]
    counted = count(truth, predicted, group={"site": group})
    assert list(counted.groups["site"]) == ["a", "b", "(missing)"]
    assert counted.groups["site"]["b"] == count(truth[1::3], predicted[1::3]).tally


def test_values_without_sums_are_undefined_not_zero():
    estimates = estimate([0.0, 1.0], [1.0, 1.0])
    assert isinstance(estimates["mape"].result, Undefined)
    assert "1 of 2 rows" in estimates["mape"].reason
    assert estimates["interval_coverage"].reason.startswith("no prediction intervals")
    assert estimates["skill_score(error='mean_absolute_error')"].reason.startswith("no baseline")
    assert estimates["mase"].reason.startswith("no scale")


def test_outputs_may_have_weights():
    truth, predicted = draw_rows(120)
    outputs = np.column_stack([truth, -truth]), np.column_stack([predicted, -predicted - 2])
    estimates = estimate(*outputs, options={"output_weights": (3, 1)})
    values = [estimates.by_class[name]["mae"].value for name in ("1", "2")]
    assert estimates["mae"].value == pytest.approx(0.75 * values[0] + 0.25 * values[1])
    alone = estimate(*outputs, options={"output_weights": (1, 0)})
    assert (alone["r2"].low, alone["r2"].high) == pytest.approx(
        (alone.by_class["1"]["r2"].low, alone.by_class["1"]["r2"].high)
    )


def test_the_interval_of_a_quantile_by_unit_is_that_of_rows_where_rows_are_units():
    truth, predicted = draw_rows(400)
    rows = estimate(truth, predicted)["median_absolute_error"]
    units = estimate(truth, predicted, unit=np.arange(400))["median_absolute_error"]
    assert (units.low, units.high) == pytest.approx((rows.low, rows.high), rel=0.05)
    doubled = estimate(np.repeat(truth, 2), np.repeat(predicted, 2), unit=np.repeat(np.arange(400), 2))
    wide = doubled["median_absolute_error"]
    assert (wide.low, wide.high) == pytest.approx((units.low, units.high), rel=0.05)


def test_skill_in_percentages_compares_with_the_baseline_and_lacks_a_value_where_a_truth_is_zero():
    truth, predicted = draw_rows(40)
    own, base = (np.mean(np.abs(truth - guess) / truth) for guess in (predicted, truth.mean()))
    names = [
        f"{name}(error='mean_absolute_percentage_error')" for name in ("skill_score", "relative_improvement_factor")
    ]
    estimates = estimate(truth, predicted, options={"baseline": "mean"})
    assert [estimates[name].value for name in names] == pytest.approx([1 - own / base, base / own], rel=1e-12)
    for zeros in (1, 2):
        truth[:zeros] = 0.0
        estimates = estimate(truth, predicted, options={"baseline": "mean"})
        for name in names:
            assert estimates[name].reason == f"the truth is 0 in {zeros} of 40 rows; WAPE and NMB allow that"
    perfect = estimate([1.0, 2.0], [1.0, 2.0], options={"baseline": "mean"})
    assert perfect[names[1]].reason == "the model makes no error"
