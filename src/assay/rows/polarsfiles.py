# SPDX-License-Identifier: Apache-2.0
"""Files that Polars counts: checked by the same rules as for the embedded engine, then scanned lazily by Polars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import AssayError, EngineError, PlanError
from assay.core.text import visible
from assay.rows.engine import quote_identifier
from assay.rows.opened import OpenedFile, demand_unchanged
from assay.rows.textfiles import optional

if TYPE_CHECKING:
    from assay.rows.listing import Paths
    from assay.rows.reading import Reading

_TYPES = {
    "VARCHAR": "String",
    "BOOLEAN": "Boolean",
    "BIGINT": "Int64",
    "UBIGINT": "UInt64",
    "HUGEINT": "Int128",
    "DOUBLE": "Float64",
}
"""The types a column of JSON lines gets from the embedded engine, and what Polars calls them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolarsFile:
    """Checked files with the face that counting needs; the queries are Polars' own lazy frames."""

    opened: OpenedFile
    columns: tuple[str, ...]

    @property
    def path(self) -> str:
        """What was read, as errors call it."""
        return self.opened.path

    @property
    def format(self) -> str:
        """The format of the files."""
        return self.opened.format

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the Record should know."""
        return ("counted by Polars", *self.opened.notes)

    @property
    def sha256(self) -> str:
        """The digest of a single file."""
        return self.opened.sha256

    @property
    def files(self) -> dict[str, str]:
        """Every file's name and digest."""
        return self.opened.files

    @property
    def decimal(self) -> str:
        """The decimal mark of numbers in text."""
        return self.opened.decimal

    def fetch(self, query: Any) -> list[tuple[object, ...]]:  # noqa: ANN401  a lazy frame of Polars
        """The answer to a query, as rows of Python values."""
        try:
            found = list(query.collect(engine="streaming").rows())
        except (AssayError, KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # Polars says with a panic, which is no Exception, that it crashed
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise self._judged(error) from error
        demand_unchanged(self.opened)
        return found

    def _judged(self, error: BaseException) -> AssayError:
        """What is wrong with the file by the embedded engine's reading of the same columns, else Polars' own words."""
        try:
            demand_unchanged(self.opened)
            # Counting a column would not read it where the footer says that nothing is missing.
            touched = ", ".join(f"bit_xor(hash({quote_identifier(column)}))" for column in self.columns)
            self.opened.fetch(f"SELECT {touched} FROM {quote_identifier(self.opened.view)}")  # noqa: S608  quoted
        except AssayError as found:
            return found
        return EngineError(
            "engine-failed",
            "Polars could not count the file",
            where=visible(self.path),
            found=visible(str(error).strip().partition("\n")[0]),
            fix="leave the engine out: the embedded one can read the file",
        )

    def confirm(self, rows: int) -> None:
        """Demand that Polars read as many rows as the files have."""
        self.opened.confirm(rows)

    def close(self) -> None:
        """Let go of the files."""
        self.opened.close()


def open_polars(data: Paths, columns: Sequence[str], reading: Reading) -> tuple[Any, PolarsFile]:
    """A lazy frame of the columns asked for, and the checked files behind it."""
    polars = optional("polars")
    if polars is None:
        raise PlanError(
            "missing-extra",
            "the engine polars is not installed",
            where="engine",
            fix='pip install "assay[polars]", or leave the engine out',
        )
    from assay.rows.files import check_scalar
    from assay.rows.together import open_files

    opened = open_files(data, reading)
    asked = tuple(dict.fromkeys(columns))
    for column in asked:
        check_scalar(opened, column)
    parts = opened.parts or (opened,)
    frames = [_part(polars, part).select(_column(polars, name, part) for name in asked) for part in parts]
    return polars.concat(frames, how="vertical_relaxed"), PolarsFile(opened=opened, columns=asked)


def _column(polars: Any, name: str, part: OpenedFile) -> Any:  # noqa: ANN401  an expression
    """A column of one file; what its folder says of all its rows is the same text in each."""
    if name in part.levels:
        return polars.lit(part.levels[name], dtype=polars.String).alias(name)
    kind = part.columns[name]
    column = polars.col(name)
    return column.cast(polars.String) if kind.startswith("ENUM(") else column


def _part(polars: Any, part: OpenedFile) -> Any:  # noqa: ANN401  a lazy frame
    """One file, scanned with every option stated; text stays text, as the embedded engine reads it."""
    names = [name for name in part.columns if name not in part.levels]
    path = part.path if part.scan is None or part.scan.path is None else part.scan.path
    if part.format == "csv":
        return polars.scan_csv(
            part.path,
            has_header=True,
            separator=part.delimiter,
            quote_char='"',
            infer_schema=False,
            with_column_names=lambda _: names,
            n_rows=part.rows,  # blank lines at the end are no rows
            glob=False,
        )
    if part.format == "parquet":
        return polars.scan_parquet(part.path, hive_partitioning=False, glob=False)
    if part.format == "jsonl":
        kinds = {name: _TYPES.get(part.columns[name]) for name in names}
        schema = {name: getattr(polars, kind) for name, kind in kinds.items() if kind}
        return polars.scan_ndjson(path, schema=schema, n_rows=part.rows)
    with Path(part.path).open("rb") as file:
        is_file = file.read(6) == b"ARROW1"
    if is_file:
        return polars.scan_ipc(part.path, hive_partitioning=False, glob=False)
    return polars.read_ipc_stream(part.path).lazy()


__all__ = ["PolarsFile", "open_polars"]
