# SPDX-License-Identifier: Apache-2.0
"""Frames and relations, counted where they are: the only room besides `files` that knows engines."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

import narwhals.stable.v2 as nw
from narwhals.exceptions import DuplicateError

from assay.core.errors import RowsError, missing_extra, nested_column
from assay.core.text import listed, quoted, visible
from assay.rows.engines.duckdb_engine import translate_failures
from assay.rows.label_types import absent, unfit_labels
from assay.rows.source import FrameSource, Roles, check_same_length, require

if TYPE_CHECKING:
    from assay.rows.files.opened_file import OpenedFile

NESTED = (nw.List, nw.Array, nw.Struct, nw.Object)
_BOOLEAN = {"bool", "bool_"}
_NESTED_VALUES = {"list", "dict", "set", "ndarray"}
UNFIT = (nw.Datetime, nw.Date, nw.Duration, nw.Time, nw.Binary)


def take_apart(frame: Any, roles: Roles) -> Roles | None:  # noqa: ANN401
    """The columns themselves, of a frame of pandas and wherever weights are summed in memory; else None."""
    if not isinstance(frame, nw.DataFrame) or not (frame.implementation.is_pandas_like() or roles.weight is not None):
        return None
    names = list(frame.columns)
    return roles.over(lambda _, column: frame.get_column(require(str(column), names, "data")).to_native())


def from_frame(frame: Any, roles: Roles) -> FrameSource:  # noqa: ANN401
    """A frame that its own engine counts."""
    where = f"the given {frame.implementation} frame"
    if frame.implementation.is_dask():
        with translate_failures(where):
            demand_told_apart(frame.to_native(), [str(column) for column in roles.named().values()], where)
    names = list(frame.collect_schema().names())
    roles = roles.over(lambda _, column: require(str(column), names, where))
    return _checked(FrameSource.by_roles(frame, roles, where), roles)


def demand_told_apart(frame: Any, columns: list[str], where: str) -> None:  # noqa: ANN401  a frame of Dask
    """Refuse what a group-by would stumble over or merge: names given twice, nested values, True beside 1."""
    names = list(frame.columns)
    doubled = sorted({str(name) for name in names if names.count(name) > 1})
    if doubled:
        raise RowsError(
            "duplicate-column", f"two columns are called {listed(doubled)}", where=where, fix="rename one of them"
        )
    objects = [name for name in dict.fromkeys(columns) if name in names and str(frame.dtypes[name]) == "object"]
    if not objects:
        return

    def types_of(part: Any) -> Any:  # noqa: ANN401  frames of pandas
        return part.map(lambda value: "" if absent(value) else type(value).__name__).drop_duplicates()

    type_names = frame[objects].map_partitions(types_of, meta=dict.fromkeys(objects, "object")).compute()
    for name in objects:
        types = set(type_names[name]) - {""}
        if types & _NESTED_VALUES:
            raise nested_column(where, f"column {quoted(name)}", listed(sorted(types & _NESTED_VALUES)))
        if types & _BOOLEAN and types - _BOOLEAN:
            raise RowsError(
                "mixed-types-in-column",
                f"column {quoted(name)} mixes {listed(sorted(types))}",
                where=where,
                fix="make them one type: True and 1 are different labels",
            )


def narwhals_of(data: object) -> Any:  # noqa: ANN401  one of Narwhals' two frame types
    """A frame of any library as Narwhals sees it."""
    try:
        return nw.from_native(_decoded(data))
    except TypeError:
        pass
    except DuplicateError as error:
        raise RowsError(
            "duplicate-column",
            "two columns have the same name",
            where="data",
            found=visible(error),
            fix="rename one of them",
        ) from None
    if hasattr(data, "__arrow_c_stream__"):
        try:
            return nw.from_native(_decoded(nw.from_arrow(data, backend="pyarrow").to_native()))
        except ImportError as error:
            raise missing_extra("arrow", "an Arrow stream needs pyarrow to be read") from error
    raise RowsError(
        "refused-format",
        f"data is a {type(data).__name__}, which is not a table",
        where="data",
        known="a path; a frame of pandas, Polars, PyArrow, DuckDB, Dask, Ibis, Spark; a mapping of columns; "
        "an __arrow_c_stream__",
        fix="give the relation: data=connection.table('NAME')"
        if type(data).__name__ == "DuckDBPyConnection"
        else "give one of these",
    )


def _decoded(data: Any) -> Any:  # noqa: ANN401
    """An Arrow table whose columns hold plain values, neither runs nor codes of numbers; other frames as they are."""
    if type(data).__module__ != "pyarrow.lib" or not hasattr(data, "column_names"):
        return data
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, field in enumerate(data.schema):
        kind = field.type
        if pa.types.is_run_end_encoded(kind):
            data = data.set_column(place, field.name, pc.run_end_decode(data.column(place)))
        elif pa.types.is_dictionary(kind) and not (
            pa.types.is_string(kind.value_type) or pa.types.is_large_string(kind.value_type)
        ):
            data = data.set_column(place, field.name, pc.cast(data.column(place), kind.value_type))
    return data


def from_columns(library: Literal["polars", "pyarrow"], roles: Roles) -> FrameSource:
    """Series of Polars or PyArrow, put side by side and counted by their own engine."""
    sizes = {role: len(column) for role, column in roles.named().items()}  # type: ignore[arg-type]
    check_same_length(sizes)
    numbers = count()
    aliased = roles.over(lambda *_: f"c{next(numbers)}")  # no name of a user reaches an engine
    names = {str(column): role for role, column in aliased.named().items()}
    frame = nw.from_dict(dict(zip(names, roles.named().values(), strict=True)), backend=library)
    source = FrameSource.by_roles(narwhals_of(frame.to_native()), aliased, "the given columns")
    return _checked(replace(source, indexed=True, names=names), roles)


def of_opened(opened: OpenedFile, roles: Roles) -> FrameSource:
    """What the embedded engine has opened, by roles."""
    from assay.rows.files.opened_file import check_scalar, number_column

    for column in roles.labelled().values():
        check_scalar(opened, str(column))
    if roles.weight is not None:
        number_column(opened, str(roles.weight))
    source = FrameSource.by_roles(nw.from_native(opened.relation), roles, opened.called or opened.path)
    return _checked(replace(source, opened=opened, join=opened.join), roles)


def _checked(source: FrameSource, roles: Roles) -> FrameSource:
    """Columns that hold one value a row of a type that can be a label, and scores as float64."""
    schema = source.frame.collect_schema()
    for column in (source.truth, *([source.predicted] if source.predicted else []), *source.group.values()):
        kind = schema[column]
        if isinstance(kind, NESTED):
            raise nested_column(source.where, source.shown(column), kind)
        if isinstance(kind, UNFIT):
            raise unfit_labels(source.where, f"{source.shown(column)} is {kind}, which cannot hold labels")
    if roles.score is None:
        return source
    from assay.rows.engines.score_expressions import with_scores

    return with_scores(source, [str(column) for column in roles.score.columns])
