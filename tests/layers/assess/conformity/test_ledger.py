# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from assay.assess.conformity.ledger import NAME, add_note, ledger_of, looked, registered, shape_of
from assay.assess.conformity.plan_run import run_planned
from assay.assess.plan.checked_plan import load_plan
from assay.assess.record.record import Record
from assay.assess.record.verification import verify
from assay.core.errors import PlanError, RecordError
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
    add_note(folder / "own.jsonl", "tuned C", purpose="tune", data="0" * 64, model="A")
    named = PLAN + '[tuning]\nledger = "own.jsonl"\n'
    for looks in (1, 2):
        record = run(folder, named)
        assert checked(record)["verdict"] == "pass", checked(record)["says"]
        assert record["ledger"]["looks"] == looks
    assert not (folder / NAME).exists()
    assert [one["purpose"] for one in lines(folder, "own.jsonl")] == ["tune", "plan", "test", "test"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (
            {"time": "2024-01-01T00:00:00+00:00", "purpose": "tune", "data": "0" * 64},
            "1 entry outside the chain of lines",
        ),
        (
            {"time": "2024-01-01T00:00:00+00:00", "purpose": "tune", "data": "", "before": ""},
            "without the digest of its",
        ),
    ],
)
def test_a_line_that_shows_neither_its_time_nor_its_data_is_a_statement(folder, line, why):
    (folder / "own.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    record = run(folder, PLAN + '[tuning]\nledger = "own.jsonl"\n')
    assert checked(record)["verdict"] == "declared"
    assert why in checked(record)["says"]


def test_every_record_holds_the_end_of_its_ledger_and_a_cut_one_shows(folder):
    first = run(folder)
    path = folder / NAME
    whole = path.read_bytes()
    last = whole.splitlines()[-1]
    assert first["ledger"]["end"] == {"lines": 2, "digest": hashlib.sha256(last).hexdigest()}
    (folder / "record.json").write_text(first.to_text(), encoding="utf-8")
    command.assay("ledger", "add", "looked at the errors", "--purpose", "note", cwd=folder)
    assert command.assay("ledger", "check", NAME, "record.json", cwd=folder).returncode == 0
    path.write_bytes(whole.splitlines(keepends=True)[0])
    done = command.assay("ledger", "check", NAME, "record.json", cwd=folder)
    assert done.returncode == 1
    assert "line 2 is cut off or another one" in done.stdout


def test_a_choice_is_entered_with_the_digest_of_its_data(folder):
    done = command.assay("ledger", "add", "tuned C on validation", "--data", "test.csv", "--model", "A", cwd=folder)
    assert done.returncode == 0, done.stderr
    (line,) = lines(folder)
    assert line["says"] == "tuned C on validation"
    assert line["data"] == hashlib.sha256((folder / "test.csv").read_bytes()).hexdigest()
    assert line["before"] == ""
    done = command.assay("ledger", "add", "x", "--data", "nowhere.csv", cwd=folder)
    assert done.returncode == 2
    assert len(lines(folder)) == 1


def test_a_half_line_names_its_fix(folder):
    run(folder)
    path = folder / NAME
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(RecordError, match="cut off") as error:
        run(folder)
    assert "delete line 2" in error.value.fix


def test_a_last_line_without_its_end_is_completed_before_another_is_added(folder):
    line = {"time": "2024-01-01T00:00:00+00:00", "purpose": "tune", "data": "0" * 64}
    (folder / NAME).write_text(json.dumps(line), encoding="utf-8")
    run(folder)
    assert [one["purpose"] for one in lines(folder)] == ["tune", "plan", "test"]


def test_what_cannot_be_written_whole_is_taken_back(folder, monkeypatch):
    run(folder)
    before = (folder / NAME).read_bytes()
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(PlanError, match="No space left"):
        add_note(folder / NAME, "tuned", purpose="tune", data="", model=None)
    assert (folder / NAME).read_bytes() == before


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
    with pytest.raises(RecordError, match="not JSON") as error:
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
        list(pool.map(lambda i: looked(access, [{"model": f"M{i}", "data": "0" * 64}]), range(40)))
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
