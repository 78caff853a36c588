# SPDX-License-Identifier: Apache-2.0
"""What the catalogue says of measures together: averages that collapse, complements, the exchange of classes."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import PlanError
from assay.measures import REGISTRY
from assay.tally.labels.one_vs_rest import Multiclass
from tests.strategies import FOUR_CORNERS, MANY, amounts, binary, counts, four, matrices, plain, same, square

EXCHANGED = {
    "true_positives": "true_negatives",
    "false_positives": "false_negatives",
    "actual_positives": "actual_negatives",
    "predicted_positives": "predicted_negatives",
    "precision": "negative_predictive_value",
    "recall": "specificity",
    "false_positive_rate": "false_negative_rate",
    "false_discovery_rate": "false_omission_rate",
}
UNCHANGED = ("binary_accuracy", "youden_index", "markedness", "diagnostic_odds_ratio", "p4")
COMPLEMENTS = {
    "recall": "false_negative_rate",
    "specificity": "false_positive_rate",
    "precision": "false_discovery_rate",
    "negative_predictive_value": "false_omission_rate",
}


def value(name, table, **given_):
    measure = REGISTRY.find(name)
    return plain((measure.with_(**given_) if given_ else measure)(table))


def exact(name, table):
    """The value before it is rounded."""
    found = REGISTRY.find(name)(table)
    parts = (found.numerator, found.denominator) if hasattr(found, "numerator") else (found.top, found.over)
    return Fraction(parts[0]) / Fraction(parts[1])


with_rows = matrices(amounts).filter(lambda m: sum(map(sum, m)))
filled = st.integers(2, 8).flatmap(lambda k: square(k, st.integers(1, 2**20)))


@MANY
@given(with_rows)
def test_micro_averages_of_one_label_a_row_are_accuracy(matrix):
    table = Multiclass.of(matrix)
    accuracy = value("accuracy", table)
    for name in ("precision_micro", "recall_micro", "f1_micro", "f_0_5_micro", "f2_micro"):
        assert value(name, table) == accuracy
    for beta in (0, 0.25, 2, 10):
        assert value("f_beta_micro", table, beta=beta) == accuracy
    assert same(value("recall_weighted", table), accuracy)
    assert same(value("false_discovery_rate_micro", table), 1 - accuracy)
    assert same(value("false_negative_rate_micro", table), 1 - accuracy)
    assert same(value("error_rate", table), 1 - accuracy)


@MANY
@given(with_rows)
def test_micro_specificity_and_average_accuracy_are_functions_of_accuracy(matrix):
    table, k = Multiclass.of(matrix), len(matrix)
    accuracy = value("accuracy", table)
    assert same(value("average_accuracy", table), 1 - 2 * (1 - accuracy) / k)
    assert same(value("average_error_rate", table), 2 * (1 - accuracy) / k)
    if k > 1:
        assert same(value("specificity_micro", table), 1 - (1 - accuracy) / (k - 1))
        assert same(value("negative_predictive_value_micro", table), value("specificity_micro", table))
    else:
        assert value("specificity_micro", table) is None


@MANY
@given(filled)
def test_balanced_classes_make_kappa_the_macro_youden_index(matrix):
    largest = max(map(sum, matrix))
    for i, row in enumerate(matrix):
        row[i] += largest - sum(row)
    table = Multiclass.of(matrix)
    assert same(value("cohen_kappa", table), value("youden_index_macro", table))
    for average in ("recall", "specificity"):
        assert same(value(f"{average}_macro", table), value(f"{average}_micro", table))
    assert same(value("binary_accuracy_weighted", table), value("average_accuracy", table))
    assert same(value("balanced_accuracy", table), value("accuracy", table))


@MANY
@given(filled)
def test_macro_youden_is_macro_recall_plus_macro_specificity_minus_one(matrix):
    table = Multiclass.of(matrix)
    total = value("recall_macro", table) + value("specificity_macro", table) - 1
    assert isclose(value("youden_index_macro", table), total, rel_tol=0, abs_tol=1e-14)
    assert value("balanced_accuracy", table) == value("recall_macro", table)


@MANY
@given(four(amounts))
def test_complements_add_up_to_one(cells):
    table = binary(cells)
    for name, other in COMPLEMENTS.items():
        a, b = value(name, table), value(other, table)
        assert (a is None) == (b is None)
        assert a is None or exact(name, table) + exact(other, table) == 1


@MANY
@given(four(amounts))
def test_jaccard_is_a_function_of_f1_and_both_have_the_same_holes(cells):
    table = binary(cells)
    jaccard, f1 = value("jaccard", table), value("f1", table)
    assert (jaccard is None) == (f1 is None)
    if f1 is not None:
        assert exact("jaccard", table) == exact("f1", table) / (2 - exact("f1", table))


@MANY
@given(four(amounts))
def test_youden_is_twice_the_balanced_accuracy_minus_one(cells):
    tp, fp, fn, tn = cells
    both, table = Multiclass.of([[tn, fp], [fn, tp]]), binary(cells)
    balanced, youden = value("balanced_accuracy", both), value("youden_index", table)
    assert (balanced is None) == (youden is None)
    assert balanced is None or same(youden, 2 * balanced - 1)
    assert same(value("average_class_accuracy", table, weight=0.5), balanced)


@MANY
@given(four(amounts))
def test_the_odds_ratio_is_the_quotient_of_the_likelihood_ratios(cells):
    table = binary(cells)
    positive, negative = value("LR+", table), value("LR-", table)
    odds = value("DOR", table)
    if None in (positive, negative):
        return
    if 0 < positive < inf and 0 < negative < inf:
        assert exact("DOR", table) == exact("LR+", table) / exact("LR-", table)
    elif (positive, negative) not in ((inf, inf), (0, 0)):
        assert odds == (inf if positive == inf or negative == 0 else 0)


@MANY
@given(four(counts))
def test_the_f_scores_are_members_of_one_family(cells):
    table = binary(cells)
    for name, beta in (("f_0", 0), ("f_0_5", 0.5), ("f1", 1), ("f2", 2)):
        assert value(name, table) == value("f_beta", table, beta=beta)
        if name != "f_0":
            assert value(name, table) == value("f_weighted", table, w_precision=1, w_recall=beta**2)
    assert value("f_0", table) == value("precision", table)


@MANY
@given(four(st.integers(1, 2**40)))
def test_p4_is_the_harmonic_mean_of_four_rates(cells):
    table = binary(cells)
    rates = [exact(name, table) for name in ("precision", "recall", "specificity", "negative_predictive_value")]
    assert exact("p4", table) == 4 / sum(1 / rate for rate in rates)


@MANY
@given(four(st.integers(1, 2**40)))
def test_mcc_is_the_geometric_mean_of_informedness_and_markedness(cells):
    tp, fp, fn, tn = cells
    table, both = binary(cells), Multiclass.of([[tn, fp], [fn, tp]])
    square_of_mcc = exact("youden_index", table) * exact("markedness", table)
    assert isclose(value("MCC", both) ** 2, square_of_mcc, rel_tol=1e-14, abs_tol=1e-300)
    assert (value("MCC", both) > 0) == (tp * tn > fp * fn)


@MANY
@given(four(amounts))
def test_average_class_accuracy_weighted_by_prevalence_is_accuracy(cells):
    table = binary(cells)
    if table.actual and table.actual_negative:
        prevalence = value("prevalence", table)
        assert same(value("average_class_accuracy", table, weight=prevalence), value("binary_accuracy", table), 1e-12)


def test_exchanging_the_classes_exchanges_the_measures():
    for tp, fp, fn, tn in FOUR_CORNERS:
        table, swapped = binary((tp, fp, fn, tn)), binary((tn, fn, fp, tp))
        for name, other in EXCHANGED.items():
            assert value(name, table) == value(other, swapped)
            assert value(other, table) == value(name, swapped)
        for name in UNCHANGED:
            assert value(name, table) == value(name, swapped)


@MANY
@given(matrices(amounts, 2, 2))
def test_exchanging_the_classes_leaves_overall_values_alone(matrix):
    (a, b), (c, d) = matrix
    table, swapped = Multiclass.of([[a, b], [c, d]]), Multiclass.of([[d, c], [b, a]])
    for name in (
        "accuracy",
        "cohen_kappa",
        "matthews_corrcoef",
        "balanced_accuracy",
        "csmf_accuracy",
        "jensen_shannon",
    ):
        assert same(value(name, table), value(name, swapped))


@MANY
@given(matrices(amounts))
def test_exchanging_truth_and_prediction_exchanges_precision_and_recall(matrix):
    table = Multiclass.of(matrix)
    turned = Multiclass.of([list(column) for column in zip(*matrix, strict=True)])
    for name in (
        "accuracy",
        "cohen_kappa",
        "matthews_corrcoef",
        "jensen_shannon",
        "total_variation",
        "f1_macro",
        "jaccard_macro",
    ):
        assert same(value(name, table), value(name, turned)), name
    for a, b in (("precision_macro", "recall_macro"), ("kl_truth_pred", "kl_pred_truth")):
        assert same(value(a, table), value(b, turned))


@MANY
@given(with_rows)
def test_divergences_vanish_exactly_when_the_shares_agree(matrix):
    table = Multiclass.of(matrix)
    agree = table.actual.tolist() == table.called.tolist()
    assert (value("total_variation", table) == 0) == agree
    if agree:
        for name in ("kl_truth_pred", "kl_pred_truth", "jensen_shannon"):
            assert value(name, table) == 0
        assert value("csmf_accuracy", table) in (1.0, None)


@MANY
@given(with_rows)
def test_shares_and_baselines_hang_together(matrix):
    table, ovr = Multiclass.of(matrix), Multiclass.of(matrix).one_vs_rest()
    shares = [exact("prevalence", ovr.at(i)) for i in range(table.k)]
    called = [exact("predicted_positive_rate", ovr.at(i)) for i in range(table.k)]
    assert sum(shares) == sum(called) == 1
    assert value("no_information_rate", table) == float(max(shares))
    assert exact("stratified_chance_accuracy", table) == sum(s * s for s in shares) == 1 - exact("gini_impurity", table)
    assert value("uniform_chance_accuracy", table) == 1 / table.k
    assert exact("total_variation", table) == sum(abs(s - c) for s, c in zip(shares, called, strict=True)) / 2
    assert Fraction(1, table.k) <= max(shares) <= 1


@MANY
@given(with_rows)
def test_skill_is_zero_at_its_reference_and_kappa_is_skill_over_chance(matrix):
    table = Multiclass.of(matrix)
    accuracy = value("accuracy", table)
    if accuracy < 1:
        assert abs(value("skill_score", table, reference=accuracy)) <= 1e-15 / (1 - accuracy)
        assert isclose(
            value("relative_improvement_factor", table, reference=accuracy), 1, rel_tol=1e-15 / (1 - accuracy)
        )
    best, error = value("no_information_rate", table), 1 - exact("accuracy", table)
    majority = value("skill_score", table, reference="majority")
    assert (majority is None) == (best == 1 == exact("no_information_rate", table))
    if majority is not None:
        assert same(majority, float(1 - error / (1 - exact("no_information_rate", table))), 1e-14)
    stratified = value("skill_score", table, reference="stratified")
    if stratified is not None:
        assert same(stratified, float(1 - error / (1 - exact("stratified_chance_accuracy", table))), 1e-14)


@MANY
@given(filled, st.integers(1, 1000))
def test_class_sizes_are_refused_as_weights_of_the_balanced_accuracy(matrix, factor):
    table = Multiclass.of(matrix)
    weighted = REGISTRY.find("balanced_accuracy_weighted")
    sizes = {i: r * factor for i, r in enumerate(table.actual.tolist())}
    with pytest.raises(PlanError, match="E-SCH-03"):
        weighted.with_(weights=sizes)(table)
    other = {**sizes, 0: sizes[0] + 1}
    total = sum(other.values())
    expected = sum(Fraction(w, total) * Fraction(matrix[i][i], sum(matrix[i])) for i, w in other.items())
    assert same(plain(weighted.with_(weights=other)(table)), float(expected), 1e-14)
