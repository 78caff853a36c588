# SPDX-License-Identifier: Apache-2.0
"""Averages of measures of scores are operators too: over classes against the rest, over pairs, or of pooled scores."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.text import quoted
from assay.core.traits import Policy, Task
from assay.core.values import Raw, Undefined
from assay.measures.averages import declare_average, demand_policy, mean_over
from assay.measures.declare import Fact, Formula, Measure
from assay.tally.scores.score_tally import Scores

if TYPE_CHECKING:
    from assay.tally.scores.ranked_table import Ranked

ONE_VS_ONE: Final = "one_vs_one"
SAYS: Final = {
    "macro": "{} of each class against the rest, averaged, each class counting the same",
    "weighted": "{} of each class against the rest, averaged by the true sizes of the classes",
    ONE_VS_ONE: "{} of each pair of classes, both ways, averaged (Hand and Till 2001)",
    "micro": "{} of all scores pooled, each counted positive for the true class of its row",
}


def tables(t: Scores, average: str) -> list[tuple[str, Ranked, float]]:
    """What an average goes over: named tables, and how much each counts."""
    plain = 1.0 if t.rows else 0.0
    if average == ONE_VS_ONE:
        pairs = permutations(t.scored, 2)
        return [(f"{quoted(a)} against {quoted(b)}", t.one_vs_one(a, b), plain) for a, b in pairs]
    sizes = dict(zip(t.labels, map(float, t.sizes()), strict=True))
    weights = {label: sizes[label] if average == "weighted" else plain for label in t.scored}
    return [(quoted(label), t.one_vs_rest(label), weight) for label, weight in weights.items()]


def macro(base: Measure, *, of: str, **facts: Fact) -> Measure:
    """The plain mean over the classes, each against the rest; `of` is the measure in words."""
    return _mean(base, "macro", f"sum({base.name}(i) for i in classes) / K", of, facts)


def weighted(base: Measure, *, of: str, **facts: Fact) -> Measure:
    """The mean over the classes, each counting by its true size."""
    return _mean(base, "weighted", f"sum(size[i] * {base.name}(i) for i in classes if size[i]) / n", of, facts)


def one_vs_one(base: Measure, *, of: str, **facts: Fact) -> Measure:
    """The mean over all pairs of classes, both ways round (Hand and Till 2001)."""
    formula = f"sum({base.name}(i, j) for i in classes for j in classes if i != j) / (K*(K - 1))"
    return _mean(base, ONE_VS_ONE, formula, of, facts)


def micro(base: Measure, *, of: str, **facts: Fact) -> Measure:
    """The measure on the scores of all columns pooled."""

    def pooled(t: Scores, **given: object) -> Raw:
        return base.with_(**given).raw(t.micro())

    return _of_scores(base, pooled, "micro", of, formula=f"{base.name}(pooled)", **facts)


def _mean(base: Measure, average: str, formula: str, of: str, facts: dict[str, Fact]) -> Measure:
    def averaged(t: Scores, *, undefined: Policy = "propagate", **given: object) -> Raw:
        demand_policy(undefined)
        ready, parts = base.with_(**given), tables(t, average)
        part_results = [ready(table) for _, table, _ in parts]
        values = np.array([np.nan if isinstance(one, Undefined) else one.value for one in part_results])
        weights = np.array([weight for *_, weight in parts])
        return mean_over([name for name, *_ in parts], values, weights, undefined, part_results.__getitem__)

    errata = (*facts.pop("errata", ()), "E-XS-09")
    return _of_scores(base, averaged, average, of, formula=formula, errata=errata, **facts)


def _of_scores(base: Measure, function: Formula, average: str, of: str, **facts: Fact) -> Measure:
    chance = base.chance if base.name == "auroc" else None
    own = {"takes": Scores, "only": Task.MULTICLASS, "says": SAYS[average].format(of), "chance": chance, "errata": ()}
    return declare_average(base, function, average, **{**own, **facts})
