# SPDX-License-Identifier: Apache-2.0
"""Sums over subjects and weighted rows: what the rows add up to, exactly, and what comes back from JSON."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import RecordError
from assay.tally.paired.joint_rows import PairedRows
from assay.tally.paired.unit_sums import UnitSums, few_enough, rows_from_json
from tests.unitsums import sums_of

MODELS = ("A", "B", "C")
WEIGHTS = st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0, 0.01, 2.0**10, 7.25])
ROWS = st.lists(st.tuples(*[st.integers(0, 2)] * 4, st.integers(0, 5), WEIGHTS), min_size=1, max_size=40).filter(
    lambda rows: any(row[-1] for row in rows)
)


def made(rows, *, by_subject, weighted):
    truth, a, b, c, who, weight = zip(*rows, strict=True)
    more = {"subject": list(who)} if by_subject else {}
    more |= {"weight": np.array(weight)} if weighted or not by_subject else {}
    return PairedRows.of(truth=truth, labels=(0, 1, 2), models=MODELS, calls=[a, b, c], **more)


def by_hand(rows, *, by_subject, weighted):
    """Totals and products from fractions, row by row."""
    units = {}
    for place, (*pattern, who, weight) in enumerate(rows):
        unit = units.setdefault(who if by_subject else place, {})
        own = Fraction(weight) if weighted or not by_subject else 1
        unit[tuple(pattern)] = unit.get(tuple(pattern), 0) + own
    total, products = {}, {}
    for unit in units.values():
        for p, x in unit.items():
            total[p] = total.get(p, 0) + x
            for q, y in unit.items():
                products[p, q] = products.get((p, q), 0) + x * y
    return total, products, len(units)


@given(rows=ROWS, by_subject=st.booleans(), weighted=st.booleans(), seed=st.integers(0, 99))
@settings(max_examples=60)
def test_sums_are_those_of_the_rows_in_any_order(rows, by_subject, weighted, seed):
    kinds = {"by_subject": by_subject, "weighted": weighted}
    t = sums_of(made(rows, **kinds))
    total, products, units = by_hand(rows, **kinds)
    names = [tuple(one) for one in t.codes.tolist()]
    held = dict(zip(names, t.total, strict=True))
    assert held == (pytest.approx(total, rel=1e-10) if weighted or not by_subject else total)
    assert t.units == units
    assert t.n == len(rows)
    for (p, q), value in products.items():
        if names.index(p) <= names.index(q):
            found = t.products.get((names.index(p), names.index(q)), 0)
            # Squares of single weights are rounded up to 2**-53 of the largest; sums by subject are doubles.
            assert float(found) == pytest.approx(float(value), rel=1e-15 * len(rows) if by_subject else 1e-5)
            assert weighted or not by_subject or found == value
    order = np.random.default_rng(seed).permutation(len(rows))
    assert sums_of(made([rows[i] for i in order], **kinds)) == t
    assert UnitSums.from_json(json.loads(json.dumps(t.to_json(), allow_nan=False))) == t
    assert rows_from_json(t.to_json()) == t


@given(rows=ROWS, by_subject=st.booleans())
@settings(max_examples=30)
def test_some_of_the_models_are_what_their_own_rows_give(rows, by_subject):
    whole = made(rows, by_subject=by_subject, weighted=False)
    assert sums_of(whole).only("C", "A") == sums_of(whole.only("C", "A"))


def test_no_name_of_a_subject_is_kept_and_another_kind_is_refused():
    t = PairedRows.of(
        truth=[0, 1, 1], labels=(0, 1), models=("A", "B"), calls=[[0, 1, 0], [0, 0, 1]], subject=["ann", "bob", "bob"]
    )
    found = sums_of(t, limit=2).to_json()
    assert "ann" not in json.dumps(found)
    assert (found["by"], found["units"], found["held_up_to"], found["weighted"]) == ("subject", 2, 2, False)
    assert rows_from_json(t.to_json()) == t
    with pytest.raises(RecordError, match="sums over units"):
        UnitSums.from_json({**found, "version": "0"})


def test_products_of_large_subjects_do_not_wrap_around():
    n = 100_000
    t = sums_of(
        PairedRows.of(truth=[1] * n, labels=(0, 1), models=("A", "B"), calls=[[1] * n, [0] * n], subject=["one"] * n)
    )
    assert t.products == {(0, 0): n * n}


def test_patterns_are_bounded():
    assert few_enough(4096, by_subject=False)
    assert not few_enough(4097, by_subject=False)
    assert few_enough(1447, by_subject=True)
    assert not few_enough(1448, by_subject=True)
