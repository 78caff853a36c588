# SPDX-License-Identifier: Apache-2.0
"""Scores of several models on the same rows of a binary task, in memory that does not grow with the rows.

Of every model: positives and negatives in fine bins that keep the order of scores. Of every two models: positives and
negatives in the cells of a coarse table, whose bins are runs of fine ones that hold about as many rows each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError, RecordError
from assay.core.text import listed
from assay.tally.base import VERSION, digest, places
from assay.tally.binmaps import CHUNK, BinMap, Fold
from assay.tally.binned import bin_map
from assay.tally.packing import (
    packed_flags,
    packed_reals,
    packed_whole,
    unpacked_flags,
    unpacked_reals,
    unpacked_whole,
)
from assay.tally.pairedscores import PairedScores, paired_columns
from assay.tally.ranked import whole
from assay.tally.scorebins import ScoreBins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]
    Part: TypeAlias = tuple[NDArray[np.int8], tuple[Floats, ...]]
    """Rows: 1 for a positive one, 0 for a negative one, -1 for neither; and the scores of every model."""

_Columns: TypeAlias = Mapping[str, object]
"""Packed columns of a Record, and how long they are."""
KIND: Final = "paired-bins"
COARSE: Final = 1 << 10
"""Bins of a model in a table of two: a table has 2^20 cells at most, 16 MB while rows are counted."""
TABLES: Final = 1 << 24
"""Cells of all tables together, 256 MB while rows are counted; from seven models on, tables are coarser."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Joint:
    """Positives and negatives in the occupied cells of two models, cells ascending, those of one bin of A together."""

    cell: Whole
    pos: Whole
    neg: Whole

    def __add__(self, other: Joint) -> Joint:
        """Both together."""
        cell, at = np.unique(np.concatenate([self.cell, other.cell]), return_inverse=True)
        pos, neg = (np.zeros(len(cell), dtype=np.int64) for _ in range(2))
        np.add.at(pos, at, np.concatenate([self.pos, other.pos]))
        np.add.at(neg, at, np.concatenate([self.neg, other.neg]))
        return Joint(cell=cell, pos=pos, neg=neg)

    def turned(self, of_a: int, of_b: int) -> Joint:
        """The same with the two models in the other order."""
        cell = self.cell % of_b * of_a + self.cell // of_b
        order = np.argsort(cell)
        return Joint(cell=cell[order], pos=self.pos[order], neg=self.neg[order])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairedBins:
    """Fine bins of each model, and a coarse table of each two, in the order of `combinations`."""

    models: tuple[str, ...]
    margins: tuple[ScoreBins, ...]
    starts: tuple[Whole, ...]
    """By model: the fine bin that each coarse bin begins with; the first one is 0."""
    joint: tuple[Joint, ...]
    shared: dict[str, object] = field(default_factory=dict, init=False, repr=False)
    """What was computed from the counts once and is asked for again."""

    @classmethod
    def of(
        cls,
        positive: Sequence[bool] | NDArray[np.bool_],
        scores: Mapping[str, object],
        like: PairedBins | None = None,
    ) -> PairedBins:
        """From which rows are positive and one column of scores a model; two passes, over the bins of `like` if given.

        >>> t = PairedBins.of([True, False, True], {"A": [0.9, 0.2, 0.6], "B": [0.1, 0.3, 0.5]})
        >>> t.m, t.n, [len(one.cell) for one in t.joint]
        (2, 1, [3])
        """
        side, columns = paired_columns(positive, scores)
        maps = [map_of(one) for one in columns.values()] if like is None else [one.map for one in like.margins]
        margins = tuple(ScoreBins.of(one, side, by) for one, by in zip(columns.values(), maps, strict=True))
        starts = coarse_starts(margins) if like is None else like.starts
        part = (side.view(np.int8), tuple(columns.values()))
        return cls(models=tuple(columns), margins=margins, starts=starts, joint=joint_of([part], maps, starts))

    @property
    def m(self) -> int:
        """How many rows are positive."""
        return int(self.margins[0].pos.sum())

    @property
    def n(self) -> int:
        """How many rows are negative."""
        return int(self.margins[0].neg.sum())

    def coarse(self, model: int) -> Whole:
        """The coarse bin of each occupied fine bin of a model."""
        return np.searchsorted(self.starts[model], self.margins[model].place, side="right") - 1

    def table(self, a: int, b: int) -> Joint:
        """The table of two models, by their places."""
        pairs = list(combinations(range(len(self.models)), 2))
        if a < b:
            return self.joint[pairs.index((a, b))]
        return self.joint[pairs.index((b, a))].turned(len(self.starts[b]), len(self.starts[a]))

    def only(self, *models: str) -> PairedBins:
        """The same rows with some of the models."""
        at = places(models, self.models)
        return PairedBins(
            models=models,
            margins=tuple(self.margins[i] for i in at),
            starts=tuple(self.starts[i] for i in at),
            joint=tuple(self.table(a, b) for a, b in combinations(at, 2)),
        )

    def swapped(self) -> PairedBins:
        """The same with the other class as the positive one, scores as they are."""
        return PairedBins(
            models=self.models,
            margins=tuple(replace(one, pos=one.neg, neg=one.pos) for one in self.margins),
            starts=self.starts,
            joint=tuple(replace(one, pos=one.neg, neg=one.pos) for one in self.joint),
        )

    def __add__(self, other: PairedBins) -> PairedBins:
        """Both tallies together; only with the same models over the same bins."""
        if self.models != other.models:
            raise PlanError(
                "tally-mismatch",
                "the two tallies are of different models",
                found=f"{listed(self.models)} and {listed(other.models)}",
                fix="count both with the same models in the same order",
            )
        if not all(map(np.array_equal, self.starts, other.starts)):
            raise PlanError(
                "tally-mismatch",
                "the tables of the two tallies have different coarse bins",
                fix="count both with the same bins: PairedBins.of(..., like=first)",
            )
        return PairedBins(
            models=self.models,
            margins=tuple(a + b for a, b in zip(self.margins, other.margins, strict=True)),
            starts=self.starts,
            joint=tuple(a + b for a, b in zip(self.joint, other.joint, strict=True)),
        )

    def __eq__(self, other: object) -> bool:
        """Same models, same counts in the same bins."""
        return isinstance(other, PairedBins) and self.digest() == other.digest()

    def __hash__(self) -> int:
        """By digest."""
        return hash(self.digest())

    def digest(self) -> str:
        """SHA-256 of the counts; which score a bin holds alone is knowledge about them, as in `ScoreBins`."""
        content = self.to_json()
        margins = cast("list[dict[str, object]]", content["margins"])
        counts = [{name: part for name, part in one.items() if name not in ("alone", "scores")} for one in margins]
        return digest({**content, "margins": counts})

    def to_json(self) -> dict[str, object]:
        """As in a Record: columns packed, and of the tables only occupied cells."""
        return {
            "kind": KIND,
            "version": VERSION,
            "models": list(self.models),
            "margins": [_margin_to_json(one) for one in self.margins],
            "starts": [{"bins": len(one), "place": _packed_rising(one)} for one in self.starts],
            "joint": [
                {
                    "cells": len(one.cell),
                    "cell": _packed_rising(one.cell),
                    "pos": packed_whole(one.pos),
                    "neg": packed_whole(one.neg),
                }
                for one in self.joint
            ],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> PairedBins:
        """The inverse of `to_json`; tables that do not add up to the bins of their models are refused."""
        if content.get("kind") != KIND or content.get("version") != VERSION:
            raise RecordError(
                "record-unreadable",
                f"this is not a tally of paired score bins of version {VERSION}",
                found=f"kind {content.get('kind')!r}, version {content.get('version')!r}",
                fix="write it again with this version of assay",
            )
        starts, tables = (cast("list[_Columns]", content[part]) for part in ("starts", "joint"))
        found = cls(
            models=tuple(cast("list[str]", content["models"])),
            margins=tuple(_margin_from_json(one) for one in cast("list[_Columns]", content["margins"])),
            starts=tuple(_unpacked_rising(_text(one, "place"), _size(one, "bins")) for one in starts),
            joint=tuple(
                Joint(
                    cell=_unpacked_rising(_text(one, "cell"), _size(one, "cells")),
                    pos=unpacked_whole(_text(one, "pos"), _size(one, "cells")),
                    neg=unpacked_whole(_text(one, "neg"), _size(one, "cells")),
                )
                for one in tables
            ),
        )
        found.demand_whole()
        return found

    def demand_whole(self) -> None:
        """Every table holds exactly the rows of the bins of its two models."""
        for (a, b), one in zip(combinations(range(len(self.models)), 2), self.joint, strict=True):
            size = len(self.starts[b])
            for model, at in ((a, one.cell // size), (b, one.cell % size)):
                fine, bins = self.margins[model], self.coarse(model)
                for cells, rows in ((one.pos, fine.pos), (one.neg, fine.neg)):
                    inside, outside = np.zeros((2, len(self.starts[model])), dtype=np.int64)
                    np.add.at(inside, at, cells)
                    np.add.at(outside, bins, rows.astype(np.int64))
                    if not np.array_equal(inside, outside):
                        raise RecordError(
                            "record-unreadable",
                            f"the table of {self.models[a]} and {self.models[b]} does not hold the rows of their bins",
                            fix="restore the file from its source",
                        )


def scores_from_json(content: Mapping[str, object]) -> PairedScores | PairedBins:
    """Scores of several models as a Record holds them: row by row, or in bins."""
    return PairedBins.from_json(content) if content.get("kind") == KIND else PairedScores.from_json(content)


def map_of(scores: Floats) -> BinMap:
    """The bins for a column: those of probabilities where all scores lie between 0 and 1; only fineness turns on it."""
    return bin_map(probability=not len(scores) or bool(scores.min() >= 0 and scores.max() <= 1))


def coarse_starts(margins: Sequence[ScoreBins]) -> tuple[Whole, ...]:
    """By model: which fine bins begin a coarse one, as finely as the tables of all models may be."""
    most, pairs = COARSE, len(margins) * (len(margins) - 1) // 2
    while pairs * most * most > TABLES:
        most //= 2
    return tuple(_starts(one, most) for one in margins)


def _starts(bins: ScoreBins, most: int) -> Whole:
    """Each fine bin, if they are few; else runs with about as many rows of either class.

    Shares of the classes count alike, however rare one is. A bin that holds twice its due gets a coarse one of its own.
    """
    if len(bins.place) <= most:
        return np.unique(np.concatenate([[0], bins.place[1:]])).astype(np.int64)
    pos, neg = (one / max(one.sum(), 1) for one in (bins.pos.astype(np.float64), bins.neg.astype(np.float64)))
    share = (pos + neg) / max(float((pos + neg).sum()), 1.0)
    middle = np.cumsum(share) - share / 2
    at = np.minimum((middle * most).astype(np.int64), most - 1)
    first = np.flatnonzero(np.diff(at, prepend=-1))
    return np.concatenate([[0], bins.place[first[1:]]]).astype(np.int64)


def joint_of(parts: Iterable[Part], maps: Sequence[BinMap], starts: Sequence[Whole]) -> tuple[Joint, ...]:
    """The tables of every two models, from rows that come in parts; scores must fit their maps."""
    count = _Tables(maps, starts)
    for side, columns in parts:
        for start in range(0, len(side), CHUNK):
            count.add(side[start : start + CHUNK], [one[start : start + CHUNK] for one in columns])
    return count.counted()


class _Tables:
    """Dense tables of every two models while rows come in."""

    def __init__(self, maps: Sequence[BinMap], starts: Sequence[Whole]) -> None:
        self._maps, self._starts = maps, starts
        self._rows = 0
        self._looked: list[tuple[Fold, NDArray[np.int32]]] | None = None
        self._sizes = [len(one) for one in starts]
        self._pairs = list(combinations(range(len(maps)), 2))
        self._counts = [np.zeros(2 * self._sizes[a] * self._sizes[b], dtype=np.int64) for a, b in self._pairs]

    def add(self, side: NDArray[np.int8], columns: Sequence[Floats]) -> None:
        """Count a chunk; a row of neither class counts nothing."""
        at = self._coarse(columns)
        if len(side) and side.min() < 0:
            kept = np.flatnonzero(side >= 0)
            side, at = side.take(kept), [one.take(kept) for one in at]
        for (a, b), counts in zip(self._pairs, self._counts, strict=True):
            code = at[a] * np.int32(self._sizes[b])
            code += at[b]
            code <<= 1
            code += side
            np.add.at(counts, code, 1)

    def _coarse(self, columns: Sequence[Floats]) -> list[NDArray[np.int32]]:
        """The coarse bin of each row in every model: few rows by searching, many by one look-up a row."""
        self._rows += len(columns[0])
        if self._looked is None and self._rows < CHUNK:
            rows = zip(self._maps, self._starts, columns, strict=True)
            return [_place(starts, one.place(scores)) for one, starts, scores in rows]
        if self._looked is None:
            both = zip(self._maps, self._starts, strict=True)
            self._looked = [(Fold(one), _place(starts, one.unfolded(np.arange(one.cells)))) for one, starts in both]
        return [table.take(fold.cells(one)) for (fold, table), one in zip(self._looked, columns, strict=True)]

    def counted(self) -> tuple[Joint, ...]:
        """The occupied cells."""
        return tuple(map(_occupied, self._counts))


def _place(starts: Whole, fine: Whole) -> NDArray[np.int32]:
    return (np.searchsorted(starts, fine, side="right") - 1).astype(np.int32)


def _occupied(counts: Whole) -> Joint:
    neg, pos = counts[::2], counts[1::2]
    cell = np.flatnonzero(pos | neg)
    return Joint(cell=cell, pos=pos[cell], neg=neg[cell])


def _packed_rising(numbers: Whole) -> str:
    return packed_whole(np.diff(numbers, prepend=0))


def _unpacked_rising(text: str, size: int) -> Whole:
    return np.cumsum(unpacked_whole(text, size), dtype=np.int64)


def _margin_to_json(bins: ScoreBins) -> dict[str, object]:
    alone = ~np.isnan(bins.only)
    return {
        "map": bins.map.kind,
        "bins": len(bins.place),
        "place": _packed_rising(bins.place),
        "pos": packed_whole(bins.pos.astype(np.int64)),
        "neg": packed_whole(bins.neg.astype(np.int64)),
        "alone": packed_flags(alone),
        "scores": packed_reals(bins.only[alone]),
    }


def _text(content: _Columns, name: str) -> str:
    return cast("str", content[name])


def _size(content: _Columns, name: str) -> int:
    return cast("int", content[name])


def _margin_from_json(content: _Columns) -> ScoreBins:
    size = _size(content, "bins")
    alone, only = unpacked_flags(_text(content, "alone"), size), np.full(size, np.nan)
    only[alone] = unpacked_reals(_text(content, "scores"), int(alone.sum()))
    pos, neg = (unpacked_whole(_text(content, one), size) for one in ("pos", "neg"))
    return ScoreBins(
        map=bin_map(probability=content["map"] == "probability"),
        place=_unpacked_rising(_text(content, "place"), size),
        pos=whole(pos),
        neg=whole(neg),
        only=only,
        rows=int(pos.sum() + neg.sum()),
    )
