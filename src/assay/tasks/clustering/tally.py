# SPDX-License-Identifier: Apache-2.0
"""The tally of clustering: rows by true class and cluster, and where the clusters lie if features are given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label, in_order
from assay.tally.base import VERSION, Digested, demand_kind
from assay.tasks.clustering.agreement_sums import Agreement
from assay.tasks.clustering.geometry import Geometry

if TYPE_CHECKING:
    from assay.core.arrays import Whole


@dataclass(frozen=True, kw_only=True, eq=False)
class Contingency(Digested):
    """Counts by (class, cluster); only occupied cells are kept, sorted by class and cluster."""

    classes: tuple[Label, ...]
    clusters: tuple[Label, ...]
    cells: Whole
    """One line a cell: place of the class, place of the cluster, rows."""
    geometry: Geometry | None = None

    @classmethod
    def build(
        cls,
        counts: Mapping[tuple[Label, Label], int],
        *,
        clusters: Iterable[Label] = (),
        geometry: Geometry | None = None,
    ) -> Contingency:
        """From counts by labels; `clusters` names further ones, of rows without a true class."""
        classes = in_order({row for row, _ in counts})
        names = in_order({*(column for _, column in counts), *clusters})
        row_place = {label: place for place, label in enumerate(classes)}
        column_place = {label: place for place, label in enumerate(names)}
        lines = sorted((row_place[row], column_place[column], n) for (row, column), n in counts.items() if n)
        cells = np.array(lines, dtype=np.int64).reshape(-1, 3)
        return cls(classes=classes, clusters=names, cells=cells, geometry=geometry)

    @property
    def counts(self) -> dict[tuple[Label, Label], int]:
        """Counts by labels."""
        return {(self.classes[i], self.clusters[j]): n for i, j, n in self.cells.tolist()}

    @property
    def rows(self) -> int:
        """Rows that were counted."""
        total = int(self.cells[:, 2].sum())
        return total if total or self.geometry is None else self.geometry.rows

    @property
    def class_sizes(self) -> Whole:
        """Rows of each class."""
        return np.bincount(self.cells[:, 0], weights=self.cells[:, 2], minlength=len(self.classes)).astype(np.int64)

    @property
    def cluster_sizes(self) -> Whole:
        """Rows of each cluster that have a true class."""
        return np.bincount(self.cells[:, 1], weights=self.cells[:, 2], minlength=len(self.clusters)).astype(np.int64)

    @cached_property
    def agreement(self) -> Agreement:
        """The sums that measures of agreement read."""
        return Agreement.of_cells(self.cells, self.class_sizes, self.cluster_sizes, self.geometry)

    @cached_property
    def without_each(self) -> Agreement:
        """The same without one row of each cell."""
        return Agreement.without_each(self.agreement, self.cells, self.class_sizes, self.cluster_sizes)

    def __add__(self, other: Contingency) -> Contingency:
        """The rows of both."""
        counts = Counter(self.counts) + Counter(other.counts)
        if (self.geometry is None) != (other.geometry is None):
            raise PlanError(
                "tally-mismatch", "only one of the two tallies has features", fix="give features to both, or to neither"
            )
        geometry = None if self.geometry is None or other.geometry is None else self.geometry + other.geometry
        return Contingency.build(counts, clusters=(*self.clusters, *other.clusters), geometry=geometry)

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        content: dict[str, object] = {
            "kind": "contingency",
            "version": VERSION,
            "classes": list(self.classes),
            "clusters": list(self.clusters),
            "cells": self.cells.tolist(),
        }
        if self.geometry is not None:
            content["geometry"] = self.geometry.to_json()
        return {"contingency": content}

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Contingency:
        """The inverse of `to_json`."""
        part = cast("dict[str, Any]", content.get("contingency", {}))
        demand_kind(part, "contingency", "a table of classes and clusters")
        geometry = part.get("geometry")
        return cls(
            classes=tuple(part["classes"]),
            clusters=tuple(part["clusters"]),
            cells=np.array(part["cells"], dtype=np.int64).reshape(-1, 3),
            geometry=None if geometry is None else Geometry.from_json(geometry),
        )


def count_pairs(truth: Sequence[Label], predicted: Sequence[Label]) -> dict[tuple[Label, Label], int]:
    """Rows by class and cluster.

    >>> count_pairs(["a", "a", "b"], [1, 1, 2])
    {('a', 1): 2, ('b', 2): 1}
    """
    return dict(Counter(zip(truth, predicted, strict=True)))
