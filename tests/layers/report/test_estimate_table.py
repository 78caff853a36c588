# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import io
import json

import duckdb
import pytest

from assay.assess.record.report_formats import BINARY, RENDERERS
from assay.report import estimate_table as tables
from tests.layers.report import examples

MADE = [examples.screening, examples.nasty, examples.infinite, examples.weighted, examples.lonely]


def back(path):
    with duckdb.connect() as connection:
        found = connection.read_parquet(str(path))
        return [name for name, *_ in found.description], found.fetchall(), found.types


@pytest.mark.parametrize("made", MADE)
def test_parquet_holds_every_estimate_as_the_record_has_it(made, tmp_path):
    record = made().record
    path = made().report(tmp_path / "x.parquet")
    names, rows, _ = back(path)
    assert tuple(names) == tables.COLUMNS
    assert len(rows) == len(record["estimates"])
    for row, one in zip(rows, record["estimates"], strict=True):
        found = dict(zip(names, row, strict=True))
        assert found["measure"] == one["measure"]
        assert found["class"] == (None if one["class"] is None else str(one["class"]))
        assert found["slice"] is None or json.loads(found["slice"]) == one["slice"]
        for name in ("value", "low", "high"):
            given = one.get(name)
            assert found[name] == (float(given) if given is not None else None)
        assert found["undefined"] == one.get("undefined")
    assert path.read_bytes() == BINARY[".parquet"](record)


def test_counts_are_whole_numbers_unless_rows_are_weighted(tmp_path):
    kinds = {}
    for made in (examples.screening, examples.weighted):
        names, _, types = back(made().report(tmp_path / f"{made.__name__}.parquet"))
        kinds[made] = dict(zip(names, map(str, types), strict=True))["n"]
    assert kinds[examples.screening] == "BIGINT"


@pytest.mark.parametrize("made", MADE)
def test_csv_reads_back_to_the_same_numbers(made):
    record = made().record
    rows = list(csv.DictReader(io.StringIO(RENDERERS[".csv"](record))))
    assert len(rows) == len(record["estimates"])
    for row, one in zip(rows, record["estimates"], strict=True):
        for name in ("value", "low", "high", "level"):
            given = one.get(name)
            assert row[name] == ("" if given is None else repr(float(given)))
        if one.get("class") is not None:
            assert row["class"].removeprefix("'") == str(one["class"]).removeprefix("'")


def test_a_spreadsheet_finds_no_formula():
    record = examples.nasty().record
    content = {**record, "estimates": [{**one, "class": "=1+1"} for one in record["estimates"][:3]]}
    text = RENDERERS[".csv"](type(record)(content))
    for row in csv.reader(io.StringIO(text)):
        for name, cell in zip(tables.COLUMNS, row, strict=True):
            assert name in (*tables.REALS, *tables.COUNTS, *tables.WHOLES) or not cell.startswith(tables.FORMULA)
    assert "'=1+1" in text
