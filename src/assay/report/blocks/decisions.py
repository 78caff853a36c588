# SPDX-License-Identifier: Apache-2.0
"""What was decided about the criteria of a Record: the verdict first, then each criterion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from assay.assess.record.record import Record
from assay.core.blocks import Block, Card, Cell, Paragraph, Reach, Table, columns, row_of
from assay.core.text import counted, figure, visible
from assay.report.estimate_rows import prose
from assay.report.sections import Verdict

SIGNS: Final = {"pass": "✓", "fail": "✗", "inconclusive": "?"}
DECIDED: Final = "Intervals are at the level of the decision, which is stricter where several are decided together."
RISKS: Final = "Criteria, verdicts, and the largest chance of a wrong pass where the truth lies at the limit"
POINTS: Final = 100
TONES: Final = {"pass": "good", "fail": "bad", "inconclusive": "open"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One criterion."""

    criterion: str
    sign: str
    verdict: str
    value: str
    ends: str
    risk: str
    why: str
    needed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """All of them, and what they come to."""

    overall: str
    sign: str
    says: str
    rows: tuple[Judged, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict on all criteria."""
        return Verdict(
            sign=self.sign,
            word=self.overall,
            tone=TONES[self.overall],
            says=f"Acceptance criteria: {self.says}.",
            anchor="decisions",
            more="each criterion",
        )


def decision_blocks(decided: Verdicts) -> Iterator[Block]:
    """Each criterion with its verdict and the reason."""
    yield Paragraph(f"Each criterion with its verdict. {DECIDED}", "soft", reach=Reach.FULL)
    heads = columns(
        ("criterion", "name", 2), ("verdict", "text", 1.3), ("value", "number", 1.6), ("wrong pass", "text", 1.2),
        ("why", "prose", 3.4),
    )  # fmt: skip
    rows = (
        row_of(
            judged.criterion,
            Cell(judged.verdict, judged.sign, tone=TONES[judged.verdict]),
            Cell(judged.value, below=judged.ends),
            judged.risk,
            Cell(judged.why, below=judged.needed),
        )
        for judged in decided.rows
    )
    things = ("criterion", "criteria")
    yield Card((Table(name="Decisions", caption=RISKS, columns=heads, rows=tuple(rows), things=things),))


def verdicts(record: Record | Mapping[str, Any]) -> Verdicts | None:
    """The decisions of a Record; None where no criterion was stated."""
    decisions = record.get("decisions") or []
    if not decisions:
        return None
    names = [str(decision["verdict"]) for decision in decisions]
    overall = next((word for word in ("fail", "inconclusive") if word in names), "pass")
    return Verdicts(
        overall=overall, sign=SIGNS[overall], says=_said(names), rows=tuple(_judged(decision) for decision in decisions)
    )


def _said(verdict_names: list[str]) -> str:
    passed, failed = verdict_names.count("pass"), verdict_names.count("fail")
    if passed == len(verdict_names):
        return f"{'the criterion is' if passed == 1 else f'all {passed} criteria are'} met"
    parts = [f"{passed} of {counted(len(verdict_names), 'criterion', 'criteria')} met"]
    parts += [f"{failed} not met"] if failed else []
    open_ = len(verdict_names) - passed - failed
    return ", ".join([*parts, f"{open_} not decided"] if open_ else parts)


def _judged(decision: Mapping[str, Any]) -> Judged:
    needed = decision.get("needed") or {}
    return Judged(
        criterion=visible(decision["criterion"]),
        sign=SIGNS[str(decision["verdict"])],
        verdict=str(decision["verdict"]),
        value="undefined" if decision["value"] is None else figure(float(decision["value"])),
        ends=_ends(decision),
        risk=_percent(decision["risk"]["false_pass"]),
        why=prose(decision["why"]),
        needed=prose(needed.get("why", "")),
    )


def _ends(decision: Mapping[str, Any]) -> str:
    if decision["low"] is None or decision["high"] is None:
        return ""
    low, high, level = (float(decision[name]) for name in ("low", "high", "level"))
    return f"{figure(low)} to {figure(high)} at {POINTS * level:.4g} %"


def _percent(share: float | None) -> str:
    return "not bounded" if share is None else f"at most {POINTS * float(share):.3g} %" if share else "none"
