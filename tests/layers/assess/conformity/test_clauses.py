# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter

import pytest

from assay.assess.conformity import clauses
from assay.assess.conformity.clauses import profile, profiles, row_ids
from assay.assess.conformity.preconditions import ASKS, CONDITIONS
from assay.assess.controls import CONTROLS
from assay.assess.plan.checked_plan import keys_at
from assay.core.errors import PlanError
from assay.core.task import find_task
from assay.inference.tests_catalogue import every_test

ROWS = (*profile().rows, *profile("supplementary").rows)
NOT_BUILT: set[str] = set()  # checks of the catalogue that a later version will have
OWN = {"CHK-COST", "CHK-KNOWN", "CHK-UNAWARE"}


def test_there_are_147_rows_of_the_standard_and_24_supplementary_ones():
    assert len(profile().rows) == 147
    assert len(profile("supplementary").rows) == 24
    assert len(set(row_ids())) == 171


def test_strengths_and_kinds_of_evidence_are_those_of_the_standard():
    rows = profile().rows
    assert Counter(row.strength for row in rows) == {
        "can": 40, "should": 35, "should not": 5, "limit": 34, "definition": 13, "shall": 10, "imperative": 7,
        "illustration": 3,
    }  # fmt: skip
    assert Counter(row.evidence for row in rows) == {"computed": 67, "mixed": 47, "declared": 24, "measured": 9}
    assert [row.id for row in rows if row.strength == "shall"] == [
        "R-5.3.5-1", "R-5.3.5-2", "R-5.3.5-3", "R-5.3.10-4", "R-5.3.11-1", "R-5.3.11-2", "R-5.3.12-2", "R-6.4.3-2",
        "R-6.5.1-1", "R-7.1-1",
    ]  # fmt: skip


def test_every_built_check_is_in_the_catalogue_and_every_named_check_is_accounted_for():
    named = {check.id for row in ROWS for check in row.checks} | {"CHK-TEST"}  # which rows ask by their tests
    assert named - set(CONTROLS) == NOT_BUILT
    assert set(CONTROLS) - named == set()
    assert len((set(CONTROLS) | NOT_BUILT) - OWN) == 47


@pytest.mark.parametrize(
    "wrong",
    [
        {"when": {"tests": ["t"]}},
        {"when": "central"},
        {"tests": {"of": ["central"], "asks": ["made"]}},
        {"tests": {"asks": ["whatever"]}},
        {"checks": ["CHK-NOTHING"]},
        {"checks": ["CHK-CLAIM:credits"]},
        {"measures": ["lift"]},
        {"states": ["tests.chosen_ones"]},
    ],
)
def test_a_name_that_no_registry_knows_is_seen(wrong):
    entry = {"id": "R-0-1", "strength": "should", "evidence": "mixed", "says": "It is so."}
    assert list(unknown_names(clauses._row(entry))) == []
    assert len(list(unknown_names(clauses._row({**entry, **wrong})))) == 1


def unknown_names(row):
    """Names in a row that stand in no registry."""
    known_tests = {one.name for one in every_test()}
    measures = {one.name for task in ("classification", "multilabel") for one in find_task(task).registry}
    when, tests = row.when or clauses.When(), row.tests or clauses.TestDemand(asks=())
    yield from (name for name in when.conditions if name not in CONDITIONS)
    yield from (name for name in (*when.tests, *tests.of) if name not in known_tests)
    yield from (name for name in tests.asks if name not in ASKS)
    yield from (
        str(one) for one in row.checks if one.id not in CONTROLS or one.part not in ("", *CONTROLS[one.id].parts)
    )
    yield from (name for names in row.measures for name in names if name not in measures)
    for path in (way for states in row.states for way in states.split("|")):
        *above, last = path.split(".")
        known = keys_at(tuple("x" if part == "*" or part.startswith("@") else part for part in above))
        yield from [path] if known is not None and last not in known else []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_row_names_what_is_declared_and_says_what_it_asks_in_a_sentence(row):
    assert list(unknown_names(row)) == []
    assert row.says.endswith(".")
    assert row.states or row.checks or row.measures or row.tests or row.record or row.when


def test_an_unknown_profile_is_an_error_with_the_nearest_name():
    assert profiles() == ("ts4213-2022",)
    with pytest.raises(PlanError, match="no profile") as raised:
        profile("ts4213-2023")
    assert "ts4213-2022" in raised.value.fix
