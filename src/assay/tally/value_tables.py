# SPDX-License-Identifier: Apache-2.0
"""Tables of values: numbers beside what they belong to, such as the accuracy of a model on a fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from assay.core.errors import OutOfRange
from assay.core.labels import Label
from assay.core.task import Request
from assay.core.text import counted, quoted, visible
from assay.rows.files.file_list import are_paths
from assay.rows.label_types import label_of
from assay.rows.spark.spark_session import is_spark
from assay.rows.tables import Column, Kind, Table, open_columns

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from assay.core.arrays import Floats
    from assay.rows.files.formats import Reading
    from assay.rows.limits import Limits

LISTED = 3
"""Places an error names."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ValueTable:
    """Columns of numbers and columns of names, row by row, and where they were read."""

    numbers: Mapping[str, Sequence[object] | Floats]
    names: Mapping[str, list[Label | None]]
    where: str
    opened: object = None
    """The file, where it was one."""

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(next(iter(self.numbers.values())))


def read_values(
    data: object,
    *,
    numbers: Sequence[str],
    names: Sequence[str],
    reading: Reading | None = None,
    engine: str | None = None,
    limits: Limits | None = None,
) -> ValueTable:
    """Columns of a table by name; a cell that holds no number is an error that says where it stands.

    >>> read_values({"fold": [1, 2], "A": [0.8, 0.7]}, numbers=["A"], names=["fold"]).names
    {'fold': [1, 2]}
    """
    if type(data).__module__.split(".")[0] == "pandas":  # whose columns may be called by numbers
        frame = cast("pd.DataFrame", data)
        data = {str(name): frame[name] for name in frame.columns}
    kind: Kind = "number" if are_paths(data) or is_spark(data) else "any"  # what is in memory stays exact
    columns = {name: Column(name, kind) for name in numbers}
    columns |= {f"names in {name}": Column(name, "any") for name in names}
    table = open_columns(Request(given={}, data=data, reading=reading, engine=engine, limits=limits), columns)
    try:
        parts = list(table.chunks(None)) if table.spark is None else [_collected(table)]
    finally:
        table.close()
    where = f"the given {type(data).__module__.split('.')[0]} frame" if table.where == "data" else table.where
    whole = {role: [value for part in parts for value in part[role].tolist()] for role in columns}
    values = ValueTable(
        numbers={name: whole[name] for name in numbers},
        names={
            name: [label_of(value, where=f"{where}, column {quoted(name)}") for value in whole[f"names in {name}"]]
            for name in names
        },
        where=where,
        opened=table.opened,
    )
    for name, column in values.numbers.items():
        _demand_numbers(column, name, where)
    return values


def _collected(table: Table) -> dict[str, NDArray[np.object_]]:
    """The rows of a Spark frame."""
    rows = [tuple(row) for row in table.spark.collect()]
    return {role: np.array([row[place] for row in rows], dtype=object) for place, role in enumerate(table.columns)}


def _demand_numbers(column: Sequence[object] | Floats, name: str, where: str) -> None:
    """Empty cells are told by their rows; what else is not a finite number is told where values enter a tally."""
    lost = [i for i, x in enumerate(column) if x is None or x != x]  # noqa: PLR0124  NaN differs from itself
    if not lost:
        return
    more = f" and {len(lost) - LISTED:,} more" if len(lost) > LISTED else ""
    shown = ", ".join(f"{i + 1:,}" for i in lost[:LISTED])
    raise OutOfRange(
        "value-not-finite",
        f"{counted(len(lost), 'value')} of column {quoted(name)} {'is' if len(lost) == 1 else 'are'} missing",
        where=visible(where),
        found=f"nothing in row {shown}{more}" if len(lost) == 1 else f"nothing in rows {shown}{more}",
        fix="give every model a value in every row, or leave the row out for all of them",
    )
