# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.assess.record.record import schema
from assay.core import progress
from tests.command import assay


def started(*arguments):
    command = [sys.executable, "-m", "assay", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def predictions(tmp_path):
    path = tmp_path / "predictions.csv"
    path.write_text("truth,guess,site\nyes,yes,A\nno,no,B\nyes,no,A\nno,no,A\n", encoding="utf-8")
    return path


def test_run_prints_results_writes_record_and_report_and_says_what_is_next(predictions, tmp_path):
    out = tmp_path / "out"
    done = started(
        "run",
        predictions,
        "--truth",
        "truth",
        "--predicted",
        "guess",
        "--positive",
        "yes",
        "--group",
        "site",
        "-o",
        out,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in out.iterdir()) == ["record.json", "report.html"]
    jsonschema.validate(json.loads((out / "record.json").read_text(encoding="utf-8")), schema())
    assert [line.split()[0] for line in done.stderr.splitlines()] == ["report", str(out / "record.json"), "next"]
    assert "4 rows read = 4 scored" in done.stdout
    assert "verdict" not in done.stdout  # nothing was to be decided


def test_json_goes_to_standard_output_and_quiet_says_nothing(predictions, tmp_path):
    given = (
        "--truth",
        "truth",
        "--predicted",
        "guess",
        "--positive",
        "yes",
        "--json",
        "--quiet",
        "-o",
        tmp_path / "out",
    )
    done = assay("run", predictions, *given)
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["samples"] == 4


def test_labels_typed_on_the_command_line_match_numbers_in_a_file(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"y": 5, "p": 5}\n{"y": 7, "p": 5}\n', encoding="utf-8")
    done = assay(
        "run", path, "--truth", "y", "--predicted", "p", "--positive", "7", "--json", "-q", "-o", tmp_path / "out"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["positive"] == 7


def test_a_column_that_nobody_named_is_asked_for_with_the_columns_there_are(predictions, tmp_path):
    done = assay("run", predictions, "-o", tmp_path / "out")
    assert done.returncode == 2
    assert '"truth", "guess", "site"' in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_error_is_told_in_json_too(predictions, tmp_path):
    done = assay("run", predictions, "--truth", "truth", "--predicted", "guess", "--json", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"] == "positive-class-undeclared"
    assert done.stderr.startswith("error[E-POSITIVE-CLASS-UNDECLARED]: ")


@pytest.mark.parametrize(("words", "hint"), [(["shwo"], "show"), (["run", "x", "--trth", "y"], "--truth")])
def test_a_mistyped_word_gets_a_hint_and_exit_code_2(words, hint):
    done = assay(*words)
    assert done.returncode == 2
    assert hint in done.stderr


def test_show_explains_and_measures_lists():
    assert "TP / (TP + FN)" in assay("show", "sensitivity").stdout
    assert assay("show", "recal").returncode == 2
    assert 'did you mean "recall"' in assay("show", "recal").stderr
    assert "kl_truth_pred, kl_pred_truth" in assay("show", "KL").stderr
    declared = json.loads(assay("measures", "--task", "binary", "--json").stdout)
    assert {"recall", "f1", "matthews_corrcoef"} <= {one["name"] for one in declared}
    assert assay("measures", "--family", "rats").returncode == 2


def test_doctor_and_schema_answer():
    assert assay("doctor").returncode == 0
    assert json.loads(assay("schema").stdout)["title"] == "assay Record"


def test_an_output_folder_that_cannot_be_made_is_an_error_before_anything_is_written(predictions, tmp_path):
    done = assay(
        "run", predictions, "--truth", "truth", "--predicted", "guess", "--positive", "yes", "-o", predictions / "out"
    )
    assert done.returncode == 2
    assert "error[E-OUT-EXISTS]" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["predictions.csv"]


def test_people_at_a_terminal_see_how_far_the_intervals_are_once_they_take_long(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    for quiet in (False, True):
        with progress.progress_bar("intervals model-a", quiet=quiet) as tell:
            for done in range(1, 4):
                tell(done, 3)
        said = capsys.readouterr().err
        assert ("intervals model-a" in said and "3/3" in said) != quiet
    monkeypatch.setattr(progress, "PATIENCE", 60)
    with progress.progress_bar("intervals") as tell:
        tell(1, 3)
    assert "intervals" not in capsys.readouterr().err


def test_people_at_a_terminal_see_how_far_a_long_count_is(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "long.parquet"
    table = pa.table(
        {"y": rng.integers(0, 2, 1_000_000), "p": rng.integers(0, 2, 1_000_000), "s": rng.random(5_000_000)[:1_000_000]}
    )
    pq.write_table(pa.concat_tables([table] * 5), path, compression="none", use_dictionary=False)
    ours, theirs = os.openpty()
    command = [
        sys.executable,
        "-m",
        "assay",
        "run",
        str(path),
        "--truth",
        "y",
        "--predicted",
        "p",
        "-o",
        str(tmp_path / "out"),
    ]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment) as process:
        os.close(theirs)
        said = b""
        with contextlib.suppress(OSError):  # what a terminal says when its other end is closed
            while piece := os.read(ours, 4096):
                said += piece
        assert process.wait() == 0
    os.close(ours)
    assert b"reading long.parquet" in said
    assert b"MB" in said
    assert b"next" in said


def test_a_closed_pipe_is_no_traceback():
    shell = f"{sys.executable} -m assay measures | head -1"
    done = subprocess.run(shell, shell=True, capture_output=True, text=True, check=False)  # noqa: S602  a real pipe
    assert "Traceback" not in done.stderr


def test_limits_are_kept_or_refused(predictions, tmp_path):
    given = (
        "run",
        predictions,
        "--truth",
        "truth",
        "--predicted",
        "guess",
        "--positive",
        "yes",
        "-o",
        tmp_path / "out",
    )
    done = assay(*given, "--memory", "1GB", "--threads", "1", "--temp", tmp_path, "--json", "-q")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["environment"]["limits"] == {"memory": "1GB", "threads": 1}
    done = assay(*given, "--memory", "much")
    assert done.returncode == 2
    assert "512MiB" in done.stderr


@pytest.fixture
def sites(tmp_path):
    rows = [(t, p) for t in ("ill", "well") for p in ("ill", "well") for _ in range(12)]
    for name, more in (("north", 30), ("south", 5)):
        text = "".join(f"{t},{p}\n" for t, p in [*rows, *[("ill", "ill")] * more])
        (tmp_path / f"{name}.csv").write_text(f"t,p\n{text}", encoding="utf-8")
    return tmp_path


ROLES = ("--truth", "t", "--predicted", "p", "--positive", "ill")


def test_sites_share_tallies_and_the_merged_record_is_that_of_all_rows(sites):
    for name in ("north", "south"):
        done = assay("tally", f"{name}.csv", *ROLES, cwd=sites)
        assert done.returncode == 0, done.stderr
        assert f"tally    {name}.tally.json" in done.stderr
        jsonschema.validate(json.loads((sites / f"{name}.tally.json").read_text()), schema("tally"))
    done = assay("merge", "north.tally.json", "south.tally.json", "--report", "pooled.html", cwd=sites)
    assert done.returncode == 0, done.stderr
    assert "differ by more than chance" in done.stdout
    pooled = json.loads((sites / "pooled.json").read_text())
    jsonschema.validate(pooled, schema())
    assert pooled["samples"] == 2 * 48 + 35
    assert [one["level"] for one in pooled["tallies"]["groups"]["site"]] == ["north", "south"]
    assert (sites / "pooled.html").stat().st_size


def test_a_tally_on_standard_output_writes_no_file(sites):
    done = assay("tally", "north.csv", *ROLES, "--json", "-q", cwd=sites)
    assert json.loads(done.stdout)["kind"] == "tally"
    assert not list(sites.glob("*.json"))


def test_a_tally_with_a_small_cell_is_not_written(sites):
    done = assay("tally", "north.csv", *ROLES, "--smallest-cell", "13", cwd=sites)
    assert done.returncode == 4
    assert "CELL-TOO-SMALL" in done.stderr
    assert not list(sites.glob("*.json"))


def test_files_that_are_no_tallies_are_not_merged(sites):
    done = assay("merge", "north.csv", cwd=sites)
    assert done.returncode in (2, 4)
    assert "RECORD-UNREADABLE" in done.stderr
    assert not (sites / "pooled.json").exists()


def test_records_without_a_site_are_called_by_their_files(sites):
    for name in ("north", "south"):
        assay("run", f"{name}.csv", *ROLES, "-o", name, "-q", cwd=sites)
        (sites / name / "record.json").rename(sites / f"{name}.json")
    done = assay("merge", "north.json", "south.json", "--json", "-q", cwd=sites)
    assert [one["level"] for one in json.loads(done.stdout)["tallies"]["groups"]["site"]] == ["north", "south"]


def test_several_files_a_folder_and_a_pattern_are_one_table(tmp_path):
    for site, text in (("01", "y,p\na,a\nb,a\n"), ("02", "y,p\na,a\nb,b\n")):
        (tmp_path / f"in/site={site}").mkdir(parents=True)
        (tmp_path / f"in/site={site}/p.csv").write_text(text, encoding="utf-8")
    given = ("--truth", "y", "--predicted", "p", "--positive", "b", "--group", "site", "-o", tmp_path / "out")
    files = sorted((tmp_path / "in").rglob("*.csv"))
    said = [assay("run", *data, *given, "--json", "-q") for data in (files, [tmp_path / "in"], [tmp_path / "in/*/*"])]
    assert all(done.returncode == 0 for done in said), [done.stderr for done in said]
    records = [json.loads(done.stdout) | {"environment": None} for done in said]
    for record in records:
        del record["digests"]["record"]  # it covers the time too
    assert records[0] == records[1] == records[2]
    pins = [f"--sha256={name}={digest}" for name, digest in records[0]["digests"]["files"].items()]
    assert len(pins) == 2
    assert assay("run", tmp_path / "in", *given, *pins).returncode == 0
    assert assay("run", tmp_path / "in", *given, pins[0]).returncode == 4
    assert assay("run", tmp_path / "in", *given, "--sha256", "0" * 64, "--sha256", "1" * 64).returncode == 2


def test_a_pattern_without_a_match_writes_nothing(tmp_path):
    done = assay("run", tmp_path / "*.csv", "--truth", "y", "--predicted", "p", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "no file fits the pattern" in done.stderr
    assert not (tmp_path / "out").exists()


def test_truth_in_another_file_is_joined_by_id(tmp_path):
    (tmp_path / "p.csv").write_text("i,j,p\n1,a,x\n1,b,y\n2,a,y\n", encoding="utf-8")
    (tmp_path / "t.csv").write_text("j,i,y\na,2,y\na,1,x\nb,1,x\n", encoding="utf-8")
    given = [
        "run",
        "p.csv",
        "--truth-file",
        "t.csv",
        "--truth",
        "y",
        "--predicted",
        "p",
        "--positive",
        "y",
        "-o",
        "out",
    ]
    done = assay(*given, "--id", "i", cwd=tmp_path)
    assert done.returncode == 4
    assert "E-DUPLICATE-ID" in done.stderr
    assert not (tmp_path / "out").exists()
    done = assay(*given, "--id", "i", "--id", "j", "--json", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    jsonschema.validate(record, schema())
    assert record["plan"]["data"]["join"]["id"] == ["i", "j"]
    assert assay(*given, cwd=tmp_path).returncode == 2  # no id
    (tmp_path / "t.csv").write_text("j,i,y\na,2,y\na,1,x\n", encoding="utf-8")
    done = assay(*given, "--id", "i", "--id", "j", cwd=tmp_path)
    assert done.returncode == 4
    assert "E-ROWS-UNMATCHED" in done.stderr
    done = assay(*given, "--id", "i", "--id", "j", "--unmatched", "count", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 rows read = 2 scored + 0 excluded + 1 unmatched" in done.stdout
    done = assay(*given[:4], "--id", "i", "--predicted", "p", cwd=tmp_path)
    assert '"j", "i", "y"' in done.stderr  # the columns of the truth file
