# SPDX-License-Identifier: Apache-2.0
"""Draws of the rows of a score table: each distinct score gets a random number of positives and of negatives.

Many distinct scores are first joined to some thousand neighbourhoods of equally many rows; a row moves a curve by so
little that its exact place among thousands of neighbours does not show in the spread of a value.
"""

from __future__ import annotations

import weakref
from threading import RLock
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.inference.resampling import stream
from assay.tally.scores.log_odds import Linked
from assay.tally.scores.ranked_table import Ranked

if TYPE_CHECKING:
    from assay.core.arrays import Floats
    from assay.measures.declare import Measure

CELLS: Final = 1024
"""Neighbourhoods kept; with 512 the standard errors of all measures already agree to two figures."""
BLOCK: Final = 250
"""Draws made at a time, each block from a stream of its own."""
KEPT: Final = 2
"""Tables whose draws are kept: one of 1,024 scores takes 70 MB with what its measures hold on to."""
_LOCK, _SHELF = RLock(), list[tuple[weakref.ref[Ranked], int, "ScoreDraws"]]()


def draws_of(table: Ranked, seed: int) -> ScoreDraws:
    """The draws of a table, made anew unless it is the very one of which some were asked for a moment ago.

    There may be hundreds of classes and groups, and the draws of all of them would fill the memory.
    """
    with _LOCK:
        own = next((one for one in _SHELF if one[0]() is table and one[1] == seed), None)
        own = own or (weakref.ref(table, _forget), seed, ScoreDraws(table, seed))
        _SHELF[:] = [*[one for one in _SHELF if one is not own], own][-KEPT:]
        return own[2]


def _forget(gone: weakref.ref[Ranked]) -> None:
    with _LOCK:
        _SHELF[:] = [one for one in _SHELF if one[0] is not gone]


def joined(table: Ranked, cells: int = CELLS) -> Ranked:
    """Neighbouring scores pooled to at most so many, with about equally many rows and the mean of their scores."""
    if table.logit is not None:  # neighbours are pooled by their log-odds, which have no end
        return Linked.of(joined(Ranked(score=table.logit, pos=table.pos, neg=table.neg), cells))
    if len(table.score) <= cells:
        return Ranked(
            score=table.score, pos=np.asarray(table.pos, dtype=np.float64), neg=np.asarray(table.neg, dtype=np.float64)
        )
    both = np.asarray(table.pos + table.neg, dtype=np.float64)
    sums = np.cumsum(both)
    place = np.minimum(((sums - both / 2) * (cells / sums[-1])).astype(np.int64), cells - 1)
    start = np.flatnonzero(np.diff(place, prepend=-1))
    pos, neg, rows = (np.add.reduceat(np.asarray(x, dtype=np.float64), start) for x in (table.pos, table.neg, both))
    score = np.add.reduceat(table.score * both, start) / rows
    return Ranked(score=np.maximum.accumulate(score), pos=pos, neg=neg)


class ScoreDraws:
    """Draws of one score table, made block by block and kept for the next measure."""

    def __init__(self, table: Ranked, seed: int) -> None:
        self.centre = joined(table)
        """The table the draws vary around."""
        self._seed = seed
        self._blocks: dict[int, Ranked] = {}

    def blocks(self, draws: int) -> list[Ranked]:
        """Enough stacks for some draws."""
        wanted = range(-(-draws // BLOCK))
        self._blocks |= {number: self._block(number) for number in wanted if number not in self._blocks}
        return [self._blocks[number] for number in wanted]

    def values(self, measure: Measure, draws: int) -> Floats:
        """The values of a measure on the draws; NaN where undefined."""
        return np.concatenate([measure.values(block) for block in self.blocks(draws)])[:draws]

    def _block(self, number: int) -> Ranked:
        # Poisson counts are those of a bootstrap of rows whose number varies too; cells are then independent.
        rng = stream(self._seed, 7, number)
        shape = (BLOCK, len(self.centre.score))
        sides = (self.centre.pos, self.centre.neg)
        pos, neg = (rng.poisson(cells, size=shape).astype(np.float64) for cells in sides)
        for drawn, cells in zip((pos, neg), sides, strict=True):
            _fill_empty(drawn, cells, rng)
        return self.centre.drawn(pos, neg)


def _fill_empty(drawn: Floats, cells: Floats, rng: np.random.Generator) -> None:
    """Draw again, given that there is a row, where a draw holds no row of a class: such a draw has no value."""
    empty, total = np.flatnonzero(drawn.sum(axis=1) == 0), float(cells.sum())
    if not len(empty) or not total:
        return
    from scipy.special import pdtrik

    none = np.exp(-total)
    sizes = np.ceil(pdtrik(none + (1 - none) * rng.random(len(empty)), total)).astype(np.int64)
    drawn[empty] = rng.multinomial(np.maximum(sizes, 1), cells / total)
