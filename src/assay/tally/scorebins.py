# SPDX-License-Identifier: Apache-2.0
"""Scores of any number of rows in bounded memory: bins that keep their order, from which curves come as brackets.

Ties inside a bin are the only thing lost, so what a measure can be at most and at least is known exactly.
A fixed map is the same everywhere, so two sites can merge without talking first; quantile edges suit one data set best.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError, RecordError
from assay.tally.base import VERSION, digest
from assay.tally.bincounting import Counted, count_bins, count_parts
from assay.tally.binmaps import BinMap, Kind
from assay.tally.binweights import BinWeights
from assay.tally.ranked import Ranked, whole

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Places: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreBins:
    """Positives and negatives in each occupied bin, bins ascending; `only` is the score of a bin that holds just one.

    Rows of such a bin are truly tied. NaN stands where a bin holds several scores, or may do so.
    """

    map: BinMap
    place: Places
    pos: Floats  # whole numbers, as all counts of a Ranked table; doubles where rows have weights
    neg: Floats
    only: Floats
    rows: int
    weight: BinWeights | None = None
    """Of weighted rows: the exact sums of weights of which `pos` and `neg` are doubles, and of squared weights."""

    @classmethod
    def weighing(
        cls,
        *,
        map: BinMap,  # noqa: A002  it is a map
        place: Places,
        weight: BinWeights,
        only: Floats,
        rows: int,
    ) -> ScoreBins:
        """Bins of weighted rows; those without weight are among `rows`, and in no bin."""
        pos, neg = weight.pos.doubles(), weight.neg.doubles()
        return cls(map=map, place=place, pos=pos, neg=neg, only=only, rows=rows, weight=weight)

    @classmethod
    def of(
        cls,
        scores: ArrayLike,
        is_positive: ArrayLike,
        map: BinMap,  # noqa: A002  it is a map
        threads: int | None = None,
    ) -> ScoreBins:
        """One pass over arrays of any length, in the memory of the bins; the same for any number of threads."""
        given, truth = np.asarray(scores), np.asarray(is_positive, dtype=bool)
        if given.shape != truth.shape:
            raise PlanError("rows-unmatched", "scores and truth differ in length", fix="give one score a row")
        finest = map.finest
        return cls._counted(count_bins(given, truth, finest, threads), finest).coarser(map)

    @classmethod
    def of_parts(
        cls,
        parts: Iterable[tuple[Floats, NDArray[np.int8]]],
        map: BinMap,  # noqa: A002
        threads: int | None = None,
    ) -> ScoreBins:
        """The same of rows in parts: their scores, and 1 for a positive row, 0 for a negative one, -1 for neither."""
        finest = map.finest
        return cls._counted(count_parts(parts, finest, threads), finest).coarser(map)

    @classmethod
    def _counted(cls, found: Counted, map: BinMap) -> ScoreBins:  # noqa: A002
        pos, neg = whole(found.pos), whole(found.neg)
        return cls(map=map, place=found.place, pos=pos, neg=neg, only=found.only, rows=int(pos.sum() + neg.sum()))

    def coarser(self, map: BinMap) -> ScoreBins:  # noqa: A002
        """The same rows in the bins of a map that has made neighbours one."""
        if map == self.map:
            return self
        place, first = np.unique(self.place >> (map.halvings - self.map.halvings), return_index=True)
        several = np.diff(first, append=len(self.place)) > 1
        only = np.where(several, np.nan, self.only[first])
        if self.weight is not None:
            return ScoreBins.weighing(map=map, place=place, weight=self.weight.runs(first), only=only, rows=self.rows)
        pos, neg = (whole(np.add.reduceat(one, first)) if len(first) else one for one in (self.pos, self.neg))
        return ScoreBins(map=map, place=place, pos=pos, neg=neg, only=only, rows=self.rows)

    def ranked(self) -> Ranked:
        """The table in which rows of one bin are tied; its scores are the lower ends of the bins."""
        floor = self.map.floor(self.place)
        return Ranked(score=np.where(np.isnan(self.only), floor, self.only), pos=self.pos, neg=self.neg)

    def weights_at(self, threshold: float, *, squared: bool = False) -> dict[str, Fraction] | None:
        """The exact weights, or squared weights, in the four cells at a threshold; None where rows have no weights."""
        if self.weight is None:
            return None
        held = self.weight
        pos, neg = (held.pos_squares, held.neg_squares) if squared else (held.pos, held.neg)
        called = self.ranked().score >= threshold
        cells = {"tp": pos[called], "fp": neg[called], "fn": pos[~called], "tn": neg[~called]}
        return {name: sums.total() for name, sums in cells.items()}

    def within(self, threshold: float) -> tuple[int, int] | tuple[Fraction, Fraction]:
        """Positives and negatives, or their weights, that may stand on either side of a threshold by their bin."""
        if self.map.kind == "probability" and not 0 <= threshold <= 1:
            return 0, 0
        at = int(self.map.place(np.array([threshold]))[0])
        here = (self.place == at) & np.isnan(self.only)
        if not here.any() or self.map.floor(self.place[here])[0] >= threshold:  # all of the bin is at or above it
            return 0, 0
        if self.weight is not None:
            return self.weight.pos[here].total(), self.weight.neg[here].total()
        return int(self.pos[here].sum()), int(self.neg[here].sum())

    def best(self) -> Ranked:
        """The table in which, inside every bin, all positives stand above all negatives: no order ranks better."""
        return self._split(positives_above=True)

    def worst(self) -> Ranked:
        """The table in which, inside every bin, all negatives stand above all positives."""
        return self._split(positives_above=False)

    def _split(self, *, positives_above: bool) -> Ranked:
        tied = ~np.isnan(self.only)
        pos, neg = (np.zeros(2 * len(self.place), dtype=self.pos.dtype) for _ in range(2))
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
        if (self.weight is None) != (other.weight is None):
            raise PlanError(
                "tally-mismatch",
                "one tally is weighted and the other is not",
                fix="give weights to both, or to neither",
            )
        place, at = np.unique(np.concatenate([self.place, other.place]), return_inverse=True)
        low, high = np.full(len(place), np.inf), np.full(len(place), -np.inf)
        both = np.concatenate([self.only, other.only])
        with np.errstate(invalid="ignore"):  # what is not known of one is not known of both
            np.minimum.at(low, at, both)
            np.maximum.at(high, at, both)
        only, rows = np.where(low == high, low, np.nan), self.rows + other.rows
        if self.weight is not None and other.weight is not None:
            weight = self.weight.beside(other.weight).gathered(at, len(place))
            return ScoreBins.weighing(map=self.map, place=place, weight=weight, only=only, rows=rows)
        pos, neg = (whole(np.zeros(len(place))) for _ in range(2))
        np.add.at(pos, at, np.concatenate([self.pos, other.pos]))
        np.add.at(neg, at, np.concatenate([self.neg, other.neg]))
        return ScoreBins(map=self.map, place=place, pos=pos, neg=neg, only=only, rows=rows)

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
            **({"halvings": self.map.halvings} if self.map.halvings else {}),
            "rows": self.rows,
            "bins": self.place.tolist(),
            **({"pos": self.pos.tolist(), "neg": self.neg.tolist()} if self.weight is None else self.weight.to_json()),
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
        edges, only = (np.array(content[part], dtype=np.float64) for part in ("edges", "only"))
        by = BinMap(cast("Kind", content["map"]), edges, cast("int", content.get("halvings", 0)))
        place, rows = np.array(content["bins"], dtype=np.int64), cast("int", content["rows"])
        if "pos_squares" in content:
            weight = BinWeights.from_json(content, len(place))
            return cls.weighing(map=by, place=place, weight=weight, only=only, rows=rows)
        pos, neg = (whole(np.array(content[part], dtype=np.int64)) for part in ("pos", "neg"))
        return cls(map=by, place=place, pos=pos, neg=neg, only=only, rows=rows)
