# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.core.errors import PlanError
from assay.core.values import Undefined
from assay.measures import parse
from assay.measures.brackets import BY_EDGES, BY_GAPS, BY_ORDER, bracket, bracket_of_classes, bracketed
from assay.tally.binmaps import PROBABILITY, REAL, BinMap
from assay.tally.binned import binned
from assay.tally.scorebins import ScoreBins
from assay.tally.scores import Scores
from tests.scorecases import RANKED_CASES, SCORES_CASES, classes, ranked, rows, scores

AT_EDGES = (*BY_EDGES, *BY_GAPS)
CASES = [c for c in RANKED_CASES if c.measure.name in ("average_precision", "brier_uncertainty", *BY_ORDER, *AT_EDGES)]
MAPS = [PROBABILITY, REAL, BinMap.quantile([0.2, 0.4, 0.6, 0.8], 4), BinMap("quantile", np.array([0.5]))]


@settings(max_examples=40)
@given(rows, st.sampled_from(MAPS))
def test_the_bracket_always_holds_the_exact_value(some, by):
    bins = ScoreBins.of([s for s, _ in some], [y for _, y in some], by)
    for case in CASES:
        measure = case.ready(2)
        if measure.name in AT_EDGES and by.kind == "quantile":
            continue
        _demand_held(case, measure(ranked(some)), bracket(measure, bins))


def _demand_held(case, exact, found):
    """The ends hold the exact value; there are none where there is no value, or where only edges of bins tell it."""
    if isinstance(exact, Undefined) or isinstance(found, Undefined):
        assert isinstance(found, Undefined), case
        assert isinstance(exact, Undefined) or case.ready(2).name in AT_EDGES, case
        return
    low, high = found
    assert low <= exact.value <= high, (str(case), low, exact.value, high)


weights = st.sampled_from([0.0, 1.0, 0.1, 2.5, 1e-9, 1e9]) | st.floats(2.0**-20, 2.0**20)
weighted_rows = st.lists(
    st.tuples(st.floats(0, 1) | st.sampled_from([0.1, 0.5, 0.9]), st.booleans(), weights), max_size=25
)


@settings(max_examples=40)
@given(weighted_rows, st.sampled_from([PROBABILITY, PROBABILITY.coarser(64), PROBABILITY.coarser(2), REAL.coarser(9)]))
@example([(0.1, False, 1e-9), (0.1, True, 1e9)], PROBABILITY)  # 1 - prevalence is nothing to a double
@example([(0.1, True, 1e-9), (0.1, False, 1e9)], PROBABILITY)
def test_the_bracket_of_weighted_rows_always_holds_the_exact_value(some, by):
    held = Scores.binary(*([row[part] for row in some] for part in range(3)))
    bins = binned(held, by).bins(1)
    for case in CASES:
        measure = case.ready(2)
        _demand_held(case, measure(held.one_vs_rest(1)), bracket(measure, bins))


def test_the_lower_end_of_weighted_average_precision_is_approached_by_ever_lighter_positives():
    """In one bin: negatives of weight 3 above positives of weight 1 in all, cut into ever smaller pieces."""
    measure, ends = parse("average_precision"), []
    for pieces in (1, 10, 1000):
        score = [0.9, *np.linspace(0.8, 0.1, pieces)]
        held = Scores.binary(score, [False] + [True] * pieces, [3.0] + [1 / pieces] * pieces)
        low, _ = bracket(measure, binned(held, PROBABILITY.coarser(1)).bins(1))
        ends.append(measure(held.one_vs_rest(1)).value - low)
    assert ends[0] > ends[1] > ends[2] > 0
    assert low == pytest.approx(1 - 3 * np.log(4 / 3))
    assert ends[2] < 2e-4


COARSE = [PROBABILITY, PROBABILITY.coarser(64), PROBABILITY.coarser(2), REAL, REAL.coarser(9)]


@settings(max_examples=40)
@given(classes, st.sampled_from(COARSE))
def test_the_bracket_of_pairs_averages_and_pooled_classes_holds_the_exact_value(some, by):
    held = scores(some)
    bins = binned(held, by)
    for case in SCORES_CASES:
        measure = case.ready(3)
        if not bracketed(measure) or (by.kind == "real" and measure.name == "log_loss_multiclass"):
            continue
        exact = measure(held)
        found = bracket_of_classes(measure, bins)
        if isinstance(exact, Undefined):
            assert isinstance(found, Undefined), case
            continue
        if isinstance(found, Undefined):
            assert by.kind == "real", case  # an end of a bin of scores may be no probability
            continue
        low, high = found
        assert low <= exact.value <= high, (str(case), low, exact.value, high)
        inside = measure(bins)
        assert measure.family != "curves" or low - 1e-9 <= inside.value <= high + 1e-9


@pytest.mark.parametrize("policy", ["propagate", "skip", "zero", "one"])
def test_a_class_without_rows_is_treated_alike_in_value_and_bracket(policy):
    held = scores([((i % 9, 3, 8 - i % 7), i % 2) for i in range(30)])
    for name in ("auroc_macro", "auroc_one_vs_one", "mean_average_precision", "auroc_weighted"):
        measure = parse(f"{name}(undefined='{policy}')")
        exact, found = measure(held), bracket_of_classes(measure, binned(held, PROBABILITY.coarser(64)))
        if isinstance(exact, Undefined):
            assert isinstance(found, Undefined)
        else:
            assert found[0] <= exact.value <= found[1]


def test_tied_scores_have_a_bracket_of_next_to_no_width():
    rng = np.random.default_rng(1)
    scores, truth = rng.integers(0, 20, 2000) / 20, rng.random(2000) < 0.4
    bins = ScoreBins.of(scores, truth, PROBABILITY)
    for name in ("auroc", "average_precision", "h_measure", "brier_score"):
        low, high = bracket(parse(name), bins)
        assert high - low < 1e-11


def test_a_measure_without_a_bracket_is_refused():
    with pytest.raises(PlanError) as refused:
        bracket(parse("auprc_davis_goadrich"), ScoreBins.of([0.1], [True], REAL))
    assert refused.value.code == "measure-unfit"
