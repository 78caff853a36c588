# SPDX-License-Identifier: Apache-2.0
"""What controls count of single columns: missing values by class, ranges and what lies outside, numbers by label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from assay.core.labels import Label
from assay.rows.engines.duckdb_engine import quote_identifier, quote_literal
from assay.rows.files.opened_file import NUMERIC, REAL, check_scalar
from assay.tally.data.split_counts import SplitRows, register

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats

    Codes: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column in short: values that are there, how many of them are numbers, how many differ, and their range."""

    values: int
    numbers: int
    distinct: int
    low: float
    high: float

    @property
    def numeric(self) -> bool:
        """Whether every value is a number."""
        return self.numbers == self.values > 0


def described(split: SplitRows, column: str) -> Column:
    """A column in short."""
    value, number = _value(split, column), number_of(split, column)
    query = f"SELECT count({value}), count({number}), count(DISTINCT {value}), min({number}), max({number}) FROM rows"  # noqa: S608  quoted
    values, numbers, distinct, low, high = split.opened.fetch(query)[0]
    ends = (math.nan if one is None else float(one) for one in (low, high))
    return Column(values=int(values), numbers=int(numbers), distinct=int(distinct), low=next(ends), high=next(ends))


def missing_by(split: SplitRows, columns: Sequence[str], by: str) -> dict[Label | None, tuple[int, dict[str, int]]]:
    """Class -> its rows, and how many of them lack a value in each column."""
    values = ", ".join(f"count({_value(split, column)})" for column in columns)
    check_scalar(split.opened, by)
    query = f"SELECT {quote_identifier(by)}, count(*), {values} FROM rows GROUP BY 1"  # noqa: S608  quoted
    missing_counts = {}
    for label, rows, *there in split.opened.fetch(query):
        missing_counts[label] = int(rows), {c: int(rows) - int(n) for c, n in zip(columns, there, strict=True)}
    return missing_counts


def outside(split: SplitRows, ranges: dict[str, tuple[float, float]]) -> tuple[dict[str, int], int]:
    """How many numbers of each column lie outside a range, and how many rows hold one that does."""
    tests = {
        column: f"coalesce({number_of(split, column)} NOT BETWEEN {low!r}::DOUBLE AND {high!r}::DOUBLE, false)"
        for column, (low, high) in ranges.items()
    }
    each = ", ".join(f"count(*) FILTER ({one})" for one in tests.values())
    query = f"SELECT {each}, count(*) FILTER ({' OR '.join(tests.values())}) FROM rows"  # noqa: S608  quoted
    *found, rows = split.opened.fetch(query)[0]
    return {column: int(n) for column, n in zip(tests, found, strict=True)}, int(rows)


def numbers_by(split: SplitRows, column: str, truth: str) -> tuple[Floats, Codes, list[str]]:
    """The numbers of a column beside the class of their row, without rows that lack one of them."""
    check_scalar(split.opened, truth)
    number, label = number_of(split, column), quote_identifier(truth)
    there = f"{label} IS NOT NULL AND {number} IS NOT NULL"
    text = f"CAST({label} AS VARCHAR)"
    labels = [row[0] for row in split.opened.fetch(f"SELECT DISTINCT {text} FROM rows WHERE {there} ORDER BY 1")]  # noqa: S608
    every = ", ".join(map(quote_literal, labels))
    # The place of a class among the classes is its code; texts would fill the memory.
    code = f"SELECT {number} AS x, list_position([{every}], {text}) - 1 AS y FROM rows WHERE {there}"  # noqa: S608
    found = split.opened.arrays(code)
    return np.asarray(found["x"], dtype=np.float64), np.asarray(found["y"], dtype=np.int64), labels


def values_of(split: SplitRows, column: str) -> Floats:
    """The numbers of a column, without what is none."""
    number = number_of(split, column)
    found = split.opened.arrays(f"SELECT {number} AS x FROM rows WHERE {number} IS NOT NULL")  # noqa: S608  quoted
    return np.asarray(found["x"], dtype=np.float64)


def alone(split: SplitRows, column: str, truth: str) -> tuple[int, int, int]:
    """Rows of levels that occur twice or more, those of them whose level has one class, and the largest class of all.

    A level that occurs once has one class by necessity and tells nothing.
    """
    check_scalar(split.opened, truth)
    value, label = _value(split, column), quote_identifier(truth)
    cells = f"SELECT {value} AS v, {label} AS y, count(*) AS c FROM rows WHERE {value} IS NOT NULL GROUP BY ALL"  # noqa: S608
    levels = f"SELECT v, sum(c) AS n, count(*) AS k FROM ({cells}) GROUP BY v HAVING sum(c) > 1"  # noqa: S608
    query = f"SELECT coalesce(sum(n), 0), coalesce(sum(n) FILTER (k = 1), 0) FROM ({levels})"  # noqa: S608
    repeated, pure = split.opened.fetch(query)[0]
    most = split.opened.fetch(f"SELECT max(c) FROM (SELECT count(*) AS c FROM rows GROUP BY {label})")[0][0]  # noqa: S608
    return int(repeated), int(pure), int(most or 0)


def _value(split: SplitRows, column: str) -> str:
    check_scalar(split.opened, column)
    return quote_identifier(column)


def number_of(split: SplitRows, column: str) -> str:
    """A value as a number; what is none, and what is not a number by its own word, is missing."""
    # Trimmed, because duckdb 2.0 pushes a bare TRY_CAST into its CSV reader, where it fails instead of trying.
    value = _value(split, column)
    if split.opened.columns[column].partition("(")[0].lower() in NUMERIC | REAL:
        return f"CASE WHEN isnan(CAST({value} AS DOUBLE)) THEN NULL ELSE CAST({value} AS DOUBLE) END"
    text = f"trim(CAST({value} AS VARCHAR))"
    if split.opened.decimal == ",":
        text = f"replace({text}, ',', '.')"
    number = f"TRY_CAST({text} AS DOUBLE)"
    return f"CASE WHEN isnan({number}) THEN NULL ELSE {number} END"


def beside(
    mine: SplitRows, other: SplitRows, key: str, columns: Sequence[str], theirs: Sequence[str]
) -> dict[tuple[str | None, ...], int]:
    """Rows by the values of some columns of both tables, as texts; samples that only one of them has are left out.

    Ids meet as hashes and leave neither engine.
    """
    for table, names in ((mine, columns), (other, theirs)):
        for name in (key, *names):
            check_scalar(table.opened, name)
    id_ = f"md5_number(CAST({quote_identifier(key)} AS VARCHAR))"
    halves = f"({id_} % 18446744073709551616)::UBIGINT AS low, ({id_} // 18446744073709551616)::UBIGINT AS high"
    there = ", ".join(f"CAST({quote_identifier(one)} AS VARCHAR) AS t{i}" for i, one in enumerate(theirs))
    held = other.opened.arrays(f"SELECT {halves}, {there} FROM rows")  # noqa: S608  quoted
    plain = {
        name: np.ma.filled(one.astype(object), None) if np.ma.isMaskedArray(one) else one for name, one in held.items()
    }
    here = ", ".join(f"CAST({quote_identifier(one)} AS VARCHAR) AS m{i}" for i, one in enumerate(columns))
    names = [*(f"m{i}" for i in range(len(columns))), *(f"t{i}" for i in range(len(theirs)))]
    with register(mine.opened, "assay_beside", plain):
        joined_rows = mine.opened.fetch(
            f"SELECT {', '.join(names)}, count(*) FROM (SELECT {halves}, {here} FROM rows) "  # noqa: S608  quoted
            "JOIN assay_beside USING (low, high) GROUP BY ALL"
        )
    return {tuple(row[:-1]): int(row[-1]) for row in joined_rows}
