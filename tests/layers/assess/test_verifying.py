# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest

import assay
from assay.assess.record import Record, sealed
from assay.assess.verifying import first_mismatch, verify
from tests.layers.assess.examples import example

KEPT = sorted((Path(__file__).parent / "records").glob("*.json"))


def small(**given):
    truth = ["a", "a", "b", "b", "b", "a", "b", "a"]
    return assay.assess(
        truth=truth,
        predicted=["a", "b", "b", "b", "a", "a", "b", "a"],
        positive="a",
        measures=["recall", "f1", "accuracy"],
        group={"site": ["x", "y"] * 4},
        **given,
    )


def scored():
    return assay.assess(
        truth=[1, 0, 1, 0, 1, 1, 0, 0, 1, 0] * 3,
        score=[0.9, 0.2, 0.7, 0.4, 0.6, 0.3, 0.1, 0.5, 0.8, 0.35] * 3,
        scores="probability",
        threshold=0.5,
        measures=["auroc", "brier_score"],
    )


def compared():
    truth = [1, 0, 1, 1, 0, 1, 0, 0] * 5
    return assay.compare(
        truth=truth, predicted={"A": truth, "B": [1 - x if i % 3 == 0 else x for i, x in enumerate(truth)]}
    )


RECORDS = {
    "ad hoc": lambda: small().record,
    "accepted": lambda: small().accept("recall >= 0.2").record,
    "scored": lambda: scored().record,
    "compared": lambda: compared().record,
    "planned": lambda: example("faulty")[0].judged().record,
}


def written(record):
    """A Record as somebody reads it from a file."""
    return json.loads(record.to_text())


def leaves(node, path=()):
    if isinstance(node, dict):
        for name, value in node.items():
            yield from leaves(value, (*path, name))
    elif isinstance(node, list):
        for i, value in enumerate(node):
            yield from leaves(value, (*path, i))
    else:
        yield path


def changed(content, path):
    """The content with one leaf made something else."""
    other = copy.deepcopy(content)
    node = other
    for part in path[:-1]:
        node = node[part]
    value = node[path[-1]]
    if isinstance(value, bool):
        node[path[-1]] = not value
    elif isinstance(value, (int, float)):
        node[path[-1]] = value + (1 if isinstance(value, int) else 0.001)
    else:
        node[path[-1]] = 0 if value is None else f"{value}1"
    return other


@pytest.mark.parametrize("kind", RECORDS)
def test_an_untouched_record_is_verified(kind):
    found = verify(Record(written(RECORDS[kind]())))
    assert found.holds, found.mismatches[0].said()


@pytest.mark.parametrize("kind", RECORDS)
def test_no_changed_leaf_survives(kind):
    content = written(RECORDS[kind]())
    every = list(leaves(content))
    assert len(every) > 100
    # Parts under a digest are found at once; of long lists that are computed again every leaf of some entries is tried.
    again = ("estimates", "curves", "findings", "answers", "ranking", "decisions", "operating_points")
    tried = [path for path in every if path[0] not in again or len(path) < 2 or path[1] in (0, 1, 7)]
    if kind == "planned":
        tried = tried[::7]
    if kind in ("scored", "compared"):
        tried = tried[::5]
    survived = [path for path in tried if first_mismatch(Record(changed(content, path))) is None]
    assert not survived


@pytest.mark.parametrize("kind", ["ad hoc", "planned"])
def test_a_changed_number_is_found_even_if_every_digest_was_made_again(kind):
    content = written(RECORDS[kind]())
    content["estimates"][1]["value"] = 0.123
    mismatch = first_mismatch(Record(sealed(content)))
    assert mismatch.path == "estimates[1].value"
    assert "0.123" in mismatch.said()


def test_a_verdict_that_does_not_follow_from_its_evidence_is_found():
    content = written(RECORDS["planned"]())
    at = next(i for i, row in enumerate(content["conformity"]["rows"]) if row["id"] == "R-5.3.5-2")
    content["conformity"]["rows"][at]["verdict"] = "pass"
    found = [one.path for one in verify(Record(sealed(content))).mismatches]
    assert f"conformity.rows[{at}].verdict" in found
    assert "conformity.overall" in found


def test_missing_and_malformed_parts_are_mismatches_not_faults():
    content = written(RECORDS["ad hoc"]())
    for name in content:
        less = {key: value for key, value in content.items() if key != name}
        assert first_mismatch(Record(less)) is not None, name
        assert first_mismatch(Record({**content, name: 7})) is not None, name


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_records_of_earlier_versions_load_for_ever(path):
    assert assay.load(path).record["kind"] in ("assessment", "comparison")
    assert verify(Record.load(path)).holds


def test_there_are_kept_records():
    assert KEPT


def test_the_command_tells_by_its_exit_code(tmp_path):
    path = small().save(tmp_path / "record.json")

    def run(*options):
        command = [sys.executable, "-m", "assay", "verify", str(path), *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert run().returncode == 0
    path.write_text(path.read_text(encoding="utf-8").replace('"level": 0.95', '"level": 0.96', 1), encoding="utf-8")
    done = run("--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["mismatches"]
    assert "mismatch" in done.stderr
