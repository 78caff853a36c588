# SPDX-License-Identifier: Apache-2.0
"""The tree of a report: verdicts, opening and remarks first, then sections of blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from assay.core.blocks import Block, Card, Fold, Heading, Paragraph, Reach, Section, Table
from assay.core.blocks.lead import Remark, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything a report says, in order; every text from outside has been made visible."""

    title: str
    kind: str
    about: str
    """The positive class, or nothing."""
    verdicts: tuple[Verdict, ...]
    badges: tuple[Verdict, ...] = ()
    """What a page and paper say at a glance: the baseline, what is missed, whether there is a criterion."""
    opening: str
    remarks: tuple[Remark, ...]
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]

    def reached(self, reach: Reach) -> Iterator[Section]:
        """The sections that a renderer draws, without blocks that it does not."""
        for section in self.sections:
            blocks = tuple(_within(section.blocks, reach)) if section.reach & reach else ()
            if blocks:
                yield replace(section, blocks=blocks)

    def plain(self, reach: Reach) -> Iterator[Section]:
        """The same for renderers that draw neither cards nor folds."""
        return (replace(section, blocks=tuple(flat(section.blocks))) for section in self.reached(reach))


def flat(blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks without cards and folds; the title of a fold becomes a heading, its sentence a paragraph."""
    for block in blocks:
        if isinstance(block, Fold) and block.named:
            yield Heading(block.title)
            yield from (Paragraph(block.lead),) if block.lead else ()
        if isinstance(block, (Card, Fold)):
            yield from flat(block.blocks)
        else:
            yield block


def _within(blocks: Iterable[Block], reach: Reach) -> Iterator[Block]:
    for block in blocks:
        if not block.reach & reach:
            continue
        if isinstance(block, (Card, Fold)):
            inside = tuple(_within(block.blocks, reach))
            if inside:
                yield replace(block, blocks=inside)
        else:
            yield block.drawn_by(reach) if isinstance(block, Table) else block
