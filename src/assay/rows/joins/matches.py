# SPDX-License-Identifier: Apache-2.0
"""Which column of two tables is meant, and which of their rows match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.core.errors import MissingColumn, RowsError, missing_column
from assay.core.text import listed, quoted
from assay.rows.engines.duckdb_engine import case_blind
from assay.rows.joins.join_sql import (
    JoinTable,
    count_joined,
    count_missing_ids,
    find_duplicate_ids,
    find_lone_ids,
    is_crowded,
)
from assay.rows.joins.mismatch_errors import (
    SHOWN,
    Join,
    Lone,
    Unmatched,
    duplicate_ids,
    ids_differ,
    missing_ids,
    unmatched_rows,
)

if TYPE_CHECKING:
    from assay.rows.databases.selection import Use
    from assay.rows.source import Roles


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
    """What columns predictions and truth may be asked for."""
    own: list[list[object]] = [[roles.predicted, *(() if roles.score is None else roles.score.columns)], [roles.truth]]
    return [
        {name: use for name, use in roles.uses(by).items() if name in (*by, *map(str, names), *_of_either(roles))}
        for names in own
    ]


def _of_either(roles: Roles) -> list[str]:
    return [str(name) for name in (*roles.group.values(), roles.weight)]


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
    total, *here = count_joined(tables)
    matched = sum(here) - total
    if here != [table.size() for table in tables] or total != matched:
        for table in tables:
            check_ids(table, by)
    join = Join(by=tuple(by), predictions=here[0], truth=here[1], matched=matched)
    if join.unmatched and (unmatched == "error" or not matched):
        ours, theirs = tables
        sides = ((ours, theirs, "truth"), (theirs, ours, "prediction"))
        lone = [
            Lone(side=side.called, lacks=lacks, ids=find_lone_ids(side, other, SHOWN)) for side, other, lacks in sides
        ]
        raise unmatched_rows(lone, matched, f"{ours.called} and {theirs.called}")
    return join


def check_ids(table: JoinTable, by: Sequence[str] = (), of: str = "") -> None:
    """Check that every row, of some model, has an id, and no other row has the same."""
    where = f"{table.called}, {'column' if len(by) == 1 else 'columns'} {listed(by)}" if by else table.called
    if lacking := count_missing_ids(table):
        raise missing_ids(lacking, table.places(None), where, of)
    doubled, rows = find_duplicate_ids(table, SHOWN)
    if doubled.count:
        raise duplicate_ids(doubled, rows, where, of)
