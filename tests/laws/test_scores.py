# SPDX-License-Identifier: Apache-2.0
"""Laws of measures of scores: the printed formula is executed, ranks are all that curves see, ties have no order."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import assume, given, settings

from assay.core.values import Share, Undefined
from assay.measures import parse
from assay.tally.scores.ranked_table import Ranked
from tests.laws.scoreformulas import value_on_classes, value_on_rows
from tests.scorecases import (
    CURVES,
    RANKED_CASES,
    RANKS_CASES,
    ROW_CASES,
    SCORE_CASES,
    SCORES_CASES,
    classes,
    matrix,
    ranked,
    ranks,
    row_scores,
    rows,
    scores,
)
from tests.strategies import plain, same

LOOSE = {"calibration_slope": 1e-4, "calibration_intercept": 1e-5, "h_measure": 1e-6, "auprc_davis_goadrich": 1e-8}
CORNERS = [
    [],
    [(0.5, True)],
    [(0.5, False)],
    [(0.5, True), (0.5, False)],
    [(0.2, False), (0.7, True)],
    [(0.2, True), (0.7, False)],
    [(0.2, True), (0.7, False), (0.7, True)],
    [(0.0, True), (1.0, False), (0.4, True)],
    [(0.1, False), (0.3, True), (0.3, False), (0.6, False), (0.6, True), (0.9, True)],
]


def check(case, expected, found):
    if expected is None:
        assert isinstance(found, Undefined), f"{case}: {found.value} where the formula has no value"
        return
    assert not isinstance(found, Undefined), f"{case}: {found.reason}; the formula gives {float(expected)}"
    if expected == inf:
        assert found.value == inf
        return
    within = LOOSE.get(case.measure.name, 1e-12)
    assert abs(found.value - float(expected)) <= within * max(1.0, abs(float(expected))), case


@pytest.mark.parametrize("case", RANKED_CASES, ids=str)
@pytest.mark.parametrize("some", CORNERS, ids=str)
def test_the_printed_formula_is_the_function_on_small_tables(case, some):
    check(case, value_on_rows(case.ready(2), some), case(ranked(some)))


@settings(max_examples=40)
@given(rows)
def test_the_printed_formula_is_the_function_on_any_rows(some):
    for case in RANKED_CASES:
        if "calibration_" not in case.measure.name:
            check(case, value_on_rows(case.ready(2), some), case(ranked(some)))


@settings(max_examples=40)
@given(classes)
def test_the_printed_formula_is_the_function_for_many_classes(some):
    held, truth = [tuple(row) for row in matrix(some).tolist()], [y for _, y in some]
    for case in SCORES_CASES:
        check(case, value_on_classes(case.ready(3), held, truth), case(scores(some)))
    for case in RANKS_CASES:
        check(case, value_on_classes(case.ready(3), held, truth), case(ranks(some)))
    for case in ROW_CASES:
        check(case, value_on_classes(case.ready(3), held, truth), case(row_scores(some)))


@settings(max_examples=40)
@given(rows)
def test_curves_see_ranks_only(some):
    bent = [(s**3 * 40 - 7, y) for s, y in some]
    assume(len({s for s, _ in bent}) == len({s for s, _ in some}))
    for case in CURVES:
        assert same(plain(case(ranked(some))), plain(case(ranked(bent)))), case


@given(rows)
def test_turning_the_scores_round_turns_the_area_round(some):
    area, turned = (plain(parse("auroc")(ranked(each))) for each in (some, [(-s, y) for s, y in some]))
    assert area is turned is None or area == pytest.approx(1 - turned, abs=1e-15)


@settings(max_examples=40)
@given(rows)
def test_values_stay_inside_the_declared_range(some):
    for case in RANKED_CASES:
        value = plain(case(ranked(some)))
        low, high = case.measure.range
        assert value is None or low - 1e-12 <= value <= high + 1e-12, case


@settings(max_examples=30)
@given(rows)
def test_a_stack_has_the_values_of_its_tables(some):
    table = ranked(some)
    twice = [np.stack([cells, cells]).astype(np.float64) for cells in (table.pos, table.neg)]
    for case in RANKED_CASES:
        one, stack = case(table), case.ready(2).raw(table.drawn(*twice))
        if isinstance(stack, Undefined):
            assert isinstance(one, Undefined), case
            continue
        values = stack.values
        for value in values:
            expected = plain(one)
            if expected is None:
                assert np.isnan(value), case
            else:
                assert same(expected, float(value), 1e-6 if "slope" in case.measure.name else 1e-9), case


@settings(max_examples=30)
@given(rows)
def test_a_row_counted_twice_is_a_row_of_weight_two(some):
    doubled, weighted = ranked(some + some), ranked(some, [2.0] * len(some))
    for case in RANKED_CASES:
        if case.measure.name != "spiegelhalter_z":  # it counts rows, and has no value with weights
            assert same(plain(case(doubled)), plain(case(weighted)), 1e-9), case


def test_one_class_only_is_undefined_with_a_reason_and_equal_scores_are_chance():
    for case in SCORE_CASES:
        assert case.measure.says
    one = parse("auroc")(ranked([(0.1, True), (0.9, True)]))
    assert isinstance(one, Undefined)
    assert one.named(negative="no").reason == "no row is truly no"
    assert parse("auroc")(ranked([(0.5, True), (0.5, False), (0.5, True)])).value == 0.5
    assert parse("h_measure")(ranked([(0.5, True), (0.5, False), (0.5, True)])).value == pytest.approx(0, abs=1e-15)


def test_the_area_of_a_million_rows_is_exact():
    rng = np.random.default_rng(1)
    truth = rng.random(300_000) < 0.5
    held = rng.integers(0, 1000, 300_000) + truth * 100.0
    from assay.tally.scores.score_tally import Scores

    found = parse("auroc")(Scores.binary(held, truth).one_vs_rest(1))
    pos, neg = (np.bincount(held[truth == which].astype(int), minlength=1100).tolist() for which in (True, False))
    below, wins = 0, 0
    for p, n in zip(pos, neg, strict=True):
        wins += p * (2 * below + n)
        below += n
    assert found.value == wins / (2 * sum(pos) * sum(neg))


def test_top_k_says_what_ties_could_have_done():
    from assay.tally.scores.true_class_ranks import Ranks

    tally = Ranks.of([[0.4, 0.4, 0.2], [0.1, 0.2, 0.7]], [0, 2])
    found = parse("top_k_accuracy(k=1)")(tally)
    assert isinstance(found, Share)
    assert found.value == 0.75
    assert found.note == "ties at the cut: 0.500 against, 1.000 for"
    assert parse('top_k_accuracy(k=1, ties="pessimistic")')(tally).value == 0.5
    assert parse('top_k_accuracy(k=1, ties="optimistic")')(tally).value == 1


@pytest.mark.parametrize("case", RANKED_CASES, ids=str)
@pytest.mark.parametrize("stacked", [False, True])
def test_scores_that_no_row_has_move_no_value(case, stacked):
    """A draw, or one of two models, has rows at some of the scores only."""
    rng, measure = np.random.default_rng(8), case.ready(2)
    score, pos, neg = np.linspace(0.1, 0.9, 9), rng.integers(0, 4, 9), rng.integers(0, 4, 9)
    neg[pos + neg == 0] = 1
    wide = np.sort(np.r_[score, 0.02, 0.05, 0.35, 0.97, 0.99])
    padded = [np.zeros(len(wide), dtype=np.int64) for _ in range(2)]
    for cells, own in zip(padded, (pos, neg), strict=True):
        cells[np.isin(wide, score)] = own
    want = measure(Ranked(score=score, pos=pos, neg=neg)).value
    t = Ranked(score=wide, pos=padded[0], neg=padded[1])
    if stacked:
        t = Ranked(score=wide, pos=np.stack([padded[0]] * 2) * 1.0, neg=np.stack([padded[1]] * 2) * 1.0)
    found = measure.values(t).tolist() if stacked else [measure(t).value]
    assert found == pytest.approx([want] * len(found), rel=1e-9)
