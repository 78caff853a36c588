# SPDX-License-Identifier: Apache-2.0
"""Columns of scores in bins, each true class apart: what pairs of classes are compared by.

A table of K columns, K true classes and B bins must stay bounded, so that with many classes neighbouring bins are made
one until K * K * B is at most CELLS, or WEIGHED; only cells that hold rows are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import RecordError
from assay.tally.binmaps import CHUNK, BinMap
from assay.tally.binweights import BinWeights
from assay.tally.packing import packed_steps, unpacked_steps
from assay.tally.pooledbins import PooledBins, pooled_map
from assay.tally.ranked import whole
from assay.tally.scorebins import ScoreBins
from assay.tally.sums import Sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tally.fixed_point import Sums as FixedPointSums
    from assay.tally.scorecolumns import Column

    Floats: TypeAlias = NDArray[np.float64]
    Places: TypeAlias = NDArray[np.int64]
    Codes: TypeAlias = NDArray[np.int8]

CELLS: Final = 1 << 25
"""Cells of a table of columns, true classes and bins: 400 MB, were each of them to hold a row."""
WEIGHED: Final = 1 << 24
"""The same of weighted rows, whose exact sums take about three times the memory of a count."""
MOST_PAIRED: Final = 100
"""Classes up to which pairs are counted in bins; each column has 2,561 bins or more then, of weighted rows 1,281."""


def paired_map(finest: BinMap, classes: int, *, weighted: bool = False) -> BinMap:
    """The bins in which each true class is counted apart, as fine as the bound on cells allows."""
    return finest.coarser((WEIGHED if weighted else CELLS) // (classes * classes))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TruthBins:
    """One column of scores: the occupied bins of each true class, ascending, class after class, and rows in each."""

    map: BinMap
    place: NDArray[np.int32]
    count: NDArray[np.int64]
    """Rows of each bin; of weighted rows, nothing."""
    start: Places
    weight: tuple[Sums, Sums] | None = None
    """Of weighted rows: what those of each bin weigh, and the sum of their squared weights."""

    @classmethod
    def of_cells(
        cls,
        map: BinMap,  # noqa: A002  it is a map
        classes: int,
        cell: Places,
        held: Places | tuple[Sums, Sums],
    ) -> TruthBins:
        """From cells, class number * bins + bin, in any order and as often as they come, and rows in each."""
        kept, at = np.unique(cell, return_inverse=True)
        if isinstance(held, tuple):
            weight, squares = (one.gathered(at, len(kept)) for one in held)
            there = weight.there
            return cls.held(map, classes, kept[there], (weight[there], squares[there]))
        rows = np.zeros(len(kept), dtype=np.int64)
        np.add.at(rows, at, held)
        return cls.held(map, classes, kept[rows > 0], rows[rows > 0])

    @classmethod
    def of_column(cls, map: BinMap, column: Column, classes: int) -> TruthBins:  # noqa: A002
        """From scores that are held one by one."""
        truth = np.repeat(np.arange(classes), np.diff(column.start))
        rows = np.asarray(column.count, dtype=np.int64) if column.weight is None else exact_weights(column)
        return cls.of_cells(map, classes, truth * map.size + map.place(column.value), rows)

    @classmethod
    def held(
        cls,
        map: BinMap,  # noqa: A002
        classes: int,
        cell: Places,
        held: Places | tuple[Sums, Sums],
    ) -> TruthBins:
        """From occupied cells, each once, ascending."""
        truth, place = np.divmod(cell, map.size)
        start, place = np.searchsorted(truth, np.arange(classes + 1)), place.astype(np.int32)
        if isinstance(held, tuple):
            return cls(map=map, place=place, count=np.zeros(0, dtype=np.int64), start=start, weight=held)
        return cls(map=map, place=place, count=held, start=start)

    def _part(self, truth: int) -> slice[int, int, None]:
        return slice(int(self.start[truth]), int(self.start[truth + 1]))

    def pair(self, positive: int, negative: int, column: ScoreBins) -> ScoreBins:
        """The rows of two true classes; `column` are those of all classes in the same bins, to know which are tied."""
        parts = [self._part(truth) for truth in (positive, negative)]
        at, size = [np.searchsorted(column.place, self.place[part]) for part in parts], len(column.place)
        if self.weight is not None:
            sums = [one[part].gathered(to, size) for one in self.weight for part, to in zip(parts, at, strict=True)]
            weight = BinWeights(pos=sums[0], neg=sums[1], pos_squares=sums[2], neg_squares=sums[3])
            there = np.flatnonzero(weight.there)
            return ScoreBins.weighing(
                map=self.map,
                place=column.place[there],
                weight=weight[there],
                only=column.only[there],
                rows=column.rows,  # of all classes: how many rows a weight comes from is not held
            )
        both = [np.zeros(size, dtype=np.int64) for _ in range(2)]
        for counts, part, to in zip(both, parts, at, strict=True):
            counts[to] = self.count[part]
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

    def against(self, own: int, place: Places) -> BinWeights:
        """What the rows of one true class, and those of all others, weigh in some bins of the same map."""
        truth = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        weight, squares = cast("tuple[Sums, Sums]", self.weight)
        at = np.searchsorted(place, self.place)
        return BinWeights.by_class(at, len(place), weight, squares, positive=truth == own)

    def __add__(self, other: TruthBins) -> TruthBins:
        """Both tallies together; their columns were found to have the same bins and classes, and weights or not."""
        cells = [
            np.repeat(np.arange(len(one.start) - 1), np.diff(one.start)) * one.map.size + one.place
            for one in (self, other)
        ]
        held: Places | tuple[Sums, Sums] = np.concatenate([self.count, other.count])
        if self.weight is not None and other.weight is not None:
            held = (self.weight[0].beside(other.weight[0]), self.weight[1].beside(other.weight[1]))
        return TruthBins.of_cells(self.map, len(self.start) - 1, np.concatenate(cells), held)

    def to_json(self) -> dict[str, object]:
        """As in a Record: bins as steps from the one before, each class from zero on."""
        steps = self.place.astype(np.int64)
        steps[1:] -= self.place[:-1]
        first = self.start[:-1][np.diff(self.start) > 0]
        steps[first] = self.place[first]
        held: dict[str, object] = {"rows": packed_steps(self.count)}
        if self.weight is not None:
            held = {"weights": self.weight[0].to_json(), "squares": self.weight[1].to_json()}
        return {"start": self.start.tolist(), "bins": packed_steps(steps), **held}

    @classmethod
    def from_json(cls, content: Mapping[str, object], map: BinMap) -> TruthBins:  # noqa: A002
        """The inverse of `to_json`."""
        start = np.array(content["start"], dtype=np.int64)
        size = int(start[-1])
        steps = unpacked_steps(cast("str", content["bins"]), size)
        sums = np.concatenate([[0], np.cumsum(steps)])
        before = np.repeat(sums[start[:-1]], np.diff(start))
        place = (sums[1:] - before).astype(np.int32)
        if "weights" in content:
            both = (cast("Mapping[str, object]", content[part]) for part in ("weights", "squares"))
            weight, squares = (Sums.from_json(one, size) for one in both)
            return cls(map=map, place=place, count=np.zeros(0, np.int64), start=start, weight=(weight, squares))
        return cls(map=map, place=place, count=unpacked_steps(cast("str", content["rows"]), size), start=start)


def exact_weights(column: Column) -> tuple[Sums, Sums]:
    """The weights and the squared weights of a column of scores that are held one by one."""
    if column.squares is None:
        raise RecordError(
            "record-unreadable",
            "the weighted scores come without the sums of squared weights, which bins hold",
            fix="count the rows again with this version of assay",
        )
    weight = cast("FixedPointSums", column.weight)
    return Sums.of(weight.tolist()), Sums.of(column.squares.tolist())


def count_classes(
    parts: Iterable[tuple[Floats, Codes]], finest: BinMap, own: int, classes: int, threads: int | None = None
) -> tuple[ScoreBins, TruthBins, PooledBins | None]:
    """One pass over rows that come in parts: their scores, and the number of the true class of each or -1 for none.

    The column of one class against all others, in coarser bins each true class apart, and in finer ones what the column
    adds to pooled scores where these are held so.
    """
    map, finer = paired_map(finest, classes), pooled_map(finest, classes)  # noqa: A001
    counts = np.zeros(classes * map.size, dtype=np.int64)
    pooled = np.zeros(2 * (0 if finer is None else finer.size), dtype=np.int64)

    def sides() -> Iterator[tuple[Floats, Codes]]:
        for scores, codes in parts:
            side = np.where(codes < 0, np.int8(-1), (codes == own).astype(np.int8))
            for start in range(0, len(scores), CHUNK):
                chunk = slice(start, start + CHUNK)
                given = scores[chunk].astype(np.float64, copy=False)
                place, kept = finest.place(given), codes[chunk] >= 0  # of all rows, so that no unfit one is left out
                _count(counts, codes[chunk][kept].astype(np.int64) * map.size + (place[kept] >> map.halvings))
                if finer is not None:
                    _count(pooled, side[chunk][kept] * np.int64(finer.size) + finer.halved(given[kept], place[kept]))
            yield scores, side

    column = ScoreBins.of_parts(sides(), finest, threads)
    cell = np.flatnonzero(counts)
    held = None if finer is None else PooledBins.of_counts(finer, (pooled[: finer.size], pooled[finer.size :]))
    return column, TruthBins.held(map, classes, cell, counts[cell]), held


def _count(counts: Places, cell: Places) -> None:
    np.add.at(counts, cell, np.int64(1))
