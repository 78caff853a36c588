# SPDX-License-Identifier: Apache-2.0
"""Frames and columns in memory as sides of a join in the embedded engine, which reads them where they are.

A lazy frame is collected first, with the columns that are asked for and no others. What the engine could only read by
a guess, such as objects of several types, is not handed to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from assay.core.errors import AssayError
from assay.rows.columns import all_text, as_array
from assay.rows.engine import quote_identifier, told_as_ours
from assay.rows.frames import engine_failure, narwhals_of
from assay.rows.opened import OpenedFile
from assay.rows.opening import ENGINE_FROM, Roles

if TYPE_CHECKING:
    import duckdb

    from assay.rows.files import Prepared
    from assay.rows.textfiles import Progress

_READ = (nw.String, nw.Categorical, nw.Enum, nw.Boolean)
"""Types that the engine reads as they are, beside numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameSide:
    """Columns in memory under plain names, for the engine to read."""

    held: object
    """What the engine registers: a frame of Polars or PyArrow, or numpy columns by name."""
    called: str
    rows: int
    view: str
    files: Sequence[Prepared] = field(default=())
    paths: Sequence[str] = field(default=())
    bytes: int = 0

    def begin(self, connection: duckdb.DuckDBPyConnection, _: Progress | None) -> OpenedFile:
        """Let the engine read the columns where they are."""
        place = f"{self.view}_held"
        with told_as_ours(self.called, "frame"):
            connection.register(place, self.held)
            connection.execute(
                f"CREATE TEMP VIEW {quote_identifier(self.view)} AS SELECT * FROM {quote_identifier(place)}"  # noqa: S608
            )
            relation = connection.sql(f"SELECT * FROM {quote_identifier(self.view)}")  # noqa: S608
            types = {name: str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)}
        return OpenedFile(
            relation=relation,
            connection=connection,
            path=self.called,
            format="frame",
            columns=types,
            digest=str,
            bytes=0,
            rows=self.rows,
            notes=(),
            first_line=1,
            view=self.view,
            called=self.called,
        )


def frame_side(data: object, roles: Roles, where: str, view: str) -> tuple[FrameSide, Roles] | None:
    """A frame, or columns by name, as a side of a join, and the roles by plain names of its columns.

    None where they are few, so that nothing is gained, or of types that the engine would guess at.
    """
    columns = list(dict.fromkeys(str(column) for column in roles.named().values()))
    plain = {column: f"c{place}" for place, column in enumerate(columns)}
    try:
        held, rows = _from_mapping(data, plain) if isinstance(data, Mapping) else _from_frame(data, plain)
    except AssayError:
        raise
    except Exception as error:
        raise engine_failure(error, where) from error
    if held is None:
        return None
    side = FrameSide(held=held, called=where, rows=rows, view=view)
    return side, roles.over(lambda _, column: plain[str(column)])


def _from_mapping(data: Mapping[Any, Any], plain: Mapping[str, str]) -> tuple[object, int]:
    rows = len(data[next(iter(plain))])
    if rows < ENGINE_FROM:
        return None, rows
    arrays = {alias: as_array(data[column], column) for column, alias in plain.items()}
    fit = all(len(one) == rows and (one.dtype.kind in "iufb" or all_text(one)) for one in arrays.values())
    return (arrays if fit else None), rows


def _from_frame(data: object, plain: Mapping[str, str]) -> tuple[object, int]:
    frame = narwhals_of(data)
    kind = frame.implementation
    if kind.is_pyspark() or kind.is_pyspark_connect():
        return None, 0  # joined where it is, or not at all
    if kind.is_pandas_like():
        native = frame.to_native()
        return _from_mapping({column: native[column] for column in plain}, plain)
    schema = frame.collect_schema()
    if not all(schema[name].is_numeric() or isinstance(schema[name], _READ) for name in plain):
        return None, 0
    chosen = frame.select(*(nw.col(column).alias(alias) for column, alias in plain.items()))
    if isinstance(chosen, nw.DataFrame):
        return (chosen.to_native() if len(chosen) >= ENGINE_FROM else None), len(chosen)
    eager = chosen.collect()
    if eager.implementation.is_pandas_like():
        native = {alias: eager.get_column(alias).to_native() for alias in plain.values()}
        return _from_mapping(native, {alias: alias for alias in native})
    return eager.to_native(), len(eager)


__all__ = ["FrameSide", "frame_side"]
