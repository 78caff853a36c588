# SPDX-License-Identifier: Apache-2.0
"""Blocks as HTML; every text is escaped here and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, Final

from assay.core import blocks as tree
from assay.core.text import counted
from assay.report import charts, colours
from assay.report.mathml import mathml

FEW: Final = 3
TILTED: Final = 7
"""More columns than this, or a long name, and the heads of a grid stand upright."""
DENSE: Final = 15
LONG: Final = 12
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


def section_html(section: tree.Section) -> str:
    """A section with its title."""
    place = section.id
    inside = "\n".join(map(block_html, section.blocks))
    title = f'<h2 id="h-{place}">{escaped(section.title)}</h2>'
    return f'<section id="{place}" aria-labelledby="h-{place}">\n{title}\n{inside}\n</section>'


def block_html(block: tree.Block) -> str:
    """A block of any kind."""
    return DRAWN[type(block)](block)


def chart_html(chart: tree.Chart) -> str:
    """A chart for a page: what the style sheet says anyway is left out, because a page holds dozens of charts."""
    return _STYLED.sub(lambda tag: _SAID.sub("", tag.group()), charts.draw(chart))


def _class(*names: str) -> str:
    kept = " ".join(filter(None, names))
    return f' class="{kept}"' if kept else ""


def _paragraph(block: tree.Paragraph) -> str:
    return f"<p{_class(TONES.get(block.tone, ''))}>{escaped(block.text)}</p>"


def _heading(block: tree.Heading) -> str:
    return f"<h3>{labelled(block.text)}</h3>"


def _bullets(block: tree.Bullets) -> str:
    if block.look == "signed":
        return f'<ul class="remarks">\n{_joined(map(signed, block.items))}\n</ul>'
    if block.look == "verdicts":
        return f'<ul class="unmet">\n{_joined(map(_judged, block.items))}\n</ul>'
    return f'<ul class="plain">{"".join(f"<li>{labelled(item.text)}</li>" for item in block.items)}</ul>'


def _joined(parts: Any) -> str:  # noqa: ANN401  any iterable of texts
    return "\n".join(parts)


def signed(item: tree.Item) -> str:
    """An entry that a sign opens."""
    word = f"<b>{escaped(item.word)}</b> " if item.word else ""
    below = "".join(f" <small>{escaped(text)}</small>" for text in item.below)
    sign = f'<b aria-hidden="true">{item.sign}</b>'
    return f"<li>{sign}<span>{word}{escaped(item.text)}{below}</span></li>"


def _judged(item: tree.Item) -> str:
    below = "".join(f"<small>{escaped(text)}</small>" for text in item.below)
    name = f'<a href="#{item.anchor}">{escaped(item.name)}</a>'
    return f"<li{_class(item.style)}><b>{escaped(item.word)}</b> <span>{name} {escaped(item.text)}{below}</span></li>"


def _terms(block: tree.Terms) -> str:
    if block.look == "list":
        return f'<dl class="list">\n{_joined(map(_term, block.terms))}\n</dl>'
    code = ("<code>", "</code>") if block.look == "code" else ("", "")
    pairs = (f"<dt>{escaped(t.name)}</dt><dd>{code[0]}{escaped(t.text)}{code[1]}</dd>" for t in block.terms)
    return f'<dl class="terms">{"".join(pairs)}</dl>'


def _term(term: tree.Term) -> str:
    place = f' id="{term.id}"' if term.id else ""
    symbol = f" <small>{escaped(term.symbol)}</small>" if term.symbol else ""
    more = f" <small>{escaped(term.more)}</small>" if term.more else ""
    text = f"<dd>{_coded(term.text)}{more}</dd>" if term.text or more else ""
    return f"<div{place}><dt>{escaped(term.name)}{symbol}</dt>{text}</div>"


def _coded(text: str) -> str:
    """Prose with names between backticks, which become code."""
    parts = enumerate(text.split("`"))
    return "".join(f"<code>{escaped(part)}</code>" if i % 2 else escaped(part) for i, part in parts)


def _figure(block: tree.Figure) -> str:
    look = "many" if block.look == "many" else ""
    drawn = _joined(map(chart_html, block.charts))
    note = f'\n<p class="soft">{escaped(block.note)}</p>' if block.note else ""
    return f'<figure{_class("panels", look)} role="group" aria-label="{escaped(block.alt)}">\n{drawn}\n</figure>{note}'


def _card(block: tree.Card) -> str:
    place = f' id="{block.id}"' if block.id else ""
    return f"<div{_class('card', block.look)}{place}>\n{_joined(map(block_html, block.blocks))}\n</div>"


def _fold(block: tree.Fold) -> str:
    place = (f' id="{block.id}"' if block.id else "") + (" open" if block.open else "")
    more = block.more or block.lead
    beside = f" <small>{escaped(more)}</small>" if more else ""
    summary = f"<summary>{escaped(block.title)}{beside}</summary>"
    return f"<details{place}>\n{summary}\n{_joined(map(block_html, block.blocks))}\n</details>"


def _wide(name: str, table: str) -> str:
    """A table that scrolls by itself where it is wider than the page."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="Table: {escaped(name)}">\n{table}\n</div>'


def _captioned(names: str, caption: str, head: str, body: str) -> str:
    spanned = f"<caption><span>{escaped(caption)}</span></caption>"
    return f"<table{names}>\n{spanned}\n<thead>{head}</thead>\n{body}\n</table>"


def _table(block: tree.Table) -> str:
    kinds = [column.kind for column in block.columns]
    all_numbers = kinds[0] != "number" and set(kinds[1:]) == {"number"}
    look = "" if block.look == "judged" else block.look
    alone = block.look != "kin" and not all_numbers
    numbered = [alone and column.kind == "number" for column in block.columns]
    heads = "".join(
        f'<th scope="col"{_class("num" if number else "")}>{escaped(column.name)}</th>'
        for column, number in zip(block.columns, numbered, strict=True)
    )
    bodies: list[list[str]] = [[]]
    for row in block.rows:
        if row.title:
            title = f'<th scope="rowgroup" colspan="{len(block.columns)}">{escaped(row.title)}</th>'
            bodies.append([f'<tr class="clause">{title}</tr>'])
        else:
            bodies[-1].append(_row(row, block, numbered))
    body = _joined(f"<tbody>\n{_joined(rows)}\n</tbody>" for rows in bodies if rows)
    names = _class(look, "nums" if all_numbers else "")
    return _filters(block) + _wide(block.name, _captioned(names, block.caption, f"<tr>{heads}</tr>", body))


def _filters(block: tree.Table) -> str:
    """Buttons that show one kind of rows; the style sheet does it, without a script."""
    if not block.filters:
        return ""
    labels = _joined(
        f'<label><input type="radio" name="rows" id="only-{f.style.removeprefix("v-")}"> '
        f'<b aria-hidden="true">{f.sign}</b> {escaped(f.name)} <small>{escaped(f.more)}</small></label>'
        for f in block.filters
    )
    every = '<label><input type="radio" name="rows" id="all-rows" checked> all</label>'
    return f'<fieldset class="pick"><legend>Show rows</legend>\n{every}\n{labels}\n</fieldset>\n'


def _row(row: tree.Row, table: tree.Table, numbered: Sequence[bool]) -> str:
    place = f' id="{row.id}"' if row.id else ""
    cells = zip(row.cells, table.columns, numbered, strict=True)
    drawn = "".join(
        _cell(*cell, table.look, head=not i and table.columns[0].kind != "number") for i, cell in enumerate(cells)
    )
    return f"<tr{_class(row.style)}{place}>{drawn}</tr>"


def _cell(cell: tree.Cell, column: tree.Column, number: bool, look: str, *, head: bool) -> str:  # noqa: FBT001  drawn in a row
    judged = look in ("judged", "looked")
    text = escaped(cell.text)
    if column.kind == "formula":
        text = mathml(cell.text) or f"<code>{text}</code>"
    elif column.kind in ("name", "prose") and text and not judged:
        text = labelled(cell.text)
    if cell.anchor:
        text = f'<a href="#{cell.anchor}">{text}</a>'
    verdict = cell.tone if cell.tone in ("good", "bad", "open") else ""
    text = _toned(text, cell, look, soft=column.kind == "text" and not number)
    if look == "kin" and cell.typed:
        text += f"<code>{escaped(cell.typed)}</code>"
    text += _links(cell.links) + _below(cell, column, judged=judged)
    names = _class("num" if number else "", "decided" if verdict else "", verdict)
    return f'<th scope="row">{text}</th>' if head else f"<td{names}>{text}</td>"


def _toned(text: str, cell: tree.Cell, look: str, *, soft: bool) -> str:
    """The text of a cell in its tone."""
    if cell.tone in ("good", "bad", "open"):
        return f'<b><span aria-hidden="true">{cell.sign}</span> {text}</b>'
    if cell.tone == "strong":
        return f"<b>{text}</b>"
    if cell.tone == "warn" and look not in ("judged", "looked") and not cell.below:
        return f'<span class="warn">{f"{cell.sign} " if cell.sign else ""}{text}</span>'
    if cell.tone == "soft" and soft and look == "kin":
        return f'<small class="why">{text}</small>'
    return text


def _below(cell: tree.Cell, column: tree.Column, *, judged: bool) -> str:
    text = ""
    if cell.below:
        warn = cell.tone == "warn" and bool(cell.sign) and not judged
        kind = "" if judged or column.kind == "number" else "why warn" if warn else "why"
        sign = f"{cell.sign} " if warn else ""
        text = f"<small{_class(kind)}>{sign}{escaped(cell.below)}</small>"
    if cell.why:
        text += f'<small class="why">{escaped(cell.why)}</small>'
    if cell.facts:
        pairs = "".join(f"<dt>{escaped(name)}</dt><dd>{escaped(value)}</dd>" for name, value in cell.facts)
        text += f"<details><summary>{counted(len(cell.facts), 'fact')}</summary><dl>{pairs}</dl></details>"
    return text


def _links(links: Sequence[tree.Link]) -> str:
    if not links:
        return ""
    drawn = (
        f'<a{_class(link.style)} href="#{link.anchor}">{escaped(link.text)}</a>'
        if link.anchor
        else f"<i{_class(link.style)}>{escaped(link.text)}</i>"
        for link in links
    )
    return f"<small>{' '.join(drawn)}</small>"


def _tag(text: str) -> str:
    """A name that may be cut, with the whole of it as a tooltip."""
    whole = f' title="{escaped(text)}"' if len(text) > LONG else ""
    return f"<bdi{whole}>{escaped(text)}</bdi>"


def _grid(block: tree.Grid) -> str:
    size = len(block.labels)
    tilt = "tilt" if size > TILTED or max(map(len, block.labels)) > LONG else ""
    names = _class("heat", "few" if size <= FEW else tilt, "dense" if size > DENSE else "")
    heads = "".join(f'<th scope="col">{_tag(name)}</th>' for name in block.labels)
    head = (
        f'\n<tr><td colspan="2"></td><th class="axis" scope="colgroup" colspan="{size}">{block.across}</th><td></td>'
        f'</tr>\n<tr><td colspan="2"></td>{heads}<th class="sum" scope="col">all</th></tr>\n'
    )
    rows = []
    for i, (label, cells, total) in enumerate(zip(block.labels, block.rows, block.sums, strict=True)):
        first = f'<th class="axis" scope="rowgroup" rowspan="{size}"><span>{block.down}</span></th>' if not i else ""
        drawn = "".join(
            '<td class="z">0</td>'
            if cell.empty
            else f"<td{_class(colours.shade(cell.share, right=cell.right), 'ok' if cell.right else '')}>{cell.text}"
            f"<small>{cell.below}</small></td>"
            for cell in cells
        )
        rows.append(f'<tr>{first}<th scope="row">{_tag(label)}</th>{drawn}<td class="sum">{total}</td></tr>')
    totals = "".join(f'<td class="sum">{total}</td>' for total in (*block.totals, block.total))
    body = (
        f"<tbody>\n{_joined(rows)}\n</tbody>\n"
        f'<tfoot>\n<tr><td></td><th class="sum" scope="row">all</th>{totals}</tr>\n</tfoot>'
    )
    return _wide("Confusion matrix", _captioned(names, block.caption, head, body))


def _threshold(block: tree.Threshold) -> str:
    totals = f' data-totals="{block.totals}"' if block.totals else ""
    moving = f' id="threshold" data-points="{block.points}"{totals}' if block.points else ""
    warning = f' <span class="warn">{block.warning}</span>' if block.warning else ""
    slider = ""
    if block.points:
        slider = (
            f'<input type="range" id="t" min="0" max="{block.points.count(";")}" value="{block.at}" step="1"'
            ' aria-describedby="t-says" hidden>\n'
        )
    tp, fp, fn, tn = block.cells
    name = _tag(block.positive)
    head = f'<tr><td></td><th scope="col">truly {name}</th><th scope="col">not</th></tr>'
    called = f'<td class="b4" id="c-tp">{tp}</td><td class="o4" id="c-fp">{fp}</td>'
    others = f'<td class="o4" id="c-fn">{fn}</td><td class="b4" id="c-tn">{tn}</td>'
    body = (
        f'<tbody>\n<tr><th scope="row">called {name}</th>{called}</tr>\n'
        f'<tr><th scope="row">not called</th>{others}</tr>\n</tbody>'
    )
    cells = _captioned(_class("four"), f"{block.unit.capitalize()} at the threshold", head, body)
    rates = _joined(f'<div><dt>{word}</dt><dd id="r-{id_}">{value}</dd></div>' for id_, word, value in block.rates)
    return (
        f'<div class="card cut"{moving}>\n<div>\n<h3><label for="t">Threshold</label> '
        f'<output id="t-now" for="t">{escaped(block.threshold)}</output></h3>\n'
        f'<p class="soft" id="t-from">{labelled(block.chosen)}{warning}</p>\n{slider}'
        '<p class="soft" id="t-says">A row is called positive when its score is at or above the threshold.</p>\n'
        f'</div>\n{_wide("Cells at the threshold", cells)}\n<dl class="rates">\n{rates}\n</dl>\n</div>'
    )


DRAWN: Final[dict[type[tree.Block], Callable[[Any], str]]] = {
    tree.Paragraph: _paragraph,
    tree.Heading: _heading,
    tree.Bullets: _bullets,
    tree.Terms: _terms,
    tree.Figure: _figure,
    tree.Table: _table,
    tree.Grid: _grid,
    tree.Threshold: _threshold,
    tree.Card: _card,
    tree.Fold: _fold,
}
