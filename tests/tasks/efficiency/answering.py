# SPDX-License-Identifier: Apache-2.0
"""Things that answer: functions that a child process imports, and an HTTP server that ends by itself.

python answering.py SECONDS STALL AT    serves on a free port, which it prints; request number AT takes STALL seconds
"""

from __future__ import annotations

import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def is_positive(row):
    return int(row[0] > 0)


def print_and_answer(row):
    print("loading weights ...")  # noqa: T201  a model that talks
    return float(row[0])


def refuse_odd(number):
    if number % 2:
        msg = "odd"
        raise ValueError(msg)
    return number


def die(_row):
    os._exit(3)


def serve(seconds: float, stall: float, at: int) -> None:
    asked = iter(range(1 << 30))
    lock = threading.Lock()  # one request at a time, as a model on one processor

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with lock:
                place = next(asked)
                if place == at:
                    time.sleep(stall)
            status = 500 if self.path == "/broken" and place % 2 else 200
            body = b'{"answer": 1}'
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Timer(seconds, server.shutdown).start()
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    serve(float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
