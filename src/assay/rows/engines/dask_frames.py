# SPDX-License-Identifier: Apache-2.0
"""Frames of Dask: columns of Python objects are looked at on its workers before they are counted there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.core.errors import RowsError, nested_column
from assay.core.text import listed, quoted
from assay.rows.label_types import absent

if TYPE_CHECKING:
    import pandas as pd

_BOOLEAN = {"bool", "bool_"}
_NESTED = {"list", "dict", "set", "ndarray"}


def demand_told_apart(frame: Any, columns: list[str], where: str) -> None:  # noqa: ANN401  a frame of Dask
    """Refuse what a group-by would stumble over or merge: names given twice, nested values, True beside 1."""
    names = list(frame.columns)
    doubled = sorted({str(name) for name in names if names.count(name) > 1})
    if doubled:
        raise RowsError(
            "duplicate-column", f"two columns are called {listed(doubled)}", where=where, fix="rename one of them"
        )
    objects = [name for name in dict.fromkeys(columns) if name in names and str(frame.dtypes[name]) == "object"]
    if not objects:
        return
    found = frame[objects].map_partitions(_types, meta=dict.fromkeys(objects, "object")).compute()
    for name in objects:
        types = set(found[name]) - {""}
        if types & _NESTED:
            raise nested_column(where, f"column {quoted(name)}", listed(sorted(types & _NESTED)))
        if types & _BOOLEAN and types - _BOOLEAN:
            raise RowsError(
                "mixed-types-in-column",
                f"column {quoted(name)} mixes {listed(sorted(types))}",
                where=where,
                fix="make them one type: True and 1 are different labels",
            )


def _types(part: pd.DataFrame) -> pd.DataFrame:
    return part.map(lambda value: "" if absent(value) else type(value).__name__).drop_duplicates()
