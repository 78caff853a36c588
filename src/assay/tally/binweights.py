# SPDX-License-Identifier: Apache-2.0
"""What the rows of each bin of scores weigh, as exact sums: positives, negatives, and the squared weights of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from assay.tally.base import count_from_json
from assay.tally.sums import Sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tally.sums import Index, Whole

    Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BinWeights:
    """Four exact sums for each bin."""

    pos: Sums
    neg: Sums
    pos_squares: Sums
    neg_squares: Sums

    @classmethod
    def by_class(cls, at: Whole, size: int, weight: Sums, squares: Sums, *, positive: Flags) -> BinWeights:
        """From cells that hold one class each: the bin that each goes to, its weight and its squared weights.

        >>> half = Sums.of([Fraction(1, 2)] * 3)
        >>> held = BinWeights.by_class(np.array([0, 1, 1]), 2, half, half, positive=np.array([True, False, False]))
        >>> held.pos.tolist(), held.neg.tolist()
        ([Fraction(1, 2), Fraction(0, 1)], [Fraction(0, 1), Fraction(1, 1)])
        """
        pos, neg = np.flatnonzero(positive), np.flatnonzero(~positive)
        return cls(
            pos=weight[pos].gathered(at[pos], size),
            neg=weight[neg].gathered(at[neg], size),
            pos_squares=squares[pos].gathered(at[pos], size),
            neg_squares=squares[neg].gathered(at[neg], size),
        )

    def __getitem__(self, index: Index) -> BinWeights:
        """Some of the bins."""
        return self._each(lambda one: one[index])

    @property
    def there(self) -> Flags:
        """Which bins hold any weight."""
        return self.pos.there | self.neg.there

    def gathered(self, at: Whole, size: int) -> BinWeights:
        """The sums of the bins that go to each of `size` places."""
        return self._each(lambda one: one.gathered(at, size))

    def runs(self, first: Whole) -> BinWeights:
        """The sums from each of some bins up to the next of them."""
        return self._each(lambda one: one.runs(first))

    def beside(self, other: BinWeights) -> BinWeights:
        """The bins of both, one after the other."""
        sides = zip(fields(self), self._all(), other._all(), strict=True)
        return BinWeights(**{name.name: one.beside(more) for name, one, more in sides})

    def only_positives(self) -> BinWeights:
        """The same bins without the negatives."""
        none = Sums.zeros(len(self.pos))
        return BinWeights(pos=self.pos, neg=none, pos_squares=self.pos_squares, neg_squares=none)

    def _all(self) -> tuple[Sums, ...]:
        return self.pos, self.neg, self.pos_squares, self.neg_squares

    def _each(self, change: Callable[[Sums], Sums]) -> BinWeights:
        return BinWeights(**{name.name: change(one) for name, one in zip(fields(self), self._all(), strict=True)})

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {name.name: one.to_json() for name, one in zip(fields(self), self._all(), strict=True)}

    @classmethod
    def from_json(cls, content: Mapping[str, object], size: int) -> BinWeights:
        """The inverse of `to_json`."""
        return cls(**{name.name: _read(content[name.name], size) for name in fields(cls)})


def _read(content: object, size: int) -> Sums:
    if isinstance(content, Mapping):
        return Sums.from_json(content, size)
    # An older Record lists its sums.
    return Sums.of([Fraction(count_from_json(one)) for one in cast("Sequence[object]", content)])
