# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import inf

import pytest

from assay.core.errors import PlanError
from assay.core.values import Share, Undefined
from assay.measures import parse
from assay.tally.labels.one_vs_rest import Binary


def table(tp, fp, fn, tn):
    return Binary.of(tp=tp, fp=fp, fn=fn, tn=tn)


@pytest.mark.parametrize(
    ("name", "cells", "reason"),
    [
        ("f1", (0, 0, 0, 9), "no row is truly {positive} and none was predicted so"),
        ("jaccard", (0, 0, 0, 9), "no row is truly {positive} and none was predicted so"),
        ("f_0", (0, 0, 3, 9), "no row was predicted {positive}"),
        ("f_beta(beta=0)", (0, 0, 3, 9), "no row was predicted {positive}"),
        ("f_weighted(w_precision=1, w_recall=0)", (0, 0, 3, 9), "no row was predicted {positive}"),
        ("f_weighted(w_precision=0, w_recall=1)", (0, 3, 0, 9), "no row is truly {positive}"),
        ("youden_index", (0, 2, 0, 3), "no row is truly {positive}"),
        ("youden_index", (3, 0, 2, 0), "no row is truly {negative}"),
        ("markedness", (0, 0, 3, 3), "no row was predicted {positive}"),
        ("LR+", (0, 0, 3, 4), "no row was predicted {positive}"),
        ("LR-", (3, 4, 0, 0), "no row was predicted {negative}"),
        ("DOR", (0, 0, 3, 4), "no row was predicted {positive}"),
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


def test_only_shares_of_rows_are_given_as_shares():
    one = table(231, 32, 27, 54)
    for name in ("jaccard", "f_0"):
        assert isinstance(parse(name)(one), Share), name
    for name in ("f1", "f2", "youden_index", "markedness", "LR+", "LR-", "DOR", "p4", "fowlkes_mallows"):
        assert not isinstance(parse(name)(one), Share), name


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
    "title",
    [
        "f_beta(beta='two')",
        "f_beta(beta=None)",
        "f_beta(beta=float)",
        "f_weighted(w_precision='1', w_recall=1)",
        "average_class_accuracy(weight='x')",
    ],
)
def test_a_parameter_of_the_wrong_type_is_a_clear_refusal(title):
    with pytest.raises(PlanError) as refused:
        parse(title)(table(1, 2, 3, 4))
    assert refused.value.code == "measure-needs"


def test_a_parameter_that_is_not_a_number_is_refused():
    with pytest.raises(PlanError):
        parse("f_beta").with_(beta=float("nan"))(table(1, 2, 3, 4))


def test_beta_shifts_the_weight_from_precision_to_recall():
    # E-SCH-02: F0 and F0.5 stress precision, F2 stresses recall.
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
