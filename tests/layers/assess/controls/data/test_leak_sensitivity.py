# SPDX-License-Identifier: Apache-2.0
"""What results would be without the test rows that leaked."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest
from sklearn.metrics import f1_score

from assay.assess.assess import assess
from tests.layers.assess.controls.looking import asked, look, opened
from tests.layers.assess.examples import example, folder


def faults(name, part=None):
    checked = example("faulty")[0].checked
    return next(one.outcome for one in checked if one.control.id == name and one.outcome.part == (part or ""))


def rows(name):
    example("faulty")
    with (Path(folder().name) / "faulty" / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("found", "key", "count"),
    [(lambda: faults("CHK-OVERLAP", "test/train"), "id", 3), (lambda: faults("CHK-GROUP"), "patient", 4)],
)
def test_the_measures_without_leaked_rows_are_those_of_a_peer_on_the_rows_left(found, key, count):
    outcome = found()
    trained = {row[key] for row in rows("train")}
    left = [row for row in rows("test") if row[key] not in trained]
    assert len(left) == len(rows("test")) - count
    for model, column in (("A", "model_a"), ("B", "model_b")):
        told = next(one for name, one in outcome.facts["without"].items() if name.startswith(model))
        peer = f1_score([row["truth"] for row in left], [row[column] for row in left], average="macro")
        assert told["rows"] == len(left)
        assert told["measures"]["f1_macro"]["without"] == pytest.approx(peer, abs=1e-12)
        whole = f1_score([r["truth"] for r in rows("test")], [r[column] for r in rows("test")], average="macro")
        assert told["measures"]["f1_macro"]["all"] == pytest.approx(whole, abs=1e-12)
    assert "; without them f1_macro of A" in outcome.says


def leaky(tmp_path, columns=None, **models):
    """Twenty test rows, ten of them in training by content, and nearly so in five more."""
    rng = random.Random(1)
    test = [(f"t{i}", f"Case {i}", "ab"[i % 2], rng.choice("ab"), 1 + i % 2) for i in range(20)]
    train = [*((f"r{i}", test[i][1]) for i in range(10)), *((f"r{i}", test[i][1].upper()) for i in range(10, 15))]
    held = {
        "train": opened(tmp_path, "id,x\n" + "".join(f"{a},{b}\n" for a, b in train), "train.csv"),
        "test": opened(tmp_path, "id,x,y,p,w\n" + "".join(",".join(map(str, row)) + "\n" for row in test), "test.csv"),
    }
    seen = assess(data=str(tmp_path / "test.csv"), truth="y", predicted="p", positive="a")
    plan = {
        "data": {"train": {}, "test": {}},
        "columns": {"id": "id", "truth": "y", "features": ["x"], **(columns or {})},
        "models": models or {"A": {"predicted": "p"}},
    }
    found = look("CHK-OVERLAP", asked(plan, splits=held, assessments={("A", "test"): seen}), "test/train")
    return found, [row for row in test[15:] if row]


def test_rows_alike_but_for_case_are_left_out_too(tmp_path):
    found, left = leaky(tmp_path)
    told = found.facts["without"]["A"]
    assert found.verdict == "fail"
    assert told["rows"] == len(left)
    assert told["measures"]["accuracy"]["without"] == sum(row[2] == row[3] for row in left) / len(left)


def test_where_rows_cannot_be_left_out_it_says_why(tmp_path):
    weighted, _ = leaky(tmp_path, {"weight": "w"})
    assert "rows are weighted" in weighted.facts["without"]["A"]
    elsewhere, _ = leaky(tmp_path, A={"predicted": "p", "predictions": "a.csv"})
    assert "do not stand beside the truth" in elsewhere.facts["without"]["A"]
    assert "without them" not in elsewhere.says
