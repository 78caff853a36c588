# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest

from assay.app.commands.report_command import report_file
from assay.assess.record.record import Record, content_digest
from assay.core.errors import PlanError, RecordError
from tests.command import assay
from tests.layers.report import examples


@pytest.fixture
def record(tmp_path):
    return examples.pinned("binary").save(tmp_path / "record.json")


def write_resealed(path, content):
    """Write a changed Record with a digest that fits it, as somebody who knows the format could."""
    content["digests"]["record"] = content_digest(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def test_a_record_is_written_in_another_form_and_the_path_is_told(record, tmp_path):
    done = assay("report", record, "-o", tmp_path / "x.pdf")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr.split() == ["report", str(tmp_path / "x.pdf")]
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")


def test_a_form_can_go_to_standard_output_when_it_is_named(record):
    done = assay("report", record, "-o", "-", "--kind", "md")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# Assessment of 600 rows")
    assert done.stderr == ""


def test_a_model_card_can_go_to_standard_output_too(record):
    content = report_file(str(record), "-", "modelcard")
    assert content.startswith(b"---\n# assay:begin\nmodel-index: [\n")


def test_a_run_writes_further_reports_and_refuses_an_unknown_one_before_it_counts(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("t,p\nyes,yes\nno,no\nyes,no\n", encoding="utf-8")
    given = ("run", path, "--truth", "t", "--predicted", "p", "--positive", "yes", "-q", "-o", tmp_path / "out")
    refused = assay(*given, "--report", tmp_path / "x.docx")
    assert refused.returncode == 2
    assert 'no report ends in ".docx"' in refused.stderr
    assert sorted(found.name for found in tmp_path.iterdir()) == ["p.csv"]
    done = assay(*given, "--report", tmp_path / "x.pdf", "--report", tmp_path / "x.md")
    assert done.returncode == 0, done.stderr
    assert sorted(found.name for found in tmp_path.iterdir()) == ["out", "p.csv", "x.md", "x.pdf"]


def test_standard_output_without_a_kind_is_refused(record):
    with pytest.raises(PlanError, match="the kind must be named"):
        report_file(str(record), "-", None)


def test_a_mistyped_kind_gets_a_hint(record, tmp_path):
    with pytest.raises(PlanError, match='no report is of the kind "pfd"') as error:
        report_file(str(record), str(tmp_path / "x"), "pfd")
    assert error.value.fix == 'did you mean "pdf"?'


def test_a_record_whose_tallies_were_edited_is_not_reported(record, tmp_path):
    content = json.loads(record.read_text(encoding="utf-8"))
    content["tallies"]["confusion"]["cells"][0][2] += 1
    write_resealed(record, content)
    with pytest.raises(RecordError, match="not the ones this Record was written with"):
        report_file(str(record), str(tmp_path / "x.md"), None)
    assert not (tmp_path / "x.md").exists()


@pytest.mark.parametrize("part", ["estimates", "rows", "plan", "task"])
def test_a_record_with_a_missing_part_is_refused_and_nothing_is_written(record, tmp_path, part):
    content = json.loads(record.read_text(encoding="utf-8"))
    del content[part]
    write_resealed(record, content)
    with pytest.raises(RecordError, match="missing or malformed"):
        report_file(str(record), str(tmp_path / "x.html"), None)
    assert not (tmp_path / "x.html").exists()


def test_a_tally_has_nothing_to_report_and_says_what_to_do(tmp_path):
    examples.screening().tally(site="north", smallest_cell=1).save(tmp_path / "t.json")
    with pytest.raises(PlanError, match="tally of a site") as error:
        report_file(str(tmp_path / "t.json"), str(tmp_path / "x.md"), None)
    assert error.value.fix.startswith("assay merge")


def test_the_text_of_a_record_is_one_estimate_a_line_and_reads_back():
    for made in (examples.pinned("binary"), examples.pinned("multiclass"), examples.weighted().record):
        text = made.to_text()
        assert json.loads(text) == dict(made)
        lines = [line for line in text.splitlines() if line.startswith('  {"measure"')]
        assert len(lines) == len(made["estimates"])
    assert json.loads(Record({}).to_text()) == {}
