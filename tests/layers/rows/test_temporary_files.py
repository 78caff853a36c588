# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.rows import temporary_files as scratch
from assay.rows.temporary_files import Scratch, part_of, sweep

MARK = "0123456789abcdef"


@pytest.fixture(scope="module")
def dead():
    """The number of a process that is over."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def folder(home, process, token=MARK, *, locked=True):
    made = home / f"assay-{process}-{token}"
    (made / "spill").mkdir(parents=True)
    (made / "spill" / "data").write_text("x")
    if locked:
        (made / "lock").touch()
    return made


def test_a_folder_is_there_until_it_is_removed_or_forgotten(tmp_path):
    one, other = Scratch(tmp_path), Scratch(tmp_path)
    assert Path(one.path).stat().st_mode & 0o777 == 0o700
    one.remove()
    one.remove()
    assert [entry.name for entry in tmp_path.iterdir()] == [Path(other.path).name]
    del other
    assert not list(tmp_path.iterdir())


def test_what_a_dead_process_left_is_removed(tmp_path, dead):
    folder(tmp_path, dead)
    folder(tmp_path, dead, "f" * 16, locked=False)
    (tmp_path / f".record.json.{dead}-01234567.part").write_text("{")
    sweep(tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_is_not_surely_ours_and_dead_is_left(tmp_path, dead):
    living = folder(tmp_path, os.getpid())
    held = folder(tmp_path, dead)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "lock").touch()
    (tmp_path / f"assay-{dead}-{'e' * 16}").symlink_to(elsewhere)
    names = [f"assay-{dead}-short", f"assay-x-{MARK}", f"other-{dead}-{MARK}", f"assay-{dead}-{MARK}x"]
    for name in names:
        (tmp_path / name).mkdir()
    (tmp_path / f"assay-{dead}-{'d' * 16}").write_text("a file")
    (tmp_path / f".record.json.{dead}-0123.part").write_text("another name")
    (tmp_path / f".record.json.{os.getpid()}-01234567.part").write_text("being written")
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    with (held / "lock").open() as lock:  # as seen from a container that does not see the process
        fcntl.flock(lock, fcntl.LOCK_EX)
        sweep(tmp_path)
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before
    assert living.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_belongs_to_somebody_else_is_left(tmp_path, dead):
    others = folder(tmp_path, dead)
    os.chown(others, 65534, 65534)
    sweep(tmp_path)
    assert others.exists()


def test_a_folder_that_cannot_be_looked_at_is_no_error(tmp_path):
    sweep(tmp_path / "none")


def test_a_forked_child_leaves_its_parents_folder(tmp_path):
    one = Scratch(tmp_path)
    child = os.fork()
    if child == 0:
        one.remove()
        os._exit(0)
    os.waitpid(child, 0)
    assert Path(one.path).exists()


def test_a_folder_is_swept_once_a_process(tmp_path, monkeypatch):
    swept = []
    monkeypatch.setattr(scratch, "sweep", swept.append)
    for _ in range(2):
        Scratch(tmp_path)
    assert swept == [str(tmp_path)]


def test_a_part_is_named_after_its_goal_and_its_process(tmp_path):
    name = part_of(tmp_path / "a.json").name
    assert name.startswith(f".a.json.{os.getpid()}-")
    assert name.endswith(".part")
