# SPDX-License-Identifier: Apache-2.0
"""What the driver itself costs: requests a second against a null HTTP server, and what it adds to the median.

    python bench/efficiency.py [--requests 3000] [--runs 5]

The server is a process of its own that answers every request at once; it ends when its time is over.
"""

from __future__ import annotations

import argparse
import http.client
import json
import socket
import statistics
import subprocess
import sys
import threading
import time

import assay

LIFETIME = 300.0
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n1"


def serve() -> None:
    """Answer every request with 1, for some minutes at most."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    print(listener.getsockname()[1], flush=True)
    threading.Timer(LIFETIME, lambda: sys.exit(0)).start()
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_answer_all, args=(connection,), daemon=True).start()


def _answer_all(connection: socket.socket) -> None:
    buffer = b""
    while True:
        while b"\r\n\r\n" not in buffer:
            part = connection.recv(1 << 16)
            if not part:
                return
            buffer += part
        head, _, buffer = buffer.partition(b"\r\n\r\n")
        size = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
        while len(buffer) < size:
            buffer += connection.recv(1 << 16)
        buffer = buffer[size:]
        connection.sendall(ANSWER)


def time_raw(port: int, requests: int) -> float:
    """The median of a bare socket that sends the same bytes."""
    body = json.dumps([1.0, 2.0, 3.0]).encode()
    request = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    times = []
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(requests):
            begin = time.perf_counter_ns()
            client.sendall(request)
            client.recv(1 << 16)
            times.append(time.perf_counter_ns() - begin)
    return statistics.median(times) / 1e6


def time_http_client(port: int, requests: int) -> float:
    """The median of http.client in a bare loop."""
    client = http.client.HTTPConnection("127.0.0.1", port)
    client.connect()
    client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    times = []
    for _ in range(requests):
        begin = time.perf_counter_ns()
        client.request("POST", "/", body=b"[1.0, 2.0, 3.0]")
        client.getresponse().read()
        times.append(time.perf_counter_ns() - begin)
    client.close()
    return statistics.median(times) / 1e6


def main() -> None:
    """Print one row for each way."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=3000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--serve", action="store_true")
    asked = parser.parse_args()
    if asked.serve:
        serve()
        return
    server = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE)
    try:
        port = int(server.stdout.readline())
        url, inputs = f"http://127.0.0.1:{port}/", [[1.0, 2.0, 3.0]]
        raw, plain = time_raw(port, asked.requests), time_http_client(port, asked.requests)
        common = {"runs": asked.runs, "requests": asked.requests, "energy": "none"}
        single = assay.efficiency(url, inputs, scenario="single-stream", **common)
        median = 1000 * single["p50"].value
        print(
            f"median, ms: bare socket {raw:.3f}   http.client {plain:.3f}   assay {median:.3f}   added {median - raw:.3f}"
        )
        for workers in (1, 2, 4):
            offline = assay.efficiency(url, inputs, scenario="offline", workers=workers, **common)
            print(f"offline, {workers} workers: {offline['throughput'].value:,.0f} requests/s")
        for rate in (500.0, 1000.0, 2000.0):
            paced = assay.efficiency(url, inputs, scenario="server", rate=rate, workers=2, **common)
            lag = max(run.amounts["lag"] for run in paced.counts.durations.runs)
            print(
                f"server at {rate:,.0f}/s: p50 {1000 * paced['p50'].value:.3f} ms, {paced['throughput'].value:,.0f}/s, lag (p95) {1000 * lag:.3f} ms"
            )
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
