# SPDX-License-Identifier: Apache-2.0
"""The few sums of a table of classes and clusters from which every measure of agreement follows.

They can be had for the table, and for all tables with one row less, at the cost of one line a cell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from assay.core.registry import Declared, Registry
from assay.tally.fixed_point import exact_dot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole
    from assay.core.values import Amount


MOST_TERMS: Final = 3_000_000
"""Terms of expected mutual information that are computed for tables with one row less; beyond, it is held fixed."""
NORMALISERS: Final = ("arithmetic", "geometric", "max", "min")
AMBIGUOUS: Final = {
    "nmi": tuple(f"nmi_{name}" for name in NORMALISERS),
    "ami": tuple(f"ami_{name}" for name in NORMALISERS),
    "normalized mutual information": tuple(f"nmi_{name}" for name in NORMALISERS),
    "adjusted mutual information": tuple(f"ami_{name}" for name in NORMALISERS),
}
"""Short names that do not say how entropies are averaged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Sums over the cells of a table of classes and clusters, of one table or of a stack."""

    MEASURES: ClassVar[Registry[Declared]] = Registry("measure", AMBIGUOUS)

    n: Amount
    """Rows."""
    together: Amount
    """Sum of squared cells."""
    by_class: Amount
    """Sum of squared class sizes."""
    by_cluster: Amount
    """Sum of squared cluster sizes."""
    joint_log: Amount
    """Sum of n log n over cells."""
    class_log: Amount
    cluster_log: Amount
    expected: Amount
    """Mutual information that is expected by chance, in nats."""
    matched: Amount
    """Rows in the largest class of their cluster."""
    shape: Any = None
    """Where the clusters lie, if features were given."""

    @classmethod
    def of_cells(cls, cells: Whole, class_sizes: Whole, cluster_sizes: Whole, shape: object = None) -> Agreement:
        """The sums of one table, counts exact."""
        count = cells[:, 2]
        largest = np.zeros(len(cluster_sizes), dtype=np.int64)
        np.maximum.at(largest, cells[:, 1], count)
        single: Any = {
            "n": int(count.sum()),
            "together": exact_dot(count, count),
            "by_class": exact_dot(class_sizes, class_sizes),
            "by_cluster": exact_dot(cluster_sizes, cluster_sizes),
            "joint_log": math.fsum(entropy_parts(count).tolist()),
            "class_log": math.fsum(entropy_parts(class_sizes).tolist()),
            "cluster_log": math.fsum(entropy_parts(cluster_sizes).tolist()),
            "expected": expected_information(class_sizes, cluster_sizes),
            "matched": int(largest.sum()),
        }
        return cls(**single, shape=shape)

    @classmethod
    def without_each(cls, whole: Agreement, cells: Whole, class_sizes: Whole, cluster_sizes: Whole) -> Agreement:
        """The sums of the tables without one row of each cell, as a stack in the order of the cells."""
        count = cells[:, 2].astype(np.float64)
        a, b = class_sizes[cells[:, 0]].astype(np.float64), cluster_sizes[cells[:, 1]].astype(np.float64)
        largest, times = _largest(cells, len(cluster_sizes))
        lone = (count == largest[cells[:, 1]]) & (times[cells[:, 1]] == 1)
        return cls(
            n=float(whole.n) - np.ones(len(cells)),
            together=float(whole.together) - (2 * count - 1),
            by_class=float(whole.by_class) - (2 * a - 1),
            by_cluster=float(whole.by_cluster) - (2 * b - 1),
            joint_log=whole.joint_log - entropy_parts(count) + entropy_parts(count - 1),
            class_log=whole.class_log - entropy_parts(a) + entropy_parts(a - 1),
            cluster_log=whole.cluster_log - entropy_parts(b) + entropy_parts(b - 1),
            expected=_expected_without(float(whole.expected), cells, class_sizes, cluster_sizes),
            matched=float(whole.matched) - lone,
        )


def entropy_parts(count: NDArray[Any]) -> Floats:
    """N log n of each count, 0 for none."""
    real = np.asarray(count, dtype=np.float64)
    return real * np.log(np.maximum(real, 1.0))


def _largest(cells: Whole, clusters: int) -> tuple[Floats, Whole]:
    """The largest cell of each cluster, and how many cells are as large."""
    largest = np.zeros(clusters)
    np.maximum.at(largest, cells[:, 1], cells[:, 2].astype(np.float64))
    times = np.bincount(cells[:, 1][cells[:, 2] == largest[cells[:, 1]]], minlength=clusters)
    return largest, times


def expected_information(class_sizes: Whole, cluster_sizes: Whole) -> float:
    """Mutual information of two partitions with these sizes that is expected by chance (Vinh et al. 2010, eq. 24a)."""
    from scipy.special import gammaln

    n = int(class_sizes.sum())
    parts: list[float] = []
    for a, a_times in zip(*np.unique(class_sizes[class_sizes > 0], return_counts=True), strict=True):
        for b, b_times in zip(*np.unique(cluster_sizes[cluster_sizes > 0], return_counts=True), strict=True):
            m = _likely_overlaps(int(a), int(b), n)
            chance = np.exp(
                gammaln(a + 1) + gammaln(b + 1) + gammaln(n - a + 1) + gammaln(n - b + 1) - gammaln(n + 1)
                - gammaln(m + 1) - gammaln(a - m + 1) - gammaln(b - m + 1) - gammaln(n - a - b + m + 1)
            )  # fmt: skip
            information = m / n * (np.log(n * np.maximum(m, 1)) - math.log(a) - math.log(b))
            mean = math.fsum((information * chance).tolist()) / math.fsum(chance.tolist())
            parts.append(float(a_times * b_times) * mean)
    return math.fsum(parts)


def _likely_overlaps(a: int, b: int, n: int) -> Floats:
    """Sizes that a cell of these margins may have by chance; those beyond 12 standard deviations are left out."""
    mean = a * b / n
    reach = 12 * math.sqrt(mean * (n - a) / n * (n - b) / max(n - 1, 1)) + 30
    low = max(0, a + b - n, math.floor(mean - reach))
    return np.arange(low, min(a, b, math.ceil(mean + reach)) + 1, dtype=np.float64)


def _expected_without(whole: float, cells: Whole, class_sizes: Whole, cluster_sizes: Whole) -> Floats:
    """Expected information without one row of each cell; held fixed where that would take too long."""
    sizes = np.stack([class_sizes[cells[:, 0]], cluster_sizes[cells[:, 1]]], axis=1)
    distinct, place = np.unique(sizes, axis=0, return_inverse=True)
    pairs = len(np.unique(class_sizes)) * len(np.unique(cluster_sizes))
    longest = min(int(min(class_sizes.max(), cluster_sizes.max())), 60 + 12 * math.isqrt(int(class_sizes.sum())))
    terms = len(distinct) * pairs * longest
    if terms > MOST_TERMS:
        return np.full(len(cells), whole)
    values = []
    for a, b in distinct.tolist():
        rows, columns = class_sizes.copy(), cluster_sizes.copy()
        rows[int(np.flatnonzero(rows == a)[0])] -= 1
        columns[int(np.flatnonzero(columns == b)[0])] -= 1
        values.append(expected_information(rows, columns))
    return np.array(values)[place.ravel()]
