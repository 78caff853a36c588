# SPDX-License-Identifier: Apache-2.0
"""A real Spark cluster on this machine: one master and two workers, each its own process.

Everything comes from the jars inside the `pyspark` wheel, listens on free ports of loopback only and writes into one
folder. Nothing of it outlives the tests, even if these are killed.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Self

import run

HERE = "127.0.0.1"
HOSTS = {"worker1": HERE, "worker2": "127.0.0.2" if sys.platform == "linux" else HERE}
"""Two machines to Spark, which runs a slow task again on another one only; both are this one."""
PATIENCE = 300
LIGHT = (
    "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=200m -XX:-UsePerfData"
    " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""For every Java process of the tests: none lives long enough to be worth optimising or verifying.

The 48 MB for code that go with this level fill up in the driver, which then drops methods and compiles them again.
"""
APPLICATION = {
    # One core of each worker for an application, so that several run side by side.
    "spark.cores.max": "2",
    "spark.executor.cores": "1",
    "spark.executor.memory": "1100m",  # no second one fits beside it: the other worker must not replace a killed one
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",  # no job begins before both workers take part
    "spark.sql.shuffle.partitions": "2",
    "spark.shuffle.io.retryWait": "200ms",  # what a killed worker held is asked for three times, 5 s apart by default
    "spark.standalone.executorRemoveDelayOnDisconnection": "100ms",  # 5 s by default, for a reason nobody reads here
    "spark.ui.enabled": "false",
    "spark.driver.host": HERE,
    "spark.driver.bindAddress": HERE,
}


def unfit() -> str:
    """Why no cluster can be started here, or nothing."""
    if find_spec("pyspark") is None:
        return "the Spark tests need pyspark: pip install 'assay[spark]'"
    if not run.java():
        return "the Spark tests need Java: apt-get install openjdk-17-jre-headless"
    return ""


class Cluster:
    """Starts what it is asked for, waits until it is up, and ends exactly the processes it started."""

    def __init__(self, folder: Path, java: str = LIGHT) -> None:
        self.folder, self.java = folder, java
        self.home = Path(find_spec("pyspark").origin).parent
        self.processes: dict[str, subprocess.Popen] = {}
        self.address = ""
        self.connect = ""  # of the server inside the driver of the tests, once it runs

    def __enter__(self) -> Self:
        try:
            self.start_workers()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start_workers(self) -> None:
        """The master, then both workers at once."""
        self.add_master()
        self.add_worker("worker1")
        self.add_worker("worker2")
        self._await_worker("worker1")
        self._await_worker("worker2")

    def add_master(self) -> None:
        """The master, at a port that is free."""
        self._run("master", "org.apache.spark.deploy.master.Master", "--host", HERE, "--port", "0")
        self.address = self._told("master", r"Starting Spark master at (spark://\S+)")

    def add_worker(self, name: str) -> None:
        """One more worker, with room for an executor of the tests and one of assay, which takes 1 GB."""
        sizes = ["--cores", "2", "--memory", "2150m", "--work-dir", str(self.folder / name)]
        self._run(name, "org.apache.spark.deploy.worker.Worker", "--host", HOSTS[name], *sizes, self.address)

    def replace_worker(self, name: str) -> None:
        """A worker in the place of one that was killed."""
        self._end(self.processes.pop(name))
        self.add_worker(name)
        self._await_worker(name)

    def kill_worker(self, name: str) -> None:
        """As when a machine loses power: neither the worker nor its executors get a chance to say so."""
        os.killpg(self.processes[name].pid, signal.SIGKILL)

    def stop(self) -> None:
        """End every process and remove the folder; what is started last goes first."""
        for process in reversed(self.processes.values()):
            self._end(process)
        self.processes.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _await_worker(self, name: str) -> None:
        self._told(name, r"(Successfully registered with master)")

    def _run(self, name: str, kind: str, *arguments: str) -> None:
        # Should the tests be killed outright, the kernel ends the daemons, and those end their executors.
        leash = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
        own = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
        (self.folder / "conf").mkdir(exist_ok=True)
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [*leash, str(self.home / "bin" / "spark-class"), kind, "--webui-port", "0", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                start_new_session=True,  # so that a worker and its executors can be ended together
                env={
                    "PYSPARK_PYTHON": sys.executable,
                    **own,
                    "SPARK_HOME": str(self.home),
                    "SPARK_CONF_DIR": str(self.folder / "conf"),
                    "SPARK_LOCAL_DIRS": str(self.folder),
                    "SPARK_LOCAL_IP": HOSTS.get(name, HERE),
                    "SPARK_DAEMON_MEMORY": "512m",
                    # A worker hands it on to its executors.
                    "JDK_JAVA_OPTIONS": f"{self.java} -Djava.io.tmpdir={self.folder}",
                },
            )

    def _told(self, name: str, pattern: str) -> str:
        """What a daemon's log says about itself, once it says so."""
        log, end = self.folder / f"{name}.log", time.monotonic() + PATIENCE
        while time.monotonic() < end and self.processes[name].poll() is None:
            if found := re.search(pattern, log.read_text(errors="replace")):
                return found[1]
            time.sleep(0.1)
        msg = f"{name} did not start:\n{log.read_text(errors='replace')[-3000:]}"
        raise RuntimeError(msg)

    @staticmethod
    def _end(process: subprocess.Popen) -> None:
        for sign, seconds in ((signal.SIGTERM, 5), (signal.SIGKILL, 10)):
            try:
                os.killpg(process.pid, sign)
            except ProcessLookupError:
                break
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                continue
        process.wait()
