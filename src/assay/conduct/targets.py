# SPDX-License-Identifier: Apache-2.0
"""Things that answer requests and can be timed: models in a child process, commands, addresses on this machine.

A driver has a connection for each worker: one request, then its answer. Child processes are asked by lines.
"""

from __future__ import annotations

import http.client
import importlib
import importlib.util
import ipaddress
import json
import os
import select
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, cast
from urllib.parse import SplitResult, urlsplit

from assay.conduct.worker import plain
from assay.core.errors import PlanError, RowsError
from assay.core.text import visible

CHUNK: Final = 1 << 16
PATIENCE: Final = 5
"""Failures in a row after which a process is given up."""
LARGEST: Final = 1 << 26
"""Bytes of an answer at most: a target that never ends its line must not fill the memory."""
LOADING: Final = 120.0
"""Seconds that a model may take to load."""
FILES: Final = {"onnx": ("onnxruntime", "onnx"), "joblib": ("joblib", "conduct")}
"""Endings of files of models, with the package that loads them and the extra that brings it."""


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


class ModelConnection(LineProcess):
    """A child process that holds a model: a function, an estimator, an ONNX file."""

    def __init__(self, job: Path, described: str, threads: int | None) -> None:
        source = str(Path(__file__).resolve().parents[2])
        environment = {"PYTHONPATH": os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))}
        if threads is not None:
            environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
        super().__init__([sys.executable, "-m", "assay.conduct.worker", str(job)], environment)
        self.described = described
        self._wait_ready()

    def _wait_ready(self) -> None:
        self._started = self.process
        try:
            first = json.loads(self.read(LOADING))
        except RequestFailed as error:
            first = {"error": str(error)}
        if "ready" not in first:
            self.close()
            raise RowsError(
                "target-failed",
                f"the model cannot be loaded: {visible(first.get('error', 'no word from the child process'))}",
                where=visible(self.described),
                fix="load it by hand in a fresh process with the packages it needs",
            )

    def ask(self, places: Sequence[int], timeout: float) -> list[Any]:
        """The answers of the model."""
        if self.process is not self._started:
            self._wait_ready()
        (line,) = self.exchange(b" ".join(b"%d" % place for place in places) + b"\n", 1, timeout)
        content = json.loads(line)
        if "error" in content:
            raise RequestFailed(content["error"])
        return cast("list[Any]", content["answers"])


class CommandConnection(LineProcess):
    """The process of a command that reads one request a line and writes one answer a line."""

    def __init__(self, command: Sequence[str], lines: Sequence[bytes]) -> None:
        self.lines = lines
        try:
            super().__init__(command)
        except OSError as error:
            raise PlanError(
                "no-file", "the command cannot be started", found=visible(command[0]), fix="check its name and path"
            ) from error

    def ask(self, places: Sequence[int], timeout: float) -> list[Any]:
        """The lines it writes."""
        answers = self.exchange(b"".join(self.lines[place] + b"\n" for place in places), len(places), timeout)
        return [answer.decode("utf-8", "replace") for answer in answers]


def is_loopback(host: str) -> bool:
    """Whether a host is this machine; names other than localhost are not looked up."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class HttpConnection(Connection):
    """One kept-alive connection without Nagle's delay, to an address that takes POST requests."""

    def __init__(self, url: SplitResult, bodies: Sequence[bytes]) -> None:
        self.path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        self.bodies = bodies
        self.client = http.client.HTTPConnection(url.hostname or "", url.port or 80)
        self.headers = {"Content-Type": "application/json", "Connection": "keep-alive"}

    def ask(self, places: Sequence[int], timeout: float) -> list[Any]:
        """The body of the response."""
        bodies = [self.bodies[place] for place in places]
        body = bodies[0] if len(bodies) == 1 else b"[" + b",".join(bodies) + b"]"
        try:
            if self.client.sock is None:
                self.client.timeout = timeout
                self.client.connect()
                cast("socket.socket", self.client.sock).setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            cast("socket.socket", self.client.sock).settimeout(timeout)
            self.client.request("POST", self.path, body=body, headers=self.headers)
            response = self.client.getresponse()
            content = response.read(LARGEST)
        except (OSError, http.client.HTTPException) as error:
            self.client.close()
            raise RequestFailed(str(error)) from error
        if response.status >= 300:  # noqa: PLR2004  neither done nor accepted
            msg = f"status {response.status}"
            raise RequestFailed(msg)
        return _read_body(content, len(places))

    def close(self) -> None:
        """Close it."""
        self.client.close()


def _read_body(content: bytes, size: int) -> list[Any]:
    try:
        answer = json.loads(content)
    except ValueError:
        return [content.decode("utf-8", "replace")] * size
    return answer if size > 1 and isinstance(answer, list) and len(answer) == size else [answer] * size


def _model_target(
    kind: str,
    place: str,
    inputs: Any,  # noqa: ANN401
    described: str,
    *,
    threads: int | None,
    content: bytes | None = None,
) -> Target:
    """A model that a child process loads; `content` is a pickled object, where there is no file."""
    import numpy as np

    directory = tempfile.TemporaryDirectory(prefix="assay-")
    folder = Path(directory.name)
    stored = folder / "inputs.json"
    if isinstance(inputs, np.ndarray) and inputs.dtype.kind in "fiub":
        stored = folder / "inputs.npy"
        np.save(stored, inputs)
    else:
        stored.write_text(json.dumps(list(inputs), default=str), encoding="utf-8")
    if content is not None:
        place = str(folder / "model")
        Path(place).write_bytes(content)
    job = {"kind": kind, "place": place, "inputs": str(stored), "threads": threads, "folder": str(Path.cwd())}
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    connect = partial(ModelConnection, folder / "job.json", described, threads)
    return Target(described, connect, file=place if kind in FILES else None, close=directory.cleanup)


def _http_target(text: str, bodies: Sequence[bytes]) -> Target:
    """Only addresses of this machine: whoever measures another one measures the network."""
    url = urlsplit(text)
    if url.scheme != "http" or not is_loopback(url.hostname or ""):
        raise PlanError(
            "option-unknown",
            "only addresses of this machine can be timed",
            found=visible(f"{url.scheme}://{url.hostname or ''}"),
            known="http://127.0.0.1:PORT/PATH, http://localhost:PORT/PATH, http://[::1]:PORT/PATH",
            fix="run the driver on the machine that serves the model",
        )
    return Target(text, partial(HttpConnection, url, bodies), one_at_a_time=False)


def open_target(
    target: object,
    inputs: Any,  # noqa: ANN401
    *,
    template: str | None = None,
    threads: int | None = None,
) -> Target:
    """The target that a user names: an object, a file, module:function, a command, an address."""
    text = os.fspath(target) if isinstance(target, os.PathLike) else target
    if not isinstance(text, str):
        return _model_target("object", "", inputs, type(target).__name__, threads=threads, content=_pickled(target))
    if text.startswith(("http://", "https://")):
        return _http_target(text, _bodies(inputs, template))
    suffix, name = Path(text).suffix.lower(), Path(text).name
    if suffix[1:] in FILES and (Path(text).is_file() or " " not in text):
        if not Path(text).is_file():
            raise PlanError(
                "no-file", "the file of the model does not exist", where=visible(text), fix="check the path"
            )
        _check_extra(*FILES[suffix[1:]])
        return _model_target(suffix[1:], str(Path(text).resolve()), inputs, name, threads=threads)
    module, mark, function = text.partition(":")
    if mark and function.replace(".", "").isidentifier() and module.replace(".", "").isidentifier():
        return _model_target("function", text, inputs, text, threads=threads)
    words = shlex.split(text)
    if not words:
        raise PlanError("role-missing", "the target is empty", fix='name what answers: target="model.onnx"')
    return Target(words[0], partial(CommandConnection, words, [_line(part) for part in inputs]))


def _check_extra(package: str, extra: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise PlanError(
            "missing-extra", f"the target needs {package}", fix=f'install it: pip install "assay[{extra}]"'
        )  # fmt: skip


def _pickled(target: object) -> bytes:
    if not callable(target) and not hasattr(target, "predict"):
        raise PlanError(
            "estimator-unfit",
            "the target can neither be called nor asked to predict",
            found=type(target).__name__,
            fix="give a function, an estimator, a path, a command or an address",
        )
    _check_extra("joblib", "conduct")
    outside = importlib.util.find_spec("cloudpickle") is not None  # joblib brings it along, since 1.6 as a package
    pickler = importlib.import_module("cloudpickle" if outside else "joblib.externals.cloudpickle")
    return cast("bytes", pickler.dumps(target))


def _line(part: Any) -> bytes:  # noqa: ANN401
    text = part if isinstance(part, str) else json.dumps(plain(part))
    return text.replace("\n", " ").encode()


def _bodies(inputs: Any, template: str | None) -> list[bytes]:  # noqa: ANN401
    texts = [json.dumps(plain(part)) for part in inputs]
    if template is None:
        return [text.encode() for text in texts]
    if "{input}" not in template:
        raise PlanError(
            "option-unknown", "the template has no {input}", fix="write template='{\"instances\": [{input}]}'"
        )
    return [template.replace("{input}", text).encode() for text in texts]
