# SPDX-License-Identifier: Apache-2.0
"""Models in frames or paths of their own are matched by id on the cluster to the Record that memory gives."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import assay
from assay.assess.compare import comparison as comparing
from assay.rows.scored_source import Cut
from assay.tally.paired import joint_counts as codes
from assay.tally.paired.per_unit import PerUnit
from tests import flat

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
    monkeypatch.setattr(comparing, "_answered", lambda *_: ())


def compared(tables, **given):
    try:
        found = flat.compare(data=tables, reading=assay.Reading(show_ids=True), **given)
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
def test_frames_of_a_cluster_are_compared_there(request, way, given):
    spark = request.getfixturevalue(way)
    expected = in_memory(ROWS, OTHERS, **given)
    assert expected["test_data"]
    frames = {"A": spark.createDataFrame(ROWS, SCHEMA), "B": spark.createDataFrame(OTHERS, SCHEMA)}
    assert compared(frames, **given) == expected


@pytest.mark.parametrize("by", ["subject", "weight"])
def test_subjects_and_weights_are_counted_on_the_cluster(classic, by):
    column = {"subject": "who", "weight": "w"}[by]
    truth, calls, units = zip(*((row[1], row[2], row[NAMES.index(column)]) for row in ROWS), strict=True)
    rows = PerUnit.of(
        truth=truth,
        labels=("y", "x"),
        models=("A", "B"),
        calls=[calls, [row[2] for row in OTHERS[::-1]]],
        **{by: list(units) if by == "subject" else np.array(units)},
    )
    frames = {"A": classic.createDataFrame(ROWS, SCHEMA), "B": classic.createDataFrame(OTHERS, SCHEMA)}
    found = compared(frames, **LABELS, **{by: column})
    assert found["tallies"]["rows"] == rows.to_json()


SPOILED = {
    "twice": [*OTHERS, OTHERS[3]],
    "lost": OTHERS[1:],
    "no id": [(None, *OTHERS[0][1:]), *OTHERS[1:]],
    "another truth": [(OTHERS[0][0], "x", *OTHERS[0][2:]), *OTHERS[1:]],
    "another weight": [(*OTHERS[0][:5], 7.25), *OTHERS[1:]],
}


@pytest.mark.parametrize("how", SPOILED)
def test_what_does_not_match_on_a_cluster_is_told_as_in_memory(connect, how):
    given = LABELS | ({"subject": "who", "weight": "w"} if how == "another weight" else {})
    expected = in_memory(ROWS, SPOILED[how], **given)
    assert isinstance(expected, tuple)
    frames = {"A": connect.createDataFrame(ROWS, SCHEMA), "B": connect.createDataFrame(SPOILED[how], SCHEMA)}
    assert compared(frames, **given) == expected


def test_ids_of_another_kind_are_told_on_a_cluster_as_in_memory(connect):
    numbered = [(i, *rest) for i, (_, *rest) in enumerate(OTHERS)]
    expected = in_memory(ROWS, numbered, **LABELS)
    frames = {"A": connect.createDataFrame(ROWS, SCHEMA)}
    frames["B"] = connect.createDataFrame(numbered, SCHEMA.replace("string", "int", 1))
    code, what, found = compared(frames, **LABELS)
    assert (code, what) == expected[:2]
    assert found.endswith("the ids are of different types")


def test_truth_elsewhere_and_thresholds_are_joined_on_a_cluster(classic):
    calls = {model: Cut(score="s", threshold=1.0, positive="x", negative="y") for model in "AB"}
    given = {"truth": "y", "predicted": calls, "positive": "x", "id": "the.id", "weight": "w"}
    held = {model: pl.DataFrame(rows, schema=NAMES, orient="row") for model, rows in (("A", ROWS), ("B", OTHERS))}
    expected = compared(held, **given)
    frames = {model: classic.createDataFrame(frame.select("the.id", "s").to_arrow()) for model, frame in held.items()}
    truth = classic.createDataFrame(held["A"].select("the.id", "y", "w").to_arrow())
    assert compared(frames, truth_data=truth, **given) == expected


def test_a_frame_of_a_cluster_meets_a_frame_of_this_machine(classic):
    expected = in_memory(ROWS, OTHERS, **LABELS)
    mixed = {"A": classic.createDataFrame(ROWS, SCHEMA), "B": pl.DataFrame(OTHERS, schema=NAMES, orient="row")}
    assert compared(mixed, **LABELS) == expected


def test_rows_of_a_cluster_have_no_places(classic):
    frames = {"A": classic.createDataFrame(ROWS, SCHEMA), "B": classic.createDataFrame(OTHERS, SCHEMA)}
    code, what, _ = compared(frames, truth="y", predicted="p", positive="x", pairing="position")
    assert (code, "no order" in what) == ("comparison-needs", True)


def test_paths_of_models_are_matched_by_the_cluster_that_reads_them(cluster, tmp_path):
    numbered = [[(7 * i, *rest) for i, (_, *rest) in enumerate(rows)] for rows in (ROWS, OTHERS[::-1])]
    expected = in_memory(*numbered, **LABELS)
    paths = {"A": tmp_path / "a.parquet", "B": tmp_path / "b.parquet"}
    pl.DataFrame(numbered[0], schema=NAMES, orient="row").write_parquet(paths["A"])
    pl.DataFrame(numbered[1], schema=NAMES, orient="row").write_parquet(paths["B"])
    assert compared(paths, **LABELS, engine=cluster.connect) == expected


def many(ids, rows=2500):
    """Two models of the same rows in other orders; labels, subjects and weights have gaps in common."""
    rng = np.random.default_rng(len(ids))
    odd = ["", "'", '"', "\\", "é", "\u4e2d", "\n", "\U0001f600"]
    names = {
        "text": [f"{odd[i % 8]}case {i}{odd[i % 5]}" for i in range(rows)],
        "wide": (rng.permutation(rows) * 3_141_592_653_589 - 10**15).tolist(),
    }[ids]
    truth = rng.integers(0, 2, rows)
    shared = {"the.id": names, "y": np.where(truth, "x", "né"), "who": rng.integers(-9, 400, rows)}
    shared["w"] = rng.integers(1, 9, rows) / 7
    frames = {}
    for model in "AB":
        calls = np.where(rng.random(rows) < 0.8, truth, 1 - truth)
        own = {"p": np.where(calls, "x", "né"), "s": rng.normal(size=rows) + truth}
        frames[model] = pl.DataFrame(shared | own).sample(fraction=1, shuffle=True, seed=ord(model))
    return frames


def on_cluster(spark, frames):
    return {model: spark.createDataFrame(frame.to_arrow()) for model, frame in frames.items()}


def test_thousands_of_rows_are_those_of_memory(connect):
    frames = many("text")
    assert compared(on_cluster(connect, frames), **UNITS) == compared(frames, **UNITS)


def test_thousands_of_scores_are_rounded_as_by_the_embedded_engine(connect, tmp_path, monkeypatch):
    given = SCORES | {"exact_scores": 500}
    frames, paths = many("wide"), {model: tmp_path / f"{model}.parquet" for model in "AB"}
    for model, frame in frames.items():
        frame.write_parquet(paths[model])
    expected = compared(paths, **given)
    assert expected["tallies"]["scores"]["packed"]["bits"] == 9
    monkeypatch.delattr(codes, "fetch_columns")  # no score comes here by itself
    assert compared(on_cluster(connect, frames), **given) == expected
