# SPDX-License-Identifier: Apache-2.0
"""Units that are swapped, drawn and left out, compared with plain definitions on their rows."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import PlanError
from assay.core.values import Undefined
from assay.inference.intervals.auc import area_ends
from assay.inference.intervals.bounded_means import score_ends
from assay.inference.intervals.proportion import recovered
from assay.inference.units import class_score_units, judgement
from assay.inference.units.class_score_units import (
    FEWER,
    NEIGHBOURHOODS,
    by_row,
    class_value,
    judge_units,
    neighbourhoods,
)
from assay.inference.units.cost_difference import by_value, priced_units
from assay.inference.units.judgement import linearised
from assay.inference.units.permutation_and_bootstrap import (
    mean_permutation,
    paired_bootstrap,
    paired_permutation,
    subject_permutation,
    unit_z,
)
from assay.inference.units.unit_measures import class_sizes, disputed_units
from assay.measures.declare import parse
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from assay.tally.real_values import Pairs
from assay.tally.scores.score_tally import Scores
from tests.scorecases import RANKED_CASES, RANKS_CASES, ROW_CASES, SCORES_CASES

MATRIX = np.array(
    [[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [1.0, 0.0, 0.0], [0.2, 0.2, 0.6], [1 / 3, 1 / 3, 1 / 3], [0.1, 0.6, 0.3]]
)
TRUE = np.array([0, 1, 2, 1, 2, 0])


@pytest.mark.parametrize(
    "name",
    [
        "brier_score_multiclass",
        "spherical_score_multiclass",
        "log_loss_multiclass(clip=0.01)",
        *(f"top_k_accuracy(k={k})" for k in (1, 2)),
        *(f"top_k_accuracy(k={k}, ties='{ties}')" for k in (1, 2) for ties in ("pessimistic", "optimistic")),
    ],
)
def test_a_mean_over_rows_is_the_measure_on_each_row_alone(name):
    measure = parse(name)
    for each, row, label in zip(by_row(measure, MATRIX, TRUE), MATRIX, TRUE, strict=True):
        t = PerUnit.of(truth=[int(label)], labels=(0, 1, 2), models=("A",), scores={"A": row[np.newaxis]})
        assert each == pytest.approx(class_value(t, measure, "A"), abs=1e-15)


def test_other_measures_are_no_means_over_rows():
    with pytest.raises(TypeError, match="not a mean over rows"):
        by_row(parse("auroc_macro"), MATRIX, TRUE)


@pytest.mark.parametrize("most", [4, 5, 6, 7])
def test_neighbours_are_joined_only_where_there_are_more_than_may_be(most):
    places = np.array([[1.0, 2, 3, 4], [3, 5, 6, 6]])
    value, code = neighbourhoods(places, most)
    assert np.array_equal(value[code], places) == (most >= 6)
    assert len(value) == min(most, 6)
    sums = np.bincount(code.ravel(), weights=places.ravel()) / np.bincount(code.ravel())
    assert value == pytest.approx(sums)  # each joined score is the mean of the rows that have it


def test_neighbourhoods_hold_equal_shares_of_the_rows_and_keep_the_order():
    places = np.random.default_rng(1).normal(size=(2, 3000))
    value, code = neighbourhoods(places)
    sizes = np.bincount(code.ravel())
    assert len(value) == NEIGHBOURHOODS
    assert set(sizes.tolist()) == {11, 12}  # 6,000 scores in 512 parts
    assert (np.diff(value) > 0).all()
    for row, at in zip(places, code, strict=True):
        assert (np.diff(at[np.argsort(row)]) >= 0).all()


@pytest.mark.parametrize(("rows", "parts"), [(FEWER[0], NEIGHBOURHOODS), (FEWER[0] + 1, FEWER[1])])
def test_beyond_twenty_thousand_rows_neighbourhoods_are_coarser(rows, parts):
    places = np.arange(2.0 * rows).reshape(2, rows)
    assert len(neighbourhoods(places)[0]) == parts


def test_classes_count_as_many_rows_of_equal_weight_as_kish_says():
    is_positive = np.array([True, True, True, False, False, False, False])
    assert class_sizes(is_positive, None, None) == (3, 4)
    weight = np.array([1.0, 2, 3, 1, 1, 1, 5])
    assert class_sizes(is_positive, None, weight) == pytest.approx((36 / 14, 64 / 28))
    subject = np.array([0, 0, 1, 1, 2, 2, 2])
    assert class_sizes(is_positive, subject, None) == pytest.approx((2, 2))
    assert class_sizes(is_positive, subject, weight) == pytest.approx((36 / 18, 64 / 50))
    assert class_sizes(is_positive, None, np.array([0.0, 0, 0, 1, 1, 1, 1])) == (0, 4)


def test_rows_in_dispute_are_counted_by_row_by_entry_or_by_subject():
    differ = np.array([True, False, True, True])
    assert disputed_units(differ, None) == 3
    assert disputed_units(differ, None, np.array([5, 7, 1, 2])) == 8
    assert disputed_units(differ, np.array([0, 0, 1, 1])) == 2


RNG = np.random.default_rng(5)
Y = RNG.integers(0, 2, 60)
A, B = (np.where(RNG.random(60) < share, Y, 1 - Y) for share in (0.85, 0.7))
LABELS = PairedLabels.from_cells(Counter(zip(Y.tolist(), A.tolist(), B.tolist(), strict=True)), models=("A", "B"))


def by_subject(**more):
    return PerUnit.of(truth=Y.tolist(), labels=(0, 1), models=("A", "B"), calls=[A.tolist(), B.tolist()], **more)


def f1(rows, calls):
    tp = ((Y[rows] == 1) & (calls[rows] == 1)).sum()
    wrong = (Y[rows] != calls[rows]).sum()
    return 2 * tp / (2 * tp + wrong)


def efron(values, gap, without, level):
    """The BCa interval by its definition (Efron 1987), ties of the draws with the difference being half below."""
    below = ((values < gap - 1e-12).sum() + (values <= gap + 1e-12).sum()) / 2 / len(values)
    bias, pull = stats.norm.ppf(below), without.mean() - without
    skew = (pull**3).sum() / (6 * (pull**2).sum() ** 1.5)
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + stats.norm.ppf(tail)
        ends.append(np.quantile(values, stats.norm.cdf(bias + z / (1 - skew * z))))
    return tuple(ends)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("held", [8, 1 << 20])
def test_an_interval_of_draws_of_subjects_is_efrons(level, held, monkeypatch):
    monkeypatch.setattr(judgement, "HELD", held)
    who = np.arange(60) // 3
    units = judge_units(by_subject(subject=who.tolist()), "f1", 1)
    values = np.sort(units.resampled(999, 7, stratified=False))
    rows = np.arange(60)
    without = np.array([f1(rows[who != one], A) - f1(rows[who != one], B) for one in range(20)])
    gap = f1(rows, A) - f1(rows, B)
    assert units.centre == pytest.approx(gap)
    assert units.bca(gap, values, level) == pytest.approx(efron(values, gap, without, level), rel=1e-9)
    effect, spread = units.effect(level, 999, 7, stratified=False)
    assert (effect.interval.low, effect.interval.high) == pytest.approx(efron(values, gap, without, level))
    assert spread == pytest.approx(values.std())
    assert effect.interval.method == "bca of subjects"


def test_all_draws_on_one_side_leave_half_a_draw_on_the_other():
    units = judge_units(by_subject(subject=(np.arange(60) // 3).tolist()), "f1", 1)
    values = np.linspace(0.1, 0.2, 99)
    low, high = units.bca(0.0, values, 0.95)
    assert low == pytest.approx(np.quantile(values, 0.5 / 99))
    assert low <= high <= 0.2
    low, high = units.bca(0.5, values, 0.95)
    assert high == pytest.approx(np.quantile(values, 1 - 0.5 / 99))


def test_more_units_than_are_left_out_one_by_one_have_no_acceleration(monkeypatch):
    units = judge_units(by_subject(subject=(np.arange(60) // 3).tolist()), "f1", 1)
    for most, method in ((20, "bca of subjects"), (19, "bias-corrected draws of subjects")):
        monkeypatch.setattr(judgement, "JACKKNIFED", most)
        effect, _ = units.effect(0.95, 199, 7, stratified=False)
        assert effect.interval.method == method
    values = np.sort(units.resampled(199, 7, stratified=False))
    symmetric = np.array([-1.0, 1.0])
    assert (effect.interval.low, effect.interval.high) == pytest.approx(efron(values, units.centre, symmetric, 0.95))


@pytest.mark.parametrize("pooled", [False, True])
def test_large_tables_afford_fewer_draws_but_no_fewer_than_1999(pooled, monkeypatch):
    units = judge_units(by_subject(weight=np.ones(60)), "accuracy")
    size = max(len(units.count), 6)
    monkeypatch.setattr(units, "pooled", pooled)
    monkeypatch.setattr(judgement, "OF_CELLS" if pooled else "BUDGET", 3000 * size + size - 1)
    monkeypatch.setattr(judgement, "BUDGET" if pooled else "OF_CELLS", 1)
    assert [units.affordable(draws) for draws in (99, 1999, 2500, 3000, 3001, 9999)] == [
        99,
        1999,
        2500,
        3000,
        3000,
        3000,
    ]
    monkeypatch.setattr(judgement, "OF_CELLS" if pooled else "BUDGET", 5)
    assert [units.affordable(draws) for draws in (99, 1999, 9999)] == [99, 1999, 1999]


@pytest.mark.parametrize("at_once", [1, 7, 1 << 18])
def test_draws_do_not_depend_on_how_many_are_made_at_once(at_once, monkeypatch):
    units = judge_units(by_subject(subject=(np.arange(60) // 3).tolist()), "accuracy")
    monkeypatch.setattr(judgement, "AT_ONCE", at_once * 20)
    assert len(units.swapped(100, 3)) == len(units.resampled(101, 3, stratified=True)) - 1 == 100


def test_draws_within_classes_keep_the_rows_of_each_class():
    t = PerUnit.of(truth=Y.tolist(), labels=(0, 1), models=("A", "B"), calls=[Y.tolist(), [0] * 60], weight=np.ones(60))
    units = judge_units(t, "accuracy")  # the share of positives, as long as each class keeps its rows
    assert units.resampled(50, 3, stratified=True) == pytest.approx(np.full(50, Y.mean()))
    assert np.ptp(units.resampled(50, 3, stratified=False)) > 0


@pytest.mark.parametrize("kind", ["cells", "weights", "subjects"])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_draws_and_swaps_vary_as_those_of_independent_rows(kind, share):
    rng = np.random.default_rng(2)
    a, b = (np.where(rng.random(60) < share, Y, 1 - Y) for _ in range(2))
    gaps = (a == Y) * 1.0 - (b == Y)
    rows = {"truth": Y.tolist(), "labels": (0, 1), "models": ("A", "B"), "calls": [a.tolist(), b.tolist()]}
    t = {
        "cells": PairedLabels.from_cells(
            Counter(zip(Y.tolist(), a.tolist(), b.tolist(), strict=True)), models=("A", "B")
        ),
        "weights": PerUnit.of(**rows, weight=np.ones(60)),
        "subjects": PerUnit.of(**rows, subject=list(range(60))),
    }[kind]
    units = judge_units(t, "accuracy")
    drawn, swapped = units.resampled(6000, 1, stratified=False), units.swapped(6000, 1)
    error = gaps.std() / math.sqrt(60)
    assert drawn.mean() == pytest.approx(gaps.mean(), abs=5 * error / math.sqrt(6000))
    assert drawn.std() == pytest.approx(error, rel=0.05)
    assert swapped.mean() == pytest.approx(0, abs=5 * error / math.sqrt(6000))
    assert swapped.std() == pytest.approx(math.sqrt((gaps**2).sum()) / 60, rel=0.05)
    assert np.abs(swapped).max() <= np.abs(gaps).sum() / 60 + 1e-12


def test_a_bootstrap_counts_draws_on_the_other_side_twice_and_one_more():
    values = judge_units(LABELS, "f1", 1).resampled(499, 7, stratified=False)
    sides = min((values <= 1e-12).sum(), (values >= -1e-12).sum())
    found = paired_bootstrap(LABELS, measure="f1", positive=1, draws=499, seed=7)
    assert found.p == pytest.approx(min(1, 2 * (1 + sides) / 500))
    assert found.statistic == pytest.approx(f1(np.arange(60), A) - f1(np.arange(60), B))
    assert found.counts == {"rows called differently": int((A != B).sum())}


@pytest.mark.parametrize("kind", ["rows", "subjects"])
def test_swaps_as_far_are_counted_and_one_more(kind):
    t = LABELS if kind == "rows" else by_subject(subject=(np.arange(60) // 3).tolist())
    values = judge_units(t, "f1", 1).swapped(499, 7)
    gap = f1(np.arange(60), A) - f1(np.arange(60), B)
    test = paired_permutation if kind == "rows" else subject_permutation
    found = test(t, measure="f1", positive=1, draws=499, seed=7)
    assert found.p == pytest.approx((1 + (np.abs(values) >= abs(gap) - 1e-12).sum()) / 500)
    assert found.notes[0].startswith("499 random swaps of the answers")
    assert kind == "rows" or found.counts["subjects"] == 20


def test_one_unit_has_no_error():
    adds = (np.array([[1.0, 2.0]]), np.array([[0.0, 2.0]]))
    assert linearised(np.array([1]), adds, lambda s: s[:, 0] / s[:, 1])[0] == 0.0


@pytest.mark.parametrize(("subjects", "fit"), [(99, False), (100, True)])
def test_a_large_sample_test_rests_on_a_hundred_units_in_dispute(subjects, fit):
    calls = [[0] * 400, [1] * subjects + [0] * (400 - subjects)]
    t = PerUnit.of(truth=[0] * 400, labels=(0, 1), models=("A", "B"), calls=calls, subject=list(range(400)))
    z = unit_z(t, measure="accuracy")
    assert (z.p is not None) == fit
    assert fit or z.reason.startswith("the difference rests on as few as 99 subjects of equal weight")


def test_swaps_of_items_count_those_as_far_as_the_mean():
    gaps = np.array([3.0, 1, -1, 2, 5, 0.5])
    t = Pairs.of(gaps, np.zeros(6))
    signs = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1)
    exact = (np.abs(gaps @ signs) >= abs(gaps.sum()) - 1e-9).mean()
    draws = 20_000
    found = mean_permutation(t, draws=draws, seed=2)
    assert found.p == pytest.approx(exact, abs=4 * math.sqrt(exact / draws))
    assert found.p * (1 + draws) == pytest.approx(round(found.p * (1 + draws)), abs=1e-6)
    assert found.statistic == pytest.approx(gaps.mean())


def test_the_interval_of_a_weighted_difference_in_cost_is_that_of_its_single_rows():
    price = np.array([[0.0, 1.0], [5.0, 0.0]])
    costs = {(i, j): price[i, j] for i in range(2) for j in range(2)}
    weight = np.where(np.arange(60) % 3, 0.5, 2.0)
    units = priced_units(by_subject(weight=weight), costs)
    gap = price[Y, A] - price[Y, B]
    interval = units.closed_interval(0.9)
    assert (interval.low, interval.high) == pytest.approx(score_ends(*by_value(price, gap, weight, weight**2), 0.9))
    assert units.exact[0] == pytest.approx((weight @ price[Y, A]) / weight.sum())
    plain = priced_units(LABELS, costs).closed_interval(0.9)
    assert (plain.low, plain.high) == pytest.approx(score_ends(*by_value(price, gap, np.ones(60), None), 0.9))


def test_the_error_of_a_difference_of_totals_is_that_of_the_sum_of_differences():
    """A share does not move when all units count twice, so that moves of units add up to 0; a total does."""
    rng = np.random.default_rng(3)
    count, first, second = rng.integers(1, 4, 20), rng.random((20, 2)), rng.random((20, 2))
    error, _ = linearised(count, (first, second), lambda s: s[:, 0] - 2 * s[:, 1])
    gaps = np.repeat((first - second) @ [1.0, -2.0], count)
    assert error == pytest.approx(gaps.std(ddof=1) * math.sqrt(len(gaps)), rel=1e-9)


@pytest.mark.parametrize(("positive", "code"), [(None, "positive-class-undeclared"), ("yes", "unknown-positive")])
def test_a_measure_of_one_class_wants_to_know_which(positive, code):
    with pytest.raises(PlanError) as refused:
        paired_permutation(LABELS, measure="f1", positive=positive, draws=9)
    assert refused.value.code == code


def test_models_that_agree_rest_on_nothing():
    adds = np.random.default_rng(1).random((5, 2))
    assert linearised(np.ones(5, dtype=np.int64), (adds, adds), lambda s: s[:, 0] / s[:, 1]) == (0.0, 0.0)


def test_a_class_that_a_draw_does_not_hold_has_no_part_in_a_weighted_mean():
    rng = np.random.default_rng(5)
    truth = [0, 1] * 6 + [2]
    scores = {name: rng.dirichlet([1, 1, 1], 13) for name in "AB"}
    t = PerUnit.of(truth=truth, labels=(0, 1, 2), models=("A", "B"), scores=scores)
    drawn = judge_units(t, "auroc_weighted", None).resampled(200, 1, stratified=False)
    assert np.isfinite(drawn).mean() > 0.9


@pytest.mark.parametrize(
    "case",
    [case for case in (*SCORES_CASES, *RANKS_CASES, *ROW_CASES) if "mass" not in str(case)],  # whose bins stay
    ids=str,
)
def test_leaving_a_row_out_of_the_sums_is_leaving_it_out_of_the_table(case):
    """Whatever sums a measure of class scores is made of, its value is that of the rows."""
    rng, measure = np.random.default_rng(4), case.ready(3)
    truth, scores = np.arange(12) % 3, {name: rng.dirichlet([1, 1, 1], 12) for name in "AB"}

    def of(rows):
        columns = {name: own[rows] for name, own in scores.items()}
        return PerUnit.of(truth=truth[rows].tolist(), labels=(0, 1, 2), models=("A", "B"), scores=columns)

    units = judge_units(of(np.arange(12)), measure)
    parts = [of(np.flatnonzero(np.arange(12) != row)) for row in range(12)]
    gaps = [class_value(part, measure, "A") - class_value(part, measure, "B") for part in parts]
    found = np.repeat(units.without(0, len(units.count)), units.count)
    assert np.sort(found) == pytest.approx(np.sort(gaps), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("case", [case for case in RANKED_CASES if "mass" not in str(case)], ids=str)
def test_leaving_a_row_out_of_two_classes_is_leaving_it_out_of_the_table(case):
    rng, measure = np.random.default_rng(6), case.ready(2)
    truth, scores = np.arange(14) % 2, {name: np.round(rng.random(14), 1) * 0.9 + 0.05 for name in "AB"}

    def value(name, rows):
        found = measure(Scores.binary(scores[name][rows], truth[rows]).one_vs_rest(1))
        return math.nan if isinstance(found, Undefined) or not math.isfinite(found.value) else found.value

    units = judge_units(PairedScores.of(truth == 1, scores), measure)
    rows = [np.flatnonzero(np.arange(14) != row) for row in range(14)]
    found = np.repeat(units.without(0, len(units.count)), units.count)
    gaps = [value("A", some) - value("B", some) for some in rows]
    assert np.sort(found) == pytest.approx(np.sort(gaps), abs=1e-9, nan_ok=True)


@pytest.mark.parametrize(("most", "fits"), [(2, False), (3, True)])
def test_pairs_of_classes_are_compared_up_to_a_number_of_classes(monkeypatch, most, fits):
    monkeypatch.setattr(class_score_units, "MOST_CLASSES", most)
    rng = np.random.default_rng(2)
    scores = {name: rng.dirichlet([1, 1, 1], 12) for name in "AB"}
    t = PerUnit.of(truth=[0, 1, 2] * 4, labels=(0, 1, 2), models=("A", "B"), scores=scores)
    if fits:
        assert judge_units(t, "auroc_one_vs_one").exact[0] == class_value(t, "auroc_one_vs_one", "A")
        return
    with pytest.raises(PlanError, match="of 3 classes needs 6 tables"):
        judge_units(t, "auroc_one_vs_one")


def test_a_difference_of_an_undefined_value_is_undefined_and_has_no_error():
    never = PairedLabels.from_cells({(0, 0, 1): 3, (1, 0, 1): 4, (1, 0, 0): 2}, models=("A", "B"))
    effect, error = judge_units(never, "precision", 1).effect(0.9, 99, 1, stratified=False)
    assert effect.value.reason == "a value is undefined"
    assert error == 0.0


def test_areas_near_one_add_their_intervals_by_the_correlation_of_their_draws():
    rng = np.random.default_rng(9)
    truth = np.arange(40) % 2 == 1
    base = truth + 0.3 * rng.random(40)
    scores = {name: np.where(np.isin(np.arange(40), wrong), 1.15, base) for name, wrong in (("A", [0]), ("B", [0, 2]))}
    units = judge_units(PairedScores.of(truth, scores), "auroc")
    drawn = np.stack(units._redrawn(400, 3, stratified=True))
    areas = units.exact
    ends = [area_ends(area, own.var(ddof=1), 20, 20, 0.9)[:2] for area, own in zip(areas, drawn, strict=True)]
    want = recovered(areas[0], ends[0], areas[1], ends[1], np.corrcoef(drawn)[0, 1])
    found = units.added(0.9, 400, 3, stratified=True)
    assert (found.low, found.high) == pytest.approx(want)


def test_areas_that_no_draw_parts_are_added_as_if_they_were_independent():
    truth = np.arange(40) % 2 == 1
    score = np.where(np.arange(40) == 0, 1.15, truth + 0.3 * np.random.default_rng(9).random(40))
    units = judge_units(PairedScores.of(truth, {"A": score, "B": 2 * score}), "auroc")
    area, drawn = units.exact[0], units._redrawn(400, 3, stratified=True)[0]
    ends = area_ends(area, drawn.var(ddof=1), 20, 20, 0.9)[:2]
    found = units.added(0.9, 400, 3, stratified=True)
    assert (found.low, found.high) == pytest.approx(recovered(area, ends, area, ends, 0.0))
