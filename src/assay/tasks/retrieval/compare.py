# SPDX-License-Identifier: Apache-2.0
"""Several runs on the same judgements, and tests of their differences by swaps of queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from assay.core.values import Number, number
from assay.inference.unit_intervals import compare_measure, model_pairs
from assay.measures.declare import Measure
from assay.tally.base import ModelTallies
from assay.tally.unit_table import Sums, UnitModels
from assay.tasks.retrieval.estimates import query_values
from assay.tasks.retrieval.measures.recommendation import RECOMMENDATION
from assay.tasks.retrieval.tally import Rankings

if TYPE_CHECKING:
    from assay.core.values import Amount
    from assay.inference.findings import Finding
    from assay.tasks.task_settings import TaskSettings


class Mean(Sums):
    """Queries that count, and the sum of their values."""

    n: Amount
    total: Amount


def _mean(t: Mean, **given: object) -> Number:  # noqa: ARG001  parameters stay part of the name
    return number(t.total, over=t.n, empty="no query has a value")


def query_pairs(measure: Measure, paired: ModelTallies[Rankings], models: tuple[str, str]) -> UnitModels:
    """Values of two runs by query, for the queries that have one in both."""
    values = np.stack([query_values(measure, paired.models[model]) for model in models], axis=1)
    kept = np.flatnonzero(~np.isnan(values).any(axis=1))
    names = next(iter(paired.models.values())).ids
    ids = [names[place] for place in kept.tolist()]
    sums = np.stack([np.ones_like(values[kept]), values[kept]], axis=2)
    return UnitModels.build(models, Mean.NAMES, sums, ids=ids)


def compare_runs(measures: list[Measure], paired: ModelTallies[Rankings], settings: TaskSettings) -> Iterator[Finding]:
    """Every measure of every two runs."""
    wanted = settings.wanted
    for measure in measures:
        if measure.family == RECOMMENDATION:
            continue
        by_sums = replace(measure, function=_mean)
        for models in model_pairs(tuple(paired.models), settings.control):
            finding = compare_measure(
                cast("Any", by_sums), query_pairs(measure, paired, models), Mean, models,
                level=wanted.level, swaps=settings.swaps, seed=wanted.seed, unit="query",
            )  # fmt: skip
            yield replace(finding, chosen="a mean over queries is compared by swapping the runs query by query")
