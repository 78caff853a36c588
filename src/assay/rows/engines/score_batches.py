# SPDX-License-Identifier: Apache-2.0
"""Scores in the embedded engine and on Spark: how many there are, and between which ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.files.opened_file import OpenedFile
from assay.rows.source import FrameSource, Look
from assay.rows.spark.spark_errors import told_as_ours

if TYPE_CHECKING:
    import numpy as np
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
        aggregates = opened.fetch(source.frame.to_native().aggregate(", ".join(asked)))[0]
    elif kind.is_pyspark() or kind.is_pyspark_connect():
        asked.append(f"approx_count_distinct(CASE WHEN pmod(hash({name}), {SAMPLED}) = 0 THEN {name} END)")
        with told_as_ours(source.where):
            aggregates = tuple(source.frame.to_native().selectExpr(*asked).collect()[0])
    else:
        return None
    rows, there, low, high, total, *about = aggregates
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
