# SPDX-License-Identifier: Apache-2.0
"""How a driver talks to what it times: one request, then its answer; and child processes that do so by lines."""

from __future__ import annotations

import os
import select
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, cast

from assay.core.errors import RowsError
from assay.core.text import visible

CHUNK: Final = 1 << 16
PATIENCE: Final = 5
"""Failures in a row after which a process is given up."""
LARGEST: Final = 1 << 26
"""Bytes of an answer at most: a target that never ends its line must not fill the memory."""


class RequestFailed(Exception):  # noqa: N818  not an error of ours: the answer of a target
    """A request had no answer."""


class Connection(ABC):
    """A conversation: one request, then its answer."""

    @abstractmethod
    def ask(self, places: Sequence[int], timeout: float) -> list[Any]:
        """The answers to inputs, by their numbers; raises `RequestFailed`."""

    def peak_bytes(self) -> int | None:
        """Memory that the process took at most, where that is known."""
        return None

    @abstractmethod
    def close(self) -> None:
        """End the conversation."""


@dataclass(frozen=True, slots=True)
class Target:
    """Something that answers; every worker has a connection of its own."""

    described: str
    connect: Callable[[], Connection]
    one_at_a_time: bool = True
    file: str | None = None
    """The file of a model."""
    close: Callable[[], None] = lambda: None


class LineProcess(Connection):
    """A child process that is asked by lines and answers by lines."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.command, self.environment = list(command), dict(environment or {})
        self.peak = self.failures = 0
        self._start()

    def _start(self) -> None:
        self._buffer = b""
        self.process = subprocess.Popen(  # noqa: S603  the user names what is to be timed
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **self.environment}, bufsize=0, start_new_session=True,
        )  # fmt: skip

    def exchange(self, line: bytes, answers: int, timeout: float) -> list[bytes]:
        """Write some lines and read as many as are due; a process that fails to answer is started again."""
        try:
            cast("IO[bytes]", self.process.stdin).write(line)
            lines = [self.read(timeout) for _ in range(answers)]
        except (OSError, RequestFailed) as error:
            self._restart(error)
            raise RequestFailed(str(error)) from error
        self.failures = 0
        return lines

    def read(self, timeout: float) -> bytes:
        """The next line, within some seconds."""
        stdout = cast("IO[bytes]", self.process.stdout)
        end = time.monotonic() + timeout
        while b"\n" not in self._buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([stdout], [], [], left)[0]:
                msg = "no answer in time"
                raise RequestFailed(msg)
            part = stdout.read(CHUNK)
            if not part or len(self._buffer) > LARGEST:
                msg = "the process ended" if not part else "the answer has no end"
                raise RequestFailed(msg)
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _restart(self, error: Exception) -> None:
        self.close()
        self.failures += 1
        if self.failures == PATIENCE:
            raise RowsError(
                "target-failed",
                f"the target failed {PATIENCE} times in a row: {visible(error)}",
                where=visible(self.command[0]),
                fix="let it write one line for each line that it reads, and flush it",
            )
        self._start()

    def peak_bytes(self) -> int | None:
        """The high-water mark of its memory."""
        with suppress(OSError, ValueError):
            text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii", errors="replace")
            self.peak = max(self.peak, *(int(row.split()[1]) * 1024 for row in text.splitlines() if "VmHWM" in row), 0)
        return self.peak or None

    def close(self) -> None:
        """End the process, and whatever it started."""
        self.peak_bytes()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                cast("IO[bytes]", stream).close()
        with suppress(OSError):
            os.killpg(self.process.pid, 9)
        self.process.wait()
