# SPDX-License-Identifier: Apache-2.0
"""Areas under the ROC curves of several models with their covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from assay.core.arrays import Floats

ROUNDING: Final = 1e-14
"""Of a matrix of covariances: what is below this, as a share of its trace, has no rank."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Areas:
    """Areas of several models and their covariance, with the numbers of positives and negatives."""

    models: tuple[str, ...]
    area: Floats
    covariance: Floats
    gaps: Floats
    """Variances of the differences, which are exact: 0 means 0."""
    known: tuple[float, ...]
    """Degrees of freedom of the variance of each area."""
    m: int
    n: int
    notes: tuple[str, ...] = ()

    def gap(self, a: int, b: int) -> tuple[float, float]:
        """The difference of two areas and its variance."""
        return float(self.area[a] - self.area[b]), float(self.gaps[a, b])
