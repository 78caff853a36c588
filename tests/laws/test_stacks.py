# SPDX-License-Identifier: Apache-2.0
"""One call on a stack of tables gives what one call for each table gives."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.values import Share, Undefined, exact_cells, floats
from assay.inference.intervals.smooth_functions import two_classes
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from tests.strategies import (
    BINARY_CASES,
    CASES,
    CORNERS,
    FOUR_CORNERS,
    MANY,
    MULTICLASS_CASES,
    SOME,
    amounts,
    binary,
    four,
    matrices,
    moderate,
    plain,
    refuses,
)  # fmt: skip

CLOSE = 1e-9


def binary_stack(tables):
    tp, fp, fn, tn = (np.array(cells, dtype=np.float64) for cells in zip(*tables, strict=True))
    return Binary(tp=tp, fp=fp, fn=fn, tn=tn)


def multiclass_stack(matrices_):
    single = [Multiclass.of(m) for m in matrices_]
    parts = {name: np.stack([floats(getattr(t, name)) for t in single]) for name in ("hits", "actual", "called")}
    return Multiclass(**parts, labels=single[0].labels)


def exact(ready, table):
    """The value of one table; averages leave out classes without a value, as they do in draws."""
    if ready.name == "balanced_accuracy_weighted":
        kept = {label: w if table.actual[label] else 0 for label, w in ready.given["weights"].items()}
        if not any(kept.values()):
            return None
        ready = ready.with_(weights=kept)
    if refuses(ready, table):
        return "refused"
    average = ready.average in ("macro", "weighted")
    return plain((ready.with_(undefined="skip") if average else ready)(table))


def assert_same(found, expected, ready):
    assert len(found) == len(expected)
    for value, wanted in zip(found.tolist(), expected, strict=True):
        if wanted == "refused":
            continue
        if wanted is None:
            assert math.isnan(value), ready.title
        else:
            assert math.isclose(value, wanted, rel_tol=CLOSE, abs_tol=CLOSE), f"{ready.title}: {value} for {wanted}"


@pytest.mark.parametrize("case", BINARY_CASES, ids=str)
def test_a_stack_of_all_small_tables_gives_their_values(case):
    ready = case.ready(2)
    found = ready.values(binary_stack(FOUR_CORNERS))
    assert_same(found, [exact(ready, binary(cells)) for cells in FOUR_CORNERS], ready)


@MANY
@given(cells=st.lists(four(moderate), min_size=1, max_size=8))
def test_a_stack_of_any_tables_gives_their_values(cells):
    for case in BINARY_CASES:
        ready = case.ready(2)
        assert_same(ready.values(binary_stack(cells)), [exact(ready, binary(c)) for c in cells], ready)


@pytest.mark.parametrize("case", MULTICLASS_CASES, ids=str)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_stack_of_all_small_matrices_gives_their_values(case, k):
    tables = [m for m in CORNERS if len(m) == k]
    ready = case.ready(k)
    assert_same(ready.values(multiclass_stack(tables)), [exact(ready, Multiclass.of(m)) for m in tables], ready)


@MANY
@given(st.data())
def test_a_stack_of_any_matrices_gives_their_values(data):
    k = data.draw(st.integers(1, 8))
    tables = data.draw(st.lists(matrices(moderate, k, k), min_size=1, max_size=4))
    stack, single = multiclass_stack(tables), [Multiclass.of(m) for m in tables]
    for case in MULTICLASS_CASES:
        ready = case.ready(k)
        assert_same(ready.values(stack), [exact(ready, t) for t in single], ready)


@SOME
@given(matrix=matrices(amounts))
def test_the_classes_of_a_table_are_an_exact_stack(matrix):
    stack = Multiclass.of(matrix).one_vs_rest()
    for case in BINARY_CASES:
        ready = case.ready(2)
        raw, values = ready.raw(stack), ready.values(stack).tolist()
        for i, value in enumerate(values):
            one = plain(ready(stack.at(i)))
            assert plain(raw.at(i).settled()) == one
            assert math.isnan(value) if one is None else value == one


@pytest.mark.parametrize("largest", [1, 1e3, 1e5], ids="one cell {:g} times the others".format)
@pytest.mark.parametrize("k", [2, 3, 6])
def test_draws_are_no_whole_numbers_and_keep_their_values(k, largest):
    cells = np.random.default_rng(k).standard_gamma(0.7, (20, k, k))
    cells[:, 0, 0] *= largest
    parts = (cells.diagonal(axis1=1, axis2=2), cells.sum(axis=2), cells.sum(axis=1))
    stack = Multiclass(hits=parts[0], actual=parts[1], called=parts[2], labels=tuple(range(k)))
    single = [Multiclass.of([[Fraction(c) for c in row] for row in table]) for table in cells.tolist()]
    for case in MULTICLASS_CASES:
        ready = case.ready(k)
        assert_same(ready.values(stack), [exact(ready, t) for t in single], ready)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_stack_may_have_several_leading_axes(case):
    rng, ready = np.random.default_rng(1), case.ready(4)
    if case.measure.takes is Binary:
        cells = rng.integers(1, 50, (4, 2, 3))
        tp, fp, fn, tn = cells.astype(float)
        stack, first = Binary(tp=tp, fp=fp, fn=fn, tn=tn), binary(cells[:, 0, 0].tolist())
    else:
        matrix = rng.integers(1, 50, (2, 3, 4, 4))
        parts = (matrix.diagonal(axis1=2, axis2=3), matrix.sum(axis=3), matrix.sum(axis=2))
        hits, actual, called = (part.astype(float) for part in parts)
        stack = Multiclass(hits=hits, actual=actual, called=called, labels=tuple(range(4)))
        first = Multiclass.of(matrix[0, 0].tolist())
    found = ready.values(stack)
    assert found.shape == (2, 3)
    assert_same(found[0, :1], [plain(ready(first))], ready)


@SOME
@given(cells=st.lists(four(moderate).filter(any), min_size=1, max_size=6))
def test_each_table_of_an_exact_stack_has_the_value_it_has_alone(cells):
    """To the last bit, where there is a finite value; notes and reasons that name classes are those of one table."""
    columns = (exact_cells(list(column)) for column in zip(*cells, strict=True))
    stack = Binary(**dict(zip(("tp", "fp", "fn", "tn"), columns, strict=True)))
    both = two_classes(stack, ("no", "yes"), 1)
    for case in CASES:
        ready = case.ready(2)
        if ready.average in ("macro", "weighted") or ready.name == "balanced_accuracy_weighted":
            continue
        values = ready.each(stack if ready.takes is Binary else both, len(cells))
        for i, value in enumerate(values):
            tp, fp, fn, tn = cells[i]
            single = binary(cells[i]) if ready.takes is Binary else Multiclass.of([[tn, fp], [fn, tp]], ("no", "yes"))
            alone = ready(single)
            assert type(value) is type(alone), ready.title
            if not isinstance(alone, Undefined):
                assert value.value == alone.value, ready.title
            if isinstance(alone, Share):
                assert value == alone, ready.title
