# SPDX-License-Identifier: Apache-2.0
"""Crossed groups: alike on every engine, listed where empty, never giving a small cell away; criteria about gaps."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import assay
from assay.assess.record.record import Record
from assay.assess.record.verification import verify
from assay.assess.shared_tally import given_away, pooled
from tests import command

CHANCE = np.random.default_rng(4213)
SIZE = 400
FRAME = pd.DataFrame({"y": CHANCE.integers(0, 2, SIZE), "sex": CHANCE.choice(["f", "m"], SIZE),
                      "age": CHANCE.integers(0, 3, SIZE), "flag": CHANCE.random(SIZE) < 0.5})  # fmt: skip
FRAME["p"] = np.where(CHANCE.random(SIZE) < 0.8, FRAME["y"], 1 - FRAME["y"])
FRAME["s"] = np.round(0.3 * FRAME["y"] + 0.6 * CHANCE.random(SIZE), 3)
ROLES = {"truth": "y", "predicted": "p", "score": "s", "positive": 1, "group": ["sex", "age", "flag"]}
CROSS = ["sex:age", ("sex", "flag")]


def test_crossed_groups_are_the_same_from_arrays_frames_and_files(tmp_path):
    FRAME.to_parquet(tmp_path / "rows.parquet")
    arrays = {
        name: FRAME[column].to_numpy() for name, column in ROLES.items() if name in ("truth", "predicted", "score")
    }
    groups = {name: FRAME[name].to_numpy() for name in ROLES["group"]}
    whole = assay.assess(**arrays, positive=1, group=groups, cross=CROSS)
    assert list(whole.by_group["sex:flag"]) == ["f:False", "f:True", "m:False", "m:True"]
    for data in (FRAME, pl.from_pandas(FRAME), str(tmp_path / "rows.parquet")):
        assert assay.assess(data=data, **ROLES, cross=CROSS).grouped.to_json() == whole.grouped.to_json()
    by_hand = FRAME[(FRAME["sex"] == "f") & (FRAME["age"] == 2)]
    level = whole.by_group["sex:age"]["f:2"]
    assert level["accuracy"].value == float((by_hand["y"] == by_hand["p"]).mean())


def test_other_tasks_cross_groups_in_memory():
    for data in (FRAME, pl.from_pandas(FRAME), dict(FRAME)):
        a = assay.regression(data=data, truth="s", predicted="y", group=["sex", "age"], cross="sex:age")
        assert list(a.by_group["sex:age"]) == ["f:0", "f:1", "f:2", "m:0", "m:1", "m:2"]
    with pytest.raises(assay.PlanError, match="in memory only"):
        assay.regression(data="rows.csv", truth="s", predicted="y", group=["sex", "age"], cross="sex:age")


@pytest.mark.parametrize("cross", ["sex", "sex:sex", "sex:nope", ["sex"], [3], 3, "sex:"])
def test_what_cannot_be_crossed_is_refused(cross):
    with pytest.raises(assay.PlanError, match="does not name two or more groups"):
        assay.assess(data=FRAME, **ROLES, cross=cross)


def test_rows_without_a_level_are_crossed_too_and_colons_are_kept_apart():
    a = assay.assess(truth=[1, 0, 1, 0], predicted=[1, 0, 0, 0], positive=1,
                     group={"a": ["x:y", "x", None, "(missing)"], "b": ["z", "y:z", "z", "z"]}, cross=True)  # fmt: skip
    assert set(a.by_group["a:b"]) == {"x\\:y:z", "x:y\\:z", "((missing)):z", "(missing):z"}


def test_a_small_cell_never_follows_from_the_margins():
    levels = {"a": dict.fromkeys("xy"), "b": dict.fromkeys("uv")}
    assert given_away("a:b", {"a": [], "b": [], "a:b": ["x:u", "y:v"]}, levels)
    assert not given_away("a:b", {"a": [], "b": [], "a:b": ["x:u", "x:v", "y:u", "y:v"]}, levels)
    few = pd.concat(
        [FRAME[(FRAME["sex"] == "m") | (FRAME["age"] > 0)], FRAME[FRAME["sex"] == "f"].head(3).assign(age=0)]
    )
    a = assay.assess(data=few, truth="y", predicted="p", positive=1, group=["sex", "age"], cross="sex:age")
    kept = pooled(a, 5)
    assert set(kept.grouped.factors) == {"sex", "age"}
    assert any("would show" in note for note in kept.notes)


def test_criteria_about_gaps_are_decided_by_their_intervals_and_verify():
    a = assay.assess(data=FRAME, truth="y", predicted="p", positive=1, group=["sex", "age"], cross="sex:age")
    texts = ["gap(recall, sex) <= 0.5", "gap(recall, sex) <= 0.001 simple", "equal opportunity(sex) <= 0.6",
             "four_fifths(sex)", "ratio(recall, sex) >= 0.99"]  # fmt: skip
    decided = a.accept(*texts)
    assert [str(one.verdict) for one in decided.decisions] == ["pass", "fail", "pass", "inconclusive", "inconclusive"]
    assert [str(one.criterion) for one in decided.decisions][2:4] == [
        "false_negative_rate_balance(sex) <= 0.6", "four_fifths(sex) >= 0.8"]  # fmt: skip
    assert verify(Record(json.loads(decided.record.to_text()))).mismatches == ()
    interval = a.fairness["sex"]["gap(recall)"]
    alone = a.accept("gap(recall, sex) <= 0.5").decisions[0]
    assert (alone.value, alone.interval.low, alone.interval.high) == (interval.value, interval.low, interval.high)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("gap(recall) <= 0.1", "which group"),
        ("gap(recall, nope) <= 0.1", "no group"),
        ("gap(nope, sex) <= 0.1", "no measure"),
        ("gap(recall, sex) non-inferior margin 0.1", "cannot be read"),
        ("gap(recall, sex)", "cannot be read"),
    ],
)
def test_a_criterion_about_gaps_that_cannot_be_read_is_refused(text, says):
    a = assay.assess(data=FRAME, truth="y", predicted="p", positive=1, group=["sex"])
    with pytest.raises(assay.PlanError, match=says):
        a.accept(text)


def test_a_pass_needs_every_combination():
    rows = FRAME[(FRAME["sex"] == "m") | (FRAME["age"] > 0)]
    a = assay.assess(data=rows, truth="y", predicted="p", positive=1, group=["sex", "age"], cross="sex:age")
    one = a.accept("gap(accuracy, sex:age) <= 0.9").decisions[0]
    assert str(one.verdict) == "inconclusive"
    assert '"f:0" (0 rows): there are no rows' in one.why


def test_the_command_line_crosses_and_gates(tmp_path):
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    words = ("run", "rows.csv", "--truth", "y", "--predicted", "p", "--positive", "1", "--cross", "sex:age", "--quiet")
    done = command.assay(*words, "--accept", "gap(recall, sex) <= 0.001", "--json", cwd=tmp_path)
    assert done.returncode in (1, 3), done.stderr
    record = json.loads(done.stdout)
    assert list(record["tallies"]["groups"]) == ["sex", "age", "sex:age"]
