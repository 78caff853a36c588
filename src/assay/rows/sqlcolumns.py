# SPDX-License-Identifier: Apache-2.0
"""Columns made by SQL that DuckDB, Polars and Spark have in common, where expressions for all engines are slow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import narwhals.stable.v2 as nw

from assay.rows.scoreframes import Frame

POINT: Final = "{point}"
"""A point to look for by POSITION, of which Polars makes a pattern."""
_POINT: Final = "'.'"


def speaks_sql(rows: Frame) -> bool:
    """Whether the engine of some rows is one of the three."""
    engine = rows.implementation
    return bool(engine.is_duckdb() or engine.is_polars() or engine.is_pyspark() or engine.is_pyspark_connect())


def with_sql(rows: Frame, steps: Sequence[Mapping[str, str]]) -> Frame:
    """The rows with columns made by SQL, in steps; each sees the columns of those before.

    Names of columns stand in it as they are, so they should be plain and in lower case.
    """
    native = rows.to_native()
    for step in steps:
        if rows.implementation.is_polars():
            import polars as pl

            native = native.with_columns(
                pl.sql_expr(sql.replace(POINT, r"'\.'")).alias(name) for name, sql in step.items()
            )
            continue
        kept = [name for name in native.columns if name not in step]
        made = [f"{sql.replace(POINT, _POINT)} AS {name}" for name, sql in step.items()]
        if rows.implementation.is_duckdb():
            native = native.project(", ".join([*kept, *made]))
        else:
            native = native.selectExpr(*kept, *made)
    return nw.from_native(native)
