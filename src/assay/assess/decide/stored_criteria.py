# SPDX-License-Identifier: Apache-2.0
"""The criteria an assessment was held to, with what they were decided against, in and out of a Record."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.assess.decide.criteria import Criterion, criterion, read
from assay.assess.decide.decision import Decisions, decide
from assay.assess.decide.references import Against, Unpaired, against_from_json
from assay.assess.record.record import Record
from assay.core.errors import PlanError

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """Criteria stated before they were decided."""

    criteria: tuple[Criterion, ...]
    against: Against | None
    correction: str

    def decided(self, assessment: Assessment) -> Decisions:
        """What an assessment comes to."""
        return decide(assessment, self.criteria, against=self.against, correction=self.correction)

    def to_json(self) -> dict[str, object]:
        """As in the plan of a Record."""
        return {
            "criteria": [str(one) for one in self.criteria],
            "correction": self.correction,
            "against": None if self.against is None else self.against.facts(),
        }

    def tallies(self) -> dict[str, object]:
        """The tallies of the reference, so that a Record can be verified without it."""
        return {} if self.against is None else {"reference": self.against.to_json()}


def accepted(
    assessment: Assessment, before: Accepted | None, criteria: Iterable[str | Criterion], against: Against | None,
    correction: str,
) -> Accepted:  # fmt: skip
    """Criteria beside those before, tried at once, so that a mistyped one is told where it was stated."""
    known = () if before is None else before.criteria
    by_text = {str(one): one for one in (*known, *(read(text, assessment.measures) for text in criteria))}
    if not by_text:
        what = "no criterion is given"
        raise PlanError("role-missing", what, where="accept", fix='give one such as "recall >= 0.85"')
    against = against or (None if before is None else before.against)
    found = Accepted(criteria=tuple(by_text.values()), against=against, correction=correction)
    found.decided(assessment)
    return found


def reference_to(assessment: Assessment, given: object, name: str | None) -> Against | None:
    """A reference as it was given: a path, a Record, an assessment, or one that is ready; None where there is none."""
    if isinstance(given, (str, os.PathLike)):
        name, given = name or Path(given).name, Record.load(given)
    digest = None
    if isinstance(given, Record):
        digest, given = given["digests"].get("record"), type(assessment).from_record(given)
    if not isinstance(given, type(assessment)):  # ready, or none
        return given  # type: ignore[return-value]
    assessment.contract.check_alike(assessment.counts, given.counts)
    return Unpaired(reference=given, name=name or "reference", digest=digest)


def restored(record: Record, assessment: Assessment) -> Accepted | None:
    """The criteria of a Record, or None where it has none."""
    acceptance: dict[str, Any] | None = record["plan"].get("accept")
    if acceptance is None:
        return None
    against = None
    if acceptance["against"] is not None:
        against = against_from_json(record["tallies"]["reference"], acceptance["against"], assessment)
    criteria = tuple(criterion(text, assessment.measures) for text in acceptance["criteria"])
    return Accepted(criteria=criteria, against=against, correction=acceptance["correction"])
