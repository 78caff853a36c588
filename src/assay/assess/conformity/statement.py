# SPDX-License-Identifier: Apache-2.0
"""The conformity statement: every requirement row with its verdict and the evidence for it.

A row is judged by all of its parts, and the worst one decides. Nothing that is missing makes a verdict better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from assay.assess.conformity.clauses import SUPPLEMENT, CheckDemand, Row, catalogue, profile
from assay.assess.conformity.preconditions import Applies, Use, applies, ask, uses_of
from assay.assess.controls import CONTROLS, Checked, Inquiry, Outcome, Verdict, worst
from assay.assess.plan.checked_plan import planned, stated
from assay.assess.plan.plan_answers import answer
from assay.core.task import find_task
from assay.core.text import counted, listed, quoted

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment

OUTSIDE: Final = "outside the scope of TS 4213:2022"
Overall = Literal[
    "conforming",
    "conforming by declaration",
    "conformity not demonstrated",
    "non-conforming",
    "outside the scope of TS 4213:2022",
]
LOOKED: Final = ("pass", "fail", "suspect")
COMPUTED: Final = ("check", "measure", "record", "test")
DEVIATING: Final = ("should", "should not", "imperative", "limit")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One part of a row: a statement, a check, a measure, or a part of the Record."""

    kind: Literal["plan", "check", "measure", "record", "precondition", "test"]
    name: str
    verdict: Verdict
    says: str

    def to_json(self) -> dict[str, str]:
        """As in a Record."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A row with its verdict, why, and the assessor's answer where there is one."""

    row: Row
    verdict: Verdict
    says: str
    evidence: tuple[Evidence, ...]
    answer: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As in a Record."""
        return {
            "id": self.row.id,
            "clause": self.row.clause,
            "strength": self.row.strength,
            "demand": self.row.says,
            "verdict": self.verdict,
            "says": self.says,
            "evidence": [one.to_json() for one in self.evidence],
            "answer": self.answer,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Conformity:
    """The whole statement."""

    profile: str
    document: str
    overall: Overall
    says: str
    rows: tuple[Judged, ...]
    supplement: tuple[Judged, ...]
    by_analogy: bool = False
    """Whether the task is outside the scope, so that general rows are judged as if it were inside."""

    def to_json(self) -> dict[str, Any]:
        """As in a Record."""
        return {
            "overall": self.overall,
            "says": self.says,
            "profile": self.profile,
            "document": self.document,
            **({"by_analogy": True} if self.by_analogy else {}),
            "catalogue": catalogue(self.profile),
            "counts": counts(self.rows),
            "deviations": [one.row.id for one in deviations(self.rows)],
            "unjustified": [one.row.id for one in deviations(self.rows) if one.answer is None],
            "rows": [one.to_json() for one in self.rows],
            "supplement": [one.to_json() for one in self.supplement],
        }


def judge(q: Inquiry, checked: Iterable[Checked], record: Mapping[str, Any]) -> Conformity:
    """Judge every row of the plan's profile, and of the supplement."""
    checks_by_name = {one.name: one for one in checked}
    chosen = profile(q.plan.plan.profile or profile().name)
    uses = uses_of(q.plan.tests.chosen or (), checks_by_name, record)
    rows = tuple(judged(row, q, checks_by_name, record, uses) for row in chosen.rows)
    overall, said = settled(rows)
    outside = outside_scope(q)
    if outside:
        said = f"the document is about classification; by analogy: {overall}, {said}"
    return Conformity(
        profile=chosen.name,
        document=f"{chosen.document} (by analogy)" if outside else chosen.document,
        overall=OUTSIDE if outside else overall,
        by_analogy=outside,
        says=said,
        rows=rows,
        supplement=tuple(judged(row, q, checks_by_name, record, uses) for row in profile(SUPPLEMENT).rows),
    )


def rejudged(record: Mapping[str, Any]) -> Conformity:
    """The statement that the plan, the controls and the results of a Record give."""
    controls = [
        Checked(
            control=CONTROLS[one["check"]],
            outcome=Outcome(part=one["part"] or "", verdict=one["verdict"], says=one["says"], facts=one["facts"]),
            at=one["at"],
        )
        for one in record["controls"]
    ]
    inquiry = Inquiry(
        loaded=planned(record["plan"]["declared"]),
        model=record["plan"]["model"],
        split=record["plan"]["split"],
        assessment=cast("Assessment", SimpleNamespace(task=record["task"])),
        findings=tuple(record["findings"]),
    )
    return judge(inquiry, controls, record)


def outside_scope(q: Inquiry) -> bool:
    """Whether the document does not speak of the task."""
    return q.kind is not None and q.other_task and not find_task(q.kind).in_scope


def judged(
    row: Row, q: Inquiry, checked: Mapping[str, Checked], record: Mapping[str, Any], uses: Sequence[Use]
) -> Judged:
    """The verdict of one row."""
    text = q.plan.justifications.get(row.id)
    reply = text if q.signed(text) else None
    parts: list[Evidence] = []
    condition = _condition(row, q, uses)
    supposed = str(row.when or "classification")
    if condition is not None and condition.holds is False:
        parts.append(Evidence("precondition", supposed, "n/a", condition.why))
        return Judged(row=row, verdict="n/a", says=condition.why, evidence=tuple(parts), answer=reply)
    if condition is not None and condition.holds is None:
        parts.append(Evidence("precondition", supposed, "no-evidence", condition.why))
    parts += [_statement(q, path) for path in row.states]
    parts += [_check(one, checked, q) for one in row.checks]
    parts += [_measure(names, record) for names in row.measures]
    parts += _of_tests(row, uses)
    parts += [_part(path, record) for path in row.record]
    reason = q.plan.not_applicable.get(row.id)
    if q.signed(reason):
        seen = [condition.why] if condition is not None and condition.holds else []
        seen += [one.says for one in parts if one.verdict in LOOKED or (one.kind, one.verdict) == ("plan", "declared")]
        parts = [_stated_away(f"not_applicable.{row.id}", str(reason), seen)]
    if not parts:
        parts.append(Evidence("check", "none", "no-evidence", "no check is built for this row"))
    verdict = combined([(one.kind, one.verdict) for one in parts])
    said = why([(one.verdict, one.says) for one in parts], verdict)
    return Judged(row=row, verdict=verdict, says=said, evidence=tuple(parts), answer=reply)


def _condition(row: Row, q: Inquiry, uses: Sequence[Use]) -> Applies | None:
    """Whether a row applies; None where it always does."""
    if outside_scope(q) and row.clause.startswith(("6", "Annex")):
        return Applies(holds=False, why=f"it is about classification, and the task is {q.kind}")
    return None if row.when is None else applies(row.when, q, uses)


def _stated_away(path: str, reason: str, seen: Sequence[str]) -> Evidence:
    """A statement that something does not apply; it fails where the data show that it does."""
    if seen:
        said = f"the plan states that this does not apply, {quoted(reason)}, but: {'; '.join(seen)}"
        return Evidence("plan", path, "fail", said)
    return Evidence("plan", path, "n/a", f"n/a by declaration: {quoted(reason)}")


def _of_tests(row: Row, uses: Sequence[Use]) -> list[Evidence]:
    if row.tests is None:
        return []
    of = row.tests.of or (row.when.tests if row.when is not None else ())
    return [Evidence("test", what, *ask(what, of, uses)) for what in row.tests.asks]


def why(parts: Sequence[tuple[str, str]], verdict: str) -> str:
    """What a row says: the sentences of the parts that decide it.

    >>> why([("pass", "all is well"), ("fail", "but here"), ("fail", "but here")], "fail")
    'but here'
    """
    deciding = [said for own, said in parts if own == verdict] or [said for _, said in parts]
    return "; ".join(dict.fromkeys(deciding))


def combined(parts: Sequence[tuple[str, Verdict]]) -> Verdict:
    """The verdict of a row from the kinds and verdicts of its parts: the worst one decides.

    A statement beside checks that passed is more than a statement, unless a check itself rests on one.

    >>> combined([("plan", "declared"), ("check", "pass")]), combined([("plan", "declared"), ("check", "declared")])
    ('pass', 'declared')
    """
    verdict = worst(one for _, one in parts)
    if verdict == "declared" and any(one == "pass" and kind in COMPUTED for kind, one in parts):
        return "declared" if any(one == "declared" and kind == "check" for kind, one in parts) else "pass"
    return verdict


def _statement(q: Inquiry, path: str) -> Evidence:
    statement = answer(q.loaded, path)
    if statement.whole and q.loaded.signed:
        return Evidence("plan", path, "declared", f"stated in the plan: {', '.join(statement.given)}")
    lacking = f"the plan does not say {', '.join(statement.lacking or (path,))}"
    return Evidence("plan", path, "no-evidence", "stated, but the plan is not signed" if statement.whole else lacking)


def _check(asked: CheckDemand, checked: Mapping[str, Checked], q: Inquiry) -> Evidence:
    check, reason = checked.get(asked.name), q.plan.not_applicable.get(asked.id)
    if q.signed(reason):
        seen = [check.outcome.says] if check is not None and check.outcome.verdict in LOOKED else []
        return replace(_stated_away(f"not_applicable.{asked.id}", str(reason), seen), kind="check", name=asked.name)
    if check is None:
        return Evidence("check", asked.name, "no-evidence", f"{asked.name} did not run")
    looked = asked.looked and check.outcome.verdict in LOOKED
    return Evidence("check", asked.name, "pass" if looked else check.outcome.verdict, check.outcome.says)


def _measure(wanted: tuple[str, ...], record: Mapping[str, Any]) -> Evidence:
    there = {str(one["measure"]).partition("(")[0].partition("@")[0] for one in record.get("estimates", ())}
    found = [name for name in wanted if name in there]
    said = f"reported: {', '.join(found)}" if found else f"not reported: {listed(wanted)}"
    return Evidence("measure", "|".join(wanted), "pass" if found else "no-evidence", said)


def _part(path: str, record: Mapping[str, Any]) -> Evidence:
    node: Any = record
    for key in path.split("."):
        node = node.get(key) if isinstance(node, Mapping) else None
    there = stated(node) if isinstance(node, str) else bool(node)
    said = f"{path} is in the Record" if there else f"{path} is not in the Record"
    return Evidence("record", path, "pass" if there else "no-evidence", said)


def settled(rows: Sequence[Judged]) -> tuple[Overall, str]:
    """The overall state, from the shall rows alone, and why."""
    shall = [one for one in rows if one.row.strength == "shall"]
    failed = [one.row.id for one in shall if one.verdict == "fail"]
    if failed:
        return "non-conforming", f"{counted(len(failed), 'shall row')} failed: {', '.join(failed)}"
    open_ = [
        one.row.id for one in shall if one.verdict == "no-evidence" or (one.verdict == "suspect" and one.answer is None)
    ]
    if open_ or not shall:
        return "conformity not demonstrated", f"{len(open_)} of {len(shall)} shall rows are open: {', '.join(open_)}"
    stated_ = [one.row.id for one in shall if one.verdict in ("declared", "suspect")]
    if stated_:
        rest = "rests" if len(stated_) == 1 else "rest"
        said = f"{counted(len(stated_), 'shall row')} {rest} on a statement: {', '.join(stated_)}"
        return "conforming by declaration", said
    return "conforming", f"all {len(shall)} shall rows pass or do not apply"


def deviations(rows: Iterable[Judged]) -> list[Judged]:
    """Rows below a shall that failed; each wants a justification."""
    return [one for one in rows if one.verdict == "fail" and one.row.strength in DEVIATING]


def counts(rows: Iterable[Judged]) -> dict[str, int]:
    """Rows by verdict."""
    found = Counter(one.verdict for one in rows)
    return {verdict: found[verdict] for verdict in ("pass", "fail", "suspect", "declared", "no-evidence", "n/a")}
