# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import csv
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.assess.conformity.clauses import profile
from assay.assess.conformity.statement import Judged, judge, settled
from assay.assess.controls import Inquiry, Moment, run_controls
from assay.assess.plan.checked_plan import planned
from tests.layers.assess.examples import example, folder

SHALL = [row.id for row in profile().rows if row.strength == "shall"]
LEVEL = {"fail": 0, "suspect": 0, "no-evidence": 1, "declared": 2, "pass": 3, "n/a": 3}


def judged_again(inquiry, record, kept=(), only=()):
    """Every row judged, after the controls named by `only`, or all, are run anew on what an inquiry holds."""
    fresh = [*run_controls(inquiry, "plan", only), *run_controls(inquiry, "assessment", only)]
    checked = [*(one for one in kept if one.control.id not in only), *fresh]
    return {one.row.id: one for one in judge(inquiry, checked, record).rows}


def changed(inquiry, **sections):
    """The same inquiry with other sections in its plan."""
    document = copy.deepcopy(inquiry.loaded.document)
    for name, content in sections.items():
        document[name] = {**document.get(name, {}), **content}
    loaded = planned(document, inquiry.loaded.folder)
    return replace(inquiry, loaded=loaded)


def test_an_empty_plan_has_a_verdict_for_every_row_and_shows_nothing():
    inquiry = Inquiry(loaded=planned({}))
    checked = [*run_controls(inquiry, "plan"), *run_controls(inquiry, "assessment")]
    found = judge(inquiry, checked, {})
    assert len(found.rows) == 147
    assert len(found.supplement) == 24
    assert found.overall == "conformity not demonstrated"
    shown = {one.row.id for one in found.rows if one.verdict != "no-evidence"}
    assert shown == {"R-3-1", "R-6.4.2-1", "R-6.4.3-6", "R-A-1"} & shown, "only what the program shows of itself"
    assert all(one.evidence for one in found.rows)


def test_the_clean_example_conforms_by_declaration_and_every_row_has_a_verdict():
    for part in example("clean"):
        found = part.judged().record["conformity"]
        assert found["overall"] == "conforming by declaration"
        assert len(found["rows"]) == 147
        assert not found["deviations"]
        assert not [row["id"] for row in found["rows"] if row["verdict"] in ("fail", "suspect")]


def test_the_faulty_example_does_not_conform_for_the_right_rows():
    found = example("faulty")[0].judged().record["conformity"]
    assert found["overall"] == "non-conforming"
    failed = {row["id"] for row in found["rows"] if row["verdict"] == "fail"}
    assert failed == {"R-5.3.5-2", "R-5.3.7-1", "R-5.3.7-2", "R-5.3.8-1", "R-5.3.8-4"}
    why = {row["id"]: row["says"] for row in found["rows"]}
    assert why["R-5.3.5-2"].startswith("3 rows of test are in train by id; 3 rows of test are in train by content; ")
    assert "without them f1_macro of A is 0.848 (797 rows), not 0.849" in why["R-5.3.5-2"]
    assert "4 subjects" in why["R-5.3.7-2"]
    assert "acquisition in test" in why["R-5.3.8-1"]


@pytest.mark.parametrize("kind", ["clean", "faulty"])
def test_no_id_and_no_subject_stands_in_a_record_of_a_plan(kind):
    example(kind)
    place = Path(folder().name) / kind
    names = {row[column] for name in ("train", "validation", "test")
             for row in csv.DictReader((place / f"{name}.csv").read_text(encoding="utf-8").splitlines())
             for column in ("id", "patient")}  # fmt: skip
    assert len(names) > 5000
    for part in example(kind):
        text = part.judged().record.to_text()
        assert not [one for one in re.findall(r"[A-Za-z]+-(?:[a-z]+-)?\d{4}", text) if one in names]
        assert str(place) not in text


def test_a_statement_that_a_check_contradicts_fails():
    part = example("faulty")[0]
    said = changed(part.inquiry, leakage={"distinct_subjects": "One image a patient."})
    row = judged_again(said, part.assessment.record, part.checked, ["CHK-GROUP"])["R-5.3.7-2"]
    assert row.verdict == "fail"
    assert "states the contrary" in row.says


def test_what_a_plan_states_not_to_apply_is_n_a_with_its_reason_unless_the_data_show_otherwise():
    part = example("clean")[0]
    reason = "the truth is a biopsy"
    inquiry = changed(
        part.inquiry, not_applicable={"R-8-6": "no scores", "CHK-AGE": "no dates", "CHK-ANNOTATOR": reason}
    )
    named = ["CHK-OPP", "CHK-AGE", "CHK-ANNOTATOR"]
    rows = judged_again(inquiry, part.assessment.record, part.checked, named)
    assert rows["R-8-6"].verdict == "n/a"
    assert rows["R-8-6"].says == 'n/a by declaration: "no scores"'
    assert rows["R-5.3.2-5"].verdict == "pass", "without the age of the data the rest decides"
    assert rows["R-5.3.9-1"].verdict == "fail", "annotators there are"
    assert "but: " in rows["R-5.3.9-1"].says
    unsigned = changed(inquiry, plan={"assessor": "tbd"})
    again = judged_again(unsigned, part.assessment.record, part.checked, named)
    assert again["R-8-6"].verdict == "no-evidence"


@cache
def constructed():
    """Row -> (what it needs to pass, what makes it fail, the controls that see it, or all)."""
    clean = example("clean")[0].inquiry
    test, validation = clean.splits["test"], clean.splits["validation"]
    here = replace(
        clean, ran_here=True, moments=tuple(replace(m, fields={**m.fields, "accelerators": []}) for m in clean.moments)
    )
    with_gpu = tuple(replace(m, fields={**m.fields, "accelerators": ["A100"]}) for m in clean.moments)
    other = Moment(name="end", fields={**clean.moments[0].fields, "kernel": "another"})
    several = planned(
        {
            "plan": {"assessor": "A", "date": "2026-01-31"},
            "task": {"type": "multilabel"},
            "metrics": {"multilabel_basis": {"hamming_loss": "errors count alike"}, "measures": ["f1_micro"]},
        }
    )
    right = copy.deepcopy(several.document)
    right["metrics"]["multilabel_basis"] = {"f1_micro": "each label matters alike"}
    tuned = {"time": "2024-01-01T00:00:00+00:00", "purpose": "tune", "data": test.sha256}
    bare = tuple({**one, "n": None} for one in clean.estimates)
    machine = ("CHK-ENV-SAME", "CHK-ENV-FP")
    return {
        "R-5.3.5-1": (clean, replace(clean, predictions={"A": test, "B": validation}), ("CHK-TESTSET-SAME",)),
        "R-5.3.5-2": (clean, replace(clean, splits={**clean.splits, "train": test}), ("CHK-OVERLAP",)),
        "R-5.3.5-3": (clean, replace(clean, splits={**clean.splits, "train": validation}), ("CHK-OVERLAP",)),
        "R-5.3.10-4": (clean, replace(clean, ledger=(*clean.ledger, tuned)), ("CHK-LEDGER",)),
        "R-5.3.11-1": (clean, replace(clean, moments=(*clean.moments, other)), machine),
        "R-5.3.11-2": (clean, replace(clean, moments=(*clean.moments, other)), machine),
        "R-5.3.12-2": (here, replace(here, moments=with_gpu), ("CHK-ACCEL",)),
        "R-6.4.3-2": (
            clean,
            changed(clean, metrics={"averaging_basis": {"f1_macro": "every class matters"}}),
            ("CHK-BASIS",),
        ),
        "R-6.5.1-1": (Inquiry(loaded=planned(right)), Inquiry(loaded=several), ()),
        "R-7.1-1": (clean, replace(clean, estimates=bare), ("CHK-N",)),
    }


@cache
def verdicts_of(kind):
    """The verdict of every row of an example, with all its evidence."""
    part = example(kind)[0]
    return {one.row.id: one.verdict for one in judge(part.inquiry, part.checked, part.assessment.record).rows}


@pytest.mark.parametrize("row", SHALL)
def test_every_shall_row_can_pass_and_can_fail(row):
    passing, failing, controls = constructed()[row]
    clean = example("clean")[0]
    given = {"record": clean.assessment.record, "kept": clean.checked if controls else (), "only": controls}
    # the controls of the clean example have run already
    as_is = passing is clean.inquiry
    assert (verdicts_of("clean")[row] if as_is else judged_again(passing, **given)[row].verdict) == "pass"
    assert judged_again(failing, **given)[row].verdict == "fail"


def leaves(document, before=()):
    """Paths of everything a plan states."""
    for name, value in document.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*before, name))
        else:
            yield (*before, name)


def pruned(document, paths):
    """A plan without some of its statements; the tables they stood in stay."""
    left = copy.deepcopy(document)
    for path in paths:
        *above, last = path
        table = left
        for name in above:
            table = table[name]
        del table[last]
    return left


def test_removing_any_one_piece_of_evidence_improves_no_verdict():
    for kind in ("clean", "faulty"):
        part = example(kind)[0]
        record, before = dict(part.assessment.record), verdicts_of(kind)
        for lost in part.checked:
            demand_no_better(before, part.inquiry, [one for one in part.checked if one is not lost], record, lost.name)
        for name in list(record):
            less = {key: value for key, value in record.items() if key != name}
            demand_no_better(before, part.inquiry, part.checked, less, name)


def demand_no_better(before, inquiry, checked, record, lost):
    for one in judge(inquiry, checked, record).rows:
        most = max(1, LEVEL[before[one.row.id]])
        assert LEVEL[one.verdict] <= most, (lost, one.row.id, before[one.row.id], one.verdict)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_missing_evidence_never_improves_a_verdict(data):
    kind = data.draw(st.sampled_from(["clean", "faulty"]))
    part = example(kind)[0]
    record, before = dict(part.assessment.record), verdicts_of(kind)
    every = sorted(leaves(part.inquiry.loaded.document))
    gone = data.draw(st.sets(st.sampled_from(every), max_size=40))
    required = {"step", "column", "level", "minimum", "value", "available"}
    gone = {path for path in gone if path[-1] not in required}
    kept = data.draw(st.lists(st.sampled_from(part.checked), unique_by=lambda one: one.name))
    inquiry = replace(part.inquiry, loaded=planned(pruned(part.inquiry.loaded.document, gone), folder().name))
    demand_no_better(before, inquiry, kept, record, gone)


def row_with(verdict, strength="shall", answer=None):
    row = next(one for one in profile().rows if one.strength == strength)
    return Judged(row=row, verdict=verdict, says="", evidence=(), answer=answer)


@pytest.mark.parametrize(
    ("verdicts", "overall"),
    [
        (["pass", "n/a"], "conforming"),
        (["pass", "declared"], "conforming by declaration"),
        (["declared", "no-evidence"], "conformity not demonstrated"),
        (["pass", "suspect"], "conformity not demonstrated"),
        (["no-evidence", "fail"], "non-conforming"),
    ],
)
def test_the_overall_state_follows_from_the_shall_rows(verdicts, overall):
    assert settled([row_with(verdict) for verdict in verdicts])[0] == overall


def test_an_answered_suspicion_counts_as_a_declaration():
    assert settled([row_with("pass"), row_with("suspect", answer="looked into")])[0] == "conforming by declaration"


def test_rows_below_a_shall_never_move_the_overall_state():
    assert settled([row_with("pass"), row_with("fail", strength="should")])[0] == "conforming"
