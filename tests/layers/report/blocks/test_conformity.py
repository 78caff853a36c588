# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import jsonschema
import pytest

import assay
from assay.assess.record.record import Record, schema
from assay.report.blocks.conformity import is_stated
from assay.report.render.html import render as html
from assay.report.render.markdown import render as markdown
from assay.report.render.terminal import summary
from tests.layers.assess.examples import example


@pytest.fixture(scope="module")
def record():
    return example("faulty")[0].judged().record


def test_a_planned_record_fits_the_schema_and_loads_with_its_evidence(record, tmp_path):
    jsonschema.validate(dict(record), schema())
    path = record.save(tmp_path / "record.json")
    assert dict(assay.load(path).record) == dict(record)


def test_every_row_stands_in_the_page_with_its_verdict_and_leads_to_its_evidence(record):
    page = html(record)
    for row in record["conformity"]["rows"]:
        assert f"id={re.sub('[^A-Za-z0-9]+', '-', row['id']).lower()}>" in page
    links, ids = set(re.findall(r'href="?#([^" >]+)', page)), re.findall(r' id="?([^" >]+)', page)
    assert links <= set(ids)
    assert len(ids) == len(set(ids))
    assert any(one.startswith("c-overlap-test-train") for one in links)


def test_the_rows_can_be_filtered_without_a_script(record):
    page = html(record)
    for row in record["conformity"]["rows"]:
        name = re.sub("[^a-z]", "", row["verdict"])
        assert f'id="only-{name}"' in page
        assert f"#only-{name}:checked" in page


def test_terminal_and_markdown_tell_the_state_and_what_failed(record):
    text = summary(record)
    assert "Conformity with ISO/IEC TS 4213:2022: non-conforming" in text
    assert "R-5.3.5-2" in text
    assert max(map(len, text.splitlines())) <= 100
    page = markdown(record)
    assert all(f"| {row['id']}; {row['strength']} |" in page for row in record["conformity"]["rows"])
    assert "**non-conforming**" in page


def test_a_record_without_a_plan_has_no_statement():
    a = assay.assess(truth=[1, 0], predicted=[1, 0])
    assert not is_stated(a.record)
    assert 'id="conformity"' not in html(a.record)
    assert "Conformity with" not in summary(a.record)


def test_names_from_outside_stay_text(record):
    content = dict(record)
    evil = "<script>alert(1)</script>|`x`\u202e"
    content["conformity"] = {
        **content["conformity"],
        "rows": [{**content["conformity"]["rows"][0], "says": evil, "answer": evil}],
    }
    for text in (html(Record(content)), markdown(Record(content))):
        assert "<script>alert" not in text
        assert "\u202e" not in text


def test_no_id_of_a_sample_is_in_the_record(record):
    text = record.to_text()
    assert not re.search(r"(?:train|test|validation)-\d{4}", text)
    assert "P-test" not in text
