# SPDX-License-Identifier: Apache-2.0
"""Against a real MLflow on this machine; run where the extra `mlflow` is installed."""

from __future__ import annotations

import json
import warnings

import pytest

mlflow = pytest.importorskip("mlflow", reason="pip install 'assay[mlflow]'")
pytestmark = pytest.mark.filterwarnings("default")  # theirs are not ours


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("DO_NOT_TRACK", "true")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    mlflow.set_experiment(
        experiment_id=mlflow.create_experiment("one", artifact_location=(tmp_path / "artifacts").as_uri())
    )
    with mlflow.start_run() as started:
        yield started


def frame():
    pandas = pytest.importorskip("pandas")
    truth = ["ill", "ill", "well", "well"] * 30
    called = ["ill", "well", "well", "well"] * 30
    return pandas.DataFrame({"truth": truth, "called": called})


def evaluated(**config):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mlflow.models.evaluate(
            data=frame(),
            targets="truth",
            predictions="called",
            model_type="classifier",
            evaluators="assay",
            evaluator_config=config,
        )


def test_the_evaluator_is_found_and_logs_every_measure_with_its_interval(run):
    import assay

    result = evaluated(positive="ill")
    expected = assay.assess(truth=frame()["truth"], predicted=frame()["called"], positive="ill")
    logged = mlflow.get_run(run.info.run_id).data.metrics
    for name in ("recall", "f1", "accuracy"):
        one = expected[name]
        found = tuple(logged[f"assay.{name}{end}"] for end in ("", ".low", ".high"))
        assert found == pytest.approx((one.value, one.low, one.high), abs=1e-12)
    assert result.metrics["assay.recall"] == 0.5


def test_the_record_and_the_page_are_artifacts(run, tmp_path):
    evaluated(positive="ill")
    path = mlflow.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path="assay", dst_path=str(tmp_path))
    from pathlib import Path

    assert sorted(one.name for one in Path(path).iterdir()) == ["record.json", "report.html"]
    assert json.loads((Path(path) / "record.json").read_text(encoding="utf-8"))["samples"] == 120


@pytest.mark.usefixtures("run")
def test_an_unknown_option_is_refused():
    from assay.core.errors import PlanError

    with pytest.raises(PlanError, match="has no option"):
        evaluated(positve="ill")
