# SPDX-License-Identifier: Apache-2.0
"""Whatever is changed in a Record of any kind shows, even to who writes the digests anew."""

from __future__ import annotations

import copy
import hashlib
import json
from functools import cache

import pytest

import assay
from assay.assess.record import verification as verifying
from assay.assess.record.consistency_checks import accounted
from assay.assess.record.record import Record, content_digest, sealed
from assay.assess.record.verification import verify
from assay.core.errors import AssayError, RecordError
from assay.tally.base import digest
from tests import command
from tests.layers.assess.recorded import KEPT, records

NAMES = sorted(records())
INPUTS = ("tallies", "rows", "labels", "positive", "models", "test_data", "notes")
"""What a Record is computed again from: a change there wants the whole of it computed again, so some are tried."""
COMPUTED = ("task", "samples", "estimates", "heterogeneity", "decisions", "curves", "scores", "operating_points",
            "findings", "answers", "ranking", "comparisons", "claims", "errata")  # fmt: skip
"""Parts that are computed from those, so that even who writes the digest anew is found out."""
TRIED = 12
"""Inputs of a Record that are changed; their places are spread over all of them."""


def leaves(content, path=()):
    if isinstance(content, dict):
        for name, one in content.items():
            yield from leaves(one, (*path, name))
    elif isinstance(content, list) and content:
        for place, one in enumerate(content):
            yield from leaves(one, (*path, place))
    else:
        yield path, content


def classes(content):
    """The first and the last leaf of every class: leaves whose paths differ in nothing but places in lists."""
    found = {}
    for path, value in leaves(content):
        found.setdefault((tuple("*" if isinstance(one, int) else one for one in path), type(value)), []).append(path)
    return [path for every in found.values() for path in dict.fromkeys((every[0], every[-1]))]


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


class Changed:
    """Content with one leaf changed, and as it was afterwards."""

    def __init__(self, content, path):
        for step in path[:-1]:
            content = content[step]
        self._within, self._at, self._was = content, path[-1], content[path[-1]]

    def __enter__(self):
        self._within[self._at] = mutated(self._was)

    def __exit__(self, *_):
        self._within[self._at] = self._was


@cache
def plain(name):
    return json.loads(records()[name].to_text())


def canonical(part):
    return json.dumps(part, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


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
    assert sum(found.checked.values()) > 5
    assert not found.unchecked


@pytest.mark.parametrize("name", NAMES)
def test_no_changed_leaf_has_the_digest_of_the_record(name):
    """Every leaf of every Record: the digest is of the parts' texts one after the other, so that one part is enough."""
    content = plain(name)
    rest = {**content, "digests": {key: one for key, one in content["digests"].items() if key != "record"}}
    texts = {key: canonical(part) for key, part in rest.items()}
    whole = "{" + ",".join(f"{canonical(key)}:{texts[key]}" for key in sorted(texts)) + "}"
    assert hashlib.sha256(whole.encode()).hexdigest() == content_digest(content) == content["digests"]["record"]
    survivors = []
    for key, part in rest.items():
        # Of a long part every entry has its own text, by the same token.
        entries = part if isinstance(part, (list, dict)) and part else [part]
        for place in range(len(entries)) if isinstance(entries, list) else entries:
            known, within = canonical(entries[place]), {"x": entries[place]}
            for path, _ in leaves(within):
                with Changed(within, path):
                    survivors += [(key, place, path)] if canonical(within["x"]) == known else []
    assert survivors == []


@pytest.mark.parametrize("name", NAMES)
def test_no_changed_number_survives_even_when_the_digests_are_written_anew(name):
    """Every leaf that is computed, and a dozen of those it is computed from, by computing all of it again."""
    content = plain(name)
    again = verifying._rebuilt(Record(content))
    survivors = []
    for part in (one for one in COMPUTED if one in content and one in again):
        for path, _ in leaves(content[part], (part,)):
            with Changed(content, path):
                found = verifying._Comparing().compared(content[part], again[part], part)
                survivors += [path] if next(found, None) is None else []
    # Names and scores in a tally are the evidence itself: only digests and signatures can answer for them.
    inputs = [path for part in INPUTS if part in content for path, value in leaves(content[part], (part,))
              if type(value) is int]  # fmt: skip
    for path in inputs[:: 1 + len(inputs) // TRIED]:
        changed = copy.deepcopy(content)
        with Changed(changed, path):
            told = next(accounted(Record(changed)), None) is not None
            survivors += [] if told or found_out(resealed(changed)) else [path]
    assert survivors == []


def test_no_changed_verdict_of_a_plan_survives_even_when_the_digests_are_written_anew():
    content = plain("planned")
    assert not rejudged_otherwise(content)
    survivors = []
    for path in [("conformity", *path) for path in classes(content["conformity"])]:
        with Changed(content, path):
            survivors += [] if rejudged_otherwise(content) else [path]
    assert survivors == []


def rejudged_otherwise(content):
    return any(stored != again for _, stored, again in verifying._judged_again(Record(content)))


def test_every_verdict_of_a_control_that_a_row_rests_on_is_held_against_the_row():
    content = plain("planned")
    rows = [*content["conformity"]["rows"], *content["conformity"]["supplement"]]
    used = {part["name"] for row in rows for part in row["evidence"] if part["kind"] == "check"}
    names = [one["check"] + (f":{one['part']}" if one["part"] else "") for one in content["controls"]]
    for place, name in enumerate(names):
        for key in ("verdict", "says"):
            with Changed(content, ("controls", place, key)):
                assert rejudged_otherwise(content) == (name in used), name
    assert rejudged_otherwise({**content, "controls": content["controls"][1:]})
    assert len(used & set(names)) > 40


def test_a_mismatch_names_its_place_and_both_values():
    content = copy.deepcopy(plain("binary"))
    place = next(i for i, one in enumerate(content["estimates"]) if one["measure"] == "recall")
    right = content["estimates"][place]["value"]
    content["estimates"][place]["value"] = 0.999
    found = verify(resealed(content)).mismatches
    assert [(one.path, one.stored, one.recomputed) for one in found] == [(f"estimates[{place}].value", 0.999, right)]
    content["rows"]["read"] += 5
    assert "rows.read" in {one.path for one in verify(resealed(content)).mismatches}


def test_a_changed_record_is_refused_on_loading_and_told_how_to_see_what_changed(tmp_path):
    content = copy.deepcopy(plain("binary"))
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


@pytest.mark.parametrize("name", ["record", "evidence", "tallies"])
def test_a_record_without_one_of_its_digests_is_refused_and_not_verified(name, tmp_path):
    content = copy.deepcopy(plain("binary"))
    del content["digests"][name]
    path = Record(content).save(tmp_path / "record.json")
    with pytest.raises(RecordError):
        assay.load(path)
    assert f"digests.{name}" in {one.path for one in verify(Record.load(path, unsealed=True)).mismatches}


def made_by_another_version(**changes):
    content = {**copy.deepcopy(plain("binary")), **changes}
    content["environment"]["packages"]["assay"] = "0.0.9"
    return Record(sealed(content))


def test_a_record_of_another_version_is_not_recomputed_but_its_digests_and_rows_are_checked(tmp_path):
    record = made_by_another_version()
    found = verify(record)
    assert found.holds
    assert (found.made_by, found.checked) == ("0.0.9", {})
    assert "only that version recomputes it" in found.unchecked[0]
    assert assay.load(record.save(tmp_path / "record.json"))["recall"].value is not None
    estimates = [{**one, "value": 0.5} for one in plain("binary")["estimates"]]
    assert verify(made_by_another_version(estimates=estimates)).holds
    rows = {**plain("binary")["rows"], "read": 999}
    assert [one.path for one in verify(made_by_another_version(rows=rows)).mismatches] == ["rows.read"]
    content = dict(made_by_another_version())
    changed = Record({**content, "notes": ["all is well"]})
    assert "digests.record" in {one.path for one in verify(changed).mismatches}


def test_the_command_names_the_version_that_recomputes_a_record(tmp_path):
    path = made_by_another_version().save(tmp_path / "record.json")
    done = command.assay("verify", path)
    assert done.returncode == 0
    assert "only assay 0.0.9 recomputes it" in done.stdout


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_kept_records_load_and_verify(path):
    record = Record.load(path)
    assert verify(record).mismatches == ()
    if record["kind"] != "tally":
        assert assay.load(path).record["samples"] == record["samples"]


def test_a_record_of_every_kind_is_kept():
    assert {path.stem for path in KEPT.glob("*.json")} == set(NAMES)


@pytest.mark.parametrize(
    "broken",
    [
        {"digests": []}, {"digests": None}, {"plan": None}, {"tallies": []}, {"tallies": {}}, {"rows": 3},
        {"rows": {"read": "x", "scored": 1, "excluded": {}, "unmatched": 0}}, {"estimates": {}}, {"labels": None},
        {"positive": "maybe"}, {"kind": "poem"}, {"environment": 7}, {"samples": []}, {"decisions": [3]},
        {"conformity": 5}, {"conformity": {"rows": [3]}}, {"controls": 4},
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["binary", "planned"])
def test_malformed_parts_are_mismatches_and_never_a_crash(name, broken):
    assert found_out(Record({**plain(name), **broken}))
