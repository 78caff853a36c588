# SPDX-License-Identifier: Apache-2.0
"""Adding tallies equals counting the union, in any order and any grouping, and nothing added changes nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.tally.by_group import Grouped
from assay.tally.census import Census
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.one_vs_rest import Binary
from tests import flat
from tests.strategies import FEW, LABELS, SOME, amounts, counts, four, rows

names = st.sampled_from(["a", "b", "c", "d", "ä", "10"])
label_lists = st.lists(names, min_size=1, max_size=4, unique=True).map(tuple)
amounts_of = {False: counts, True: amounts.map(Fraction)}


@st.composite
def confusions(draw, weighted):
    labels = draw(label_lists)
    cells = draw(st.dictionaries(st.tuples(*[st.sampled_from(labels)] * 2), amounts_of[weighted], max_size=6))
    total = draw(st.integers(0, 99)) if weighted else sum(cells.values())
    return Confusion.from_cells(cells, labels=labels, rows=total, weighted=weighted)


censuses = st.builds(
    lambda scored, excluded, unmatched: Census(
        read=scored + sum(excluded.values()) + unmatched, scored=scored, excluded=excluded, unmatched=unmatched
    ),
    st.integers(0, 99),
    st.dictionaries(st.sampled_from(["truth is missing", "predicted is missing"]), st.integers(1, 9)),
    st.integers(0, 9),
)


@st.composite
def groupings(draw, weighted):
    levels = st.dictionaries(st.sampled_from(["north", "south", "(missing)"]), confusions(weighted), max_size=3)
    return Grouped(factors={"site": draw(levels), "shift": draw(levels)})


def by_level(grouped):
    return {name: dict(levels) for name, levels in grouped.factors.items()}


@pytest.mark.parametrize("weighted", [False, True], ids=["counts", "weights"])
@SOME
@given(data=st.data())
def test_confusion_tallies_merge_in_any_order_and_grouping(weighted, data):
    a, b, c = (data.draw(confusions(weighted)) for _ in range(3))
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + Confusion.from_cells({}, labels=a.labels, weighted=weighted) == a


@pytest.mark.parametrize("weighted", [False, True], ids=["counts", "weights"])
@SOME
@given(data=st.data())
def test_a_merged_confusion_holds_the_sum_of_every_cell(weighted, data):
    a, b = (data.draw(confusions(weighted)) for _ in range(2))
    both, cells = a + b, {**a.cells()}
    for pair, count in b.cells().items():
        cells[pair] = cells.get(pair, 0) + count
    assert both.cells() == {pair: count for pair, count in cells.items() if count}
    assert both.total == a.total + b.total
    assert both.rows == a.rows + b.rows
    assert set(both.labels) == {*a.labels, *b.labels}


@pytest.mark.parametrize("weighted", [False, True], ids=["counts", "weights"])
@FEW
@given(data=st.data())
def test_grouped_tallies_merge_in_any_order_and_grouping(weighted, data):
    a, b, c = (data.draw(groupings(weighted)) for _ in range(3))
    assert by_level(a + b) == by_level(b + a)
    assert by_level((a + b) + c) == by_level(a + (b + c))
    assert by_level(a + Grouped(factors={"site": {}, "shift": {}})) == by_level(a)


@SOME
@given(censuses, censuses, censuses)
def test_row_accounts_merge_in_any_order_and_grouping(a, b, c):
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + Census(read=0, scored=0) == a
    assert (a + b).read == a.read + b.read


@SOME
@given(four(amounts), four(amounts))
def test_four_cell_tables_merge_cell_by_cell(a, b):
    merged = [Binary.of(tp=x[0], fp=x[1], fn=x[2], tn=x[3]) for x in (a, b, [p + q for p, q in zip(a, b, strict=True)])]
    assert merged[0] + merged[1] == merged[2]
    assert merged[1] + merged[0] == merged[2]


def tallies(part, *, weighted, quantum=None):
    """What counting these rows gives."""
    truth, predicted, site, weight = ([row[i] for row in part] for i in range(4))
    return assay.assess(
        truth=truth,
        predicted=predicted,
        group={"site": site},
        weight=weight if weighted else None,
        labels=LABELS,
        reading=assay.Reading(weight_quantum=quantum),
    )


def merged(parts, **how):
    """What the tallies of the parts add up to."""
    first, *rest = (tallies(part, **how) for part in parts)
    confusion, grouped, census = first.confusion, first.grouped, first.census
    for part in rest:
        confusion, grouped, census = confusion + part.confusion, grouped + part.grouped, census + part.census
    return confusion, grouped, census


def assert_same(parts, **how):
    whole = tallies([row for part in parts for row in part], **how)
    confusion, grouped, census = merged(parts, **how)
    assert confusion == whole.confusion
    assert confusion.digest() == whole.confusion.digest()
    assert by_level(grouped) == by_level(whole.grouped)
    assert census == whole.census


@SOME
@given(parts=st.lists(rows, min_size=2, max_size=4))
def test_merging_the_tallies_of_parts_equals_counting_the_union(parts):
    assert_same(parts, weighted=False)


@SOME
@given(parts=st.lists(rows, min_size=2, max_size=4))
def test_merging_weighted_parts_with_one_quantum_equals_counting_the_union(parts):
    heavy = [[*part, ("a", "a", "north", 2.0**50)] for part in parts]  # every part has the same largest weight
    assert_same(heavy, weighted=True)
    assert_same(heavy, weighted=True, quantum=2.0)


@SOME
@given(parts=st.lists(rows, min_size=2, max_size=4))
def test_merging_weighted_parts_equals_counting_the_union_to_11_digits_of_all(parts):
    whole = tallies([row for part in parts for row in part], weighted=True).confusion
    confusion, *_ = merged(parts, weighted=True)
    for pair in {**whole.cells(), **confusion.cells()}:
        assert abs(confusion.cells().get(pair, 0) - whole.cells().get(pair, 0)) <= whole.total * Fraction(1, 10**11)


@pytest.mark.parametrize("weighted", [False, True], ids=["counts", "weights"])
@FEW
@given(part=rows)
def test_the_levels_of_a_factor_add_up_to_the_whole(weighted, part):
    whole = tallies(part, weighted=weighted)
    levels = list(whole.grouped.factors["site"].values())
    total = levels[0]
    for level in levels[1:]:
        total += level
    assert total.confusion == whole.confusion


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("ab"), st.floats(0, 1e6)), min_size=2, max_size=30
    ).filter(lambda rows: any(weight > 1e-100 for *_, weight in rows))
)
def test_squares_of_weights_agree_between_arrays_and_engines_and_with_the_rows(rows):
    import polars as pl

    truth, predicted, weight = map(list, zip(*rows, strict=True))
    options = {"labels": ["a", "b"], "positive": "a"}
    whole = flat.assess(truth=truth, predicted=predicted, weight=weight, **options).confusion
    frame = pl.DataFrame({"t": truth, "p": predicted, "w": weight}).lazy()
    assert flat.assess(data=frame, truth="t", predicted="p", weight="w", **options).confusion == whole
    squares = sum(Fraction(w) ** 2 for w in weight)
    assert abs(sum(whole.squares.tolist()) - squares) <= len(rows) * squares / 2**50
