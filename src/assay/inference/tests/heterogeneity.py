# SPDX-License-Identifier: Apache-2.0
"""Do parts of the data differ by more than chance? One answer for a measure over sites or groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from assay.core.values import Share, Undefined
from assay.inference.estimates import Estimate
from assay.inference.resampling import SEED, stream

EXPECTED: Final = 5
"""Below this expected count in any cell the chi-squared tail is not trusted (Cochran 1954), and margins are drawn."""
DRAWS: Final = 9999
"""With the table that was seen this makes 10,000, so that p has four digits."""
PLACE: Final = 7
"""The stream of these draws, apart from those of the intervals."""


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
