# SPDX-License-Identifier: Apache-2.0
"""Decisions as JUnit XML: a criterion is a test case; one that is not decided is an error, so that it cannot pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final
from xml.etree import ElementTree as ET

from assay.assess.record.record import Record
from assay.core.text import visible
from assay.report.blocks import background
from assay.report.blocks.decisions import verdicts

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
