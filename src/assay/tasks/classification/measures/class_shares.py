# SPDX-License-Identifier: Apache-2.0
"""Distances between the true and the predicted class shares; they see quantities only, not which row went where."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import listed
from assay.core.traits import EXTENSION, HIGHER, LOWER, NEITHER, SCHLOSSER, TS4213
from assay.core.values import NO_ROWS, Number, number, undefined_number
from assay.measures.declare import measure
from assay.tally.labels.one_vs_rest import Multiclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.values import Amount

share_measure = partial(measure, range=(0, 1), better=LOWER, family="class shares")


def _divergence(first: NDArray[np.float64], second: NDArray[np.float64]) -> Amount:
    """Sum of first * ln(first / second); 0 ln 0 is 0, and a class only the first one has makes it infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(first > 0, first * np.log(first / second), np.where(np.isnan(first), np.nan, 0.0))
    total = np.array(math.fsum(terms)) if terms.ndim == 1 and np.isfinite(terms).all() else terms.sum(axis=-1)
    return cast("Amount", np.maximum(total, 0.0))


def _kl(t: Multiclass, first: Amount, second: Amount, gap: str) -> Number:
    if first.ndim == 1 and not t.n:
        return undefined_number(NO_ROWS)
    truth, called = t.shares
    pair = (truth, called) if first is t.actual else (called, truth)
    note = None
    if first.ndim == 1:
        lost = [label for label, a, b in zip(t.labels, first, second, strict=True) if a and not b]
        note = f"infinite because of {listed(lost)}, {gap}" if lost else None
    return Number(_divergence(*pair), infinite=True, note=note, empty=NO_ROWS)


@share_measure(
    also=("forward KL", "KL(truth || predicted)"),
    says="information lost when the predicted class shares stand in for the true ones, in nats",
    formula="sum(t * ln(t / p) for t, p in shares if t > 0)",
    range=(0, math.inf),
    infinite=True,
    source=(TS4213("6.2.7"), TS4213("6.3.5")),
    spec=("M-DIS-01", "M-DIS-02"),
    errata=("E-TS-01", "E-TS-04"),
)
def kl_truth_pred(t: Multiclass) -> Number:
    return _kl(t, t.actual, t.called, "never predicted")


@share_measure(
    also=("reverse KL", "KL(predicted || truth)"),
    says="information lost when the true class shares stand in for the predicted ones, in nats",
    formula="sum(p * ln(p / t) for t, p in shares if p > 0)",
    range=(0, math.inf),
    infinite=True,
    source=TS4213("6.4.4"),
    spec="M-DIS-03",
    errata=("E-TS-01", "E-TS-03"),
)
def kl_pred_truth(t: Multiclass) -> Number:
    return _kl(t, t.called, t.actual, "never true")


@share_measure(
    symbol="JSD",
    also=("Jensen-Shannon divergence",),
    says="a bounded, symmetric companion of the two divergences, in nats",
    formula="sum(t*ln(2*t/(t + p)) for t, p in shares if t > 0)/2"
    " + sum(p*ln(2*p/(t + p)) for t, p in shares if p > 0)/2",
    range=(0, math.log(2)),
    source=EXTENSION,
    spec="M-DIS-06",
)
def jensen_shannon(t: Multiclass) -> Number:
    if t.actual.ndim == 1 and not t.n:
        return undefined_number(NO_ROWS)
    truth, called = t.shares
    middle = (truth + called) / 2
    return number(
        np.minimum((_divergence(truth, middle) + _divergence(called, middle)) / 2, math.log(2)), empty=NO_ROWS
    )


@share_measure(
    symbol="TV",
    also=("quantity disagreement",),
    says="the share of rows that would have to change class to match the totals",
    formula="sum(abs(t - p) for t, p in shares) / 2",
    source=EXTENSION,
    spec="M-DIS-07",
)
def total_variation(t: Multiclass) -> Number:
    return number(t.moved, over=2 * t.n, empty=NO_ROWS)


@share_measure(
    says="how mixed the true classes are: the chance that two rows drawn with replacement differ",
    formula="1 - sum(r**2 for r in R) / n**2",
    better=NEITHER,
    source=SCHLOSSER("eq. 51"),
    spec="M-DIS-08",
    errata=("E-SCH-21",),
)
def gini_impurity(t: Multiclass) -> Number:
    n = t.n
    return number(n * n - cast("Amount", (t.actual * t.actual).sum(axis=-1)), over=n * n, empty=NO_ROWS)


@share_measure(
    symbol="CSMFA",
    also=("CSMF accuracy", "cause-specific mortality fraction accuracy"),
    says="how well the predicted class shares match the true ones, 1 minus the error over the worst possible error",
    formula="1 - sum(abs(t - p) for t, p in shares) / (2*(1 - min(t for t, p in shares)))",
    better=HIGHER,
    source=TS4213("Annex D"),
    spec="M-CHN-05",
    errata=("E-TS-05", "E-TS-08"),
)
def csmf_accuracy(t: Multiclass) -> Number:
    worst = 2 * (t.n - cast("Amount", t.actual.min(axis=-1)))
    return number(worst - t.moved, over=worst, empty=((t.n, NO_ROWS), (worst, "there is only one class")))


@share_measure(
    also=("chance-corrected CSMF accuracy",),
    says="CSMF accuracy rescaled so that random allocation of classes scores about 0",
    formula="(1 - sum(abs(t - p) for t, p in shares) / (2*(1 - min(t for t, p in shares))) - (1 - exp(-1))) / exp(-1)",
    range=(1 - math.e, 1),
    better=HIGHER,
    chance="0 for many classes",
    source=TS4213("Annex D"),
    spec="M-CHN-06",
    errata=("E-TS-06",),
)
def cccsmf_accuracy(t: Multiclass, *, baseline: Literal["limit", "finite-k"] = "limit") -> Number:
    plain = cast("Number", csmf_accuracy.raw(t))
    if plain.values.ndim == 0 and not plain.over:
        return plain
    chance = _chance_csmf(t.k, baseline)
    return Number((plain.values - chance) / (1 - chance), empty=plain.empty)


def _chance_csmf(k: int, baseline: str) -> float:
    """Expected CSMF accuracy of equal predicted shares when the true shares are uniform on the simplex.

    Given the smallest true share, the others are uniform above it, so the mean absolute deviation factors out:
    1 - (1 - 1/K)^(K-1) * integral over x in 0..1 of K(K-1) x^(K-1) / (K - 1 + x). The limit is 1 - 1/e.
    """
    if baseline == "limit":
        return 1 - math.exp(-1)
    if baseline != "finite-k":
        raise PlanError(
            "option-unknown",
            f"baseline = {baseline!r} is not known",
            known='"limit", "finite-k"',
            fix="choose one of them",
        )
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    x, w = (nodes + 1) / 2, weights / 2
    if k < _NODES:
        integral = float((w * k * (k - 1) * x ** (k - 1) / (k - 1 + x)).sum())
    else:  # x = y^(1/K) flattens a power that the nodes could no longer follow
        integral = float((w * (k - 1) / (k - 1 + x ** (1 / k))).sum())
    return 1 - (1 - 1 / k) ** (k - 1) * integral


_NODES = 128
