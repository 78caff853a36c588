# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.core.errors import AssayError, RowsError
from assay.rows.files.file_set import open_files
from assay.rows.files.formats import Reading


def refusal(path, code, kind=RowsError, **reading):
    """The error a file is refused with: of its type and code, and telling where and what to change."""
    with pytest.raises(AssayError) as caught:
        open_files(path, Reading(**reading))
    error = caught.value
    assert error.code == code
    assert type(error) is kind
    assert Path(path).name in error.where
    assert error.fix
    assert error.found or error.known
    return error


def rows_of(path, **reading):
    """Every row of a file, counted against what the scan said."""
    opened = open_files(path, Reading(**reading))
    rows = opened.fetch("SELECT * FROM rows")
    opened.confirm(len(rows))
    return rows


def column(opened, expression):
    """One SQL expression over all rows."""
    return [row[0] for row in opened.fetch(f"SELECT {expression} FROM rows")]  # noqa: S608  the tests' own


def zstd(content):
    """Content as a Zstandard frame."""
    return pa.Codec("zstd").compress(content, asbytes=True)


def parquet(path, table, **options):
    """Write a Parquet file and return its path."""
    pq.write_table(table, path, **options)
    return path
