# SPDX-License-Identifier: Apache-2.0
"""Sessions on a Spark cluster named by its address: opened without waiting for what is not there, and ended."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from assay.core.errors import EngineError, PlanError, missing_extra
from assay.core.text import quoted, visible
from assay.rows.spark.spark_files import reason

PORTS = {"spark": 7077, "sc": 15002}
"""The schemes of an engine's address, with the port that each has where none is given."""

KNOCK = 5.0
"""Seconds in which something must answer at the address; a machine that is there answers in a fraction of one."""
REGISTER = 30.0
"""Seconds in which a master must accept an application that has started. Spark itself would try for a minute."""
IDLE = 60.0
"""Seconds in which a cluster must lend its first executor; without one Spark would wait for ever."""

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_RETRIES = 5
"""How often a call to a Connect server is tried again: for 17 s, where Spark's own 15 times take ten minutes."""

_QUERIES = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # a folder site=01 is the text 01, not a number
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session, the address it is at without secrets, and how to end what was started for it."""

    spark: Any
    address: str
    end: Callable[[], None]

    @property
    def engine(self) -> str:
        """What counts there, for the notes of a Record."""
        return f"Spark {self.spark.version} at {self.address}"


def is_spark(data: object) -> bool:
    """Whether something is a frame of Spark, classic or Connect."""
    return any(kind.__module__.startswith("pyspark.sql.") for kind in type(data).__mro__)


def is_cluster(engine: str) -> bool:
    """Whether an engine is named by the address of a Spark cluster.

    >>> is_cluster("spark://host:7077"), is_cluster("sc://host"), is_cluster("duckdb")
    (True, True, False)
    """
    return engine.partition("://")[0] in PORTS and "://" in engine


@contextmanager
def session_at(engine: str) -> Iterator[Session]:
    """A session at an address, which ends if the work with it fails; else whoever holds the rows ends it."""
    session = open_session(engine)
    try:
        yield session
    except BaseException:
        session.end()
        raise


def open_session(engine: str) -> Session:
    """A session at an address such as spark://host:7077 or sc://host:15002."""
    scheme, places = _places(engine)
    address = f"{scheme}://{','.join(f'{host}:{port}' for host, port in places)}"
    if scheme == "sc":
        connect = _needed("pyspark.sql.connect.session")
        _knock(places, address)
        return _remote(connect, engine, address)
    _needed("py4j")  # which the small pyspark-client, for Connect only, comes without
    _demand_java()
    host = _knock(places, address)
    return _classic(address, loopback=host in _LOOPBACK)


def _places(engine: str) -> tuple[str, list[tuple[str, int]]]:
    """The scheme and the hosts with ports; what stands behind a slash may be a token and is never shown."""
    scheme, _, rest = engine.partition("://")
    places = []
    for address in rest.partition("/")[0].split(","):
        try:
            parts = urlsplit(f"//{address}")
            host, port = parts.hostname, parts.port
        except ValueError:
            host = port = None
        if not host:
            raise PlanError(
                "option-unknown",
                "the engine's address names no host",
                found=quoted(f"{scheme}://{address}"),
                known="spark://HOST:7077, sc://HOST:15002",
                fix="correct the address",
            )
        places.append((host, port or PORTS[scheme]))
    return scheme, places


def _needed(module: str) -> Any:  # noqa: ANN401  pyspark is optional, so its types are not relied on
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # about versions of pandas, which is not used here
            loaded_module = import_module(module)
            with suppress(ImportError):
                import_module("pyspark.testing.utils")  # asked for by pyspark itself later on, when it would warn again
            return loaded_module
    except ImportError as error:
        raise missing_extra("spark", "counting on Spark needs pyspark", found=visible(error)) from None


def _demand_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java", path=str(Path(home) / "bin") if home else None) is None:
        raise EngineError(
            "engine-failed",
            "Spark runs on Java, and there is none here",
            where="JAVA_HOME" if home else "PATH",
            found=f"no bin/java in {visible(home)}" if home else "no program called java",
            fix="install Java 17 or newer (Debian: apt-get install openjdk-17-jre-headless), or use a Spark Connect "
            "server, sc://HOST:15002, which needs no Java here",
        )


def _knock(places: list[tuple[str, int]], address: str) -> str:
    """The first host that answers; asked before Spark is, because Spark asks again and again."""
    problem: OSError | None = None
    for host, port in places:
        try:
            socket.create_connection((host, port), timeout=KNOCK / len(places)).close()
        except OSError as error:
            problem = error
        else:
            return host
    raise _absent(address, visible(problem)) from None


def _absent(address: str, finding: str) -> EngineError:
    return EngineError(
        "engine-failed",
        f"no Spark cluster answers at {address}",
        where=address,
        found=finding,
        fix="start the cluster, or correct the address (a master is spark://HOST:7077, a Connect server "
        "sc://HOST:15002); its version must fit the installed pyspark",
    )


def _remote(connect: Any, url: str, address: str) -> Session:  # noqa: ANN401
    grpc, retries = _needed("grpc"), _needed("pyspark.sql.connect.client.retries")
    session = None
    try:
        with connect.DefaultChannelBuilder(url).toChannel() as channel:
            grpc.channel_ready_future(channel).result(timeout=KNOCK)
        session = connect.SparkSession.builder.remote(url).create()
        session.client.set_retry_policies([retries.DefaultPolicy(max_retries=_RETRIES)])
        for name, value in _QUERIES.items():
            session.conf.set(name, value)
        return Session(spark=session, address=address, end=lambda: _stop(session))
    except Exception as error:
        if session is not None:
            _stop(session)
        raise _absent(address, reason(error) or "something answers, but no Spark Connect server") from error


def _stop(session: Any) -> None:  # noqa: ANN401
    """End a remote session; a server that is gone has ended it already, and what happened before matters more."""
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        session.stop()


def _classic(address: str, *, loopback: bool) -> Session:
    """A session of our own, or a new one on the application that runs in this process already."""
    sql, core = _needed("pyspark.sql"), _needed("pyspark")
    running = core.SparkContext._active_spark_context  # noqa: SLF001  the public way would start one
    if running is None:
        return _started(core, sql, address, loopback=loopback)
    if running.master != address:
        raise PlanError(
            "role-clash",
            "this process already runs a Spark application on another cluster",
            where=address,
            found=f"master {quoted(running.master)}",
            fix="stop that session first, or read the file with it and pass the frame: data=spark.read.parquet(...)",
        )
    session = sql.SparkSession(running).newSession()
    for name, value in _QUERIES.items():
        session.conf.set(name, value)
    return Session(spark=session, address=address, end=lambda: None)


def _started(core: Any, sql: Any, address: str, *, loopback: bool) -> Session:  # noqa: ANN401
    settings = {
        "spark.master": address,
        "spark.app.name": "assay",
        "spark.driver.memory": "1g",
        "spark.log.level": "WARN",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **({"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"} if loopback else {}),
        **_QUERIES,
    }
    conf = core.SparkConf().setAll(list(settings.items()))
    java = _Java(core)
    try:
        context = java.context(conf)
        session = sql.SparkSession(context)
        _await_executor(context, address)
        return Session(spark=session, address=address, end=java.end)
    except EngineError:
        java.end()
        raise
    except Exception as error:
        told = java.told()
        java.end()
        raise _absent(address, told) from error


class _Java:
    """The Java process behind a classic session, with its chatter in a file and its end in our hands."""

    def __init__(self, core: Any) -> None:  # noqa: ANN401
        self._core = core
        self._log = tempfile.NamedTemporaryFile(prefix="assay-spark-", suffix=".log")  # noqa: SIM115  lives on
        self._gateway: Any = None
        self._context: Any = None
        self._on_interrupt = signal.getsignal(signal.SIGINT)

    def context(self, conf: Any) -> Any:  # noqa: ANN401
        """The application on the cluster, or an error soon after the cluster should have taken it on."""
        if self._core.SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:  # noqa: SLF001
            # A Java process is there already: of a session that was stopped before, or of spark-submit.
            self._context = self._core.SparkContext(conf=conf)
            return self._context
        launch = import_module("pyspark.java_gateway").launch_gateway
        self._gateway = launch(conf, {"stdout": self._log, "stderr": subprocess.STDOUT})
        done = threading.Event()
        masters = conf.get("spark.master").count(",") + 1
        threading.Thread(target=self._watch, args=(done, masters), daemon=True).start()
        try:
            self._context = self._core.SparkContext(conf=conf, gateway=self._gateway)
        finally:
            done.set()
        return self._context

    def _watch(self, done: threading.Event, masters: int) -> None:
        """End the process if what is at the address turns it down or does not answer, and so is not a master."""
        end = float("inf")
        while not done.wait(0.2):
            log_text = self._chatter()
            if end == float("inf") and "Setting Spark log level" in log_text:  # the first thing an application says
                end = time.monotonic() + REGISTER
            if time.monotonic() > end or log_text.count("Failed to connect to master") >= masters:
                self._gateway.proc.kill()
                return

    def _chatter(self) -> str:
        return Path(self._log.name).read_text(encoding="utf-8", errors="replace")

    def told(self) -> str:
        """The last complaint of the process, without its time."""
        lines = re.findall(r"(?:ERROR|WARN) (.*(?:Failed to connect|Exception).*)$", self._chatter(), re.MULTILINE)
        return visible(lines[-1]) if lines else "something answers there, but it does not speak Spark"

    def end(self) -> None:
        """Stop the application, then the process, and leave this one as it was before."""
        with suppress(Exception):
            if self._context is not None:
                self._context.stop()
        if self._gateway is not None:
            with suppress(Exception):
                self._gateway.shutdown()
            process = self._gateway.proc
            with suppress(OSError):
                process.stdin.close()  # the process ends by itself when its standard input does
            try:
                process.wait(KNOCK)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            context = self._core.SparkContext
            context._gateway = context._jvm = context._active_spark_context = None  # noqa: SLF001
        self._log.close()
        if threading.current_thread() is threading.main_thread() and self._on_interrupt is not None:
            signal.signal(signal.SIGINT, self._on_interrupt)


def _await_executor(context: Any, address: str) -> None:  # noqa: ANN401
    """Demand that the cluster lends an executor; with dynamic allocation it does so only when there is work."""
    if context.getConf().get("spark.dynamicAllocation.enabled", "false") == "true":
        return
    tracker, end = context._jsc.sc().statusTracker(), time.monotonic() + IDLE  # noqa: SLF001  Python's own does not tell
    while len(tracker.getExecutorInfos()) < 2:  # noqa: PLR2004  the first one is the driver
        if time.monotonic() > end:
            raise EngineError(
                "engine-failed",
                f"the cluster at {address} lent no executor within {IDLE:.0f} s",
                where=address,
                fix="check that a worker is registered with the master, and that it has a free core and 1 GB",
            )
        time.sleep(0.1)
