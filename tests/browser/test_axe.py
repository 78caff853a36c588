# SPDX-License-Identifier: Apache-2.0
"""axe-core finds no fault in any kind of page, in light and in dark."""

from __future__ import annotations

import pytest

KINDS = ["decided", "nine classes", "scores", "comparison", "conformity"]
SHORT = """() => { document.querySelectorAll('details').forEach(one => one.open = true); const seen = {};
  const once = (one, kind) => { seen[kind] ? one.remove() : seen[kind] = true; };
  document.querySelectorAll('.folds > details ~ details').forEach(one => once(one, one.children[1].className));
  document.querySelectorAll('tbody tr, dl.list > div, svg').forEach(one => once(one, [one, ...one.querySelectorAll('*')]
    .map(e => e.localName + '.' + e.getAttribute('class')).join())); }"""
"""Everything unfolded; of parts that are made alike one stays, because axe-core takes its time for each."""
RUN = "axe.run({resultTypes: ['violations']%s}).then(r => [r.violations, r.passes.length])"
COLOURS = ", runOnly: ['color-contrast']"
"""What depends on the theme."""
FAINT = """() => { const parts = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const lum = c => { const [r, g, b] = parts(c).slice(0, 3).map(v => (v /= 255,
    v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)); return .2126 * r + .7152 * g + .0722 * b; };
  const clear = c => { const p = parts(c); return p.length === 4 && p[3] === 0; };
  const faint = {}, seen = new Set();
  for (const e of document.body.querySelectorAll('*')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    if (['title', 'desc', 'script'].includes(e.localName)) continue;
    const css = getComputedStyle(e), text = e.namespaceURI.endsWith('svg') ? css.fill : css.color;
    let under = e; while (under && clear(getComputedStyle(under).backgroundColor)) under = under.parentElement;
    const ground = getComputedStyle(under || document.body).backgroundColor;
    if (seen.has(text + ground)) continue; seen.add(text + ground);
    const [a, b] = [lum(text), lum(ground)].sort((x, y) => y - x), ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) faint[e.localName + '.' + e.getAttribute('class')] = [text, ground, ratio]; }
  return [seen.size, faint]; }"""
"""Text that stands out too little from its ground, everywhere, text of charts too, which axe-core leaves out."""


@pytest.fixture(scope="session")
def axe():
    """The text of axe-core, which is run inside a page; the page's own policy does not bind the tester."""
    base = pytest.importorskip("axe_playwright_python.base", reason="no axe-core here: pip install 'assay[test]'")
    return base.AXE_SCRIPT


def faults(page, rules=""):
    """What axe-core finds, shortly, and how many rules it found kept."""
    found = page.evaluate(RUN % rules)
    return [(one["id"], one["impact"], one["nodes"][0]["html"][:200], len(one["nodes"])) for one in found[0]], found[1]


@pytest.mark.parametrize("name", KINDS)
def test_axe_finds_no_fault_in_light_and_dark(opened, axe, name):
    page = opened(name).page
    page.evaluate(SHORT)
    page.evaluate(axe)
    found, passed = faults(page)
    assert found == []
    assert passed > 15
    page.emulate_media(color_scheme="dark")
    assert faults(page, COLOURS) == ([], 1)


@pytest.mark.parametrize("name", [*KINDS, "scores of classes", "forty classes", "hostile classes"])
def test_every_text_stands_out_from_its_ground(opened, name):
    page = opened(name).page
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        pairs, faint = page.evaluate(FAINT)
        assert faint == {}
        assert pairs > 5


def test_axe_finds_faults_that_are_there(opened, axe):
    text = (
        "<!doctype html><html><title>x</title><main><h1>x</h1><img src='data:,'><p style='color:#ccc'>a faint text</p>"
    )
    page = opened("", text=text).page
    page.evaluate(axe)
    assert {"image-alt", "html-has-lang", "color-contrast"} <= {one[0] for one in faults(page)[0]}
    assert page.evaluate(FAINT)[1]
