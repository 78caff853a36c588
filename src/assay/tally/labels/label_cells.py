# SPDX-License-Identifier: Apache-2.0
"""What one pass over the labels of rows finds: how often each combination of labels occurs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from assay.core.labels import Label
from assay.tally.base import Count, Weight

Cell: TypeAlias = tuple[Label | None, ...]
Cells: TypeAlias = dict[Cell, tuple[int, Count | Weight]]
"""Labels -> rows and their weight (the rows themselves where there are no weights)."""
UNIT: Final = "unit of a row"
"""The factor of units, which rows belong to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What one pass found: cells by (truth, predicted), and by (level, truth, predicted) for each factor."""

    cells: Cells
    by_factor: dict[str, Cells]
    rows: int
    weighted: bool
    within: dict[str, Cells] = field(default_factory=dict)
    """By (level, unit, truth, predicted) for each factor, where units are known."""
