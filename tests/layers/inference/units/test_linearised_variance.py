# SPDX-License-Identifier: Apache-2.0
"""The linearised variance from sums over units: what the rows themselves give, unit by unit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.inference.tests_catalogue import find_test
from assay.inference.units.large_sample_z import unit_z, unit_z_cost
from assay.inference.units.linearised_variance import linear
from assay.inference.units.unit_measures import of_rows
from assay.measures.declare import REGISTRY
from assay.tally.paired.joint_rows import PairedRows
from tests.unitsums import sums_of

COSTS = {(0, 0): 0.0, (1, 1): 0.0, (0, 1): 1.0, (1, 0): 5.0}


def made(truth, a, b, labels=(0, 1), **more):
    return PairedRows.of(truth=list(truth), labels=labels, models=("A", "B"), calls=[list(a), list(b)], **more)


def drawn(seed, n=600, k=2, subjects=250, *, weighted=False, by_subject=True):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    a, b = (np.where(rng.random(n) < share, truth, rng.integers(0, k, n)) for share in (0.7, 0.6))
    more = {"weight": rng.random(n) * 3} if weighted else {}
    more |= {"subject": rng.integers(0, subjects, n).tolist()} if by_subject else {}
    return made(truth.tolist(), a.tolist(), b.tolist(), tuple(range(k)), **more)


def moved_by_unit(t, slope):
    """What every unit moves the difference by, from the rows: the slope of a pattern times the weight of its rows."""
    weight = np.ones(t.n) if t.weight is None else t.weight
    unit = np.arange(t.n) if t.subject is None else t.subject
    return np.bincount(unit, weights=weight * slope)


def error_of(moves):
    n = len(moves)
    return math.sqrt(n / (n - 1) * ((moves**2).sum() - moves.sum() ** 2 / n))


def analytic(t, measure):
    """Slopes by row of accuracy, recall and F1, from their formulas."""
    weight = np.ones(t.n) if t.weight is None else t.weight
    found = []
    for call in t.calls:
        hit, positive, called = call == t.truth, t.truth == 1, call == 1
        if measure == "accuracy":
            found.append((hit - (weight * hit).sum() / weight.sum()) / weight.sum())
        elif measure == "recall":
            base = (weight * positive).sum()
            found.append((called & positive) / base - positive * (weight * (called & positive)).sum() / base**2)
        else:  # 2 TP / (P + C)
            base, top = (weight * positive).sum() + (weight * called).sum(), 2 * (weight * (called & positive)).sum()
            found.append(2 * (called & positive) / base - (positive.astype(int) + called) * top / base**2)
    return found[0] - found[1]


@pytest.mark.parametrize("measure", ["accuracy", "recall", "f1"])
@given(seed=st.integers(0, 10**6), n=st.integers(20, 300), weighted=st.booleans(), by_subject=st.booleans())
@settings(max_examples=25)
def test_the_error_is_that_of_every_unit_by_itself(measure, seed, n, weighted, by_subject):
    t = drawn(seed, n=n, subjects=1 + n // 3, weighted=weighted, by_subject=by_subject)
    found = linear(sums_of(t), measure, 1)
    if math.isnan(found.gap) or t.units < 2:
        return
    slope = analytic(t, measure)
    assert found.error == pytest.approx(error_of(moved_by_unit(t, slope)), rel=1e-8, abs=1e-12)
    codes = sums_of(t).codes.tolist()
    by_row = found.slopes[[codes.index(list(one)) for one in zip(t.truth, *t.calls, strict=True)]]
    np.testing.assert_allclose(by_row, slope, rtol=1e-8, atol=1e-8 * np.abs(slope).max(initial=0))


@given(st.lists(st.integers(0, 60), min_size=4, max_size=4).filter(lambda cells: sum(cells) > 1))
def test_with_a_row_a_subject_it_is_the_variance_of_mcnemars_difference(cells):
    both, only_a, only_b, neither = cells
    n = sum(cells)
    a = [1] * (both + only_a) + [0] * (only_b + neither)
    b = [1] * both + [0] * only_a + [1] * only_b + [0] * neither
    found = linear(sums_of(made([1] * n, a, b, subject=list(range(n)))), "accuracy", 1)
    plain = (only_a + only_b - (only_a - only_b) ** 2 / n) / n**2 * n / (n - 1)
    assert found.error == pytest.approx(math.sqrt(plain), rel=1e-9, abs=1e-12)


@given(seed=st.integers(0, 10**6), times=st.sampled_from([0.25, 3.0, 1e-9, 7e12]))
@settings(max_examples=20)
def test_weights_are_relative_and_equal_ones_are_none(seed, times):
    plain = drawn(seed, n=120, by_subject=False, weighted=True)
    scaled = made(plain.truth, *plain.calls, weight=plain.weight * times)
    one, other = (linear(sums_of(t), "f1", 1) for t in (plain, scaled))
    assert other.error == pytest.approx(one.error, rel=1e-9)
    equal = made(plain.truth, *plain.calls, weight=np.full(120, times))
    bare = made(plain.truth, *plain.calls, subject=list(range(120)))
    assert linear(sums_of(equal), "f1", 1).error == pytest.approx(linear(sums_of(bare), "f1", 1).error)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=15)
def test_rows_of_a_subject_counted_twice_are_a_subject_of_twice_the_weight(seed):
    t = drawn(seed, n=90, subjects=40)
    rows = [*range(90), *range(90)]
    twice = made(t.truth[rows], *t.calls[:, rows], subject=t.subject[rows].tolist())
    heavy = made(t.truth, *t.calls, subject=t.subject.tolist(), weight=np.full(90, 2.0))
    for measure in ("accuracy", "matthews_corrcoef"):
        errors = {linear(sums_of(one), measure, 1).error for one in (t, twice, heavy)}
        assert max(errors) == pytest.approx(min(errors), rel=1e-9)
    assert sums_of(twice).products == sums_of(heavy).products


def test_rows_that_are_alike_within_subjects_are_worth_one():
    """Subjects of m rows that are all alike: the error is that of one row a subject."""
    t = drawn(4, n=200, by_subject=False)
    one = made(t.truth, *t.calls, subject=list(range(200)))
    rows = np.repeat(np.arange(200), 5)
    many = made(t.truth[rows], *t.calls[:, rows], subject=rows.tolist())
    assert linear(sums_of(many), "accuracy", 1).error == pytest.approx(linear(sums_of(one), "accuracy", 1).error)


@pytest.mark.parametrize("k", [2, 4])
def test_every_measure_of_labels_has_the_values_and_about_the_spread_of_draws(k):
    t = drawn(8, n=3000, k=k, subjects=900)
    sums = sums_of(t)
    judged = 0
    for measure in REGISTRY:
        if not measure.from_labels or measure.needs or (k > 2 and measure.only == "binary"):
            continue
        units, found = of_rows(t, measure, 1), linear(sums, measure, 1)
        np.testing.assert_allclose(found.both, units.values(), rtol=1e-12)
        if math.isnan(found.gap) or found.unfit() is not None:
            continue
        spread = float(np.nanstd(units.resampled(400, 1, stratified=False)))
        assert found.error == pytest.approx(spread, rel=0.2), measure.name
        judged += 1
    assert judged > 40


def test_it_agrees_with_swaps_and_draws_of_whole_subjects():
    from assay.inference.units.permutation_and_bootstrap import subject_permutation

    t = drawn(21, n=4000, subjects=1500)
    sums = sums_of(t, limit=3000)
    for measure in ("accuracy", "f1"):
        a, b = (
            unit_z(sums, measure=measure, positive=1),
            subject_permutation(t, measure=measure, positive=1, draws=1999),
        )
        assert a.effect.value == pytest.approx(b.effect.value)
        assert abs(a.p - b.p) < 4 * math.sqrt(a.p * (1 - a.p) / 1999) + 0.002
        width = a.effect.interval.high - a.effect.interval.low
        assert abs(a.effect.interval.low - b.effect.interval.low) < 0.08 * width
        assert abs(a.effect.interval.high - b.effect.interval.high) < 0.08 * width
    assert "large-sample z over" in a.notes[0]
    assert "in place of swaps: more than 3,000 rows" in a.notes[0]


def test_costs_of_weighted_rows_have_the_interval_that_rows_give():
    from assay.inference.units.cost_difference import cost_permutation

    t = drawn(5, n=2000, weighted=True, by_subject=False)
    a, b = unit_z_cost(sums_of(t), costs=COSTS), cost_permutation(t, costs=COSTS, draws=1999)
    assert a.effect.value == pytest.approx(b.effect.value)
    assert a.effect.interval.low == pytest.approx(b.effect.interval.low)
    assert a.effect.interval.high == pytest.approx(b.effect.interval.high)
    assert a.p == pytest.approx(b.p, abs=0.05)


def test_margins_are_judged_from_the_same_error():
    sums = sums_of(drawn(9, n=3000, subjects=1000))
    plain = unit_z(sums)
    gap, error = plain.effect.value, plain.effect.value / plain.statistic
    lower = find_test("unit_z_non_inferiority")(sums, margin=0.05)
    assert lower.statistic == pytest.approx((gap + 0.05) / error)
    both = find_test("unit_z_equivalence")(sums, margin=0.05)
    assert both.statistic == pytest.approx(min(gap + 0.05, 0.05 - gap) / error)
    assert lower.effect.interval == plain.effect.interval


def test_a_difference_that_rests_on_few_units_is_not_judged():
    n = 3000
    truth, a = [0] * n, [0] * n
    b = [0] * (n - 9) + [1] * 9
    found = unit_z(sums_of(made(truth, a, b, subject=list(range(n)))))
    assert found.p is None
    assert "as few as 9 subjects" in found.reason
    assert "exact_scores" in found.effect.no_interval
    heavy = np.ones(n)
    heavy[:5] = 1e6
    t = drawn(3, n=n, by_subject=False)
    found = unit_z(sums_of(made(t.truth, *t.calls, weight=heavy)))
    assert found.p is None
    assert "exact_scores" in found.reason


def test_where_a_measure_has_no_tangent_it_is_not_judged():
    """Called and true shares that agree exactly: a distance between them has a kink there."""
    n = 1200
    truth = np.tile([0, 0, 1, 1], n // 4)
    calls = np.tile([0, 1, 0, 1], n // 4), np.tile([0, 1, 1, 1], n // 4)
    t = sums_of(made(truth, *calls, subject=list(range(n))))
    found = unit_z(t, measure="total_variation", positive=1)
    assert found.p is None
    assert "bends" in found.reason


def test_values_that_are_not_there_are_said():
    n = 400
    rows = [0, 1] * (n // 2)
    found = unit_z(sums_of(made(rows, [0] * n, rows, subject=list(range(n)))), measure="precision", positive=1)
    assert found.p is None
    assert "precision of A is undefined" in found.reason
    alike = unit_z(sums_of(made(rows, rows, rows, subject=list(range(n)))))
    assert alike.p == 1.0
    assert "alike" in alike.notes[0]
