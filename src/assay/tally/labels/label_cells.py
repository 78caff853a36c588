# SPDX-License-Identifier: Apache-2.0
"""What one pass over the labels of rows finds: how often each combination of labels occurs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from types import NoneType
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.labels import Label
from assay.rows.label_types import LONGEST, label_of
from assay.tally.base import Count, Weight

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole
    from assay.rows.columns import Coded

    Small: TypeAlias = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.int32]

Cell: TypeAlias = tuple[Label | None, ...]
Cells: TypeAlias = dict[Cell, tuple[int, Count | Weight]]
"""Labels -> rows and their weight (the rows themselves where there are no weights)."""
UNIT: Final = "unit of a row"
"""The factor of units, which rows belong to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What one pass found: cells by (truth, predicted), and by (level, truth, predicted) for each factor."""

    cells: Cells
    by_factor: dict[str, Cells]
    rows: int
    weighted: bool
    units: CellTable | None = None
    """By (unit, truth, predicted), where units are known."""
    within: dict[str, CellTable] = field(default_factory=dict)
    """By (level, unit, truth, predicted) for each factor, where units are known."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Codes:
    """A label a row, as the number of its name; a row without a label has the number of None."""

    codes: Small
    names: tuple[Label | None, ...]

    @classmethod
    def of(cls, labels: Sequence[Label | None]) -> Codes:
        """From labels one by one; 1 and True are two names.

        >>> one = Codes.of(["a", "b", "a", None])
        >>> one.codes.tolist(), one.names, list(one), one.count(None)
        ([0, 1, 0, 2], ('a', 'b', None), ['a', 'b', 'a', None], 1)
        """
        place: dict[tuple[type, object], int] = {}
        codes = np.fromiter(
            (place.setdefault((type(label), label), len(place)) for label in labels), np.int32, len(labels)
        )
        return cls(codes=small_codes(codes, len(place)), names=tuple(cast("Label | None", label) for _, label in place))

    @classmethod
    def of_values(cls, values: NDArray[np.object_], where: str) -> Codes:
        """From a column as an engine hands it over, masked where values are missing."""
        if values.dtype.kind == "O":
            listed = values.tolist()
            if set(map(type, listed)) <= {str, NoneType}:  # no two of them are equal and of different types
                number: defaultdict[str | None, int] = defaultdict(count().__next__)
                codes = np.fromiter(map(number.__getitem__, listed), np.int32, len(listed))
                coded = cls(codes=codes, names=tuple(number))
                return coded.labelled(where) if any(x and 4 * len(x) > LONGEST for x in number) else coded
            return cls.of(listed).labelled(where)
        gone = np.ma.getmaskarray(values) if np.ma.is_masked(values) else None
        plain = np.ma.getdata(values)
        some = plain if gone is None else plain[~gone]
        names, inverse = np.unique(some, return_inverse=True)
        if gone is None and names.dtype.kind in "iu":  # whole numbers are labels as they are
            return cls(codes=small_codes(inverse, len(names)), names=tuple(names.tolist()))
        codes = np.full(len(plain), len(names), dtype=np.int32)
        codes[slice(None) if gone is None else ~gone] = inverse
        return cls(codes=codes, names=(*names.tolist(), *([] if gone is None else [None]))).labelled(where)

    @classmethod
    def of_column(cls, column: Coded) -> Codes:
        """From a column that was coded when it was read."""
        if column.missing is not None and column.missing.all():  # no number stands for a label
            return cls(codes=np.zeros(len(column), dtype=np.uint8), names=(None,))
        if column.codes.dtype.kind in "iu" and column.span <= len(column) and column.offset + column.span < 1 << 62:
            shifted = column.codes.astype(np.int64) - column.offset
            seen = np.bincount(shifted, minlength=1) > 0
            numbers, codes = np.flatnonzero(seen) + column.offset, (np.cumsum(seen) - 1)[shifted]
        else:
            numbers, codes = np.unique(column.codes, return_inverse=True)
        names: list[Label | None] = [column.label(int(number) - column.offset) for number in numbers.tolist()]
        if column.missing is not None and column.missing.any():
            codes = np.where(column.missing, len(names), codes)
            names.append(None)
        return cls(codes=small_codes(codes, len(names)), names=tuple(names))

    def labelled(self, where: str) -> Codes:
        """With values of an engine as labels: one label may have several, such as NaN and nothing."""
        labels = Codes.of([label_of(value, where=where) for value in self.names])
        return Codes(codes=small_codes(labels.codes[self.codes], len(labels.names)), names=labels.names)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    def __iter__(self) -> Iterator[Label | None]:
        """The labels row by row."""
        return (self.names[code] for code in self.codes.tolist())

    def count(self, value: object) -> int:
        """In how many rows a label stands."""
        return sum(int(np.count_nonzero(self.codes == i)) for i, name in enumerate(self.names) if name == value)

    def seen(self) -> set[Label | None]:
        """The labels that occur."""
        return {self.names[code] for code in np.unique(self.codes).tolist()}

    def are(self, label: Label | None) -> NDArray[np.bool_]:
        """Which rows have a label."""
        hit: NDArray[np.bool_] = np.array([one == label for one in self.names], dtype=np.bool_)
        return hit[self.codes]

    def placed(self, place: Mapping[Label, int]) -> Whole:
        """Every label as the number it has in another list."""
        own = np.array([place.get(cast("Label", name), -1) for name in self.names], dtype=np.int64)
        places: Whole = own[self.codes]
        if places.min(initial=0) < 0:
            raise KeyError(next(name for name in self.seen() if name not in place))
        return places


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellTable:
    """Cells as columns, for as many as units make: codes of each label, rows, and what these weigh."""

    labels: tuple[Codes, ...]
    rows: Whole
    weight: Floats

    @classmethod
    def of_cells(cls, cells: Cells) -> CellTable:
        """From cells one by one."""
        columns = [Codes.of(column) for column in zip(*cells, strict=True)]
        weights = [float(weight.total if isinstance(weight, Weight) else weight) for _, weight in cells.values()]
        rows = np.array([rows for rows, _ in cells.values()], dtype=np.int64)
        return cls(labels=tuple(columns), rows=rows, weight=np.array(weights, dtype=np.float64))

    def select(self, cells: NDArray[np.bool_]) -> CellTable:
        """Some of the cells."""
        labels = tuple(replace(column, codes=column.codes[cells]) for column in self.labels)
        return CellTable(labels=labels, rows=self.rows[cells], weight=self.weight[cells])

    def complete(self) -> CellTable:
        """The cells with a true and a predicted label."""
        return self.select(~(self.labels[-2].are(None) | self.labels[-1].are(None)))

    def without_first(self) -> CellTable:
        """The same cells without their first label."""
        return replace(self, labels=self.labels[1:])

    def with_predicted(self, names: Sequence[Label]) -> CellTable:
        """The same cells with names for the numbers of predictions."""
        last = self.labels[-1]
        named = replace(last, names=tuple(names[cast("int", number)] for number in last.names))
        return replace(self, labels=(*self.labels[:-1], named))

    def pairs(self) -> Cells:
        """Rows by (truth, predicted), where rows have no weights."""
        truth, predicted = self.labels[-2:]
        key = truth.codes.astype(np.int64) * len(predicted.names) + predicted.codes
        rows = np.bincount(key, weights=self.rows, minlength=1)  # exact below 2^53 rows
        return {
            (truth.names[place // len(predicted.names)], predicted.names[place % len(predicted.names)]): (times, times)
            for place in np.flatnonzero(rows).tolist()
            if (times := int(rows[place]))
        }


def small_codes(codes: Small | Whole, names: int) -> Small:
    """In the smallest type that holds as many names."""
    if names <= 1 << 8:
        return codes.astype(np.uint8, copy=False)
    return codes.astype(np.uint16, copy=False) if names <= 1 << 16 else codes.astype(np.int32, copy=False)
