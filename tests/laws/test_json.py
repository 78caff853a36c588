# SPDX-License-Identifier: Apache-2.0
"""What is written and read again is what was there: tallies cell by cell, Records letter by letter."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.tally.base import LARGEST, count_from_json, count_to_json
from assay.tally.by_group import Grouped
from assay.tally.labels.confusion import Confusion
from tests.strategies import LABELS, SOME, rows

text_labels = st.text(max_size=8)
labels = st.one_of(
    st.lists(text_labels, min_size=1, max_size=5, unique=True),
    st.lists(st.integers(-(2**60), 2**60), min_size=1, max_size=5, unique=True),
    st.just([False, True]),
)
exact = st.one_of(st.integers(0, 2**59), st.fractions(0, 2**59))


@st.composite
def confusions(draw, weighted, among=labels):
    order = draw(among)
    amounts = exact.map(Fraction) if weighted else st.integers(0, 2**59)
    cells = draw(st.dictionaries(st.tuples(*[st.sampled_from(order)] * 2), amounts, max_size=8))
    return Confusion.from_cells(cells, labels=order, rows=draw(st.integers(0, 99)), weighted=weighted)


def through_text(content):
    return json.loads(json.dumps(content, ensure_ascii=False, allow_nan=False))


def in_doubles(content):
    """JSON as a reader sees it who knows no integers but those a double holds."""
    return json.loads(json.dumps(content), parse_int=lambda digits: int(float(digits)))


@SOME
@given(exact)
def test_a_count_survives_even_a_reader_that_knows_only_doubles(count):
    assert count_from_json(in_doubles(count_to_json(count))) == count


@pytest.mark.parametrize(
    "count", [0, 2**53 - 1, 2**53, 2**53 + 1, LARGEST, Fraction(1, 3), Fraction(2**62, 7), Fraction(4, 1)]
)
def test_a_count_at_the_edge_survives(count):
    assert count_from_json(in_doubles(count_to_json(count))) == count


@pytest.mark.parametrize("weighted", [False, True], ids=["counts", "weights"])
@SOME
@given(data=st.data())
def test_a_confusion_tally_survives_json(weighted, data):
    tally = data.draw(confusions(weighted))
    again = Confusion.from_json(through_text(tally.to_json()))
    assert again == tally
    assert again.cells() == tally.cells()
    assert [type(x) for x in again.labels] == [type(x) for x in tally.labels]
    assert again.digest() == tally.digest()
    assert hash(again) == hash(tally)
    assert json.dumps(again.to_json()) == json.dumps(tally.to_json())


@pytest.mark.parametrize("weighted", [False, True], ids=["counts", "weights"])
@SOME
@given(data=st.data())
def test_a_grouped_tally_survives_json(weighted, data):
    levels = st.one_of(
        st.dictionaries(st.text(max_size=4), confusions(weighted), max_size=3),
        st.dictionaries(st.integers(-5, 5), confusions(weighted), max_size=3),
    )
    tally = Grouped(factors={"site": data.draw(levels), "shift": data.draw(levels)})
    again = Grouped.from_json(through_text(tally.to_json()), Confusion.from_json)
    assert again.to_json() == tally.to_json()
    assert {name: list(levels) for name, levels in again.factors.items()} == {
        name: list(levels) for name, levels in tally.factors.items()
    }


def saved_twice(assessment, folder):
    first, second = Path(folder) / "first.json", Path(folder) / "second.json"
    assessment.save(first)
    assay.load(first).save(second)
    return first.read_bytes(), second.read_bytes()


@pytest.mark.parametrize("weighted", [False, True], ids=["counts", "weights"])
@settings(max_examples=8)
@given(part=rows)
def test_a_record_that_is_loaded_and_saved_again_is_the_same_text(weighted, part):
    truth, predicted, site, weight = ([row[i] for row in part] for i in range(4))
    found = assay.assess(
        truth=truth,
        predicted=predicted,
        group={"site": site},
        weight=weight if weighted else None,
        labels=LABELS,
        intervals=assay.IntervalSettings(draws=100),
        measures=[
            "rates",
            "chance-corrected",
            "class shares",
            "f_beta(beta=2)",
            "f1_macro",
            "skill_score(reference='majority')",
        ],
    )
    with TemporaryDirectory() as folder:
        first, second = saved_twice(found, folder)
    assert first == second


@settings(max_examples=8)
@given(st.tuples(*[st.integers(0, 2**50)] * 4).filter(any), st.sampled_from(["wilson", "jeffreys", "clopper-pearson"]))
def test_a_binary_record_is_the_same_text_after_loading(cells, shares):
    tp, fp, fn, tn = cells
    found = assay.from_confusion_matrix(
        confusion=[[tn, fp], [fn, tp]],
        orientation="rows=truth",
        labels=["no", "yes"],
        positive="yes",
        intervals=assay.IntervalSettings(draws=100, shares=shares, seed=7, undefined="skip"),
        level=0.9,
    )
    with TemporaryDirectory() as folder:
        first, second = saved_twice(found, folder)
    assert first == second
    assert b"NaN" not in first
    assert b"Infinity" not in first


def test_a_loaded_assessment_gives_the_same_estimates(tmp_path):
    found = assay.from_confusion_matrix(
        confusion=[[5, 1, 0], [2, 7, 1], [0, 0, 3]],
        orientation="rows=truth",
        labels=["x", "y", "z"],
        intervals=assay.IntervalSettings(draws=100),
    )
    found.save(tmp_path / "record.json")
    again = assay.load(tmp_path / "record.json")
    assert again.confusion == found.confusion
    for name in ("accuracy", "f1_macro", "cohen_kappa"):
        assert again[name] == found[name] or again[name].to_json() == found[name].to_json()
    assert again.by_class["y"]["recall"].to_json() == found.by_class["y"]["recall"].to_json()
