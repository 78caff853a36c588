# SPDX-License-Identifier: Apache-2.0
"""Models in files of their own are matched by id in the engine to the very Record that rows in memory give."""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl
import pytest

import assay
from assay.assess import comparing, meeting
from tests import flat

IDS = {
    "whole numbers": lambda n: [-7, 10, 1, 100, *range(200, 196 + n)],
    "numbers from 0 on": lambda n: [0, 10**11, 9, 99999, 10, 7 * 10**15, *range(100, 94 + n)],
    "texts": lambda n: ["ab", "ab!", "a b", "a", "A", "ab#", *(f"c{i}" for i in range(n - 6))],
    "texts that are written otherwise": lambda n: [
        "it's",
        "é",
        "a\\b",
        'say "hm"',
        "'\"",
        *(f"c{i}" for i in range(n - 5)),
    ],
}
N = 40
WANTED = {
    "labels": {"predicted": "p"},
    "scores": {"score": "s_x", "positive": "x"},
    "both": {"predicted": "p", "score": "s_x", "positive": "x", "measures": ["f1", "average_precision"]},
    "classes": {"score": {"x": "s_x", "y": "s_y", "z": "s_z"}},
    "named classes": {"score": ["s_x", "s_y", "s_z"], "predicted": "p"},
    "subjects": {"predicted": "p", "subject": "who"},
    "numbered subjects": {"predicted": "p", "subject": "nr"},
    "weights": {"predicted": "p", "weight": "w"},
    "all": {"predicted": "p", "subject": "who", "weight": "w"},
    "scores of subjects": {"score": "s_x", "subject": "who", "positive": "x"},
    "classes of subjects": {"score": {"x": "s_x", "y": "s_y", "z": "s_z"}, "subject": "who", "weight": "w"},
}


@pytest.fixture
def files(tmp_path):
    """Three models on the same rows, each in an order of its own; `change` may spoil the table of one of them."""
    rng = np.random.default_rng(8)

    def made(ids=IDS["texts"], ending="parquet", change=lambda _, table: table, classes="xyz"):
        paths, truth = [], rng.choice(list(classes), N)
        for name in "abc":
            calls = np.where(rng.random(N) < 0.7, truth, rng.choice(list(classes), N))
            scores = {f"s_{label}": np.round((truth == label) + rng.normal(size=N), 3) for label in "xyz"}
            units = {"who": [f"s{i // 4}" for i in range(N)], "nr": [i // 4 for i in range(N)]}
            table = pl.DataFrame({"id": ids(N), "y": truth, "p": calls, **scores, **units, "w": [1.5, 2.0] * (N // 2)})
            table = change(name, table.sample(fraction=1.0, shuffle=True, seed=ord(name)))
            paths.append(tmp_path / f"{name}.{ending}")
            table.write_csv(paths[-1]) if ending == "csv" else table.write_parquet(paths[-1])
        return paths

    return made


@pytest.fixture(autouse=True)
def untested(monkeypatch):
    """Findings are functions of the tallies, and take longer than these."""
    monkeypatch.setattr(comparing, "answered", lambda *_: ())


def compared(paths, **wanted):
    wanted = wanted or WANTED["labels"]
    try:
        found = flat.compare(*paths, id="id", truth="y", reading=assay.Reading(show_ids=True), **wanted)
    except assay.AssayError as error:
        return error.code, error.what, error.where, error.found, error.known, error.fix
    kept = {name: found.record[name] for name in ("plan", "tallies", "samples", "test_data", "labels", "positive")}
    return kept | {"digests": {**found.record["digests"], "record": None}}  # which holds the time


def in_memory(paths, monkeypatch, **wanted):
    with monkeypatch.context() as patched:
        patched.setattr(meeting, "_for_engine", lambda *_, **__: False)
        return compared(paths, **wanted)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("ids", IDS)
def test_the_engine_and_the_memory_match_rows_to_one_record(files, ids, ending, monkeypatch):
    paths = files(IDS[ids], ending)
    expected = in_memory(paths, monkeypatch)
    assert expected["tallies"]
    monkeypatch.delattr(meeting, "answers")
    assert compared(paths) == expected


@pytest.mark.parametrize("wanted", WANTED)
def test_scores_subjects_and_weights_are_matched_in_the_engine_too(files, wanted, monkeypatch):
    given = WANTED[wanted]
    ending = "csv" if "all" in wanted or "both" in wanted else "parquet"
    paths = files(ending=ending, classes="xy" if "positive" in given else "xyz")[:2]
    expected = in_memory(paths, monkeypatch, **given)
    assert expected["tallies"]
    monkeypatch.delattr(meeting, "answers")
    assert compared(paths, **given) == expected


@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt64, pl.Float64, pl.Boolean, pl.Categorical, pl.String])
def test_types_of_labels_and_ids_that_differ_only_in_width_are_the_same(files, kind, monkeypatch):
    def change(name, table):
        table = table.with_columns(y=pl.col("y") == "x", p=pl.col("p") == "x").with_columns(pl.col("id").cast(pl.Int64))
        whole = table.with_columns(pl.col("y", "p").cast(pl.Int8))
        if kind == pl.Boolean:
            return table
        if name == "a":
            return whole if kind.is_numeric() else whole.with_columns(pl.col("y", "p").cast(pl.String))
        text = whole.with_columns(pl.col("y", "p").cast(pl.String))
        out = (
            whole.with_columns(pl.col("y", "p").cast(kind))
            if kind.is_numeric()
            else text.with_columns(pl.col("y", "p").cast(kind))
        )
        return out.with_columns(pl.col("id").cast(pl.UInt16 if name == "b" else pl.UInt64))

    paths = files(lambda n: list(range(n)), change=change, classes="xy")
    expected = in_memory(paths, monkeypatch)
    assert isinstance(expected, dict), expected
    monkeypatch.delattr(meeting, "answers")
    assert compared(paths) == expected


def test_ids_that_are_whole_fractions_are_matched_in_memory(files):
    paths = files(lambda n: list(range(n)), change=lambda _, table: table.with_columns(pl.col("id").cast(pl.Float64)))
    assert compared(paths)["samples"] == N


def spoiled(name, table, how):
    if name != "b":
        return table
    first = pl.col("id") == "a"

    def instead(column, value):
        return table.with_columns(pl.when(first).then(value).otherwise(column).alias(column))

    return {
        "twice": lambda: table.vstack(table[7:1:-1]).vstack(table[3:5]),
        "twice and lost": lambda: table[1:].vstack(table[1:2]),
        "lost": lambda: table[1:],
        "more": lambda: table.vstack(table[:1].with_columns(id=pl.lit("new"))),
        "others": lambda: table.with_columns(id=pl.col("id") + "!"),
        "none": lambda: table[:0],
        "no id": lambda: instead("id", None),
        "numbers as ids": lambda: table.with_columns(id=pl.Series(range(len(table)))),
        "another truth": lambda: instead("y", pl.lit("w")),
        "a truth less": lambda: instead("y", None),
        "numbers as truth": lambda: table.with_columns(y=pl.lit(1)),
        "another subject": lambda: instead("who", pl.lit("nobody")),
        "subjects by number": lambda: table.with_columns(who=pl.lit(1)),
        "another weight": lambda: instead("w", pl.lit(7.25)),
        "another name": lambda: table.rename({"y": "truth"}),
        "a score less": lambda: instead("s_x", None),
        "an endless score": lambda: instead("s_x", pl.lit(float("inf"))),
        "a call less": lambda: instead("p", None),
        "an id without end": lambda: instead("id", pl.lit("a" * 5000)),
        "a fraction as truth": lambda: table.with_columns(y=pl.lit(0.5)),
    }[how]()


@pytest.mark.parametrize(
    "how",
    ["twice", "twice and lost", "lost", "more", "others", "none", "no id", "numbers as ids", "another truth",
     "a truth less", "numbers as truth", "another subject", "subjects by number", "another weight", "another name",
     "a score less", "an endless score", "a call less", "an id without end", "a fraction as truth"],
)  # fmt: skip
def test_what_does_not_match_is_told_as_in_memory(files, how, monkeypatch):
    ending = "csv" if how in {"no id", "another weight", "a score less"} else "parquet"
    paths = files(ending=ending, change=lambda name, table: spoiled(name, table, how), classes="xy")[:2]
    given = WANTED["all"] if "subject" in how or "weight" in how else WANTED["both"] if "score" in how else {}
    expected = in_memory(paths, monkeypatch, **given)
    assert isinstance(expected, tuple)
    turned = in_memory(paths[::-1], monkeypatch, **given)
    monkeypatch.delattr(meeting, "answers")
    assert compared(paths, **given) == expected
    assert compared(paths[::-1], **given) == turned


@pytest.mark.parametrize("how", [{"id": "id"}, {"pairing": "position"}, {"independent": True}], ids=str)
def test_files_of_one_name_are_told_apart_in_the_record(tmp_path, how):
    paths = {name: tmp_path / name / "preds.csv" for name in "ab"}
    for place, path in enumerate(paths.values()):
        path.parent.mkdir()
        table = pl.DataFrame({"id": range(8), "y": ["x", "y"] * 4, "p": ["x", "y", "y", "x"] * 2, "n": place})
        table.write_csv(path)
    found = flat.compare(data=paths, truth="y", predicted="p", positive="x", **how).record
    digests = {f"{name}/preds.csv": hashlib.sha256(path.read_bytes()).hexdigest() for name, path in paths.items()}
    assert found["digests"]["files"] == found["plan"]["data"]["files"] == digests
    assert found["plan"]["data"]["from"] == "a/preds.csv; b/preds.csv"
    assert flat.compare(data=dict.fromkeys("ab", paths["a"]), truth="y", predicted="p", positive="x", **how).record[
        "digests"
    ]["files"] == {"preds.csv": digests["a/preds.csv"]}
