# SPDX-License-Identifier: Apache-2.0
"""The conformity statement of a Record, ready to be shown: rows by clause with their evidence, controls with facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from assay.assess.record import Record
from assay.core.text import counted, figure, visible
from assay.report.entries import prose

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
MOST_FACTS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One part of the evidence of a row; `anchor` leads to the control that made it."""

    kind: str
    name: str
    sign: str
    verdict: str
    says: str
    anchor: str


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
class Statement:
    """The whole statement."""

    overall: str
    document: str
    says: str
    counts: tuple[tuple[str, str, str, int], ...]
    clauses: tuple[Clause, ...]
    shall: tuple[Demand, ...]
    deviations: tuple[Demand, ...]
    supplement: tuple[Demand, ...]
    controls: tuple[Looked, ...]
    plan: tuple[tuple[str, str], ...]


def statement(record: Record) -> Statement | None:
    """The statement of a Record; None where no plan was followed."""
    found = record.get("conformity", {})
    if not found.get("rows"):
        return None
    rows = [_demand(one) for one in found["rows"]]
    clauses: dict[str, list[Demand]] = {}
    for one, row in zip(found["rows"], rows, strict=True):
        clauses.setdefault(visible(one["clause"]), []).append(row)
    deviating = set(found.get("deviations", ()))
    return Statement(
        overall=visible(found["overall"]),
        document=visible(found.get("document", "")),
        says=prose(found.get("says", "")),
        counts=tuple((SIGNS[name], name, WORDS[name], int(found["counts"][name])) for name in SIGNS),
        clauses=tuple(Clause(name=name, rows=tuple(held)) for name, held in clauses.items()),
        shall=tuple(row for row in rows if row.strength == "shall"),
        deviations=tuple(row for row in rows if row.id in deviating),
        supplement=tuple(_demand(one) for one in found.get("supplement", ())),
        controls=tuple(_looked(one) for one in record.get("controls", ())),
        plan=tuple(_plan(record["plan"])),
    )


def _style(verdict: str) -> str:
    return f"v-{re.sub(r'[^a-z]', '', verdict)}"


def _anchor(name: str) -> str:
    return "c-" + re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()


def _demand(one: Mapping[str, Any]) -> Demand:
    verdict = str(one["verdict"])
    return Demand(
        id=visible(one["id"]),
        anchor=f"r-{re.sub(r'[^A-Za-z0-9]+', '-', str(one['id'])).lower()}",
        strength=visible(one["strength"]),
        says=prose(one["demand"]),
        verdict=visible(verdict),
        sign=SIGNS.get(verdict, ""),
        style=_style(verdict),
        why=prose(one["says"]),
        answer=prose(one["answer"]) if one.get("answer") else "",
        proofs=tuple(_proof(part) for part in one.get("evidence", ())),
    )


def _proof(part: Mapping[str, Any]) -> Proof:
    name = str(part["name"])
    built = part["kind"] == "check" and "not built" not in str(part["says"]) and "did not run" not in str(part["says"])
    return Proof(
        kind=visible(part["kind"]),
        name=visible(name),
        sign=SIGNS.get(str(part["verdict"]), ""),
        verdict=visible(part["verdict"]),
        says=prose(part["says"]),
        anchor=_anchor(name) if built and name != "none" else "",
    )


def _looked(one: Mapping[str, Any]) -> Looked:
    name = f"{one['check']}:{one['part']}" if one.get("part") else str(one["check"])
    facts = [*_flat(one.get("facts", {})), *(("threshold " + k, v) for k, v in _flat(one.get("thresholds", {})))]
    return Looked(
        name=visible(name),
        anchor=_anchor(name),
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


def _flat(facts: Mapping[str, Any], before: str = "") -> Iterable[tuple[str, str]]:
    for name, value in facts.items():
        path = f"{before}{name}".replace("_", " ")
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}, ")
        elif isinstance(value, list):
            yield visible(path), prose(", ".join(map(str, value[:8])) + (" …" if len(value) > 8 else "")) or "none"  # noqa: PLR2004
        else:
            yield visible(path), _fact(value)


def _fact(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return figure(value)
    return "not known" if value is None else visible(value)


def _plan(plan: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    declared = plan.get("declared", {}).get("plan", {})
    for name in ("title", "version", "assessor", "date", "scope"):
        if declared.get(name):
            yield name, prose(declared[name])
    for name in ("name", "model", "split", "frozen_at", "sha256", "declared_digest"):
        if plan.get(name):
            yield name.replace("_", " "), visible(plan[name])
