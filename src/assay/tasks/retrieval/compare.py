# SPDX-License-Identifier: Apache-2.0
"""Several runs on the same judgements, and tests of their differences by swaps of queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from assay.core.errors import RecordError
from assay.core.traits import HIGHER
from assay.core.values import Number, number
from assay.inference.unit_comparison import check_margin, compare_measure, model_pairs
from assay.measures.declare import Measure
from assay.tally.base import Digested
from assay.tally.unit_models import UnitModels
from assay.tally.unit_table import Sums
from assay.tasks.retrieval.estimates import query_values
from assay.tasks.retrieval.measures.recommendation import RECOMMENDATION
from assay.tasks.retrieval.tally import Rankings

if TYPE_CHECKING:
    from assay.core.values import Amount
    from assay.inference.findings import Finding
    from assay.tasks.task_settings import TaskSettings


@dataclass(frozen=True, kw_only=True, eq=False)
class RankedModels(Digested):
    """The tallies of several runs on the same queries."""

    runs: Mapping[str, Rankings]

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(self.runs)

    @property
    def units(self) -> int:
        """How many queries were judged."""
        return next(iter(self.runs.values())).units

    @property
    def rows(self) -> int:
        """Rows of all runs."""
        return sum(run.rows for run in self.runs.values())

    def table(self, model: str) -> Rankings:
        """The tally of one run."""
        return self.runs[model]

    def __add__(self, other: RankedModels) -> RankedModels:
        """The queries of both."""
        return RankedModels(runs={model: run + other.runs[model] for model, run in self.runs.items()})

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {"models": list(self.runs), "runs": [run.to_json() for run in self.runs.values()]}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> RankedModels:
        """The inverse of `to_json`."""
        if len(content.get("models", ())) != len(content.get("runs", ())):
            raise RecordError("record-unreadable", "the runs do not fit the models", fix="restore the file")
        runs = (Rankings.from_json(run) for run in content["runs"])
        return cls(runs=dict(zip(content["models"], runs, strict=True)))


class Mean(Sums):
    """Queries that count, and the sum of their values."""

    n: Amount
    total: Amount


def _mean(t: Mean, **given: object) -> Number:  # noqa: ARG001  parameters stay part of the name
    return number(t.total, over=t.n, empty="no query has a value")


def query_pairs(measure: Measure, paired: RankedModels, models: tuple[str, str]) -> UnitModels:
    """Values of two runs by query, for the queries that have one in both."""
    values = np.stack([query_values(measure, paired.runs[model]) for model in models], axis=1)
    kept = np.flatnonzero(~np.isnan(values).any(axis=1))
    names = next(iter(paired.runs.values())).ids
    ids = [names[place] for place in kept.tolist()]
    sums = np.stack([np.ones_like(values[kept]), values[kept]], axis=2)
    return UnitModels.build(models, Mean.NAMES, sums, ids=ids)


def compare_runs(measures: list[Measure], paired: RankedModels, settings: TaskSettings) -> Iterator[Finding]:
    """Every measure of every two runs."""
    wanted = settings.wanted
    for measure in measures:
        if measure.family == RECOMMENDATION:
            continue
        by_sums = replace(measure, function=_mean)
        for models in model_pairs(paired.models, settings.control):
            finding = compare_measure(
                cast("Any", by_sums), query_pairs(measure, paired, models), Mean, models,
                level=wanted.level, swaps=settings.swaps, seed=wanted.seed, unit="query",
            )  # fmt: skip
            finding = _in_words(finding)
            yield finding
            if settings.margin is not None:
                higher = measure.better is HIGHER
                yield check_margin(finding, settings.margin, equivalence=settings.equivalence, higher_is_better=higher)


def _in_words(finding: Finding) -> Finding:
    """The plural of query."""
    effect = finding.effect
    if effect.interval is not None:
        method = effect.interval.method.replace("querys", "queries")
        effect = replace(effect, interval=replace(effect.interval, method=method))
    return replace(
        finding,
        effect=effect,
        title=finding.title.replace("querys", "queries"),
        chosen="a mean over queries is compared by swapping the runs query by query",
        notes=tuple(note.replace("querys", "queries") for note in finding.notes),
    )
