# SPDX-License-Identifier: Apache-2.0
"""One call on a stack of tables gives what one call for each table gives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.values import floats
from assay.tally.tables import Binary, Multiclass
from tests.strategies import (
    BINARY_CASES, CASES, CORNERS, FEW, FOUR_CORNERS, MULTICLASS_CASES, amounts, binary, four, matrices, moderate,
    plain, refuses,
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


@pytest.mark.parametrize("case", BINARY_CASES, ids=str)
@FEW
@given(cells=st.lists(four(moderate), min_size=1, max_size=8))
def test_a_stack_of_any_tables_gives_their_values(case, cells):
    ready = case.ready(2)
    assert_same(ready.values(binary_stack(cells)), [exact(ready, binary(c)) for c in cells], ready)


@pytest.mark.parametrize("case", MULTICLASS_CASES, ids=str)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_stack_of_all_small_matrices_gives_their_values(case, k):
    tables = [m for m in CORNERS if len(m) == k]
    ready = case.ready(k)
    assert_same(ready.values(multiclass_stack(tables)), [exact(ready, Multiclass.of(m)) for m in tables], ready)


@pytest.mark.parametrize("case", MULTICLASS_CASES, ids=str)
@FEW
@given(data=st.data())
def test_a_stack_of_any_matrices_gives_their_values(case, data):
    k = data.draw(st.integers(1, 8))
    tables = data.draw(st.lists(matrices(moderate, k, k), min_size=1, max_size=4))
    ready = case.ready(k)
    assert_same(ready.values(multiclass_stack(tables)), [exact(ready, Multiclass.of(m)) for m in tables], ready)


@pytest.mark.parametrize("case", BINARY_CASES, ids=str)
@FEW
@given(matrix=matrices(amounts))
def test_the_classes_of_a_table_are_an_exact_stack(case, matrix):
    ready, stack = case.ready(2), Multiclass.of(matrix).one_vs_rest()
    raw = ready.raw(stack)
    for i in range(len(matrix)):
        assert plain(raw.at(i).settled()) == plain(ready(stack.at(i)))
        assert not np.isfinite(ready.values(stack)[i]) or ready.values(stack)[i] == plain(ready(stack.at(i)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_stack_may_have_several_leading_axes(case):
    rng = np.random.default_rng(1)
    if case.measure.takes is Binary:
        cells = rng.integers(1, 50, (4, 2, 3)).astype(float)
        stack, first = Binary(tp=cells[0], fp=cells[1], fn=cells[2], tn=cells[3]), binary(cells[:, 0, 0].astype(int).tolist())
        shape = (2, 3)
    else:
        matrix = rng.integers(1, 50, (2, 3, 4, 4))
        parts = (matrix.diagonal(axis1=2, axis2=3), matrix.sum(axis=3), matrix.sum(axis=2))
        hits, actual, called = (part.astype(float) for part in parts)
        stack, first = Multiclass(hits=hits, actual=actual, called=called, labels=tuple(range(4))), Multiclass.of(matrix[0, 0].tolist())
        shape = (2, 3)
    ready = case.ready(4)
    found = ready.values(stack)
    if ready.name == "uniform_chance_accuracy" or not refuses(ready, first):
        assert found.shape == shape
        assert found[0, 0] == pytest.approx(plain(ready(first)), rel=CLOSE) or plain(ready(first)) is None
