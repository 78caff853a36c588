# SPDX-License-Identifier: Apache-2.0
"""What an assessment knows of scores: their tallies, thresholds in force or declared, and estimates from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.traits import OF_PROBABILITIES
from assay.core.values import Number, Undefined, Value
from assay.inference.intervals.interval_choice import Found, Wanted
from assay.inference.intervals.score_intervals import ScoreUncertainty
from assay.measures import Measure
from assay.rows.score_columns import Kind
from assay.rows.scored_source import Link, Rescaled
from assay.tally.scores.ranked_table import Linked, Ranked
from assay.tally.scores.rounded_scores import LISTED
from assay.tally.scores.row_probabilities import RowScores
from assay.tally.scores.score_tally import LinkedScores, Scores
from assay.tally.scores.true_class_ranks import Ranks

if TYPE_CHECKING:
    from assay.core.values import Amount

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


@dataclass(frozen=True, kw_only=True)
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

    @property
    def probability(self) -> bool:
        """Whether probabilities can be had from the scores."""
        return self.kind == "probability" or self.link is not None

    @property
    def as_stored(self) -> ScorePart:
        """The same as a Record stores it: where a tally has more than LISTED distinct scores, they are rounded."""
        return self._rounded if any(map(_is_long, self._tallies)) else self

    @cached_property
    def _rounded(self) -> ScorePart:
        whole, *rows = (
            tally.stored(probability=tally is not self.whole or self.kind == "probability")
            if _is_long(tally)
            else tally
            for tally in self._tallies
        )
        return replace(self, whole=whole, by_row=RowScores(top=rows[0], direction=rows[1]) if rows else None)

    @property
    def _tallies(self) -> list[Scores]:
        return [self.whole, *(() if self.by_row is None else (self.by_row.top, self.by_row.direction))]

    def to_json(self) -> dict[str, object]:
        """The tallies, as in a Record."""
        stored = self.as_stored
        return {
            "whole": stored.whole.to_json(),
            "ranks": None if self.ranks is None else self.ranks.to_json(),
            **({"by_row": stored.by_row.to_json()} if stored.by_row is not None else {}),
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
        return replace(self, whole=tally, ranks=None, by_row=None, stored=(), last=None, rescaled=None, all_digits={})

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


def _is_long(tally: Scores) -> bool:
    return tally.rounding is None and tally.distinct > LISTED


class ScoreEstimates:
    """What is estimated from the scores of some rows; draws are kept, because measures share them."""

    def __init__(self, part: ScorePart) -> None:
        self._part = part
        self._ranked: dict[tuple[int, Label], Ranked] = {}
        self._uncertain: dict[tuple[str, Label | None], ScoreUncertainty] = {}

    def estimate(
        self, measure: Measure, positive: Label | None, wanted: Wanted | None
    ) -> tuple[Value, Found, float | None]:
        """The value of a measure, its interval, and the value from stored scores where that is another.

        The interval rests on the scores that a Record stores, so whoever has the Record gets the same one.
        Without `wanted`, whoever asks makes the interval.
        """
        table = self._table(measure, positive, self._part)
        if isinstance(table, Undefined):
            return table, table.reason, None
        value = measure(table)
        rounded = self._part.as_stored
        stored = table if rounded is self._part else cast("Table", self._table(measure, positive, rounded))
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

    def _table(self, measure: Measure, positive: Label | None, part: ScorePart) -> Table | Undefined:
        if measure.takes is Ranks:
            return part.ranks or Undefined(reason="ranks are counted for all rows together only", code="not-counted")
        if measure.takes is RowScores:
            reason = "rows are looked at whole for all of them together"
            return part.by_row or Undefined(reason=reason, code="not-counted")
        linked = part.link is not None and measure.family in OF_PROBABILITIES
        if measure.takes is not Ranked:
            return LinkedScores.of_logits(part.whole) if linked else part.whole
        key = (id(part.whole), cast("Label", positive))
        if key not in self._ranked:
            self._ranked[key] = part.whole.one_vs_rest(key[1])
        return Linked.of(self._ranked[key]) if linked else self._ranked[key]
