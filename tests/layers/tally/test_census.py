# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from assay.tally.census import Census


def test_rows_that_do_not_add_up_are_a_fault():
    with pytest.raises(ArithmeticError, match="does not add up"):
        Census(read=5, scored=4)


@pytest.mark.parametrize(
    ("census", "said"),
    [
        (Census(read=4, scored=4), "4 rows read = 4 scored + 0 excluded + 0 unmatched"),
        (Census(read=1, scored=1), "1 row read = 1 scored + 0 excluded + 0 unmatched"),
        (
            Census(read=5, scored=4, excluded={"truth is missing": 1}),
            "5 rows read = 4 scored + 1 excluded (truth is missing) + 0 unmatched",
        ),
        (
            Census(read=1300, scored=1290, excluded={"truth is missing": 3, "predicted is missing": 4}, unmatched=3),
            "1,300 rows read = 1,290 scored + 7 excluded (3 truth is missing, 4 predicted is missing) + 3 unmatched",
        ),
    ],
    ids=["all", "one", "one reason", "two reasons"],
)
def test_the_account_is_a_sentence(census, said):
    assert census.said() == said


def test_accounts_add_up_reason_by_reason():
    total = Census(read=3, scored=2, excluded={"a": 1}) + Census(
        read=5, scored=1, excluded={"a": 1, "b": 1}, unmatched=2
    )
    assert total == Census(read=8, scored=3, excluded={"a": 2, "b": 1}, unmatched=2)
    assert total.to_json() == {"read": 8, "scored": 3, "excluded": {"a": 2, "b": 1}, "unmatched": 2}


def test_the_written_account_is_a_copy():
    census = Census(read=1, scored=0, excluded={"a": 1})
    census.to_json()["excluded"]["b"] = 9
    assert census.excluded == {"a": 1}
