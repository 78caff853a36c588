# SPDX-License-Identifier: Apache-2.0
"""Where clusters lie: sizes, centres and spread of each, and how much closer rows are to their own cluster."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label, in_order
from assay.core.text import twelve_digits

if TYPE_CHECKING:
    from assay.core.arrays import Floats, Whole


EXACT: Final = 20_000
"""Rows up to which the silhouette compares every two rows."""
SAMPLE: Final = 10_000
"""Rows that are compared beyond."""
CHUNK: Final = 1 << 22
"""Distances that are held at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """By cluster: rows, centre, sum of squared distances to the centre; more where all rows were held at once."""

    clusters: tuple[Label, ...]
    count: Whole
    centre: Floats
    """Clusters by features."""
    within: Floats
    distance: Floats | None = None
    """Mean distance to the centre; None after merging."""
    silhouette: float | None = None
    compared: int = 0
    """Rows that the silhouette compares."""

    @classmethod
    def measure(cls, features: Floats, labels: list[Label]) -> Geometry:
        """Of rows that are held; the order of rows does not matter."""
        names = in_order(set(labels))
        place = {label: number for number, label in enumerate(names)}
        code = np.fromiter((place[label] for label in labels), dtype=np.int64, count=len(labels))
        order = np.lexsort((*features.T, code))
        features, code = features[order], code[order]
        count = np.bincount(code, minlength=len(names)).astype(np.int64)
        centre, within, distance = np.zeros((len(names), features.shape[1])), np.zeros(len(names)), np.zeros(len(names))
        for cluster, stop in enumerate(np.cumsum(count).tolist()):
            rows = features[stop - count[cluster] : stop]
            centre[cluster] = [math.fsum(column) / len(rows) for column in rows.T.tolist()]
            squares = ((rows - centre[cluster]) ** 2).sum(axis=1)
            within[cluster] = math.fsum(squares.tolist())
            distance[cluster] = math.fsum(np.sqrt(squares).tolist()) / len(rows)
        chosen = choose_rows(features) if len(code) > EXACT else np.arange(len(code))
        silhouette = mean_silhouette(features[chosen], code[chosen])
        return cls(
            clusters=names, count=count, centre=centre, within=within, distance=distance,
            silhouette=silhouette, compared=len(chosen),
        )  # fmt: skip

    @property
    def rows(self) -> int:
        """Rows in all clusters."""
        return int(self.count.sum())

    def __add__(self, other: Geometry) -> Geometry:
        """Sizes, centres and spread of both; what needs pairs of rows is lost."""
        if self.centre.shape[1] != other.centre.shape[1]:
            raise PlanError("tally-mismatch", "the two tallies have other features", fix="give both the same features")
        names = in_order({*self.clusters, *other.clusters})
        known = {name: number for number, name in enumerate(names)}
        place = np.array([known[name] for name in (*self.clusters, *other.clusters)], dtype=np.intp)
        counts = np.concatenate([self.count, other.count])
        centres, spreads = np.concatenate([self.centre, other.centre]), np.concatenate([self.within, other.within])
        count, within = np.zeros(len(names), dtype=np.int64), np.zeros(len(names))
        centre = np.zeros((len(names), centres.shape[1]))
        np.add.at(count, place, counts)
        np.add.at(centre, place, counts[:, None] * centres)
        centre /= count[:, None]
        np.add.at(within, place, spreads + counts * ((centres - centre[place]) ** 2).sum(axis=1))
        return Geometry(clusters=names, count=count, centre=centre, within=within)

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "clusters": list(self.clusters),
            "count": self.count.tolist(),
            "centre": self.centre.tolist(),
            "within": self.within.tolist(),
            "distance": None if self.distance is None else self.distance.tolist(),
            "silhouette": self.silhouette,
            "compared": self.compared,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Geometry:
        """The inverse of `to_json`."""
        clusters, distance = tuple(content["clusters"]), content["distance"]
        return cls(
            clusters=clusters,
            count=np.array(content["count"], dtype=np.int64),
            centre=np.array(content["centre"], dtype=np.float64).reshape(len(clusters), -1),
            within=np.array(content["within"], dtype=np.float64),
            distance=None if distance is None else np.array(distance, dtype=np.float64),
            silhouette=cast("float | None", content["silhouette"]),
            compared=int(content["compared"]),
        )


def choose_rows(features: Floats) -> Whole:
    """A sample of rows by a hash of their values, so that it does not depend on their order."""
    mixed = np.zeros(len(features), dtype=np.uint64)
    for column in np.ascontiguousarray(features.T + 0.0):
        mixed = (mixed ^ column.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return np.sort(np.argsort(mixed, kind="stable")[:SAMPLE])


def mean_silhouette(features: Floats, code: Whole) -> float | None:
    """The mean of (b - a) / max(a, b): a to the own cluster, b to the nearest other; 0 for a row that is alone."""
    from scipy.spatial.distance import cdist

    names, code = np.unique(code, return_inverse=True)
    if len(names) < 2 or len(names) >= len(code):  # noqa: PLR2004  nothing to be near to, or nothing shared
        return None
    size = np.bincount(code).astype(np.float64)
    member = np.zeros((len(code), len(names)))
    member[np.arange(len(code)), code] = 1
    values = np.zeros(len(code))
    step = max(1, CHUNK // len(code))
    for start in range(0, len(code), step):
        rows = slice(start, start + step)
        sums = cdist(features[rows], features) @ member
        own = np.arange(len(sums)), code[rows]
        alone = size[code[rows]] == 1
        inner = sums[own] / np.maximum(size[code[rows]] - 1, 1)
        means = sums / size
        means[own] = np.inf
        outer = means.min(axis=1)
        widest = np.maximum(inner, outer)
        ratio = np.divide(outer - inner, widest, out=np.zeros(len(sums)), where=widest > 0)
        values[rows] = np.where(alone, 0.0, ratio)
    return twelve_digits(math.fsum(values.tolist()) / len(values))
