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
        self.counts = np.zeros(2 * cells, dtype=np.int64)
        self.seen = np.full(cells, np.nan)
        self.single = np.ones(cells, dtype=np.bool_)

    @abstractmethod
    def add(self, scores: Rows, truth: Truth) -> None:
        """Count a part; where threads are worth it, several may do so at once."""

    def counted(self) -> Counted:
        """What is in the bins that hold any row, bins ascending."""
        cells = np.flatnonzero(self.counts[::2] + self.counts[1::2])
        place = self.placed(cells)
        order = np.argsort(place)
        cells = cells[order]
        # A zero loses its sign, for zeros of either sign may have come first.
        only = np.where(self.single[cells], self.seen[cells] + 0.0, np.nan)
        return Counted(place=place[order], neg=self.counts[2 * cells], pos=self.counts[2 * cells + 1], only=only)

    def placed(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bin of a cell."""
        return cells


class _Folded(_Counting):
    """For a fixed map: the cell of each row is found by a few operations on its bits."""

    # Adding in place holds the interpreter, and many short steps ask for it: two threads took 1.2 to 1.7 times as long.
    spreads = False

    def __init__(self, bins: BinMap) -> None:
        super().__init__(bins, bins.cells)
        self._fold = Fold(bins)
        self._code, self._more = (np.empty(CHUNK, dtype=np.int64) for _ in range(2))
        # Half as wide as the counts, so that more of them stay in a processor's cache.
        self._fresh = np.zeros(len(self.counts), dtype=np.uint32)
        self._added = 0

    def add(self, scores: Rows, truth: Truth) -> None:
        """Count a part."""
        for start in range(0, len(scores), CHUNK):
            self._chunk(scores[start : start + CHUNK], truth[start : start + CHUNK])

    def _chunk(self, scores: Rows, truth: Truth) -> None:
        code, more = self._code[: len(scores)], self._more[: len(scores)]
        np.copyto(code, self._fold.cells(scores))  # of all rows, so that none with an unfit score is left out
        if truth.dtype != np.bool_ and truth.min() < 0:
            kept = np.flatnonzero(truth >= 0)
            scores, truth, code, more = scores.take(kept), truth.take(kept), code.take(kept), more[: len(kept)]
        # Most cells have soon seen two scores; the few rows of the others are looked at one by one.
        if len(at := np.flatnonzero(self.single.take(code))):
            self._look(scores.take(at), code.take(at))
        code <<= 1
        np.copyto(more, truth)
        code += more
        if self._added + len(code) > _FULL:
            self._gather()
        # In place: an array of fresh counts for each chunk would be larger than the chunk.
        np.add.at(self._fresh, code, _ONE)
        self._added += len(code)

    def _gather(self) -> None:
        self.counts += self._fresh
        self._fresh.fill(0)
        self._added = 0

    def counted(self) -> Counted:
        """What is in the bins that hold any row, bins ascending."""
        self._gather()
        return super().counted()

    def _look(self, scores: Rows, cell: NDArray[np.int64]) -> None:
        """Find the cells, of those that have seen one score at most, in which another score appears."""
        other = self.seen[cell] != scores  # so it is where nothing was seen yet
        if not other.any():
            return
        at, held = cell[other], scores[other]
        fresh = np.isnan(self.seen[at])
        self.seen[at[fresh]] = held[fresh]
        self.single[at[self.seen[at] != held]] = False

    def placed(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bin of a cell."""
        return self.bins.unfolded(cells)


class _Sorted(_Counting):
    """For given edges: a block is sorted and the edges are looked up in it, which beats looking up each row."""

    def __init__(self, bins: BinMap) -> None:
        super().__init__(bins, bins.size)
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
