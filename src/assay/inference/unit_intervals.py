# SPDX-License-Identifier: Apache-2.0
"""Intervals of any function of sums over units: delete-one jackknife on the scale of the measure, Student's quantile.

Coverage of each family of measures: `docs/why/coverage.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.text import counted
from assay.inference.estimates import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.measures.declare import Measure, Tally
    from assay.tally.unit_table import Sums, UnitTable

FEWEST: Final = 5
"""Units below which there is no interval: the spread of so few says nothing."""
FEW: Final = 20
"""Units below which an interval carries a note."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale on which values of a range are nearly symmetric."""

    name: str
    to: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    back: Callable[[float], float]


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


LINEAR: Final = Scale("linear", lambda x: x, lambda x: x)
SCALES: Final = {
    (0.0, 1.0): Scale("logit", lambda x: np.log(x) - np.log1p(-x), _logistic),
    (-1.0, 1.0): Scale("Fisher", np.arctanh, math.tanh),
    (0.0, math.inf): Scale("log", np.log, math.exp),
    (-math.inf, 1.0): Scale("log(1 - x)", lambda x: -np.log1p(-x), lambda x: -math.expm1(-x)),
}


def scale_of(measure: Measure) -> Scale:
    """The scale that fits the range of a measure."""
    low, high = measure.range
    return SCALES.get((float(low), float(high)), LINEAR)


def jackknife_interval(measure: Measure, table: UnitTable, sums: type[Sums], level: float) -> Interval | str:
    """The interval of a measure, or the reason why there is none."""
    if table.units < FEWEST:
        return f"only {counted(table.units, 'unit')}; an interval needs {FEWEST} or more"
    scale = scale_of(measure)
    values = measure.values(cast("Tally", sums(np.vstack([table.total(), table.without_each()]))))
    if not np.isfinite(values).all():
        return "the value is undefined, or infinite, without one of the units"
    ends = jackknife_ends(scale, values[0], values[1:], table.units - 1, level)
    if isinstance(ends, str):
        return ends
    method = f"jackknife of {table.units:,} units, {scale.name} scale, Student's t"
    return Interval(low=ends[0], high=ends[1], level=level, method=method, notes=note_few(table.units))


def jackknife_ends(
    scale: Scale, value: float, without: NDArray[np.float64], df: float, level: float
) -> tuple[float, float] | str:
    """The ends on a scale from the values without each unit, or the reason why there are none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = scale.to(np.append(value, without))
    if not np.isfinite(scaled).all():
        return "the value, or that without one unit, is at an end of its range"
    if not (error := jackknife_error(scaled[0], scaled[1:])):
        return "no unit differs from the others, so the spread is unknown"
    reach = student_quantile((1 + level) / 2, df) * error
    return scale.back(float(scaled[0] - reach)), scale.back(float(scaled[0] + reach))


def note_few(units: int) -> tuple[str, ...]:
    """The note that an interval of few units carries."""
    return (f"only {counted(units, 'unit')}: the interval may be too narrow",) if units < FEW else ()


def jackknife_error(value: float, without: NDArray[np.float64]) -> float:
    """The standard error from the values without each unit (Tukey 1958)."""
    size = len(without)
    return math.sqrt((size - 1) / size * math.fsum(((without - value) ** 2).tolist()))


def student_quantile(share: float, df: float) -> float:
    """Student's t quantile."""
    from scipy.special import stdtrit

    return float(stdtrit(df, share))
