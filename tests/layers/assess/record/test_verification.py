# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest

from assay.assess.record.record import Record, sealed
from assay.assess.record.verification import first_mismatch, verify
from tests import command, flat
from tests.layers.assess.examples import example


def small(**given):
    truth = ["a", "a", "b", "b", "b", "a", "b", "a"]
    return flat.assess(
        truth=truth,
        predicted=["a", "b", "b", "b", "a", "a", "b", "a"],
        positive="a",
        measures=["recall", "f1", "accuracy"],
        group={"site": ["x", "y"] * 4},
        **given,
    )


RECORDS = {"ad hoc": lambda: small().record, "planned": lambda: example("faulty")[0].judged().record}


def written(record):
    """A Record as somebody reads it from a file."""
    return json.loads(record.to_text())


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
    content["conformity"]["overall"] = "conforming"
    found = [one.path for one in verify(Record(sealed(content))).mismatches]
    assert f"conformity.rows[{at}].verdict" in found
    assert "conformity.overall" in found


def test_missing_and_malformed_parts_are_mismatches_not_faults():
    content = written(RECORDS["ad hoc"]())
    for name in content:
        less = {key: value for key, value in content.items() if key != name}
        assert first_mismatch(Record(less)) is not None, name
        assert first_mismatch(Record({**content, name: 7})) is not None, name


@pytest.mark.parametrize("kind", RECORDS)
def test_an_untouched_record_is_verified(kind):
    found = verify(Record(written(RECORDS[kind]())))
    assert found.holds, found.mismatches[0].said()


def test_the_command_tells_by_its_exit_code(tmp_path):
    path = small().save(tmp_path / "record.json")

    def run(*options):
        return command.assay("verify", path, *options)

    assert run().returncode == 0
    path.write_text(path.read_text(encoding="utf-8").replace('"level": 0.95', '"level": 0.96', 1), encoding="utf-8")
    done = run("--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["mismatches"]
    assert "mismatch" in done.stdout
