# SPDX-License-Identifier: Apache-2.0
"""What a reader sees: on a phone, on paper, without scripts; what is never asked for, and names that stay text."""

from __future__ import annotations

import io
import re
from collections import Counter
from functools import cache
from types import SimpleNamespace

import pytest
from pypdf import PdfReader

from assay.report.render.html import render
from tests.browser.contrast import check_contrast
from tests.browser.pages import HOSTILE, MADE, page, record
from tests.browser.windows import opener
from tests.layers.report import examples
from tests.paper import read_pages

UNFOLD = "document.querySelectorAll('details').forEach(one => one.open = true)"
WIDTHS = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
GROUND = "getComputedStyle(document.body).backgroundColor"
MADE_OF = """() => [...document.querySelectorAll('*')].map(one => [one.localName,
  [...one.attributes].map(a => a.name).filter(a => a.startsWith('on') || a === 'style' || a === 'srcdoc')])"""
HARMLESS = {
    "hostile classes": None,
    "hostile scores": "scores",
    "hostile scores of classes": "scores of classes",
    "hostile models": "comparison",
    "hostile ranks": "mean ranks",
    "hostile conformity": "conformity",
}


@pytest.fixture(scope="module")
def phone(chromium, kept_window, tmp_path_factory):
    """What a phone shows of a page: each is loaded once, looked at folded, then unfolded."""
    with opener(chromium, kept_window, tmp_path_factory.mktemp("phone")) as opening:

        @cache
        def look(name):
            seen = opening(name, width=360)
            widths = [seen.page.evaluate(WIDTHS)]
            seen.page.evaluate(UNFOLD)
            widths.append(seen.page.evaluate(WIDTHS))
            facts = SimpleNamespace(
                widths=widths,
                elements=seen.page.evaluate(MADE_OF),
                text=seen.page.text_content("body"),
                resources=seen.page.evaluate("performance.getEntriesByType('resource').length"),
                heading=seen.page.evaluate("getComputedStyle(document.querySelector('h2')).fontWeight"),
                happened=(seen.elsewhere, seen.told, seen.dialogs),
            )
            seen.leave()
            return facts

        yield look


@pytest.mark.parametrize("name", MADE)
def test_a_page_fits_a_phone_asks_for_nothing_and_has_no_complaint(phone, name):
    seen = phone(name)
    assert seen.widths == [[360, 360], [360, 360]]
    assert seen.happened == ([], [], [])
    assert seen.resources == 0
    assert seen.heading == "650"


def count_elements(phone, name):
    """Elements by their tag; names are there as text, and no element has an attribute that runs or loads something."""
    seen, used = phone(name), record(name).to_text()
    there = [one for one in examples.NASTY[:3] if one.replace('"', '\\"') in used]
    assert bool(there) == name.startswith("hostile")
    assert all(one in seen.text for one in there)  # to be read, as text
    assert [attributes for _, attributes in seen.elements if attributes] == []
    assert seen.happened == ([], [], [])
    return Counter(tag for tag, _ in seen.elements)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_element_is_created_from_data(phone, name):
    wild = count_elements(phone, name)
    assert not {"img", "iframe", "object", "embed", "base", "form"} & set(wild)
    assert wild["script"] == page(name).count("<script>")  # our own, or none
    if HARMLESS[name] is not None:
        tame = count_elements(phone, HARMLESS[name])
        # A cut name has a tooltip, which is a title.
        assert {k: n for k, n in wild.items() if k != "title"} == {k: n for k, n in tame.items() if k != "title"}


@pytest.mark.parametrize("name", ["scores", "conformity", "comparison"])
def test_nothing_is_lost_without_scripts_and_no_slider_shown_that_cannot_move(opened, name):
    read = "one => one.textContent"
    without, with_ = (opened(name, scripts=scripts).page for scripts in (False, True))
    assert without.eval_on_selector("main", read) == with_.eval_on_selector("main", read)
    assert len(without.eval_on_selector("main", read)) > 5_000
    assert not without.locator("#t").is_visible()
    assert with_.locator("#t").is_visible() == (name == "scores")


@pytest.mark.parametrize("name", ["scores", "conformity", "comparison"])
def test_paper_gets_everything_on_white(opened, name):
    seen = opened(name, theme="dark").page
    seen.emulate_media(media="print", color_scheme="dark")
    assert seen.evaluate(GROUND) == "rgb(255, 255, 255)"
    for hidden in ("nav", ".skip", "#t", ".pick"):
        assert not any(one.is_visible() for one in seen.locator(hidden).all())
    printed = seen.pdf(format="A4", prefer_css_page_size=True)
    text = re.sub(r"\s", "", "".join(read_pages(printed)))
    for folded in seen.eval_on_selector_all("details summary", "all => all.map(one => one.textContent)"):
        assert re.sub(r"\s", "", folded) in text
    inside = seen.eval_on_selector_all(
        "details th[scope=row], details dd", "all => all.slice(0, 60).map(one => one.firstChild?.textContent || '')"
    )
    assert all(re.sub(r"\s", "", one) in text for one in inside)
    assert PdfReader(io.BytesIO(printed)).pages[0].mediabox.width < 600


@pytest.mark.parametrize("name", ["scores of classes", "forty classes", "hostile classes"])
def test_every_text_stands_out_from_its_ground_in_light_and_dark(opened, name):
    check_contrast(opened(name, theme="dark").page)


def test_the_watcher_sees_a_script_a_picture_and_a_wide_line(opened):
    """The checks above can fail."""
    good = render(examples.infinite().record)
    loose = re.sub(r"<meta http-equiv=[^>]*>", "", good)
    bad = "<p>{}</p><img src='https://192.0.2.1/x.png' alt=''><script>alert(1)</script></main>".format("w" * 900)
    seen = opened("", width=360, text=loose.replace("</main>", bad))
    assert seen.page.evaluate(WIDTHS)[0] > 360
    assert seen.elsewhere == ["https://192.0.2.1/x.png"]
    assert seen.dialogs == ["1"]
    strict = opened("", width=360, text=good.replace("</main>", bad))
    assert strict.dialogs == []
    assert sum("Content Security Policy" in one for one in strict.told) >= 2


def test_pages_are_small():
    """Of a thousand rows or fewer; the conformity statement has a hundred and fifty rows of its own."""
    sizes = {name: len(page(name).encode()) for name in MADE if not name.startswith(("hostile", "forty"))}
    assert {name: size for name, size in sizes.items() if size > 150_000} == {}
