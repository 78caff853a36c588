# SPDX-License-Identifier: Apache-2.0
"""Columns of any table, some rows at a time: arrays, frames, files, databases, Spark frames.

Tasks whose tallies are filled by kernels read rows through this module. Numbers arrive as float64 with NaN where a
value is missing, labels as Python objects with None.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Number
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

import numpy as np

from assay.core.errors import RowsError, not_numbers
from assay.core.text import quoted, visible
from assay.rows.columns import as_array, object_array
from assay.rows.files.file_list import are_paths
from assay.rows.files.formats import Reading, called
from assay.rows.label_types import EXACT, label_of
from assay.rows.number_columns import exact_floats
from assay.rows.row_positions import places
from assay.rows.source import (
    check_names,
    check_same_index,
    check_same_length,
    closing_on_failure,
    nameless,
    refuse_limits,
    require,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from assay.core.task import Request
    from assay.rows.databases.database import Use
    from assay.rows.files.opened_file import OpenedFile
    from assay.rows.limits import Limits

Kind: TypeAlias = Literal["number", "label", "id", "any"]
"""An id is a label that stays a whole number of NumPy where a file stores it so."""
SIZE: Final = 1 << 18
"""Rows of a batch."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column that a task reads: what was given for it, what it holds, and what becomes of rows without a value."""

    given: object
    kind: Kind = "number"
    missing: Literal["error", "drop", "keep"] = "error"


@dataclass(kw_only=True)
class Table:
    """Some columns of a table, ready to be read."""

    columns: Mapping[str, Column]
    where: str
    chunks: Callable[[str | None], Iterator[dict[str, NDArray[Any]]]]
    """Gives the rows, those of one unit together where a column is named that tells units apart."""
    rows: int | None = None
    about: Mapping[str, object] = field(default_factory=dict)
    """What a Record says of the table."""
    notes: tuple[str, ...] = ()
    spark: Any = None
    """The Spark frame, whose rows are not read here; its columns are called as the roles are."""
    opened: OpenedFile | None = None
    """The file or table in the embedded engine, for a query of a task's own."""
    close: Callable[[], None] = lambda: None


def open_columns(request: Request, columns: Mapping[str, Column]) -> Table:
    """Open what was given for the columns of a request."""
    data, limits = request.data, cast("Limits | None", request.limits)
    refuse_limits(data, request.engine, limits)
    if data is None or isinstance(data, Mapping):
        return _from_arrays(data, columns)
    check_names({role: column.given for role, column in columns.items()})
    if are_paths(data):
        return _from_path(data, columns, request)
    from assay.rows.spark.spark_session import is_spark

    return _from_spark(data, columns, "the given Spark frame") if is_spark(data) else _from_frame(data, columns)


def _from_arrays(data: Mapping[str, object] | None, columns: Mapping[str, Column]) -> Table:
    arrays, given = dict[str, "NDArray[Any]"](), dict[str, object]()
    for role, column in columns.items():
        values = column.given
        if isinstance(values, str):
            if data is None:
                raise nameless(role)
            values = data[require(values, [str(name) for name in data], "data")]
        given[role] = values
        arrays[role] = _typed(as_array(values, role), column.kind, role)
    check_same_index(given)
    check_same_length({role: len(array) for role, array in arrays.items()})
    return _held(arrays, columns, "the given columns", about={"from": "the given columns", "columns": {}})


def _held(
    arrays: dict[str, NDArray[Any]], columns: Mapping[str, Column], where: str, *, about: Mapping[str, object]
) -> Table:
    rows = len(next(iter(arrays.values()))) if arrays else 0

    def chunks(unit: str | None) -> Iterator[dict[str, NDArray[Any]]]:
        order = None if unit is None else _group_order(arrays[unit])
        for start in range(0, rows, SIZE):
            part = slice(start, start + SIZE) if order is None else order[start : start + SIZE]
            yield {role: array[part] for role, array in arrays.items()}

    return Table(columns=columns, where=where, chunks=chunks, rows=rows, about=about)


def _group_order(units: NDArray[Any]) -> NDArray[np.intp]:
    """Rows in an order that keeps those of one unit together."""
    if units.dtype != object:
        return np.argsort(units, kind="stable")
    numbers: dict[object, int] = {}
    codes = np.fromiter((numbers.setdefault(unit, len(numbers)) for unit in units), dtype=np.int64, count=len(units))
    return np.argsort(codes, kind="stable")


def _typed(array: NDArray[Any], kind: Kind, role: str) -> NDArray[Any]:
    """Values as float64 or as labels."""
    if kind == "any":
        return array
    if kind == "number":
        return to_numbers(array, role)
    if kind == "id" and array.dtype.kind in "iu":
        return array
    if array.dtype.kind == "f":
        whole = (array == np.floor(array)) & np.isfinite(array)
        if not (whole | np.isnan(array)).all():
            raise _fractions(role, role)
        return np.array([None if math.isnan(value) else int(value) for value in array.tolist()], dtype=object)
    values = array.tolist()
    labels = object_array([None if value is None or value != value else value for value in values])  # noqa: PLR0124  NaN, NaT
    for place, value in enumerate(labels) if array.dtype == object else ():
        if type(value) not in (str, int) and isinstance(value, (Number, Decimal)):
            labels[place] = label_of(value, where=role)
    return labels


def to_numbers(array: NDArray[Any], role: str) -> NDArray[np.float64]:
    """Numbers as float64, missing ones as NaN; those that float64 cannot hold are refused."""

    def unfit(found: str) -> RowsError:
        return not_numbers(role, f"{role} must hold numbers", found=found)

    def inexact(finding: str) -> RowsError:
        what = f"{role} holds a number that float64 cannot hold: a whole one above 2^53, or one with too many digits,"
        fix = "subtract a common offset from truth and prediction first, or round them yourself"
        return not_numbers(role, f"{what} too large or too small", fix, found=finding)

    return exact_floats(array, unfit=unfit, inexact=inexact)


def _from_frame(data: object, columns: Mapping[str, Column]) -> Table:
    """A frame of any library, the columns asked for held in memory."""
    from assay.rows.engines.narwhals_frames import narwhals_of

    frame = narwhals_of(data)
    names = list(frame.collect_schema().names())
    chosen = {role: require(str(column.given), names, "data") for role, column in columns.items()}
    eager = frame.select(*dict.fromkeys(chosen.values()))
    if hasattr(eager, "collect"):
        eager = eager.collect()
    arrays = {
        role: _typed(as_array(eager.get_column(name).to_native(), role), columns[role].kind, role)
        for role, name in chosen.items()
    }
    return _held(arrays, columns, "data", about={"from": "data", "columns": chosen})


def _from_path(data: Any, columns: Mapping[str, Column], request: Request) -> Table:  # noqa: ANN401
    """Files or a database; a batch of rows is held at a time, unless a cluster reads them."""
    from assay.rows.files.opened_file import OpenedFile
    from assay.rows.inputs import open_path

    names = {role: str(column.given) for role, column in columns.items()}
    uses: dict[str, Use] = {names[role]: "number" if one.kind == "number" else "label" for role, one in columns.items()}
    reading, limits = cast("Reading | None", request.reading) or Reading(), cast("Limits | None", request.limits)
    opened = open_path(data, uses, reading, engine=request.engine, limits=limits, progress=request.progress)
    with closing_on_failure(opened):
        if not isinstance(opened, OpenedFile):
            table = _from_spark(opened.frame, columns, opened.path)
            return replace(table, close=opened.close, notes=opened.notes)
        for name in names.values():
            require(name, opened.known or list(opened.columns), opened.shown)
        selected = {role: _expression(opened, names[role], columns[role].kind) for role in columns}
    from assay.rows.files.formats import FRAME

    files = opened.files
    about: dict[str, object] = {"from": called(opened.path, files), "columns": names}
    if opened.format != FRAME:
        about |= {"format": opened.format} | ({"files": files} if files else {})
        about |= {"reading": list(opened.notes)} if opened.notes else {}
    return Table(
        columns=columns, where=opened.path, rows=opened.rows, about=about, notes=opened.notes, opened=opened,
        chunks=lambda unit: _query_batches(opened, selected, columns, unit), close=opened.close,
    )  # fmt: skip


def _expression(opened: OpenedFile, name: str, kind: Kind) -> str:
    """The SQL that gives a column as this module hands it over."""
    from assay.rows.engines.duckdb_engine import quote_identifier
    from assay.rows.files.opened_file import NUMERIC, check_scalar, number_column

    if kind == "any":
        return quote_identifier(name)
    if kind == "number":
        return f"coalesce({number_column(opened, name)}, 'nan'::DOUBLE)"
    check_scalar(opened, name)
    stored = opened.columns[name].partition("(")[0].lower()
    if stored in (*NUMERIC, "boolean", "varchar"):
        return quote_identifier(name)
    if stored in ("float", "double", "decimal"):
        return _whole_label(opened, name)
    return f"CAST({quote_identifier(name)} AS VARCHAR)"


def _whole_label(opened: OpenedFile, name: str) -> str:
    """The SQL that gives real numbers as whole ones, after a check that they are; NaN is a missing label."""
    from assay.rows.engines.duckdb_engine import quote_identifier
    from assay.rows.files.opened_file import locate

    column = quote_identifier(name)
    real = f"CAST({column} AS DOUBLE)"  # a file's statistics leave NaN out, by which isnan would be untrue
    odd = f"{real} <> floor({real}) OR abs({real}) >= {EXACT}"
    first = locate(opened, f"CASE WHEN isfinite({real}) THEN {odd} ELSE abs({real}) = 'inf'::DOUBLE END", [name])
    if first:
        shown = [f"{visible(values[name])} {places([row])}".rstrip() for row, values in first]
        called = f"column {quoted(name)}"
        raise _fractions(called, f"{opened.shown}, {called}", shown)
    return f"CASE WHEN isfinite({real}) THEN CAST({column} AS BIGINT) END"


def _fractions(role: str, where: str, shown: Sequence[str] = ()) -> RowsError:
    return RowsError(
        "column-type",
        f"{role} holds numbers with fractions, which cannot name anything",
        where=where,
        found="; ".join(shown) or None,
        fix="give text or whole numbers",
    )


def _query_batches(
    opened: OpenedFile, selected: Mapping[str, str], columns: Mapping[str, Column], unit: str | None
) -> Iterator[dict[str, NDArray[Any]]]:
    from assay.rows.engines.duckdb_engine import quote_identifier
    from assay.rows.files.opened_file import translated

    roles = list(selected)
    parts = ", ".join(f"{expression} AS {quote_identifier(role)}" for role, expression in selected.items())
    # Rows of one unit stay in the order of the file, which decides between equal scores.
    order = f" ORDER BY {quote_identifier(unit)}, row_number() OVER ()" if unit is not None else ""
    query = f"SELECT {parts} FROM {quote_identifier(opened.view)}{order}"  # noqa: S608  identifiers are quoted
    read = 0
    if all(column.kind == "number" or _is_plain(opened, column) for column in columns.values()):
        copied = any(column.kind == "id" for column in columns.values())
        for batch in opened.batches(query):
            read += len(batch[0])
            yield dict(zip(roles, map(np.array, batch) if copied else batch, strict=True))
    else:
        with translated(opened):
            answer = opened.connection.execute(query)
            while rows := answer.fetchmany(SIZE):
                read += len(rows)
                yield {
                    role: np.array(values, np.float64) if columns[role].kind == "number" else object_array(values)
                    for role, values in zip(roles, zip(*rows, strict=True), strict=True)
                }
    opened.confirm(read)


def _is_plain(opened: OpenedFile, column: Column) -> bool:
    """Whether ids are whole numbers of at most 64 bits, none of them missing."""
    from assay.rows.engines.duckdb_engine import quote_identifier

    name = str(column.given)
    if column.kind != "id" or opened.columns.get(name, "").lower() not in ("tinyint", "smallint", "integer", "bigint"):
        return False
    missing = f"SELECT count(*) FROM {quote_identifier(opened.view)} WHERE {quote_identifier(name)} IS NULL"  # noqa: S608
    return not opened.fetch(missing)[0][0]


def _from_spark(frame: Any, columns: Mapping[str, Column], where: str) -> Table:  # noqa: ANN401
    from assay.rows.spark.spark_files import told_as_ours
    from assay.rows.spark.spark_frames import PlainFrame

    plain = PlainFrame(frame, where)
    chosen = {role: str(column.given) for role, column in columns.items()}
    with told_as_ours(visible(where)):
        given = ((role, plain.native[plain.column(name)]) for role, name in chosen.items())
        numbers = {role for role, column in columns.items() if column.kind == "number"}
        parts = [(values.cast("double") if role in numbers else values).alias(role) for role, values in given]
        selected = plain.native.select(*parts)
    name = where if "given" in where else where.rstrip("/").rpartition("/")[2]
    return Table(
        columns=columns, where=where, chunks=lambda _unit: iter(()), spark=selected,
        about={"from": name, "columns": chosen},
    )  # fmt: skip
