# SPDX-License-Identifier: Apache-2.0
"""Blocks as HTML; every text is escaped here and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from assay.core import blocks as tree
from assay.core.text import counted
from assay.report import charts, colours
from assay.report.mathml import mathml

FEW: Final = 3
TILTED: Final = 7
"""More columns than this, or a long name, and the heads of a grid stand upright."""
DENSE: Final = 15
LONG: Final = 12
VERDICTS: Final = ("good", "bad", "open")
TONES: Final = {"soft": "soft", "strong": "equation", "warn": "warn", "areas": "areas"}
_STYLED: Final = re.compile(r'<(?:svg|[a-z]+ class="(?:so|gr|iv|pt|tk|rf|bs|ln|ln2|bd|mk|ct|up|dn|hs|hd)")[^>]*>')
"""Start tags of charts whose colours the style sheet sets."""
_SAID: Final = re.compile(
    r' (?:xmlns|font-family|width(?=="\d+" h)|height(?=="\d+" f)|(?:stroke|fill)(?:-opacity)?)="(?!none")[^"]*"'
    r'| font-size="(?:10|10.5|13)"| font-weight="600"'
)
"""What they need not say: a style sheet does, or the view box."""


def escaped(text: str) -> str:
    """A text that becomes neither an element nor the end of an attribute."""
    return escape(text).replace("&#x27;", "&#39;")


def labelled(text: str) -> str:
    """A text from outside, whose direction of writing stays its own."""
    return f"<bdi>{escaped(text)}</bdi>"


@cache
def part_of_page(name: str) -> str:
    """A file beside this one, of which pages are made."""
    return files("assay.report.render").joinpath(name).read_text(encoding="utf-8")


def tag(name: str, *inside: str, **attributes: str) -> str:
    """An element; attributes without a value are left out.

    >>> tag("td", "1", class_="num", id=""), tag("a", "x", href="#x")
    ('<td class="num">1</td>', '<a href="#x">x</a>')
    """
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{value}"' for key, value in attributes.items() if value)
    return f"<{name}{given}>{''.join(inside)}</{name}>"


def small(text: str, before: str = "", **attributes: str) -> str:
    """A smaller text, or nothing."""
    return before + tag("small", escaped(text), **attributes) if text else ""


def lines(parts: Iterable[str]) -> str:
    """Parts on lines of their own."""
    return "\n".join(("", *parts, ""))


def section_html(section: tree.Section) -> str:
    """A section with its title."""
    title = tag("h2", escaped(section.title), id=f"h-{section.id}")
    inside = lines((title, *map(block_html, section.blocks)))
    return tag("section", inside, id=section.id, aria_labelledby=f"h-{section.id}")


def block_html(block: tree.Block) -> str:  # noqa: C901, PLR0911  one case for each kind of block
    """A block of any kind."""
    match block:
        case tree.Paragraph(text=text, tone=tone):
            return tag("p", escaped(text), class_=TONES.get(tone, ""))
        case tree.Heading(text=text):
            return tag("h3", labelled(text))
        case tree.Bullets(items=items, look="signed" | "verdicts" as look):
            drawn, name = (signed, "remarks") if look == "signed" else (_judged, "unmet")
            return tag("ul", lines(map(drawn, items)), class_=name)
        case tree.Bullets(items=items):
            return tag("ul", *(tag("li", labelled(item.text)) for item in items), class_="plain")
        case tree.Terms():
            return _terms(block)
        case tree.Figure():
            return _figure(block)
        case tree.Card(blocks=blocks, look=look, id=place):
            return tag("div", lines(map(block_html, blocks)), class_=_classes("card", look), id=place)
        case tree.Fold(title=title, blocks=blocks):
            place = (f' id="{block.id}"' if block.id else "") + (" open" if block.open else "")
            summary = tag("summary", escaped(title), small(block.more or block.lead, " "))
            return f"<details{place}>{lines((summary, *map(block_html, blocks)))}</details>"
        case tree.Table():
            return _table(block)
        case tree.Grid():
            return _grid(block)
        case tree.Threshold():
            return _threshold(block)
    raise TypeError(type(block))


def chart_html(chart: tree.Chart) -> str:
    """A chart for a page: what the style sheet says anyway is left out, because a page holds dozens of charts."""
    return _STYLED.sub(lambda tag: _SAID.sub("", tag.group()), charts.draw(chart))


def _classes(*names: str) -> str:
    return " ".join(filter(None, names))


def signed(item: tree.Item) -> str:
    """An entry that a sign opens."""
    word = f"{tag('b', escaped(item.word))} " if item.word else ""
    text = tag("span", word, escaped(item.text), *(small(below, " ") for below in item.below))
    return tag("li", tag("b", item.sign, aria_hidden="true"), text)


def _judged(item: tree.Item) -> str:
    name = tag("a", escaped(item.name), href=f"#{item.anchor}")
    text = tag("span", name, " ", escaped(item.text), *map(small, item.below))
    return tag("li", tag("b", escaped(item.word)), " ", text, class_=item.style)


def _pairs(pairs: Iterable[tuple[str, str]], **attributes: str) -> str:
    return tag("dl", *(tag("dt", escaped(name)) + tag("dd", text) for name, text in pairs), **attributes)


def _terms(block: tree.Terms) -> str:
    if block.look == "list":
        return tag("dl", lines(map(_term, block.terms)), class_="list")
    texts = (tag("code", escaped(t.text)) if block.look == "code" else escaped(t.text) for t in block.terms)
    return _pairs(((t.name, text) for t, text in zip(block.terms, texts, strict=True)), class_="terms")


def _figure(block: tree.Figure) -> str:
    below = "\n" + tag("p", escaped(block.note), class_="soft") if block.note else ""
    panels = {"class_": "panels many" if block.look == "many" else "panels", "role": "group"}
    return tag("figure", lines(map(chart_html, block.charts)), **panels, aria_label=escaped(block.alt)) + below


def _term(term: tree.Term) -> str:
    more = small(term.more, " ")
    text = tag("dd", _coded(term.text), more) if term.text or more else ""
    return tag("div", tag("dt", escaped(term.name), small(term.symbol, " ")), text, id=term.id)


def _coded(text: str) -> str:
    """Prose with names between backticks, which become code."""
    parts = enumerate(map(escaped, text.split("`")))
    return "".join(tag("code", part) if i % 2 else part for i, part in parts)


def _wide(name: str, look: str, caption: str, head: str, body: str) -> str:
    """A table that scrolls by itself where it is wider than the page."""
    titled = tag("caption", tag("span", escaped(caption)))
    table = tag("table", lines((titled, tag("thead", head), body)), class_=look)
    return tag("div", lines([table]), class_="wide", role="region", tabindex="0", aria_label=f"Table: {escaped(name)}")


def _table(block: tree.Table) -> str:
    kinds = [column.kind for column in block.columns]
    all_numbers = kinds[0] != "number" and set(kinds[1:]) == {"number"}
    alone = "num" if block.look != "kin" and not all_numbers else ""
    sides = [alone if kind == "number" else "" for kind in kinds]
    names = zip(block.columns, sides, strict=True)
    heads = (tag("th", escaped(column.name), scope="col", class_=side) for column, side in names)
    bodies: list[list[str]] = [[]]
    for row in block.rows:
        if row.title:
            title = tag("th", escaped(row.title), scope="rowgroup", colspan=str(len(block.columns)))
            bodies.append([tag("tr", title, class_="clause")])
        else:
            cells = zip(row.cells, block.columns, sides, strict=True)
            drawn = (_cell(*cell, block.look, head=not i and kinds[0] != "number") for i, cell in enumerate(cells))
            bodies[-1].append(tag("tr", *drawn, class_=row.style, id=row.id))
    body = "\n".join(tag("tbody", lines(rows)) for rows in bodies if rows)
    look = _classes("" if block.look == "judged" else block.look, "nums" if all_numbers else "")
    return _filters(block) + _wide(block.name, look, block.caption, tag("tr", *heads), body)


def _filters(block: tree.Table) -> str:
    """Buttons that show one kind of rows; the style sheet does it, without a script."""
    if not block.filters:
        return ""
    labels = (
        tag(
            "label",
            f'<input type="radio" name="rows" id="only-{f.style.removeprefix("v-")}"> ',
            tag("b", f.sign, aria_hidden="true"),
            f" {escaped(f.name)}{small(f.more, ' ')}",
        )
        for f in block.filters
    )
    every = '<label><input type="radio" name="rows" id="all-rows" checked> all</label>'
    return tag("fieldset", "<legend>Show rows</legend>", lines((every, *labels)), class_="pick") + "\n"


def _cell(cell: tree.Cell, column: tree.Column, side: str, look: str, *, head: bool) -> str:
    judged, verdict = look in ("judged", "looked"), cell.tone if cell.tone in VERDICTS else ""
    text = escaped(cell.text)
    if column.kind == "formula":
        text = mathml(cell.text) or tag("code", text)
    elif column.kind in ("name", "prose") and text and not judged:
        text = labelled(cell.text)
    if cell.anchor:
        text = tag("a", text, href=f"#{cell.anchor}")
    sign = f"{cell.sign} " if cell.sign else ""
    text = _toned(text, cell, column, look)
    if look == "kin" and cell.typed:
        text += tag("code", escaped(cell.typed))
    if cell.links:
        text += tag("small", " ".join(map(_link, cell.links)))
    warn = sign if cell.tone == "warn" and not judged else ""
    why = "" if judged or column.kind == "number" else "why warn" if warn else "why"
    text += small(f"{warn}{cell.below}" if cell.below else "", class_=why) + small(cell.why, class_="why")
    text += _facts(cell.facts)
    return (
        tag("th", text, scope="row")
        if head
        else tag("td", text, class_=_classes(side, "decided" if verdict else "", verdict))
    )


def _toned(text: str, cell: tree.Cell, column: tree.Column, look: str) -> str:
    """The text of a cell in its tone."""
    if cell.tone in VERDICTS:
        return tag("b", tag("span", cell.sign, aria_hidden="true"), " ", text)
    if cell.tone == "strong":
        return tag("b", text)
    if cell.tone == "warn" and look not in ("judged", "looked") and not cell.below:
        return tag("span", f"{cell.sign} " if cell.sign else "", text, class_="warn")
    if cell.tone == "soft" and look == "kin" and column.kind == "text":
        return tag("small", text, class_="why")
    return text


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    named = _pairs((name, escaped(value)) for name, value in facts)
    return tag("details", tag("summary", counted(len(facts), "fact")), named) if facts else ""


def _link(link: tree.Link) -> str:
    place = f"#{link.anchor}" if link.anchor else ""
    return tag("a" if place else "i", escaped(link.text), class_=link.style, href=place)


def _named(text: str) -> str:
    """A name that may be cut, with the whole of it as a tooltip."""
    return tag("bdi", escaped(text), title=escaped(text) if len(text) > LONG else "")


def _grid(block: tree.Grid) -> str:
    size = len(block.labels)
    tilt = "tilt" if size > TILTED or max(map(len, block.labels)) > LONG else ""
    look = _classes("heat", "few" if size <= FEW else tilt, "dense" if size > DENSE else "")
    across = tag("th", block.across, class_="axis", scope="colgroup", colspan=str(size))
    heads = "".join(tag("th", _named(name), scope="col") for name in block.labels)
    corner, total = '<td colspan="2"></td>', '<th class="sum" scope="col">all</th>'
    head = lines((tag("tr", corner, across, "<td></td>"), tag("tr", corner, heads, total)))
    first = tag("th", tag("span", block.down), class_="axis", scope="rowgroup", rowspan=str(size))
    rows: list[str] = []
    for label, cells, total in zip(block.labels, block.rows, block.sums, strict=True):
        drawn = "".join(map(_grid_cell, cells))
        rows.append(tag("tr", "" if rows else first, tag("th", _named(label), scope="row"), drawn, _sum(total)))
    totals = "".join(map(_sum, (*block.totals, block.total)))
    foot = tag("tfoot", lines([f'<tr><td></td><th class="sum" scope="row">all</th>{totals}</tr>']))
    return _wide("Confusion matrix", look, block.caption, head, tag("tbody", lines(rows)) + "\n" + foot)


def _grid_cell(cell: tree.GridCell) -> str:
    look = _classes(colours.shade(cell.share, right=cell.right), "ok" if cell.right else "")
    return '<td class="z">0</td>' if cell.empty else tag("td", cell.text, tag("small", cell.below), class_=look)


def _sum(total: str) -> str:
    return tag("td", total, class_="sum")


def _threshold(block: tree.Threshold) -> str:
    moving = slider = ""
    if block.points:
        moving = f' id="threshold" data-points="{block.points}"'
        moving += f' data-totals="{block.totals}"' if block.totals else ""
        slider = (
            f'<input type="range" id="t" min="0" max="{block.points.count(";")}" value="{block.at}" step="1"'
            ' aria-describedby="t-says" hidden>\n'
        )
    rates = "\n".join(f'<div><dt>{word}</dt><dd id="r-{id_}">{value}</dd></div>' for id_, word, value in block.rates)
    filled = Template(part_of_page("threshold.html")).substitute(
        dict(zip(("tp", "fp", "fn", "tn"), block.cells, strict=True)),
        moving=moving,
        slider=slider,
        threshold=escaped(block.threshold),
        chosen=labelled(block.chosen),
        warning=f' <span class="warn">{block.warning}</span>' if block.warning else "",
        unit=escaped(block.unit.capitalize()),
        name=_named(block.positive),
        rates=rates,
    )
    return filled.removesuffix("\n")
