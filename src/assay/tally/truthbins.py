# SPDX-License-Identifier: Apache-2.0
"""Columns of scores in bins, each true class apart: what pairs of classes are compared by.

A table of K columns, K true classes and B bins must stay bounded, so that with many classes neighbouring bins are made
one until K * K * B is at most CELLS; only cells that hold rows are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.tally.binmaps import CHUNK, BinMap
from assay.tally.packing import packed_steps, unpacked_steps
from assay.tally.ranked import whole
from assay.tally.scorebins import ScoreBins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tally.scorecolumns import Column

    Floats: TypeAlias = NDArray[np.float64]
    Places: TypeAlias = NDArray[np.int64]
    Codes: TypeAlias = NDArray[np.int8]

CELLS: Final = 1 << 25
"""Cells of a table of columns, true classes and bins: 400 MB, were each of them to hold a row."""
MOST_PAIRED: Final = 100
"""Classes up to which pairs are counted in bins; each column has 2,561 bins or more then."""


def paired_map(finest: BinMap, classes: int) -> BinMap:
    """The bins in which each true class is counted apart, as fine as the bound on cells allows."""
    return finest.coarser(CELLS // (classes * classes))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TruthBins:
    """One column of scores: the occupied bins of each true class, ascending, class after class, and rows in each."""

    map: BinMap
    place: NDArray[np.int32]
    count: NDArray[np.int64]
    start: Places

    @classmethod
    def of_cells(cls, map: BinMap, classes: int, cell: Places, count: Places) -> TruthBins:  # noqa: A002  it is a map
        """From cells, class number * bins + bin, in any order and as often as they come, and rows in each."""
        kept, at = np.unique(cell, return_inverse=True)
        rows = np.zeros(len(kept), dtype=np.int64)
        np.add.at(rows, at, count)
        return cls.held(map, classes, kept[rows > 0], rows[rows > 0])

    @classmethod
    def of_column(cls, map: BinMap, column: Column, classes: int) -> TruthBins:  # noqa: A002
        """From scores that are held one by one."""
        truth = np.repeat(np.arange(classes), np.diff(column.start))
        return cls.of_cells(
            map, classes, truth * map.size + map.place(column.value), np.asarray(column.count, dtype=np.int64)
        )

    @classmethod
    def held(cls, map: BinMap, classes: int, cell: Places, count: Places) -> TruthBins:  # noqa: A002
        """From occupied cells, each once, ascending."""
        truth, place = np.divmod(cell, map.size)
        start = np.searchsorted(truth, np.arange(classes + 1))
        return cls(map=map, place=place.astype(np.int32), count=count, start=start)

    def rows(self, truth: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The bins of one true class, and how many of its rows stand in each."""
        part = slice(int(self.start[truth]), int(self.start[truth + 1]))
        return self.place[part], self.count[part]

    def pair(self, positive: int, negative: int, column: ScoreBins) -> ScoreBins:
        """The rows of two true classes; `column` are those of all classes in the same bins, to know which are tied."""
        both = [np.zeros(len(column.place), dtype=np.int64) for _ in range(2)]
        for counts, truth in zip(both, (positive, negative), strict=True):
            place, rows = self.rows(truth)
            counts[np.searchsorted(column.place, place)] = rows
        there = np.flatnonzero(both[0] + both[1])
        pos, neg = (whole(counts[there]) for counts in both)
        return ScoreBins(
            map=self.map,
            place=column.place[there],
            pos=pos,
            neg=neg,
            only=column.only[there],
            rows=int(pos.sum() + neg.sum()),
        )

    def __add__(self, other: TruthBins) -> TruthBins:
        """Both tallies together; the columns they belong to have been found to have the same bins and classes."""
        cells = [
            np.repeat(np.arange(len(one.start) - 1), np.diff(one.start)) * one.map.size + one.place
            for one in (self, other)
        ]
        return TruthBins.of_cells(
            self.map, len(self.start) - 1, np.concatenate(cells), np.concatenate([self.count, other.count])
        )

    def to_json(self) -> dict[str, object]:
        """As in a Record: bins as steps from the one before, each class from zero on."""
        steps = self.place.astype(np.int64)
        steps[1:] -= self.place[:-1]
        first = self.start[:-1][np.diff(self.start) > 0]
        steps[first] = self.place[first]
        return {"start": self.start.tolist(), "bins": packed_steps(steps), "rows": packed_steps(self.count)}

    @classmethod
    def from_json(cls, content: Mapping[str, object], map: BinMap) -> TruthBins:  # noqa: A002
        """The inverse of `to_json`."""
        start = np.array(content["start"], dtype=np.int64)
        steps, count = (unpacked_steps(cast("str", content[part]), int(start[-1])) for part in ("bins", "rows"))
        sums = np.concatenate([[0], np.cumsum(steps)])
        before = np.repeat(sums[start[:-1]], np.diff(start))
        return cls(map=map, place=(sums[1:] - before).astype(np.int32), count=count, start=start)


def count_classes(
    parts: Iterable[tuple[Floats, Codes]], finest: BinMap, own: int, classes: int, threads: int | None = None
) -> tuple[ScoreBins, TruthBins]:
    """One pass over rows that come in parts: their scores, and the number of the true class of each or -1 for none.

    The column of one class against all others, and in coarser bins each true class apart.
    """
    map = paired_map(finest, classes)  # noqa: A001
    counts = np.zeros(classes * map.size, dtype=np.int64)

    def sides() -> Iterator[tuple[Floats, Codes]]:
        for scores, codes in parts:
            for start in range(0, len(scores), CHUNK):
                _count(map, counts, scores[start : start + CHUNK], codes[start : start + CHUNK])
            yield scores, np.where(codes < 0, np.int8(-1), (codes == own).astype(np.int8))

    column = ScoreBins.of_parts(sides(), finest, threads)
    cell = np.flatnonzero(counts)
    return column, TruthBins.held(map, classes, cell, counts[cell])


def _count(map: BinMap, counts: Places, scores: Floats, codes: Codes) -> None:  # noqa: A002
    place = map.place(scores.astype(np.float64, copy=False))  # of all rows, so that no unfit score is left out
    kept = codes >= 0
    np.add.at(counts, codes[kept].astype(np.int64) * map.size + place[kept], np.int64(1))
