# SPDX-License-Identifier: Apache-2.0
"""The claims of a Record with their answers, and its comparisons with other models, ready to be shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from assay.assess.record import Record
from assay.core.text import counted, figure, visible
from assay.report.blocks import comparison
from assay.report.blocks.headline_verdict import Standing
from assay.report.estimate_rows import prose

SIGNS: Final = {"supported": "✓", "contradicted": "✗", "not decidable": "?"}
STYLES: Final = {"supported": "pass", "contradicted": "fail", "not decidable": "inconclusive"}
"""Answers look like the verdicts they resemble."""
TONES: Final = {"contradicted": "bad", "not decidable": "open", "supported": "good"}
"""The worst first."""
HEAD: Final = ("claim", "answer", "value", "wrongly supported", "why")
INTRODUCED: Final = (
    "What the plan claims, held against the data; claims about one test set are a family, and their intervals are at "
    "the levels of Holm's procedure."
)
POINTS: Final = 100
MOST: Final = 20
"""Claims and findings a terminal shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """One claim."""

    claim: str
    words: str
    sign: str
    answer: str
    style: str
    value: str
    beside: str
    risk: str
    why: str
    needed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """All of them, and what they come to."""

    says: str
    rows: tuple[Stated, ...]

    @property
    def standing(self) -> Standing:
        """How many of them the data support; the worst answer gives the sign."""
        every = [one.answer for one in self.rows]
        worst = next(one for one in TONES if one in every)
        rest = [f"{every.count(one)} {one}" for one in TONES if one != "supported" and one in every]
        return Standing(
            sign=SIGNS[worst],
            word=f"{every.count('supported')} of {counted(len(every), 'claim')} supported",
            tone=TONES[worst],
            says=f"{', '.join(rest)}." if rest else "",
            anchor="claims",
            more="each claim",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Contests:
    """Comparisons with the other models of the plan, or why there are none."""

    why_not: str
    made: tuple[comparison.Document, ...]


def claims(record: Record) -> Claims | None:
    """The claims of a Record; None where the plan states none."""
    found = record.get("claims") or []
    if not found:
        return None
    words = [str(one["answer"]) for one in found]
    parts = [f"{words.count(word)} {word}" for word in SIGNS if word in words]
    return Claims(says=", ".join(parts), rows=tuple(_stated(one) for one in found))


def _stated(one: Mapping[str, Any]) -> Stated:
    value, other = (one[name] for name in ("value", "reference_value"))
    shown = "undefined" if value is None else figure(float(value))
    beside = [f"{name.replace('_', ' ')} {_figure(x)}" for name, x in one["beside"].items()]
    sizes = ", ".join(f"{visible(name)} {n}" for name, n in one["n_by_class"].items())
    return Stated(
        claim=visible(one["claim"]),
        words=prose(one["words"]) if one.get("words") else "",
        sign=SIGNS[str(one["answer"])],
        answer=str(one["answer"]),
        style=STYLES[str(one["answer"])],
        value=shown if other is None else f"{shown} against {figure(float(other))}",
        beside=prose("; ".join([*beside, f"n {one['n']} ({sizes})"])),
        risk=f"at most {POINTS * float(one['risk']):.3g} %",
        why=prose(one["why"]),
        needed=prose((one.get("needed") or {}).get("why", "")),
    )


def _figure(value: float | None) -> str:
    return "undefined" if value is None else figure(float(value))


def contests(record: Record) -> Contests | None:
    """The comparisons of a Record; None where there is but one model."""
    asked = record["plan"].get("comparisons")
    why_not = record["plan"].get("not_compared")
    if not asked and not why_not:
        return None
    made, place = [], 0
    for part, plan in zip(record["comparisons"], asked or (), strict=True):
        size = sum(one["findings"] for one in part["answers"])
        whole = {**record, **part, "plan": plan, "findings": record["findings"][place : place + size]}
        made.append(comparison.read(Record(whole)))
        place += size
    return Contests(why_not=prose(why_not) if why_not else "", made=tuple(made))


def told(stated: Claims | None, held: Contests | None) -> Iterator[tuple[str, str, str]]:
    """Lines for a terminal: what they are (head or line), the text, and how far it hangs."""
    if stated is not None:
        yield "head", f"Claims: {stated.says}", ""
        for one in stated.rows[:MOST]:
            why = f"{one.why}; {one.needed}" if one.needed else one.why
            yield "line", f"{one.sign} {one.answer:<13} {one.claim}: {why}", " " * 16
        if len(stated.rows) > MOST:
            yield "line", f"… and {len(stated.rows) - MOST} more in the report", ""
    if held is not None:
        yield "head", "Against the other models", ""
        if held.why_not:
            yield "line", f"no test was made: {held.why_not}", "  "
        for made in held.made:
            for finding in made.findings[:MOST]:
                yield "line", f"{finding.mark} {finding.sentence} {finding.label}".rstrip(), "  "
