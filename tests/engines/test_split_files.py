# SPDX-License-Identifier: Apache-2.0
"""A table cut into files at random gives the tally of the whole, or the same error."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from tests import flat

WRITERS = {
    "csv": lambda frame, path: frame.write_csv(path, quote_style="always"),
    "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "parquet": lambda frame, path: frame.write_parquet(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
    "arrow": lambda frame, path: frame.write_ipc(path, compression="uncompressed"),
}
LABELS = st.sampled_from(["a", "b", "ć", "d e", "NA", "0", 'q"'])
ROWS = st.lists(st.tuples(LABELS, LABELS, st.sampled_from(["x", "y,z"])), min_size=1, max_size=30)


def outcome(**given_):
    try:
        found = flat.assess(truth="y", predicted="p", group="g", unknown="own", **given_)
    except assay.AssayError as error:
        return error.code
    return found.confusion.digest(), {k: v.digest() for k, v in found.grouped.factors["g"].items()}, found.census


@pytest.mark.parametrize("ending", WRITERS)
def test_a_table_cut_into_files_at_random_gives_the_tally_of_the_arrays(ending):
    @settings(max_examples=12)
    @given(ROWS, st.data())
    def holds(rows, data):
        columns = dict(zip("ypg", zip(*rows, strict=True), strict=True))
        expected = outcome(data={name: list(values) for name, values in columns.items()})
        home = data.draw(st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows)))
        folder = Path(tempfile.mkdtemp())
        try:
            for part in set(home):
                order = data.draw(st.permutations("ypg"))
                kept = [row for row, where in zip(rows, home, strict=True) if where == part]
                frame = pl.DataFrame(kept, schema=list("ypg"), orient="row").select(order)
                WRITERS[ending](frame, folder / f"{part}.{ending}")
            paths = data.draw(st.permutations(sorted(folder.iterdir())))
            assert outcome(data=data.draw(st.sampled_from([folder, f"{folder}/*.{ending}", paths]))) == expected
        finally:
            shutil.rmtree(folder)

    holds()


def test_a_table_cut_by_a_column_into_folders_has_that_column_back(tmp_path):
    frame = pl.DataFrame({"y": ["a", "b", "a", "b"], "p": ["a", "a", "b", "b"], "g": ["01", "1", "01", "ü /"]})
    expected = outcome(data=frame)
    pq.write_to_dataset(frame.to_arrow(), tmp_path, partition_cols=["g"])
    assert outcome(data=tmp_path) == expected


def test_the_record_lists_every_file_with_its_digest_in_one_order(tmp_path):
    for name, text in {"b": "y,p\n1,1\n", "a": "y,p\n0,1\n"}.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    paths = [tmp_path / "b.csv", tmp_path / "a.csv"]
    found = [assay.assess(data=data, truth="y", predicted="p", positive="1") for data in (paths, paths[::-1], tmp_path)]
    records = [json.loads(one.record.to_text()) | {"environment": {}} for one in found]
    for record in records:
        del record["digests"]["record"]  # it covers the time too
    assert records[0] == records[1] == records[2]
    assert list(records[0]["digests"]["files"]) == ["a.csv", "b.csv"]
    assert records[0]["plan"]["data"]["from"] == "2 files"
    assert str(tmp_path) not in found[0].record.to_text()


def test_an_error_names_the_row_and_the_file(tmp_path):
    (tmp_path / "a.csv").write_text("y,p\n1,1\n0,1\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("y,p\n0,1\n1,\n1,2\n", encoding="utf-8")
    with pytest.raises(assay.RowsError) as caught:
        assay.assess(data=tmp_path, truth="y", predicted="p", positive="1")
    assert caught.value.found == "1 row without predicted in row 2 of b.csv"
    with pytest.raises(assay.UnknownLabel) as caught:
        assay.assess(data=tmp_path, truth="y", predicted="p", positive="1", missing="drop")
    assert "in row 3 of b.csv" in caught.value.found
