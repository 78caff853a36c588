# SPDX-License-Identifier: Apache-2.0
"""Truths that tables are drawn from, and the formulas that peers ship, for `bench/coverage.py`."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from assay.measures import Measure
from assay.tally.labels.one_vs_rest import Binary, Multiclass

Z = 1.959963984540054
"""The normal quantile of a level of 95 %."""

Ends = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Truth:
    """A joint distribution of true and predicted class, rows = truth."""

    name: str
    cells: np.ndarray

    @property
    def k(self) -> int:
        """How many classes there are."""
        return len(self.cells)

    def value(self, measure: Measure) -> float:
        """The value a measure has in this truth."""
        if measure.takes is Binary:
            (tn, fp), (fn, tp) = self.cells[..., np.newaxis]
            return float(measure.values(Binary(tp=tp, fp=fp, fn=fn, tn=tn))[0])
        return float(measure.values(margins(self.cells[np.newaxis]))[0])


def margins(tables: np.ndarray) -> Multiclass:
    """The margins of a stack of tables; axes (table, truth, predicted)."""
    hits = np.diagonal(tables, axis1=1, axis2=2).astype(float)
    actual, called = tables.sum(axis=2).astype(float), tables.sum(axis=1).astype(float)
    return Multiclass(hits=hits, actual=actual, called=called, labels=tuple(range(tables.shape[1])))


def truths(k: int) -> list[Truth]:
    """The truths of one number of classes."""
    if k == 2:
        pairs = itertools.product((0.02, 0.1, 0.3, 0.5), ((0.95, 0.98), (0.8, 0.9), (0.6, 0.7)))
        return [
            Truth(
                f"prevalence {p:g}, recall {r:g}, specificity {s:g}",
                np.array([[(1 - p) * s, (1 - p) * (1 - s)], [p * (1 - r), p * r]]),
            )
            for p, (r, s) in pairs
        ]
    place = np.arange(k)
    even, ranked = np.full(k, 1 / k), 1 / (place + 1) / (1 / (place + 1)).sum()
    recalls = {f"recall about {q:g}": np.clip(q + 0.1 * np.sin(place), 0.05, 0.99) for q in (0.95, 0.85, 0.65)}
    found = [Truth(f"equal classes, {name}", confusable(even, recall)) for name, recall in recalls.items()]
    found += [Truth(f"shares 1/rank, {name}", confusable(ranked, recall)) for name, recall in list(recalls.items())[:2]]
    return [*found, Truth("shares 1/rank, rare classes harder", confusable(ranked, np.linspace(0.95, 0.6, k)))]


def confusable(shares: np.ndarray, recall: np.ndarray) -> np.ndarray:
    """Classes in pairs that take 70 % of each other's errors; the rest goes anywhere."""
    k = len(shares)
    cells = np.full((k, k), 0.3 / (k - 1))
    for i in range(k):
        cells[i, (i + 1 if i % 2 == 0 else i - 1) % k] += 0.7
        cells[i, i] = 0
        cells[i] *= shares[i] * (1 - recall[i]) / cells[i].sum()
        cells[i, i] = shares[i] * recall[i]
    return cells


def cells_of(truth: Truth) -> np.ndarray:
    """The four shares tp, fp, fn, tn."""
    (tn, fp), (fn, tp) = truth.cells
    return np.array([tp, fp, fn, tn])


def log_chance(tables: np.ndarray, truth: Truth) -> np.ndarray:
    """The logarithm of the chance of each table."""
    logs = np.array([math.lgamma(i + 1) for i in range(int(tables[0].sum()) + 1)])
    return logs[-1] - logs[tables.astype(int)].sum(axis=1) + tables @ np.log(cells_of(truth))


def keep_likely(tables: np.ndarray, chances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tables that some truth gives with a chance above one in a thousand million; together they hold all but 1e-5."""
    kept = (chances > 1e-9).any(axis=0)
    return tables[kept], chances[:, kept]


def takahashi_binary(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, n: np.ndarray) -> Ends:
    """As `confidenceinterval` 1.0.5 ships it: each column of the covariance loses p^2 of its own cell only."""
    p = np.stack([1 - (tp + fp + fn) / n, fp / n, fn / n, tp / n], axis=1)
    denominator = p[:, 1] + p[:, 2] + 2 * p[:, 3]
    f1 = 2 * p[:, 3] / denominator
    slope = np.stack([0 * f1, -f1 / denominator, -f1 / denominator, 2 * (1 - f1) / denominator], axis=1)
    variance = (slope**2 * p).sum(axis=1) - slope.sum(axis=1) * (slope * p**2).sum(axis=1)
    reach = Z * np.sqrt(np.maximum(variance, 0) / n)
    return f1 - reach, f1 + reach


def takahashi_macro(table: np.ndarray) -> Ends:
    """As `confidenceinterval` 1.0.5 ships it."""
    hits, both = np.diag(table), table.sum(axis=0) + table.sum(axis=1) + 1e-7
    each = 2 * hits / both
    off = both - 1e-7 - 2 * hits
    first = each * off / both**2 + each / 2 + off / both
    pairs = table * np.outer(each, each) / np.add.outer(both, both)
    variance = 2 * (first.sum() + pairs.sum() - np.trace(pairs)) / len(each) ** 2 / table.sum()
    reach = Z * math.sqrt(variance)
    return np.array([each.mean() - reach]), np.array([each.mean() + reach])
