# SPDX-License-Identifier: Apache-2.0
"""Estimates of clustering: measures of agreement with intervals, and of shape without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from assay.core.text import counted
from assay.core.values import Undefined
from assay.inference.estimates import Estimate, Interval, build_estimate
from assay.tasks.by_unit import UnitEstimates
from assay.tasks.clustering.intervals import agreement_interval
from assay.tasks.clustering.measures.shape import FAMILY, NO_INTERVAL, silhouette

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.measures.declare import Measure
    from assay.tasks.clustering.tally import Contingency


class ClusteringEstimates(UnitEstimates):
    """Measures of one clustering, computed when asked for."""

    table: Contingency  # type: ignore[assignment]  # its tally is not a table of sums

    @property
    def measures(self) -> Sequence[Measure]:
        """The measures asked for, or those for which something was given."""
        if self.settings.measures is not None:
            return list(self.settings.measures)
        agreement, shape = bool(len(self.table.cells)), self.table.geometry is not None
        return [
            measure for measure in self.task.measures if (shape if measure.family == FAMILY else agreement or not shape)
        ]

    def _estimate(self, measure: Measure) -> Estimate:
        value = measure(cast("Any", self.table.agreement))
        interval: Interval | str
        if isinstance(value, Undefined):
            interval = "the value is undefined"
        elif measure.family == FAMILY:
            interval = NO_INTERVAL
        else:
            interval = agreement_interval(measure, value.value, self.table, self.settings.wanted.level)
        notes = self._notes(measure)
        return build_estimate(measure.title, value, interval, self.table.rows, slice=self.slice, notes=notes)

    def _notes(self, measure: Measure) -> tuple[str, ...]:
        shape = self.table.geometry
        if measure.name != silhouette.name or shape is None or not 0 < shape.compared < shape.rows:
            return ()
        return (f"on {counted(shape.compared, 'row')} of {shape.rows:,}, chosen by a hash of their values",)
