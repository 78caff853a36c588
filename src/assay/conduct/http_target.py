# SPDX-License-Identifier: Apache-2.0
"""An address on this machine that is timed by kept-alive connections."""

from __future__ import annotations

import http.client
import ipaddress
import json
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from assay.conduct.connections import LARGEST, Connection, RequestFailed, Target
from assay.core.errors import PlanError
from assay.core.text import visible


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
