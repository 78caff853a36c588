# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from assay.app.cli import cli
from assay.core.errors import AssayError
from assay.tally.paired.joint_scores import LISTED

ROWS = [("a", "yes", "yes", "no", 0.9, 0.2), ("b", "no", "no", "no", 0.1, 0.3), ("c", "yes", "yes", "yes", 0.8, 0.7),
        ("d", "no", "yes", "no", 0.6, 0.1), ("e", "no", "no", "yes", 0.4, 0.6)]  # fmt: skip


@pytest.fixture
def files(tmp_path):
    (tmp_path / "old.csv").write_text("id,y,p,s\n" + "".join(f"{r[0]},{r[1]},{r[2]},{r[4]}\n" for r in ROWS))
    (tmp_path / "new.csv").write_text("id,y,p,s\n" + "".join(f"{r[0]},{r[1]},{r[3]},{r[5]}\n" for r in reversed(ROWS)))
    (tmp_path / "both.csv").write_text("y,a,b\n" + "".join(f"{r[1]},{r[2]},{r[3]}\n" for r in ROWS))
    return tmp_path


def run(*args):
    return CliRunner().invoke(cli, [str(a) for a in args], catch_exceptions=False)


def test_two_files_are_compared_and_both_outputs_written(files):
    out = files / "out"
    options = ("--truth", "y", "--predicted", "p", "--score", "s", "--id", "id", "--positive", "yes")
    more = files / "more.md"
    done = run("compare", files / "old.csv", files / "new.csv", *options, "-o", out, "--json", "--report", more)
    assert done.exit_code == 0
    assert more.read_text().startswith("# old against new")
    assert str(more) in done.stderr
    record = json.loads((out / "record.json").read_text())
    assert record["kind"] == "comparison"
    assert record["models"] == ["old", "new"]
    assert json.loads(done.stdout) == record
    assert "old" in (out / "report.html").read_text()
    assert "p = 1" in done.stderr  # where a machine reads standard output, people read here


def test_answers_in_two_files_meet_the_truth_in_a_third(files):
    for name in ("old", "new"):
        pl.read_csv(files / f"{name}.csv").drop("y").write_csv(files / f"{name}_alone.csv")
    labels = pl.read_csv(files / "old.csv").select("id", "y")
    labels.write_csv(files / "labels.csv")
    words = ("--truth", "y", "--predicted", "p", "--id", "id", "--positive", "yes", "-o", files / "out", "--json")
    beside = run("compare", files / "old.csv", files / "new.csv", *words)
    alone = ("compare", files / "old_alone.csv", files / "new_alone.csv", *words, "--truth-file")
    done = run(*alone, files / "labels.csv")
    record = json.loads(done.stdout)
    assert record["plan"]["data"]["from"] == "old_alone.csv; new_alone.csv; truth in labels.csv"
    assert [one["p"] for one in record["findings"]] == [one["p"] for one in json.loads(beside.stdout)["findings"]]
    labels[1:].write_csv(files / "fewer.csv")
    with pytest.raises(AssayError, match=r"1 row of .*old_alone\.csv without truth"):
        run(*alone, files / "fewer.csv")
    told = json.loads(run(*alone, files / "fewer.csv", "--unmatched", "count").stdout)
    assert told["samples"] == 4
    assert [note for note in told["notes"] if "left out, as stated" in note] == [
        f"{name}_alone: 1 row without truth or without prediction left out, as stated" for name in ("old", "new")
    ]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--truth-file", "labels.csv", "--by-position"), "paired by position"),
        (("--truth-table", "t", "--id", "id"), "need --truth-file"),
        (("--unmatched", "drop", "--id", "id"), "unmatched='drop' is not a choice"),
        (("--truth-file", "labels.csv", "--value", "p", "--id", "id"), "is about predictions"),
    ],
)
def test_what_is_said_of_a_truth_elsewhere_must_fit(options, says, files, monkeypatch):
    monkeypatch.chdir(files)
    words = ("--truth", "y", "--positive", "yes") if "--value" not in options else ()
    words += ("--predicted", "p") if words else ()
    with pytest.raises(AssayError, match=says):
        run("compare", "old.csv", "new.csv", *words, *options, "-o", "out")


def test_one_file_with_a_column_a_model(files):
    options = (
        "--truth",
        "y",
        "--predicted",
        "A=a",
        "--predicted",
        "B=b",
        "--positive",
        "yes",
        "-o",
        files / "out",
        "-q",
    )
    assert run("compare", files / "both.csv", *options).exit_code == 0


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--truth", "y"),
        ("--truth", "y", "--predicted", "a"),
        ("--truth", "y", "--predicted", "A=a", "--predicted", "A=b"),
        ("--truth", "y", "--predicted", "A=a"),
    ],
)
def test_what_is_missing_is_told_and_nothing_written(files, options):
    with pytest.raises(AssayError) as error:
        run("compare", files / "both.csv", *options, "-o", files / "out")
    assert error.value.typed
    assert not (files / "out").exists()


def test_two_files_need_ids_or_a_word(files):
    two = (files / "old.csv", files / "new.csv")
    with pytest.raises(AssayError) as error:
        run("compare", *two, "--truth", "y", "--predicted", "p")
    assert "--id" in error.value.typed
    with pytest.raises(AssayError, match="another truth"):
        run("compare", *two, "--truth", "y", "--predicted", "p", "--by-position", "-o", files / "out")
    with pytest.raises(AssayError, match="given twice"):
        run("compare", two[0], two[0], "--truth", "y", "--predicted", "p", "--id", "id")
    with pytest.raises(AssayError):
        run("compare", *two, "--truth", "y", "--predicted", "p", "--predicted", "q", "--id", "id")


def test_tests_are_listed_and_explained():
    assert "mcnemar_exact" in run("tests").stdout
    assert "never" in run("tests", "paired_t").stdout
    assert json.loads(run("tests", "--json").stdout)[0]["asks"]
    assert json.loads(run("tests", "wilcoxon", "--json").stdout)["family"] == "wilcoxon"
    assert "comparison" in run("schema", "--kind", "comparison").stdout


def test_subjects_and_measures_of_scores_are_options(files):
    rows = "".join(f"{i},{'yes' if i % 2 else 'no'},{i / 40},{i % 7 / 7},{i // 4}\n" for i in range(40))
    (files / "scored.csv").write_text("id,y,a,b,who\n" + rows)
    options = (
        "--truth",
        "y",
        "--score",
        "A=a",
        "--score",
        "B=b",
        "--positive",
        "yes",
        "--measure",
        "average_precision",
    )
    done = run("compare", files / "scored.csv", *options, "--subject", "who", "-o", files / "out", "--json", "-q")
    found = json.loads(done.stdout)["findings"]
    assert [(one["test"], one["about"]) for one in found] == [
        ("subject_permutation", "auroc"),
        ("subject_permutation", "average_precision"),
    ]
    with pytest.raises(AssayError) as error:
        run("compare", files / "scored.csv", *options, "--subject", "who", "--test", "delong", "--because", "habit")
    assert "--override" in error.value.typed
    forced = ("--test", "delong", "--because", "habit", "--override")
    done = run("compare", files / "scored.csv", *options, "--subject", "who", *forced, "-o", files / "forced")
    assert "deviates from clause 7" in done.stdout.lower()
    assert "deviates from clause 7" in (files / "forced" / "report.html").read_text().lower()


FOLDS = [(f"f{i}", 0.8 + i % 3 / 50, 0.78 + i % 4 / 60) for i in range(10)]


@pytest.fixture
def folds(tmp_path):
    rows = "".join(f"{fold},{a},{b}\n" for fold, a, b in FOLDS)
    (tmp_path / "wide.csv").write_text("fold,a,b\n" + rows)
    below = [(m, fold, v[i]) for i, m in enumerate("AB") for fold, *v in FOLDS]
    (tmp_path / "long.csv").write_text("model,fold,acc\n" + "".join(f"{m},{f},{x}\n" for m, f, x in below))
    for i, m in enumerate("AB"):
        own = "".join(f"{fold},{v[i]}\n" for fold, *v in FOLDS)
        (tmp_path / f"{m}.csv").write_text("fold,acc\n" + own)
    return tmp_path


def test_values_of_folds_are_compared_from_files_of_any_form(folds):
    forms = (
        (folds / "wide.csv", "--value", "A=a", "--value", "B=b"),
        (folds / "long.csv", "--value", "acc", "--model", "model", "--id", "fold"),
        (folds / "A.csv", folds / "B.csv", "--value", "acc", "--id", "fold"),
        (folds / "A.csv", folds / "B.csv", "--value", "acc", "--by-position"),
    )
    found = []
    for form in forms:
        done = run("compare", *form, "--per", "fold", "--folds", "10", "-o", folds / "out", "--json")
        assert done.exit_code == 0
        assert "Corrected resampled t test" in " ".join(done.stderr.split())
        assert run("verify", folds / "out" / "record.json").exit_code == 0
        found.append(json.loads(done.stdout)["findings"])
    assert all(one == found[0] for one in found)


def test_units_of_values_are_said_on_the_command_line(folds):
    wide = (folds / "wide.csv", "--value", "A=a", "--value", "B=b", "-o", folds / "out", "-q", "--json")
    tests = {
        ("--per", "item"): "wilcoxon",
        ("--per", "data-set"): "wilcoxon",
        ("--per", "repeat", "--test-over-train", "1/9"): "corrected_resampled_t",
        ("--per", "5x2", "--rows", "1000"): "five_by_two_f",
        ("--independent",): "mann_whitney",
        ("--variance",): "pitman_morgan",
    }
    for options, test in tests.items():
        assert json.loads(run("compare", *wide, *options).stdout)["findings"][0]["test"] == test
    with pytest.raises(AssayError, match="two for every split, not 10 in all"):
        run("compare", *wide, "--per", "halves")
    whole = folds / "halves.csv"
    whole.write_text("a,b\n0.9,0.8\n0.9,0.8\n0.7,0.8\n0.8,0.7\n0.9,0.7\n")
    found = run("compare", whole, *wide[1:], "--per", "halves")
    assert json.loads(found.stdout)["findings"][0]["test"] == "half_sample_t"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--test", "paired_t", "--because", "habit"), "--override"),
        (("--test", "wilcoxon", "--because", "habit"), "--accept-dependence"),
        (("--truth", "fold"), "leave one of them out"),
        (("--measure", "f1"), "leave one of them out"),
        (("--model", "fold"), "--value COLUMN"),
        (("--folds", "4"), "every round"),
    ],
)
def test_values_are_refused_what_does_not_fit_them(folds, options, says):
    wide = (folds / "wide.csv", "--value", "A=a", "--value", "B=b", "--per", "fold", "--folds", "10")
    with pytest.raises(AssayError) as error:
        run("compare", *wide, *options, "-o", folds / "out")
    assert says in error.value.typed
    assert not (folds / "out").exists()


def test_what_is_said_about_values_is_not_passed_over_for_predictions(files):
    with pytest.raises(AssayError, match="about values"):
        run("compare", files / "both.csv", "--truth", "y", "--predicted", "A=a", "--predicted", "B=b", "--folds", "5")


def test_a_comparison_of_very_many_scores_is_verified_and_says_so(files):
    """More rows than a Record lists one by one: they are packed, read again and computed again."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, LISTED + 1)
    pl.DataFrame({"y": y, "a": y + rng.normal(size=len(y)), "b": rng.normal(size=len(y))}).write_parquet(
        files / "many.parquet"
    )
    options = ("--truth", "y", "--score", "A=a", "--score", "B=b", "--positive", "1", "-q")
    assert run("compare", files / "many.parquet", *options, "-o", files / "out").exit_code == 0
    assert "packed" in json.loads((files / "out" / "record.json").read_text())["tallies"]["scores"]
    done = run("verify", files / "out" / "record.json")
    assert done.exit_code == 0
    assert "computed again: task" in done.stdout
    assert "verdict  verified: everything is as it was written" in done.stdout


def test_scores_of_all_classes_on_the_command_line(files):
    rows = [f"{i},{'xyz'[i % 3]}," + ",".join(f"{(i * k) % 11 / 11:.3f}" for k in range(2, 8)) for i in range(30)]
    (files / "six.csv").write_text("id,y,ax,ay,az,bx,by,bz\n" + "\n".join(rows))
    for model in "ab":
        cut = slice(2, 5) if model == "a" else slice(5, 8)
        own = [",".join([*row.split(",")[:2], *row.split(",")[cut]]) for row in rows]
        (files / f"{model}.csv").write_text("id,y,px,py,pz\n" + "\n".join(own))
    one = [word for m in "ab" for c in "xyz" for word in ("--score", f"{m}={c}={m}{c}")]
    two = [word for c in "xyz" for word in ("--score", f"{c}=p{c}")]
    tail = ("--truth", "y", "--measure", "top_k_accuracy(k=2)", "-o", files / "out", "-q", "--json")
    first = json.loads(run("compare", files / "six.csv", *one, *tail).stdout)["findings"]
    second = json.loads(run("compare", files / "a.csv", files / "b.csv", "--id", "id", *two, *tail).stdout)["findings"]
    assert first == second
    assert [each["about"] for each in first] == ["auroc_macro", "top_k_accuracy(k=2)"]
    for wrong in (["--score", "a=x=ax", "--score", "b=bx"], ["--score", "a=x=ax", "--score", "a=x=ay"]):
        with pytest.raises(AssayError):
            run("compare", files / "six.csv", *wrong, *tail)
    for wrong in (["--score", "x=px", "--score", "py"], ["--score", "x=px", "--score", "x=py"]):
        with pytest.raises(AssayError):
            run("compare", files / "a.csv", files / "b.csv", "--id", "id", *wrong, *tail)


def test_different_rows_need_a_word_on_the_command_line(files):
    (files / "jan.csv").write_text("id,y,p\n" + "".join(f"j{i},{i % 2},{i % 3 % 2}\n" for i in range(60)))
    (files / "feb.csv").write_text("id,y,p\n" + "".join(f"f{i},{i % 2},{i % 2}\n" for i in range(40)))
    two = ("compare", files / "jan.csv", files / "feb.csv", "--truth", "y", "--predicted", "p", "--positive", "1")
    with pytest.raises(AssayError) as error:
        run(*two, "--id", "id", "-o", files / "out")
    assert "--independent" in error.value.typed
    done = run(*two, "--independent", "-o", files / "out")
    assert "tested on different rows" in done.stdout.lower()
    assert run("verify", files / "out" / "record.json").exit_code == 0
    held = run(*two, "--independent", "--control", "jan", "-o", files / "out", "--json", "-q")
    assert json.loads(held.stdout)["findings"][0]["models"] == ["feb", "jan"]
    with pytest.raises(AssayError, match="--control"):
        run(*two, "--by-position", "--control", "jan", "-o", files / "out")


def test_draws_are_options_and_stand_in_the_record(files):
    one = (
        "compare",
        files / "both.csv",
        "--truth",
        "y",
        "--predicted",
        "A=a",
        "--predicted",
        "B=b",
        "--positive",
        "yes",
    )
    done = run(*one, "--draws", "199", "--stratified", "--measure", "f1", "-o", files / "out", "--json", "-q")
    record = json.loads(done.stdout)
    assert (record["plan"]["draws"], record["plan"]["stratified"]) == (199, True)
    assert any("199 random swaps" in note for one in record["findings"] for note in one["notes"])


def test_limits_and_the_engine_are_options_and_stand_in_the_record(files):
    two = (files / "old.csv", files / "new.csv", "--id", "id", "--truth", "y", "--positive", "yes", "-q", "--json")
    limits = ("--memory", "200MB", "--threads", "1", "--temp", files)
    found = {}
    for name, columns in {"labels": ("--predicted", "p"), "scores": ("--score", "s")}.items():
        for engine in ((), ("--engine", "duckdb"), limits):
            record = json.loads(run("compare", *two, *columns, *engine, "-o", files / "out").stdout)
            assert run("verify", files / "out" / "record.json").exit_code == 0
            assert ("limits" in record["environment"]) == (engine is limits)
            assert found.setdefault(name, record["findings"]) == record["findings"]
    assert record["environment"]["limits"] == {"memory": "200MB", "threads": 1}
    one = (files / "both.csv", "--truth", "y", "--predicted", "A=a", "--predicted", "B=b", "--positive", "yes", "-q")
    assert (
        json.loads(run("compare", *one, *limits, "--json", "-o", files / "out").stdout)["environment"]["limits"][
            "threads"
        ]
        == 1
    )
    for wrong in (("--engine", "polars"), ("--engine", "abacus"), ("--memory", "1KB")):
        with pytest.raises(AssayError):
            run("compare", *one, *wrong, "-o", files / "out")


def test_values_are_read_within_limits_and_by_the_engine_that_is_named(folds):
    wide = (folds / "wide.csv", "--value", "A=a", "--value", "B=b", "-o", folds / "out", "-q", "--json")
    first = json.loads(run("compare", *wide, "--memory", "100MB").stdout)
    assert first["environment"]["limits"] == {"memory": "100MB"}
    assert json.loads(run("compare", *wide, "--engine", "duckdb").stdout)["findings"] == first["findings"]
    with pytest.raises(AssayError, match="there is no engine"):
        run("compare", *wide, "--engine", "abacus")
