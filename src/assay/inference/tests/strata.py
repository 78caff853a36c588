# SPDX-License-Identifier: Apache-2.0
"""Parts of the data: two factors stratum by stratum, and whether a measure differs between sites or groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.core.traits import EXTENSION, TS4213
from assay.core.values import Share, Undefined
from assay.inference.declare import significance
from assay.inference.estimates import Estimate
from assay.inference.findings import Check, Effect, Finding, no_number, refer_statistic
from assay.inference.intervals.proportion import normal_quantile
from assay.inference.power import least_normal
from assay.inference.resampling import SEED, stream
from assay.inference.tail_probabilities import CERTAIN, chi_squared
from assay.inference.tests.contingency import EMPTY_MARGIN, NOT_PAIRED
from assay.tally.contingency_tables import Strata

if TYPE_CHECKING:
    from assay.core.arrays import Floats

EXPECTED: Final = 5
"""Below this expected count in any cell the chi-squared tail is not trusted (Cochran 1954), and margins are drawn."""
DRAWS: Final = 9999
"""With the table that was seen this makes 10,000, so that p has four digits."""
PLACE: Final = 7
"""The stream of these draws, apart from those of the intervals."""


@significance(
    title="Cochran-Mantel-Haenszel test",
    also=("CMH",),
    asks="do two yes-or-no factors go together once strata are taken into account?",
    null="the odds ratio is 1 in every stratum",
    effect="common odds ratio (Mantel-Haenszel)",
    assumes=("rows are independent", "the odds ratio is about the same in every stratum"),
    never=NOT_PAIRED,
    source=(TS4213("5.3.8"), EXTENSION),
    spec="T-34",
)
def cochran_mantel_haenszel(t: Strata, *, level: float = 0.95) -> Finding:
    cells = np.array([list(chain(*table.rows)) for table in t.tables.values() if table.n > 1], dtype=np.float64)
    a, b, c, d = cells.reshape(-1, 4).T
    n = a + b + c + d
    excess = float((a - (a + b) * (a + c) / n).sum())
    variance = float(((a + b) * (c + d) * (a + c) * (b + d) / (n * n * (n - 1))).sum())
    top, under = float((a * d / n).sum()), float((b * c / n).sum())
    name = "common odds ratio (Mantel-Haenszel)"
    total = sum(table.n for table in t.tables.values())
    if not variance:
        lost = Undefined(reason="no stratum has two levels of both factors", code="zero-margin")
        known = {"chance": CERTAIN, "df": (1,), "n": total, "notes": (lost.reason,), "least": lost}
        return no_number(name, EMPTY_MARGIN, "chi-squared", **known)
    effect = Effect(name=name, value=top / under if under else math.inf, no_interval="a zero in every stratum")
    error = math.inf
    if top and under:
        p, q, r, s = (a + d) / n, (b + c) / n, a * d / n, b * c / n
        error = math.sqrt(  # Robins, Breslow and Greenland 1986
            float((p * r).sum()) / (2 * top * top)
            + float((p * s + q * r).sum()) / (2 * top * under)
            + float((q * s).sum()) / (2 * under * under)
        )
        z = normal_quantile((1 + level) / 2)
        ends = (top / under * math.exp(-z * error), top / under * math.exp(z * error))
        effect = Effect.between(name, top / under, ends, level, "robins-breslow-greenland")
    value = excess * excess / variance
    zero = Undefined(reason="a zero in every stratum", code="zero-margin")
    return Finding(
        **refer_statistic("chi-squared", value, 1),
        effect=effect,
        n=total,
        checks=(_breslow_day(cells, top / under if under else math.inf, level),),
        least=math.exp(least_normal(error, level)) if math.isfinite(error) else zero,
    )


def _breslow_day(cells: Floats, odds: float, level: float) -> Check:
    """Whether the odds ratio is the same in every stratum."""
    assumes = "the odds ratio is about the same in every stratum"
    if not 0 < odds < math.inf or len(cells) < 2:  # noqa: PLR2004  nothing to differ
        seen = "the common odds ratio is 0 or infinite, or there is one stratum"
        return Check(assumes=assumes, holds=None, seen=seen)
    value = 0.0
    for a, b, c, d in cells:
        first, column, n = a + b, a + c, a + b + c + d
        square, middle, last = 1 - odds, n - first - column + odds * (first + column), -odds * first * column
        root = (
            -last / middle
            if abs(square) < 1e-12  # noqa: PLR2004  odds of 1: the equation is a line
            else (-middle + math.sqrt(middle * middle - 4 * square * last)) / (2 * square)
        )
        parts = (root, first - root, column - root, n - first - column + root)
        if min(parts) > 0:
            value += (a - root) ** 2 * sum(1 / part for part in parts)
    tail = chi_squared(value, len(cells) - 1)
    return Check(assumes=assumes, holds=tail.p > 1 - level, seen=f"Breslow-Day p {tail}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heterogeneity:
    """How far the parts lie apart: a test that they share one value, and the share of spread that is not chance."""

    measure: str
    parts: int
    statistic: float
    freedom: int
    p: float
    beyond_chance: float
    method: str
    lowest: int
    highest: int
    left_out: tuple[int, ...] = ()

    def to_json(self) -> dict[str, object]:
        """As in a Record, without the names of the parts."""
        return {
            "measure": self.measure,
            "parts": self.parts,
            "statistic": self.statistic,
            "df": self.freedom,
            "p": self.p,
            "i_squared": self.beyond_chance,
            "method": self.method,
        }


def heterogeneity(estimates: Sequence[Estimate], *, seed: int = SEED) -> Heterogeneity | None:
    """The answer for one measure's estimates on several parts; None when fewer than two parts have what it needs."""
    shares = all(isinstance(one.result, (Share, Undefined)) for one in estimates)
    kept = [i for i, one in enumerate(estimates) if _usable(one, shares=shares)]
    if len(kept) < 2:  # noqa: PLR2004  two parts can differ
        return None
    used = [estimates[i] for i in kept]
    statistic, p, method = _of_shares(used, seed) if shares else _of_numbers(used)
    values = np.array([one.value for one in used], dtype=float)
    freedom = len(used) - 1
    return Heterogeneity(
        measure=used[0].measure,
        parts=len(used),
        statistic=statistic,
        freedom=freedom,
        p=p,
        beyond_chance=max(0.0, (statistic - freedom) / statistic) if statistic > 0 else 0.0,
        method=method,
        lowest=kept[int(np.argmin(values))],
        highest=kept[int(np.argmax(values))],
        left_out=tuple(i for i in range(len(estimates)) if i not in kept),
    )


def _usable(estimate: Estimate, *, shares: bool) -> bool:
    if isinstance(estimate.result, Undefined) or estimate.interval is None or not np.isfinite(estimate.result.value):
        return False
    return shares or 0 < estimate.interval.high - estimate.interval.low < np.inf


def _of_shares(estimates: Sequence[Estimate], seed: int) -> tuple[float, float, str]:
    """Pearson's statistic of the parts x (in, out) table; drawn with the margins kept where expectations are small."""
    from scipy.stats import chi2

    hits = np.array([int(one.numerator or 0) for one in estimates])
    sizes = np.array([int(one.denominator or 0) for one in estimates])
    pooled = hits.sum() / sizes.sum()
    if pooled in (0.0, 1.0):
        return 0.0, 1.0, "all parts have the same value"
    statistic = float(_pearson(hits, sizes, pooled))
    if sizes.min() * min(pooled, 1 - pooled) >= EXPECTED:
        return statistic, float(chi2.sf(statistic, len(hits) - 1)), "chi-squared"
    drawn = stream(seed, PLACE).multivariate_hypergeometric(sizes, int(hits.sum()), size=DRAWS, method="marginals")
    # A table as far off as the one seen must count as such, whatever the last digit of its statistic says.
    at_least = int((_pearson(drawn, sizes, pooled) >= statistic * (1 - 1e-9)).sum())
    return statistic, (1 + at_least) / (1 + DRAWS), f"{DRAWS + 1:,} tables with the same margins"


def _pearson(hits: np.ndarray, sizes: np.ndarray, pooled: float) -> np.ndarray:
    return ((hits - sizes * pooled) ** 2 / (sizes * pooled * (1 - pooled))).sum(axis=-1)  # type: ignore[no-any-return]


def _of_numbers(estimates: Sequence[Estimate]) -> tuple[float, float, str]:
    """Cochran's Q, each part weighted by how sure it is."""
    from scipy.stats import chi2, norm

    values = np.array([one.value for one in estimates], dtype=float)
    z = norm.ppf((1 + estimates[0].level) / 2)  # type: ignore[operator]
    errors = np.array([(one.high - one.low) / (2 * z) for one in estimates])  # type: ignore[operator]
    weights = 1 / errors**2
    centre = (weights * values).sum() / weights.sum()
    statistic = float((weights * (values - centre) ** 2).sum())
    return statistic, float(chi2.sf(statistic, len(values) - 1)), "Cochran's Q, variances from the intervals"
