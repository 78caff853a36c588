# SPDX-License-Identifier: Apache-2.0
"""Scores in the embedded engine: how many and between which ends, and handed over in batches to be counted here.

Handing over rows costs the engine less than a group-by of as many bins, and nothing is held but the batches on the way.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from assay.core.errors import AssayError
from assay.core.labels import Label
from assay.rows.engine import quote_identifier, sql_label
from assay.rows.opened import OpenedFile
from assay.rows.opening import FrameSource, Look
from assay.rows.sparkerrors import told_as_ours

if TYPE_CHECKING:
    import numpy as np
    from narwhals.stable.v2.dtypes import DType
    from numpy.typing import NDArray

    Batch: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int8]]


SAMPLED: Final = 16
"""One in so many scores, by its value, goes into Spark's sketch of distinct ones, which costs as much as the rest."""


def embedded(source: FrameSource) -> OpenedFile | None:
    """The file whose rows wait in the embedded engine, if that is where they are."""
    opened = source.opened
    return opened if isinstance(opened, OpenedFile) and source.frame.implementation.is_duckdb() else None


def looked(source: FrameSource) -> Look | None:
    """What one look of the embedded engine, or of Spark, finds of a column of scores; None if any of them is unfit.

    A file may state its largest number without regard to NaN, and the engine may believe it; a sum has seen every row.
    """
    (name,) = source.score  # a name of ours, which every engine reads as it stands
    asked = ["count(*)", *(f"{what}({name})" for what in ("count", "min", "max", "sum"))]
    kind = source.frame.implementation
    if (opened := embedded(source)) is not None:
        found = opened.fetch(source.frame.to_native().aggregate(", ".join(asked)))[0]
    elif kind.is_pyspark() or kind.is_pyspark_connect():
        asked.append(f"approx_count_distinct(CASE WHEN pmod(hash({name}), {SAMPLED}) = 0 THEN {name} END)")
        with told_as_ours(source.where):
            found = tuple(source.frame.to_native().selectExpr(*asked).collect()[0])
    else:
        return None
    rows, there, low, high, total, *about = found
    if not rows or there != rows or not math.isfinite(total):
        return None
    return Look(rows=rows, low=float(low), high=float(high), distinct=SAMPLED * sum(about))


def about_distinct(opened: OpenedFile, source: FrameSource, names: Sequence[str], rows: int | None = None) -> int:
    """About how many distinct scores the fullest column holds, in all rows or in the first ones."""
    asked = ", ".join(f"approx_count_distinct({quote_identifier(name)})" for name in names)
    relation = source.frame.to_native()
    return max(
        int(one) for one in opened.fetch((relation if rows is None else relation.limit(rows)).aggregate(asked))[0]
    )


def batches_of(source: FrameSource, score: str, numbers: Mapping[Label, int]) -> Generator[Batch] | None:
    """The scores of all rows, and the number of the true class of each, -1 if it has none or is incomplete.

    None where it cannot be asked.
    """
    found = None if embedded(source) is None else sided_batches(source, (score,), numbers)
    return None if found is None else _turned(found)


def weighted_batches(
    source: FrameSource, score: str, weight: str, numbers: Mapping[Label, int]
) -> Generator[tuple[Any, ...]] | None:
    """The same with the weight of each row, a number that has been looked at: class, score, weight."""
    return None if embedded(source) is None else sided_batches(source, (score,), numbers, (weight,))


def sided_batches(
    source: FrameSource, scores: Sequence[str], numbers: Mapping[Label, int], more: Sequence[str] = ()
) -> Generator[tuple[Any, ...]] | None:
    """The same of several columns, the class of the row first; also from a relation of DuckDB that a user gave.

    `more` are further columns of numbers, handed over as doubles.
    """
    if not source.frame.implementation.is_duckdb():
        return None
    if not _comparable(source.frame.collect_schema()[source.truth], tuple(numbers)):
        return None
    truth = quote_identifier(source.truth)
    sides = ""
    for number in sorted(set(numbers.values()), reverse=True):
        these = ", ".join(sql_label(label) for label, given in numbers.items() if given == number)
        sides += f"WHEN {truth} IN ({these}) THEN {number} "
    uncalled = f"WHEN {quote_identifier(source.predicted)} IS NULL THEN -1 " if source.predicted else ""
    columns = (f"{quote_identifier(score)} AS score_{place}" for place, score in enumerate(scores))
    doubles = (f"CAST({quote_identifier(name)} AS DOUBLE) AS more_{place}" for place, name in enumerate(more))
    chosen = ", ".join((f"CAST(CASE {uncalled}{sides}ELSE -1 END AS TINYINT) AS side", *columns, *doubles))
    relation = source.frame.to_native().project(chosen)
    opened = embedded(source)
    return _handed_over(source, relation) if opened is None else opened.batches(relation)


def _handed_over(source: FrameSource, relation: Any) -> Generator[tuple[Any, ...]]:  # noqa: ANN401  a relation
    from assay.rows.arrowstream import batches
    from assay.rows.frames import engine_failure

    try:
        yield from batches(relation)
    except AssayError:
        raise
    except Exception as error:
        raise engine_failure(error, source.where) from error


def _turned(batches: Generator[tuple[Any, ...]]) -> Generator[Batch]:
    with closing(batches):
        for side, score in batches:
            yield score, side


def _comparable(kind: DType, labels: Sequence[Label]) -> bool:
    """Whether labels can be compared with the values of a column inside the engine, without a cast that could fail."""
    import narwhals.stable.v2 as nw

    if kind == nw.String:
        return all(isinstance(label, str) for label in labels)
    if kind == nw.Boolean:
        return all(isinstance(label, bool) for label in labels)
    number = kind.is_integer() or kind in {nw.Float64, nw.Float32}
    return number and all(type(label) is int and abs(label) < 1 << 53 for label in labels)
