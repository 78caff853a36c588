# SPDX-License-Identifier: Apache-2.0
"""A task is one folder: a toy one works from counting to verification without an edit anywhere else."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

import assay
from assay.assess.merge import merge
from assay.assess.record.verification import verify
from assay.core.task import find_task, task_names
from assay.tasks.task_settings import TaskSettings
from run import ROOT
from tests.command import assay as run

WALK = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TOY = re.search(r"```python\n(# SPDX[^`]*?^TASK = [^`]*?)```", WALK, re.MULTILINE)[1]
"""The task that CONTRIBUTING writes down, so that what it says is what works."""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "__init__.py").write_text(TOY)
    import assay.tasks

    monkeypatch.setattr(assay.tasks, "__path__", [*assay.tasks.__path__, str(tmp_path)])
    yield find_task("toy")
    sys.modules.pop("assay.tasks.toy", None)


def rows(seed, n=60, spread=0.5):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    return {"truth": truth, "predicted": truth + rng.normal(size=n) * spread}


def assess(_task, seed, n=60):
    return assay.toy(**rows(seed, n))


def test_the_folder_is_all_that_declares_the_task(toy):
    assert toy.name == "toy"
    assert "toy" in set(task_names())
    assert [measure.name for measure in toy.measures] == ["mean_distance"]


def test_a_measure_has_a_value_and_an_interval(toy):
    estimate = assess(toy, 1)["mean_distance"]
    assert estimate.low < estimate.value < estimate.high
    assert estimate.value == pytest.approx(0.5 * np.sqrt(2 / np.pi), abs=0.15)


def test_the_record_loads_and_verifies(toy, tmp_path):
    a = assess(toy, 2)
    path = a.save(tmp_path / "record.json")
    again = assay.load(path)
    assert again.record["task"] == "toy"
    assert again["mean_distance"].value == a["mean_distance"].value
    verification = verify(again.record)
    assert verification.holds, verification.mismatches
    assert verification.checked["estimates"] > 0


def test_a_changed_number_is_found(toy):
    record = dict(assess(toy, 3).record)
    record["estimates"] = [{**record["estimates"][0], "value": 9.0}]
    assert not verify(type(assess(toy, 3).record)(record)).holds


def test_merging_equals_pooling(toy):
    a, b = assess(toy, 4), assess(toy, 5)
    both = merge(a, b)
    pooled = a.counts + b.counts
    assert both.counts == pooled
    assert both["mean_distance"].value == toy.estimates(pooled, TaskSettings())["mean_distance"].value


def test_criteria_decide(toy):
    a = assess(toy, 6)
    assert str(a.accept("mean_distance <= 0.9").decisions.verdict) == "pass"
    assert str(a.accept("mean_distance <= 0.1").decisions.verdict) == "fail"
    better = assess(toy, 7)
    gate = better.accept("mean_distance non-inferior margin 0.3", against=a)
    assert str(gate.decisions.verdict) == "pass"


@pytest.mark.usefixtures("toy")
def test_models_are_compared_and_the_comparison_verifies(tmp_path):
    given = rows(8)
    worse = given["truth"] + 3 * (given["predicted"] - given["truth"])
    models = {"A": given["predicted"], "B": worse}
    c = assay.compare(truth=given["truth"], predicted=models, task="toy", tests=assay.TestSettings(margin=0.1))
    assert c["mean_distance"].p < 0.01
    assert [place.model for place in c.ranking] == ["A", "B"]
    assert c.ranking[0].ahead_of == ("B",)
    again = assay.load(c.save(tmp_path / "c.json"))
    assert again["mean_distance"].p == c["mean_distance"].p
    assert verify(again.record).holds
    assert "mean distance" in c.report(tmp_path / "c.html").read_text()


@pytest.mark.parametrize("kind", ["html", "pdf", "md"])
def test_a_report_is_drawn(toy, tmp_path, kind):
    path = assess(toy, 9).report(tmp_path / f"r.{kind}")
    assert path.stat().st_size > 500


@pytest.mark.usefixtures("toy")
def test_units_and_groups_are_counted():
    given = rows(10)
    units, sex = [f"p{i % 12}" for i in range(60)], ["f", "m"] * 30
    a = assay.toy(**given, unit=units, group={"sex": sex})
    assert a.record["units"] == 12
    assert len(a.by_unit) == 12
    assert set(a.by_group["sex"]) == {"f", "m"}
    assert "mean_distance" in a.to_frame().columns or "measure" in a.to_frame().columns


@pytest.fixture
def table(tmp_path):
    given = rows(11)
    path = tmp_path / "rows.csv"
    lines = [f"{t!r},{p!r},{p + 0.4!r}" for t, p in zip(*(given[role].tolist() for role in given), strict=True)]
    path.write_text("\n".join(["y,a,b", *lines]) + "\n")
    return path


@pytest.mark.usefixtures("toy")
def test_the_command_line_runs_shows_and_gates_it(table, tmp_path):
    out = tmp_path / "out"
    said = run("run", table, "--task", "toy", "--truth", "y", "--predicted", "a", "-o", out)
    assert said.returncode == 0, said.stderr
    assert "mean distance" in said.stdout.lower()
    assert "says" in run("show", "mean_distance").stdout
    assert "mean_distance" in run("measures", "--task", "toy").stdout
    assert "--predicted" in run("run", "--task", "toy", "--help").stdout
    assert run("gate", out / "record.json", "--accept", "mean_distance <= 0.9").returncode == 0
    assert run("gate", out / "record.json", "--accept", "mean_distance <= 0.1").returncode == 1
    assert run("verify", out / "record.json").returncode == 0


@pytest.mark.usefixtures("toy")
def test_the_command_line_compares_models(table, tmp_path):
    models = ["--predicted", "A=a", "--predicted", "B=b"]
    said = run("compare", table, "--task", "toy", "--truth", "y", *models, "-o", tmp_path / "c")
    assert said.returncode == 0, said.stderr
    assert "Mean distance of B is higher" in said.stdout


@pytest.mark.usefixtures("toy", "table")
def test_a_plan_runs_it(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        '[task]\ntype = "toy"\n[task.given]\ntruth = "y"\n[models.A.given]\npredicted = "a"\n'
        '[models.B.given]\npredicted = "b"\n[data.test]\npath = "rows.csv"\n'
        '[metrics]\naccept = ["mean_distance <= 5"]\n'
    )
    said = run("run", plan, "-o", tmp_path / "p")
    assert said.returncode == 0, said.stderr
    assert "outside the scope" in said.stdout
    record = assay.load(tmp_path / "p" / "A" / "record.json").record
    assert record["plan"]["model"] == "A"
    assert verify(record).holds
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(plan.read_text().replace("mean_distance <=", "mean_distnce <="))
    assert "mean_distance" in run("run", wrong, "-o", tmp_path / "q").stderr


def test_a_command_keeps_its_own_arguments_after_a_task_had_them():
    before = run("run", "--help").stdout
    run("run", "--task", "regression", "--help")
    assert run("run", "--help").stdout == before
