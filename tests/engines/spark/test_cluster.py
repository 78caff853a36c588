# SPDX-License-Identifier: Apache-2.0
"""The cluster of these tests never outlives them, and where it cannot be had the reason is told."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.spark import cluster as cluster_module
from tests.engines.spark.cluster import unfit
from tests.waiting import wait_until

SCRIPT = """
import sys, time
from pathlib import Path
sys.path[:0] = sys.argv[1:3]
from cluster import Cluster

started = Cluster(Path(sys.argv[3]))
started.add_master()
print(started.processes["master"].pid, flush=True)
time.sleep(60)
"""


def runs(pid):
    """Whether a process is there and more than an entry that nobody has asked about yet."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.mark.skipif(bool(unfit()), reason=unfit() or "it can be started")
@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv, which Linux has")
def test_killing_the_tests_outright_ends_the_cluster(pytestconfig, tmp_path):
    folders = [str(pytestconfig.rootpath), str(Path(cluster_module.__file__).parent), str(tmp_path)]
    with subprocess.Popen([sys.executable, "-c", SCRIPT, *folders], stdout=subprocess.PIPE, text=True) as tests:
        pid = int(tests.stdout.readline())
        assert runs(pid)
        tests.send_signal(signal.SIGKILL)
    wait_until(lambda: not runs(pid))


def test_without_pyspark_or_java_the_tests_say_what_is_missing(monkeypatch):
    monkeypatch.setattr(cluster_module.run, "java", lambda: "")
    monkeypatch.setattr(cluster_module, "find_spec", lambda _: object())
    assert "openjdk-17-jre-headless" in unfit()
    monkeypatch.setattr(cluster_module, "find_spec", lambda _: None)
    assert "assay[spark]" in unfit()
