# SPDX-License-Identifier: Apache-2.0
"""A document as sections of a printed paper: texts, tables and pictures in reading order, without any look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from assay.report import colours as shades
from assay.report import sentences
from assay.report.assessment_document import Document, Factor
from assay.report.blocks.blocks import Block, Json, bullets, heading, panels, says, table, terms, text
from assay.report.blocks.confusion_matrix import Cell, Matrix
from assay.report.charts.data_timeline import timeline
from assay.report.charts.svg import Point, axis, bar, forest
from assay.report.estimate_rows import Entry
from assay.report.fit_text import fitted
from assay.report.pdf_text import breakable
from assay.report.render import claimpaper
from assay.report.render.scorepaper import scores
from assay.report.render.statementpaper import conformity, controls, decisions, standing

MANY_LEVELS: Final = 12
"""Beyond, a group gets charts of its first measures only; the table has them all."""
CHARTS: Final = 4
FEW: Final = 3
DENSE: Final = 12
"""Classes from which the heads of the matrix stand upright."""
CROWDED: Final = 20
ROOM: Final = {"few": 44, "some": 24, "many": 18}
"""Cells of a name beside the matrix; the table of classes has it whole."""

SHADES: Final = {name: (ground, text) for name, ground, text in shades.steps(shades.LIGHT)}


def sections(document: Document) -> list[Json]:
    """The sections, each with a title and blocks."""
    every: list[tuple[str, Iterable[Block]]] = [
        ("Decisions", decisions(document.verdicts)),
        ("Claims", claimpaper.claims(document.claims)),
        ("Against the other models", claimpaper.contests(document.contests)),
        (sentences.HEADLINE, _headline(document)),
        ("Confusion matrix", _matrix(document)),
        ("Scores and thresholds", scores(document)),
        ("Class by class", _classes(document)),
        ("Averages over classes", _averages(document)),
        ("Group by group", _groups(document)),
        ("Conformity", conformity(document.statement)),
        ("Controls", controls(document.statement)),
        ("All measures", _measures(document)),
        (document.sources.title, _sources(document)),
        ("How it was computed", _method(document)),
        ("Readings of the sources", _errata(document)),
        ("Environment and digests", _environment(document)),
        ("Glossary", _glossary(document)),
    ]
    made = [(title, list(blocks)) for title, blocks in every]
    return [{"title": title, "blocks": list(blocks)} for title, blocks in made if blocks]


def number(one: Entry | None) -> Json:
    """A value with its interval below it, or why there is none."""
    if one is None:
        return text("–", soft=True)
    if not one.defined:
        return text(f"∅ {one.shown}", warn=True)
    return text(one.shown, below=one.short)


def _headline(document: Document) -> Iterator[Block]:
    if not document.headline:
        return
    rows: list[list[Json]] = []
    for one in document.headline:
        baseline = document.baseline if one.about.measure == "accuracy" else None
        note = sentences.largest(baseline.shown) if baseline is not None and baseline.defined else ""
        said = "; ".join(filter(None, (one.about.says, f"┃ {note}" if note else "", *one.notes)))
        value = text(one.shown) if one.defined else text(f"∅ {one.shown}", warn=True)
        drawn = bar(one, baseline)
        rows.append(
            [
                text(one.about.name, below=said),
                value,
                text(one.so if one.defined else one.reason),
                {"svg": drawn} if drawn else text(""),
            ]
        )
    head = ["measure", "value", f"{document.level} interval", "on its range"]
    yield table("", head, rows, widths=["l 5fr", "r auto", "l 2.2fr", "l 2.6fr"])


def _matrix(document: Document) -> Iterator[Block]:
    matrix = document.matrix
    cut = f" {sentences.matrix_cut(len(matrix.rows) - 1, matrix.hidden)}" if matrix.hidden else ""
    yield says(f"{sentences.ORIENTATION} {sentences.SHADING}{cut}", soft=True)
    size = len(matrix.labels)
    room = ROOM["few" if size <= FEW else "some" if size <= DENSE else "many"]
    yield {
        "kind": "matrix",
        "caption": f"{'Weight' if document.weighted else 'Rows'} by predicted and true class",
        "labels": [breakable(fitted(name, room)) for name in matrix.labels],
        "rows": [_matrix_row(fitted(row.label, room), row.cells, row.total, tight=size > DENSE) for row in matrix.rows],
        "totals": list(matrix.totals),
        "total": matrix.total,
        "upright": size > DENSE,
        "crowded": size > CROWDED,
        "alt": _matrix_said(matrix),
    }
    if not document.mistakes:
        yield says(f"✓ {sentences.NO_MISTAKES}")
        return
    size_name = "weight" if document.weighted else "rows"
    yield table(
        "Most frequent mistakes and their share of the true class",
        ["truly", "called", size_name, "share"],
        [[text(one.truth), text(one.predicted), text(one.count), text(one.share)] for one in document.mistakes],
        widths=["l 3fr", "l 3fr", "r auto", "r auto"],
    )


def _matrix_said(matrix: Matrix) -> str:
    return f"Confusion matrix of {len(matrix.labels)} columns, {matrix.total} in all."


def _matrix_row(label: str, cells: Sequence[Cell], total: str, *, tight: bool) -> Json:
    shown: list[Json] = []
    for cell in cells:
        ground, ink = SHADES[shades.shade(cell.share, right=cell.right)]
        mark = "✓ " if cell.right and not cell.empty and not tight else ""
        shown.append(
            {
                "text": f"{mark}{cell.count}",
                "below": "" if tight else cell.shown,
                "ground": ground,
                "ink": ink,
                "empty": cell.empty,
            }
        )
    return {"label": breakable(label), "cells": shown, "total": total}


def _classes(document: Document) -> Iterator[Block]:
    classes = document.classes
    if classes is None:
        return
    told = ["Each class against all the others."] if classes.columns else [sentences.unlisted(classes.total)]
    plotted = [row for row in classes.rows if row.plotted]
    if classes.hidden:
        told.append(sentences.rows_cut(len(classes.rows), classes.hidden))
    if classes.columns and len(plotted) < len(classes.rows):
        told.append(sentences.plot_cut(len(plotted)))
    yield says(" ".join(told), soft=True)
    if classes.columns:
        rows = [tuple(Point(label=row.label, entry=one) for one in row.entries) for row in plotted]
        yield panels(_forests(rows, by="class", wholes=[None] * len(classes.columns)), alt="Forest plots by class")
    head = ["class", "true", "predicted", "right", *(column.name for column in classes.columns)]
    body = [
        [text(row.label), text(row.size), text(row.called), text(row.right), *map(number, row.entries)]
        for row in classes.rows
    ]
    yield table(
        f"Measures by class, with {document.level} intervals",
        head,
        body,
        widths=["l 3fr", "r auto", "r auto", "r auto", *(["r auto"] * len(classes.columns))],
    )
    yield from _lost((row.label, row.entries) for row in classes.rows)


def _forests(rows: Sequence[tuple[Point, ...]], *, by: str, wholes: Sequence[Entry | None]) -> Iterator[str]:
    """One chart a measure; measures of the same range share an axis, so that they can be compared."""
    columns = list(zip(*rows, strict=True))
    for points, whole in zip(columns, wholes, strict=True):
        alike = [p.entry for column in columns for p in column if p.entry.about.span == points[0].entry.about.span]
        yield forest(points, by=by, scale=axis(alike), whole=whole)


def _lost(rows: Iterable[tuple[str, Sequence[Entry]]]) -> Iterator[Block]:
    """Why some cells of a table have no value."""
    why = [f"{one.about.name} of {label}: {one.reason}" for label, row in rows for one in row if not one.defined]
    if why:
        yield says("∅ Undefined, and why")
        yield bullets(why)


def _averages(document: Document) -> Iterator[Block]:
    if not document.averages:
        return
    yield says("; ".join(f"{way}: {what}" for way, what in sentences.AVERAGES.items()) + ".", soft=True)
    rows = [[text(row.name), *map(number, row.entries)] for row in document.averages]
    yield table(
        f"Averages over classes with {document.level} intervals",
        ["measure", *sentences.AVERAGES],
        rows,
        widths=["l 3fr", *(["r 2fr"] * len(sentences.AVERAGES))],
    )


def _groups(document: Document) -> Iterator[Block]:
    shown = [factor for factor in document.factors if factor.levels]
    if shown:
        yield says(sentences.REFERENCE, soft=True)
    for factor in shown:
        yield from _factor(factor, document.level)


def _factor(factor: Factor, level: str) -> Iterator[Block]:
    yield heading(f"By {factor.name}")
    plotted = [one for one in factor.levels if one.plotted]
    told = [sentences.rows_cut(len(factor.levels), factor.hidden, "levels")] if factor.hidden else []
    if len(plotted) < len(factor.levels):
        told.append(sentences.plot_cut(len(plotted), "levels"))
    if told:
        yield says(" ".join(told), soft=True)
    charts = len(factor.columns) if len(plotted) <= MANY_LEVELS else CHARTS
    rows = [
        tuple(Point(label=one.label, entry=entry, small=one.small) for entry in one.entries[:charts]) for one in plotted
    ]
    yield panels(_forests(rows, by=factor.name, wholes=factor.whole[:charts]), alt=f"Forest plots by {factor.name}")
    body = [
        [
            text(one.label, below=sentences.small(one.rows) if one.small else "", warn=one.small),
            text(f"{one.rows:,}"),
            *map(number, one.entries),
        ]
        for one in factor.levels
    ]
    yield {
        **table(
            f"Measures by {factor.name}, with {level} intervals",
            ["level", "rows", *(column.name for column in factor.columns)],
            body,
            widths=["l 1.6fr", "r auto", *(["r 1fr"] * len(factor.columns))],
        ),
        "small": True,
    }
    yield from _lost((one.label, one.entries) for one in factor.levels)
    if factor.spreads:
        yield says(sentences.SPREAD, soft=True)
        yield table(
            f"Differences between {factor.name}s",
            [*sentences.SPREAD_HEAD, "method"],
            [
                [
                    text(one.about.name),
                    text(one.lowest),
                    text(one.highest),
                    text(one.p),
                    text(one.beyond_chance),
                    text(one.method, below=one.left_out),
                ]
                for one in factor.spreads
            ],
            widths=["l 2fr", "l 2fr", "l 2fr", "r auto", "r auto", "l 2fr"],
        )


def _measures(document: Document) -> Iterator[Block]:
    told = f"Every measure with its {document.level} interval, what it rests on, how that was made, and its formula."
    yield says(told, soft=True)
    for family in document.families:
        yield heading(family.name)
        yield {
            **table(
                "",
                ["measure", "value", "interval", "n", "method", "formula"],
                [_measure_row(one) for one in family.entries],
                widths=["l 3.4fr", "r auto", "l 2.6fr", "r auto", "l 1.8fr", "l 3.6fr"],
            ),
            "small": True,
        }


def _measure_row(one: Entry) -> list[Json]:
    told = [one.about.measure] if one.about.measure != one.about.name else []
    so = one.interval or (one.missing if one.defined else one.reason)
    why = sentences.infinite("") if one.endless else ""
    return [
        text(one.about.name, below="; ".join((*told, *one.notes))),
        text(one.shown) if one.defined else text(f"∅ {one.shown}", warn=True),
        text(so, below=why, soft=not one.interval),
        text(one.n, below=one.parts),
        text(one.method if one.defined else "none", soft=True),
        text(one.about.formula, code=True),
    ]


def _sources(document: Document) -> Iterator[Block]:
    found = document.sources
    yield says(f"{document.rows}.")
    if found.given:
        yield terms(found.given)
    drawn = timeline(found.splits)
    if drawn:
        yield {**panels([drawn], alt=sentences.TIMELINE), "wide": True}
    if found.splits:
        yield table(
            "Every data set as it was counted",
            ["data set", "rows", "classes", "from", "to", "missing"],
            [
                list(map(text, (one.name, one.rows, one.classes, one.begins or "–", one.ends or "–", one.missing)))
                for one in found.splits
            ],
            widths=["l 1.4fr", "r auto", "l 3fr", "l 1.3fr", "l 1.3fr", "l 1fr"],
        )
    for part in found.said:
        yield heading(part.name)
        yield terms(part.pairs)
    if document.notes:
        yield heading("Notes")
        yield bullets(document.notes)


def _method(document: Document) -> Iterator[Block]:
    if document.methods:
        yield terms((name, what) for name, what in document.methods)
    yield bullets(document.settings)


def _errata(document: Document) -> Iterator[Block]:
    if not document.errata:
        return
    yield says("Where a source errs, clashes or leaves a choice, this is the way taken.", soft=True)
    yield terms(
        ((f"{one.id} {one.title}", f"{one.reading.replace('`', '')} ({one.source})") for one in document.errata),
        look="columns",
    )


def _environment(document: Document) -> Iterator[Block]:
    yield terms(document.environment)
    yield heading("Digests (SHA-256)")
    yield terms(document.digests, look="code")


def _glossary(document: Document) -> Iterator[Block]:
    pairs = []
    for one in document.glossary:
        if not one.says:
            continue
        facts = [one.range, one.better]
        facts += [f"by chance {one.chance}"] if one.chance else []
        facts += [f"also called {', '.join(one.also)}"] if one.also else []
        name = f"{one.name} ({one.symbol})" if one.symbol and one.symbol != one.name else one.name
        pairs.append((name, f"{one.says}. {'; '.join(filter(None, facts))}. {one.source}"))
    if pairs:
        yield terms(pairs, look="columns")


def facts(document: Document) -> Mapping[str, Json]:
    """What stands above the sections."""
    return {
        "title": breakable(document.title),
        "kind": document.kind + (f", positive class {document.positive}" if document.positive else ""),
        "standing": standing(document.standing),
        "opening": breakable(document.opening),
        "remarks": [[one.sign, one.word, breakable(one.sentence)] for one in document.remarks],
        "facts": [[name, breakable(value)] for name, value in document.facts],
        "level": document.level,
    }
