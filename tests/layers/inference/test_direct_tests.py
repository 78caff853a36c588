# SPDX-License-Identifier: Apache-2.0
"""The public functions of statistics: every declared test from counts or columns, p values, raters, rows to plan."""

from __future__ import annotations

import math

import numpy as np
import pytest

import assay
from assay.core.errors import PlanError
from assay.inference.direct_tests import KINDS
from assay.inference.findings import Finding
from assay.inference.tests_catalogue import every_test
from assay.tally.contingency_tables import Calls, Channels, Outcomes, Patterns, Strata, Successes, Table
from assay.tally.paired.different_rows import Apart
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from assay.tally.real_values import Blocks, FiveByTwo, Folds, Groups, Halved, Pairs, Sample

CHANCE = np.random.default_rng(4213)
TRUTH = CHANCE.integers(0, 2, 60)
CALLS = {name: np.where(CHANCE.random(60) < skill, TRUTH, 1 - TRUTH) for name, skill in (("A", 0.9), ("B", 0.7))}
SCORES = {name: TRUTH + CHANCE.normal(0, spread, 60) for name, spread in (("A", 0.6), ("B", 1.0))}
VALUES = {name: CHANCE.normal(mean, 1, 10) for name, mean in (("A", 1.0), ("B", 0.5), ("C", 0.2))}
TWO = {name: VALUES[name] for name in "AB"}
UNITS = [f"u{i // 3}" for i in range(60)]
GIVEN = {
    Outcomes: {"table": [[40, 9], [2, 9]]},
    Table: {"table": [[12, 5], [3, 10]]},
    Calls: {"table": [[10, 3], [7, 20]]},
    Patterns: {"truth": TRUTH, "predicted": {**CALLS, "C": 1 - TRUTH}},
    Strata: {"table": {"x": [[8, 2], [3, 9]], "y": [[5, 5], [4, 8]]}},
    Channels: {"table": {"x": [[8, 2], [3, 9]], "y": [[5, 5], [4, 8]]}},
    Successes: {"table": (14, 20), "against": 0.5},
    Pairs: {"values": TWO},
    Blocks: {"values": VALUES},
    Groups: {"values": TWO},
    Folds: {"values": TWO, "test_over_train": 0.25},
    FiveByTwo: {"values": TWO},
    Halved: {"values": {name: column[:9] for name, column in TWO.items()}},
    Sample: {"values": VALUES["A"]},
    PairedScores: {"truth": TRUTH, "score": SCORES, "positive": 1},
    PairedLabels: {"truth": TRUTH, "predicted": CALLS},
    PerUnit: {"truth": TRUTH, "predicted": CALLS, "unit": UNITS},
    Apart: {"truth": {"A": TRUTH, "B": TRUTH}, "predicted": CALLS},
}
MATRIX = {name: np.column_stack([1 / (1 + np.exp(x)), 1 / (1 + np.exp(-x))]) for name, x in SCORES.items()}
OTHERS = {
    "delong_unpaired": {"truth": {"A": TRUTH, "B": TRUTH}, "score": SCORES, "positive": 1},
    "class_score_permutation": {"truth": TRUTH, "score": MATRIX, "measure": "auroc_macro"},
    "weighted_permutation": {"truth": TRUTH, "predicted": CALLS, "weight": CHANCE.random(60) + 0.5},
    "chi_squared_fit": {"table": [[12, 18], [15, 15]]},
}


def asked(one):
    """The columns or counts of a test, and the parameters that it has no default for."""
    given = dict(OTHERS.get(one.name, GIVEN[one.takes]))
    known = one.parameters
    chosen = {"margin": 0.2, "measure": "f1_macro", "draws": 199, "positive": 1, "control": "A"}
    if one.takes is PairedScores:
        chosen["measure"] = "average_precision"
    for name, value in chosen.items():
        if name in known and name not in given:
            given[name] = value
    if "costs" in known:
        given["costs"] = {(0, 0): 0.0, (1, 1): 0.0, (0, 1): 1.0, (1, 0): 5.0}
    if one.name in ("area_non_inferiority", "area_equivalence", "area_difference"):
        given.pop("measure", None)
    return given


@pytest.mark.parametrize("one", every_test(), ids=lambda one: one.name)
def test_every_declared_test_runs_from_counts_or_columns(one):
    found = assay.test(one.name, **asked(one))
    for finding in found if isinstance(found, tuple) else (found,):
        assert isinstance(finding, Finding)
        assert finding.test == one.name
        assert finding.p is None or 0 <= finding.p <= 1


EVEN = {
    Outcomes: {"table": [[40, 7], [7, 9]]},
    Table: {"table": [[6, 9], [4, 6]]},
    Calls: {"table": [[10, 3], [3, 20]]},
    Patterns: {
        "truth": [1] * 6,
        "predicted": {"A": [1, 0, 0, 1, 1, 0], "B": [0, 1, 0, 1, 0, 1], "C": [0, 0, 1, 0, 1, 1]},
    },
    Strata: {"table": {"x": [[8, 8], [4, 4]], "y": [[5, 10], [4, 8]]}},
    Channels: {"table": {"x": [[8, 3], [3, 9]], "y": [[5, 5], [5, 8]]}},
    Successes: {"table": (10, 20), "against": 0.5},
    Pairs: {"values": {"A": [1, 2, 3, 4, 5, 6], "B": [6, 5, 4, 3, 2, 1]}},
    Blocks: {"values": {"A": [1, 2, 3], "B": [2, 3, 1], "C": [3, 1, 2]}},
    Groups: {"values": {"A": [1, 4, 5, 8], "B": [8, 1, 5, 4]}},
    PairedScores: {
        "truth": [0, 0, 0, 1, 1, 1],
        "score": {"A": [1, 2, 4, 2, 3, 5], "B": [4, 2, 1, 5, 3, 2]},
        "positive": 1,
    },
}
"""Data that lean neither way, whatever is asked of them."""
RATIOS = (
    "fisher_exact",
    "cochran_mantel_haenszel",
    "variance_f",
    "bartlett",
    "levene",
    "brown_forsythe",
    "pitman_morgan",
)
NULL_EFFECTS = {"mann_whitney": 0.5, "sign_test": 0.5, **dict.fromkeys(RATIOS, 1.0)}
WITHOUT_MARGIN = [one for one in every_test() if one.takes in EVEN and "margin" not in one.parameters]


@pytest.mark.parametrize("one", WITHOUT_MARGIN, ids=lambda one: one.name)
def test_data_that_lean_neither_way_have_p_one_and_no_effect(one):
    given = {name: value for name, value in asked(one).items() if name in one.parameters}
    found = assay.test(one.name, **{**given, **EVEN[one.takes]})
    for finding in found if isinstance(found, tuple) else (found,):
        # Half of the chance of an even split is taken off a mid-p value.
        even = 1 - math.comb(14, 7) / 2**15 if one.name == "mcnemar_midp" else 1.0
        assert finding.p == pytest.approx(even, abs=1e-12)
        assert finding.p <= 1
        assert finding.effect.value == pytest.approx(NULL_EFFECTS.get(one.name, 0.0), abs=1e-12)


def test_a_channel_where_fewer_than_five_are_expected_is_counted_in_a_note():
    """Of six and of ten rows in dispute half are expected either way."""
    assert assay.test("channel_heterogeneity", **EVEN[Channels]).notes == (
        "fewer than five expected in 1 channel: read p with care",
    )


def test_rows_that_mostly_fall_one_way_are_expected_to_be_few_the_other_way():
    """Nine of ten rows in dispute fall to A, so that two and four are expected to fall to B."""
    channels = {"x": [[1, 18], [2, 1]], "y": [[1, 36], [4, 1]]}
    assert assay.test("channel_heterogeneity", table=channels).notes == (
        "fewer than five expected in 2 channels: read p with care",
    )


def test_every_kind_of_tally_can_be_built():
    assert {one.takes for one in every_test()} <= set(KINDS)


def test_counts_and_columns_of_the_same_rows_agree():
    both = assay.test("mcnemar_exact", truth=TRUTH, predicted=CALLS)
    right = {name: column == TRUTH for name, column in CALLS.items()}
    cells = [[int((right["A"] & right["B"]).sum()), int((right["A"] & ~right["B"]).sum())],
             [int((~right["A"] & right["B"]).sum()), int((~right["A"] & ~right["B"]).sum())]]  # fmt: skip
    assert assay.test("mcnemar_exact", table=cells).p == both.p
    compared = assay.compare(truth=TRUTH, predicted=CALLS, score=SCORES, positive=1)
    assert assay.test("auroc_permutation", truth=TRUTH, score=SCORES, positive=1).p == compared["delong"].p


def test_a_test_equals_scipy():
    from scipy import stats

    assert assay.test("fisher_exact", table=[[8, 2], [1, 5]]).p == pytest.approx(
        stats.fisher_exact([[8, 2], [1, 5]])[1]
    )
    assert assay.test("paired_t", values=TWO).p == pytest.approx(stats.ttest_rel(*TWO.values())[1])


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"name": "fisher"}, None),
        ({"name": "fisher_exact", "table": [[1]]}, "matrix-shape"),
        ({"name": "fisher_exact", "table": "abc"}, None),
        ({"name": "fisher_exact"}, "test-needs"),
        ({"name": "mcnemar_exact", "table": [[1, 2], [3, -4]]}, None),
        ({"name": "paired_t", "values": {"A": [1.0], "B": [1.0, 2.0]}}, None),
        ({"name": "paired_t", "values": {"A": [1.0, float("nan")], "B": [1.0, 2.0]}}, None),
        ({"name": "delong", "truth": [0, 1], "score": {"A": [1, 2], "B": [2, 1]}, "positive": 7}, "unknown-positive"),
    ],
)
def test_what_does_not_fit_is_an_error_that_tells_what_to_write(given, code):
    with pytest.raises(assay.AssayError) as error:
        assay.test(**given)
    assert code is None or error.value.code == code
    assert error.value.fix


def test_p_values_are_corrected_by_any_spelling():
    p = [0.01, 0.02, 0.03, 0.005]
    assert assay.adjust(p, method="holm") == [0.03, 0.04, 0.04, 0.02]
    assert assay.adjust(p, "benjamini-hochberg") == assay.adjust(p, "fdr_bh") == assay.adjust(p, "Benjamini_Hochberg")
    for wrong in ([2.0], ["x"], 7, [float("nan")], [np.complex128(0.5)]):
        with pytest.raises(assay.AssayError):
            assay.adjust(wrong)
    with pytest.raises(assay.PlanError, match="no correction"):
        assay.adjust(p, method="holmes")


def test_raters_agree_as_by_hand():
    found = assay.agreement({"one": list("aabbab"), "two": list("aabbba")}, order=["a", "b"])
    assert found["cohen_kappa"]["value"] == pytest.approx((4 / 6 - 0.5) / 0.5)
    assert found["cohen_kappa_linear"]["value"] == pytest.approx(found["cohen_kappa"]["value"])
    three = assay.agreement([list("aab"), list("aab"), ["a", "b", None]])
    assert set(three) == {"fleiss_kappa", "krippendorff_alpha", "gwet_ac1"}
    for wrong in ([], [["a"]], [["a"], ["a", "b"]], 7):
        with pytest.raises(assay.AssayError):
            assay.agreement(wrong)
    with pytest.raises(assay.AssayError, match=r'DECLARED\]: "d", "e" is not among the ordered labels') as error:
        assay.agreement({"one": list("abd"), "two": list("aeb")}, order=["a", "b", "c"])
    assert error.value.code == "label-not-declared"


def test_rows_are_planned_before_there_are_any():
    assert assay.plan_size(expected=0.9, limit=0.85) == 363
    wide = assay.plan_size(expected=0.9, width=0.1)
    from assay.inference.intervals.proportion import wilson

    low, high = wilson(round(0.9 * wide), wide, 0.95)
    assert high - low <= 0.1005
    for wrong in ({}, {"expected": 0.9}, {"expected": "x", "limit": 0.8}, {"expected": 0.9, "limit": 0.8, "level": 2}):
        with pytest.raises(assay.AssayError):
            assay.plan_size(**wrong)


def test_the_effect_of_scores_is_the_difference_of_areas_of_the_positive_class():
    areas = [(SCORES[name][TRUTH == 1][:, np.newaxis] > SCORES[name][TRUTH == 0]).mean() for name in "AB"]
    for given in (OTHERS["delong_unpaired"], GIVEN[PairedScores]):
        name = "delong_unpaired" if isinstance(given["truth"], dict) else "delong"
        assert assay.test(name, **given).effect.value == pytest.approx(areas[0] - areas[1])


def test_columns_without_names_are_a_b_and_c():
    found = assay.test("friedman", values=list(VALUES.values()))
    assert list(found.counts) == [f"mean rank of {name}" for name in "ABC"]
    assert found.counts == assay.test("friedman", values=VALUES).counts


@pytest.mark.parametrize("role", ["unit", "weight", "against", "test_over_train"])
def test_what_a_test_would_pass_over_is_refused(role):
    """Rows of the same subject would count as independent without a word."""
    given = {"unit": UNITS, "weight": [1.0] * 60, "against": 0.5, "test_over_train": 0.25}[role]
    with pytest.raises(PlanError, match=f"mcnemar_exact does not read {role}=") as error:
        assay.test("mcnemar_exact", truth=TRUTH, predicted=CALLS, **{role: given})
    assert (error.value.code, error.value.where) == ("test-refused", role)


@pytest.mark.parametrize("level", [0, 1, True, "0.9"])
def test_a_level_lies_between_0_and_1(level):
    with pytest.raises(PlanError, match="is not a confidence level"):
        assay.test("mcnemar_exact", table=[[40, 9], [2, 9]], level=level)


def test_a_table_of_two_models_names_them_a_and_b():
    assert assay.test("mcnemar_exact", table=[[40, 9], [2, 9]]).models == ("A", "B")
