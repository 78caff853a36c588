# SPDX-License-Identifier: Apache-2.0
"""Intervals of agreement: the jackknife over rows, one evaluation a cell, with the clustering held fixed.

They answer how sure the agreement of these assignments is; a clustering of other rows may differ more.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.text import counted
from assay.inference.estimates import Interval
from assay.inference.intervals.proportion import student_quantile
from assay.inference.unit_intervals import scale_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats
    from assay.measures.declare import Measure
    from assay.tasks.clustering.tally import Contingency


FEWEST: Final = 10
"""Rows below which there is no interval."""
FEW: Final = 50
"""Rows below which an interval carries a note."""
ANSWERS: Final = "intervals answer how sure the agreement of these assignments is; the clusters are held fixed"


def values_without(measure: Measure, tally: Contingency) -> Floats:
    """The value without one row of each cell."""
    return measure.values(cast("Any", tally.without_each))


def jackknife_spread(value: float, without: Floats, count: NDArray[np.int64]) -> float:
    """The standard error, from the values without one row of cells that hold so many rows."""
    rows = int(count.sum())
    return math.sqrt((rows - 1) / rows * math.fsum((count * (without - value) ** 2).tolist()))


def agreement_interval(measure: Measure, value: float, tally: Contingency, level: float) -> Interval | str:
    """The interval of a measure of agreement, or why there is none."""
    rows = tally.rows
    if rows < FEWEST:
        return f"only {counted(rows, 'row')}; an interval needs {FEWEST} or more"
    without, scale = values_without(measure, tally), scale_of(measure)
    if np.isnan(without).any():
        return "the value is undefined without one of the rows"
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = scale.to(np.append(value, without))
    if not np.isfinite(scaled).all():
        return "the value, or that without one row, is at an end of its range"
    spread = jackknife_spread(float(scaled[0]), scaled[1:], tally.cells[:, 2])
    if not spread:
        return "no row changes the value, so the spread is unknown"
    reach = student_quantile((1 + level) / 2, rows - 1) * spread
    few = (f"only {rows} rows: the interval may be too narrow",) if rows < FEW else ()
    return Interval(
        low=scale.back(float(scaled[0]) - reach),
        high=scale.back(float(scaled[0]) + reach),
        level=level,
        method=f"jackknife of {rows:,} rows with the clusters held fixed, {scale.name} scale, Student's t",
        notes=few,
    )
