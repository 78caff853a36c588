# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.core.errors import AssayError, OutOfRange, PlanError, RecordError
from assay.tally.fixed_point import Weights
from assay.tally.labels.label_cells import Codes
from assay.tally.scores.score_tally import Scores, UnitScores

values = st.sampled_from([-3.0, -0.0, 0.0, 5e-324, 0.25, 0.5, 1.0, 1e300]) | st.floats(-10, 10)
rows = st.lists(st.tuples(values, st.booleans()), max_size=40)
three = st.lists(st.tuples(values, values, values, st.integers(0, 2)), max_size=30)


def binary(some, weight=None):
    return Scores.binary([s for s, _ in some], [y for _, y in some], weight)


def per_class(some):
    matrix = np.array([row[:3] for row in some], dtype=float).reshape(-1, 3)
    return Scores.per_class(matrix, [row[3] for row in some], ("a", "b", "c"))


def table(ranked):
    return list(zip(ranked.score.tolist(), ranked.pos.tolist(), ranked.neg.tolist(), strict=True))


def counted(pairs):
    pos, neg = (Counter(s + 0.0 for s, y in pairs if y is which) for which in (True, False))
    return [(s, pos[s], neg[s]) for s in sorted({*pos, *neg})]


@given(rows)
def test_the_table_holds_every_distinct_score_with_its_counts(some):
    assert table(binary(some).one_vs_rest(1)) == counted(some)


@given(rows, st.randoms())
def test_the_order_of_rows_does_not_matter(some, random):
    again = some.copy()
    random.shuffle(again)
    assert binary(some).digest() == binary(again).digest()


@given(rows, rows)
def test_merging_equals_counting_the_union(a, b):
    assert binary(a) + binary(b) == binary(a + b)


@given(three, three)
def test_merging_many_classes_equals_counting_the_union(a, b):
    assert per_class(a) + per_class(b) == per_class(a + b)


@given(three)
def test_one_class_stands_against_the_rest_and_against_one_other(some):
    tally = per_class(some)
    assert table(tally.one_vs_rest("b")) == counted([(row[1], row[3] == 1) for row in some])
    pair = [(row[0], row[3] == 0) for row in some if row[3] in (0, 2)]
    assert table(tally.one_vs_one("a", "c")) == counted(pair)
    pooled = [(row[i], row[3] == i) for row in some for i in range(3)]
    assert table(tally.micro()) == counted(pooled)
    assert tally.sizes() == [sum(row[3] == i for row in some) for i in range(3)]
    truth = Counter(row[row[3]] + 0.0 for row in some)
    held = tally.of_truth()
    assert dict(zip(held.value.tolist(), held.count.tolist(), strict=True)) == truth


@given(rows)
def test_json_brings_back_the_same_tally(some):
    tally = binary(some)
    again = Scores.from_json(json.loads(json.dumps(tally.to_json())))
    assert again == tally
    assert table(again.one_vs_rest(1)) == table(tally.one_vs_rest(1))


@given(
    st.lists(st.tuples(values, st.booleans(), st.sampled_from([0.0, 0.1, 1.0, 2.5, 1e15])), max_size=25).filter(
        lambda some: any(w for *_, w in some) or not some
    )
)
def test_weights_are_summed_in_fixed_point_and_a_score_without_weight_is_absent(some):
    weights = Weights.of([w for *_, w in some])
    quanta = [int(one) for one in weights.quanta.tolist()]
    tally = binary([row[:2] for row in some], weights)
    kept = [row for row, own in zip(some, quanta, strict=True) if own]
    assert tally.columns[0].value.tolist() == binary([row[:2] for row in kept]).columns[0].value.tolist()
    assert sum(tally.sizes()) == sum(quanta) * Fraction(2) ** weights.exponent
    again = Scores.from_json(json.loads(json.dumps(tally.to_json())))
    assert again == tally
    assert tally + tally == binary([row[:2] for row in some + some], [w for *_, w in some + some])


def test_merged_tallies_of_different_quanta_are_exact():
    heavy, light = ([2.0**20, 3.0], [2.0**-5, 2.0**-4])
    both = [Scores.binary([0.1, 0.2], [True, True], weight) for weight in (heavy, light)]
    merged = both[0] + both[1]
    assert merged.sizes()[1] == sum(map(Fraction, [*heavy, *light]))
    assert merged.columns[0].weight.tolist() == [2**20 + Fraction(1, 2**5), 3 + Fraction(1, 2**4)]
    with pytest.raises(OutOfRange, match="differ too much"):
        merged + Scores.binary([0.1], [True], [1e-40])


def test_equal_tallies_have_one_digest_whatever_their_quanta():
    apart = Scores.binary([0.1], [True], [1.0]) + Scores.binary([0.2], [True], [4.0])
    assert apart.digest() == Scores.binary([0.1, 0.2], [True, True], [1.0, 4.0]).digest()


def test_a_row_twice_is_a_row_of_weight_two():
    doubled = Scores.binary([0.1, 0.1, 0.7], [0, 0, 1]).one_vs_rest(1)
    weighted = Scores.binary([0.1, 0.7], [0, 1], [2, 1]).one_vs_rest(1)
    assert table(doubled) == table(weighted)


@pytest.mark.parametrize("bad", [[0.1, np.nan], [np.inf, 0.2], [0.1, -np.inf]])
def test_a_score_that_is_no_number_is_refused(bad):
    with pytest.raises(AssayError) as refused:
        Scores.binary(bad, [True, True])
    assert refused.value.code == "score-not-finite"


def test_single_precision_is_widened_exactly_and_whole_numbers_past_the_double_are_refused():
    small = np.array([0.1, 0.3], dtype=np.float32)
    assert Scores.binary(small, [0, 1]).columns[0].value.tolist() == [float(x) for x in small]
    with pytest.raises(AssayError):
        Scores.binary([2**53 + 1, 0], [0, 1])


def test_columns_and_classes_must_fit():
    with pytest.raises(PlanError) as refused:
        Scores.per_class(np.zeros((2, 2)), [0, 1], ("a", "b", "c"))
    assert refused.value.code == "score-columns"
    with pytest.raises(PlanError) as refused:
        Scores.binary([0.1, 0.2], [0, 1], labels=("no", "yes")).one_vs_rest("no")
    assert refused.value.code == "score-columns"
    with pytest.raises(PlanError) as refused:
        Scores.binary([0.1], [0, 1])
    assert refused.value.code == "rows-unmatched"


def test_tallies_of_other_classes_or_weights_are_not_merged():
    one = Scores.binary([0.1], [1], labels=("no", "yes"))
    with pytest.raises(PlanError, match="different classes"):
        one + Scores.binary([0.1], [1])
    with pytest.raises(PlanError, match="weighted"):
        one + Scores.binary([0.1], [1], [2.0], labels=("no", "yes"))


def test_another_kind_of_content_is_not_read_as_scores():
    with pytest.raises(RecordError):
        Scores.from_json({"kind": "confusion", "version": "1"})


def test_a_list_of_columns_is_as_good_as_a_matrix():
    matrix = np.array([[0.2, 0.8], [0.6, 0.4]])
    assert Scores.per_class(list(matrix.T), [1, 0], "ab") == Scores.per_class(matrix, [1, 0], "ab")


@pytest.mark.parametrize("distinct", [20, 10_000])
def test_the_number_of_threads_leaves_no_trace(distinct, monkeypatch):
    rng = np.random.default_rng(4)
    scores, truth = rng.integers(0, distinct, 900) / distinct, rng.random(900) < 0.3

    def found(threads):
        monkeypatch.setattr("assay.core.parallel.usable", lambda: threads)
        monkeypatch.setattr("assay.tally.scores.ranked_table.usable", lambda: threads)
        tally = Scores.binary(scores, truth)
        table = tally.one_vs_rest(1)
        sides = [
            np.stack([side.count, side.below, side.tied]).tolist() for side in (table.by_positive, table.by_negative)
        ]
        return json.dumps(tally.to_json()), sides, table.score.tolist(), table.pos.tolist(), table.neg.tolist()

    alone = found(1)
    for module in ("ranked_table", "score_counts"):
        monkeypatch.setattr(f"assay.tally.scores.{module}.LARGE", 100)
    assert found(1) == found(3) == alone


@pytest.mark.parametrize("exact", [None, 10])
def test_scores_of_three_classes_with_units_are_counted_alike_in_a_frame(exact):
    rng = np.random.default_rng(1)
    truth, unit, matrix = rng.integers(0, 3, 60), np.arange(60) // 3, rng.dirichlet([1, 1, 1], 60)
    columns = {f"s{i}": matrix[:, i] for i in range(3)}
    settings = {} if exact is None else {"scores": assay.ScoreSettings(exact_scores=exact)}
    frame = pl.LazyFrame({"y": truth, "u": unit, **columns})
    there = assay.assess(data=frame, truth="y", score={i: f"s{i}" for i in range(3)}, unit="u", **settings)
    here = assay.assess(truth=truth, score={i: matrix[:, i] for i in range(3)}, unit=unit, **settings)
    for one, other in zip(there.estimates, here.estimates, strict=True):
        assert (one.measure, one.value, one.low) == (other.measure, other.value, other.low)


def test_what_weighs_nothing_is_no_score_of_a_unit():
    codes = Codes(codes=np.array([0, 1, 1], dtype=np.uint8), names=("u", "v"))
    columns = np.array([0.1, 0.2, -0.0]), np.array([True, False, True]), np.array([0.0, 0.5, 2.0])
    built = UnitScores.build([codes], *columns)
    assert (str(built.value.tolist()), built.weight.tolist()) == ("[0.2, 0.0]", [0.5, 2.0])
    assert (built.positive.tolist(), built.labels[0].codes.tolist()) == ([False, True], [1, 1])
