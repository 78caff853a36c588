# SPDX-License-Identifier: Apache-2.0
"""Which interval a value gets, and from what: shares from their counts, everything else from draws of cells.

The choice rests on simulated coverage (`bench/coverage.py`, `docs/why/coverage.md`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.values import Number, Share, Undefined
from assay.inference.estimates import Interval
from assay.inference.proportion import SHARES
from assay.inference.resampling import SEED, dirichlet_tables, multinomial_classes
from assay.inference.smooth import Influence, bca, delta, equal_tailed
from assay.tally.tables import Binary, Multiclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.values import Amount, Value
    from assay.measures.declare import Measure
    from assay.core.labels import Label
    from assay.tally.confusion import Confusion

DRAWS: Final = 2000
"""The Monte Carlo error of a 95 % bound is 0.68 / sqrt(draws) of the width: 1.5 % here, under the 2 % we allow."""
MOST_CLASSES: Final = 400
"""Above this the K x K cells are too many to draw; averages over so many classes get a reason instead of an interval."""
FACTS: Final = {"counts": "a count of these rows, not an estimate", "constants": "a constant, not an estimate"}
CELLS: Final = ("auto", "dirichlet", "bca", "percentile", "delta")

Found: TypeAlias = Interval | str
"""An interval, or the reason why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What intervals are asked for."""

    level: float = 0.95
    shares: str = "wilson"
    cells: str = "auto"
    seed: int = SEED
    draws: int = DRAWS

    def __post_init__(self) -> None:
        """Only levels and methods that exist."""
        if not (isinstance(self.level, (int, float)) and 0.5 <= self.level < 1):  # noqa: PLR2004  below, the tails overlap
            hint = f"; did you mean {_meant(self.level)}?" if _meant(self.level) else ""
            raise PlanError(
                "confidence-level-range", f"level = {self.level!r} is not a confidence level",
                known="0.5 up to, but not including, 1", fix=f"give a share such as 0.95{hint}",
            )
        for name, given, known in (("shares", self.shares, tuple(SHARES)), ("cells", self.cells, CELLS)):
            if given not in known:
                raise PlanError(
                    "option-unknown", f"{name} = {given!r} is not an interval method", known=", ".join(known),
                    fix="choose one of them",
                )


def _meant(level: object) -> str | None:
    if isinstance(level, (int, float)) and 50 <= level < 100:  # noqa: PLR2004  a percentage
        return f"{level / 100:g}"
    if isinstance(level, (int, float)) and 0 < level < 0.5:  # noqa: PLR2004  an error rate
        return f"{1 - level:g}"
    return None


class Uncertainty:
    """Intervals for the values of one confusion tally; the draws are made once and shared by all measures."""

    def __init__(self, confusion: Confusion, wanted: Wanted, *, positive: Label | None) -> None:
        self._confusion, self._wanted = confusion, wanted
        self._positive = None if positive is None else confusion.labels.index(positive)

    def overall(self, measure: Measure, result: Value) -> Found:
        """The interval of a value of the whole table."""
        if no := self._none(measure, result):
            return no
        if isinstance(result, Share):
            return self._share(result)
        if measure.through_accuracy is not None and self._confusion.k > 1:
            return self._through_accuracy(measure)
        if self._positive is not None:
            draws = measure.values(self._table_draws if measure.takes is Binary else self._two_class_draws)
            return self._tails(measure, result, np.reshape(draws, -1), "dirichlet-jeffreys on 4 cells")
        if self._confusion.k > MOST_CLASSES:
            return f"{self._confusion.k:,} classes are too many to draw their cells; ask for fewer classes or a share"
        return self._many(measure, cast("Number", result))

    def by_class(self, measure: Measure, results: list[Value]) -> list[Found]:
        """The intervals of one measure for every class against the rest."""
        found: list[Found] = [self._none(measure, r) or (self._share(r) if isinstance(r, Share) else "") for r in results]
        open_ = [i for i, f in enumerate(found) if f == ""]
        if not open_:
            return found
        draws = measure.values(self._class_draws)
        lows, highs = equal_tailed(draws[:, open_], self._wanted.level)
        for i, low, high in zip(open_, lows, highs, strict=True):
            found[i] = self._interval(measure, results[i], float(low), float(high), "dirichlet-jeffreys on 4 cells", drawn=True)
        return found

    def _none(self, measure: Measure, result: Value) -> str | None:
        if isinstance(result, Undefined):
            return "the value is undefined"
        if measure.family in FACTS:
            return FACTS[measure.family]
        if self._confusion.weighted:
            return "no interval for weighted rows: weights are not counts"
        return None

    def _share(self, result: Share) -> Interval:
        low, high = SHARES[self._wanted.shares](int(result.numerator), int(result.denominator), self._wanted.level)
        return Interval(low=low, high=high, level=self._wanted.level, method=self._wanted.shares)

    def _through_accuracy(self, measure: Measure) -> Interval:
        correct, n = int(self._exact.correct), int(self._exact.n)
        ends = SHARES[self._wanted.shares](correct, n, self._wanted.level)
        assert measure.through_accuracy is not None  # noqa: S101  asked by the caller
        low, high = sorted(measure.through_accuracy(end, self._confusion.k) for end in ends)
        return Interval(low=low, high=high, level=self._wanted.level, method=f"{self._wanted.shares} of accuracy")

    def _many(self, measure: Measure, result: Number) -> Found:
        value, method = result.value, "bca" if self._wanted.cells == "auto" else self._wanted.cells
        if math.isinf(value):
            return "the value is infinite"
        influence = self._influence.of(measure)
        if method == "delta":
            low, high = delta(value, influence, self._influence.count, self._wanted.level)
            return self._interval(measure, result, low, high, "delta on cells", drawn=False)
        draws = measure.values(self._cell_draws)
        if method == "percentile":
            return self._tails(measure, result, draws, "percentile on cells")
        low, high = bca(value, draws, influence, self._influence.count, self._wanted.level)
        return self._interval(measure, result, low, high, "bca on cells", drawn=True)

    def _tails(self, measure: Measure, result: Value, draws: NDArray[np.float64], method: str) -> Interval:
        low, high = equal_tailed(draws, self._wanted.level)
        return self._interval(measure, result, float(low), float(high), method, drawn=True)

    def _interval(self, measure: Measure, result: Value, low: float, high: float, method: str, *, drawn: bool) -> Interval:  # noqa: PLR0913
        assert not isinstance(result, Undefined)  # noqa: S101  asked by the caller
        floor, ceiling = measure.range
        return Interval(
            low=max(floor, min(low, result.value)),
            high=min(ceiling, max(high, result.value)),
            level=self._wanted.level,
            method=method,
            draws=self._wanted.draws if drawn else None,
            seed=self._wanted.seed if drawn else None,
        )

    @cached_property
    def _exact(self) -> Multiclass:
        return self._confusion.multiclass()

    @cached_property
    def _class_draws(self) -> Binary:
        return dirichlet_tables(self._exact.one_vs_rest(), self._wanted.draws, self._wanted.seed)

    @cached_property
    def _table_draws(self) -> Binary:
        table = self._exact.one_vs_rest().at(cast("int", self._positive))
        return dirichlet_tables(table, self._wanted.draws, self._wanted.seed)

    @cached_property
    def _two_class_draws(self) -> Multiclass:
        t = self._table_draws
        pairs: list[tuple[Amount, Amount]] = [(t.tn, t.tp), (t.fp + t.tn, t.tp + t.fn), (t.fn + t.tn, t.tp + t.fp)]
        hits, actual, called = (np.stack([a[:, 0], b[:, 0]], axis=-1) for a, b in pairs)
        return Multiclass(hits=hits, actual=actual, called=called, labels=self._confusion.labels)

    @cached_property
    def _cell_draws(self) -> Multiclass:
        return multinomial_classes(self._confusion, self._wanted.draws, self._wanted.seed)

    @cached_property
    def _influence(self) -> Influence:
        return Influence(self._confusion)
