# SPDX-License-Identifier: Apache-2.0
"""Estimates of retrieval: the measures of a tally at its cut-offs, with intervals over queries and brackets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.text import figure
from assay.core.values import Number, Undefined, Value
from assay.inference.estimates import Estimate, Interval, build_estimate
from assay.measures.declare import Measure, parse
from assay.tasks.by_unit import UnitEstimates
from assay.tasks.retrieval.intervals import query_interval
from assay.tasks.retrieval.measures.lists import precision
from assay.tasks.retrieval.measures.recommendation import NO_INTERVAL, RECOMMENDATION
from assay.tasks.retrieval.tally import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.registry import Registry

AT_CUTOFFS: Final = ("precision", "recall", "hit_rate", "ndcg", "ndcg_exp", "ndcg_full", "ndcg_exp_full", "judged")
WHOLE_LIST: Final = ("map", "mrr", "r_precision", "bpref", "rbp(p=0.8)", "err", "ndcg", "ndcg_exp", "dcg",
                     "retrieval_precision", "retrieval_recall")  # fmt: skip
EXPECTED: Final = ("map_expected", "mrr_expected", "ndcg_expected")
EXPECTED_AT: Final = ("precision_expected", "recall_expected", "ndcg_expected")
ABOUT_LISTS: Final = ("coverage", "exposure_gini", "novelty")
ROUNDING: Final = 1e-12
BRACKETED: Final = ("lists", "sets", "readers", "gains")
"""Families whose values depend on the order of tied documents."""


def listed_measures(tally: Rankings, registry: Registry[Measure]) -> list[Measure]:
    """The measures that a Record lists: whole lists, then by cut-off; expected values only where there are ties."""
    names = [*WHOLE_LIST, *(f"{name}@{cutoff}" for name in AT_CUTOFFS for cutoff in tally.cutoffs)]
    if touches_ties(tally):
        names += [*EXPECTED, *(f"{name}@{cutoff}" for name in EXPECTED_AT for cutoff in tally.cutoffs)]
    if tally.exposure is not None:
        names += [f"{name}@{cutoff}" for name in ABOUT_LISTS for cutoff in tally.exposure.cutoffs]
    return [parse(name, registry) for name in names]


def touches_ties(tally: Rankings) -> bool:
    """Whether a judged document has the same score as another document."""
    return bool((tally.tied > 1).any())


def query_values(measure: Measure, tally: Rankings) -> NDArray[np.float64]:
    """The value of each query; NaN where it has none."""
    return measure.values(cast("Any", tally.one_by_one()))


def total_of(stack: Number) -> Value:
    """The mean of a stack of single queries."""
    top, over = math.fsum(np.asarray(stack.top).tolist()), int(np.asarray(stack.over).sum())
    return replace(stack, top=cast("Any", top), over=cast("Any", over)).settled()


class RankingEstimates(UnitEstimates):
    """Measures of one run, computed when asked for."""

    table: Rankings  # type: ignore[assignment]  # its tally is not a table of sums

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """The measures asked for, or those at the cut-offs of the tally."""
        asked = self.settings.measures
        return listed_measures(self.table, self.task.registry) if asked is None else list(asked)

    @cached_property
    def _each(self) -> Rankings:
        return self.table.one_by_one()

    @cached_property
    def _orders(self) -> tuple[Rankings, Rankings, Rankings] | None:
        """Queries with ties: as they are ordered, at worst and at best."""
        if not touches_ties(self.table):
            return None
        touched = sorted(set(self.table.owner[self.table.tied > 1].tolist()))
        some = replace(self._each.select([self.table.ids[query] for query in touched]), scale=self.table.highest)
        return some, some.order_ties(best=False), some.order_ties(best=True)

    def _estimate(self, measure: Measure) -> Estimate:
        size, values = self.table.units, np.zeros(0)
        interval: Interval | str = "the value is undefined"
        if measure.family == RECOMMENDATION:
            value, interval = measure(cast("Any", self.table)), NO_INTERVAL
        else:
            stack = cast("Number", measure.raw(cast("Any", self._each)))
            value = total_of(stack)
            values = stack.values[~np.isnan(stack.values)]
        if len(values):
            wanted, size = self.settings.wanted, len(values)
            interval = query_interval(values, measure.range, level=wanted.level, seed=wanted.seed)
        notes = () if isinstance(value, Undefined) else tuple(self._notes(measure, size, value.value))
        return build_estimate(measure.title, value, interval, size, slice=self.slice, notes=notes)

    def _notes(self, measure: Measure, size: int, value: float) -> list[str]:
        notes = []
        if self._orders is not None and measure.family in BRACKETED:
            usual, worst, best = (np.nan_to_num(measure.values(cast("Any", order))) for order in self._orders)
            low, high = (value + float((order - usual).sum()) / size for order in (worst, best))
            if high - low > ROUNDING:
                notes.append(f"from {figure(low)} to {figure(high)} by the order of tied documents")
        if measure.name == precision.name:
            unjudged = self._unjudged(cast("int", measure.given["k"]))
            if unjudged:
                notes.append(f"{figure(value + unjudged)} if every unjudged document were relevant")
        return notes

    def _unjudged(self, k: int) -> float:
        """Unjudged documents among the first k, as a share of k, over the queries that count."""
        t = self.table
        looked = np.minimum(k, t.retrieved) - t.sum_by_query(t.rank <= k)
        counts = t.relevant_count > 0
        return float(looked[counts].sum() / k / max(int(counts.sum()), 1))
