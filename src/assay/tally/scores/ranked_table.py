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

    def below(self, place: NDArray[np.int64]) -> Counts:
        """How many rows stand before each place."""
        if self.single:
            return cast("Counts", place)
        sums = np.concatenate([np.zeros(1, dtype=self.count.dtype), np.cumsum(self.count)])
        return cast("Counts", sums[place])


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
    """Positives and negatives at each distinct score; merged when a measure first asks for the whole list."""

    READS: ClassVar = "scores"
    logit: Floats | None = None
    """Where the scores are probabilities made of log-odds: these."""
    _apart: tuple[Multiset, Multiset] | None = None
    """The scores of positives and negatives, where they were given apart."""

    def __init__(self, *, score: Floats, pos: Counts, neg: Counts) -> None:
        self._merged = score, pos, neg

    @classmethod
    def apart(cls, positive: Multiset, negative: Multiset) -> Ranked:
        """From the scores of positives and negatives, each in order."""
        table = cls.__new__(cls)
        table._apart = positive, negative  # noqa: SLF001  its own kind
        return table

    @property
    def score(self) -> Floats:
        """Ascending distinct scores."""
        return self._merged[0]

    @property
    def pos(self) -> Counts:
        """Positives at each score."""
        return self._merged[1]

    @property
    def neg(self) -> Counts:
        """Negatives at each score."""
        return self._merged[2]

    @cached_property
    def positives(self) -> Amount:
        """All positives: a whole number for one exact table."""
        return _total(self._apart[0].count if self._apart else self.pos)

    @cached_property
    def negatives(self) -> Amount:
        """All negatives."""
        return _total(self._apart[1].count if self._apart else self.neg)

    @property
    def n(self) -> Amount:
        """All rows."""
        return self.positives + self.negatives

    @property
    def exact(self) -> bool:
        """Whether this is one table of whole counts, so that sums can be exact."""
        first = self._apart[0].count if self._apart else self.pos
        return first.ndim == 1 and first.dtype.kind == "i"

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
        """For each score that positives have: they, the negatives below, the negatives tied."""
        if self._apart is None:
            return Side(self.pos, np.cumsum(self.neg, axis=-1) - self.neg, self.neg)
        (pos, neg), (place, hit) = self._apart, self._places
        tied = np.where(hit, neg.count[np.minimum(place, len(neg.value) - 1)], 0) if hit.any() else _nothing(len(place))
        return Side(pos.count, neg.below(place), tied)

    @cached_property
    def by_negative(self) -> Side:
        """For each score that negatives have: they, the positives below, the positives tied."""
        if self._apart is None:
            return Side(self.neg, np.cumsum(self.pos, axis=-1) - self.pos, self.pos)
        (pos, neg), (place, hit) = self._apart, self._places
        size = len(neg.value)
        up_to = np.cumsum(_binned(place, pos, size + 1))[:size]
        if not hit.any():
            return Side(neg.count, up_to, _nothing(size))
        tied = _binned(place[hit], Multiset(pos.value[hit], pos.count[hit]), size)
        return Side(neg.count, up_to - tied, tied)

    def at(self, threshold: float) -> Binary:
        """The four cells when every row with score >= threshold is called positive.

        >>> t = Ranked(score=np.array([0.2, 0.5]), pos=np.array([1, 2]), neg=np.array([3, 0]))
        >>> t.at(0.5) == Binary.of(tp=2, fp=0, fn=1, tn=3)
        True
        """
        if self._apart:
            tp, fp = (_total(side.count[np.searchsorted(side.value, threshold) :]) for side in self._apart)
        else:
            first = int(np.searchsorted(self.score, threshold))
            tp, fp = (_total(counts[..., first:]) for counts in (self.pos, self.neg))
        return Binary(tp=tp, fp=fp, fn=self.positives - tp, tn=self.negatives - fp)

    def drawn(self, pos: Counts, neg: Counts) -> Ranked:
        """The same scores with other counts."""
        return Ranked(score=self.score, pos=pos, neg=neg)

    def __eq__(self, other: object) -> bool:
        """Equal counts at equal scores."""
        return isinstance(other, Ranked) and all(
            np.array_equal(getattr(self, part), getattr(other, part)) for part in ("score", "pos", "neg")
        )

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def _merged(self) -> tuple[Floats, Counts, Counts]:
        """The list of all scores, unless it was given."""
        (pos, neg), (place, hit) = cast("tuple[Multiset, Multiset]", self._apart), self._places
        alone = ~hit
        at = np.arange(len(place)) + place
        at -= np.cumsum(hit) - hit  # a tied score shares the place of the other class
        size = len(neg.value) + int(alone.sum())
        from_neg = np.ones(size, dtype=bool)
        from_neg[at[alone]] = False
        score = np.empty(size)
        score[from_neg] = neg.value
        score[at] = pos.value
        counts = [np.zeros(size, dtype=side.count.dtype) for side in (pos, neg)]
        counts[0][at], counts[1][from_neg] = pos.count, neg.count
        return score, counts[0], counts[1]

    @cached_property
    def _places(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Before which score of the negatives each score of the positives stands, and whether the two are equal."""
        pos, neg = cast("tuple[Multiset, Multiset]", self._apart)
        some = np.array_split(pos.value, usable())
        place = np.concatenate(together(neg.value.searchsorted, some, large=len(pos.value) >= LARGE))
        if not len(neg.value):
            return place, np.zeros(len(place), dtype=bool)
        return place, neg.value[np.minimum(place, len(neg.value) - 1)] == pos.value


def _total(counts: Counts) -> Amount:
    if counts.ndim > 1:
        return cast("Amount", counts.sum(axis=-1, keepdims=False))
    return cast("Amount", counts.sum().item())


def _from_top(counts: Counts) -> Counts:
    return np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1]


def _nothing(size: int) -> Counts:
    return cast("Counts", np.broadcast_to(np.zeros(1, dtype=np.int64)[0], size))


def _binned(place: NDArray[np.int64], rows: Multiset, size: int) -> Counts:
    if rows.single:
        return cast("Counts", np.bincount(place, minlength=size))
    if rows.count.dtype.kind == "i" and int(rows.count.sum()) >= 1 << 53:
        sums = np.zeros(size, dtype=np.int64)  # sums of doubles would lose rows
        np.add.at(sums, place, rows.count)
        return cast("Counts", sums)
    return np.bincount(place, weights=rows.count, minlength=size).astype(rows.count.dtype)


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
