# SPDX-License-Identifier: Apache-2.0
"""Acceptance criteria: written as text, parsed once into objects, and spelled back the same way.

They speak of a measure, or of gaps between groups: `gap(recall, sex) <= 0.05`, `equalized_odds(sex) <= 0.1`.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

from assay.core.errors import PlanError
from assay.core.registry import Registry
from assay.core.text import nearest, quoted, visible
from assay.core.traits import HIGHER, LOWER, NEITHER, Better
from assay.core.values import Number, Undefined
from assay.fairness.fairness_criteria import FOUR_FIFTHS, find_criterion
from assay.fairness.settings import split_criterion
from assay.inference.estimates import Estimate, Interval
from assay.measures import REGISTRY, Measure, parse

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.core.values import Amount
    from assay.fairness.disparity import Disparity

Side: TypeAlias = Literal[">=", ">", "<=", "<"]

EVERY: Final = "*"
"""Stands for each class, or each level of a group, one by one."""
LONGEST: Final = 4096
EXAMPLES: Final = (
    "recall >= 0.85; recall{sex=f} >= 0.8; f1[class=cat] >= 0.7; accuracy >= 0.9 simple; "
    "recall non-inferior margin 0.02; gap(recall, sex) <= 0.05"
)


class Rule(StrEnum):
    """How doubt is dealt with."""

    SIMPLE = "simple"
    """The value alone decides; at the limit it is wrong about every second time."""
    ACCEPTANCE = "guarded acceptance"
    """Pass and fail both need the whole interval on their side of the limit; in between nothing is decided."""
    REJECTION = "guarded rejection"
    """Fail needs the whole interval beyond the limit; everything else passes."""
    NON_INFERIOR = "non-inferior"
    """Pass needs the interval of the difference to a reference above minus the margin; fail, worse beyond chance."""


class Verdict(StrEnum):
    """What was decided."""

    PASS = "pass"  # noqa: S105  a verdict
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


EXIT: Final = {Verdict.PASS: 0, Verdict.FAIL: 1, Verdict.INCONCLUSIVE: 3}
"""What a command hands back to the shell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One thing that must hold: a measure of some rows, and a limit or a margin."""

    measure: Measure
    label: str | None = None
    """The class it speaks of, as typed; None for all, `*` for each."""
    factor: str | None = None
    level: str | None = None
    """The level of the group it speaks of, as typed; `*` for each."""
    rule: Rule = Rule.ACCEPTANCE
    side: Side = ">="
    limit: float = 0.0
    """The bound of a value, or the margin of a difference."""

    @property
    def higher(self) -> bool:
        """Whether large values are wanted."""
        return self.side in (">", ">=")

    @property
    def of(self) -> str:
        """What it speaks of, as it is typed."""
        label = "" if self.label is None else f"[class={_word(self.label)}]"
        level = "" if self.factor is None else f"{{{_word(self.factor)}={_word(str(self.level))}}}"
        return f"{self.measure.title}{label}{level}"

    def __str__(self) -> str:
        """As it is typed; parsing it gives the same criterion.

        >>> str(criterion("sensitivity{sex=f}>=.8 simple"))
        'recall{sex=f} >= 0.8 simple'
        """
        if self.rule is Rule.NON_INFERIOR:
            return f"{self.of} non-inferior margin {limit_shown(self.limit)}"
        how = "" if self.rule is Rule.ACCEPTANCE else f" {self.rule}"
        return f"{self.of} {self.side} {limit_shown(self.limit)}{how}"

    def keeps(self, value: float) -> bool:
        """Whether a value is on the good side of the limit."""
        limit = self.limit
        return {">=": value >= limit, ">": value > limit, "<=": value <= limit, "<": value < limit}[self.side]


@dataclass(frozen=True, slots=True)
class GroupGap:
    """How far the groups of a factor lie apart, in the place where a criterion has a measure."""

    what: str
    """`gap(recall)`, `ratio(recall)`, a criterion of fairness, or `four_fifths`."""
    factor: str
    family: str = "fairness"
    base: None = None
    takes: None = None
    from_labels: bool = False
    """It is not computed from one table, nor from labels alone."""

    @property
    def title(self) -> str:
        """As it is typed: `gap(recall, sex)`."""
        name, _, inside = self.what.partition("(")
        return f"{name}({inside.removesuffix(')')}, {self.factor})" if inside else f"{name}({self.factor})"

    name = title

    @property
    def better(self) -> Better:
        """A large ratio of the lowest to the highest group is wanted, and a small gap."""
        return HIGHER if self.what.startswith(("ratio(", "four_fifths")) else LOWER

    @property
    def range(self) -> tuple[float, float]:
        """From no gap to any."""
        return (0.0, 1.0) if self.better is HIGHER else (0.0, math.inf)

    @property
    def range_shown(self) -> str:
        """In words."""
        return "0 to 1" if self.better is HIGHER else "0 or more"

    def disparity(self, assessment: Assessment) -> Disparity:
        """What is decided about."""
        return assessment.fairness[self.factor][self.what]

    def estimate(self, assessment: Assessment) -> Estimate:
        """The same with its interval, which holds for all pairs of groups at once."""
        disparity = self.disparity(assessment)
        interval = None
        if disparity.low is not None and disparity.high is not None:
            interval = Interval(low=disparity.low, high=disparity.high, level=disparity.level, method=disparity.method)
        result = (
            Undefined(reason=disparity.reason) if disparity.value is None else Number(cast("Amount", disparity.value))
        )
        return Estimate(
            measure=self.title, result=result, interval=interval, no_interval=disparity.no_interval or None,
            n=assessment.counts.rows,
        )  # fmt: skip

    def not_judged(self, assessment: Assessment) -> str:
        """The groups that the gap does not speak of; a pass needs all of them."""
        return "; ".join(map(str, self.disparity(assessment).left_out))


def read_group_gap(text: str) -> tuple[GroupGap | None, str]:
    """The gap at the beginning of a criterion and what follows it; None where it speaks of a measure.

    >>> gap, rest = read_group_gap("gap(lift_at(share=0.1), sex) <= 0.05")
    >>> gap.title, gap.factor, rest
    ('gap(lift_at(share=0.1), sex)', 'sex', '<= 0.05')
    """
    head = _HEAD.match(text)
    if head is None or not (head[1] in OPERATORS or find_criterion(head[1])):
        return None, text
    name, inside, rest = head[1], head[2], head[3].strip()
    known = find_criterion(name)
    what, factor = split_criterion(f"{known.name if known else name}({inside})")
    if factor is None:
        return None, text
    return GroupGap(what, factor), rest or (f">= {FOUR_FIFTHS}" if what == "four_fifths" else "")


OPERATORS: Final = ("gap", "ratio", "four_fifths")
_HEAD: Final = re.compile(r"\s*([A-Za-z_][\w ]*?)\s*\((?=(.*)\)([^()]*)$)", re.DOTALL)
_VALUE = r'("(?:[^"\\]|\\.)*"|[^\]\}"=]+?)'
_CLASS = re.compile(rf"\[\s*class\s*=\s*{_VALUE}\s*\]\s*", re.DOTALL)
_LEVEL = re.compile(rf"\{{\s*{_VALUE}\s*=\s*{_VALUE}\s*\}}\s*", re.DOTALL)
_MEASURE = re.compile(r"\s*([^\[\]{}<>=()]+?\s*(?:\([^()]*\))?)\s*(?=[\[{<>=≥≤]|non-inferior\b|$)", re.DOTALL)
_SIDE = re.compile(r"(>=|<=|≥|≤|>|<)\s*(\S+)\s*(.*)$", re.DOTALL)
_GROUPS = re.compile(rf"\s*({'|'.join(OPERATORS)})\s*\(")
_BARE = re.compile(r"\s*([A-Za-z][^\[\]{}<>=≥≤]*?)\s*[:,]?\s+([0-9.]+ ?%?)\s*$")
"""A measure and a number with nothing between them that orders them."""
_MARGIN = re.compile(r"non-inferior\s+margin\s+(\S+)\s*$", re.DOTALL)


def criterion(text: str, measures: Registry[Measure] = REGISTRY) -> Criterion:
    """The criterion a text states, about one of the measures of a task.

    >>> one = criterion('f1[class="a b"]{site=Oslo} >= 0.7')
    >>> one.measure.name, one.label, one.factor, one.level, one.rule, one.limit
    ('f1', 'a b', 'site', 'Oslo', <Rule.ACCEPTANCE: 'guarded acceptance'>, 0.7)
    """
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
        raise _unreadable(str(text)[:LONGEST], "it is empty or too long")
    gap, rest = read_group_gap(text)
    if gap is None and _GROUPS.match(text):
        raise _unreadable(text, "which group? write gap(MEASURE, GROUP), or CRITERION(GROUP)")
    subject = Criterion(measure=cast("Measure", gap))
    if gap is None:
        subject, rest = _read_subject(text, measures)
    if gap is None and (match := _MARGIN.match(rest)):
        return _sound(text, replace(subject, rule=Rule.NON_INFERIOR, limit=_number(text, match[1])))
    match = _SIDE.match(rest)
    if match is None:
        raise _unreadable(text, _why_no_side(rest))
    side: Side = {"≥": ">=", "≤": "<="}.get(match[1], match[1])  # type: ignore[assignment]
    return _sound(text, replace(subject, rule=_rule(text, match[3]), side=side, limit=_number(text, match[2])))


def spoken_of(text: str) -> Criterion:
    """What a text without a limit speaks of, as a criterion whose limit says nothing.

    >>> one = spoken_of("recall[class=cat]")
    >>> one.measure.name, one.label, one.of
    ('recall', 'cat', 'recall[class=cat]')
    """
    if not isinstance(text, str) or len(text) > LONGEST:
        raise _unreadable(str(text)[:LONGEST], "it does not begin with a measure")
    subject, rest = _read_subject(text, REGISTRY)
    if rest.strip():
        raise _unreadable(text, f"{quoted(rest.strip())} is neither a class nor a level of a group")
    return subject


def _read_subject(text: str, measures: Registry[Measure]) -> tuple[Criterion, str]:
    """What a text speaks of, as a criterion without a limit, and what stands behind it."""
    head = _MEASURE.match(text)
    if head is None:
        raise _unreadable(text, "it does not begin with a measure")
    if not text[head.end() :] and (bare := _BARE.match(text)):
        sign = "<=" if str(_measure(text, bare[1], measures).better).startswith("lower") else ">="
        fix = f'write "{bare[1].strip()} {sign} {bare[2]}"'
        raise _unreadable(text, "between measure and number stands no sign", fix)
    measure = _measure(text, head[1], measures)
    rest, label, factor, level = _parts(text, text[head.end() :])
    return Criterion(measure=measure, label=label, factor=factor, level=level), rest


def read(given: str | Criterion, measures: Registry[Measure] = REGISTRY) -> Criterion:
    """A criterion as it was given: as text, or ready."""
    return given if isinstance(given, Criterion) else criterion(given, measures)


def _measure(text: str, name: str, measures: Registry[Measure]) -> Measure:
    try:
        measure = parse(name.strip(), measures)
    except PlanError as error:
        raise PlanError(error.code, error.what, where=_where(text), known=error.known, fix=error.fix) from error
    if measure.needs:
        what = f"{measure.name} needs {' and '.join(measure.needs)}"
        fix = f'write "{measure.name}({measure.needs[0]}=...)"'
        raise PlanError("measure-needs", what, where=_where(text), fix=fix)
    return measure


def _parts(text: str, rest: str) -> tuple[str, str | None, str | None, str | None]:
    """The class and the level between measure and limit, each at most once, in either order."""
    label = factor = level = None
    while rest[:1] in ("[", "{"):
        if rest[0] == "[":
            match = _CLASS.match(rest)
            if match is None or label is not None:
                raise _unreadable(text, "a class is written [class=NAME], once")
            label = _plain(text, match[1])
        else:
            match = _LEVEL.match(rest)
            if match is None or factor is not None:
                raise _unreadable(text, "a level of a group is written {GROUP=LEVEL}, once")
            factor, level = _plain(text, match[1]), _plain(text, match[2])
        rest = rest[match.end() :]
    return rest, label, factor, level


def _plain(text: str, value: str) -> str:
    if not value.startswith('"'):
        return value.strip()
    try:
        return str(json.loads(value))
    except ValueError as error:
        raise _unreadable(text, f"{visible(value)} is not text in quotes") from error


def _number(text: str, given: str) -> float:
    try:
        value = float(given)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        share = given.removesuffix("%")
        meant = share != given and share.replace(".", "", 1).isdigit()
        hint = f"; did you mean {float(share) / 100:g}?" if meant else ""
        raise _unreadable(text, f"{visible(given)} is not a number{hint}")
    return value


def _rule(text: str, given: str) -> Rule:
    name = " ".join(given.split()) or str(Rule.ACCEPTANCE)
    known = [str(rule) for rule in Rule if rule is not Rule.NON_INFERIOR]
    if name in known:
        return Rule(name)
    hint = f'; did you mean "{close}"?' if (close := nearest(name, known)) else ""
    raise _unreadable(text, f"{quoted(name)} is not a rule: {', '.join(known)}{hint}")


def _sound(text: str, candidate: Criterion) -> Criterion:
    """Only limits a measure can reach, and margins where one way is better."""
    measure, limit = candidate.measure, candidate.limit
    low, high = measure.range
    relative = candidate.rule is Rule.NON_INFERIOR
    code, known = "value-out-of-domain", None
    if relative and measure.better is NEITHER:
        code = "measure-unfit"
        what = f"{measure.name} has no better side, so that nothing is worse by a margin"
        fix = "state a limit, or choose a measure with a direction"
    elif relative and not 0 < limit < high - low:
        what, known = f"margin {limit:g} is not a margin of {measure.name}", f"above 0, below {high - low:g}"
        fix = "state the largest loss that does not matter, as a positive number"
    elif not relative and not low <= limit <= high:
        what, known = f"{limit:g} is outside what {measure.name} can be", measure.range_shown
        fix = f"did you mean {limit / 100:g}?" if low <= limit / 100 <= high else "state a limit inside the range"
    else:
        return candidate
    raise PlanError(code, what, where=_where(text), known=known, fix=fix)


def _why_no_side(rest: str) -> str:
    if rest.startswith("="):
        return "= is not a limit: write >= or <="
    if rest.startswith("non-inferior"):
        return "non-inferior needs its margin: non-inferior margin 0.02"
    return "after the measure comes >=, <=, >, < or non-inferior"


def _word(text: str) -> str:
    """A name as typed: in quotes where it could be read otherwise."""
    return text if re.fullmatch(r"[\w.\-*+/ ]+", text) and text == text.strip() else json.dumps(text)


def limit_shown(limit: float) -> str:
    """A limit in as few digits as keep it."""
    return repr(limit).removesuffix(".0")


def _where(text: str) -> str:
    return f'criterion "{visible(text)}"'


def _unreadable(text: str, why: str, fix: str | None = None) -> PlanError:
    what, form = f"the criterion cannot be read: {why}", "MEASURE[class=NAME]{GROUP=LEVEL} >= NUMBER"
    fix = fix or f"write {form}, the parts in brackets where they are meant"
    return PlanError("criterion-unreadable", what, where=_where(text), known=EXAMPLES, fix=fix)
