# SPDX-License-Identifier: Apache-2.0
"""Spark frames, classic and Connect, counted on the cluster that holds them; and paths that a cluster is to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from assay.core.errors import RowsError, repeated_column
from assay.core.text import quoted, visible
from assay.rows.joins.matches import JoinTable, full_join
from assay.rows.joins.mismatch_errors import Join, Unmatched, unfit_id
from assay.rows.source import FrameSource, Roles, require
from assay.rows.spark.spark_files import SparkFile, read, told_as_ours

if TYPE_CHECKING:
    from assay.rows.files.formats import Reading
    from assay.rows.spark.spark_session import Session

_NUMBERS = {"byte", "short", "integer", "long", "float", "double", "decimal", "boolean", "void"}
_TEXT = {"string", "char", "varchar"}
_NESTED = {"array", "map", "struct", "variant", "udt"}
_FIT = {
    "truth": (_NUMBERS | _TEXT, "column-type", "text, whole numbers, booleans"),
    "weight": (_NUMBERS, "column-not-numeric", "numbers"),
    "score": (_NUMBERS - {"boolean", "void"}, "column-not-numeric", "numbers"),
}
"""What a role's column may hold; other roles are held to the rule of the truth."""


_ID_TEXT = (nw.String, nw.Categorical, nw.Enum)
_ID_EXACT = (nw.Boolean, nw.Date, nw.Datetime, nw.Duration, nw.Time, nw.Decimal)


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

    def table(self, place: int, called: str, kinds: Mapping[str, str], rows: int | None = None) -> JoinTable:
        """A frame with the kinds of its ids by column."""
        return JoinTable(
            view=f"{{f{place}}}",
            ids=tuple(kinds),
            kinds=tuple(kinds.values()),
            called=called,
            fetch=self.fetch,
            dialect="spark",
            rows=rows,
        )


class PlainFrame:
    """A Spark frame whose columns have plain names, because Spark reads dots and case into real ones.

    `where` is what errors call it, `opened` the path that it was read from.
    """

    def __init__(self, native: Any, where: str = "the given Spark frame", opened: SparkFile | None = None) -> None:  # noqa: ANN401
        self.where, self.opened = where, opened
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

    def kinds_of_ids(self, by: Sequence[str]) -> dict[str, str]:
        """The kinds of the columns that make an id, by their plain names."""
        schema = nw.from_native(self.native).collect_schema()
        return {(column := self.column(name)): kind_of_id(schema[column], name, self.where) for name in by}


def kind_of_id(type_: Any, name: str, where: str) -> str:  # noqa: ANN401  a type of Narwhals
    """The kind of id that a type makes: kinds must agree between tables, widths need not."""
    if type_.is_integer():
        return "whole number"
    if isinstance(type_, _ID_TEXT):
        return "text"
    if isinstance(type_, _ID_EXACT):
        return str(type_)
    raise unfit_id(type_, name, where)


def read_plain(session: Session, path: str, reading: Reading) -> PlainFrame:
    """The frame that a cluster reads from a path."""
    opened = read(session, path, reading)
    return PlainFrame(opened.frame, visible(opened.path), opened)


def from_spark(plain: PlainFrame, roles: Roles) -> FrameSource:
    """A Spark frame, classic or Connect, by roles."""

    def take(role: str, name: object) -> str:
        column = plain.column(str(name))
        kind = _kind(plain.fields[column].dataType)
        fit, code, known = _FIT.get(role, _FIT["truth"])
        if kind in fit:
            return column
        raise RowsError(
            "column-not-scalar" if kind in _NESTED else code,
            f"column {quoted(name)} is of Spark's type {kind}",
            where=plain.where,
            known=known,
            fix="give another column, or cast this one",
        )

    taken = roles.over(take)
    source = replace(
        FrameSource.by_roles(nw.from_native(plain.native), taken, plain.where),
        opened=plain.opened,
        names={column: field.name for column, field in plain.fields.items()},
    )
    if taken.score is None:
        return source
    from assay.rows.engines.score_expressions import with_scores

    return with_scores(source, [str(column) for column in taken.score.columns])


def _kind(type_: Any) -> str:  # noqa: ANN401  a data type of pyspark
    """The name of a type; a text that Spark compares otherwise than byte by byte would merge labels."""
    collation = getattr(type_, "collation", "UTF8_BINARY")
    return str(type_.typeName()) if collation == "UTF8_BINARY" else f"string collate {collation}"


def from_sides(sides: Sequence[PlainFrame], roles: Roles, by: Sequence[str], unmatched: Unmatched) -> FrameSource:
    """One frame by roles, or predictions and truth in two, joined by id on the cluster that has them."""
    first = sides[0]
    if len(sides) == 1:
        return from_spark(first, roles)
    frame, named, join = _join_frames(sides, roles, by, unmatched)
    for side, rows in zip(sides, (join.predictions, join.truth), strict=True):
        if side.opened is not None:
            side.opened.confirm(rows)
    opened = None if first.opened is None else replace(first.opened, frame=frame, rows=join.matched, max_rows=None)
    where = " and ".join(side.where for side in sides)
    return replace(from_spark(PlainFrame(frame, where, opened), named), join=join)


def _join_frames(
    plain: Sequence[PlainFrame], roles: Roles, by: Sequence[str], unmatched: Unmatched
) -> tuple[Any, Roles, Join]:
    """The joined frame, the roles by the names of its columns, and how the rows matched."""
    from assay.rows.joins.matches import ColumnChoice, check_kinds, count_matches

    spark_frames = SparkFrames([side.native for side in plain], " and ".join(side.where for side in plain))
    tables = [spark_frames.table(place, side.where, side.kinds_of_ids(by)) for place, side in enumerate(plain)]
    check_kinds(tables, by)
    choice = ColumnChoice(names=[side.names for side in plain], where=[side.where for side in plain], by=tuple(by))
    named = roles.over(choice.take)
    columns = [
        f"t{side}.{plain[side].column(column)} AS v{place}"
        for place, (side, column) in enumerate(choice.chosen.values())
    ]
    join = count_matches(tables, by, unmatched)
    return spark_frames.query(full_join(tables, columns, how="INNER")).toDF(*choice.chosen), named, join
