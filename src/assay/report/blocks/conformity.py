# SPDX-License-Identifier: Apache-2.0
"""The conformity statement of a Record, ready to be shown: rows by clause with their evidence, controls with facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

from assay.assess.clauses import profile, profiles
from assay.assess.record import Record
from assay.core.text import counted, figure, visible
from assay.report.blocks.headline_verdict import Standing
from assay.report.estimate_rows import prose

SIGNS: Final = {"pass": "✓", "fail": "✗", "suspect": "?", "declared": "✎", "no-evidence": "○", "n/a": "–"}
WORDS: Final = {
    "pass": "shown",
    "fail": "not met",
    "suspect": "an indication that wants an answer",
    "declared": "rests on a statement alone",
    "no-evidence": "neither data nor statement",
    "n/a": "does not apply",
}
LIMITS: Final = (
    "No program can tell whether a reference distribution is the real one, whether labels are true, whether test data "
    "influenced people before, whether there are channels nobody recorded, or whether the intended use is stated "
    "honestly. "
    "Such rows stay declared. Fingerprints show differences between moments, not every change between them."
)
UNMET: Final = "What wants an answer"
MOST_FACTS: Final = 8
FEW_WORDS: Final = 24
"""A statement of at most so many characters does not stand alone."""
LONGEST_FACT: Final = 120
"""A fact that is longer is cut; the Record has it whole."""
OF_DATA: Final = ("data", "ground_truth", "population", "bias")
"""Parts of a plan that say where rows and truth come from; they stand with the data."""
ELSEWHERE: Final = ("assay", "plan", *OF_DATA)
STATES: Final = {
    "conforming": ("✓", "good"),
    "conforming by declaration": ("✎", "open"),
    "conformity not demonstrated": ("○", "open"),
    "non-conforming": ("✗", "bad"),
}
BAD: Final = ("fail", "suspect")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One part of the evidence of a row; `anchor` leads to where it stands on the page."""

    kind: str
    name: str
    sign: str
    verdict: str
    style: str
    says: str
    anchor: str

    @property
    def in_place(self) -> bool:
        """Whether the sentence itself names what it rests on, so that the link stands in it."""
        return self.kind != "check"

    @property
    def lead(self) -> str:
        """What comes before the link."""
        return "stated in the plan: " if self.says.startswith("stated in the plan: ") else ""

    @property
    def named(self) -> str:
        """What the link reads."""
        return self.says.removeprefix(self.lead) if self.in_place else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """One requirement row."""

    id: str
    anchor: str
    strength: str
    says: str
    verdict: str
    sign: str
    style: str
    why: str
    answer: str
    proofs: tuple[Proof, ...]

    @property
    def alone(self) -> bool:
        """Whether one proof says all there is to say."""
        return len(self.proofs) == 1 and self.proofs[0].says == self.why


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """The rows of one clause."""

    name: str
    rows: tuple[Demand, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What one control found."""

    name: str
    anchor: str
    sign: str
    verdict: str
    style: str
    says: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One part of a plan as it was declared."""

    name: str
    anchor: str
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The whole statement."""

    overall: str
    document: str
    says: str
    counts: tuple[tuple[str, str, str, int], ...]
    clauses: tuple[Clause, ...]
    shall: tuple[Demand, ...]
    deviations: tuple[Demand, ...]
    unmet: tuple[Demand, ...]
    """Rows that stand in the way: not met, suspect, or asked for without evidence."""
    supplement: tuple[Demand, ...]
    controls: tuple[Looked, ...]
    plan: tuple[tuple[str, str], ...]
    declared: tuple[Declared, ...]

    @property
    def standing(self) -> Standing:
        """The verdict on conformity."""
        sign, tone = STATES.get(self.overall, ("○", "open"))
        says = f"{self.document}: {self.says}."
        return Standing(
            sign=sign, word=self.overall, tone=tone, says=says, anchor="conformity", more="clause by clause"
        )


def statement(record: Record) -> Statement | None:
    """The statement of a Record; None where no plan was followed."""
    found = record.get("conformity", {})
    if not found.get("rows"):
        return None
    there = _there(record)
    rows = [_demand(one, there) for one in found["rows"]]
    clauses: dict[str, list[Demand]] = {}
    for one, row in zip(found["rows"], rows, strict=True):
        clauses.setdefault(visible(one["clause"]), []).append(row)
    deviating = set(found.get("deviations", ()))
    return Statement(
        overall=visible(found["overall"]),
        document=visible(found.get("document", "")),
        says=prose(found.get("says", "")),
        counts=tuple((SIGNS[name], name, WORDS[name], int(found["counts"][name])) for name in SIGNS),
        clauses=tuple(Clause(name=_headed(found, name), rows=tuple(held)) for name, held in clauses.items()),
        shall=tuple(row for row in rows if row.strength == "shall"),
        deviations=tuple(row for row in rows if row.id in deviating),
        unmet=tuple(sorted((row for row in rows if _is_unmet(row)), key=_weight)),
        supplement=tuple(_demand(one, there) for one in found.get("supplement", ())),
        controls=tuple(_looked(one) for one in record.get("controls", ())),
        plan=(*_plan(record["plan"]), *_ledger(record.get("ledger"))),
        declared=tuple(
            declared_part(str(name), part if isinstance(part, Mapping) else {"": part})
            for name, part in record["plan"].get("declared", {}).items()
            if name not in ELSEWHERE and part not in (None, {}, [])
        ),
    )


def _headed(found: Mapping[str, Any], clause: str) -> str:
    """A clause with what it is about; alone where this version does not know the profile."""
    name = str(found.get("profile", ""))
    return profile(name).headed(clause) if name in profiles() else clause


def declared_part(name: str, content: Mapping[str, Any]) -> Declared:
    """A part of a plan as pairs of names and texts."""
    pairs = tuple((one or visible(name), text) for one, text in _stated(content))
    return Declared(name=visible(name).replace("_", " "), anchor=_named("p", name), pairs=pairs)


def _is_unmet(row: Demand) -> bool:
    return row.verdict in BAD or (row.strength.startswith("shall") and row.verdict == "no-evidence")


def _weight(row: Demand) -> tuple[bool, bool]:
    return not row.strength.startswith("shall"), row.verdict not in BAD


def _style(verdict: str) -> str:
    return f"v-{re.sub(r'[^a-z]', '', verdict)}"


def _named(kind: str, name: str) -> str:
    """The place of a row, a control or a part of the plan on the page; short, for pages hold hundreds of links."""
    own = re.sub(r"[^A-Za-z0-9]+", "-", re.sub(r"^(?:CHK|R)-", "", name))
    return f"{kind}-{own.strip('-').lower()}"


def _there(record: Record) -> AbstractSet[str]:
    """What a proof can lead to: controls that ran, and parts of the plan."""
    parts = {f"plan:{name}" for name, part in record["plan"].get("declared", {}).items() if part not in (None, {}, [])}
    return {_control(one) for one in record.get("controls", ())} | parts - {"plan:assay", "plan:plan"}


def _control(one: Mapping[str, Any]) -> str:
    return f"{one['check']}:{one['part']}" if one.get("part") else str(one["check"])


def _demand(one: Mapping[str, Any], there: AbstractSet[str]) -> Demand:
    verdict = str(one["verdict"])
    return Demand(
        id=visible(one["id"]),
        anchor=_named("r", str(one["id"])),
        strength=visible(one["strength"]),
        says=prose(one["demand"]),
        verdict=visible(verdict),
        sign=SIGNS.get(verdict, ""),
        style=_style(verdict),
        why=prose(one["says"]),
        answer=prose(one["answer"]) if one.get("answer") else "",
        proofs=tuple(_proof(part, there) for part in one.get("evidence", ())),
    )


def _proof(part: Mapping[str, Any], there: AbstractSet[str]) -> Proof:
    name = str(part["name"])
    return Proof(
        kind=visible(part["kind"]),
        name=visible(name),
        sign=SIGNS.get(str(part["verdict"]), ""),
        verdict=visible(part["verdict"]),
        style=_style(str(part["verdict"])),
        says=prose(part["says"]),
        anchor=_leads(str(part["kind"]), name, there),
    )


def _leads(kind: str, name: str, there: AbstractSet[str]) -> str:
    """Where on the page a proof stands: its control, the part of the plan, the measures, the environment."""
    if kind == "check":
        return _named("c", name) if name in there else ""
    if kind == "plan":
        part = name.partition(".")[0]
        return "data" if part in OF_DATA else _named("p", part) if f"plan:{part}" in there else "plan"
    if kind == "record":
        return {"environment": "environment", "tallies": "matrix"}.get(name.partition(".")[0], "measures")
    return {"measure": "measures", "precondition": "plan"}.get(kind, "")


def _looked(one: Mapping[str, Any]) -> Looked:
    name = _control(one)
    facts = [*_told(one.get("facts", {})), *(("threshold " + k, v) for k, v in _told(one.get("thresholds", {})))]
    facts = [(told, _cut(text)) for told, text in facts]
    return Looked(
        name=visible(name),
        anchor=_named("c", name),
        sign=SIGNS.get(str(one["verdict"]), ""),
        verdict=visible(one["verdict"]),
        style=_style(str(one["verdict"])),
        says=prose(one["says"]),
        facts=tuple(facts[:MOST_FACTS])
        + (
            (("and", f"{counted(len(facts) - MOST_FACTS, 'fact')} more in the Record"),)
            if len(facts) > MOST_FACTS
            else ()
        ),
    )


def _stated(content: Mapping[str, Any], before: str = "") -> Iterable[tuple[str, str]]:
    """Every statement by the names that lead to it: a sentence by itself, a few words with those beside them."""
    for name, value in content.items():
        path = " ".join(filter(None, (before, visible(str(name).replace("_", " ")))))
        if not isinstance(value, Mapping):
            yield path, _fact(value)
        elif all(not isinstance(one, Mapping) and len(_fact(one)) <= FEW_WORDS for one in value.values()):
            yield path, "; ".join(f"{visible(str(k).replace('_', ' '))} {_fact(one)}" for k, one in value.items())
        else:
            yield from _stated(value, path)


def _told(content: Mapping[str, Any], before: str = "") -> Iterable[tuple[str, str]]:
    """What stands at the top by its name; what stands below in one line by the name above it."""
    below = {name: value for name, value in content.items() if isinstance(value, Mapping)}
    here = [(visible(str(name).replace("_", " ")), _fact(content[name])) for name in content if name not in below]
    if before and here:
        yield before, "; ".join(f"{name} {text}" for name, text in here)
    elif here:
        yield from here
    for name, value in below.items():
        path = visible(str(name).replace("_", " "))
        yield from _told(value, f"{before}, {path}" if before else path)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_FACT else f"{text[:LONGEST_FACT]}…"


def _fact(value: object) -> str:
    if isinstance(value, list):
        every = [
            " ".join(f"{k} {_fact(v)}" for k, v in one.items()) if isinstance(one, Mapping) else str(one)
            for one in value
        ]
        return prose(", ".join(every)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return figure(value)
    return "not known" if value is None else "; ".join(map(str, value)) if isinstance(value, Mapping) else prose(value)


def _plan(plan: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    declared = plan.get("declared", {}).get("plan", {})
    for name in ("title", "version", "assessor", "date", "scope"):
        if declared.get(name):
            yield name, prose(declared[name])
    for name in ("name", "model", "split", "frozen_at", "sha256", "declared_digest"):
        if plan.get(name):
            yield name.replace("_", " "), visible(plan[name])


def _ledger(ledger: Mapping[str, Any] | None) -> Iterable[tuple[str, str]]:
    """How often the test data were looked at, and what earlier plans said otherwise."""
    if ledger is None:
        return
    if not ledger["entered"]:
        yield "ledger", prose(f"this run was not entered: {ledger['why_not']}")
    else:
        times = counted(int(ledger["looks"]), "time")
        yield "test data looked at", prose(f"{times}, first at {ledger['first_look']} ({ledger['name']})")
    if ledger["altered_lines"]:
        yield "ledger", prose(f"lines changed or taken out: {', '.join(map(str, ledger['altered_lines']))}")
    yield "plan registered", visible(ledger["plan_registered_at"])
    for one in ledger["earlier_plans"][-MOST_FACTS:]:
        said = f"{str(one['digest'])[:16]}… of {one['at']}; changed since: {', '.join(one['changed']) or 'nothing'}"
        yield "earlier plan", prose(said)
