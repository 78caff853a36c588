# SPDX-License-Identifier: Apache-2.0
"""Scores inside an engine: cast, checked and turned into predictions by expressions, without fetching rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add, or_
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import narwhals.stable.v2 as nw

from assay.core.errors import not_numbers
from assay.core.text import visible
from assay.rows.columns import array_of, object_array
from assay.rows.engines.duckdb_engine import translate_failures
from assay.rows.files.opened_file import ROW, OpenedFile, number_column, numbered_rows
from assay.rows.label_types import EXACT
from assay.rows.row_positions import Index, places
from assay.rows.score_columns import NORMAL, WIDTHS, Kind, demand_sound, inexact, score_array
from assay.rows.source import FrameSource, require
from assay.rows.spark.spark_files import told_as_ours

if TYPE_CHECKING:
    from numpy.typing import NDArray


Frame: TypeAlias = Any
"""One of Narwhals' frames, eager or lazy."""
PREDICTED: Final = "assay_predicted"
MOST: Final = 3


def with_scores(source: FrameSource, columns: Sequence[str]) -> FrameSource:
    """The source with its score columns as float64, under names of ours."""
    names = tuple(f"assay_score_{place}" for place in range(len(columns)))
    if isinstance(source.opened, OpenedFile):
        frame = _with_numbers(source.opened, source.opened.relation, columns, names)
    else:
        known = list(source.frame.collect_schema().names())
        frame = source.frame.with_columns(
            *(
                _number(source, require(column, known, source.where)).alias(name)
                for column, name in zip(columns, names, strict=True)
            )
        )
    shown = {name: source.names.get(column, column) for column, name in zip(columns, names, strict=True)}
    schema = frame.collect_schema()
    stored = tuple(sorted({WIDTHS.get(name, name) for name in (type(schema[c]).__name__.lower() for c in columns)}))
    return replace(source, frame=frame, score=names, names={**source.names, **shown}, stored=stored)


def _with_numbers(opened: OpenedFile, relation: Any, columns: Sequence[str], names: Sequence[str]) -> Frame:  # noqa: ANN401
    """A relation of a file with columns as float64 beside the others."""
    numbers = ", ".join(f"{number_column(opened, c)} AS {name}" for c, name in zip(columns, names, strict=True))
    return nw.from_native(relation.project(f"*, {numbers}"))


WIDE: Final = (nw.Int64, nw.UInt64, nw.Int128, nw.UInt128, nw.Decimal)
"""Types of numbers that a float64 cannot always hold."""


def _demand_held(source: FrameSource, column: str, kind: Any) -> None:  # noqa: ANN401  a Narwhals type
    """Refuse numbers of a frame that would change as float64, before they are cast."""
    values = nw.col(column)
    if kind == nw.Decimal:
        score_array(source.frame.lazy().select(values).collect()[column].to_list(), source.shown(column))
        return
    ends = source.frame.lazy().select(low=values.min(), high=values.max()).collect().row(0)
    if any(end is not None and abs(int(end)) > EXACT for end in ends):
        raise inexact(source.shown(column), "a whole number above 2^53")


def _number(source: FrameSource, column: str) -> Any:  # noqa: ANN401  a Narwhals expression
    """A column of numbers as float64."""
    kind = source.frame.collect_schema()[column]
    if not kind.is_numeric():
        what = f"{source.shown(column)} is {kind}, and scores are numbers"
        raise not_numbers(source.where, what, "name a column of numbers")
    if source.opened is None and kind in WIDE:
        _demand_held(source, column, kind)
    return nw.col(column).cast(nw.Float64)


def sums(source: FrameSource, conditions: dict[str, Any]) -> dict[str, int]:
    """How many rows there are, and in how many each condition holds."""
    ones = [nw.when(hit).then(nw.lit(1)).otherwise(nw.lit(0)).sum().alias(name) for name, hit in conditions.items()]
    row = fetched(source, source.frame.select(nw.len().alias("rows"), *ones))[0]
    return {name: int(cast("int", value) or 0) for name, value in zip(("rows", *conditions), row, strict=True)}


def fetched(source: FrameSource, frame: Any) -> list[tuple[object, ...]]:  # noqa: ANN401  a Narwhals frame
    """The rows of a small answer, whichever engine gives it."""
    native, kind = frame.to_native(), frame.implementation
    with translate_failures(source.where):
        if source.opened is not None:
            return cast("list[tuple[object, ...]]", source.opened.fetch(native))
        if kind.is_pyspark() or kind.is_pyspark_connect():
            with told_as_ours(source.where):
                return list(native.collect())
        if kind.is_duckdb():
            return cast("list[tuple[object, ...]]", native.fetchall())
        eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return cast("list[tuple[object, ...]]", eager.rows())


def arrays(source: FrameSource, frame: Any) -> list[NDArray[Any]]:  # noqa: ANN401  a Narwhals frame
    """The columns of an answer as numpy arrays, whichever engine gives it."""
    native, kind = frame.to_native(), frame.implementation
    if kind.is_pyspark() or kind.is_pyspark_connect():
        with told_as_ours(source.where):
            return [array_of(column) for column in native.toArrow().columns]
    names = list(frame.collect_schema().names())
    with translate_failures(source.where):
        if isinstance(source.opened, OpenedFile) or kind.is_duckdb():
            columns = source.opened.arrays(native) if isinstance(source.opened, OpenedFile) else native.fetchnumpy()
            return [_unmasked(columns[name]) for name in names]
        eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return [_array(eager.get_column(name)) for name in names]


def _unmasked(values: Any) -> NDArray[Any]:  # noqa: ANN401  an array of numpy's, masked where values are missing
    """The values, None where one is missing: under a mask stands any number."""
    import numpy as np

    if not np.ma.is_masked(values):
        return np.asarray(values)
    return _plain(values.tolist())


def _array(series: Any) -> NDArray[Any]:  # noqa: ANN401  a Narwhals series
    return cast("NDArray[Any]", series.to_numpy()) if series.dtype.is_numeric() else _plain(series.to_list())


def _plain(values: list[Any]) -> NDArray[Any]:
    import numpy as np

    if values and all(type(value) is float for value in values):
        return np.array(values, dtype=np.float64)
    return object_array(values)


def complete(source: FrameSource) -> Frame:
    """The rows that have a predicted label."""
    return source.frame.filter(~nw.col(source.predicted).is_null()) if source.predicted else source.frame


def sound_frame(source: FrameSource, kind: Kind, *, single: bool, drop: bool) -> tuple[FrameSource, int]:
    """The source without rows whose score is missing, and how many those are; any other fault is an error."""
    hits = _faults(source.score, kind, single=single)
    counts = sums(source, hits)
    lost = counts["missing"]
    demand_sound(
        counts,
        where=f"{visible(source.where)}, {' and '.join(source.shown(name) for name in source.score[:MOST])}",
        first=lambda name: _first(source, hits[name]),
        farthest=lambda: cast("float", fetched(source, source.frame.select(off_one(source)))[0][0]),
        drop=drop,
    )
    if not lost:
        return source, 0
    whole = reduce(lambda a, b: a & b, (~gone(nw.col(name)) for name in source.score))
    return replace(source, frame=source.frame.filter(whole), dropped=source.dropped + lost), lost


def embedded(source: FrameSource) -> OpenedFile | None:
    """The file whose rows wait in the embedded engine, if that is where they are."""
    opened = source.opened
    return opened if isinstance(opened, OpenedFile) and source.frame.implementation.is_duckdb() else None


def about_distinct(source: FrameSource, names: Sequence[str]) -> int:
    """About how many distinct scores the fullest column holds; 0 where the engine has no sketch of that."""
    asked = [f"approx_count_distinct({name})" for name in names]  # names of ours, which every engine reads as they are
    kind, native = source.frame.implementation, source.frame.to_native()
    if embedded(source) is not None:
        answer = native.aggregate(", ".join(asked))
    elif kind.is_pyspark() or kind.is_pyspark_connect():
        answer = native.selectExpr(*asked)
    else:
        return 0
    return max(cast("tuple[int, ...]", fetched(source, nw.from_native(answer))[0]))


def off_one(source: FrameSource) -> Any:  # noqa: ANN401  a Narwhals expression
    """How far from 1 the scores of a row add up at most; a row that lacks one counts nothing."""
    every = [nw.col(name) for name in source.score]
    lacking = reduce(or_, (gone(column) for column in every))
    return nw.when(lacking).then(nw.lit(0.0)).otherwise((reduce(add, every) - 1).abs()).max()


def gone(column: Any) -> Any:  # noqa: ANN401  Narwhals expressions
    """Where a column has no number.

    A file's statistics leave NaN out, by which the embedded engine takes is_nan for untrue, but not is_finite.
    """
    return column.is_null() | (~column.is_finite() & (column.abs() != math.inf))


def _faults(columns: Sequence[str], kind: Kind, *, single: bool) -> dict[str, Any]:
    expressions = [nw.col(name) for name in columns]
    lacking = reduce(or_, (gone(column) for column in expressions))
    hits = {
        "missing": lacking,
        "infinite": reduce(or_, (~column.is_finite() & ~gone(column) for column in expressions)),
    }
    if kind != "probability":
        return hits
    hits["outside"] = reduce(or_, (((column < 0) | (column > 1)) & ~gone(column) for column in expressions))
    if not single:
        hits["unnormal"] = ((reduce(add, expressions) - 1).abs() > NORMAL) & ~lacking
    return hits


def _first(source: FrameSource, hit: Any) -> str:  # noqa: ANN401  a Narwhals expression
    """The first rows with a fault, numbered where the engine keeps rows in order."""
    wanted = [nw.col(name) for name in source.score[:MOST]]
    if not isinstance(source.frame, nw.DataFrame) and not isinstance(source.opened, OpenedFile):
        few = fetched(source, source.frame.filter(hit).select(*wanted).head(MOST))
        return "; ".join(_told(row) for row in few)
    rows: list[tuple[int, tuple[object, ...]]] = []
    for frame, placed in _numbered(source):
        first = frame.filter(hit).sort(ROW).select(nw.col(ROW), *wanted).head(MOST - len(rows))
        rows += [(placed(int(cast("int", row[0]))), row[1:]) for row in fetched(source, first)]
        if len(rows) >= MOST:
            break
    return "; ".join(f"{_told(values)} {places([row])}".rstrip() for row, values in rows)


def _numbered(source: FrameSource) -> Iterator[tuple[Frame, Callable[[int], int]]]:
    """The rows with their numbers, of files one after the other, and what a number says of where a row stands."""
    if not isinstance(source.opened, OpenedFile):
        yield source.frame.with_row_index(ROW), Index if source.indexed else lambda number: number + 1
        return
    columns = [source.names[name] for name in source.score]
    for relation, placed in numbered_rows(source.opened, columns):
        yield _with_numbers(source.opened, relation, columns, source.score), placed


def _told(values: Sequence[object]) -> str:
    return ", ".join("nothing" if value is None else visible(value) for value in values)


def frame_by_threshold(source: FrameSource, threshold: float, place: int) -> FrameSource:
    """Predictions 1 where the score is at or above a threshold and 0 elsewhere."""
    called = nw.when(nw.col(source.score[place]) >= threshold).then(nw.lit(1)).otherwise(nw.lit(0))
    return replace(source, frame=source.frame.with_columns(called.alias(PREDICTED)), predicted=PREDICTED)


def frame_by_largest(source: FrameSource) -> tuple[FrameSource, int]:
    """Predictions by the largest score, as the number of its column; and in how many rows several are largest."""
    every = [nw.col(name) for name in source.score]
    best, place = first_largest(every)
    largest = reduce(add, (nw.when(one == best).then(nw.lit(1)).otherwise(nw.lit(0)) for one in every))
    tied = sums(source, {"tied": largest > 1})["tied"]
    return replace(source, frame=source.frame.with_columns(place.alias(PREDICTED)), predicted=PREDICTED), tied


def first_largest(columns: Sequence[Any]) -> tuple[Any, Any]:
    """The largest of some columns, and the place of the first that has it."""
    best: Any = nw.max_horizontal(*columns)
    place: Any = nw.lit(len(columns) - 1)
    for i in reversed(range(len(columns) - 1)):
        place = nw.when(columns[i] == best).then(nw.lit(i)).otherwise(place)
    return best, place
