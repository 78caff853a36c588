# SPDX-License-Identifier: Apache-2.0
"""Areas of 1 or 0, or nearly: differences keep an interval of some width, named as what it is, and p agrees with it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.assess.arguments import TestSettings
from assay.assess.assess import assess
from assay.assess.compare.compare import compare
from assay.assess.record.verification import verify
from assay.core.errors import PlanError
from assay.core.values import Undefined
from assay.inference.intervals.auc import newcombe
from assay.inference.intervals.difference_of_two import apart_from_zero, rooms
from assay.inference.intervals.proportion import normal_quantile, recovered
from assay.inference.tests.auc_beyond_delong import (
    added_ends,
    area_difference,
    near_perfect,
)
from assay.inference.tests.delong import areas
from assay.inference.tests.ranks import mann_whitney
from assay.inference.tests_catalogue import find_test
from assay.inference.units.permutation_and_bootstrap import (
    paired_permutation,
    score_permutation,
    subject_permutation,
    weighted_permutation,
)
from assay.report.blocks.findings import FindingText
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from assay.tally.real_values import Groups
from tests import flat

TRUTH = [0, 0, 0, 1, 1, 1]
PERFECT = [0.1, 0.2, 0.3, 0.7, 0.8, 0.9]
OTHER = [0.1, 0.8, 0.3, 0.7, 0.2, 0.9]


def _wide(effect) -> bool:
    return effect.interval is not None and effect.interval.high > effect.interval.low


def test_a_perfect_model_is_compared_by_the_intervals_of_both_areas():
    """C09: DeLong's interval is undefined there, and the report falls back to the one it names."""
    c = compare(truth=TRUTH, score={"A": PERFECT, "B": OTHER})
    found = c["auroc"]
    assert (found.test, c["delong"]) == ("auroc_permutation", found)
    alone = newcombe(1.0, 3, 3, 0.95)
    assert (found.more[0].interval.low, found.more[0].interval.high) == alone
    other = found.more[1].interval
    low, high = recovered(1.0, alone, 2 / 3, (other.low, other.high))
    assert (found.effect.interval.low, found.effect.interval.high) == (low, high)
    assert "square-and-add" in found.effect.interval.method
    assert "taken to be 0" in found.notes[2]
    assert found.p > 0.05
    assert low < 0 < high
    assert any(one.test == "delong" for one in c.answers[0].choice.refused)
    assert "swaps of ranks" in FindingText(c.record["findings"][0]).sentence
    assert verify(c.record).holds


def test_the_areas_listed_in_a_comparison_are_those_of_an_assessment():
    rng = np.random.default_rng(3)
    y = np.arange(60) < 20
    for gain in (0.8, 3.0, 20.0):
        s = y * gain + rng.normal(size=60)
        c = compare(truth=y.tolist(), score={"A": s, "B": rng.normal(size=60)}, positive=True)
        alone = assess(truth=y.tolist(), score=s, positive=True, measures=["auroc"], threshold=0.5)["auroc"]
        listed = c["auroc"].more[0].interval
        assert (listed.low, listed.high) == pytest.approx((alone.low, alone.high), abs=1e-12)


def test_two_perfect_models_that_rank_otherwise_are_equal_within_an_interval():
    y = [False] * 10 + [True] * 10
    a = np.arange(20.0)
    b = np.concatenate([a[9::-1], a[10:]])
    found = compare(truth=y, score={"A": a, "B": b}, positive=True)["auroc"]
    assert (found.effect.value, found.p, found.statistic) == (0.0, 1.0, 0.0)
    alone = 1 - newcombe(1.0, 10, 10, 0.95)[0]
    assert found.effect.interval.low == pytest.approx(-alone)
    assert found.effect.interval.high == pytest.approx(alone)


def test_a_perfect_model_against_itself_is_certain_and_says_why():
    found = compare(truth=TRUTH, score={"A": PERFECT, "B": [2 * x for x in PERFECT]})["auroc"]
    assert (found.effect.value, found.p) == (0.0, 1.0)
    assert isinstance(found.statistic, Undefined)
    assert "identical" in found.effect.no_interval


def test_always_right_against_always_wrong_has_an_interval_and_a_p():
    found = compare(truth=TRUTH, score={"A": PERFECT, "B": PERFECT[::-1]})["auroc"]
    assert found.effect.value == 1.0
    assert found.effect.interval.high == 1.0
    assert 0 < found.effect.interval.low < 1
    assert 0 < found.p < 0.05


def test_several_models_with_a_perfect_one_are_compared_pair_by_pair_with_correction():
    rng = np.random.default_rng(1)
    y = np.arange(120) < 60
    c = compare(truth=y.tolist(), score={"A": y * 9 + rng.random(120), "B": y + rng.normal(size=120),
                                         "C": y + rng.normal(size=120)}, positive=True)  # fmt: skip
    assert [one.models for one in c.findings] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert {one.test for one in c.findings} == {"area_differences"}
    assert all(one.adjusted.by == "Holm" and one.adjusted.of == 3 and _wide(one.effect) for one in c.findings)
    assert c.answers[0].choice.after is None
    assert c.ranking[0].model == "A"
    assert c.ranking[0].ahead_of
    assert verify(c.record).holds


def test_ordinary_areas_are_still_compared_by_delong():
    rng = np.random.default_rng(1)
    y = np.arange(120) < 60
    t = PairedScores.of(y, {"A": y + rng.normal(size=120), "B": y + rng.normal(size=120)})
    assert not near_perfect(t)
    assert compare(truth=y.tolist(), score={"A": t.positives[0].tolist() + t.negatives[0].tolist(),
                                            "B": t.positives[1].tolist() + t.negatives[1].tolist()},
                   positive=True)["auroc"].test == "delong"  # fmt: skip


def test_delong_may_be_insisted_on_and_without_a_reason_it_is_refused_and_nothing_else_runs():
    given = {"truth": TRUTH, "score": {"A": PERFECT, "B": OTHER}}
    with pytest.raises(PlanError, match="not the test the table gives"):
        flat.compare(**given, test="delong")
    forced = flat.compare(**given, test="delong", because="as published")["auroc"]
    assert forced.test == "delong"
    assert "chosen by hand" in forced.label


def test_areas_of_0_97_and_0_98_are_compared_by_delong_and_those_less_than_a_row_from_1_by_intervals():
    y = [False] * 50 + [True] * 50
    negatives = [float(i) for i in range(50)]
    scores = {
        "A": [*negatives, -1.0, *(100.0 + i for i in range(49))],  # one positive below all negatives: 50 pairs of 2,500
        "B": [*negatives, -1.0, 19.5, *(100.0 + i for i in range(48))],
    }
    t = PairedScores.of(y, scores)
    assert areas(t).area.tolist() == [0.98, 0.968]
    assert not near_perfect(t)
    assert compare(truth=y, score=scores, positive=True)["auroc"].test == "delong"
    nearer = {**scores, "A": [*negatives, 25.5, *(100.0 + i for i in range(49))]}  # 24 pairs: 0.48 rows
    assert near_perfect(PairedScores.of(y, nearer))
    assert compare(truth=y, score=nearer, positive=True)["auroc"].test == "area_difference"


def test_margins_near_the_ends_agree_with_the_interval():
    t = PairedScores.of([bool(y) for y in TRUTH], {"A": PERFECT, "B": OTHER})
    low, high = added_ends(areas(t), 0, 1, 0.90)
    for size in (0.05, -low - 1e-6, -low + 1e-6, 0.9):
        if size > 0:
            assert (find_test("area_non_inferiority")(t, margin=size).p <= 0.05) == (low > -size)
        both = find_test("area_equivalence")(t, margin=max(size, 0.01))
        assert (both.p <= 0.05) == (low > -max(size, 0.01) and high < max(size, 0.01))
    chosen = compare(truth=TRUTH, score={"A": PERFECT, "B": OTHER}, tests=TestSettings(margin=0.9))
    assert chosen["non-inferiority"].test == "area_non_inferiority"
    assert min(rooms(0.1, (0.0, 0.2), 0.1, 0.95)[:2]) < normal_quantile(0.95)
    assert apart_from_zero(0.0, (-0.1, 0.1), 0.95)["chance"].p == 1.0


def _rows(a, b, **more) -> PerUnit:
    y = [False] * 12 + [True] * 12
    return PerUnit.of(truth=y, labels=(False, True), models=("A", "B"), scores={"A": a, "B": b}, **more)


@pytest.mark.parametrize("weight", [None, np.arange(24) % 3 + 1.0])
def test_perfect_models_on_subjects_and_weighted_rows_never_get_an_interval_without_width(weight):
    a = np.arange(24.0)
    b = np.concatenate([a[11::-1], a[12:]])
    few = {"measure": "auroc", "positive": True, "draws": 199}
    if weight is not None:
        assert _wide(weighted_permutation(_rows(a, b, weight=weight), **few).effect)
    who = [i // 2 for i in range(24)]
    t = _rows(a, b, subject=who, weight=weight)
    found = subject_permutation(t, **few)
    assert (found.p, found.effect.value) == (1.0, 0.0)
    alone = 1 - newcombe(1.0, 6, 6, 0.95)[0]
    if weight is None:
        assert found.effect.interval.high == pytest.approx(alone)
        assert "square-and-add" in found.effect.interval.method
    margin = find_test("unit_non_inferiority")(t, margin=0.9, **few)
    assert _wide(margin.effect)
    assert margin.p < 0.05


def test_draws_that_never_differ_give_a_reason_instead_of_an_interval_without_width():
    cells = {(1, 1, 1): 20, (0, 0, 1): 3, (0, 1, 0): 2, (0, 0, 0): 20}
    t = PairedLabels.from_cells(cells, models=("A", "B"))
    found = paired_permutation(t, measure="recall", positive=1, draws=199)
    assert found.effect.interval is None
    assert "same difference" in found.effect.no_interval
    scores = PairedScores.of([False] * 3 + [True] * 3, {"A": PERFECT, "B": [0.2, 0.1, 0.3, 0.7, 0.8, 0.9]})
    assert score_permutation(scores, measure="average_precision", draws=199).effect.interval is None


def test_a_rank_sum_of_parted_groups_has_an_interval():
    found = mann_whitney(Groups.of({"A": [5.0, 6.0, 7.0], "B": [1.0, 2.0, 3.0]}))
    assert (found.effect.interval.low, found.effect.interval.high) == newcombe(1.0, 3, 3, 0.95)


def test_a_rank_sum_has_an_interval_from_two_values_on_each_side():
    for b, has in (([1.0], False), ([1.0, 3.0], True)):
        effect = mann_whitney(Groups.of({"A": [2.0, 4.0], "B": b})).effect
        assert (effect.interval is not None) == has
        assert (effect.no_interval == "it needs two values on each side, at least") == (not has)


def test_on_different_rows_a_perfect_model_has_an_interval_too():
    truth = {"A": TRUTH, "B": TRUTH}
    c = compare(truth=truth, score={"A": PERFECT, "B": OTHER}, tests=TestSettings(independent=True))
    assert c["auroc"].test == "apart_difference"
    assert _wide(c["auroc"].effect)
    same = compare(truth=truth, score={"A": PERFECT, "B": PERFECT}, tests=TestSettings(independent=True))["auroc"]
    assert (same.p, _wide(same.effect)) == (1.0, True)


def test_the_square_and_add_interval_covers_where_delong_does_not():
    """Binormal scores, areas 0.99 and 0.9, 25 positives and negatives: DeLong's covers in about 90 % (docs/why)."""
    rng, truth, hit, runs = np.random.default_rng(5), 0.09, 0, 120
    y = np.arange(50) < 25
    for _ in range(runs):
        base = rng.normal(size=50) * math.sqrt(0.5)
        s = {m: y * d + base + rng.normal(size=50) * math.sqrt(0.5) for m, d in (("A", 3.2899), ("B", 1.8124))}
        ends = area_difference(PairedScores.of(y, s)).effect.interval
        hit += ends.low <= truth <= ends.high
    assert hit / runs > 0.92
