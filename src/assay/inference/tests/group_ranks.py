# SPDX-License-Identifier: Apache-2.0
"""Several independent groups compared by ranks."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.traits import EXTENSION, TS4213
from assay.core.values import Undefined
from assay.inference.declare import significance
from assay.inference.estimates import Interval
from assay.inference.findings import Check, Effect, Finding, no_number
from assay.inference.power import least_normal
from assay.inference.tail_probabilities import CERTAIN, chi_squared, normal
from assay.tally.real_values import Groups

if TYPE_CHECKING:
    from assay.core.arrays import Floats

TIED: Final = Undefined(reason="all values are equal", code="all-tied")


@significance(
    title="Kruskal-Wallis test",
    asks="do independent groups have the same distribution?",
    null="all groups have the same distribution",
    effect="epsilon squared",
    assumes=("all values are independent",),
    never=("on values of the same items, folds or data sets: those are paired",),
    source=TS4213("7.4"),
    spec="T-08",
    errata=("E-TS-22",),
)
def kruskal_wallis(t: Groups, *, level: float = 0.95) -> Finding:
    ranks, ties = _pooled(t)
    n, k = t.n, len(t.values)
    spare = 1 - ties / (n**3 - n) if n > 1 else 0.0
    if not spare:
        none = Effect(name="epsilon squared", value=0.0)
        return no_number(none.name, TIED, "H", chance=CERTAIN, effect=none, n=n, level=level, notes=(TIED.reason,))
    h = (12 / (n * (n + 1)) * math.fsum(float(r.sum()) ** 2 / len(r) for r in ranks) - 3 * (n + 1)) / spare
    h = max(h, 0.0)
    small = min(t.sizes) < 5  # noqa: PLR2004  the usual floor of the chi-squared form
    return Finding(
        chance=chi_squared(h, k - 1),
        effect=Effect(name="epsilon squared", value=h / (n - 1), no_interval="none is customary"),
        statistic=h,
        statistic_name="H",
        df=(k - 1,),
        n=n,
        checks=(Check(assumes="five values in every group", holds=not small, seen=f"smallest group {min(t.sizes)}"),),
        notes=(
            "a difference in spread alone also makes it significant",
            "the difference that could have been detected is one of mean ranks",
        ),
        least=least_normal(_dunn_error(n, ties, min(t.sizes), min(t.sizes)), level),
    )


@significance(
    title="Dunn's comparison of all pairs after the Kruskal-Wallis test",
    asks="which groups differ in their mean rank?",
    null="the two mean ranks are equal",
    effect="difference of two mean ranks",
    assumes=("all values are independent", "the Kruskal-Wallis test was significant"),
    never=("on values of the same items, folds or data sets: those are paired",),
    source=EXTENSION,
    spec="T-32",
)
def dunn(t: Groups, *, level: float = 0.95) -> tuple[Finding, ...]:
    ranks, ties = _pooled(t)
    findings = []
    for a, b in combinations(range(len(ranks)), 2):
        gap = float(ranks[a].mean() - ranks[b].mean())
        error = _dunn_error(t.n, ties, len(ranks[a]), len(ranks[b]))
        reach = least_normal(error, level, 0.5) if error else None
        interval = (
            Interval(low=gap - reach, high=gap + reach, level=level, method="dunn") if reach is not None else None
        )
        findings.append(
            Finding(
                chance=normal(gap / error) if error else CERTAIN,
                effect=Effect(name=f"mean rank of {t.models[a]} minus {t.models[b]}", value=gap, interval=interval),
                statistic=gap / error if error else TIED,
                statistic_name="z",
                models=(t.models[a], t.models[b]),
                n=t.n,
                least=least_normal(error, level) if error else TIED,
            )
        )
    return tuple(findings)


def _pooled(t: Groups) -> tuple[list[Floats], float]:
    """Ranks of all values together, by group, and how much they are tied."""
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate(t.arrays()))
    _, times = np.unique(ranks, return_counts=True)
    return np.split(ranks, np.cumsum(t.sizes)[:-1]), float((times.astype(np.float64) ** 3 - times).sum())


def _dunn_error(n: int, ties: float, first: int, second: int) -> float:
    return math.sqrt(max((n * (n + 1) / 12 - ties / (12 * (n - 1))) * (1 / first + 1 / second), 0.0)) if n > 1 else 0.0
