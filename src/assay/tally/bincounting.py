# SPDX-License-Identifier: Apache-2.0
"""Rows counted into bins as they come, in the memory of the bins, and by several threads where that is quicker.

Parts are counted apart and added as whole numbers, so neither the number of threads nor the parts leave a trace.
"""

from __future__ import annotations

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

LEAST, LARGEST = 1 << 19, 1 << 22
"""Rows of an array that a thread sorts at a time: the more there are, the fewer look-ups of edges it takes."""
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
    allowed = workers(threads)
    # As many blocks for each thread, or one would wait for the others.
    blocks = max(-(-len(scores) // (LARGEST * allowed)), 1) * allowed
    size = max(-(-len(scores) // blocks), LEAST)
    parts = ((scores[start : start + size], truth[start : start + size]) for start in range(0, len(scores), size))
    try:
        return count_parts(parts, bins, allowed)
    except OutOfRange:
        raise unfit(bins, (scores[start : start + CHUNK] for start in range(0, len(scores), CHUNK))) from None


def count_parts(parts: Iterable[tuple[Rows, Truth]], bins: BinMap, threads: int | None = None) -> Counted:
    """Count rows that come in parts, each its scores and which of them are positive."""
    allowed = workers(threads)
    count: _Folded | _Sorted = _Sorted(bins) if bins.kind == "quantile" else _Folded(bins)
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


class _Folded:
    """For a fixed map: the cell of each row is found by a few operations on its bits."""

    spreads = False
    """Whether several threads are quicker than one: adding in place holds the interpreter, so two took as long."""

    def __init__(self, bins: BinMap) -> None:
        self._bins, self._fold = bins, Fold(bins)
        # Half as wide as a count need be, so that more of them stay in a processor's cache; both classes of a cell
        # stand beside each other, negatives first.
        self._fresh = np.zeros(2 * bins.cells, dtype=np.uint32)
        self._gathered: NDArray[np.int64] | None = None
        self._added = 0
        self._seen = np.full(bins.cells, np.nan)
        # Told by class as well, though classes never differ, so that a row is looked up by the code it is counted by.
        self._single = np.ones(2 * bins.cells, dtype=np.bool_)
        self._pairs = self._single.view(np.uint16)

    def add(self, scores: Rows, truth: Truth) -> None:
        """Count a part."""
        for start in range(0, len(scores), CHUNK):
            self._chunk(scores[start : start + CHUNK], truth[start : start + CHUNK])

    def _chunk(self, scores: Rows, truth: Truth) -> None:
        positive = truth > 0 if truth.dtype != np.bool_ else cast("NDArray[np.bool_]", truth)
        code = self._fold.codes(scores, positive)  # of all rows, so that none with an unfit score is left out
        if truth.dtype != np.bool_ and truth.min() < 0:
            kept = np.flatnonzero(truth >= 0)
            scores, code = scores.take(kept), code.take(kept)
        # Most cells have soon seen two scores; the few rows of the others are looked at one by one.
        if len(at := np.flatnonzero(self._single.take(code))):
            self._look(scores.take(at), code.take(at) >> 1)
        if self._added + len(code) > _FULL:
            self._gather()
        # In place: an array of fresh counts for each chunk would be larger than the chunk.
        np.add.at(self._fresh, code, _ONE)
        self._added += len(code)

    def _look(self, scores: Rows, cell: NDArray[np.int64]) -> None:
        """Find the cells, of those that have seen one score at most, in which another score appears."""
        before = self._seen.take(cell)
        if len(fresh := np.flatnonzero(np.isnan(before))):
            self._seen[cell.take(fresh)] = scores.take(fresh)
            before = self._seen.take(cell)
        self._pairs[cell.take(np.flatnonzero(before != scores))] = 0

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
        # Two narrow counts of one cell are looked at as one wide number.
        both = counts.view(np.uint64) if self._gathered is None else counts[::2] | counts[1::2]
        # Cells of one side stand in the order of their bins, those of the other side the other way round.
        held = np.flatnonzero(both)
        up, down = held[held & 1 == 0], held[held & 1 == 1][::-1]
        cells = np.concatenate([up, down] if self._bins.kind == "probability" else [down, up])
        neg, pos = (counts[2 * cells + side].astype(np.int64) for side in (0, 1))
        only = _only(self._seen[cells], self._single[2 * cells])
        return Counted(place=self._bins.unfolded(cells), neg=neg, pos=pos, only=only)


def _only(seen: Rows, single: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The score where it is the only one; a zero loses its sign, for either may have come first."""
    return np.where(single, seen + 0.0, np.nan)


class _Sorted:
    """For given edges: a block is sorted and the edges are looked up in it, which beats looking up each row."""

    spreads = True

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
