# SPDX-License-Identifier: Apache-2.0
"""Truth and predictions in two frames of a cluster meet by id there."""

from __future__ import annotations

import polars as pl
import pytest

import assay
from tests import flat

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

PREDICTIONS = [("c1", "a", "x"), ("c2", "b", "y"), ("c3", "a", "x")]
TRUTH = [("c3", "b", "n"), ("c1", "a", "n"), ("c2", "b", "s")]


@pytest.fixture(scope="module")
def given(connect):
    def frames(predictions=PREDICTIONS, truth=TRUTH, *, spark=connect, **more):
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
        flat.assess(**arguments, reading=assay.Reading(show_ids=True))
    return caught.value


def test_frames_of_a_cluster_meet_by_id(given, classic):
    found = flat.assess(**given(group=["site", "reader"], spark=classic))
    assert found.confusion.to_json()["cells"] == [[0, 0, 1], [1, 0, 1], [1, 1, 1]]
    assert list(found.by_group["site"]) == ["n", "s"]
    found = flat.assess(**given([*PREDICTIONS, ("c9", "a", "x")], unmatched="count"))
    assert found.census.said() == "4 rows read = 3 scored + 0 excluded + 1 unmatched"


def test_ids_are_refused_on_a_cluster_as_elsewhere(given):
    error = refusal(given([*PREDICTIONS, PREDICTIONS[0]]))
    assert (error.code, error.found) == ("duplicate-id", '"c1"')
    assert refusal(given(truth=[*TRUTH[1:], (None, "a", "n")])).code == "missing-id"
    error = refusal(given(truth=TRUTH[1:]))
    assert error.code == "rows-unmatched"
    assert error.found == 'data without truth: "c3"'
    alone = given([*PREDICTIONS, PREDICTIONS[0]]) | {"truth_data": None, "truth": "reader"}
    assert refusal(alone).code == "duplicate-id"


@pytest.fixture(scope="module")
def sides(tmp_path_factory):
    """Predictions and truth as Parquet; some rows lack a partner."""
    folder = tmp_path_factory.mktemp("sides [1]")
    ours = pl.DataFrame([*PREDICTIONS, ("c8", "a", "x")], schema=["case", "the.label", "reader"], orient="row")
    theirs = pl.DataFrame([*TRUTH, ("c9", "a", "n")], schema=["case", "the.label", "site"], orient="row")
    ours.write_parquet(folder / "p.parquet")
    theirs.write_parquet(folder / "t.parquet")
    theirs.vstack(theirs[:1]).write_parquet(folder / "twice.parquet")
    return folder


def test_paths_are_joined_on_the_cluster_as_by_the_embedded_engine(cluster, sides):
    both = {"data": sides / "p.parquet", "truth_data": sides / "t.parquet", "id": "case"}
    labels = {"truth": "the.label", "predicted": "the.label", "positive": "b", "group": ["site", "reader"]}
    labels["measures"] = "recall"
    expected = flat.assess(**both, **labels, unmatched="count")
    found = flat.assess(**both, **labels, unmatched="count", engine=cluster.connect)
    assert found.confusion == expected.confusion
    assert found.grouped == expected.grouped
    assert found.census == expected.census
    assert found.record["plan"]["data"]["join"] == expected.record["plan"]["data"]["join"]


def test_paths_on_a_cluster_are_refused_as_elsewhere(cluster, sides):
    both = {"data": sides / "p.parquet", "truth_data": sides / "t.parquet", "id": "case", "engine": cluster.connect}
    both |= {"truth": "the.label", "predicted": "the.label", "positive": "b"}
    error = refusal(both)
    assert error.code == "rows-unmatched"
    assert error.found == f'{sides / "p.parquet"} without truth: "c8"; {sides / "t.parquet"} without prediction: "c9"'
    assert refusal(both | {"truth_data": sides / "twice.parquet"}).code == "duplicate-id"
    alone = {"data": sides / "twice.parquet", "engine": cluster.connect, "truth": "site"}
    alone |= {"predicted": "the.label", "id": "case"}
    error = refusal(alone)
    assert (error.code, error.found) == ("duplicate-id", '"c3"')
