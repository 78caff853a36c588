# SPDX-License-Identifier: Apache-2.0
"""Rows counted into bins as they come, by as many threads as there are processors, in the memory of the bins.

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
    Truth: TypeAlias = NDArray[np.bool_]

BLOCK: Final = 1 << 20
"""Rows of an array that a thread counts at a time."""


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
    _spread(count.add, parts, workers(threads))
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

    def __init__(self, bins: BinMap, cells: int) -> None:
        self.bins = bins
        self.counts = np.zeros(2 * cells, dtype=np.int64)
        self.seen = np.full(cells, np.nan)
        self.single = np.ones(cells, dtype=np.bool_)
        self.lock = Lock()

    @abstractmethod
    def add(self, scores: Rows, truth: Truth) -> None:
        """Count a part; several threads may do so at once."""

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


class _Bench:
    """What one thread works with, kept from one part to the next."""

    def __init__(self, bins: BinMap) -> None:
        self.fold = Fold(bins)
        self.code = np.empty(CHUNK, dtype=np.int64)
        self.single = np.empty(CHUNK, dtype=np.bool_)


class _Folded(_Counting):
    """For a fixed map: the cell of each row is found by a few operations on its bits."""

    def __init__(self, bins: BinMap) -> None:
        super().__init__(bins, bins.cells)
        self._benches: list[_Bench] = []
        self._ones = np.ones(CHUNK, dtype=np.int64)

    def add(self, scores: Rows, truth: Truth) -> None:
        """Count a part."""
        try:
            bench = self._benches.pop()
        except IndexError:
            bench = _Bench(self.bins)
        for start in range(0, len(scores), CHUNK):
            self._chunk(scores[start : start + CHUNK], truth[start : start + CHUNK], bench)
        self._benches.append(bench)

    def _chunk(self, scores: Rows, truth: Truth, bench: _Bench) -> None:
        code, single = bench.code[: len(scores)], bench.single[: len(scores)]
        np.copyto(code, bench.fold.cells(scores))
        # Whoever reads this while another thread writes looks once too often, and that under the lock.
        np.take(self.single, code, out=single, mode="clip")
        if single.any():
            with self.lock:
                self._look(*((scores, code) if single.all() else (scores[single], code[single])))
        np.copyto(code, bench.fold.sided(truth))
        # In place: an array of fresh counts for each chunk would be larger than the chunk.
        with self.lock:
            np.add.at(self.counts, code, self._ones[: len(code)])

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

    def add(self, scores: Rows, truth: Truth) -> None:
        """Count a part."""
        for which in (0, 1):
            ordered = np.compress(truth if which else ~truth, scores).astype(np.float64, copy=False)
            ordered.sort()
            if len(ordered) and not (-np.inf < ordered[0] and ordered[-1] < np.inf):  # NaN stands last
                raise unfit(self.bins, [scores])
            ends = np.concatenate([[0], np.searchsorted(ordered, self.bins.edges), [len(ordered)]])
            counts = np.diff(ends)
            held = np.flatnonzero(counts)
            low, high = ordered[ends[held]], ordered[ends[held + 1] - 1]
            with self.lock:
                self.counts[which::2] += counts
                known = np.where(np.isnan(self.seen[held]), low, self.seen[held])
                self.single[held] &= (low == high) & (known == low)
                self.seen[held] = known
