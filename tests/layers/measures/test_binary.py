# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import inf

import pytest

from assay.core.errors import PlanError
from assay.core.values import Share, Undefined
from assay.measures import parse
from assay.tally.tables import Binary

NOTHING = Binary.of(tp=0, fp=0, fn=0, tn=0)


def table(tp, fp, fn, tn):
    return Binary.of(tp=tp, fp=fp, fn=fn, tn=tn)


@pytest.mark.parametrize(
    ("name", "cells", "reason"),
    [
        ("recall", (0, 3, 0, 5), "no row is truly {positive}"),
        ("specificity", (3, 0, 5, 0), "no row is truly {negative}"),
        ("precision", (0, 0, 2, 5), "no row was predicted {positive}"),
        ("negative_predictive_value", (2, 5, 0, 0), "no row was predicted {negative}"),
        ("f1", (0, 0, 0, 9), "no row is truly {positive} and none was predicted so"),
        ("jaccard", (0, 0, 0, 9), "no row is truly {positive} and none was predicted so"),
        ("youden_index", (0, 2, 0, 3), "no row is truly {positive}"),
        ("youden_index", (3, 0, 2, 0), "no row is truly {negative}"),
        ("markedness", (0, 0, 3, 3), "no row was predicted {positive}"),
        ("LR+", (0, 0, 3, 4), "no row was predicted {positive}"),
        ("LR-", (3, 4, 0, 0), "no row was predicted {negative}"),
        ("DOR", (0, 0, 3, 4), "no row was predicted {positive}"),
        ("prevalence", (0, 0, 0, 0), "there are no rows"),
        ("p4", (0, 0, 0, 4), "no row is truly {positive}"),
        ("fowlkes_mallows", (0, 0, 0, 4), "no row was predicted {positive}; no row is truly {positive}"),
    ],
)
def test_the_reason_names_the_margin_that_is_empty(name, cells, reason):
    found = parse(name)(table(*cells))
    assert isinstance(found, Undefined)
    assert found.reason == reason


@pytest.mark.parametrize(
    ("name", "cells"), [("LR+", (3, 0, 1, 4)), ("LR-", (3, 4, 1, 0)), ("DOR", (3, 0, 1, 4)), ("DOR", (3, 1, 0, 4))]
)
def test_a_positive_ratio_over_nothing_is_infinite(name, cells):
    assert parse(name)(table(*cells)).value == inf


@pytest.mark.parametrize(
    ("name", "cells"),
    [("f1", (0, 1, 0, 5)), ("jaccard", (0, 0, 2, 5)), ("p4", (0, 1, 1, 0)), ("f2", (0, 3, 3, 0)), ("p4", (5, 1, 0, 0))],
)
def test_nothing_found_among_errors_is_zero_not_undefined(name, cells):
    assert parse(name)(table(*cells)).value == 0


def test_a_share_is_given_where_a_binomial_interval_is_due_and_a_number_elsewhere():
    one = table(231, 32, 27, 54)
    for name in (
        "precision",
        "recall",
        "specificity",
        "npv",
        "fpr",
        "fnr",
        "false_discovery_rate",
        "FOR",
        "prevalence",
        "jaccard",
        "f_0",
    ):
        assert isinstance(parse(name)(one), Share), name
    for name in ("f1", "f2", "youden_index", "LR+", "p4", "fowlkes_mallows", "true_positives"):
        assert not isinstance(parse(name)(one), Share), name


def test_recall_keeps_its_counts():
    found = parse("recall")(table(231, 32, 27, 54))
    assert (found.numerator, found.denominator) == (231, 258)


@pytest.mark.parametrize(
    "title",
    [
        "f_beta(beta=-1)",
        "f_beta(beta=1e999)",
        "f_weighted(w_precision=-0.1, w_recall=1)",
        "f_weighted(w_precision=0, w_recall=0)",
        "average_class_accuracy(weight=1.5)",
        "average_class_accuracy(weight=-0.1)",
    ],
)
def test_a_parameter_out_of_its_range_is_refused(title):
    with pytest.raises(PlanError) as refused:
        parse(title)(table(1, 2, 3, 4))
    assert refused.value.code == "measure-needs"
    assert refused.value.fix


@pytest.mark.parametrize(
    "title", ["f_beta(beta='two')", "f_beta(beta=None)", "f_beta(beta=float)", "average_class_accuracy(weight='x')"]
)
def test_a_parameter_of_the_wrong_type_is_a_clear_refusal(title):
    with pytest.raises(PlanError) as refused:
        parse(title)(table(1, 2, 3, 4))
    assert refused.value.code == "measure-needs"


def test_a_parameter_that_is_not_a_number_is_refused():
    with pytest.raises(PlanError):
        parse("f_beta").with_(beta=float("nan"))(table(1, 2, 3, 4))


def test_beta_shifts_the_weight_from_precision_to_recall():
    one = table(60, 40, 10, 90)  # precision 0.6, recall 0.857
    values = [parse(f"f_beta(beta={beta})")(one).value for beta in (0, 0.5, 1, 2, 100)]
    assert values == sorted(values)
    assert values[0] == 0.6
    assert values[-1] == pytest.approx(60 / 70, abs=1e-4)


def test_beta_squared_and_linear_weights_are_two_parameters():
    # E-TS-11: with precision 0.5 and recall 1, F2 is 0.8333 and F(1p, 2r) is 0.75.
    one = table(1, 1, 0, 5)
    assert round(parse("f2")(one).value, 4) == 0.8333
    assert parse("f_weighted(w_precision=1, w_recall=2)")(one).value == 0.75


def test_false_omission_is_not_the_complement_of_recall():
    # E-FUN-01: on Rainio's Table 1 the rate is 39/232, one minus recall is 0.13.
    one = table(261, 107, 39, 193)
    assert parse("FOR")(one).value == 39 / 232 != 1 - parse("recall")(one).value


def test_growing_precision_does_not_mean_more_hits():
    # E-TS-10
    before, after = table(50, 50, 0, 0), table(10, 0, 40, 50)
    assert parse("precision")(after).value == 2 * parse("precision")(before).value
    assert parse("TP")(after).value < parse("TP")(before).value


@pytest.mark.parametrize("name", ["TP", "FP", "FN", "TN", "P", "N", "PP", "PN"])
def test_counts_of_no_rows_are_zero(name):
    assert parse(name)(NOTHING).value == 0
