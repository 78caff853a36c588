# SPDX-License-Identifier: Apache-2.0
"""Scores from any surface: what a float64 cannot hold is refused, never rounded in silence; oddities are noted."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import assay
from assay.core.errors import AssayError, PlanError, RowsError

TRUTH = [0, 1] * 10
PLAIN = [0.1 + 0.8 * y + 1e-3 * i for i, y in enumerate(TRUTH)]
LONG = Decimal("0.12345678901234567890123")


def with_one(value):
    """Plain scores with one odd one."""
    return [value if i == 3 else score for i, score in enumerate(PLAIN)]


def assessed(score, **more):
    return assay.assess(truth=TRUTH, score=score, positive=1, **{"threshold": 0.5, "measures": ["auroc"], **more})


BEYOND = [2**53 + 1 + i for i in range(20)]
DECIMALS = pa.array([LONG] * 20, pa.decimal128(30, 23))


@pytest.mark.parametrize(
    "score",
    [
        with_one(2**53 + 1), with_one(10**400), with_one(LONG), with_one(Decimal("1e-400")), BEYOND, np.array(BEYOND),
        pl.Series(BEYOND), pa.array(BEYOND), DECIMALS, pl.Series(DECIMALS.to_pylist()),
        np.array(PLAIN, dtype=np.longdouble) / 3,
    ],
    ids=range(11),
)  # fmt: skip
def test_a_column_is_refused(score):
    with pytest.raises(RowsError, match="float64 cannot hold"):
        assessed(score)


@pytest.mark.parametrize("score", [pl.Series(BEYOND), pl.Series(DECIMALS.to_pylist())], ids=["whole", "decimal"])
@pytest.mark.parametrize("frame", [pl.DataFrame, lambda table: pl.DataFrame(table).to_arrow()], ids=["polars", "arrow"])
def test_a_column_of_a_frame_is_refused(frame, score):
    with pytest.raises(RowsError, match="float64 cannot hold"):
        assay.assess(data=frame({"y": TRUTH, "s": score}), truth="y", score="s", positive=1, threshold=0.5)


@pytest.mark.parametrize("value", [2**53 + 1, "1e-400", "1e400", "0x1p3", "abc"])
def test_a_column_of_a_text_file_is_refused(tmp_path, value):
    lines = [f"c{y},{score}" for y, score in zip(TRUTH, with_one(value), strict=True)]
    (tmp_path / "x.csv").write_text("y,s\n" + "\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(RowsError, match="cannot be read as a number"):
        assay.assess(data=str(tmp_path / "x.csv"), truth="y", score="s", positive="c1", threshold=0.5)


@pytest.mark.parametrize(
    "column", [pa.array(BEYOND), DECIMALS, pa.array([2**64 - 1 - i for i in range(20)], pa.uint64())]
)
def test_a_column_of_a_typed_file_is_refused(tmp_path, column):
    pq.write_table(pa.table({"y": TRUTH, "s": column}), tmp_path / "x.parquet")
    with pytest.raises(RowsError, match="cannot be read as a number"):
        assay.assess(data=str(tmp_path / "x.parquet"), truth="y", score="s", positive=1, threshold=0.5)


@pytest.mark.parametrize(
    "score",
    [
        [Decimal(repr(one)) for one in PLAIN],
        np.array(PLAIN, dtype=np.longdouble),
        pa.RunEndEncodedArray.from_arrays([10, 20], [0.1, 0.9]),
        np.array(PLAIN, dtype=np.float16),
    ],
    ids=["decimals", "longdouble", "run ends", "float16"],
)
def test_what_it_can_hold_is_read(score):
    assert assessed(score)["auroc"].value is not None


@pytest.mark.parametrize("threshold", [np.float32(0.5), np.float64(0.5), Decimal("0.5"), np.int64(1)])
def test_a_threshold_is_a_number_of_any_library(threshold):
    assert assessed(PLAIN, threshold=threshold).scores.thresholds[0].value == float(threshold)


@pytest.mark.parametrize("threshold", [True, 10**400, object(), [0.5], b"0.5", float("nan")])
def test_what_is_no_threshold_is_an_error_of_ours(threshold):
    with pytest.raises(PlanError):
        assessed(PLAIN, threshold=threshold)


@pytest.mark.parametrize("more", [{"level": 0.9999999999999999}, {"level": 1 - 2**-53}])
def test_a_level_beyond_every_quantile_is_refused(more):
    with pytest.raises(PlanError, match="not a confidence level"):
        assessed(PLAIN, **more)


def test_scores_too_far_apart_for_a_difference_are_refused():
    with pytest.raises(RowsError, match="farther apart"):
        assessed([1.7e308 if y else -1e308 for y in TRUTH])


@pytest.mark.parametrize("role", ["truth", "predicted", "score"])
def test_a_set_is_no_column(role):
    given = {"truth": TRUTH, "predicted": TRUTH, "score": PLAIN} | {role: set(PLAIN)}
    with pytest.raises(AssayError, match="is a set"):
        assay.assess(**given, positive=1)


@pytest.mark.parametrize(
    "roles",
    [
        {"truth": "y", "predicted": "y"}, {"truth": "y", "score": "y", "threshold": 0.5},
        {"truth": "y", "score": "s", "weight": "s", "threshold": 0.5}, {"truth": "y", "predicted": "p", "group": "p"},
    ],
)  # fmt: skip
def test_a_column_plays_one_role(roles):
    with pytest.raises(PlanError, match="at once"):
        assay.assess(data={"y": TRUTH, "p": TRUTH, "s": PLAIN}, positive=1, **roles)


def noted(**given):
    return "; ".join(assay.assess(**given).record["notes"])


def test_scores_that_rank_the_wrong_way_are_noted():
    wrong = noted(truth=TRUTH, score=[1 - one for one in PLAIN], positive=1, threshold=0.5)
    assert "AUROC 0 lies below 0.5, and so does its interval: the scores rank the wrong way" in wrong
    assert "wrong way" not in noted(truth=TRUTH, score=PLAIN, positive=1, threshold=0.5)


def test_scores_at_the_threshold_are_noted():
    assert "1 row has exactly the threshold 0.75" in noted(
        truth=TRUTH, score=with_one(0.75), positive=1, threshold=0.75
    )
    narrow = noted(truth=TRUTH, score=np.array(PLAIN, dtype=np.float32), positive=1, threshold=0.7)
    assert "stored as float32, which cannot hold the threshold 0.7" in narrow
    assert "stored as" not in noted(truth=TRUTH, score=np.array(PLAIN, dtype=np.float32), positive=1, threshold=0.5)


def test_ties_of_the_largest_score_are_noted_with_their_share():
    rows = [[0.4, 0.4, 0.2], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    assert "10 rows (33.3 %) with several largest scores" in noted(truth=[0, 1, 2] * 10, score=rows * 10)


def test_labels_that_look_alike_are_noted():
    labels = ["A", "\u0410", "1", "1.0", "01", "B"] * 3
    told = noted(truth=labels, predicted=labels)
    assert '"A" and "\u0410" look alike' in told
    assert '"01" and "1" and "1.0" are one number' in told
