# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from assay.core.errors import PlanError
from assay.inference.choose_test import ANTICONSERVATIVE, DEVIATES, choose, insist
from assay.inference.decision_table import ALWAYS_REFUSED, TABLE
from assay.inference.decision_words import Facts, Kind, Question
from assay.inference.tests_catalogue import every_test, find_test

NAMES = {one.name for one in every_test()}


def test_every_test_the_table_names_is_declared():
    for row in TABLE:
        named = (
            [way.test for way in row.ways if way.test]
            + [*row.beside, *row.refuses]
            + ([row.after] if row.after else [])
        )
        assert set(named) <= NAMES, row.number
        assert row.ways[-1].when.name == "always"
    for refused in ALWAYS_REFUSED.values():
        assert set(refused) <= NAMES


@pytest.mark.parametrize(
    ("kind", "models", "question", "facts", "test"),
    [
        (Kind.LABELS, 2, Question.ACCURACY, Facts(disagree=24), "mcnemar_midp"),
        (Kind.LABELS, 2, Question.ACCURACY, Facts(disagree=25), "mcnemar_midp"),
        (Kind.LABELS, 5, Question.ACCURACY, Facts(), "cochran_q"),
        (Kind.LABELS, 1, Question.FIXED, Facts(), "exact_binomial"),
        (Kind.LABELS, 2, Question.MEASURE, Facts(), "paired_permutation"),
        (Kind.LABELS, 2, Question.CHANNELS, Facts(), "channel_heterogeneity"),
        (Kind.SCORES, 2, Question.AUROC, Facts(), "delong"),
        (Kind.SCORES, 3, Question.AUROC, Facts(), "delong_many"),
        (Kind.ITEMS, 2, Question.LOCATION, Facts(n=30, normal=True), "paired_t"),
        (Kind.ITEMS, 2, Question.LOCATION, Facts(n=19, normal=True), "wilcoxon"),
        (Kind.ITEMS, 2, Question.LOCATION, Facts(n=30, normal=False), "wilcoxon"),
        (Kind.ITEMS, 3, Question.LOCATION, Facts(n=30, normal=True), "greenhouse_geisser"),
        (Kind.ITEMS, 3, Question.LOCATION, Facts(n=30, normal=False), "iman_davenport"),
        (Kind.DATA_SETS, 2, Question.LOCATION, Facts(blocks=5), None),
        (Kind.DATA_SETS, 2, Question.LOCATION, Facts(blocks=6), "wilcoxon"),
        (Kind.DATA_SETS, 3, Question.LOCATION, Facts(blocks=6, models=3), "friedman_permutation"),
        (Kind.DATA_SETS, 3, Question.LOCATION, Facts(blocks=12, models=3), "iman_davenport"),
        (Kind.FIVE_BY_TWO, 2, Question.LOCATION, Facts(), "corrected_resampled_t"),
        (Kind.FIVE_BY_TWO, 2, Question.LOCATION, Facts(rows=999), "corrected_resampled_t"),
        (Kind.FIVE_BY_TWO, 2, Question.LOCATION, Facts(rows=1000), "five_by_two_f"),
        (Kind.FIVE_BY_TWO, 3, Question.LOCATION, Facts(), "corrected_resampled_t"),
        (Kind.FIVE_BY_TWO, 3, Question.LOCATION, Facts(rows=1000), "five_by_two_f"),
        (Kind.SCORES, 2, Question.MEASURE, Facts(), "score_permutation"),
        (Kind.SUBJECTS, 2, Question.MEASURE, Facts(blocks=6), "subject_permutation"),
        (Kind.SUBJECTS, 2, Question.MEASURE, Facts(blocks=200_001), "unit_z"),
        (Kind.WEIGHTED, 3, Question.MEASURE, Facts(blocks=200_001), "unit_z"),
        (Kind.WEIGHTED, 2, Question.COST, Facts(blocks=200_001), "unit_z_cost"),
        (Kind.SUBJECTS, 2, Question.NON_INFERIORITY, Facts(blocks=200_001), "unit_z_non_inferiority"),
        (Kind.WEIGHTED, 2, Question.EQUIVALENCE, Facts(blocks=200_001), "unit_z_equivalence"),
        (Kind.SUBJECTS, 3, Question.MEASURE, Facts(blocks=5), None),
        (Kind.WEIGHTED, 2, Question.MEASURE, Facts(), "weighted_permutation"),
        (Kind.RESAMPLES, 2, Question.LOCATION, Facts(n=10), "corrected_resampled_t"),
        (Kind.RESAMPLES, 4, Question.LOCATION, Facts(n=10), "corrected_resampled_t"),
        (Kind.RESAMPLES, 2, Question.VARIANCE, Facts(), None),
        (Kind.INDEPENDENT, 2, Question.LOCATION, Facts(n=25, normal=True), "welch_t"),
        (Kind.INDEPENDENT, 2, Question.LOCATION, Facts(n=25), "mann_whitney"),
        (Kind.INDEPENDENT, 3, Question.LOCATION, Facts(n=25, normal=True, equal_spread=True), "one_way_anova"),
        (Kind.INDEPENDENT, 3, Question.LOCATION, Facts(n=25, normal=True, equal_spread=False), "welch_anova"),
        (Kind.INDEPENDENT, 3, Question.LOCATION, Facts(n=25, normal=False), "kruskal_wallis"),
        (Kind.INDEPENDENT, 2, Question.ASSOCIATION, Facts(large_counts=True), "chi_squared_association"),
        (Kind.INDEPENDENT, 2, Question.ASSOCIATION, Facts(large_counts=False), "fisher_exact"),
        (Kind.INDEPENDENT, 2, Question.ASSOCIATION, Facts(large_counts=False, two_by_two=False), "fisher_monte_carlo"),
        (Kind.ITEMS, 2, Question.VARIANCE, Facts(), "pitman_morgan"),
        (Kind.INDEPENDENT, 2, Question.VARIANCE, Facts(), "brown_forsythe"),
        (Kind.TOTALS, 2, Question.ACCURACY, Facts(), None),
    ],
)
def test_the_table_gives_the_test_of_the_specification(kind, models, question, facts, test):
    choice = choose(kind, models, question, facts)
    assert (None if choice.test is None else choice.test.name) == test
    assert choice.why
    assert "{" not in choice.why
    assert test not in [one.test for one in choice.refused]


def test_the_plain_t_test_on_folds_is_refused_and_told_why():
    refused = {one.test: one for one in choose(Kind.RESAMPLES, 2, Question.LOCATION, Facts(n=10)).refused}
    assert refused["paired_t"].hard
    assert "not independent" in refused["paired_t"].why


def insisting(test, kind, *, because=None, override=False, accept=False):
    return insist(
        test,
        kind,
        2,
        Question.LOCATION,
        Facts(n=10, blocks=10),
        because=because,
        override=override,
        accept_dependence=accept,
    )


def test_another_test_needs_a_reason_and_a_wrong_one_an_explicit_word():
    assert insisting("corrected_resampled_t", Kind.RESAMPLES).label == ""
    with pytest.raises(PlanError, match="not the test the table gives"):
        insisting("sign_test", Kind.DATA_SETS)
    soft = insisting("paired_t", Kind.DATA_SETS, because="one scale")
    assert soft.label == "chosen by hand: one scale"
    with pytest.raises(PlanError, match="not admissible") as error:
        insisting("paired_t", Kind.RESAMPLES, because="custom", accept=True)
    assert "override=True" in error.value.fix
    with pytest.raises(PlanError) as error:
        insisting("wilcoxon", Kind.RESAMPLES, because="custom")
    assert "accept_dependence=True" in error.value.fix
    assert ANTICONSERVATIVE in insisting("wilcoxon", Kind.RESAMPLES, because="custom", accept=True).label
    assert DEVIATES in insisting("welch_t", Kind.ITEMS, because="custom", override=True).label


def test_a_word_that_means_several_tests_is_refused():
    with pytest.raises(PlanError) as error:
        find_test("anova")
    assert error.value.code == "test-ambiguous"
    with pytest.raises(PlanError) as error:
        insisting("mcnemar", Kind.ITEMS, because="x")
    assert error.value.code == "test-ambiguous"
    with pytest.raises(PlanError) as error:
        find_test("wilcoxn")
    assert error.value.code == "test-unknown"
    assert "wilcoxon" in error.value.fix
