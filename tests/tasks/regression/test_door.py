# SPDX-License-Identifier: Apache-2.0
"""From any table to a Record and a report: the public call."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pandas as pd
import polars as pl
import pytest

import assay
from assay.assess.record.verification import verify
from tests.tasks.regression.residual_cases import draw_rows, held_rows

EXAMPLE = files("assay.tasks.regression") / "examples" / "energy.csv"
COLUMNS = {"truth": "measured_kwh", "predicted": "predicted_kwh"}


def comparable(assessment):
    record = json.loads(json.dumps(dict(assessment.record)))
    return record["estimates"], record["tallies"], record["figures"]


@pytest.mark.parametrize("limit", [200_000, 50])
def test_every_kind_of_table_gives_the_same_record(tmp_path, limit):
    frame = pd.read_csv(str(EXAMPLE))
    frame[["measured_kwh", "predicted_kwh"]] = frame[["measured_kwh", "predicted_kwh"]].astype(float)
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    with held_rows(limit):
        expected = comparable(assay.regression(truth=frame["measured_kwh"], predicted=frame["predicted_kwh"]))
        tables = (frame, pl.from_pandas(frame), tmp_path / "rows.parquet", tmp_path / "rows.csv", frame.sample(frac=1))
        for table in tables:
            data = str(table) if hasattr(table, "suffix") else table
            assert comparable(assay.regression(data=data, **COLUMNS)) == expected


@pytest.mark.parametrize("limit", [200_000, 50])
def test_a_record_loads_verifies_and_merges(tmp_path, limit):
    truth, predicted = draw_rows(200)
    with held_rows(limit):
        whole = assay.regression(
            truth=truth, predicted=predicted, baseline="mean", group={"half": np.arange(200) // 100}
        )
        whole.save(tmp_path / "record.json")
        again = assay.load(tmp_path / "record.json")
        verification = verify(again.record)
        assert verification.holds, verification.mismatches
        parts = [assay.regression(truth=truth[a : a + 100], predicted=predicted[a : a + 100]) for a in (0, 100)]
        merged = assay.merge(*parts)
        assert merged.counts == assay.regression(truth=truth, predicted=predicted).counts
        assert merged["r2"].value == whole["r2"].value
        assert merged["r2"].low == whole["r2"].low


def test_the_example_reports_its_errors_intervals_and_groups(tmp_path):
    assessment = assay.regression(
        data=str(EXAMPLE), **COLUMNS, lower="low_kwh", upper="high_kwh", interval_level=0.9, reference="simple_kwh",
        group="heating",
    )  # fmt: skip
    text = str(assessment)
    assert "How large errors are" in text or "absolute error at most" in text
    assert "inside their predicted interval" in text
    assert len(json.dumps(assessment.record["figures"])) < 30_000
    assert 0 < assessment["skill_score(error='mean_absolute_error')"].value < 1
    for name in ("report.html", "report.md"):
        assessment.report(tmp_path / name)
    page = (tmp_path / "report.html").read_text()
    assert page.count("<svg") >= 5
    assert "Bland-Altman" in page


def test_heavy_tails_are_announced_and_mae_leads():
    rng = np.random.default_rng(4)
    truth = rng.normal(size=400)
    assessment = assay.regression(truth=truth, predicted=truth + rng.standard_t(1.5, size=400))
    assert any("kurtosis" in note for note in assessment["rmse"].interval.notes)
    assert not any("kurtosis" in note for note in assessment["mae"].interval.notes)
    assert "read the mean absolute error first" in " ".join(str(assessment).split())
    assert next(iter(assessment)) == "mean_absolute_error"


def test_arrays_of_images_are_assessed_by_image():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 256, size=(12, 8, 8)).astype(np.uint8)
    predicted = np.clip(truth + rng.normal(size=truth.shape) * 9, 0, 255).astype(np.uint8)
    assessment = assay.regression(truth=truth, predicted=predicted)
    assert "jackknife of 12 units" in assessment["mae"].interval.method
    apart = truth.astype(float) - predicted
    assert assessment["mae"].value == pytest.approx(np.abs(apart).mean())
    first = assessment.by_unit["0"]["root_mean_squared_error"]
    assert first == pytest.approx(np.sqrt((apart[0] ** 2).mean()))


def test_the_last_value_is_a_baseline_in_time():
    truth = np.array([1.0, 3.0, 2.0, 5.0, 4.0, 6.0])
    assessment = assay.regression(
        truth=truth[::-1], predicted=truth[::-1] + 0.5, time=np.arange(6)[::-1], baseline="last"
    )
    naive = np.abs(np.diff(truth)).mean()
    assert assessment["skill_score(error='mean_absolute_error')"].value == pytest.approx(1 - 0.5 / naive)


def test_dates_are_an_order_in_time():
    truth = np.array([1.0, 3.0, 2.0, 5.0, 4.0])
    days = ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04", "2026-01-05"]
    assessment = assay.regression(truth=truth, predicted=truth + 1, time=days, baseline="last")
    assert assessment["relative_improvement_factor(error='mean_absolute_error')"].value == pytest.approx(1.75)


def test_units_with_fractions_are_refused_in_a_file_as_in_memory(tmp_path):
    table = pl.DataFrame({"t": [1.0, 2.0, 3.0], "p": [1.0, 2.5, 3.0], "u": [0.6, 0.8, 1.0]})
    table.write_parquet(tmp_path / "t.parquet")
    for data in (table, tmp_path / "t.parquet"):
        with pytest.raises(assay.RowsError, match="numbers with fractions"):
            assay.regression(data=data, truth="t", predicted="p", unit="u")
