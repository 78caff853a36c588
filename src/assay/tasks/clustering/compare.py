# SPDX-License-Identifier: Apache-2.0
"""Several clusterings of the same rows against the same classes: differences by the jackknife over rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.labels import Label, in_order
from assay.core.text import counted
from assay.core.values import Undefined
from assay.inference.findings import Effect, Finding
from assay.inference.unit_intervals import model_pairs
from assay.tally.base import VERSION, Digested, demand_kind
from assay.tasks.clustering.intervals import FEWEST, jackknife_spread, values_without
from assay.tasks.clustering.measures.shape import FAMILY
from assay.tasks.clustering.tally import Contingency

if TYPE_CHECKING:
    from assay.measures.declare import Measure
    from assay.tasks.task_settings import TaskSettings

TEST: Final = "row_jackknife"
CHOSEN: Final = (
    "names of clusters mean nothing in the other clustering, so they cannot be swapped: "
    "the jackknife over rows tells how far the difference varies"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ClusteredModels(Digested):
    """Rows by class and by the cluster that each model gives them."""

    models: tuple[str, ...]
    cells: Mapping[tuple[Label, ...], int]
    """By (class, cluster of the first model, cluster of the second, ...): rows."""

    @property
    def rows(self) -> int:
        """Rows that were counted."""
        return sum(self.cells.values())

    @property
    def units(self) -> int:
        """Rows are the units."""
        return self.rows

    def table(self, model: str) -> Contingency:
        """The table of one model."""
        place, counts = self.models.index(model) + 1, Counter[tuple[Label, Label]]()
        for cell, n in self.cells.items():
            counts[cell[0], cell[place]] += n
        return Contingency.build(counts)

    def __add__(self, other: ClusteredModels) -> ClusteredModels:
        """The rows of both."""
        return ClusteredModels(models=self.models, cells=Counter(self.cells) + Counter(other.cells))

    def to_json(self) -> dict[str, object]:
        """As in a Record: labels by place, cells sorted."""
        names = [in_order({cell[place] for cell in self.cells}) for place in range(len(self.models) + 1)]
        places = [{label: number for number, label in enumerate(part)} for part in names]
        cells = sorted(
            [*(place[label] for place, label in zip(places, cell, strict=True)), n] for cell, n in self.cells.items()
        )
        content = {"kind": "clusterings", "version": VERSION, "models": list(self.models)}
        return {"clusterings": {**content, "labels": [list(part) for part in names], "cells": cells}}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ClusteredModels:
        """The inverse of `to_json`."""
        part = content.get("clusterings", {})
        demand_kind(part, "clusterings", "a table of several clusterings")
        labels = part["labels"]
        cells = {
            tuple(names[place] for names, place in zip(labels, places, strict=True)): n for *places, n in part["cells"]
        }
        return cls(models=tuple(part["models"]), cells=cells)


def compare_clusterings(measures: list[Measure], paired: ClusteredModels, settings: TaskSettings) -> Iterator[Finding]:
    """Every measure of agreement of every two clusterings."""
    for measure in measures:
        if measure.family == FAMILY:
            continue
        for models in model_pairs(paired.models, settings.control):
            yield compare_pair(measure, paired, models, settings.wanted.level)


def compare_pair(measure: Measure, paired: ClusteredModels, models: tuple[str, str], level: float) -> Finding:
    """The difference of two clusterings, its interval and a t test."""
    tables = [paired.table(model) for model in models]
    values = [measure(cast("Any", table.agreement)) for table in tables]
    name = f"{models[0]} minus {models[1]}"
    about: dict[str, Any] = {
        "about": measure.title, "models": models, "n": paired.rows, "level": level, "test": TEST,
        "title": "jackknife t test of rows", "statistic_name": "t", "chosen": CHOSEN,
    }  # fmt: skip
    if any(isinstance(value, Undefined) for value in values):
        none = Undefined(reason=f"{measure.title} of one of the clusterings is undefined", code="undefined")
        return Finding(chance=none, effect=Effect(name=name, value=none), statistic=none, **about)
    first, second = (cast("Any", value).value for value in values)
    gap = float(first - second)
    share = tuple(map(float, measure.range)) == (0.0, 1.0)
    error = _difference_error(measure, paired, models, tables, gap)
    if isinstance(error, str):
        none = Undefined(reason=error, code="zero-variance")
        effect = Effect(name=name, value=gap, share=share, no_interval=error)
        return Finding(chance=none, effect=effect, statistic=none, **about)
    from assay.inference.tests.means import by_student

    method = f"jackknife of {paired.rows:,} rows, clusters held fixed"
    plain = by_student(name, gap, error, paired.rows - 1, paired.rows, level=level, method=method)
    return plain.said(effect=replace(plain.effect, share=share), **about)


def _difference_error(
    measure: Measure, paired: ClusteredModels, models: tuple[str, str], tables: list[Contingency], gap: float
) -> float | str:
    """The standard error of the difference, or why there is none."""
    if paired.rows < FEWEST:
        return f"only {counted(paired.rows, 'row')}; an interval needs {FEWEST} or more"
    without = []
    for model, table in zip(models, tables, strict=True):
        place = paired.models.index(model) + 1
        values = dict(zip(table.counts, values_without(measure, table).tolist(), strict=True))
        without.append([values[cell[0], cell[place]] for cell in paired.cells])
    gaps = np.array(without[0]) - np.array(without[1])
    if np.isnan(gaps).any():
        return "a value is undefined without one of the rows"
    spread = jackknife_spread(gap, gaps, np.array(list(paired.cells.values()), dtype=np.int64))
    return spread or "no row changes the difference, so the spread is unknown"
