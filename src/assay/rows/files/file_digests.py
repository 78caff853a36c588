# SPDX-License-Identifier: Apache-2.0
"""The digests of files, taken by a second thread while the engine counts: hashing lets go of the interpreter lock."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue

from assay.core.errors import PlanError, RowsError
from assay.core.text import counted, visible
from assay.rows.files.formats import Reading, unreadable

BLOCK = 1 << 20
_waiting: dict[int, SimpleQueue[Digest]] = {}
"""Digests to be taken, by process."""
LEFT_OUT = "no digest was taken, as asked for: the Record does not say which bytes were read"


def digest_of(path: str, whose: Digest | None = None) -> str:
    """The digest of a file as stored; empty if it is told to stop."""
    sha256 = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            while piece := file.read(BLOCK):
                if whose is not None and whose.stopped:
                    return ""
                sha256.update(piece)
    except OSError as error:
        raise unreadable(path, error) from None
    return sha256.hexdigest()


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


class Digest:
    """A digest on its way; whoever needs it waits for it, or takes it himself if nobody has begun."""

    def __init__(self, path: str) -> None:
        self._path, self._taken, self._begun, self.stopped = path, threading.Lock(), Future[str](), False

    def run(self) -> None:
        """Take it, unless somebody does already."""
        if self._taken.acquire(blocking=False):
            try:
                self._begun.set_result(digest_of(self._path, self))
            except Exception as error:  # noqa: BLE001  told to whoever asks for it
                self._begun.set_exception(error)

    def __call__(self) -> str:
        """The digest, when it is there."""
        self.run()
        return self._begun.result()


def begin_digest(path: str, pin: str | None = None, *, wanted: bool = True) -> Callable[[], str]:
    """Let a thread take the digest of a file; that of a pinned file is taken at once, before anything else is read.

    Hand back what waits for it.
    """
    if not wanted:
        return str
    if pin is not None:
        sha256 = digest_of(path)
        demand_digest(path, pin, sha256)
        return lambda: sha256
    digest = Digest(path)
    if os.getpid() not in _waiting:  # a forked child has to start a thread of its own
        _waiting[os.getpid()] = SimpleQueue()
        threading.Thread(target=_work, args=[_waiting[os.getpid()]], name="assay-hashing", daemon=True).start()
    _waiting[os.getpid()].put(digest)
    return digest


def stop_digest(digest: Callable[[], str]) -> None:
    """Nobody will ask for it any more."""
    if isinstance(digest, Digest):
        digest.stopped = True


def _work(waiting: SimpleQueue[Digest]) -> None:
    while True:
        waiting.get().run()
