# SPDX-License-Identifier: Apache-2.0
"""A comparison as one HTML file, as a fragment for a notebook, as Markdown, and as text for a terminal."""

from __future__ import annotations

from html import escape
from typing import Final

from assay.assess.record import Record
from assay.report.blocks.comparison import Document, Told, read
from assay.report.charts.comparison_charts import critical_difference, forests
from assay.report.fit_text import fitted, wrapped
from assay.report.render import markdown
from assay.report.render.html import drawn, framed

WIDEST: Final = 100
NAME: Final = 24


def render(record: Record) -> str:
    """The whole page."""
    document = read(record)
    return framed(
        "comparison.html",
        document,
        sections=_sections(document),
        forest=drawn("".join(forests(document.findings, document.level))),
        ranks=drawn(critical_difference(document.ranks)) if document.ranks else "",
    )


def _sections(document: Document) -> list[tuple[str, str]]:
    every = [
        ("decisions", "Decisions", document.verdicts),
        ("findings", "What was found", document.findings),
        ("ranks", "Mean ranks", document.ranks),
        ("ranking", "Ranking", True),
        ("right", "Who is right where", document.right),
        ("values", "Each model by itself", document.estimates),
        ("details", "Every finding", document.findings),
        ("choices", "Why these tests", True),
        ("rows", "Row accounting", True),
    ]
    return [(id_, name) for id_, name, there in every if there]


def notebook(record: Record) -> str:
    """A fragment of HTML that begins with the findings; no script, no style sheet."""
    document = read(record)
    head = ("about", "models", "effect", f"{document.level} interval", "p", "corrected")
    cells = [(one.about, one.pair, one.effect, one.interval, one.p, one.adjusted) for one in document.findings]
    rows = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>\n" for row in cells)
    columns = "".join(f'<th scope="col">{escape(text)}</th>' for text in head)
    table = (
        f"<table><caption>{escape(document.opening)}</caption><thead><tr>{columns}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )
    said = "".join(f"<p>{escape(one.sentence)}</p>" for one in document.findings)
    charts = "".join(forests(document.findings, document.level))
    charts += critical_difference(document.ranks) if document.ranks else ""
    return f"{table}\n{said}\n<div>{charts}</div>\n"


def as_markdown(record: Record) -> str:
    """The report as GitHub-flavoured Markdown."""
    d = read(record)
    name, prose, table = markdown.name, markdown.prose, markdown.table
    head = ["models", "about", "test", "effect", f"{d.level} interval", "p", "corrected"]
    rows = [
        [name(one.pair), prose(one.about), prose(one.test), one.effect, one.interval or "–", one.p, one.adjusted or "–"]
        for one in d.findings
    ]
    parts = [
        [f"# {prose(d.title)}", "", prose(d.opening)],
        markdown.decided(d.verdicts) if d.verdicts else [],
        ["## What was found", "", *(f"- {one.mark} {prose(one.sentence)}{_more(one)}" for one in d.findings)],
        ["## Every finding", "", *table(head, rows, align="lllrrrr")] if d.findings else [],
        [
            "## Ranking",
            "",
            *table(
                ["model", "value", "measure", "ahead of"],
                [[name(m), v, prose(what), prose(ahead)] for m, v, what, ahead in d.ranking],
                align="lrll",
            ),
        ],
        _right(d),
        [
            "## Each model by itself",
            "",
            *table(["model", *map(prose, d.measures)], [[name(m), *texts] for m, texts in d.estimates]),
        ]
        if d.estimates
        else [],
        ["## Why these tests", "", *(f"- {prose(one.question)}: {prose(one.why)}" for one in d.asked)],
        ["## Rows", "", f"{prose(d.rows)}.", "", *(f"- {prose(note)}" for note in d.notes)],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _more(one: Told) -> str:
    label = f" **{markdown.prose(one.label)}**" if one.label else ""
    notes = "".join(f"\n  - {markdown.prose(note)}" for note in one.notes)
    return label + (f" ({markdown.prose(one.power)})" if one.power else "") + notes


def _right(d: Document) -> list[str]:
    lines: list[str] = []
    for who, counts in d.right:
        cells = markdown.table([markdown.prose(k) for k, _ in counts], [[n for _, n in counts]], align="r")
        lines += [f"{markdown.prose(who)}:", "", *cells, ""]
    return ["## Who is right where", "", *lines[:-1]] if lines else []


def summary(record: Record, *, width: int = WIDEST, colour: bool = False) -> str:
    """What a Record of a comparison says, on one screen."""
    d = read(record)
    page = _Page(width=width, colour=colour)
    page.head(fitted(d.title, width))
    page.lines.append(d.kind)
    page.blank()
    for one in d.findings:
        page.lines += wrapped(f"{one.mark} {one.sentence}", width, "  ")
        page.soft(*filter(None, (one.label, one.power, *one.notes)))
    page.lines += [] if d.findings else wrapped(d.opening, width)
    page.head("", "Ranking")
    for place, (model, value, measure, ahead) in enumerate(d.ranking, start=1):
        page.lines += wrapped(f"{place}. {fitted(model, NAME)}: {measure} {value}, ahead of {ahead}", width, "   ")
    for who, counts in d.right:
        page.head("", f"Who is right where: {who}")
        page.indented("   ".join(f"{name} {n}" for name, n in counts))
    page.head("", "Why these tests")
    for asked in d.asked:
        page.indented(f"{asked.question}: {asked.why}")
        page.soft(*filter(None, (asked.label, asked.family, *asked.notes)))
    page.blank()
    for note in (d.rows, *(f"note: {note}" for note in d.notes)):
        page.lines += wrapped(note, width, "  ")
    return "\n".join(page.lines) + "\n"


class _Page:
    """Lines within a width."""

    def __init__(self, *, width: int, colour: bool) -> None:
        self.width = width
        self.lines: list[str] = []
        self._strong, self._soft, self._reset = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")

    def head(self, *texts: str) -> None:
        self.lines += [f"{self._strong}{text}{self._reset}" if text else "" for text in texts]

    def blank(self) -> None:
        self.lines.append("")

    def indented(self, text: str) -> None:
        self.lines += [f"  {line}" for line in wrapped(text, self.width - 2)]

    def soft(self, *texts: str) -> None:
        for text in texts:
            self.lines += [f"{self._soft}    {line}{self._reset}" for line in wrapped(text, self.width - 4)]
