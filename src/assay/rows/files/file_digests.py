# SPDX-License-Identifier: Apache-2.0
"""The digests of files, taken by a second thread while the engine counts: hashing lets go of the interpreter lock."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue

from assay.core.errors import PlanError, RowsError
from assay.core.text import counted, visible
from assay.rows.files.formats import Reading, unreadable

BLOCK = 1 << 20
LEFT_OUT = "no digest was taken, as asked for: the Record does not say which bytes were read"


def digest_of(path: str, stop: threading.Event | None = None) -> str:
    """The digest of a file as stored; empty if it was told to stop."""
    digest = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            while piece := file.read(BLOCK):
                if stop and stop.is_set():
                    return ""
                digest.update(piece)
    except OSError as error:
        raise unreadable(path, error) from None
    return digest.hexdigest()


def demand_digest(path: str, pin: str | None, sha256: str) -> None:
    """Refuse a file that has another digest than it was pinned by."""
    if pin is not None and sha256 != pin.lower():
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


def demand_pinned(path: str, reading: Reading, sha256: str) -> None:
    """Demand that a file opened by itself is the one that was pinned."""
    name = Path(path).name
    demand_digest(path, pins_of([name], reading).get(name), sha256)


class Hashing:
    """A digest on its way; whoever needs it waits for it, or takes it himself if nobody has begun."""

    def __init__(self, path: str, *, wanted: bool = True) -> None:
        self._path, self._stop, self._taken = path, threading.Event(), threading.Lock()
        self._digest: Future[str] = Future()
        if wanted:
            _hash_meanwhile(self)
        else:
            self._taken.acquire()
            self._digest.set_result("")

    def run(self) -> None:
        """Take the digest, unless somebody does already."""
        if not self._taken.acquire(blocking=False):
            return
        try:
            self._digest.set_result(digest_of(self._path, self._stop))
        except Exception as error:  # noqa: BLE001  told to whoever asks for the digest
            self._digest.set_exception(error)

    def result(self) -> str:
        """The digest, when it is there."""
        self.run()
        return self._digest.result()

    def stop(self) -> None:
        """Nobody will ask any more."""
        self._stop.set()


_waiting: SimpleQueue[Hashing] = SimpleQueue()
_workers: dict[int, threading.Thread] = {}


def _hash_meanwhile(one: Hashing) -> None:
    """Hand it to the one thread of this process that hashes; a forked child has to start its own."""
    _waiting.put(one)
    if os.getpid() not in _workers:
        worker = threading.Thread(target=_work, name="assay-hashing", daemon=True)
        _workers[os.getpid()] = worker
        worker.start()


def _work() -> None:
    while True:
        _waiting.get().run()
