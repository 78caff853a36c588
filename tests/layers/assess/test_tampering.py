# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import json

import pytest

import assay
from assay.assess import verifying
from assay.assess.record import Record, content_digest, sealed
from assay.assess.verifying import verify
from assay.core.errors import AssayError, RecordError
from assay.tally.base import digest
from tests.layers.assess.examples import example
from tests.layers.assess.recorded import KEPT, records

NAMES = sorted(records())
EVIDENCE = ("task", "samples", "rows", "labels", "positive", "estimates", "tallies", "heterogeneity", "decisions",
            "curves", "scores", "operating_points", "findings", "answers", "ranking", "models", "errata")  # fmt: skip
"""Parts that are computed, so that even who writes the digest anew is found out."""


INPUTS = ("kind", "tallies", "plan", "rows", "positive", "labels", "models", "test_data", "environment", "notes")
"""What a Record is computed again from."""


def leaves(content, path=()):
    if isinstance(content, dict):
        for name, one in content.items():
            yield from leaves(one, (*path, name))
    elif isinstance(content, list) and content:
        for place, one in enumerate(content):
            yield from leaves(one, (*path, place))
    else:
        yield path, content


def mutated(value):
    """A leaf with its smallest plain change."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value + 1e-6 if value < 0.9 else value - 1e-6
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1")
    return 1 if value is None else "x"


def put(content, path, value):
    for step in path[:-1]:
        content = content[step]
    content[path[-1]] = value


def plain(record):
    return json.loads(record.to_text())


def resealed(content):
    """What somebody would do who knows of the digests."""
    content["digests"]["tallies"] = digest(content["tallies"])
    return Record(sealed(content))


def found_out(record):
    try:
        return not verify(record).holds
    except AssayError:
        return True


@pytest.mark.parametrize("name", NAMES)
def test_an_untouched_record_is_verified(name, tmp_path):
    path = records()[name].save(tmp_path / "record.json")
    found = verify(Record.load(path))
    assert found.mismatches == ()
    assert found.sealed
    assert sum(found.checked.values()) > 5
    assert not found.unchecked


@pytest.mark.parametrize("name", NAMES)
def test_no_changed_leaf_is_loaded_or_verified(name):
    content = plain(records()[name])
    for path, value in leaves(content):
        changed = copy.deepcopy(content)
        put(changed, path, mutated(value))
        assert content_digest(changed) != changed["digests"]["record"], path


@pytest.fixture
def remembered(monkeypatch):
    """Computing again is a function of tallies and settings: equal ones are computed once."""
    rebuilt, known = verifying._rebuilt, {}

    def once(record):
        key = digest([record.get(part) for part in INPUTS])
        if key not in known:
            known[key] = rebuilt(record)
        return known[key]

    monkeypatch.setattr(verifying, "_rebuilt", once)


@pytest.mark.usefixtures("remembered")
@pytest.mark.parametrize("name", NAMES)
def test_no_changed_number_survives_even_when_the_digests_are_written_anew(name):
    content = plain(records()[name])
    survivors = []
    every = [(path, value) for path, value in leaves(content) if path[0] in EVIDENCE]
    # Names and scores in a tally are the evidence itself: only digests and signatures can answer for them.
    inputs = [(path, value) for path, value in every if path[0] in INPUTS and type(value) is int]
    step = 1 + len(inputs) // 60  # each of them costs a whole assessment
    for path, value in [*(one for one in every if one[0][0] not in INPUTS), *inputs[::step]]:
        changed = copy.deepcopy(content)
        put(changed, path, mutated(value))
        if not found_out(resealed(changed)):
            survivors.append((path, value))
    assert survivors == []


def planned():
    """The Record of a planned assessment with the evidence of the controls about data, tests and truth only.

    The rest of it has the same shape, and every leaf costs a digest of the whole.
    """
    content = plain(example("clean")[0].judged().record)
    kept = {"CHK-MISSING", "CHK-RANGE", "CHK-AGE", "CHK-PROXY", "CHK-CV-SAME", "CHK-LATENCY", "CHK-MULT", "CHK-POWER",
            "CHK-GT-IMPACT", "CHK-ANNOTATOR", "CHK-OVERLAP", "CHK-PREPROC"}  # fmt: skip
    content["controls"] = [one for one in content["controls"] if one["check"] in kept]
    for part in ("estimates", "errata", "tallies", "plan", "environment", "conformity"):
        content[part] = {} if isinstance(content[part], dict) else []
    return sealed(content)


def test_no_changed_leaf_of_a_controls_evidence_is_loaded():
    content = planned()
    every = [one for one in leaves(content) if one[0][0] == "controls"]
    assert {content["controls"][path[1]]["check"] for path, _ in every} >= {"CHK-GT-IMPACT", "CHK-PROXY", "CHK-RANGE"}
    for path, value in every:
        changed = copy.deepcopy(content)
        put(changed, path, mutated(value))
        assert content_digest(changed) != changed["digests"]["record"], path


def test_a_control_that_says_otherwise_than_the_row_that_rests_on_it_is_found_out_although_digests_are_anew():
    content = plain(example("faulty")[0].judged().record)
    assert verify(Record(content)).holds
    place = next(i for i, one in enumerate(content["controls"]) if one["check"] == "CHK-GROUP")
    for key, value in (("verdict", "pass"), ("says", "no subject of the test data is in the training data")):
        changed = copy.deepcopy(content)
        changed["controls"][place][key] = value
        assert found_out(resealed(changed)), key
    gone = copy.deepcopy(content)
    del gone["controls"][place]
    assert found_out(resealed(gone))


def test_a_comparison_that_stands_as_evidence_is_computed_again():
    content = plain(example("clean")[0].judged().record)
    place = next(i for i, one in enumerate(content["controls"]) if one["check"] == "CHK-TEST")
    held = content["controls"][place]["facts"]["test"]["comparison"]
    held["findings"][0]["p"] *= 0.5
    held = content["controls"][place]["facts"]["test"]["comparison"] = dict(resealed(held))
    found = verify(resealed(content)).mismatches
    assert [one.path for one in found] == [f"controls[{place}].facts.test.comparison.findings[0].p"]


def test_a_mismatch_names_its_place_and_both_values():
    content = plain(records()["binary"])
    place = next(i for i, one in enumerate(content["estimates"]) if one["measure"] == "recall")
    right = content["estimates"][place]["value"]
    content["estimates"][place]["value"] = 0.999
    found = verify(resealed(content)).mismatches
    assert [(one.path, one.stored, one.recomputed) for one in found] == [(f"estimates[{place}].value", 0.999, right)]
    content["rows"]["read"] += 5
    assert "rows.read" in {one.path for one in verify(resealed(content)).mismatches}


def test_a_changed_record_is_refused_on_loading_and_told_how_to_see_what_changed(tmp_path):
    content = plain(records()["binary"])
    content["notes"].append("all is well")
    path = Record(content).save(tmp_path / "record.json")
    with pytest.raises(RecordError) as error:
        assay.load(path)
    assert error.value.code == "digest-mismatch"
    assert "assay verify" in str(error.value)
    assert {one.path for one in verify(Record.load(path, unsealed=True)).mismatches} == {
        "digests.record",
        "digests.evidence",
    }


def test_a_record_of_before_the_digest_still_loads_and_says_what_is_not_covered(tmp_path):
    content = plain(records()["binary"])
    del content["digests"]["record"]
    path = Record(content).save(tmp_path / "record.json")
    assert assay.load(path)["recall"].value is not None
    found = verify(Record.load(path))
    assert found.holds
    assert not found.sealed


@pytest.mark.parametrize("name", NAMES)
def test_records_of_this_version_load_and_verify_for_ever(name):
    record = Record.load(KEPT / f"{name}.json")
    assert verify(record).mismatches == ()
    if name != "tally":
        loaded = assay.load(KEPT / f"{name}.json")
        assert loaded.record["samples"] == record["samples"]


@pytest.mark.parametrize(
    "broken",
    [
        {"digests": []}, {"digests": None}, {"plan": None}, {"tallies": []}, {"tallies": {}}, {"rows": 3},
        {"rows": {"read": "x", "scored": 1, "excluded": {}, "unmatched": 0}}, {"estimates": {}}, {"labels": None},
        {"positive": "maybe"}, {"kind": "poem"}, {"environment": 7}, {"samples": []}, {"decisions": [3]},
    ],
)  # fmt: skip
def test_malformed_parts_are_mismatches_and_never_a_crash(broken):
    content = {**plain(records()["binary"]), **broken}
    assert found_out(Record(content))
