# SPDX-License-Identifier: Apache-2.0
"""What somebody hands over first: tensors, matrices, several files, labels of any type, and what is noted of them."""

from __future__ import annotations

import sqlite3
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.optimize import minimize

import assay
from assay.assess.record.verification import verify
from tests.command import assay as run

RNG = np.random.default_rng(18)
TRUTH = np.array([0, 1] * 30)
SCORE = np.round(np.clip(0.5 * TRUTH + 0.6 * RNG.random(60), 0.01, 0.99), 3)
CALLED = (SCORE >= 0.5).astype(int)


class Tensor:
    """As torch's: no NumPy while it requires a gradient or lies on another device."""

    def __init__(self, values, *, requires_grad=True, device="cuda"):
        self.values, self.requires_grad, self.device = np.asarray(values), requires_grad, device

    ndim = property(lambda self: self.values.ndim)
    shape = property(lambda self: self.values.shape)

    def detach(self):
        return Tensor(self.values, requires_grad=False, device=self.device)

    def cpu(self):
        return Tensor(self.values, requires_grad=self.requires_grad, device="cpu")

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad or self.device != "cpu":
            message = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
            raise RuntimeError(message)
        return self.values

    def __dlpack__(self, **wanted):
        return self.__array__().__dlpack__(**wanted)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class TensorOfAnotherType(Tensor):
    def cpu(self):
        return self

    def detach(self):
        return self


def same_numbers(one, two):
    return [(e.measure, e.value, e.low, e.high) for e in one.values()] == [
        (e.measure, e.value, e.low, e.high) for e in two.values()
    ]


def test_a_tensor_that_requires_a_gradient_is_read():
    plain = assay.assess(truth=TRUTH, score=SCORE, positive=1, threshold=0.5)
    assert same_numbers(assay.assess(truth=TRUTH, score=Tensor(SCORE), positive=1, threshold=0.5), plain)
    matrix = Tensor(np.c_[1 - SCORE, SCORE])
    assert assay.assess(truth=Tensor(TRUTH), score=matrix)["auroc"].value == plain["auroc"].value
    assert assay.regression(truth=Tensor(SCORE), predicted=SCORE)["mean_absolute_error"].value == 0


def test_a_tensor_numpy_cannot_read_is_named():
    with pytest.raises(assay.AssayError, match="NumPy cannot read") as caught:
        assay.assess(truth=TRUTH, score=TensorOfAnotherType(SCORE), positive=1)
    assert caught.value.code == "column-type"


@pytest.mark.parametrize("positive", [True, np.True_, np.int64(1), 1])
@pytest.mark.parametrize("truth", [TRUTH, TRUTH == 1], ids=["whole", "boolean"])
def test_one_and_true_name_the_same_positive_class(truth, positive):
    a = assay.assess(truth=truth, predicted=truth, score=SCORE, positive=positive)
    assert a["auroc"].value == assay.assess(truth=TRUTH, score=SCORE)["auroc"].value
    assert a.record["positive"] == truth[1].item()
    other = type(getattr(positive, "item", lambda: positive)()) is not type(truth[1].item())
    assert any("is read as the label" in note for note in a.notes) is other


@pytest.mark.parametrize("positive", [1, 0, True, None])
def test_a_threshold_is_about_the_column_of_the_positive_class(positive):
    stated = 1 if positive is None else int(positive)
    own = SCORE if stated else 1 - SCORE
    plain = assay.assess(truth=TRUTH, score=own, positive=stated, threshold=0.6)
    both = assay.assess(truth=TRUTH, score=np.c_[1 - SCORE, SCORE], positive=positive, threshold=0.6)
    assert both["recall"].value == plain["recall"].value
    assert both["specificity"].value == plain["specificity"].value
    assert both["auroc"].value == plain["auroc"].value


def test_a_threshold_is_about_the_named_column_of_a_file_too(tmp_path):
    file = tmp_path / "two.csv"
    rows = "".join(f"{'yes' if y else 'no'},{1 - s!r},{s!r}\n" for y, s in zip(TRUTH, SCORE.tolist(), strict=True))
    file.write_text("truth,p_no,p_yes\n" + rows)
    a = assay.assess(data=file, truth="truth", score=["p_no", "p_yes"], positive="yes", threshold=0.6)
    assert a["recall"].value == assay.assess(truth=TRUTH, score=SCORE, threshold=0.6)["recall"].value


def test_three_columns_and_a_threshold_are_refused():
    with pytest.raises(assay.AssayError, match="a threshold fits one score column"):
        assay.assess(truth=TRUTH, score=np.c_[SCORE, SCORE, SCORE], positive=1, threshold=0.5)


def test_a_calibration_line_over_certain_probabilities_is_clipped_where_that_is_stated():
    certain = np.where(SCORE > 0.9, 1.0, np.where(SCORE < 0.15, 0.0, SCORE))
    asked = ["calibration_slope", "calibration_slope(clip=0.001)", "calibration_intercept(clip=0.001)"]
    given = {"truth": TRUTH, "positive": 1, "scores": assay.ScoreSettings(kind="probability")}
    a = assay.assess(score=certain, measures=asked, **given)
    assert a["calibration_slope"].value is None
    assert "calibration_slope(clip=0.001)" in a["calibration_slope"].reason
    clipped = np.clip(certain, 0.001, 0.999)
    logit = np.log(clipped / (1 - clipped))
    line = minimize(lambda w: np.logaddexp(0, -(2 * TRUTH - 1) * (w[0] + w[1] * logit)).sum(), [0, 1], tol=1e-12)
    slope = a["calibration_slope(clip=0.001)"]
    assert slope.value == pytest.approx(line.x[1], rel=1e-5)
    assert slope.low < slope.value < slope.high
    same = assay.assess(score=clipped, measures=["calibration_slope", "calibration_intercept"], **given)
    assert slope.value == pytest.approx(same["calibration_slope"].value, rel=1e-12)
    assert a["calibration_intercept(clip=0.001)"].value == pytest.approx(same["calibration_intercept"].value, rel=1e-12)
    assert verify(a.record).holds


def write_models(folder, form, truths):
    for number, truth in enumerate(truths):
        table = pa.table({"truth": truth, "predicted": RNG.permutation(truth)})
        if form == "parquet":
            pq.write_table(table, folder / f"model{number}.parquet")
        else:
            pl.from_arrow(table).write_csv(folder / f"model{number}.csv")
    return f"{folder}/*.{form}"


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("rows", [60, 3000])
def test_models_on_the_same_rows_are_compared_and_not_pooled(tmp_path, form, rows):
    truth = np.array([0, 1, 1] * (rows // 3))
    pattern = write_models(tmp_path, form, [truth] * 4)
    a = assay.assess(data=pattern, truth="truth", predicted="predicted")
    (note,) = (note for note in a.notes if "same truth row by row" in note)
    assert "4 models on the same rows" in note
    assert f"assay compare model0.{form} model1.{form} ..." in note
    assert note in a.record["notes"]
    told = run("run", pattern, "--truth", "truth", "--predicted", "predicted", "--out", str(tmp_path / "out"))
    assert "same truth row by row" in " ".join((told.stdout + told.stderr).split())


def test_parts_of_one_table_are_pooled_without_a_warning(tmp_path):
    last = np.array([0, 1] * 1500)
    last[-1] = 0
    for truths in ([RNG.permutation(TRUTH) for _ in range(3)], [np.array([0, 1] * 1500), last], [np.ones(60)] * 2):
        folder = tmp_path / str(len(truths[0]) + len(truths))
        folder.mkdir()
        a = assay.assess(
            data=write_models(folder, "parquet", [truth.astype(int) for truth in truths]),
            truth="truth",
            predicted="predicted",
        )
        assert not any("same truth" in note for note in a.notes)


def as_table(form, folder, truth, predicted):
    columns = {"truth": truth, "predicted": predicted}
    frame, path = pl.DataFrame(columns), folder / f"rows.{form}"
    match form:
        case "arrays":
            return columns
        case "polars":
            return {"data": frame, "truth": "truth", "predicted": "predicted"}
        case "csv" | "tsv":
            frame.write_csv(path, separator="," if form == "csv" else "\t")
        case "parquet":
            frame.write_parquet(path)
        case "jsonl":
            frame.write_ndjson(path)
        case "sqlite":
            with sqlite3.connect(path) as database:
                database.execute("DROP TABLE IF EXISTS rows")
                database.execute("CREATE TABLE rows (truth INTEGER, predicted INTEGER)")
                database.executemany("INSERT INTO rows VALUES (?, ?)", frame.rows())
    return {"data": path, "truth": "truth", "predicted": "predicted"}


def test_a_number_names_the_positive_class_of_a_file_of_text(tmp_path):
    (tmp_path / "p.csv").write_text("y,p\n1,1\n1,0\n0,0\n0,1\n1,1\n")
    a = assay.assess(data=tmp_path / "p.csv", truth="y", predicted="p", positive=1)
    assert a.record["positive"] == "1"
    assert any("positive=1 is read as the label '1'" in note for note in a.record["notes"])


@pytest.mark.parametrize("as_text", [False, True])
def test_measured_whole_numbers_are_pointed_to_regression(tmp_path, as_text):
    truth, predicted = np.arange(0, 400, 2), np.arange(1, 401, 2)
    given = {"truth": truth, "predicted": predicted}
    if as_text:
        pl.DataFrame(given).write_csv(tmp_path / "p.csv")
        given = {"data": tmp_path / "p.csv", "truth": "truth", "predicted": "predicted"}
    with pytest.raises(assay.RowsError, match="200 of 200 predicted labels are never true: numbers, as in a regr"):
        assay.assess(**given)
    assert assay.assess(truth=truth % 20, predicted=predicted % 20)["accuracy"].value == 0  # few classes, all wrong


@pytest.mark.parametrize("form", ["arrays", "polars", "csv", "tsv", "parquet", "jsonl", "sqlite"])
def test_a_class_that_truth_never_shows_is_treated_alike_on_every_surface(tmp_path, form):
    a = assay.assess(**as_table(form, tmp_path, [0, 1, 2, 2] * 10, [0, 1, 3, 2] * 10))
    assert [str(label) for label in a.labels] == ["0", "1", "2", "3"]
    assert a["accuracy"].value == 0.75
    assert any("is never true; counted as wrong, as a class of its own" in note for note in a.record["notes"])
    for truth in ([0, 1] * 20, ["a", "b", "c", "c"] * 10):
        strange = [3 if type(label) is int else "d" for label in truth]
        if form == "sqlite" and type(truth[0]) is str:
            continue
        with pytest.raises(assay.AssayError) as caught:
            assay.assess(**as_table(form, tmp_path, truth, strange))
        assert caught.value.code == "label-not-declared"


def test_numbers_that_float64_cannot_hold_are_refused_at_any_door():
    wide = [Decimal("1e-400")] * 60, [10**400] * 60, [2**53 + 1] * 60, np.full(60, np.longdouble(1) / 3)
    for column in wide:
        with pytest.raises(assay.AssayError, match="float64 cannot hold"):
            assay.assess(truth=TRUTH, score=column, positive=1)
        with pytest.raises(assay.AssayError, match="float64 cannot hold"):
            assay.regression(truth=column, predicted=SCORE)
    with pytest.raises(assay.AssayError):
        assay.assess(truth=TRUTH, predicted=TRUTH, weight=[10**400] * 60)
    with pytest.raises(assay.AssayError, match="cannot be a label"):
        assay.assess(truth=[Decimal("1e-400")] * 60, predicted=TRUTH)
    with pytest.raises(assay.AssayError, match="missing or NaN"):
        assay.assess(truth=TRUTH, score=[Decimal("sNaN")] * 60, positive=1)
    with pytest.raises(assay.AssayError, match="not numbers"):
        assay.assess(truth=TRUTH, score=[True, None] * 30, positive=1)
    assert assay.regression(truth=np.array([True, 0.5], dtype=object), predicted=[1.0, 0.5])["mse"].value == 0
    with pytest.raises(assay.AssayError, match="not a confidence level"):
        assay.assess(truth=TRUTH, predicted=TRUTH, level=10**400)


def test_columns_of_runs_and_of_codes_are_read_by_value():
    ends = pa.array([30, 60], pa.int32())
    runs = pa.RunEndEncodedArray.from_arrays(ends, pa.array([1, 0]))
    numbers = pa.RunEndEncodedArray.from_arrays(ends, pa.array([0.25, 0.5]))
    codes = pa.array(SCORE).dictionary_encode()
    table = pa.table({"truth": TRUTH, "predicted": runs, "runs": numbers, "codes": codes})
    expected = assay.assess(truth=TRUTH, predicted=np.repeat([1, 0], 30), score=SCORE)
    for given in (
        {"data": table, "truth": "truth", "predicted": "predicted", "score": "codes"},
        {"truth": pa.array(TRUTH), "predicted": runs, "score": codes},
    ):
        assert same_numbers(assay.assess(**given), expected)
    assert assay.assess(truth=pa.array(TRUTH), predicted=runs)["recall"].value == expected["recall"].value
    a = assay.assess(data=table, truth="truth", score="runs", positive=1, group="predicted")
    assert a["auroc"].value == 0.5
    with pytest.raises(assay.AssayError, match="not among the classes"):
        assay.assess(truth=pa.array(TRUTH), predicted=pa.array([2**64 - 1] * 60, pa.uint64()))


@pytest.mark.parametrize(
    "roles",
    [{"predicted": "truth"}, {"score": "truth"}, {"group": "truth"}, {"weight": "truth"}, {"unit": "truth"},
     {"id": "predicted"}, {"score": "score", "unit": "score"}, {"score": "score", "weight": "score"}],
)  # fmt: skip
def test_a_column_plays_one_role(roles):
    data = {"truth": TRUTH, "predicted": CALLED, "score": SCORE}
    with pytest.raises(assay.AssayError, match="at once") as caught:
        assay.assess(data=data, **{"truth": "truth", "predicted": "predicted"} | roles)
    assert caught.value.code == "role-clash"
