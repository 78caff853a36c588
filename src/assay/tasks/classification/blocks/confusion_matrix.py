# SPDX-License-Identifier: Apache-2.0
"""The confusion matrix of a Record: at most thirty classes, shares of each, and the most frequent mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from assay.core.blocks import Block, Card, Cell, Cells, Grid, GridCell, Paragraph, Reach, Table, table
from assay.core.blocks.estimate_rows import amount, in_hundred, share
from assay.core.blocks.lead import Verdict
from assay.core.text import counted, quoted, visible
from assay.tally.base import Count, count_from_json

MOST_CLASSES: Final = 30
"""Classes a matrix and a chart show one by one; the others are added up."""
MOST_MISTAKES: Final = 8
ORIENTATION: Final = "Rows are what was predicted, columns what was true, as ISO/IEC TS 4213 draws it."
SHADING: Final = (
    "The stronger the colour of a cell, the larger its share of the true class: "
    "✓\u00a0blue is right, ✗\u00a0orange is mistaken."
)
SCHLOSSER: Final = (
    "Rows are what was true, columns what was predicted, as Schlosser et al. draw it: recall and miss rate stand at"
    " the rows, precision and false discovery rate at the columns, each with its fraction."
)
MOST_DRAWN: Final = 12
"""Classes of the second view; the table of classes has more."""
EVEN: Final = 1.5
"""Classes of which the largest is at most so many times the smallest count as balanced."""
NO_MISTAKES: Final = "No row was classified wrongly."


class Mistake(NamedTuple):
    """One kind of mistake and how often it was made."""

    truth: str
    predicted: str
    n: str
    share: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCounts:
    """The cells of a tally with their margins, exact."""

    labels: tuple[object, ...]
    cells: tuple[tuple[int, int, Count], ...]
    actual: tuple[Count, ...]
    called: tuple[Count, ...]
    hits: tuple[Count, ...]
    weighted: bool

    @property
    def unit(self) -> str:
        """What is counted."""
        return "weight" if self.weighted else "rows"

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


def read_counts(tally: Mapping[str, Any]) -> ClassCounts:
    """The counts of a confusion tally as a Record holds it."""
    labels = tuple(tally["labels"])
    cells = tuple((int(t), int(p), count_from_json(n)) for t, p, n in tally["cells"])
    actual: list[Count] = [0] * len(labels)
    called, hits = actual.copy(), actual.copy()
    for t, p, n in cells:
        actual[t] += n
        called[p] += n
        if t == p:
            hits[t] += n
    margins = {"actual": tuple(actual), "called": tuple(called), "hits": tuple(hits)}
    return ClassCounts(labels=labels, cells=cells, weighted=bool(tally["weighted"]), **margins)


def matrix(tally: ClassCounts) -> Grid:
    """The matrix with the largest classes one by one and the others added up.

    Rows are predictions, columns are truth, as ISO/IEC TS 4213 lays them out (errata E-TS-08).
    """
    k, shown = len(tally.labels), tally.largest(MOST_CLASSES)
    place = {label: i for i, label in enumerate(shown)}
    last = len(shown)
    size = last + (1 if k > last else 0)
    counts: list[list[Count]] = [[0] * size for _ in range(size)]
    other_hits: Count = 0
    for t, p, n in tally.cells:
        counts[place.get(p, last)][place.get(t, last)] += n
        if t == p and t not in place:
            other_hits += n
    others = [f"other ({counted(k - last, 'class', 'classes')})"] if size > last else []
    totals = [sum(row[i] for row in counts) for i in range(size)]
    # Where the others are added up, the corner holds mistakes among them too, so it is not marked as right.
    mixed = size > last and other_hits != counts[last][last]
    return Grid(
        caption=f"{tally.unit.capitalize()} by true and predicted class; in each cell the"
        f" {'weight' if tally.weighted else 'count'} and its share of the true class",
        down="predicted",
        across="true",
        labels=(*(visible(tally.labels[i]) for i in shown), *others),
        rows=tuple(
            tuple(_cell(n, totals[j], right=i == j and not (mixed and i == last)) for j, n in enumerate(row))
            for i, row in enumerate(counts)
        ),
        sums=tuple(amount(sum(row)) for row in counts),
        totals=tuple(map(amount, totals)),
        total=amount(tally.total),
        hidden=k - last,
        instead=worst_mistake(tally),
    )


def _cell(n: Count, total: Count, *, right: bool) -> GridCell:
    below = in_hundred(n, total) if n else ""
    return GridCell(text=amount(n), below=below, share=share(n, total), right=right, empty=not n)


def is_unbalanced(tally: ClassCounts) -> bool:
    """Whether some class is true much more often than another."""
    return min(tally.actual, default=0) == 0 or max(tally.actual) / min(tally.actual) > EVEN


def mistakes(tally: ClassCounts) -> tuple[Mistake, ...]:
    """The most frequent mistakes, largest first."""
    wrong = sorted((cell for cell in tally.cells if cell[0] != cell[1]), key=lambda c: (-c[2], c[0], c[1]))
    return tuple(
        Mistake(visible(tally.labels[t]), visible(tally.labels[p]), amount(n), in_hundred(n, tally.actual[t]))
        for t, p, n in wrong[:MOST_MISTAKES]
        if n
    )


def worst_mistake(tally: ClassCounts) -> str:
    """The most frequent mistake in a sentence."""
    listed = mistakes(tally)
    if not listed:
        return f"✓ {NO_MISTAKES}"
    truth, predicted, n, part = listed[0]
    return f"Most frequent mistake: {truth} called {predicted}, {n} ({part} of {truth})."


def missed(tally: ClassCounts, positive: object) -> Verdict | None:
    """The verdict on the positives that are missed, or on the class that is found least often."""
    sides = [(share(hit, n), i) for i, (hit, n) in enumerate(zip(tally.hits, tally.actual, strict=True)) if n]
    if not sides:
        return None
    i = tally.labels.index(positive) if positive is not None else min(sides, key=lambda side: side[0] or 0.0)[1]
    lost, n = tally.actual[i] - tally.hits[i], tally.actual[i]
    if not n:
        return None
    label = quoted(tally.labels[i])
    says = f"{amount(lost)} of {amount(n)}{'' if positive is not None else ', the most of all classes'}"
    if not lost:
        return Verdict("✓", f"misses no {label}", "good", says, "matrix", "every mistake")
    return Verdict("△", f"misses {in_hundred(lost, n)} of {label}", "open", says, "matrix", "every mistake")


def _fraction(part: Count, whole: Count) -> Cell:
    """A share in percent and its fraction."""
    if not whole:
        return Cell("∅", below="no row", tone="warn")
    return Cell(f"{float(share(part, whole) or 0.0) * 100:.1f} %", below=f"{amount(part)} of {amount(whole)}")


def schlosser_table(tally: ClassCounts) -> Table | None:
    """The matrix with recall and miss rate at its rows, precision and false discovery rate at its columns."""
    if len(tally.labels) > MOST_DRAWN:
        return None
    k, cells = len(tally.labels), {(t, p): n for t, p, n in tally.cells}
    names = [visible(label) for label in tally.labels]
    rows: list[Cells] = [
        [
            f"truly {names[t]}",
            *(Cell(amount(cells.get((t, p), 0)), tone="" if t != p else "strong") for p in range(k)),
            _fraction(tally.hits[t], tally.actual[t]),
            _fraction(tally.actual[t] - tally.hits[t], tally.actual[t]),
        ]
        for t in range(k)
    ]
    wrong = [called - hits for called, hits in zip(tally.called, tally.hits, strict=True)]
    whole = _fraction(sum(tally.hits), tally.total)
    accuracy = replace(whole, below=f"accuracy: {whole.below}")
    rows.append(["precision", *map(_fraction, tally.hits, tally.called), accuracy, ""])
    rows.append(["false discovery rate", *map(_fraction, wrong, tally.called), "", ""])
    heads = [("true class", "name", 1.4), *((f"called {name}", "number", 1) for name in names)]
    heads += [("recall", "number", 1), ("miss rate", "number", 1)]
    caption = f"{tally.unit.capitalize()} by true and predicted class with their fractions"
    return table("Confusion matrix with rates", caption, heads, rows, reach=Reach.FULL)


def matrix_blocks(tally: ClassCounts) -> Iterator[Block]:
    """The matrix where nothing showed it before; then the second view, and the most frequent mistakes beside it."""
    grid = matrix(tally)
    yield replace(grid, reach=Reach.DIGEST)
    cut = f" The {len(grid.rows) - 1} largest classes are shown; the other {grid.hidden:,} are added up."
    yield Paragraph(
        f"The matrix at a glance: {ORIENTATION} {SHADING}{cut if grid.hidden else ''}",
        "soft",
        reach=Reach.FULL,
    )
    listed, second = mistakes(tally), schlosser_table(tally)
    parts: list[Block] = [Paragraph(SCHLOSSER, "soft"), second] if second is not None else []
    if len(tally.labels) > 2 and listed:  # noqa: PLR2004  two classes have two mistakes, which the matrix shows
        heads = ("truly", "name", 3), ("called", "name", 3), (tally.unit, "number"), ("share", "number")
        caption = "Most frequent mistakes and their share of the true class"
        parts.append(table("Most frequent mistakes", caption, heads, listed, look="clip"))
    elif not listed:
        parts.append(Paragraph(f"✓ {NO_MISTAKES}"))
    yield Card(tuple(parts), reach=Reach.FULL)
