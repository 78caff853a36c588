# SPDX-License-Identifier: Apache-2.0
"""Logistic regressions of the truth on one number, for many tables of the same scores at once, by Newton steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Truths: TypeAlias = NDArray[np.bool_]
    Fitted: TypeAlias = tuple[Floats, Floats, Truths]

FLAT: Final = 1e-12
"""Share of the rows whose probability can still move; below it the fit has run away to a perfect separation."""
SLACK: Final = 1e-13
"""What rounding may take from a likelihood, as a share of what it is summed up of."""
STEEPEST: Final = 700.0
"""Log-odds beyond which a double cannot tell a probability from 0 or 1."""
CACHED: Final = 1 << 15
"""Cells that are taken at a time, so that they stay near the processor."""
STEPS: Final = 200
"""So many at most; a halved one counts, too."""
CLOSE: Final = 1e-9
"""The step that is the last; as each is about the square of the one before, what it leaves is rounding."""


def lines(
    x: Floats, pos: Floats, rows: Floats, start: tuple[float, float], failed: Truths | None = None, *, fixed: bool
) -> Fitted:
    """Intercepts and slopes from first ones, the slope fixed or not, and which of them did not arrive.

    Tables that have failed before are left alone; every other one takes steps until it has arrived.
    """
    few, failed = max(CACHED // len(x), 1), np.zeros(len(pos), dtype=bool) if failed is None else failed
    parts = [slice(first, first + few) for first in range(0, len(pos), few)]
    fits = [_some(_Tables.of(x, pos[one], rows[one], fixed=fixed), start, failed[one]) for one in parts]
    a, b, lost = map(np.concatenate, zip(*fits, strict=True))
    return a, b, cast("Truths", lost)


@dataclass(frozen=True, slots=True)
class _Tables:
    """Tables on their way; of each class two sums are all that counts: of its rows, and of their numbers."""

    x: Floats
    square: Floats
    rows: Floats
    positives: Floats
    negatives: Floats
    fixed: bool

    @classmethod
    def of(cls, x: Floats, pos: Floats, rows: Floats, *, fixed: bool) -> _Tables:
        positives, negatives = (np.stack([one.sum(axis=-1), _along(one, x)]) for one in (pos, rows - pos))
        return cls(x, x * x, rows, positives, negatives, fixed)

    def at(self, these: NDArray[np.intp] | Truths) -> _Tables:
        """Some of them."""
        positives, negatives = self.positives[:, these], self.negatives[:, these]
        return _Tables(self.x, self.square, self.rows[these], positives, negatives, self.fixed)

    def step(self, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """The step that a parabola would want, the likelihood and its rounding, and how much of the rows can move."""
        p = np.multiply.outer(-b, self.x)
        p -= a[:, np.newaxis]
        np.clip(p, -STEEPEST, STEEPEST, out=p)
        np.exp(p, out=p)
        p += 1
        surprise = np.log(p)  # of a positive; of a negative it is more by its log-odds
        np.reciprocal(p, out=p)
        expected = self.rows * p
        np.subtract(1, p, out=p)
        w = np.multiply(p, expected, out=p)
        h00, g0 = w.sum(axis=-1), self.positives[0] - expected.sum(axis=-1)
        parts = np.stack([a * self.negatives[0], b * self.negatives[1], np.einsum("ij,ij->i", self.rows, surprise)])
        likelihood, rounding = -parts.sum(axis=0), SLACK * np.abs(parts).sum(axis=0)
        if self.fixed:
            return np.stack([g0 / np.where(h00 > 0, h00, 1.0), np.zeros_like(g0)]), likelihood, rounding, h00
        h01, h11, g1 = _along(w, self.x), _along(w, self.square), self.positives[1] - _along(expected, self.x)
        determinant = h00 * h11 - h01 * h01
        safe = np.where(determinant > 0, determinant, 1.0)
        return np.stack([h11 * g0 - h01 * g1, h00 * g1 - h01 * g0]) / safe, likelihood, rounding, h00


def _some(tables: _Tables, start: tuple[float, float], failed: Truths) -> Fitted:
    line = np.repeat(np.array(start)[:, np.newaxis], len(failed), axis=1)
    flat, failed = FLAT * tables.rows.sum(axis=-1), failed.copy()
    left = np.flatnonzero(~failed)
    tables, step, best = tables.at(left), np.zeros((2, len(left))), np.full(len(left), -np.inf)
    for _ in range(STEPS):
        if not len(left):
            break
        wanted, now, rounding, held = tables.step(*(line[:, left] + step))
        nearer = now >= best - rounding
        failed[left] = nearer & (held < flat[left])
        line[:, left] += np.where(nearer, step, 0.0)
        best = np.where(nearer, now, best)
        step = np.where(nearer, wanted, step / 2)
        arrived = np.abs(step).max(axis=0) < CLOSE * np.maximum(1.0, np.abs(line[1, left]))
        line[:, left] += np.where(arrived & ~failed[left], step, 0.0)
        on = ~(arrived | failed[left])
        if not on.all():
            left, tables, step, best = left[on], tables.at(on), step[:, on], best[on]
    failed[left] = True
    return line[0], line[1], failed


def _along(cells: Floats, values: Floats) -> Floats:
    """The sum of cells times values, table by table; not by BLAS, whose sums depend on its threads."""
    return cast("Floats", np.einsum("ij,j->i", cells, values))
