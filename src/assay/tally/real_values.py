# SPDX-License-Identifier: Apache-2.0
"""Real values that tests compare: paired by item, fold or data set, or of independent groups; moments are exact."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.errors import OutOfRange, PlanError, RowsError, UnpairedRows
from assay.core.text import counted, visible
from assay.tally.base import VERSION

if TYPE_CHECKING:
    from assay.core.arrays import Floats

SIGNIFICAND: Final = 53
RUNS, HALVES = 5, 2
LEAST_SPLITS: Final = 2
"""Splits into halves below which their spread says nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """Values as whole numbers over one denominator: sums of them and of their squares lose nothing."""

    whole: list[int]
    over: int

    @classmethod
    def of(cls, values: Sequence[object] | Floats) -> Exact:
        """From doubles (read as the binary fractions they are), Decimals or Fractions.

        >>> Exact.of([0.5, 0.25]).sum
        Fraction(3, 4)
        """
        if isinstance(values, np.ndarray) and values.dtype == np.float64:
            return cls._of_doubles(values)
        exact = [Fraction(cast("float", value)) for value in values]
        over = math.lcm(*(fraction.denominator for fraction in exact))
        return cls([fraction.numerator * (over // fraction.denominator) for fraction in exact], over)

    @classmethod
    def _of_doubles(cls, values: Floats) -> Exact:
        significand, exponent = np.frexp(values)
        whole = np.ldexp(significand, SIGNIFICAND).astype(np.int64).tolist()
        power = np.where(values == 0, 0, exponent - SIGNIFICAND)
        least = int(power.min(initial=0))
        shifts = (power - least).tolist()
        return cls([n << s for n, s in zip(whole, shifts, strict=True)], 1 << -least)

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.whole)

    @property
    def sum(self) -> Fraction:
        """Their sum."""
        return Fraction(sum(self.whole), self.over)

    @property
    def mean(self) -> Fraction:
        """Their mean."""
        return self.sum / self.n

    @property
    def squares(self) -> Fraction:
        """The sum of their squared distances from the mean."""
        total = sum(self.whole)
        return Fraction(self.n * sum(x * x for x in self.whole) - total * total, self.n * self.over * self.over)

    @property
    def variance(self) -> Fraction:
        """The sample variance, over n - 1."""
        return self.squares / (self.n - 1)

    def __sub__(self, other: Exact) -> Exact:
        """The differences, one by one."""
        over = math.lcm(self.over, other.over)
        mine, theirs = over // self.over, over // other.over
        return Exact([a * mine - b * theirs for a, b in zip(self.whole, other.whole, strict=True)], over)

    def fractions(self) -> list[Fraction]:
        """Each value as it is."""
        return [Fraction(x, self.over) for x in self.whole]

    def to_json(self) -> list[float | str]:
        """Numbers where a double holds them, otherwise fractions as text."""
        return [float(x) if Fraction(float(x)) == x else str(x) for x in self.fractions()]

    def floats(self) -> Floats:
        """Each value rounded once."""
        return np.array([x / self.over for x in self.whole], dtype=np.float64)


def finite(values: object, name: str) -> Floats | list[Fraction]:
    """Values as doubles, or exactly where they are Decimals or Fractions; what is not a finite number is refused."""
    if isinstance(values, np.ndarray) and values.dtype == np.float64 and bool(np.isfinite(values).all()):
        return values
    listed = values.tolist() if hasattr(values, "tolist") else list(cast("Sequence[object]", values))
    wrong = [i for i, x in enumerate(listed) if not _is_finite(x)]
    if wrong:
        shown = ", ".join(f"{visible(repr(listed[i]))} at index {i}" for i in wrong[:3])
        raise OutOfRange(
            "value-not-finite",
            f"{counted(len(wrong), 'value')} of {len(listed):,} {'is' if len(wrong) == 1 else 'are'} no finite number",
            where=name,
            found=shown,
            fix="correct the values, or leave the item out for every model",
        )
    if any(isinstance(x, (Decimal, numbers.Rational)) for x in listed):
        return [Fraction(cast("Decimal", x)) for x in listed]
    return np.array(listed, dtype=np.float64)


def _is_finite(value: object) -> bool:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (numbers.Real, Decimal)):
        return False
    return isinstance(value, numbers.Rational) or math.isfinite(value)


def _read(content: object) -> tuple[Exact, ...]:
    columns = cast("list[list[float | str]]", content)
    return tuple(Exact.of([Fraction(x) for x in column]) for column in columns)


def _held(values: object, name: str) -> Exact:
    return values if isinstance(values, Exact) else Exact.of(finite(values, name))


def _paired(columns: Iterable[tuple[str, object]], unit: str) -> tuple[Exact, ...]:
    """Columns of one value a model for every unit."""
    exact_columns = {name: _held(column, name) for name, column in columns}
    sizes = {name: column.n for name, column in exact_columns.items()}
    if len(set(sizes.values())) != 1:
        raise UnpairedRows(
            "rows-unmatched",
            "the models do not have the same number of values",
            found=", ".join(f"{name} {n:,}" for name, n in sizes.items()),
            fix=f"give one value a model for every {unit}",
        )
    if 0 in sizes.values():
        raise RowsError("no-rows", "there are no values to compare", fix=f"give at least one {unit}")
    return tuple(exact_columns.values())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """Values of two models on the same items, folds or data sets."""

    a: Exact
    b: Exact
    models: tuple[str, str] = ("A", "B")
    unit: str = "item"
    about: str = ""

    @classmethod
    def of(cls, a: object, b: object, *, models: tuple[str, str] = ("A", "B"), unit: str = "item") -> Pairs:
        """From two columns of equal length.

        >>> Pairs.of([1.0, 2.0], [0.5, 2.5]).difference.floats().tolist()
        [0.5, -0.5]
        """
        first, second = _paired(zip(models, (a, b), strict=True), unit)
        return cls(a=first, b=second, models=models, unit=unit)

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return self.a.n

    @property
    def difference(self) -> Exact:
        """A minus B, pair by pair, exact."""
        return self.a - self.b


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blocks:
    """Values of K models on the same J items, folds or data sets; a row is a block."""

    values: tuple[Exact, ...]
    models: tuple[str, ...]
    unit: str = "item"
    lower_is_better: bool = False
    about: str = ""
    """What is measured, where it is known."""

    @classmethod
    def of(
        cls, values: Mapping[str, object], *, unit: str = "item", lower_is_better: bool = False, about: str = ""
    ) -> Blocks:
        """From one column a model."""
        columns, models = _paired(values.items(), unit), tuple(values)
        return cls(values=columns, models=models, unit=unit, lower_is_better=lower_is_better, about=about)

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "kind": "paired-values",
            "version": VERSION,
            "models": list(self.models),
            "unit": self.unit,
            "lower_is_better": self.lower_is_better,
            "values": [one.to_json() for one in self.values],
            **({"about": self.about} if self.about else {}),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Blocks:
        """The inverse of `to_json`."""
        return cls(
            values=_read(content["values"]),
            models=tuple(cast("list[str]", content["models"])),
            unit=cast("str", content["unit"]),
            lower_is_better=bool(content["lower_is_better"]),
            about=str(content.get("about", "")),
        )

    @property
    def j(self) -> int:
        """How many blocks there are."""
        return self.values[0].n

    @property
    def k(self) -> int:
        """How many models there are."""
        return len(self.models)

    def matrix(self) -> Floats:
        """Blocks down, models across."""
        return np.stack([one.floats() for one in self.values], axis=1)

    def pair(self, a: int, b: int) -> Pairs:
        """Two of the models."""
        models = (self.models[a], self.models[b])
        return Pairs(a=self.values[a], b=self.values[b], models=models, unit=self.unit, about=self.about)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groups:
    """Values of independent groups of items: nothing pairs them."""

    values: tuple[Exact, ...]
    models: tuple[str, ...]

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Groups:
        """From one column a group; the columns may have any lengths."""
        groups = {str(name): _held(column, str(name)) for name, column in values.items()}
        few = [name for name, one in groups.items() if one.n == 0]
        if len(groups) < 2 or few:  # noqa: PLR2004  nothing to compare
            raise RowsError(
                "no-rows",
                f"group {few[0]} has no values" if few else "there are not two groups to compare",
                fix="give at least two groups with values",
            )
        return cls(values=tuple(groups.values()), models=tuple(groups))

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "kind": "independent-values",
            "version": VERSION,
            "models": list(self.models),
            "values": [one.to_json() for one in self.values],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Groups:
        """The inverse of `to_json`."""
        return cls(values=_read(content["values"]), models=tuple(cast("list[str]", content["models"])))

    @property
    def n(self) -> int:
        """All values."""
        return sum(self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each group has."""
        return tuple(one.n for one in self.values)

    def arrays(self) -> list[Floats]:
        """The groups as doubles."""
        return [one.floats() for one in self.values]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Folds:
    """Differences A - B from resampling one data set, and how large a test part is against its training part."""

    difference: Exact
    test_over_train: Fraction
    models: tuple[str, str] = ("A", "B")
    about: str = ""

    @classmethod
    def of(cls, pairs: Pairs, *, test_over_train: object) -> Folds:
        """From values of two models on the same resamples; for k folds the ratio is 1/(k - 1)."""
        ratio = Fraction(test_over_train) if isinstance(test_over_train, (int, float, str, Fraction)) else None
        if ratio is None or not ratio > 0:
            raise PlanError(
                "value-out-of-domain",
                f"test_over_train = {test_over_train!r} is not the size of a test part over its training part",
                known="a number above 0, such as 1/4 for five folds",
                fix="give n_test / n_train of one resample",
            )
        return cls(difference=pairs.difference, test_over_train=ratio, models=pairs.models, about=pairs.about)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiveByTwo:
    """Ten differences A - B: five random halvings, each trained on one half and tested on the other, then swapped."""

    difference: tuple[tuple[Fraction, Fraction], ...]
    models: tuple[str, str] = ("A", "B")
    about: str = ""

    @classmethod
    def of(
        cls, differences: Sequence[Sequence[object]], *, models: tuple[str, str] = ("A", "B"), about: str = ""
    ) -> FiveByTwo:
        """From five pairs of differences, in the order they were run."""
        rows = [list(row) for row in differences]
        if len(rows) != RUNS or any(len(row) != HALVES for row in rows):
            raise PlanError(
                "matrix-shape",
                "a 5x2 cross-validation has five runs of two differences",
                found=f"{counted(len(rows), 'run')} of {sorted({len(row) for row in rows})} differences",
                fix="give five pairs of differences, A minus B",
            )
        exact = Exact.of(finite([x for row in rows for x in row], "differences")).fractions()
        return cls(difference=tuple((exact[2 * i], exact[2 * i + 1]) for i in range(RUNS)), models=models, about=about)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Halved:
    """A - B of all rows, and of the two halves of every random split; each by the same cross-validation."""

    whole: Fraction
    halves: tuple[tuple[Fraction, Fraction], ...]
    models: tuple[str, str] = ("A", "B")
    about: str = ""

    @classmethod
    def of(cls, pairs: Pairs) -> Halved:
        """From one value a model of all rows, followed by those of both halves, split by split.

        >>> Halved.of(Pairs.of([0.9, 0.9, 0.8, 0.9, 1.0], [0.8, 0.9, 0.9, 0.6, 0.9])).splits
        2
        """
        gap = pairs.difference.fractions()
        splits, odd = divmod(len(gap) - 1, 2)
        if odd or splits < LEAST_SPLITS:
            raise PlanError(
                "comparison-needs",
                f"values of all rows and of halves come as one, and two for every split, not {len(gap):,} in all",
                known="5, 7, 9, ... values a model",
                fix="give the value of all rows first, then those of both halves, split by split",
            )
        both = tuple((gap[i], gap[i + 1]) for i in range(1, len(gap), 2))
        return cls(whole=gap[0], halves=both, models=pairs.models, about=pairs.about)

    @property
    def splits(self) -> int:
        """How often all rows were split into halves."""
        return len(self.halves)

    @property
    def variance(self) -> Fraction:
        """Of the difference of all rows: half the variance of the difference of a half."""
        return sum(((a - b) ** 2 for a, b in self.halves), Fraction(0)) / (4 * self.splits)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """Values of one sample, such as differences whose shape is asked about."""

    values: Exact
    models: tuple[str, ...] = ()

    @classmethod
    def of(cls, values: object) -> Sample:
        """From one column."""
        return cls(values=_held(values, "values"))
