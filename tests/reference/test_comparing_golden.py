# SPDX-License-Identifier: Apache-2.0
"""Published and derived figures for comparisons of models, each with the place it comes from."""

from __future__ import annotations

import pytest

from assay.inference.intervals.proportion import wilson
from assay.inference.multiplicity import (
    benjamini_hochberg,
    benjamini_yekutieli,
    bonferroni,
    family_wise_error,
    holm,
)
from assay.inference.tests.contingency import chi_squared_association
from assay.inference.tests.delong import areas, delong
from assay.inference.tests.mcnemar import mcnemar_continuity, mcnemar_exact, mcnemar_midp, mcnemar_plain
from assay.inference.tests.means import corrected_resampled_t, five_by_two_f, five_by_two_t, paired_t
from assay.inference.tests.ranks import wilcoxon
from assay.inference.tests.several_ranks import critical_difference, friedman, iman_davenport, ranked
from assay.tally.contingency_tables import Outcomes, Table
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.real_values import FiveByTwo, Folds, Pairs
from tests.block_rows import blocks_of

near = pytest.approx

# Rainio et al. 2024, Table 3: rows only InceptionV3 gets right (b) and only U-Net gets right (c), by true class.
RAINIO = {
    "sensitivity": (
        (19, 54),
        (5.0622659111780655e-05, 3.3768138107383175e-05, 6.90897023705821e-05, 4.195518879892324e-05),
    ),
    "specificity": ((44, 24), (0.02052693371370707, 0.015432297453701276, 0.02121767965217421, 0.015293371030198944)),
    "pooled": ((63, 78), (0.23828700628615238, 0.20795842151862765, 0.2383931229706751, 0.20650729548542135)),
}


@pytest.mark.parametrize("stratum", RAINIO)
def test_rainios_mcnemar_p_values_come_out_in_all_four_forms(stratum):
    (b, c), expected = RAINIO[stratum]
    t = Outcomes(both=200, only_a=c, only_b=b, neither=20)
    found = [test(t).p for test in (mcnemar_exact, mcnemar_midp, mcnemar_continuity, mcnemar_plain)]
    assert found == near(expected, rel=1e-12)


def test_rainios_printed_bounds_hold_for_the_exact_form_and_fail_for_the_printed_formula():
    for (b, c), bound in (((19, 54), 5.07e-5), ((44, 24), 0.0207)):
        t = Outcomes(both=200, only_a=c, only_b=b, neither=20)
        assert mcnemar_exact(t).p < bound < mcnemar_continuity(t).p


def test_pooling_hides_two_opposite_differences():
    """E-XS-02: the strata are significant in opposite directions, and the pooled table is not."""
    sensitivity = Outcomes(both=207, only_a=54, only_b=19, neither=20)
    specificity = Outcomes(both=169, only_a=24, only_b=44, neither=63)
    pooled = Outcomes(both=207 + 169, only_a=54 + 24, only_b=19 + 44, neither=20 + 63)
    assert mcnemar_exact(pooled).p == near(0.23828700628615238)
    assert mcnemar_exact(sensitivity).effect.value > 0 > mcnemar_exact(specificity).effect.value
    assert max(mcnemar_exact(sensitivity).p, mcnemar_exact(specificity).p) < 0.05


def test_the_procedure_of_7_10_2_is_holms_and_not_bonferronis():
    p = [0.01, 0.02, 0.03, 0.005]
    assert holm(p) == near([0.03, 0.04, 0.04, 0.02])
    assert bonferroni(p) == near([0.04, 0.08, 0.12, 0.02])
    assert [x <= 0.05 for x in holm(p)] == [True] * 4
    assert [x <= 0.05 for x in bonferroni(p)] == [True, False, False, True]


def test_errors_pile_up_as_7_10_1_says():
    for m, expected in (
        (1, 0.05),
        (2, 0.0975),
        (5, 0.22621906250000023),
        (20, 0.6415140775914581),
        (100, 0.994079470779666),
    ):
        assert family_wise_error(0.05, m) == near(expected)


def test_adjusted_p_values_of_ten_questions():
    p = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216]
    assert bonferroni(p) == near([0.01, 0.08, 0.39, 0.41, 0.42, 0.6, 0.74, 1.0, 1.0, 1.0])
    assert holm(p) == near([0.01, 0.072, 0.312, 0.312, 0.312, 0.312, 0.312, 0.615, 0.615, 0.615])
    assert benjamini_hochberg(p) == near(
        [0.01, 0.04, 0.084, 0.084, 0.084, 0.1, 0.10571428571428572, 0.216, 0.216, 0.216]
    )
    assert benjamini_yekutieli(p) == near(
        [0.029289682539682536, 0.11715873015873014, 0.24603333333333333, 0.24603333333333333, 0.24603333333333333,
         0.2928968253968254, 0.3096337868480725, 0.6326571428571428, 0.6326571428571428, 0.6326571428571428]
    )  # fmt: skip


TEN = [
    [0.021052631578947434, -0.010563380281690127],
    [0.0035087719298245723, -0.0035211267605633756],
    [-0.0035087719298245723, 0.014084507042253502],
    [-0.01754385964912286, -0.014084507042253502],
    [-0.021052631578947434, -0.028169014084507005],
]


def test_five_by_two_on_ten_published_differences():
    t, f = five_by_two_t(FiveByTwo.of(TEN)), five_by_two_f(FiveByTwo.of(TEN))
    assert (t.statistic, t.p) == near((1.7659980720271375, 0.13765545777829527), rel=1e-12)
    assert (f.statistic, f.p) == near((1.7824326754093422, 0.2718242217971226), rel=1e-12)


def test_ten_folds_corrected_and_naive():
    d = [0.02, -0.01, 0.03, 0.01, 0.0, 0.02, 0.015, -0.005, 0.025, 0.01]
    pairs = Pairs.of(d, [0.0] * 10)
    corrected = corrected_resampled_t(Folds.of(pairs, test_over_train="1/9"))
    assert (corrected.statistic, corrected.p) == near((1.9056702094980704, 0.08907660056594408), rel=1e-12)
    naive = paired_t(pairs)
    assert (naive.statistic, naive.p) == near((2.7688746209726918, 0.021793573193719305), rel=1e-12)
    assert wilcoxon(pairs).statistic == 4.0


def test_six_data_sets_four_models_one_tie():
    t = blocks_of(
        [[0.8, 0.82, 0.85, 0.79], [0.75, 0.78, 0.77, 0.74], [0.9, 0.91, 0.93, 0.9],
         [0.66, 0.7, 0.72, 0.65], [0.81, 0.8, 0.84, 0.79], [0.72, 0.75, 0.76, 0.7]]
    )  # fmt: skip
    assert ranked(t).mean(axis=0).tolist() == near([2.9166666666666665, 2.0, 1.1666666666666667, 3.9166666666666665])
    chi = friedman(t)
    assert (chi.statistic, chi.p) == near((15.406779661016955, 0.0015000481687167555), rel=1e-12)
    f = iman_davenport(t)
    assert (f.statistic, f.p) == near((29.705882352941256, 1.4807952011566186e-06), rel=1e-11)
    assert f.effect.value == near(0.8559322033898309)
    assert critical_difference(t, 0.95) == near(1.9148432265902373, rel=1e-9)


def test_two_correlated_areas():
    y = [1, 1, 1, 1, 0, 0, 0, 0, 0]
    t = PairedScores.of(
        [x == 1 for x in y],
        {
            "A": [0.9, 0.8, 0.6, 0.55, 0.7, 0.5, 0.4, 0.3, 0.2],
            "B": [0.6, 0.9, 0.5, 0.3, 0.55, 0.5, 0.45, 0.2, 0.1],
        },
    )
    found = areas(t)
    assert found.area.tolist() == near([0.9, 0.775])
    assert found.covariance.tolist() == [near([0.013333333333333336, 0.014375]), near([0.014375, 0.030625])]
    answer = delong(t)
    assert (answer.statistic, answer.p) == near((1.0136060675992289, 0.3107707612635576), rel=1e-12)


def test_association_of_channel_and_class():
    found = chi_squared_association(Table(rows=((30, 20, 10), (15, 25, 40))))
    assert (found.statistic, found.p) == near((21.12962962962963, 2.5808289612977576e-05), rel=1e-12)
    assert found.effect.value == near(0.38849186082326864)
    assert found.more[0].value == near(0.3708461115242218)


def test_wilson_of_the_accuracy_in_the_specification():
    assert wilson(454, 600, 0.95) == near((0.7208, 0.7893), abs=5e-5)
