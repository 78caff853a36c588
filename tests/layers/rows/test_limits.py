# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import assay
from assay.core.errors import PlanError
from assay.rows.engines.duckdb_engine import connect
from assay.rows.limits import Limits, bytes_of
from tests.layers.rows.filing import parquet


@pytest.mark.parametrize(
    ("size", "expected"),
    [("1GB", 10**9), ("512MiB", 2**29), ("1.5 GiB", 3 * 2**29), ("800mb", 8 * 10**8), ("70000000B", 70_000_000)],
)
def test_a_size_is_read_as_people_write_it(size, expected):
    assert bytes_of(size) == expected
    assert Limits(memory=size).bytes == expected


@pytest.mark.parametrize(
    "memory", ["", "1", "GB", "-1GB", "80%", "1 2GB", "1GB; SET x", "nanGB", "1e9B", "2KB", "63MiB"]
)
def test_a_memory_that_cannot_be_kept_is_refused_with_the_fix(memory):
    with pytest.raises(PlanError) as caught:
        Limits(memory=memory)
    assert caught.value.code == "option-unknown"
    assert caught.value.known
    assert caught.value.fix


@pytest.mark.parametrize("threads", [0, -1, True])
def test_there_is_at_least_one_thread(threads):
    with pytest.raises(PlanError, match="threads cannot be"):
        Limits(threads=threads)


def test_a_temporary_folder_must_be_there(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "none", tmp_path / "file"):
        with pytest.raises(PlanError) as caught:
            Limits(temp=path)
        assert caught.value.code == "no-file"
        assert path.name in caught.value.where


def test_the_engine_keeps_its_limits_and_spills_where_it_is_told(tmp_path):
    connection = connect([], Limits(memory="150MB", threads=1, temp=tmp_path))
    assert connection.execute("SELECT current_setting('threads')").fetchone() == (1,)
    assert connection.execute("SELECT current_setting('memory_limit')").fetchone() == ("143.0 MiB",)
    assert str(tmp_path) in connection.execute("SELECT current_setting('temp_directory')").fetchone()[0]
    connection.execute("SELECT count(*) FROM (SELECT i FROM range(10_000_000) t(i) GROUP BY i)").fetchall()
    connection.close()
    del connection
    assert not list(tmp_path.iterdir())


def test_the_engine_reads_every_file_it_is_given_and_no_other(tmp_path):
    paths = [str(parquet(tmp_path / f"{name}.parquet", pa.table({"y": [1]}))) for name in ("a", "it's", "c")]
    connection = connect(paths[:2])
    quoted = ", ".join("'" + path.replace("'", "''") + "'" for path in paths[:2])
    assert connection.sql(f"SELECT count(*) FROM read_parquet([{quoted}])").fetchall() == [(2,)]  # noqa: S608
    with pytest.raises(duckdb.PermissionException):
        connection.sql(f"FROM '{paths[2]}'").fetchall()


def test_an_assessment_within_limits_is_the_same_and_says_so(tmp_path):
    rng = np.random.default_rng(1)
    columns = {name: rng.integers(0, 3, 20_000) for name in ("y", "p")}
    path = parquet(tmp_path / "f.parquet", pa.table(columns))
    free = assay.assess(data=path, truth="y", predicted="p")
    bound = assay.assess(data=path, truth="y", predicted="p", limits=Limits(memory="100MB", threads=1))
    assert bound.confusion == free.confusion
    assert bound.record["environment"]["limits"] == {"memory": "100MB", "threads": 1}
    assert "limits" not in free.record["environment"]
    assert bound.record["plan"]["digest"] == free.record["plan"]["digest"]


def test_limits_need_a_path_that_the_embedded_engine_reads(tmp_path):
    with pytest.raises(PlanError) as caught:
        assay.assess(truth=[1, 0], predicted=[1, 0], limits=Limits(threads=1))
    assert caught.value.code == "role-clash"
    path = parquet(tmp_path / "f.parquet", pa.table({"y": [1], "p": [1]}))
    with pytest.raises(PlanError) as caught:
        assay.assess(data=path, truth="y", predicted="p", engine="sc://127.0.0.1:1", limits=Limits(threads=1))
    assert caught.value.code == "role-clash"
