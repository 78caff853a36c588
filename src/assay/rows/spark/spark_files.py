# SPDX-License-Identifier: Apache-2.0
"""Parquet files and folders that a Spark cluster reads."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import PlanError, RowsError
from assay.core.text import visible
from assay.rows.databases.database import check_selection, is_database
from assay.rows.files.file_digests import demand_digest, digest_of
from assay.rows.files.formats import Reading, misread, named_format, too_many
from assay.rows.spark.spark_errors import told_as_ours

if TYPE_CHECKING:
    from assay.rows.limits import Limits
    from assay.rows.spark.spark_session import Session

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
