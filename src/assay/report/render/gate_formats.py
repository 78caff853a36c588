# SPDX-License-Identifier: Apache-2.0
"""Decisions where pipelines show them: annotations and step summaries of GitHub, and JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final
from xml.etree import ElementTree as ET

from assay.assess.record.record import Record
from assay.core.blocks import Reach
from assay.core.text import visible
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


TAGS: Final = {"fail": "failure", "inconclusive": "error"}
SUITE: Final = "assay gate"


def render(records: Mapping[str, Record]) -> str:
    """The decisions of one or several Records, by what each is called."""
    root = ET.Element("testsuites", name=SUITE)
    totals: Counter[str] = Counter(tests=0, failures=0, errors=0)
    for name, record in records.items():
        rows = verdicts(record).rows
        words = [decision.verdict for decision in rows]
        counts = {"tests": len(rows), "failures": words.count("fail"), "errors": words.count("inconclusive")}
        totals.update(counts)
        title = visible(name) if name else background.title(record)
        shown = {"name": title, "skipped": "0", **{key: str(n) for key, n in counts.items()}}
        suite = ET.SubElement(root, "testsuite", shown)
        for decision in rows:
            case = ET.SubElement(suite, "testcase", classname=f"{SUITE}.{title}", name=decision.criterion)
            tag, word = TAGS.get(decision.verdict, "system-out"), decision.verdict
            said = {"message": decision.why, "type": word} if word in TAGS else {}
            ET.SubElement(case, tag, said).text = "\n".join(filter(None, (decision.why, decision.needed)))
    for key, n in totals.items():
        root.set(key, str(n))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
