# SPDX-License-Identifier: Apache-2.0
"""Inputs and options that cannot be used, each with its error."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay.core.errors import AssayError
from assay.core.task import Request
from assay.tasks.efficiency import TASK
from assay.tasks.efficiency.driven import read_inputs

TIMES = {"latency": [0.1, 0.2, 0.3]}
OPTIONS = {
    "bound": ["soon", -1, 0, "5 parsecs", "nan"],
    "share": [1.5, 0.0, 1.0],
    "objective": ["beauty", -1, "inf"],
    "resource": ["patience"],
    "price": ["second", "hour=3", "second=-1", "second=x"],
    "scenario": ["rush hour"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in OPTIONS.items() for value in values])
def test_an_option_that_means_nothing_is_an_error(name, value):
    with pytest.raises(AssayError) as caught:
        assay.efficiency(latencies=TIMES, **{name: value})
    assert caught.value.fix


TABLES = {
    "no rows": ({"latency": []}, "no rows"),
    "no times": ({"run": [1, 2]}, "does not say how long"),
    "answered without scheduled": ({"answered": [1.0]}, "does not say how long"),
    "an answer before its request": ({"scheduled": [1.0, 2.0], "answered": [0.5, 2.5]}, "came before the request"),
    "a time below 0": ({"latency": [0.1, -0.1]}, "came before the request"),
    "an infinite time": ({"latency": [0.1, float("inf")]}, "cannot be used"),
    "a request that is never due": ({"scheduled": [float("nan")], "latency": [0.1]}, "cannot be used"),
    "columns of different lengths": ({"run": [1], "latency": [0.1, 0.2]}, "has 1 row, .* has 2|has 2 rows, .* has 1"),
    "words for times": ({"latency": ["slow", "fast"]}, "must hold numbers"),
    "a run without a name": ({"run": ["a", None], "latency": [0.1, 0.2]}, "cannot be used"),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_table_that_cannot_be_read_is_an_error(case):
    table, told = TABLES[case]
    with pytest.raises(AssayError, match=told):
        assay.efficiency(latencies=table)


def test_a_file_may_be_gone_or_lack_its_columns(tmp_path):
    with pytest.raises(AssayError):
        assay.efficiency(latencies=str(tmp_path / "absent.csv"))
    other = tmp_path / "other.csv"
    other.write_text("when,what\n1,2\n")
    with pytest.raises(AssayError, match="does not say how long"):
        assay.efficiency(str(other))
    with pytest.raises(AssayError, match="ms"):
        assay.efficiency(data=str(other), latency="ms")


def test_columns_with_other_names_are_named(tmp_path):
    path = tmp_path / "times.csv"
    path.write_text("took,batch\n0.1,a\n0.3,b\n")
    found = assay.efficiency(data=str(path), latency="took", run="batch")
    assert found["latency_mean"].value == pytest.approx(0.2)
    assert found.counts.units == 2
    arrays = assay.efficiency(latency=[0.1, 0.3], run=["a", "b"])
    assert arrays.counts == found.counts


def test_a_warm_up_is_left_out_and_accounted_for():
    found = assay.efficiency(latencies={"latency": [9.0, 0.1, 9.0, 0.3], "run": [1, 1, 2, 2]}, warm_up=1)
    assert found["latency_mean"].value == pytest.approx(0.2)
    assert found.record["rows"] == {"read": 4, "scored": 2, "excluded": {"warm-up of a run": 2}, "unmatched": 0}
    empty = assay.efficiency(latencies=TIMES, warm_up=5)
    assert empty["latency_mean"].reason == "no request was answered"


def test_all_requests_may_fail():
    found = assay.efficiency(latencies={"latency": [np.nan] * 120, "run": list(range(6)) * 20}, bound=1.0)
    assert found["latency_compliance"].value == 0.0
    assert found["p50"].reason == "so many requests failed that it falls among them"
    assert found["latency_mean"].reason == "no request was answered"
    assert list(found.contract.blocks(found.record))


def test_nothing_to_measure_groups_and_margins_are_refused():
    with pytest.raises(AssayError, match="nothing to measure"):
        assay.efficiency()
    with pytest.raises(AssayError, match="no groups"):
        assay.efficiency(latencies=TIMES, group={"g": [1, 2, 3]})
    with pytest.raises(AssayError, match="inputs are missing"):
        assay.efficiency("cat")
    with pytest.raises(AssayError, match="needs a rate"):
        assay.efficiency("cat", ["x"], scenario="server", runs=1, requests=5)
    comparison = assay.compare(
        task="efficiency", latencies={"A": TIMES, "B": TIMES}, tests=assay.TestSettings(margin=0.1)
    )
    with pytest.raises(AssayError, match="no margin is defined"):
        list(comparison.findings)


@pytest.mark.parametrize(("name", "text"), [("a.json", "{}"), ("a.json", "[1,"), ("a.xlsx", ""), ("a.npy", "x")])
def test_inputs_that_cannot_be_read_are_an_error(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(AssayError):
        read_inputs(str(tmp_path / name))
    with pytest.raises(AssayError):
        read_inputs(str(tmp_path / f"absent-{name}"))


def test_inputs_are_read_in_every_known_form(tmp_path):
    forms = {"a.json": "[1, 2]", "a.jsonl": "1\n2\n", "a.txt": "1\n2\n", "a.csv": "x\n1\n2\n"}
    for name, text in forms.items():
        (tmp_path / name).write_text(text)
        assert [float(np.ravel(part)[0]) for part in read_inputs(str(tmp_path / name))] == [1.0, 2.0]
    np.save(tmp_path / "a.npy", np.arange(6).reshape(3, 2))
    assert len(read_inputs(tmp_path / "a.npy")) == 3


def test_expected_answers_must_be_as_many_as_inputs():
    with pytest.raises(AssayError, match="differ in number"):
        assay.efficiency("cat", ["a", "b"], expected=["a"], runs=1, requests=2)


def test_the_progress_of_a_measurement_is_told():
    told = []
    request = Request(
        given={"target": "cat", "inputs": ["x"]},
        options={"runs": 2, "requests": 10, "energy": "none"},
        progress=lambda done, total: told.append((done, total)),
    )
    assert TASK.read(request).tally.rows == 20
    assert told[-1] == (20, 20)
    assert {total for _, total in told} == {20}
