# SPDX-License-Identifier: Apache-2.0
"""The server of these tests never outlives them."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.databases import server as servers
from tests.engines.spark.test_cluster import runs
from tests.waiting import wait_until

SCRIPT = """
import sys, time
sys.path.insert(0, sys.argv[1])
from server import start

found = start()
print(found.process.pid, found.folder, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(servers.programs() is None, reason="no PostgreSQL here")
@pytest.mark.skipif(not servers.MORTAL, reason="needs setpriv, which Linux has")
def test_killing_the_tests_outright_ends_the_server():
    home = str(Path(servers.__file__).parent)
    with subprocess.Popen([sys.executable, "-c", SCRIPT, home], stdout=subprocess.PIPE, text=True) as tests:
        pid, folder = tests.stdout.readline().split()
        try:
            assert runs(pid)
            tests.send_signal(signal.SIGKILL)
            wait_until(lambda: not runs(pid))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
