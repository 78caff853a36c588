# SPDX-License-Identifier: Apache-2.0
"""What a reader sees: in light and dark, on a phone, on paper, without scripts; and what is never asked for."""

from __future__ import annotations

import io
import re

import pytest
from pypdf import PdfReader

from assay.report.colours import DARK, LIGHT
from assay.report.render.html import render
from tests.browser.pages import MADE, page
from tests.layers.report import examples
from tests.paper import read_pages

UNFOLD = "document.querySelectorAll('details').forEach(one => one.open = true)"
WIDTHS = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
GROUND = "getComputedStyle(document.body).backgroundColor"


def colour(text):
    return "rgb({}, {}, {})".format(*(int(text[i : i + 2], 16) for i in (1, 3, 5)))


@pytest.mark.parametrize("name", MADE)
def test_a_page_fits_a_phone_asks_for_nothing_and_has_no_complaint(opened, name):
    seen = opened(name, width=360)
    assert seen.page.evaluate(WIDTHS) == [360, 360]
    seen.page.evaluate(UNFOLD)
    assert seen.page.evaluate(WIDTHS) == [360, 360]
    assert (seen.elsewhere, seen.told, seen.dialogs) == ([], [], [])
    assert seen.page.evaluate("performance.getEntriesByType('resource').length") == 0
    assert seen.page.evaluate("getComputedStyle(document.querySelector('h2')).fontWeight") == "650"


@pytest.mark.parametrize("name", ["scores", "comparison", "conformity"])
def test_light_and_dark_follow_the_reader(opened, name):
    seen = opened(name, theme="dark").page
    assert seen.evaluate(GROUND) == colour(DARK.page)
    assert seen.evaluate("getComputedStyle(document.body).color") == colour(DARK.ink)
    seen.emulate_media(color_scheme="light")
    assert seen.evaluate(GROUND) == colour(LIGHT.page)
    assert seen.evaluate("getComputedStyle(document.body).color") == colour(LIGHT.ink)


@pytest.mark.parametrize("name", ["scores", "conformity", "comparison"])
def test_nothing_is_lost_without_scripts(opened, name):
    read = "one => one.textContent"
    without, with_ = (opened(name, scripts=scripts).page.eval_on_selector("main", read) for scripts in (False, True))
    assert without == with_
    assert len(without) > 5_000


def test_a_slider_that_cannot_move_is_not_shown(opened):
    assert not opened("scores", scripts=False).page.locator("#t").is_visible()
    assert opened("scores").page.locator("#t").is_visible()


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
