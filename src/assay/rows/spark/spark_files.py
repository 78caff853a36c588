# SPDX-License-Identifier: Apache-2.0
"""Parquet files and folders that a Spark cluster reads, and what Spark reports as errors of ours."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import AssayError, EngineError, PlanError, RowsError, missing_extra
from assay.core.text import counted, visible
from assay.rows.databases.database import check_selection, is_database
from assay.rows.files.file_digests import demand_digest, digest_of
from assay.rows.files.formats import Reading, damaged, misread, named_format, too_many

if TYPE_CHECKING:
    from assay.rows.limits import Limits
    from assay.rows.spark.spark_session import Session

_CONDITION = re.compile(r"\[[A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*\] [^\n]*")
_CAUSE = re.compile(r"^Caused by: \S*?(\w+(?:Exception|Error)): ([^\n]*)", re.MULTILINE)
_GLOB = re.compile(r"[\\*?\[\]{},]")


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
        """Demand that as many rows were counted as were joined, and no more than allowed."""
        if self.max_rows is not None and rows > self.max_rows:
            raise too_many(visible(self.path), self.max_rows, rows)
        if self.rows is not None and rows != self.rows:
            what = "Spark counted another number of rows than the file has"
            fix = "run again when nothing writes to the file; if it stays, report this"
            raise misread(visible(self.path), what, rows, self.rows, fix)


def check_path(path: object, reading: Reading, limits: Limits | None, *, where: str) -> str:
    """The one path that a cluster can be given, without limits, for it has its own."""
    if isinstance(path, (list, tuple)) and len(path) == 1:
        path = path[0]
    if is_database(path):
        raise PlanError(
            "role-clash",
            f"a cluster is named, but {where} is a database, which the cluster does not read",
            where=where,
            fix="leave the engine out: the rows of the table are then fetched and counted on this machine;"
            " or export the table to Parquet where the cluster reads it",
        )
    check_selection(path, reading)
    if limits is not None:
        raise PlanError(
            "role-clash",
            "limits are stated, but the cluster has its own",
            where="limits",
            fix="leave memory, threads and temp out, or set them in the cluster's configuration",
        )
    if not isinstance(path, (str, os.PathLike)):
        raise PlanError(
            "role-clash",
            "a cluster is given a list of paths",
            where=where,
            fix="give one path: a file, a folder, or a pattern of the cluster's own",
        )
    return os.fsdecode(path)


def read(session: Session, known_as: str, reading: Reading) -> SparkFile:
    """A path on the way to being counted; closing it ends the session."""
    form = named_format(known_as.rstrip("/"))
    if form.name != "parquet":
        raise RowsError(
            "refused-format",
            f"a cluster reads Parquet, not {form.name} files",
            where=visible(known_as),
            known=".parquet",
            fix="write the file as .parquet; or read it in your own session and give the frame; or leave the engine"
            " out: then it is read and checked on this machine",
        )
    _demand_pinned(known_as, reading)
    with told_as_ours(visible(known_as)):
        return SparkFile(
            frame=session.spark.read.parquet(_place(known_as)),
            path=known_as,
            format="parquet",
            notes=(f"counted by {session.engine}",),
            max_rows=reading.max_rows,
            end=session.end,
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
    here = Path(known_as).is_file()
    if here and isinstance(reading.sha256, str):
        demand_digest(known_as, reading.sha256, digest_of(known_as))
        return
    what = "a path that is not a file on this machine cannot be pinned by its digest"
    fix = "leave sha256 out, or give a single file that is also here"
    if here:
        what = "digests by name pin files that are read on this machine"
        fix = "give the one digest of the file, or leave the engine out"
    raise PlanError("option-unknown", what, where=visible(known_as), fix=fix)


def reason(error: BaseException) -> str:
    """The one line of an error that says what was wrong: Spark's own condition, else the innermost cause.

    >>> reason(RuntimeError("An error occurred: [PATH_NOT_FOUND] Path does not exist: a. SQLSTATE: 42K03"))
    '[PATH_NOT_FOUND] Path does not exist: a.'
    """
    text = str(error)
    found = _CONDITION.search(text)
    if found:
        return visible(found[0].partition(" SQLSTATE:")[0].strip())
    causes = _CAUSE.findall(text)
    if causes:
        return visible(": ".join(causes[-1]))
    line = next((line for line in text.splitlines() if line.strip()), "")
    return visible(f"{type(error).__name__}: {line}" if line else type(error).__name__)


@contextmanager
def told_as_ours(where: str) -> Iterator[None]:
    """Run Spark's work so that only errors of this project and KeyboardInterrupt come out."""
    try:
        yield
    except AssayError:
        raise
    except Exception as error:
        raise _ours(error, where) from error


def _ours(error: Exception, where: str) -> AssayError:
    text, finding = str(error), reason(error)
    if "[PATH_NOT_FOUND]" in text:
        return PlanError(
            "no-file",
            "the cluster finds no such path",
            where=where,
            found=finding,
            fix="give a path that the driver and every worker can read, such as hdfs://, s3a:// or a shared folder",
        )
    if "FILE_NOT_EXIST" in text:
        return EngineError(
            "engine-failed",
            "a worker does not find the file that the driver sees",
            where=where,
            found=finding,
            fix="give a path that every worker can read, such as hdfs://, s3a:// or a shared folder",
        )
    if "[PACKAGE_NOT_INSTALLED]" in text or "[UNSUPPORTED_PACKAGE_VERSION]" in text:
        return missing_extra("spark", "Spark needs another package", found=finding)
    if "FAILED_READ_FILE" in text or "CANNOT_READ_FILE_FOOTER" in text:
        causes = _CAUSE.findall(text)
        finding = visible(": ".join(causes[-1])) if causes else finding
        return damaged(where, "the cluster cannot read the file in its format", finding)
    return EngineError(
        "engine-failed", "Spark could not run the query", where=where, found=finding, fix="see what Spark says"
    )


def rows_changed(where: str, *sizes: int) -> EngineError:
    """The error for rows that an engine does not give alike each time it is asked."""
    row_counts = [counted(size, "row") for size in sorted(set(sizes))]
    return EngineError(
        "engine-failed",
        "the rows are not the same each time they are read",
        where=where,
        found=f"{row_counts[0]} and {row_counts[-1]}" if len(row_counts) > 1 else "",
        fix="write them to a file or table first, so that nothing changes while they are counted",
    )
