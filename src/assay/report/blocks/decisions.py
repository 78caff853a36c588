# SPDX-License-Identifier: Apache-2.0
"""What was decided about the criteria and the claims of a Record: the verdict first, then each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from assay.assess.record.record import Record
from assay.core.blocks import Block, Card, Cell, Head, Paragraph, Reach, table
from assay.core.blocks.estimate_rows import prose
from assay.core.blocks.lead import Verdict
from assay.core.text import counted, figure, visible
from assay.report import sentences

ANSWERS: Final = ("fail", "inconclusive", "pass", "contradicted", "not decidable", "supported")
"""Every answer to a criterion and to a claim, the worst first."""
POINTS: Final = 100


class Judged(NamedTuple):
    """One criterion or claim."""

    criterion: str
    verdict: str
    value: str
    ends: str
    risk: str
    why: str
    needed: str
    words: str = ""

    @property
    def sign(self) -> str:
        """The sign of the verdict."""
        return sentences.VERDICTS[self.verdict][0]


class Verdicts(NamedTuple):
    """All criteria, and what they come to: a verdict, or none where no criterion was stated."""

    overall: str = ""
    says: str = ""
    rows: tuple[Judged, ...] = ()
    verdict: tuple[Verdict, ...] = ()


def decision_blocks(decided: Verdicts) -> Iterator[Block]:
    """Each criterion with its verdict and the reason."""
    if not decided.rows:
        return
    yield Paragraph(f"Each criterion with its verdict. {sentences.SAID['decided']}", "soft", reach=Reach.FULL)
    heads = (
        ("criterion", "name", 2), ("verdict", "text", 1.3), ("value", "number", 1.6), ("wrong pass", "text", 1.2),
        ("why", "prose", 3.4),
    )  # fmt: skip
    yield judged_card("Decisions", sentences.SAID["risks"], heads, decided.rows, things=("criterion", "criteria"))


def judged_card(name: str, caption: str, heads: Iterable[Head], judged: Iterable[Judged], **more: object) -> Card:
    """Criteria or claims, each with its answer, value, risk and reason."""
    rows = (
        (
            Cell(row.criterion, below=row.words),
            Cell(row.verdict, row.sign, tone=sentences.VERDICTS[row.verdict][1]),
            Cell(row.value, below=row.ends),
            row.risk,
            Cell(row.why, below=row.needed),
        )
        for row in judged
    )
    return Card((table(name, caption, heads, rows, **more),))


def verdicts(record: Record | Mapping[str, Any]) -> Verdicts:
    """The decisions of a Record."""
    decisions = record.get("decisions") or []
    names = [str(decision["verdict"]) for decision in decisions]
    if not names:
        return Verdicts()
    overall, says = min(names, key=ANSWERS.index), _said(names)
    sign, tone, _ = sentences.VERDICTS[overall]
    shown = Verdict(sign, overall, tone, f"Acceptance criteria: {says}.", "decisions", "each criterion")
    return Verdicts(overall, says, tuple(map(_judged, decisions)), (shown,))


def _said(verdict_names: list[str]) -> str:
    passed, failed = verdict_names.count("pass"), verdict_names.count("fail")
    if passed == len(verdict_names):
        return f"{'the criterion is' if passed == 1 else f'all {passed} criteria are'} met"
    met, open_ = counted(len(verdict_names), "criterion", "criteria"), len(verdict_names) - passed - failed
    others = ((failed, "not met"), (open_, "not decided"))
    return ", ".join((f"{passed} of {met} met", *(f"{n} {what}" for n, what in others if n)))


def _judged(decision: Mapping[str, Any]) -> Judged:
    risk, low, high = decision["risk"]["false_pass"], decision["low"], decision["high"]
    level = f"at {POINTS * float(decision['level']):.4g} %"
    return Judged(
        criterion=visible(decision["criterion"]),
        verdict=str(decision["verdict"]),
        value=value_text(decision["value"]),
        ends="" if None in (low, high) else f"{figure(float(low))} to {figure(float(high))} {level}",
        risk="not bounded" if risk is None else f"at most {POINTS * float(risk):.3g} %" if risk else "none",
        why=prose(decision["why"]),
        needed=prose((decision.get("needed") or {}).get("why", "")),
    )


def value_text(value: float | None) -> str:
    """A value that was judged."""
    return "undefined" if value is None else figure(float(value))


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
    claims, things = map(_judged_claim, record["claims"]), ("claim", "claims")
    yield judged_card("Claims", caption, heads, claims, things=things, small=True)


def _judged_claim(claim: Mapping[str, Any]) -> Judged:
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
