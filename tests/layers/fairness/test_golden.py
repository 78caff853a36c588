# SPDX-License-Identifier: Apache-2.0
"""Published counts and hand-made groups give the values that others computed."""

from __future__ import annotations

import pytest

from assay.fairness.feasibility import false_positive_rate_from_identity
from tests.layers.fairness.cases import assess_counts, compas, fairness_of, read_case

EXPECTED = read_case("compas_race")
BETWEEN = EXPECTED["gap_african_american_minus_caucasian"]
EDGE = read_case("edge_groups")
NAMES = {
    "selection_rate": "predicted_positive_rate",
    "npv": "negative_predictive_value",
    "accuracy": "binary_accuracy",
}
COUNTED = ("TP", "FN", "FP", "TN")


def near(value):
    return pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("race", EXPECTED["groups"])
def test_every_value_of_a_group_of_compas(race):
    expected = EXPECTED["groups"][race]
    by_race = fairness_of(compas())["race"]
    table = by_race.binary[race]
    assert [table.tp, table.fn, table.fp, table.tn] == [expected[cell] for cell in COUNTED]
    statistics = {
        "mean_decile_positive": "mean_score_of_positives",
        "mean_decile_negative": "mean_score_of_negatives",
    }
    for name in (
        "selection_rate",
        "recall",
        "false_positive_rate",
        "false_negative_rate",
        "precision",
        "npv",
        "accuracy",
        "fn_over_fp",
        "fn_share_of_errors",
        "mean_decile_positive",
        "mean_decile_negative",
        "auroc",
    ):
        values = by_race._values(statistics.get(name, NAMES.get(name, name)))
        group = next(value for value in values if value.level == race)
        assert group.value == near(expected[name]), name
        if name in expected["wilson95"]:
            assert group.ends(0.95) == near(expected["wilson95"][name])


@pytest.mark.parametrize("name", [name for name, pair in BETWEEN.items() if isinstance(pair, dict)])
def test_signed_difference_and_ratio_of_two_races(name):
    expected = BETWEEN[name]
    by_race = fairness_of(compas(("African-American", "Caucasian")))["race"]
    measure = NAMES.get(name, name)
    gap = by_race[f"gap({measure})"]
    assert (gap.difference.first, gap.difference.second) == ("African-American", "Caucasian")
    assert gap.difference.value == near(expected["difference"])
    assert by_race[f"ratio({measure})"].value == near(expected["ratio_min_max"])
    if "newcombe95" in expected:
        assert [gap.difference.low, gap.difference.high] == near(expected["newcombe95"])


def test_equalised_odds_and_conditional_use_accuracy_are_the_larger_part():
    expected = BETWEEN
    by_race = fairness_of(compas(("African-American", "Caucasian")))["race"]
    odds = by_race["equalized_odds"]
    assert odds.value == near(expected["equalized_odds_max"])
    assert sum(part.value for part in odds.parts.values()) / 2 == near(expected["equalized_odds_mean"])
    assert by_race["conditional_use_accuracy_equality"].value == near(expected["conditional_use_accuracy_max"])


def test_published_intervals_of_compas_do_not_hold():
    """Dressel and Farid print intervals of white error rates that are half as wide as the rows allow, or too wide."""
    printed = EXPECTED["published"]["dressel_farid_2018_table2_compas"]["printed_binomial_95_percent"]
    ours = EXPECTED["groups"]["Caucasian"]["wilson95"]
    low, high = ours["false_negative_rate"]
    assert printed["fnr_white"][1] - printed["fnr_white"][0] < 0.9 * 100 * (high - low)
    low, high = ours["false_positive_rate"]
    assert printed["fpr_white"][1] - printed["fpr_white"][0] > 1.1 * 100 * (high - low)


def test_two_ordinary_groups():
    fairness = assess_counts({name: EDGE["counts"][name] for name in "ab"})
    expected = EDGE["expected"]["ab"]
    assert fairness["statistical_parity"].value == near(expected["statistical_parity_difference"])
    assert fairness["ratio(predicted_positive_rate)"].value == near(expected["statistical_parity_ratio"])
    assert fairness["equalized_odds"].value == near(expected["equalized_odds_max"])
    assert fairness["equalized_odds"].parts["recall"].value == near(expected["tpr_difference"])
    assert fairness["equalized_odds"].parts["false_positive_rate"].value == near(expected["fpr_difference"])
    assert fairness["predictive_parity"].value == near(expected["ppv_difference"])


@pytest.mark.parametrize("group", EDGE["expected"]["undefined"])
def test_a_group_without_a_value_is_named_and_never_zero(group):
    fairness = assess_counts(EDGE["counts"], minimum=1)
    for name in EDGE["expected"]["undefined"][group]:
        measure = NAMES.get(name, name)
        gap = fairness[f"gap({measure})"]
        left = {out.level: out for out in gap.left_out}
        assert group in left
        assert left[group].rows == sum(EDGE["counts"][group])
        assert next(value for value in gap.groups if value.level == group).value is None


def test_a_group_of_one_row_is_shown_and_does_not_drive_the_gap():
    fairness = assess_counts(EDGE["counts"])
    parity = fairness["statistical_parity"]
    assert parity.value == near(0.225)  # a: .45, b: .525, c: .3; f alone would make it 1
    assert {out.level for out in parity.left_out} == {"d", "e", "f"}
    assert next(value for value in parity.groups if value.level == "f").ends(0.95)[0] == pytest.approx(0.025)


def test_one_part_without_a_value_leaves_the_other_part_and_no_verdict():
    fairness = assess_counts(
        {name: EDGE["counts"][name] for name in "ad"}, minimum=1, criteria=("equalized_odds",), tolerance=0.5
    )
    odds = fairness["equalized_odds"]
    assert odds.value is None
    assert "no row is truly" in odds.reason
    assert odds.parts["false_positive_rate"].value == near(2 / 7 - 0.1)
    assert odds.verdict == "inconclusive"


def test_equal_opportunity_does_not_imply_statistical_parity():
    fairness = assess_counts({"a": (40, 10, 5, 45), "b": (40, 10, 25, 25)})  # golden G-FUN-EO
    assert fairness["equal_opportunity"].value == 0
    assert fairness["statistical_parity"].difference.value == near(-0.2)


def test_the_identity_behind_the_impossibility():
    assert false_positive_rate_from_identity(0.5, 261 / 368, 261 / 300) == near(107 / 300)  # golden G-FUN-IMP
