# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows: tables of numbers first, which survive a sanitiser; no script and no style sheet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from assay.assess.record.record import Record
from assay.core.blocks import Block, Bullets, Figure, Grid, Heading, Paragraph, Reach, Table
from assay.report.charts import draw
from assay.report.render.html_blocks import block_html
from assay.report.report_document import report_of

MOST_ROWS: Final = 20
MOST_CELLS: Final = 12
_STYLED: Final = re.compile(r' (?:class|id|role|tabindex|href|title|hidden|aria-[a-z]+)="[^"]*"')
"""What only a page with its style sheet needs."""
_COLOUR: Final = re.compile(r'"#[0-9a-f]{3,6}"')
CURRENT: Final = '"currentColor"'


def render(record: Record) -> str:
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
    return _STYLED.sub("", block_html(block)).replace("<small", " <small")
