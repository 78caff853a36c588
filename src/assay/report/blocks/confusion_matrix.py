# SPDX-License-Identifier: Apache-2.0
"""The confusion matrix of a Record as a reader meets it: at most thirty classes, shares of each, the worst mistakes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.core.text import visible
from assay.report import sentences
from assay.report.estimate_rows import amount, in_hundred, share
from assay.tally.base import Count, count_from_json

MOST_CLASSES: Final = 30
"""Classes a matrix and a chart show one by one; the others are added up."""
MOST_MISTAKES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """How many rows of one true class were given one label."""

    count: str
    share: float | None
    shown: str
    right: bool
    empty: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """One label that was given: what its rows truly were."""

    label: str
    cells: tuple[Cell, ...]
    total: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Rows are predictions, columns are truth, as ISO/IEC TS 4213 lays them out (errata E-TS-08)."""

    labels: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    totals: tuple[str, ...]
    total: str
    hidden: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One kind of mistake and how often it was made."""

    truth: str
    predicted: str
    count: str
    share: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The cells of a tally with their margins, exact."""

    labels: tuple[object, ...]
    cells: tuple[tuple[int, int, Count], ...]
    actual: tuple[Count, ...]
    called: tuple[Count, ...]
    hits: tuple[Count, ...]
    weighted: bool

    @property
    def total(self) -> Count:
        """All rows, or all weight."""
        return sum(self.actual)

    def largest(self, most: int) -> list[int]:
        """The largest classes, in the order of the labels."""
        if len(self.labels) <= most:
            return list(range(len(self.labels)))
        by_size = sorted(range(len(self.labels)), key=lambda i: (-(self.actual[i] + self.called[i]), i))
        return sorted(by_size[:most])


def counts(tally: Mapping[str, Any]) -> Counts:
    """The counts of a confusion tally as a Record holds it."""
    labels = tuple(tally["labels"])
    cells = tuple((int(t), int(p), count_from_json(n)) for t, p, n in tally["cells"])
    actual, called, hits = ([0] * len(labels) for _ in range(3))
    margins: tuple[list[Count], list[Count], list[Count]] = (list(actual), list(called), list(hits))
    for t, p, n in cells:
        margins[0][t] += n
        margins[1][p] += n
        if t == p:
            margins[2][t] += n
    return Counts(
        labels=labels,
        cells=cells,
        actual=tuple(margins[0]),
        called=tuple(margins[1]),
        hits=tuple(margins[2]),
        weighted=bool(tally["weighted"]),
    )


def matrix(found: Counts) -> Matrix:
    """The matrix with the largest classes one by one and the others added up."""
    k = len(found.labels)
    shown = found.largest(MOST_CLASSES)
    place = {label: i for i, label in enumerate(shown)}
    last = len(shown)
    size = last + (1 if k > last else 0)
    table: list[list[Count]] = [[0] * size for _ in range(size)]
    other_hits: Count = 0
    for t, p, n in found.cells:
        table[place.get(p, last)][place.get(t, last)] += n
        if t == p and t not in place:
            other_hits += n
    names = [visible(found.labels[i]) for i in shown] + ([sentences.other_classes(k - last)] if size > last else [])
    totals = [sum(row[i] for row in table) for i in range(size)]
    return Matrix(
        labels=tuple(names),
        rows=tuple(
            _row(name, i, table[i], totals, mixed=i == last and other_hits != table[i][i])
            for i, name in enumerate(names)
        ),
        totals=tuple(map(amount, totals)),
        total=amount(found.total),
        hidden=k - last,
    )


def _row(name: str, place: int, row: Sequence[Count], totals: Sequence[Count], *, mixed: bool) -> MatrixRow:
    cells = []
    for i, n in enumerate(row):
        part = share(n, totals[i])
        # Where the others are added up, the corner holds mistakes among them too, so it is not marked as right.
        right = i == place and not mixed
        cells.append(
            Cell(count=amount(n), share=part, shown=in_hundred(part) if part else "", right=right, empty=not n)
        )
    return MatrixRow(label=name, cells=tuple(cells), total=amount(sum(row)))


def mistakes(found: Counts) -> tuple[Mistake, ...]:
    """The most frequent mistakes, largest first."""
    wrong = sorted((cell for cell in found.cells if cell[0] != cell[1]), key=lambda c: (-c[2], c[0], c[1]))
    return tuple(
        Mistake(
            truth=visible(found.labels[t]),
            predicted=visible(found.labels[p]),
            count=amount(n),
            share=in_hundred(float(share(n, found.actual[t]) or 0)),
        )
        for t, p, n in wrong[:MOST_MISTAKES]
        if n
    )
