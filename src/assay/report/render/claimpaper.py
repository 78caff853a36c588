# SPDX-License-Identifier: Apache-2.0
"""Claims and comparisons on paper: each with its answer, its value and the reason."""

from __future__ import annotations

from collections.abc import Iterator

from assay.report.blocks.blocks import Block, bullets, heading, marked, says, table, text
from assay.report.blocks.claims import HEAD as CLAIM_HEAD
from assay.report.blocks.claims import INTRODUCED, Claims, Contests

WIDTHS = ["l 2.4fr", "l 1.6fr", "r 1.5fr", "l 1.3fr", "l 4fr"]


def claims(found: Claims | None) -> Iterator[Block]:
    """The claims with their answers; none where the plan claims nothing."""
    if found is None:
        return
    yield says(INTRODUCED, soft=True)
    rows = [
        [
            text(one.claim, below=one.words),
            text(f"{one.sign} {one.answer}", warn=one.style != "pass"),
            text(one.value, below=one.beside),
            text(one.risk),
            text(one.why, below=one.needed),
        ]
        for one in found.rows
    ]
    yield {**table(found.says, CLAIM_HEAD, rows, widths=WIDTHS), "small": True}


def contests(found: Contests | None) -> Iterator[Block]:
    """What tests say of the models of the plan on the same rows."""
    if found is None:
        return
    if found.why_not:
        yield says(f"No test was made: {found.why_not}.")
    for one in found.made:
        yield marked(
            (told.mark, " ".join(filter(None, (told.sentence, told.label, told.power)))) for told in one.findings
        )
        rows = [[text(m), text(value), text(what), text(ahead)] for m, value, what, ahead in one.ranking]
        yield table("", ["model", "value", "measure", "ahead of"], rows, widths=["l 3fr", "r auto", "l 2fr", "l 3fr"])
        yield heading("Why these tests")
        yield bullets(f"{asked.question}: {asked.why}. {asked.label}".strip() for asked in one.asked)
