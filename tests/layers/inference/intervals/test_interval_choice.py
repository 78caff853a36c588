# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

import assay
from assay.core.errors import PlanError
from assay.core.values import Number, Share, Undefined
from assay.inference.estimates import Interval
from assay.inference.intervals import functions_of_counts as cells
from assay.inference.intervals.interval_choice import CELLS, MOST_CLASSES, Uncertainty, Wanted
from assay.inference.intervals.proportion import clopper_pearson, koopman, wilson
from assay.measures import REGISTRY, parse
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from tests.strategies import confusion_of, matrices

MATRIX = [[30, 4, 1], [6, 20, 3], [2, 5, 12]]
TWO = [[40, 7], [5, 30]]
PARAMETERS = {
    "f_beta": {"beta": 3},
    "f_weighted": {"w_precision": 2, "w_recall": 1},
    "average_class_accuracy": {"weight": 0.3},
    "expected_cost": {"cost_fp": 1, "cost_fn": 3},
    "skill_score": {"reference": 0.4},
    "relative_improvement_factor": {"reference": "majority"},
    "f_beta_macro": {"beta": 3},
    "f_beta_micro": {"beta": 3},
    "f_beta_weighted": {"beta": 3},
}
LABELLED = [m for m in REGISTRY if m.from_labels]
READY = [m.with_(**PARAMETERS.get(m.name, {})) for m in LABELLED if m.name != "balanced_accuracy_weighted"]
WHOLE = [m for m in READY if m.takes is Multiclass]
ONE = [m for m in READY if m.takes is Binary]


def overall(name, matrix, *, positive=None, **wanted):
    measure, tally = parse(name), confusion_of(matrix)
    table = tally.multiclass()
    if measure.takes is Binary:
        table = table.one_vs_rest().at(positive)
    return Uncertainty(tally, Wanted(**wanted), positive=positive).overall(measure, measure(table))


def by_class(measure, tally, **wanted):
    stack = measure.raw(tally.multiclass().one_vs_rest())
    results = [stack.at(i).settled() for i in range(tally.k)]
    return results, Uncertainty(tally, Wanted(**wanted), positive=None).by_class(measure, results)


def assert_sound(measure, result, found):
    if isinstance(found, str):
        assert found
        return
    assert not isinstance(result, Undefined)
    low, high = measure.range
    assert low <= found.low <= result.value <= found.high <= high
    assert found.low < found.high
    assert math.isfinite(found.low)
    assert found.method
    assert (found.draws is None) == (found.seed is None)


# ---------------------------------------------------------------- what may be asked for


@pytest.mark.parametrize(("level", "meant"), [(95, "0.95"), (0.05, "0.95"), (99, "0.99"), (0.1, "0.9")])
def test_a_percentage_or_an_error_rate_is_refused_with_what_was_meant(level, meant):
    with pytest.raises(PlanError) as refused:
        Wanted(level=level)
    assert refused.value.code == "confidence-level-range"
    assert f"did you mean {meant}?" in refused.value.fix


@pytest.mark.parametrize("level", [1, 0, -0.5, 1.5, math.nan, math.inf, "0.95", None, True])
def test_a_level_that_is_none_is_refused_without_a_guess(level):
    with pytest.raises(PlanError) as refused:
        Wanted(level=level)
    assert refused.value.code == "confidence-level-range"
    assert "did you mean" not in refused.value.fix


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.9999])
def test_levels_from_a_half_up_to_one_are_taken(level):
    assert Wanted(level=level).level == level


@pytest.mark.parametrize(
    "given", [{"shares": "wald"}, {"cells": "bootstrap"}, {"draws": 10}, {"draws": 2.5}, {"seed": -1}, {"seed": True}]
)
def test_a_method_seed_or_number_of_draws_that_is_none_is_refused(given):
    with pytest.raises(PlanError) as refused:
        Wanted(**given)
    assert refused.value.code == "option-unknown"
    assert refused.value.known


def test_the_least_seed_and_number_of_draws_are_taken():
    wanted = Wanted(seed=0, draws=100)
    assert (wanted.seed, wanted.draws) == (0, 100)


# ---------------------------------------------------------------- which method a value gets


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("recall", "wilson"),
        ("jaccard", "wilson"),
        ("f1", "wilson of jaccard"),
        ("f1_micro", "wilson of accuracy"),
        ("likelihood_ratio_positive", "koopman score"),
        ("f2", "dirichlet-jeffreys on 4 cells"),
        ("cohen_kappa", "dirichlet-jeffreys on 4 cells"),
        ("likelihood_ratio_negative", "dirichlet-jeffreys on 4 cells"),
    ],
)
def test_two_classes_get_these_methods(name, method):
    assert overall(name, TWO, positive=1).method == method


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("accuracy", "wilson"),
        ("recall_weighted", "wilson of accuracy"),
        ("cohen_kappa", "corrected dirichlet on cells"),
        ("f1_macro", "corrected dirichlet on cells"),
        ("total_variation", "corrected dirichlet on cells"),
        ("relative_improvement_factor(reference=0.5)", "dirichlet on cells"),
    ],
)
def test_three_classes_get_these_methods(name, method):
    assert overall(name, MATRIX).method == method


@pytest.mark.parametrize("option", CELLS)
def test_every_named_method_serves_both_kinds_of_table_and_is_named(option):
    two, three = overall("cohen_kappa", TWO, positive=1, cells=option), overall("cohen_kappa", MATRIX, cells=option)
    expected = {"auto": ("dirichlet-jeffreys", "corrected dirichlet"), "dirichlet": ("dirichlet-jeffreys", "dirichlet")}
    first, second = expected.get(option, (option, option))
    assert two.method == f"{first} on 4 cells"
    assert three.method == f"{second} on cells"
    assert (two.draws is None) == (three.draws is None) == (option == "delta")
    # They describe the same uncertainty: no bound is far from that of the default.
    for found, default in ((two, overall("cohen_kappa", TWO, positive=1)), (three, overall("cohen_kappa", MATRIX))):
        width = default.high - default.low
        assert found.low == pytest.approx(default.low, abs=0.15 * width)
        assert found.high == pytest.approx(default.high, abs=0.15 * width)


@pytest.mark.parametrize("option", [o for o in CELLS if o != "auto"])
def test_a_named_method_also_serves_the_measures_with_a_closed_form(option):
    first = "dirichlet-jeffreys" if option == "dirichlet" else option
    assert overall("f1", TWO, positive=1, cells=option).method == f"{first} on 4 cells"
    assert overall("likelihood_ratio_positive", TWO, positive=1, cells=option).method == f"{first} on 4 cells"


@pytest.mark.parametrize(("shares", "exact"), [("wilson", wilson), ("clopper-pearson", clopper_pearson)])
def test_a_value_through_accuracy_and_f1_follow_the_method_for_shares(shares, exact):
    low, high = exact(62, 83, 0.95)
    found = overall("jaccard_micro", MATRIX, shares=shares)
    assert found.method == f"{shares} of accuracy"
    assert (found.low, found.high) == pytest.approx((low / (2 - low), high / (2 - high)))
    low, high = exact(30, 42, 0.95)
    found = overall("f1", TWO, positive=1, shares=shares)
    assert found.method == f"{shares} of jaccard"
    assert (found.low, found.high) == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)))


def test_the_positive_likelihood_ratio_gets_its_score_interval():
    found = overall("likelihood_ratio_positive", TWO, positive=1)
    low, high = koopman(*(np.array([x]) for x in (30.0, 35.0, 7.0, 47.0)), 0.95)
    assert (found.low, found.high) == (low[0], high[0])
    assert overall("likelihood_ratio_positive", [[40, 0], [5, 30]], positive=1).high == math.inf


# ---------------------------------------------------------------- families agree with themselves


def test_f1_is_twice_jaccard_over_one_plus_jaccard_at_both_ends():
    for found in (overall("f1", TWO, positive=1), overall("f_beta(beta=1)", TWO, positive=1)):
        jaccard = overall("jaccard", TWO, positive=1)
        ends = [2 * end / (1 + end) for end in (jaccard.low, jaccard.high)]
        assert [found.low, found.high] == pytest.approx(ends, rel=1e-14)


def test_youden_is_twice_balanced_accuracy_minus_one_at_both_ends():
    for positive in (0, 1):
        youden = overall("youden_index", TWO, positive=positive)
        balanced = overall("balanced_accuracy", TWO, positive=positive)
        assert [youden.low, youden.high] == pytest.approx([2 * balanced.low - 1, 2 * balanced.high - 1], rel=1e-12)
        assert youden.draws == balanced.draws


def test_an_error_is_one_minus_its_success_at_both_ends():
    for matrix, positive in ((TWO, 1), (MATRIX, None)):
        rate = overall("false_negative_rate_macro", matrix, positive=positive)
        recall = overall("recall_macro", matrix, positive=positive)
        assert [rate.low, rate.high] == pytest.approx([1 - recall.high, 1 - recall.low], rel=1e-9)


def test_a_class_against_the_rest_gets_the_interval_of_its_own_binary_table():
    tally = confusion_of(MATRIX)
    cat = tally.multiclass().one_vs_rest().at(1)
    alone = [[int(cat.tn), int(cat.fp)], [int(cat.fn), int(cat.tp)]]
    for name in ("f2", "youden_index", "likelihood_ratio_positive", "f1", "recall", "diagnostic_odds_ratio"):
        assert by_class(parse(name), tally)[1][1] == overall(name, alone, positive=1)


def test_the_order_of_the_classes_does_not_move_the_interval_of_one_of_them():
    turned = [[MATRIX[i][j] for j in (2, 0, 1)] for i in (2, 0, 1)]
    for name in ("f2", "markedness", "precision"):
        here, there = by_class(parse(name), confusion_of(MATRIX))[1], by_class(parse(name), confusion_of(turned))[1]
        assert [there[1], there[2], there[0]] == here


# ---------------------------------------------------------------- draws


def test_the_same_seed_gives_the_same_bytes_and_another_seed_another_interval():
    for name, matrix, positive in (("f2", TWO, 1), ("f1_macro", MATRIX, None)):
        first, again, other = (overall(name, matrix, positive=positive, seed=seed) for seed in (1, 1, 2))
        assert first == again != other
        assert first.seed == 1


def test_the_number_of_workers_does_not_move_an_interval(monkeypatch):
    found = []
    for workers in (1, 3):
        monkeypatch.setattr("assay.core.parallel.usable", lambda n=workers: n)
        monkeypatch.setattr("assay.inference.resampling.HELD", 1 << 12)
        found.append(overall("f1_macro", MATRIX))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("name", "matrix", "positive"),
    [
        ("f2", [[40, 7], [5, 9]], 1),
        ("matthews_corrcoef", [[90, 2], [1, 4]], 1),
        ("likelihood_ratio_negative", TWO, 1),
        ("f1_macro", MATRIX, None),
        ("balanced_accuracy", [[18, 0, 1], [0, 7, 0], [0, 0, 3]], None),
        ("cohen_kappa", MATRIX, None),
        ("total_variation", MATRIX, None),
    ],
)
def test_bounds_move_with_the_seed_by_less_than_two_percent_of_the_width(name, matrix, positive):
    found = [overall(name, matrix, positive=positive, seed=seed) for seed in range(30)]
    low, high = np.array([(f.low, f.high) for f in found]).T
    width = (high - low).mean()
    assert max(low.std(ddof=1), high.std(ddof=1)) < 0.02 * 1.25 * width  # 30 seeds know a deviation to 13 %


def test_a_normal_value_takes_the_least_number_of_draws_and_a_skewed_one_more():
    assert overall("cohen_kappa", [[4000, 700], [500, 3000]], positive=1).draws == 2000
    assert overall("diagnostic_odds_ratio", [[40, 1], [2, 30]], positive=1).draws > 2000
    assert overall("cohen_kappa", [[4000, 700], [500, 3000]], positive=1, draws=5000).draws == 5000


def test_draws_that_stay_unsteady_are_noted(monkeypatch):
    monkeypatch.setattr(cells, "STEADY", 1e-9)
    found = overall("cohen_kappa", TWO, positive=1)
    assert any("of the width" in note for note in found.notes)


def test_undefined_draws_are_noted_and_too_many_of_them_refused():
    few = overall("youden_index", [[45, 2], [1, 4]], positive=1, cells="percentile")
    assert few.notes[0].endswith("draws are undefined and were left out")
    many = overall("youden_index", [[48, 1], [0, 1]], positive=1, cells="percentile")
    assert many.endswith("draws are undefined")
    assert isinstance(overall("youden_index", [[48, 1], [0, 1]], positive=1), Interval)


def test_averages_tell_how_often_a_draw_lost_a_class():
    found = overall("balanced_accuracy", [[18, 0, 1], [0, 7, 0], [0, 1, 2]], cells="bca")
    assert any("a class had no rows" in note for note in found.notes)
    assert not overall("balanced_accuracy", [[18, 0, 1], [0, 7, 0], [0, 1, 2]]).notes


# ---------------------------------------------------------------- edges


@pytest.mark.parametrize("name", ["f1_macro", "balanced_accuracy", "cohen_kappa", "matthews_corrcoef", "f1_weighted"])
@pytest.mark.parametrize("sizes", [(10, 10, 10), (40, 8, 2), (1, 1, 1)])
def test_a_table_without_errors_gets_an_open_end_as_wide_as_that_of_accuracy(name, sizes):
    found = overall(name, np.diag(sizes).tolist())
    low, _ = clopper_pearson(sum(sizes), sum(sizes), 0.95)
    assert found.high == 1
    # Errors that were not seen may sit in a small class, which averages feel more, so the bound may be lower.
    assert 1 - 5 * (1 - low) - 0.25 < found.low < 1 - 0.3 * (1 - low)


@pytest.mark.parametrize("name", ["f2", "cohen_kappa", "f1", "youden_index"])
def test_a_binary_table_without_errors_gets_an_open_end(name):
    found = overall(name, [[20, 0], [0, 20]], positive=1)
    assert found.high == 1
    assert 0.6 < found.low < 0.97


@pytest.mark.parametrize("option", ["percentile", "bca", "delta"])
@pytest.mark.parametrize(("matrix", "positive"), [([[20, 0], [0, 20]], 1), (np.diag([5, 6, 7]).tolist(), None)])
def test_a_method_without_width_at_the_edge_says_so(option, matrix, positive):
    assert "no width" in overall("cohen_kappa", matrix, positive=positive, cells=option)


def test_the_delta_method_has_no_interval_where_f1_is_zero():
    assert "no width" in overall("f1", [[0, 2], [2, 0]], positive=1, cells="delta")


def test_an_infinite_value_is_bounded_from_below_or_has_a_reason():
    ratio = overall("likelihood_ratio_negative", [[0, 9], [2, 30]], positive=1)
    assert ratio.high == math.inf
    assert ratio.low > 0
    improvement = overall("relative_improvement_factor(reference=0.5)", np.diag([9, 9, 9]).tolist())
    assert improvement.high == math.inf
    assert improvement.low > 1
    divergence = overall("kl_truth_pred", [[5, 1, 0], [2, 7, 0], [1, 1, 0]])
    assert divergence.high == math.inf
    assert divergence.low > 0
    assert "infinite" in overall("kl_truth_pred", [[5, 1, 0], [2, 7, 0], [1, 1, 0]], cells="delta")
    assert "infinite" in overall("likelihood_ratio_negative", [[0, 9], [2, 30]], positive=1, cells="delta")


@pytest.mark.parametrize(
    ("value", "ends"), [(0.5, (math.nan, 0.8)), (0.5, (0.2, math.nan)), (math.inf, (math.inf,) * 2)]
)
def test_an_end_that_is_not_a_number_or_an_infinite_lower_one_is_no_interval(value, ends):
    found = cells.built(Wanted(), REGISTRY.find("likelihood_ratio_positive"), value, ends, "any")
    assert found == "the value is infinite, and the method knows no lower bound for it"


@pytest.mark.parametrize("matrix", [[[50, 10, 5], [10, 40, 6], [5, 6, 30]], [[200, 20], [20, 100]]])
def test_shares_that_chance_explains_reach_no_distance_at_all(matrix):
    for name, best in (("total_variation", 0), ("jensen_shannon", 0), ("kl_truth_pred", 0), ("csmf_accuracy", 1)):
        found = overall(name, matrix)
        assert best in (found.low, found.high)
    far = overall("total_variation", [[50, 40, 5], [0, 90, 6], [0, 36, 30]])
    assert far.low > 0


def test_an_average_that_skips_a_class_skips_it_in_every_draw_and_one_that_counts_it_lets_it_vary():
    matrix = [[20, 3, 0], [2, 25, 0], [3, 4, 0]]
    skipped = overall('precision_macro(undefined="skip")', matrix)
    zero = overall('precision_macro(undefined="zero")', matrix)
    f1 = overall("f1_macro", matrix)
    value = (20 / 25 + 25 / 32) / 2
    assert skipped.low < value < skipped.high
    assert zero.low < 2 / 3 * value < zero.high
    # The third class was never called; its F1 is 0, but another sample might have called it.
    two = overall("f1_macro", [[20, 3], [2, 25]])
    assert f1.high - f1.low > 0.8 * (two.high - two.low)


def test_a_single_class_has_a_share_but_no_other_interval():
    tally = Confusion.from_cells({("a", "a"): 7}, labels=["a"])
    engine = Uncertainty(tally, Wanted(), positive=None)
    for measure in WHOLE:
        result = measure(tally.multiclass())
        found = engine.overall(measure, result)
        assert isinstance(found, Interval) == (isinstance(result, Share))
    assert "only one class" in engine.overall(parse("f1_macro"), parse("f1_macro")(tally.multiclass()))
    assert all(isinstance(f, (str, Interval)) for m in ONE for f in by_class(m, tally)[1])


def test_one_right_row_gets_the_exact_interval():
    found = overall("accuracy", [[0, 0], [0, 1]], positive=1)
    assert (round(found.low, 12), found.high, found.method) == (0.025, 1, "clopper-pearson")


def test_weighted_rows_get_a_reason():
    tally = confusion_of(TWO, weighted=True)
    measure = parse("recall")
    found = Uncertainty(tally, Wanted(), positive=1).overall(measure, measure(tally.binary(1)))
    assert "weight" in found
    assert all("weight" in f for f in by_class(measure, tally)[1])


# ---------------------------------------------------------------- every measure, many tables


@pytest.mark.parametrize("option", CELLS)
@settings(max_examples=8)
@given(matrix=matrices(st.one_of(st.just(0), st.integers(0, 4), st.integers(0, 300), st.integers(0, 2**40)), 1, 4))
def test_every_interval_holds_its_value_in_its_range_or_is_a_reason(option, matrix):
    tally = confusion_of(matrix)
    exact, wanted = tally.multiclass(), Wanted(cells=option, draws=200)
    engine = Uncertainty(tally, wanted, positive=None)
    for measure in WHOLE:
        result = measure(exact)
        assert_sound(measure, result, engine.overall(measure, result))
    for measure in ONE:
        for result, found in zip(*by_class(measure, tally, cells=option, draws=200), strict=True):
            assert_sound(measure, result, found)


@pytest.mark.parametrize("name", ["f1_macro", "cohen_kappa", "balanced_accuracy", "jensen_shannon", "f1_weighted"])
def test_an_interval_shrinks_with_the_rows(name):
    widths = []
    for times in (1, 4, 16, 64):
        found = overall(name, [[times * count for count in row] for row in MATRIX])
        widths.append(found.high - found.low)
    assert widths == sorted(widths, reverse=True)
    assert widths[2] / widths[3] == pytest.approx(2, rel=0.25 if name == "jensen_shannon" else 0.1)


@pytest.mark.parametrize("name", ["f1", "f2", "cohen_kappa", "likelihood_ratio_positive", "youden_index"])
def test_a_binary_interval_shrinks_with_the_rows(name):
    widths = []
    for times in (1, 4, 16, 64):
        found = overall(name, [[times * count for count in row] for row in TWO], positive=1)
        widths.append(found.high - found.low)
    assert widths == sorted(widths, reverse=True)
    assert widths[2] / widths[3] == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize("name", ["cohen_kappa", "f1_macro"])
def test_a_higher_level_is_wider(name):
    for matrix, positive in ((TWO, 1), (MATRIX, None)):
        inner, outer = (overall(name, matrix, positive=positive, level=level) for level in (0.8, 0.99))
        assert outer.low < inner.low < inner.high < outer.high


@pytest.mark.parametrize("option", ["auto", "delta"])
def test_many_rows_make_all_methods_one(option):
    large = [[40_000 * count for count in row] for row in MATRIX]
    for name in ("f1_macro", "cohen_kappa"):
        found, plain = overall(name, large, cells=option), overall(name, large, cells="percentile")
        width = plain.high - plain.low
        assert found.low == pytest.approx(plain.low, abs=0.06 * width)
        assert found.high == pytest.approx(plain.high, abs=0.06 * width)


# ---------------------------------------------------------------- many classes


def random_tally(k, n, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    predicted = np.where(rng.random(n) < 0.9, truth, rng.integers(0, k, n))
    found, count = np.unique(np.stack([truth, predicted]), axis=1, return_counts=True)
    return Confusion.from_codes(tuple(range(k)), found[0], found[1], count, rows=n)


def test_too_many_classes_get_a_reason_and_shares_still_an_interval():
    tally = random_tally(100_000, 300_000)
    exact, engine = tally.multiclass(), Uncertainty(tally, Wanted(), positive=None)
    skip = {"undefined": "skip"}
    macro = parse("f1_macro").with_(**skip)
    found = engine.overall(macro, Number(np.float64(0.9)))
    assert "100,000 classes are too many" in found
    accuracy = parse("accuracy")
    assert isinstance(engine.overall(accuracy, accuracy(exact)), Interval)
    results = [Number(np.float64(0.5))] * tally.k
    assert "too many" in engine.by_class(parse("f2"), results)[0]
    assert isinstance(engine.by_class(parse("f1"), results)[0], Interval)


def test_a_hundred_and_thirty_classes_are_served_in_parts():
    tally = random_tally(130, 20_000)
    results, found = by_class(parse("f2"), tally)
    assert len(found) == 130
    assert all(f.low < r.value < f.high for r, f in zip(results, found, strict=True))
    assert MOST_CLASSES >= 130


WEIGHTED = ("accuracy", "recall", "f1", "matthews_corrcoef", "likelihood_ratio_positive")


def weighted_rows(n=300, classes=2, seed=5):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, n)
    predicted = np.where(rng.random(n) < 0.8, truth, rng.integers(0, classes, n))
    return truth, predicted, rng.gamma(2.0, 1.0, n)


def test_weights_in_another_unit_give_the_same_intervals():
    truth, predicted, weight = weighted_rows()
    a = assay.assess(truth=truth, predicted=predicted, weight=weight)
    b = assay.assess(truth=truth, predicted=predicted, weight=weight * 2.0**-20)  # every class weighs less than 1
    for name in WEIGHTED:
        assert (a[name].low, a[name].high) == pytest.approx((b[name].low, b[name].high), rel=1e-9)
        assert a[name].interval.method == "weighted dirichlet on cells"


def test_equal_weights_give_nearly_the_intervals_of_counts():
    truth, predicted, _ = weighted_rows()
    a = assay.assess(truth=truth, predicted=predicted, weight=np.full(300, 0.25))
    b = assay.assess(truth=truth, predicted=predicted)
    for name in WEIGHTED:
        width = b[name].high - b[name].low
        assert a[name].low == pytest.approx(b[name].low, abs=0.1 * width)
        assert a[name].high == pytest.approx(b[name].high, abs=0.1 * width)
    assert a.confusion.worth == 300


def test_the_more_uneven_the_weights_the_wider_the_interval():
    truth, predicted, _ = weighted_rows()
    rng = np.random.default_rng(9)
    widths = []
    for spread in (0.0, 0.7, 1.4):
        weight = np.exp(rng.normal(0, spread, 300))
        found = assay.assess(truth=truth, predicted=predicted, weight=weight)["accuracy"]
        widths.append(found.high - found.low)
    assert widths == sorted(widths)
    assert widths[2] > 1.5 * widths[0]


def test_classes_of_weighted_rows_have_intervals_that_hold_their_values():
    truth, predicted, weight = weighted_rows(classes=4)
    a = assay.assess(truth=truth, predicted=predicted, weight=weight)
    for view in a.by_class.values():
        for name in ("recall", "precision", "f1", "jaccard"):
            assert view[name].low <= view[name].value <= view[name].high
    assert a["f1_macro"].low < a["f1_macro"].value < a["f1_macro"].high


def test_a_weighted_tally_without_squares_says_why_it_has_no_interval():
    content = assay.assess(truth=[1, 0, 1], predicted=[1, 0, 0], weight=[1, 2, 3]).confusion.to_json()
    del content["squares"]
    old = Confusion.from_json(content)
    whole = Uncertainty(old, Wanted(), positive=1)
    accuracy = parse("accuracy")
    assert "squares" in whole.overall(accuracy, accuracy(old.multiclass()))


def test_another_method_for_weighted_rows_is_noted():
    truth, predicted, weight = weighted_rows()
    found = assay.assess(
        truth=truth, predicted=predicted, weight=weight, intervals=assay.IntervalSettings(cells="bca")
    )["f1"]
    assert found.interval.notes == ("bca is for counts; weighted rows are drawn",)


def test_the_near_end_of_a_distance_of_many_classes_is_what_chance_does_not_explain():
    """With one row in four wrong in 40 classes, most of the distance seen is chance, and the draws alone miss that."""
    shares = np.full((40, 40), 0.25 / 39 / 40)
    np.fill_diagonal(shares, 0.75 / 40)
    counts = np.random.default_rng(4).multinomial(400, shares.ravel()).reshape(40, 40)
    rows, columns = np.nonzero(counts)
    tally = Confusion.from_codes(tuple(range(40)), rows, columns, counts[rows, columns], rows=400)
    for name, near in (("total_variation", "low"), ("csmf_accuracy", "high")):
        measure = REGISTRY.find(name)
        result = measure(tally.multiclass())
        found = Uncertainty(tally, Wanted(), positive=None).overall(measure, result)
        truth = 0.0 if name == "total_variation" else 1.0
        assert found.low <= truth <= found.high
        assert abs(getattr(found, near) - truth) < abs(result.value - truth) / 2


def test_the_near_end_of_a_distance_is_the_part_of_it_at_which_chance_reaches_what_is_seen():
    """Half the L1 distance is linear in that part, which a search over the same draws finds again."""
    rng, measure = np.random.default_rng(7), REGISTRY.find("total_variation")
    matrix = np.array([[60, 20, 10], [0, 70, 5], [0, 5, 30]])
    draws = rng.multinomial(200, matrix.ravel() / 200, size=400).reshape(-1, 3, 3)
    block, centre = (
        Multiclass(hits=np.trace(one, axis1=1, axis2=2), actual=one.sum(2), called=one.sum(1), labels=(0, 1, 2))
        for one in (draws.astype(float), matrix[np.newaxis].astype(float))
    )
    seen = 0.5 * np.abs(matrix.sum(1) - matrix.sum(0)).sum() / 200

    def reached(part):
        gap = (draws.sum(2) - draws.sum(1)) / 200 - (1 - part) * (matrix.sum(1) - matrix.sum(0)) / 200
        return np.quantile(0.5 * np.abs(gap).sum(axis=1), 0.95)

    part = brentq(lambda part: reached(part) - seen, 0, 1)
    found = cells._near(measure, seen, [block], centre, 0.9)
    assert found == pytest.approx(part * seen, rel=1e-3)


@pytest.mark.parametrize("name", ["cohen_kappa", "f1_macro"])
def test_without_a_positive_class_two_classes_are_drawn_as_if_the_last_were_it(name):
    matrix = [[40, 7], [5, 30]]
    assert overall(name, matrix) == overall(name, matrix, positive=1)


@pytest.mark.parametrize("level", [0.5, 0.9, 1 - 2.0**-50])
def test_a_level_may_be_near_one_while_its_tails_are_told_apart(level):
    assert Wanted(level=level).level == level
    for wrong in (math.nextafter(1.0, 0.0), 1.0, 0.4999):
        with pytest.raises(PlanError):
            Wanted(level=wrong)
