# SPDX-License-Identifier: Apache-2.0
"""Verdicts on paper: criteria, every requirement row with its verdict and reason, and what the controls found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.report.blocks.blocks import Block, Json, across, heading, marked, says, table, terms, text
from assay.report.blocks.conformity import BAD, LIMITS, UNMET, Demand, Looked, Statement
from assay.report.blocks.decisions import DECIDED, RISKS, Verdicts
from assay.report.blocks.headline_verdict import Standing
from assay.report.pdf_text import breakable

HEAD = ("row", "verdict", "demand, in our words", "why")


def standing(found: Sequence[Standing]) -> Json:
    """The verdicts that stand above everything."""
    return [
        {"tone": one.tone, "sign": one.sign, "word": breakable(one.word), "says": breakable(one.says)} for one in found
    ]


def decisions(found: Verdicts | None) -> Iterator[Block]:
    """Each criterion with its verdict; none where nothing was to be decided."""
    if found is None:
        return
    yield says(f"{found.sign} {found.overall}: {found.says}. {DECIDED}")
    yield table(
        RISKS,
        ["criterion", "verdict", "value", "wrong pass", "why"],
        [
            [
                text(one.criterion),
                text(f"{one.sign} {one.verdict}", warn=one.verdict != "pass"),
                text(one.value, below=one.ends),
                text(one.risk),
                text(one.why, below=one.needed),
            ]
            for one in found.rows
        ],
        widths=["l 2fr", "l 1.3fr", "r 1.6fr", "l 1.2fr", "l 3.4fr"],
    )


def conformity(found: Statement | None) -> Iterator[Block]:
    """The blocks of the section; none where no plan was followed."""
    if found is None:
        return
    yield says(f"{found.document}: {found.overall}. {found.says}.")
    yield marked((sign, f"{name}: {n} ({what})") for sign, name, what, n in found.counts if n)
    if found.unmet:
        yield heading(UNMET)
        yield _judged("", list(map(_demand, found.unmet)))
    yield heading("The plan")
    yield terms(found.plan)
    yield heading("Clause by clause")
    rows: list[list[Json]] = []
    for clause in found.clauses:
        rows.append([across(clause.name, len(HEAD))])
        rows += map(_demand, clause.rows)
    yield _judged("Every requirement row with its verdict", rows)
    if found.supplement:
        yield heading("Supplementary rules, outside the verdict")
        yield _judged("Rules of other sources", list(map(_demand, found.supplement)))
    yield says(LIMITS, soft=True)


def controls(found: Statement | None) -> Iterator[Block]:
    """What was looked for and what was found."""
    if found is None or not found.controls:
        return
    yield says("What was looked for and what was found; the verdicts on conformity rest on these.", soft=True)
    yield {
        **table(
            "",
            ["control", "verdict", "found"],
            [_looked(one) for one in found.controls],
            widths=["l 1.6fr", "l 1.2fr", "l 5fr"],
        ),
        "small": True,
    }


def _judged(caption: str, rows: Sequence[Sequence[Json]]) -> Block:
    widths = ["l 1fr", "l 1.3fr", "l 3.4fr", "l 3.4fr"]
    return {**table(caption, HEAD, rows, widths=widths), "small": True}


def _demand(row: Demand) -> list[Json]:
    return [
        text(row.id, below=row.strength),
        text(f"{row.sign} {row.verdict}", warn=row.verdict in BAD),
        text(row.says),
        text(row.why, below=f"answer: {row.answer}" if row.answer else ""),
    ]


def _looked(one: Looked) -> list[Json]:
    facts = "; ".join(f"{name}: {value}" for name, value in one.facts)
    return [
        text(one.name),
        text(f"{one.sign} {one.verdict}", warn=one.verdict in BAD),
        text(one.says, below=facts),
    ]
