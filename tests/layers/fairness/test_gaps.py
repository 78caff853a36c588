# SPDX-License-Identifier: Apache-2.0
"""Gaps, ratios, tests and verdicts: what holds for all of them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import assay
from assay.core.errors import PlanError
from assay.fairness.conditional_parity import common_difference, conditional_gap
from assay.fairness.fairness_by_factor import Fairness
from assay.fairness.fairness_criteria import CRITERIA
from assay.fairness.fairness_sections import fairness_blocks
from assay.fairness.feasibility import check_unawareness
from assay.fairness.gaps import measure_gap, simultaneous_level
from assay.fairness.group_statistics import value_of_share
from assay.fairness.settings import FairnessSettings, split_criterion, split_crossed
from assay.tally.contingency_tables import Table
from tests.layers.fairness.cases import assess_counts, compas, fairness_of, read_case

COUNTS = {"a": (40, 10, 5, 45), "b": (24, 16, 18, 22), "c": (30, 20, 10, 40)}


def shares(*pairs):
    return [value_of_share(top, of, str(i), of) for i, (top, of) in enumerate(pairs)]


def test_nineteen_criteria_are_declared_once():
    assert [criterion.spec for criterion in CRITERIA] == [f"M-FAI-{i:02}" for i in range(1, 20)]


def test_pairs_hold_at_the_level_of_the_studentised_range():
    z = stats.studentized_range.ppf(0.95, 5, np.inf) / np.sqrt(2)
    assert simultaneous_level(0.95, 5, 10, all_pairs=True) == pytest.approx(2 * stats.norm.cdf(z) - 1)


def test_the_gap_of_many_groups_lies_between_the_largest_ends_of_pairs():
    gap = measure_gap("share", "g", shares((30, 100), (50, 100), (45, 100), (52, 90)), 0.95)
    ends = [(p.low, p.high) if p.value >= 0 else (-p.high, -p.low) for p in gap.pairs]
    assert gap.low == max(0.0, *(low for low, _ in ends))
    assert gap.high == max(high for _, high in ends)
    assert gap.worst == ("3", "0")


def test_equal_groups_have_a_gap_whose_interval_holds_zero():
    gap = measure_gap("share", "g", shares(*[(20 + i, 40) for i in range(5)]), 0.95)
    assert gap.low == 0
    assert gap.value > 0


@pytest.mark.parametrize("settings", [{"sizes": (100, 100)}, {"sizes": (1000, 20)}, {"sizes": (100,) * 5}])
def test_the_interval_covers_a_gap_of_zero(settings):
    rng, sizes, covered = np.random.default_rng(4213), np.array(settings["sizes"]), 0
    for tops in rng.binomial(sizes, 0.3, size=(300, len(sizes))):
        covered += measure_gap("share", "g", shares(*zip(tops.tolist(), sizes.tolist(), strict=True)), 0.95).low == 0
    assert covered >= 0.92 * 300


def test_the_test_of_a_criterion_is_pearsons():
    gap = measure_gap("share", "g", shares((30, 100), (50, 100), (45, 100)), 0.95)
    expected = stats.chi2_contingency([[30, 70], [50, 50], [45, 55]], correction=False)
    assert gap.equality.p == pytest.approx(expected.pvalue)


def test_small_counts_are_tested_by_drawn_tables():
    gap = measure_gap("share", "g", shares((1, 20), (6, 18)), 0.95)
    assert "same margins" in gap.equality.test
    assert gap.equality.p == pytest.approx(stats.fisher_exact([[1, 19], [6, 12]]).pvalue, abs=0.02)


def test_welch_on_scores_equals_scipy():
    by_race = fairness_of(compas(("African-American", "Caucasian")))["race"]
    balance = by_race["balance_positive_class"]
    tables = by_race.tables.values()
    scores = [np.repeat(table.score, table.pos) for table in tables]
    assert balance.equality.p == pytest.approx(stats.ttest_ind(*scores, equal_var=False).pvalue, rel=1e-6)


def test_calibration_parity_of_deciles_has_a_bin_for_each():
    parity = fairness_of(compas(("African-American", "Caucasian")))["race"]["calibration_parity"]
    assert len(parity.parts) == 10
    top = parity.parts["score 10"]
    assert top.value == pytest.approx(227 / 286 - 45 / 64)
    assert parity.equality.df == 2


def test_calibration_of_probabilities_is_found_where_a_group_is_shifted():
    rng = np.random.default_rng(1)
    score, group = rng.uniform(size=2000), np.repeat(["a", "b"], 1000)
    truth = rng.uniform(size=2000) < np.where(group == "a", score, score**2)
    stated = {"scores": assay.ScoreSettings(kind="probability"), "positive": 1, "group": {"g": group}}
    a = assay.assess(truth=truth.astype(int), predicted=(score > 0.5).astype(int), score=score, **stated)
    fairness = fairness_of(a)["g"]
    assert fairness["calibration_parity"].equality.p < 1e-6
    assert fairness["calibration_parity"].low > 0
    assert fairness["well_calibration"].value >= fairness["calibration_parity"].value


def test_the_ratio_of_two_groups_has_a_score_interval_that_is_folded_at_one():
    fairness = assess_counts({"a": (40, 10, 5, 45), "b": (39, 11, 6, 44)})
    ratio = fairness["ratio(recall)"]
    assert 0 < ratio.low < ratio.value < ratio.high == 1


def test_a_ratio_of_zeros_is_undefined():
    fairness = assess_counts({"a": (0, 5, 0, 5), "b": (0, 5, 0, 5)})  # ACCEPTANCE D03
    assert fairness["four_fifths"].value is None
    assert "0 / 0" in fairness["four_fifths"].reason


def test_a_group_without_positives_makes_equal_opportunity_of_two_groups_undefined():
    fairness = assess_counts({"a": (2, 0, 0, 1), "b": (0, 0, 0, 3)})  # ACCEPTANCE D02
    found = fairness["equal_opportunity"]
    assert found.value is None
    assert '"b"' in found.reason


def test_a_group_of_one_row_has_value_interval_and_size():
    fairness = assess_counts({"a": (45, 5, 0, 50), "b": (0, 1, 0, 0)})  # ACCEPTANCE D04
    gap = fairness["gap(recall)"]
    small = next(group for group in gap.groups if group.level == "b")
    assert (small.value, small.rows, small.judged) == (0.0, 1, False)
    assert small.ends(0.95)[1] < 1
    assert any("too few rows" in out.reason for out in gap.left_out)


def test_a_declared_level_without_rows_is_listed_and_prevents_a_pass():
    fairness = assess_counts(  # ACCEPTANCE D08
        {"a": (400, 100, 50, 450), "b": (401, 99, 50, 450)},
        declared={"g": ["a", "b", "z"]},
        criteria=("equal_opportunity",),
        tolerance=0.2,
    )
    found = fairness["equal_opportunity"]
    assert [(out.level, out.rows, out.reason) for out in found.left_out] == [("z", 0, "there are no rows")]
    assert found.verdict == "inconclusive"
    assert "not every group" in found.why


@pytest.mark.parametrize(("tolerance", "verdict"), [(0.5, "pass"), (0.01, "fail"), (0.2, "inconclusive")])
def test_the_whole_interval_decides(tolerance, verdict):
    counts = {"a": (400, 100, 50, 450), "b": (300, 200, 50, 450)}
    fairness = assess_counts(counts, criteria=("gap(recall)",), tolerance=tolerance)
    gap = fairness["gap(recall)"]
    assert gap.verdict == verdict
    assert (gap.low, gap.high) == pytest.approx((0.143, 0.255), abs=1e-3)


def test_an_inconclusive_verdict_names_the_rows_that_would_decide():
    counts = {"a": (900, 100, 50, 950), "c": (45, 5, 10, 90)}
    found = assess_counts(counts, criteria=("equal_opportunity",), tolerance=0.05)["equal_opportunity"]
    assert found.verdict == "inconclusive"
    more = int(found.why.split("about ")[1].split(" more")[0].replace(",", ""))
    assert 'rows that are truly positive of group "c"' in found.why
    grown = 50 + more
    found_again = round(0.9 * grown)
    counts["c"] = (found_again, grown - found_again, 10, 90)
    again = assess_counts(counts, criteria=("equal_opportunity",), tolerance=0.055)
    assert again["equal_opportunity"].verdict == "pass"


def test_the_rows_that_would_show_a_failure_are_told_from_the_whole_interval():
    counts = {"a": (90, 10, 10, 90), "b": (15, 5, 10, 90)}
    found = assess_counts(counts, criteria=("gap(recall)",), tolerance=0.05)["gap(recall)"]
    assert (found.verdict, found.low) == ("inconclusive", 0.0)
    more = int(found.why.split("about ")[1].split(" more")[0].replace(",", "")) if " more " in found.why else None
    grown = {"a": (900, 100, 10, 90), "b": (750, 250, 10, 90)}
    assert more is None or more > 20
    assert assess_counts(grown, criteria=("gap(recall)",), tolerance=0.05)["gap(recall)"].verdict == "fail"


def test_a_reference_group_is_in_every_pair():
    by_reference = assess_counts(COUNTS, reference={"g": "a"})["gap(recall)"]
    assert {pair.second for pair in by_reference.pairs} == {"a"}


def test_p_values_are_corrected_over_criteria_and_factors_and_complements_count_once():
    truth, predicted = [1, 0, 1, 0] * 50, [1, 0, 0, 0] * 25 + [1, 1, 1, 0] * 25
    groups = {"g": ["a"] * 100 + ["b"] * 100, "h": ["x", "y"] * 100}
    a = assay.assess(truth=truth, predicted=predicted, positive=1, group=groups)
    listed = Fairness(a.by_group, a.grouped.factors).listed
    by_name = {(d.factor, d.name): d for d in listed}
    family = {d.equality.of for d in listed if d.equality is not None}
    tested = sum(d.equality is not None for d in listed)
    complements = {criterion.name for criterion in CRITERIA if criterion.complement}
    repeated = sum(d.name in complements and d.equality is not None for d in listed)
    assert family == {tested - repeated}
    assert by_name["g", "true_positive_rate_parity"].p == by_name["g", "false_negative_rate_balance"].p
    assert all(d.p >= d.equality.p for d in listed if d.equality is not None)


def test_conditional_parity_is_worked_out_within_levels():
    strata = {  # Simpson: parity holds in each department, not over both
        "easy": {"m": value_of_share(80, 100, "m", 100), "f": value_of_share(16, 20, "f", 20)},
        "hard": {"m": value_of_share(4, 20, "m", 20), "f": value_of_share(20, 100, "f", 100)},
    }
    found = conditional_gap("sex", "department", strata, 0.95)
    assert found.value == pytest.approx(0, abs=1e-12)
    assert "Mantel-Haenszel difference" in " ".join(found.notes)
    assert found.equality.test == "Cochran-Mantel-Haenszel"


def test_the_common_difference_of_one_stratum_is_the_plain_one():
    common = common_difference({"only": Table(rows=((12, 18), (14, 56)))}, 0.95)
    reach = 1.959964 * np.sqrt(0.24 / 30 + 0.16 / 70)
    assert common[:2] == pytest.approx((0.2, 0.2 - reach), abs=1e-6)


def test_conditional_parity_from_crossed_groups():
    rng = np.random.default_rng(3)
    sex, age = rng.choice(["f", "m"], 600), rng.choice(["old", "young"], 600)
    predicted = (rng.uniform(size=600) < np.where(age == "old", 0.7, 0.2)).astype(int)
    groups = {"sex": sex, "sex:age": np.char.add(np.char.add(sex, ":"), age)}
    a = assay.assess(truth=rng.integers(0, 2, 600), predicted=predicted, positive=1, group=groups)
    settings = FairnessSettings(conditions={"sex": {"age": split_crossed(a.by_group["sex:age"])}})
    found = Fairness(a.by_group, a.grouped.factors, settings=settings)["sex"]["conditional_statistical_parity"]
    assert set(found.parts) == {"age = old", "age = young"}
    assert found.low == 0


def test_gaps_of_measures_that_are_no_shares():
    by_race = fairness_of(compas(("African-American", "Caucasian")))["race"]
    for name in ("auroc", "f1", "matthews_corrcoef"):
        gap = by_race[f"gap({name})"]
        assert gap.low <= gap.value <= gap.high
        assert gap.equality.test.startswith("Cochran's Q")


def test_weights_give_intervals_from_weighted_estimates():
    rng = np.random.default_rng(5)
    truth, predicted, group = rng.integers(0, 2, 400), rng.integers(0, 2, 400), np.repeat(["a", "b"], 200)
    given = {"truth": truth, "predicted": predicted, "positive": 1, "group": {"g": group}}
    plain = fairness_of(assay.assess(**given))["g"]["gap(recall)"]
    tenfold = fairness_of(assay.assess(**given, weight=np.full(400, 10.0)))["g"]["gap(recall)"]
    assert tenfold.value == pytest.approx(plain.value)
    assert tenfold.high == pytest.approx(plain.high, abs=0.01)


def test_conflicts_are_told_with_their_numbers():
    feasible = fairness_of(compas(("African-American", "Caucasian")))["race"].feasibility
    assert not feasible.possible
    assert "0.514" in feasible.sentence
    assert "0.394" in feasible.sentence
    equal = assess_counts({"a": (40, 10, 5, 45), "b": (24, 26, 18, 32)}).feasibility
    assert equal.possible


def test_criteria_of_a_gate_name_their_factor():
    assert split_criterion("gap(f_beta(beta=2), sex)") == ("gap(f_beta(beta=2))", "sex")
    assert split_criterion('ratio(recall, "age band")') == ("ratio(recall)", "age band")
    assert split_criterion("four_fifths(sex)") == ("four_fifths", "sex")
    assert split_criterion("equalized_odds") == ("equalized_odds", None)


def test_flips_and_features():
    fairness = assess_counts(COUNTS, flips={"g": (3, 200)}, features=("age", "g_a", "income"))
    flip = fairness["causal_discrimination"]
    assert (flip.value, flip.method) == (0.015, "wilson")
    assert fairness.unawareness.aware_by == ("g_a",)
    assert check_unawareness("age", ["agency", "age_band"]).aware_by == ("age_band",)


def test_unknown_names_are_refused_with_the_nearest():
    fairness = assess_counts(COUNTS)
    with pytest.raises(PlanError, match="equalized"):
        fairness["equalized_ods"]
    with pytest.raises(PlanError):
        fairness["gap(recal)"]
    assert fairness["unawareness"].value is None


def test_a_record_part_is_small_json_and_becomes_blocks():
    a = compas()
    settings = FairnessSettings(criteria=("equal_opportunity", "four_fifths"), tolerance=0.05)
    found = Fairness(a.by_group, a.grouped.factors, settings=settings)
    text = json.dumps(found.to_json(), allow_nan=False)
    assert len(text) < 40_000
    (section,) = fairness_blocks(json.loads(text))
    kinds = [chart.kind for block in section.blocks for chart in getattr(block, "charts", ())]
    assert kinds[0] == "matrix"
    assert "lines" in kinds
    assert found.verdict == "fail"
    assert list(fairness_blocks(None)) == []


def test_fairlearn_agrees_where_every_group_has_a_value():
    peers = read_case("edge_groups")["peers"]["fairlearn_0_15_0"]
    fairness = assess_counts({name: read_case("edge_groups")["counts"][name] for name in "ab"})
    assert fairness["equalized_odds"].value == pytest.approx(peers["equalized_odds_difference_ab"])
