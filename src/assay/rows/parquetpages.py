# SPDX-License-Identifier: Apache-2.0
"""Checksums of Parquet pages, verified where the writer left them; engines read past them by default."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from assay.core.errors import RowsError
from assay.core.text import quoted, visible
from assay.rows.engine import quote_literal, told_as_ours
from assay.rows.reading import unreadable

if TYPE_CHECKING:
    import duckdb

_WINDOW = 4096
_LONGEST_HEADER = 1 << 24
_DEEPEST = 16
_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 11, 12
_SIZE, _CRC = 3, 4  # fields of PageHeader in parquet.thrift


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    length: int  # of the header
    size: int
    crc: int | None


class _Compact:
    """The few words of Thrift's compact protocol that a page header is written in."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        value = self.data[self.at]
        self.at += 1
        return value

    def varint(self) -> int:
        value = shift = 0
        while shift < 64:  # noqa: PLR2004  no integer is wider
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:  # noqa: PLR2004  the last byte has no continuation bit
                return value
            shift += 7
        msg = "an integer without an end"
        raise ValueError(msg)

    def integer(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def struct(self, depth: int = 0) -> dict[int, int]:
        """The integers of a struct by field number; everything else is skipped."""
        out: dict[int, int] = {}
        number = 0
        while (head := self.byte()) & 0x0F != _STOP:
            number = number + (head >> 4) if head >> 4 else self.integer()
            value = self.value(head & 0x0F, depth)
            if value is not None:
                out[number] = value
        return out

    def value(self, kind: int, depth: int) -> int | None:
        if depth > _DEEPEST:
            msg = "nested too deeply"
            raise ValueError(msg)
        if kind in (_TRUE, _FALSE):
            return None
        if _BYTE < kind < _DOUBLE:
            return self.integer()
        if kind == _STRUCT:
            self.struct(depth + 1)
        elif kind in (_LIST, _SET):
            head = self.byte()
            count = head >> 4 if head >> 4 != 0x0F else self.varint()  # noqa: PLR2004  15 says: the count follows
            for _ in range(min(count, len(self.data))):
                self.value(head & 0x0F if head & 0x0F not in (_TRUE, _FALSE) else _BYTE, depth + 1)
        elif kind in (_BYTE, _DOUBLE, _BINARY):
            size = {_BYTE: 1, _DOUBLE: 8}.get(kind) or self.varint()
            self.at += size
        else:
            msg = f"type {kind}"
            raise ValueError(msg)
        return None


def verify(path: str, known_as: str, connection: duckdb.DuckDBPyConnection) -> bool:
    """Compare every page that carries a checksum with it; tell whether there were any."""
    where = visible(known_as)
    start = "least(nullif(dictionary_page_offset, 0), data_page_offset)"
    columns = f"{start}, total_compressed_size, path_in_schema, row_group_id"
    query = f"SELECT {columns} FROM parquet_metadata({quote_literal(path)})"  # noqa: S608
    with told_as_ours(where, "parquet"):
        chunks = connection.execute(query).fetchall()
    checked = False
    try:
        with Path(path).open("rb") as file:
            whole = file.seek(0, 2)
            for start, size, column, group in chunks:
                if start is not None and size and 0 <= start < start + size <= whole:  # else the engine will refuse it
                    place = f"{where}, column {quoted(column)}, row group {group + 1:,}"
                    checked |= _verify_chunk(file, start, start + size, place)
    except OSError as error:
        raise unreadable(known_as, error) from None
    return checked


def _verify_chunk(file: IO[bytes], at: int, end: int, where: str) -> bool:
    """Walk the pages of one column chunk; a chunk whose first page has no checksum has none."""
    number = 0
    while at < end:
        number += 1
        page = _header(file, at)
        if page is None or page.crc is None:
            return number > 1
        at += page.length
        if _crc(file, at, page.size) != page.crc & 0xFFFFFFFF:
            raise RowsError(
                "file-unreadable",
                "a page of the file does not match its checksum",
                where=f"{where}, page {number:,}",
                found="damaged bytes",
                fix="copy or write the file again",
            )
        at += page.size
    return True


def _header(file: IO[bytes], at: int) -> _Page | None:
    """The header of the page at an offset, or None where there is none to be read: the engine judges then."""
    window = _WINDOW
    while window <= _LONGEST_HEADER:
        file.seek(at)
        data = file.read(window)
        reader = _Compact(data)
        try:
            fields = reader.struct()
        except IndexError:
            if len(data) < window:
                return None
            window *= 16
            continue
        except ValueError:
            return None
        size = fields.get(_SIZE, -1)
        return _Page(length=reader.at, size=size, crc=fields.get(_CRC)) if size >= 0 else None
    return None


def _crc(file: IO[bytes], at: int, size: int) -> int:
    file.seek(at)
    crc = 0
    while size > 0 and (piece := file.read(min(size, 1 << 20))):
        crc = zlib.crc32(piece, crc)
        size -= len(piece)
    return crc if size == 0 else -1
