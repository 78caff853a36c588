# SPDX-License-Identifier: Apache-2.0
"""Several files opened as one table: each checked by itself, all with the same columns of the same types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from assay.core.errors import MissingColumn, RowsError
from assay.core.parallel import monotonic
from assay.core.text import counted, listed, quoted, visible
from assay.rows.engines.duckdb_engine import Scan, quote_identifier, told_as_ours
from assay.rows.files.file import Prepared, confirmed, engine_for, prepared, with_levels
from assay.rows.files.file_list import Paths, list_files, shown
from assay.rows.files.formats import Fault, Reading, too_many
from assay.rows.files.opened_file import VIEW, OpenedFile
from assay.rows.limits import Limits

if TYPE_CHECKING:
    import duckdb

    from assay.rows.files.formats import Progress


def open_files(
    data: Paths,
    reading: Reading = Reading(),  # noqa: B008  frozen
    *,
    progress: Progress | None = None,
    limits: Limits = Limits(),  # noqa: B008
) -> OpenedFile:
    """Check every file that a path, a pattern, a folder or a list means, and open them as one table."""
    files = prepared(list_files(data), reading)
    with engine_for(files, limits) as connection:
        return open_table(files, connection, progress=monotonic(progress), called=shown(data))


def open_table(
    files: Sequence[Prepared],
    connection: duckdb.DuckDBPyConnection,
    *,
    called: str,
    progress: Progress | None = None,
    view: str = VIEW,
) -> OpenedFile:
    """Open prepared files as one table of the engine, called `view` there and `called` in errors."""
    total = sum(file.stamp[2] for file in files)
    if len(files) == 1:
        return confirmed(files[0].open(connection, progress=progress, view=view))
    parts: list[OpenedFile] = []
    done = rows = 0
    for number, file in enumerate(files):
        part = file.open(connection, progress=onward(progress, done, total), view=f"{view}_{number}")
        parts.append(part)
        done += part.bytes
        rows += part.rows or 0
        if (most := file.reading.max_rows) is not None and rows > most:
            raise too_many(called, most)
    types = _agreed(parts, called)
    with told_as_ours(called, "parquet" if any(part.format == "parquet" for part in parts) else parts[0].format):
        connection.execute(f"CREATE TEMP VIEW {quote_identifier(view)} AS {_union(parts, types)}")
        whole = OpenedFile(
            connection=connection,
            path=called,
            format=" and ".join(sorted({part.format for part in parts})),
            bytes=total,
            rows=rows,
            notes=_notes(parts),
            first_line=parts[0].first_line,
            decimal=parts[0].decimal,
            faults=_faults(parts),
            view=view,
            parts=tuple(parts),
            progress=progress,
        )
    return confirmed(whole)


def onward(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Progress of one file as progress of them all."""
    return None if progress is None else lambda done, _: progress(min(before + done, total), total)


def _replaced(part: OpenedFile, types: Mapping[str, str]) -> str:
    """What stands in one file for columns of another type than they have in the table; "" is that of unfit ones."""
    stated = ", ".join(
        f"CAST({quote_identifier(name) if kind else 'NULL'} AS {kind or 'VARCHAR'}) AS {quote_identifier(name)}"
        for name, kind in sorted(types.items())
        if kind != part.columns[name] and name not in part.levels
    )
    return f" REPLACE ({stated})" if stated else ""


def _union(parts: Sequence[OpenedFile], types: Mapping[str, str]) -> str:
    """One query over all files; those that are read alike by a single scan, for a thousand scans are slow to plan."""
    alike: dict[tuple[Any, ...], list[Scan]] = {}
    for part in parts:
        scan = cast("Scan", part.scan)
        key = (tuple(part.levels.items()), _replaced(part, types), scan.head, scan.tail, scan.path is None)
        alike.setdefault(key, []).append(scan)
    queries = (
        with_levels(scans[0].over([scan.path for scan in scans if scan.path is not None]), dict(levels), replaced)
        for (levels, replaced, *_), scans in alike.items()
    )
    return " UNION ALL BY NAME ".join(queries)


def _agreed(parts: Sequence[OpenedFile], called: str) -> dict[str, str]:
    """The types of the columns, which must be the same in every file; the engine itself would convert in silence."""
    first = parts[0]
    for other in parts[1:]:
        _same_columns(first, other, called)
    types: dict[str, str] = {}
    for column in first.columns:
        typed = [part for part in parts if column not in part.empty]
        kinds = {_kind(part.columns[column]) for part in typed}
        if len(kinds) > 1:
            if not any((fault := part.faults.get(column)) and fault() for part in typed):
                raise _types_differ(column, typed, called)
            types[column] = ""  # whoever asks for it is told what is wrong with it
        elif typed:
            types[column] = kinds.pop()
    return types


def _kind(type_: str) -> str:
    """A type as far as it matters: texts that an Arrow file numbers are texts."""
    return "VARCHAR" if type_.startswith("ENUM(") else type_


def _same_columns(first: OpenedFile, other: OpenedFile, called: str) -> None:
    for file, fuller in ((first, other), (other, first)):
        lacking = [name for name in fuller.columns if name not in file.columns]
        if lacking:
            raise MissingColumn(
                "missing-column",
                f"{visible(file.name)} has no column {quoted(lacking[0])}, which {visible(fuller.name)} has",
                where=called,
                found=f"{visible(file.name)}: {listed(file.columns, most=12)}",
                known=f"{visible(fuller.name)}: {listed(fuller.columns, most=12)}",
                fix="give files with the same columns, or assess them apart",
            )


def _types_differ(column: str, parts: Sequence[OpenedFile], called: str) -> RowsError:
    first = parts[0]
    other = next(part for part in parts if _kind(part.columns[column]) != _kind(first.columns[column]))
    kinds = [visible(part.columns[column]) for part in (first, other)]
    return RowsError(
        "column-type-differs",
        f"column {quoted(column)} is {kinds[0]} in {visible(first.name)} and {kinds[1]} in {visible(other.name)}",
        where=called,
        found=f"{visible(first.name)}: {kinds[0]}; {visible(other.name)}: {kinds[1]}",
        known="files read together have the same types; nothing is converted by guess",
        fix="write one of the files again with the other's type, or assess them apart",
    )


def _faults(parts: Sequence[OpenedFile]) -> dict[str, Fault]:
    def first(faults: Sequence[Fault]) -> Fault:
        return lambda: next((error for fault in faults if (error := fault())), None)

    names = {name: None for part in parts for name in part.faults}
    return {name: first([part.faults[name] for part in parts if name in part.faults]) for name in names}


def _notes(parts: Sequence[OpenedFile]) -> tuple[str, ...]:
    """Every note once, with the files it is about unless it is about all."""
    about: dict[str, list[str]] = {}
    for part in parts:
        for note in part.notes:
            about.setdefault(note, []).append(part.name)
    notes = [note if len(names) == len(parts) else f"{_some(names)}: {note}" for note, names in about.items()]
    sizes = Counter(part.bytes for part in parts)
    same: dict[str, list[str]] = {}
    for part in parts:
        if sizes[part.bytes] > 1:  # only then is the digest needed before the rows are counted
            same.setdefault(part.sha256, []).append(part.name)
    twins = [names for names in same.values() if len(names) > 1]
    notes += [f"{_some(names)}: the same bytes, so their rows are counted {len(names):,} times" for names in twins[:3]]
    return (f"{counted(len(parts), 'file')} read as one table", *notes)


FIRST: Final = 1000
"""Rows that are compared before whole files are."""
FEWEST: Final = 10
"""Fewer rows than these may have the same truth by chance."""


def repeated_truth(parts: Sequence[OpenedFile], truth: str) -> list[str]:
    """Say which files hold the same truth row by row: models on the same rows, which are compared and not pooled."""
    column = quote_identifier(truth)
    alike: dict[object, list[OpenedFile]] = {}
    for part in parts:
        if (part.rows or 0) >= FEWEST and sum(part.rows == other.rows for other in parts) > 1:
            head = part.fetch(f"SELECT {column} FROM {quote_identifier(part.view)} LIMIT {FIRST}")  # noqa: S608
            alike.setdefault((part.rows, tuple(head)), []).append(part)
    notes = []
    for first, *others in alike.values():
        same = [first, *(other for other in others if _same_values(first, other, column))]
        if len(same) > 1:
            notes.append(
                f"{_some([part.name for part in same])}: the same truth row by row; if these are {len(same):,} models"
                " on the same rows, pooled intervals are too narrow: compare them instead,"
                f" assay compare {' '.join(visible(part.name) for part in same[:2])}"
                f"{' ...' if len(same) > 2 else ''}"  # noqa: PLR2004
            )
    return notes


def _same_values(first: OpenedFile, other: OpenedFile, column: str) -> bool:
    """Whether a column of several values is the same in two files, row by row."""
    left, right = (f"(SELECT {column} AS label FROM {quote_identifier(part.view)})" for part in (first, other))  # noqa: S608
    query = (
        "SELECT bool_and(a.label IS NOT DISTINCT FROM b.label) AND min(a.label) IS DISTINCT FROM max(a.label)"  # noqa: S608
        f" FROM {left} a POSITIONAL JOIN {right} b"
    )
    return bool(first.fetch(query)[0][0])


def _some(names: Sequence[str]) -> str:
    return ", ".join(visible(name) for name in names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")  # noqa: PLR2004
