# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from html import unescape

import pytest

from assay.core.text import visible
from assay.report.render.markdown import name, prose, render
from tests.layers.report import examples


def columns(line):
    """How many columns a table row has, as GitHub counts them: a backslash takes the next mark with it."""
    return len(re.findall(r"\|", re.sub(r"\\.", "", line))) - 1


@pytest.mark.parametrize("case", ["binary", "multiclass"])
def test_the_text_reads_as_pinned(case):
    assert render(examples.pinned(case)) == (examples.HERE / f"{case}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("made", [examples.screening, examples.nasty, examples.infinite, examples.lonely])
def test_every_table_keeps_its_columns(made):
    tables = re.findall(r"(?:^\|.*\n)+", render(made().record), re.MULTILINE)
    assert len(tables) > 3
    for table in tables:
        assert len({columns(line) for line in table.splitlines()}) == 1


@pytest.mark.parametrize("label", examples.NASTY, ids=range(len(examples.NASTY)))
def test_a_name_is_plain_code_or_spelled_out(label):
    shown = visible(label)
    text = name(shown)
    inside = re.fullmatch(r"<code>(.*)</code>|`(.*)`|(.*)", text)
    spelled, code, plain = inside.groups()
    assert unescape(spelled) == shown if spelled is not None else (code or plain) == shown
    assert "|" not in text
    if spelled is not None:
        assert not re.search(r"[^\w&#;\s]", spelled, re.ASCII) or not spelled.isascii()


def test_a_sentence_cannot_become_markup():
    text = prose("<b>*a*</b> [x](https://example.org) @you #12 www.example.org | `c`")
    assert text == (
        "\\<b\\>\\*a\\*\\</b\\> \\[x\\](https&#58;//example.org) <code>@</code>you <code>#</code>12"
        " www&#46;example.org \\| \\`c\\`"
    )


@pytest.mark.parametrize("start", ["- a", "+ a", "1. a", "1) a", "---", "==="])
def test_a_sentence_cannot_begin_a_list_or_a_rule(start):
    assert "\\" in prose(start)


def test_undefined_and_infinite_values_come_with_their_reasons():
    assert '- `precision_macro`: class "d" has no value' in render(examples.pinned("multiclass"))
    text = render(examples.infinite().record)
    assert re.search(r"- `likelihood_ratio_positive`: infinite; its formula divides by 0 here", text)
