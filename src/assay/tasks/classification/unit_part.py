# SPDX-License-Identifier: Apache-2.0
"""Rows that belong together, such as those of one patient: what each unit adds to the tables of classes and scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import counted
from assay.tally.base import VERSION, demand_kind, packed_reals, packed_whole, unpacked_reals, unpacked_whole
from assay.tally.labels.one_vs_rest import Multiclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tally.labels.label_cells import CellTable
    from assay.tally.scores.ranked_table import Ranked
    from assay.tally.scores.score_tally import UnitScores
    from assay.tasks.classification.tally import Classified

    Floats = NDArray[np.float64]

KIND: Final = "class-units"
REALS: Final = "r"
"""Before numbers of a Record that are not whole."""
MOST: Final = 50_000_000
"""Numbers that the margins of all units may take."""
SHORT: Final = 1 << 16
"""Rows below which a margin fits into 16 bits."""
GUESSES: Final = 1 << 16
"""Equal parts of the range of scores, most of which hold one score or none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitPart:
    """For each unit the hits, true and predicted rows of every class; with scores of two classes, where they stand."""

    margins: Floats
    """Units by hits, actual and called, by classes: rows, or what they weigh."""
    places: Floats | None = None
    """Unit, place among the distinct scores, positives and negatives there; a row for each score of a unit, sorted."""

    @classmethod
    def build(
        cls, cells: CellTable, labels: tuple[Label, ...], scores: UnitScores | None, whole: Classified
    ) -> UnitPart:
        """From complete cells by (unit, truth, predicted), and from scores by unit where they can be followed."""
        seen = np.bincount(cells.labels[0].codes) > 0
        names, k = [cells.labels[0].names[code] for code in np.flatnonzero(seen).tolist()], len(labels)
        if len(names) * 3 * k > MOST:
            raise PlanError(
                "comparison-needs",
                f"{counted(len(names), 'unit')} of {k:,} classes are too many to hold",
                where="unit",
                fix="declare fewer classes",
            )
        unit = (np.cumsum(seen) - 1)[cells.labels[0].codes]
        place = {label: number for number, label in enumerate(labels)}
        truth, called = (column.placed(place) for column in cells.labels[1:])
        columns = ((truth, cells.weight * (truth == called)), (truth, cells.weight), (called, cells.weight))
        size = len(names) * k
        sums = [np.bincount(unit * k + column, weight, size).reshape(-1, k) for column, weight in columns]
        part = cls(margins=cast("Floats", np.stack(sums, axis=1)))
        ranked = None if scores is None else score_table(whole)
        if scores is None or ranked is None:
            return part.ordered()
        number = scores.labels[-1].placed({cast("Label", name): code for code, name in enumerate(names)})
        keys = number * len(ranked.score) + find_places(np.asarray(ranked.score), scores.value)
        if (scores.weight == 1).all():  # nothing but key and side is to be sorted
            sides = np.sort(keys * 2 + scores.positive)
            keys, weight, positive = sides >> 1, scores.weight, (sides & 1).astype(np.bool_)
        else:
            order = np.argsort(keys)
            keys, weight, positive = keys[order], scores.weight[order], scores.positive[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        much = [np.add.reduceat(weight * side, starts) for side in (positive, ~positive)] if len(keys) else [keys, keys]
        return replace(part, places=np.stack([*np.divmod(keys[starts], len(ranked.score)), *much]).T).ordered()

    def with_labels(self, labels: tuple[Label, ...], wanted: tuple[Label, ...]) -> UnitPart:
        """The same over more classes."""
        margins = np.zeros((self.units, 3, len(wanted)))
        margins[:, :, [wanted.index(label) for label in labels]] = self.margins
        return replace(self, margins=margins)

    def ordered(self) -> UnitPart:
        """Units in an order that does not depend on how they were read, so that no name is needed."""
        flat = self.margins.reshape(len(self.margins), -1)
        short = flat.astype(np.uint16 if flat.max(initial=0) < SHORT else np.float64)
        keys = [*(short if (short == flat).all() else flat).T[::-1]]  # NumPy sorts 16 bits ten times as fast
        if self.places is not None:  # units with equal margins are told apart by their scores
            unit, place, pos, neg = self.places.T
            marks = ((place + 1) * (pos + 1), (place + 1) ** 2 * (neg + 2))
            keys = [*(np.bincount(unit.astype(np.intp), mark, len(flat)) for mark in marks), *keys]
        order = np.lexsort(keys)
        if self.places is None:
            return replace(self, margins=self.margins[order])
        sizes = np.bincount(self.places[:, 0].astype(np.intp), minlength=len(order))
        shift, sizes = (np.cumsum(sizes) - sizes)[order], sizes[order]
        shift -= np.cumsum(sizes) - sizes  # from where a unit begins now to where it began before
        places = self.places.T.take(np.arange(len(self.places)) + np.repeat(shift, sizes), axis=1)
        places[0] = np.repeat(np.arange(len(order)), sizes)
        return replace(self, margins=self.margins[order], places=places.T)

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.margins)

    @property
    def sizes(self) -> Floats:
        """Rows of each unit, or what they weigh."""
        return cast("Floats", self.margins[:, 1].sum(axis=1))

    def without_each(self, labels: tuple[Label, ...]) -> Multiclass:
        """The margins of all rows without one unit, for each unit."""
        rest = self.margins.sum(axis=0) - self.margins
        return Multiclass(hits=rest[:, 0], actual=rest[:, 1], called=rest[:, 2], labels=labels)

    def scores_without(self, ranked: Ranked, first: int, last: int) -> Ranked:
        """The scores of all rows without one unit, for units from `first` up to `last`."""
        places = cast("Floats", self.places)
        start, stop = np.searchsorted(places[:, 0], [first, last])
        unit, place, positives, negatives = places[start:stop].T
        at = (unit - first).astype(np.intp), place.astype(np.intp)
        tables = []
        for counts, own in ((ranked.pos, positives), (ranked.neg, negatives)):
            rest = np.repeat(np.asarray(counts, dtype=np.float64)[np.newaxis], last - first, axis=0)
            rest[at] -= own  # a unit has each place once
            tables.append(cast("Any", rest))
        return ranked.drawn(*tables)

    def areas_without(self, ranked: Ranked) -> Floats:
        """AUROC of all rows without one unit, for each unit: its pairs with all rows go, its own had gone twice."""
        unit, place, pos, neg = cast("Floats", self.places).T
        unit, place = unit.astype(np.intp), place.astype(np.intp)
        positives, negatives = (np.asarray(counts, dtype=np.float64) for counts in (ranked.pos, ranked.neg))
        below = np.cumsum(negatives) - negatives / 2  # ties count half
        above = positives.sum() - np.cumsum(positives) + positives / 2
        earlier = np.cumsum(neg) - neg
        firsts = np.searchsorted(unit, np.arange(self.units)).clip(max=max(len(unit) - 1, 0))
        inside = earlier - earlier[firsts][unit] + neg / 2
        pairs, own, p, n = (
            np.bincount(unit, amounts, self.units)
            for amounts in (pos * below[place] + neg * above[place], pos * inside, pos, neg)
        )
        left = (positives.sum() - p) * (negatives.sum() - n)
        wins = (positives * below).sum() - pairs + own
        return cast("Floats", np.divide(wins, left, out=np.full(self.units, np.nan), where=left > 0))

    def to_json(self) -> dict[str, object]:
        """As in a Record, in few bytes: no unit has a name there."""
        places = None
        if self.places is not None:
            places = {"size": len(self.places), "columns": [_packed(column) for column in self.places.T]}
        return {
            "kind": KIND,
            "version": VERSION,
            "shape": list(self.margins.shape),
            "margins": _packed(self.margins.ravel()),
            "places": places,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> UnitPart:
        """The inverse of `to_json`."""
        demand_kind(content, KIND, "a tally of units")
        shape, places = content["shape"], content["places"]
        part = cls(margins=_unpacked(content["margins"], math.prod(shape)).reshape(shape))
        if places is None:
            return part
        return replace(part, places=np.array([_unpacked(each, places["size"]) for each in places["columns"]]).T)


def _packed(numbers: Floats) -> str:
    """Rows as whole numbers; weights as eight bytes each, behind a mark."""
    whole = numbers.astype(np.int64)
    return packed_whole(whole) if (whole == numbers).all() else f"{REALS}{packed_reals(numbers)}"


def _unpacked(text: str, size: int) -> Floats:
    if text.startswith(REALS):
        return unpacked_reals(text.removeprefix(REALS), size)
    return unpacked_whole(text, size).astype(np.float64)


def find_places(table: Floats, values: Floats) -> NDArray[np.intp]:
    """Where values stand in a sorted table that holds them all: by a first guess, and by search where it is shared.

    >>> find_places(np.array([0.1, 0.2, 0.2000001, 0.9]), np.array([0.9, 0.2, 0.1, 0.2000001])).tolist()
    [3, 1, 0, 2]
    """
    reach = float(table[-1]) - float(table[0]) if len(table) else 0.0
    if not 0 < reach < math.inf:
        return np.searchsorted(table, values)
    guess, own = (((part - table[0]) / reach * GUESSES).astype(np.intp) for part in (values, table))
    first = np.searchsorted(own, np.arange(GUESSES + 2))
    places, shared = first[guess], np.diff(first)[guess] > 1
    places[shared] = np.searchsorted(table, values[shared])
    return cast("NDArray[np.intp]", places)


def group_units(
    levels: dict[Label, Classified], cells: CellTable, scores: UnitScores | None, missing: Label
) -> dict[Label, Classified]:
    """The tallies of the levels of a group with what each unit adds to them; cells are by (level, unit, ...)."""
    tallies, cells = {}, cells.complete()
    for shown, tally in levels.items():
        level = None if shown == missing else shown
        own = cells.select(cells.labels[0].are(level)).without_first()
        followed = None if scores is None else scores.select(scores.labels[0].are(level))
        tallies[shown] = replace(tally, units=UnitPart.build(own, tally.labels, followed, tally))
    return tallies


def add_parts(a: Classified, b: Classified, both: Classified) -> UnitPart:
    """The units of two tallies, whose sum is given; a unit in both counts twice, because units have no names."""
    parts = [cast("UnitPart", tally.units) for tally in (a, b)]
    margins = np.concatenate([part.margins for part in parts])
    tables, whole = [score_table(tally) for tally in (a, b)], score_table(both)
    if whole is None or any(part.places is None for part in parts) or any(table is None for table in tables):
        return UnitPart(margins=margins).ordered()
    placed = []
    for part, table, first in zip(parts, cast("list[Ranked]", tables), (0, parts[0].units), strict=True):
        unit, place, pos, neg = cast("Floats", part.places).T
        moved = np.searchsorted(whole.score, np.asarray(table.score)[place.astype(np.intp)])
        placed.append(np.array([unit + first, moved, pos, neg]))
    return UnitPart(margins=margins, places=np.concatenate(placed, axis=1).T).ordered()


def score_table(tally: Classified) -> Ranked | None:
    """The scores of the positive class, where they can be followed unit by unit."""
    if tally.scores is None or tally.positive is None or tally.scores.link is not None:
        return None
    whole = tally.scores.whole
    return whole.one_vs_rest(tally.positive) if tally.scores.as_stored.whole is whole else None
