# SPDX-License-Identifier: Apache-2.0
"""The tally of efficiency: durations and amounts by run, and what is known of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.values import Undefined
from assay.tally.base import Digested
from assay.tally.data.durations import NANOSECONDS, Durations, Run
from assay.tally.unit_table import Sums, UnitTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.values import Amount

ADDED: Final = {"joules": "metered", "idle_joules": "netted", "correct": "judged"}
"""Amounts of a run that measures add up, and the sum that counts the runs that have them."""


class Costs(Sums):
    """Sums over runs, and beside them what is not a sum: the durations and the facts about the model."""

    runs: Amount
    asked: Amount
    failed: Amount
    seconds: Amount
    late: Amount
    span: Amount
    timed: Amount
    joules: Amount
    metered: Amount
    idle_joules: Amount
    netted: Amount
    correct: Amount
    judged: Amount

    def __init__(self, values: NDArray[np.float64], tally: Measured) -> None:
        super().__init__(values)
        self.tally, self.facts = tally, tally.facts

    @property
    def answered(self) -> Amount:
        """Requests that were answered."""
        return self.asked - self.failed

    def where_all(self, amount: Amount, known: Amount) -> Amount:
        """An amount where every run has it, otherwise 0."""
        return cast("Amount", np.where(known == self.runs, amount, 0)[()])

    def fact(self, name: str) -> float:
        """A number that is known of the model, or 0."""
        return float(cast("float", self.facts.get(name) or 0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured(Digested):
    """What was measured of one model."""

    durations: Durations
    facts: Mapping[str, object] = field(default_factory=dict)
    """Scenario, bound, declared amounts, and what the file of the model tells."""

    @property
    def rows(self) -> int:
        """Requests."""
        return self.durations.rows

    @property
    def units(self) -> int:
        """Runs."""
        return len(self.durations.runs)

    @property
    def table(self) -> UnitTable:
        """The sums of each run."""
        rows = [_sum_run(run, bounded=bool(self.durations.bounds)) for run in self.durations.runs]
        return UnitTable.build(Costs.NAMES, np.array(rows).reshape(-1, len(Costs.NAMES)), rows=self.rows)

    def costs(self, values: NDArray[np.float64]) -> Costs:
        """Sums, one row or a stack, as measures read them."""
        return Costs(values, self)

    def run_values(self, measure: Any) -> list[float | None]:  # noqa: ANN401  a Measure
        """The value of a measure on each run alone, in the order of their names."""
        values = []
        for run in self.durations.runs:
            part = Measured(durations=self.durations.only(run), facts=self.facts)
            value = measure(part.costs(part.table.total()))
            values.append(None if isinstance(value, Undefined) else value.value)
        return values

    def __add__(self, other: Measured) -> Measured:
        """The runs of both."""
        if self.facts != other.facts:
            differ = sorted(
                name for name in {*self.facts, *other.facts} if self.facts.get(name) != other.facts.get(name)
            )
            raise PlanError(
                "tally-mismatch",
                "the two tallies are about different models or settings",
                found=", ".join(differ),
                fix="add up runs of the same model under the same settings",
            )
        return Measured(durations=self.durations + other.durations, facts=self.facts)

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {**self.durations.to_json(), "model": dict(self.facts)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Measured:
        """The inverse of `to_json`."""
        return cls(durations=Durations.from_json(content), facts=content.get("model", {}))


def _sum_run(run: Run, *, bounded: bool) -> list[float]:
    amounts: list[float] = []
    for name in ADDED:
        amounts += [float(run.amounts.get(name, 0.0)), float(name in run.amounts)]
    timed = run.span is not None
    late = run.late(0) if bounded else run.failed
    span = (run.span or 0) / NANOSECONDS
    return [1.0, run.asked, run.failed, run.nanoseconds / NANOSECONDS, late, span, float(timed), *amounts]
