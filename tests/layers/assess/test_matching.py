# SPDX-License-Identifier: Apache-2.0
"""Plans with several models compare them of their own accord."""

from __future__ import annotations

import json
import random

import pytest

from assay.assess.comparing import compare
from assay.assess.plan.loading import load_plan
from assay.assess.planned import run_planned
from assay.assess.record import Record
from assay.assess.run import assess
from assay.assess.verifying import verify
from assay.core.errors import PlanError

HEAD = """[plan]
assessor = "Ada"
date = 2026-01-31
[task]
type = "binary"
classes = ["no", "yes"]
positive = "yes"
[columns]
truth = "truth"
id = "id"
"""
ONE = '[data.test]\npath = "test.csv"\n[models.A]\npredicted = "a"\n[models.B]\npredicted = "b"\n'


def rows(n=160, seed=7):
    chance = random.Random(seed)
    found = []
    for i in range(n):
        yes = chance.random() < 0.5
        scores = [min(1.0, max(0.0, chance.gauss(0.65 if yes else 0.35, spread))) for spread in (0.15, 0.3)]
        found.append(
            {
                "id": f"patient-{i:03}",
                "truth": "yes" if yes else "no",
                "a": "yes" if scores[0] >= 0.5 else "no",
                "b": "yes" if scores[1] >= 0.4 else "no",
                "sa": f"{scores[0]:.6f}",
                "sb": f"{scores[1]:.6f}",
            }
        )
    return found


def save(path, table, *columns):
    columns = columns or tuple(table[0])
    lines = [",".join(columns), *(",".join(row[name] for name in columns) for row in table)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def planned(folder, text, metrics=""):
    path = folder / "plan.toml"
    path.write_text(f'{HEAD}[metrics]\nmeasures = ["accuracy", "recall"]\n{metrics}{text}', encoding="utf-8")
    return dict(run_planned(load_plan(path)))


@pytest.fixture
def table(tmp_path):
    found = rows()
    save(tmp_path / "test.csv", found)
    return found


def expected(table, **more):
    names = {"A": "a", "B": "b"}
    return compare(
        truth=[row["truth"] for row in table],
        predicted={name: [row[column] for row in table] for name, column in names.items()},
        positive="yes",
        labels=["no", "yes"],
        **more,
    )


def facts(findings):
    return [(one["test"], one["about"], one["p"], one["effect"]["value"]) for one in findings]


def test_the_findings_are_those_of_compare_and_both_records_hold_them(table, tmp_path):
    found = planned(tmp_path, ONE)
    for one in found.values():
        record = one.record
        assert facts(record["findings"]) == facts(expected(table).record["findings"])
        assert record["comparisons"][0]["models"] == ["A", "B"]
        assert verify(Record(json.loads(record.to_text()))).mismatches == ()


def test_models_in_files_of_their_own_and_thresholds_are_matched_by_id(table, tmp_path):
    shuffled = table[::-1]
    save(tmp_path / "a.csv", table, "id", "truth", "sa")
    save(tmp_path / "b.csv", shuffled, "id", "truth", "sb")
    text = '[data.test]\npath = "test.csv"\n'
    text += '[models.A]\npredictions = "a.csv"\nscore = "sa"\nthreshold = 0.5\n'
    text += '[models.B]\npredictions = "b.csv"\nscore = "sb"\nthreshold = 0.4\n'
    record = planned(tmp_path, text)["A"].record
    labels = facts(expected(table).record["findings"])
    assert facts(record["findings"])[: len(labels)] == labels
    assert record["findings"][-1]["test"] == "delong"
    assert verify(Record(json.loads(record.to_text()))).mismatches == ()


def test_rows_that_cannot_be_paired_are_told_and_nothing_is_compared(table, tmp_path):
    save(tmp_path / "a.csv", table, "id", "truth", "a")
    save(tmp_path / "b.csv", table[1:], "id", "truth", "b")
    text = '[data.test]\npath = "test.csv"\n'
    text += '[models.A]\npredictions = "a.csv"\npredicted = "a"\n[models.B]\npredictions = "b.csv"\npredicted = "b"\n'
    record = planned(tmp_path, text)["A"].record
    assert record["findings"] == []
    assert "not run on the same rows" in record["plan"]["not_compared"]
    assert "patient-000" not in record.to_text()
    said = next(one["says"] for one in record["controls"] if one["check"] == "CHK-SIG")
    assert "not run on the same rows" in said


@pytest.mark.usefixtures("table")
def test_a_stated_reason_keeps_tests_away(tmp_path):
    record = planned(tmp_path, ONE + '[tests]\nnone = "a second plan compares"\n')["B"].record
    assert record["findings"] == []
    assert record["plan"]["not_compared"] == "stated: a second plan compares"


def test_the_test_a_plan_names_is_run_and_says_why(table, tmp_path):
    text = ONE + '[tests]\nchosen = ["mcnemar_exact"]\njustification = "few rows disagree"\n'
    record = planned(tmp_path, text)["A"].record
    assert record["findings"][0]["test"] == "mcnemar_exact"
    assert (
        facts(record["findings"])[0]
        == facts(expected(table, test="mcnemar_exact", because="few").record["findings"])[0]
    )


@pytest.mark.usefixtures("table")
def test_a_test_that_is_not_admissible_gives_way_unless_the_plan_overrides_the_table(tmp_path):
    text = ONE + '[tests]\nchosen = ["two_shares"]\njustification = "habit"\n'
    for more, test, label in (("", "mcnemar", False), ("override = true\n", "two_shares", True)):
        record = planned(tmp_path, text + more)["A"].record
        assert record["findings"][0]["test"].startswith(test)
        assert bool(record["findings"][0]["label"]) is label
        held = next(one for one in record["controls"] if one["check"] == "CHK-TEST")
        assert held["verdict"] == "fail"
        assert "not admissible: two_shares" in held["says"]


@pytest.mark.usefixtures("table")
def test_two_tests_for_one_question_are_refused(tmp_path):
    with pytest.raises(PlanError) as error:
        planned(tmp_path, ONE + '[tests]\nchosen = ["mcnemar_exact", "mcnemar_midp"]\njustification = "both"\n')
    assert "2 tests are chosen by hand for one question" in str(error.value)


@pytest.mark.usefixtures("table")
def test_non_inferiority_to_a_reference_record_is_decided_by_the_plan(tmp_path):
    better = assess(truth=["no", "yes"] * 200, predicted=["no", "yes"] * 200, positive="yes")
    better.save(tmp_path / "reference.json")
    text = '[data.test]\npath = "test.csv"\n[models.A]\npredicted = "a"\n'
    held = 'against = "reference.json"\naccept = ["recall non-inferior margin 0.02", "recall >= 0.5"]\n'
    one = planned(tmp_path, text, held)[""]
    verdicts = {str(x.criterion): str(x.verdict) for x in one.decisions}
    assert verdicts == {"recall non-inferior margin 0.02": "fail", "recall >= 0.5": "pass"}
    told = one.record["decisions"][0]["reference"]
    assert (told["name"], told["pairing"]) == ("reference.json", "unpaired")
    assert one.record["plan"]["accept"]["against"]["digest"] == better.record["digests"]["record"]
    assert one.record["decisions"][0]["family"] == 2
    assert verify(Record(json.loads(one.record.to_text()))).mismatches == ()
