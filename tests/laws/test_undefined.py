# SPDX-License-Identifier: Apache-2.0
"""Where there is no value there is a reason, and the reason is a true sentence about the table."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given

from assay.core.values import Undefined
from assay.inference.estimates import Estimate
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from tests.strategies import CASES, MANY, amounts, four, matrices, on_every_corner, on_every_measure, table_size

# What each sentence claims of tp, fp, fn, tn.
OF_A_CLASS = {
    "there are no rows": lambda tp, fp, fn, tn: tp + fp + fn + tn == 0,
    "no row is truly {positive}": lambda tp, fp, fn, tn: tp + fn == 0,  # noqa: ARG005
    "no row is truly {negative}": lambda tp, fp, fn, tn: fp + tn == 0,  # noqa: ARG005
    "no row was predicted {positive}": lambda tp, fp, fn, tn: tp + fp == 0,  # noqa: ARG005
    "no row was predicted {negative}": lambda tp, fp, fn, tn: fn + tn == 0,  # noqa: ARG005
    "no row is truly {positive} and none was predicted so": lambda tp, fp, fn, tn: tp + fp + fn == 0,  # noqa: ARG005
}


def only_class(table, margin):
    return [str(label) for label, count in zip(table.labels, margin, strict=True) if count]


def is_true_of_all(claim, table, ready):  # noqa: PLR0911  one line for each kind of sentence
    """Whether a sentence about all classes together is true of the table."""
    n, correct, reference = table.n, table.correct, ready.given.get("reference")
    if claim == "there are no rows":
        return n == 0
    if claim == "there is only one class":
        return table.k == 1
    if claim == "the reference makes no error, so there is none to save":
        return reference == 1
    if claim == "neither the reference nor the model errs":
        return reference == 1 and n > 0 and correct == n
    if found := re.fullmatch(r"every row is truly (.+) and was predicted so, which chance explains fully", claim):
        return only_class(table, table.actual) == [found[1]] == only_class(table, table.called)
    if found := re.fullmatch(r"every row is truly (.+)", claim):
        return only_class(table, table.actual) == [found[1]]
    if found := re.fullmatch(r"every row was predicted (.+)", claim):
        return only_class(table, table.called) == [found[1]]
    if found := re.fullmatch(r"no row is truly (.+)", claim):
        return all(table.actual[table.labels.index(int(label))] == 0 for label in found[1].split(", "))
    return None


def is_true_of_average(reason, ready, table):
    """Whether the class an average names has no value, and for the reason told."""
    found = re.fullmatch(r"class (\d+) has no value: (.+?)( \(and \d+ more without a value\))?; counting it .+", reason)
    assert found, reason
    place, why = int(found[1]), found[2]
    one = table.one_vs_rest().at(place)
    names = {"positive": found[1], "negative": f"anything but {found[1]}"}
    claims = {text.format(**names): is_true for text, is_true in OF_A_CLASS.items()}
    assert ready.average in ("macro", "weighted")
    return all(claims[claim](one.tp, one.fp, one.fn, one.tn) for claim in why.split("; "))


def assert_reason_is_true(case, table):
    ready = case.ready(table_size(table))
    found = ready(table)
    if not isinstance(found, Undefined):
        return
    assert found.reason
    assert found.code
    if isinstance(table, Binary):
        for claim in found.reason.split("; "):
            assert OF_A_CLASS[claim](table.tp, table.fp, table.fn, table.tn), f"{ready.title}: {claim!r} of {table}"
        return
    if found.reason.startswith("class "):
        assert is_true_of_average(found.reason, ready, table), f"{ready.title}: {found.reason!r} of {table}"
        return
    claims = [found.reason] if found.reason in OF_A_CLASS else found.reason.split("; ")
    for claim in claims:
        if ready.average == "micro" and "{" in claim:
            pooled = table.pooled()
            assert OF_A_CLASS[claim](pooled.tp, pooled.fp, pooled.fn, pooled.tn)
        else:
            assert is_true_of_all(claim, table, ready), f"{ready.title}: {claim!r} of {table}"


def assert_reason_is_true_of_rows(case, table):
    if table.n:
        assert_reason_is_true(case, table)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_reason_is_true_of_every_small_table_without_a_value(case):
    on_every_corner(assert_reason_is_true_of_rows, case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_reason_is_true_of_a_table_without_rows(case):
    for k in (1, 2, 3):
        empty = Binary.of(tp=0, fp=0, fn=0, tn=0) if case.measure.takes is Binary else Multiclass.of([[0] * k] * k)
        assert_reason_is_true(case, empty)


@MANY
@given(cells=four(amounts), matrix=matrices(amounts))
def test_the_reason_is_true_of_any_table_without_a_value(cells, matrix):
    on_every_measure(assert_reason_is_true_of_rows, cells, matrix)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_reason_names_the_classes_once_they_are_known(case):
    told = set()

    def assert_named(case, table):
        found = case(table)
        if isinstance(found, Undefined):
            told.add(found.reason)
            named = found.named(positive='"cat"', negative='"dog"').reason
            assert not re.search(r"[{}]", named)
            assert not re.search(r"\b(None|nan|object|array)\b", named)

    on_every_corner(assert_named, case)
    always_defined = case.measure.family in ("counts", "constants")
    assert bool(told) != always_defined


def assert_written_as_what_it_is(case, table):
    found = case(table)
    estimate = Estimate(measure=case.measure.name, result=found, interval=None, no_interval="", n=0)
    written = json.loads(json.dumps(estimate.to_json(), allow_nan=False))
    if isinstance(found, Undefined):
        assert written["value"] is None
        assert written["undefined"] == found.reason == estimate.reason
        assert estimate.value is None
    else:
        assert written["value"] == ("inf" if found.value == float("inf") else found.value)
        assert "undefined" not in written


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_undefined_value_is_never_written_as_a_number(case):
    on_every_corner(assert_written_as_what_it_is, case)


def test_an_undefined_value_cannot_be_used_as_a_number_by_accident():
    nothing = Undefined(reason="there are no rows")
    for attempt in (lambda: nothing + 1, lambda: sum([nothing]), lambda: float(nothing), lambda: nothing < 1):
        with pytest.raises(TypeError):
            attempt()
