# SPDX-License-Identifier: Apache-2.0
"""JSON lines: one object a line, strict JSON, and in every column one kind of value."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from assay.core.errors import EngineError, RowsError
from assay.core.text import counted, quoted, visible
from assay.rows.engines.duckdb_engine import Scan, quote_identifier, quote_literal, refuse_duplicates, told_as_ours
from assay.rows.files.csv_shape import Trouble, blank
from assay.rows.files.formats import Fault, misread, no_rows, too_many
from assay.rows.files.opened_file import Checked
from assay.rows.files.text_blocks import Text, check_text
from assay.rows.label_types import EXACT

if TYPE_CHECKING:
    import duckdb

_OBJECT_SIZE = 16 << 20  # the engine's own limit for a line; raised only for files with longer ones
_CONTROL = re.compile("[\0-\x1f]")
_KEYS = 10_000
_DEEPEST = 64  # the engine stops at 128
_TOO_DEEP = f"nested deeper than {_DEEPEST} levels"
_WHOLE = {"BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT"}
_NESTED = {"ARRAY", "OBJECT"}
_WORDS = {
    "a whole number": "('BIGINT', 'HUGEINT', 'UBIGINT', 'UHUGEINT')",
    "a fraction": "('DOUBLE')",
    "text": "('VARCHAR')",
    "true or false": "('BOOLEAN')",
}

# The engine's JSON also takes NaN, infinity and trailing commas, rounds whole numbers past 64 bits and turns 1e400 into
# infinity; a file that might hold one of these is parsed again, strictly.
_ODD = r"[:,\[]\s*-?(?i:nan|inf)|,\s*[}\]]|[:,\[]\s*-?\d{19}|[eE]\+?\d{3}"


def describe(text: Text, path: str, connection: duckdb.DuckDBPyConnection) -> Checked:
    """Check the bytes, then the lines, then the kinds of values of each key."""
    rows, longest = _scan(text)
    options = {
        "format": "'newline_delimited'",
        "ignore_errors": "false",
        "hive_partitioning": "false",
        "compression": quote_literal(text.form.compression or "uncompressed"),
        "maximum_object_size": str(max(_OBJECT_SIZE, longest + 2)),
    }
    stated = ", ".join(f"{name} = {value}" for name, value in options.items())
    objects = f"read_json_objects({quote_literal(path)}, {stated})"
    keys, odd = _keys(text, objects, connection, rows)
    names = [key for key in keys if key]
    unnamed = () if len(names) == len(keys) else ("a key without a name is left out",)
    refuse_duplicates(names, text.where)
    columns = _Columns(text=text, objects=objects, connection=connection, names=names, odd=odd)
    kinds, faults, empty = columns.kinds_and_faults()
    typed = ", ".join(f"{quote_literal(name)}: {quote_literal(kind)}" for name, kind in kinds.items())
    chosen = ", ".join(quote_identifier(name) for name in names)
    scan = Scan(
        head=f"SELECT {chosen} FROM read_json(",  # noqa: S608
        path=path,
        tail=f", {stated}, auto_detect = false, columns = {{{typed}}})",
    )
    try:
        with told_as_ours(text.where, "jsonl"):
            connection.sql(str(scan))
    except EngineError:
        check_lines(text)
        raise
    return Checked(scan=scan, rows=rows, empty=empty, faults=faults, notes=(*text.notes, *unnamed))


def _scan(text: Text) -> tuple[int, int]:
    rows, line, offset, longest = 0, 1, 0, 0
    blank_lines, wrong = Trouble(), Trouble()
    for block in text:
        if text.bom:
            raise RowsError(
                "encoding",
                "the file begins with a byte order mark, which JSON does not allow",
                where=f"{text.where}, line 1",
                found="EF BB BF at byte 0",
                fix="save it as UTF-8 without the mark",
            )
        check_text(block, text.where, line, offset)
        lines = block.count(b"\n") + (not block.endswith(b"\n"))
        data = b"\n" + block
        if b"\n\n" in data or (b"\r" in data and b"\n\r\n" in data):
            for number, content in enumerate(block.split(b"\n")[:lines], start=line):
                if not content.strip(b"\r"):
                    blank_lines.add(number)
                else:
                    rows += 1
                    wrong, blank_lines = wrong.joined(blank_lines), Trouble()
        else:
            rows += lines
            wrong, blank_lines = wrong.joined(blank_lines), Trouble()
        line += lines
        offset += len(block)
        longest = max(longest, len(block))
        if text.reading.max_rows is not None and rows > text.reading.max_rows:
            raise too_many(text.where, text.reading.max_rows)
    if wrong.count:
        raise blank(wrong, text.where)
    if not rows:
        raise no_rows(text.where, "nothing" if not offset else "blank lines")
    return rows, longest


def _keys(text: Text, objects: str, connection: duckdb.DuckDBPyConnection, rows: int) -> tuple[list[str], bool]:
    """Every key, those of the first line first, and whether some lines need a second, stricter look."""
    query = f"SELECT json_keys(json), regexp_matches(json, {quote_literal(_ODD)}), count(*) FROM {objects} GROUP BY ALL"  # noqa: S608
    try:
        with told_as_ours(text.where, "jsonl"):
            groups = connection.execute(query).fetchall()
            first = connection.execute(f"SELECT json_keys(json) FROM {objects} LIMIT 1").fetchall()  # noqa: S608
    except EngineError:
        check_lines(text)
        raise
    read = sum(count for _, _, count in groups)
    plain = all(keys and len(set(keys)) == len(keys) for keys, _, _ in groups)
    if not plain or read != rows:
        check_lines(text)
    if read != rows:
        raise misread(text.where, "the engine read another number of lines than the file has", read, rows)
    known = list(first[0][0] or ())
    known += sorted({key for keys, _, _ in groups for key in keys or ()} - set(known))
    if len(known) > _KEYS or _CONTROL.search("".join(known)):
        raise RowsError(
            "file-unreadable",
            "the keys of the objects are not column names",
            where=text.where,
            found=f"{counted(len(known), 'key')}, such as {quoted(known[-1])}",
            known=f"at most {_KEYS:,} keys, without control characters",
            fix="write the same few keys on every line",
        )
    return known, any(odd for _, odd, _ in groups)


def strict(line: bytes) -> dict[str, object]:
    """One line as an object, or ValueError saying what is not JSON about it."""
    try:
        value = json.loads(
            line,
            object_pairs_hook=_unique,
            parse_constant=lambda word: _refuse(f"{word} is not JSON"),
            parse_float=_finite,
        )
    except RecursionError:
        value = _refuse(_TOO_DEEP)
    if not isinstance(value, dict):
        _refuse(f"a {type(value).__name__} instead of an object")
    if line.count(b"[") + line.count(b"{") > _DEEPEST and _depth(value) > _DEEPEST:
        _refuse(_TOO_DEEP)
    if b"\\u" in line:
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is not a character
    return value


def _depth(value: object) -> int:
    """How many levels a value has, counted level by level because a recursion could run out of stack."""
    level, depth = [value], 0
    while level := [v for v in level if isinstance(v, (list, dict))]:
        level = [inner for v in level for inner in (v.values() if isinstance(v, dict) else v)]
        depth += 1
    return depth


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    out = dict(pairs)
    if len(out) != len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        _refuse(f"the key {quoted(twice)} stands twice in one object")
    return out


def _refuse(what: str) -> NoReturn:
    """Say what is not JSON about a line."""
    raise ValueError(what)


def _finite(digits: str) -> float:
    if math.isinf(value := float(digits)):
        _refuse(f"the number {visible(digits)} is too large")
    return value


def check_lines(text: Text) -> dict[str, int]:
    """Parse every line strictly and raise one error for all that fail; by key, the bits of whole numbers past 63."""
    wrong, first, array = Trouble(), "", False
    widest: dict[str, int] = {}
    for number, line in enumerate(_lines(text), start=1):
        array |= number == 1 and line.startswith(b"[")
        if not line.strip(b"\r"):
            continue  # blank lines at the end
        try:
            values = strict(line)
        except ValueError as error:
            first = first or str(error)
            wrong.add(number)
            continue
        for key, value in values.items():
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                widest[key] = max(widest.get(key, 0), 65 if value < 0 else value.bit_length())
    if wrong.count:
        raise RowsError(
            "file-unreadable",
            f"{counted(wrong.count, 'line')} {'is' if wrong.count == 1 else 'are'} not one JSON object",
            where=f"{text.where}, {wrong.lines()}",
            found=f"line {wrong.first[0][0]:,}: {visible(first)}",
            known="one object a line, in strict JSON, every key once; null for a missing value",
            fix="write the objects of the array one a line, without the brackets" if array else "correct these lines",
        )
    return widest


def _lines(text: Text) -> Iterator[bytes]:
    for block in text:
        yield from block.removesuffix(b"\n").split(b"\n")


def pointer(key: str) -> str:
    """The JSON pointer (RFC 6901) to a key of the top object.

    >>> pointer("a/b")
    '/a~1b'
    """
    return "/" + key.replace("~", "~0").replace("/", "~1")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """The values of each key: their kinds, and where a kind stands."""

    text: Text
    objects: str
    connection: duckdb.DuckDBPyConnection
    names: list[str]
    odd: bool

    def kinds_and_faults(self) -> tuple[dict[str, str], dict[str, Fault], frozenset[str]]:
        """The engine's type of each column, what to raise when an unfit one is asked for, and the columns all null."""
        seen: dict[str, set[str | None]] = {name: set() for name in self.names}
        paths = ", ".join(quote_literal(pointer(name)) for name in self.names)
        for (kinds,) in self._fetch(f"SELECT DISTINCT json_type(json, [{paths}]) FROM {self.objects}"):  # noqa: S608
            for name, kind in zip(self.names, kinds, strict=True):
                seen[name].add(kind)
        huge = check_lines(self.text) if self.odd else {}
        judged = {name: self._judge(name, kinds, huge.get(name, 0)) for name, kinds in seen.items()}
        return (
            {name: kind for name, (kind, _) in judged.items()},
            {name: fault for name, (_, fault) in judged.items() if fault},
            frozenset(name for name, kinds in seen.items() if not kinds - {None, "NULL"}),
        )

    def _judge(self, name: str, found: set[str | None], digits: int) -> tuple[str, Fault | None]:
        kinds = {str(kind) for kind in found - {None, "NULL"}}
        lacking = partial(self._lacking, name) if None in found else None
        if kinds & _NESTED:
            return "JSON", partial(self._nested, name)
        if kinds <= _WHOLE | {"DOUBLE"} and kinds:
            if digits > 64 or (digits == 64 and kinds - {"UBIGINT"}):  # noqa: PLR2004  bits of the widest integer
                return "JSON", partial(self._too_large, name, None)
            if "DOUBLE" not in kinds:
                return "UBIGINT" if digits == 64 else "BIGINT", lacking  # noqa: PLR2004
            return "DOUBLE", partial(self._rounded, name, lacking) if kinds & _WHOLE else lacking
        if len(kinds) > 1:
            return "JSON", partial(self._mixed, name)
        return (kinds or {"VARCHAR"}).pop(), lacking

    def _fetch(self, query: str) -> list[tuple[Any, ...]]:
        with told_as_ours(self.text.where, "jsonl"):
            return self.connection.execute(query).fetchall()

    def _where(self, name: str, predicate: str) -> Trouble:
        """The lines whose value at a key satisfies a predicate over `kind` and `value`."""
        place = quote_literal(pointer(name))
        numbered = f"SELECT row_number() OVER () AS line, json FROM {self.objects}"  # noqa: S608
        named = f"line, json_type(json, {place}) AS kind, json_extract(json, {place}) AS value"
        valued = f"SELECT {named} FROM ({numbered})"  # noqa: S608
        query = f"SELECT line, count(*) OVER () FROM ({valued}) WHERE {predicate} ORDER BY line LIMIT 3"  # noqa: S608
        lines = self._fetch(query)
        return Trouble(count=lines[0][1] if lines else 0, first=[(line, 0) for line, _ in lines])

    def _at(self, trouble: Trouble, name: str) -> str:
        return f"{self.text.where}, column {quoted(name)}, {trouble.lines()}"

    def _lacking(self, name: str) -> RowsError:
        lines = self._where(name, "kind IS NULL")
        return RowsError(
            "ragged-row",
            f"{counted(lines.count, 'line')} without the key {quoted(name)}",
            where=self._at(lines, name),
            found=f"the key on other lines, but not on {lines.lines()}",
            fix=f"write {quoted(name)} on every line; null stands for a missing value",
        )

    def _nested(self, name: str) -> RowsError:
        lines = self._where(name, "kind IN ('ARRAY', 'OBJECT')")
        return RowsError(
            "column-not-scalar",
            f"{counted(lines.count, 'line')} with a list or an object under {quoted(name)}",
            where=self._at(lines, name),
            found="a list or an object",
            fix="give a column with one value a row",
        )

    def _mixed(self, name: str) -> RowsError:
        places = {word: self._where(name, f"kind IN {kinds}") for word, kinds in _WORDS.items()}
        return RowsError(
            "mixed-types-in-column",
            f"column {quoted(name)} mixes kinds of values",
            where=f"{self.text.where}, column {quoted(name)}",
            found="; ".join(f"{word} in {lines.lines()}" for word, lines in places.items() if lines.count),
            fix="write every value of the column in one way: all numbers, or all text in quotes",
        )

    def _too_large(self, name: str, lines: Trouble | None) -> RowsError:
        return RowsError(
            "label-precision",
            f"column {quoted(name)} holds whole numbers too large to be read exactly",
            where=self._at(lines, name) if lines else f"{self.text.where}, column {quoted(name)}",
            known="-2^63 to 2^63 - 1, or 0 to 2^64 - 1; up to 2^53 beside fractions",
            fix="write such values as text, in quotes",
        )

    def _rounded(self, name: str, otherwise: Fault | None) -> RowsError | None:
        """Whole numbers beside fractions become fractions, which is exact only up to 2^53."""
        lines = self._where(name, f"kind IN ('BIGINT', 'UBIGINT') AND abs(value::HUGEINT) > {EXACT}")
        if lines.count:
            return self._too_large(name, lines)
        return otherwise() if otherwise else None
