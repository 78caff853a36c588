# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import tomllib

import jsonschema
import pytest

from assay.assess.record.record import schema
from tests.command import assay

ROWS = "id,truth,guess,site\n" + "".join(
    f"s{i},{'yes' if i % 3 else 'no'},{'yes' if i % 4 else 'no'},{'AB'[i % 2]}\n" for i in range(60)
)


@pytest.fixture
def predictions(tmp_path):
    path = tmp_path / "predictions.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def drafted(predictions, *options):
    done = assay("init", predictions, "--truth", "truth", "--predicted", "guess", "--positive", "yes", *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_init_writes_a_plan_that_checks_and_runs(predictions, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(drafted(predictions, "--id", "id", "--channel", "site", "--assessor", "A"), encoding="utf-8")
    checked = assay("plan", "check", plan)
    assert checked.returncode == 0, checked.stderr
    assert "rows that want a statement" in checked.stderr
    done = assay("run", plan, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("verdict  ")
    assert [line.split()[0] for line in done.stderr.splitlines()] == [
        "report",
        str(tmp_path / "out/record.json"),
        "next",
    ]
    record = json.loads((tmp_path / "out" / "record.json").read_text(encoding="utf-8"))
    jsonschema.validate(record, schema())
    declared = record["plan"]
    assert (declared["given"], declared["model"], declared["split"]) == ("plan", "model", "test")
    assert declared["declared"]["columns"] == {"truth": "truth", "id": "id"}
    assert declared["frozen_at"] <= record["environment"]["counted_at"].replace("+00:00", ".999999+00:00")
    assert [level["level"] for level in record["tallies"]["groups"]["site"]] == ["A", "B"]


def test_a_short_plan_is_about_fifteen_lines_and_a_full_one_lists_every_field(predictions):
    short, full = drafted(predictions), drafted(predictions, "--full")
    assert len([line for line in short.splitlines() if line.strip()]) <= 16
    whole = {name: part for name, part in tomllib.loads(full).items() if part}
    assert tomllib.loads(short) == {**whole, "plan": {}}
    assert len(full.splitlines()) > 200


def test_init_reads_splits_models_and_estimators(predictions, tmp_path):
    (tmp_path / "train.csv").write_text(ROWS.replace("guess", "size").replace("s1", "t1"), encoding="utf-8")
    (tmp_path / "a.csv").write_text("id,answer,p\n" + "".join(f"s{i},yes,0.{i % 9}\n" for i in range(60)))
    (tmp_path / "a.json").write_text('{"algorithm": "trees", "hyperparameters": {"depth": 3, "seeds": [1]}}')
    done = assay(
        "init", "--test", predictions, "--train", tmp_path / "train.csv", "--truth", "truth", "--id", "id",
        "--positive", "yes", "--model", f"A={tmp_path / 'a.csv'}", "--estimator", tmp_path / "a.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    plan = tomllib.loads(done.stdout)
    wanted = {"predictions": "a.csv", "joined": True, "predicted": "answer", "score": "p", "trained_on": "train"}
    assert wanted.items() <= plan["models"]["A"].items()
    assert plan["models"]["A"]["algorithm"] == "trees"
    assert plan["models"]["A"]["hyperparameters"] == {"depth": {"value": 3, "type": "int"}}
    assert plan["columns"]["features"] == ["site"]
    assert plan["data"]["train"]["path"] == "train.csv"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--model", "A=nowhere.csv"), "there is no file nowhere.csv"),
        (("--estimator", "B=params.json"), 'there is no model "B"'),
        (("--train", "/etc/hostname"), "does not lie in the folder"),
    ],
)
def test_init_says_what_is_wrong_with_a_file(predictions, options, says):
    done = assay("init", predictions, "--truth", "truth", "--predicted", "guess", "--positive", "yes", *options)
    assert done.returncode in (2, 4)
    assert says in done.stderr


def test_a_check_tells_what_is_missing_for_conforming_and_ranks_the_next_five(predictions, tmp_path):
    (tmp_path / "plan.toml").write_text(drafted(predictions), encoding="utf-8")
    found = json.loads(assay("plan", "check", tmp_path / "plan.toml", "--json").stdout)
    assert found["missing_for_conforming"][:2] == ["plan.assessor", "plan.date"]
    assert {"tuning.test_unused", "data.@train.path", "columns.id"} <= set(found["missing_for_conforming"])
    assert [one["answer"] for one in found["next"]] == found["missing_for_conforming"][:5]
    assert found["next"][0]["write"] == '[plan] assessor = "Ada Example"'
    said = assay("plan", "check", tmp_path / "plan.toml").stderr
    assert f"conforming  {len(found['missing_for_conforming'])} answers missing" in said
    assert "  next 5 " in said


def test_a_planned_run_gives_the_numbers_of_the_same_run_without_a_plan(predictions, tmp_path):
    (tmp_path / "plan.toml").write_text(drafted(predictions), encoding="utf-8")
    planned = json.loads(assay("run", tmp_path / "plan.toml", "--json", "-q", "-o", tmp_path / "a").stdout)
    roles = ("--truth", "truth", "--predicted", "guess", "--positive", "yes", "--label", "no", "--label", "yes")
    ad_hoc = json.loads(assay("run", predictions, *roles, "--json", "-q", "-o", tmp_path / "b").stdout)
    assert planned["estimates"] == ad_hoc["estimates"]
    assert planned["plan"]["digest"] != ad_hoc["plan"]["digest"]


def test_several_models_get_a_folder_each(predictions, tmp_path):
    text = drafted(predictions) + '\n[models.other]\npredicted = "truth2"\n'
    predictions.write_text(ROWS.replace("site\n", "site,truth2\n").replace("A\n", "A,yes\n").replace("B\n", "B,no\n"))
    text = "\n".join(line for line in text.splitlines() if not line.startswith("sha256"))
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    done = assay("run", tmp_path / "plan.toml", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert sorted(p.parent.name for p in (tmp_path / "out").rglob("record.json")) == ["model", "other"]


def test_a_file_that_is_not_the_planned_one_is_refused_and_nothing_is_written(predictions, tmp_path):
    (tmp_path / "plan.toml").write_text(drafted(predictions), encoding="utf-8")
    predictions.write_text(ROWS + "s60,yes,yes,A\n", encoding="utf-8")
    done = assay("run", tmp_path / "plan.toml", "-o", tmp_path / "out")
    assert done.returncode == 4
    assert "E-DIGEST-MISMATCH" in done.stderr
    assert not (tmp_path / "out").exists()


def test_errors_of_a_plan_end_with_exit_code_2_and_as_json_for_machines(tmp_path):
    (tmp_path / "plan.toml").write_text("[plan]\ntitel = 1\n", encoding="utf-8")
    done = assay("plan", "check", tmp_path / "plan.toml", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"] == "plan-invalid"


def test_options_about_rows_are_refused_beside_a_plan(predictions, tmp_path):
    (tmp_path / "plan.toml").write_text(drafted(predictions), encoding="utf-8")
    done = assay("run", tmp_path / "plan.toml", "--level", "0.9")
    assert done.returncode == 2
    assert "--level" in done.stderr


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ((), "--truth COLUMN"),
        (("--truth", "truth"), "--predicted COLUMN"),
        (("--truth", "truth", "--predicted", "guess"), "--positive LABEL"),
        (("--truth", "truht", "--predicted", "guess"), 'did you mean "truth"?'),
        (("--truth", "id", "--predicted", "guess"), "more than 40 distinct values"),
    ],
)
def test_init_says_what_it_cannot_know(predictions, options, word):
    done = assay("init", predictions, *options)
    assert done.returncode in (2, 4)
    assert word in done.stderr
    assert done.stdout == ""


def test_init_does_not_write_over_a_plan(predictions, tmp_path):
    out = tmp_path / "plan.toml"
    out.write_text("mine", encoding="utf-8")
    roles = ("--truth", "truth", "--predicted", "guess", "--positive", "yes")
    assert assay("init", predictions, *roles, "-o", out).returncode == 2
    assert out.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("section", "word"),
    [
        ("", "truth column"),
        ('[columns]\ntruth = "truth"\n', "test split"),
        ("[task]\ntype='multilabel'\n", "[task.given]"),
    ],
)
def test_a_plan_that_cannot_be_run_yet_says_what_it_lacks(tmp_path, section, word):
    (tmp_path / "plan.toml").write_text(section, encoding="utf-8")
    done = assay("run", tmp_path / "plan.toml")
    assert done.returncode == 2
    assert word in done.stderr


def test_the_schema_of_a_plan_is_printed():
    assert json.loads(assay("schema", "--kind", "plan").stdout)["title"] == "assay plan"


def test_the_drafted_plan_holds_the_digest_of_the_file(predictions):
    assert len(tomllib.loads(drafted(predictions))["data"]["test"]["sha256"]) == 64


def test_scores_and_a_threshold_chosen_on_validation_data_follow_the_plan(tmp_path):
    import random

    rng = random.Random(3)
    for name in ("validation", "test"):
        rows = [(i, rng.random() < 0.4) for i in range(300)]
        text = "".join(
            f"{name}{i},{'yes' if y else 'no'},{min(1, max(0, rng.gauss(0.6 if y else 0.4, 0.2))):.4f}\n"
            for i, y in rows
        )
        (tmp_path / f"{name}.csv").write_text("id,truth,score\n" + text, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(
        """
[task]
type = "binary"
classes = ["no", "yes"]
positive = "yes"
[columns]
truth = "truth"
id = "id"
[metrics]
measures = ["auroc", "recall", "specificity"]
operating_points = [0.3, 0.7]
[models.A]
score = "score"
scores = "probability"
threshold_rule = "youden"
threshold_from = "validation"
[data.validation]
path = "validation.csv"
[data.test]
path = "test.csv"
""",
        encoding="utf-8",
    )
    done = assay("run", tmp_path / "plan.toml", "--json", "-q", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert {one["measure"] for one in record["estimates"]} >= {"auroc", "recall", "specificity"}
    found = {one["check"]: one["verdict"] for one in record["controls"] if one["part"] is None}
    assert (found["CHK-OPP"], found["CHK-THRESH"]) == ("pass", "pass")


def test_a_plan_gives_one_score_column_for_each_class_and_says_how_they_are_mended(tmp_path):
    rows = ["y,p_a,p_b,p_c", *(f"{'abc'[i % 3]},0.{i % 7 + 1},0.{i % 5 + 1},0.2" for i in range(30))]
    (tmp_path / "test.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "plan.toml").write_text(
        """
[task]
type = "multiclass"
classes = ["a", "b", "c"]
[columns]
truth = "y"
[metrics]
measures = ["auroc_macro", "accuracy"]
[models.A]
score = {a = "p_a", b = "p_b", c = "p_c"}
scores = "probability"
renormalise = true
[data.test]
path = "test.csv"
""",
        encoding="utf-8",
    )
    done = assay("run", tmp_path / "plan.toml", "--json", "-q", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["scores"]["rescaled"]["rows"] == 26
    assert record["plan"]["scores"]["renormalise"] is True


def test_a_threshold_chosen_on_test_data_is_an_error_of_the_plan(tmp_path):
    text = "[models.A]\nscore = 's'\nthreshold_rule = 'youden'\nthreshold_from = 'test'\n[data.test]\n"
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    done = assay("plan", "check", tmp_path / "plan.toml")
    assert done.returncode == 2
    assert "chosen on test data" in done.stderr


@pytest.mark.parametrize(
    ("criterion", "code"), [("accuracy >= 0.1", 0), ("accuracy >= 0.99", 1), ("accuracy >= 0.5", 3)]
)
def test_acceptance_criteria_of_a_plan_decide_the_exit_code(predictions, tmp_path, criterion, code):
    text = drafted(predictions) + f'\n[metrics]\naccept = ["{criterion}"]\n'
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    done = assay("run", tmp_path / "plan.toml", "-o", tmp_path / "out", "-q", "--json")
    assert done.returncode == code, done.stderr
    record = json.loads(done.stdout)
    assert len(record["decisions"]) == 1
    assert assay("verify", tmp_path / "out" / "record.json").returncode == 0


def test_a_criterion_that_cannot_be_read_is_an_error_of_the_plan(tmp_path):
    (tmp_path / "plan.toml").write_text('[metrics]\naccept = ["recal >= 0.5"]\n', encoding="utf-8")
    done = assay("plan", "check", tmp_path / "plan.toml")
    assert done.returncode == 2
    assert "line 2" in done.stderr
