# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from assay.inference import resampling
from assay.inference.resampling import CellDraws, Spare, TableDraws, stages, stream
from assay.measures import REGISTRY
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.one_vs_rest import Binary
from tests.strategies import confusion_of

MATRIX = [[30, 4, 1], [6, 20, 3], [2, 5, 12]]


def stacked(*tables):
    tp, fp, fn, tn = np.array(tables, dtype=float).T
    return Binary(tp=tp, fp=fp, fn=fn, tn=tn)


def sparse(k, n, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    predicted = np.where(rng.random(n) < 0.9, truth, rng.integers(0, k, n))
    cells, count = np.unique(np.stack([truth, predicted]), axis=1, return_counts=True)
    return Confusion.from_codes(tuple(range(k)), cells[0], cells[1], count, rows=n)


def same(a, b):
    return all(np.array_equal(getattr(a, m), getattr(b, m)) for m in ("hits", "actual", "called"))


def test_a_stream_depends_on_its_seed_and_place_only():
    assert stream(1, 2).random() == stream(1, 2).random() != stream(1, 3).random()
    assert stream(1, 2).random() != stream(2, 2).random()


def test_more_draws_are_tried_only_while_the_numbers_allow():
    assert list(stages(2000, 4, 1 << 22)) == [2000, 8000, 48_000]
    assert list(stages(2000, 10_000, 1 << 24)) == [2000]


@pytest.mark.parametrize("kind", ["dirichlet", "multinomial"])
def test_a_table_draws_the_same_whatever_stands_beside_it(kind):
    alone = TableDraws(stacked((20, 3, 5, 40)), kind, 7).of(500, np.arange(1))
    among = TableDraws(stacked((1, 1, 1, 1), (20, 3, 5, 40), (9, 0, 0, 9)), kind, 7)
    for cell in ("tp", "fp", "fn", "tn"):
        assert np.array_equal(getattr(alone, cell)[0], getattr(among.of(500, np.arange(3)), cell)[1])
        assert np.array_equal(getattr(alone, cell)[0], getattr(among.of(500, np.array([1])), cell)[0])


def test_draws_of_many_tables_are_not_kept_but_the_same(monkeypatch):
    kept = TableDraws(stacked(*[(20, 3, 5, 40)] * 4), "dirichlet", 7).of(500, np.array([2]))
    monkeypatch.setattr(resampling, "TABLE_NUMBERS", 10)
    made = TableDraws(stacked(*[(20, 3, 5, 40)] * 4), "dirichlet", 7).of(500, np.array([2]))
    assert np.array_equal(kept.tp, made.tp)


@pytest.mark.parametrize("kind", ["dirichlet", "multinomial"])
@pytest.mark.parametrize("tally", [confusion_of(MATRIX), sparse(30, 400)], ids=["full", "sparse"])
def test_draws_do_not_depend_on_workers_or_on_how_much_is_held(kind, tally, monkeypatch):
    def blocks(held, workers):
        monkeypatch.setattr(resampling, "HELD", held)
        monkeypatch.setattr("assay.core.parallel.usable", lambda: workers)
        return CellDraws(tally, kind, 11).blocks(4000)

    one = blocks(1 << 19, 1)
    for workers in (1, 3):
        assert all(same(a, b) for a, b in zip(one, blocks(1 << 10, workers), strict=True))


def test_later_blocks_do_not_change_earlier_ones():
    draws = CellDraws(sparse(40, 500), "dirichlet", 3)
    first = draws.blocks(1000)[0].hits.copy()
    assert len(draws.blocks(8000)) == 16
    assert np.array_equal(draws.blocks(8000)[0].hits, first)


@pytest.mark.parametrize("tally", [confusion_of(MATRIX), sparse(30, 400)], ids=["full", "sparse"])
def test_multinomial_draws_hold_the_rows_and_vary_as_they_should(tally):
    block = CellDraws(tally, "multinomial", 5).blocks(1000)[0]
    n, exact = tally.rows, tally.multiclass()
    assert (block.actual.sum(axis=1) == n).all()
    assert (block.called.sum(axis=1) == n).all()
    actual = exact.actual.astype(float)
    assert block.actual.mean(axis=0) == pytest.approx(actual, abs=5 * np.sqrt(actual.max() / len(block.actual)))
    p = actual[0] / n
    assert block.actual[:, 0].var() == pytest.approx(n * p * (1 - p), rel=0.2)


@pytest.mark.parametrize("tally", [confusion_of(MATRIX), sparse(30, 400)], ids=["full", "sparse"])
def test_dirichlet_draws_have_the_mean_that_is_stated_and_lose_no_class(tally):
    draws = CellDraws(tally, "dirichlet", 5)
    blocks = draws.blocks(4000)
    for stated, drawn in zip(draws.spare.mean(), ("hits", "actual", "called"), strict=True):
        mean = np.concatenate([getattr(block, drawn) for block in blocks]).mean(axis=0)
        assert mean == pytest.approx(stated, abs=5 * np.sqrt(stated.max() / 4000))
    assert draws.lost(4000) == 0


def test_multinomial_draws_that_lose_a_class_are_counted():
    tally = confusion_of([[30, 0, 0], [0, 30, 0], [0, 0, 1]])
    share = CellDraws(tally, "multinomial", 5).lost(4000) / 4000
    assert share == pytest.approx((1 - 1 / 61) ** 61, abs=0.03)


def test_the_two_spare_rows_weigh_one_each_and_the_wrong_one_is_never_right():
    spare = Spare(confusion_of(MATRIX))
    hits, actual, called = (np.zeros((20_000, 3)) for _ in range(3))
    spare.add(np.random.default_rng(0), hits, actual, called)
    assert hits.sum(axis=1).mean() == pytest.approx(1, abs=0.03)
    assert actual.sum(axis=1) == pytest.approx(called.sum(axis=1))
    wrong_true, wrong_called = actual - hits > 1e-12, called - hits > 1e-12
    assert (wrong_true.sum(axis=1) == 1).all()
    assert not (wrong_true & wrong_called).any()
    assert wrong_true.mean(axis=0) == pytest.approx([1 / 3] * 3, abs=0.02)
    assert wrong_called.mean(axis=0) == pytest.approx([1 / 3] * 3, abs=0.02)


@pytest.mark.parametrize(
    "matrix",
    [
        [[5, 1, 0], [2, 7, 0], [1, 1, 0]],
        [[5, 1, 1], [2, 7, 2], [0, 0, 0]],
        [[0, 4, 0], [0, 0, 0], [0, 0, 0]],
        [[4, 0, 0], [0, 0, 0], [0, 0, 0]],
    ],
    ids=["a class never called", "a class never true", "one cell, wrong", "one cell, right"],
)
def test_a_class_without_rows_or_calls_stays_so_in_every_strict_draw(matrix):
    tally = confusion_of(matrix)
    draws, exact = CellDraws(tally, "dirichlet", 5, strict=True), tally.multiclass()
    for block in draws.blocks(2000):
        assert ((block.actual == 0) == (exact.actual == 0).astype(bool)).all()
        assert ((block.called == 0) == (exact.called == 0).astype(bool)).all()
        assert (block.hits <= block.actual).all()
        assert (block.hits <= block.called).all()
    _, actual, called = draws.spare.mean()
    assert actual.sum() == pytest.approx(called.sum())


def test_a_class_that_is_never_called_may_be_so_in_a_draw_but_one_that_never_occurs_may_not():
    matrix = [[5, 1, 0, 0], [2, 7, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    (block,) = CellDraws(confusion_of(matrix), "dirichlet", 5).blocks(2000)
    assert (block.called[:, 2] > 0).mean() == pytest.approx(1 - (2 / 3) ** 2, abs=0.05)
    assert (block.actual[:, 3] == 0).all()
    assert (block.called[:, 3] == 0).all()


def test_values_are_those_of_the_blocks_cut_to_the_number_of_draws():
    draws, measure = CellDraws(sparse(40, 500), "dirichlet", 3), REGISTRY.find("f1_macro")
    assert len(draws.values(measure, 1234)) == 1234
    assert np.array_equal(draws.values(measure, 1234), draws.values(measure, 2000)[:1234])


@pytest.mark.parametrize(
    ("numbers", "sizes"), [(0, [100]), (1599, [100]), (1600, [100, 400]), (9600, [100, 400, 2400])]
)
def test_more_draws_are_taken_while_their_numbers_may_be_drawn(numbers, sizes):
    assert list(resampling.stages(100, 4, numbers)) == sizes
