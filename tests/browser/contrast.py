# SPDX-License-Identifier: Apache-2.0
"""Colours of a page in light and in dark, and whether its texts stand out."""

from __future__ import annotations

from assay.report.colours import DARK, LIGHT

PAGE = "(css => [css.backgroundColor, css.color])(getComputedStyle(document.body))"
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


def colour(text):
    return "rgb({}, {}, {})".format(*(int(text[i : i + 2], 16) for i in (1, 3, 5)))


def check_contrast(page):
    """Light and dark follow the reader, and every text stands out from its ground."""
    for theme, colours in (("dark", DARK), ("light", LIGHT)):
        page.emulate_media(color_scheme=theme)
        assert page.evaluate(PAGE) == [colour(colours.page), colour(colours.ink)]
        pairs, faint = page.evaluate(FAINT)
        assert faint == {}
        assert pairs > 5
