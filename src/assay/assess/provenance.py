# SPDX-License-Identifier: Apache-2.0
"""Where rows come from: files with their digests, columns by role, how both were read; never a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from assay.rows.files.file_list import are_paths, list_files, list_sides
from assay.rows.files.formats import FRAME, called
from assay.rows.source import FrameSource, Roles, Source

if TYPE_CHECKING:
    from assay.rows.files.formats import Reading
    from assay.tally.value_tables import ValueTable


_SELECTED: Final = ("table", "query", "truth_table", "truth_query")


def _id_named(roles: Roles) -> dict[str, str]:
    """The names of the columns that make an id, if they have names; never an id."""
    if isinstance(roles.id, str):
        return {"id": roles.id}
    named = isinstance(roles.id, (list, tuple)) and isinstance(roles.truth, str)
    return {f"id {place}": str(name) for place, name in enumerate(cast("Any", roles.id) if named else (), start=1)}


def file_notes(source: Source, roles: Roles) -> tuple[str, ...]:
    """What is to be said of how files were read."""
    if not isinstance(source, FrameSource) or source.opened is None:
        return ()
    parts = getattr(source.opened, "parts", ())
    if not parts or source.join is not None:
        return source.opened.notes
    from assay.rows.files.file_set import repeated_truth

    return (*source.opened.notes, *repeated_truth(parts, str(roles.truth)))


def origin(source: Source | ValueTable) -> tuple[str, dict[str, str]]:
    """What a Record calls the rows, which is a name and never a path, and the digests of their files by name."""
    opened = getattr(source, "opened", None)
    return (source.where, {}) if opened is None else origin_of(opened)


def origin_of(opened: Any) -> tuple[str, dict[str, str]]:  # noqa: ANN401  a file or table that is open
    """The same of a file or table."""
    alone = called(opened.path, {})
    files = dict(getattr(opened, "files", {alone: opened.sha256} if opened.sha256 else {}))
    return called(opened.path, files), files


def origins(
    tables: Sequence[object], each: Sequence[tuple[str, Mapping[str, str]]]
) -> tuple[list[str], dict[str, str]]:
    """What a Record calls the rows of several tables, and the digests of all files, by names that tell them apart.

    `each` is what `origin` says of a table. Files of one name are called by their folders, too.
    """
    names = [name for _, files in each for name in files]
    if len(set(names)) < len(names):
        paths = {place: table for place, table in enumerate(tables) if each[place][1] and are_paths(table)}
        apart = {
            place: {old.name: new.name for old, new in zip(list_files(paths[place]), side, strict=True)}
            for place, side in zip(paths, list_sides(*paths.values()), strict=True)
        }
        each = [
            (own.get(name, name), {own.get(file, file): digest for file, digest in files.items()})
            for own, (name, files) in ((apart.get(place, {}), one) for place, one in enumerate(each))
        ]
    return [name for name, _ in each], {name: digest for _, files in each for name, digest in files.items()}


def about(source: Source, roles: Roles, reading: Reading | None) -> dict[str, Any]:
    """Where the rows come from, as the plan of a Record says it."""
    provenance: dict[str, Any] = {
        "from": source.where,
        "columns": {role: c for role, c in (roles.named() | _id_named(roles)).items() if isinstance(c, str)},
    }
    name, files = origin(source)
    if isinstance(source, FrameSource) and source.opened is not None and source.opened.format != FRAME:
        provenance |= {"from": name, "format": source.opened.format} | ({"files": files} if files else {})
        provenance |= {"reading": list(source.opened.notes)} if source.opened.notes else {}
    if source.join is not None:
        provenance |= {"join": source.join.to_json()}
    if reading is not None:
        provenance |= {what: text for what in _SELECTED if (text := getattr(reading, what)) is not None}
    return provenance
