# SPDX-License-Identifier: Apache-2.0
"""How a file is to be read, and which format its name and its first bytes say it has."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Literal, TypeAlias

from assay.core.declared_types import check_fields
from assay.core.errors import EngineError, PlanError, RowsError
from assay.core.text import counted, listed, nearest, quoted, visible
from assay.rows.limits import unfit_option

FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow"),
}
"""What a file name may end in; the text formats also with .gz or .zst behind."""

FRAME = "frame"
"""The format of rows that were in memory."""

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}

_REFUSED = {
    ".pkl", ".pickle", ".joblib", ".pt", ".pth", ".h5", ".hdf5", ".npy", ".npz", ".onnx", ".xlsx", ".xls", ".zip",
}  # fmt: skip

_REFUSED_MAGIC = {
    "pickle": (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
    "zip": (b"PK\x03\x04", b"PK\x05\x06"),
    "HDF5": (b"\x89HDF\r\n\x1a\n",),
    "NumPy": (b"\x93NUMPY",),
    "Excel": (b"\xd0\xcf\x11\xe0",),
}

_MAGIC = {
    b"PAR1": "parquet",
    b"PARE": "encrypted parquet",
    b"ARROW1": "arrow",
    b"FEA1": "feather version 1",
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
}

_STREAM = b"\xff\xff\xff\xff"

Progress: TypeAlias = Callable[[int, int], None]
Fault: TypeAlias = Callable[[], RowsError | None]
"""What is wrong with a column, looked up only when the column is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How rows are read: the format of a file, the table of a database, truth elsewhere, and limits.

    delimiter: the character between the fields of a CSV file; None finds it, and a note tells it
    decimal: the decimal mark of a CSV file: "." or ","
    max_rows: the largest number of rows that is read
    max_bytes: the largest size to which a compressed file may expand
    max_ratio: the largest ratio by which it may expand
    sha256: the digest a file must have; for several files, by name, as a Record holds them under digests.files
    digest: whether to take the digest; of a wide file it can take longer than counting two of its columns
    table, query: the table of a database, or a query in its place
    tables, queries: the same for each model of `compare`: {"A": "preds_1", "B": "preds_2"}
    truth_data: the table that holds the truth, matched by id; in `compare` also one for each model
    truth_table: the table of a database that holds the truth, where the predictions are elsewhere
    truth_query: a query in place of it
    weight_quantum: the power of two that weights are multiples of; stated alike, sites merge to the last bit
    unmatched: what becomes of rows that have no partner by id: "error", or "count" to leave them out and count them
    unknown: what becomes of labels that were not declared: "error", or "own" to make each a class
    spelled: whether labels are stated as text that is matched to the type of the data
    show_ids: whether errors show ids as they are; else as hashes, for an id may name a person and errors end in logs
    progress: a function that is called with the bytes read and the bytes in all

    >>> Reading(delimiter=";", decimal=",").decimal
    ','
    """

    delimiter: str | None = None
    decimal: str = "."
    max_rows: int | None = None
    max_bytes: int = 64 * 2**30
    max_ratio: int = 200
    sha256: str | Mapping[str, str] | None = None
    digest: bool = True
    table: str | None = None
    query: str | None = None
    tables: Mapping[str, str] | None = None
    queries: Mapping[str, str] | None = None
    truth_data: object = field(default=None, compare=False)
    truth_table: str | None = None
    truth_query: str | None = None
    weight_quantum: float | None = None
    unmatched: Literal["error", "count"] = "error"
    unknown: Literal["error", "own"] = "error"
    spelled: bool = False
    show_ids: bool = False
    progress: Callable[[int, int], None] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse an option that no file could be read with."""
        check_fields(self)
        mark = self.delimiter
        if mark is not None and (len(mark) != 1 or mark in '"\r\n' or not (mark == "\t" or " " <= mark <= "~")):
            raise _option("delimiter", mark, "one character, such as , ; | or a tab")
        if self.decimal not in (".", ","):
            raise _option("decimal", self.decimal, 'a point "." or a comma ","')
        for name in ("max_rows", "max_bytes", "max_ratio"):
            limit = getattr(self, name)
            if limit is not None and limit < 1:
                raise _option(name, limit, "a whole number of 1 or more")
        pins = self.sha256.values() if isinstance(self.sha256, Mapping) else [self.sha256]
        for pin in pins if self.sha256 is not None else ():
            if not isinstance(pin, str) or not re.fullmatch("[0-9a-fA-F]{64}", pin):
                raise _option("sha256", pin, "64 hexadecimal digits")
        if self.sha256 and not self.digest:
            raise PlanError(
                "role-clash",
                "a file is pinned by its digest, but none is to be taken",
                where="digest",
                fix="leave one of the two out",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """What a file name says: the format, the compression, and the delimiter where the ending states one."""

    name: str
    compression: str | None = None
    delimiter: str | None = None


def _option(name: str, value: object, known: str) -> PlanError:
    return unfit_option(name, value, known, f"state {name} anew")


def regular_file(path: str) -> os.stat_result:
    """The facts of a file that is there and can be opened, or the error that says what is there instead."""
    try:
        facts = Path(path).stat()
    except (OSError, ValueError) as error:
        raise _absent(path, error) from None
    if stat.S_ISDIR(facts.st_mode):
        known = f"it holds {listed(_neighbours(path))}"
        raise no_file(path, "the path is a folder, not a file", "name one file in it", known=known)
    if not stat.S_ISREG(facts.st_mode):
        fix = "write the rows to a file first"
        raise no_file(path, "the path is not a regular file", fix, found="a device, pipe or socket")
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise no_file(path, "the name of the file is not UTF-8", "rename the file") from None
    return facts


def no_file(path: object, what: str, fix: str, **lines: str) -> PlanError:
    """The error for a path that names no file to be read."""
    return PlanError("no-file", what, where=visible(path), fix=fix, **lines)


def read_start(path: str, size: int) -> bytes:
    """The first bytes of a file."""
    try:
        with Path(path).open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: str, error: Exception) -> PlanError:
    """The error of a file that is there but cannot be opened or read to its end."""
    reason = visible(getattr(error, "strerror", None) or str(error))
    fix = "check its permissions, and that it is complete on this machine"
    return no_file(path, "the file cannot be read", fix, found=reason)


def _absent(path: str, error: Exception) -> PlanError:
    if not isinstance(error, (FileNotFoundError, NotADirectoryError, ValueError)):
        return unreadable(path, error)
    folder, name = os.path.split(path)
    others = _neighbours(folder or ".")
    close = nearest(name, others)
    known = f"the folder holds {listed(others)}" if others else "the folder is empty, missing or not readable"
    fix = f"did you mean {quoted(str(Path(folder) / close))}?" if close else "correct the path"
    return no_file(path, "there is no such file", fix, known=known)


def _neighbours(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208  names are wanted, not paths
    except (OSError, ValueError):
        return []


def named_format(path: str) -> Format:
    """The format a file name promises; a name that promises code or nothing known is refused unopened."""
    name = Path(Path(path).name.lower())
    if name.suffix in _REFUSED:
        raise refused(path, f'files named "{name.suffix}"')
    compression = COMPRESSIONS.get(name.suffix)
    ending = Path(name.stem).suffix if compression else name.suffix
    kind = FORMATS.get(ending)
    if kind is None or (compression and kind in {"parquet", "arrow"}):
        raise RowsError(
            "refused-format",
            "the name of the file says no format that is read here",
            where=visible(path),
            found=quoted(ending + name.suffix if compression else ending),
            known=f"{' '.join(FORMATS)}; text also with {' '.join(COMPRESSIONS)} behind",
            fix="give the file the ending of the format it is in, or export it as .csv or .parquet",
        )
    return Format(name=kind, compression=compression, delimiter="\t" if ending == ".tsv" else None)


def refused(path: str, what: str) -> RowsError:
    """The error for a format that can run code or is not a table."""
    return RowsError(
        "refused-format",
        f"{what} can run code or are not a table, so they are never opened",
        where=visible(path),
        known=" ".join(FORMATS),
        fix="export the predictions as .csv or .parquet and give that file",
    )


def confirm_magic(path: str, form: Format, head: bytes) -> None:
    """Demand that the first bytes of a file agree with its name."""
    for what, marks in _REFUSED_MAGIC.items():
        if head.startswith(marks):
            raise refused(path, f"{what} files")
    promised = form.compression or form.name
    actual = next((what for magic, what in _MAGIC.items() if head.startswith(magic)), None)
    if actual == promised or (promised == "arrow" and head.startswith(_STREAM)):
        return
    if actual is not None:
        raise RowsError(
            "file-unreadable",
            "the name of the file and its first bytes disagree",
            where=visible(path),
            found=f"the bytes are those of {actual}",
            known=f"the name says {promised}",
            fix="give the file the ending of the format it is in, or write it again",
        )
    if promised in {"csv", "jsonl"}:
        return
    what, finding = f"this is not a complete {promised} file", f"it does not begin with the mark of {promised}"
    raise damaged(visible(path), what, finding, code="file-truncated")


def damaged(
    where: str, what: str, finding: str, *, code: str = "file-unreadable", fix: str = "copy or write the file again"
) -> RowsError:
    """The error for a file that is not whole, or not what its format asks for."""
    return RowsError(code, what, where=where, found=finding, fix=fix)


def misread(
    where: str, what: str, read: int, there: int, fix: str = "report this with the file's digest"
) -> EngineError:
    """The error for an engine that reads another number of rows than there are."""
    return EngineError("engine-failed", what, where=where, found=f"{read:,} read, {there:,} there", fix=fix)


def no_rows(where: str, content: str) -> RowsError:
    """The error for a file without rows."""
    return RowsError(
        "no-rows", "the file holds no rows", where=where, found=content, fix="give a file with at least one row"
    )


def too_many(where: str, most: int, rows: int | None = None) -> RowsError:
    """The error for more rows than were allowed."""
    return RowsError(
        "too-many-rows",
        "the file holds more rows than allowed",
        where=where,
        found=f"{rows:,} rows" if rows else f"more than {most:,} rows",
        known=f"at most {most:,}",
        fix="raise max_rows, or give fewer rows",
    )


def called(path: str, files: Mapping[str, str]) -> str:
    """What a Record calls a path that means these files."""
    return counted(len(files), "file") if len(files) > 1 else path if "://" in path else Path(path).name


def optional(name: str) -> ModuleType | None:
    """A package, if it is installed."""
    try:
        return import_module(name)
    except ImportError:
        return None
