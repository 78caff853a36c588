# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from assay.report.render.gate_formats import MOST_BYTES, commands, render, step_summary
from tests.command import assay
from tests.layers.assess.recorded import records

ROWS = ("--truth", "truth", "--predicted", "guess", "--positive", "yes")


def table(path, right):
    """400 rows of which a share is called rightly, spread evenly; ids tell them apart."""
    lines = ["id,truth,guess"]
    for i in range(400):
        truth, other = ("yes", "no") if i % 2 else ("no", "yes")
        lines.append(f"{i},{truth},{truth if (i * 7919) % 1000 < right * 1000 else other}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gated")
    for name, right in (("old", 0.9), ("same", 0.9), ("worse", 0.7)):
        table(folder / f"{name}.csv", right)
    run(folder, "run", "old.csv", *ROWS, "--out", "old", "-q")
    run(folder, "run", "worse.csv", *ROWS, "--out", "worse", "-q")
    return folder


def run(place, *words, code=0, **variables):
    env = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")} | variables
    found = assay(*words, cwd=place, env=env)
    assert found.returncode == code, found.stderr
    return found


@pytest.mark.parametrize(
    ("criterion", "code"),
    [("recall >= 0.8", 0), ("recall >= 0.97", 1), ("recall >= 0.9", 3), ("recall >= 0.89 simple", 0)],
)
def test_a_record_alone_passes_fails_or_is_open(place, criterion, code):
    found = run(place, "gate", "old/record.json", "--accept", criterion, "--json", code=code)
    told = json.loads(found.stdout)
    assert told["verdict"] == {0: "pass", 1: "fail", 3: "inconclusive"}[code]
    assert told["gates"][0]["decisions"][0]["criterion"] == criterion


def test_predictions_are_counted_first(place):
    assert "verdict  pass" in run(place, "gate", "old.csv", *ROWS, "--accept", "recall >= 0.8").stdout


def test_against_a_record_the_comparison_is_unpaired_and_says_so(place):
    found = run(place, "gate", "worse.csv", *ROWS, "--against", "old/record.json", "--margin", "0.05", code=1)
    assert "unpaired difference" in found.stdout
    assert "recall non-inferior margin 0.05" in found.stdout
    assert "specificity non-inferior margin 0.05" in found.stdout
    found = run(place, "gate", "same.csv", *ROWS, "--against", "old/record.json", "--margin", "0.01", code=3)
    assert "would decide 4 times in 5" in found.stdout


def test_with_ids_the_comparison_is_paired_and_says_so(place):
    given = ("--against", "old.csv", *ROWS, "--id", "id", "--margin", "0.05")
    assert " paired difference +0.000" in run(place, "gate", "same.csv", *given).stdout
    found = run(place, "gate", "worse.csv", *given, "--json", code=1)
    assert {one["reference"]["pairing"] for one in json.loads(found.stdout)["gates"][0]["decisions"]} == {"paired"}
    unpaired = run(place, "gate", "same.csv", "--against", "old.csv", *ROWS, "--margin", "0.01", code=3)
    assert "unpaired difference" in unpaired.stdout


def test_a_record_of_a_comparison_is_its_own_reference(place):
    run(place, "compare", "worse.csv", "old.csv", *ROWS, "--id", "id", "--out", "both", "-q")
    found = run(place, "gate", "both/record.json", "--accept", "accuracy non-inferior margin 0.05", code=1)
    assert "worse beyond chance: paired difference -0.2" in found.stdout
    run(place, "gate", "both/record.json", "--accept", "f1 non-inferior margin 0.05", "--record", "kept.json", code=1)
    assert "verified" in run(place, "verify", "kept.json").stdout


def test_an_option_that_would_be_left_aside_is_refused(place):
    accept = ("--accept", "recall >= 0.5")
    assert "--measure" in run(place, "gate", "old/record.json", *accept, "--measure", "f1", code=2).stderr
    told = run(
        place, "gate", "old/record.json", "--against", "worse/record.json", *accept, "--truth", "x", code=2
    ).stderr
    assert "as it is" in told
    paired = ("--against", "old.csv", *ROWS, "--id", "id", "--margin", "0.05", "--missing", "drop")
    assert "--missing" in run(place, "gate", "same.csv", *paired, code=2).stderr


def test_without_a_criterion_nothing_passes(place):
    assert "no criterion" in run(place, "gate", "old/record.json", code=2).stderr
    assert "--margin" in run(place, "gate", "worse/record.json", "--against", "old/record.json", code=2).stderr
    assert "needs a reference" in run(place, "gate", "old.csv", *ROWS, "--margin", "0.1", code=2).stderr
    run(place, "gate", "nowhere.json", "--accept", "recall >= 0.5", code=2)


def test_the_criteria_a_record_was_run_with_are_its_gate(place):
    run(place, "run", "old.csv", *ROWS, "--accept", "recall >= 0.97", "--out", "held", "-q", code=1)
    assert "recall >= 0.97" in run(place, "gate", "held/record.json", code=1).stdout


def test_junit_markdown_annotations_and_step_summary_are_written(place):
    (place / "summary.md").write_text("before\n", encoding="utf-8")
    found = run(
        place, "gate", "old/record.json", "--accept", "recall >= 0.8", "--accept", "recall >= 0.97",
        "--accept", "recall >= 0.9", "--junit", "gate.xml", "--markdown", "gate.md", "-q", code=1,
        GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(place / "summary.md"),
    )  # fmt: skip
    lines = found.stdout.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning"]
    suite = ET.parse(place / "gate.xml").getroot().find("testsuite")  # noqa: S314  our own file
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert [case.get("name") for case in suite] == ["recall >= 0.8", "recall >= 0.97", "recall >= 0.9"]
    assert "✗ fail: 1 of 3 criteria met" in (place / "gate.md").read_text(encoding="utf-8")
    assert (place / "summary.md").read_text(encoding="utf-8").startswith("before\n### assay gate")
    assert run(place, "gate", "old/record.json", "--accept", "recall >= 0.8", "--github").stdout.startswith("::notice")


def test_a_summary_is_cut_at_60_kilobytes_and_says_so():
    record = records()["decided"]
    many = {f"model {i} with a rather long name so that it takes room": record for i in range(200)}
    text = step_summary(many)
    assert len(text.encode()) <= MOST_BYTES
    assert text.endswith("record.json.\n")
    assert "cut here" not in step_summary({"": record})


def test_names_can_neither_begin_a_command_nor_leave_an_element():
    from assay.assess.assess import assess

    nasty = "a\n::error::gotcha%0A]]></testcase><x>&,:"
    truth = [nasty, "b"] * 30
    a = assess(truth=truth, predicted=truth[1:] + truth[:1], positive="b").accept(
        f"recall[class={json.dumps(nasty)}] >= 0.9", "recall >= 0.9"
    )
    every = {nasty: a.record}
    for line in commands(every):
        assert line.startswith("::error title=")
        assert "\n" not in line
        assert line.count("::") == 2 + line.split("::", 2)[2].count("::")
        assert ":" not in line.split("::")[1].split("title=")[1]
    root = ET.fromstring(render(every))  # noqa: S314  our own text
    assert [one.tag for one in root.iter()] == ["testsuites", "testsuite", "testcase", "failure", "testcase", "failure"]


PLUGIN = """
import pytest

@pytest.fixture
def model():
    import assay
    return assay.assess(truth=[1] * 100 + [0] * 100, predicted=[1] * 90 + [0] * 110)

def test_passes(assay_gate, model):
    assert len(assay_gate(model, "recall >= 0.8")) == 1

def test_fails(assay_gate, model):
    assay_gate(model, "recall >= 0.99")

def test_open(assay_gate, model):
    assay_gate(model, "recall >= 0.88")

def test_open_skipped(assay_gate, model):
    assay_gate(model, "recall >= 0.88", inconclusive="skip")

def test_open_accepted(assay_gate, model):
    assert assay_gate(model, "recall >= 0.88", inconclusive="pass").exit_code == 3

def test_record(assay_gate, model, tmp_path):
    assay_gate(model.save(tmp_path / "r.json"), "recall non-inferior margin 0.2", against=model)

def test_nothing(assay_gate, model):
    assay_gate(model)
"""


def test_the_fixture_of_pytest_fails_what_fails_and_what_is_open(tmp_path):
    (tmp_path / "test_model.py").write_text(PLUGIN, encoding="utf-8")
    (tmp_path / "pytest.toml").write_text("", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:randomly", "-p", "no:cacheprovider"]
    if not any(one.value == "assay.app.pytestplugin" for one in entry_points(group="pytest11")):  # an old installation
        command += ["-p", "assay.app.pytestplugin"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    for name, word in (
        ("passes", "PASSED"), ("fails", "FAILED"), ("open", "FAILED"), ("open_accepted", "PASSED"),
        ("record", "PASSED"), ("nothing", "FAILED"),
    ):  # fmt: skip
        assert f"{word} test_model.py::test_{name}" in found.stdout
    assert "1 skipped" in found.stdout
    assert "would decide 4 times in 5" in found.stdout


def test_the_plugin_loads_nothing_of_assay_before_it_is_used():
    code = (
        "import sys, assay.app.pytestplugin; print(any(m in sys.modules for m in ('numpy', 'duckdb', 'assay.assess')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_the_script_of_the_action_hands_code_and_verdict_on(place, tmp_path):
    program = tmp_path / "bin" / "assay"
    program.parent.mkdir()
    script = Path(__file__).parents[3] / "examples" / "ci" / "gate.sh"

    def step(stand_in, accept, **more):
        """The code and the last line of the output of a step, with a program in place of assay."""
        program.write_text(f"#!/bin/sh\n{stand_in}\n", encoding="utf-8")
        program.chmod(0o755)
        env = os.environ | {
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "PREDICTIONS": "old.csv", "ACCEPT": accept,
            "OPTIONS": " ".join(ROWS), "GITHUB_OUTPUT": str(tmp_path / "output"), **more,
        }  # fmt: skip
        done = subprocess.run(
            [shutil.which("bash"), str(script)], cwd=place, env=env, capture_output=True, text=True, check=False
        )
        return done.returncode, (tmp_path / "output").read_text(encoding="utf-8").splitlines()[-1]

    ours = f'exec "{sys.executable}" -m assay "$@"'
    stated = "recall >= 0.8\n\nspecificity >= 0.8\n"
    assert step(ours, stated, AGAINST="old/record.json", MARGIN="0.2") == (0, "verdict=pass")
    assert (place / "assay-gate.xml").read_text(encoding="utf-8").count("<testcase") == 4
    assert step("exit 1", "recall >= 0.97") == (1, "verdict=fail")
    assert step("exit 3", "recall >= 0.9") == (3, "verdict=inconclusive")
    assert step("exit 3", "recall >= 0.9", INCONCLUSIVE="pass") == (0, "verdict=inconclusive")
    assert step("exit 0", "recall >= 0.9") == (0, "verdict=pass")
    assert step("exit 2", "recal >= 0.9") == (2, "verdict=pass")  # nothing is said of what was not decided
    words = ["gate", "old.csv", "--junit", "assay-gate.xml", *ROWS, "--accept", "recall >= 0.8"]
    step(f"printf '%s\\n' \"$@\" > {tmp_path / 'words'}", "recall >= 0.8")
    assert (tmp_path / "words").read_text(encoding="utf-8").splitlines() == words
