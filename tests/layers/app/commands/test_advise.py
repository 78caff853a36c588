# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest

from assay.core.task import find_task, task_names
from assay.inference.power import rows_for_limit, rows_for_mcnemar
from assay.measures.catalogue import guidance_of, proposed
from assay.measures.declare import parse
from tests.command import assay


def advice(*words, cwd=None):
    done = assay("advise", *words, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def leading(answer):
    return [line.partition(":")[0] for line in answer["measures"] if ": use it when " in line]


@pytest.fixture
def table(tmp_path):
    rows = [("ill", "ill", "ill")] * 30 + [("well", "well", "ill")] * 40 + [("well", "well", "well")] * 130
    text = "\n".join(",".join(row) for row in [("truth", "old", "new"), *rows])
    (tmp_path / "two.csv").write_text(text + "\n", encoding="utf-8")
    return tmp_path


def test_unbalanced_classes_of_a_file_are_seen_and_accuracy_is_refused(table):
    words = ("two.csv", "--truth", "truth", "--predicted", "old", "--predicted", "new", "--positive", "ill")
    answer = advice(*words, "--difference", "0.05", cwd=table)
    assert leading(answer) == ["matthews_corrcoef", "recall", "precision", "f1"]
    assert any(line.startswith("not accuracy alone") and "5.67 times" in line for line in answer["measures"])
    assert answer["tests"][0].startswith("accuracy of 2 models: mcnemar_midp; 40 rows disagree")
    assert f"{rows_for_mcnemar(0.05, 0.2):,} rows, if 0.2 of them" in answer["rows"][0]
    assert "30 of 200 rows" in answer["rows"][1]


def test_stated_facts_are_enough():
    words = ("--classes", "2", "--prevalence", "0.02", "--scores", "--criterion", "recall >= 0.9", "--expected", "0.95")
    answer = advice(*words, "--costly", "misses")
    assert leading(answer) == ["recall", "f2", "precision", "average_precision", "brier_score"]
    needed = rows_for_limit(0.95, 0.9)
    assert f"{needed:,} positive rows" in answer["rows"][0]
    assert f"so {needed * 50:,} rows in all" in answer["rows"][0]
    assert advice("--classes", "2", "--prevalence", "0.5", "--scores")["measures"][3].startswith("auroc: ")


def test_several_classes_units_and_models_lead_to_other_tests():
    assert leading(advice("--classes", "5", "--prevalence", "0.01"))[0] == "balanced_accuracy"
    assert advice("--models", "3")["tests"][0].startswith("accuracy of 3 models: cochran_q")
    assert "subject_permutation; all answers on one patient" in " ".join(
        advice("--models", "2", "--unit", "patient")["tests"]
    )


def test_a_plan_gives_its_facts(table):
    plan = """
assay = "1"
[task]
type = "binary"
classes = ["well", "ill"]
positive = "ill"
[models.old]
predicted = "old"
[models.new]
predicted = "new"
[columns]
truth = "truth"
[data.test]
role = "test"
path = "two.csv"
[metrics]
accept = ["recall >= 0.8"]
[tests]
difference = 0.05
"""
    (table / "plan.toml").write_text(plan, encoding="utf-8")
    answer = advice("plan.toml", "--expected", "0.9", cwd=table)
    assert leading(answer)[0] == "recall"
    assert "mcnemar_midp; 40 rows disagree" in answer["tests"][0]
    assert answer["rows"][0].startswith("recall >= 0.8: ")
    assert "30 of 200 rows" in answer["rows"][2]


@pytest.mark.parametrize("task", list(task_names()))
def test_every_task_has_measures_to_propose(task):
    registry = find_task(task).registry
    answer = advice("--task", task, "--models", "2")
    assert leading(answer)
    assert all(guidance_of(parse(name, registry)).use for name in leading(answer))
    assert [name for names in proposed(task).values() for name in names if name not in registry] == []


def test_a_column_that_is_not_there_is_named_with_those_that_are(table):
    done = assay("advise", "two.csv", "--truth", "trut", cwd=table)
    assert done.returncode != 0
    assert 'did you mean "truth"?' in done.stderr


def test_people_read_three_sections():
    done = assay("advise", "--classes", "2")
    heads = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert heads[:3] == ["Which measure", "Which test", "How many rows"]
