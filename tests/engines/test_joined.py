# SPDX-License-Identifier: Apache-2.0
"""Truth and predictions apart, in any order and any number of files, give the tally of the arrays side by side."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from tests import flat

LABELS = st.sampled_from(["a", "b", "ć", "NA", "0"])
WRITERS = {
    "csv": lambda frame, path: frame.write_csv(path),
    "parquet": lambda frame, path: frame.write_parquet(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
}
HELD = (lambda frame: frame, pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow)
IDS = {"text": st.sampled_from(["1", "01", "a", "A", "a ", "ä", "é", "x,y", 'q"']), "numbers": st.integers(-5, 2**62)}


def outcome(**arguments):
    try:
        found = flat.assess(truth="y", predicted="p", group="g", unknown="own", **arguments)
    except assay.AssayError as error:
        return error.code
    return found.confusion.digest(), {k: v.digest() for k, v in found.grouped.factors["g"].items()}, found.census


@st.composite
def tables(draw, ids):
    """Rows with ids of their own, and how many of each side were taken away."""
    names = draw(st.lists(ids, min_size=1, max_size=12, unique=True))
    rows = [(name, draw(LABELS), draw(LABELS), draw(st.sampled_from(["x", "y"]))) for name in names]
    lone = [draw(st.sampled_from(["both", "both", "both", "truth", "predictions"])) for _ in rows]
    return rows, lone


@pytest.mark.parametrize(
    ("ids", "ending"),
    [(ids, ending) for ids in IDS for ending in WRITERS if (ids, ending) != ("numbers", "csv")],  # there they are text
)
def test_rows_apart_give_the_tally_of_the_rows_together(ids, ending):
    @settings(max_examples=12)
    @given(tables(IDS[ids]), st.data())
    def holds(table, data):
        rows, lone = table
        met = [row for row, where in zip(rows, lone, strict=True) if where == "both"]
        alone = len(rows) - len(met)
        together = outcome(data=dict(zip("iypg", map(list, zip(*met, strict=True)), strict=True))) if met else None
        folder = Path(tempfile.mkdtemp())
        try:
            frames = {}
            for side, columns in (("truth", "iyg"), ("predictions", "pi")):
                kept = [row for row, where in zip(rows, lone, strict=True) if where in ("both", side)]
                kept = data.draw(st.permutations(kept)) or rows[:1]
                frames[side] = pl.DataFrame(kept, schema=list("iypg"), orient="row").select(list(columns))
                (folder / side).mkdir()
                cut = data.draw(st.integers(0, len(kept) - 1))
                for number, part in enumerate((frames[side][:cut], frames[side][cut:])):
                    if len(part):
                        WRITERS[ending](part, folder / side / f"{number}.{ending}")
            if not met:
                return
            apart = {"data": folder / "predictions", "truth_data": folder / "truth", "id": "i"}
            held = data.draw(st.sampled_from(HELD))
            in_memory = {"data": held(frames["predictions"]), "truth_data": held(frames["truth"]), "id": "i"}
            # What is in memory is the same whatever the files are written in.
            for arguments in [apart] if ending != "parquet" else [apart, in_memory]:
                expected = together
                if isinstance(together, tuple):
                    census = together[2]
                    counted = type(census)(read=census.read + alone, scored=census.scored, unmatched=alone)
                    expected = (*together[:2], counted)
                assert outcome(**arguments, unmatched="count") == expected
                assert outcome(**arguments) == ("rows-unmatched" if alone else together)
        finally:
            shutil.rmtree(folder)

    holds()


@settings(max_examples=25)
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=10),
    st.lists(st.integers(0, 6), min_size=1, max_size=10),
    st.sampled_from(["files", pd.DataFrame, pa.table]),
)
def test_duplicates_and_strangers_are_never_dropped(ours, theirs, form):
    doubled = len(set(ours)) < len(ours) or len(set(theirs)) < len(theirs)
    expected = "duplicate-id" if doubled else "rows-unmatched" if set(ours) != set(theirs) else None
    columns = {"i": ours, "p": ["a"] * len(ours)}, {"i": theirs, "y": ["a"] * len(theirs), "g": ["x"] * len(theirs)}
    folder = Path(tempfile.mkdtemp())
    try:
        if form == "files":
            data, truth_data = folder / "p.csv", folder / "t.csv"
            for path, table in zip((data, truth_data), columns, strict=True):
                pl.DataFrame(table).write_csv(path)
        else:
            data, truth_data = map(form, columns)
        found = outcome(data=data, truth_data=truth_data, id="i", labels=["a", "b"], positive="a")
        assert (found if isinstance(found, str) else None) == expected
    finally:
        shutil.rmtree(folder)


LAZY = {
    "dask.dataframe": lambda lib, frame: lib.from_pandas(frame, npartitions=2),
    "ibis": lambda lib, frame: lib.memtable(pa.Table.from_pandas(frame)),
}


@pytest.fixture(scope="module")
def scored():
    """Scores and truth of the same rows, each in an order of its own, and the assessment of the rows side by side."""
    rng = np.random.default_rng(4)
    truth = rng.choice(["no", "yes"], 300)
    score = np.round(np.where(truth == "yes", 0.6, 0.4) + rng.normal(0, 0.2, 300), 3).clip(0, 1)
    called = np.where(score >= 0.5, "yes", "no")
    ids = [f"c{place}" for place in range(300)]
    whole = assay.assess(
        truth=truth, score=score, scores=assay.ScoreSettings(kind="probability"), threshold=0.5, positive="yes"
    )
    ours = pd.DataFrame({"i": ids, "s": score, "p": called}).sample(frac=1, random_state=1).reset_index(drop=True)
    theirs = pd.DataFrame({"i": ids, "y": truth}).sample(frac=1, random_state=2).reset_index(drop=True)
    return ours, theirs, whole


@pytest.mark.parametrize("make", ["files", "pandas", "polars", "lazy", "pyarrow"])
def test_scores_meet_their_truth_by_id(scored, make, tmp_path):
    def made(frame, name):
        if make == "files":
            frame.to_csv(tmp_path / name, index=False)
            return tmp_path / name
        return {
            "pandas": lambda: frame,
            "polars": lambda: pl.from_pandas(frame),
            "lazy": lambda: pl.from_pandas(frame).lazy(),
            "pyarrow": lambda: pa.Table.from_pandas(frame),
        }[make]()

    ours, theirs, whole = scored
    found = assay.assess(
        data=made(ours, "p.csv"),
        reading=assay.Reading(truth_data=made(theirs, "t.csv")),
        id="i",
        truth="y",
        score="s",
        scores=assay.ScoreSettings(kind="probability"),
        threshold=0.5,
        positive="yes",
    )
    assert found.confusion == whole.confusion
    assert found["auroc"].value == whole["auroc"].value
    assert found["brier_score"].value == whole["brier_score"].value


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis on a newer DuckDB
@pytest.mark.parametrize("name", LAZY)
def test_frames_of_other_lazy_libraries_meet_by_id(scored, name):
    library = pytest.importorskip(name)
    ours, theirs, whole = scored
    roles = {"id": "i", "truth": "y", "predicted": "p", "positive": "yes"}
    made = LAZY[name]
    assert flat.assess(data=made(library, ours), truth_data=made(library, theirs), **roles).confusion == whole.confusion
    for data, code in ((pd.concat([ours, ours[:2]], ignore_index=True), "duplicate-id"), (ours[2:], "rows-unmatched")):
        with pytest.raises(assay.RowsError) as caught:
            flat.assess(data=made(library, data), truth_data=made(library, theirs), **roles)
        assert caught.value.code == code
