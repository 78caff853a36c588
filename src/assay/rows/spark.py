# SPDX-License-Identifier: Apache-2.0
"""Spark frames, classic and Connect, counted on the cluster that holds them; and paths that a cluster is to read."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from assay.core.errors import RowsError
from assay.core.text import quoted, visible
from assay.rows.opening import FrameSource, Roles, require
from assay.rows.sparkerrors import told_as_ours
from assay.rows.sparkfiles import SparkFile, read
from assay.rows.sparksession import open_session

if TYPE_CHECKING:
    from assay.rows.reading import Reading

_NUMBERS = {"byte", "short", "integer", "long", "float", "double", "decimal", "boolean", "void"}
_TEXT = {"string", "char", "varchar"}
_NESTED = {"array", "map", "struct", "variant", "udt"}


def from_spark(
    frame: Any,  # noqa: ANN401  a frame of pyspark, classic or Connect
    roles: Roles,
    opened: SparkFile | None = None,
) -> FrameSource:
    """A Spark frame by roles; its columns get plain names, because Spark reads dots and case into real ones."""
    where = "the given Spark frame" if opened is None else opened.path
    with told_as_ours(visible(where)):
        fields = {f"c{place}": field for place, field in enumerate(frame.schema.fields)}
        plain = frame.toDF(*fields)
    names = [field.name for field in fields.values()]

    def column(name: object, fit: set[str], code: str, known: str) -> str:
        found = require(str(name), names, where)
        if names.count(found) > 1:
            raise RowsError(
                "duplicate-column",
                f"{names.count(found)} columns are called {quoted(found)}",
                where=where,
                fix="rename one of them",
            )
        alias = f"c{names.index(found)}"
        kind = _kind(fields[alias].dataType)
        if kind not in fit:
            raise RowsError(
                "column-not-scalar" if kind in _NESTED else code,
                f"column {quoted(found)} is of Spark's type {kind}",
                where=where,
                known=known,
                fix="give another column, or cast this one",
            )
        return alias

    def label(name: object) -> str:
        return column(name, _NUMBERS | _TEXT, "column-type", "text, whole numbers, booleans")

    numbers = _NUMBERS if opened is None else _NUMBERS | _TEXT  # a file's text is checked weight by weight
    source = FrameSource(
        frame=nw.from_native(plain),
        truth=label(roles.truth),
        predicted="" if roles.predicted is None else label(roles.predicted),
        group={name: label(level) for name, level in roles.group.items()},
        weight=None if roles.weight is None else column(roles.weight, numbers, "column-not-numeric", "numbers"),
        where=where,
        opened=opened,
        names={alias: field.name for alias, field in fields.items()},
    )
    if roles.score is None:
        return source
    from assay.rows.scoreframes import with_scores

    scores = [
        column(name, numbers - {"boolean", "void"}, "column-not-numeric", "numbers") for name in roles.score.columns
    ]
    return with_scores(source, scores)


def _kind(type_: Any) -> str:  # noqa: ANN401  a data type of pyspark
    """The name of a type; a text that Spark compares otherwise than byte by byte would merge labels."""
    collation = getattr(type_, "collation", "UTF8_BINARY")
    return str(type_.typeName()) if collation == "UTF8_BINARY" else f"string collate {collation}"


def from_cluster(path: str | os.PathLike[str], roles: Roles, reading: Reading, engine: str) -> FrameSource:
    """A path, read and counted by the cluster at an address; closing the source ends the session."""
    session = open_session(engine)
    try:
        opened = read(session.spark, path, [str(name) for name in roles.named().values()], reading)
        with told_as_ours(visible(opened.path)):
            opened = replace(opened, notes=(f"counted by {session.engine}", *opened.notes), end=session.end)
        return from_spark(opened.frame, roles, opened)
    except BaseException:
        session.end()
        raise


__all__ = ["SparkFile", "from_cluster", "from_spark"]
