# SPDX-License-Identifier: Apache-2.0
"""An evaluator for MLflow: `mlflow.models.evaluate(..., model_type="classifier", evaluators="assay")`.

Every measure goes into the run as a metric, its interval beside it as `.low` and `.high`, and the Record and the page
as artifacts. MLflow finds this class by the entry point `mlflow.model_evaluator`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

import assay
from assay.assess.arguments import arrange
from assay.core.errors import PlanError

FILES: Final = ("record.json", "report.html")
FOLDER: Final = "assay"
OPTIONS: Final = ("positive", "level", "measures", "missing", "unknown", "undefined", "labels", "seed")


class Evaluator:
    """Assesses the labels of a classifier within an MLflow run.

    It has the methods of MLflow's `ModelEvaluator` and does not derive from it, so that this file loads without MLflow.
    """

    @classmethod
    def can_evaluate(cls, *, model_type: str, evaluator_config: object, **_more: object) -> bool:
        """Classifiers only."""
        del evaluator_config
        return model_type == "classifier"

    def evaluate(
        self,
        *,
        dataset: Any,  # noqa: ANN401  MLflow's own type
        run_id: str,
        evaluator_config: Mapping[str, Any] | None,
        model: Any = None,  # noqa: ANN401
        **_more: object,
    ) -> Any:  # noqa: ANN401
        """Log every measure with its interval, the Record and the page."""
        from mlflow.models.evaluation import EvaluationResult
        from mlflow.tracking import MlflowClient

        options = arrange(**_options(evaluator_config or {}))
        assessment = assay.assess(
            truth=np.asarray(dataset.labels_data), predicted=_predicted(dataset, model), **options
        )
        metrics = dict(_metrics(assessment))
        client = MlflowClient()
        for name, value in metrics.items():
            client.log_metric(run_id, name, value)
        with TemporaryDirectory(prefix="assay-") as folder:
            for name in FILES:
                client.log_artifact(run_id, str(assessment.report(Path(folder) / name)), artifact_path=FOLDER)
        return EvaluationResult(metrics=metrics, artifacts={})


def _predicted(dataset: Any, model: Any) -> object:  # noqa: ANN401
    """The labels that were given, or that the model gives."""
    if model is not None:
        return np.asarray(model.predict(dataset.features_data)).ravel()
    if dataset.predictions_data is None:
        raise PlanError("role-missing", "neither a model nor predictions are given", fix="evaluate(predictions=COLUMN)")
    return np.asarray(dataset.predictions_data).ravel()


def _options(config: Mapping[str, Any]) -> dict[str, Any]:
    if unknown := sorted(set(config) - set(OPTIONS)):
        what = f"evaluator_config has no option {unknown[0]!r}"
        raise PlanError("option-unknown", what, known=", ".join(OPTIONS), fix="take it out")
    return dict(config)


def _metrics(assessment: assay.Assessment) -> Iterator[tuple[str, float]]:
    """Values that are numbers; MLflow has no place for a reason, so what is undefined is in the Record only."""
    for name in assessment:
        one = assessment[name]
        ends = {f"assay.{name}": one.value, f"assay.{name}.low": one.low, f"assay.{name}.high": one.high}
        yield from ((key, value) for key, value in ends.items() if value is not None and isfinite(value))
