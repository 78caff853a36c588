# SPDX-License-Identifier: Apache-2.0
"""axe-core finds no fault in any kind of page, in light and in dark, and every text stands out."""

from __future__ import annotations

import pytest

from tests.browser.contrast import FAINT, check_contrast

KINDS = ["decided", "nine classes", "scores", "comparison", "conformity"]
SHORT = """() => { document.querySelectorAll('details').forEach(one => one.open = true); const seen = {};
  const once = (one, kind) => { seen[kind] ? one.remove() : seen[kind] = true; };
  document.querySelectorAll('.folds > details ~ details').forEach(one => once(one, one.children[1].className));
  document.querySelectorAll('tbody tr, dl.list > div, svg').forEach(one => once(one, [one, ...one.querySelectorAll('*')]
    .map(e => e.localName + '.' + e.getAttribute('class')).join())); }"""
"""Everything unfolded; of parts that are made alike one stays, because axe-core takes its time for each."""
RUN = """([where, rules]) => axe.run(where, {resultTypes: ['violations'], ...rules})
  .then(r => [r.violations, r.passes.length])"""
MOST = (":root", {"rules": {"color-contrast": {"enabled": False}}})
COLOURS = (":root", {"runOnly": ["color-contrast"]})
"""What depends on the theme."""


@pytest.fixture(scope="session")
def axe():
    """The text of axe-core, which is run inside a page; the page's own policy does not bind the tester."""
    base = pytest.importorskip("axe_playwright_python.base", reason="no axe-core here: pip install 'assay[test]'")
    return base.AXE_SCRIPT


def faults(page, rules):
    """What axe-core finds, shortly, and how many rules it found kept."""
    found = page.evaluate(RUN, rules)
    return [(one["id"], one["impact"], one["nodes"][0]["html"][:200], len(one["nodes"])) for one in found[0]], found[1]


@pytest.mark.parametrize("name", KINDS)
def test_axe_finds_no_fault_and_every_text_stands_out_in_light_and_dark(opened, axe, name):
    page = opened(name, theme="dark").page
    check_contrast(page)
    page.evaluate(SHORT)
    page.evaluate(axe)
    found, passed = faults(page, MOST)
    assert found == []
    assert passed > 15
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        assert faults(page, COLOURS) == ([], 1)


def test_axe_finds_faults_that_are_there(opened, axe):
    text = (
        "<!doctype html><html><title>x</title><main><h1>x</h1><img src='data:,'><p style='color:#ccc'>a faint text</p>"
    )
    page = opened("", text=text).page
    page.evaluate(axe)
    assert {"image-alt", "html-has-lang"} <= {one[0] for one in faults(page, MOST)[0]}
    assert [one[0] for one in faults(page, COLOURS)[0]] == ["color-contrast"]
    assert page.evaluate(FAINT)[1]
