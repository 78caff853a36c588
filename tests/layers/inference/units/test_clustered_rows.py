# SPDX-License-Identifier: Apache-2.0
"""Intervals of values whose rows come in units: limits, design effects and degrees of freedom, computed by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from assay.inference.unit_intervals import (
    Clustered,
    jackknife_ends,
    jackknife_error,
    jackknife_interval,
    jackknife_t,
    note_few,
    scale_of,
    share_interval,
    table_interval,
)
from assay.tally.unit_table import Sums, UnitTable

SHARE = SimpleNamespace(range=(0, 1), name="share")
RIGHT = np.array([3.0, 1, 4, 2, 5, 0, 3])
SIZES = np.array([4.0, 4, 5, 3, 5, 2, 7])


def case(right=RIGHT, sizes=SIZES, **more):
    """The share of right rows of some units."""
    top, of = right.sum(), sizes.sum()
    return Clustered(
        measure=SHARE,
        value=top / of,
        without_unit=(top - right) / (of - sizes),
        without_row=np.array([(top - 1) / (of - 1), top / (of - 1)]),
        rows=np.array([top, of - top]),
        sizes=sizes,
        informative=np.ones(len(sizes)),
        **more,
    )


def effect_by_hand():
    value = 18 / 30
    by_unit = 6 / 7 * sum(((18 - r) / (30 - n) - value) ** 2 for r, n in zip(RIGHT, SIZES, strict=True))
    by_row = 29 / 30 * (18 * (17 / 29 - value) ** 2 + 12 * (18 / 29 - value) ** 2)
    return by_unit / by_row


def test_the_design_effect_is_the_quotient_of_both_jackknives():
    assert case().design_effect() == pytest.approx(effect_by_hand(), rel=1e-12)


def test_values_that_leaving_out_makes_undefined_take_no_part_in_the_design_effect():
    partly = replace(
        case(), without_unit=np.array([0.5, np.nan, 0.7, 0.62, np.nan]), without_row=np.array([np.nan, 0.61])
    )
    by_unit = 2 / 3 * (0.1**2 + 0.1**2 + 0.02**2)
    assert partly.design_effect() == pytest.approx(by_unit / (29 / 30 * 12 * 0.01**2))


@pytest.mark.parametrize("lost", ["without_unit", "without_row"])
@pytest.mark.parametrize("values", [np.full(7, 0.6), np.full(7, np.nan)], ids=["equal", "undefined"])
def test_a_value_that_does_not_move_takes_the_effect_of_its_unequal_units(lost, values):
    still = replace(case(), **{lost: values[: len(getattr(case(), lost))]})
    assert still.design_effect() == pytest.approx((SIZES**2).sum() / 30)


def test_degrees_of_freedom_are_the_smaller_of_informative_units_and_kishs_number():
    kish = 30**2 / (SIZES**2).sum()
    assert case().degrees() == pytest.approx(kish - 1)
    few = replace(case(), informative=np.array([1, 1, 1, 1, 1, 0, 0]))
    assert few.degrees() == 4
    assert replace(case(), sizes=np.array([100.0, 1])).degrees() == 1


def test_the_effect_is_widened_by_the_square_of_students_over_the_normal_quantile():
    effect, told, notes = case().effect_and_method(0.9)
    wide = (stats.t.ppf(0.95, case().degrees()) / stats.norm.ppf(0.95)) ** 2
    assert effect == pytest.approx(effect_by_hand() * wide, rel=1e-9)
    assert told == f"by unit, 7 units, design effect {effect_by_hand():.3g}"
    assert notes == ("only 7 units: the interval may be too narrow",)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_a_share_takes_wilsons_interval_on_rows_divided_by_the_effect(level):
    effect, _, _ = case().effect_and_method(level)
    interval = share_interval(case(), 18, 30, level)
    low, high = proportion_confint(18 / effect, 30 / effect, 1 - level, "wilson")
    assert (interval.low, interval.high) == (pytest.approx(low, rel=1e-9), pytest.approx(high, rel=1e-9))
    assert interval.method.startswith("wilson by unit, 7 units")
    assert interval.level == level


@pytest.mark.parametrize("method", ["share", "table", "jackknife"])
def test_five_units_with_rows_that_matter_are_needed(method):
    ways = {
        "share": lambda one: share_interval(one, 18, 30, 0.95),
        "table": lambda one: table_interval(one, np.array([18.0, 12, 0, 0]), recall, level=0.95, draws=50, seed=1),
        "jackknife": lambda one: jackknife_t(one, 0.95),
    }
    for units, refused in ((4, True), (5, False)):
        one = replace(case(), informative=np.array([1.0] * units + [0.0] * (7 - units)))
        assert isinstance(ways[method](one), str) == refused
    assert ways[method](replace(case(), informative=np.eye(7)[0])).startswith("only 1 unit with rows that matter")


def test_one_unit_may_hold_half_of_the_rows_and_no_more():
    assert replace(case(), sizes=np.array([6.0, 1, 1, 1, 1, 1, 1])).refusal() is None
    assert (
        replace(case(), sizes=np.array([7.0, 1, 1, 1, 1, 1, 1])).refusal()
        == "one unit holds more than half of the rows"
    )


@pytest.mark.parametrize(("units", "noted"), [(1, True), (19, True), (20, False), (21, False)])
def test_fewer_than_twenty_units_carry_a_note(units, noted):
    assert bool(note_few(units)) == noted


@pytest.mark.parametrize(("erring", "noted"), [(0, False), (1, True), (4, True), (5, False)])
def test_errors_in_fewer_than_five_units_carry_a_note(erring, noted):
    many = replace(case(), informative=np.ones(20), erring=erring)
    assert many.notes() == (
        (f"errors are in {erring} unit{'s' * (erring > 1)} only: the interval may be too narrow",) if noted else ()
    )


def recall(cells):
    return cells[:, 0] / (cells[:, 0] + cells[:, 1])


def test_draws_of_a_table_are_those_of_a_beta_distribution_on_rows_divided_by_the_effect():
    cells = np.array([18.0, 12.0, 40.0, 30.0])
    interval = table_interval(case(), cells, recall, level=0.8, draws=40_000, seed=3)
    effect, _, _ = case().effect_and_method(0.8)
    low, high = stats.beta.ppf([0.1, 0.9], 18 / effect + 0.5, 12 / effect + 0.5)
    assert (interval.low, interval.high) == (pytest.approx(low, abs=0.004), pytest.approx(high, abs=0.004))
    assert (interval.draws, interval.seed) == (40_000, 3)


def test_drawn_tables_hold_as_many_rows_as_the_one_they_are_drawn_from():
    sums = []
    table_interval(
        case(),
        np.array([18.0, 12, 40, 30]),
        lambda t: sums.append(t.sum(axis=1)) or recall(t),
        level=0.8,
        draws=9,
        seed=3,
    )
    assert sums[0] == pytest.approx(np.full(9, 100.0))


@pytest.mark.parametrize(("value", "end"), [(0.001, "low"), (0.999, "high")])
def test_an_interval_of_draws_holds_the_value(value, end):
    interval = table_interval(
        replace(case(), value=value), np.array([18.0, 12, 4, 3]), recall, level=0.5, draws=999, seed=3
    )
    assert getattr(interval, end) == value
    assert interval.low < interval.high


@pytest.mark.parametrize(("lost", "refused"), [(5, False), (6, True)])
def test_draws_may_be_undefined_in_half_of_them(lost, refused):
    def partly(cells):
        return np.where(np.arange(len(cells)) < lost, np.nan, recall(cells))

    interval = table_interval(case(), np.array([18.0, 12, 4, 3]), partly, level=0.9, draws=10, seed=3)
    assert (interval == "in most draws the value is undefined") == refused


def test_students_interval_of_unequal_units_is_that_of_the_jackknife_on_the_logit_scale():
    interval = jackknife_t(case(), 0.9)
    logit = np.log(case().without_unit / (1 - case().without_unit))
    centre = math.log(18 / 12)
    reach = stats.t.ppf(0.95, case().degrees()) * math.sqrt(6 / 7 * ((logit - centre) ** 2).sum())
    assert math.log(interval.low / (1 - interval.low)) == pytest.approx(centre - reach)
    assert math.log(interval.high / (1 - interval.high)) == pytest.approx(centre + reach)
    assert interval.method == "jackknife by unit, 7 units, logit scale, Student's t"


def test_the_error_of_a_mean_is_that_of_the_mean():
    x = np.array([1.0, 4, 2, 7, 5])
    without = (x.sum() - x) / 4
    assert jackknife_error(x.mean(), without) == pytest.approx(stats.sem(x), rel=1e-12)


@pytest.mark.parametrize("value", [0.02, 0.5, 0.98])
@pytest.mark.parametrize("ends", [(0, 1), (-1, 1), (0, math.inf), (-math.inf, 1), (-math.inf, math.inf)], ids=str)
def test_ends_are_equally_far_on_the_scale(ends, value):
    scale = scale_of(SimpleNamespace(range=ends))
    low, high = jackknife_ends(scale, value, np.array([value * 0.99, value, value * 1.01]), 2, 0.95)
    at = scale.to(np.array([low, value, high]))
    assert at[1] - at[0] == pytest.approx(at[2] - at[1], rel=1e-9)
    error = jackknife_error(at[1], scale.to(np.array([value * 0.99, value, value * 1.01])))
    assert at[2] - at[1] == pytest.approx(stats.t.ppf(0.975, 2) * error, rel=1e-9)


class Values(Sums):
    n: object
    x: object


@pytest.mark.parametrize("units", [4, 5, 19, 20])
def test_a_mean_of_units_needs_five_and_is_noted_below_twenty(units):
    x = np.random.default_rng(units).random(units)
    table = UnitTable.build(("n", "x"), np.column_stack([np.ones(units), x]))
    mean = SimpleNamespace(range=(-math.inf, math.inf), values=lambda t: np.asarray(t.x) / np.asarray(t.n))
    interval = jackknife_interval(mean, table, Values, 0.95)
    if units < 5:
        assert interval == f"only {units} units; an interval needs 5 or more"
        return
    low, high = stats.t.interval(0.95, units - 1, x.mean(), stats.sem(x))
    assert (interval.low, interval.high) == (pytest.approx(low), pytest.approx(high))
    assert interval.notes == note_few(units)
