# SPDX-License-Identifier: Apache-2.0
"""What tests say where nothing can be tested: p = 1 with a reason, or undefined with one, never NaN and never 0."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import bartlett, kurtosis, shapiro, skew
from scipy.stats import t as student_t

import assay
from assay.core.errors import OutOfRange, PlanError, RowsError, UnpairedRows
from assay.core.values import Share, Undefined
from assay.inference.estimates import Estimate
from assay.inference.findings import Effect, Finding, Interval
from assay.inference.intervals.auc import newcombe
from assay.inference.intervals.difference_of_two import mover
from assay.inference.intervals.interval_choice import Wanted
from assay.inference.tail_probabilities import Tail
from assay.inference.tests.anova import one_way_anova, repeated_measures_anova
from assay.inference.tests.contingency import fisher_monte_carlo
from assay.inference.tests.delong import delong, delong_many
from assay.inference.tests.independent_models import estimate
from assay.inference.tests.mcnemar import mcnemar_continuity, mcnemar_exact, mcnemar_plain
from assay.inference.tests.means import corrected_resampled_t, five_by_two_f, five_by_two_t, half_sample_t, paired_t
from assay.inference.tests.ranks import wilcoxon, wilcoxon_pratt
from assay.inference.tests.several_ranks import conover, friedman, iman_davenport
from assay.inference.tests.variance import normality
from assay.inference.tests_catalogue import find_test
from assay.inference.units.permutation_and_bootstrap import paired_bootstrap, paired_permutation
from assay.measures import parse
from assay.tally.contingency_tables import Outcomes, Strata, Successes, Table
from assay.tally.labels.confusion import Confusion
from assay.tally.paired.different_rows import Apart
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from assay.tally.real_values import Exact, FiveByTwo, Folds, Groups, Halved, Pairs
from tests import flat
from tests.block_rows import blocks_of


@pytest.mark.parametrize("test", [mcnemar_exact, mcnemar_continuity, mcnemar_plain])
def test_models_that_never_disagree_have_p_one_and_the_test_no_power(test):
    found = test(Outcomes(both=10, only_a=0, only_b=0, neither=5))
    assert found.p == 1.0
    assert isinstance(found.statistic, Undefined)
    assert found.statistic.code == "no-discordant-pairs"
    assert "no power" in found.notes[0]


@pytest.mark.parametrize("cells", [(1.5, 2, 3, 4), (1, -2, 3, 4), (1, float("nan"), 3, 4), (1, "2 rows", 3, 4)])
def test_a_table_of_outcomes_holds_whole_counts_only(cells):
    with pytest.raises(PlanError) as error:
        Outcomes(**dict(zip(("both", "only_a", "only_b", "neither"), cells, strict=True)))
    assert error.value.code == "count-not-whole"


@pytest.mark.parametrize("test", [wilcoxon, wilcoxon_pratt])
def test_wilcoxon_of_zeros_is_one(test):
    found = test(Pairs.of(np.zeros(10), np.zeros(10)))
    assert found.p == 1.0
    assert found.statistic.reason == "all differences are zero"


@pytest.mark.parametrize("name", ["kruskal_wallis", "mann_whitney"])
def test_independent_groups_of_equal_values_have_p_one_and_no_statistic(name):
    found = find_test(name)(Groups.of({"A": [1.0, 1.0], "B": [1.0, 1.0]}), level=0.9)
    assert (found.p, found.level, found.notes) == (1.0, 0.9, ("all values are equal",))
    assert found.statistic.code == "all-tied"
    assert found.effect.value == {"kruskal_wallis": 0.0, "mann_whitney": 0.5}[name]


def test_nan_and_infinity_are_refused_where_values_enter():
    for wrong in ([1.0, math.nan], [1.0, math.inf], [1.0, None], [1.0, "2"], [True, False]):
        with pytest.raises(OutOfRange) as error:
            Pairs.of(wrong, [1.0, 2.0])
        assert error.value.code == "value-not-finite"


def test_small_integers_do_not_wrap_around():
    """ACCEPTANCE 23: differences of uint8 columns must not be taken modulo 256."""
    a, b = np.array([250, 3, 9], dtype=np.uint8), np.array([5, 251, 10], dtype=np.uint8)
    assert paired_t(Pairs.of(a, b)).effect.value == pytest.approx((245 - 248 - 1) / 3)


def test_a_constant_difference_is_undefined_and_no_difference_is_one():
    assert paired_t(Pairs.of([1.0, 2.0, 3.0], [0.0, 1.0, 2.0])).p is None
    assert "no spread" in paired_t(Pairs.of([1.0, 2.0, 3.0], [0.0, 1.0, 2.0])).reason
    assert paired_t(Pairs.of([1.0, 2.0], [1.0, 2.0])).p == 1.0
    flat = FiveByTwo.of([[0.5, 0.5]] * 5)
    assert five_by_two_t(flat).p is None
    assert five_by_two_f(flat).p is None
    assert five_by_two_f(FiveByTwo.of([[0.0, 0.0]] * 5)).p == 1.0
    assert half_sample_t(Halved.of(Pairs.of([0.5] * 5, [0.0] * 5))).p is None
    assert half_sample_t(Halved.of(Pairs.of([0.5] * 5, [0.5] * 5))).p == 1.0
    assert one_way_anova(Groups.of({"A": [1.0, 1.0], "B": [2.0, 2.0]})).p is None
    assert one_way_anova(Groups.of({"A": [1.0, 1.0], "B": [1.0, 1.0]})).p == 1.0
    assert repeated_measures_anova(blocks_of([[1.0, 2.0], [2.0, 3.0]])).p is None


def test_one_pair_is_too_few():
    assert paired_t(Pairs.of([1.0], [2.0])).reason == "only 1 value in items; two are needed"
    with pytest.raises(RowsError):
        Pairs.of([], [])
    with pytest.raises(UnpairedRows):
        Pairs.of([1.0], [1.0, 2.0])


def test_identical_rankings_of_every_data_set_get_a_permutation_p():
    t = blocks_of([[3.0, 2.0, 1.0]] * 6)
    found = iman_davenport(t)
    assert 0 < found.p < 0.01
    assert isinstance(found.statistic, Undefined)
    assert "random orders" in found.notes[-1]
    assert all(one.p is None for one in conover.pairs(t))
    assert friedman(blocks_of([[1.0, 1.0, 1.0]] * 4)).p == 1.0


def test_delong_on_identical_models_perfect_ones_and_two_rows():
    y = [False, True, False, True, False, True]
    s = [0.1, 0.9, 0.4, 0.35, 0.8, 0.7]
    same = delong(PairedScores.of(y, {"A": s, "B": s}))
    assert (same.effect.value, same.p) == (0.0, 1.0)
    assert same.statistic.reason == "zero variance: the two rankings are identical"
    assert delong(PairedScores.of(y, {"A": s, "B": [2 * x for x in s]})).p == 1.0
    perfect = delong(
        PairedScores.of(
            [False] * 3 + [True] * 3, {"A": [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], "B": [0.9, 0.8, 0.7, 0.3, 0.2, 0.1]}
        )
    )
    assert perfect.p is None
    assert (perfect.effect.value, perfect.effect.interval) == (1.0, None)
    assert "no variance" in perfect.effect.no_interval
    assert (perfect.more[0].interval.low, perfect.more[0].interval.high) == newcombe(1.0, 3, 3, 0.95)
    few = delong(PairedScores.of([False, True], {"A": [0.2, 0.7], "B": [0.1, 0.3]}))
    assert few.p is None
    assert "two of each are needed" in few.reason
    assert delong_many(PairedScores.of(y, {"A": s, "B": s, "C": s})).p == 1.0


def test_a_score_that_is_no_number_is_refused():
    with pytest.raises(OutOfRange) as error:
        PairedScores.of([True, False], {"A": [0.1, math.nan]})
    assert error.value.code == "score-not-finite"


def test_p_of_swaps_is_never_zero():
    cells = {(1, 1, 0): 500, (0, 0, 1): 500}
    t = PairedLabels.from_cells(cells, models=("A", "B"))
    assert paired_permutation(t, measure="f1", positive=1, draws=999).p == pytest.approx(1 / 1000)


def test_draws_that_lose_a_class_are_counted_and_take_the_interval_away():
    cells = {(1, 1, 0): 1, (1, 1, 1): 1, (0, 0, 0): 20, (0, 1, 0): 3}
    t = PairedLabels.from_cells(cells, models=("A", "B"))
    found = paired_bootstrap(t, measure="recall", positive=1, draws=500)
    assert found.effect.interval is None
    assert "left the measure undefined" in found.effect.no_interval
    assert "stratified=True" in found.effect.no_interval
    kept = paired_bootstrap(t, measure="recall", positive=1, draws=500, stratified=True)
    assert kept.effect.interval.low < kept.effect.interval.high
    alone = PairedLabels.from_cells({(1, 1, 0): 1, (0, 0, 0): 20, (0, 1, 0): 3}, models=("A", "B"))
    sure = paired_bootstrap(alone, measure="recall", positive=1, draws=500, stratified=True)
    assert sure.effect.interval is None, "one positive, drawn every time"
    assert sure.effect.value == 1.0
    both = PairedLabels.from_cells({(1, 1, 1): 1, (0, 0, 0): 20, (0, 1, 0): 3}, models=("A", "B"))
    assert paired_bootstrap(both, measure="recall", positive=1, draws=500, stratified=True).effect.value == 0.0
    assert "same difference" in sure.least.reason


def test_a_measure_without_a_value_leaves_the_comparison_without_one():
    t = PairedLabels.from_cells({(0, 0, 0): 5, (0, 1, 0): 3}, models=("A", "B"))
    found = paired_permutation(t, measure="recall", positive=1)
    assert found.p is None
    assert "recall of A and B is undefined here" in found.reason


def test_a_margin_must_be_a_margin():
    t = Outcomes(both=10, only_a=2, only_b=3, neither=5)
    for wrong in (0, -0.1, 1.0, True, "small"):
        with pytest.raises(PlanError):
            find_test("share_non_inferiority")(t, margin=wrong)
    assert find_test("share_equivalence")(t, margin=0.9).p < 0.05
    with pytest.raises(PlanError):
        find_test("mean_equivalence")(Pairs.of([1.0, 2.0], [1.0, 3.0]), margin=-1)


def test_folds_need_a_ratio_and_five_by_two_its_ten_differences():
    pairs = Pairs.of([1.0, 2.0], [1.0, 3.0])
    for wrong in (0, -1, None):
        with pytest.raises(PlanError):
            Folds.of(pairs, test_over_train=wrong)
    with pytest.raises(PlanError):
        FiveByTwo.of([[1.0, 2.0]] * 4)
    for many in (2, 3, 4, 6):
        with pytest.raises(PlanError, match="two for every split"):
            Halved.of(Pairs.of([1.0] * many, [0.0] * many))
    assert corrected_resampled_t(Folds.of(pairs, test_over_train="1/1")).p <= 1


def test_monte_carlo_tables_repeat_with_their_seed():
    t = Table(rows=((3, 1, 0), (0, 2, 4), (1, 1, 1)))
    assert fisher_monte_carlo(t, draws=500).p == fisher_monte_carlo(t, draws=500).p
    assert "seed 4213" in fisher_monte_carlo(t, draws=500).notes[0]
    assert fisher_monte_carlo(Table(rows=((5, 0), (3, 0)))).p == 1.0


@pytest.mark.parametrize("name", ["variance_f", "bartlett", "levene", "brown_forsythe"])
def test_a_sample_without_spread_beside_one_that_scatters_is_never_called_equal(name):
    test = find_test(name)
    flat, wide, pair = [1.0, 1.0, 1.0, 1.0], [1.0, 4.0, 9.0, 2.0], [0.0, 8.0]
    assert test(Groups.of({"A": flat, "B": [2.0, 2.0]})).p == 1
    for a, b in ((flat, wide), (wide, flat)):
        found = test(Groups.of({"A": a, "B": b}))
        assert found.p is None if name in ("variance_f", "bartlett") else found.p < 1
        assert not any("no sample scatters" in note for note in found.notes)
    if name in ("levene", "brown_forsythe"):
        found = test(Groups.of({"A": [3.0, 4.0], "B": pair}))
        assert found.p is None
        assert "ratio has no end" in found.chance.reason


def test_paired_variances_without_spread_on_one_side_have_no_value():
    test = find_test("pitman_morgan")
    assert test(Pairs.of([1.0, 1.0, 1.0], [2.0, 2.0, 2.0])).p == 1
    assert test(Pairs.of([1.0, 1.0, 1.0], [2.0, 3.0, 5.0])).p is None
    assert "three pairs" in test(Pairs.of([1.0, 2.0], [2.0, 5.0])).chance.reason
    shifted = test(Pairs.of([1.0, 2.0, 4.0], [2.0, 3.0, 5.0]))
    assert (shifted.p, shifted.effect.value, shifted.notes) == (1.0, 1.0, ())


def test_two_values_have_a_spread_and_one_has_none():
    two, one = ([0.5, 2.0], [1.0, 4.0, 9.0]), ([0.5], [1.0, 4.0, 9.0], [2.0, 3.0])
    for name in ("bartlett", "levene", "brown_forsythe"):
        found = find_test(name)(Groups.of(dict(zip("AB", two, strict=True))))
        assert found.effect.value == pytest.approx(np.var(two[1], ddof=1) / np.var(two[0], ddof=1))
        assert isinstance(found.statistic, float)
    assert isinstance(find_test("bartlett")(Groups.of(dict(zip("ABC", one, strict=True)))).statistic, Undefined)
    spread = find_test("levene")(Groups.of(dict(zip("ABC", one, strict=True)))).effect.value
    assert spread == pytest.approx(np.var(one[1], ddof=1) / np.var(one[2], ddof=1))
    for test in (wilcoxon, wilcoxon_pratt):
        assert isinstance(test(Pairs.of([3.0, 1.0], [0.0, 0.0])).least, float)
        for same in ([3.0], [3.0, 3.0, 3.0]):
            assert isinstance(test(Pairs.of(same, np.zeros(len(same)))).least, Undefined)


@pytest.mark.parametrize("values", [{}, {"A": [1.0, 2.0]}, {"A": [1.0], "B": []}, {"A": []}])
def test_one_group_or_an_empty_one_is_no_comparison(values):
    with pytest.raises(RowsError) as refused:
        Groups.of(values)
    assert refused.value.code == "no-rows"


@pytest.mark.parametrize(
    ("blocks", "models", "enough"), [(9, 4, False), (10, 4, True), (9, 5, True), (11, 3, True), (3, 6, True)]
)
def test_ten_blocks_or_five_models_are_enough_for_the_approximation(blocks, models, enough):
    x = np.random.default_rng(1).random((blocks, models))
    assert friedman(blocks_of(x.tolist())).checks[0].holds is enough


def test_means_of_groups_without_spread_are_equal_or_nothing_is_said():
    t = Groups.of({"A": [1.0, 1.0], "B": [1.0, 1.0, 1.0], "C": [2.0, 2.0]})
    pairs = {found.models: found for found in find_test("tukey").pairs(t)}
    assert {models: found.p for models, found in pairs.items()} == {("A", "B"): 1.0, ("A", "C"): None, ("B", "C"): None}
    assert [found.n for found in pairs.values()] == [5, 4, 5]
    assert find_test("welch_anova")(t).p is None
    assert find_test("welch_anova")(Groups.of({"A": [1.0, 1.0], "B": [1.0, 1.0]})).p == 1.0
    assert find_test("welch_anova")(Groups.of({"A": [1.0], "B": [1.0, 2.0, 4.0]})).p is None


def test_two_models_have_one_difference_which_is_like_itself():
    x = np.random.default_rng(2).random((6, 2))
    check = repeated_measures_anova(blocks_of(x.tolist())).checks[-1]
    assert (check.holds, check.seen) == (True, "two models have one difference")
    few = repeated_measures_anova(blocks_of(np.random.default_rng(2).random((3, 4)).tolist())).checks[-1]
    assert (few.holds, few.seen) == (None, "too few items to test it")


def test_two_positives_and_two_negatives_are_enough_for_an_area():
    scores = {"A": [0.1, 0.6, 0.4, 0.9], "B": [0.3, 0.2, 0.1, 0.8]}
    assert delong(PairedScores.of(np.array([False, False, True, True]), scores)).effect.value == pytest.approx(0.25)
    few = delong(PairedScores.of(np.array([False, False, False, True]), scores))
    assert few.reason.startswith("two of each are needed, and there are 1 positive and 3 negatives")


def test_two_values_are_enough_to_compare_variances_and_one_is_not():
    """With one degree of freedom each, F is the square of a Cauchy variable: P(F > f) = 1 - 2/pi atan(sqrt(f))."""
    two = Groups.of({"A": [1.0, 3.0], "B": [2.0, 8.0]})
    assert find_test("variance_f")(two).statistic == pytest.approx(1 / 9)
    assert find_test("variance_f")(two).p == pytest.approx(2 * (2 / math.pi) * math.atan(1 / 3))
    assert find_test("bartlett")(two).p == pytest.approx(bartlett([1.0, 3.0], [2.0, 8.0]).pvalue)
    for short in ([1.0, 1.0], [1.0, 2.0]):
        lost = find_test("pitman_morgan")(Pairs.of(short, [3.0, 8.0]))
        assert (lost.p, lost.reason) == (None, "the test needs three pairs or more")
    assert find_test("pitman_morgan")(Pairs.of([1.0, 1.0], [3.0, 3.0])).p == 1.0
    for name in ("variance_f", "bartlett"):
        found = find_test(name)(Groups.of({"A": [1.0], "B": [2.0, 8.0]}))
        assert found.p is None
        assert isinstance(found.statistic, Undefined)


def test_strata_in_which_one_factor_never_varies_have_p_one():
    found = find_test("cochran_mantel_haenszel")(Strata(tables={"x": Table(rows=[[5, 0], [3, 0]])}))
    assert (found.p, found.df, found.n) == (1.0, (1,), 8)
    assert found.notes == ("no stratum has two levels of both factors",)


def test_the_counts_expected_of_two_shares_are_products_of_the_margins():
    """Of 40 rows 38 are successes: 9.5 and 0.5 are expected of the ten rows, 28.5 and 1.5 of the thirty."""
    (check,) = find_test("two_shares")(Table(rows=[[8, 2], [30, 0]])).checks
    assert (check.holds, check.seen) == (False, "smallest expected count 0.5, 50% of the cells below 5")


@pytest.mark.parametrize(("confusions", "costs"), [(True, None), (False, {(0, 1): 1.0, (1, 0): 5.0})])
def test_a_mean_cost_of_other_rows_needs_predictions_and_costs(confusions, costs):
    tables = (Confusion.from_cells({(0, 0): 5, (1, 1): 4}),) * 2
    t = Apart(models=("A", "B"), labels=(0, 1), confusions=tables if confusions else None)
    with pytest.raises(PlanError, match="reads predictions and what mistakes cost") as refused:
        estimate(t, 0, parse("mean_cost"), 1, Wanted(), costs=costs)
    assert refused.value.code == "comparison-needs"


@pytest.mark.parametrize(
    ("gap", "items", "reason"),
    [
        (-0.2, 1, "two items are needed, and outside"),
        (0.0, 1, "two items are needed, and outside"),
        (-0.2, 3, "the difference is the same everywhere, and outside"),
        (-0.05, 3, "the difference is the same everywhere, and inside"),
    ],
)
def test_a_constant_difference_is_inside_or_outside_a_margin_without_a_test(gap, items, reason):
    for name in ("mean_non_inferiority", "mean_equivalence"):
        found = find_test(name)(Pairs.of([gap] * items, [0.0] * items), margin=0.1)
        assert (found.p, found.reason) == (None, f"{reason} the margin; no test can add to that")


def test_two_values_that_differ_alike_are_a_constant_difference():
    found = find_test("mean_non_inferiority")(Pairs.of([0.25, 0.5], [0.0, 0.25]), margin=0.1)
    assert found.reason.startswith("the difference is the same everywhere, and inside")


def test_small_expected_counts_in_one_cell_of_five_are_allowed():
    """Cochran 1954: 10 cells, of which two expect 4 rows, then three."""
    two_small = Table(rows=((4, 10, 10, 10, 10), (4, 10, 10, 10, 10)))
    three_small = Table(rows=((4, 4, 10, 10, 10), (4, 4, 10, 10, 10)))
    for table, holds in ((two_small, True), (three_small, False)):
        found = find_test("chi_squared_association")(table)
        assert [check.holds for check in found.checks if check.assumes.startswith("expected counts")] == [holds]


def test_tests_of_two_groups_refuse_three():
    three = Groups.of({"A": [1.0, 2.0, 4.0], "B": [2.0, 3.0, 5.0], "C": [1.0, 5.0, 7.0]})
    for name in ("mann_whitney", "welch_t", "variance_f"):
        with pytest.raises(PlanError, match="the test takes 2 groups, not 3"):
            find_test(name)(three)


def test_the_tails_of_very_many_values_are_measured_by_their_kurtosis():
    """Shapiro and Wilk's test takes 5,000 values at most; the kurtosis does not depend on the unit of the values."""
    values = 3.0 * np.random.default_rng(2).normal(size=6000)
    found = find_test("pitman_morgan")(Pairs.of(values, values[::-1].copy()))
    for check in found.checks:
        assert check.holds
        assert float(check.seen.removeprefix("kurtosis ")) == pytest.approx(kurtosis(values, fisher=False), rel=2e-3)


def test_the_ends_of_a_large_sample_difference_reach_below_a_range_that_begins_below_zero():
    """Differences of a measure from -1 to 1 lie between -2 and 2."""
    truth = [0, 1] * 900
    calls = [truth, [label if i % 5 else 1 - label for i, label in enumerate(truth)]]
    units = {"subject": [i // 2 for i in range(1800)]}
    t = PerUnit.of(truth=truth, labels=(0, 1), models=("A", "B"), calls=calls, **units)
    found = find_test("unit_z")(t, measure="mcc", positive=1)
    interval = found.effect.interval
    assert found.effect.value == pytest.approx(0.4, abs=0.02)
    assert interval.high - found.effect.value == pytest.approx(found.effect.value - interval.low)


def test_a_difference_from_a_value_of_zero():
    ends = [Interval(low=low, high=high, level=0.95, method="wilson") for low, high in ((0.0, 0.3), (0.2, 0.8))]
    none, half = (
        Estimate(measure="recall", result=Share(successes, 10), interval=interval, no_interval=None, n=10)
        for successes, interval in zip((0, 5), ends, strict=True)
    )
    assert mover(none, half).value == -0.5
    assert mover(half, none).value == 0.5


def test_the_p_value_that_is_none_is_named():
    with pytest.raises(PlanError, match=r"^.*1\.5 is not a p value"):
        assay.adjust([0.0, 1.0, 1.5])


@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_a_net_benefit_has_a_threshold_between_0_and_1(threshold):
    name = f"net_benefit(threshold={threshold})"
    a = flat.assess(truth=[0, 1], score=[0.2, 0.9], positive=1, scores="probability", measures=[name])
    with pytest.raises(PlanError, match="above 0 and below 1"):
        a[name]


def test_a_line_is_fitted_through_two_probabilities():
    score = [0.2, 0.2, 0.2, 0.7, 0.7, 0.7]
    a = flat.assess(truth=[0, 0, 1, 0, 1, 1], score=score, positive=1, scores="probability")
    assert a["calibration_slope"].value == pytest.approx(2 * math.log(2) / (math.log(7 / 3) + math.log(4)))


def test_f_of_equal_weights_has_the_interval_of_f1():
    names = ("f1", "f_weighted(w_precision=0.5, w_recall=0.5)", "f_weighted(w_precision=0.2, w_recall=0.8)")
    a = assay.assess(truth=[1, 1, 1, 1, 0, 0, 0], predicted=[1, 1, 1, 0, 0, 0, 1], positive=1, measures=names)
    f1, equal, other = (a[name] for name in names)
    assert (equal.low, equal.high, equal.interval.method) == (f1.low, f1.high, f1.interval.method)
    assert other.interval.method != f1.interval.method


def test_the_shape_of_values_is_told_with_their_skewness():
    values = [0.1, 0.4, 0.2, 0.9, 3.5, 0.6, 0.3]
    seen = normality(Exact.of(values), "values").seen
    told = f"Shapiro-Wilk p = {shapiro(values).pvalue:.3g}, skewness {skew(values):.2f}"
    assert seen == f"{told}; with so few values a pass proves nothing"
    assert normality(Exact.of([1.0, 1.0, 1.0]), "values").seen == "all values are equal"


@pytest.mark.parametrize(("smallest", "enough"), [(5, True), (4, False)])
def test_five_values_in_every_group_are_enough_for_kruskal_and_wallis(smallest, enough):
    sizes = {"A": smallest, "B": 6, "C": 7}
    groups = Groups.of({name: [float(i * i % 11) for i in range(n)] for name, n in sizes.items()})
    assert [check.holds for check in find_test("kruskal_wallis")(groups).checks] == [enough]


@pytest.mark.parametrize("name", ["area_non_inferiority", "auroc_non_inferiority"])
def test_areas_are_never_a_whole_apart(name):
    t = PairedScores(models=("A", "B"), positives=np.array([[3.0, 4.0]] * 2), negatives=np.array([[1.0, 2.0]] * 2))
    with pytest.raises(PlanError, match="margin"):
        find_test(name)(t, margin=1.5)


def test_scores_of_minus_zero_are_those_of_zero():
    zero, minus = (
        PerUnit.of(truth=[0, 1], labels=(0, 1), models=("A",), scores={"A": np.array([value, 1.0])}, subject=[1, 2])
        for value in (0.0, -0.0)
    )
    assert zero.scores.tobytes() == minus.scores.tobytes()


@pytest.mark.parametrize(("successes", "against"), [(5000, 0.1), (0, 0.9)])
def test_a_share_beyond_doubles_keeps_the_logarithm_of_its_chance(successes, against):
    """Twice 0.1 ** 5000."""
    found = find_test("exact_binomial")(Successes(successes=successes, n=5000, against=against))
    assert found.log10_p == pytest.approx(math.log10(2) - 5000)


def test_one_degree_of_freedom_is_enough_for_tukey():
    """Of two groups his test is Student's."""
    (found,) = find_test("tukey").pairs(Groups.of({"A": [1.0, 3.0], "B": [5.0]}))
    assert found.p == pytest.approx(2 * student_t.sf(3 / math.sqrt(2 * 1.5), 1), rel=1e-6)


@pytest.mark.parametrize(
    ("p", "low", "high", "words"),
    [(0.01, 0.1, 1.5, None), (0.5, -0.2, 0.3, None), (0.01, -0.1, 0.3, "is significant"), (0.5, 0.1, 1.5, "is not")],
)
def test_a_p_value_and_an_interval_that_disagree_about_zero_are_told(p, low, high, words):
    effect = Effect.between("A minus B", 0.2, (low, high), 0.95, "wald")
    notes = Finding(chance=Tail.of(p), effect=effect, statistic=1.0, statistic_name="z").note_disagreement()
    assert len(notes) == (words is not None)
    assert all(words in note for note in notes)


@pytest.mark.parametrize("against", [0.0, 1.0, -0.1, 1.1])
def test_a_share_is_held_against_one_between_0_and_1(against):
    with pytest.raises(PlanError, match="makes no sense"):
        Successes(successes=1, n=2, against=against)


def test_scores_of_two_models_keep_no_sign_of_zero():
    t = PairedScores(models=("A",), positives=np.array([[-0.0, 1.0]]), negatives=np.array([[-0.0]]))
    assert not np.signbit(PairedScores.from_json(t.to_json()).positives).any()
