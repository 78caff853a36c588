# SPDX-License-Identifier: Apache-2.0
"""How long answers took, in the order they were given: sorted times, without those of the warm-up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from assay.core.errors import OutOfRange
from assay.core.text import counted, quoted
from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.files.opened_file import number_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tally.data.split_counts import SplitRows

    Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Durations:
    """Times of answers, ascending."""

    times: Floats

    @property
    def n(self) -> int:
        """How many answers there are."""
        return len(self.times)

    @property
    def median(self) -> float:
        """Half of the answers took no longer."""
        return self.at(0.5)

    def at(self, share: float) -> float:
        """The time within which at least this share of the answers came: one of the times, never between two.

        >>> Durations(times=np.array([1.0, 2.0, 3.0, 4.0])).at(0.5)
        2.0
        """
        return float(self.times[max(0, math.ceil(share * self.n) - 1)])

    def within(self, bound: float) -> int:
        """Answers that took no longer than a bound."""
        return int(np.searchsorted(self.times, bound, side="right"))

    @property
    def resolution(self) -> float:
        """The smallest step between two different times, which no clock can be finer than."""
        steps = np.diff(np.unique(self.times))
        return float(steps.min()) if len(steps) else float(self.times[0]) if self.n else 0.0


def durations(table: SplitRows, column: str, *, skip: int = 0) -> Durations:
    """The times of a file, without the first ones."""
    number = number_column(table.opened, column)
    name = quote_identifier(column)
    found = table.opened.arrays(f"SELECT {number} AS t FROM rows WHERE {name} IS NOT NULL")["t"]  # noqa: S608  quoted
    times = np.asarray(found, dtype=np.float64)
    if bad := int((times < 0).sum()):
        raise OutOfRange(
            "value-out-of-domain",
            f"{counted(bad, 'time')} of an answer {'is' if bad == 1 else 'are'} below 0",
            where=f"{table.name}, column {quoted(column)}",
            known="0 or more",
            fix="measure with a clock that never goes back",
        )
    return Durations(times=np.sort(times[skip:]))
