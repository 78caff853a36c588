# SPDX-License-Identifier: Apache-2.0
"""Things that answer requests and can be timed: models in a child process, commands, addresses on this machine."""

from __future__ import annotations

import http.client
import importlib
import importlib.util
import ipaddress
import json
import os
import shlex
import socket
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

from assay.conduct.connections import LARGEST, Connection, LineProcess, ProcessConnection, RequestFailed, Target
from assay.core.errors import PlanError, RowsError
from assay.core.text import visible

LOADING: Final = 120.0
"""Seconds that a model may take to load."""


@dataclass
class ModelTarget(Target):
    """A model that is loaded in a child process: a function, an estimator, an ONNX file."""

    kind: str
    place: str
    inputs: Any
    threads: int | None = None
    described: str = ""
    content: bytes | None = None
    """A pickled object, where there is no file."""
    _folder: tempfile.TemporaryDirectory[str] = field(init=False)

    def __post_init__(self) -> None:
        """Lay out the inputs where the child finds them."""
        self._folder = tempfile.TemporaryDirectory(prefix="assay-")
        folder = Path(self._folder.name)
        inputs = _store_inputs(folder, self.inputs)
        if self.content is not None:
            (folder / "model").write_bytes(self.content)
            self.place = str(folder / "model")
        job = {
            "kind": self.kind,
            "place": self.place,
            "inputs": inputs,
            "threads": self.threads,
            "folder": str(Path.cwd()),
        }
        self.job = folder / "job.json"
        self.job.write_text(json.dumps(job), encoding="utf-8")

    def connect(self) -> ModelConnection:
        """A fresh process with the model loaded."""
        return ModelConnection(self)

    def close(self) -> None:
        """Remove the inputs."""
        self._folder.cleanup()


class ModelConnection(ProcessConnection):
    """A child process that holds a model."""

    def __init__(self, target: ModelTarget) -> None:
        command = [sys.executable, "-m", "assay.conduct.worker", str(target.job)]
        source = str(Path(__file__).resolve().parents[2])
        paths = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))
        threads = (
            {}
            if target.threads is None
            else dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(target.threads))
        )
        self.process = LineProcess(command, {"PYTHONPATH": paths, **threads})
        self.target = target
        self._started = self.process.process
        self._wait_ready()

    def _wait_ready(self) -> None:
        self._started = self.process.process
        try:
            first = json.loads(self.process.read(LOADING))
        except RequestFailed as error:
            first = {"error": str(error)}
        if "ready" not in first:
            self.close()
            raise RowsError(
                "target-failed",
                f"the model cannot be loaded: {visible(first.get('error', 'no word from the child process'))}",
                where=visible(self.target.described),
                fix="load it by hand in a fresh process with the packages it needs",
            )

    def ask(self, places: Sequence[int], timeout: float) -> list[Any]:
        """The answers of the model."""
        if self.process.process is not self._started:
            self._wait_ready()
        (line,) = self.process.ask(b" ".join(b"%d" % place for place in places) + b"\n", 1, timeout)
        content = json.loads(line)
        if "error" in content:
            raise RequestFailed(content["error"])
        return cast("list[Any]", content["answers"])


@dataclass
class CommandTarget(Target):
    """A command that reads one request a line and writes one answer a line."""

    command: Sequence[str]
    lines: Sequence[bytes]
    described: str = ""

    def connect(self) -> CommandConnection:
        """A fresh process."""
        return CommandConnection(self)


class CommandConnection(ProcessConnection):
    """The process of a command."""

    def __init__(self, target: CommandTarget) -> None:
        self.lines = target.lines
        try:
            self.process = LineProcess(target.command)
        except OSError as error:
            raise PlanError(
                "no-file",
                "the command cannot be started",
                found=visible(target.described),
                fix="check its name and path",
            ) from error

    def ask(self, places: Sequence[int], timeout: float) -> list[Any]:
        """The lines it writes."""
        answers = self.process.ask(b"".join(self.lines[place] + b"\n" for place in places), len(places), timeout)
        return [answer.decode("utf-8", "replace") for answer in answers]


@dataclass
class HttpTarget(Target):
    """An address on this machine that takes POST requests."""

    url: str
    bodies: Sequence[bytes]
    described: str = ""
    restarts = False
    one_at_a_time = False

    def __post_init__(self) -> None:
        """Only addresses of this machine: whoever measures another one measures the network."""
        parts = urlsplit(self.url)
        self.host, self.port = parts.hostname or "", parts.port or 80
        self.path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        if parts.scheme != "http" or not is_loopback(self.host):
            raise PlanError(
                "option-unknown",
                "only addresses of this machine can be timed",
                found=visible(f"{parts.scheme}://{self.host}"),
                known="http://127.0.0.1:PORT/PATH, http://localhost:PORT/PATH, http://[::1]:PORT/PATH",
                fix="run the driver on the machine that serves the model",
            )

    def connect(self) -> HttpConnection:
        """A connection that is kept alive."""
        return HttpConnection(self)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine; names other than localhost are not looked up."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class HttpConnection(Connection):
    """One kept-alive connection without Nagle's delay."""

    def __init__(self, target: HttpTarget) -> None:
        self.target = target
        self.client = http.client.HTTPConnection(target.host, target.port)
        self.headers = {"Content-Type": "application/json", "Connection": "keep-alive"}

    def ask(self, places: Sequence[int], timeout: float) -> list[Any]:
        """The body of the response."""
        bodies = [self.target.bodies[place] for place in places]
        body = bodies[0] if len(bodies) == 1 else b"[" + b",".join(bodies) + b"]"
        try:
            if self.client.sock is None:
                self.client.timeout = timeout
                self.client.connect()
                cast("socket.socket", self.client.sock).setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            cast("socket.socket", self.client.sock).settimeout(timeout)
            self.client.request("POST", self.target.path, body=body, headers=self.headers)
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


def _store_inputs(folder: Path, inputs: Any) -> str:  # noqa: ANN401
    import numpy as np

    if isinstance(inputs, np.ndarray) and inputs.dtype.kind in "fiub":
        np.save(folder / "inputs.npy", inputs)
        return str(folder / "inputs.npy")
    (folder / "inputs.json").write_text(json.dumps(list(inputs), default=str), encoding="utf-8")
    return str(folder / "inputs.json")


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
        return ModelTarget("object", "", inputs, threads, type(target).__name__, content=_pickled(target))
    if text.startswith(("http://", "https://")):
        return HttpTarget(text, _bodies(inputs, template), text)
    suffix, name = Path(text).suffix.lower(), Path(text).name
    if suffix in (".onnx", ".joblib") and (Path(text).is_file() or " " not in text):
        if not Path(text).is_file():
            raise PlanError(
                "no-file", "the file of the model does not exist", where=visible(text), fix="check the path"
            )
        if suffix == ".onnx":
            _check_extra("onnxruntime", "onnx")
        else:
            _check_extra("joblib", "conduct")
        return ModelTarget(suffix[1:], str(Path(text).resolve()), inputs, threads, name)
    module, mark, function = text.partition(":")
    if mark and function.replace(".", "").isidentifier() and module.replace(".", "").isidentifier():
        return ModelTarget("function", text, inputs, threads, text)
    words = shlex.split(text)
    if not words:
        raise PlanError("role-missing", "the target is empty", fix='name what answers: target="model.onnx"')
    return CommandTarget(words, [_line(part) for part in inputs], words[0])


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
    text = part if isinstance(part, str) else json.dumps(_jsonable(part))
    return text.replace("\n", " ").encode()


def _bodies(inputs: Any, template: str | None) -> list[bytes]:  # noqa: ANN401
    texts = [json.dumps(_jsonable(part)) for part in inputs]
    if template is None:
        return [text.encode() for text in texts]
    if "{input}" not in template:
        raise PlanError(
            "option-unknown", "the template has no {input}", fix="write template='{\"instances\": [{input}]}'"
        )
    return [template.replace("{input}", text).encode() for text in texts]


def _jsonable(part: Any) -> Any:  # noqa: ANN401
    return part.tolist() if hasattr(part, "tolist") else part
