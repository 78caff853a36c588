# SPDX-License-Identifier: Apache-2.0
"""How sure the difference of two models is where very many units were summed up: its linearised, robust variance.

The difference is a function of what all units add to each pattern. To first order a unit moves it by the slopes of the
function times what the unit adds, and units are independent, so that the variance is the sum of the squares of these
moves: a quadratic form of sums over units (Binder 1983; of subjects, the robust variance of Liang and Zeger 1986).
Slopes are central differences of fourth order, each with a step in proportion to what its pattern weighs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import counted
from assay.core.values import Undefined
from assay.inference.units.joint_cell_draws import one_class, table_of
from assay.inference.units.unit_measures import PAIR, plain_value
from assay.measures.declare import Measure, parse
from assay.tally.labels.one_vs_rest import Binary, Multiclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole
    from assay.core.labels import Label
    from assay.tally.paired.unit_sums import UnitSums

STEP: Final = 1e-3
"""Of what a pattern weighs: a fourth-order difference then errs by 1e-12 at most, and rounding by about as much."""
HELD: Final = 1 << 18
"""Numbers of a stack of tables held at a time: 2 MiB."""
RESTS_ON: Final = 100
"""As how many equal units those in dispute must count; Student's t of fewer is wider than the normal by 1.2 %."""
BENT: Final = 0.1
"""Where moves by their own standard error leave the tangent by more than this share of the error, it does not do."""
HOLD: Final = "hold the rows: exact_scores=NUMBER (--exact-scores)"


@dataclass(frozen=True, kw_only=True, eq=False)
class Linear:
    """A measure of two models on sums over units: both values, and the slopes of their difference."""

    measure: Measure
    t: UnitSums
    both: tuple[float, float]
    slopes: Floats
    """Of the difference, for one unit of weight more in each pattern."""
    bends: Floats
    """How far the difference leaves its tangent where a pattern moves by its own standard error, ahead and behind."""

    @property
    def gap(self) -> float:
        """The value of A minus that of B; NaN where one is undefined."""
        return self.both[0] - self.both[1]

    @property
    def disputed(self) -> int:
        """Rows the models do not answer alike."""
        return sum(n for n, differ in zip(self.t.rows, self._differ.tolist(), strict=True) if differ)

    @property
    def _differ(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.t.codes[:, 1] != self.t.codes[:, 2]
        return found

    @cached_property
    def error(self) -> float:
        """The standard error of the difference."""
        n = self.t.units
        if n < PAIR:
            return 0.0
        centre = float(self.slopes @ self.t.weights())
        spread = _form(self.t, self.slopes) - centre * centre / n
        return math.sqrt(max(spread, 0.0) * n / (n - 1))

    @cached_property
    def rests_on(self) -> float:
        """As how many equal units all count, or those in dispute if fewer (Kish, by how far each moves it)."""
        found = []
        for moved in (np.abs(self.slopes), np.where(self._differ, np.abs(self.slopes), 0.0)):
            squares = _form(self.t, moved)
            found.append(float(moved @ self.t.weights()) ** 2 / squares if squares > 0 else 0.0)
        return min(found)

    def unfit(self) -> Undefined | None:
        """Why the normal distribution does not describe this difference, if it does not."""
        if not self.error > 0:
            return Undefined(reason="the difference has no variance", code="zero-variance")
        if self.rests_on < RESTS_ON:
            what = "subject" if self.t.by_subject else "row"
            few = counted(math.floor(self.rests_on), what)
            told = f"the difference rests on as few as {few} of equal weight, too few for a large-sample test; {HOLD}"
            return Undefined(reason=told, code="too-few")
        if not math.sqrt(float((self.bends**2).sum())) <= BENT * self.error:
            told = f"{self.measure.title} bends within its own standard error, so no tangent tells that error; {HOLD}"
            return Undefined(reason=told, code="too-few")
        return None


def linear(t: UnitSums, measure: Measure | str, positive: Label | None) -> Linear:
    """A measure of labels of two models."""
    wanted = parse(measure) if isinstance(measure, str) else measure
    _demand_pair(t)
    if wanted.takes not in (Binary, Multiclass):
        raise PlanError(
            "comparison-needs",
            f"{wanted.name} is not compared from the labels of subjects or weighted rows",
            fix="choose a measure of labels",
        )
    codes, labels = t.codes, t.labels
    if wanted.takes is Binary:
        codes, labels = (codes == one_class(labels, wanted, positive)).astype(np.int64), (0, 1)
    k = len(labels)
    adds = [_margins(codes[:, 0], codes[:, i], k) for i in (1, 2)]

    def value(sums: Floats) -> Floats:
        table = table_of(wanted, labels, (sums[:, :k], sums[:, k : 2 * k], sums[:, 2 * k :]))
        found = wanted.values(table)
        return np.where(np.isfinite(found), found, np.nan)

    weights = t.weights()
    whole = [np.asarray(weights @ one)[np.newaxis] for one in adds]
    tables = [table_of(wanted, labels, (one[:, :k], one[:, k : 2 * k], one[:, 2 * k :])) for one in whole]
    a, b = (plain_value(wanted, one) for one in tables)

    def gap(at: Whole, moved: Floats) -> Floats:
        first, second = (
            value(one + moved[:, np.newaxis] * add[at].toarray()) for one, add in zip(whole, adds, strict=True)
        )
        found: Floats = first - second
        return found

    none = np.zeros(len(weights)), np.zeros(len(weights))
    slopes, bends = none if math.isnan(a - b) else _slopes(gap, weights, np.sqrt(t.squares()), 6 * k)
    return Linear(measure=wanted, t=t, both=(a, b), slopes=slopes, bends=bends)


def linear_costs(t: UnitSums, price: Floats, measure: Measure) -> Linear:
    """The mean cost of the answers of two models, whose slopes are known: price is by truth and call."""
    _demand_pair(t)
    weights = t.weights()
    total = float(weights.sum())
    paid = [price[t.truth, t.codes[:, i]] for i in (1, 2)]
    a, b = (float(weights @ one) / total for one in paid)
    slopes: Floats = (paid[0] - paid[1] - (a - b)) / total
    return Linear(measure=measure, t=t, both=(a, b), slopes=slopes, bends=np.zeros(len(slopes)))


def _slopes(
    gap: Callable[[Whole, Floats], Floats], weights: Floats, errors: Floats, width: int
) -> tuple[Floats, Floats]:
    """Slopes by pattern, and how far the difference bends within errors; a pattern without weight has none."""
    slopes, bends = np.zeros(len(weights)), np.zeros(len(weights))
    heavy = np.flatnonzero(weights > 0)
    size = max(1, HELD // width)
    for start in range(0, len(heavy), size):
        at = heavy[start : start + size]
        step = STEP * weights[at]
        ahead, behind, far, back = (gap(at, by * step) for by in (1.0, -1.0, 2.0, -2.0))
        slopes[at] = (8 * (ahead - behind) - (far - back)) / (12 * step)
        reach = np.minimum(errors[at], weights[at])
        bends[at] = (gap(at, reach) - 2 * gap(at, 0 * reach) + gap(at, -reach)) / 2
    return slopes, bends


def _margins(truth: Whole, call: Whole, k: int) -> Any:  # noqa: ANN401  a sparse matrix
    """What each pattern adds to hits, truths and calls of each class."""
    from scipy.sparse import csr_array

    at, ones = np.arange(len(truth)), np.ones(len(truth))
    right = truth == call
    rows, columns = np.concatenate([at[right], at, at]), np.concatenate([truth[right], truth + k, call + 2 * k])
    return csr_array((np.concatenate([ones[right], ones, ones]), (rows, columns)), shape=(len(truth), 3 * k))


def _form(t: UnitSums, slopes: Floats) -> float:
    """The sum over units of the square of what each moves."""
    p, q, sums = t.moments()
    each = sums * slopes[p] * slopes[q]
    return float(math.fsum(np.where(p == q, each, 2 * each).tolist()))


def _demand_pair(t: UnitSums) -> None:
    if len(t.models) != PAIR:
        raise PlanError("test-needs", f"this test takes two models, not {len(t.models)}", fix="use t.only(a, b)")
