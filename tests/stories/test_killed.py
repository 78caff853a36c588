# SPDX-License-Identifier: Apache-2.0
"""A run that is killed or stopped at any moment leaves whole files or none, and the next start clears what it left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from subprocess import PIPE

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.assess.record.record import Record
from tests.waiting import LIMIT, wait_until

CHANGES = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.truncate", "shutil.rmtree")

# For each number on stdin runs the command line in a fork that kills itself just before the file operation of that
# number below a given folder, and prints how the fork ended. Modules are imported once, those that a run loads on its
# way too, as a rehearsal in a fork of its own tells; no thread runs before the fork.
VICTIM = f"""
import importlib, os, signal, sys

home, words = sys.argv[1], sys.argv[2:]
seen = 0

def watch(event, args):
    global seen
    if event not in {CHANGES!r} or not isinstance(args[0], (str, bytes)) or not os.fsdecode(args[0]).startswith(home):
        return
    if event == "open" and not (isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
        return
    seen += 1
    if seen == limit:
        os.kill(os.getpid(), signal.SIGKILL)

import assay.assess.assess, assay.report, duckdb
from assay.app.cli import main
sys.argv = ["assay", *words[:-1], os.path.join(home, "rehearsed")]
known, (told, tell) = set(sys.modules), os.pipe()
if os.fork() == 0:
    try:
        main()
    finally:
        os.write(tell, " ".join(set(sys.modules) - known).encode())
        os._exit(0)
os.wait()
for name in os.read(told, 2**16).decode().split():
    importlib.import_module(name)
sys.argv = ["assay", *words]
for line in sys.stdin:
    limit = int(line)
    child = os.fork()
    if child == 0:
        sys.addaudithook(watch)
        sys.exit(main())
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture
def home(tmp_path):
    """A folder with predictions whose name needs a link, and one for temporary files."""
    for name in ("temp", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "data" / "p[1].csv").write_text("y,p\n" + "1,1\n0,1\n0,0\n" * 50)
    return tmp_path


def words(home, *more):
    return [
        "run",
        str(home / "data" / "p[1].csv"),
        "--truth",
        "y",
        "--predicted",
        "p",
        "-q",
        "-o",
        str(home / "out"),
        *more,
    ]


def environment(home):
    return {**os.environ, "TMPDIR": str(home / "temp")}


def inside(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def assert_whole(folder):
    for name in inside(folder):
        if name == "record.json":
            assert Record.load(folder / name)["samples"] == 150
        elif name == "report.html":
            assert (folder / name).read_text(encoding="utf-8").rstrip().endswith("</html>")
        else:
            assert name.endswith(".part"), name


def test_killed_at_any_change_of_a_file_it_leaves_whole_files_or_none(home):
    moment, killed = 0, True
    command = [sys.executable, "-c", VICTIM, str(home), *words(home)]
    with subprocess.Popen(command, env=environment(home), stdin=PIPE, stdout=PIPE, text=True) as victims:
        while killed:
            moment += 1
            print(moment, file=victims.stdin, flush=True)
            code = int(victims.stdout.readline())
            killed = code == -signal.SIGKILL
            assert killed or code == 0
            assert_whole(home / "out")
    assert moment > 10, "there were moments to be killed at"
    # The last run was not killed, and it also cleared what the others had left.
    assert inside(home / "out") == ["record.json", "report.html"]
    assert inside(home / "temp") == []
    assert inside(home / "data") == ["p[1].csv"]


@pytest.fixture
def large(home):
    """Labels that are nearly all distinct, so that counting them must spill."""
    rng = np.random.default_rng(0)
    table = pa.table({name: rng.integers(0, 2**40, 4_000_000) for name in ("y", "p")})
    pq.write_table(table, home / "data" / "large.parquet", compression="none", use_dictionary=False)
    return home / "data" / "large.parquet"


@contextmanager
def spilling(home, large):
    """A run in the middle of counting, with files spilled."""
    given = ["run", str(large), "--truth", "y", "--predicted", "p", "--memory", "100MB", "-q", "-o", str(home / "out")]
    command = [sys.executable, "-m", "assay", *given]
    with subprocess.Popen(command, env=environment(home), stderr=subprocess.PIPE) as process:
        try:
            wait_until(lambda: process.poll() is not None or list((home / "temp").glob("assay-*/spill/*")))
            assert process.poll() is None, process.stderr.read().decode()
            yield process
        finally:
            process.kill()


def test_killed_while_it_spills_the_next_start_clears_up(home, large):
    with spilling(home, large) as process:
        process.kill()
    assert inside(home / "temp"), "nothing can be cleared by a process that is killed"
    assert not (home / "out").exists()
    done = subprocess.run([sys.executable, "-m", "assay", *words(home)], env=environment(home), check=False)
    assert done.returncode == 0
    assert inside(home / "temp") == []


def test_stopped_by_ctrl_c_while_it_spills_it_leaves_nothing(home, large):
    with spilling(home, large) as process:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, said
    assert b"Traceback" not in said
    assert inside(home / "temp") == []
    assert not (home / "out").exists()
