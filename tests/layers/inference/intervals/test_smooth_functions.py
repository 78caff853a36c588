# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap, norm

from assay.inference.intervals import smooth_functions
from assay.inference.intervals.smooth_functions import (
    Influence,
    Ordered,
    accelerated_share,
    bca,
    corrected,
    delta,
    table_influence,
    two_classes,
)
from assay.inference.resampling import CellDraws, TableDraws
from assay.measures import REGISTRY
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from tests.strategies import confusion_of

MATRIX = [[30, 4, 1], [6, 20, 3], [2, 5, 12]]
AVERAGES = ("f1_macro", "balanced_accuracy", "precision_macro", "f1_weighted", "cohen_kappa", "matthews_corrcoef")


def rows_of(matrix):
    """Truth and prediction of each row."""
    cells = [(i, j) for i, row in enumerate(matrix) for j, count in enumerate(row) for _ in range(count)]
    return np.array(cells).T


def value_of_rows(measure, truth, predicted, k):
    table = np.zeros((k, k))
    np.add.at(table, (truth, predicted), 1)
    stack = Multiclass(
        hits=np.diag(table)[np.newaxis],
        actual=table.sum(1)[np.newaxis],
        called=table.sum(0)[np.newaxis],
        labels=tuple(range(k)),
    )
    return float(measure.values(stack)[0])


# ---------------------------------------------------------------- quantiles


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50), st.floats(0, 1))
def test_a_quantile_is_that_of_numpy(values, share):
    found = Ordered(np.array(values), 0.95).at(np.array([share]))[0]
    assert found == pytest.approx(np.quantile(values, share), rel=1e-9, abs=1e-9)


def test_undefined_draws_are_counted_and_left_out():
    values = np.array([np.nan, 3.0, 1.0, np.nan, 2.0])
    ordered = Ordered(values, 0.5)
    assert ordered.undefined.tolist() == [2]
    assert Ordered(values[2:], 0.5).undefined.tolist() == [1]
    assert ordered.at(np.array([0.0, 0.5, 1.0])[:, np.newaxis])[:, 0].tolist() == [1, 2, 3]
    assert ordered.mean().tolist() == [2]


def test_infinite_draws_stay_infinite_and_give_no_error():
    ordered = Ordered(np.r_[np.linspace(1, 2, 900), np.full(100, inf)], 0.95)
    assert ordered.high[0] == inf
    assert 1 < ordered.low[0] < 1.1
    assert 0 < ordered.error[0] < 0.1
    assert Ordered(np.full(100, inf), 0.95).error[0] == 0


@pytest.mark.parametrize("shape", ["normal", "exponential", "uniform"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_stated_error_of_a_bound_is_the_one_that_other_seeds_show(shape, level):
    rng = np.random.default_rng(5)
    draw = {"normal": rng.standard_normal, "exponential": rng.standard_exponential, "uniform": rng.random}[shape]
    ordered = Ordered(draw((400, 2000)), level)
    seen = max(ordered.low.std(), ordered.high.std()) / (ordered.high - ordered.low).mean()
    assert np.mean(ordered.error) == pytest.approx(seen, rel=0.25)


# ---------------------------------------------------------------- influence


@pytest.mark.parametrize("name", AVERAGES)
def test_the_influence_of_a_cell_is_what_deleting_one_of_its_rows_does(name):
    measure = REGISTRY.find(name)
    many = [[count * 40 for count in row] for row in MATRIX]
    tally = confusion_of(many)
    truth, predicted = rows_of(many)
    whole = value_of_rows(measure, truth, predicted, 3)
    deleted = []
    for i, j in zip(tally.truth, tally.predicted, strict=True):
        row = np.flatnonzero((truth == i) & (predicted == j))[0]
        deleted.append(value_of_rows(measure, np.delete(truth, row), np.delete(predicted, row), 3))
    jackknife = (len(truth) - 1) * (whole - np.array(deleted)) / len(truth)
    jackknife -= (tally.count * jackknife).sum() / tally.count.sum()
    found = Influence(tally).of(measure)
    assert found == pytest.approx(jackknife, rel=0.02, abs=2e-6)
    assert (tally.count * found).sum() == pytest.approx(0, abs=1e-9)


def test_the_influence_of_accuracy_gives_its_binomial_standard_error():
    tally = confusion_of(MATRIX)
    influence, accuracy = Influence(tally), REGISTRY.find("accuracy")
    low, high = delta(np.array(62 / 83), influence.of(accuracy), influence.count, 0.95)
    assert high - low == pytest.approx(2 * norm.ppf(0.975) * np.sqrt(62 * 21 / 83**3), rel=1e-6)


def test_the_influence_of_four_cells_is_that_of_the_two_class_tally():
    tally, counts = confusion_of([[40, 7], [5, 30]]), np.array([[30.0, 7.0, 5.0, 40.0]])
    for name in ("cohen_kappa", "balanced_accuracy", "f1_macro"):
        measure = REGISTRY.find(name)
        found = table_influence(lambda table, m=measure: m.values(two_classes(table, (0, 1), 1)), counts)[0]
        assert found == pytest.approx(Influence(tally).of(measure)[[3, 1, 2, 0]], rel=1e-4, abs=1e-8)


@pytest.mark.parametrize(("rows", "expected"), [(2, 1.5), (4, 1.25), (10, 1.1), (1000, 1.001)])
def test_the_stretch_tells_how_few_rows_the_classes_have(rows, expected):
    half = rows // 2
    tally = confusion_of([[half, rows - half, 0], [0, half, rows - half], [rows - half, 0, half]])
    draws = CellDraws(tally, "dirichlet", 1)
    found = Influence(tally, draws.spare).stretch(REGISTRY.find("balanced_accuracy"))
    # The two spare rows make each class larger by 2/3 of a row.
    assert found == pytest.approx(1 + 1 / (rows + 2 / 3), rel=1e-3)
    assert found == pytest.approx(expected, rel=0.1)
    assert Influence(tally, draws.spare).stretch(REGISTRY.find("accuracy")) == pytest.approx(
        1 + 1 / (3 * rows + 2), rel=1e-3
    )


@pytest.mark.parametrize("name", ["f1_macro", "cohen_kappa"])
def test_the_stretch_is_the_spread_of_influences_of_next_to_no_row_over_that_of_one_row(name):
    tally, measure = confusion_of([[2, 1, 0], [0, 1, 0], [1, 0, 1]]), REGISTRY.find(name)
    influence = Influence(tally)
    spreads = []
    for step in (6e-6, 1.0):
        rows = np.repeat(influence._of_cells(*influence._slopes(measure, step)), tally.count)
        spreads.append(rows.var())
    assert influence.stretch(measure) == pytest.approx(np.sqrt(spreads[0] / spreads[1]), rel=1e-6)


@pytest.mark.parametrize("held", [2, 3 * 8, 3 * 9, 3 * 10])
def test_influences_are_the_same_in_as_many_parts_as_memory_takes(monkeypatch, held):
    tally, measure = confusion_of(MATRIX), REGISTRY.find("f1_macro")
    whole = Influence(tally).of(measure)
    monkeypatch.setattr(smooth_functions, "HELD", held)
    assert Influence(tally).of(measure) == pytest.approx(whole, rel=1e-12)


# ---------------------------------------------------------------- intervals


@pytest.mark.parametrize("name", ["f1_macro", "cohen_kappa"])
def test_bca_on_cells_is_bca_on_rows_up_to_the_draws(name):
    measure = REGISTRY.find(name)
    tally, (truth, predicted) = confusion_of(MATRIX), rows_of(MATRIX)
    theirs = bootstrap(
        (np.arange(len(truth)),),
        lambda rows, axis=-1: np.apply_along_axis(
            lambda r: value_of_rows(measure, truth[r], predicted[r], 3), axis, rows
        ),
        n_resamples=1500,
        method="BCa",
        vectorized=True,
        rng=np.random.default_rng(0),
    )
    draws, influence = CellDraws(tally, "multinomial", 3), Influence(tally)
    value = np.array([value_of_rows(measure, truth, predicted, 3)])
    ordered = Ordered(draws.values(measure, 4000), 0.95)
    low, high = bca(value, ordered, influence.of(measure), influence.count, 0.95)
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    # Four standard errors of a bound from 1,500 draws.
    assert low[0] == pytest.approx(theirs.confidence_interval.low, abs=0.07 * width)
    assert high[0] == pytest.approx(theirs.confidence_interval.high, abs=0.07 * width)


def test_bca_of_a_symmetric_statistic_is_the_percentile_interval():
    rng = np.random.default_rng(0)
    half = rng.standard_normal(5000)
    ordered = Ordered(np.r_[half, -half], 0.9)
    low, high = bca(np.zeros(1), ordered, np.array([[1.0, -1.0]]), np.array([[50.0, 50.0]]), 0.9)
    assert (low[0], high[0]) == pytest.approx((ordered.low[0], ordered.high[0]), abs=1e-9)


@pytest.mark.parametrize(("acceleration", "quantile"), [(0.0, 1.5), (0.5, 2.5), (0.75, 4.5), (1.0, inf), (2.0, inf)])
def test_acceleration_stretches_a_step_until_no_draw_is_beyond(acceleration, quantile):
    """A step of 1, half of it bias, is 1 / (1 - acceleration) long and begins at the bias of 0.5."""
    high = accelerated_share(0.5, acceleration, norm.cdf(0.5))
    low = accelerated_share(-0.5, -acceleration, norm.cdf(-0.5))
    assert (low, high) == pytest.approx((norm.cdf(-quantile), norm.cdf(quantile)), rel=1e-9)


def test_correction_takes_bias_off_twice_and_widens_about_the_middle():
    rng = np.random.default_rng(0)
    draws = Ordered(0.5 + 0.1 * rng.standard_normal(20_000), 0.95)
    low, high = corrected(draws, 0.55, 1.0)
    # The draws lie 0.05 under their centre, so the estimate is taken to lie 0.05 under the truth.
    assert (low[0] + high[0]) / 2 == pytest.approx(0.6, abs=0.005)
    assert high[0] - low[0] == pytest.approx(draws.high[0] - draws.low[0])
    wide = corrected(draws, float(draws.mean()[0]), 1.25)
    assert wide[1][0] - wide[0][0] == pytest.approx(np.sqrt(1.25 / 0.75) * (draws.high[0] - draws.low[0]))


def test_two_classes_stand_in_the_order_of_the_labels():
    table = Binary(tp=np.array([[8.0]]), fp=np.array([[1.0]]), fn=np.array([[2.0]]), tn=np.array([[30.0]]))
    first, second = two_classes(table, ("a", "b"), 0), two_classes(table, ("a", "b"), 1)
    assert first.hits.tolist() == [[[8, 30]]]
    assert second.hits.tolist() == [[[30, 8]]]
    assert first.actual.tolist() == [[[10, 31]]]
    assert second.called.tolist() == [[[32, 9]]]


def test_draws_of_four_cells_have_the_mean_and_spread_of_their_distribution():
    table = Binary(tp=np.array([20.0]), fp=np.array([0.0]), fn=np.array([3.0]), tn=np.array([60.0]))
    drawn = TableDraws(table, "dirichlet", 1).of(40_000, np.arange(1))
    for cell, count in (("tp", 20), ("fp", 0), ("fn", 3), ("tn", 60)):
        values = getattr(drawn, cell)[0]
        assert values.mean() == pytest.approx(count + 0.5, rel=0.03)
        assert values.var() == pytest.approx(count + 0.5, rel=0.05)
