# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from assay.assess.record.record import Record
from assay.assess.record.report_formats import RENDERERS
from assay.report.export import reporting_checklists as checklist
from assay.tasks.classification.blocks.class_report import EVIDENCE as OF_CLASSES
from tests.layers.assess.examples import example
from tests.layers.report import examples

NAMES = ("tripod-ai", "stard-ai", "claim")


def rows(text):
    lines = [line for line in text.splitlines() if line.startswith("| ")][2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.mark.parametrize("name", NAMES)
def test_a_checklist_is_filled_where_there_is_evidence_and_empty_elsewhere(name):
    text = RENDERERS[name](examples.screening().record)
    found = rows(text)
    assert len(found) == len(checklist.checklist(name)["items"])
    empty = [row for row in found if row[3] == checklist.EMPTY]
    full = [row for row in found if row[3] != checklist.EMPTY]
    assert empty
    assert any("0.877" in row[3] and "95 % interval" in row[3] for row in full)
    assert f"for {len(full)} of {len(found)} items" in text


@pytest.mark.parametrize("name", NAMES)
def test_a_record_of_another_task_answers_what_it_can(name):
    text = RENDERERS[name](examples.errors().record)
    assert len(rows(text)) == len(checklist.checklist(name)["items"])
    assert "mean absolute error" in text
    assert "classes" not in [row[3].split()[0] for row in rows(text)]


@pytest.mark.parametrize("name", NAMES)
def test_every_place_an_item_points_to_exists(name):
    from assay.assess.plan.fields import Plan

    for item in checklist.checklist(name)["items"]:
        assert item["asks"].endswith(".")
        assert set(item.get("shown", ())) <= {*checklist.EVIDENCE, *OF_CLASSES}
        for place in item.get("stated", ()):
            assert place.split(".")[0] in Plan.model_fields, place


def test_every_field_of_the_plan_an_item_points_to_is_a_field():
    from assay.assess.plan import fields as model

    of = {"data": model.Split, "models": model.Model}
    for name in NAMES:
        for item in checklist.checklist(name)["items"]:
            for place in item.get("stated", ()):
                first, *rest = place.split(".")
                if rest:
                    section = of.get(first) or model.Plan.model_fields[first].annotation
                    assert rest[-1] in section.model_fields, place


def test_what_a_plan_states_is_shown_with_its_place():
    record = examples.pinned("binary")
    declared = {"use": {"intended": "Second | reader"}, "data": {"test": {"source": "Registry"}}}
    text = RENDERERS["claim"](Record({**record, "plan": {**record["plan"], "declared": declared}}))
    assert "use.intended: Second \\| reader" in text
    assert "data.test.source: Registry" in text
    assert "use.intended" not in RENDERERS["claim"](record)


def test_what_controls_and_comparisons_found_answers_items_too():
    record = example("faulty")[0].judged().record
    found = {name: {row[2]: row[3] for row in rows(RENDERERS[name](record))} for name in NAMES}
    dates = found["tripod-ai"]["When the data were collected, from start to end."]
    assert "train 2023-01-01 to 2023-06-28" in dates
    beside = found["tripod-ai"]["Participants of the evaluation beside those of the development."]
    assert "train 1,500 rows (benign 900, atypical 375, malignant 225)" in beside
    shared = found["stard-ai"]["How data were split, and that training and test share nobody."]
    assert "CHK-OVERLAP:test/train fail: 3 rows of test are in train by id" in shared
    assert "kappa" in found["claim"]["How far annotators agree with each other and with themselves."]
    assert "Balanced accuracy of A is higher" in found["claim"]["Performance on the partitions."]


@pytest.mark.parametrize("name", NAMES)
def test_names_from_outside_stay_in_their_cell(name):
    text = RENDERERS[name](examples.nasty().record)
    assert len(rows(text)) == len(checklist.checklist(name)["items"])
    assert "<script>" not in text


def test_the_published_numbers_are_complete():
    claim = [item["id"] for item in checklist.checklist("claim")["items"]]
    assert claim == [str(i) for i in range(1, 45)]
    tripod = {item["id"].rstrip("abcdefg") for item in checklist.checklist("tripod-ai")["items"]}
    assert tripod == {str(i) for i in range(1, 28)}
    stard = {item["id"].rstrip("ab") for item in checklist.checklist("stard-ai")["items"]} - {"AI"}
    assert stard == {str(i) for i in range(1, 31)}
