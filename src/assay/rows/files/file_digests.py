# SPDX-License-Identifier: Apache-2.0
"""The digests of files, taken by a second thread while the engine counts: hashing lets go of the interpreter lock."""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from typing import TypeAlias

from assay.core.errors import PlanError, RowsError
from assay.core.text import counted, visible
from assay.rows.files.formats import Reading, unreadable

_Queue: TypeAlias = "SimpleQueue[tuple[str, weakref.ref[Future[str]]]]"
_waiting: dict[int, _Queue] = {}
"""Digests to be taken, by process."""
LEFT_OUT = "no digest was taken, as asked for: the Record does not say which bytes were read"


def digest_of(path: str) -> str:
    """The digest of a file as stored."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from None


def demand_digest(path: str, pin: str, sha256: str) -> None:
    """Refuse a file that has another digest than it was pinned by."""
    if sha256 != pin.lower():
        raise RowsError(
            "digest-mismatch",
            "the file is not the one that was pinned",
            where=visible(path),
            found=f"sha256 {sha256}",
            known=f"sha256 {pin.lower()}",
            fix="give the pinned file, or pin this one if it is meant",
        )


def pins_of(names: Sequence[str], reading: Reading, least: int = 1) -> Mapping[str, str]:
    """The digest of each file by name; one digest alone pins one file, several are pinned all or not at all."""
    pins = reading.sha256
    if pins is None:
        return {}
    if isinstance(pins, str):
        if max(len(names), least) > 1:
            raise PlanError(
                "option-unknown",
                f"one digest cannot pin {counted(max(len(names), least), 'file')}",
                where="sha256",
                fix="give a digest for each, by name, as a Record holds them under digests.files",
            )
        return {names[0]: pins}
    for word, odd in (
        ("not pinned", [name for name in names if name not in pins]),
        ("not there", sorted(set(pins) - set(names))),
    ):
        if odd:
            raise RowsError(
                "digest-mismatch",
                f"{counted(len(odd), 'file')} {'is' if len(odd) == 1 else 'are'} {word}",
                where=visible(odd[0]),
                found=f"{counted(len(names), 'file')}, {counted(len(pins), 'digest')}",
                fix="give the files that were pinned, or pin these if they are meant",
            )
    return pins


def begin_digest(path: str, pin: str | None = None, *, wanted: bool = True) -> Callable[[], str]:
    """Let a thread take the digest of a file; that of a pinned file is taken at once, before anything else is read.

    Hand back what waits for it.
    """
    if not wanted:
        return str
    if pin is not None:
        digest = digest_of(path)
        demand_digest(path, pin, digest)
        return lambda: digest
    begun: Future[str] = Future()
    if os.getpid() not in _waiting:  # a forked child has to start a thread of its own
        _waiting[os.getpid()] = SimpleQueue()
        threading.Thread(target=_work, args=[_waiting[os.getpid()]], name="assay-hashing", daemon=True).start()
    _waiting[os.getpid()].put((path, weakref.ref(begun)))
    return begun.result


def _work(waiting: _Queue) -> None:
    """Take one digest after the other, but those that nobody can ask for any more."""
    while True:
        path, held = waiting.get()
        if (begun := held()) is not None:
            try:
                begun.set_result(digest_of(path))
            except Exception as error:  # noqa: BLE001  told to whoever asks for the digest
                begun.set_exception(error)
        del begun
