# SPDX-License-Identifier: Apache-2.0
"""The claims of a Record with their answers, and its comparisons with the other models of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.assess.record.record import Record
from assay.core.blocks import Block, Card, Cell, Paragraph, Reach, Row, Table, columns, row_of
from assay.core.text import counted, figure, visible
from assay.report import sentences
from assay.report.blocks import comparison
from assay.report.estimate_rows import prose
from assay.report.sections import Verdict

SIGNS: Final = {"supported": "✓", "contradicted": "✗", "not decidable": "?"}
TONES: Final = {"contradicted": "bad", "not decidable": "open", "supported": "good"}
"""The worst first."""
INTRODUCED: Final = (
    "What the plan claims, held against the data; claims about one test set are a family, and their intervals are at "
    "the levels of Holm's procedure."
)
POINTS: Final = 100


def claims_counted(record: Record) -> str:
    """How many claims have which answer; nothing where the plan claims nothing."""
    answers = [str(claim["answer"]) for claim in record.get("claims") or ()]
    return ", ".join(f"{answers.count(word)} {word}" for word in SIGNS if word in answers)


def claims_verdict(record: Record) -> Verdict:
    """How many claims the data support; the worst answer gives the sign."""
    answers = [str(claim["answer"]) for claim in record["claims"]]
    worst = next(word for word in TONES if word in answers)
    rest = [f"{answers.count(word)} {word}" for word in TONES if word != "supported" and word in answers]
    return Verdict(
        sign=SIGNS[worst],
        word=f"{answers.count('supported')} of {counted(len(answers), 'claim')} supported",
        tone=TONES[worst],
        says=f"{', '.join(rest)}." if rest else "",
        anchor="claims",
        more="each claim",
    )


def claim_blocks(record: Record) -> Iterator[Block]:
    """Each claim with its answer, its value and the reason; nothing where the plan claims nothing."""
    stated = record.get("claims") or ()
    if not stated:
        return
    yield Paragraph(INTRODUCED, "soft", reach=Reach.REPORT)
    yield Paragraph(f"Claims: {claims_counted(record)}", "strong", reach=Reach.DIGEST)
    heads = columns(
        ("claim", "name", 2.4), ("answer", "text", 1.6), ("value", "text", 1.5), ("wrongly supported", "text", 1.3),
        ("why", "prose", 4),
    )  # fmt: skip
    rows, caption = tuple(map(_claim_row, stated)), f"Claims: {claims_counted(record)}"
    things = ("claim", "claims")
    yield Card((Table(name="Claims", caption=caption, columns=heads, rows=rows, small=True, things=things),))


def _claim_row(claim: Mapping[str, Any]) -> Row:
    value, other = (claim[name] for name in ("value", "reference_value"))
    shown = _figure(value)
    beside = [f"{name.replace('_', ' ')} {_figure(size)}" for name, size in claim["beside"].items()]
    sizes = ", ".join(f"{visible(name)} {n}" for name, n in claim["n_by_class"].items())
    answer = str(claim["answer"])
    return row_of(
        Cell(visible(claim["claim"]), below=prose(claim["words"]) if claim.get("words") else ""),
        Cell(answer, SIGNS[answer], tone=TONES[answer]),
        Cell(
            shown if other is None else f"{shown} against {figure(float(other))}",
            below=prose("; ".join([*beside, f"n {claim['n']} ({sizes})"])),
        ),
        f"at most {POINTS * float(claim['risk']):.3g} %",
        Cell(prose(claim["why"]), below=prose((claim.get("needed") or {}).get("why", ""))),
    )


def _figure(value: float | None) -> str:
    return "undefined" if value is None else figure(float(value))


def contests(record: Record) -> tuple[comparison.Compared, ...]:
    """The comparisons that a plan asks for, each as a comparison by itself."""
    made, place = [], 0
    for part, plan in zip(record["comparisons"], record["plan"].get("comparisons") or (), strict=True):
        size = sum(answer["findings"] for answer in part["answers"])
        whole = {**record, **part, "plan": plan, "findings": record["findings"][place : place + size]}
        made.append(comparison.compared(Record(whole)))
        place += size
    return tuple(made)


def contest_blocks(record: Record) -> Iterator[Block]:
    """What tests say of the models of a plan on the same rows; nothing where there is but one model."""
    why_not = record["plan"].get("not_compared")
    if why_not:
        yield Paragraph(f"No test was made: {prose(why_not)}.")
    for made in contests(record) if record["plan"].get("comparisons") else ():
        yield Paragraph(sentences.MARKS_SAID, "soft", reach=Reach.FULL)
        yield Card(
            (comparison.finding_list(made.findings, powered=True), *comparison.ranking_table(made.ranking)),
        )
        yield Card(
            tuple(comparison.question_folds(made.record, opening="Why this test: ")), "folds", reach=Reach.REPORT
        )
