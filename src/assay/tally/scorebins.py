# SPDX-License-Identifier: Apache-2.0
"""Scores of any number of rows in bounded memory: bins that keep their order, from which curves come as brackets.

Ties inside a bin are the only thing lost, so what a measure can be at most and at least is known exactly.
A fixed map is the same everywhere, so two sites can merge without talking first; quantile edges suit one data set best.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

import numpy as np

from assay.core.errors import OutOfRange, PlanError, RecordError
from assay.tally.base import VERSION, digest
from assay.tally.ranked import Ranked, whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Places: TypeAlias = NDArray[np.int64]

Kind: TypeAlias = Literal["probability", "real", "quantile"]

QUANTILES: Final = 1 << 16
CHUNK: Final = 1 << 15
"""Rows whose bins are found at a time, so that the work stays in a processor's cache."""
BLOCK: Final = 1 << 21
"""Rows counted at a time."""

# A probability is told apart by itself below 1/2 and by its distance from 1 above, which a double holds exactly.
# Both are cut evenly, and once more by their leading bits: 2^-17 of the whole range, 2^-12 of the distance to the end.
EVEN: Final = 1 << 17
OCTAVES, FINE = 64, 12
HALF: Final = (EVEN >> 1) + (OCTAVES << FINE) + 1
# Any other score is told apart by sign and leading bits from 2^-32 to 2^32; what lies nearer to zero shares a bin.
REAL_OCTAVES, REAL_FINE = 64, 14
REAL_HALF: Final = (REAL_OCTAVES << REAL_FINE) + 1
BIAS: Final = 1023


@dataclass(frozen=True, slots=True, eq=False)
class BinMap:
    """Which bin a score falls into; a higher score never falls into a lower bin."""

    kind: Kind
    edges: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def size(self) -> int:
        """How many bins there are."""
        return {"probability": 2 * HALF, "real": 2 * REAL_HALF, "quantile": len(self.edges) + 1}[self.kind]

    def place(self, scores: Floats) -> Places:
        """The bin of each score."""
        if self.kind == "quantile":
            return np.searchsorted(self.edges, scores, side="right")
        return _probability(scores) if self.kind == "probability" else _real(scores)

    def floor(self, place: Places) -> Floats:
        """The lowest score of each bin: where a threshold that keeps the bin would stand."""
        if self.kind == "quantile":
            return np.concatenate([[-np.inf], self.edges])[place]
        return _lowest(self, place)

    def __eq__(self, other: object) -> bool:
        """The same kind with the same edges."""
        return isinstance(other, BinMap) and self.kind == other.kind and np.array_equal(self.edges, other.edges)

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreBins:
    """Positives and negatives in each occupied bin, bins ascending; `only` is the score of a bin that holds just one.

    Rows of such a bin are truly tied. NaN stands where a bin holds several scores, or may do so.
    """

    map: BinMap
    place: Places
    pos: Floats  # whole numbers, as all counts of a Ranked table
    neg: Floats
    only: Floats
    rows: int

    @classmethod
    def of(cls, scores: ArrayLike, is_positive: ArrayLike, map: BinMap) -> ScoreBins:  # noqa: A002  it is a map
        """One pass over arrays of any length, in the memory of the bins."""
        given, truth = np.asarray(scores), np.asarray(is_positive, dtype=bool)
        if given.shape != truth.shape:
            raise PlanError("rows-unmatched", "scores and truth differ in length", fix="give one score a row")
        count = _Sorted(map) if map.kind == "quantile" else _Placed(map)
        for start in range(0, len(given), BLOCK):
            count.add(given[start : start + BLOCK], truth[start : start + BLOCK])
        neg, pos = count.counts[::2], count.counts[1::2]
        kept = np.flatnonzero(pos + neg)
        only = np.where(count.single[kept], count.seen[kept], np.nan)
        return cls(map=map, place=kept, pos=whole(pos[kept]), neg=whole(neg[kept]), only=only, rows=len(given))

    def ranked(self) -> Ranked:
        """The table in which rows of one bin are tied; its scores are the lower ends of the bins."""
        floor = self.map.floor(self.place)
        return Ranked(score=np.where(np.isnan(self.only), floor, self.only), pos=self.pos, neg=self.neg)

    def best(self) -> Ranked:
        """The table in which, inside every bin, all positives stand above all negatives: no order ranks better."""
        return self._split(positives_above=True)

    def worst(self) -> Ranked:
        """The table in which, inside every bin, all negatives stand above all positives."""
        return self._split(positives_above=False)

    def _split(self, *, positives_above: bool) -> Ranked:
        tied = ~np.isnan(self.only)
        pos, neg = (whole(np.zeros(2 * len(self.place))) for _ in range(2))
        upper, lower = (pos, neg) if positives_above else (neg, pos)
        above, below = (self.pos, self.neg) if positives_above else (self.neg, self.pos)
        upper[1::2], lower[::2] = above, np.where(tied, 0, below)
        lower[1::2] = np.where(tied, below, 0)
        # Ranks are all that counts here, so the scores are plain numbers.
        return Ranked(score=np.arange(len(pos), dtype=np.float64), pos=pos, neg=neg)

    def __add__(self, other: ScoreBins) -> ScoreBins:
        """Both tallies together; only over the same bins."""
        if self.map != other.map:
            raise PlanError(
                "tally-mismatch",
                "the two tallies have different score bins",
                found=f"{self.map.kind} and {other.map.kind}",
                fix="count both with one map; the probability and real maps are the same everywhere",
            )
        place, at = np.unique(np.concatenate([self.place, other.place]), return_inverse=True)
        pos, neg = (whole(np.zeros(len(place))) for _ in range(2))
        np.add.at(pos, at, np.concatenate([self.pos, other.pos]))
        np.add.at(neg, at, np.concatenate([self.neg, other.neg]))
        low, high = np.full(len(place), np.inf), np.full(len(place), -np.inf)
        both = np.concatenate([self.only, other.only])
        with np.errstate(invalid="ignore"):  # what is not known of one is not known of both
            np.minimum.at(low, at, both)
            np.maximum.at(high, at, both)
        only = np.where(low == high, low, np.nan)
        return ScoreBins(map=self.map, place=place, pos=pos, neg=neg, only=only, rows=self.rows + other.rows)

    def __eq__(self, other: object) -> bool:
        """The same counts in the same bins."""
        return isinstance(other, ScoreBins) and self.digest() == other.digest()

    def __hash__(self) -> int:
        """By digest."""
        return hash(self.digest())

    def digest(self) -> str:
        """SHA-256 of the counts; `only` is knowledge about them, which grows and fades as tallies are merged."""
        return digest({name: part for name, part in self.to_json().items() if name != "only"})

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "kind": "score-bins",
            "version": VERSION,
            "map": self.map.kind,
            "edges": self.map.edges.tolist(),
            "rows": self.rows,
            "bins": self.place.tolist(),
            "pos": self.pos.tolist(),
            "neg": self.neg.tolist(),
            "only": [None if math.isnan(one) else one for one in self.only.tolist()],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> ScoreBins:
        """The inverse of `to_json`."""
        if content.get("kind") != "score-bins" or content.get("version") != VERSION:
            raise RecordError(
                "record-unreadable",
                f"this is not a tally of score bins of version {VERSION}",
                found=f"kind {content.get('kind')!r}, version {content.get('version')!r}",
                fix="write it again with this version of assay",
            )
        bins, pos, neg = (np.array(content[part], dtype=np.int64) for part in ("bins", "pos", "neg"))
        edges, only = (np.array(content[part], dtype=np.float64) for part in ("edges", "only"))
        return cls(
            map=BinMap(cast("Kind", content["map"]), edges),
            place=bins,
            pos=whole(pos),
            neg=whole(neg),
            only=only,
            rows=cast("int", content["rows"]),
        )


class _Counting(ABC):
    """Counts by bin and class while rows come in, and whether a bin has seen one score only."""

    def __init__(self, map: BinMap) -> None:  # noqa: A002
        self.map = map
        self.counts = np.zeros(2 * map.size, dtype=np.int64)
        self.seen = np.full(map.size, np.nan)
        self.single = np.ones(map.size, dtype=bool)

    @abstractmethod
    def add(self, scores: Floats, truth: NDArray[np.bool_]) -> None:
        """Count some rows."""


class _Placed(_Counting):
    """For a fixed map: the bin of each row is found by a few operations on its bits."""

    def __init__(self, map: BinMap) -> None:  # noqa: A002
        super().__init__(map)
        self._buffer = np.empty(BLOCK, dtype=np.int64)
        self._looking = True

    def add(self, scores: Floats, truth: NDArray[np.bool_]) -> None:
        """Count some rows."""
        for first in range(0, len(scores), CHUNK):
            part = slice(first, min(first + CHUNK, len(scores)))
            found = _finite(scores[part])
            place = self.map.place(found)
            if self._looking:
                self._look(found, place)
            place <<= 1
            np.add(place, truth[part], out=self._buffer[part])
        self.counts += np.bincount(self._buffer[: len(scores)], minlength=len(self.counts))
        if self._looking:
            rows = self.counts[::2] + self.counts[1::2]
            # Where most rows share their bin with other scores, no bin is worth the look.
            self._looking = 2 * int(rows[self.single].sum()) > int(rows.sum())
            if not self._looking:
                self.single[:] = False

    def _look(self, scores: Floats, place: Places) -> None:
        fresh = np.isnan(self.seen[place])
        if fresh.any():
            self.seen[place[fresh]] = scores[fresh]
        self.single[place[self.seen[place] != scores]] = False


class _Sorted(_Counting):
    """For given edges: a block is sorted and the edges are looked up in it, which beats looking up each row."""

    def add(self, scores: Floats, truth: NDArray[np.bool_]) -> None:
        """Count some rows."""
        for which in (0, 1):
            ordered = _finite(scores[truth if which else ~truth])
            ordered.sort()
            ends = np.concatenate([[0], np.searchsorted(ordered, self.map.edges), [len(ordered)]])
            counts = np.diff(ends)
            self.counts[which::2] += counts
            held = np.flatnonzero(counts)
            low, high = ordered[ends[held]], ordered[ends[held + 1] - 1]
            known = np.where(np.isnan(self.seen[held]), low, self.seen[held])
            self.single[held] &= (low == high) & (known == low)
            self.seen[held] = known


def _finite(scores: Floats) -> Floats:
    found = scores.astype(np.float64, copy=False)
    if not np.isfinite(found).all():
        lost = int((~np.isfinite(found)).sum())
        raise OutOfRange("score-not-finite", f"{lost:,} scores are NaN or infinite", fix="correct the scores")
    return found


def _leading(distance: Floats, fine: int, lowest: int) -> Places:
    """Exponent and leading bits of the significand as one whole number, from the power 2**lowest on; 0 below it."""
    bits = distance.view(np.int64) >> (52 - fine)
    bits -= (BIAS + lowest) << fine
    bits += 1
    np.maximum(bits, 0, out=bits)
    return bits


def _probability(scores: Floats) -> Places:
    low, high = (scores.min(), scores.max()) if len(scores) else (0.0, 1.0)
    if low < 0 or high > 1:
        raise OutOfRange(
            "score-out-of-range",
            f"a score of {low if low < 0 else high:g} is no probability",
            known="0 to 1",
            fix="give probabilities, or state that the scores are no probabilities",
        )
    upper = scores >= 0.5  # noqa: PLR2004  the middle of the range
    distance = np.minimum(scores, 1.0 - scores) + 0.0
    place = _leading(distance, FINE, -1 - OCTAVES)
    distance *= EVEN
    place += distance.astype(np.int64)
    # Above 1/2 the distance is that from 1, and falls as the score rises.
    return np.where(upper, 2 * HALF - 1 - place, place)


def _real(scores: Floats) -> Places:
    size = np.abs(scores)
    place = _leading(size, REAL_FINE, -REAL_OCTAVES // 2)
    np.minimum(place, REAL_HALF - 1, out=place)
    return np.where(scores < 0, REAL_HALF - 1 - place, REAL_HALF + place)


def _lowest(map: BinMap, place: Places) -> Floats:  # noqa: A002
    """The lowest double of each bin, by halving among the bits of doubles in order."""
    ends = (0.0, 1.0) if map.kind == "probability" else (-np.finfo(np.float64).max, np.finfo(np.float64).max)
    low = np.full(len(place), _ordinal(np.array(ends[:1]))[0])
    high = np.full(len(place), _ordinal(np.array(ends[1:]))[0])
    while (low < high).any():
        middle = (low & high) + ((low ^ high) >> 1)  # the mean, without a sum that could wrap around
        reached = map.place(_double(middle)) >= place
        low, high = np.where(reached, low, middle + 1), np.where(reached, middle, high)
    return _double(low)


def _ordinal(x: Floats) -> Places:
    """Doubles as whole numbers in the same order."""
    bits = (x + 0.0).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def _double(ordinal: Places) -> Floats:
    bits = np.where(ordinal < 0, np.int64(-(2**63)) - ordinal, ordinal)
    return np.ascontiguousarray(bits).view(np.float64)
