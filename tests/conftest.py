# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import ipaddress
import os
import sys
from functools import cache
from pathlib import Path
from tempfile import gettempdir

import duckdb
import pytest
from hypothesis import settings

import run
from assay.rows.engines.duckdb_engine import connect
from assay.rows.limits import Limits

settings.register_profile("here", deadline=None, max_examples=100)
# A red build stays red; few examples keep it below a quarter of an hour, and runs at a desk draw more, and new ones.
settings.register_profile("ci", settings.get_profile("here"), derandomize=True, max_examples=25)
settings.load_profile("ci" if os.environ.get("CI") else "here")


def is_near(host: object) -> bool:
    """Whether a host, as sockets spell it, is this machine."""
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    try:
        return ipaddress.ip_address(host.decode() if isinstance(host, bytes) else str(host)).is_loopback
    except ValueError:
        return False


def refuse_far_sockets(event: str, args: tuple) -> None:
    """An audit hook: nothing under test may speak to, or ask a name server for, another machine."""
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = args[1]
        host = address[0] if isinstance(address, tuple) else None  # a Unix socket's address is not a tuple
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = args[0]
    else:
        return
    if not is_near(host):
        msg = f"tests use no network, and something asked for {host!r}"
        raise PermissionError(msg)


@pytest.fixture(scope="session")
def _engines():
    return []


def is_database(path: str) -> bool:
    """Whether a file is a database of the embedded engine, which would stay open in an engine that others use."""
    try:
        with Path(path).open("rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError:
        return False


@pytest.fixture(autouse=True)
def _one_engine(request, monkeypatch, tmp_path_factory, _engines):
    """One engine that may read all files of the tests, made anew where it does not survive one.

    It takes longer to start an engine than to read a small file. Limits, databases of the engine's own kind and tests
    marked `own_engine` get one for each call, as users do.
    """
    if "own_engine" in request.keywords:
        return

    def connected(paths, limits):
        if limits != Limits() or any(is_database(path) for path in paths):
            return connect(paths, limits)
        try:
            _engines[-1].execute("SELECT 1")
        except (IndexError, duckdb.Error):
            engine = duckdb.connect(config={"autoload_known_extensions": "false"})
            folders = [f"{folder}/" for folder in (tmp_path_factory.getbasetemp(), gettempdir(), run.ROOT)]
            for setting in (
                "enable_external_file_cache = false",
                "python_enable_replacements = false",
                f"allowed_directories = {folders}",
                "enable_external_access = false",
            ):
                engine.execute(f"SET {setting}")
            _engines.append(engine)
        return _engines[-1].cursor()

    monkeypatch.setattr("assay.rows.files.file.connect", connected)


@pytest.fixture(scope="session", autouse=True)
def _no_network():
    sys.addaudithook(refuse_far_sockets)


LONG = (
    "tests/engines/test_matched_models.py",
    "tests/laws/test_requirement_rows.py",
    "tests/layers/tasks/classification/test_operating_points.py",
    "tests/engines/test_lazy_frames.py",
    "tests/layers/assess/scores/test_assessments_with_scores.py",
    "tests/browser/test_looking.py",
    "tests/layers/rows/files/test_file.py",
    "tests/layers/assess/compare/test_plan_comparison.py",
    "tests/engines/test_joined.py",
    "tests/layers/assess/conformity/test_statement.py",
    "tests/stories/test_docs.py",
)
"""Files of more than about 15 s, each run by one worker: begun first, so that no worker waits at the end."""


def pytest_configure(config):
    """The second worker reads the files from the last one on: what one of them has compiled the other need not."""
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw1" and config.args_source is config.ArgsSource.TESTPATHS:
        left_out = tuple(config.getoption("ignore") or ())
        files = sorted(map(str, Path("tests").rglob("test_*.py")), reverse=True)
        config.args[:] = ["src", *(file for file in files if not file.startswith(left_out))]


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.nodeid)  # alike in all workers before they are shuffled alike
    yield
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


def pytest_collection_finish():
    """Thousands of tests that live to the end are not looked at again whenever garbage is collected."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def pytest_sessionfinish():
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def _same_packages():
    """The list of installed packages, read for every moment of an assessment, stays the same while tests run."""
    from assay.assess.controls import machine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "_packages", cache(machine._packages))
        yield


@pytest.fixture(scope="session")
def browser() -> str:
    """The path of a Chromium, driven through its own command line."""
    return run.browser() or pytest.skip("no Chromium here")
