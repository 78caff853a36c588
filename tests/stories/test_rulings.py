# SPDX-License-Identifier: Apache-2.0
"""Every nasty input meets its ruling, in Python and on the command line."""

from __future__ import annotations

import io
import tomllib
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import assay
from tests import flat
from tests.command import assay as run

RULINGS = tomllib.loads(Path(__file__).with_name("rulings.toml").read_text(encoding="utf-8"))["ruling"]
OF_FILES = [ruling for ruling in RULINGS if "file" in ruling or "files" in ruling]


def parquet(columns):
    held = io.BytesIO()
    pq.write_table(pa.table(columns), held)
    return held.getvalue()


NAMES = {"Decimal": Decimal, "np": np, "pd": pd, "nan": float("nan"), "parquet": parquet}


def written(ruling, folder):
    """The path a ruling is about: its file, or the folder its files are in."""
    for spec in ruling.get("files", [ruling.get("file")]):
        path = folder / "data" / spec["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(eval(spec["bytes"], NAMES) if "bytes" in spec else spec["text"].encode())  # noqa: S307  our own file
    if "truth_file" in ruling:
        return folder / "data" / ruling["files"][0]["name"]
    return folder / "data" if "files" in ruling else path


def assessed(ruling, folder):
    if ruling not in OF_FILES:
        return flat.assess(**eval(ruling["data"], NAMES))  # noqa: S307  our own file
    given = dict(ruling.get("given", {}))
    reading = assay.Reading(**{name: given.pop(name) for name in ("sha256", "max_rows", "show_ids") if name in given})
    truth, predicted = ruling.get("columns", ["y", "p"])
    if "truth_file" in ruling:
        given["truth_data"] = folder / "data" / ruling["truth_file"]
    return flat.assess(data=written(ruling, folder), truth=truth, predicted=predicted, reading=reading, **given)


@pytest.mark.parametrize("ruling", RULINGS, ids=lambda ruling: ruling["id"])
def test_a_nasty_input_meets_its_ruling(ruling, tmp_path):  # noqa: C901  one branch for each word of a ruling
    if "error" in ruling:
        with pytest.raises(assay.AssayError) as caught:
            assessed(ruling, tmp_path)
        assert caught.value.code == ruling["error"], caught.value
        assert str(caught.value).startswith(f"error[E-{ruling['error'].upper()}]: ")
        assert caught.value.fix
        assert ruling.get("message", "") in str(caught.value)
        return
    found = assessed(ruling, tmp_path)
    for measure, piece in ruling.get("undefined", {}).items():
        assert found[measure].value is None
        assert piece in found[measure].reason
    for measure, value in ruling.get("value", {}).items():
        assert found[measure].value == pytest.approx(value, rel=1e-15)
    for measure, (top, bottom) in ruling.get("exact", {}).items():
        assert found[measure].value == top / bottom
    for fact, said in ruling.get("scores", {}).items():
        assert found.record["scores"][fact] == said
    for measure, piece in ruling.get("no_interval", {}).items():
        assert found[measure].interval is None
        assert piece in found[measure].no_interval
    for measure, ends in ruling.get("interval", {}).items():
        assert [found[measure].low, found[measure].high] == pytest.approx(ends, rel=1e-5)
    for measure, piece in ruling.get("estimate_note", {}).items():
        assert piece in found[measure].result.note
    for label, measures in ruling.get("by_class", {}).items():
        for measure, value in measures.items():
            assert found.by_class[label][measure].value == pytest.approx(value)
    if "rows" in ruling:
        read, scored, excluded = ruling["rows"]
        assert (found.census.read, found.census.scored, sum(found.census.excluded.values())) == (read, scored, excluded)
    if "labels" in ruling:
        assert list(found.labels) == ruling["labels"]
    assert ruling.get("note", "") in " ".join(found.notes)
    assert "NaN" not in found.record.to_text()


@pytest.mark.parametrize("ruling", [r for r in OF_FILES if "error" in r][::4], ids=lambda ruling: ruling["id"])
def test_the_command_line_refuses_with_its_exit_code_and_writes_nothing(ruling, tmp_path):
    path, out = written(ruling, tmp_path), tmp_path / "out"
    truth, predicted = ruling.get("columns", ["y", "p"])
    given = {f"--{name.replace('_', '-')}": value for name, value in ruling.get("given", {}).items()}
    options = [f"--label={label}" for label in given.pop("--labels", ())]
    options += [name if value is True else f"{name}={value}" for name, value in given.items()]
    options += [f"--truth-file={tmp_path / 'data' / ruling['truth_file']}"] if "truth_file" in ruling else []
    done = run("run", path, "--truth", truth, "--predicted", predicted, "--out", out, *options)
    assert done.returncode in (2, 4)
    assert done.stderr.startswith(f"error[E-{ruling['error'].upper()}]: ")
    assert done.stdout == ""
    assert not out.exists()
