# SPDX-License-Identifier: Apache-2.0
"""Truth and predictions in two frames of a cluster meet by id there."""

from __future__ import annotations

import pytest

import assay

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

PREDICTIONS = [("c1", "a", "x"), ("c2", "b", "y"), ("c3", "a", "x")]
TRUTH = [("c3", "b", "n"), ("c1", "a", "n"), ("c2", "b", "s")]


@pytest.fixture
def given(spark):
    def frames(predictions=PREDICTIONS, truth=TRUTH, **more):
        return {
            "data": spark.createDataFrame(predictions, "case string, `the.label` string, reader string"),
            "truth_data": spark.createDataFrame(truth, "case string, `the.label` string, site string"),
            "id": "case",
            "truth": "the.label",
            "predicted": "the.label",
            "positive": "b",
            **more,
        }

    return frames


def refusal(arguments):
    with pytest.raises(assay.AssayError) as caught:
        assay.assess(**arguments, reading=assay.Reading(show_ids=True))
    return caught.value


def test_frames_of_a_cluster_meet_by_id(given):
    found = assay.assess(**given(group=["site", "reader"]))
    assert found.confusion.to_json()["cells"] == [[0, 0, 1], [1, 0, 1], [1, 1, 1]]
    assert list(found.by_group["site"]) == ["n", "s"]
    found = assay.assess(**given([*PREDICTIONS, ("c9", "a", "x")], unmatched="count"))
    assert found.census.said() == "4 rows read = 3 scored + 0 excluded + 1 unmatched"


def test_ids_are_refused_on_a_cluster_as_elsewhere(given):
    error = refusal(given([*PREDICTIONS, PREDICTIONS[0]]))
    assert (error.code, error.found) == ("duplicate-id", '"c1"')
    assert refusal(given(truth=[*TRUTH[1:], (None, "a", "n")])).code == "missing-id"
    error = refusal(given(truth=TRUTH[1:]))
    assert error.code == "rows-unmatched"
    assert error.found == 'data without truth: "c3"'
    one = given([*PREDICTIONS, PREDICTIONS[0]]) | {"truth_data": None}
    assert refusal(one).code == "duplicate-id"
