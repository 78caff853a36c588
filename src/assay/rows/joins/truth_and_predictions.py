# SPDX-License-Identifier: Apache-2.0
"""Truth in one table and predictions in another, joined by id; and the check that ids are unique."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from assay.core.errors import PlanError, UnpairedRows
from assay.core.text import counted
from assay.rows.columns import as_array
from assay.rows.engines.duckdb_engine import demand_embedded, quote_identifier, quote_literal, told_as_ours
from assay.rows.engines.narwhals_frames import of_opened
from assay.rows.files.formats import FRAME, Reading
from assay.rows.files.opened_file import NUMERIC, VIEW, Home, OpenedFile, check_scalar, locate
from assay.rows.inputs import input_of, opened_inputs, two_inputs
from assay.rows.joins.matches import (
    ColumnChoice,
    JoinTable,
    check_ids,
    check_kinds,
    count_matches,
    full_join,
    uses_of_sides,
)
from assay.rows.joins.mismatch_errors import Id, Unmatched, id_columns, unfit_id
from assay.rows.source import ArraySource, FrameSource, Roles, Source, check_names
from assay.rows.spark.spark_session import is_cluster, is_spark

if TYPE_CHECKING:
    from assay.rows.limits import Limits
    from assay.rows.spark.spark_files import SparkFile

_UNFIT: Final = {"float", "double", "real", "blob", "struct", "map", "union", "variant", "json", "bit"}


def open_both(  # noqa: PLR0917  the two tables, and how they are read
    data: object, truth_data: object, roles: Roles, reading: Reading, engine: str | None, limits: Limits | None
) -> Source:
    """Predictions in `data` and truth in `truth_data`, joined by id: Spark joins its frames, DuckDB the rest."""
    if data is None or roles.id is None:
        raise PlanError(
            "role-missing",
            "truth_data is given, but not "
            + ("the data with the predictions" if data is None else "the id to join by"),
            where="truth_data",
            fix="give data= and id=: rows are never matched by their order",
        )
    check_names(roles.named())
    by = id_columns(roles.id)
    given = {"data": data, "truth_data": truth_data}
    if engine is not None and is_cluster(engine):
        return _open_on_cluster(given, roles, by, reading, engine, limits)
    demand_embedded(engine)
    on_spark = [is_spark(one) for one in given.values()]
    if all(on_spark):
        from assay.rows.spark.spark_frames import PlainFrame, from_sides

        sides = [PlainFrame(frame, name) for name, frame in given.items()]
        return from_sides(sides, roles, by, reading.unmatched)
    if any(on_spark):
        raise PlanError(
            "role-clash",
            f"data is a {type(data).__name__} and truth_data a {type(truth_data).__name__}",
            where="truth_data",
            fix="give both as frames of Spark, or neither",
        )
    inputs = two_inputs(data, truth_data, reading)
    with opened_inputs(inputs, uses_of_sides(roles, by), limits, reading.progress) as (predictions, truth):
        return of_opened(*join_tables(predictions, truth, roles, by, unmatched=reading.unmatched))


def _open_on_cluster(  # noqa: PLR0917  the two tables, and how they are read
    given: Mapping[str, object],
    roles: Roles,
    by: Sequence[str],
    reading: Reading,
    engine: str,
    limits: Limits | None,
) -> FrameSource:
    """Predictions at one path and truth at another, read, joined and counted by the cluster at an address."""
    from assay.rows.spark.spark_files import check_path
    from assay.rows.spark.spark_frames import from_sides, read_plain
    from assay.rows.spark.spark_session import session_at

    paths = [check_path(path, reading, limits, where=name) for name, path in given.items()]
    if reading.sha256 is not None:
        raise PlanError(
            "role-clash",
            "files are pinned by digests, but a cluster reads and joins them",
            where="sha256",
            fix="leave sha256 out, or leave the engine out: then both are read and hashed on this machine",
        )
    with session_at(engine) as session:
        source = from_sides([read_plain(session, path, reading) for path in paths], roles, by, reading.unmatched)
        return replace(source, opened=replace(cast("SparkFile", source.opened), path=source.where))


def join_tables(
    predictions: OpenedFile,
    truth: OpenedFile,
    roles: Roles,
    by: Sequence[str],
    *,
    unmatched: Unmatched,
    view: str = VIEW,
) -> tuple[OpenedFile, Roles]:
    """Two tables of one DuckDB as one, and the roles by the names the columns have there."""
    sides = (predictions, truth)
    choice = ColumnChoice(
        names=[side.known or list(side.columns) for side in sides], where=[side.shown for side in sides], by=tuple(by)
    )
    tables = [duckdb_table(side, by) for side in sides]
    check_kinds(tables, by)
    named = roles.over(choice.take)
    for home, column in choice.chosen.values():
        check_scalar(sides[home], column)
    join = count_matches(tables, by, unmatched)
    for side, rows in zip(sides, (join.predictions, join.truth), strict=True):
        side.confirm(rows)
    partners = (_partner(truth, by), _partner(predictions, by))
    homes = {
        name: Home(table=sides[home], column=column, matched=partners[home])
        for name, (home, column) in choice.chosen.items()
    }
    columns = [
        f"t{home}.{quote_identifier(column)} AS {quote_identifier(name)}"
        for name, (home, column) in choice.chosen.items()
    ]
    in_memory = all(side.format == FRAME for side in sides)
    where = f"{predictions.shown} and {truth.shown}"
    connection = predictions.connection
    with told_as_ours(where, predictions.format):
        connection.execute(f"CREATE TEMP VIEW {quote_identifier(view)} AS {full_join(tables, columns, how='INNER')}")
    table = OpenedFile(
        connection=connection,
        path=where,
        format=FRAME if in_memory else " and ".join(sorted({side.format for side in sides} - {FRAME})),
        bytes=sum(side.bytes for side in sides),
        rows=join.matched,
        notes=_notes(predictions, truth),
        decimal=next((side.decimal for side in sides if side.format != FRAME), "."),
        faults={name: fault for name, home in homes.items() if (fault := home.table.faults.get(home.column))},
        parts=tuple(part for side in sides for part in side.parts or (side,)),
        homes=homes,
        join=join,
        progress=predictions.progress,
        view=view,
        indexed=in_memory,
    )
    return table, named


def _partner(other: OpenedFile, by: Sequence[str]) -> str:
    """The condition that a row has a partner on the other side."""
    ids = ", ".join(f"CAST({quote_identifier(name)} AS VARCHAR)" for name in by)
    return f"({ids}) IN (SELECT ({ids}) FROM {quote_identifier(other.view)})"  # noqa: S608


def _notes(predictions: OpenedFile, truth: OpenedFile) -> tuple[str, ...]:
    """The notes of both sides once, the rest with its side."""
    both = [note for note in predictions.notes if note in truth.notes]
    sides = (("predictions", predictions), ("truth", truth))
    return (*both, *(f"{side}: {note}" for side, opened in sides for note in opened.notes if note not in both))


def duckdb_table(opened: OpenedFile, by: Sequence[str]) -> JoinTable:
    """A table of DuckDB with its ids; without id columns, the places of rows are the ids."""
    for column in by:
        check_scalar(opened, column)
    kinds = [_kind_of_id(opened.columns[column], column, opened.shown) for column in by]

    def places(row_id: Id | None) -> list[int]:
        if not by:
            return []
        if row_id is None:
            empty = " OR ".join(f"{quote_identifier(name)} IS NULL" for name in by)
            return [row for row, _ in locate(opened, empty, by)]
        texts = [str(part).lower() if isinstance(part, bool) else str(part) for part in row_id]
        same = " AND ".join(
            f"CAST({quote_identifier(name)} AS VARCHAR) = {quote_literal(text)}"
            for name, text in zip(by, texts, strict=True)
        )
        return [row for row, _ in locate(opened, same, by)]

    return JoinTable(
        view=quote_identifier(opened.view),
        ids=tuple(map(quote_identifier, by)) or ("row_number() OVER () - 1",),
        kinds=tuple(kinds) or ("whole number",),
        called=opened.shown,
        fetch=opened.fetch,
        dialect="duckdb",
        rows=opened.rows,
        places=places,
    )


def _kind_of_id(type_: str, column: str, where: str) -> str:
    """The kind of id that a type of DuckDB makes: kinds must agree between tables, widths need not."""
    bare = type_.partition("(")[0].lower()
    if bare in NUMERIC:
        return "whole number"
    if bare in ("varchar", "enum"):
        return "text"
    if bare in _UNFIT or type_.endswith("]"):
        raise unfit_id(type_, column, where)
    return type_


def check_unique_ids(source: Source, data: object, id: object) -> None:
    """Check that the ids of one table, or a column of ids, name every row once."""
    if data is None:
        rows = len(source.truth) if isinstance(source, ArraySource) else len(source.frame)
        if (ids := len(as_array(id, "id"))) != rows:
            what = f"there are {counted(ids, 'id')} for {counted(rows, 'row')}"
            raise UnpairedRows("rows-unmatched", what, where="id", fix="give one id a row")
        data, id = {"id": id}, "id"
    by = id_columns(id)
    opened = source.opened if isinstance(source, FrameSource) else None
    if isinstance(opened, OpenedFile) and opened.format != FRAME:
        check_ids(duckdb_table(opened, by), by)
        return
    native = data if opened is None else opened.frame  # type: ignore[union-attr]
    if is_spark(native):
        from assay.rows.spark.spark_frames import PlainFrame, SparkFrames

        plain = PlainFrame(native, "data" if opened is None else source.where)
        check_ids(SparkFrames([plain.native], plain.where).table(0, plain.where, plain.kinds_of_ids(by)), by)
        return
    table = input_of(data, Reading(), "assay_ids", called="data")
    with opened_inputs([table], [dict.fromkeys(by, "id")]) as [held]:
        check_ids(duckdb_table(held, by), by)
    held.close()
