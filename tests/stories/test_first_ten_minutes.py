# SPDX-License-Identifier: Apache-2.0
"""What somebody who comes from scikit-learn tries first, on the surfaces they meet: Python, pools, shell, terminal."""

from __future__ import annotations

import html
import inspect
import json
import multiprocessing
import os
import pickle
import re
import select
import shlex
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import assay
from assay.assess.record.verification import verify
from assay.core.errors import CODES
from assay.measures.declare import ELSEWHERE
from tests.command import assay as run

RNG = np.random.default_rng(5)
TRUTH = RNG.integers(0, 2, 240)
SCORE = RNG.normal(size=240) + TRUTH
CALLED = (SCORE > 0.5).astype(int)
OTHER = SCORE + RNG.normal(size=240)
CLASSES = np.array(["cat", "dog", "owl"])
CHANCES = RNG.dirichlet([1, 1, 1], 240).round(4)
HERE = {**os.environ, "PYTHONPATH": str(Path(assay.__file__).parents[1]), "TERM": "xterm"}


def assessed():
    a = assay.assess(truth=TRUTH, predicted=CALLED, score=SCORE)
    a["recall"], a["auroc"], a.record
    return a


def failing():
    assay.assess(truth=[1, 0], predicted=[1])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder of somebody who has predictions and no wish to read a manual."""
    folder = tmp_path_factory.mktemp("work")
    chance = (1 / (1 + np.exp(-SCORE))).round(4)
    columns = {"id": range(240), "label": TRUTH, "pred": CALLED, "prob": chance, "sex": ["f", "m"] * 120}
    pl.DataFrame(columns).write_csv(folder / "a.csv")
    chances = CHANCES / CHANCES.sum(axis=1, keepdims=True)
    by_class = {f"p_{name}": chances[:, i] for i, name in enumerate(CLASSES)}
    pl.DataFrame({"y": CLASSES[RNG.integers(0, 3, 240)], **by_class}).write_csv(folder / "m.csv")
    pl.DataFrame({"y": SCORE, "p": OTHER}).write_csv(folder / "numbers.csv")
    return folder


@pytest.mark.parametrize(
    "make",
    [
        assessed,
        lambda: assessed().accept("recall >= 0.5"),
        lambda: assay.compare(truth=TRUTH, predicted={"A": CALLED, "B": 1 - CALLED}, score={"A": SCORE, "B": OTHER}),
        lambda: assay.measure("f_beta(beta=2)"),
        lambda: assay.regression(truth=SCORE, predicted=OTHER),
        assay.measures,
    ],
    ids=["assessment", "decided", "comparison", "measure", "task", "measures"],
)
def test_2_results_travel_between_processes(make):
    before = make()
    again = pickle.loads(pickle.dumps(before))  # noqa: S301  our own
    if hasattr(before, "record"):
        assert again.record["estimates"] == before.record["estimates"]
        assert again.record["digests"]["tallies"] == before.record["digests"]["tallies"]
    else:
        assert repr(again) == repr(before)


def test_2_an_error_comes_back_from_a_process_pool_with_all_its_lines():
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool, pytest.raises(assay.AssayError) as caught:
        pool.submit(failing).result(timeout=300)
    assert caught.value.code == "rows-unmatched"
    assert caught.value.fix


def test_7_scores_alone_give_every_measure_that_needs_no_threshold(tmp_path):
    a = assay.assess(truth=TRUTH, score=SCORE, positive=1)
    assert a["auroc"].low < a["auroc"].value < a["auroc"].high
    assert a["prevalence"].value == TRUTH.mean()
    assert a["recall"].value is None
    assert "threshold" in a["recall"].reason
    assert "recall" not in set(a)
    record = assay.load(a.save(tmp_path / "r.json")).record
    assert verify(record).holds
    page = a.report(tmp_path / "r.html").read_text()
    assert "Confusion matrix" not in page


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_8_estimates_become_a_tidy_frame(library):
    a = assay.assess(truth=TRUTH, predicted=CALLED, group={"site": TRUTH * 2})
    frame = a.to_frame(library)
    names = list(frame.columns) if library != "pyarrow" else frame.column_names
    assert names[:2] == ["measure", "class"]
    assert len(frame) == len(a.to_dict()) == len(a.estimates)


def test_3_the_reliability_diagram_has_the_bins_of_the_error_beside_it():
    chance = (1 / (1 + np.exp(-SCORE))).round(4)
    kind = assay.ScoreSettings(kind="probability")
    a = assay.assess(truth=TRUTH, score=chance, threshold=0.5, scores=kind)
    bins = a.plot.reliability().data
    rows, shares, means = (np.array(bins[name], dtype=float) for name in ("rows", "share", "score"))
    error = float((rows / rows.sum() * np.abs(shares - means)).sum())
    assert error == pytest.approx(a["expected_calibration_error"].value, rel=1e-9)


def test_8_a_plot_shows_itself_and_is_saved_without_further_packages(tmp_path):
    a = assessed()
    for draw in (a.plot.roc, a.plot.precision_recall, a.plot.confusion, a.plot.intervals):
        chart = draw()
        assert "<svg" in chart._repr_html_()
        assert chart.data
    assert a.plot.roc().save(tmp_path / "roc.svg").read_text(encoding="utf-8").startswith("<svg")
    assert a.plot.roc().save(tmp_path / "roc.png").read_bytes().startswith(b"\x89PNG")


def test_14_a_draft_of_a_plan_is_short_and_the_next_answers_are_ranked(place):
    words = ("a.csv", "--truth", "label", "--predicted", "pred", "--positive", "1")
    draft = run("init", *words, cwd=place)
    assert draft.returncode == 0, draft.stderr
    assert len([line for line in draft.stdout.splitlines() if line.strip() and not line.startswith("#")]) <= 16
    (place / "plan.toml").write_text(draft.stdout, encoding="utf-8")
    check = run("plan", "check", "plan.toml", cwd=place)
    assert "next" in check.stdout + check.stderr


def test_9_an_estimate_is_used_as_a_number_but_not_compared_as_one():
    estimate = assessed()["f1"]
    assert float(estimate) == estimate.value
    assert f"{estimate:.2f}" == f"{estimate.value:.2f}"
    assert repr(estimate).startswith("<Estimate: f1 0.")
    with pytest.raises(assay.PlanError, match="accept"):
        estimate > 0.5  # noqa: B015
    with pytest.raises(assay.PlanError, match="undefined"):
        float(assay.assess(truth=[0, 0], predicted=[0, 0])["recall"])


def test_9_results_have_one_line_and_a_table_in_a_notebook():
    from sklearn.dummy import DummyClassifier

    a = assessed()
    c = assay.compare(truth=TRUTH, predicted={"A": CALLED, "B": 1 - CALLED})
    conducted = assay.conduct({"<b>": DummyClassifier()}, [[0]] * 8, [0, 1, 1, 1] * 2, "5x2", measures="accuracy")
    for one in (a["f1"], c.findings[0], a.confusion, conducted, assay.measures()):
        line, table = repr(one), one._repr_html_()
        assert "\n" not in line
        assert len(line) < 160
        assert table.startswith("<table><caption>")
        assert "<b>" not in table
    for one in (a, c):
        assert one._repr_mimebundle_()["text/html"]
    assert "37" not in repr(a.confusion)
    assert f"<td>{a.confusion.cells()[1, 1]}</td>" in a.confusion._repr_html_()
    for one in (a.record, a.by_group, a.accept("recall >= 0.1").decisions, a["f1"].interval):
        assert "object at" not in repr(one)


def test_10_dir_shows_what_users_need_and_all_of_it_is_there():
    c = assay.compare(truth=TRUTH, predicted={"A": CALLED, "B": 1 - CALLED})
    a = assessed()
    for one in (a, c, a["f1"], c.findings[0], a.confusion, assay.measure("f1")):
        names = dir(one)
        assert not [name for name in names if name.startswith("_") or not hasattr(one, name)]
        assert len(names) < 35
    assert {"accept", "by_group", "confusion", "report", "to_frame"} <= set(dir(a))
    assert not {"contract", "restated", "with_evidence", "counts"} & set(dir(a))


def test_10_every_parameter_has_its_line_in_help():
    public = [getattr(assay, name) for name in dir(assay) if name[0].islower()]
    methods = [
        getattr(kind, name)
        for kind in (assay.Assessment, assay.Conducted)
        for name in ("accept", "require_fairness", "to_frame", "report", "save", "tally", "compare", "values")
        if inspect.isfunction(getattr(kind, name, None))
    ]
    for function in [*public, *methods]:
        lines = re.findall(r"^\s*([\w, *]+?): ", inspect.getdoc(function) or "", re.MULTILINE)
        told = {name.strip(" *") for line in lines for name in line.split(",")}
        lacking = set(inspect.signature(function).parameters) - {"self"} - told
        assert not lacking or function.__qualname__.startswith("Mapping"), (function.__name__, lacking)


FRAME = {"y_true": TRUTH, "pred": CALLED}


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (lambda: assay.assess(TRUTH, CALLED, level=0.9), "assay.assess(truth=TRUTH, predicted=CALLED, level=0.9)"),
        (lambda: assay.assess(TRUTH, SCORE, positive=1), "assay.assess(truth=TRUTH, score=SCORE, positive=1)"),
        (lambda: assay.assess(FRAME), 'assay.assess(data=FRAME, truth="y_true", predicted="pred")'),
        (lambda: assay.assess(y_true=TRUTH, y_pred=CALLED), "assay.assess(truth=TRUTH, predicted=CALLED)"),
        (lambda: assay.assess(truth=TRUTH, y_score=SCORE), "assay.assess(truth=TRUTH, score=SCORE)"),
        (
            lambda: assay.assess(y_true=TRUTH, y_pred=CALLED, pos_label=1, sample_weight=SCORE),
            "assay.assess(truth=TRUTH, predicted=CALLED, positive=1, weight=SCORE)",
        ),
        (
            lambda: assay.compare(y_true=TRUTH, y_pred={"A": CALLED, "B": CALLED}),
            'assay.compare(truth=TRUTH, predicted={"A": CALLED, "B": CALLED})',
        ),
        (lambda: assay.regression(y_true=SCORE, y_pred=OTHER), "assay.regression(truth=SCORE, predicted=OTHER)"),
        (lambda: assay.assess(truth=TRUTH, predicted=CALLED, postive=1), "did you mean positive=...?"),
    ],
)
def test_10_the_call_of_another_library_is_answered_with_ours_and_their_own_arguments(call, right):
    with pytest.raises(assay.PlanError) as caught:
        call()
    assert right in caught.value.fix


def test_10_names_of_scikit_learn_find_our_measures():
    for theirs, ours in ELSEWHERE.items():
        assert assay.measure(theirs).name == ours
    assert assessed()["roc_auc_score"].measure == "auroc"


def test_1_a_threshold_chosen_on_the_assessed_rows_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,s\n" + "".join(f"{y},{s!r}\n" for y, s in zip(TRUTH.tolist(), SCORE.tolist(), strict=True)))
    copy = tmp_path / "copy.csv"
    copy.write_text(path.read_text())
    own = {"truth": TRUTH, "score": SCORE}
    for given in (
        {"truth": "y", "score": "s", "data": path, "scores": assay.ScoreSettings(threshold_from=path)},
        {"truth": "y", "score": "s", "data": path, "scores": assay.ScoreSettings(threshold_from=copy)},
        {**own, "scores": assay.ScoreSettings(threshold_from=own)},
    ):
        with pytest.raises(assay.PlanError, match="very rows"):
            assay.assess(**given, threshold="f1", positive=1 if "data" not in given else "1")
    other = {"truth": TRUTH[::2], "score": SCORE[::2]}
    a = assay.assess(**own, threshold="f1", positive=1, scores=assay.ScoreSettings(threshold_from=other))
    assert a.record["operating_points"][0]["optimistic"] is False


def test_11_results_go_to_stdout_and_everything_about_the_work_to_stderr(place):
    roles = ("--truth", "label", "--predicted", "pred")
    done = run("run", "a.csv", *roles, "--accept", "recall >= 0.1", "-o", "o1", cwd=place)
    assert done.returncode == 0
    assert "Headline measures" in done.stdout
    assert "verdict  pass" in done.stdout
    assert [line.split()[0] for line in done.stderr.splitlines()] == ["report", "o1/record.json", "next"]
    machine = run("run", "a.csv", *roles, "--json", "-o", "o1", cwd=place)
    assert json.loads(machine.stdout)["samples"] == 240
    assert "Headline measures" in machine.stderr
    short = json.loads(run("run", "a.csv", *roles, "--json-short", "-q", "--no-report", "-o", "o2", cwd=place).stdout)
    assert set(short["estimates"]["recall"]) == {"value", "low", "high"}
    assert [path.name for path in (place / "o2").iterdir()] == ["record.json"]
    assert len(json.dumps(short)) < len(machine.stdout) / 2


@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        ("a.csv", "--truth label --predicted pred"),
        ("a.csv --truth label", "--predicted pred"),
        ("m.csv", "--truth y --score 'p_*' --scores probability"),
        ("numbers.csv", "--task regression --truth y --predicted p"),
    ],
)
def test_11_a_run_without_roles_proposes_the_command_and_it_works_as_printed(place, words, proposed):
    asked = run("run", *shlex.split(words), cwd=place)
    assert asked.returncode == 2
    command = next(line for line in asked.stderr.splitlines() if "  fix    " in line).split("fix", 1)[1].strip()
    assert command == f"assay run {words} {proposed}"
    done = run(*shlex.split(command)[1:], "-q", "--no-report", "-o", "proposed", cwd=place)
    assert done.returncode == 0, done.stderr


def at_terminal(command, answer, cwd, columns=80):
    """What a person at a terminal sees, and the exit code."""
    ours, theirs = os.openpty()
    environment = {**HERE, "COLUMNS": str(columns)}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, env=environment)
    os.close(theirs)
    seen = b""
    while select.select([ours], [], [], 120)[0]:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # what a terminal says when its other end is closed
            break
        seen += piece
        if answer and seen.rstrip().endswith(b"[Y/n]:"):
            os.write(ours, answer)
            answer = b""
    os.close(ours)
    return seen.decode(), process.wait()


def test_11_at_a_terminal_the_proposal_is_asked_and_colours_are_shown(place):
    seen, code = at_terminal([sys.executable, "-m", "assay", "run", "a.csv", "-o", "asked"], b"\n", place)
    assert code == 0, seen
    assert "assay run a.csv -o asked --truth label --predicted pred" in seen
    assert "\x1b[1m" in seen
    plain = re.sub(r"\x1b\[[0-9;]*m", "", seen)
    assert "axis" in plain
    assert max(map(len, plain[plain.index("Headline") :].split("report   ")[0].splitlines())) <= 80
    assert (place / "asked" / "record.json").is_file()


def test_11_standard_input_and_patterns_of_columns_are_read(place):
    rows = (place / "a.csv").read_bytes()
    done = run("run", "-", "--truth", "label", "--predicted", "pred", "--no-report", "-o", "in", cwd=place, stdin=rows)
    assert done.returncode == 0, done.stderr
    assert "240 rows read" in done.stdout
    options = (
        "--truth",
        "y",
        "--score",
        "p_*",
        "--scores",
        "probability",
        "--json-short",
        "-q",
        "--no-report",
        "-o",
        "in",
    )
    assert json.loads(run("run", "m.csv", *options, cwd=place).stdout)["samples"] == 240
    assert "no column fits" in run("run", "m.csv", "--truth", "y", "--score", "q_*", cwd=place).stderr


def test_11_help_groups_options_and_shows_choices():
    text = run("run", "--help").stdout
    heads = re.findall(r"^([A-Z][a-z ]+):$", text, re.MULTILINE)
    wanted = ["Columns", "Scores", "Intervals", "Criteria", "Output", "Large data"]
    assert [head for head in heads if head in wanted] == wanted
    assert "[wilson|clopper-pearson|jeffreys]" in text
    for task in ("regression", "detection"):
        assert "Columns:" in run("run", "--task", task, "--help").stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_11_shells_complete_commands_words_measures_and_columns(shell, place, monkeypatch):
    assert "_ASSAY_COMPLETE" in run("completion", shell).stdout
    if shell != "bash":
        return
    from click.shell_completion import ShellComplete

    from assay.app.cli import cli

    monkeypatch.chdir(place)
    words = ShellComplete(cli, {}, "assay", "_ASSAY_COMPLETE")
    for typed, begun, there in (
        ([], "ru", "run"),
        (["run", "a.csv", "--truth"], "", "label"),
        (["run", "m.csv", "--score"], "cat=p_", "cat=p_cat"),
        (["run", "a.csv", "--measure"], "f1", "f1_macro"),
        (["run", "a.csv", "--shares"], "w", "wilson"),
        (["run", "--task"], "reg", "regression"),
        (["show"], "recal", "recall"),
    ):
        assert there in [item.value for item in words.get_completions(typed, begun)]


def test_12_the_verdict_line_is_there_where_something_was_decided_and_figures_are_never_false(place):
    done = run("run", "a.csv", "--truth", "label", "--predicted", "pred", "-o", "o3", cwd=place)
    assert "conform" not in done.stdout
    near = assay.assess(truth=[1] * 2000 + [0] * 2000, predicted=[1] * 2000 + [0] * 1999 + [1])
    assert "> 0.999" in str(near)
    assert "0.99975" not in str(near)


@pytest.mark.parametrize(
    ("words", "says", "fix"),
    [
        ("numbers.csv --truth y --predicted p", "as in a regression", "--task regression"),
        ("a.csv --truth label --predicted prob", "look like probabilities", "--score COLUMN --scores probability"),
        ("m.csv --truth p_cat --truth p_dog --predicted y", "given 2 times", "become one column of labels first"),
        ("a.csv --truth label --predicted pred --accept 'recall 0.9'", "no sign", 'write "recall >= 0.9"'),
        ("https://h/a.csv --truth y --predicted p", "are not read", "fetch the file first"),
        ("a.csv --truth label --predicted sex", "not among the classes", "--label 0 --label 1 --label f --label m"),
        ("a.csv --truth sex --predicted pred", "not among the classes", "--label f --label m --label 0 --label 1"),
        ("zebra.csv --truth y --predicted p", "no such file", "correct the path"),
    ],
)
def test_13_a_message_says_what_it_looks_like_and_what_to_type_on_the_command_line(place, words, says, fix):
    done = run("run", *shlex.split(words), "-o", "never", cwd=place)
    assert done.returncode in (2, 4)
    assert says in done.stderr
    assert fix in done.stderr
    assert not re.search(r"fix .*\b(labels|score|predicted)=", done.stderr)
    assert not (place / "never").exists()


@pytest.mark.parametrize(
    ("call", "fix"),
    [
        (lambda: assay.assess(truth=SCORE, predicted=OTHER), "assay.regression(truth=..., predicted=...)"),
        (lambda: assay.assess(truth=TRUTH, predicted=np.abs(SCORE) % 1), "score=..."),
        (lambda: assay.assess(truth=np.eye(3)[TRUTH], predicted=TRUTH), "truth.argmax(axis=1)"),
        (lambda: assay.assess(truth=TRUTH, predicted=CHANCES), "score=... with labels=[...]"),
        (lambda: assay.assess(truth=TRUTH, predicted=CALLED).accept("recall 0.9"), 'write "recall >= 0.9"'),
        (lambda: assay.assess(truth=["no", "yes"], predicted=["no", "no"]), 'positive="no" or positive="yes"'),
    ],
)
def test_13_and_in_python_in_the_spelling_of_python(call, fix):
    with pytest.raises(assay.AssayError) as caught:
        call()
    assert fix in caught.value.fix
    assert "--" not in caught.value.fix


def test_13_every_error_is_explained_where_assay_is_installed():
    for code in ("E-ROLE-MISSING", "role-missing", "error[E-ROLE-MISSING]"):
        assert CODES["role-missing"] in run("explain", code).stdout
    assert json.loads(run("explain", "E-NO-ROWS", "--json").stdout)["exit codes"]
    assert "did you mean E-ROLE-MISSING?" in run("explain", "E-ROLE-MISING").stderr
    assert len(run("explain").stdout.splitlines()) == len(CODES)
    message = run("run", "nothing.csv", "--truth", "y", "--predicted", "p").stderr
    assert "read   assay explain E-NO-FILE" in message


@pytest.mark.parametrize("task", ["classification", "regression", "retrieval", "clustering", "detection"])
def test_15_the_command_that_a_demo_proposes_works_as_printed(task, tmp_path):
    shown = run("demo", task, "--no-open", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    command = next(line for line in shown.stderr.splitlines() if line.startswith("next")).removeprefix("next     ")
    words = shlex.split(command, comments=True)
    assert words[:2] == ["assay", "run"]
    again = run(*words[1:], "-q", "--no-report", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    if task == "classification":
        assert (tmp_path / "assay-demo" / "waste" / "report.html").stat().st_size > 10_000
        assert "assay-demo" in shown.stderr
    if task == "clustering":  # as run.py starts it
        by_run = {"ASSAY_PROGRAM": "python3 run.py", **os.environ}
        assert "next     python3 run.py run" in run("demo", task, "--no-open", cwd=tmp_path, env=by_run).stderr


def test_groups_are_judged_on_the_command_line(tmp_path):
    path = tmp_path / "rows.csv"
    rows = zip(TRUTH.tolist(), CALLED.tolist(), strict=True)
    path.write_text("y,p,sex\n" + "".join(f"{y},{p},{'fm'[i % 2]}\n" for i, (y, p) in enumerate(rows)))
    asked = ["run", path, "--truth", "y", "--predicted", "p", "--positive", "1", "--group", "sex"]
    done = run(*asked, "--fairness", "equal_opportunity", "--tolerance", "0.9", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "fairness: pass" in done.stdout
    record = assay.load(tmp_path / "out" / "record.json").record
    assert verify(record).holds
    assert "Fairness" in (tmp_path / "out" / "report.html").read_text()
    strict = run(*asked, "--fairness", "equal_opportunity", "--tolerance", "0.0001", "-o", tmp_path / "two")
    assert strict.returncode in (1, 3)
    assert run(*asked, "--fairness", "equal_oportunity", "-o", tmp_path / "x").returncode == 2


def test_labels_in_tables_for_notebooks_are_escaped():
    a = assay.assess(truth=["<i>", "b"], predicted=["<i>", "b"], positive="b")
    assert html.escape("<i>") in a.confusion._repr_html_()
