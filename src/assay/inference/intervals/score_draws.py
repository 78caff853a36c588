# SPDX-License-Identifier: Apache-2.0
"""Draws of the rows of a score table, and the bands around curves that follow from them.

A draw gives each distinct score a random number of positives and of negatives.
Many distinct scores are first joined to some thousand neighbourhoods of equally many rows; a row moves a curve by so
little that its exact place among thousands of neighbours does not show in the spread of a value.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from assay.inference.intervals.proportion import normal_quantile
from assay.inference.resampling import stream
from assay.tally.scores.ranked_table import Linked, Ranked

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from assay.core.arrays import Floats
    from assay.inference.intervals.interval_choice import Wanted
    from assay.measures.declare import Measure

CELLS: Final = 1024
"""Neighbourhoods kept; with 512 the standard errors of all measures already agree to two figures."""
BLOCK: Final = 250
"""Draws made at a time, each block from a stream of its own."""
KEPT: Final = 2
"""Tables whose draws are kept: one of 1,024 scores takes 70 MB with what its measures hold on to."""
_LOCK, _SHELF = RLock(), list[tuple[weakref.ref[Ranked], int, "ScoreDraws"]]()
Curve: TypeAlias = Literal["roc", "pr"]
PLACES: Final = 101
DRAWS: Final = 1000


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
        sides = (self.centre.pos, self.centre.neg)
        pos, neg = (_poisson(cells, rng) for cells in sides)
        for drawn, cells in zip((pos, neg), sides, strict=True):
            _fill_empty(drawn, cells, rng)
        return self.centre.drawn(pos, neg)


def _poisson(cells: Floats, rng: np.random.Generator) -> Floats:
    """Counts of a block of draws; empty cells stay empty and take nothing from the stream."""
    drawn, occupied = np.zeros((BLOCK, len(cells))), np.flatnonzero(cells)
    drawn[:, occupied] = rng.poisson(cells[occupied], size=(BLOCK, len(occupied)))
    return drawn


def _fill_empty(drawn: Floats, cells: Floats, rng: np.random.Generator) -> None:
    """Draw again, given that there is a row, where a draw holds no row of a class: such a draw has no value."""
    empty, total = np.flatnonzero(drawn.sum(axis=1) == 0), float(cells.sum())
    if not len(empty) or not total:
        return
    from scipy.special import pdtrik

    none = np.exp(-total)
    sizes = np.ceil(pdtrik(none + (1 - none) * rng.random(len(empty)), total)).astype(np.int64)
    drawn[empty] = rng.multinomial(np.maximum(sizes, 1), cells / total)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Band:
    """A curve at some places with two bands: `low` and `high` hold place by place, `all_low` and `all_high` at once.

    Places of a ROC curve are false positive rates, those of a precision-recall curve are recalls.
    """

    place: Floats
    value: Floats
    low: Floats
    high: Floats
    all_low: Floats
    all_high: Floats
    level: float
    method: str
    draws: int
    seed: int


def band(
    curve: Curve,
    t: Ranked,
    wanted: Wanted,
    places: ArrayLike | None = None,
    keep: Callable[[Band], NDArray[np.int64]] | None = None,
) -> Band:
    """True positive rates at false positive rates; or precision at recalls, false positives growing evenly between.

    Of a band that `keep` has looked at, only the places whose numbers it gives are left.
    """
    if not t.positives or not t.negatives:
        msg = "a curve needs rows of both classes"
        raise ValueError(msg)
    default = np.linspace(0, 1, PLACES)[1 if curve == "pr" else 0 :]
    at = default if places is None else np.asarray(places, dtype=np.float64)
    value, rows = _heights(curve, t, at)
    blocks = draws_of(t, wanted.seed).blocks(DRAWS)
    drawn = np.concatenate([_heights(curve, block, at)[0] for block in blocks])
    whole = _around(curve, at, value, rows, drawn, wanted)
    if keep is None:
        return whole
    some = keep(whole)
    return _around(curve, at[some], value[some], rows[some], drawn[:, some], wanted)


def _around(  # noqa: PLR0917  a curve, its draws, and what is asked for
    curve: Curve, at: Floats, value: Floats, rows: Floats, drawn: Floats, wanted: Wanted
) -> Band:
    """The band around the heights of a curve at some places, from those of its draws."""
    middle, on = _logit(value, rows), _logit(drawn, rows)
    off = on - on.mean(axis=0)
    # Where no draw varies, a share of so many rows still would.
    inside = _inside(value, rows)
    spread = np.maximum(np.sqrt((off**2).mean(axis=0)), 1 / np.sqrt(rows * inside * (1 - inside)))
    z = normal_quantile((1 + wanted.level) / 2)
    every = max(z, float(np.quantile((np.abs(off) / spread).max(axis=1), wanted.level)))
    low, high, all_low, all_high = (_chance(middle + k * spread) for k in (-z, z, -every, every))
    if curve == "roc":
        # A ROC curve never falls, so what bounds it at one place from below does so at all later ones, and the reverse.
        all_low, all_high = np.maximum.accumulate(all_low), np.minimum.accumulate(all_high[::-1])[::-1]
        low, high = np.maximum(low, all_low), np.minimum(high, all_high)
    return Band(
        place=at,
        value=value,
        low=np.minimum(low, value),
        high=np.maximum(high, value),
        all_low=np.minimum(all_low, value),
        all_high=np.maximum(all_high, value),
        level=wanted.level,
        method="logit draws on scores",
        draws=len(drawn),
        seed=wanted.seed,
    )


def _heights(curve: Curve, t: Ranked, at: Floats) -> tuple[Floats, Floats]:
    """The curve of each table at some places, and how many rows each height is a share of."""
    x, y = t.corners
    positives, negatives = (np.asarray(n, dtype=np.float64)[..., np.newaxis] for n in (t.positives, t.negatives))
    if curve == "roc":
        # Of several heights at one place, as where the curve rises straight up, the highest is meant.
        rates = y / positives
        heights = _between(x / negatives, rates, rates, at, last=True)
        return heights, np.broadcast_to(positives, heights.shape)
    # A recall is first reached with the fewest false positives; from there on they grow evenly to the next one.
    rises = np.diff(y, axis=-1, prepend=-1) > 0
    first = np.maximum.accumulate(np.where(rises, np.arange(y.shape[-1]), 0), axis=-1)
    true_positives = at * positives
    alarms = _between(y / positives, np.take_along_axis(x, first, axis=-1), x, at, last=False)
    called = true_positives + alarms
    return np.divide(true_positives, called, out=np.ones(called.shape), where=called > 0), np.maximum(called, 1.0)


def _between(across: Floats, start: Floats, end: Floats, at: Floats, *, last: bool) -> Floats:
    """Heights on straight lines from one corner to the next, at places of an axis that never falls, table by table."""
    size = across.shape[-1]
    rows = across.reshape(-1, size)
    # Tables are laid end to end on one axis, so that one search finds the places in all of them.
    shift = 2.0 * np.arange(len(rows))[:, np.newaxis]
    found = np.searchsorted((rows + shift).ravel(), (at + shift).ravel(), side="right" if last else "left")
    upper = np.clip(found.reshape(len(rows), len(at)) - (shift / 2).astype(np.int64) * size, 0, size - 1)
    lower = np.maximum(upper - 1, 0)
    left, right = (np.take_along_axis(rows, each, axis=1) for each in (lower, upper))
    low, high = (
        np.take_along_axis(heights.reshape(-1, size), each, axis=1) for heights, each in ((start, lower), (end, upper))
    )
    step = right - left
    part = np.clip(np.divide(at - left, step, out=np.ones(step.shape), where=step > 0), 0.0, 1.0)
    return (low + part * (high - low)).reshape(*across.shape[:-1], len(at))


def _inside(value: Floats, rows: Floats) -> Floats:
    return np.clip(value, 1 / (2 * rows), 1 - 1 / (2 * rows))


def _logit(value: Floats, rows: Floats) -> Floats:
    inside = _inside(value, rows)
    return np.log(inside / (1 - inside))


def _chance(logit: Floats) -> Floats:
    return 1 / (1 + np.exp(-logit))
