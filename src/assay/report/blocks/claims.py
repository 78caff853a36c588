# SPDX-License-Identifier: Apache-2.0
"""The claims of a Record with their answers, and its comparisons with the other models of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.assess.decide.plan_results import comparison_records
from assay.assess.record.record import Record
from assay.core.blocks import Block, Card, Paragraph, Reach
from assay.core.blocks.estimate_rows import prose
from assay.core.blocks.lead import Verdict
from assay.core.text import counted, visible
from assay.report import sentences
from assay.report.blocks import comparison
from assay.report.blocks.decisions import ANSWERS, POINTS, Judged, judged_card, value_text


def claims_counted(record: Record) -> str:
    """How many claims have which answer, the best first; nothing where the plan claims nothing."""
    answers = [str(claim["answer"]) for claim in record.get("claims") or ()]
    return ", ".join(f"{answers.count(word)} {word}" for word in reversed(ANSWERS) if word in answers)


def claims_verdict(record: Record) -> Verdict:
    """How many claims the data support; the worst answer gives the sign."""
    answers = [str(claim["answer"]) for claim in record["claims"]]
    sign, tone, _ = sentences.VERDICTS[min(answers, key=ANSWERS.index)]
    rest = ", ".join(f"{answers.count(word)} {word}" for word in ANSWERS if word != "supported" and word in answers)
    word = f"{answers.count('supported')} of {counted(len(answers), 'claim')} supported"
    return Verdict(sign, word, tone, f"{rest}." if rest else "", "claims", "each claim")


def claim_blocks(record: Record) -> Iterator[Block]:
    """Each claim with its answer, its value and the reason; nothing where the plan claims nothing."""
    if not record.get("claims"):
        return
    caption = f"Claims: {claims_counted(record)}"
    yield Paragraph(sentences.SAID["claims"], "soft", reach=Reach.REPORT)
    yield Paragraph(caption, "strong", reach=Reach.DIGEST)
    heads = (
        ("claim", "name", 2.4), ("answer", "text", 1.6), ("value", "text", 1.5), ("wrongly supported", "text", 1.3),
        ("why", "prose", 4),
    )  # fmt: skip
    claims, things = map(_judged, record["claims"]), ("claim", "claims")
    yield judged_card("Claims", caption, heads, claims, things=things, small=True)


def _judged(claim: Mapping[str, Any]) -> Judged:
    shown, other = value_text(claim["value"]), claim["reference_value"]
    beside = [f"{name.replace('_', ' ')} {value_text(size)}" for name, size in claim["beside"].items()]
    sizes = ", ".join(f"{visible(name)} {n}" for name, n in claim["n_by_class"].items())
    return Judged(
        criterion=visible(claim["claim"]),
        words=prose(claim.get("words") or ""),
        verdict=str(claim["answer"]),
        value=shown if other is None else f"{shown} against {value_text(other)}",
        ends=prose("; ".join([*beside, f"n {claim['n']} ({sizes})"])),
        risk=f"at most {POINTS * float(claim['risk']):.3g} %",
        why=prose(claim["why"]),
        needed=prose((claim.get("needed") or {}).get("why", "")),
    )


def contests(record: Record) -> tuple[comparison.Compared, ...]:
    """The comparisons that a plan asks for, each as a comparison by itself."""
    return tuple(map(comparison.Compared, comparison_records(record))) if record["plan"].get("comparisons") else ()


def contest_blocks(record: Record) -> Iterator[Block]:
    """What tests say of the models of a plan on the same rows; nothing where there is but one model."""
    if why_not := record["plan"].get("not_compared"):
        yield Paragraph(f"No test was made: {prose(why_not)}.")
    for made in contests(record):
        yield Paragraph(sentences.SAID["marks"], "soft", reach=Reach.FULL)
        tested = comparison.finding_list(made.findings, lambda f: (f.power,))
        yield Card((tested, *comparison.ranking_table(made.record)))
        folds = comparison.question_folds(made.record, opening="Why this test: ")
        yield Card(tuple(folds), "folds", reach=Reach.REPORT)
