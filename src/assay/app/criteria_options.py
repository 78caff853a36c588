# SPDX-License-Identifier: Apache-2.0
"""Criteria stated on the command line, and the exit code they come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.app.messages import say_line
from assay.assess.decide.criteria import Criterion, criterion
from assay.assess.record.record import Record
from assay.core.errors import PlanError

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment

CODES: Final = {"supported": 0, "contradicted": 1, "not decidable": 3}
"""What an answer to a claim hands back to the shell."""
FAIRNESS: Final = {None: 0, "pass": 0, "fail": 1, "inconclusive": 3}
"""The same of a verdict about groups."""
REQUIRED: Final = {"conforming": ("conforming",), "declared": ("conforming", "conforming by declaration")}
"""What --require is content with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """Criteria and their reference, read before any row is."""

    criteria: tuple[Criterion, ...]
    against: Record | None
    name: str | None
    correction: str
    fairness: tuple[str, ...] = ()
    tolerance: float | None = None
    minimum: int = 10

    def held_to(self, assessment: Assessment) -> Assessment:
        """An assessment with these criteria decided; itself where none are stated."""
        if self.fairness:
            assessment = assessment.require_fairness(
                *self.fairness, tolerance=self.tolerance, minimum=self.minimum, reason="stated on the command line"
            )
        if not self.criteria:
            return assessment
        return assessment.accept(*self.criteria, against=self.against, name=self.name, correction=self.correction)


def stated(given: dict[str, Any], measures: Any = None) -> Stated:  # noqa: ANN401  a registry
    """The criteria among options, taken out of them; `measures` are those of the task, if not of classification."""
    accept, against, correction = (given.pop(name, None) for name in ("accept", "against", "correction"))
    if against is not None and not accept:
        what = "a reference is given, and no criterion says what to hold against it"
        fix = 'add --accept "recall non-inferior margin 0.02", for one'
        raise PlanError("role-missing", what, where="--against", fix=fix)
    return Stated(
        criteria=tuple(criterion(one) if measures is None else criterion(one, measures) for one in accept or ()),
        against=None if against is None else Record.load(against),
        name=None if against is None else Path(against).name,
        correction=correction or "holm",
        fairness=tuple(given.pop("fairness", None) or ()),
        tolerance=given.pop("tolerance", None),
        minimum=given.pop("min_group", None) or 10,
    )


def decided_by(assessments: Sequence[Assessment], *, claims: bool = True, require: str | None = None) -> None:
    """Leave with 1 if a criterion or a shall row fails or a claim is contradicted, with 3 if one is open; else go on.

    Conformity that is not demonstrated is open only where somebody requires it.
    """
    codes = {one.decisions.exit_code for one in assessments if len(one.decisions)}
    if claims:
        codes |= {CODES[one.answer] for found in assessments for one in found.claims}
        states = {str(one.record["conformity"]["overall"]) for one in assessments}
        codes |= {1} if "non-conforming" in states else set()
        if require is not None and (short := states - {"non-conforming", *REQUIRED[require]}):
            codes.add(3)
            say_line(f"required {require}, found {' and '.join(sorted(short))}")
    codes |= {FAIRNESS[assessment.fairness.verdict] for assessment in assessments if "fairness" in assessment.record}
    if codes - {0}:
        raise SystemExit(1 if 1 in codes else 3)
