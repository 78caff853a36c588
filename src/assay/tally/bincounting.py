# SPDX-License-Identifier: Apache-2.0
"""Rows counted into bins as they come, in the memory of the bins, and by several threads where that is quicker.

Parts are counted apart and added as whole numbers, so neither the number of threads nor the parts leave a trace.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from assay.core.errors import OutOfRange
from assay.rows.limits import workers
from assay.tally.binmaps import CHUNK, BinMap, Fold, unfit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows: TypeAlias = NDArray[np.float64]
    Truth: TypeAlias = NDArray[np.bool_] | NDArray[np.int8]
    """Which rows are positive: true or 1; a row of neither class is -1, its score looked at and not counted."""

BLOCK: Final = 1 << 20
"""Rows of an array that a thread counts at a time."""
_ONE: Final = np.uint32(1)  # of the very type of what it is added to, else numpy converts row by row
_FULL: Final = (1 << 32) - 1
"""Rows that a narrow count can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Positives and negatives in each occupied bin, and its score where it is known to hold just one, else NaN."""

    place: NDArray[np.int64]
    pos: NDArray[np.int64]
    neg: NDArray[np.int64]
    only: NDArray[np.float64]


def count_bins(scores: Rows, truth: Truth, bins: BinMap, threads: int | None = None) -> Counted:
    """Count the rows of two arrays of one length."""
    parts = ((scores[start : start + BLOCK], truth[start : start + BLOCK]) for start in range(0, len(scores), BLOCK))
    try:
        return count_parts(parts, bins, threads)
    except OutOfRange:
        raise unfit(bins, (scores[start : start + CHUNK] for start in range(0, len(scores), CHUNK))) from None


def count_parts(parts: Iterable[tuple[Rows, Truth]], bins: BinMap, threads: int | None = None) -> Counted:
    """Count rows that come in parts, each its scores and which of them are positive."""
    count: _Counting = _Sorted(bins) if bins.kind == "quantile" else _Folded(bins)
    allowed = workers(threads)
    _spread(count.add, parts, allowed if count.spreads else 1)
    return count.counted()


def _spread(work: Callable[[Rows, Truth], None], parts: Iterable[tuple[Rows, Truth]], threads: int) -> None:
    """Do some work on every part; no more parts are held than threads can work on, and one that waits."""
    if threads == 1:
        for part in parts:
            work(*part)
        return
    with ThreadPoolExecutor(threads) as pool:
        pending: set[Future[None]] = set()
        for part in parts:
            if len(pending) > threads:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for one in done:
                    one.result()
            pending.add(pool.submit(work, *part))
        for one in pending:
            one.result()


class _Counting(ABC):
    """Counts by cell and class while parts come in, and whether a cell has seen one score only."""

    spreads = True
    """Whether several threads are quicker than one."""

    def __init__(self, bins: BinMap, cells: int) -> None:
        self.bins = bins
        self.seen = np.full(cells, np.nan)
        self.single = np.ones(cells, dtype=np.bool_)

    @abstractmethod
    def add(self, scores: Rows, truth: Truth) -> None:
        """Count a part; where threads are worth it, several may do so at once."""

    @abstractmethod
    def counted(self) -> Counted:
        """What is in the bins that hold any row, bins ascending."""

    def only(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """The score of each cell that has seen one only; a zero loses its sign, for either may have come first."""
        return np.where(self.single[cells], self.seen[cells] + 0.0, np.nan)


class _Folded(_Counting):
    """For a fixed map: the cell of each row is found by a few operations on its bits."""

    # Adding in place holds the interpreter, and many short steps ask for it: two threads took 1.2 to 1.7 times as long.
    spreads = False

    def __init__(self, bins: BinMap) -> None:
        super().__init__(bins, bins.cells)
        self._fold = Fold(bins)
        self._cell, self._code, self._side = self._fold.spare
        # Half as wide as a count need be, so that more of them stay in a processor's cache; both classes of a cell
        # stand beside each other, negatives first.
        self._fresh = np.zeros(2 * bins.cells, dtype=np.uint32)
        self._gathered: NDArray[np.int64] | None = None
        self._added = 0

    def add(self, scores: Rows, truth: Truth) -> None:
        """Count a part."""
        for start in range(0, len(scores), CHUNK):
            self._chunk(scores[start : start + CHUNK], truth[start : start + CHUNK])

    def _chunk(self, scores: Rows, truth: Truth) -> None:
        folded = self._fold.cells(scores)  # of all rows, so that none with an unfit score is left out
        if truth.dtype != np.bool_ and truth.min() < 0:
            kept = np.flatnonzero(truth >= 0)
            scores, truth, folded = scores.take(kept), truth.take(kept), folded.take(kept)
        cell, code, side = self._cell[: len(scores)], self._code[: len(scores)], self._side[: len(scores)]
        np.copyto(cell, folded)
        # Most cells have soon seen two scores; the few rows of the others are looked at one by one.
        if len(at := np.flatnonzero(self.single.take(cell))):
            self._look(scores.take(at), cell.take(at))
        folded <<= 1
        np.copyto(side, truth)
        np.add(folded, side, out=code)
        if self._added + len(code) > _FULL:
            self._gather()
        # In place: an array of fresh counts for each chunk would be larger than the chunk.
        np.add.at(self._fresh, code, _ONE)
        self._added += len(code)

    def _gather(self) -> None:
        held = self._fresh.astype(np.int64)
        self._gathered = held if self._gathered is None else self._gathered + held
        self._fresh.fill(0)
        self._added = 0

    def counted(self) -> Counted:
        """What is in the bins that hold any row, bins ascending."""
        if self._gathered is not None:
            self._gather()
        counts = self._fresh if self._gathered is None else self._gathered
        both = counts.view(np.uint64) if self._gathered is None else counts[::2] | counts[1::2]
        # Cells of one side stand in the order of their bins, those of the other side the other way round.
        held = np.flatnonzero(both)
        up, down = held[held & 1 == 0], held[held & 1 == 1][::-1]
        cells = np.concatenate([up, down] if self.bins.kind == "probability" else [down, up])
        neg, pos = (counts[2 * cells + side].astype(np.int64) for side in (0, 1))
        return Counted(place=self.bins.unfolded(cells), neg=neg, pos=pos, only=self.only(cells))

    def _look(self, scores: Rows, cell: NDArray[np.int64]) -> None:
        """Find the cells, of those that have seen one score at most, in which another score appears."""
        before = self.seen.take(cell)
        fresh = np.isnan(before)
        if fresh.any():
            self.seen[cell[fresh]] = scores[fresh]
            before = self.seen.take(cell)
        self.single[cell[before != scores]] = False


class _Sorted(_Counting):
    """For given edges: a block is sorted and the edges are looked up in it, which beats looking up each row."""

    def __init__(self, bins: BinMap) -> None:
        super().__init__(bins, bins.size)
        self.counts = np.zeros(2 * bins.size, dtype=np.int64)
        self._lock = Lock()

    def add(self, scores: Rows, truth: Truth) -> None:
        """Count a part."""
        positive = truth.view(np.bool_)
        for which in (0, 1):
            ordered = np.compress(positive if which else ~positive, scores).astype(np.float64, copy=False)
            ordered.sort()
            if len(ordered) and not (-np.inf < ordered[0] and ordered[-1] < np.inf):  # NaN stands last
                raise unfit(self.bins, [scores])
            ends = np.concatenate([[0], np.searchsorted(ordered, self.bins.edges), [len(ordered)]])
            counts = np.diff(ends)
            held = np.flatnonzero(counts)
            low, high = ordered[ends[held]], ordered[ends[held + 1] - 1]
            with self._lock:
                self.counts[which::2] += counts
                known = np.where(np.isnan(self.seen[held]), low, self.seen[held])
                self.single[held] &= (low == high) & (known == low)
                self.seen[held] = known

    def counted(self) -> Counted:
        """What is in the bins that hold any row, bins ascending."""
        neg, pos = self.counts[::2], self.counts[1::2]
        held = np.flatnonzero(neg + pos)
        return Counted(place=held, neg=neg[held], pos=pos[held], only=self.only(held))
