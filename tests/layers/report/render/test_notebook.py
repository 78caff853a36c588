# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from assay.report.render import html
from tests.layers.assess.examples import example
from tests.layers.report import examples

CASES = {
    "binary": examples.screening,
    "nine classes": lambda: examples.classes(9),
    "twenty classes": lambda: examples.classes(20),
    "nasty": examples.nasty,
    "weighted": examples.weighted,
    "one class": examples.lonely,
    "many classes": lambda: examples.classes(300, rows=4000, grouped=False),
}


@pytest.fixture(params=CASES, ids=CASES)
def fragment(request):
    return html.fragment(CASES[request.param]().record)


def test_a_fragment_begins_with_a_table_of_numbers(fragment):
    assert re.match(r"<div>\s*<table>\s*<caption><span>Of ", fragment)
    assert re.search(r"<td>\d\.\d{3}</td>", fragment[:2000])


def test_a_fragment_brings_no_script_and_no_style(fragment):
    tags, names = set(), set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            tags.add(tag)
            names.update(name for name, _ in attrs)

    Reader().feed(fragment)
    plain = {"table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "p", "div", "span", "small", "bdi", "b"}
    plain |= {"ul", "li"}
    assert tags <= plain | {"svg", "title", "desc", "text", "tspan", "path", "g", "circle"}
    assert not {name for name in names if name.startswith("on")} | (names & {"style", "href", "src"})


def test_a_fragment_takes_the_colour_of_its_surroundings(fragment):
    assert "currentColor" in fragment
    assert not re.search(r"#[0-9a-fA-F]{3,6}\"", fragment)


def test_a_fragment_is_small(fragment):
    assert len(fragment.encode()) <= 40_000


def test_a_notebook_gets_html_markdown_and_text():
    bundle = examples.infinite()._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/markdown", "text/plain"}
    assert bundle["text/plain"] == str(examples.infinite())


def test_the_verdicts_of_a_plan_come_first():
    fragment = html.fragment(example("faulty")[0].judged().record)
    assert fragment.startswith("<p>✗ non-conforming. ISO/IEC TS 4213:2022: 1 shall row failed: R-5.3.5-2.</p>")
    assert "claims supported" in fragment
