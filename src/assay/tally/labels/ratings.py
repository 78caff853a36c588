# SPDX-License-Identifier: Apache-2.0
"""The tally of annotators: how many of them gave an item each label, and how often each such pattern occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from assay.core.labels import Label, in_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratings:
    """Patterns of labels: row p of `votes` is how many annotators gave each label, `count` how many items are so.

    Who gave which label is forgotten; an item that one annotator labelled tells of shares, not of agreement.
    """

    labels: tuple[Label, ...]
    votes: Counts
    count: Counts

    @classmethod
    def from_cells(
        cls, cells: Mapping[tuple[Label | None, ...], int], *, labels: Sequence[Label] | None = None
    ) -> Ratings:
        """From counts by what each annotator said; None where one said nothing.

        >>> t = Ratings.from_cells({("a", "a", None): 3, ("b", "a", "b"): 2, ("a", "b", "b"): 1})
        >>> t.labels, t.votes.tolist(), t.count.tolist()
        (('a', 'b'), [[1, 2], [2, 0]], [3, 3])
        """
        seen = {rating for cell in cells for rating in cell if rating is not None}
        order = in_order(seen) if labels is None else tuple(labels)
        place = {label: i for i, label in enumerate(order)}
        patterns: Counter[tuple[int, ...]] = Counter()
        for cell, n in cells.items():
            votes = [0] * len(order)
            for rating in cell:
                if rating is not None:
                    votes[place[rating]] += 1
            if any(votes) and n:
                patterns[tuple(votes)] += n
        kept = sorted(patterns.items())
        each = np.array([votes for votes, _ in kept], dtype=np.int64).reshape(len(kept), len(order))
        return cls(labels=order, votes=each, count=np.array([n for _, n in kept], dtype=np.int64))

    @property
    def items(self) -> int:
        """Items with a label at all."""
        return int(self.count.sum())

    @property
    def given(self) -> Counts:
        """How many labels each pattern has."""
        found: Counts = self.votes.sum(axis=1)
        return found

    @property
    def several(self) -> Ratings:
        """Only items with two labels or more."""
        kept = self.given > 1
        return Ratings(labels=self.labels, votes=self.votes[kept], count=self.count[kept])
