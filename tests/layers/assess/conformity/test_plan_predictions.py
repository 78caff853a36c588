# SPDX-License-Identifier: Apache-2.0
"""Predictions that a plan makes here, and the example that conforms because of it."""

from __future__ import annotations

import csv
import hashlib
import json

import pytest

from assay.assess.conformity.plan_run import run_planned
from assay.assess.conformity.plan_sources import FOLDER
from assay.assess.plan.checked_plan import load_plan
from assay.assess.record.record import Record
from assay.assess.record.verification import verify
from assay.core.errors import EngineError, PlanError
from tests import command
from tests.layers.assess.compare.test_plan_comparison import HEAD, rows, save
from tests.layers.assess.examples import maker

PLAN = '[metrics]\nmeasures = ["accuracy"]\n[data.test]\npath = "test.csv"\n[models.A]\npredicted = "out"\n'
PROGRAM = """import csv, sys
with open(sys.argv[1], newline="") as read, open(sys.argv[2], "w", newline="") as written:
    writer = csv.writer(written)
    writer.writerow(["id", "out"])
    writer.writerows([row["id"], "yes" if float(row["sa"]) >= 0.5 else "no"] for row in csv.DictReader(read))
"""


def planned(folder, program=PROGRAM, words='"{inputs}", "{predictions}"', more=""):
    """A plan whose command is a small program."""
    table = rows(40)
    save(folder / "test.csv", table, "id", "truth", "sa")
    (folder / "predict.py").write_text(program, encoding="utf-8")
    text = f'{HEAD}{PLAN}[run]\ncommand = ["{{python}}", "predict.py", {words}]\n{more}'
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return table, folder / "plan.toml"


def test_a_command_reads_rows_without_truth_and_its_answers_are_assessed(tmp_path):
    table, plan = planned(tmp_path)
    ((_, one),) = run_planned(load_plan(plan), allow_command=True)
    right = sum((float(row["sa"]) >= 0.5) == (row["truth"] == "yes") for row in table)
    assert one["accuracy"].value == right / len(table)
    with (tmp_path / FOLDER / "test-inputs.csv").open(encoding="utf-8", newline="") as file:
        assert next(csv.reader(file)) == ["id", "sa"]
    made = one.record["environment"]["run"]
    assert made["predictions_sha256"] == hashlib.sha256((tmp_path / FOLDER / "A-test.csv").read_bytes()).hexdigest()
    assert made["seconds"] > 0
    assert str(tmp_path) not in one.record.to_text()
    assert verify(Record(json.loads(one.record.to_text()))).mismatches == ()


def test_nothing_is_run_unless_somebody_agrees(tmp_path):
    _, plan = planned(tmp_path)
    with pytest.raises(PlanError, match="nobody agreed") as error:
        run_planned(load_plan(plan))
    assert "--allow-command" in error.value.fix
    assert not (tmp_path / FOLDER).exists()


@pytest.mark.parametrize(
    ("program", "more", "says"),
    [
        ("import sys; sys.exit('no weights')", "", "no weights"),
        ("pass", "", "wrote no predictions"),
        ("import time; time.sleep(9)", "seconds = 0.2\n", "more than 0.2 seconds"),
        ("import sys; open(sys.argv[1], 'a').write('x')\nopen(sys.argv[2], 'w')", "", "changed its inputs"),
    ],
)
def test_a_command_that_fails_is_an_error_with_its_last_words(tmp_path, program, more, says):
    _, plan = planned(tmp_path, program, more=more)
    with pytest.raises(EngineError, match=says) as error:
        run_planned(load_plan(plan), allow_command=True, ledger=False)
    assert error.value.code == "run-failed"


def test_a_command_without_inputs_or_ids_is_an_error_of_the_plan(tmp_path):
    _, plan = planned(tmp_path, words='"{predictions}"')
    with pytest.raises(PlanError, match="the command is not given"):
        load_plan(plan)
    plan.write_text(plan.read_text(encoding="utf-8").replace('id = "id"\n', ""), encoding="utf-8")
    with pytest.raises(PlanError, match=r"columns\.id"):
        load_plan(plan)


@pytest.mark.parametrize(
    ("faulty", "code", "says"),
    [
        (False, 0, "conforming: all 10 shall rows pass or do not apply"),
        (True, 1, "non-conforming: 1 shall row failed: R-5.3.5-2"),
    ],
)
def test_the_example_whose_models_answer_here_conforms_and_its_faulty_twin_does_not(tmp_path, faulty, code, says):
    maker().make(tmp_path, faulty=faulty, here=True)
    done = command.assay("run", "plan.toml", "--allow-command", "--require", "conforming", cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert says in done.stdout + done.stderr
    record = Record.load(tmp_path / "assay-out" / "A" / "record.json")
    assert verify(record).holds
    found = {row["id"]: row["verdict"] for row in record["conformity"]["rows"]}
    assert [found[name] for name in ("R-5.3.11-3", "R-5.3.12-1", "R-5.3.12-2")] == ["pass"] * 3


def estimators(folder):
    """A plan whose models are estimators of scikit-learn: one fitted, one to be fitted on the training rows."""
    import joblib
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(4213)
    for name, size in (("train", 60), ("test", 40)):
        truth = np.arange(size) % 2
        x = truth + rng.normal(0, 0.7, size)
        cells = zip(truth, x, rng.random(size), strict=True)
        lines = [f"{name}{i},{('no', 'yes')[t]},{v:.4f},{w:.4f}" for i, (t, v, w) in enumerate(cells)]
        (folder / f"{name}.csv").write_text("id,truth,x,z\n" + "\n".join(lines) + "\n", encoding="utf-8")
    rows = np.genfromtxt(folder / "train.csv", delimiter=",", skip_header=1, usecols=(2, 3))
    fitted = LogisticRegression().fit(rows, np.where(np.arange(60) % 2, "yes", "no"))
    joblib.dump(fitted, folder / "A.joblib")
    joblib.dump(LogisticRegression(), folder / "B.joblib")
    models = "".join(
        f'[models.{name}]\npredicted = "p{name}"\nscore = "s{name}"\nartefact = "{name}.joblib"\ntrained_on = "train"\n'
        for name in "AB"
    )
    (folder / "plan.toml").write_text(
        '[task]\ntype = "binary"\nclasses = ["no", "yes"]\npositive = "yes"\n'
        '[columns]\ntruth = "truth"\nid = "id"\nfeatures = ["x", "z"]\n[data.train]\npath = "train.csv"\n'
        '[data.test]\npath = "test.csv"\n[metrics]\nmeasures = ["accuracy", "auroc"]\n'
        f"[run]\nartefacts = true\n{models}",
        encoding="utf-8",
    )
    return fitted


def test_estimators_answer_here_fitted_before_or_fitted_by_conduct(tmp_path):
    import numpy as np

    fitted = estimators(tmp_path)
    with pytest.raises(PlanError, match="loads an estimator"):
        run_planned(load_plan(tmp_path / "plan.toml"), ledger=False)
    (_, a), (_, b) = run_planned(load_plan(tmp_path / "plan.toml"), allow_command=True, ledger=False)
    rows = np.genfromtxt(tmp_path / "test.csv", delimiter=",", skip_header=1, usecols=(2, 3))
    right = fitted.predict(rows) == np.where(np.arange(40) % 2, "yes", "no")
    assert a["accuracy"].value == right.mean()
    assert a["auroc"].value == pytest.approx(b["auroc"].value), "the same estimator, fitted here"
    assert a.record["environment"]["run"]["command"] == ["artefact", "A.joblib"]
    assert str(tmp_path) not in a.record.to_text()


def test_an_onnx_file_answers_without_consent_because_it_is_data(tmp_path):
    pytest.importorskip("onnxruntime")
    convert = pytest.importorskip("skl2onnx").to_onnx
    import numpy as np

    fitted = estimators(tmp_path)
    graph = convert(fitted, np.zeros((1, 2), dtype=np.float32))
    (tmp_path / "A.onnx").write_bytes(graph.SerializeToString())
    text = (tmp_path / "plan.toml").read_text(encoding="utf-8").partition("[models.B]")[0]
    (tmp_path / "plan.toml").write_text(text.replace("A.joblib", "A.onnx"), encoding="utf-8")
    ((_, a),) = run_planned(load_plan(tmp_path / "plan.toml"), ledger=False)
    rows = np.genfromtxt(tmp_path / "test.csv", delimiter=",", skip_header=1, usecols=(2, 3))
    assert a["accuracy"].value == (fitted.predict(rows) == np.where(np.arange(40) % 2, "yes", "no")).mean()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("A.joblib", "A.bin"), "needs a file of the model"),
        (
            ("artefacts = true", 'artefacts = true\ncommand = ["x", "{inputs}", "{predictions}"]'),
            "a command or from model",
        ),
        (('id = "id"\n', ""), r"columns\.id"),
    ],
)
def test_a_plan_that_cannot_let_its_models_answer_is_an_error(tmp_path, change, says):
    estimators(tmp_path)
    (tmp_path / "A.bin").write_bytes(b"x")
    text = (tmp_path / "plan.toml").read_text(encoding="utf-8").replace(*change)
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    with pytest.raises(PlanError, match=says):
        load_plan(tmp_path / "plan.toml")
