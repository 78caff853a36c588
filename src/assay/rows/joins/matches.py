# SPDX-License-Identifier: Apache-2.0
"""The join of tables by id, and the diagnosis of rows that do not match, as one SQL text for DuckDB and Spark.

Every table is a subquery that gives its ids as `assay_k0`, `assay_k1`, ... and the number 1 as `assay_here`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from assay.core.errors import MissingColumn, RowsError, missing_column
from assay.core.text import listed, quoted
from assay.rows.engines.duckdb_engine import case_blind
from assay.rows.joins.mismatch_errors import (
    SHOWN,
    Id,
    Join,
    SomeIds,
    Unmatched,
    duplicate_ids,
    ids_differ,
    missing_ids,
    unmatched_rows,
)

if TYPE_CHECKING:
    from assay.rows.databases.database import Use
    from assay.rows.source import Roles

KEY: Final = "assay_k"
HERE: Final = "assay_here"
SMALL: Final = 10_000
"""Rows of a table whose ids are joined without a look for many rows of one id."""
BUCKETS: Final = 1 << 12
"""Groups of ids, by a hash, in which rows are counted for that look."""


@dataclass(frozen=True, kw_only=True)
class JoinTable:
    """A table of an engine with its ids, as the join sees it."""

    view: str
    """Its name in SQL."""
    ids: tuple[str, ...]
    """The columns that make an id, as SQL names them."""
    kinds: tuple[str, ...]
    """The kind of values in each of them."""
    called: str
    fetch: Callable[[str], list[tuple[Any, ...]]]
    """Runs a query that has a small answer."""
    dialect: str
    rows: int | None = None
    """The number of rows, if it is known."""
    places: Callable[[Id | None], list[int]] = lambda _: []
    """The first rows that have an id, or that have none; empty where rows have no order."""

    @property
    def keys(self) -> int:
        """The number of columns that make an id."""
        return len(self.ids)

    @property
    def source(self) -> str:
        """The subquery, in parentheses, that gives the table its ids."""
        texts = (
            f"CAST({sql} AS STRING)" if kind == "text" else sql for sql, kind in zip(self.ids, self.kinds, strict=True)
        )
        named = ", ".join(f"{sql} AS {KEY}{place}" for place, sql in enumerate(texts))
        return f"(SELECT *, {named}, 1 AS {HERE} FROM {self.view})"  # noqa: S608  quoted

    @cached_property
    def size(self) -> int:
        """The number of rows; a query for it is run once, for that may take a pass over all of them."""
        return _number(self, f"FROM {self.view}") if self.rows is None else self.rows

    def columns(self, alias: str = "") -> str:
        """The columns of the id."""
        return ", ".join(f"{alias}{KEY}{place}" for place in range(self.keys))


def full_join(tables: Sequence[JoinTable], columns: Sequence[str], *, how: str = "FULL") -> str:
    """The join of all tables with the first, which are called t0, t1, ... in `columns`."""
    joins = " ".join(f"{how} JOIN {table.source} AS t{i} ON {_same(table, i)}" for i, table in enumerate(tables) if i)
    return f"SELECT {', '.join(columns)} FROM {tables[0].source} AS t0 {joins}"  # noqa: S608


def is_crowded(table: JoinTable) -> bool:
    """Whether some id may stand in so many rows that a join would multiply them without end."""
    size = table.size
    if size <= SMALL:
        return False
    groups = f"SELECT count(*) AS n FROM {table.source} AS t0 GROUP BY hash({table.columns()}) % {BUCKETS}"  # noqa: S608
    [[most]] = table.fetch(f"SELECT max(n) FROM ({groups}) AS buckets")  # noqa: S608
    return int(most) > 100 + 2 * size // BUCKETS


def first_ids(table: JoinTable, most: int) -> SomeIds:
    """The ids of a table."""
    return _some_ids(table, table.size, f"FROM {table.source} AS t0", table.columns(), most)


def find_lone_ids(table: JoinTable, other: JoinTable, most: int) -> SomeIds:
    """The ids of a table that another one does not have."""
    lone = f"FROM {table.source} AS t0 ANTI JOIN {other.source} AS t1 ON {_same(other, 1)}"
    return _some_ids(table, _number(table, lone), lone, table.columns("t0."), most)


def _some_ids(table: JoinTable, count: int, query: str, ids: str, most: int) -> SomeIds:
    """The first ids that a query gives, with their rows."""
    first = table.fetch(f"SELECT {ids} {query} ORDER BY {ids} LIMIT {most:d}") if count else []
    return SomeIds(count=count, first={tuple(row): table.places(tuple(row)) for row in first})


def find_differences(
    first: JoinTable, other: JoinTable, differ: str, values: Sequence[str], most: int
) -> tuple[int, list[tuple[Id, tuple[Any, ...]]]]:
    """The number of matched rows where `differ` holds, and some of them: the id, and `values`."""
    wrong = f"FROM {first.source} AS t0 JOIN {other.source} AS t1 ON {_same(other, 1)} WHERE {differ}"
    count = _number(first, wrong)
    if not count:
        return 0, []
    ids = first.columns("t0.")
    rows = first.fetch(f"SELECT {', '.join([ids, *values])} {wrong} ORDER BY {ids} LIMIT {most:d}")
    return count, [(tuple(row[: first.keys]), tuple(row[first.keys :])) for row in rows]


def _number(table: JoinTable, query: str) -> int:
    return int(table.fetch(f"SELECT count(*) {query}")[0][0])


def _same(table: JoinTable, place: int) -> str:
    return " AND ".join(f"t0.{KEY}{i} = t{place}.{KEY}{i}" for i in range(table.keys))


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChoice:
    """Columns of predictions (0) and truth (1) in one table, each under a name of its own."""

    names: Sequence[Sequence[str]]
    where: Sequence[str]
    by: tuple[str, ...]
    chosen: dict[str, tuple[int, str]] = field(default_factory=dict)
    """The name in the joined table -> side and name there."""

    def take(self, role: str, column: object) -> str:
        """The name a column gets; truth and predictions come from their own side, the rest from the one that has it."""
        wanted = str(column)
        if role in ("predicted", "score", "truth"):
            side = int(role == "truth")
            if wanted not in self.names[side]:
                raise self._missing(wanted, [side])
        else:
            side = self._side_of(wanted)
        name, taken = wanted, {case_blind(given): home for given, home in self.chosen.items()}
        while taken.get(case_blind(name), (side, wanted)) != (side, wanted):
            name = f"{name} ({('predictions', 'truth')[side]})"
        self.chosen[name] = (side, wanted)
        return name

    def _side_of(self, column: str) -> int:
        has = [column in names for names in self.names]
        if all(has) and column not in self.by:
            raise RowsError(
                "column-ambiguous",
                f"column {quoted(column)} stands in {self.where[0]} and in {self.where[1]}",
                where=f"{self.where[0]} and {self.where[1]}",
                found="the two could disagree",
                fix="rename one of them, or leave one out",
            )
        if not any(has):
            raise self._missing(column, [0, 1])
        return 0 if has[0] else 1

    def _missing(self, column: str, sides: Sequence[int]) -> MissingColumn:
        names = [name for side in sides for name in self.names[side]]
        known = "; ".join(f"{self.where[side]}: {listed(self.names[side], most=12)}" for side in sides)
        return missing_column(column, names, " and ".join(self.where[side] for side in sides), known)


def uses_of_sides(roles: Roles, by: Sequence[str]) -> list[dict[str, Use]]:
    """What columns predictions and truth may be asked for; groups and weights may be on either side."""
    either = (*by, *map(str, (*roles.group.values(), roles.weight)))
    own: list[list[object]] = [[roles.predicted, *(() if roles.score is None else roles.score.columns)], [roles.truth]]
    return [{name: use for name, use in roles.uses(by).items() if name in (*either, *map(str, names))} for names in own]


def check_kinds(tables: Sequence[JoinTable], by: Sequence[str]) -> None:
    """Check that ids are of one kind in both tables: the number 1 and the text 1 are two ids."""
    for column, *kinds in zip(by, *(table.kinds for table in tables), strict=True):
        if kinds[0] != kinds[1]:
            raise ids_differ(column, kinds, [table.called for table in tables])


def count_matches(tables: Sequence[JoinTable], by: Sequence[str], unmatched: Unmatched) -> Join:
    """Count the rows that match; duplicate and missing ids, and rows that match none, are errors."""
    for table in tables:
        if is_crowded(table):
            check_ids(table, by)
    counts = ["count(*)", *(f"count(t{i}.{HERE})" for i in range(len(tables)))]
    total, *here = (int(number) for number in tables[0].fetch(full_join(tables, counts))[0])
    matched = sum(here) - total
    if here != [table.size for table in tables] or total != matched:
        for table in tables:
            check_ids(table, by)
    join = Join(by=tuple(by), predictions=here[0], truth=here[1], matched=matched)
    if join.unmatched and (unmatched == "error" or not matched):
        ours, theirs = tables
        lone = {
            f"{ours.called} without truth": find_lone_ids(ours, theirs, SHOWN),
            f"{theirs.called} without prediction": find_lone_ids(theirs, ours, SHOWN),
        }
        raise unmatched_rows(lone, matched, f"{ours.called} and {theirs.called}")
    return join


def check_ids(table: JoinTable, by: Sequence[str] = (), of: str = "") -> None:
    """Check that every row, of some model, has an id, and no other row has the same."""
    where = f"{table.called}, {'column' if len(by) == 1 else 'columns'} {listed(by)}" if by else table.called
    missing = " OR ".join(f"{KEY}{i} IS NULL" for i in range(table.keys))
    if lacking := _number(table, f"FROM {table.source} AS t0 WHERE {missing}"):
        raise missing_ids(lacking, table.places(None), where, of)
    groups = f"FROM {table.source} AS t0 WHERE NOT ({missing}) GROUP BY {table.columns()} HAVING count(*) > 1"
    [[ids, rows]] = table.fetch(
        f"SELECT count(*), coalesce(sum(n), 0) FROM (SELECT count(*) AS n {groups}) AS doubled"  # noqa: S608
    )
    if ids:
        raise duplicate_ids(_some_ids(table, int(ids), groups, table.columns(), SHOWN), int(rows), where, of)
