# SPDX-License-Identifier: Apache-2.0
"""What controls count of a data set: tables of columns, missing values, time spans, and hashes of ids and contents.

Rows leave the engine only as hashes of at most sixteen bytes each; ids and contents never do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from assay.core.labels import Label
from assay.core.text import visible
from assay.rows.databases.database import is_attached, is_database
from assay.rows.databases.duckdb_tables import open_database
from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.files.formats import Progress, Reading
from assay.rows.files.opened_file import OpenedFile, check_scalar
from assay.rows.inputs import open_embedded
from assay.rows.limits import Limits
from assay.tally.base import digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words: TypeAlias = NDArray[np.uint64]

EXACT = frozenset(("double", "bigint", "integer", "smallint", "tinyint"))
"""Types whose values are the same number whether they come as they are or by way of their text."""
PLAIN = EXACT | {"float", "boolean", "date"}
"""Types of which equal texts are equal values, so that the engine may hash them as they are."""
LEVELS = 10_000
"""Cells a table may have; a column with more levels tells no channel and no class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hashes:
    """One hash a row, as two sorted 64-bit halves."""

    low: Words
    high: Words

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.low)

    def found_in(self, other: Hashes) -> int:
        """How many of these rows are among the others, repeats counted."""
        return len(self.among(other))

    def among(self, other: Hashes) -> Hashes:
        """Those of these rows that are among the others."""
        if not len(self) or not len(other):
            return NO_HASHES
        at = np.searchsorted(other.low, self.low)
        at[at == len(other)] = 0
        # Two different rows that share the lower half within one set are expected once in 2^64 / n^2 sets.
        there = (other.low[at] == self.low) & (other.high[at] == self.high)
        return Hashes(low=self.low[there], high=self.high[there])

    def distinct(self) -> Hashes:
        """Each hash once."""
        if len(self) == 0:
            return self
        first = np.concatenate([[True], (self.low[1:] != self.low[:-1]) | (self.high[1:] != self.high[:-1])])
        return Hashes(low=self.low[first], high=self.high[first])

    @property
    def digest(self) -> str:
        """SHA-256 of the sorted hashes: the same rows in any order have the same one."""
        return hashlib.sha256(self.low.tobytes() + self.high.tobytes()).hexdigest()


NO_HASHES: Final = Hashes(low=np.empty(0, dtype=np.uint64), high=np.empty(0, dtype=np.uint64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """Rows of one data set that another one has too, by some columns, and how many different ones they are."""

    rows: int
    distinct: int
    columns: tuple[str, ...] = ()
    nearly: bool = False
    which: Hashes = field(default=NO_HASHES, repr=False, compare=False)
    """Each of the different ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts:
    """Rows alike in every feature that carry different labels."""

    groups: int
    rows: int
    least_errors: int
    distinct: int


class SplitRows:
    """A file whose rows are counted by controls; every answer is a small table or an array of hashes."""

    def __init__(self, opened: OpenedFile) -> None:
        self.opened = opened

    @classmethod
    def of(
        cls, data: str | list[str], *, reading: Reading, limits: Limits | None = None, progress: Progress | None = None
    ) -> SplitRows | None:
        """Rows wherever they lie, files checked to their last byte; None where a server or SQLite only counts them.

        `progress` hears of that and of every later question.
        """
        if isinstance(data, str) and is_database(data) and not is_attached(data):
            open_database(data, reading).close()
            return None
        return cls(open_embedded(data, {}, reading, limits=limits, progress=progress))

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.opened.columns)

    @property
    def sha256(self) -> str:
        """The digest of the file."""
        files = self.opened.files
        return self.opened.sha256 if len(files) == 1 else digest(files)

    @property
    def name(self) -> str:
        """The name of the file."""
        return visible(Path(self.opened.path).name)

    def has(self, *columns: str | None) -> bool:
        """Whether every named column is there."""
        return all(column is not None and column in self.opened.columns for column in columns)

    def rows(self) -> int:
        """How many rows there are."""
        return int(self.opened.fetch("SELECT count(*) FROM rows")[0][0])

    def table(self, *columns: str, without: Sequence[Shared] = ()) -> dict[tuple[Label | None, ...], int] | None:
        """Rows by the values of some columns, but for those that another data set has too.

        None where there are too many different ones.
        """
        for column in columns:
            check_scalar(self.opened, column)
        names, tests = ", ".join(quote_identifier(column) for column in columns), ["true"]
        with ExitStack() as registered:
            for i, shared in enumerate(without):
                words = {"low": shared.which.low, "high": shared.which.high}
                registered.enter_context(register(self.opened, f"assay_shared_{i}", words))
                text = self._text(shared.columns, nearly=shared.nearly)
                same = f"s.low = md5_number_upper({text}) AND s.high = md5_number_lower({text})"
                tests.append(f"NOT EXISTS (SELECT 1 FROM assay_shared_{i} s WHERE {same})")  # noqa: S608  quoted
            counts = f"SELECT {names}, count(*) AS n FROM rows WHERE {' AND '.join(tests)} GROUP BY ALL"  # noqa: S608
            ordered = f"{counts} ORDER BY count(*) DESC, {names} LIMIT {LEVELS + 1}"  # the same in every run
            cells = self.opened.fetch(ordered)
        return None if len(cells) > LEVELS else {tuple(row[:-1]): int(row[-1]) for row in cells}

    def missing(self) -> dict[str, int]:
        """Missing values by column."""
        names = list(self.opened.columns)
        counts = ", ".join(f"count(*) - count({quote_identifier(name)})" for name in names)
        found = self.opened.fetch(f"SELECT {counts} FROM rows")[0]  # noqa: S608  quoted above
        return {name: int(n) for name, n in zip(names, found, strict=True)}

    def span(self, column: str) -> tuple[str, str] | None:
        """The first and the last time in a column; None where a value is not a time."""
        check_scalar(self.opened, column)
        # Trimmed, because duckdb 2.0 pushes a bare TRY_CAST into its CSV reader, where it fails instead of trying.
        time = f"TRY_CAST(trim(CAST({quote_identifier(column)} AS VARCHAR)) AS TIMESTAMP)"
        query = f"SELECT min({time}), max({time}), count(*) - count({time}) FROM rows"  # noqa: S608  quoted above
        first, last, unread = self.opened.fetch(query)[0]
        return None if unread or first is None else (first.isoformat(), last.isoformat())

    def hashes(self, *columns: str, nearly: bool = False, among: Words | None = None, quick: str = "") -> Hashes:
        """One MD5 a row over some columns; `nearly` folds case, spaces and digits past the sixth.

        `among` leaves out rows whose quick hash is not among these.
        """
        where = "" if among is None else f" WHERE {quick} IN (SELECT h FROM assay_among)"  # noqa: S608  quoted
        once = f"SELECT {self._text(columns, nearly=nearly)} AS t FROM rows{where}"  # noqa: S608  quoted
        with nullcontext() if among is None else register(self.opened, "assay_among", {"h": among}):
            words = self.opened.arrays(f"SELECT md5_number_upper(t) AS low, md5_number_lower(t) AS high FROM ({once})")  # noqa: S608
        low, high = (np.asarray(words[name], dtype=np.uint64) for name in ("low", "high"))
        order = np.argsort(low)  # rows that share 64 bits of an MD5 are the same row
        return Hashes(low=low[order], high=high[order])

    def shared(self, other: SplitRows, *columns: str, nearly: bool = False) -> Shared:
        """How many of these rows the other data set has too.

        The engine's own hash is quick, but on like texts it collides once in a thousand rows (duckdb 2.0): it only
        rules rows out, and the few that are left are compared by MD5.
        """
        alike = {one for one in columns if self.opened.columns.get(one) == other.opened.columns.get(one)}
        quick = [one._quick(columns, alike, nearly=nearly) for one in (self, other)]  # noqa: SLF001  its own kind
        mine, theirs = (one._sorted(hashed) for one, hashed in zip((self, other), quick, strict=True))  # noqa: SLF001
        none = Shared(rows=0, distinct=0, columns=columns, nearly=nearly)
        if not len(mine) or not len(theirs):
            return none
        at = np.minimum(np.searchsorted(theirs, mine), len(theirs) - 1)
        among = mine[theirs[at] == mine]
        if not len(among):
            return none
        ours, others = (
            one.hashes(*columns, nearly=nearly, among=among, quick=hashed)
            for one, hashed in zip((self, other), quick, strict=True)
        )
        which = ours.distinct().among(others)
        return replace(none, rows=ours.found_in(others), distinct=len(which), which=which)

    def distinct(self, *columns: str) -> int:
        """How many different rows there are, by some columns."""
        text = self._text(columns, nearly=False)
        return int(self.opened.fetch(f"SELECT count(DISTINCT {text}) FROM rows")[0][0])  # noqa: S608  quoted

    def _quick(self, columns: Sequence[str], alike: Collection[str], *, nearly: bool) -> str:
        """The engine's hash of some columns; values that are equal as texts have the same one.

        Columns that have one type on both sides are hashed as they stand, without becoming texts.
        """
        parts = []
        for column in columns:
            check_scalar(self.opened, column)
            plain = not nearly and column in alike and _kind(self.opened.columns[column]) in PLAIN
            parts.append(quote_identifier(column) if plain else self._value(column, nearly=nearly))
        return f"hash({', '.join(parts)})"

    def _sorted(self, hashed: str) -> Words:
        found = self.opened.arrays(f"SELECT {hashed} AS h FROM rows")["h"]  # noqa: S608  quoted
        return np.sort(np.asarray(found, dtype=np.uint64))

    def _text(self, columns: Sequence[str], *, nearly: bool) -> str:
        """The columns of a row as one text; each value is told apart by its length, missing ones by a mark."""
        parts = []
        for column in columns:
            check_scalar(self.opened, column)
            value = self._value(column, nearly=nearly)
            parts.append(f"coalesce(length({value})::VARCHAR || ':' || {value}, '-')")
        return " || ',' || ".join(parts)

    def _value(self, column: str, *, nearly: bool) -> str:
        """A value as text; nearly the same ones as the same text."""
        name, kind = quote_identifier(column), _kind(self.opened.columns[column])
        value = f"nfc_normalize({name})" if kind == "varchar" else f"nfc_normalize(CAST({name} AS VARCHAR))"
        if not nearly:
            return value
        if kind in EXACT:
            return f"format('{{:.5e}}', CAST({name} AS DOUBLE) + 0.0)"
        number = f"TRY_CAST({value} AS DOUBLE)"
        folded = f"lower(trim(regexp_replace({value}, '\\s+', ' ', 'g')))"
        return f"CASE WHEN {number} IS NULL THEN {folded} ELSE format('{{:.5e}}', {number} + 0.0) END"

    def conflicts(self, features: Sequence[str], truth: str) -> Conflicts:
        """Rows alike in every feature that carry different labels."""
        check_scalar(self.opened, truth)
        text = self._text(features, nearly=False)
        label = quote_identifier(truth)
        cells = f"SELECT {text} AS h, {label} AS y, count(*) AS c FROM rows GROUP BY ALL"  # noqa: S608  quoted
        alike = f"SELECT sum(c) AS n, max(c) AS most, count(*) AS k FROM ({cells}) GROUP BY h"  # noqa: S608
        query = (
            "SELECT count(*) FILTER (k > 1), coalesce(sum(n) FILTER (k > 1), 0), "  # noqa: S608
            f"coalesce(sum(n - most), 0), count(*) FROM ({alike})"
        )
        groups, rows, least, distinct = self.opened.fetch(query)[0]
        return Conflicts(groups=int(groups), rows=int(rows), least_errors=int(least), distinct=int(distinct))


@contextmanager
def register(opened: OpenedFile, name: str, columns: Mapping[str, NDArray[Any]]) -> Iterator[None]:  # type: ignore[explicit-any]
    """Arrays as a table of the engine, for as long as a question takes."""
    opened.connection.register(name, columns)
    try:
        yield
    finally:
        opened.connection.unregister(name)


def _kind(type_: str) -> str:
    return type_.partition("(")[0].lower()
