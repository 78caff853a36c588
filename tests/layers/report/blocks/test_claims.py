# SPDX-License-Identifier: Apache-2.0
"""Claims and comparisons of a plan in every form of report."""

from __future__ import annotations

import pytest

import assay.report  # noqa: F401  it introduces the kinds
from assay.assess.record.record import Record
from assay.assess.record.report_formats import rendered
from tests.layers.assess.examples import example
from tests.paper import read_pages


@pytest.fixture(scope="module")
def record():
    return example("clean")[0].judged().record


@pytest.fixture(scope="module")
def reports(record):
    return {
        "html": rendered(record, "r.html").decode(),
        "markdown": rendered(record, "r.md").decode(),
        "terminal": str(example("clean")[0].judged()),
        "pdf": " ".join(read_pages(rendered(record, "r.pdf"))),
    }


@pytest.mark.parametrize("kind", ["html", "markdown", "terminal", "pdf"])
def test_every_report_answers_the_claims_and_tells_the_findings(kind, reports):
    text = " ".join(reports[kind].replace("\\", "").replace("\u200b", "").replace("\u00ad", "").split())
    for word in ("1 supported, 1 not decidable", "as good as B in", "Against the other models", "McNemar"):
        assert word in text, word
    assert text.count("not decidable") >= 2


def test_claims_of_a_plan_are_numbered(reports):
    assert "(empty text)" not in reports["html"]
    assert "<dt>1. model<dd>A" in reports["html"]


def test_a_plan_that_compares_nothing_says_why(record):
    plan = {**record["plan"], "comparisons": [], "not_compared": "stated: a second plan compares"}
    other = Record({**record, "plan": plan, "comparisons": [], "findings": []})
    for kind in ("r.html", "r.md"):
        assert "No test was made: stated: a second plan compares." in rendered(other, kind).decode()


def test_names_in_claims_cannot_leave_their_place(record):
    nasty = {**record["claims"][0], "claim": "<script>|`x`", "words": "<b>|*y*"}
    other = Record({**record, "claims": [nasty]})
    page = rendered(other, "r.html").decode()
    assert "<script>|" not in page
    assert "&lt;script&gt;" in page
    line = next(line for line in rendered(other, "r.md").decode().splitlines() if "script" in line)
    assert line.count(" | ") == 4
