# SPDX-License-Identifier: Apache-2.0
"""Deciding with uncertainty: criteria against an assessment give pass, fail or inconclusive, at a stated risk.

Guarded criteria of one decision are a family: their intervals are taken at Holm's levels, the strictest first, so that
the chance of any wrong verdict among them stays at what is left to the confidence level.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from assay.assess.decide.criteria import EVERY, EXIT, Criterion, GroupGap, Rule, Verdict, read
from assay.assess.decide.references import Against, Subject
from assay.core.errors import PlanError, unknown_choice
from assay.core.labels import Label, speller
from assay.core.text import counted, figure, listed, quoted
from assay.core.traits import HIGHER
from assay.inference.estimates import Interval, real_to_json
from assay.inference.intervals.interval_choice import FACTS
from assay.inference.multiplicity import stepped
from assay.inference.power import LARGEST, POWER, rows_for_limit, times_the_rows
from assay.tally.base import count_to_json

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.inference.estimates import Estimate
    from assay.inference.intervals.difference_of_two import Gap

AT_THE_LIMIT: Final = "the value lies at the limit: no number of rows decides that"


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """Rows that would decide, four times in five, if the truth is what was seen; or why there is no such number."""

    rows: int | None
    now: int
    why: str

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {"rows": self.rows, "now": self.now, "power": POWER, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One criterion and what was decided about it."""

    criterion: Criterion
    subject: Subject
    verdict: Verdict
    why: str
    value: float | None
    interval: Interval | None
    n: int | str
    false_pass: float | None = None
    """The chance of a pass where the truth is at the limit, at most; None where nothing bounds it."""
    false_fail: float | None = None
    family: int = 1
    """How many guarded criteria were decided together."""
    needed: Needed | None = None
    reference: Mapping[str, object] | None = None

    def to_json(self) -> dict[str, Any]:
        """As in a Record."""
        criterion = self.criterion
        by_margin = criterion.rule is Rule.NON_INFERIOR
        limit = {"margin": criterion.limit} if by_margin else {"side": criterion.side, "limit": criterion.limit}
        out: dict[str, Any] = {
            "criterion": str(criterion),
            **self.subject.to_json(),
            "rule": str(criterion.rule),
            **limit,
            "verdict": str(self.verdict),
            "why": self.why,
            "value": None if self.value is None else real_to_json(self.value),
            **ends_to_json(self.interval),
            "n": self.n,
            "risk": {"false_pass": self.false_pass, "false_fail": self.false_fail},
            "family": self.family,
            "needed": None if self.needed is None else self.needed.to_json(),
        }
        return out | ({} if self.reference is None else {"reference": dict(self.reference)})


def ends_to_json(interval: Interval | None) -> dict[str, object]:
    """Ends, level and method of an interval, or four times None."""
    told = {} if interval is None else interval.to_json()
    return {name: told.get(name) for name in ("low", "high", "level", "interval")}


class Decisions(tuple[Decision, ...]):
    """Every decision in the order they were asked for, and what they come to together."""

    __slots__ = ()

    def __repr__(self) -> str:
        """The verdict, and how many there are."""
        return f"<Decisions: {self.verdict}, {counted(len(self), 'criterion', 'criteria')}>"

    @property
    def verdict(self) -> Verdict:
        """Fail if one fails, else inconclusive if one is, else pass; nothing passes where nothing was asked."""
        verdicts = {one.verdict for one in self}
        if Verdict.FAIL in verdicts:
            return Verdict.FAIL
        return Verdict.INCONCLUSIVE if Verdict.INCONCLUSIVE in verdicts or not verdicts else Verdict.PASS

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 3 inconclusive."""
        return EXIT[self.verdict]


def decide(
    assessment: Assessment,
    criteria: Iterable[str | Criterion],
    *,
    against: Against | None = None,
    correction: str = "holm",
) -> Decisions:
    """Decide every criterion; guarded ones as one family.

    >>> from assay.assess.assess import assess
    >>> a = assess(truth=[1] * 100 + [0] * 100, predicted=[1] * 95 + [0] * 105)
    >>> [(str(d.criterion), str(d.verdict)) for d in decide(a, ["recall >= 0.85", "recall >= 0.95", "recall >= 0.99"])]
    [('recall >= 0.85', 'pass'), ('recall >= 0.95', 'inconclusive'), ('recall >= 0.99', 'fail')]
    """
    asked = [pair for text in criteria for pair in expanded(assessment, read(text, assessment.measures))]
    for criterion, _ in asked:
        if criterion.rule is Rule.NON_INFERIOR and against is None:
            what = f"{quoted(str(criterion))} needs a reference"
            raise PlanError("role-missing", what, where="against", fix="give it: against=... (--against RECORD)")
    guarded = [i for i, (own, _) in enumerate(asked) if own.rule is not Rule.SIMPLE and not _is_fact(own)]
    plain = [place for place in range(len(asked)) if place not in guarded]
    decisions = {place: _by_value(*asked[place], assessment) for place in plain}

    def judge(level: float, open_: Sequence[int]) -> dict[int, Decision]:
        at = assessment.at_level(level)
        return {place: Judge(at, against, len(guarded), *asked[place]).decided() for place in open_}

    decisions |= stepped(guarded, assessment.settings.wanted.level, correction, judge, _settled)
    return Decisions(decisions[place] for place in range(len(asked)))


def _is_fact(one: Criterion) -> bool:
    """Counts of these rows carry no doubt, so that their value decides under every rule."""
    return one.measure.family in FACTS and one.rule is not Rule.NON_INFERIOR


def _settled(decision: Decision) -> bool:
    """What Holm's procedure takes out of the family: a pass by benefit of the doubt is not a rejection."""
    if decision.criterion.rule is Rule.REJECTION:
        return decision.verdict is Verdict.FAIL
    return decision.verdict is not Verdict.INCONCLUSIVE


def expanded(assessment: Assessment, criterion: Criterion) -> Iterator[tuple[Criterion, Subject]]:
    """One criterion a class and level it speaks of."""
    for label in _labels(assessment, criterion):
        for level in _levels(assessment, criterion):
            typed, at = (None if own is None else str(own) for own in (label, level))
            subject = Subject(measure=criterion.measure, label=label, factor=criterion.factor, level=level)
            yield replace(criterion, label=typed, level=at), subject


def _labels(assessment: Assessment, criterion: Criterion) -> Sequence[Label | None]:
    if isinstance(criterion.measure, GroupGap):
        return [None]
    labels = list(assessment.by_class)
    of_one = assessment.view.speaks_of_class(criterion.measure)
    if criterion.label is None:
        if of_one and assessment.view.needs_class(criterion.measure):
            typed = replace(criterion, label=str(labels[0])).of
            what = f"{criterion.measure.name} speaks of one class, and there are {len(labels)}"
            fix = f"name it: {typed}; * means each; or ask an average"
            raise PlanError("measure-unfit", what, where=f'criterion "{criterion}"', known=listed(labels), fix=fix)
        return [None]
    if not of_one:
        base = criterion.measure.base
        what = f"{criterion.measure.name} speaks of all classes together"
        fix = f"leave the class out, or ask for {base}[class={criterion.label}]" if base else "leave the class out"
        raise PlanError("measure-unfit", what, where=f'criterion "{criterion}"', fix=fix)
    if criterion.label == EVERY:
        return labels
    return [_own(criterion.label, labels, f"there is no class {quoted(criterion.label)}", criterion)]


def _levels(assessment: Assessment, criterion: Criterion) -> Sequence[Label | None]:
    if criterion.factor is None:
        return [None]
    factors = assessment.grouped.factors
    if criterion.factor not in factors:
        what, where = f"the rows are not grouped by {quoted(criterion.factor)}", f'criterion "{criterion}"'
        known, fix = listed(factors) or "no group was given", "give the group: group=... (--group COLUMN)"
        code = "label-not-declared"
        raise unknown_choice(criterion.factor, factors, what, code=code, where=where, known=known, fix=fix)
    levels = list(factors[criterion.factor])
    if criterion.level == EVERY:
        return levels
    what = f"group {quoted(criterion.factor)} has no level {quoted(criterion.level)}"
    return [_own(str(criterion.level), levels, what, criterion)]


def _own(typed: str, known: Sequence[Label], what: str, criterion: Criterion) -> Label:
    """A typed label in the data's own type."""
    found = speller(known)(typed)
    if found in known:
        return found
    where, fix = f'criterion "{criterion}"', "name one of them"
    raise unknown_choice(typed, known, what, code="label-not-declared", where=where, known=listed(known), fix=fix)


def _by_value(criterion: Criterion, about: Subject, assessment: Assessment) -> Decision:
    """Where the value alone decides: the simple rule, and counts."""
    estimate = about.of(assessment)
    value, fact = estimate.value, _is_fact(criterion)
    if value is None:
        why = f"{criterion.of} is undefined: {estimate.reason}"
        return _made(criterion, about, estimate, Verdict.INCONCLUSIVE, why)
    kept = criterion.keeps(value)
    shown, place = f"{value:,g}" if fact else figure(value), "inside" if kept else "beyond"
    side = f"{shown} is {place} the limit {criterion.side} {criterion.limit:g}"
    doubt = "a count of these rows, without doubt" if fact else "by the value alone; near the limit that is a coin toss"
    found = _made(criterion, about, estimate, Verdict.PASS if kept else Verdict.FAIL, f"{side}; {doubt}")
    return replace(found, false_pass=0.0, false_fail=0.0) if fact else found


def _made(one: Criterion, about: Subject, estimate: Estimate, verdict: Verdict, why: str) -> Decision:
    value, interval, n = estimate.value, estimate.interval, count_to_json(estimate.n)
    return Decision(criterion=one, subject=about, verdict=verdict, why=why, value=value, interval=interval, n=n)


class Judge:
    """One guarded criterion at one level."""

    def __init__(self, at: Assessment, against: Against | None, family: int, one: Criterion, about: Subject) -> None:
        self.at, self.against, self.family, self.one, self.about = at, against, family, one, about
        self.estimate, self.rows = about.of(at), about.rows(at)
        self.level = at.settings.wanted.level
        self.risk = round((1 - self.level) / 2, 12)

    def decided(self) -> Decision:
        """The verdict at this level."""
        if self.one.rule is Rule.NON_INFERIOR and self.against is not None:
            return self._compared(self.against)
        ends, value = self.estimate.interval, self.estimate.value
        if value is None or ends is None:
            lost = f"{self.one.of} is undefined: {self.estimate.reason}"
            none = f"there is no interval: {self.estimate.no_interval}"
            return self._told(Verdict.INCONCLUSIVE, lost if value is None else none)
        near, far = (ends.low, ends.high) if self.one.higher else (ends.high, ends.low)
        place = f"{figure(ends.low)} to {figure(ends.high)} at {100 * ends.level:.4g} %"
        said = f"{place} and the limit is {self.one.side} {self.one.limit:g}"
        if self.one.keeps(near):
            left = self.one.measure.not_judged(self.at) if isinstance(self.one.measure, GroupGap) else ""
            said += f", but not every group is judged: {left}" if left else ""
            kept = Verdict.INCONCLUSIVE if left else Verdict.PASS
            return self._told(kept, f"the whole interval is inside the limit: {said}")
        if not self.one.keeps(far):
            return self._told(Verdict.FAIL, f"the whole interval is beyond the limit: {said}")
        if self.one.rule is Rule.REJECTION:
            return self._told(Verdict.PASS, f"it is not shown to be beyond the limit: {said}")
        return self._told(Verdict.INCONCLUSIVE, f"the limit is inside the interval: {said}", self._needed(value, near))

    def _compared(self, against: Against) -> Decision:
        gap = against.gap(self.about, self.at)
        reference, better = against.told(self.about, self.at), self.one.measure.better is HIGHER
        shown = {} if gap.value is None else {"difference": real_to_json(gap.value)}
        if gap.interval is None or gap.value is None:
            return self._told(Verdict.INCONCLUSIVE, str(gap.reason), reference={**reference, **shown})
        ends, margin = gap.interval, self.one.limit
        low, high = (ends.low, ends.high) if better else (-ends.high, -ends.low)
        shown |= {"difference_low": ends.low, "difference_high": ends.high, "interval": ends.method}
        reference = {**reference, **shown}
        said = f"{against.pairing} difference {gap.value:+.3f} ({ends.low:+.3f} to {ends.high:+.3f}), margin {margin:g}"
        if low > -margin:
            worse = "; worse beyond chance, but by less than the margin" if high < 0 else ""
            return self._told(Verdict.PASS, f"not worse by the margin: {said}{worse}", reference=reference)
        if high < 0:
            return self._told(Verdict.FAIL, f"worse beyond chance: {said}", reference=reference)
        needed = self._needed_apart(gap, low, high, against)
        return self._told(Verdict.INCONCLUSIVE, f"neither is shown: {said}", needed, reference)

    def _needed(self, value: float, near: float) -> Needed:
        criterion, estimate = self.one, self.estimate
        if value == criterion.limit or not math.isfinite(value):
            return Needed(rows=None, now=self.rows, why=AT_THE_LIMIT)
        if isinstance(estimate.denominator, int) and estimate.denominator:
            rows = rows_for_limit(value, criterion.limit, self.level) * self.rows / estimate.denominator
        else:
            ends = estimate.interval
            # The end that must pass the limit: the near one where the value is good, the far one where it is not.
            far = near if ends is None or criterion.keeps(value) else (ends.high if near == ends.low else ends.low)
            rows = self.rows * times_the_rows(abs(value - far), abs(value - criterion.limit), self.level)
        return feasible(rows, self.rows, "if the true value is the one seen")

    def _needed_apart(self, gap: Gap, low: float, high: float, against: Against) -> Needed:
        seen = float(gap.value or 0.0) * (1 if self.one.measure.better is HIGHER else -1)
        half, margin = max(seen - low, high - seen), self.one.limit
        times, why = times_the_rows(half, margin, self.level), "if the models are equal, or differ by the margin"
        if times <= 1:  # as many rows as that are there: the difference seen lies between the two
            times = times_the_rows(half, max(seen + margin, -seen), self.level)
            why = "if the true difference is the one seen"
        where = "" if against.pairing == "paired" else ", and the reference as many times more"
        return feasible(self.rows * times, self.rows, why + where)

    def _told(
        self, verdict: Verdict, why: str, needed: Needed | None = None, reference: Mapping[str, object] | None = None
    ) -> Decision:
        risk, decision = self.risk, _made(self.one, self.about, self.estimate, verdict, why)
        bound = None if self.one.rule is Rule.REJECTION else risk
        return replace(
            decision, false_pass=bound, false_fail=risk, family=self.family, needed=needed, reference=reference
        )


def feasible(rows: float, now: int, why: str) -> Needed:
    """The rows that would decide, more than there are now, unless nobody could have so many."""
    if rows > LARGEST:
        return Needed(rows=None, now=now, why="no feasible number of rows is enough")
    enough = max(math.ceil(rows), now + 1)
    return Needed(rows=enough, now=now, why=f"{counted(enough, 'row')} (now {now:,}) would decide 4 times in 5, {why}")
