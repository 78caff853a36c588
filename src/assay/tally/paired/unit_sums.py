# SPDX-License-Identifier: Apache-2.0
"""Answers of several models to very many rows of subjects, or with weights: sums over units in place of rows.

A pattern is a true label and the call of each model. A unit is a subject, or a row where no subjects are stated. Kept
are what all units add to each pattern and, for every two patterns, the sum over the units of the product of what each
adds. The large-sample variance of any measure of labels is a quadratic form of these, however many rows there were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.labels import Label
from assay.tally.base import (
    VERSION,
    Count,
    Digested,
    count_from_json,
    count_to_json,
    demand_kind,
    places,
)
from assay.tally.paired.joint_rows import PairedRows

if TYPE_CHECKING:
    from assay.core.arrays import Floats, Whole

Pattern: TypeAlias = tuple[Label, ...]
"""The true label and the call of each model."""
KIND: Final = "unit-sums"
MOST_PATTERNS: Final = 4096
MOST_PRODUCTS: Final = 1 << 20
"""Of patterns with each other: 1,447 patterns that all occur beside each other."""
BY: Final = ("row", "subject")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """What was added up, by labels: rows and weight of each pattern, products of every two, and the units."""

    rows: Mapping[Pattern, int]
    total: Mapping[Pattern, Count]
    products: Mapping[tuple[Pattern, Pattern], Count]
    """Each two patterns once, in either order; a pattern with itself among them."""
    units: int
    subjects: bool
    weighted: bool
    limit: int
    """Rows up to which they would have been held."""

    @property
    def worth(self) -> float:
        """As how many units of equal weight all of them count (Kish)."""
        squares = sum(Fraction(value) * (1 if p == q else 2) for (p, q), value in self.products.items())
        return float(Fraction(sum(self.total.values())) ** 2 / squares) if squares else 0.0

    def of(self, models: Sequence[str], labels: Sequence[Label]) -> UnitSums:
        """The tally, with the classes in order."""
        place = {label: i for i, label in enumerate(labels)}
        coded = {pattern: tuple(place[label] for label in pattern) for pattern in self.rows}
        order = sorted(coded, key=coded.__getitem__)
        at = {pattern: i for i, pattern in enumerate(order)}
        pairs = {(min(at[p], at[q]), max(at[p], at[q])): value for (p, q), value in self.products.items() if value}
        return UnitSums(
            models=tuple(models),
            labels=tuple(labels),
            codes=np.array([coded[one] for one in order], dtype=np.int64).reshape(len(order), len(models) + 1),
            rows=tuple(self.rows[one] for one in order),
            total=tuple(self.total[one] for one in order),
            products=dict(sorted(pairs.items())),
            units=self.units,
            by_subject=self.subjects,
            weighted=self.weighted,
            limit=self.limit,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitSums(Digested):
    """Sums over units by pattern; all of them exact."""

    models: tuple[str, ...]
    labels: tuple[Label, ...]
    codes: Whole
    """Axes (pattern, truth and models): numbers of labels."""
    rows: tuple[int, ...]
    total: tuple[Count, ...]
    """What the rows of each pattern weigh together; their number where there are no weights."""
    products: Mapping[tuple[int, int], Count]
    """By two patterns, the first not behind the second: the sum over units of the product of what each adds."""
    units: int
    by_subject: bool
    weighted: bool
    limit: int

    @property
    def n(self) -> int:
        """All rows."""
        return sum(self.rows)

    @property
    def truth(self) -> Whole:
        """The true class of each pattern."""
        return self.codes[:, 0]

    def weights(self) -> Floats:
        """What each pattern weighs, as doubles."""
        return np.array([float(one) for one in self.total])

    def squares(self) -> Floats:
        """The sum over units of the squares of what each adds to a pattern."""
        return np.array([float(self.products.get((i, i), 0)) for i in range(len(self.total))])

    def moments(self) -> tuple[Whole, Whole, Floats]:
        """The products as doubles: two patterns, and their sum."""
        pairs = np.array(list(self.products), dtype=np.int64).reshape(len(self.products), 2)
        return pairs[:, 0], pairs[:, 1], np.array([float(one) for one in self.products.values()])

    def of_classes(self) -> Floats:
        """What each class weighs."""
        return np.bincount(self.truth, weights=self.weights(), minlength=len(self.labels)).astype(np.float64)

    def only(self, *models: str) -> UnitSums:
        """The same units with some of the models: patterns that then are alike are one."""
        at = [0, *(place + 1 for place in places(models, self.models))]
        codes, pattern = np.unique(self.codes[:, at], axis=0, return_inverse=True)
        new = pattern.ravel().tolist()
        rows, total = [0] * len(codes), [cast("Count", 0)] * len(codes)
        for i, place in enumerate(new):
            rows[place] += self.rows[i]
            total[place] += self.total[i]
        products: dict[tuple[int, int], Count] = {}
        for (p, q), value in self.products.items():
            pair = (min(new[p], new[q]), max(new[p], new[q]))
            twice = 2 if p != q and new[p] == new[q] else 1  # both orders fall on one square
            products[pair] = products.get(pair, 0) + twice * value
        return replace(
            self,
            models=models,
            codes=codes,
            rows=tuple(rows),
            total=tuple(total),
            products=dict(sorted(products.items())),
        )

    def counts(self) -> dict[Pattern, int]:
        """Rows by labels."""
        patterns = (tuple(self.labels[i] for i in one) for one in self.codes.tolist())
        return dict(zip(patterns, self.rows, strict=True))

    def to_json(self) -> dict[str, object]:
        """As in a Record: patterns with rows and weight, products by the places of two patterns."""
        each = zip(self.codes.tolist(), self.rows, self.total, strict=True)
        return {
            "kind": KIND,
            "version": VERSION,
            "models": list(self.models),
            "labels": list(self.labels),
            "by": BY[self.by_subject],
            "weighted": self.weighted,
            "units": self.units,
            "held_up_to": self.limit,
            "patterns": [[*codes, count_to_json(n), count_to_json(weight)] for codes, n, weight in each],
            "products": [[p, q, count_to_json(value)] for (p, q), value in self.products.items()],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> UnitSums:
        """The inverse of `to_json`."""
        demand_kind(content, KIND, "a tally of sums over units")
        patterns = cast("list[list[int | str]]", content["patterns"])
        models = tuple(cast("list[str]", content["models"]))
        return cls(
            models=models,
            labels=tuple(cast("list[Label]", content["labels"])),
            codes=np.array([one[:-2] for one in patterns], dtype=np.int64).reshape(len(patterns), len(models) + 1),
            rows=tuple(int(count_from_json(one[-2])) for one in patterns),
            total=tuple(count_from_json(one[-1]) for one in patterns),
            products={
                (p, q): count_from_json(value)
                for p, q, value in cast("list[tuple[int, int, object]]", content["products"])
            },
            units=cast("int", content["units"]),
            by_subject=BY.index(cast("str", content["by"])) == 1,
            weighted=cast("bool", content["weighted"]),
            limit=cast("int", content["held_up_to"]),
        )


def rows_from_json(content: Mapping[str, object]) -> PairedRows | UnitSums:
    """Answers row by row, or the sums in their place."""
    return UnitSums.from_json(content) if content.get("kind") == KIND else PairedRows.from_json(content)


def few_enough(patterns: int, *, by_subject: bool) -> bool:
    """Whether the sums of so many patterns are held; of subjects, every two patterns may have a product."""
    return patterns <= MOST_PATTERNS and (not by_subject or patterns * (patterns + 1) // 2 <= MOST_PRODUCTS)
