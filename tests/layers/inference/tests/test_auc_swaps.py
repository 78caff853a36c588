# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.inference.tests.auc_beyond_delong import auroc_permutation, auroc_permutations, signed_terms
from assay.inference.tests.delong import areas, delong
from assay.inference.units.class_score_units import midranks
from assay.tally.paired.joint_scores import PairedScores


def drawn(seed, m=6, n=9, levels=8):
    rng = np.random.default_rng(seed)
    y = np.arange(m + n) < m
    return PairedScores.of(y, {"A": rng.integers(0, levels, m + n) + 2.0 * y, "B": rng.integers(0, levels, m + n) + y})


def area(positives, negatives):
    above = (positives[:, None] > negatives).sum() + (positives[:, None] == negatives).sum() / 2
    return above / (len(positives) * len(negatives))


@given(st.integers(0, 200))
def test_a_swap_is_a_change_of_sign(seed):
    """Reference: the areas of the swapped ranks themselves."""
    t = drawn(seed)
    terms, times = signed_terms(t)
    assert terms @ times / (4 * t.m * t.n) == pytest.approx(areas(t).gap(0, 1)[0])
    ranks = midranks(np.concatenate([t.positives, t.negatives], axis=1))
    flip = np.random.default_rng(seed).integers(0, 2, ranks.shape[1]).astype(bool)
    a, b = np.where(flip, ranks[::-1], ranks)
    gap = area(a[: t.m], a[t.m :]) - area(b[: t.m], b[t.m :])
    assert np.where(flip, -terms, terms).sum() / (4 * t.m * t.n) == pytest.approx(gap)


def test_p_is_that_of_all_swaps():
    t = drawn(5, 4, 6)
    terms, _ = signed_terms(t)
    every = np.abs([np.dot(signs, terms) for signs in product((-1, 1), repeat=len(terms))])
    exact = float((every >= abs(terms.sum())).mean())
    assert auroc_permutation(t, draws=40_000).p == pytest.approx(exact, abs=0.01)


def test_rows_that_were_counted_are_swapped_one_by_one():
    t = drawn(3, 8, 40, levels=4)
    ones = np.ones(t.m + t.n, dtype=np.int64)
    cells = PairedScores.of_cells(
        t.models, np.concatenate([t.positives, t.negatives], axis=1), ones.cumsum() <= t.m, ones, 13
    )
    assert cells.positives.shape[1] < t.m
    assert auroc_permutation(cells).p == auroc_permutation(t).p


def test_the_order_of_models_and_rows_does_not_matter():
    t = drawn(11)
    rows = np.random.default_rng(0).permutation(t.n)
    other = PairedScores(models=t.models, positives=t.positives[:, ::-1], negatives=t.negatives[:, rows])
    assert auroc_permutation(other).p == auroc_permutation(t).p == auroc_permutation(t.only("B", "A")).p


def test_few_rows_of_a_class_take_swaps_and_keep_the_interval():
    rng = np.random.default_rng(2)
    y = np.arange(100) < 10
    scores = {name: rng.normal(size=100) + 1.5 * y for name in "ABC"}
    two = assay.compare(truth=y.astype(int), score={name: scores[name] for name in "AB"}, positive=1)
    assert two["delong"].test == "auroc_permutation"
    assert "10 rows of the smaller class" in two["delong"].chosen
    plain = delong(PairedScores.of(y, {name: scores[name] for name in "AB"}))
    assert two["delong"].effect.interval == plain.effect.interval
    several = assay.compare(truth=y.astype(int), score=scores, positive=1)
    assert [one.test for one in several.findings] == ["auroc_permutations"] * 3
    assert several["auroc", "A", "C"].adjusted.of == 3
    many = np.repeat(y, 5)
    kept = assay.compare(truth=many.astype(int), score={name: np.repeat(scores[name], 5) for name in "AB"}, positive=1)
    assert kept["delong"].test == "delong"


def test_identical_rankings_and_too_few_rows():
    t = drawn(1)
    same = PairedScores(models=("A", "B"), positives=t.positives[[0, 0]], negatives=t.negatives[[0, 0]])
    assert auroc_permutation(same).p == 1
    few = PairedScores.of([True, False, False], {"A": [1.0, 2.0, 3.0], "B": [2.0, 1.0, 3.0]})
    assert auroc_permutation(few).p is None
    with pytest.raises(assay.PlanError):
        auroc_permutation(PairedScores.of([True, False], {"A": [1.0, 2.0], "B": [1.0, 2.0], "C": [1.0, 2.0]}))
    assert len(auroc_permutations.pairs(t)) == 1


def test_a_word_is_said_where_p_and_interval_disagree():
    t = PairedScores.of(np.arange(30) < 15, {name: np.zeros(30) for name in "AB"})
    plain = delong(t)
    ends = assay.compare(truth=[1, 0] * 20, predicted={"A": [1, 0] * 20, "B": [1, 0] * 17 + [0, 1] * 3}, positive=1)[
        "accuracy"
    ].effect
    for p, word in ((0.2, "leaves 0 out"), (0.01, None)):
        from assay.inference.tail_probabilities import Tail

        notes = plain.said(effect=ends, chance=Tail.of(p)).note_disagreement()
        assert (word in notes[0]) if word else notes == ()
