# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import OutOfRange, PlanError, RecordError, UnpairedRows
from assay.tally import pairedbins
from assay.tally.pairedbins import COARSE, PairedBins, coarse_starts, joint_of
from assay.tally.scorebins import ScoreBins

FEW = settings(max_examples=10, deadline=None)  # an example counts into bins of millions of cells
scores = st.floats(-1e9, 1e9) | st.floats(0, 1) | st.sampled_from([0.0, -0.0, 0.5, 1.0])
rows = st.lists(st.tuples(st.booleans(), scores, scores, scores), min_size=1, max_size=30)


def of(some, like=None):
    truth, *columns = map(list, zip(*some, strict=True)) if some else ([], [], [], [])
    return PairedBins.of(truth, dict(zip("ABC", columns, strict=True)), like=like)


def smooth(n, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.3
    base = rng.normal(size=n) + truth
    return truth, {"A": base, "B": 0.8 * base + 0.6 * rng.normal(size=n)}


@FEW
@given(rows)
def test_json_brings_back_the_same_tally(some):
    tally = of(some)
    again = PairedBins.from_json(json.loads(json.dumps(tally.to_json())))
    assert again == tally
    for one, other in zip(again.margins, tally.margins, strict=True):
        assert np.array_equal(one.only, other.only, equal_nan=True)
        assert one.rows == other.rows == len(some)


@FEW
@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(some, random):
    mixed = list(some)
    random.shuffle(mixed)
    assert of(mixed) == of(some)


@FEW
@given(rows, st.integers(0, 30))
def test_merging_over_the_same_bins_equals_counting_the_union(some, cut):
    whole = of(some)
    assert of(some[:cut], whole) + of(some[cut:], whole) == whole


@FEW
@given(rows)
def test_tables_hold_the_rows_of_their_bins_in_any_order_of_models(some):
    tally = of(some)
    tally.demand_whole()
    turned = tally.only("C", "A", "B")
    turned.demand_whole()
    assert turned.only("A", "B", "C") == tally
    again = of([(y, c, a, b) for y, a, b, c in some])
    assert replace(turned, models=again.models) == again


@FEW
@given(rows)
def test_swapping_the_classes_is_counting_the_other_one(some):
    assert of(some).swapped() == of([(not y, *rest) for y, *rest in some])


def test_few_bins_are_coarse_bins_themselves_and_many_hold_about_as_many_rows():
    truth, columns = smooth(60_000)
    tally = PairedBins.of(truth, columns)
    for model, bins in enumerate(tally.margins):
        assert COARSE // 2 < len(tally.starts[model]) <= COARSE
        for rows in (bins.pos, bins.neg):
            held = np.bincount(tally.coarse(model), weights=rows)
            assert held.max() <= 2.5 * rows.sum() / COARSE + rows.max()
    few = PairedBins.of(truth, {name: np.round(column) for name, column in columns.items()})
    assert [len(one) for one in few.starts] == [len(one.place) for one in few.margins]


def test_tables_of_many_models_are_coarser_so_that_all_of_them_fit(monkeypatch):
    monkeypatch.setattr(pairedbins, "COARSE", 32)
    monkeypatch.setattr(pairedbins, "TABLES", 3 * 32 * 32)
    rng = np.random.default_rng(2)
    margins = [ScoreBins.of(one, one > 0.5, pairedbins.map_of(one)) for one in rng.random((4, 500))]
    assert {len(one) for one in coarse_starts(margins[:3])} == {32}
    assert {len(one) for one in coarse_starts(margins)} == {16}


def test_few_rows_and_many_find_the_same_cells(monkeypatch):
    truth, columns = smooth(2_000)
    expected = PairedBins.of(truth, columns)
    monkeypatch.setattr(pairedbins, "CHUNK", 300)
    assert PairedBins.of(truth, columns) == expected


def test_a_score_that_many_rows_share_has_a_coarse_bin_of_its_own():
    rng = np.random.default_rng(3)
    score = np.where(rng.random(100_000) < 0.1, 0.25, rng.random(100_000))
    bins = ScoreBins.of(score, rng.random(100_000) < 0.5, pairedbins.map_of(score))
    (starts,), heavy = coarse_starts([bins]), int(bins.map.place(np.array([0.25]))[0])
    at = int(np.searchsorted(starts, heavy, side="right")) - 1
    assert starts[at] == heavy
    assert bins.place[(bins.place >= starts[at]) & (bins.place < starts[at + 1])].tolist() == [heavy]


def test_memory_does_not_grow_with_the_rows():
    truth, columns = smooth(40_000)
    tally = PairedBins.of(truth, columns)
    assert len(tally.joint[0].cell) <= COARSE**2
    part = (truth.view(np.int8), tuple(columns.values()))
    maps = [one.map for one in tally.margins]
    thrice = joint_of([part] * 3, maps, tally.starts)
    assert np.array_equal(thrice[0].cell, tally.joint[0].cell)
    assert np.array_equal(thrice[0].pos, 3 * tally.joint[0].pos)


def test_rows_of_neither_class_count_nothing():
    tally = of([(True, 0.1, 0.2, 0.3), (False, 0.3, 0.2, 0.1)])
    side, column = np.array([1, -1, 0], dtype=np.int8), np.array([0.1, 0.9, 0.3])
    maps = [one.map for one in tally.margins[:2]]
    (table,) = joint_of([(side, (column, column))], maps, tally.starts[:2])
    assert (table.pos.sum(), table.neg.sum()) == (1, 1)


def test_what_cannot_be_merged_is_refused_with_the_reason():
    a, b = of([(True, 1.0, 2.0, 3.0), (False, 4.0, 5.0, 6.0)]), of([(True, 0.5, 2.5, 3.0), (False, 9.0, 5.0, 6.0)])
    with pytest.raises(PlanError, match="different coarse bins"):
        a + b
    with pytest.raises(PlanError, match="different models"):
        a + a.only("B", "A", "C")


def test_scores_that_are_no_numbers_or_too_few_are_refused():
    with pytest.raises(UnpairedRows, match="2 rows, and B has 1 score"):
        PairedBins.of([True, False], {"A": [1, 2], "B": [1]})
    with pytest.raises(OutOfRange, match="not a finite number"):
        PairedBins.of([True, False], {"A": [1, 2], "B": [1, np.nan]})


def test_a_changed_table_is_not_read():
    content = of([(True, 1.0, 2.0, 3.0), (False, 4.0, 5.0, 6.0), (True, 7.0, 8.0, 9.0)]).to_json()
    content["joint"][0]["pos"] = content["joint"][0]["neg"]
    with pytest.raises(RecordError, match="does not hold the rows of their bins"):
        PairedBins.from_json(content)
    with pytest.raises(RecordError, match="not a tally of paired score bins"):
        PairedBins.from_json({"kind": "paired-scores", "version": "1"})
