# SPDX-License-Identifier: Apache-2.0
"""What rows cost: how many rows carry each cost that a declared matrix of costs knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from assay.core.labels import Label

if TYPE_CHECKING:
    from assay.core.values import Amount
    from assay.tally.base import Count
    from assay.tally.labels.confusion import Confusion


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """Every declared cost once, ascending, with the rows that carry it; none may."""

    cost: tuple[Fraction, ...]
    count: tuple[Count, ...]
    squares: tuple[Fraction, ...] | None = None
    """Of weighted rows: the sums of squared weights, without which there is no interval."""
    weighted: bool = False

    @classmethod
    def of(cls, confusion: Confusion, costs: Mapping[tuple[Label, Label], float]) -> Priced:
        """The rows of a confusion tally by the cost of each (truth, predicted).

        >>> from assay.tally.labels.confusion import Confusion
        >>> cells = {("cat", "dog"): 2, ("dog", "dog"): 3}
        >>> free = {("cat", "cat"): 0, ("dog", "dog"): 0}
        >>> t = Priced.of(Confusion.from_cells(cells), {**free, ("cat", "dog"): 5, ("dog", "cat"): 1})
        >>> [(int(c), n) for c, n in t]
        [(0, 3), (1, 0), (5, 2)]
        """
        order = sorted({Fraction(one) for one in costs.values()})
        rows: dict[Fraction, Count] = dict.fromkeys(order, 0)
        squares: dict[Fraction, Fraction] = dict.fromkeys(order, Fraction(0))
        held = [None] * len(confusion.count) if confusion.squares is None else confusion.squares.tolist()
        for (pair, count), square in zip(confusion.cells().items(), held, strict=True):
            cost = Fraction(costs[pair])
            rows[cost] += count
            squares[cost] += square or 0
        return cls(
            cost=tuple(order),
            count=tuple(rows.values()),
            squares=None if confusion.squares is None else tuple(squares.values()),
            weighted=confusion.weighted,
        )

    def __iter__(self) -> Iterator[tuple[Fraction, Count]]:
        """Costs with their rows."""
        return iter(zip(self.cost, self.count, strict=True))

    @property
    def n(self) -> Amount:
        """All rows, or what they weigh."""
        return cast("Amount", sum(self.count))

    @property
    def total(self) -> Amount:
        """What all rows cost together."""
        return cast("Amount", sum(cost * count for cost, count in self))
