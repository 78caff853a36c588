# SPDX-License-Identifier: Apache-2.0
"""Scores on the command line: one column, one for each class, thresholds stated and chosen."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from assay.app.cli import cli
from assay.core.errors import AssayError

rng = np.random.default_rng(3)
ILL = rng.random(200) < 0.4
SCORE = np.round(rng.random(200) * 0.6 + ILL * 0.3, 3)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame({"y": ILL * 1, "s": SCORE})
    frame[:100].write_csv("validation.csv")
    frame[100:].write_csv("test.csv")
    matrix = rng.dirichlet(np.ones(3), 200)
    names = ("cat", "dog", "eel")
    columns = {f"p_{name}": matrix[:, i] for i, name in enumerate(names)}
    pl.DataFrame({"y": np.array(names)[rng.integers(0, 3, 200)], **columns}).write_parquet("many.parquet")
    return tmp_path


def record(*words):
    done = CliRunner().invoke(cli, ["run", *words, "--json", "--quiet"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_stated_threshold_and_further_operating_points(folder):  # noqa: ARG001
    found = record(
        "test.csv", "--truth", "y", "--score", "s", "--scores", "probability", "--threshold", "0.5",
        "--operating-point", "0.2", "--operating-point", "0.8",
    )  # fmt: skip
    assert [one["threshold"] for one in found["operating_points"]] == [0.5, 0.2, 0.8]
    assert found["scores"]["kind"] == "probability"
    assert found["positive"] == "1"


def test_a_threshold_chosen_on_a_validation_file(folder):  # noqa: ARG001
    words = ("test.csv", "--truth", "y", "--score", "s", "--positive", "1")
    found = record(*words, "--threshold", "youden", "--threshold-from", "validation.csv")
    assert "on validation.csv, 100 rows" in found["operating_points"][0]["from"]
    assert not found["operating_points"][0]["optimistic"]
    assert found == found | {
        "operating_points": record(*words, "--threshold-from", "validation.csv")["operating_points"]
    }
    with pytest.raises(AssayError) as caught:
        record(*words, "--threshold", "youden")
    assert caught.value.code == "threshold-optimistic"
    accepted = record(*words, "--threshold", "youden", "--accept-optimistic-threshold")
    assert accepted["operating_points"][0]["optimistic"]


def test_one_column_for_each_class_by_label_or_by_name(folder):  # noqa: ARG001
    words = ("many.parquet", "--truth", "y", "--scores", "probability")
    by_name = record(*words, "--score", "p_eel", "--score", "p_cat", "--score", "p_dog")
    by_label = record(*words, "--score", "cat=p_cat", "--score", "dog=p_dog", "--score", "eel=p_eel")
    assert by_name["tallies"] == by_label["tallies"]
    assert by_name["labels"] == ["cat", "dog", "eel"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--score", "cat=p_cat", "--score", "p_dog"], "score-columns"),
        (["--score", "cat=p_cat", "--score", "cat=p_dog"], "score-columns"),
        (["--score", "p_cat", "--score", "p_dog"], "score-columns"),
        (["--score", "cat=p_cat", "--score", "dog=p_dog", "--score", "ell=p_eel"], "score-columns"),
        (["--score", "p_cat", "--score", "p_dog", "--score", "p_ele"], "missing-column"),
        (["--score", "p_cat", "--threshold", "0.5"], "score-columns"),
        (["--score", "p_cat"], "score-columns"),
        (["--score", "p_cat", "--threshold", "yuoden"], "option-unknown"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(folder, options, code):
    with pytest.raises(AssayError) as caught:
        record("many.parquet", "--truth", "y", *options)
    assert caught.value.code == code
    assert not (folder / "assay-out").exists()
