# SPDX-License-Identifier: Apache-2.0
"""Counts a batch of label sets: the kernel, which every engine runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from assay.core.labels import Label
from assay.core.text import quoted
from assay.tally.by_group import Grouped
from assay.tasks.multilabel.compare import PairedSets, count_models
from assay.tasks.multilabel.roles import Faults, Layout, fill_bits, order_labels, read_bits, read_label_sets
from assay.tasks.multilabel.tally import LabelSets, count_sets
from assay.tasks.unit_inputs import UNIT, Parts, count_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Batch: TypeAlias = Mapping[str, NDArray[Any]]

SCORE, PREDICTED, TRUTH = "score", "predicted", "truth"


@dataclass(frozen=True)
class SetParts(Parts[Any]):
    """A tally, those of each level of each group, and the values that are not fit."""

    faults: Faults = field(default_factory=Faults)

    def __add__(self, other: Self) -> Self:
        """Both together."""
        return replace(super().__add__(other), faults=self.faults + other.faults)

    def to_json(self) -> dict[str, object]:
        """As it travels between machines."""
        return {**super().to_json(), "faults": [[*key, n] for key, n in self.faults.items()]}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """The inverse of `to_json`."""
        kind = PairedSets if "models" in content else LabelSets
        faults = Faults({(code, what): n for code, what, n in content["faults"]})
        return cls(kind.from_json(content), Grouped.from_json(content["groups"], LabelSets.from_json), faults)


def count_batch(layout: Layout, factors: tuple[str, ...], models: tuple[str, ...], batch: Batch) -> SetParts:
    """Count a batch: the kernel."""
    labels, matrices, faults = _read_matrices(layout, batch)
    units = batch.get(UNIT)
    if models:
        return SetParts(count_models(labels, matrices, models, units), faults=faults)

    def count(rows: Any) -> LabelSets:  # noqa: ANN401  a slice or a mask
        score = matrices[SCORE][rows] if SCORE in matrices else None
        own = None if units is None else units[rows]
        return count_sets(labels, matrices[TRUTH][rows], matrices[PREDICTED][rows], units=own, score=score)

    return SetParts(count(slice(None)), count_levels(batch, factors, count), faults)


def _read_matrices(layout: Layout, batch: Batch) -> tuple[tuple[Label, ...], dict[str, NDArray[Any]], Faults]:
    """Labels, and by role a matrix with a column for each."""
    matrices: dict[str, NDArray[Any]] = {}
    faults, labels = Faults(), layout.labels
    sets: dict[str, Any] = {}
    for key, form in layout.forms.items():
        if form in ("sets", "text"):
            sets[key], more = read_label_sets(key, batch[key], layout, form)
            faults += more
        else:
            matrices[key] = batch[key] if form == "matrix" else _stack(batch, key)
    if labels is None:
        labels = order_labels(own for column in sets.values() for own in column)
    for key, column in sets.items():
        matrices[key], more = fill_bits(key, column, labels)
        faults += more
    for key in [key for key in matrices if key not in sets and not key.startswith(SCORE)]:
        matrices[key], more = read_bits(key, matrices[key], labels)
        faults += more
    return labels, matrices, faults + _apply_thresholds(matrices, layout, labels)


def _stack(batch: Batch, key: str) -> NDArray[Any]:
    columns: list[NDArray[Any]] = []
    while f"{key} {len(columns)}" in batch:
        columns.append(np.asarray(batch[f"{key} {len(columns)}"], dtype=np.float64))
    return np.stack(columns, axis=1)


def _apply_thresholds(matrices: dict[str, NDArray[Any]], layout: Layout, labels: Sequence[Label]) -> Faults:
    """Check scores, and make predictions of them where none were given."""
    faults = Faults()
    for key in [key for key in matrices if key.startswith(SCORE)]:
        score = np.asarray(matrices[key], dtype=np.float64)
        wrong = ~np.isfinite(score)
        if wrong.any():
            for column in np.flatnonzero(wrong.any(axis=0)).tolist():
                what = f"{key} of {quoted(labels[column])} is missing or infinite"
                faults["score-not-finite", what] = int(wrong[:, column].sum())
            score = np.where(wrong, 0.0, score)
        matrices[key] = score
        called = PREDICTED + key.removeprefix(SCORE)
        if called not in matrices:
            matrices[called] = (score >= np.array(layout.thresholds)).astype(np.uint8)
    return faults
