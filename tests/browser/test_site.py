# SPDX-License-Identifier: Apache-2.0
"""The site of the documentation: built strictly, every link followed, nothing fetched, searched from a folder."""

from __future__ import annotations

import re
import zipfile
from functools import cache
from urllib.parse import unquote

import pytest

import run
from assay.measures import REGISTRY
from tests.waiting import LIMIT, wait_until

pytest.importorskip("zensical", reason="the extra docs is not installed: pip install 'assay[docs]'")
FETCHED = re.compile(r"""<(?:script|img|iframe|source)[^>]*?\ssrc="?([^"\s>]+)|<link[^>]*?\shref="?([^"\s>]+)""")
LINK = re.compile(r"""<a[^>]*?\shref="?([^"\s>]+)""")
ID = re.compile(r"""\sid="?([^"\s>]+)""")
ELSEWHERE = re.compile(r"url\(\s*[\"']?(?:https?:)?//|@import")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "site"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(run.ROOT / "docs"))
        from generator.site import build, pack

        pages = {page: page.read_text(encoding="utf-8") for page in build(folder)}
        return folder, pages, pack(folder)


def test_the_site_fetches_nothing_from_elsewhere(site):
    folder, pages, _ = site
    fetched = {target for text in pages.values() for pair in FETCHED.findall(text) for target in pair if target}
    assert {target for target in fetched if re.match(r"(?:https?:)?//", target)} == set()
    styles = [path for path in folder.rglob("*.css") if ELSEWHERE.search(path.read_text(encoding="utf-8"))]
    assert styles == []
    assert [path for path in folder.rglob("*") if path.suffix in (".woff", ".woff2", ".ttf")] == []


@cache
def find_target(folder, name):
    """The file a link from this folder leads to, or None; most pages of a folder have the same links."""
    there = (folder / name).resolve()
    there = there / "index.html" if there.is_dir() else there
    return there if there.exists() else None


def test_every_link_of_the_site_leads_to_a_page_and_a_place(site):
    _, pages, _ = site
    places = {page: set(ID.findall(text)) for page, text in pages.items()}
    for page, text in pages.items():
        if page.name == "404.html":  # served from any place
            continue
        for link in {link for link in LINK.findall(text) if not link.startswith(("https://", "mailto:"))}:
            name, _, anchor = unquote(link).partition("#")
            there = find_target(page.parent, name) if name else page
            assert there, f"{page.name}: {link}"
            assert not anchor or anchor in places.get(there, {anchor}), f"{page.name}: {link}"


def test_formulas_of_measures_are_mathematics(site):
    folder, pages, _ = site
    for measure in REGISTRY:
        assert "<math" in pages[folder / "reference" / "measures" / f"{measure.name}.html"], measure.name


def test_the_zip_holds_the_site(site):
    folder, pages, archive = site
    with zipfile.ZipFile(archive) as file:
        assert {f"site/{page.relative_to(folder).as_posix()}" for page in pages} <= set(file.namelist())
    assert archive.stat().st_size < 8_000_000


def opens_search(page):
    """Whether the key opens the search: the page listens to keys only once its scripts have run."""
    page.keyboard.press("/")
    inner = "document.activeElement.shadowRoot?.activeElement ?? document.activeElement"
    return page.evaluate(f"({inner})?.tagName") == "INPUT"


def answers_search(page, address, answer):
    """Whether the search of a page lists an answer; keys that come before its index is loaded are lost now and then."""
    from playwright.sync_api import TimeoutError as LateError

    page.goto(address)
    wait_until(lambda: opens_search(page))
    page.keyboard.press("Control+A")  # a key that was pressed while the search opened stands in it
    page.keyboard.type("balanced accuracy")
    try:
        page.locator(answer).first.wait_for(state="attached", timeout=20_000)
    except LateError:
        return False
    return True


def test_the_search_answers_from_a_folder_without_network(site, chromium):
    folder, _, _ = site
    context = chromium.new_context(offline=True)
    page = context.new_page()
    asked, faults = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    address = (folder / "reference" / "measures" / "f1.html").as_uri()

    def finds():
        faults.clear()  # those of the attempt that is judged
        return answers_search(page, address, "a[href*='balanced_accuracy.html']")

    wait_until(finds)
    page.get_by_text(re.compile(r"\d+ results")).first.wait_for(timeout=LIMIT * 1000)
    assert faults == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    context.close()
