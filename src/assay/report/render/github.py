# SPDX-License-Identifier: Apache-2.0
"""Decisions where GitHub shows them: annotations beside a commit, and the summary of a workflow step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from assay.assess.record.record import Record
from assay.core.blocks import Reach
from assay.report.blocks import background
from assay.report.blocks.decisions import decision_blocks, verdicts
from assay.report.render.markdown import block_lines, prose
from assay.report.sections import flat

MOST_BYTES: Final = 60_000
"""A step may write 1 MiB, but people read the first screens; the rest stands in the report."""
MOST: Final = 10
"""Annotations of one kind that GitHub shows for a step."""
COMMANDS: Final = {"pass": "notice", "fail": "error", "inconclusive": "warning"}
CUT: Final = "\n\nThe summary is cut here; the whole is in the report and in record.json.\n"


def commands(records: Mapping[str, Record]) -> Iterator[str]:
    """Annotations: an error for each criterion that fails, a warning for each that is open, one notice if all pass."""
    for name, record in records.items():
        decisions = verdicts(record)
        title = f"assay gate{f' ({name})' if name else ''}"
        shown = dict.fromkeys(COMMANDS, 0)
        for decision in decisions.rows:
            shown[decision.verdict] += 1
            if decision.verdict != "pass" and shown[decision.verdict] <= MOST:
                text = "; ".join(part for part in (decision.why, decision.needed) if part)
                yield _command(
                    COMMANDS[decision.verdict], f"{title}: {decision.verdict}", f"{decision.criterion}: {text}"
                )
        if decisions.overall == "pass":
            yield _command(COMMANDS["pass"], title, f"pass: {decisions.says}")


def step_summary(records: Mapping[str, Record], *, most: int = MOST_BYTES) -> str:
    """The decisions as Markdown, cut at a line so that it stays within a number of bytes."""
    parts = []
    for name, record in records.items():
        decisions = verdicts(record)
        head = prose(name) if name else prose(background.title(record))
        overall = [f"\n#### {v.sign} {v.word}: {prose(decisions.says)}" for v in decisions.verdict]
        blocks = flat(block for block in decision_blocks(decisions) if block.reach & Reach.TEXT)
        parts.append("\n".join((f"### assay gate: {head}", *overall, *block_lines(blocks))))
    text = ("\n\n".join(parts) + "\n").encode("utf-8", "surrogatepass")
    if len(text) > most:
        text = text[: most - len(CUT.encode())].rpartition(b"\n")[0].rstrip(b"\n") + CUT.encode()
    return text.decode("utf-8", "surrogatepass")


def _command(kind: str, title: str, text: str) -> str:
    """A command, in whose text a line end would begin another one, and in whose title a colon would end it."""
    marks = {"%": "%25", "\r": "%0D", "\n": "%0A"}
    in_text, in_title = (str.maketrans(given) for given in (marks, {**marks, ":": "%3A", ",": "%2C"}))
    return f"::{kind} title={title.translate(in_title)}::{text.translate(in_text)}"
