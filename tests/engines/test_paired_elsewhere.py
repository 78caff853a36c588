# SPDX-License-Identifier: Apache-2.0
"""Models whose truth is elsewhere, whose rows are paired by place, or whose labels a threshold makes, in the engine."""

from __future__ import annotations

import sqlite3

import duckdb
import numpy as np
import polars as pl
import pytest

import assay
from assay.assess import comparing, meeting
from assay.rows import framesides
from assay.rows.cutting import Cut
from tests import flat

N = 60
COMMON = {"id": "id", "truth": "y", "positive": "x"}
WANTED = {
    "labels": {"predicted": "p"},
    "labels and scores": {"predicted": "p", "score": "s"},
    "subjects and weights": {"predicted": "p", "subject": "who", "weight": "w"},
    "scores of subjects": {"score": "s", "subject": "who"},
    "thresholds": {"predicted": {"a": Cut(score="s", threshold=0.5, positive="x", negative="z"), "b": "p"}},
    "thresholds and scores": {
        "predicted": {name: Cut(score="s", threshold=0.25, positive="x", negative="z") for name in "ab"},
        "score": "s",
    },
}


@pytest.fixture(autouse=True)
def untested(monkeypatch):
    """Findings are functions of the tallies, and take longer than these; a few rows are matched in the engine, too."""
    monkeypatch.setattr(comparing, "answered", lambda *_: ())
    monkeypatch.setattr(framesides, "ENGINE_FROM", 0)


def tables():
    """The truth with subjects and weights, and the answers of two models, each in an order of its own."""
    rng = np.random.default_rng(21)
    truth = rng.choice(["x", "z"], N)
    ids = [f"r{i:02}" for i in range(N)]
    units = {"who": [f"s{i // 3}" for i in range(N)], "w": np.round(rng.uniform(0.5, 2, N), 3)}
    found = {"truth": pl.DataFrame({"id": ids, "y": truth, **units})}
    for name in "ab":
        calls = np.where(rng.random(N) < 0.8, truth, rng.choice(["x", "z"], N))
        score = np.round((truth == "x") / 2 + rng.uniform(size=N) / 2, 3)
        found[name] = pl.DataFrame({"id": ids, "p": calls, "s": score}).sample(
            fraction=1.0, shuffle=True, seed=ord(name)
        )
    return found


def saved(folder, found, ending):
    paths = {}
    for name, table in found.items():
        paths[name] = str(folder / f"{name}.{ending}")
        if ending == "csv":
            table.write_csv(paths[name])
        elif ending == "parquet":
            table.write_parquet(paths[name])
        elif ending == "duckdb":
            with duckdb.connect(paths[name]) as held:
                held.register("given", table)
                held.execute("CREATE TABLE rows AS SELECT * FROM given")
        else:
            with sqlite3.connect(paths[name]) as held:
                held.execute(f"CREATE TABLE rows ({', '.join(table.columns)})")
                held.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * table.width)})", table.rows())  # noqa: S608
            held.close()
    return paths


def told(**given):
    try:
        found = flat.compare(reading=assay.Reading(show_ids=True), **given)
    except assay.AssayError as error:
        return error.code, error.what, error.where, error.found, error.known, error.fix
    kept = {name: found.record[name] for name in ("tallies", "samples", "test_data", "labels", "positive", "notes")}
    return kept | {"files": found.record["digests"]["files"], "pairing": found.record["plan"]["data"]["pairing"]}


def in_memory(monkeypatch, **given):
    with monkeypatch.context() as patched:
        patched.setattr(meeting, "_for_engine", lambda *_, **__: False)
        return told(**given)


def of_engine(monkeypatch, **given):
    with monkeypatch.context() as patched:
        patched.delattr(meeting, "answers")
        return told(**given)


def alike(one, two):
    return {name: value for name, value in one.items() if name != "files"} == {
        name: value for name, value in two.items() if name != "files"
    }


@pytest.mark.parametrize("wanted", WANTED)
def test_truth_elsewhere_gives_the_record_of_truth_beside_the_answers(wanted, tmp_path, monkeypatch):
    found, given = tables(), COMMON | WANTED[wanted]
    paths = saved(tmp_path, found, "csv" if "scores" in wanted else "parquet")
    apart = {name: paths[name] for name in "ab"}
    one = of_engine(monkeypatch, data=apart, truth_data=paths["truth"], **given)
    assert one["samples"] == N
    assert set(one["files"]) == {name.rpartition("/")[2] for name in paths.values()}
    assert one == in_memory(monkeypatch, data=apart, truth_data=paths["truth"], **given)
    (tmp_path / "beside").mkdir()
    beside = saved(tmp_path / "beside", {name: found[name].join(found["truth"], on="id") for name in "ab"}, "parquet")
    assert alike(one, of_engine(monkeypatch, data=beside, **given))
    mixed = of_engine(monkeypatch, data={"a": paths["a"], "b": beside["b"]}, truth_data={"a": paths["truth"]}, **given)
    assert alike(one, mixed)


@pytest.mark.parametrize("truth", ["csv", "sqlite", "duckdb"])
@pytest.mark.parametrize("answers", ["parquet", "sqlite", "duckdb"])
def test_truth_and_answers_meet_wherever_they_lie(truth, answers, tmp_path, monkeypatch):
    found = tables()
    there = saved(tmp_path, {"truth": found["truth"]}, truth)["truth"]
    apart = saved(tmp_path, {name: found[name] for name in "ab"}, answers)
    given = COMMON | WANTED["thresholds"] | {"subject": "who", "weight": "w"}
    one = of_engine(monkeypatch, data=apart, truth_data=there, **given)
    held = {name: found[name].join(found["truth"], on="id") for name in "ab"}
    calls = {"a": pl.when(pl.col("s") >= 0.5).then(pl.lit("x")).otherwise(pl.lit("z")), "b": pl.col("p")}
    held = {name: table.with_columns(p=calls[name]) for name, table in held.items()}
    assert alike(one, told(data=held, **(given | {"predicted": "p"})))


def spoiled(found, how):
    b, truth, seventh = found["b"], found["truth"], pl.col("id") == "r07"
    return (
        found
        | {
            "a truth less": lambda: {"truth": truth[1:]},
            "an answer less": lambda: {"b": b[1:]},
            "truth twice": lambda: {"truth": truth.vstack(truth[:1])},
            "answers twice": lambda: {"b": b.vstack(b[2:3])},
            "no id": lambda: {"b": b.with_columns(id=pl.when(seventh).then(None).otherwise("id"))},
            "numbers as ids": lambda: {"truth": truth.with_columns(id=pl.Series(range(N)))},
            "no score": lambda: {"a": found["a"].with_columns(s=pl.when(seventh).then(None).otherwise("s"))},
            "no column": lambda: {"truth": truth.rename({"y": "outcome"})},
            "a truth missing": lambda: {"truth": truth.with_columns(y=pl.when(seventh).then(None).otherwise("y"))},
        }[how]()
    )


@pytest.mark.parametrize("how", ["a truth less", "an answer less", "truth twice", "answers twice", "no id",
                                 "numbers as ids", "no score", "no column", "a truth missing"])  # fmt: skip
def test_what_does_not_match_is_told_as_in_memory(how, tmp_path, monkeypatch):
    paths = saved(tmp_path, spoiled(tables(), how), "parquet")
    apart = {name: paths[name] for name in "ab"}
    given = COMMON | WANTED["thresholds"] | {"data": apart, "truth_data": paths["truth"]}
    one = of_engine(monkeypatch, **given)
    assert isinstance(one, tuple), one
    two = in_memory(monkeypatch, **given)
    assert one[:2] == two[:2]
    assert one[5] == two[5]


@pytest.mark.parametrize("how", ["a truth less", "an answer less"])
def test_rows_without_a_partner_are_left_out_where_that_is_said(how, tmp_path, monkeypatch):
    found = spoiled(tables(), how)
    kept = found["b"].select("id").join(found["truth"], on="id").select("id")
    paths = saved(tmp_path, {**found, "a": found["a"].join(kept, on="id")}, "csv")
    given = COMMON | WANTED["labels"] | {"data": {name: paths[name] for name in "ab"}, "truth_data": paths["truth"]}
    one = of_engine(monkeypatch, unmatched="count", **given)
    assert one["samples"] == N - 1
    assert one["notes"][0].endswith("1 row without truth or without prediction left out, as stated")
    assert one == in_memory(monkeypatch, unmatched="count", **given)


@pytest.mark.parametrize("kind", ["csv", "parquet", "frames", "many files"])
@pytest.mark.parametrize("wanted", ["labels", "labels and scores", "subjects and weights"])
def test_rows_are_paired_by_place_in_the_engine(kind, wanted, tmp_path, monkeypatch):
    found = tables()
    data = {name: found["truth"].join(found[name], on="id", maintain_order="left") for name in "ab"}
    if kind == "many files":
        data = {name: str(tmp_path / f"{name}-*.csv") for name in data if _in_parts(tmp_path, name, data[name])}
    elif kind != "frames":
        data = saved(tmp_path, data, kind)
    given = {"truth": "y", "positive": "x", "pairing": "position", "data": data} | WANTED[wanted]
    one = of_engine(monkeypatch, **given)
    assert one["samples"] == N
    assert one["pairing"].startswith("by position")
    assert one == in_memory(monkeypatch, **given)


def _in_parts(folder, name, table):
    for place in range(3):
        table[place * 20 : place * 20 + 20].write_csv(folder / f"{name}-{place}.csv")
    return True


@pytest.mark.parametrize("how", ["shorter", "longer", "another order", "another subject"])
def test_places_that_do_not_match_are_told_as_in_memory(how, tmp_path, monkeypatch):
    found = tables()
    data = {name: found["truth"].join(found[name], on="id", maintain_order="left") for name in "ab"}
    data["b"] = {
        "shorter": lambda b: b[:-2],
        "longer": lambda b: b.vstack(b[:7]),
        "another order": lambda b: b[::-1],
        "another subject": lambda b: b.with_columns(who=pl.col("who") + "!"),
    }[how](data["b"])
    given = {"truth": "y", "positive": "x", "pairing": "position", "data": saved(tmp_path, data, "parquet")}
    given |= WANTED["subjects and weights"]
    one = of_engine(monkeypatch, **given)
    assert isinstance(one, tuple)
    assert one == in_memory(monkeypatch, **given)


def test_places_cannot_stand_for_ids_of_a_truth_elsewhere(tmp_path):
    paths = saved(tmp_path, tables(), "csv")
    given = {"truth": "y", "predicted": "p", "data": {name: paths[name] for name in "ab"}}
    with pytest.raises(assay.PlanError, match="paired by position") as told_:
        flat.compare(truth_data=paths["truth"], pairing="position", **given)
    assert "--id" in told_.value.fix


def test_one_table_of_answers_meets_a_truth_elsewhere(tmp_path):
    found = tables()
    both = found["a"].rename({"p": "pa", "s": "sa"}).join(found["b"].rename({"p": "pb", "s": "sb"}), on="id")
    paths = saved(tmp_path, {"both": both, "truth": found["truth"]}, "parquet")
    cut = Cut(score="sa", threshold=0.5, positive="x", negative="z")
    given = COMMON | {"data": paths["both"], "truth_data": paths["truth"], "predicted": {"a": cut, "b": "pb"}}
    one = told(**given, weight="w", score={"a": "sa", "b": "sb"})
    assert one["samples"] == N
    calls = pl.when(pl.col("sa") >= 0.5).then(pl.lit("x")).otherwise(pl.lit("z"))
    whole = both.with_columns(pa=calls).join(found["truth"], on="id")
    plain = {"truth": "y", "predicted": {"a": "pa", "b": "pb"}, "score": {"a": "sa", "b": "sb"}, "positive": "x"}
    assert one["tallies"] == told(data=whole, **plain, weight="w")["tallies"]


HELD = {
    "scores of subjects": {"score": "s", "subject": "who", "id": "id"},
    "scores with weights": {"predicted": "p", "score": "s", "weight": "w", "id": "id"},
    "scores of classes": {"score": {"x": "s", "z": "t"}, "id": "id"},
    "few subjects": {"predicted": "p", "subject": "who", "id": "id"},
    "ids that only memory matches": {"predicted": "p", "id": "part"},
}


@pytest.mark.parametrize("wanted", HELD)
def test_no_more_rows_of_files_are_held_than_is_allowed(wanted, tmp_path):
    found = tables()
    found = {name: found["truth"].join(found[name], on="id").with_columns(t=1 - pl.col("s")) for name in "ab"}
    found = {name: one.with_columns(part=pl.col("id").str.slice(1).cast(pl.Float64)) for name, one in found.items()}
    given = {"truth": "y", "positive": "x", "data": saved(tmp_path, found, "parquet")} | HELD[wanted]
    assert told(**given, exact_scores=N)["samples"] == N
    code, what, _, _, known, fix = told(**given, exact_scores=N - 1)
    assert code == "comparison-needs"
    assert what.endswith(f"{N} of them would have to be held in memory")
    assert (known, "--exact-scores" in fix) == (f"{N - 1} rows are held unless more are allowed", True)
    one = told(**(given | {"data": found}), exact_scores=N - 1)
    assert isinstance(one, dict), one
