# SPDX-License-Identifier: Apache-2.0
"""Truth in one table and predictions in another, joined by id; and the check that ids are unique."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from assay.core.errors import PlanError, UnpairedRows
from assay.core.text import counted
from assay.rows.columns import as_array
from assay.rows.engines.duckdb_engine import quote_identifier, told_as_ours
from assay.rows.engines.narwhals_frames import demand_embedded, of_opened
from assay.rows.files.formats import FRAME, Reading
from assay.rows.files.opened_file import VIEW, Home, OpenedFile, check_scalar
from assay.rows.joins.inputs import duckdb_table, input_of, load_inputs, two_inputs, with_inputs
from assay.rows.joins.join_sql import (
    full_join,
)
from assay.rows.joins.matches import ColumnChoice, check_ids, check_kinds, count_matches, uses_of_sides
from assay.rows.joins.mismatch_errors import (
    Unmatched,
    id_columns,
)
from assay.rows.limits import Limits
from assay.rows.source import ArraySource, FrameSource, Roles, Source, names_only
from assay.rows.spark.spark_session import is_cluster, is_spark

if TYPE_CHECKING:
    import duckdb


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
    names_only(roles)
    by = id_columns(roles.id)
    if engine is not None and is_cluster(engine):
        from assay.rows.spark.spark_frames import joined_on_cluster

        given = {"data": data, "truth_data": truth_data}
        return joined_on_cluster(given, roles, by, reading, engine=engine, limits=limits)
    demand_embedded(engine)
    on_spark = [is_spark(one) for one in (data, truth_data)]
    if all(on_spark):
        from assay.rows.spark.spark_frames import joined_frames

        return joined_frames(data, truth_data, roles, by, reading.unmatched)
    if any(on_spark):
        raise PlanError(
            "role-clash",
            f"data is a {type(data).__name__} and truth_data a {type(truth_data).__name__}",
            where="truth_data",
            fix="give both as frames of Spark, or neither",
        )
    inputs = two_inputs(data, truth_data, reading)
    settled: list[Roles] = []

    def work(connection: duckdb.DuckDBPyConnection) -> OpenedFile:
        predictions, truth = load_inputs(inputs, connection, uses_of_sides(roles, by), reading.progress)
        table, named = join_tables(predictions, truth, roles, by, unmatched=reading.unmatched)
        settled.append(named)
        return table

    opened = with_inputs(inputs, limits or Limits(), work)
    return of_opened(opened, settled[0])


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
    lone: Mapping[str, OpenedFile] = {"predictions": predictions, "truth": truth}
    return (
        *both,
        *(f"{side}: {note}" for side, opened in lone.items() for note in opened.notes if note not in both),
    )


def check_unique_ids(source: Source, data: object, id: object) -> None:
    """Check that the ids of one table, or a column of ids, name every row once; else the source is closed."""
    try:
        _check_unique_ids(source, data, id)
    except BaseException:
        source.close()
        raise


def _check_unique_ids(source: Source, data: object, id: object) -> None:
    if data is None:
        _check_length(source, id)
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
        kinds = [plain.kind_of_id(name) for name in by]
        frames = SparkFrames([plain.native], plain.where)
        check_ids(frames.table(0, [plain.column(name) for name in by], kinds, plain.where, None), by)
        return
    table = input_of(data, Reading(), "assay_ids", called="data")

    def work(connection: duckdb.DuckDBPyConnection) -> OpenedFile:
        [held] = load_inputs([table], connection, [dict.fromkeys(by, "id")])
        check_ids(duckdb_table(held, by), by)
        return held

    with_inputs([table], Limits(), work).close()


def _check_length(source: Source, id: object) -> None:
    if isinstance(source, ArraySource):
        rows = len(source.truth)
    else:
        rows = len(source.frame if source.arrays is None else next(iter(source.arrays.values())))
    if (ids := len(as_array(id, "id"))) != rows:
        raise UnpairedRows(
            "rows-unmatched",
            f"there are {counted(ids, 'id')} for {counted(rows, 'row')}",
            where="id",
            fix="give one id a row",
        )
