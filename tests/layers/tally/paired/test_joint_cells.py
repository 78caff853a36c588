# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.core.errors import PlanError, RecordError
from assay.tally.labels.confusion import Confusion
from assay.tally.paired import joint_counts
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.real_values import Exact

MODELS = ("A", "B", "C")
rows = st.lists(st.tuples(*[st.sampled_from("xyz")] * 4), min_size=1, max_size=30)


def counted(all_rows):
    cells = {}
    for row in all_rows:
        cells[row] = cells.get(row, 0) + 1
    return PairedLabels.from_cells(cells, models=MODELS, labels=("x", "y", "z"))


@given(rows, rows)
def test_the_order_of_rows_does_not_matter(one, two):
    assert counted(one + two) == counted(two + one)


@given(rows)
def test_a_tally_comes_back_from_json(all_rows):
    t = counted(all_rows)
    back = PairedLabels.from_json(json.loads(json.dumps(t.to_json())))
    assert back == t
    assert hash(back) == hash(t)


@given(rows)
def test_every_small_table_is_what_the_rows_say(all_rows):
    t = counted(all_rows)
    a, b = [r[1] == r[0] for r in all_rows], [r[2] == r[0] for r in all_rows]
    o = t.outcomes("A", "B")
    assert (o.both, o.only_a) == (
        sum(x and y for x, y in zip(a, b, strict=True)),
        sum(x and not y for x, y in zip(a, b, strict=True)),
    )
    assert o.n == t.n == len(all_rows)
    found = t.found("A", "B", "x")
    assert found.n == sum(r[0] == "x" for r in all_rows)
    assert found.both + found.only_a == sum(r[0] == "x" == r[1] for r in all_rows)
    left = t.left_out("A", "B", "x")
    assert left.n == len(all_rows) - found.n
    assert left.both + left.only_b == sum(r[0] != "x" != r[2] for r in all_rows)
    assert t.patterns().right == tuple(sum(r[i] == r[0] for r in all_rows) for i in (1, 2, 3))
    assert t.patterns().pair(0, 1).counts == o.counts
    calls = t.calls("A", "C").rows
    assert calls[0][1] == sum((r[1], r[3]) == ("x", "y") for r in all_rows)
    cells = {}
    for r in all_rows:
        cells[r[0], r[2]] = cells.get((r[0], r[2]), 0) + 1
    assert t.confusion("B") == Confusion.from_cells(cells, labels=("x", "y", "z"))
    assert t.only("A", "B").outcomes("A", "B").counts == o.counts
    assert t.only("B", "A").outcomes("B", "A").only_a == o.only_b


def test_models_have_different_names_and_are_asked_for_by_them():
    with pytest.raises(PlanError):
        PairedLabels.from_cells({(1, 1, 1): 1}, models=("A", "A"))
    t = PairedLabels.from_cells({(1, 1, 1): 1}, models=("A", "B"))
    with pytest.raises(PlanError, match="there is no model"):
        t.outcomes("A", "D")
    with pytest.raises(PlanError):
        PairedLabels.from_cells({(1, 1): 1}, models=("A", "B"))
    with pytest.raises(RecordError):
        PairedLabels.from_json({"kind": "confusion"})


def test_scores_come_back_and_their_order_does_not_matter():
    rng = np.random.default_rng(0)
    y, a, b = rng.random(20) < 0.5, rng.normal(size=20), rng.normal(size=20)
    t = PairedScores.of(y, {"A": a, "B": b})
    order = rng.permutation(20)
    assert PairedScores.of(y[order], {"A": a[order], "B": b[order]}) == t
    assert PairedScores.from_json(json.loads(json.dumps(t.to_json()))) == t
    assert PairedScores.of(y, {"A": b, "B": a}) != t
    with pytest.raises(PlanError):
        t.only("A", "Z")


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=20))
def test_moments_are_exact(values):
    from fractions import Fraction

    exact = [Fraction(x) for x in values]
    found = Exact.of(np.array(values, dtype=np.float64))
    mean = sum(exact) / len(exact)
    assert found.mean == mean
    assert found.squares == sum((x - mean) ** 2 for x in exact)
    assert (found - found).sum == 0


def test_units_with_too_many_combinations_are_refused_and_never_cut_off(monkeypatch):
    rng = np.random.default_rng(1)
    truth, unit = rng.integers(0, 2, 60), np.arange(60) // 6
    rows = {"y": truth, "a": truth ^ (rng.random(60) < 0.2), "b": truth ^ (rng.random(60) < 0.3), "u": unit}
    kinds = len(set(zip(*(column.tolist() for column in rows.values()), strict=True)))

    def p():
        found = assay.compare(
            data=pl.LazyFrame(rows), truth="y", predicted={"A": "a", "B": "b"}, unit="u", measures=["accuracy"]
        )
        return found["accuracy"].p

    whole = p()
    monkeypatch.setattr(joint_counts, "MOST_ENTRIES", kinds)
    assert p() == whole
    monkeypatch.setattr(joint_counts, "MOST_ENTRIES", kinds - 1)
    with pytest.raises(PlanError, match="combinations of truth and predictions"):
        p()
