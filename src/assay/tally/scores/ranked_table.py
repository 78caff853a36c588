# SPDX-License-Identifier: Apache-2.0
"""The table curve measures read: how many positives and negatives stand at each distinct score, scores ascending.

Counts may be a stack: leading axes (draw, replicate) before the axis of scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias, cast

import numpy as np

from assay.core.arrays import chance
from assay.core.parallel import together, usable
from assay.tally.labels.one_vs_rest import Binary

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from assay.core.arrays import Floats
    from assay.core.values import Amount

    # Checked as float64 arrays; at run time int64 for rows counted exactly, float64 for weights and draws.
    Counts: TypeAlias = NDArray[np.float64]

ONE = np.ones(1, dtype=np.int64)
LARGE: Final = 1 << 19
"""Rows that are worth several threads."""


@dataclass(frozen=True, slots=True, eq=False)
class Multiset:
    """Ascending distinct scores of one kind of rows, and how many rows have each."""

    value: Floats
    count: Counts

    @property
    def total(self) -> Counts:
        """All rows."""
        return cast("Counts", self.count.sum())

    @property
    def single(self) -> bool:
        """Whether every score occurs once, which is known without looking where no score was repeated."""
        return self.count.strides == (0,) and self.count.dtype.kind == "i"


def ones(size: int) -> Counts:
    """The counts of scores that occur once each, in no memory."""
    return cast("Counts", np.broadcast_to(ONE[0], size))


def whole(counts: ArrayLike) -> Counts:
    """Whole numbers as counts."""
    return cast("Counts", np.asarray(counts, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The rows of one class as the other class sees them: at each score of theirs, who stands below and who is tied."""

    count: Counts
    below: Counts
    tied: Counts


class Ranked:
    """Positives and negatives at each distinct score, scores ascending."""

    READS: ClassVar = "scores"
    logit: Floats | None = None
    """Where the scores are probabilities made of log-odds: these."""

    def __init__(self, *, score: Floats, pos: Counts, neg: Counts) -> None:
        self.score, self.pos, self.neg = score, pos, neg

    @classmethod
    def merged(cls, positive: Multiset, negative: Multiset) -> Ranked:
        """From the scores of positives and negatives, each in order."""
        parts = np.array_split(positive.value, usable())
        place = np.concatenate(together(negative.value.searchsorted, parts, large=len(positive.value) >= LARGE))
        tied = np.zeros(len(place), dtype=bool)
        if len(negative.value):
            tied = negative.value[np.minimum(place, len(negative.value) - 1)] == positive.value
        at = np.arange(len(place)) + place
        at -= np.cumsum(tied) - tied  # a tied score shares the place of the other class
        size = len(negative.value) + int((~tied).sum())
        from_negative = np.ones(size, dtype=bool)
        from_negative[at[~tied]] = False
        score = np.empty(size)
        score[from_negative] = negative.value
        score[at] = positive.value
        pos, neg = (np.zeros(size, dtype=side.count.dtype) for side in (positive, negative))
        pos[at], neg[from_negative] = positive.count, negative.count
        return Ranked(score=score, pos=pos, neg=neg)

    @cached_property
    def positives(self) -> Amount:
        """All positives: a whole number for one exact table."""
        return _total(self.pos)

    @cached_property
    def negatives(self) -> Amount:
        """All negatives."""
        return _total(self.neg)

    @property
    def n(self) -> Amount:
        """All rows."""
        return self.positives + self.negatives

    @property
    def exact(self) -> bool:
        """Whether this is one table of whole counts, so that sums can be exact."""
        return self.pos.ndim == 1 and self.pos.dtype.kind == "i"

    @cached_property
    def tp(self) -> Counts:
        """Positives called positive at a threshold equal to each score: those with score >= it."""
        return _from_top(self.pos)

    @cached_property
    def fp(self) -> Counts:
        """Negatives called positive at a threshold equal to each score."""
        return _from_top(self.neg)

    @cached_property
    def shared(self) -> dict[str, object]:
        """What several measures or intervals work out of this table, kept by name by whoever needs it first."""
        return {}

    @cached_property
    def corners(self) -> tuple[Floats, Floats]:
        """False and true positives from the highest threshold, at which nothing is called positive, to the lowest."""
        empty = np.zeros((*np.shape(self.pos)[:-1], 1))
        x, y = (np.concatenate([empty, cells[..., ::-1]], axis=-1) for cells in (self.fp, self.tp))
        x.flags.writeable = y.flags.writeable = False  # every curve measure reads them
        return x, y

    @cached_property
    def by_positive(self) -> Side:
        """At each score: the positives, the negatives below, the negatives tied."""
        return Side(self.pos, _below(self.neg), self.neg)

    @cached_property
    def by_negative(self) -> Side:
        """At each score: the negatives, the positives below, the positives tied."""
        return Side(self.neg, _below(self.pos), self.pos)

    def at(self, threshold: float) -> Binary:
        """The four cells when every row with score >= threshold is called positive.

        >>> t = Ranked(score=np.array([0.2, 0.5]), pos=np.array([1, 2]), neg=np.array([3, 0]))
        >>> t.at(0.5) == Binary.of(tp=2, fp=0, fn=1, tn=3)
        True
        """
        first = int(np.searchsorted(self.score, threshold))
        tp, fp = (_total(counts[..., first:]) for counts in (self.pos, self.neg))
        return Binary(tp=tp, fp=fp, fn=self.positives - tp, tn=self.negatives - fp)

    def drawn(self, pos: Counts, neg: Counts) -> Ranked:
        """The same scores with other counts."""
        return Ranked(score=self.score, pos=pos, neg=neg)

    def reversed(self) -> Ranked:
        """The same rows ranked the other way round."""
        return Ranked(score=-self.score[::-1], pos=self.pos[..., ::-1], neg=self.neg[..., ::-1])

    def __eq__(self, other: object) -> bool:
        """Equal counts at equal scores."""
        return isinstance(other, Ranked) and all(
            np.array_equal(getattr(self, part), getattr(other, part)) for part in ("score", "pos", "neg")
        )

    __hash__ = None  # type: ignore[assignment]


def _total(counts: Counts) -> Amount:
    if counts.ndim > 1:
        return cast("Amount", counts.sum(axis=-1, keepdims=False))
    return cast("Amount", counts[counts != 0].sum().item())  # scores of the other class do not change the rounding


def _from_top(counts: Counts) -> Counts:
    return np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1]


def _below(counts: Counts) -> Counts:
    """How many stand below each score; summed from the bottom, so that light rows beside heavy ones are not lost."""
    below = np.zeros_like(counts)
    np.cumsum(counts[..., :-1], axis=-1, out=below[..., 1:])
    return below


class Linked(Ranked):
    """A table of log-odds that is read as one of probabilities; equal ones may stand beside each other."""

    def __init__(self, *, logit: Floats, pos: Counts, neg: Counts) -> None:
        super().__init__(score=chance(logit), pos=pos, neg=neg)
        self.logit = logit

    @classmethod
    def of(cls, table: Ranked) -> Linked:
        """From a table whose scores are log-odds."""
        return cls(logit=table.score, pos=table.pos, neg=table.neg)

    def drawn(self, pos: Counts, neg: Counts) -> Linked:
        """The same log-odds with other counts."""
        return Linked(logit=cast("Floats", self.logit), pos=pos, neg=neg)
