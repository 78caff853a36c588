# SPDX-License-Identifier: Apache-2.0
"""What a plan with several models adds to the Record of each: comparisons on the same rows, and claims answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from assay.assess.decide.claims import Answered, Claim, Contenders, answered
from assay.assess.decide.references import Unpaired, against_from_json
from assay.assess.record.record import Record
from assay.tally.base import digest
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.compare.comparison import Comparison

KEPT: Final = ("task", "samples", "rows", "labels", "positive", "models", "estimates", "answers", "ranking",
               "test_data", "notes")  # fmt: skip
"""Parts of the Record of a comparison that stand in the Record of an assessment; its findings stand among all."""


def comparison_digest(parts: Mapping[str, Any], findings: Sequence[Mapping[str, Any]]) -> str:
    """What a comparison is known by where it is spoken of elsewhere: its parts in a Record and its findings."""
    return digest({**{name: parts[name] for name in KEPT}, "findings": list(findings)})


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How a model stands to the others of its plan on one test set: comparisons, and claims about them."""

    model: str
    """The model whose Record holds it."""
    compared: tuple[Record, ...] = ()
    """Comparisons, each as its own Record."""
    not_made: str | None = None
    """Why no comparison was made, where there are several models."""
    claims: tuple[Claim, ...] = ()
    correction: str = "holm"
    others: Mapping[str, Assessment]
    """The other models that claims speak of."""

    def answers(self, own: Assessment) -> tuple[Answered, ...]:
        """Every claim with its answer."""
        paired, scores, rows = self._paired
        models = {**self.others, self.model: own}
        of = Contenders(models=models, paired=paired, scores=scores, rows=rows)
        return answered(self.claims, of, self.correction)

    @cached_property
    def _paired(self) -> tuple[PairedLabels | None, PairedScores | None, PerUnit | None]:
        tallies = [one["tallies"] for one in self.compared]
        labels = next((PairedLabels.from_json(one["paired"]) for one in tallies if "paired" in one), None)
        scores = next((PairedScores.from_json(one["scores"]) for one in tallies if "scores" in one), None)
        rows = next((PerUnit.from_json(one["rows"]) for one in tallies if "rows" in one), None)
        return labels, scores, rows

    def computed_again(self, recompute: Callable[[Record], Record]) -> Standing:
        """The same with every comparison computed again from its tallies."""
        return replace(self, compared=tuple(recompute(record) for record in self.compared))

    @property
    def findings(self) -> list[Mapping[str, Any]]:
        """Of all comparisons, one after the other."""
        return [one for record in self.compared for one in record["findings"]]

    def parts(self, own: Assessment) -> dict[str, Any]:
        """Parts of the Record."""
        return {
            "comparisons": [{name: one[name] for name in KEPT} for one in self.compared],
            "claims": [one.to_json() for one in own.claims],
        }

    def plan(self) -> dict[str, Any]:
        """What was asked, as in the plan of the Record."""
        return {
            "model": self.model,
            "comparisons": [one["plan"] for one in self.compared],
            "not_compared": self.not_made,
            "claims": {"stated": [one.to_json() for one in self.claims], "correction": self.correction},
        }

    def tallies(self) -> dict[str, Any]:
        """What comparisons and claims are computed from, beyond the model's own tallies."""
        return {
            "comparisons": [one["tallies"] for one in self.compared],
            "contenders": {name: Unpaired(reference=one, name=name).to_json() for name, one in self.others.items()},
        }


def standing_of(
    model: str,
    contenders: Mapping[str, Assessment],
    *,
    compared: Sequence[Comparison] = (),
    not_made: str | None = None,
    claims: Sequence[Claim] = (),
    correction: str = "holm",
) -> Standing:
    """What the Record of one model holds of it: only those others that a claim speaks of."""
    spoken = {name for one in claims for name in (one.model, one.reference) if name is not None} - {model}
    others = {name: one for name, one in contenders.items() if name in spoken}
    records, claims = tuple(one.record for one in compared), tuple(claims)
    return Standing(
        model=model, compared=records, not_made=not_made, claims=claims, correction=correction, others=others
    )


def comparison_records(record: Mapping[str, Any]) -> Iterator[Record]:
    """The comparisons in the Record of an assessment, each as a Record of its own."""
    plans, tallies, findings = record["plan"]["comparisons"], record["tallies"]["comparisons"], iter(record["findings"])
    for part, asked, counted in zip(record["comparisons"], plans, tallies, strict=True):
        own = list(islice(findings, sum(answer["findings"] for answer in part["answers"])))
        kept = {"environment": record["environment"], "digests": {"tallies": digest(counted)}}
        yield Record({**part, "kind": "comparison", "plan": asked, "tallies": counted, "findings": own, **kept})


def restored_standing(record: Mapping[str, Any], own: Assessment) -> Standing:
    """The standing that a Record holds; its comparisons are as they were written."""
    plan, tallies = record["plan"], record["tallies"]
    return Standing(
        model=str(plan["model"]),
        compared=tuple(comparison_records(record)),
        not_made=plan["not_compared"],
        claims=tuple(Claim.from_json(one) for one in plan["claims"]["stated"]),
        correction=str(plan["claims"]["correction"]),
        others={
            name: against_from_json(one, {"name": name}, own).reference  # type: ignore[union-attr]
            for name, one in tallies["contenders"].items()
        },
    )
