# SPDX-License-Identifier: Apache-2.0
"""Frames of one Spark session as tables of a join: Spark runs the same SQL text as DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from assay.core.errors import repeated_column
from assay.core.text import visible
from assay.rows.joins.join_sql import JoinTable, keyed
from assay.rows.joins.mismatch_errors import unfit_id
from assay.rows.source import require
from assay.rows.spark.spark_errors import told_as_ours

_TEXT = (nw.String, nw.Categorical, nw.Enum)
_EXACT = (nw.Boolean, nw.Date, nw.Datetime, nw.Duration, nw.Time, nw.Decimal)


class SparkFrames:
    """Frames of one session, which a query calls {f0}, {f1}, and so on."""

    def __init__(self, frames: Sequence[Any], where: str) -> None:
        self._session = frames[0].sparkSession
        self._frames = {f"f{place}": frame for place, frame in enumerate(frames)}
        self._where = visible(where)

    def query(self, sql: str) -> Any:  # noqa: ANN401  a Spark frame
        """The answer to a query as a frame."""
        with told_as_ours(self._where):
            return self._session.sql(sql, **self._frames)

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a small answer."""
        with told_as_ours(self._where):
            return [tuple(row) for row in self._session.sql(sql, **self._frames).collect()]

    def table(self, place: int, by: Sequence[str], kinds: Sequence[str], called: str, rows: int | None) -> JoinTable:
        """A frame with its ids, which are columns with plain names."""
        view = f"{{f{place}}}"
        keys = [f"CAST({one} AS STRING)" if kind == "text" else one for one, kind in zip(by, kinds, strict=True)]

        def size() -> int:
            return int(self.fetch(f"SELECT count(*) FROM {view}")[0][0]) if rows is None else rows  # noqa: S608

        return JoinTable(
            source=keyed(view, keys),
            keys=len(by),
            kinds=tuple(kinds),
            called=called,
            fetch=self.fetch,
            dialect="spark",
            size=size,
        )


class PlainFrame:
    """A Spark frame whose columns have plain names, because Spark reads dots and case into real ones."""

    def __init__(self, native: Any, where: str) -> None:  # noqa: ANN401  a Spark frame
        self.where = where
        with told_as_ours(visible(where)):
            self.fields = {f"c{place}": field for place, field in enumerate(native.schema.fields)}
            self.native = native.toDF(*self.fields)
        self.names = [field.name for field in self.fields.values()]

    def column(self, name: str) -> str:
        """The plain name of a column; Spark allows several columns of one name."""
        require(name, self.names, self.where)
        if self.names.count(name) > 1:
            raise repeated_column(name, self.names.count(name), self.where)
        return f"c{self.names.index(name)}"

    def kind_of_id(self, name: str) -> str:
        """The kind of id that a column holds."""
        return kind_of_id(nw.from_native(self.native).collect_schema()[self.column(name)], name, self.where)


def kind_of_id(type_: Any, name: str, where: str) -> str:  # noqa: ANN401  a type of Narwhals
    """The kind of id that a type makes: kinds must agree between tables, widths need not."""
    if type_.is_integer():
        return "whole number"
    if isinstance(type_, _TEXT):
        return "text"
    if isinstance(type_, _EXACT):
        return str(type_)
    raise unfit_id(type_, name, where)
