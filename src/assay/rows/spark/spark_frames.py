# SPDX-License-Identifier: Apache-2.0
"""Spark frames, classic and Connect, counted on the cluster that holds them; and paths that a cluster is to read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from assay.core.errors import PlanError, RowsError, repeated_column
from assay.core.text import quoted, visible
from assay.rows.joins.join_sql import JoinTable, full_join, keyed
from assay.rows.joins.mismatch_errors import Join, Unmatched, unfit_id
from assay.rows.source import FrameSource, Roles, require
from assay.rows.spark.spark_errors import told_as_ours
from assay.rows.spark.spark_files import SparkFile, read
from assay.rows.spark.spark_session import open_session

if TYPE_CHECKING:
    from assay.rows.files.formats import Reading
    from assay.rows.limits import Limits

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
    if isinstance(type_, _ID_TEXT):
        return "text"
    if isinstance(type_, _ID_EXACT):
        return str(type_)
    raise unfit_id(type_, name, where)


def from_spark(
    frame: Any,  # noqa: ANN401  a frame of pyspark, classic or Connect
    roles: Roles,
    opened: SparkFile | None = None,
) -> FrameSource:
    """A Spark frame by roles; its columns get plain names."""
    plain = PlainFrame(frame, "the given Spark frame" if opened is None else opened.path)

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
        opened=opened,
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


def from_cluster(path: str | os.PathLike[str], roles: Roles, reading: Reading, engine: str) -> FrameSource:
    """A path, read and counted by the cluster at an address; closing the source ends the session."""
    session = open_session(engine)
    try:
        opened = read(session.spark, path, reading)
        with told_as_ours(visible(opened.path)):
            opened = replace(opened, notes=(f"counted by {session.engine}",), end=session.end)
        return from_spark(opened.frame, roles, opened)
    except BaseException:
        session.end()
        raise


def joined_frames(data: Any, truth_data: Any, roles: Roles, by: Sequence[str], unmatched: Unmatched) -> FrameSource:  # noqa: ANN401  Spark frames
    """Predictions in one Spark frame and truth in another, joined by id on the cluster that has them."""
    frame, named, join = join_frames([data, truth_data], roles, by, unmatched, ("data", "truth_data"))
    return replace(from_spark(frame, named), where="data and truth_data", join=join)


def joined_on_cluster(
    given: Mapping[str, Any], roles: Roles, by: Sequence[str], reading: Reading, *, engine: str, limits: Limits | None
) -> FrameSource:
    """Predictions at one path and truth at another, read, joined by id and counted by the cluster at an address."""
    from assay.rows.engines.narwhals_frames import demand_one_path

    paths = [path[0] if isinstance(path, (list, tuple)) and len(path) == 1 else path for path in given.values()]
    for path, name in zip(paths, given, strict=True):
        demand_one_path(path, limits, where=name)
    if reading.sha256 is not None:
        raise PlanError(
            "role-clash",
            "files are pinned by digests, but a cluster reads and joins them",
            where="sha256",
            fix="leave sha256 out, or leave the engine out: then both are read and hashed on this machine",
        )
    session = open_session(engine)
    try:
        sides = [read(session.spark, path, reading) for path in paths]
        shown = [visible(side.path) for side in sides]
        frame, named, join = join_frames([side.frame for side in sides], roles, by, reading.unmatched, shown)
        for side, rows in zip(sides, (join.predictions, join.truth), strict=True):
            side.confirm(rows)
        notes = (f"counted by {session.engine}",)
        opened = replace(
            sides[0], frame=frame, path=" and ".join(shown), notes=notes, rows=join.matched, max_rows=None,
            end=session.end,
        )  # fmt: skip
        return replace(from_spark(frame, named, opened), join=join)
    except BaseException:
        session.end()
        raise


def join_frames(
    frames: Sequence[Any], roles: Roles, by: Sequence[str], unmatched: Unmatched, where: Sequence[str]
) -> tuple[Any, Roles, Join]:
    """The joined frame, the roles by the names of its columns, and how the rows matched."""
    from assay.rows.joins.matches import ColumnChoice, check_kinds, count_matches

    plain = [PlainFrame(frame, called) for frame, called in zip(frames, where, strict=True)]
    kinds = [[side.kind_of_id(name) for name in by] for side in plain]
    spark_frames = SparkFrames([side.native for side in plain], " and ".join(where))
    tables = [
        spark_frames.table(place, [side.column(name) for name in by], kinds[place], side.where, None)
        for place, side in enumerate(plain)
    ]
    check_kinds(tables, by)
    choice = ColumnChoice(names=[side.names for side in plain], where=where, by=tuple(by))
    named = roles.over(choice.take)
    columns = [
        f"t{side}.{plain[side].column(column)} AS v{place}"
        for place, (side, column) in enumerate(choice.chosen.values())
    ]
    join = count_matches(tables, by, unmatched)
    return spark_frames.query(full_join(tables, columns, how="INNER")).toDF(*choice.chosen), named, join
