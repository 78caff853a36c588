# SPDX-License-Identifier: Apache-2.0
"""What a machine that fails, a hostile name or an address with a password makes of the command line."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import assay
from assay.app.cli import LEAST_SPACE, unforeseen
from assay.core.errors import EngineError, PlanError
from assay.core.text import one_line, redacted
from assay.rows.temporary_files import write_together, write_whole
from tests import command

HERE = {**os.environ, "PYTHONPATH": str(Path(assay.__file__).parents[1])}
HOSTILE = "o\n::error title=x::y\x1b]0;owned\x07"


@pytest.fixture
def table(tmp_path):
    (tmp_path / "ok.csv").write_text("y,p\na,a\nb,a\na,a\n", encoding="utf-8")
    return tmp_path


GIVEN = ("--truth", "y", "--predicted", "p", "--positive", "a")


def test_names_of_files_and_folders_cannot_act_on_a_terminal_or_a_log(table):
    shutil.copy(table / "ok.csv", table / f"{HOSTILE}.csv")
    done = command.assay("run", f"{HOSTILE}.csv", *GIVEN, "-o", HOSTILE, cwd=table)
    assert done.returncode == 0, done.stderr
    for said in (done.stdout, done.stderr):
        assert "\x1b" not in said
        assert "\x07" not in said
        assert not [line for line in said.splitlines() if line.startswith("::")]
    assert "next     assay report 'o\\n::error" in done.stderr


def test_no_command_prints_a_name_but_as_one_line():
    """A message made of names is said by say_line, which escapes what acts; blocks are made by renderers."""
    app = Path(assay.__file__).parent / "app"
    found = [(path.name, line) for path in app.rglob("*.py") for line in path.read_text(encoding="utf-8").splitlines()]
    assert not [one for one in found if re.search(r"\b(say|tell)\(r?f[\"']|click\.echo\(f.*err=True", one[1])]


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://ann:secret@host/x.csv", "https://ann:***@host/x.csv"),
        ("s3://key:secret@bucket/x.csv", "s3://key:***@bucket/x.csv"),
        ("mysql://u:se@cret@h/db", "mysql://u:***@h/db"),
        ("gs://bucket/x.csv?X-Goog-Signature=secret", "gs://bucket/x.csv?X-Goog-Signature=***"),
    ],
)
def test_an_address_is_not_read_and_its_password_is_not_told(table, address, shown):
    done = command.assay("run", address, *GIVEN, cwd=table)
    assert done.returncode == 2
    assert shown in done.stderr
    assert "secret" not in done.stderr
    assert "are not read" in done.stderr


def test_every_error_of_ours_is_redacted_and_plain_words_are_left_alone():
    error = PlanError("no-file", "cannot read http://a:b@c", where="http://a:b@c", found="token=x", fix="password=abc")
    assert "http://a:***@c" in str(error)
    assert "a:b@" not in str(error)
    assert "abc" not in str(error)
    for text in ("design = 3, key = 4", "a@b.c", "postgresql://ann@host/db", "share=0.5"):
        assert redacted(text) == text
    assert one_line("\x1b[1mbold\x1b[0m\n") == "\x1b[1mbold\x1b[0m\\n"


def full(monkeypatch, after):
    """A disk that is full after some files."""
    left, own = [after], os.fsync

    def fsync(number):
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        left[0] -= 1
        own(number)

    monkeypatch.setattr(os, "fsync", fsync)


def test_files_that_belong_together_appear_together_or_not_at_all(tmp_path, monkeypatch):
    full(monkeypatch, after=1)
    with pytest.raises(EngineError, match="the disk is full") as error:
        write_together({tmp_path / "record.json": b"1", tmp_path / "report.html": b"2"})
    assert (error.value.code, error.value.exit_code) == ("disk-full", 5)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    (tmp_path / "report.html").mkdir()  # it cannot be replaced by a file
    with pytest.raises(PlanError, match="cannot write"):
        write_together({tmp_path / "record.json": b"1", tmp_path / "report.html": b"2"})
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_a_whole_file_is_written_or_none(tmp_path, monkeypatch):
    full(monkeypatch, after=0)
    with pytest.raises(EngineError):
        write_whole(tmp_path / "a", b"1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_output_on_a_full_disk_ends_with_one_sentence(table):
    program = [sys.executable, "-m", "assay"]
    with Path("/dev/full").open("wb") as out:
        done = subprocess.run(
            [*program, "run", "ok.csv", *GIVEN, "--json", "-q"],
            cwd=table,
            stdout=out,
            stderr=subprocess.PIPE,
            check=False,
            env=HERE,
        )
    assert done.returncode == 5
    assert done.stderr.decode().startswith("error[E-DISK-FULL]: the disk is full")
    assert "Traceback" not in done.stderr.decode()


@pytest.mark.skipif(
    sys.platform != "linux" or not Path("/bin/bash").exists(), reason="address space is limited elsewhere"
)
def test_too_little_memory_is_an_error(table):
    limit = f"ulimit -v {LEAST_SPACE // 2048} && exec {sys.executable} -m assay"
    line = f"{limit} run ok.csv {' '.join(GIVEN)}"
    done = subprocess.run(["/bin/bash", "-c", line], cwd=table, capture_output=True, check=False, env=HERE)
    assert done.returncode == 5, done.stderr
    assert b"E-MEMORY-SHORT" in done.stderr


def test_what_went_wrong_with_the_machine_is_told_apart_from_our_own_faults():
    assert unforeseen(MemoryError()).code == "memory-short"
    assert unforeseen(RuntimeError("can't start new thread")).code == "memory-short"
    assert unforeseen(ValueError("x")).code == "internal"
