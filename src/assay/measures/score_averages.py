# SPDX-License-Identifier: Apache-2.0
"""Averages of measures of scores are operators too: over classes against the rest, over pairs, or of pooled scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.text import quoted
from assay.core.traits import Policy, Source, Task
from assay.core.values import Number, Raw, Undefined
from assay.measures.averages import demand_policy, mean_over, with_signature
from assay.measures.declare import REGISTRY, Formula, Measure
from assay.tally.scores.score_tally import Scores

if TYPE_CHECKING:
    from assay.core.labels import Label
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
    if average == ONE_VS_ONE:
        return [(name, t.one_vs_one(a, b), weight) for name, a, b, weight in _pairs(t)]
    return [(quoted(label), t.one_vs_rest(label), weight) for label, weight in _classes(t, average)]


def _pairs(t: Scores) -> list[tuple[str, Label, Label, float]]:
    weight = 1.0 if t.rows else 0.0
    return [(f"{quoted(a)} against {quoted(b)}", a, b, weight) for a in t.scored for b in t.scored if a != b]


def _classes(t: Scores, average: str) -> list[tuple[Label, float]]:
    sizes = dict(zip(t.labels, t.sizes(), strict=True))
    plain = 1.0 if t.rows else 0.0
    return [(label, float(sizes[label]) if average == "weighted" else plain) for label in t.scored]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What is declared of an average besides its measure: names, places in the literature, and how it is called."""

    of: str
    """The measure in words."""
    source: tuple[Source, ...]
    name: str = ""
    symbol: str = ""
    also: tuple[str, ...] = ()
    spec: str = ""
    errata: tuple[str, ...] = ()


def macro(base: Measure, said: Said) -> Measure:
    """The plain mean over the classes, each against the rest."""
    return _mean(base, "macro", f"sum({base.name}(i) for i in classes) / K", said)


def weighted(base: Measure, said: Said) -> Measure:
    """The mean over the classes, each counting by its true size."""
    return _mean(base, "weighted", f"sum(size[i] * {base.name}(i) for i in classes if size[i]) / n", said)


def one_vs_one(base: Measure, said: Said) -> Measure:
    """The mean over all pairs of classes, both ways round (Hand and Till 2001)."""
    formula = f"sum({base.name}(i, j) for i in classes for j in classes if i != j) / (K*(K - 1))"
    return _mean(base, ONE_VS_ONE, formula, said)


def micro(base: Measure, said: Said) -> Measure:
    """The measure on the scores of all columns pooled."""

    def pooled(t: Scores, **given: object) -> Raw:
        return base.with_(**given).raw(t.micro())

    return _declared(base, pooled, "micro", f"{base.name}(pooled)", said)


def _mean(base: Measure, average: str, formula: str, said: Said) -> Measure:
    def averaged(t: Scores, *, undefined: Policy = "propagate", **given: object) -> Raw:
        demand_policy(undefined)
        ready, parts = base.with_(**given), tables(t, average)
        part_results = [ready(table) for _, table, _ in parts]
        values = np.array([np.nan if isinstance(one, Undefined) else one.value for one in part_results])
        weights = np.array([weight for *_, weight in parts])
        return mean_over([name for name, *_ in parts], values, weights, undefined, part_results.__getitem__)

    return _declared(base, averaged, average, formula, said)


def _declared(base: Measure, function: Formula, average: str, formula: str, said: Said) -> Measure:
    return REGISTRY.add(
        replace(
            base,
            name=said.name or f"{base.name}_{average}",
            symbol=said.symbol,
            also=said.also,
            says=SAYS[average].format(said.of),
            formula=formula,
            takes=Scores,
            gives=Number,
            function=with_signature(function, base),
            average=average,
            base=base.name,
            only=Task.MULTICLASS,
            chance=base.chance if base.name == "auroc" else None,
            spec=(said.spec,) if said.spec else base.spec,
            source=said.source,
            errata=(*said.errata, *(() if average == "micro" else ("E-XS-09",))),
            given={},
        )
    )
