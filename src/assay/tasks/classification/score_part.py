# SPDX-License-Identifier: Apache-2.0
"""What an assessment knows of scores: their tallies, thresholds in force or declared, and estimates from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.values import Number, Undefined, Value
from assay.inference.intervals.interval_choice import Found, Wanted
from assay.inference.intervals.score_intervals import ScoreUncertainty
from assay.measures import Measure
from assay.rows.score_columns import Kind
from assay.rows.scored_source import Link, Rescaled
from assay.tally.scores.log_odds import LinkedScores
from assay.tally.scores.ranked_table import Linked, Ranked
from assay.tally.scores.rounded_scores import LISTED
from assay.tally.scores.row_probabilities import RowScores
from assay.tally.scores.score_tally import Scores
from assay.tally.scores.true_class_ranks import Ranks

if TYPE_CHECKING:
    from assay.core.values import Amount

OF_PROBABILITIES: Final = ("probabilities", "calibration", "cost")
"""Families whose measures of scores need probabilities."""
SAME: Final = 1e-12
"""Relative difference up to which two values are the same, as `verify` compares reals."""
UNASKED: Final = "the value is undefined"
"""No interval was asked for here: one is made by unit, where there is a value."""
Table: TypeAlias = Ranked | Scores | Ranks | RowScores
UNCALLED: Final = "none"
"""Scores alone: there are neither predicted labels nor a threshold, so that no row is called anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A threshold in force or declared: its value, where it comes from, and whether that flatters."""

    value: float
    chosen: str = "stated"
    optimistic: bool = False

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {"value": self.value, "from": self.chosen, "optimistic": self.optimistic}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Threshold:
        """The inverse of `to_json`."""
        return cls(value=content["value"], chosen=content["from"], optimistic=content["optimistic"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePart:
    """What is known of the scores of some rows: their tallies, and the thresholds."""

    kind: Kind
    whole: Scores
    ranks: Ranks | None = None
    """Where the true class ranks among the scores of its row, where every class has a column."""
    by_row: RowScores | None = None
    """What the probabilities of each row say together, where there are several classes."""
    thresholds: tuple[Threshold, ...] = ()
    decided: str | None = None
    """How predictions were made of the scores: "threshold", "largest", "none", or None where they were given."""
    stored: tuple[str, ...] = ()
    """The types the scores were stored with, before they were widened to float64."""
    last: int | None = None
    """Rows without a score that were ranked below all others, where the plan says so."""
    rescaled: Rescaled | None = None
    """Rows whose probabilities were divided by their sum, where the plan says so."""

    link: Link | None = None
    """How logits became probabilities, where the plan states logits; the tallies hold log-odds."""
    all_digits: dict[tuple[str, Label | None], float] = field(default_factory=dict, repr=False, compare=False)
    """Values from all digits by measure and class, where the tallies are the rounded ones of a Record."""
    _stored: dict[int, tuple[Scores, Scores]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def probability(self) -> bool:
        """Whether probabilities can be had from the scores."""
        return self.kind == "probability" or self.link is not None

    def to_json(self) -> dict[str, object]:
        """The tallies, as in a Record: more than LISTED distinct scores are rounded."""
        return {
            "whole": self.stored_scores(self.whole).to_json(),
            "ranks": None if self.ranks is None else self.ranks.to_json(),
            **({"by_row": self.stored_rows(self.by_row).to_json()} if self.by_row is not None else {}),
            **self.mended(),
        }

    def mended(self) -> dict[str, object]:
        """How the scores were stored, and what was done to them."""
        return {
            **({"stored": list(self.stored)} if self.stored else {}),
            **({"ranked_last": self.last} if self.last is not None else {}),
            **({"rescaled": self.rescaled.to_json()} if self.rescaled is not None else {}),
            **({"linked": {"by": self.link, "rows": self.whole.rows}} if self.link is not None else {}),
        }

    def stored_scores(self, tally: Scores, *, probability: bool | None = None) -> Scores:
        """What a Record stores of a tally: the tally itself, or its scores rounded where there are very many."""
        if tally.rounding is not None or tally.distinct <= LISTED:
            return tally
        kept_pair = self._stored.get(id(tally))
        if kept_pair is None or kept_pair[0] is not tally:  # another one may have its number in another process
            kind = self.kind == "probability" if probability is None else probability
            kept_pair = self._stored[id(tally)] = tally, tally.stored(probability=kind)
        return kept_pair[1]

    def stored_rows(self, row_scores: RowScores) -> RowScores:
        """The same of what looks at whole rows."""
        top, direction = (
            self.stored_scores(tally, probability=True) for tally in (row_scores.top, row_scores.direction)
        )
        return (
            row_scores
            if top is row_scores.top and direction is row_scores.direction
            else RowScores(top=top, direction=direction)
        )

    def facts(self) -> dict[str, object]:
        """What is stated of the scores, as in the plan of a Record."""
        return {
            "kind": self.kind,
            "decided": self.decided,
            "thresholds": [one.to_json() for one in self.thresholds],
            **({"missing_score": "worst"} if self.last is not None else {}),
            **({"renormalise": True} if self.rescaled is not None else {}),
            **({"link": self.link} if self.link is not None else {}),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any], facts: Mapping[str, Any]) -> ScorePart:
        """The inverse of `to_json` and `facts`."""
        return cls(
            kind=facts["kind"],
            whole=Scores.from_json(content["whole"]),
            ranks=None if content["ranks"] is None else Ranks.from_json(content["ranks"]),
            by_row=RowScores.from_json(content["by_row"]) if "by_row" in content else None,
            thresholds=tuple(Threshold.from_json(one) for one in facts["thresholds"]),
            decided=facts["decided"],
            stored=tuple(content.get("stored", ())),
            last=content.get("ranked_last"),
            rescaled=Rescaled(**content["rescaled"]) if "rescaled" in content else None,
            link=facts.get("link"),
        )

    def level(self, tally: Scores) -> ScorePart:
        """The scores of one level of a group, under the same statements."""
        return replace(
            self, whole=tally, ranks=None, by_row=None, stored=(), last=None, rescaled=None, all_digits={}, _stored={}
        )

    def __add__(self, other: ScorePart) -> ScorePart:
        """Both together."""
        if self.facts() != other.facts():
            raise PlanError(
                "tally-mismatch",
                "the two parts state other kinds of scores or other thresholds",
                found=f"{self.facts()} and {other.facts()}",
                fix="count every part with the same statement",
            )
        ranks = self.ranks + other.ranks if self.ranks is not None and other.ranks is not None else None
        return replace(
            self,
            whole=self.whole + other.whole,
            ranks=ranks,
            by_row=self.by_row + other.by_row if self.by_row is not None and other.by_row is not None else None,
            stored=tuple(sorted({*self.stored, *other.stored})),
            last=None if self.last is None or other.last is None else self.last + other.last,
            rescaled=None if self.rescaled is None or other.rescaled is None else self.rescaled + other.rescaled,
            all_digits={},
        )


class ScoreEstimates:
    """What is estimated from the scores of some rows; draws are kept, because measures share them."""

    def __init__(self, part: ScorePart) -> None:
        self._part = part
        self._ranked: dict[tuple[int, Label], Ranked] = {}
        self._uncertain: dict[tuple[str, Label | None], ScoreUncertainty] = {}

    @property
    def said(self) -> Kind:
        """What can be made of the scores: probabilities, where they are or are linked to such."""
        return "probability" if self._part.probability else self._part.kind

    def estimate(
        self, measure: Measure, positive: Label | None, wanted: Wanted | None
    ) -> tuple[Value, Found, float | None]:
        """The value of a measure, its interval, and the value from stored scores where that is another.

        The interval rests on the scores that a Record stores, so whoever has the Record gets the same one.
        Without `wanted`, whoever asks makes the interval.
        """
        table = self._table(measure, positive, self._part.whole, self._part.by_row)
        if isinstance(table, Undefined):
            return table, table.reason, None
        value = measure(table)
        stored = self._stored_table(measure, positive, table)
        again = value if stored is table else measure(stored)
        known = self._part.all_digits.get((measure.title, positive))
        if known is not None and isinstance(value, Number):
            value = Number(cast("Amount", known), note=value.note)
        both = not (isinstance(value, Undefined) or isinstance(again, Undefined))
        differs = both and not math.isclose(cast("Number", again).value, cast("Number", value).value, rel_tol=SAME)
        interval = UNASKED if wanted is None else self._uncertainty(stored, positive, wanted).interval(measure, value)
        return value, interval, cast("Number", again).value if differs else None

    def _uncertainty(self, table: Table, positive: Label | None, wanted: Wanted) -> ScoreUncertainty:
        """What makes intervals for one table; kept, because measures share its draws."""
        key = (type(table).__name__, positive)
        if key not in self._uncertain:
            self._uncertain[key] = ScoreUncertainty(table, wanted)
        return self._uncertain[key]

    def _stored_table(self, measure: Measure, positive: Label | None, table: Table) -> Table:
        """The same table made of what a Record stores."""
        part = self._part
        tally = part.stored_scores(part.whole)
        by_row = None if part.by_row is None else part.stored_rows(part.by_row)
        if tally is part.whole and by_row is part.by_row:
            return table
        return cast("Table", self._table(measure, positive, tally, by_row))

    def _table(
        self, measure: Measure, positive: Label | None, tally: Scores, by_row: RowScores | None
    ) -> Table | Undefined:
        linked = self._part.link is not None and measure.family in OF_PROBABILITIES
        if measure.takes is Ranks:
            return self._part.ranks or Undefined(
                reason="ranks are counted for all rows together only", code="not-counted"
            )
        if measure.takes is RowScores:
            return by_row or Undefined(reason="rows are looked at whole for all of them together", code="not-counted")
        if measure.takes is not Ranked:
            return LinkedScores.of_logits(tally) if linked else tally
        key = (id(tally), cast("Label", positive))
        if key not in self._ranked:
            self._ranked[key] = tally.one_vs_rest(key[1])
        return Linked.of(self._ranked[key]) if linked else self._ranked[key]
