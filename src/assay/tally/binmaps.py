# SPDX-License-Identifier: Apache-2.0
"""Which bin a score falls into: maps that keep the order of scores and are the same on every machine.

A map folds the line of scores at its middle: how far a score lies from its end, and on which side, are found by a few
operations on the bits of a double, and both sides are cut alike.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

import numpy as np

from assay.core.errors import OutOfRange

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Places: TypeAlias = NDArray[np.int64]

Kind: TypeAlias = Literal["probability", "real", "quantile"]

QUANTILES: Final = 1 << 16
CHUNK: Final = 1 << 16
"""Rows whose bins are found at a time, so that the work stays in a processor's cache."""

# A probability is told apart by itself below 1/2 and by its distance from 1 above, which a double holds exactly.
# Both are cut evenly, and once more by their leading bits: 2^-17 of the whole range, 2^-12 of the distance to the end.
EVEN: Final = 1 << 17
OCTAVES, FINE = 64, 12
LOWEST: Final = -1 - OCTAVES
HALF: Final = (EVEN >> 1) + (OCTAVES << FINE) + 1
# Any other score is told apart by sign and leading bits from 2^-32 to 2^32; what lies nearer to zero shares a bin.
REAL_OCTAVES, REAL_FINE = 64, 14
REAL_LOWEST: Final = -REAL_OCTAVES // 2
REAL_HALF: Final = (REAL_OCTAVES << REAL_FINE) + 1
BIAS: Final = 1023
_UPPER: Final = int(sys.byteorder == "little")
"""Which half of a double is the upper one."""


@dataclass(frozen=True, slots=True, eq=False)
class BinMap:
    """Which bin a score falls into; a higher score never falls into a lower bin."""

    kind: Kind
    edges: Floats = field(default_factory=lambda: np.zeros(0))
    halvings: int = 0
    """How often two neighbours among the bins of a fixed map were made one; below zero, how often each was halved."""

    @property
    def size(self) -> int:
        """How many bins there are."""
        if self.halvings < 0:
            return self._fine_size << -self.halvings
        return ((self._fine_size - 1) >> self.halvings) + 1

    @property
    def _fine_size(self) -> int:
        return {"probability": 2 * HALF, "real": 2 * REAL_HALF, "quantile": len(self.edges) + 1}[self.kind]

    @property
    def finest(self) -> BinMap:
        """The same map before any bins were made one."""
        return BinMap(self.kind, self.edges)

    def coarser(self, most: int) -> BinMap:
        """The same map with neighbours made one as often as it takes to have at most so many bins."""
        halvings = self.halvings
        while ((self._fine_size - 1) >> halvings) + 1 > most:
            halvings += 1
        return BinMap(self.kind, self.edges, halvings)

    def place(self, scores: Floats) -> Places:
        """The bin of each score."""
        if self.kind == "quantile":
            return np.searchsorted(self.edges, scores, side="right") >> self.halvings
        fold, place = Fold(self), np.empty(len(scores), dtype=np.int64)
        for start in range(0, len(scores), CHUNK):
            place[start : start + CHUNK] = fold.cells(scores[start : start + CHUNK])
        if self.halvings < 0:
            return self.halved(scores, self.unfolded(place))
        return self.unfolded(place) >> self.halvings

    def halved(self, scores: Floats, place: Places) -> Places:
        """The finer bin of probabilities whose bins are known: each is cut evenly, as all of the range is."""
        distance = np.minimum(scores, 1.0 - scores)
        parts = 1 << -self.halvings
        step = (distance * float(EVEN * parts)).astype(np.int64) & (parts - 1)
        return (place << -self.halvings) + np.where(scores >= 0.5, parts - 1 - step, step)  # noqa: PLR2004  the middle

    @property
    def cells(self) -> int:
        """How many cells the fold of a fixed map has; 1/2 is one step further from 1 than any chance is from 0."""
        return self._fine_size + 2 if self.kind == "probability" else self._fine_size

    def unfolded(self, cell: Places) -> Places:
        """The bin of each cell of the fold, before any are made one."""
        step, back = cell >> 1, (cell & 1).astype(np.bool_)
        upwards = step if self.kind == "probability" else step + REAL_HALF
        return np.where(back, (self._fine_size if self.kind == "probability" else REAL_HALF) - 1 - step, upwards)

    def floor(self, place: Places) -> Floats:
        """The lowest score of each bin: where a threshold that keeps the bin would stand."""
        if self.kind == "quantile":
            return cast("Floats", np.concatenate([[-np.inf], self.edges])[place << self.halvings])
        if self.halvings < 0:
            return _finer_floors(place, -self.halvings)
        return _lowest(self.kind, place << self.halvings)

    def __eq__(self, other: object) -> bool:
        """The same kind with the same edges, cut as finely."""
        if not isinstance(other, BinMap) or (self.kind, self.halvings) != (other.kind, other.halvings):
            return False
        return np.array_equal(self.edges, other.edges)

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def quantile(cls, sample: ArrayLike, bins: int = QUANTILES) -> BinMap:
        """Edges at the quantiles of a sample; a score that fills several of them gets a bin of its own."""
        ordered = np.sort(np.asarray(sample, dtype=np.float64))
        at = np.arange(1, bins) * len(ordered) // bins
        edges = np.unique(ordered[at]) if len(ordered) else ordered
        heavy = ordered[at[:-1]][ordered[at[1:]] == ordered[at[:-1]]] if len(ordered) else ordered
        past = np.nextafter(heavy[heavy < np.finfo(np.float64).max], np.inf)
        return cls("quantile", np.unique(np.concatenate([edges, past])))


PROBABILITY: Final = BinMap("probability")
REAL: Final = BinMap("real")


class Fold:
    """The work on a chunk of scores of a fixed map, in arrays that are kept from one chunk to the next."""

    def __init__(self, map: BinMap) -> None:  # noqa: A002  it is a map
        self._probability = map.kind == "probability"
        self._map = map
        self._scores, self._size = np.empty(CHUNK), np.empty(CHUNK)
        self._step, self._more = (np.empty(CHUNK, dtype=np.int32) for _ in range(2))
        self._back = np.empty(CHUNK, dtype=np.bool_)

    def cells(self, scores: Floats) -> NDArray[np.int32]:
        """Twice the step of each score away from the end of its side, plus 1 on the side that is counted downwards.

        The next call writes over it.
        """
        cell, back = self._steps(scores)
        cell <<= 1
        return self._plus(cell, back)

    def codes(self, scores: Floats, positive: NDArray[np.bool_]) -> Places:
        """Twice the cell of each score, plus 1 where its row is positive; the next call writes over it."""
        code, back = self._steps(scores)
        code <<= 2
        # Both bits are put together while they are a byte each. Bytes are added, for numpy shifts them one by one.
        bits = back.view(np.uint8)
        bits += bits
        bits += positive.view(np.uint8)
        wide = self._size.view(np.int64)[: len(scores)]  # free again, and in the processor's cache
        np.copyto(wide, self._plus(code, bits))
        return wide

    def _plus(self, whole: NDArray[np.int32], bits: NDArray[np.bool_] | NDArray[np.uint8]) -> NDArray[np.int32]:
        more = self._more[: len(whole)]
        np.copyto(more, bits)
        whole += more
        return whole

    def _steps(self, scores: Floats) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """How many steps each score is away from the end of its side, and which are on the side counted downwards."""
        rows = slice(0, len(scores))
        size, step, back = self._size[rows], self._step[rows], self._back[rows]
        if scores.dtype != np.float64:
            np.copyto(self._scores[rows], scores, casting="unsafe")
            scores = self._scores[rows]
        if self._probability:
            self._near(scores, size, step, back)
        else:
            self._far(scores, size, step, back)
        return step, back

    def _near(self, scores: Floats, size: Floats, step: NDArray[np.int32], back: NDArray[np.bool_]) -> None:
        """Distance from 0 below 1/2 and from 1 above, which a double holds exactly, in even and in leading steps."""
        np.subtract(1.0, scores, out=size)
        np.minimum(scores, size, out=size)
        least = size.min(initial=1.0)
        if not least >= 0:  # so it is where any is NaN
            raise unfit(self._map, [scores])
        np.greater_equal(scores, 0.5, out=back)
        _leading(size, FINE, step)
        first = _before(FINE, LOWEST)
        if least < 2.0**LOWEST:
            np.maximum(step, first, out=step)
        step -= first
        size *= float(EVEN)
        more = self._more[: len(size)]
        np.copyto(more, size, casting="unsafe")
        step += more

    def _far(self, scores: Floats, size: Floats, step: NDArray[np.int32], back: NDArray[np.bool_]) -> None:
        """Size without sign, in leading steps between the least and the largest that are told apart."""
        np.absolute(scores, out=size)
        least, most = size.min(initial=1.0), size.max(initial=1.0)
        if not most < np.inf:
            raise unfit(self._map, [scores])
        np.less(scores, 0, out=back)
        _leading(size, REAL_FINE, step)
        first = _before(REAL_FINE, REAL_LOWEST)
        if least < 2.0**REAL_LOWEST:
            np.maximum(step, first, out=step)
        if most >= 2.0 ** (REAL_LOWEST + REAL_OCTAVES):
            np.minimum(step, _before(REAL_FINE, REAL_LOWEST + REAL_OCTAVES), out=step)
        step -= first


def _leading(size: Floats, fine: int, into: NDArray[np.int32]) -> None:
    """The power of two of each size and so many bits after it, of the half of a double that holds them."""
    np.copyto(into, size.view(np.int32)[_UPPER::2])
    into >>= 20 - fine


def _before(fine: int, lowest: int) -> int:
    """Leading bits of the double just under 2**lowest: the step of all that are nearer to zero, which is 0."""
    return ((BIAS + lowest) << fine) - 1


def unfit(map: BinMap, parts: Iterable[Floats]) -> OutOfRange:  # noqa: A002
    """What is wrong with scores that have no bin, over all of them."""
    lost, low, high = 0, np.inf, -np.inf
    for part in parts:
        found = part.astype(np.float64, copy=False)
        there = np.isfinite(found)
        lost += len(found) - int(there.sum())
        low = min(low, found.min(initial=np.inf, where=there))
        high = max(high, found.max(initial=-np.inf, where=there))
    if lost or map.kind != "probability":
        return OutOfRange("score-not-finite", f"{lost:,} scores are NaN or infinite", fix="correct the scores")
    return OutOfRange(
        "score-out-of-range",
        f"a score of {low if low < 0 else high:g} is no probability",
        known="0 to 1",
        fix="give probabilities, or state that the scores are no probabilities",
    )


def _lowest(kind: Kind, place: Places) -> Floats:
    """The lowest double of each bin of a fixed map; of one that no score reaches, that of the next."""
    if kind == "probability":
        return _probability_floors()[place]
    step = np.where(place >= REAL_HALF, place - REAL_HALF, REAL_HALF - 1 - place)
    least = np.finfo(np.float64).max
    # Below zero a bin begins just short of where the next step away from zero would be.
    upper = np.where(step > 0, _real_start(np.maximum(step, 1)), 0.0)
    lower = np.where(step < REAL_HALF - 1, np.nextafter(_real_start(np.minimum(step + 1, REAL_HALF - 1)), 0), least)
    return np.where(place >= REAL_HALF, upper, -lower)


def _real_start(step: Places) -> Floats:
    """The size at which a step away from zero begins."""
    octave, part = (step - 1) >> REAL_FINE, (step - 1) & ((1 << REAL_FINE) - 1)
    return np.ldexp(1 + part / (1 << REAL_FINE), (octave + REAL_LOWEST).astype(np.int32))


@cache
def _probability_floors() -> Floats:
    """The lowest double of every bin of the map for probabilities: 5 MB, made once."""
    octave, part = np.divmod(np.arange(OCTAVES << FINE), 1 << FINE)
    leading = np.ldexp(1 + part / (1 << FINE), (octave + LOWEST).astype(np.int32))
    start = np.sort(np.concatenate([leading, np.arange(1, (EVEN >> 1) + 1) / EVEN]))
    # Above 1/2 a bin begins at the farthest distance from 1 that is still short of the next step; such distances are
    # multiples of 2^-53.
    short = (np.ceil(np.ldexp(start, 53)) - 1) * 2.0**-53
    return np.concatenate([[0.0], start, [np.nextafter(0.5, 1)], 1 - short[::-1]])


def _finer_floors(place: Places, halvings: int) -> Floats:
    """The same of bins that were cut evenly once more; of one that no score reaches, that of the next bin."""
    floors, parts, whole = _probability_floors(), 1 << halvings, place >> halvings
    low = floors[whole]
    after = np.where(whole + 1 < len(floors), floors[np.minimum(whole + 1, len(floors) - 1)], np.inf)
    upper = low >= 0.5  # noqa: PLR2004  the middle of the range
    even = np.floor(np.where(upper, 1.0 - low, low) * EVEN) * parts
    step = np.where(upper, parts - 1 - (place & (parts - 1)), place & (parts - 1))
    up = (even + step) / (EVEN * parts)
    down = np.nextafter(1.0 - (even + step + 1) / (EVEN * parts), 2.0)  # the farthest from 1 that is still short of it
    return cast("Floats", np.minimum(np.maximum(low, np.where(upper, down, up)), after))
