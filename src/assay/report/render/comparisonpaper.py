# SPDX-License-Identifier: Apache-2.0
"""A comparison on paper: what was found first, then the numbers, then why these tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from assay.report.blocks.blocks import Block, Json, bullets, heading, marked, panels, says, table, terms, text
from assay.report.blocks.comparison import Document, Told
from assay.report.charts.comparison_charts import critical_difference, forests
from assay.report.pdf_text import breakable
from assay.report.render.statementpaper import decisions, standing


def facts(document: Document) -> Mapping[str, Json]:
    """What stands above the sections."""
    return {
        "title": breakable(document.title),
        "kind": document.kind,
        "standing": standing(document.standing),
        "opening": breakable(document.opening),
        "remarks": [],
        "facts": [[name, breakable(value)] for name, value in document.facts],
        "level": document.level,
    }


def sections(document: Document) -> list[Json]:
    """The sections, each with a title and blocks."""
    every: list[tuple[str, Iterable[Block]]] = [
        ("Decisions", decisions(document.verdicts)),
        ("What was found", _found(document)),
        ("Ranking", _ranking(document)),
        ("Who is right where", _right(document)),
        ("Each model by itself", _values(document)),
        ("Every finding", _details(document)),
        ("Why these tests", _choices(document)),
        ("Rows and notes", _rows(document)),
        ("Environment and digests", _environment(document)),
    ]
    made = [(title, list(blocks)) for title, blocks in every]
    return [{"title": title, "blocks": list(blocks)} for title, blocks in made if blocks]


def _found(document: Document) -> Iterator[Block]:
    yield says("One sentence a question; p values of questions asked together are corrected.", soft=True)
    if document.findings:
        yield marked((one.mark, f"{one.sentence} {one.label}".strip()) for one in document.findings)
    else:
        yield says(document.opening)
    drawn_ranks = critical_difference(document.ranks) if document.ranks is not None else ""
    for one in filter(None, (*forests(document.findings, document.level), drawn_ranks)):
        yield {**panels([one], alt="Differences between models"), "wide": True}


def _ranking(document: Document) -> Iterator[Block]:
    if document.ranking:
        yield table(
            "",
            ["model", "value", "measure", "ahead of"],
            [[text(model), text(value), text(what), text(ahead)] for model, value, what, ahead in document.ranking],
            widths=["l 3fr", "r auto", "l 2fr", "l 3fr"],
        )


def _right(document: Document) -> Iterator[Block]:
    for who, counts in document.right:
        yield table(who, [name for name, _ in counts], [[text(n) for _, n in counts]], widths=["r 1fr"] * len(counts))


def _values(document: Document) -> Iterator[Block]:
    if not document.estimates:
        return
    told = f"Values with {document.level} intervals; two intervals that overlap do not show that models are equal."
    yield says(told, soft=True)
    rows = [[text(model), *map(_value, values)] for model, values in document.estimates]
    widths = ["l 2fr", *(["r 2fr"] * len(document.measures))]
    yield {**table("", ["model", *document.measures], rows, widths=widths), "small": True}


def _value(shown: str) -> Json:
    """The interval goes below its value, because columns are narrow."""
    value, _, interval = shown.partition(" (")
    return text(value, below=interval.removesuffix(")").replace(" to ", "–"))


def _details(document: Document) -> Iterator[Block]:
    if not document.findings:
        return
    yield {
        **table(
            "",
            ["models", "about", "test", "effect", f"{document.level} interval", "p", "corrected"],
            [_finding(one) for one in document.findings],
            widths=["l 2fr", "l 1.6fr", "l 4fr", "r 1.5fr", "r 1.5fr", "r auto", "r auto"],
        ),
        "small": True,
    }


def _finding(one: Told) -> list[Json]:
    below = "; ".join(filter(None, (one.chosen, *one.notes, *one.checks, one.power)))
    return [
        text(one.pair),
        text(one.about),
        text(one.test, below=below),
        text(one.effect),
        text(one.interval or "–"),
        text(one.p),
        text(one.adjusted or "–"),
    ]


def _choices(document: Document) -> Iterator[Block]:
    for one in document.asked:
        yield heading(one.question)
        yield says(one.why)
        told = [*filter(None, (one.label, one.family)), *one.notes]
        if told:
            yield bullets(told)
        if one.refused:
            yield terms((f"not {test}", why) for test, why in one.refused)


def _rows(document: Document) -> Iterator[Block]:
    yield says(f"{document.rows}.")
    if document.notes:
        yield bullets(document.notes)
    if document.errata:
        yield heading("Readings of the sources")
        yield terms(
            ((f"{one.id} {one.title}", f"{one.reading.replace('`', '')} ({one.source})") for one in document.errata),
            look="columns",
        )


def _environment(document: Document) -> Iterator[Block]:
    yield terms(document.environment)
    yield heading("Digests (SHA-256)")
    yield terms(document.digests, look="code")
