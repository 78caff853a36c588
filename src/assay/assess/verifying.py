# SPDX-License-Identifier: Apache-2.0
"""Whether a Record is what it says: digests hold, numbers follow from tallies, verdicts from their evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assay.assess.conformity import DEVIATING, combined
from assay.assess.record import EVIDENCE, Record
from assay.core.errors import AssayError
from assay.core.text import quoted, visible
from assay.tally.base import digest

MOST = 20
"""Mismatches that are listed; the first one says enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A place where a Record is not what it says."""

    path: str
    what: str
    found: str
    known: str

    def to_json(self) -> dict[str, str]:
        """For machines."""
        return {"path": self.path, "what": self.what, "found": self.found, "known": self.known}

    def said(self) -> str:
        """In one line."""
        return f"{self.path}: {self.what}: {self.found}, not {self.known}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What was checked, and every mismatch up to a limit."""

    checked: Mapping[str, int]
    mismatches: tuple[Mismatch, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing is amiss."""
        return not self.mismatches


def verify(record: Record) -> Verified:
    """Check the digests, compute every number again from the tallies, and every verdict from its evidence."""
    found: list[Mismatch] = []
    for one in _every(record):
        found.append(one)
        if len(found) == MOST:
            break
    rows = record.get("conformity", {}).get("rows", ()) if isinstance(record.get("conformity"), Mapping) else ()
    checked = {"estimates": len(record.get("estimates", ())), "rows": len(rows), "digests": len(DIGESTS)}
    return Verified(checked=checked, mismatches=tuple(found))


def first_mismatch(record: Record) -> Mismatch | None:
    """The first mismatch, found as quickly as may be; None where there is none."""
    return next(_every(record), None)


def _every(record: Record) -> Iterator[Mismatch]:
    try:
        yield from _digests(record)
        if record.get("kind") == "tally":
            return
        yield from _different(dict(record), dict(_again(record)), "")
        yield from _judged(record["conformity"])
    except AssayError as error:
        yield Mismatch(
            path="record", what=error.what, found=error.found or "this Record", known=error.known or "a whole one"
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
        yield Mismatch(
            path="record", what="a part is missing or malformed", found=visible(error), known="a whole Record"
        )


def _again(record: Record) -> Record:
    """The Record that the tallies of this one give today."""
    if record["kind"] == "comparison":
        from assay.assess.comparison import Comparison

        return Comparison.from_record(record).record
    from assay.assess.assessment import Assessment

    return Assessment.from_record(record).record


DIGESTS = ("tallies", "plan", "evidence", "environment")


def _digests(record: Record) -> Iterator[Mismatch]:
    plan = {name: value for name, value in record["plan"].items() if name != "digest"}
    surroundings = {name: value for name, value in record["environment"].items() if name != "digest"}
    given = {
        "tallies": (record["digests"].get("tallies"), record["tallies"]),
        "plan": (record["plan"].get("digest"), plan),
    }
    if record.get("kind") != "tally":
        given["evidence"] = (record["digests"].get("evidence"), {name: record[name] for name in EVIDENCE})
        given["environment"] = (record["environment"].get("digest"), surroundings)
    for name, (stated, content) in given.items():
        if stated != digest(content):
            yield Mismatch(path=name, what="the digest does not hold", found=digest(content), known=visible(stated))
    if "declared_digest" in plan and plan["declared_digest"] != digest(plan.get("declared")):
        known = visible(plan["declared_digest"])
        yield Mismatch(
            path="plan.declared", what="the digest does not hold", found=digest(plan.get("declared")), known=known
        )


def _different(mine: Any, again: Any, path: str) -> Iterator[Mismatch]:  # noqa: ANN401  JSON
    """Leaves of the Record that come out otherwise when computed again."""
    if isinstance(mine, Mapping) and isinstance(again, Mapping):
        for name in dict.fromkeys([*mine, *again]):
            place = f"{path}.{visible(name)}" if path else visible(name)
            if name not in mine or name not in again:
                there = "in the Record" if name in mine else "computed"
                yield Mismatch(path=place, what="is only there", found=there, known="in both")
            else:
                yield from _different(mine[name], again[name], place)
    elif isinstance(mine, (list, tuple)) and isinstance(again, (list, tuple)):
        if len(mine) != len(again):
            yield Mismatch(path=path, what="is of another length", found=str(len(mine)), known=str(len(again)))
        for i, (one, other) in enumerate(zip(mine, again, strict=False)):
            yield from _different(one, other, f"{path}[{i}]")
    elif type(mine) is not type(again) or mine != again:
        yield Mismatch(path=path, what="does not follow from the tallies", found=quoted(mine), known=quoted(again))


def _judged(conformity: Mapping[str, Any]) -> Iterator[Mismatch]:
    """Verdicts that do not follow from their evidence, and an overall state that does not follow from the verdicts."""
    rows = conformity.get("rows", [])
    if not rows:
        return
    for i, row in enumerate([*rows, *conformity.get("supplement", [])]):
        verdict = combined([(one["kind"], one["verdict"]) for one in row["evidence"]])
        if verdict != row["verdict"]:
            path = f"conformity.rows[{i}].verdict"
            yield Mismatch(path=path, what="does not follow from its evidence", found=row["verdict"], known=verdict)
    shall = [row for row in rows if row["strength"] == "shall"]
    verdicts = {row["verdict"] if not row["answer"] else row["verdict"].replace("suspect", "declared") for row in shall}
    overall = (
        "non-conforming"
        if "fail" in verdicts
        else "conformity not demonstrated"
        if verdicts & {"no-evidence", "suspect"} or not shall
        else "conforming by declaration"
        if "declared" in verdicts
        else "conforming"
    )
    deviating = [row["id"] for row in rows if row["verdict"] == "fail" and row["strength"] in DEVIATING]
    counts = {name: sum(row["verdict"] == name for row in rows) for name in conformity["counts"]}
    for name, known in (("overall", overall), ("deviations", deviating), ("counts", counts)):
        if conformity[name] != known:
            yield Mismatch(
                path=f"conformity.{name}",
                what="does not follow from the rows",
                found=visible(conformity[name]),
                known=visible(known),
            )
