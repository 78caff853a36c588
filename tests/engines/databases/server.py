# SPDX-License-Identifier: Apache-2.0
"""A real PostgreSQL server on loopback, in a folder of its own, for as long as the tests take."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

SECRET = "s3cret/with@marks"  # noqa: S105  of a server that lives for a minute


# SIGINT ends PostgreSQL at once, whoever is connected; on Linux the kernel sends it when these tests die.
MORTAL = ["setpriv", "--pdeathsig", "INT"] if shutil.which("setpriv") else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where the server is, and how to get in."""

    port: int
    folder: Path
    process: subprocess.Popen

    def address(self, database="postgres", *, secret="s3cret%2Fwith%40marks", user="tester"):  # noqa: S107
        """The address, with the password in it unless it is empty."""
        return f"postgresql://{user}{':' if secret else ''}{secret}@127.0.0.1:{self.port}/{database}"

    def stop(self):
        """End the server and remove its folder."""
        self.process.terminate()
        self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)


def programs():
    """The folder with PostgreSQL's programs, or nothing."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    return next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)


def start():
    """Make a database folder and start a server on it; PostgreSQL refuses to run as root, so then as somebody else."""
    folder = Path(tempfile.mkdtemp(prefix="assay-test-postgres-"))
    person = {}
    if os.geteuid() == 0:
        name = next(name for name in ("postgres", "nobody") if name in {user.pw_name for user in pwd.getpwall()})
        person = {"user": name, "group": pwd.getpwnam(name).pw_gid, "extra_groups": []}
        shutil.chown(folder, name)
    secret = folder / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o644)
    plain = {"LC_ALL": "C", "PATH": os.environ["PATH"]}
    data = str(folder / "data")
    make = [str(programs() / "initdb"), "-D", data, "-U", "tester", "-A", "scram-sha-256", "--pwfile", str(secret)]
    made = [*make, "-E", "UTF8", "--no-sync"]
    subprocess.run(made, check=True, capture_output=True, cwd=folder, env=plain, **person)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {"listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": "", "fsync": "off"}
    run = [str(programs() / "postgres"), "-D", data, *(f"--{name}={value}" for name, value in settings.items())]
    process = subprocess.Popen(
        [*MORTAL, *run], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, env=plain, **person
    )
    server = Server(port=port, folder=folder, process=process)
    end = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return server
    server.stop()
    msg = "PostgreSQL did not start"
    raise RuntimeError(msg)


def connected(server):
    """A connection, as soon as there is one: a server listens before it is ready."""
    import psycopg

    end = time.monotonic() + 300
    while True:
        try:
            return psycopg.connect(server.address(), connect_timeout=20)
        except psycopg.OperationalError as error:
            if "starting up" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.1)
