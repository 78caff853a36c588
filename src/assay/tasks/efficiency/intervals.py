# SPDX-License-Identifier: Apache-2.0
"""Intervals of the measures of efficiency: runs are the units."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

import numpy as np

from assay.conduct.energy import is_estimate
from assay.core.values import Undefined
from assay.inference.estimates import Estimate, Interval, build_estimate
from assay.inference.unit_intervals import FEWEST, jackknife_interval
from assay.inference.units.run_intervals import DEPENDENT, find_units, percentile_interval, share_interval
from assay.measures.declare import Measure
from assay.tally.unit_table import UnitTable
from assay.tasks.by_unit import TaskEstimates
from assay.tasks.efficiency.tally import Costs, Measured

SHARES: Final = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
LONGEST: Final = "latency_max"
SINGLE: Final = "single-stream"


class CostEstimates(TaskEstimates):
    """Measures of one model."""

    tally: Measured

    def _estimate(self, measure: Measure) -> Estimate:
        value = measure(cast("Any", self.tally.costs(self.tally.table.total())))
        interval: Interval | str = "the value is undefined"
        if self._is_estimated(measure):
            interval = f"{self.tally.facts['meter']}: the error of the model is not known"
        elif not isinstance(value, Undefined):
            interval = self._interval(measure)
        notes = tuple(self._notes(measure))
        return build_estimate(measure.title, value, interval, self.tally.rows, slice=self.slice, notes=notes)

    def _is_estimated(self, measure: Measure) -> bool:
        """Whether the joules that a measure reads come from a model of power instead of a meter."""
        facts = self.tally.facts
        reads = {
            "training_energy": bool(facts.get("training_metered")),
            "efficiency": str(facts.get("resource")).endswith("joules"),
            "processing_time_and_cost": "joule" in cast("dict[str, float]", facts.get("price") or {}),
        }
        return is_estimate(facts.get("meter")) and reads.get(measure.name, measure.family == "energy")

    def _interval(self, measure: Measure) -> Interval | str:
        durations, level = self.tally.durations, self.settings.wanted.level
        share = SHARES.get(measure.name, cast("float", measure.given.get("share", 1.0)))
        if measure.family == "model":
            return "a fact about the model, not a sample"
        if measure.name == LONGEST or (measure.name == "latency_percentiles" and share == 1):
            return "the longest time of all runs has no interval"
        if measure.name in (*SHARES, "latency_percentiles"):
            waits = self.tally.facts.get("scenario") != SINGLE
            return percentile_interval(durations, share, level, waits=waits)
        if measure.name == "latency_compliance":
            return share_interval(durations, 0, level)
        if measure.name == "latency_mean" and self.tally.units < FEWEST:
            return self._mean_interval(measure)
        return jackknife_interval(measure, self.tally.table, cast("Any", self.tally.costs), level)

    def _mean_interval(self, measure: Measure) -> Interval | str:
        """By sections where runs are few."""
        units = find_units(self.tally.durations)
        if units.dependent:
            return f"{DEPENDENT}: sections of one run are too short; measure {FEWEST} or more runs"
        sums = np.zeros((len(units.asked), len(Costs.NAMES)))
        for name, column in {
            "asked": units.asked,
            "failed": units.asked - units.answered,
            "seconds": units.seconds,
        }.items():
            sums[:, Costs.NAMES.index(name)] = column
        table = UnitTable.build(Costs.NAMES, sums)
        return jackknife_interval(measure, table, cast("Any", self.tally.costs), self.settings.wanted.level)

    def _notes(self, measure: Measure) -> Iterator[str]:
        durations = self.tally.durations
        if measure.name == "latency_mean" and durations.failed:
            yield f"{durations.failed:,} of {durations.rows:,} requests failed and have no time"
        if measure.name == "throughput" and not durations.bounds:
            yield "no latency bound is declared: all answers count"
        if self._is_estimated(measure) or (measure.family == "energy" and self.tally.facts.get("meter")):
            yield f"meter: {self.tally.facts['meter']}"
