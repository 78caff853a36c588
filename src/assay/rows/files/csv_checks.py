# SPDX-License-Identifier: Apache-2.0
"""What a CSV file must be before the engine parses it: a header, rows of equal length, closed quotes, no blank lines.

The engine drops trailing delimiters, skips blank lines, guesses line ends from the first ones it sees and, reading in
parallel, takes line breaks inside quotes for row ends. So the shape of the whole file is checked here first.
"""

from __future__ import annotations

import csv
import io
import re

from assay.core.errors import RowsError
from assay.core.text import counted, listed, visible
from assay.rows.engines.duckdb_engine import Scan, quote_identifier, quote_literal, refuse_duplicates
from assay.rows.files.csv_shape import Body, Header, Trouble, blank, unclosed
from assay.rows.files.formats import no_rows
from assay.rows.files.opened_file import Checked
from assay.rows.files.text_blocks import BOM, Text, check_text

DELIMITERS = ",;\t|"
COLUMNS = 10_000
"""More columns than this are a table on its side or no table."""

_NAMES = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}
_QUOTED = re.compile(rb'"[^"]*"')
_HEADER = 4 << 20  # a first row longer than this is a quote left open
_LINE_SIZE = 2_000_000  # the engine's own limit; raised only for files with longer rows


def check(text: Text, path: str) -> Checked:
    """Go through the whole file once, demand the header's fields in every row, and say how the engine is to read it."""
    blocks = iter(text)
    head = next(blocks, b"")
    while not (end := _record_end(head)) and (more := next(blocks, b"")):
        head += more
        if len(head) > _HEADER:
            break
    check_text(head, text.where, 1, len(BOM) if text.bom else 0)
    header = _header(head, end, text)
    body = Body(text, header)
    body.feed(head)
    for block in blocks:
        body.feed(block)
    body.finish()
    return Checked(
        scan=_select(path, text.form.compression, body),
        rows=body.rows - 1,
        notes=(*header.notes, *text.notes),
        first_line=header.lines + 1,
    )


def _record_end(data: bytes) -> int:
    """Where the first row ends, or 0 if it does not end here."""
    at, seen, inside = -1, 0, 0
    while (at := data.find(b"\n", at + 1)) >= 0:
        inside ^= data.count(b'"', seen, at) & 1
        seen = at
        if not inside:
            return at + 1
    return 0


def _header(head: bytes, end: int, text: Text) -> Header:
    first = head[:end] if end else head
    if not first.strip(b"\r\n"):
        line = Trouble(count=1, first=[(1, 0)])
        raise blank(line, text.where) if head.strip(b"\r\n") else no_rows(text.where, "nothing")
    if first.count(b'"') % 2:
        raise unclosed(text.where, first.count(b"\n", 0, first.rfind(b'"')) + 1)
    bare = _QUOTED.sub(b"", first)
    if b"\r" in bare.removesuffix(b"\r\n"):
        fix = "save the file with Unix or Windows line ends"
        raise _unfit(text.where, "a line ends in a lone carriage return", fix, known="lines end in LF, or all in CRLF")
    delimiter, notes = _delimiter(bare, head[end:] if end else b"", text)
    names = _names(first.decode("utf-8"), delimiter, text.where)
    unnamed = [place for place, name in enumerate(names, start=1) if not name]
    names = [name or f"column {place}" for place, name in enumerate(names, start=1)]
    notes += tuple(f'column {place} has no name in the header; it is called "column {place}"' for place in unnamed[:3])
    refuse_duplicates(names, f"{text.where}, line 1")
    broken = [name for name in names if "\n" in name or "\r" in name]
    if text.bom and broken:  # the engine loses its place there
        what = "a column name holds a line break, in a file with a byte order mark"
        raise _unfit(text.where, what, "rename the column, or save the file without the mark", found=listed(broken))
    return Header(
        names=names, delimiter=delimiter, crlf=first.endswith(b"\r\n"), lines=first.count(b"\n") or 1, notes=notes
    )


def _delimiter(header: bytes, rest: bytes, text: Text) -> tuple[str, tuple[str, ...]]:
    """The delimiter as stated, or the one candidate the header holds; two that fit alike are not chosen between."""
    stated = text.reading.delimiter or text.form.delimiter
    if stated is not None:
        return stated, ()
    counts = {mark: header.count(mark.encode()) for mark in DELIMITERS if mark.encode() in header}
    if not counts:
        return ",", ("one column: no delimiter in the header",)
    row = _QUOTED.sub(b"", rest[: _record_end(rest) or len(rest)])
    fitting = [mark for mark, count in counts.items() if row.count(mark.encode()) == count] if len(counts) > 1 else []
    if len(fitting) > 1:
        finding = " and ".join(_NAMES[mark] for mark in fitting) + " split the first rows equally well"
        what, known = "the delimiter cannot be told from the header", " ".join(_NAMES.values())
        raise _unfit(text.where, what, 'state it: delimiter=","', found=finding, known=known)
    mark = fitting[0] if fitting else max(counts, key=lambda m: counts[m])
    return mark, (f"delimiter {_NAMES[mark]} (detected)",)


def _names(header: str, delimiter: str, where: str) -> list[str]:
    try:
        rows = list(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        fix = 'put a name that holds a quote or the delimiter in quotes, its own quotes doubled: "a ""b"" c"'
        raise _unfit(where, "the header cannot be read", fix, found=visible(error)) from None
    if len(rows[0]) > COLUMNS:
        what = f"the header has {counted(len(rows[0]), 'column')}"
        raise _unfit(where, what, "give a table with one row an item and a few columns", known=f"at most {COLUMNS:,}")
    return rows[0]


def _unfit(where: str, what: str, fix: str, **lines: str) -> RowsError:
    """The error for a header that cannot be read."""
    return RowsError("file-unreadable", what, where=f"{where}, line 1", fix=fix, **lines)


def _select(path: str, compression: str | None, shape: Body) -> Scan:
    """The query that reads the file: every option stated, every column text."""
    names = shape.header.names
    strict = not (shape.header.crlf and shape.folded)
    options = {
        "columns": "{" + ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(names))) + "}",
        "auto_detect": "false",
        "header": "true",
        "skip": "0",
        "delim": quote_literal(shape.header.delimiter),
        "quote": "'\"'",
        "escape": "'\"'",
        "comment": "''",
        "nullstr": "''",
        "allow_quoted_nulls": "false",
        "null_padding": "false",
        "ignore_errors": "false",
        "strict_mode": str(strict).lower(),
        "compression": quote_literal(compression or "none"),
        "max_line_size": str(max(_LINE_SIZE, shape.longest + 2)),
        "parallel": str(not shape.folded).lower(),
        "hive_partitioning": "false",
    }
    # In strict mode duckdb 2.0 reads no row at all when told that lines end in CRLF, but finds CRLF out by itself.
    if not shape.header.crlf:
        options["new_line"] = r"'\n'"
    elif shape.folded:
        options["new_line"] = r"'\r\n'"
    columns = ", ".join(f"c{place} AS {quote_identifier(name)}" for place, name in enumerate(names))
    stated = ", ".join(f"{name} = {value}" for name, value in options.items())
    return Scan(head=f"SELECT {columns} FROM read_csv(", path=path, tail=f", {stated})")  # noqa: S608  quoted above
