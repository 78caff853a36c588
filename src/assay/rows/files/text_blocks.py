# SPDX-License-Identifier: Apache-2.0
"""The bytes of a text file: expanded within limits, in blocks of whole lines, checked for UTF-8."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from assay.core.errors import RowsError, missing_extra
from assay.core.text import visible
from assay.rows.files.formats import Format, Progress, Reading, confirm_magic, damaged, optional, unreadable

BLOCK = 1 << 20
"""Bytes worked on at a time: small enough for a processor's cache."""

FREE = 64 << 20
"""Expanded bytes below which no compression ratio is suspicious; also the longest row."""

BOM = b"\xef\xbb\xbf"

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
CONTROLS = bytes(set(range(0x20)) - set(b"\t\r\n"))
_ALLOWED = bytes(set(range(256)) - set(CONTROLS))


class Text:
    """A text file as blocks of whole lines."""

    def __init__(self, path: str, form: Format, reading: Reading, progress: Progress | None = None) -> None:
        self.path, self.where, self.form, self.reading, self.progress = path, visible(path), form, reading, progress
        self.bom = False
        self.ends_in_newline = True

    def __iter__(self) -> Iterator[bytes]:
        """Blocks that end in a newline, but for the last one; a byte order mark is taken off."""
        rest: list[bytes] = []
        first = True
        for piece in self._expanded():
            cut = piece.rfind(b"\n") + 1
            if not cut:
                rest.append(piece)
                if sum(map(len, rest)) > FREE:
                    raise self.too_long()
                continue
            block = b"".join([*rest, piece[:cut]])
            rest = [piece[cut:]] if cut < len(piece) else []
            yield self._begin(block) if first else block
            first = False
        if last := b"".join(rest):
            self.ends_in_newline = False
            yield self._begin(last) if first else last

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of a file that was read to its end."""
        return () if self.ends_in_newline else ("the file does not end with a newline: it may be cut short",)

    def _begin(self, block: bytes) -> bytes:
        if block.startswith(_UTF16):
            raise RowsError(
                "encoding",
                "the file is UTF-16, not UTF-8",
                where=f"{self.where}, line 1",
                found="its byte order mark, at byte 0",
                fix='save it as UTF-8 ("CSV UTF-8" in a spreadsheet)',
            )
        if self.form.compression:
            confirm_magic(self.path, Format(name=self.form.name), block[:16])
        self.bom = block.startswith(BOM)
        return block[len(BOM) :] if self.bom else block

    def too_long(self) -> RowsError:
        """The error for a row that no table has."""
        return RowsError(
            "file-unreadable",
            "a row is longer than 64 MiB",
            where=self.where,
            known="rows of at most 64 MiB, one a line",
            fix="check that the file is a table with one row a line, and that its quotes are closed",
        )

    def _expanded(self) -> Iterator[bytes]:
        total = 0
        try:
            with Path(self.path).open("rb") as stored, self._expanding(stored) as file:
                size = os.fstat(stored.fileno()).st_size
                while piece := file.read(BLOCK):
                    total += len(piece)
                    self._demand_within(total, size)
                    yield piece
                    if self.progress:
                        self.progress(stored.tell(), max(size, stored.tell()))
        except (OSError, EOFError, ValueError, zlib.error) as error:
            if self.form.compression is None or getattr(error, "errno", None):  # the system's own errors have a number
                raise unreadable(self.path, error) from None
            cut = isinstance(error, EOFError) or "Truncated" in str(error)
            if not cut:
                raise damaged(self.where, "the compressed file is damaged", visible(error)) from None
            what = "the compressed file ends before it is complete"
            raise damaged(self.where, what, "its end mark is missing", code="file-truncated") from None

    def _demand_within(self, total: int, size: int) -> None:
        most = min(self.reading.max_bytes, max(FREE, self.reading.max_ratio * size))
        if self.form.compression and total > most:
            raise RowsError(
                "expands-past-limit",
                "the compressed file expands past the limit",
                where=self.where,
                found=f"more than {most:,} bytes from {size:,} stored ones",
                known=f"max_bytes {self.reading.max_bytes:,}; max_ratio {self.reading.max_ratio}, past 64 MiB",
                fix="raise max_bytes or max_ratio if you trust the file, or expand it yourself",
            )

    def _expanding(self, stored: BinaryIO) -> Any:  # noqa: ANN401  a file of the library that expands it
        if self.form.compression is None:
            return nullcontext(stored)
        if self.form.compression == "gzip":
            return gzip.GzipFile(fileobj=stored)
        if (arrow := optional("pyarrow")) is None:
            raise missing_extra("arrow", "a .zst file needs pyarrow to be read", where=self.where)
        return arrow.CompressedInputStream(arrow.PythonFile(stored, mode="r"), "zstd")


def check_text(block: bytes, where: str, line: int, offset: int) -> None:
    """Demand UTF-8 without control characters; `line` and `offset` are those of the block's first byte."""
    refuse_controls(block, where, line, offset)
    check_encoding(block, where, line, offset)


def refuse_controls(block: bytes, where: str, line: int, offset: int) -> None:
    """Demand that no control characters but tab and line ends stand in a block."""
    if odd := block.translate(None, _ALLOWED):
        at = block.index(odd[:1])
        line += block.count(b"\n", 0, at)
        raise RowsError(
            "control-character",
            "a control character stands in the file",
            where=f"{where}, line {line:,}",
            found=f"{'NUL' if odd[0] == 0 else f'character {odd[0]:#04x}'} at byte {offset + at:,}",
            fix="remove the control characters; if there are many, the file may be UTF-16 or no text: save it as UTF-8",
        )


def check_encoding(block: bytes, where: str, line: int, offset: int) -> None:
    """Demand that a block is UTF-8."""
    if block.isascii():
        return
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        line += block.count(b"\n", 0, error.start)
        raise RowsError(
            "encoding",
            "the file is not UTF-8",
            where=f"{where}, line {line:,}",
            found=f"byte {block[error.start]:#04x} at byte {offset + error.start:,}",
            fix="save it as UTF-8; files from older Windows programs are often cp1252",
        ) from None
