# SPDX-License-Identifier: Apache-2.0
"""What cannot be compared is refused where a user meets it, and what does not differ is p = 1 with the reason."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import assay
from assay.app.cli import main
from assay.core.values import Undefined
from tests import flat

rng = np.random.default_rng(2)
N = 40
Y = [i % 2 for i in range(N)]
A = [y if i % 5 else 1 - y for i, y in enumerate(Y)]
B = [y if i % 4 else 1 - y for i, y in enumerate(Y)]
S = [round(y + i * 0.37 % 1, 3) for i, y in enumerate(Y)]


def rows(ids, truth, called, score):
    lines = (f"{i},{y},{'' if p is None else p},{s}" for i, y, p, s in zip(ids, truth, called, score, strict=True))
    return "id,y,p,s\n" + "".join(f"{line}\n" for line in lines)


IDS = list(range(N))
FILES = {
    "unpaired rows": ((IDS, Y, A, S), ([*IDS[:-1], 99], Y, B, S), "rows-unmatched", 4),
    "a row too few": ((IDS, Y, A, S), (IDS[1:], Y[1:], B[1:], S[1:]), "rows-unmatched", 4),
    "different truths": ((IDS, Y, A, S), (IDS, [1 - Y[0], *Y[1:]], B, S), "rows-unmatched", 4),
    "duplicated ids": ((IDS, Y, A, S), ([0, *IDS[:-1]], Y, B, S), "duplicate-id", 4),
    "one model missing labels": ((IDS, Y, A, S), (IDS, Y, [None, *B[1:]], S), "missing-label", 4),
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_do_not_belong_together_are_refused_and_nothing_is_written(name, tmp_path, monkeypatch, capsys):
    one, two, code, status = FILES[name]
    (tmp_path / "a.csv").write_text(rows(*one))
    (tmp_path / "b.csv").write_text(rows(*two))
    words = "assay compare a.csv b.csv --truth y --predicted p --score s --id id --positive 1 -o out --json"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", words.split())
    with pytest.raises(SystemExit) as stopped:
        main()
    told = capsys.readouterr()
    assert stopped.value.code == status
    assert told.err.startswith(f"error[E-{code.upper()}]: ")
    assert json.loads(told.out)["error"] == code
    assert not (tmp_path / "out").exists()


def test_the_faults_are_named_in_python_too():
    for one, two, code, _ in FILES.values():
        tables = {
            m: dict(zip(("id", "y", "p", "s"), map(list, part), strict=True)) for m, part in (("a", one), ("b", two))
        }
        with pytest.raises(assay.RowsError) as error:
            assay.compare(data=tables, truth="y", predicted="p", id="id", positive=1)
        assert (error.value.code, bool(error.value.fix)) == (code, True)


def test_identical_models_are_p_one_with_the_reason_in_every_output(tmp_path):
    three = {"truth": [i % 3 for i in range(30)], "predicted": {m: [i % 2 for i in range(30)] for m in "AB"}}
    chances = np.full((30, 3), 1 / 3)
    units = [{"per": "item"}, {"per": "data set"}, {"per": "fold", "folds": 10}, {"per": "5x2"},
             {"per": "repeat", "test_over_train": 0.25}]  # fmt: skip
    forms = [
        {"truth": Y, "predicted": {"A": A, "B": A}, "score": {"A": S, "B": S}, "measures": ["f1", "average_precision"]},
        {"truth": Y, "predicted": {"A": A, "B": A}, "subject": [i // 4 for i in range(N)]},
        {"truth": Y, "predicted": {"A": A, "B": A}, "weight": [1 + i % 2 for i in range(N)]},
        {**three, "score": {"A": chances, "B": chances}},
        {"truth": Y, "predicted": {"A": A, "B": A, "C": A}, "score": {"A": S, "B": S, "C": S}},
        *({"values": {"A": S[:10], "B": S[:10]}, **unit} for unit in units),
        {"values": {"A": S[:10], "B": S[:10], "C": S[:10]}, "per": "data set"},
        {"values": {"A": S[:30], "B": S[:30], "C": S[:30]}, "per": "item"},
    ]  # fmt: skip
    for form in forms:
        c = flat.compare(**form)
        assert c.findings
        for one in c.findings:
            assert one.p == 1.0, (form, one.test)
            assert one.p_shown == "p = 1"
            why = " ".join([*one.notes, one.statistic.reason if isinstance(one.statistic, Undefined) else ""])
            assert why.strip() or one.statistic == 0, one.test
        assert "NaN" not in c.record.to_text()
        text = c.report(tmp_path / "c.html").read_text()
        assert "p = 1" in text
        assert "nan" not in str(c).lower().split()


def test_no_row_in_dispute_has_no_power_and_says_so():
    c = assay.compare(truth=[1] * 10 + [0] * 5, predicted={"A": [1] * 15, "B": [1] * 15}, positive=1)
    found = c["mcnemar"]
    assert (found.p, found.counts["only A right"], found.counts["only B right"]) == (1.0, 0, 0)
    assert isinstance(found.statistic, Undefined)
    assert any("no power" in note for note in found.notes)


@pytest.mark.parametrize(
    "given", [{"per": "item", "test": "paired_t", "because": "asked"}, {"per": "fold", "folds": 10},
              {"per": "repeat", "test_over_train": 1}, {"per": "5x2", "rows": 2000}]
)  # fmt: skip
def test_constant_differences_have_no_p_and_say_why(given):
    a = [x / 8 for x in range(10)]
    found = flat.compare(values={"A": [x + 0.5 for x in a], "B": a}, **given).findings[0]
    assert found.p is None
    assert "difference" in found.reason
    assert found.effect.value == 0.5


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"values": {"A": [0.5], "B": [0.6]}, "per": "fold", "folds": 10}, "only 1 fold"),
        ({"values": {"A": [0.5] * 7, "B": [0.6] * 7}, "per": "fold", "folds": 10}, "a round is not complete"),
        ({"values": {"A": [0.5] * 9, "B": [0.6] * 9}, "per": "5x2"}, "ten values a model, not 9"),
        ({"values": {"A": [0.5], "B": [0.6]}, "per": "repeat", "test_over_train": 0.2}, "only 1 repeat"),
        ({"values": {"A": [0.5], "B": [0.6]}, "per": "data set"}, "only 1 data set"),
        ({"values": {"A": [0.5] * 5}, "per": "data set"}, "a comparison needs two"),
    ],
)
def test_too_few_folds_and_data_sets_are_refused_with_what_is_missing(given, says):
    with pytest.raises(assay.PlanError) as error:
        flat.compare(**given)
    assert error.value.code == "comparison-needs"
    assert says in str(error.value)
    assert error.value.fix


def test_two_to_five_data_sets_are_described_not_tested():
    for sets in (2, 5):
        c = assay.compare_values(values={"A": S[:sets], "B": S[1 : sets + 1]}, per="data set")
        assert not c.findings
        assert "fewer than six" in str(c)
