# SPDX-License-Identifier: Apache-2.0
"""The estimates of a Record as one table, a row each: CSV and Parquet for whoever goes on computing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from functools import partial
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
KINDS: Final[Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "slice": ("text", partial(json.dumps, ensure_ascii=False)), **dict.fromkeys(REALS, ("real", real)),
    **dict.fromkeys(COUNTS, ("whole", count_from_json)), **dict.fromkeys(WHOLES, ("whole", int)),
}  # fmt: skip
"""Of columns that are not plain text: the kind, and how a value is read."""
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet would run a text that begins with one of these."""

Table = dict[str, tuple[str, list[Any]]]


def table(record: Record) -> Table:
    """Column by column: its kind (`text`, `real`, `whole`) and its values, None where there is nothing."""
    estimates, columns = record["estimates"], {}
    for name in (*(("model",) if any("model" in estimate for estimate in estimates) else ()), *COLUMNS):
        kind, read = KINDS.get(name, ("text", str))
        values = [None if estimate.get(name) is None else read(estimate[name]) for estimate in estimates]
        if name in COUNTS:  # sums of weights are no whole numbers; the Record has them exactly
            kind = "whole" if all(value is None or value.denominator == 1 for value in values) else "real"
            values = [None if value is None else float(value) if kind == "real" else int(value) for value in values]
        columns[name] = (kind, values)
    notes = ((*estimate.get("notes", ()), *estimate.get("interval_notes", ())) for estimate in estimates)
    return {**columns, "notes": ("text", ["; ".join(map(str, said)) or None for said in notes])}


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
    from assay.rows.files.parquet import write_parquet

    return write_parquet(table(record))


def _cell(kind: str, value: object) -> object:
    if value is None:
        return ""
    if kind == "text":
        text = str(value)
        return f"'{text}" if text.startswith(FORMULA) else text
    return repr(value)
