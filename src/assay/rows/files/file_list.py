# SPDX-License-Identifier: Apache-2.0
"""Which files are meant by a path, a pattern, a folder or a list of them, and what their folders say about the rows.

Links are followed to files but not to folders, so that a loop of links has an end; no file is read twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import TypeAlias, TypeGuard
from urllib.parse import unquote

from assay.core.errors import PlanError, RowsError
from assay.core.text import counted, listed, nearest, quoted, visible
from assay.rows.files.formats import no_file, regular_file

MOST = 100_000
"""More files than this are not a table in parts but a mistaken pattern."""

NOTHING = "__HIVE_DEFAULT_PARTITION__"
"""What writers call the folder of the rows that have no value."""

_OF_A_TABLE = {"_delta_log": "a Delta table", ".hoodie": "a Hudi table"}
_UNFINISHED = "_temporary"

Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One file: its path, its name below what the user named, and what the folders in between say of its rows."""

    path: str
    name: str
    levels: Mapping[str, str | None] = field(default_factory=dict)


def are_paths(data: object) -> TypeGuard[Paths]:
    """Whether something names files."""
    if isinstance(data, (str, os.PathLike)):
        return True
    return isinstance(data, (list, tuple)) and bool(data) and all(isinstance(one, (str, os.PathLike)) for one in data)


def shown(data: Paths) -> str:
    """What the user named, in a few words."""
    each = [os.fsdecode(one) for one in _each(data)]
    return visible(each[0]) if len(each) == 1 else f"{visible(each[0])} and {len(each) - 1:,} more"


def list_files(data: Paths) -> list[Listed]:
    """Every file that is meant, in the order of their names; a path that exists is taken literally."""
    each = [os.fsdecode(one) for one in _each(data)]
    if not each:
        raise no_file("data", "no file is named", "name a file, a folder or a pattern")
    alone = [path for path in each if not os.path.isdir(path) and not _is_pattern(path)]  # noqa: PTH112
    root = _shared_folder(alone) if len(each) > 1 else ""
    files: list[Listed] = []
    for path in each:
        if not path:
            raise no_file("data", "a path is empty", "name a file, a folder or a pattern")
        if "://" in path and not os.path.lexists(path):
            fix = "fetch the file first (curl, aws s3 cp, gsutil cp), then give its path"
            known = "files, folders, patterns, and postgresql://USER@HOST/DB"
            raise no_file(path, "addresses of the web and of stores are not read", fix, known=known)
        if os.path.isdir(path):  # noqa: PTH112
            files += _named(_walked(path), path)
        elif _is_pattern(path):
            files += _matched(path)
        else:
            files.append(_below(path, root) if root else Listed(path=path, name=os.path.basename(path)))  # noqa: PTH119
        _demand_few(files, path)
    if len(each) > 1 and len({one.name for one in files}) < len(files):
        root = _shared_folder([one.path for one in files])
        files = [_renamed(one, root) for one in files]
    _refuse_twice(files)
    return sorted(files, key=lambda one: one.name)


def list_sides(*sides: Paths) -> list[list[Listed]]:
    """The files of several tables, such as predictions and truth, with names that tell them apart."""
    file_lists = [list_files(one) for one in sides]
    names = [name for side in file_lists for name in {one.name for one in side}]
    if len(set(names)) < len(names):
        root = _shared_folder([one.path for side in file_lists for one in side])
        file_lists = [[_renamed(one, root) for one in side] for side in file_lists]
    return file_lists


def _each(data: Paths) -> Sequence[str | os.PathLike[str]]:
    return [data] if isinstance(data, (str, os.PathLike)) else data


def _is_pattern(path: str) -> bool:
    from assay.rows.engines.duckdb_engine import GLOB

    return any(mark in path for mark in GLOB) and not os.path.lexists(path)


def _shared_folder(paths: Sequence[str]) -> str:
    """The innermost folder that holds all of these files."""
    folders = [os.path.dirname(os.path.abspath(path)) for path in paths]  # noqa: PTH100, PTH120  links stay as they are
    try:
        return os.path.commonpath(folders) if folders else ""
    except ValueError:  # on two drives
        return ""


def _below(path: str, root: str) -> Listed:
    name = PurePath(os.path.relpath(os.path.abspath(path), root)).as_posix() if root else PurePath(path).as_posix()  # noqa: PTH100
    return Listed(path=path, name=name, levels=_levels(name, path))


def _named(paths: Iterable[str], root: str) -> list[Listed]:
    start = os.path.abspath(root)  # noqa: PTH100
    return [_below(path, start) for path in paths]


def _renamed(one: Listed, root: str) -> Listed:
    return Listed(path=one.path, name=_below(one.path, root).name, levels=one.levels)


def _levels(name: str, path: str) -> dict[str, str | None]:
    """What folders called key=value say, as text; odd characters are written %20 by the programs that make them."""
    levels: dict[str, str | None] = {}
    for folder in PurePath(name).parts[:-1]:
        key, mark, value = folder.partition("=")
        if not mark or not key:
            continue
        try:
            key, value = unquote(key, errors="strict"), unquote(value, errors="strict")
        except UnicodeDecodeError:
            raise _unfit_folder("encoding", "the name of a folder is not UTF-8", path, folder) from None
        if "\0" in key + value:
            raise _unfit_folder("control-character", "the name of a folder holds a NUL", path, folder)
        if key in levels:
            raise _unfit_folder("duplicate-column", f"two folders give the column {quoted(key)}", path, name)
        levels[key] = None if value == NOTHING else value
    return levels


def _unfit_folder(code: str, what: str, path: str, name: str) -> RowsError:
    return RowsError(code, what, where=visible(path), found=quoted(name), fix="rename the folder")


def _walked(folder: str) -> list[str]:
    """The files of a folder and its folders, without those whose names begin with a point or an underscore."""
    paths: list[str] = []
    open_ = [folder]
    while open_:
        here = open_.pop()
        for entry in _entries(here):
            _refuse_managed(entry.name, here)
            if entry.name.startswith((".", "_")):
                continue
            if entry.is_dir():
                if entry.is_symlink():
                    what = "a link in the folder leads to another folder, which is not followed"
                    there = f"a link to {quoted(os.path.realpath(entry.path))}"
                    raise no_file(entry.path, what, "name that folder too, or take the link away", found=there)
                open_.append(entry.path)
            else:
                paths.append(entry.path)
        _demand_few(paths, folder)
    if not paths:
        known = "names that begin with a point or an underscore are passed over"
        raise no_file(folder, "the folder holds no files", "name a folder with files in it", known=known)
    return paths


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        reason = visible(error.strerror)
        raise no_file(folder, "the folder cannot be read", "check its permissions", found=reason) from None


def _refuse_managed(name: str, folder: str) -> None:
    """A folder whose files are not its rows: some are deleted by a log, or not yet written."""
    if name in _OF_A_TABLE:
        raise RowsError(
            "refused-format",
            f"the folder is {_OF_A_TABLE[name]}, whose files also hold rows that were deleted",
            where=visible(folder),
            found=quoted(name),
            fix="read the table with its own program and give the frame, or export it",
        )
    if name == _UNFINISHED:
        raise RowsError(
            "file-truncated",
            "whoever writes the folder has not finished",
            where=visible(folder),
            found=quoted(name),
            fix="wait until the writer is done, or let it write again",
        )


def _matched(pattern: str) -> list[Listed]:
    """The files that fit a pattern; folders that fit stand for the files in them."""
    from assay.rows.engines.duckdb_engine import GLOB

    steps = PurePath(pattern).parts
    fixed = next(place for place, step in enumerate(steps) if any(mark in step for mark in GLOB))
    root = str(PurePath(*steps[:fixed])) if fixed else ""
    paths: dict[str, None] = {}
    for path in _fitting(root, steps[fixed:]):
        paths |= dict.fromkeys(_walked(path) if os.path.isdir(path) else [path])  # noqa: PTH112
        _demand_few(paths, pattern)
    if not paths:
        raise _no_match(pattern, root, steps[fixed])
    return _named(paths, root or ".")


def _fitting(folder: str, steps: Sequence[str]) -> Iterator[str]:
    from assay.rows.engines.duckdb_engine import GLOB

    if not steps:
        yield folder
        return
    step, rest = steps[0], steps[1:]
    if step == "**":
        yield from _fitting(folder, rest or ("*",))
        for entry in _inside(folder):
            if entry.is_dir() and not entry.is_symlink():
                yield from _fitting(os.path.join(folder, entry.name), steps)  # noqa: PTH118
    elif any(mark in step for mark in GLOB):
        for entry in _inside(folder):
            if fnmatchcase(entry.name, step) and (not rest or entry.is_dir()):
                yield from _fitting(os.path.join(folder, entry.name), rest)  # noqa: PTH118
    else:
        path = os.path.join(folder, step)  # noqa: PTH118
        if os.path.lexists(path):
            yield from _fitting(path, rest)


def _inside(folder: str) -> list[os.DirEntry[str]]:
    """What a folder holds, without hidden names; a folder that is not there holds nothing."""
    there = os.path.isdir(folder or ".")  # noqa: PTH112
    return [entry for entry in _entries(folder or ".") if not entry.name.startswith(".")] if there else []


def _no_match(pattern: str, root: str, step: str) -> PlanError:
    beside = [entry.name for entry in _inside(root)]
    close = nearest(step, beside)
    known = f"{quoted(root or '.')} holds {listed(beside)}" if beside else f"there is no folder {quoted(root)}"
    fix = f"did you mean {quoted(os.path.join(root, close))}?" if close else "correct the pattern"  # noqa: PTH118
    return no_file(pattern, "no file fits the pattern", fix, known=known)


def _demand_few(files: Sized, path: str) -> None:
    if len(files) > MOST:
        what = f"more than {MOST:,} files are meant"
        raise no_file(path, what, "name fewer files, or put them together into larger ones")


def _refuse_twice(files: Sequence[Listed]) -> None:
    """Rows must not be counted twice because a file has two names."""
    if len(files) < 2:  # noqa: PLR2004  one file is there once
        return
    first: dict[tuple[int, int], str] = {}
    for entry in files:
        facts = regular_file(entry.path)
        before = first.setdefault((facts.st_dev, facts.st_ino), entry.path)
        if before is not entry.path:
            raise PlanError(
                "file-listed-twice",
                "one file is meant twice",
                where=visible(entry.path),
                found=f"it is {quoted(before)}" + (" by another name" if before != entry.path else " again"),
                known=counted(len(files), "file"),
                fix="name every file once",
            )
