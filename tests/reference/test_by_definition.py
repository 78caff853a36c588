# SPDX-License-Identifier: Apache-2.0
"""Every measure agrees with a second implementation that was written from the catalogue alone."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given

from assay.core.values import Undefined
from assay.measures import REGISTRY
from assay.tally.labels.one_vs_rest import Binary, Multiclass
from tests.reference import by_definition
from tests.strategies import (
    CASES,
    CORNERS,
    FOUR_CORNERS,
    MANY,
    amounts,
    four,
    matrices,
    on_every_measure,
    refuses,
    table_size,
)  # fmt: skip


def expected(case, cells, matrix):
    given_ = case.ready(2 if case.measure.takes is Binary else len(matrix)).given
    if case.measure.takes is Binary:
        return by_definition.OF_A_CLASS[case.measure.name](*cells, **given_)
    return by_definition.of_all(case.measure.name, matrix, **given_)


def assert_equal(found, wanted):
    if wanted is None:
        assert isinstance(found, Undefined), f"{found.value} where the catalogue says undefined"
    elif wanted == inf:
        assert not isinstance(found, Undefined), found.reason
        assert found.value == inf
    else:
        assert not isinstance(found, Undefined), found.reason
        assert abs(found.value - float(wanted)) <= 1e-14 * max(1.0, abs(float(wanted)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_measure_agrees_with_its_definition_on_every_small_table(case):
    for corner in FOUR_CORNERS if case.measure.takes is Binary else CORNERS:
        cells, matrix = (corner, None) if case.measure.takes is Binary else (None, corner)
        table = (
            Binary.of(**dict(zip(("tp", "fp", "fn", "tn"), corner, strict=True))) if cells else Multiclass.of(matrix)
        )
        if not refuses(case.ready(table_size(table)), table):
            assert_equal(case(table), expected(case, cells, matrix))


@MANY
@given(cells=four(amounts), matrix=matrices(amounts))
def test_every_measure_agrees_with_its_definition_on_any_table(cells, matrix):
    on_every_measure(lambda case, table: assert_equal(case(table), expected(case, cells, matrix)), cells, matrix)


@pytest.mark.parametrize("policy", ["skip", "zero", "one"])
@MANY
@given(matrix=matrices(amounts))
def test_averages_treat_undefined_classes_as_they_are_told(policy, matrix):
    table = Multiclass.of(matrix)
    for case in CASES:
        if case.measure.average in ("macro", "weighted"):
            ready = case.ready(len(matrix)).with_(undefined=policy)
            assert_equal(ready(table), by_definition.of_all(ready.name, matrix, **ready.given))


def test_every_measure_has_a_definition_of_its_own():
    assert not [m.name for m in REGISTRY if m.from_labels and not by_definition.knows(m.name)]


def test_a_forgotten_definition_is_a_sentence():
    for ask in (lambda: by_definition.OF_A_CLASS["tss"], lambda: by_definition.of_all("tss", [[1, 0], [0, 1]])):
        with pytest.raises(
            LookupError, match=r"tss has no definition to compare with; write def tss\(tp, fp, fn, tn\)"
        ):
            ask()
