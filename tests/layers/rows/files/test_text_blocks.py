# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gzip
import hashlib
import random
import subprocess
import sys
from pathlib import Path

import pytest

from assay.core.errors import PlanError, RowsError
from assay.rows.files import text_blocks as textfiles
from assay.rows.files.file_set import open_files
from assay.rows.files.formats import Reading
from tests.layers.rows.filing import refusal, rows_of, zstd


@pytest.mark.parametrize(
    ("name", "pack"), [("f.csv.gz", gzip.compress), ("f.csv.zst", zstd), ("f.CSV.GZ", gzip.compress)]
)
def test_compressed_text_is_read_and_hashed_as_stored(write, name, pack):
    content = pack(b"\xef\xbb\xbfid,y\n" + b'1,"a\nb"\n' * 400_000)
    opened = open_files(write(content, name))
    assert opened.rows == 400_000
    assert opened.sha256 == hashlib.sha256(content).hexdigest()
    assert opened.bytes == len(content)
    assert opened.fetch("SELECT count(*) FROM rows WHERE y = 'a\nb'") == [(400_000,)]


def test_a_gzip_file_of_several_members_is_one_file(write):
    path = write(gzip.compress(b"id,y\n1,2\n") + gzip.compress(b"3,4\n"), "f.csv.gz")
    assert rows_of(path) == [("1", "2"), ("3", "4")]


@pytest.mark.parametrize(("name", "pack"), [("f.csv.gz", gzip.compress), ("f.csv.zst", zstd)])
def test_a_cut_compressed_file_is_truncated(write, name, pack):
    content = pack(b"id,y\n" + bytes(random.Random(1).choices(b"123456789", k=200_000)) + b",2\n")
    for cut in (len(content) // 2, len(content) - 1, len(content) - 8):
        refusal(write(content[:cut], name), "file-truncated")


@pytest.mark.parametrize(("name", "pack"), [("f.csv.gz", gzip.compress), ("f.csv.zst", zstd)])
def test_a_damaged_compressed_file_is_unreadable(write, name, pack):
    content = bytearray(pack(b"id,y\n" + b"1,2\n" * 1000))
    refusal(write(bytes(content) + b"garbage", name), "file-unreadable")
    content[len(content) // 2] ^= 0xFF
    with pytest.raises(RowsError):
        open_files(write(bytes(content), name))


def test_zstd_without_pyarrow_says_what_to_install(write, monkeypatch):
    monkeypatch.setattr(textfiles, "optional", lambda _: None)
    path = write(zstd(b"id,y\n1,2\n"), "f.csv.zst")
    with pytest.raises(PlanError) as caught:
        open_files(path)
    assert caught.value.code == "missing-extra"
    assert "pip install" in caught.value.fix


# The peak is VmHWM: ru_maxrss outlives exec, so a child would report the memory of the test run that started it.
REFUSED = """
import sys
from assay.rows.files.file_set import open_files
try:
    open_files(sys.argv[1])
except Exception as error:
    peak = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
    print(error.code, *peak)
"""


def test_i24_a_gzip_bomb_is_refused_before_it_is_expanded(write):
    path = write(gzip.compress(b"y\n") + gzip.compress(b"0\n" * 25_000_000, 6) * 10, "bomb.csv.gz")
    assert path.stat().st_size < 500_000
    assert "max_ratio" in refusal(path, "expands-past-limit").fix
    if not Path("/proc/self/status").exists():
        pytest.skip("the peak memory of a process is read from /proc")
    told = subprocess.run([sys.executable, "-c", REFUSED, str(path)], capture_output=True, text=True, check=True).stdout
    code, kibibytes = told.split()
    assert code == "expands-past-limit"
    assert int(kibibytes) < 512 * 1024


def test_the_byte_cap_holds_for_compressed_text(write):
    path = write(gzip.compress(b"y\n" + b"0\n" * 1000), "f.csv.gz")
    refusal(path, "expands-past-limit", max_bytes=1000)
    assert len(rows_of(path, max_bytes=3000)) == 1000


def test_a_small_file_may_be_compressed_as_well_as_it_goes(write):
    path = write(gzip.compress(b"y\n" + b"0\n" * 1_000_000), "f.csv.gz")
    assert open_files(path, Reading(max_ratio=1)).rows == 1_000_000
