# SPDX-License-Identifier: Apache-2.0
"""Controls of the significance tests: admissible, corrected over their family, and able to show what matters."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from assay.assess.controls.control_declaration import Inquiry, Outcome, control, no_evidence, settle
from assay.assess.decide.plan_results import comparison_digest
from assay.core.errors import PlanError
from assay.core.text import counted, figure, phrases
from assay.inference.multiplicity import family_wise_error, holm
from assay.inference.power import POWER, least_disagreement, rows_for_mcnemar

if TYPE_CHECKING:
    from assay.assess.compare.comparison import Comparison
    from assay.assess.compare.questions.request import Answer

WHOLE_FAMILY: Final = ("nemenyi", "tukey", "dunnett", "against_control")
"""Tests whose p values hold for all pairs by themselves."""


def _compared(q: Inquiry) -> dict[str, Comparison]:
    return {name: one.comparison for name, one in q.contests.items() if one.comparison is not None}


def _none(q: Inquiry) -> str:
    return "; ".join(f"{name}: {one.why_not}" for name, one in q.contests.items()) or "no models were compared"


@control("CHK-TEST")
def admissible(q: Inquiry) -> Outcome:
    """Looks for tests that the values do not admit, and assumptions that the data do not bear out."""
    compared = _compared(q)
    if not compared:
        return no_evidence(_none(q))
    facts: dict[str, Any] = {}
    refused, forced, broken, made = [], [], [], []
    for split, comparison in compared.items():
        contest = q.contests[split]
        facts[split] = {
            "comparison": comparison_digest(comparison.record, comparison.record["findings"]),
            "named": [asdict(named) for named in contest.named],
            "by_channel": {channel: found.to_json() for channel, found in contest.channels.items()},
        }
        refused += [f"{named.test} ({named.why})" for named in contest.named if named.admitted is False]
        forced += [f"{named.test} ({named.why})" for named in contest.named if named.admitted is None]
        for finding in comparison.findings:
            broken += [f"{finding.test}: {c.assumes} ({c.seen})" for c in finding.checks if c.holds is False]
        made += [finding.test for finding in comparison.findings]
    return settle(
        (refused, "fail", f"not admissible: {phrases(refused)}"),
        (broken, "suspect", f"the data speak against an assumption of {phrases(broken)}"),
        (forced, "declared", f"chosen by hand: {phrases(forced)}"),
        (True, "pass", f"{', '.join(dict.fromkeys(made))}: given by the table of tests for these values"),
        facts=facts,
    )


@control("CHK-MULT")
def families(q: Inquiry) -> Outcome:
    """Looks for several questions answered as if each were the only one."""
    compared = _compared(q)
    if not compared:
        return no_evidence(_none(q))
    answers = {f"{split}, {one.question}": one for split, found in compared.items() for one in found.answers}
    facts: dict[str, Any] = {name: _family(answer, q.plan.checks.alpha) for name, answer in answers.items()}
    bare = [name for name, answer in answers.items() if _uncorrected(answer)]
    firsts = [next(iter(found.findings), None) for found in compared.values()]
    ps = [1.0 if one is None or one.p is None else one.p for one in firsts]
    if len(ps) > 1:  # the same question on several test sets is a family too
        facts["over the test sets"] = {"questions": len(ps), "p": ps, "p_adjusted": holm(ps), "correction": ["Holm"]}
    several = sum(one["questions"] > 1 for one in facts.values())
    none = q.plan.tests.correction == "none" and several > 0
    return settle(
        (none, "fail", "the plan asks for no correction of several questions"),
        (bare, "suspect", f"several questions without a correction: {phrases(bare)}"),
        (several, "pass", f"{counted(several, 'family', 'families')} of questions, each corrected"),
        (True, "pass", "one question a test set, nothing to correct"),
        facts=facts,
    )


def _family(answer: Answer, alpha: float) -> dict[str, Any]:
    """The questions of one answer, how they were corrected, and the risk without."""
    m = len(answer.findings)
    return {
        "questions": m,
        "family": list(answer.family),
        "correction": sorted({finding.adjusted.by for finding in answer.findings if finding.adjusted is not None}),
        "risk_without": family_wise_error(answer.findings[0].alpha if m else alpha, m) if m else 0.0,
        "p": [finding.p for finding in answer.findings],
        "p_adjusted": [finding.adjusted_p for finding in answer.findings],
    }


def _uncorrected(answer: Answer) -> bool:
    """Whether several of its p values stand without a correction."""
    own = [one for one in answer.findings if one.adjusted is None and one.p is not None]
    return len([one for one in own if one.test not in WHOLE_FAMILY]) > 1


@control("CHK-POWER")
def power(q: Inquiry) -> Outcome:
    """Looks for differences that matter and that these data could not have shown."""
    compared, wanted = _compared(q), q.plan.tests.difference
    if not compared:
        return no_evidence(_none(q))
    facts: dict[str, Any] = {}
    weak: list[str] = []
    shown: list[str] = []
    for split, comparison in compared.items():
        first = next(iter(comparison.findings), None)
        least = None if first is None or not isinstance(first.least, (int, float)) else float(first.least)
        if first is None or least is None:
            return no_evidence(f"{split}: what could have been shown has no value")
        about = first.about or "the values"
        facts[split] = {"test": first.test, "about": about, "rows": first.n, "detectable": least, "power": POWER}
        facts[split] |= {"level": first.level} | (_planned(q, split, comparison, wanted) if about == "accuracy" else {})
        shown.append(f"{split}: {figure(least)} of {about.replace('_', ' ')} with {counted(first.n, 'row')}")
        if wanted is not None and least > wanted:
            weak.append(split)
    said = f"a difference found four times in five: {phrases(shown)}"
    if wanted is not None:
        said += f"; declared to matter: {figure(wanted)}"
    thresholds = {"power": POWER} | ({} if wanted is None else {"difference": wanted})
    return Outcome("suspect" if weak else "pass", said, facts=facts, thresholds=thresholds)


def _planned(q: Inquiry, split: str, comparison: Comparison, wanted: float | None) -> dict[str, Any]:
    """What the planned number of rows could show with as many rows in dispute, and how many the difference needs."""
    planned = q.plan.data[split].rows if split in q.plan.data else None
    if comparison.paired is None or len(comparison.models) != 2 or not comparison.paired.n:  # noqa: PLR2004
        return {}
    level, outcomes = comparison.asked.level, comparison.paired.outcomes(*comparison.models)
    share = outcomes.disagree / outcomes.n
    facts: dict[str, Any] = {"in_dispute": share}
    if planned:
        least = least_disagreement(round(share * planned), planned, level)
        facts |= {"planned_rows": planned, "detectable_as_planned": least if isinstance(least, float) else None}
    if wanted:
        try:
            facts["rows_needed"] = rows_for_mcnemar(wanted, max(share, wanted), level)
        except PlanError as error:
            facts["rows_needed"] = error.what
    return facts
