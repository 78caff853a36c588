# SPDX-License-Identifier: Apache-2.0
"""Truth in one frame and predictions in another, joined by id with the frames' own library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import narwhals.stable.v2 as nw

from assay.core.errors import AssayError, PlanError, RowsError
from assay.core.text import listed, quoted
from assay.rows.frames import engine_failure, narwhals_of
from assay.rows.ids import (
    SHOWN,
    Id,
    Join,
    Lone,
    SideBySide,
    Unmatched,
    duplicate_ids,
    ids_differ,
    missing_ids,
    unfit_id,
    unmatched_rows,
)
from assay.rows.opening import Roles, require
from assay.rows.places import Index

ROW = "assay_place"
"""The column that keeps the place each row had in `data`, where rows have one."""

_N = "assay_n"
_SIDES = ("data", "truth_data")
_WHOLE = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.Int128, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64, nw.UInt128)
_TEXT = (nw.String, nw.Categorical, nw.Enum)
_EXACT = (nw.Boolean, nw.Date, nw.Datetime, nw.Duration, nw.Time, nw.Decimal)


def joined_frames(
    data: object,
    truth_data: object,
    roles: Roles,
    by: Sequence[str],
    unmatched: Unmatched,
    *,
    where: Sequence[str] = _SIDES,
) -> tuple[Any, Roles, Join]:
    """Two frames of one library as one, the roles by the names of its columns, and how the rows met."""
    frames = [narwhals_of(one) for one in (data, truth_data)]
    kinds = [str(frame.implementation) for frame in frames]
    if kinds[0] != kinds[1] or type(frames[0]) is not type(frames[1]):
        raise PlanError(
            "role-clash",
            f"data is a {type(data).__name__} of {kinds[0]}, truth_data a {type(truth_data).__name__} of {kinds[1]}",
            where="truth_data",
            fix="give both as frames of one library, or both as files",
        )
    with _told_as_ours(" and ".join(where)):
        sides = [_Side(frame, by, called) for frame, called in zip(frames, where, strict=True)]
        for column, one, two in zip(by, sides[0].kinds, sides[1].kinds, strict=True):
            if one != two:
                raise ids_differ(column, (one, two), where)
        columns = SideBySide(names=[side.names for side in sides], where=where, by=tuple(by))
        named = roles.over(columns.take)
        for home, column in columns.chosen.values():
            sides[home].demand_one(column)
        for side in sides:
            side.demand_ids()
        join = _met(sides, by, unmatched)
        plain = {f"v{place}": name for place, name in enumerate(columns.chosen)}
        ours, theirs = (
            side.keyed.select(
                *side.keys,
                *([ROW] if side.eager and number == 0 else []),
                *(
                    nw.col(side.own[column]).alias(alias)
                    for alias, (home, column) in zip(plain, columns.chosen.values(), strict=True)
                    if home == number
                ),
            )
            for number, side in enumerate(sides)
        )
        both = ours.join(theirs, on=sides[0].keys, how="inner")
        both = (both.sort(ROW) if sides[0].eager else both).drop(sides[0].keys)
        if sides[0].spark:
            return both.to_native().toDF(*(plain[name] for name in both.collect_schema().names())), named, join
        return both.rename(plain).to_native(), named, join


def demand_frame_ids(data: object, by: Sequence[str], where: str) -> None:
    """Demand that ids name every row of a frame once."""
    with _told_as_ours(where):
        _Side(narwhals_of(data), by, where).demand_ids()


class _Side:
    """One of the two frames, with its ids under plain names beside its own columns."""

    def __init__(self, frame: Any, by: Sequence[str], where: str) -> None:  # noqa: ANN401  one of Narwhals' frames
        schema = frame.collect_schema()
        self.names, self.by, self.where = list(schema.names()), by, where
        self.own = {name: name for name in self.names}
        """The name of each column in the frame as it is worked on."""
        self.eager = isinstance(frame, nw.DataFrame)
        for name in by:
            self.demand_one(name)
        self.kinds = [_kind(schema[require(name, self.names, where)], name, where) for name in by]
        self.keys = [f"assay_id_{place}" for place in range(len(by))]
        self.spark = frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect()
        if self.spark:
            # Spark reads dots and case into names, so its columns get plain ones.
            self.own = {name: f"c{place}" for place, name in enumerate(self.names)}
            frame = nw.from_native(frame.to_native().toDF(*(f"c{place}" for place in range(len(self.names)))))
        placed = frame.with_row_index(ROW) if self.eager else frame
        self.keyed = placed.with_columns(
            *(
                (nw.col(self.own[name]).cast(nw.String) if kind == "text" else nw.col(self.own[name])).alias(key)
                for name, kind, key in zip(by, self.kinds, self.keys, strict=True)
            )
        )
        self.ids = self.keyed.select(*([ROW] if self.eager else []), *self.keys)

    def demand_one(self, column: str) -> None:
        """Demand that a name is the name of one column; Spark allows several."""
        if self.names.count(column) > 1:
            raise RowsError(
                "duplicate-column",
                f"{self.names.count(column)} columns are called {quoted(column)}",
                where=self.where,
                fix="rename one of them",
            )

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return _number(self.ids.select(nw.len().alias(_N)))

    def demand_ids(self) -> None:
        """Every row has an id, and no other row has the same."""
        where = f"{self.where}, {'column' if len(self.by) == 1 else 'columns'} {listed(self.by)}"
        empty = nw.any_horizontal(*(nw.col(key).is_null() for key in self.keys), ignore_nulls=False)
        lacking = self.ids.filter(empty)
        if count := _number(lacking.select(nw.len().alias(_N))):
            raise missing_ids(count, self._places(lacking), where)
        doubled = self.ids.group_by(*self.keys).agg(nw.len().alias(_N)).filter(nw.col(_N) > 1)
        if count := _number(doubled.select(nw.len().alias("n"))):
            first = _rows(doubled.sort(*self.keys).select(*self.keys).head(SHOWN))
            raise duplicate_ids(count, _number(doubled.select(nw.col(_N).sum())), self.located(first), where)

    def located(self, ids: Sequence[Id]) -> dict[Id, list[int]]:
        """Some ids with the first rows that carry them, where rows have an order."""
        return {one: self._places(self.ids.filter(self._same(one))) if self.eager else [] for one in ids}

    def _same(self, one: Id) -> Any:  # noqa: ANN401  a Narwhals expression
        return nw.all_horizontal(*(nw.col(k) == v for k, v in zip(self.keys, one, strict=True)), ignore_nulls=False)

    def _places(self, frame: Any) -> list[int]:  # noqa: ANN401
        return [Index(row) for row in frame.head(SHOWN).get_column(ROW).to_list()] if self.eager else []


def _met(sides: Sequence[_Side], by: Sequence[str], unmatched: Unmatched) -> Join:
    ours, theirs = sides
    ids = [side.ids.select(*side.keys) for side in sides]
    matched = _number(ids[0].join(ids[1], on=ours.keys, how="inner").select(nw.len().alias(_N)))
    join = Join(by=tuple(by), predictions=ours.rows, truth=theirs.rows, matched=matched)
    if join.unmatched and (unmatched == "error" or not matched):
        lone = []
        for side, a, b, lacks in ((ours, ids[0], ids[1], "truth"), (theirs, ids[1], ids[0], "prediction")):
            first = _rows(a.join(b, on=side.keys, how="anti").sort(*side.keys).head(SHOWN))
            lone.append(Lone(side=side.where, lacks=lacks, rows=side.rows - matched, first=side.located(first)))
        raise unmatched_rows(lone, matched, f"{ours.where} and {theirs.where}")
    return join


def _kind(type_: object, column: str, where: str) -> str:
    if isinstance(type_, _WHOLE):
        return "whole number"
    if isinstance(type_, _TEXT):
        return "text"
    if isinstance(type_, _EXACT):
        return str(type_)
    raise unfit_id(type_, column, where)


def _number(frame: Any) -> int:  # noqa: ANN401
    return int(cast("int", _rows(frame)[0][0]))


def _rows(frame: Any) -> list[Id]:  # noqa: ANN401
    """The rows of a small frame, fetched as its library does without help of another one."""
    kind = frame.implementation
    if kind.is_duckdb():
        return cast("list[Id]", frame.to_native().fetchall())
    if kind.is_pyspark() or kind.is_pyspark_connect():
        return [tuple(row) for row in frame.to_native().collect()]
    return cast("list[Id]", (frame.collect() if isinstance(frame, nw.LazyFrame) else frame).rows())


@contextmanager
def _told_as_ours(where: str) -> Iterator[None]:
    try:
        yield
    except AssayError:
        raise
    except Exception as error:
        raise engine_failure(error, where) from error


__all__ = ["ROW", "demand_frame_ids", "joined_frames"]
