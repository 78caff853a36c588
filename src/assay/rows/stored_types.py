# SPDX-License-Identifier: Apache-2.0
"""What a file says of the type of its labels, held against labels that were stated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from assay.core.errors import RowsError
from assay.core.labels import Label
from assay.core.text import listed
from assay.rows.source import FrameSource, Source

TYPED: Final = ("parquet", "arrow", "duckdb")
"""Formats that state the type of a column; in others a number has the type it is read with."""


def demand_whole(source: Source, declared: Sequence[Label] | None, *, spelled: bool) -> None:
    """Demand that labels stated as whole numbers are stored as such, where the file says how they are stored.

    Without stated labels, whole fractions such as 1.0 are labels.
    """
    if not declared or not all(_whole(label, spelled=spelled) for label in declared):
        return
    opened = source.opened if isinstance(source, FrameSource) else None
    form = str(getattr(opened, "format", ""))
    if not isinstance(source, FrameSource) or source.frame is None or not any(one in form for one in TYPED):
        return
    schema = source.frame.collect_schema()
    columns = getattr(opened, "columns", None)
    types = dict(columns) if isinstance(columns, dict) else {}
    for column in (source.truth, source.predicted):
        kind = schema.get(column)
        if kind is None or not (kind.is_float() or kind.is_decimal()):
            continue
        name = str(types.get(column, kind)).lower()
        raise RowsError(
            "column-type",
            f"{source.shown(column)} is {name}, and the labels are stated as whole numbers",
            where=source.where,
            found=name,
            known=listed(declared),
            fix="store the column as whole numbers, or cast it where the file is written: astype('int64'),"
            f" CAST({column} AS BIGINT); without stated labels, whole fractions such as 1.0 are labels",
        )


def _whole(label: Label, *, spelled: bool) -> bool:
    if isinstance(label, bool):
        return False
    return isinstance(label, int) or (spelled and isinstance(label, str) and label.strip().lstrip("+-").isdecimal())
