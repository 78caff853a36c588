# SPDX-License-Identifier: Apache-2.0
"""Frames and columns in memory as tables of DuckDB, which reads them where they are.

A lazy frame is collected first, with the columns that are asked for and no others. Columns of Python objects are handed
over with the one type that all their labels have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from assay.core.errors import not_numbers
from assay.core.text import listed, quoted
from assay.rows.columns import Coded, all_text, as_array, coded
from assay.rows.engines.duckdb_engine import quote_identifier, refuse_duplicates, told_as_ours, translate_failures
from assay.rows.engines.narwhals_frames import demand_told_apart, narwhals_of
from assay.rows.files.formats import FRAME
from assay.rows.files.opened_file import OpenedFile
from assay.rows.files.parquet import ArrowStream
from assay.rows.joins.mismatch_errors import unfit_id
from assay.rows.label_types import absent, kind_of
from assay.rows.score_columns import score_array
from assay.rows.source import check_same_length, require
from assay.rows.spark.spark_files import told_as_ours as spark_errors
from assay.rows.spark.spark_session import is_spark

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

    from assay.rows.databases.database import Use


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """What DuckDB registers, and the SQL of each column."""

    data: object
    columns: Mapping[str, str]
    ordered: bool
    once: bool = False
    """Whether the data can be read only once."""


def load_frame(
    connection: duckdb.DuckDBPyConnection, data: object, uses: Mapping[str, Use], *, view: str, called: str
) -> OpenedFile:
    """The columns that are asked for, as far as they are there, as a view of DuckDB."""
    names = list(data) if isinstance(data, Mapping) else list(narwhals_of(data).collect_schema().names())
    uses = {name: use for name, use in uses.items() if name in names} or uses
    for name in uses:
        require(name, names, called)
    refuse_duplicates(list(uses), called)
    with translate_failures(called):
        registration = _from_mapping(data, uses) if isinstance(data, Mapping) else _from_frame(data, uses, called)
    chosen = ", ".join(f"{sql} AS {quote_identifier(name)}" for name, sql in registration.columns.items())
    home = f"{view}_held"
    with told_as_ours(called, FRAME):
        connection.register(home, registration.data)
        connection.execute(
            f"CREATE TEMP {'TABLE' if registration.once else 'VIEW'} {quote_identifier(view)} AS"  # noqa: S608
            f" SELECT {chosen} FROM {quote_identifier(home)}"
        )
        if registration.once:
            connection.unregister(home)
        rows = connection.execute(f"SELECT count(*) FROM {quote_identifier(view)}").fetchall()[0][0]  # noqa: S608
    return OpenedFile(
        connection=connection,
        path=called,
        format=FRAME,
        rows=rows,
        view=view,
        known=tuple(map(str, names)),
        called=called,
        ordered=registration.ordered,
        indexed=registration.ordered,
    )


def _from_frame(data: object, uses: Mapping[str, Use], called: str) -> _Held:
    frame = narwhals_of(data)
    kind = frame.implementation
    if kind.is_dask():
        demand_told_apart(frame.to_native(), list(uses), called)
    plain = {name: f"c{place}" for place, name in enumerate(uses)}
    if is_spark(data):
        return _from_spark(data, plain)
    chosen = frame.select(*(nw.col(name).alias(alias) for name, alias in plain.items()))
    ordered = isinstance(chosen, nw.DataFrame)
    if kind.is_duckdb():
        return _Held(data=ArrowStream(chosen.to_native()), columns=plain, ordered=False, once=True)
    eager = chosen if isinstance(chosen, nw.DataFrame) else chosen.collect()
    if eager.implementation.is_pandas_like():
        columns = {name: eager.get_column(alias).to_native() for name, alias in plain.items()}
        return _from_mapping(columns, uses, ordered=ordered)
    for name, use in uses.items():
        if use == "number" and not (dtype := eager.get_column(plain[name]).dtype).is_numeric():
            raise not_numbers(called, f"column {quoted(name)} is {dtype}, not numbers", "name a column of numbers")
    native = eager.to_native()
    return _Held(data=ArrowStream(native) if kind.is_polars() else native, columns=plain, ordered=ordered)


def _from_spark(data: Any, plain: Mapping[str, str]) -> _Held:  # noqa: ANN401  a Spark frame
    from assay.rows.spark.spark_frames import PlainFrame

    frame = PlainFrame(data)
    with spark_errors(frame.where):
        chosen = (f"{frame.column(name)} AS {alias}" for name, alias in plain.items())
        table = frame.native.selectExpr(*chosen).toArrow()
    return _Held(data=table, columns=plain, ordered=False)


def _from_mapping(data: Mapping[Any, Any], uses: Mapping[str, Use], *, ordered: bool = True) -> _Held:
    arrays: dict[str, NDArray[Any]] = {}
    columns: dict[str, str] = {}
    for place, (name, use) in enumerate(uses.items()):
        values, missing = _typed(data[name], name, use)
        arrays[f"c{place}"] = values
        columns[name] = f"c{place}"
        if missing is not None:
            arrays[f"m{place}"] = missing
            columns[name] = f"CASE WHEN m{place} THEN NULL ELSE c{place} END"
    check_same_length({name: len(arrays[f"c{place}"]) for place, name in enumerate(uses)})
    return _Held(data=arrays, columns=columns, ordered=ordered)


def _typed(column: object, name: str, use: Use) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """A column as an array of one type that DuckDB reads without a guess, and where values are missing."""
    array = as_array(column, name)
    kind = array.dtype.kind
    if use == "number":
        exact = kind in "iu" or (kind == "f" and array.dtype.itemsize >= 4)  # noqa: PLR2004  DuckDB has no half floats
        return (array if exact else score_array(column, name)), None
    if use == "id" and kind not in "iubUTOMm":
        raise unfit_id(array.dtype, name, "id")
    if kind in "iubMm" or all_text(array):
        return array, None
    if kind in "UT":
        return array.astype(object), None
    if use == "id":  # whole numbers, or texts, or truth values, and only one of these
        kinds = sorted({type(value).__name__ for value in array.tolist() if not absent(value)})
        if kinds not in ([], ["int"], ["str"], ["bool"]):
            type_ = f"a column of {listed(kinds)}"
            raise unfit_id(type_, name, "id")
    return _decode(coded(column, name))


def _decode(column: Coded) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """The labels of a coded column as an array; a column whose labels are of several types is an error."""
    kind_of(
        column.labels or (),
        where="the given columns",
        locate=lambda _, label: f"at index {', '.join(map(str, column.rows_of(label)))}",
        role=column.role,
    )
    if column.labels is None:
        return column.codes, column.missing
    text = not all(isinstance(label, int) for label in column.labels)
    empty: Sequence[object] = column.labels or (None,)
    labels = np.array(empty, dtype=object if text or not column.labels else None)
    codes = column.codes - column.offset
    if column.missing is not None:
        codes = np.where(column.missing, 0, codes)
    values = labels[codes]
    if column.missing is None or not text:
        return values, column.missing
    values[column.missing] = None
    return values, None
