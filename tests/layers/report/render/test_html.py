# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from assay.assess.assess import assess
from assay.core.text import figure, visible
from assay.report.render.html import render
from tests import flat
from tests.layers.report import examples

VOID = {"meta", "link", "br"}
NAMESPACE = "http://www.w3.org/2000/svg"
ALLOWED = """
    html head meta title link style body a header p b h1 ul li span dl div dt dd nav main section h2 h3 small table
    caption thead tbody tfoot tr th td bdi details summary code footer figure svg desc path circle g text tspan
    math mrow mfrac msup msub msubsup munder msqrt mi mn mo mtext mtable mtr mtd
"""


ENDED_BY = {
    "td": ("td", "th"),
    "th": ("td", "th"),
    "tr": ("td", "th", "tr"),
    "tbody": ("td", "th", "tr", "thead", "tbody"),
    "dd": ("dd", "dt"),
    "dt": ("dd", "dt"),
    "li": ("li",),
}
"""Elements whose end HTML takes from the start of another; the end of what they stand in ends them too."""
IMPLIED = {name for ended in ENDED_BY.values() for name in ended}


class Page(HTMLParser):
    """The elements of a page, its text, and whether every element was closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.open, self.faults = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        while self.open and self.open[-1] in ENDED_BY.get(tag, ()):
            self.open.pop()
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        while self.open and self.open[-1] in IMPLIED and self.open[-1] != tag:
            self.open.pop()
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)

    def handle_comment(self, data):
        self.faults.append(f"comment {data}")

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]

    @property
    def text(self):
        return "".join(self.texts)


CASES = {
    "binary": examples.screening,
    "nine classes": lambda: examples.classes(9),
    "nasty": examples.nasty,
    "infinite": examples.infinite,
    "weighted": examples.weighted,
    "one class": examples.lonely,
    "many classes": lambda: examples.classes(300, rows=4000, grouped=False),
}


@pytest.fixture(scope="module", params=CASES, ids=CASES)
def written(request):
    return render(CASES[request.param]().record)


@pytest.fixture(scope="module")
def attacked():
    return render(examples.nasty().record)


def test_every_element_is_known_and_closed(written):
    page = Page(written)
    assert not page.faults
    assert not page.open
    assert {name for name, _ in page.elements} <= set(ALLOWED.split())


def test_nothing_is_asked_of_the_network(written):
    page = Page(written)
    linked = [value for _, attrs in page.elements for key, value in attrs.items() if key in ("href", "src", "action")]
    assert linked
    assert all(value.startswith("#") or value == "data:," for value in linked)
    style = re.search("<style>(.*?)</style>", written, re.DOTALL)[1]
    assert not re.search(r"(?i)url\(|@import|https?:", style)


def test_the_policy_allows_this_style_and_nothing_else(written):
    style = re.search("<style>(.*?)</style>", written, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = [m["content"] for m in Page(written).all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def test_no_attribute_runs_anything_or_styles_itself(written):
    for _, attrs in Page(written).elements:
        assert not [name for name in attrs if name.startswith("on") or name == "style"]


def test_a_page_has_language_title_and_headings_in_order(written):
    page = Page(written)
    assert page.all("html") == [{"lang": "en"}]
    assert "<title>Assessment of " in written
    levels = [int(name[1]) for name, _ in page.elements if name in ("h1", "h2", "h3")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_identifiers_are_unique_and_every_link_leads_somewhere(written):
    page = Page(written)
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(set(ids)) == len(ids)
    assert {a["href"][1:] for a in page.all("a")} <= set(ids)
    assert {attrs["aria-labelledby"] for _, attrs in page.elements if "aria-labelledby" in attrs} <= set(ids)


def test_every_table_has_a_caption_and_scoped_heads(written):
    page = Page(written)
    assert len(page.all("caption")) == len(page.all("table")) > 2
    assert {th.get("scope") for th in page.all("th")} <= {"col", "row", "colgroup", "rowgroup"}


def test_every_chart_is_xml_with_a_text_alternative(written):
    charts = re.findall("<svg.*?</svg>", written, re.DOTALL)
    assert charts
    for chart in charts:
        svg = examples.drawn(chart)
        assert svg.get("role") == "img"
        assert svg.findtext(f"{{{NAMESPACE}}}title")


def test_every_forest_is_followed_by_its_numbers(written):
    for after in written.split("</figure>")[1:]:
        assert after.lstrip().startswith("<details>\n<summary>The numbers")


@pytest.mark.parametrize("label", examples.NASTY, ids=range(len(examples.NASTY)))
def test_a_hostile_name_is_shown_as_text(attacked, label):
    assert visible(label) in Page(attacked).text


def test_no_element_is_created_from_data():
    """The same matrix with harmless names gives the same elements, but for the tooltips of names that were cut."""
    cells = {"confusion": examples.nasty().confusion.matrix(), "orientation": "rows=truth"}
    wild = flat.assess(**cells, labels=examples.nasty().labels)
    tame = flat.assess(**cells, labels=[f"n{i:03}" for i in range(len(examples.NASTY))])
    pages = [Page(render(one.record)) for one in (wild, tame)]
    assert "<script>" in pages[0].text
    assert Counter(tag for tag, _ in pages[0].elements if tag != "title") == Counter(
        tag for tag, _ in pages[1].elements if tag != "title"
    )


def test_a_file_name_is_escaped_too(tmp_path):
    path = tmp_path / "<img src=x>.csv"
    path.write_text("t,p\na,a\nb,b\nc,c\n")
    page = Page(render(assess(data=str(path), truth="t", predicted="p").record))
    assert "Assessment of <img src=x>.csv" in page.text
    assert not page.all("img")


def test_undefined_values_come_with_their_reasons():
    page = Page(render(examples.pinned("multiclass")))
    assert "∅ undefined" in page.text
    assert 'no row was predicted "d"' in page.text
    assert "counting it as 0: 0.533; leaving it out: 0.710" in page.text


def test_infinite_values_come_with_their_reasons():
    page = Page(render(examples.infinite().record))
    assert "infinite" in page.text
    assert "its formula divides by 0 here" in page.text


def test_weighted_rows_say_what_their_intervals_rest_on():
    assert "intervals rest on how unequal the weights are" in Page(render(examples.weighted().record)).text


def test_thirty_classes_of_the_matrix_are_shown_and_the_rest_added_up():
    page = Page(render(examples.classes(60).record))
    assert "The 30 largest classes are shown; the other 30 are added up." in page.text
    assert "other (30 classes)" in page.text


def test_two_hundred_classes_are_listed_and_the_page_says_how_many_are_not():
    page = Page(render(examples.classes(300, rows=4000, grouped=False).record))
    assert "The 200 largest classes are shown; 100 more are not" in page.text


@pytest.mark.parametrize(
    "made", [lambda: examples.screening(1000), lambda: examples.classes(10)], ids=["binary", "ten"]
)
def test_a_page_of_a_thousand_rows_is_small(made):
    assert len(render(made().record).encode()) <= 150_000


def test_the_size_of_a_page_does_not_grow_with_the_rows():
    small, large = (len(render(examples.screening(rows).record)) for rows in (1_000, 200_000))
    assert large <= 1.2 * small


def test_every_value_of_the_page_is_in_the_record():
    """Three digits after the point stand only where the Record has a number that rounds to them."""
    for record in (examples.pinned("binary"), examples.pinned("multiclass")):
        text = Page(render(record)).text.partition("Readings of the sources")[0]
        shown = set(re.findall(r"(?<![\d.])-?\d\.\d{3}(?![\d.])", text))
        ends = [one[key] for one in record["estimates"] for key in ("value", "low", "high") if key in one]
        known = {figure(end) for end in ends if end is not None}
        known |= set(re.findall(r"\d\.\d{3}", " ".join(one.get("undefined", "") for one in record["estimates"])))
        assert shown
        assert shown <= known


def test_the_same_record_gives_the_same_page():
    assert render(examples.pinned("binary")) == render(examples.pinned("binary"))
