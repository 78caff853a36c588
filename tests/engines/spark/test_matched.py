# SPDX-License-Identifier: Apache-2.0
"""Models in frames or paths of their own are matched by id on the cluster to the Record that memory gives."""

from __future__ import annotations

import polars as pl
import pytest

import assay
from assay.assess import comparing, meeting

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

SCHEMA = "`the.id` string, y string, p string, s double, who long, w double"
CASES = ["it's", "é", "a b", "ab", 'say "hm"', "A", *(f"c{i}" for i in range(18))]
ROWS = [(case, "xy"[i % 2], "xy"[i % 3 % 2], i / 7, i // 4, 1.5 + i % 2) for i, case in enumerate(CASES)]
OTHERS = [(case, y, "xy"[i % 5 % 2], (i * 5 % 24) / 9, *units) for i, (case, y, _, _, *units) in enumerate(ROWS)][::-1]
NAMES = ["the.id", "y", "p", "s", "who", "w"]
LABELS = {"truth": "y", "predicted": "p", "positive": "x", "id": "the.id"}
SCORES = {"truth": "y", "score": "s", "positive": "x", "id": "the.id"}


@pytest.fixture(autouse=True)
def untested(monkeypatch):
    """Findings are functions of the tallies, and take longer than these."""
    monkeypatch.setattr(comparing, "answered", lambda *_: ())


def compared(tables, **given):
    try:
        found = assay.compare(data=tables, reading=assay.Reading(show_ids=True), **given)
    except assay.AssayError as error:
        return error.code, error.what, error.found
    return {name: found.record[name] for name in ("tallies", "samples", "test_data", "labels", "positive")}


def in_memory(rows, others, **given):
    held = {"A": rows, "B": others}
    frames = {name: pl.DataFrame(one, schema=NAMES, orient="row") for name, one in held.items()}
    return compared(frames, **given)


UNITS = LABELS | {"subject": "who", "weight": "w", "score": "s"}


@pytest.mark.parametrize(
    ("way", "given"),
    [("classic", LABELS), ("connect", SCORES), ("connect", UNITS)],
    ids=["labels", "scores", "units"],
)
def test_frames_of_a_cluster_are_compared_there(request, way, given, monkeypatch):
    spark = request.getfixturevalue(way)
    expected = in_memory(ROWS, OTHERS, **given)
    assert expected["test_data"]
    monkeypatch.delattr(meeting, "answers")
    frames = {"A": spark.createDataFrame(ROWS, SCHEMA), "B": spark.createDataFrame(OTHERS, SCHEMA)}
    assert compared(frames, **given) == expected


SPOILED = {
    "twice": [*OTHERS, OTHERS[3]],
    "lost": OTHERS[1:],
    "no id": [(None, *OTHERS[0][1:]), *OTHERS[1:]],
    "another truth": [(OTHERS[0][0], "x", *OTHERS[0][2:]), *OTHERS[1:]],
    "another weight": [(*OTHERS[0][:5], 7.25), *OTHERS[1:]],
}


@pytest.mark.parametrize("how", SPOILED)
def test_what_does_not_match_on_a_cluster_is_told_as_in_memory(connect, how, monkeypatch):
    given = LABELS | ({"subject": "who", "weight": "w"} if how == "another weight" else {})
    expected = in_memory(ROWS, SPOILED[how], **given)
    assert isinstance(expected, tuple)
    monkeypatch.delattr(meeting, "answers")
    frames = {"A": connect.createDataFrame(ROWS, SCHEMA), "B": connect.createDataFrame(SPOILED[how], SCHEMA)}
    assert compared(frames, **given) == expected


def test_ids_of_another_kind_are_told_on_a_cluster_as_in_memory(connect, monkeypatch):
    numbered = [(i, *rest) for i, (_, *rest) in enumerate(OTHERS)]
    expected = in_memory(ROWS, numbered, **LABELS)
    monkeypatch.delattr(meeting, "answers")
    frames = {"A": connect.createDataFrame(ROWS, SCHEMA)}
    frames["B"] = connect.createDataFrame(numbered, SCHEMA.replace("string", "int", 1))
    code, what, found = compared(frames, **LABELS)
    assert (code, what) == expected[:2]
    assert found.endswith("the ids are of different types")


def test_paths_of_models_are_matched_by_the_cluster_that_reads_them(cluster, tmp_path, monkeypatch):
    numbered = [[(7 * i, *rest) for i, (_, *rest) in enumerate(rows)] for rows in (ROWS, OTHERS[::-1])]
    expected = in_memory(*numbered, **LABELS)
    paths = {"A": tmp_path / "a.parquet", "B": tmp_path / "b.jsonl"}
    pl.DataFrame(numbered[0], schema=NAMES, orient="row").write_parquet(paths["A"])
    pl.DataFrame(numbered[1], schema=NAMES, orient="row").write_ndjson(paths["B"])
    monkeypatch.delattr(meeting, "answers")
    assert compared(paths, **LABELS, engine=cluster.connect) == expected
