# SPDX-License-Identifier: Apache-2.0
"""Regression: predicted numbers against true ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from assay.core.task import Example, Option, Role
from assay.tasks.by_unit import UnitTask
from assay.tasks.regression import measures
from assay.tasks.regression.blocks import regression_sections
from assay.tasks.regression.compare import TESTS, compare_models
from assay.tasks.regression.estimates import RegressionEstimates
from assay.tasks.regression.figures import collect_figures
from assay.tasks.regression.roles import BASELINES, read_paired_residuals, read_residuals
from assay.tasks.regression.summary import view_of
from assay.tasks.regression.sums import Errors
from assay.tasks.regression.tally import PairedResiduals, Residuals

if TYPE_CHECKING:
    from assay.tasks.task_settings import TaskSettings


class Regression(UnitTask):
    """Predicted numbers against true ones, row by row or by unit."""

    name = "regression"
    says = "how far predicted numbers are from the true ones"
    tally, paired, view = Residuals, PairedResiduals, RegressionEstimates
    unit = "row"
    sums = cast("Any", Errors)
    headline = ("mean_absolute_error", "root_mean_squared_error", "r2", "mean_error")
    roles = (
        Role(name="truth", holds="a number", kind="number", says="several columns for several outputs"),
        Role(name="predicted", holds="a number", kind="number", by_model=True),
        Role(name="reference", holds="a number", kind="number", required=False, says="the predictions of a baseline"),
        Role(
            name="quantile", holds="numbers", required=False, by_model=True,
            says="predicted quantiles by level, as in {0.1: column, 0.9: column}",
        ),
        Role(name="lower", holds="a number", kind="number", required=False, by_model=True,
             says="the lower end of a predicted interval"),
        Role(name="upper", holds="a number", kind="number", required=False, by_model=True,
             says="the upper end of a predicted interval"),
        Role(name="time", holds="a number or a date", required=False, says="the order of the rows"),
        Role(name="training", holds="numbers", required=False,
             says="the training series that scales MASE, or 'truth' for the test series"),
    )  # fmt: skip
    options = (
        Option(name="baseline", says="what skill is measured against", choices=BASELINES),
        Option(name="interval_level", says="the level that predicted intervals claim, such as 0.9", kind=float),
        Option(
            name="error_tests",
            several=True,
            choices=TESTS,
            says="tests of a comparison; by default Diebold-Mariano where time is named, else permutation",
        ),
        Option(
            name="horizon", says="steps ahead of forecasts, for Diebold-Mariano", default=1, kind=int, only_with="time"
        ),
        Option(
            name="output_weights",
            several=True,
            kind=float,
            says="weights of the outputs in the mean over them, in their order",
        ),
        Option(
            name="season",
            says="steps after which the naive forecast of MASE repeats",
            default=1,
            kind=int,
            only_with="training",
        ),
    )
    examples = (
        Example(
            name="energy",
            says="the yearly heating energy of 300 houses, predicted from their plans",
            data="energy.csv",
            given={"truth": "measured_kwh", "predicted": "predicted_kwh", "lower": "low_kwh", "upper": "high_kwh"},
            options={"interval_level": 0.9, "baseline": "median"},
            group=("heating",),
        ),
    )

    read = staticmethod(read_residuals)
    read_models = staticmethod(read_paired_residuals)
    compare = staticmethod(compare_models)
    blocks = staticmethod(regression_sections)

    def check_alike(self, new: Residuals, reference: Residuals) -> None:
        """Both hold the same columns."""
        new.check_alike(reference)

    check_mergeable = check_alike

    def model_estimates(self, paired: PairedResiduals, settings: TaskSettings) -> dict[str, Any]:
        """The estimates of each model."""
        return {model: self.estimates(paired.residuals(model), settings) for model in paired.models}

    def sections(self, tally: Residuals, settings: TaskSettings) -> dict[str, object]:
        """Data of the pictures."""
        return {"figures": collect_figures(tally, settings.wanted.level)}

    def unit_values(self, tally: Residuals) -> dict[str, dict[str, float | None]]:
        """The leading measures of every unit alone, of the first output; nothing where rows are the units."""
        if not tally.by_unit:
            return {}
        with np.errstate(all="ignore"):
            return self.value_units(tally.unit_ids, Errors(view_of(tally, tally.facts.outputs[0]).per_unit or {}))


TASK = Regression()
__all__ = ["TASK", "Regression", "measures"]
