# SPDX-License-Identifier: Apache-2.0
"""The only room with randomness: draws of cells, never of rows, from a seed that is written down.

Resampling n rows and counting them again is the same as drawing the cells from a multinomial distribution.
A Dirichlet draw gives each row a random weight instead; no cell that holds rows can vanish in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

import numpy as np

from assay.core.parallel import together
from assay.core.values import floats
from assay.tally.labels.one_vs_rest import Binary, Multiclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats
    from assay.core.values import Amount
    from assay.measures.declare import Measure
    from assay.tally.labels.confusion import Confusion

Kind: TypeAlias = Literal["dirichlet", "multinomial"]

SEED: Final = 4213
GENERATOR: Final = np.random.PCG64
JEFFREYS: Final = 0.5
"""Weight added to each of four cells; for a share it is the prior whose intervals cover best (Brown et al. 2001)."""
STAGES: Final = (1, 4, 24)
"""How many times the least number of draws is taken, one after the other, until a bound is steady enough."""
TABLE_NUMBERS: Final = 1 << 22
"""Random numbers for four-cell tables, at most, beyond the least number of draws: 32 MiB, 0.1 s."""
CELL_NUMBERS: Final = 1 << 24
"""The same for K x K cells, which are added up to margins as they are drawn: 0.3 s."""
HELD: Final = 1 << 19
"""Random numbers a worker holds at a time: 4 MiB, so that draws of any table stay far below 100 MB."""
BLOCKS: Final = (2000, 1000, 500, 250, 125)
"""Draws per independent stream, the first one that keeps a block of margins inside a processor's cache."""
CACHED: Final = 1 << 15


def stream(seed: int, *place: int) -> np.random.Generator:
    """The generator of one place; it depends on the seed and the place only, so workers and order do not matter."""
    return np.random.Generator(GENERATOR(np.random.SeedSequence(seed, spawn_key=place)))


def stages(least: int, cells: int, numbers: int) -> Iterator[int]:
    """Growing numbers of draws; those beyond the first must fit the numbers one may draw."""
    for times in STAGES:
        if times == 1 or times * least * cells <= numbers:
            yield times * least


class TableDraws:
    """Draws of a stack of four-cell tables; each table meets the same stream, whatever stands beside it."""

    def __init__(self, table: Binary, kind: Kind, seed: int, *, most: int = STAGES[-1]) -> None:
        cells = [np.atleast_1d(floats(cell)) for cell in (table.tp, table.fp, table.fn, table.tn)]
        self.counts = np.stack(cells, axis=-1)
        self._kind, self._seed, self._most = kind, seed, most
        self._drawn: dict[int, Floats] = {}

    def stages(self, least: int) -> Iterator[int]:
        """The numbers of draws to try."""
        return (size for size in stages(least, self.counts.size, TABLE_NUMBERS) if size <= self._most * least)

    def of(self, draws: int, tables: NDArray[np.intp]) -> Binary:
        """The draws of some of the tables; axes (table, draw)."""
        if draws * self.counts.size > TABLE_NUMBERS:
            kept = np.stack([self._table(counts, draws) for counts in self.counts[tables]])
        else:
            if draws not in self._drawn:
                self._drawn[draws] = np.stack([self._table(counts, draws) for counts in self.counts])
            kept = self._drawn[draws] if len(tables) == len(self.counts) else self._drawn[draws][tables]
        return Binary(tp=kept[:, 0], fp=kept[:, 1], fn=kept[:, 2], tn=kept[:, 3])

    def _table(self, counts: Floats, draws: int) -> Floats:
        rng = stream(self._seed)
        if self._kind == "dirichlet":
            return rng.standard_gamma(counts[:, np.newaxis] + JEFFREYS, size=(4, draws))
        return rng.multinomial(int(counts.sum()), counts / counts.sum(), size=draws).T.astype(np.float64)


class CellDraws:
    """Draws of the cells of K classes, added up to the margins; blocks are made when first asked for.

    A Dirichlet draw also holds the two spare rows. For two classes they are close to 1/2 in each of the four cells.
    """

    def __init__(self, confusion: Confusion, kind: Kind, seed: int, *, strict: bool = False) -> None:
        self._kind, self._seed, self._k, self._labels = kind, seed, confusion.k, confusion.labels
        self._rows, self._columns = confusion.truth, confusion.predicted
        self._count, self._scale = _shapes(confusion)
        self._square = 2 * len(self._count) >= confusion.k**2
        if self._square:
            self._count, self._scale = self._full(self._count), None if self._scale is None else self._full(self._scale)
        self._size = next((b for b in BLOCKS if b * confusion.k <= CACHED), BLOCKS[-1])
        self._blocks: list[Multiclass] = []
        self.spare = Spare(confusion, strict=strict)
        self._units = None if confusion.squares is None else _units(confusion)

    def _full(self, cells: Floats) -> Floats:
        full = np.zeros((self._k, self._k))
        full[self._rows, self._columns] = cells
        return full.ravel()

    def stages(self, least: int) -> Iterator[int]:
        """The numbers of draws to try."""
        return stages(least, max(len(self._count), 3 * self._k), CELL_NUMBERS)

    def blocks(self, draws: int) -> list[Multiclass]:
        """Enough blocks for some draws, each with axes (draw, class)."""
        missing = range(len(self._blocks), -(-draws // self._size))
        self._blocks += together(self._block, missing, large=len(missing) * self._size * len(self._count) >= HELD)
        return self._blocks[: -(-draws // self._size)]

    def values(self, measure: Measure, draws: int) -> Floats:
        """The values of a measure on the draws; NaN where undefined."""
        return np.concatenate([measure.values(block) for block in self.blocks(draws)])[:draws]

    def lost(self, draws: int) -> int:
        """In how many draws a class that has rows, or calls, lost all of them."""
        true, called = np.unique(self._rows), np.unique(self._columns)
        gone = [
            (floats(block.actual)[:, true] == 0).any(axis=1) | (floats(block.called)[:, called] == 0).any(axis=1)
            for block in self.blocks(draws)
        ]
        return int(np.concatenate(gone)[:draws].sum())

    def _block(self, number: int) -> Multiclass:
        rng = stream(self._seed, number)
        hits, actual, called = (np.zeros((self._size, self._k)) for _ in range(3))
        step = max(1, HELD // len(self._count))
        for start in range(0, self._size, step):
            part = slice(start, min(start + step, self._size))
            self._add_up(self._draw(rng, part.stop - start), hits[part], actual[part], called[part])
        if self._kind == "dirichlet":
            self.spare.add(rng, hits, actual, called, self._units)
        return Multiclass(hits=hits, actual=actual, called=called, labels=self._labels)

    def _draw(self, rng: np.random.Generator, draws: int) -> Floats:
        if self._kind == "dirichlet":
            drawn = rng.standard_gamma(self._count, size=(draws, len(self._count)))
            return drawn if self._scale is None else drawn * self._scale
        total = self._count.sum()
        return rng.multinomial(int(total), self._count / total, size=draws).astype(np.float64)

    def _add_up(self, drawn: Floats, hits: Floats, actual: Floats, called: Floats) -> None:
        if self._square:
            square = drawn.reshape(len(drawn), self._k, self._k)
            hits[:] = np.diagonal(square, axis1=1, axis2=2)
            square.sum(axis=2, out=actual)
            square.sum(axis=1, out=called)
            return
        on = np.flatnonzero(self._rows == self._columns)
        hits[:, self._rows[on]] = drawn[:, on]
        starts, names = _runs(self._rows)
        actual[:, names] = np.add.reduceat(drawn, starts, axis=1)
        by_column = np.argsort(self._columns, kind="stable")
        starts, names = _runs(self._columns[by_column])
        called[:, names] = np.add.reduceat(drawn[:, by_column], starts, axis=1)


class Spare:
    """One right and one wrong row of random weight in random classes, which let a table without errors still vary.

    A class that never occurs takes no part. With `strict` neither does one that is never true, or never called, on that
    side: then what the table leaves undefined stays so in every draw, as an average that skips it must have it.
    """

    def __init__(self, confusion: Confusion, *, strict: bool = False) -> None:
        exact = confusion.multiclass()
        self._hits, self._actual, self._called = floats(exact.hits), floats(exact.actual), floats(exact.called)
        anywhere = self._actual + self._called
        self._true = np.flatnonzero(self._actual if strict else anywhere)
        self._named = np.flatnonzero(self._called if strict else anywhere)
        self._both = np.intersect1d(self._true, self._named)
        own = np.searchsorted(self._named, self._true)
        self._own = np.where(np.isin(self._true, self._both), own, confusion.k)
        self._ends = np.cumsum(len(self._named) - np.isin(self._true, self._both))
        self._pairs = int(self._ends[-1]) if len(self._ends) else 0

    def mean(self) -> tuple[Floats, Floats, Floats]:
        """The margins with both rows spread as they fall on average."""
        hits, actual, called = self._hits.copy(), self._actual.copy(), self._called.copy()
        for margin in (hits, actual, called):
            margin[self._both] += 1 / max(len(self._both), 1)
        if self._pairs:
            actual[self._true] += (len(self._named) - np.isin(self._true, self._both)) / self._pairs
            called[self._named] += (len(self._true) - np.isin(self._named, self._both)) / self._pairs
        return hits, actual, called

    def add(
        self, rng: np.random.Generator, hits: Floats, actual: Floats, called: Floats, units: Floats | None = None
    ) -> None:
        """Add the two rows to each draw; `units` says what a row of each true class weighs, if not 1."""
        draw, size = np.arange(len(hits)), len(hits)
        if len(self._both):
            at, weight = self._both[rng.integers(len(self._both), size=size)], rng.standard_exponential(size)
            weight = weight if units is None else weight * units[at]
            for margin in (hits, actual, called):
                margin[draw, at] += weight
        if self._pairs:
            at, weight = rng.integers(self._pairs, size=size), rng.standard_exponential(size)
            true = np.searchsorted(self._ends, at, side="right")
            named = at - np.r_[0, self._ends][true]
            named += named >= self._own[true]  # a wrong row is not called its own class
            weight = weight if units is None else weight * units[self._true[true]]
            actual[draw, self._true[true]] += weight
            called[draw, self._named[named]] += weight

    def moments(self, on: Floats, row: Floats, column: Floats) -> tuple[float, float, float]:
        """Their weight, and the sums of the influences of the two rows and of its squares, each by its chance."""
        weight, right = float(len(self._both) > 0), on[self._both]
        mean, square = (float(right.mean()), float((right**2).mean())) if weight else (0.0, 0.0)
        if not self._pairs:
            return weight, mean, square
        true, named, own = row[self._true], column[self._named], row[self._both] + column[self._both]
        sums = len(named) * true.sum() + len(true) * named.sum() - own.sum()
        squares = len(named) * (true**2).sum() + len(true) * (named**2).sum() + 2 * true.sum() * named.sum()
        return weight + 1, mean + float(sums) / self._pairs, square + float(squares - (own**2).sum()) / self._pairs


def _shapes(confusion: Confusion) -> tuple[Floats, Floats | None]:
    """The shape of the gamma draw of each cell, and for weighted rows its scale.

    Rows drawn with weights w times an exponential one add up to a mean of sum(w) and a variance of sum(w^2); a gamma
    draw of shape sum(w)^2 / sum(w^2) has both. With equal weights it is the shape of that many rows.
    """
    total = floats(cast("Amount", confusion.count))
    if confusion.squares is None:
        return total, None
    squares = floats(cast("Amount", confusion.squares))
    scale = squares / total
    return total / scale, scale


def _units(confusion: Confusion) -> Floats:
    """What a spare row of each true class weighs: as its rows do, larger ones counted more; else as all rows do."""
    total, squares = floats(cast("Amount", confusion.count)), floats(cast("Amount", confusion.squares))
    sums = [np.bincount(confusion.truth, weights=part, minlength=confusion.k) for part in (total, squares)]
    there = sums[0] > 0
    return np.where(there, sums[1] / np.where(there, sums[0], 1.0), squares.sum() / max(total.sum(), 1e-300))


def _runs(ordered: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    return starts, ordered[starts]
