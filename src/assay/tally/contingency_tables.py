# SPDX-License-Identifier: Apache-2.0
"""Small tables of counts that tests read: who was right where, who called what, how two factors fall together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label, in_order
from assay.core.text import counted, quoted

if TYPE_CHECKING:
    from assay.core.arrays import Whole

Two: TypeAlias = tuple[str, str]
Rows: TypeAlias = tuple[tuple[int, ...], ...]


def whole(count: object, name: str) -> int:
    """A count as it must be: a whole number of 0 or more.

    >>> whole(3.0, "both right")
    3
    """
    try:
        real = float(count)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        real = math.nan
    if not math.isfinite(real) or real != int(real) or real < 0 or isinstance(count, bool):
        raise PlanError(
            "count-not-whole",
            f"{name} is {count!r}, which is not a count",
            known="0, 1, 2, ...",
            fix="give how many rows there are, not shares or labels",
        )
    return int(count) if isinstance(count, int) else int(real)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Rows by whether each of two models was right: four counts, paired row by row."""

    both: int
    only_a: int
    only_b: int
    neither: int
    models: Two = ("A", "B")
    about: str = "accuracy"
    among: str = "all rows"

    def __post_init__(self) -> None:
        """Only counts that are counts."""
        for name in ("both", "only_a", "only_b", "neither"):
            object.__setattr__(self, name, whole(getattr(self, name), name))

    @property
    def n(self) -> int:
        """All rows."""
        return self.both + self.only_a + self.only_b + self.neither

    @property
    def disagree(self) -> int:
        """Rows that one model got right and the other wrong."""
        return self.only_a + self.only_b

    @property
    def counts(self) -> dict[str, int]:
        """The four counts in words."""
        a, b = self.models
        return {
            "both right": self.both,
            f"only {a} right": self.only_a,
            f"only {b} right": self.only_b,
            "both wrong": self.neither,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Patterns:
    """How often each pattern of right and wrong occurs among K models on the same rows."""

    models: tuple[str, ...]
    counts: Mapping[tuple[bool, ...], int]
    about: str = "accuracy"

    def __post_init__(self) -> None:
        """Every pattern speaks of every model."""
        pattern_counts = {tuple(map(bool, key)): whole(n, "a pattern's count") for key, n in self.counts.items()}
        if any(len(key) != len(self.models) for key in pattern_counts):
            raise PlanError(
                "tally-mismatch", "a pattern does not speak of every model", fix="give one True or False a model"
            )
        object.__setattr__(self, "counts", pattern_counts)

    @property
    def n(self) -> int:
        """All rows."""
        return sum(self.counts.values())

    @property
    def right(self) -> tuple[int, ...]:
        """How many rows each model got right."""
        return tuple(sum(n for key, n in self.counts.items() if key[i]) for i in range(len(self.models)))

    def pair(self, a: int, b: int) -> Outcomes:
        """Two of the models."""
        cells: Counter[tuple[bool, bool]] = Counter()
        for key, n in self.counts.items():
            cells[key[a], key[b]] += n
        both, only_a, only_b, neither = (cells[first, second] for first in (True, False) for second in (True, False))
        models = (self.models[a], self.models[b])
        return Outcomes(both=both, only_a=only_a, only_b=only_b, neither=neither, models=models, about=self.about)

    def pairs(self) -> list[Outcomes]:
        """Every two of the models."""
        return [self.pair(a, b) for a, b in combinations(range(len(self.models)), 2)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Counts of two factors of independent rows: r levels down, c levels across."""

    rows: Rows
    models: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """At least two by two, all rows of one length, counts only."""
        cell_rows = tuple(tuple(whole(n, "a cell") for n in row) for row in self.rows)
        widths = {len(row) for row in cell_rows}
        if len(cell_rows) < 2 or len(widths) != 1 or min(widths) < 2:  # noqa: PLR2004  two by two at least
            raise PlanError(
                "matrix-shape",
                "a table of two factors needs two levels of each, at least",
                found=f"{counted(len(cell_rows), 'row')} of {sorted(widths)} cells",
                fix="give a list of rows of counts",
            )
        object.__setattr__(self, "rows", cell_rows)

    @property
    def n(self) -> int:
        """All rows."""
        return sum(map(sum, self.rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """How often model A called a row one class while model B called it another: K by K, paired."""

    rows: Rows
    labels: tuple[object, ...]
    models: Two = ("A", "B")

    def __post_init__(self) -> None:
        """As many rows and columns as classes."""
        cell_rows = tuple(tuple(whole(n, "a cell") for n in row) for row in self.rows)
        if len(cell_rows) != len(self.labels) or any(len(row) != len(self.labels) for row in cell_rows):
            raise PlanError(
                "matrix-shape",
                f"the table of calls does not fit {counted(len(self.labels), 'class', 'classes')}",
                fix="give one row and one column a class",
            )
        object.__setattr__(self, "rows", cell_rows)

    @property
    def n(self) -> int:
        """All rows."""
        return sum(map(sum, self.rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """One table for each stratum: two by two of independent rows."""

    tables: Mapping[str, Table]

    def __post_init__(self) -> None:
        """Two by two each."""
        for name, table in self.tables.items():
            if len(table.rows) != 2 or len(table.rows[0]) != 2:  # noqa: PLR2004  two by two
                raise PlanError(
                    "matrix-shape", f"stratum {quoted(name)} is not two by two", fix="give four counts a stratum"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """Who was right where, once for each channel the rows came through."""

    by: Mapping[str, Outcomes]
    models: Two = ("A", "B")


@dataclass(frozen=True, slots=True, kw_only=True)
class Successes:
    """How many of n independent rows succeeded, and the share they are held against."""

    successes: int
    n: int
    against: float
    models: tuple[str, ...] = field(default=("A",))

    def __post_init__(self) -> None:
        """No more successes than rows, and a share strictly between 0 and 1."""
        for name in ("successes", "n"):
            object.__setattr__(self, name, whole(getattr(self, name), name))
        if self.successes > self.n or not 0 < self.against < 1:
            raise PlanError(
                "value-out-of-domain",
                f"{self.successes} of {self.n} held against {self.against!r} makes no sense",
                known="successes up to n; a share above 0 and below 1",
                fix="correct the figures",
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratings:
    """Patterns of labels: row p of `votes` is how many annotators gave each label, `count` how many items are so.

    Who gave which label is forgotten; an item that one annotator labelled tells of shares, not of agreement.
    """

    labels: tuple[Label, ...]
    votes: Whole
    count: Whole

    @classmethod
    def from_cells(
        cls, cells: Mapping[tuple[Label | None, ...], int], *, labels: Sequence[Label] | None = None
    ) -> Ratings:
        """From counts by what each annotator said; None where one said nothing.

        >>> t = Ratings.from_cells({("a", "a", None): 3, ("b", "a", "b"): 2, ("a", "b", "b"): 1})
        >>> t.labels, t.votes.tolist(), t.count.tolist()
        (('a', 'b'), [[1, 2], [2, 0]], [3, 3])
        """
        seen = {rating for cell in cells for rating in cell if rating is not None}
        order = in_order(seen) if labels is None else tuple(labels)
        place = {label: i for i, label in enumerate(order)}
        patterns: Counter[tuple[int, ...]] = Counter()
        for cell, n in cells.items():
            votes = [0] * len(order)
            for rating in cell:
                if rating is not None:
                    votes[place[rating]] += 1
            if any(votes) and n:
                patterns[tuple(votes)] += n
        kept = sorted(patterns.items())
        each = np.array([votes for votes, _ in kept], dtype=np.int64).reshape(len(kept), len(order))
        return cls(labels=order, votes=each, count=np.array([n for _, n in kept], dtype=np.int64))

    @property
    def items(self) -> int:
        """Items with a label at all."""
        return int(self.count.sum())

    @property
    def given(self) -> Whole:
        """How many labels each pattern has."""
        found: Whole = self.votes.sum(axis=1)
        return found

    @property
    def several(self) -> Ratings:
        """Only items with two labels or more."""
        kept = self.given > 1
        return Ratings(labels=self.labels, votes=self.votes[kept], count=self.count[kept])
