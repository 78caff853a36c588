# SPDX-License-Identifier: Apache-2.0
"""Rows of arrays counted into bins, by as many threads as there are processors, in the memory of the bins.

Blocks of rows are counted apart and added as whole numbers, so the number of threads leaves no trace.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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
"""Rows counted at a time."""
FIRST: Final = 1 << 19
"""Rows after which it is asked for the first time whether the search for bins of one score is worth its time."""
ROUND: Final = 8 * BLOCK
"""Rows after which it is asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Positives and negatives in each occupied bin, and its score where it is known to hold just one, else NaN."""

    place: NDArray[np.int64]
    pos: NDArray[np.int64]
    neg: NDArray[np.int64]
    only: NDArray[np.float64]


def count_bins(
    scores: Rows,
    truth: Truth,
    bins: BinMap,
    threads: int | None = None,
) -> Counted:
    """Count the rows of two arrays of one length."""
    count: _Counting = _Sorted(bins) if bins.kind == "quantile" else _Folded(bins)
    allowed = workers(threads)
    with ThreadPoolExecutor(allowed) as pool:
        for blocks in _rounds(len(scores), count):
            run = pool.map if min(allowed, len(blocks)) > 1 else map
            try:
                for _ in run(lambda ends: count.add(scores[slice(*ends)], truth[slice(*ends)]), blocks):
                    pass
            except OutOfRange:
                raise unfit(bins, (scores[start : start + CHUNK] for start in range(0, len(scores), CHUNK))) from None
    return count.counted()


def _rounds(rows: int, count: _Counting) -> Iterator[list[tuple[int, int]]]:
    """Blocks that may be counted at once: all that are left, as soon as nothing is to be decided between them."""
    start, step = 0, FIRST
    while start < rows:
        if start:
            count.settle()
        stop = min(start + step, rows) if count.deciding else rows
        yield [(at, min(at + BLOCK, stop)) for at in range(start, stop, BLOCK)]
        start, step = stop, ROUND


class _Counting(ABC):
    """Counts by cell and class while blocks come in, and whether a cell has seen one score only."""

    deciding = False
    """Whether it is still to be seen if the search for cells of one score goes on."""

    def __init__(self, bins: BinMap, cells: int) -> None:
        self.bins = bins
        self.counts = np.zeros(2 * cells, dtype=np.int64)
        self.seen = np.full(cells, np.nan)
        self.single = np.ones(cells, dtype=np.bool_)
        self.lock = Lock()

    @abstractmethod
    def add(self, scores: Rows, truth: Truth) -> None:
        """Count a block; several threads may do so at once."""

    def settle(self) -> None:  # noqa: B027  nothing to decide unless a kind says so
        """Decide, between two rounds, what depends on all rows so far."""

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

    deciding = True

    def __init__(self, bins: BinMap) -> None:
        super().__init__(bins, bins.cells)
        self._benches: list[tuple[Fold, NDArray[np.int64]]] = []
        self._ones = np.ones(CHUNK, dtype=np.int64)

    def add(self, scores: Rows, truth: Truth) -> None:
        """Count a block."""
        fold, codes = self._bench()
        for start in range(0, len(scores), CHUNK):
            part = slice(start, start + CHUNK)
            code = codes[: len(truth[part])]
            np.copyto(code, fold.cells(scores[part]))
            if self.deciding:
                with self.lock:
                    self._look(scores[part], code)
            np.copyto(code, fold.sided(truth[part]))
            # In place: an array of fresh counts for each block would be larger than the block.
            with self.lock:
                np.add.at(self.counts, code, self._ones[: len(code)])
        self._benches.append((fold, codes))

    def _bench(self) -> tuple[Fold, NDArray[np.int64]]:
        try:
            return self._benches.pop()
        except IndexError:
            return Fold(self.bins), np.empty(CHUNK, dtype=np.int64)

    def _look(self, scores: Rows, cell: NDArray[np.int64]) -> None:
        other = self.seen[cell] != scores  # so it is where nothing was seen yet
        if not other.any():
            return
        at, held = cell[other], scores[other]
        fresh = np.isnan(self.seen[at])
        self.seen[at[fresh]] = held[fresh]
        self.single[at[self.seen[at] != held]] = False

    def settle(self) -> None:
        """Where most rows share their bin with other scores, no bin is worth the look."""
        if self.deciding:
            rows = self.counts[::2] + self.counts[1::2]
            self.deciding = 2 * int(rows[self.single].sum()) > int(rows.sum())
            if not self.deciding:
                self.single[:] = False

    def placed(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bin of a cell."""
        return self.bins.unfolded(cells)


class _Sorted(_Counting):
    """For given edges: a block is sorted and the edges are looked up in it, which beats looking up each row."""

    def __init__(self, bins: BinMap) -> None:
        super().__init__(bins, bins.size)

    def add(self, scores: Rows, truth: Truth) -> None:
        """Count a block."""
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
