# SPDX-License-Identifier: Apache-2.0
"""What a user names as data on its way into one DuckDB: files, tables of databases, and frames."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.errors import PlanError
from assay.core.parallel import monotonic
from assay.rows.databases.database import (
    check_selection,
    is_attached,
    is_database,
    is_server,
    place_of,
)
from assay.rows.databases.database import shown as address
from assay.rows.databases.duckdb_tables import attach_table, copy_table, open_database, read_of
from assay.rows.files.file import Prepared, engine_for, prepared
from assay.rows.files.file_digests import pins_of
from assay.rows.files.file_list import Listed, are_paths, list_files, list_sides, shown
from assay.rows.files.file_set import onward, open_table
from assay.rows.files.formats import Reading
from assay.rows.files.opened_file import VIEW, OpenedFile
from assay.rows.limits import Limits

if TYPE_CHECKING:
    import duckdb

    from assay.rows.databases.database import Use
    from assay.rows.files.file_list import Paths
    from assay.rows.files.formats import Progress
    from assay.rows.spark.spark_files import SparkFile


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Input:
    """A table on its way into DuckDB."""

    open: Callable[[duckdb.DuckDBPyConnection, Mapping[str, Use], Progress | None], OpenedFile]
    """Opens the table with at least those of the named columns that it has."""
    files: Sequence[Prepared] = ()
    paths: Sequence[str] = ()
    """What DuckDB must be allowed to read beside the files."""
    bytes: int = 0


def open_path(
    data: Paths,
    uses: Mapping[str, Use],
    reading: Reading,
    *,
    engine: str | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> OpenedFile | SparkFile:
    """Files, or a table or query of a database, in the embedded engine or in the one that is named."""
    from assay.rows.engines.duckdb_engine import demand_embedded
    from assay.rows.spark.spark_session import is_cluster

    if engine is not None and is_database(data):
        raise PlanError(
            "role-clash",
            "an engine is named, but DuckDB counts the rows of a database",
            where="engine",
            fix="leave the engine out",
        )
    if engine is not None and is_cluster(engine):
        from assay.rows.spark.spark_files import check_path, read
        from assay.rows.spark.spark_session import session_at

        path = check_path(data, reading, limits, where="data")
        with session_at(engine) as session:
            return read(session, path, reading)
    demand_embedded(engine)
    return open_embedded(data, uses, reading, limits=limits, progress=progress)


def open_embedded(
    data: Paths,
    uses: Mapping[str, Use],
    reading: Reading,
    *,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> OpenedFile:
    """The same in the embedded engine; of SQLite and servers, the columns used."""
    table = input_of(data, reading, VIEW)
    with opened_inputs([table], [uses], limits, monotonic(progress)) as [opened]:
        return opened


@contextmanager
def opened_inputs(
    inputs: Sequence[Input],
    uses: Sequence[Mapping[str, Use]],
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Iterator[list[OpenedFile]]:
    """All inputs in one DuckDB, with the columns that each is asked for."""
    files = [file for table in inputs for file in table.files]
    paths = [path for table in inputs for path in table.paths]
    with engine_for(files, limits or Limits(), databases=paths) as connection:
        opened: list[OpenedFile] = []
        total, before = sum(table.bytes for table in inputs), 0
        for table, wanted in zip(inputs, uses, strict=True):
            opened.append(table.open(connection, wanted, onward(progress, before, total)))
            before += table.bytes
        yield opened


def input_of(data: object, reading: Reading, view: str, called: str = "", files: Sequence[Listed] = ()) -> Input:
    """A table by what it is: files, which may be listed already, a table or query of a database, or a frame."""
    data = _alone(data)
    check_selection(data, reading, "truth_data" if called == "truth_data" else "data")
    if isinstance(data, str) and is_database(data):
        return _database(data, reading, view)
    if are_paths(data):
        return _files(prepared(files or list_files(data), reading), shown(data), view)
    from assay.rows.joins.frame_inputs import load_frame

    return Input(open=lambda connection, uses, _: load_frame(connection, data, uses, view=view, called=called))


def two_inputs(data: object, truth_data: object, reading: Reading) -> list[Input]:
    """Predictions and truth; a table or query is asked of the side that its option names."""
    given = [_alone(data), _alone(truth_data)]
    own = [
        replace(reading, truth_table=None, truth_query=None),
        replace(reading, table=reading.truth_table, query=reading.truth_query, truth_table=None, truth_query=None),
    ]
    databases = [isinstance(one, str) and is_database(one) for one in given]
    paths = {place: one for place, one in enumerate(given) if are_paths(one) and not databases[place]}
    listed = dict(zip(paths, list_sides(*paths.values()), strict=True))
    pins = _pins(given, databases, list(listed.values()), reading)
    inputs = []
    for place, (called, view) in enumerate((("data", "assay_predictions"), ("truth_data", "assay_truth"))):
        files = listed.get(place, [])
        names = [file.name for file in files] or [Path(str(given[place])).name]
        side = replace(own[place], sha256={name: pins[name] for name in names if name in pins} or None)
        inputs.append(input_of(given[place], side, view, called=called, files=files))
    return inputs


def _alone(data: object) -> object:
    """A list of one path as that path."""
    one = data[0] if isinstance(data, (list, tuple)) and len(data) == 1 else data
    return os.fsdecode(one) if isinstance(one, (str, os.PathLike)) else data


def _files(files: Sequence[Prepared], called: str, view: str) -> Input:
    def begin(connection: duckdb.DuckDBPyConnection, _: Mapping[str, Use], progress: Progress | None) -> OpenedFile:
        return open_table(files, connection, called=called, progress=progress, view=view)

    return Input(open=begin, files=files, bytes=sum(file.stamp[2] for file in files))


def _database(path: str, reading: Reading, view: str) -> Input:
    called = place_of(address(path), reading)
    in_place = is_attached(path)

    def begin(connection: duckdb.DuckDBPyConnection, uses: Mapping[str, Use], progress: Progress | None) -> OpenedFile:
        if in_place:
            table = attach_table(connection, path, reading, view=view, progress=progress)
        else:
            table = copy_table(open_database(path, reading, progress), uses, called, connection, view=view)
        return replace(table, called=called)

    size = 0 if is_server(path) else Path(path).stat().st_size
    return Input(open=begin, paths=read_of(path) if in_place else (), bytes=size)


def _pins(
    given: Sequence[object], databases: Sequence[bool], listed: Sequence[Sequence[Listed]], reading: Reading
) -> Mapping[str, str]:
    """The digests by name, after a check that each has its file on one of the two sides."""
    names = [one.name for side in listed for one in side]
    names += [
        Path(str(one)).name for one, database in zip(given, databases, strict=True) if database and not is_server(one)
    ]
    return pins_of(names, reading, least=len(given))
