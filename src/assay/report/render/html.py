# SPDX-License-Identifier: Apache-2.0
"""The report as HTML: one file without requests, whose script only moves a threshold; and what a notebook shows."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache
from string import Template
from typing import Final

from assay.assess.environment import own_version
from assay.assess.record.record import Record
from assay.core.blocks import Block, Bullets, Figure, Grid, Heading, Item, Paragraph, Reach, Table
from assay.core.blocks.lead import Verdict
from assay.report import colours
from assay.report.charts import draw
from assay.report.render import html_blocks
from assay.report.render.html_blocks import escaped, labelled, lines, part_of_page, signed, tag
from assay.report.report_document import report_of

STYLE, SCRIPT, POLICY = "\0style", "\0script", "\0policy"
"""Stand where style, script and policy go until the rest of the page is known; no text from outside has a NUL."""
_CLOSED: Final = re.compile(r"</(?:t[dhr]|thead|tbody|d[dt]|li)>\s*")
"""End tags that HTML leaves to what follows; in a page of hundreds of rows they are a twelfth of it."""
_BROKEN: Final = re.compile(r"\n(?=<(?:t[rh]|tbody|thead|table|div|d[ldt]|li|ul|section|h[23]|p|details|figure)\b)")
"""Breaks before what begins a line anyway."""
_TAG: Final = re.compile(r"<(?:tr|t[dh]|a|div|p|table|section|h[23]|[du]l|li|small|span|b) [^<>]*>")
"""Tags of text and tables, of which a page has thousands; charts stay XML, so that they can be taken out."""
_QUOTED: Final = re.compile(r'="([\w#.-]+)"(?=[ >])')
"""Values of attributes that need no quotes; not before a slash, which would become part of them."""
_UNIT: Final = re.compile(r"(?<=\d) (?=% interval|points (?:more|less|would)|%; smaller)")
"""Where a number meets its unit in a sentence of ours; a label of somebody else is left as it is."""
_CLASSES: Final = re.compile(r'class="([^"]*)"')
_RULE: Final = re.compile(r"([^{}@]+)\{([^{}]*)\}")
_SELECTOR: Final = re.compile(r"(?:[^,(]|\([^)]*\))+")
_CLASS: Final = re.compile(r"\.([A-Za-z][\w-]*)")


def render(record: Record) -> str:
    """The whole page, with of the style only what it uses."""
    report = report_of(record)
    sections = tuple(report.reached(Reach.FULL))
    main = "\n".join(map(html_blocks.section_html, sections))
    script = slider() if ' id="threshold" data-points=' in main else ""
    page = Template(part_of_page("page.html")).substitute(
        title=escaped(report.title),
        label=labelled(report.title),
        kind=escaped(report.kind),
        opening=escaped(report.opening),
        standing=_list("standing", map(_verdict, (*report.verdicts, *report.badges))),
        remarks=_list("remarks", (signed(Item(sign=r.sign, word=r.word, text=r.sentence)) for r in report.remarks)),
        facts="\n".join(f"<div><dt>{escaped(k)}</dt><dd>{escaped(v)}</dd></div>" for k, v in report.facts),
        links="\n".join(f'<li><a href="#{s.id}">{escaped(s.listed or s.title)}</a></li>' for s in sections),
        main=main,
        runs="its one script only moves the threshold" if script else "runs no script",
        version=own_version(),
        policy=POLICY,
        style=STYLE,
        script=f"<script>{SCRIPT}</script>" if script else "",
    )
    used = {name for names in _CLASSES.findall(page) for name in names.split()}
    style = worn(stylesheet(), used)
    filled = {POLICY: escaped(policy(style, script)), STYLE: style, SCRIPT: script}
    return re.sub("|".join(filled), lambda place: filled[place[0]], _brief(page))


def _verdict(v: Verdict) -> str:
    """A verdict as a badge, with what it rests on and a link to it."""
    link = f" {tag('a', v.more, href=f'#{v.anchor}')}" if v.anchor else ""
    word = tag("b", tag("span", v.sign, aria_hidden="true"), " ", escaped(v.word))
    return tag("li", word, " ", tag("span", escaped(v.says), link), class_=v.tone)


def _list(name: str, items: Iterable[str]) -> str:
    listed = list(items)
    return tag("ul", lines(listed), class_=name) + "\n" if listed else ""


def _brief(page: str) -> str:
    """A page without what HTML does not need (some end tags, breaks, quotes around words), whose units stay put."""
    brief = _BROKEN.sub("", _CLOSED.sub("", page))
    return _UNIT.sub("\N{NO-BREAK SPACE}", _TAG.sub(lambda tag: _QUOTED.sub(r"=\1", tag[0]), brief))


def worn(style: str, used: AbstractSet[str]) -> str:
    """The rules of a style sheet that can apply where only some classes are used.

    >>> worn(".a{x:1}.b,p{x:2}@media print{.b .a{x:3}}", {"a"})
    '.a{x:1}p{x:2}@media print{}'
    """

    def kept(rule: re.Match[str]) -> str:
        selectors = [one for one in _SELECTOR.findall(rule[1]) if set(_CLASS.findall(one)) <= used]
        return f"{','.join(selectors)}{{{rule[2]}}}" if selectors else ""

    return _RULE.sub(kept, style)


def policy(style: str, script: str = "") -> str:
    """What a browser may do with the page: use this style and this script, show data images, and nothing else."""
    may_run = f" script-src 'sha256-{_digest(script)}';" if script else ""
    return (
        f"default-src 'none'; style-src 'sha256-{_digest(style)}';{may_run}"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def slider() -> str:
    """The script that moves the threshold; the page is complete without it."""
    stripped = map(str.strip, part_of_page("slider.js").splitlines())
    return "\n".join(line for line in stripped if line and not line.startswith("//"))


@cache
def stylesheet() -> str:
    """All the CSS: colours of both themes, the page, the shades of the matrix."""
    page = "".join(map(str.strip, part_of_page("page.css").splitlines()))
    light = f":root{{{colours.LIGHT.variables()}}}"
    dark = f":root{{{colours.DARK.variables()}}}{colours.rules(colours.DARK)}"
    return f"{light}{page}{colours.rules(colours.LIGHT)}@media screen and (prefers-color-scheme:dark){{{dark}}}"


MOST_ROWS: Final = 20
MOST_CELLS: Final = 12
_STYLED: Final = re.compile(r' (?:class|id|role|tabindex|href|title|hidden|aria-[a-z]+)="[^"]*"')
"""What only a page with its style sheet needs."""
_COLOUR: Final = re.compile(r'"#[0-9a-f]{3,6}"')
CURRENT: Final = '"currentColor"'


def fragment(record: Record) -> str:
    """A fragment of HTML that begins with the verdicts of a plan, if there is one, and a table of numbers."""
    report = report_of(record)
    blocks: list[Block] = [Paragraph(f"{v.sign} {v.word}. {v.says}".rstrip()) for v in report.verdicts]
    drawn = [part for section in report.plain(Reach.NOTEBOOK) for block in section.blocks for part in _cut(block)]
    lead = next((block for block in drawn if isinstance(block, Table) and block.look == "lead"), None)
    blocks.append(Paragraph(report.opening) if lead is None else replace(lead, caption=report.opening))
    blocks += [block for block in drawn if block is not lead]
    blocks += [Paragraph(f"{remark.sign} {remark.sentence}") for remark in report.remarks]
    return "\n".join(map(_html, blocks)) + "\n"


def _cut(block: Block) -> Iterator[Block]:
    """As much of a block as a notebook shows; captions of tables say what headings would."""
    if isinstance(block, Table):
        short = block.cut(MOST_ROWS)
        more = f"; {short.hidden:,} more in the report" if short.hidden else ""
        yield replace(short, caption=f"{block.caption}{more}")
    elif isinstance(block, Bullets):
        yield replace(block, items=block.items[:MOST_ROWS])
    elif not isinstance(block, Heading) and not (isinstance(block, Grid) and len(block.labels) > MOST_CELLS):
        yield block


def _html(block: Block) -> str:
    """A block without what only a page needs; charts are in the colour of the text, which may be light or dark."""
    if isinstance(block, Figure):
        drawn = "".join(map(draw, block.charts)).replace('fill="#fff"', 'fill="none"')
        return f"<div>{_COLOUR.sub(CURRENT, drawn)}</div>"
    return _STYLED.sub("", html_blocks.block_html(block)).replace("<small", " <small")
