# SPDX-License-Identifier: Apache-2.0
"""Paths that a Spark cluster reads: the format its name says, text as text, and checked by the workers first."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.core.errors import EngineError, MissingColumn, PlanError, RowsError, missing_column, nested_column
from assay.core.text import counted, quoted, visible
from assay.rows.files import csv_checks
from assay.rows.files.csv_shape import Header
from assay.rows.files.file_digests import demand_digest, digest_of
from assay.rows.files.formats import Format, Reading, named_format, too_many
from assay.rows.files.formats import no_rows as no_rows_in
from assay.rows.files.text_blocks import Text
from assay.rows.spark.spark_errors import told_as_ours

_GLOB = re.compile(r"[\\*?\[\]{},]")
_NOTHING = "\x01"
"""What stands for a missing field while Spark reads CSV: files with control characters are refused before."""

_TYPES = {"STRING": "string", "BOOLEAN": "boolean", "BIGINT": "bigint"}
_WORDS = {"STRING": "text", "BOOLEAN": "true or false", "BIGINT": "a whole number", "DOUBLE": "a fraction"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkFile:
    """A path as a cluster reads it, with the face of an opened file as far as counting needs it."""

    frame: Any
    path: str
    format: str
    notes: tuple[str, ...] = ()
    rows: int | None = None
    max_rows: int | None = None
    decimal: str = "."
    sha256: str = ""
    """Left empty: the bytes are on the cluster, and only counts come back."""
    end: Callable[[], None] = lambda: None

    def close(self) -> None:
        """End the session that was opened for it."""
        self.end()

    def fetch(self, query: Any) -> list[tuple[object, ...]]:  # noqa: ANN401  a Spark frame
        """The answer to a query, as rows of Python values."""
        with told_as_ours(visible(self.path)):
            return list(query.collect())

    def confirm(self, rows: int) -> None:
        """Demand that as many rows were counted as the lines told, and no more than allowed."""
        if self.max_rows is not None and rows > self.max_rows:
            raise too_many(visible(self.path), self.max_rows, rows)
        if self.rows is not None and rows != self.rows:
            raise EngineError(
                "engine-failed",
                "Spark counted another number of rows than the file has",
                where=visible(self.path),
                found=f"{rows:,} counted, {self.rows:,} there",
                fix="run again when nothing writes to the file; if it stays, report this",
            )


def read(
    spark: Any,  # noqa: ANN401
    path: str | os.PathLike[str],
    columns: Sequence[str],
    reading: Reading,
    *,
    perhaps: Sequence[str] = (),
) -> SparkFile:
    """A path on the way to being counted; `columns` are those that will be asked for, `perhaps` if they are there."""
    known_as = os.fsdecode(path)
    form = named_format(known_as.rstrip("/"))
    place = _place(known_as)
    _demand_pinned(known_as, reading)
    with told_as_ours(visible(known_as)):
        if form.name == "csv":
            return _csv(spark, known_as, place, form, reading)
        if form.name == "jsonl":
            return _jsonl(spark, known_as, place, columns, reading, perhaps=perhaps)
        if form.name == "parquet":
            frame = spark.read.parquet(place)
            return SparkFile(frame=frame, path=known_as, format="parquet", max_rows=reading.max_rows)
    raise RowsError(
        "refused-format",
        f"Spark does not read {form.name} files",
        where=visible(known_as),
        known=".parquet .csv .jsonl",
        fix="write the file as .parquet, or leave the engine out",
    )


def _place(known_as: str) -> str:
    """The path for the cluster: one that is there on this machine is meant literally, any other is the cluster's own.

    >>> _place("hdfs://cluster/predictions/*.parquet")
    'hdfs://cluster/predictions/*.parquet'
    """
    if "://" in known_as or not Path(known_as).exists():
        return known_as
    return _GLOB.sub(r"\\\g<0>", os.path.abspath(known_as))  # noqa: PTH100  links are kept as they are


def _demand_pinned(known_as: str, reading: Reading) -> None:
    if reading.sha256 is None:
        return
    if not Path(known_as).is_file():
        raise PlanError(
            "option-unknown",
            "a path that is not a file on this machine cannot be pinned by its digest",
            where=visible(known_as),
            fix="leave sha256 out, or give a single file that is also here",
        )
    if not isinstance(reading.sha256, str):
        raise PlanError(
            "option-unknown",
            "digests by name pin files that are read on this machine",
            where=visible(known_as),
            fix="give the one digest of the file, or leave the engine out",
        )
    demand_digest(known_as, reading.sha256, digest_of(known_as))


def _csv(spark: Any, known_as: str, place: str, form: Format, reading: Reading) -> SparkFile:  # noqa: ANN401
    where = visible(known_as)
    lines = spark.read.option("lineSep", "\n").text(place)
    header = _header(lines, Text(known_as, form, reading))
    counts = _checked(lines, header, where)
    options = {
        "header": True,
        "enforceSchema": False,  # else a file whose header names other columns would be read as if it named these
        "mode": "FAILFAST",
        "columnPruning": False,  # else rows of the wrong length pass when the missing fields are not asked for
        "sep": header.delimiter,
        "quote": '"',
        "escape": '"',
        "unescapedQuoteHandling": "RAISE_ERROR",
        "nullValue": _NOTHING,
        "emptyValue": "",
        "multiLine": bool(counts["folded"]),  # only then, because such a file cannot be read in pieces
    }
    schema = ", ".join(f"{_name(name)} string" for name in header.names)
    slow = ("line breaks inside quotes: each file is read by one worker",) if counts["folded"] else ()
    return SparkFile(
        frame=spark.read.options(**options).schema(schema).csv(place),
        path=known_as,
        format="csv",
        notes=(*header.notes, *slow),
        rows=None if counts["folded"] else counts["lines"] - counts["files"],
        max_rows=reading.max_rows,
        decimal=reading.decimal,
    )


def _header(lines: Any, text: Text) -> Header:  # noqa: ANN401
    """The header as the embedded engine would read it, from the first two lines of a file."""
    first = lines.selectExpr("make_valid_utf8(value)").take(2)  # what is not UTF-8 is refused in a moment, by its code
    head = "\n".join(row[0] for row in first).encode("utf-8", "replace")
    return csv_checks._header(head, csv_checks._record_end(head), text)  # noqa: SLF001


def _checked(lines: Any, header: Header, where: str) -> dict[str, int]:  # noqa: ANN401
    """Look at every line on the cluster for what Spark's CSV reader would skip, mend or misread in silence."""
    delimiters = f"length(value) - length(replace(value, {_text(header.delimiter)}, ''))"
    quotes = "length(value) - length(replace(value, '\"', ''))"
    facts = {
        "lines": "1",
        "blank": r"int(value IN ('', '\r'))",
        "controls": r"int(value RLIKE '[\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F]')",
        "returns": r"int(rtrim('\r', value) LIKE '%\r%')",
        "encoding": "int(NOT is_valid_utf8(value))",
        "folded": f"int(({quotes}) % 2 = 1)",
        "ragged": f"int(({quotes}) = 0 AND ({delimiters}) <> {len(header.names) - 1})",
    }
    each = lines.selectExpr("input_file_name() AS file", *(f"{sql} AS {name}" for name, sql in facts.items()))
    files = each.groupBy("file").sum(*facts).collect()
    total = {name: sum(row[f"sum({name})"] for row in files) for name in facts}
    for fact, code, what in (
        ("controls", "control-character", "a control character"),
        ("encoding", "encoding", "bytes that are not UTF-8"),
        ("blank", "blank-line", "nothing"),
        ("returns", "file-unreadable", "a lone carriage return"),
    ):
        if total[fact]:
            raise _refused(code, total[fact], what, where)
    if any(row["sum(folded)"] % 2 for row in files):
        raise _refused("quote-not-closed", 1, "a quote that is never closed", where)
    if total["ragged"] and not total["folded"]:
        raise _refused("ragged-row", total["ragged"], f"more or fewer than {len(header.names)} fields", where)
    if total["lines"] <= len(files):
        raise no_rows_in(where, "a header" if files else "nothing")
    return {**total, "files": len(files)}


def _refused(code: str, lines: int, what: str, where: str) -> RowsError:
    return RowsError(
        code,
        f"{counted(lines, 'line')} {'holds' if lines == 1 else 'hold'} {what}",
        where=where,
        fix="correct the file; read on one machine, without an engine, the error also names the lines",
    )


def _jsonl(
    spark: Any,  # noqa: ANN401
    known_as: str,
    place: str,
    columns: Sequence[str],
    reading: Reading,
    *,
    perhaps: Sequence[str],
) -> SparkFile:
    """One object a line; the kinds of values in each column are looked at before a type is chosen for it."""
    where = visible(known_as)
    lines = spark.read.option("lineSep", "\n").text(place)
    parsed = lines.selectExpr("value", "try_parse_json(value) AS object")
    kinds = {name: f"k{place}" for place, name in enumerate(dict.fromkeys([*columns, *perhaps]))}
    each = parsed.selectExpr(
        r"value IN ('', '\r') AS blank",
        "is_valid_utf8(value) AS encoded",
        "coalesce(schema_of_variant(object) LIKE 'OBJECT%', false) AS fit",
        *(f"schema_of_variant(variant_get(object, {_key(name)}, 'variant')) AS {kind}" for name, kind in kinds.items()),
    )
    groups = each.groupBy("blank", "encoded", "fit", *kinds.values()).count().collect()
    if not groups:
        raise no_rows_in(where, "nothing")
    for fault, wrong, code, what in (
        ("blank", True, "blank-line", "nothing"),
        ("encoded", False, "encoding", "bytes that are not UTF-8"),
        ("fit", False, "file-unreadable", "no JSON object"),
    ):
        if lines_at_fault := sum(group["count"] for group in groups if bool(group[fault]) is wrong):
            raise _refused(code, lines_at_fault, what, where)
    values = {name: {group[kind] for group in groups} for name, kind in kinds.items()}
    wanted = {name: seen for name, seen in values.items() if name in columns or seen != {None}}
    types = {name: _type(name, seen, lines, where) for name, seen in wanted.items()}
    typed = (f"variant_get(object, {_key(name)}, '{kind}') AS {_name(name)}" for name, kind in types.items())
    return SparkFile(
        frame=parsed.selectExpr(*typed),
        path=known_as,
        format="jsonl",
        rows=sum(group["count"] for group in groups),
        max_rows=reading.max_rows,
    )


def _type(name: str, column_types: set[str | None], lines: Any, where: str) -> str:  # noqa: ANN401
    """The one type of a column of JSON; numbers with and without a fraction are both numbers."""
    if column_types == {None}:
        first = lines.selectExpr("json_object_keys(value)").head()[0]
        raise missing_column(name, first or (), where)
    kinds = {(kind or "VOID").partition("(")[0].partition("<")[0] for kind in column_types} - {"VOID"}
    kinds = {"DOUBLE" if kind in ("DECIMAL", "FLOAT") else kind for kind in kinds}
    if kinds & {"OBJECT", "ARRAY"}:
        raise nested_column(where, f"column {quoted(name)}", "lists or objects")
    if kinds <= {"BIGINT", "DOUBLE"} and "DOUBLE" in kinds:
        return "double"
    if len(kinds) > 1:
        raise RowsError(
            "mixed-types-in-column",
            f"column {quoted(name)} mixes {' and '.join(sorted(_WORDS.get(kind, kind) for kind in kinds))}",
            where=where,
            fix='make them one type: 1 and "1" are different labels',
        )
    return _TYPES.get(next(iter(kinds), "STRING"), "string")


def _key(name: str) -> str:
    """A column's place in an object, as Spark writes it."""
    if '"' in name and "'" in name:
        raise MissingColumn(
            "missing-column", f"Spark cannot ask for a column called {quoted(name)}", fix="rename the column"
        )
    mark = "'" if '"' in name else '"'
    return _text(f"$[{mark}{name}{mark}]")


def _name(name: str) -> str:
    """A name as an identifier of Spark's SQL.

    >>> _name("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"


def _text(text: str) -> str:
    r"""A text as a literal of Spark's SQL.

    >>> _text("it's")
    "'it\\'s'"
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


__all__ = ["SparkFile", "read"]
