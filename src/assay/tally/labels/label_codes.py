# SPDX-License-Identifier: Apache-2.0
"""Columns of labels as small numbers and the few names they stand for, however many rows there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.labels import Label
from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.engines.score_expressions import embedded
from assay.rows.files.opened_file import OpenedFile, number_sql, translated
from assay.tally.labels.label_cells import Codes

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

    from assay.core.arrays import Floats
    from assay.rows.source import FrameSource


_LINES: Final = "assay_lines"


def fetch_columns(source: FrameSource, columns: Sequence[str], times: str | None = None) -> list[NDArray[np.object_]]:
    """Columns of every row, brought to this machine as they are; `times` says how many rows each stands for."""
    import narwhals.stable.v2 as nw

    from assay.rows.engines.score_expressions import arrays

    names = [f"k{place}" for place in range(len(columns))]
    frame = source.frame.select(*(nw.col(c).alias(n) for c, n in zip(columns, names, strict=True)))
    values = arrays(source, frame)
    if source.opened is not None:
        rows = len(values[0]) if times is None else int(values[list(columns).index(times)].sum())
        source.opened.confirm(rows + source.dropped)
    return values


def columns_of(
    source: FrameSource, labelled: Sequence[str], numbers: Sequence[str], times: str | None = None
) -> tuple[list[Codes], list[Floats]]:
    """Columns of labels and columns of numbers of every row, held compactly: texts are numbered in the engine."""
    where = [f"{source.where}, {source.shown(column)}" for column in labelled]
    opened = embedded(source)
    if opened is not None:
        return _from_engine(opened, source.frame.to_native(), labelled, numbers, where, source.dropped, times)
    found = fetch_columns(source, [*labelled, *numbers], times)
    codes = [Codes.of_values(one, place) for one, place in zip(found, where, strict=False)]
    return codes, [np.asarray(one, dtype=np.float64) for one in found[len(labelled) :]]


def _from_engine(  # noqa: PLR0917  the rows, their columns, and what these are called
    opened: OpenedFile,
    relation: duckdb.DuckDBPyRelation,
    labelled: Sequence[str],
    numbers: Sequence[str],
    where: Sequence[str],
    dropped: int = 0,
    times: str | None = None,
) -> tuple[list[Codes], list[Floats]]:
    types = {name: str(kind).partition("(")[0] for name, kind in zip(relation.columns, relation.types, strict=True)}
    texts: dict[int, list[Label | None]] = {}
    chosen, joins = [], []
    with translated(opened):
        opened.connection.execute(f"CREATE OR REPLACE TEMP VIEW {_LINES} AS {relation.sql_query()}")
        for place, column in enumerate(labelled):
            name, table = f"l.{quote_identifier(column)}", f"assay_names_{place}"
            if types[column] not in {"VARCHAR", "ENUM"}:
                chosen.append(name)
                continue
            opened.connection.execute(
                f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT t, CAST(row_number() OVER () - 1 AS INTEGER) AS n"  # noqa: S608
                f" FROM (SELECT DISTINCT CAST({name} AS VARCHAR) AS t FROM {_LINES} AS l WHERE {name} IS NOT NULL)"
            )
            texts[place] = [row[0] for row in opened.fetch(f"SELECT t FROM {table} ORDER BY n")]  # noqa: S608
            chosen.append(f"coalesce({table}.n, {len(texts[place])})")
            joins.append(f"LEFT JOIN {table} ON CAST({name} AS VARCHAR) = {table}.t")
    for column in numbers:
        own = column in opened.columns  # else a name of ours, and a number already
        chosen.append(number_sql(opened, column, "l") if own else f"l.{quote_identifier(column)}")
    asked = ", ".join(f"{sql} AS k{i}" for i, sql in enumerate(chosen))
    each = opened.arrays(f"SELECT {asked} FROM {_LINES} AS l {' '.join(joins)}")  # noqa: S608  quoted
    columns = [each[f"k{i}"] for i in range(len(chosen))]
    rows = len(columns[0]) if times is None else int(columns[len(labelled) + list(numbers).index(times)].sum())
    opened.confirm(rows + dropped)
    codes = [
        Codes(codes=array, names=(*texts[place], None)).labelled(where[place])
        if place in texts
        else Codes.of_values(array, where[place])
        for place, array in enumerate(columns[: len(labelled)])
    ]
    return codes, [np.ma.filled(array.astype(np.float64), np.nan) for array in columns[len(labelled) :]]
