# SPDX-License-Identifier: Apache-2.0
"""The estimates of regression: each measure of each output, and the mean over outputs where there are several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

from assay.core.labels import Label
from assay.core.values import Number, Undefined, Value
from assay.inference.estimates import ByClass, Estimate, Interval, build_estimate
from assay.measures.declare import Measure, parse
from assay.tasks.by_unit import TaskEstimates
from assay.tasks.regression.intervals import find_interval, mean_interval, warn
from assay.tasks.regression.measures.forecasts import SKILLS
from assay.tasks.regression.summary import SummaryView, view_of
from assay.tasks.regression.sums import Errors, LackingColumnError
from assay.tasks.regression.views import ORDER, View

if TYPE_CHECKING:
    from assay.tasks.regression.tally import Residuals

LISTED: Final = ("absolute_error_quantile(q=0.9)", "error_quantile(q=0.025)", "error_quantile(q=0.975)")
"""Measures with a parameter that are listed unasked."""
FROM_CELLS: Final = ("spearman_r", "relative_absolute_error", "nrmse_iqr", "error_skewness", "error_kurtosis")
"""Measures that very many rows give from cells of truth and error."""


def find_measure(name: str) -> Measure:
    """A measure of regression by name, symbol or alias."""
    return parse(name, cast("Any", Errors.MEASURES))


def list_measures(tally: Residuals) -> list[Measure]:
    """The measures that a Record lists of a tally: all for which something was given."""
    facts, names = tally.facts, tally.names
    absent: set[str] = set()
    if not any(name.startswith("lower") for name in names):
        absent |= {"interval_coverage", "interval_width"}
    if facts.interval_level is None or "interval_coverage" in absent:
        absent.add("interval_score")
    if not facts.scales:
        absent.add("mean_absolute_scaled_error")
    plain = [cast("Measure", measure) for measure in Errors.MEASURES]
    chosen = [measure for measure in plain if not measure.needs and measure.name not in absent]
    chosen += [find_measure(name) for name in LISTED]
    for name in names:
        if name.startswith("quantile "):
            level = float(name.removeprefix("quantile "))
            chosen += [find_measure(word).with_(q=level) for word in ("pinball_loss", "quantile_coverage")]
    if facts.baseline is not None:
        chosen += [find_measure("skill_score").with_(error=error) for error in SKILLS[:3]]
        chosen.append(find_measure("relative_improvement_factor").with_(error=SKILLS[0]))
    return chosen


def find_value(measure: Measure, view: View) -> Value:
    """The value of a measure on one output, or why there is none."""
    if not view.rows:
        return Undefined(reason="there are no rows", code="n=0")
    try:
        value = measure(cast("Any", view.errors(measure)))
        finite = isinstance(value, Undefined) or math.isfinite(value.value)
    except LackingColumnError as lacking:
        return Undefined(reason=str(lacking), code="not-given")
    except OverflowError:
        finite, value = False, None
    if not finite or value is None:
        largest = f"the largest absolute error is {float(view.total['max_abs']):.3g}"
        return Undefined(reason=f"the value is larger than any double; {largest}: rescale the data", code="overflow")
    if isinstance(value, Undefined) and (zeros := view.total["zeros"]) and "in some rows, where a per" in value.reason:
        return Undefined(
            reason=f"the truth is 0 in {zeros:,} of {view.rows:,} rows; WAPE and NMB allow that", code=value.code
        )
    return value


class RegressionEstimates(TaskEstimates):
    """Measures of one tally: of its output, or the mean over outputs where there are several."""

    tally: Residuals

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """The measures asked for, or all."""
        return list_measures(self.tally) if self.settings.measures is None else list(self.settings.measures)

    @property
    def class_measures(self) -> Sequence[Measure]:
        """What it lists of each output, where there are several."""
        return self.measures if self.lists_classes else ()

    @cached_property
    def by_class(self) -> Mapping[Label, Mapping[str, Estimate]]:
        """Estimates of each output, where there are several."""
        return ByClass(self, self.tally.facts.outputs, ("output", "outputs")) if self.lists_classes else {}

    @property
    def lists_classes(self) -> bool:
        """Whether there are several outputs."""
        return len(self.tally.facts.outputs) > 1

    def _estimate(self, measure: Measure) -> Estimate:
        if self.lists_classes:
            return self._mean_estimate(measure)
        return replace(self._class_estimate(measure, self.tally.facts.outputs[0]), label=None)

    def _class_estimate(self, measure: Measure, label: Label) -> Estimate:
        view = view_of(self.tally, cast("str", label))
        value = find_value(measure, view)
        interval: Interval | str = "the value is undefined"
        if not isinstance(value, Undefined):
            interval = find_interval(measure, view, self.settings.wanted.level)
        return self._finish(measure, value, interval, view, label)

    def _mean_estimate(self, measure: Measure) -> Estimate:
        """The mean over outputs, undefined where one of them is."""
        views = [view_of(self.tally, output) for output in self.tally.facts.outputs]
        values = [find_value(measure, view) for view in views]
        for output, part in zip(self.tally.facts.outputs, values, strict=True):
            if isinstance(part, Undefined):
                value: Value = Undefined(reason=f"output {output}: {part.reason}", code=part.code)
                return self._finish(measure, value, "the value is undefined", views[0], None)
        shares = self.tally.facts.shares
        mean = math.fsum(share * part.value for share, part in zip(shares, cast("list[Number]", values), strict=True))
        value = Number(cast("Any", mean))
        interval = mean_interval(measure, views, self.settings.wanted.level)
        return self._finish(measure, value, interval, views[0], None)

    def _finish(
        self, measure: Measure, value: Value, interval: Interval | str, view: View, output: Label | None
    ) -> Estimate:
        notes: tuple[str, ...] = ()
        if isinstance(interval, Interval):
            interval = replace(interval, notes=warn(measure, view))
        if isinstance(view, SummaryView) and not isinstance(value, Undefined):
            notes = _describe_bins(measure, view)
        return build_estimate(measure.title, value, interval, view.units, label=output, slice=self.slice, notes=notes)


def _describe_bins(measure: Measure, view: SummaryView) -> tuple[str, ...]:
    """How well a value is known that comes from bins instead of rows."""
    if measure.name in ORDER:
        share = float(cast("float", measure.given.get("q", 0.5)))
        _, low, high = view.quantile(share, absolute=measure.name != "error_quantile")
        return (f"between {low:.6g} and {high:.6g}, from bins of errors with a relative width of 1/128",)
    if measure.name in FROM_CELLS:
        return ("from bins of the truth with a relative width of 1/32 and of errors with one of 1/8",)
    return ()
