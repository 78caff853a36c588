# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from assay.assess.conformity.ledger import NAME, ledger_of, looked, registered, shape_of
from assay.assess.conformity.plan_run import run_planned
from assay.assess.plan.checked_plan import load_plan
from assay.assess.record.record import Record
from assay.assess.record.verification import verify
from assay.core.errors import PlanError
from tests import command
from tests.layers.assess.compare.test_plan_comparison import HEAD, rows, save

PLAN = '[metrics]\nmeasures = ["accuracy"]\n[data.test]\npath = "test.csv"\n[models.A]\npredicted = "a"\n'


@pytest.fixture
def folder(tmp_path):
    save(tmp_path / "test.csv", rows(30))
    return tmp_path


def run(folder, text=PLAN, **given):
    (folder / "plan.toml").write_text(HEAD + text, encoding="utf-8")
    return run_planned(load_plan(folder / "plan.toml"), **given)[0][1].record


def lines(folder, name=NAME):
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def checked(record):
    return next(one for one in record["controls"] if one["check"] == "CHK-LEDGER")


def test_a_run_enters_its_plan_before_and_its_look_after_counting(folder):
    record = run(folder)
    plan, look = lines(folder)
    assert (plan["purpose"], look["purpose"]) == ("plan", "test")
    assert (
        plan["time"]
        <= record["environment"]["counted_at"].replace("+00:00", ".999999+00:00")
        <= look["time"][:19] + "Z"
    )
    assert plan["plan"] == look["plan"] == record["plan"]["declared_digest"]
    assert (look["model"], look["split"]) == ("A", "test")
    assert look["data"] == record["ledger"]["data"] == next(iter(record["digests"]["files"].values()))
    assert record["ledger"]["looks"] == 1
    assert record["ledger"]["plan_registered_at"] == plan["time"]
    assert verify(Record(json.loads(record.to_text()))).mismatches == ()


def test_the_same_plan_again_is_counted_and_is_no_fault(folder):
    first, second = run(folder), run(folder)
    assert second["ledger"]["looks"] == 2
    assert second["ledger"]["plan_registered_at"] == first["ledger"]["plan_registered_at"]
    assert checked(second)["verdict"] == "no-evidence"
    assert checked(second)["says"].endswith("2 looks at the test data")


def test_a_plan_that_asks_for_other_numbers_after_a_look_wants_a_reason(folder):
    run(folder)
    other = PLAN.replace('["accuracy"]', '["recall"]')
    record = run(folder, other)
    assert checked(record)["verdict"] == "fail"
    assert "1 look at the test data by 1 earlier plan that asked for other numbers" in checked(record)["says"]
    assert record["ledger"]["earlier_plans"][0]["changed"] == ["metrics"]
    reason = run(folder, other + '[tuning]\nretested = "a slip of the pen"\n')
    assert checked(reason)["verdict"] == "declared"
    assert "a slip of the pen" in checked(reason)["says"]


def test_sentences_may_be_added_after_a_look(folder):
    run(folder)
    record = run(folder, PLAN + '[use]\nintended = "triage"\n[bias]\nanalysis = "none found"\n')
    assert checked(record)["verdict"] == "no-evidence"
    assert record["ledger"]["earlier_plans"][0]["changed"] == ["bias", "use"]


def test_a_line_that_is_changed_or_taken_out_shows(folder):
    run(folder)
    run(folder, PLAN.replace('["accuracy"]', '["recall"]'))
    path = folder / NAME
    whole = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for kept in (whole[:1] + whole[2:], [whole[0], whole[1].replace('"A"', '"B"'), *whole[2:]]):
        path.write_text("".join(kept), encoding="utf-8")
        record = run(folder, PLAN.replace('["accuracy"]', '["recall"]'))
        assert checked(record)["verdict"] == "fail"
        assert "changed or taken out" in checked(record)["says"]
        assert record["ledger"]["altered_lines"]


def test_a_named_ledger_is_continued(folder):
    tuned = {"time": "2024-01-01T00:00:00+00:00", "purpose": "tune", "data": "0" * 64}
    (folder / "own.jsonl").write_text(json.dumps(tuned) + "\n", encoding="utf-8")
    named = PLAN + '[tuning]\nledger = "own.jsonl"\n'
    for looks in (1, 2):
        record = run(folder, named)
        assert checked(record)["verdict"] == "pass", checked(record)["says"]
        assert record["ledger"]["looks"] == looks
    assert not (folder / NAME).exists()
    assert [one["purpose"] for one in lines(folder, "own.jsonl")] == ["tune", "plan", "test", "test"]


def test_a_run_that_is_not_entered_says_so(folder):
    record = run(folder, ledger=False)
    assert not (folder / NAME).exists()
    assert record["ledger"]["entered"] is False
    assert record["ledger"]["why_not"] == "the run was asked not to"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no read-only folders")
def test_a_ledger_that_cannot_be_written_is_told(folder):
    (folder / NAME).mkdir()  # root may write everywhere, but nobody can append to a folder
    record = run(folder)
    assert record["ledger"]["entered"] is False
    assert "cannot be written" in record["ledger"]["why_not"]


def test_a_ledger_that_is_none_is_refused(folder):
    (folder / NAME).write_text("not json\n", encoding="utf-8")
    with pytest.raises(Exception, match="not JSON") as error:
        run(folder)
    assert f"{NAME}, line 1" in str(error.value)
    with (folder / NAME).open("wb") as file:
        file.truncate(17 * 2**20)
    with pytest.raises(PlanError) as error:
        run(folder)
    assert error.value.code == "plan-too-large"


def test_many_writers_leave_whole_lines_in_one_chain(folder):
    (folder / "plan.toml").write_text(HEAD + PLAN, encoding="utf-8")
    loaded = load_plan(folder / "plan.toml")
    access = registered(loaded, "2026-01-01T00:00:00+00:00")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: looked(loaded, access, [{"model": f"M{i}", "data": "0" * 64}]), range(40)))
    found = ledger_of(loaded)
    assert len(found.entries) == 41
    assert found.broken == ()


def test_the_shape_of_a_plan_is_what_gives_numbers(folder):
    def shape(text):
        (folder / "plan.toml").write_text(HEAD + text, encoding="utf-8")
        return shape_of(load_plan(folder / "plan.toml"))

    same = shape(PLAN)
    assert shape(PLAN.replace("Ada", "Bob") + "[models.A.hyperparameters]\nx = {value = 1}\n") == same
    assert shape(PLAN + '[[claims]]\nmodel = "A"\nmeasure = "recall"\nat_least = 0.5\n') != same
    assert shape(PLAN.replace('predicted = "a"', 'score = "sa"\nthreshold = 0.5')) != same


def test_no_ledger_is_an_option_of_the_command_line(folder):
    (folder / "plan.toml").write_text(HEAD + PLAN, encoding="utf-8")
    done = command.assay("run", "plan.toml", "--no-ledger", "-q", "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not (folder / NAME).exists()
