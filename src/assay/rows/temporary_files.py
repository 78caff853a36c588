# SPDX-License-Identifier: Apache-2.0
"""Temporary files that end with the process: removed when done, and by the next start if the process was killed.

Each bears the number of its process and is locked by it. What is left of a dead process can be told by that: the
process is gone, the lock is free, and the owner is us. Nothing else is ever removed.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from assay.core.errors import AssayError, EngineError, PlanError
from assay.core.text import visible

try:
    import fcntl
except ImportError:  # not on Windows; then what a killed process leaves behind stays
    fcntl = None  # type: ignore[assignment]

_FOLDER = re.compile(r"assay-(\d+)-[0-9a-f]{16}")
_PART = re.compile(r"\..+\.(\d+)-[0-9a-f]{8}\.part")
_LOCK = "lock"
_swept: set[str] = set()


class Scratch:
    """A folder for temporary files, gone when this object is, or the process."""

    def __init__(self, home: str | os.PathLike[str] | None = None) -> None:
        place = os.path.abspath(home or _usual())  # noqa: PTH100  a string for SQL
        if place not in _swept:
            _swept.add(place)
            sweep(place)
        self.path = os.path.join(place, f"assay-{os.getpid()}-{secrets.token_hex(8)}")  # noqa: PTH118
        Path(self.path).mkdir(mode=0o700)
        held = os.open(os.path.join(self.path, _LOCK), os.O_CREAT | os.O_RDWR, 0o600)  # noqa: PTH118
        hold(held)
        self._end = weakref.finalize(self, _remove, self.path, held, os.getpid())

    def remove(self) -> None:
        """Remove the folder now."""
        self._end()


def _usual() -> str:
    """The system's folder for temporary files; Python itself tries it out with a file, which a kill would leave."""
    stated = (tempfile.tempdir, *(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")))
    fit = (place for place in stated if place and Path(place).is_dir() and os.access(place, os.W_OK | os.X_OK))
    return str(next(fit, None) or tempfile.gettempdir())


def part_of(goal: Path) -> Path:
    """The name of a file that is being written and will be renamed to its goal."""
    return goal.with_name(f".{goal.name}.{os.getpid()}-{secrets.token_hex(4)}.part")


def write_whole(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a file by renaming a complete one into place; on any failure nothing is left behind."""
    write_together({Path(path): content})
    return Path(path)


def write_together(contents: Mapping[Path, bytes]) -> None:
    """Write several files that belong together: all are complete before the first takes its place, or none does."""
    parts: dict[Path, Path] = {}
    placed: list[Path] = []
    goal = Path()
    try:
        for goal, content in contents.items():
            sweep(goal.parent)
            parts[goal] = part_of(goal)
            with parts[goal].open("xb") as file:
                hold(file.fileno())
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for goal, part in parts.items():
            fresh = not goal.exists()
            part.replace(goal)
            placed += [goal] if fresh else []
    except OSError as error:
        for one in placed:
            one.unlink(missing_ok=True)
        raise unwritten(goal, error) from error
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def unwritten(goal: Path, error: OSError) -> AssayError:
    """What to say of a file that cannot be written; a full disk is called one."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        what = "the disk is full, and nothing was written"
        return EngineError("disk-full", what, where=visible(goal), fix="make room, or write to another place")
    return PlanError(
        "out-exists",
        f"cannot write {visible(goal)}",
        where=visible(goal),
        found=error.strerror,
        fix="give a path that can be written",
    )


def sweep(folder: str | os.PathLike[str]) -> None:
    """Remove what processes of ours that were killed have left in a folder."""
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            if (found := _FOLDER.fullmatch(entry.name)) and _abandoned(entry, int(found[1]), _LOCK):
                shutil.rmtree(entry.path, ignore_errors=True)
            elif (found := _PART.fullmatch(entry.name)) and _abandoned(entry, int(found[1]), ""):
                Path(entry.path).unlink(missing_ok=True)


def _abandoned(entry: os.DirEntry[str], process: int, lock: str) -> bool:
    """Whether an entry is ours and its process is dead: by its number, and by the lock, which another machine sees."""
    if fcntl is None or entry.is_symlink() or entry.is_dir() is not bool(lock) or _alive(process):
        return False
    try:
        if entry.stat(follow_symlinks=False).st_uid != os.getuid():
            return False
        descriptor = os.open(Path(entry.path) / lock if lock else entry.path, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return bool(lock)  # killed before it made its lock
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (OSError, OverflowError) as error:
        return not isinstance(error, ProcessLookupError)
    return True


def hold(file: int) -> None:
    """Lock an open file for as long as it is open, so that nobody takes it for abandoned."""
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks; then the number of the process decides alone
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove(path: str, descriptor: int, process: int) -> None:
    if os.getpid() != process:
        return  # a forked child; the folder is its parent's
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        os.close(descriptor)
