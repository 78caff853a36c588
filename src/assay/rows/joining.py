# SPDX-License-Identifier: Apache-2.0
"""Truth in one table and predictions in another, joined by id inside the embedded engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from assay.core.text import listed
from assay.rows.engine import quote_identifier, quote_literal, told_as_ours
from assay.rows.files import with_engine
from assay.rows.ids import (
    SHOWN,
    Id,
    Join,
    Lone,
    SideBySide,
    Unmatched,
    duplicate_ids,
    ids_differ,
    kind_of_id,
    missing_ids,
    unmatched_rows,
)
from assay.rows.limits import Limits
from assay.rows.listing import Paths
from assay.rows.opened import VIEW, Home, OpenedFile, check_scalar, locate
from assay.rows.reading import Reading
from assay.rows.sides import opened_sides, two_sides

if TYPE_CHECKING:
    import duckdb

    from assay.rows.opening import Roles
    from assay.rows.textfiles import Progress


def open_joined(
    data: Paths,
    truth_data: Paths,
    roles: Roles,
    by: Sequence[str],
    reading: Reading = Reading(),  # noqa: B008  frozen
    *,
    unmatched: Unmatched = "error",
    progress: Progress | None = None,
    limits: Limits = Limits(),  # noqa: B008
) -> tuple[OpenedFile, Roles]:
    """Both sides opened and joined as one table, and the roles by the names the columns have there."""
    sides = two_sides(data, truth_data, reading)
    settled: list[Roles] = []

    def opened(connection: duckdb.DuckDBPyConnection) -> OpenedFile:
        predictions, truth = opened_sides(sides, roles, by, connection, progress=progress, max_rows=reading.max_rows)
        table, named = joined(predictions, truth, roles, by, unmatched=unmatched)
        settled.append(named)
        return table

    files = [file for side in sides for file in side.files]
    databases = [path for side in sides if not side.files for path in side.paths]
    return with_engine(files, limits, opened, databases=databases), settled[0]


def joined(
    predictions: OpenedFile,
    truth: OpenedFile,
    roles: Roles,
    by: Sequence[str],
    *,
    unmatched: Unmatched,
    view: str = VIEW,
) -> tuple[OpenedFile, Roles]:
    """Two tables of one engine as one: every id once on either side, and rows without a partner told or counted."""
    sides = (predictions, truth)
    where = f"{predictions.shown} and {truth.shown}"
    kinds = [_kinds(side, by) for side in sides]
    for column, one, two in zip(by, *kinds, strict=True):
        if one != two:
            raise ids_differ(column, (one, two), [side.shown for side in sides])
    homes, named = _homes(predictions, truth, roles, by)
    casts = _casts(sides, by, kinds[0])
    join = _met(predictions, truth, by, casts, unmatched=unmatched)
    equal = " AND ".join(f"p.{key} = t.{key}" for key in _keys(by))
    chosen = ", ".join(
        f"{'p' if home.table is predictions else 't'}.{quote_identifier(home.column)} AS {quote_identifier(name)}"
        for name, home in homes.items()
    )
    tables = [f"(SELECT *, {_key_columns(by, casts)} FROM {quote_identifier(side.view)})" for side in sides]  # noqa: S608
    query = f"SELECT {chosen} FROM {tables[0]} AS p JOIN {tables[1]} AS t ON {equal}"  # noqa: S608
    connection = predictions.connection
    with told_as_ours(where, predictions.format):
        connection.execute(f"CREATE TEMP VIEW {quote_identifier(view)} AS {query}")
        relation = connection.sql(f"SELECT * FROM {quote_identifier(view)}")  # noqa: S608
        types = {name: str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)}
    table = OpenedFile(
        relation=relation,
        connection=connection,
        path=where,
        format=" and ".join(sorted({predictions.format, truth.format})),
        columns=types,
        digest=str,
        bytes=sum(side.bytes for side in sides),
        rows=join.matched,
        notes=_notes(predictions, truth),
        first_line=1,
        decimal=predictions.decimal,
        faults={name: fault for name, home in homes.items() if (fault := home.table.faults.get(home.column))},
        parts=tuple(part for side in sides for part in side.parts or (side,)),
        homes=homes,
        join=join,
        progress=predictions.progress,
        view=view,
    )
    return table, named


def demand_ids(opened: OpenedFile, by: Sequence[str]) -> None:
    """Demand that ids name every row of a table once."""
    casts = _casts([opened], by, _kinds(opened, by))
    lacking, doubled, rows = opened.fetch(
        f"""SELECT coalesce(sum(n) FILTER ({_absent(by)}), 0),
            count(*) FILTER (n > 1 AND NOT ({_absent(by)})), coalesce(sum(n) FILTER (n > 1 AND NOT ({_absent(by)})), 0)
            FROM (SELECT {", ".join(_keys(by))}, count(*) AS n FROM {_table(opened, by, casts)} GROUP BY ALL)"""  # noqa: S608
    )[0]
    _refuse(opened, by, casts, lacking=int(lacking), doubled=int(doubled), rows=int(rows))


def _keys(by: Sequence[str]) -> list[str]:
    """Plain names for the columns of an id, beside any names of the user's."""
    return [f"assay_id_{place}" for place in range(len(by))]


def _casts(sides: Sequence[OpenedFile], by: Sequence[str], kinds: Sequence[str]) -> list[str | None]:
    """The type in which ids compare exactly, where the sides differ in width; None where they are the same."""
    wide = {"text": "VARCHAR", "whole number": "HUGEINT"}
    return [
        wide[kind] if kind in wide and len({side.columns[name] for side in sides}) > 1 else None
        for name, kind in zip(by, kinds, strict=True)
    ]


def _key_columns(by: Sequence[str], casts: Sequence[str | None]) -> str:
    """The columns of an id under plain names."""
    return ", ".join(
        f"{quote_identifier(name) if cast is None else f'CAST({quote_identifier(name)} AS {cast})'} AS {key}"
        for name, cast, key in zip(by, casts, _keys(by), strict=True)
    )


def _table(opened: OpenedFile, by: Sequence[str], casts: Sequence[str | None]) -> str:
    return f"(SELECT {_key_columns(by, casts)} FROM {quote_identifier(opened.view)})"  # noqa: S608


def _absent(by: Sequence[str]) -> str:
    return " OR ".join(f"{key} IS NULL" for key in _keys(by))


def _kinds(opened: OpenedFile, by: Sequence[str]) -> list[str]:
    for column in by:
        check_scalar(opened, column)
    return [kind_of_id(opened.columns[column], column, opened.shown) for column in by]


def _met(
    predictions: OpenedFile, truth: OpenedFile, by: Sequence[str], casts: Sequence[str | None], *, unmatched: Unmatched
) -> Join:
    """Count every id on both sides in one pass, and refuse what cannot be joined."""
    keys = ", ".join(_keys(by))
    both = " UNION ALL ".join(
        f"SELECT *, CAST({p} AS BOOLEAN) AS p, CAST({t} AS BOOLEAN) AS t FROM {_table(side, by, casts)}"  # noqa: S608
        for side, p, t in ((predictions, "true", "NULL"), (truth, "NULL", "true"))
    )
    # Counts of what is not null are half the work of sums, which the engine makes in 128 bits.
    each = f"SELECT {keys}, count(p) AS p, count(t) AS t FROM ({both}) GROUP BY {keys}"  # noqa: S608
    there = f"NOT ({_absent(by)})"
    wanted = [
        f"coalesce(sum({side}) FILTER ({what}), 0)" if summed else f"count(*) FILTER ({what})"
        for side in "pt"
        for what, summed in (
            ("true", True),
            (_absent(by), True),
            (f"{side} > 1 AND {there}", False),
            (f"{side} > 1 AND {there}", True),
        )
    ]
    found = predictions.fetch(
        f"SELECT {', '.join(wanted)}, count(*) FILTER (p > 0 AND t > 0) FROM ({each})"  # noqa: S608
    )[0]
    numbers = [int(number) for number in found]
    for side, (rows, lacking, doubled, in_rows) in ((predictions, numbers[:4]), (truth, numbers[4:8])):
        _refuse(side, by, casts, lacking=lacking, doubled=doubled, rows=in_rows)
        side.confirm(rows)
    join = Join(by=tuple(by), predictions=numbers[0], truth=numbers[4], matched=numbers[8])
    if join.unmatched and (unmatched == "error" or not join.matched):
        lone = [
            _lone(predictions, truth, by, casts, rows=join.predictions - join.matched, lacks="truth"),
            _lone(truth, predictions, by, casts, rows=join.truth - join.matched, lacks="prediction"),
        ]
        raise unmatched_rows(lone, join.matched, f"{predictions.shown} and {truth.shown}")
    return join


def _refuse(
    opened: OpenedFile, by: Sequence[str], casts: Sequence[str | None], *, lacking: int, doubled: int, rows: int
) -> None:
    where = f"{opened.shown}, {'column' if len(by) == 1 else 'columns'} {listed(by)}"
    if lacking:
        empty = " OR ".join(f"{quote_identifier(name)} IS NULL" for name in by)
        raise missing_ids(lacking, [row for row, _ in locate(opened, empty, by)], where)
    if doubled:
        twice = f"FROM {_table(opened, by, casts)} GROUP BY ALL HAVING count(*) > 1"
        first = opened.fetch(f"SELECT {', '.join(_keys(by))} {twice} ORDER BY ALL LIMIT {SHOWN}")
        raise duplicate_ids(doubled, rows, {one: _rows_of(opened, by, one) for one in first}, where)


def _rows_of(opened: OpenedFile, by: Sequence[str], one: Id) -> list[int]:
    """The first rows that carry an id."""
    texts = [str(part).lower() if isinstance(part, bool) else str(part) for part in one]
    same = " AND ".join(
        f"CAST({quote_identifier(name)} AS VARCHAR) = {quote_literal(text)}"
        for name, text in zip(by, texts, strict=True)
    )
    return [row for row, _ in locate(opened, same, by)]


def _lone(
    side: OpenedFile, other: OpenedFile, by: Sequence[str], casts: Sequence[str | None], *, rows: int, lacks: str
) -> Lone:
    keys = ", ".join(_keys(by))
    ours, theirs = _table(side, by, casts), _table(other, by, casts)
    first = (
        side.fetch(f"SELECT {keys} FROM {ours} ANTI JOIN {theirs} USING ({keys}) ORDER BY ALL LIMIT {SHOWN}")  # noqa: S608
        if rows
        else []
    )
    return Lone(side=side.shown, lacks=lacks, rows=rows, first={one: _rows_of(side, by, one) for one in first})


def _homes(
    predictions: OpenedFile, truth: OpenedFile, roles: Roles, by: Sequence[str]
) -> tuple[dict[str, Home], Roles]:
    """Which side each column comes from, and the roles by names that are unique in the joined table."""
    sides = (predictions, truth)
    columns = SideBySide(
        names=[list(side.columns) for side in sides], where=[side.shown for side in sides], by=tuple(by)
    )
    named = roles.over(columns.take)
    for side, column in columns.chosen.values():
        check_scalar(sides[side], column)
    met = (_partner(truth, by), _partner(predictions, by))
    homes = {
        name: Home(table=sides[side], column=column, matched=met[side])
        for name, (side, column) in columns.chosen.items()
    }
    return homes, named


def _partner(other: OpenedFile, by: Sequence[str]) -> str:
    """The condition that a row has a partner on the other side."""
    ids = ", ".join(f"CAST({quote_identifier(name)} AS VARCHAR)" for name in by)
    return f"({ids}) IN (SELECT ({ids}) FROM {quote_identifier(other.view)})"  # noqa: S608


def _notes(predictions: OpenedFile, truth: OpenedFile) -> tuple[str, ...]:
    """What was noted of both sides once, the rest with its side."""
    both = [note for note in predictions.notes if note in truth.notes]
    lone: Mapping[str, OpenedFile] = {"predictions": predictions, "truth": truth}
    return (
        *both,
        *(f"{side}: {note}" for side, opened in lone.items() for note in opened.notes if note not in both),
    )


__all__ = ["demand_ids", "joined", "open_joined"]
