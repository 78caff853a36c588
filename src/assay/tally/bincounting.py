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
from typing import TYPE_CHECKING, Final, TypeAlias, cast

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
SORTED: Final = 1 << 22
"""The same where they are sorted and all edges are looked up in them: the more rows, the fewer look-ups."""
SHARED: Final = 1 << 17
"""Rows whose bins are found at a time by several threads: fewer would have them wait for the interpreter too often."""
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
    allowed, most = workers(threads), SORTED if bins.kind == "quantile" else BLOCK
    blocks = -(-len(scores) // most)
    if bins.kind == "quantile":  # as many for each thread, or one would wait for the other
        blocks = -(-blocks // allowed) * allowed
    size = max(-(-len(scores) // max(blocks, 1)), 1)
    parts = ((scores[start : start + size], truth[start : start + size]) for start in range(0, len(scores), size))
    try:
        return _count(parts, bins, min(allowed, max(blocks, 1)))
    except OutOfRange:
        raise unfit(bins, (scores[start : start + CHUNK] for start in range(0, len(scores), CHUNK))) from None


def count_parts(parts: Iterable[tuple[Rows, Truth]], bins: BinMap, threads: int | None = None) -> Counted:
    """Count rows that come in parts, each its scores and which of them are positive.

    Parts of an engine are too short for a fixed map to gain by threads, and the engine has its own.
    """
    return _count(parts, bins, workers(threads) if bins.kind == "quantile" else 1)


def _count(parts: Iterable[tuple[Rows, Truth]], bins: BinMap, threads: int) -> Counted:
    count: _Counting = _Sorted(bins) if bins.kind == "quantile" else _Folded(bins, CHUNK if threads == 1 else SHARED)
    _spread(count.add, parts, threads)
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

    @abstractmethod
    def add(self, scores: Rows, truth: Truth) -> None:
        """Count a part; several threads may do so at once."""

    @abstractmethod
    def counted(self) -> Counted:
        """What is in the bins that hold any row, bins ascending."""


class _Folded(_Counting):
    """For a fixed map: the cell of each row is found by a few operations on its bits.

    Every thread has counts of its own. Adding to them holds the interpreter, all else lets it go.
    """

    def __init__(self, bins: BinMap, chunk: int) -> None:
        self._bins, self._chunk = bins, chunk
        self._single = _Single(bins.cells)
        self._all: list[_Cells] = []
        self._free: list[_Cells] = []
        self._lock = Lock()

    def add(self, scores: Rows, truth: Truth) -> None:
        """Count a part."""
        with self._lock:
            cells = self._free.pop() if self._free else self._more()
        for start in range(0, len(scores), self._chunk):
            cells.add(scores[start : start + self._chunk], truth[start : start + self._chunk])
        with self._lock:
            self._free.append(cells)

    def _more(self) -> _Cells:
        self._all.append(_Cells(self._bins, self._chunk, self._single))
        return self._all[-1]

    def counted(self) -> Counted:
        """What is in the bins that hold any row, bins ascending."""
        parts = self._all or [self._more()]
        counts = parts[0].counts()
        if sum(one.rows for one in parts) > _FULL:
            counts = counts.astype(np.int64, copy=False)
        for one in parts[1:]:
            counts = counts + one.counts()
        # Two narrow counts of one cell are looked at as one wide number.
        both = counts.view(np.uint64) if counts.dtype == np.uint32 else counts[::2] | counts[1::2]
        # Cells of one side stand in the order of their bins, those of the other side the other way round.
        held = np.flatnonzero(both)
        up, down = held[held & 1 == 0], held[held & 1 == 1][::-1]
        cells = np.concatenate([up, down] if self._bins.kind == "probability" else [down, up])
        neg, pos = (counts[2 * cells + side].astype(np.int64) for side in (0, 1))
        return Counted(place=self._bins.unfolded(cells), neg=neg, pos=pos, only=self._single.only(cells))


class _Cells:
    """The counts of one thread; both classes of a cell stand beside each other, negatives first."""

    def __init__(self, bins: BinMap, chunk: int, single: _Single) -> None:
        self._single = single
        self._fold = Fold(bins, chunk)
        # Half as wide as a count need be, so that more of them stay in a processor's cache.
        self._fresh = np.zeros(2 * bins.cells, dtype=np.uint32)
        self._gathered: NDArray[np.int64] | None = None
        self._added = 0
        self.rows = 0

    def add(self, scores: Rows, truth: Truth) -> None:
        """Count a chunk."""
        positive = truth > 0 if truth.dtype != np.bool_ else cast("NDArray[np.bool_]", truth)
        code = self._fold.codes(scores, positive)  # of all rows, so that none with an unfit score is left out
        if truth.dtype != np.bool_ and truth.min() < 0:
            kept = np.flatnonzero(truth >= 0)
            scores, code = scores.take(kept), code.take(kept)
        self._single.look(scores, code)
        if self._added + len(code) > _FULL:
            self._gather()
        # In place: an array of fresh counts for each chunk would be larger than the chunk.
        np.add.at(self._fresh, code, _ONE)
        self._added += len(code)
        self.rows += len(code)

    def counts(self) -> NDArray[np.int64] | NDArray[np.uint32]:
        """By cell and class."""
        if self._gathered is None:
            return self._fresh
        self._gather()
        return self._gathered

    def _gather(self) -> None:
        held = self._fresh.astype(np.int64)
        self._gathered = held if self._gathered is None else self._gathered + held
        self._fresh.fill(0)
        self._added = 0


class _Single:
    """Which cells have seen one score at most, and that score; one for all threads."""

    def __init__(self, cells: int) -> None:
        self._seen = np.full(cells, np.nan)
        # Told by class as well, though classes never differ, so that a row is looked up by the code it is counted by.
        self._single = np.ones(2 * cells, dtype=np.bool_)
        self._pairs = self._single.view(np.uint16)
        self._lock = Lock()

    def look(self, scores: Rows, code: NDArray[np.int64]) -> None:
        """Most cells have soon seen two scores; the few rows of the others are looked at."""
        if not len(at := np.flatnonzero(self._single.take(code))):
            return
        scores, cell = scores.take(at), code.take(at) >> 1
        with self._lock:
            before = self._seen.take(cell)
            if len(fresh := np.flatnonzero(np.isnan(before))):
                self._seen[cell.take(fresh)] = scores.take(fresh)
                before = self._seen.take(cell)
            self._pairs[cell.take(np.flatnonzero(before != scores))] = 0

    def only(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """The score of each cell that has seen one only."""
        return _only(self._seen[cells], self._single[2 * cells])


def _only(seen: Rows, single: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The score where it is the only one; a zero loses its sign, for either may have come first."""
    return np.where(single, seen + 0.0, np.nan)


class _Sorted(_Counting):
    """For given edges: a block is sorted and the edges are looked up in it, which beats looking up each row."""

    def __init__(self, bins: BinMap) -> None:
        self.bins = bins
        self.seen = np.full(bins.size, np.nan)
        self.single = np.ones(bins.size, dtype=np.bool_)
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
        return Counted(place=held, neg=neg[held], pos=pos[held], only=_only(self.seen[held], self.single[held]))
