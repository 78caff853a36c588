# SPDX-License-Identifier: Apache-2.0
"""Rows that belong together, such as those of one patient: what each unit adds to the tables of classes and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import PlanError, RecordError, RowsError
from assay.core.text import counted
from assay.tally.base import VERSION
from assay.tally.by_group import MISSING
from assay.tally.labels.one_vs_rest import Multiclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.labels import Label
    from assay.tally.scores.ranked_table import Ranked
    from assay.tasks.classification.settings import Settings
    from assay.tasks.classification.tally import Classified

    Whole = NDArray[np.int64]

KIND: Final = "class-units"
MOST: Final = 50_000_000
"""Numbers that the margins of all units may take."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitPart:
    """For each unit the hits, true and predicted rows of every class; with scores of two classes, where they stand."""

    margins: Whole
    """Units by hits, actual and called, by classes."""
    places: Whole | None = None
    """Unit, place among the distinct scores, positives and negatives there; one row for each score of a unit."""

    @classmethod
    def build(cls, levels: Mapping[Label, Classified], whole: Classified) -> UnitPart:
        """From the tallies of single units, over the classes and scores of all rows."""
        if len(levels) * 3 * len(whole.labels) > MOST:
            raise PlanError(
                "comparison-needs",
                f"{counted(len(levels), 'unit')} of {len(whole.labels):,} classes are too many to hold",
                where="unit",
                fix="declare fewer classes",
            )
        tables = [tally.confusion.multiclass() for tally in levels.values()]
        margins = np.array([[table.hits, table.actual, table.called] for table in tables]).astype(np.int64)
        ranked = score_table(whole)
        places = None if ranked is None else _score_places(list(levels.values()), ranked)
        return cls(margins=margins, places=places).ordered()

    def ordered(self) -> UnitPart:
        """Units in an order that does not depend on how they were read, so that no name is needed."""
        flat = self.margins.reshape(len(self.margins), -1)
        keys = [*flat.T[::-1]]
        if self.places is not None:  # units with equal margins are told apart by their scores
            weight = np.zeros((len(flat), 2), dtype=np.int64)
            unit, place, pos, neg = self.places.T
            np.add.at(weight, unit, np.column_stack([(place + 1) * (pos + 1), (place + 1) ** 2 * (neg + 2)]))
            keys = [*weight.T, *keys]
        order = np.lexsort(keys)
        if self.places is None:
            return replace(self, margins=self.margins[order])
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        places = self.places.copy()
        places[:, 0] = rank[places[:, 0]]
        return replace(self, margins=self.margins[order], places=places[np.lexsort(places.T[::-1])])

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.margins)

    @property
    def sizes(self) -> Whole:
        """Rows of each unit."""
        return cast("Whole", self.margins[:, 1].sum(axis=1))

    def without_each(self, labels: tuple[Label, ...]) -> Multiclass:
        """The margins of all rows without one unit, for each unit."""
        rest = (self.margins.sum(axis=0) - self.margins).astype(np.float64)
        return Multiclass(hits=rest[:, 0], actual=rest[:, 1], called=rest[:, 2], labels=labels)

    def scores_without(self, ranked: Ranked, units: NDArray[np.intp]) -> Ranked:
        """The scores of all rows without one unit, for some of the units."""
        pos = np.repeat(np.asarray(ranked.pos, dtype=np.float64)[np.newaxis], len(units), axis=0)
        neg = np.repeat(np.asarray(ranked.neg, dtype=np.float64)[np.newaxis], len(units), axis=0)
        where = {int(unit): row for row, unit in enumerate(units)}
        unit, place, positives, negatives = cast("Whole", self.places).T
        chosen = np.isin(unit, units)
        rows = np.array([where[int(name)] for name in unit[chosen]], dtype=np.intp)
        np.subtract.at(pos, (rows, place[chosen]), positives[chosen])
        np.subtract.at(neg, (rows, place[chosen]), negatives[chosen])
        return ranked.drawn(cast("Any", pos), cast("Any", neg))

    def __add__(self, other: UnitPart) -> UnitPart:
        """The units of both parts; scores would need a common list of them, so that labels alone remain."""
        return UnitPart(margins=np.concatenate([self.margins, other.margins])).ordered()

    def to_json(self) -> dict[str, object]:
        """As in a Record: no unit has a name there."""
        places = None if self.places is None else self.places.tolist()
        return {"kind": KIND, "version": VERSION, "margins": self.margins.tolist(), "places": places}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> UnitPart:
        """The inverse of `to_json`."""
        if content.get("kind") != KIND or content.get("version") != VERSION:
            raise RecordError(
                "record-unreadable", f"this is not a tally of units of version {VERSION}", fix="restore it"
            )
        places = content["places"]
        return cls(
            margins=np.array(content["margins"], dtype=np.int64),
            places=None if places is None else np.array(places, dtype=np.int64).reshape(-1, 4),
        )

    def describe(self) -> str:
        """How many units there are, and how large they are."""
        sizes = self.sizes
        middle, most = f"{np.median(sizes):g}", f"{int(sizes.max()):,}"
        return f"{counted(self.units, 'unit')}: {middle} rows a unit in the middle, {most} at most"


def add_units(
    whole: Classified, levels: dict[Label, Classified], settings: Settings
) -> tuple[Classified, Settings, list[str]]:
    """The tally with what each unit adds, unless every unit is a single row; settings and notes that go with it."""
    if MISSING in levels:
        raise RowsError(
            "missing-id",
            f"{counted(levels[MISSING].rows, 'row')} without a unit",
            where="unit",
            fix="name the unit of every row",
        )
    if len(levels) == whole.rows:
        return whole, settings, ["every unit is one row, so that rows are what varies"]
    part = UnitPart.build(levels, whole)
    notes = [f"intervals are by unit; {part.describe()}"]
    if whole.scores is not None:
        notes.append("bands of curves and rates at operating points take rows as independent")
    return replace(whole, units=part), replace(settings, by_unit=True), notes


def score_table(tally: Classified) -> Ranked | None:
    """The scores of the positive class, where they can be followed unit by unit."""
    if tally.scores is None or tally.positive is None or tally.scores.link is not None:
        return None
    if tally.scores.stored_scores(tally.scores.whole) is not tally.scores.whole:
        return None
    return tally.scores.whole.one_vs_rest(tally.positive)


def _score_places(tallies: Sequence[Classified], ranked: Ranked) -> Whole:
    rows = []
    for unit, tally in enumerate(tallies):
        own = cast("Any", tally.scores).whole.one_vs_rest(tally.positive)
        place = np.searchsorted(ranked.score, own.score)
        pos, neg = (np.asarray(counts, dtype=np.int64) for counts in (own.pos, own.neg))
        rows.append(np.column_stack([np.full(len(place), unit), place, pos, neg]))
    return np.concatenate(rows).astype(np.int64)
