# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter

import pytest

from assay.assess.conformity.clauses import profile, profiles, row_ids
from assay.assess.conformity.preconditions import is_known
from assay.assess.controls import CONTROLS
from assay.assess.plan.checked_plan import keys_at
from assay.core.errors import PlanError
from assay.measures import REGISTRY

ROWS = (*profile().rows, *profile("supplementary").rows)
NOT_BUILT: set[str] = set()  # checks of the catalogue that a later version will have
OWN = {"CHK-COST", "CHK-KNOWN"}
LATER = {"area_cumulative_response", "exact_match_ratio", "hamming_loss", "jaccard_dataset",
         "jaccard_samples", "lift", "multilabel_macro", "multilabel_micro"}  # fmt: skip


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
    named = {check.removesuffix("?").partition(":")[0] for row in ROWS for check in row.checks}
    assert named - set(CONTROLS) == NOT_BUILT
    assert set(CONTROLS) - named == set()
    assert len((set(CONTROLS) | NOT_BUILT) - OWN) == 47


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_row_names_only_what_there_is(row):
    assert row.when is None or is_known(row.when)
    for path in (way for states in row.states for way in states.split("|")):
        *above, last = path.split(".")
        known = keys_at(tuple("x" if part == "*" or part.startswith("@") else part for part in above))
        assert known is None or last in known, path
    names = {name for names in row.measures for name in names.split("|")}
    assert names <= {m.name for m in REGISTRY} | LATER
    assert row.says.endswith(".")


def test_an_unknown_profile_is_an_error_with_the_nearest_name():
    assert profiles() == ("ts4213-2022",)
    with pytest.raises(PlanError, match="no profile") as raised:
        profile("ts4213-2023")
    assert "ts4213-2022" in raised.value.fix
