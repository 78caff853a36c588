# SPDX-License-Identifier: Apache-2.0
"""The confusion tally: how often each label was called each label; only occupied cells are kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from assay.core.errors import PlanError, damaged_record
from assay.core.labels import Label, in_order
from assay.core.shown import Shown, TableRows
from assay.core.text import counted, listed, visible
from assay.tally.base import (
    VERSION,
    Count,
    Digested,
    Weight,
    checked,
    count_from_json,
    count_to_json,
    demand_kind,
    demand_same_weighting,
    together,
)
from assay.tally.labels.one_vs_rest import Binary, Multiclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.values import Amount

DENSE = 2048
"""Up to this many classes a full K x K matrix may be laid out (32 MiB); above, only occupied cells are touched."""
MOST_SHOWN = 20
"""Classes that a notebook shows."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Confusion(Shown, Digested):
    """Counts by (truth, predicted), sparse, with the class list that gives the cells their names."""

    labels: tuple[Label, ...]
    truth: NDArray[np.int64]
    predicted: NDArray[np.int64]
    count: NDArray[np.int64] | NDArray[np.object_]
    rows: int
    weighted: bool = False
    squares: NDArray[np.object_] | None = None
    """Of weighted rows: the sum of squared weights in each cell, without which there is no interval."""

    PUBLIC = (
        "binary", "cells", "k", "labels", "matrix", "rows", "to_json", "total", "weighted", "with_labels", "worth",
    )  # fmt: skip

    def __repr__(self) -> str:
        """Rows and classes in one line."""
        return f"<Confusion: {counted(self.rows, 'row')}, {counted(self.k, 'class', 'classes')}: {listed(self.labels)}>"

    def _table(self) -> TableRows:
        names, cells = [visible(label) for label in self.labels[:MOST_SHOWN]], self.cells()
        shown = self.labels[:MOST_SHOWN]
        rows = [(visible(t), *(f"{float(cells.get((t, p), 0)):,.6g}" for p in shown)) for t in shown]
        more = f"; the first {MOST_SHOWN} of {self.k:,} classes" if self.k > MOST_SHOWN else ""
        return f"{counted(self.rows, 'row')}, true class down, predicted class across{more}", ("", *names), rows

    @classmethod
    def from_cells(
        cls,
        cells: Mapping[tuple[Label, Label], Count | Weight],
        *,
        labels: Iterable[Label] | None = None,
        rows: int | None = None,
        weighted: bool = False,
    ) -> Confusion:
        """From counts by (truth, predicted); labels in the given or else in their natural order."""
        seen = {label for pair in cells for label in pair}
        order = in_order(seen) if labels is None else tuple(labels)
        place = {label: i for i, label in enumerate(order)}
        split = [(place[t], place[p], *_parts(c)) for (t, p), c in cells.items()]
        taken = [(t, p, checked(c), s) for t, p, c, s in split if c]
        known = weighted and all(square is not None for *_, square in taken)
        return cls.from_codes(
            order,
            np.array([t for t, *_ in taken], dtype=np.int64),
            np.array([p for _, p, *_ in taken], dtype=np.int64),
            [c for _, _, c, _ in taken],
            rows=sum(int(c) for _, _, c, _ in taken) if rows is None else rows,
            weighted=weighted,
            squares=[cast("Fraction", square) for *_, square in taken] if known else None,
        )

    @classmethod
    def from_codes(
        cls,
        labels: Sequence[Label],
        truth: NDArray[np.int64],
        predicted: NDArray[np.int64],
        count: Sequence[Count] | NDArray[np.int64],
        *,
        rows: int,
        weighted: bool = False,
        squares: Sequence[Fraction] | None = None,
    ) -> Confusion:
        """From cells by class number; sorted, so that equal counts have equal form."""
        # Checked so that no margin can wrap around.
        checked(sum(count if isinstance(count, list) else np.asarray(count).tolist()))
        order = np.lexsort((predicted, truth))
        counts = np.array(count, dtype=object if weighted else np.int64)
        return cls(
            labels=tuple(labels),
            truth=np.asarray(truth, dtype=np.int64)[order],
            predicted=np.asarray(predicted, dtype=np.int64)[order],
            count=counts[order],
            rows=rows,
            weighted=weighted,
            squares=None if squares is None else np.array([*squares, None], dtype=object)[:-1][order],
        )

    @property
    def k(self) -> int:
        """How many classes there are."""
        return len(self.labels)

    @property
    def total(self) -> Count:
        """The sum of all cells."""
        found: Count = sum(self.count.tolist())
        return found

    def cells(self) -> dict[tuple[Label, Label], Count]:
        """Counts by (truth, predicted) label."""
        names = self.labels
        columns = zip(self.truth.tolist(), self.predicted.tolist(), self.count.tolist(), strict=True)
        return {(names[t], names[p]): c for t, p, c in columns}

    def _weights(self) -> dict[tuple[Label, Label], Weight]:
        """What the cells weigh, with their squares."""
        pairs = zip(self.cells().items(), cast("NDArray[np.object_]", self.squares).tolist(), strict=True)
        return {pair: Weight(total=cast("Fraction", total), squares=square) for (pair, total), square in pairs}

    @property
    def worth(self) -> float | None:
        """How many rows of equal weight these rows are worth (Kish 1965); None without the squares to say so."""
        if self.squares is None or not self.total:
            return None
        return float(Fraction(self.total) ** 2 / sum(self.squares.tolist()))

    def matrix(self) -> list[list[Count]]:
        """The full matrix, rows = truth; only for as many classes as fit a screen or a test."""
        full: list[list[Count]] = [[0] * self.k for _ in range(self.k)]
        for t, p, c in zip(self.truth.tolist(), self.predicted.tolist(), self.count.tolist(), strict=True):
            full[t][p] = c
        return full

    def multiclass(self) -> Multiclass:
        """The margins of the K classes, exact."""
        on = self.truth == self.predicted
        return Multiclass(
            hits=self._by_class(self.truth[on], self.count[on]),
            actual=self._by_class(self.truth, self.count),
            called=self._by_class(self.predicted, self.count),
            labels=self.labels,
        )

    def _by_class(self, classes: NDArray[np.int64], count: NDArray[np.int64] | NDArray[np.object_]) -> Amount:
        sums = np.zeros(self.k, dtype=count.dtype)
        np.add.at(sums, classes, count)
        return cast("Amount", np.array(sums.tolist(), dtype=object))

    def binary(self, positive: Label) -> Binary:
        """The four cells of one class against the rest, exact."""
        table = self.multiclass().one_vs_rest()
        return table.at(self.labels.index(positive))

    def with_labels(self, labels: Iterable[Label]) -> Confusion:
        """The same counts over another class list that holds every occupied class."""
        order = tuple(labels)
        place = {label: i for i, label in enumerate(order)}
        lost = [label for label in self.labels if label not in place]
        move = np.array([place.get(label, -1) for label in self.labels], dtype=np.int64)
        truth, predicted = move[self.truth], move[self.predicted]
        if (truth < 0).any() or (predicted < 0).any():
            raise PlanError(
                "tally-mismatch",
                f"the class list leaves out {listed(lost)}, which the tally has counted",
                known=listed(order),
                fix="declare every class of the tally",
            )
        count, squares = self.count.tolist(), None if self.squares is None else self.squares.tolist()
        return Confusion.from_codes(
            order, truth, predicted, count, rows=self.rows, weighted=self.weighted, squares=squares
        )

    def __add__(self, other: Confusion) -> Confusion:
        """Both tallies together: equal to counting the rows of both at once."""
        kinds = {type(label) for label in (*self.labels, *other.labels)}
        if len(kinds) > 1:
            raise PlanError(
                "tally-mismatch",
                "the labels of the two tallies are of different types",
                found=f"{listed(self.labels, most=3)} and {listed(other.labels, most=3)}",
                fix="count both with labels of one type",
            )
        demand_same_weighting(self.weighted, other.weighted)
        labels = self.labels if self.labels == other.labels else in_order({*self.labels, *other.labels})
        cells: dict[tuple[Label, Label], Count | Weight] = {}
        full = self.squares is not None and other.squares is not None
        for part in (self, other):
            for pair, count in (part._weights() if full else part.cells()).items():
                cells[pair] = together(cells.get(pair, 0), count)
        return Confusion.from_cells(cells, labels=labels, rows=self.rows + other.rows, weighted=self.weighted)

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        columns = zip(self.truth.tolist(), self.predicted.tolist(), self.count.tolist(), strict=True)
        return {
            "kind": "confusion",
            "version": VERSION,
            "orientation": "rows=truth",
            "labels": list(self.labels),
            "rows": self.rows,
            "weighted": self.weighted,
            "cells": [[t, p, count_to_json(c)] for t, p, c in columns],
            **({} if self.squares is None else {"squares": [count_to_json(s) for s in self.squares.tolist()]}),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Confusion:
        """The inverse of `to_json`."""
        demand_kind(content, "confusion", "a confusion tally")
        cells, weighted = cast("list[list[object]]", content["cells"]), bool(content["weighted"])
        truth, predicted = (np.array([cell[side] for cell in cells], dtype=np.int64) for side in (0, 1))
        counts = [count_from_json(cell[2]) for cell in cells]
        return cls.from_codes(
            cast("list[Label]", content["labels"]),
            truth,
            predicted,
            [Fraction(count) for count in counts] if weighted else counts,
            rows=cast("int", content["rows"]),
            weighted=weighted,
            squares=_squares(content.get("squares"), len(cells)),
        )


def _parts(count: Count | Weight) -> tuple[Count, Fraction | None]:
    return (count.total, count.squares) if isinstance(count, Weight) else (count, None)


def _squares(content: object, cells: int) -> list[Fraction] | None:
    if content is None:
        return None
    squares = [Fraction(count_from_json(one)) for one in cast("list[object]", content)]
    if len(squares) != cells:
        raise damaged_record(what=f"a tally has {cells:,} cells and {len(squares):,} sums of squares")
    return squares


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """Every declared cost once, ascending, with the rows that carry it; none may."""

    cost: tuple[Fraction, ...]
    count: tuple[Count, ...]
    squares: tuple[Fraction, ...] | None = None
    """Of weighted rows: the sums of squared weights, without which there is no interval."""
    weighted: bool = False

    @classmethod
    def of(cls, confusion: Confusion, costs: Mapping[tuple[Label, Label], float]) -> Priced:
        """The rows of a confusion tally by the cost of each (truth, predicted).

        >>> cells = {("cat", "dog"): 2, ("dog", "dog"): 3}
        >>> free = {("cat", "cat"): 0, ("dog", "dog"): 0}
        >>> t = Priced.of(Confusion.from_cells(cells), {**free, ("cat", "dog"): 5, ("dog", "cat"): 1})
        >>> [(int(c), n) for c, n in t]
        [(0, 3), (1, 0), (5, 2)]
        """
        order = sorted({Fraction(one) for one in costs.values()})
        rows: dict[Fraction, Count] = dict.fromkeys(order, 0)
        squares: dict[Fraction, Fraction] = dict.fromkeys(order, Fraction(0))
        held = [None] * len(confusion.count) if confusion.squares is None else confusion.squares.tolist()
        for (pair, count), square in zip(confusion.cells().items(), held, strict=True):
            cost = Fraction(costs[pair])
            rows[cost] += count
            squares[cost] += square or 0
        return cls(
            cost=tuple(order),
            count=tuple(rows.values()),
            squares=None if confusion.squares is None else tuple(squares.values()),
            weighted=confusion.weighted,
        )

    def __iter__(self) -> Iterator[tuple[Fraction, Count]]:
        """Costs with their rows."""
        return iter(zip(self.cost, self.count, strict=True))

    @property
    def n(self) -> Amount:
        """All rows, or what they weigh."""
        return cast("Amount", sum(self.count))

    @property
    def total(self) -> Amount:
        """What all rows cost together."""
        return cast("Amount", sum(cost * count for cost, count in self))
