# SPDX-License-Identifier: Apache-2.0
"""The only room with randomness: draws of cells, never of rows, from a seed that is written down.

Resampling n rows and counting them again is the same as drawing the cells from a multinomial distribution.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import numpy as np

from assay.core.values import floats
from assay.tally.tables import Binary, Multiclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tally.confusion import Confusion

SEED = 4213
BLOCK = 250
"""Draws per independent stream; fixed, so that the result does not depend on the number of workers."""
JEFFREYS = 0.5


def streams(seed: int, draws: int) -> Iterator[tuple[int, np.random.Generator]]:
    """One generator for every block of draws, with the size of the block."""
    blocks = -(-draws // BLOCK)
    for number, child in enumerate(np.random.SeedSequence(seed).spawn(blocks)):
        yield min(BLOCK, draws - number * BLOCK), np.random.Generator(np.random.PCG64(child))


def dirichlet_tables(table: Binary, draws: int, seed: int) -> Binary:
    """Draws of each four-cell table from its Dirichlet(count + 1/2) distribution; axes (draw, class)."""
    cells = [np.atleast_1d(floats(cell)) + JEFFREYS for cell in (table.tp, table.fp, table.fn, table.tn)]
    shape = np.stack(cells)
    drawn = np.concatenate([rng.standard_gamma(shape, size=(size, *shape.shape)) for size, rng in streams(seed, draws)])
    return Binary(tp=drawn[:, 0], fp=drawn[:, 1], fn=drawn[:, 2], tn=drawn[:, 3])


def multinomial_tables(table: Binary, draws: int, seed: int) -> Binary:
    """Draws of one four-cell table with replacement; axes (draw, 1)."""
    cells = np.array([float(cell) for cell in (table.tp, table.fp, table.fn, table.tn)])
    drawn = np.concatenate([_multinomial(rng, cells, size) for size, rng in streams(seed, draws)])[..., np.newaxis]
    return Binary(tp=drawn[:, 0], fp=drawn[:, 1], fn=drawn[:, 2], tn=drawn[:, 3])


def multinomial_classes(confusion: Confusion, draws: int, seed: int) -> Multiclass:
    """Draws of the occupied cells with replacement, summed to the margins of the classes; axes (draw, class)."""
    counts = floats(cast("NDArray[np.float64]", confusion.count))
    k, rows, columns = confusion.k, confusion.truth, confusion.predicted
    hits, actual, called = (np.zeros((draws, k)) for _ in range(3))
    on = np.flatnonzero(rows == columns)
    by_column = np.argsort(columns, kind="stable")
    row_starts, row_names = _runs(rows)
    column_starts, column_names = _runs(columns[by_column])
    done = 0
    for size, rng in streams(seed, draws):
        drawn = _multinomial(rng, counts, size)
        part = slice(done, done + size)
        hits[part, rows[on]] = drawn[:, on]
        actual[part, row_names] = np.add.reduceat(drawn, row_starts, axis=1)
        called[part, column_names] = np.add.reduceat(drawn[:, by_column], column_starts, axis=1)
        done += size
    return Multiclass(hits=hits, actual=actual, called=called, labels=confusion.labels)


def _multinomial(rng: np.random.Generator, counts: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    total = int(counts.sum())
    return rng.multinomial(total, counts / counts.sum(), size=size).astype(np.float64)


def _runs(ordered: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    return starts, ordered[starts]
