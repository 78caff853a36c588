# SPDX-License-Identifier: Apache-2.0
"""One file opened as rows: checked to its last byte, hashed, and read lazily by the embedded engine.

Text is read as text: nothing in a CSV file becomes a number, a date or a missing value by guess.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.errors import EngineError, PlanError, RowsError
from assay.core.text import quoted, visible
from assay.rows import columnar, csvfiles, jsonlines, parquetpages
from assay.rows.engine import GLOB, connect, quote_identifier, quote_literal, told_as_ours
from assay.rows.limits import Limits
from assay.rows.opened import (
    VIEW,
    OpenedFile,
    Stamp,
    check_scalar,
    demand_unchanged,
    locate,
    number_column,
    rows_with,
    stamp_of,
    translated,
)
from assay.rows.reading import Format, Reading, confirm_magic, named_format, regular_file, unreadable
from assay.rows.textfiles import Text, digest_of, hashed_meanwhile

if TYPE_CHECKING:
    import duckdb

SMALL = 8 << 20
"""Files up to this size are counted by the engine at once; larger ones when their rows are used (`confirm`)."""

_NESTED = {"list", "array", "struct", "map", "union", "variant"}


def open_file(
    path: str | os.PathLike[str],
    reading: Reading = Reading(),  # noqa: B008  frozen
    *,
    progress: Callable[[int, int], None] | None = None,
    limits: Limits = Limits(),  # noqa: B008
) -> OpenedFile:
    """Check a file to its last byte and open it for counting; `progress` hears of bytes done and bytes in all."""
    known_as = os.fsdecode(path)
    before = regular_file(known_as)
    form = named_format(known_as)
    head = _head(known_as)
    path, folder = _literal_path(known_as)
    try:
        confirm_magic(known_as, form, head)
        opened = _Opening(
            known_as=known_as,
            path=path,
            form=form,
            head=head,
            reading=reading,
            progress=progress,
            limits=limits,
            stamp=stamp_of(before),
        ).open()
        if folder:
            weakref.finalize(opened, shutil.rmtree, folder, ignore_errors=True)
            folder = None
    except (RowsError, EngineError) as error:
        if error.code not in {"too-many-rows", "expands-past-limit"}:
            _demand_pinned(known_as, reading, digest_of(known_as) if reading.sha256 else "")
        raise
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
    _demand_pinned(known_as, reading, opened.sha256)
    demand_unchanged(opened)
    if opened.bytes <= SMALL and form.name in {"csv", "jsonl"} and not form.compression:
        opened.confirm(opened.fetch(f"SELECT count(*) FROM {VIEW}")[0][0])  # noqa: S608
    return opened


def _head(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(16)
    except OSError as error:
        raise unreadable(path, error) from None


def _demand_pinned(path: str, reading: Reading, sha256: str) -> None:
    if reading.sha256 is not None and sha256 != reading.sha256.lower():
        raise RowsError(
            "digest-mismatch",
            "the file is not the one that was pinned",
            where=visible(path),
            found=f"sha256 {sha256}",
            known=f"sha256 {reading.sha256.lower()}",
            fix="give the pinned file, or pin this one if it is meant",
        )


def _literal_path(known_as: str) -> tuple[str, str | None]:
    """The path the engine is given: it expands * ? [ and has no escape for them, so such a file gets a plain link."""
    path = os.path.abspath(known_as)  # noqa: PTH100  links are kept as they are
    if not any(mark in path for mark in GLOB):
        return path, None
    folder = tempfile.mkdtemp(prefix="assay-link-")
    link = Path(folder) / f"file{Path(path).suffix}"
    try:
        link.symlink_to(path)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise PlanError(
            "no-file",
            "a path with *, ? or [ cannot be opened here",
            where=visible(known_as),
            found=visible(error),
            fix="rename the file",
        ) from None
    return str(link), folder


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opening:
    """A file on its way to being opened: its name to the user, its path to the engine, and what is known of it."""

    known_as: str
    path: str
    form: Format
    head: bytes
    reading: Reading
    progress: Callable[[int, int], None] | None
    limits: Limits
    stamp: Stamp

    def open(self) -> OpenedFile:
        """Check the file in its format and hand it to the engine."""
        with told_as_ours(visible(self.known_as), self.form.name):
            connection = connect([self.path], self.limits)
        found = {"csv": self._csv, "jsonl": self._jsonl, "parquet": self._parquet, "arrow": self._arrow}[
            self.form.name
        ](connection)
        with told_as_ours(visible(self.known_as), self.form.name):
            connection.execute(f"CREATE TEMP VIEW {VIEW} AS {found.query}")
            relation = connection.sql(f"SELECT * FROM {VIEW}")  # noqa: S608
            types = dict(zip(relation.columns, relation.types, strict=True))
        nested = {name: self._nested(name, str(kind)) for name, kind in types.items() if kind.id in _NESTED}
        return OpenedFile(
            relation=relation,
            connection=connection,
            path=self.known_as,
            format=self.form.name,
            columns={name: str(kind) for name, kind in types.items()},
            sha256=found.sha256,
            bytes=self.stamp[2],
            rows=found.rows,
            notes=found.notes,
            first_line=found.first_line,
            decimal=self.reading.decimal,
            faults={**nested, **found.faults},
            stamp=self.stamp,
        )

    def _text(self) -> Text:
        return Text(self.known_as, self.form, self.reading, self.progress)

    def _csv(self, _: duckdb.DuckDBPyConnection) -> _Found:
        shape, sha256 = hashed_meanwhile(self.known_as, lambda: csvfiles.scan(self._text()))
        query = csvfiles.select(self.path, self.form.compression, shape)
        return _Found(query=query, rows=shape.rows, sha256=sha256, notes=shape.notes, first_line=shape.header.lines + 1)

    def _jsonl(self, connection: duckdb.DuckDBPyConnection) -> _Found:
        lines, sha256 = hashed_meanwhile(self.known_as, lambda: jsonlines.describe(self._text(), self.path, connection))
        return _Found(query=lines.query, rows=lines.rows, sha256=sha256, notes=lines.notes, faults=lines.faults)

    def _parquet(self, connection: duckdb.DuckDBPyConnection) -> _Found:
        query, rows = columnar.parquet(self.path, self.known_as, connection, self.reading)
        checked = parquetpages.verify(self.path, self.known_as, connection)
        notes = ("page checksums verified",) if checked else ()
        return _Found(query=query, rows=rows, sha256=digest_of(self.known_as, self.progress), notes=notes)

    def _arrow(self, connection: duckdb.DuckDBPyConnection) -> _Found:
        query, rows, notes = columnar.arrow(self.path, self.known_as, self.head, connection, self.reading)
        return _Found(query=query, rows=rows, sha256=digest_of(self.known_as, self.progress), notes=notes)

    def _nested(self, name: str, kind: str) -> jsonlines.Fault:
        return lambda: RowsError(
            "column-not-scalar",
            f"column {quoted(name)} holds {visible(kind)}, not one value a row",
            where=f"{visible(self.known_as)}, column {quoted(name)}",
            fix="give a column with one value a row",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What the check of a format hands on to the engine."""

    query: str
    rows: int
    sha256: str
    notes: tuple[str, ...] = ()
    first_line: int = 1
    faults: Mapping[str, jsonlines.Fault] = field(default_factory=dict)


__all__ = [
    "OpenedFile",
    "Reading",
    "check_scalar",
    "locate",
    "number_column",
    "open_file",
    "quote_identifier",
    "quote_literal",
    "rows_with",
    "translated",
]
