# SPDX-License-Identifier: Apache-2.0
"""The estimates of a Record as one table, a row each: CSV and Parquet for whoever goes on computing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from typing import Any, Final

from assay.assess.record.record import Record
from assay.core.blocks.estimate_rows import real
from assay.tally.base import count_from_json

REALS: Final = ("value", "low", "high", "level")
COUNTS: Final = ("n", "numerator", "denominator")
WHOLES: Final = ("draws", "seed")
COLUMNS: Final = (
    "measure", "class", "slice", "value", "undefined", "low", "high", "level", "interval", "no_interval",
    *COUNTS, *WHOLES, "notes",
)  # fmt: skip
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet would run a text that begins with one of these."""

Table = dict[str, tuple[str, list[Any]]]


def table(record: Record) -> Table:
    """Column by column: its kind (`text`, `real`, `whole`) and its values, None where there is nothing."""
    rows = [_row(one) for one in record["estimates"]]
    columns: Table = {}
    for name in (*(("model",) if any("model" in one for one in record["estimates"]) else ()), *COLUMNS):
        values = [row[name] for row in rows]
        kind = "real" if name in REALS else "whole" if name in (*COUNTS, *WHOLES) else "text"
        if name in COUNTS and not all(one is None or one.denominator == 1 for one in values):
            kind = "real"  # sums of weights; the Record has them exactly
        if name in COUNTS:
            values = [None if one is None else float(one) if kind == "real" else int(one) for one in values]
        columns[name] = (kind, values)
    return columns


def as_csv(record: Record) -> str:
    """The table as RFC 4180 has it, with `inf` where a value has no end."""
    columns = table(record)
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    write.writerow(columns)
    kinds = [kind for kind, _ in columns.values()]
    for row in zip(*(values for _, values in columns.values()), strict=True):
        write.writerow([_cell(kind, one) for kind, one in zip(kinds, row, strict=True)])
    return out.getvalue()


def as_parquet(record: Record) -> bytes:
    """The table as Parquet."""
    from assay.rows.files.parquet_output import parquet

    return parquet(table(record))


def _row(estimate: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {name: estimate.get(name) for name in ("model", *COLUMNS)}
    row |= {name: real(row[name]) for name in REALS}
    row |= {name: None if row[name] is None else count_from_json(row[name]) for name in COUNTS}
    notes = [*estimate.get("notes", ()), *estimate.get("interval_notes", ())]
    row["notes"] = "; ".join(map(str, notes)) or None
    row["class"] = None if row["class"] is None else str(row["class"])
    row["slice"] = None if row["slice"] is None else json.dumps(row["slice"], ensure_ascii=False)
    return row


def _cell(kind: str, value: object) -> object:
    if value is None:
        return ""
    if kind == "text":
        text = str(value)
        return f"'{text}" if text.startswith(FORMULA) else text
    return repr(value)
