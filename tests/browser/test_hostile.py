# SPDX-License-Identifier: Apache-2.0
"""Names that were made to break a page stay text in a real browser."""

from __future__ import annotations

import pytest

from tests.browser.pages import HOSTILE, page, record
from tests.layers.report import examples

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


def counted(opened, name):
    seen = opened(name)
    text, used = seen.page.text_content("body"), record(name).to_text()
    there = [one for one in examples.NASTY[:3] if one.replace('"', '\\"') in used]
    assert bool(there) == name.startswith("hostile")
    assert all(one in text for one in there)  # to be read, as text
    found = seen.page.evaluate(MADE_OF)
    assert [attributes for _, attributes in found if attributes] == []
    assert (seen.dialogs, seen.elsewhere, seen.told) == ([], [], [])
    counts = {}
    for tag, _ in found:
        counts[tag] = counts.get(tag, 0) + 1
    return counts


@pytest.mark.parametrize("name", HOSTILE)
def test_no_element_is_created_from_data(opened, name):
    wild = counted(opened, name)
    assert not {"img", "iframe", "object", "embed", "base", "form"} & set(wild)
    assert wild.get("script", 0) == page(name).count("<script>")  # our own, or none
    if HARMLESS[name] is not None:
        tame = counted(opened, HARMLESS[name])
        # A cut name has a tooltip, which is a title.
        assert {k: n for k, n in wild.items() if k != "title"} == {k: n for k, n in tame.items() if k != "title"}
