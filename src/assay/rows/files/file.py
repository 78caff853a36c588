# SPDX-License-Identifier: Apache-2.0
"""One file opened as rows: checked to its last byte, hashed, and read lazily by the embedded engine.

Text is read as text: nothing in a CSV file becomes a number, a date or a missing value by guess.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.core.errors import RowsError, nested_column
from assay.core.text import quoted, visible
from assay.rows.engines.duckdb_engine import (
    GLOB,
    Scan,
    case_blind,
    connect,
    quote_identifier,
    quote_literal,
    release,
    told_as_ours,
)
from assay.rows.files import csv_checks, json_lines, parquet
from assay.rows.files.file_digests import LEFT_OUT, begin_digest, pins_of, stop_digest
from assay.rows.files.file_list import Listed
from assay.rows.files.formats import (
    Fault,
    Format,
    Progress,
    Reading,
    confirm_magic,
    named_format,
    read_start,
    regular_file,
)
from assay.rows.files.opened_file import VIEW, Checked, OpenedFile, Stamp, demand_unchanged, stamp_of
from assay.rows.files.text_blocks import Text
from assay.rows.limits import Limits

if TYPE_CHECKING:
    import duckdb

SMALL = 8 << 20
"""Files up to this size are counted by the engine at once; larger ones when their rows are used (`confirm`)."""

_NESTED = {"list", "array", "struct", "map", "union", "variant"}


def prepared(files: Sequence[Listed], reading: Reading) -> list[Prepared]:
    """Files that are there and named after a format, each with the digest it is pinned to."""
    pins = pins_of([one.name for one in files], reading)
    return [
        Prepared(
            listed=entry,
            stamp=stamp_of(regular_file(entry.path)),
            form=named_format(entry.path),
            head=read_start(entry.path, 16),
            reading=reading,
            pin=pins.get(entry.name),
        )
        for entry in files
    ]


@contextmanager
def engine_for(
    files: Sequence[Prepared], limits: Limits, *, databases: Sequence[str] = ()
) -> Iterator[duckdb.DuckDBPyConnection]:
    """An engine that may read these files; it ends if the work with it fails, else with whoever holds the rows."""
    paths = [path for file in files for path in (os.path.abspath(file.known_as), file.path)]  # noqa: PTH100
    with told_as_ours(visible(files[0].listed.path), files[0].form.name) if files else nullcontext():
        connection = connect([*dict.fromkeys(paths), *databases], limits)
    try:
        yield connection
    except BaseException:
        release(connection)
        raise


def confirmed(opened: OpenedFile) -> OpenedFile:
    """Small text files, once the engine has counted as many rows as the scan did."""
    text = all(one.format in {"csv", "jsonl"} for one in opened.parts or (opened,))
    if opened.bytes <= SMALL and text and not opened.path.endswith((".gz", ".zst")):
        opened.confirm(opened.fetch(f"SELECT count(*) FROM {quote_identifier(opened.view)}")[0][0])  # noqa: S608
    return opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A file on its way to being opened: its name to the user, its path to the engine, and what is known of it."""

    listed: Listed
    form: Format
    head: bytes
    reading: Reading
    pin: str | None
    stamp: Stamp

    @property
    def known_as(self) -> str:
        """The path as the user wrote it."""
        return self.listed.path

    @property
    def path(self) -> str:
        """The path as the engine takes it: what it would expand stands in brackets, links are kept as they are."""
        path = os.path.abspath(self.known_as)  # noqa: PTH100
        return "".join(f"[{mark}]" if mark in GLOB else mark for mark in path)

    def open(
        self, connection: duckdb.DuckDBPyConnection, *, progress: Progress | None = None, view: str = VIEW
    ) -> OpenedFile:
        """Check the file in its format and hand it to the engine."""
        digest = begin_digest(self.known_as, self.pin, wanted=self.reading.digest)
        try:
            opened = self._checked(connection, progress, view, digest)
            demand_unchanged(opened)
        except BaseException:
            stop_digest(digest)
            raise
        weakref.finalize(opened, stop_digest, digest)
        return opened

    def _checked(
        self, connection: duckdb.DuckDBPyConnection, progress: Progress | None, view: str, digest: Callable[[], str]
    ) -> OpenedFile:
        confirm_magic(self.known_as, self.form, self.head)
        checked_file = self._check(connection, progress, view)
        with told_as_ours(visible(self.known_as), self.form.name):
            if self.listed.levels:
                self._refuse_clash(connection.sql(str(checked_file.scan)).columns)
            query = with_levels(checked_file.scan, self.listed.levels)
            connection.execute(f"CREATE TEMP VIEW {quote_identifier(view)} AS {query}")
            relation = connection.sql(f"SELECT * FROM {quote_identifier(view)}")  # noqa: S608
        types = zip(relation.columns, relation.types, strict=True)
        nested = {name: self._nested(name, str(kind)) for name, kind in types if kind.id in _NESTED}
        return OpenedFile(
            connection=connection,
            path=self.known_as,
            format=self.form.name,
            digest=digest,
            bytes=self.stamp[2],
            rows=checked_file.rows,
            notes=checked_file.notes if self.reading.digest else (*checked_file.notes, LEFT_OUT),
            first_line=checked_file.first_line,
            decimal=self.reading.decimal,
            faults={**nested, **checked_file.faults},
            stamp=self.stamp,
            name=self.listed.name,
            view=view,
            scan=checked_file.scan,
            levels=self.listed.levels,
            empty=checked_file.empty,
            progress=progress,
        )

    def _refuse_clash(self, columns: Sequence[str]) -> None:
        """A column that both the file and a folder give could mean either."""
        inside = {case_blind(name): name for name in columns}
        for key, value in self.listed.levels.items():
            if case_blind(key) in inside:
                raise RowsError(
                    "duplicate-column",
                    f"both the file and a folder give the column {quoted(key)}",
                    where=visible(self.known_as),
                    found=f"the folder says {quoted(value)}; the file has a column {quoted(inside[case_blind(key)])}",
                    fix="rename the folder, or name the file itself: only folders below what is named give columns",
                )

    def _check(self, connection: duckdb.DuckDBPyConnection, progress: Progress | None, view: str) -> Checked:
        if self.form.name == "parquet":
            return parquet.parquet(self.path, self.known_as, connection, self.reading)
        if self.form.name == "arrow":
            called = f"{parquet.SOURCE}_{view}"
            return parquet.arrow(self.known_as, self.head, connection, self.reading, called=called)
        # The check is one half of the work; the query that counts is the other.
        half = None if progress is None else lambda done, total: progress(done // 2, total)
        text = Text(self.known_as, self.form, self.reading, half)
        if self.form.name == "csv":
            return csv_checks.check(text, self.path)
        return json_lines.describe(text, self.path, connection)

    def _nested(self, name: str, kind: str) -> Fault:
        shown = f"column {quoted(name)}"
        return lambda: nested_column(f"{visible(self.known_as)}, {shown}", shown, visible(kind))


def with_levels(scan: Scan | str, levels: Mapping[str, str | None], replaced: str = "") -> str:
    """A query with the columns that the folders give, each the same text in every row."""
    if not levels and not replaced:
        return str(scan)
    given = [
        f"{'CAST(NULL AS VARCHAR)' if value is None else quote_literal(value)} AS {quote_identifier(key)}"
        for key, value in levels.items()
    ]
    return f"SELECT {', '.join([f'*{replaced}', *given])} FROM ({scan})"  # noqa: S608  quoted above
