# SPDX-License-Identifier: Apache-2.0
"""Whether two columns go together, by size and by chance; several of them as one family."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from assay.core.values import Undefined
from assay.inference.data.two_samples import kruskal_wallis_screen
from assay.inference.multiplicity import holm
from assay.inference.tests.contingency import chi_squared_association, fisher_monte_carlo
from assay.tally.contingency_tables import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Codes: TypeAlias = NDArray[np.int64]

SPARSE = 5
"""Expected counts below this make the chi-squared p a guess, so tables are drawn instead (Cochran 1954)."""
METHODS = {"chi_squared_association": "chi-squared", "fisher_monte_carlo": "random tables of the same margins"}
MANY = 200_000
"""Rows beyond which drawing tables takes long and is not needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """A table of two columns: how strong the association is and how surprising by chance."""

    p: float
    strength: float
    low: float | None
    high: float | None
    detectable: float | None
    rows: int
    largest_gap: float
    method: str
    test: str
    """The declared test whose p this is."""

    def to_json(self, adjusted: float) -> dict[str, Any]:
        """As facts of a control."""
        return {
            "p": self.p,
            "p_adjusted": adjusted,
            "cramers_v": self.strength,
            "cramers_v_low": self.low,
            "cramers_v_high": self.high,
            "detectable_v": self.detectable,
            "largest_share_gap": self.largest_gap,
            "rows": self.rows,
            "method": self.method,
        }


def _largest_gap(rows: tuple[tuple[int, ...], ...], sides: list[int]) -> float:
    """The largest difference of the share of one column between two rows."""
    shares = [[n / side for n in row] for row, side in zip(rows, sides, strict=True) if side]
    return float(max(max(column) - min(column) for column in zip(*shares, strict=True)))


def associated(cells: Mapping[tuple[Any, ...], int]) -> Association | None:
    """The association of two columns; None where one of them has a single level."""
    down = sorted({a for a, _ in cells}, key=repr)
    across = sorted({b for _, b in cells}, key=repr)
    if len(down) < 2 or len(across) < 2:  # noqa: PLR2004
        return None
    rows = tuple(tuple(cells.get((a, b), 0) for b in across) for a in down)
    table = Table(rows=rows)
    chi_squared = chi_squared_association(table)
    sides, total = [sum(row) for row in rows], sum(map(sum, rows))
    columns = [sum(row[j] for row in rows) for j in range(len(across))]
    sparse = min(a * b / total for a in sides for b in columns) < SPARSE and total <= MANY
    finding = fisher_monte_carlo(table) if sparse else chi_squared
    unbiased, ends = chi_squared.more[0].value, chi_squared.more[0].interval
    strength = float(unbiased) if not isinstance(unbiased, Undefined) else 0.0
    least = chi_squared.least
    return Association(
        p=1.0 if finding.p is None else finding.p,
        strength=strength,
        low=0.0 if ends is None else ends.low,
        high=1.0 if ends is None else ends.high,
        detectable=float(least) if isinstance(least, (int, float)) else None,
        rows=total,
        largest_gap=_largest_gap(rows, sides),
        method=METHODS[finding.test],
        test=finding.test,
    )


def associated_numbers(values: Floats, codes: Codes, classes: int) -> Association | None:
    """The association of a measured column with the class: the root of epsilon squared stands where V stands else."""
    share, p = kruskal_wallis_screen([values[codes == code] for code in range(classes)])
    if classes < 2 or not len(values):  # noqa: PLR2004
        return None
    strength = math.sqrt(share)
    return Association(
        p=p,
        strength=strength,
        low=None,
        high=None,
        detectable=None,
        rows=len(values),
        largest_gap=0.0,
        method="Kruskal-Wallis, root of epsilon squared",
        test="mann_whitney" if classes == 2 else "kruskal_wallis",  # noqa: PLR2004  the same test of two groups
    )


def quantile_cells(values: Floats, codes: Codes, parts: int = 20) -> dict[tuple[int, int], int]:
    """Rows by part of a measured column and by class; parts hold about as many rows each."""
    cuts = np.unique(np.quantile(values, np.linspace(0, 1, parts + 1)[1:-1]))
    cells, n = np.unique(np.stack([np.searchsorted(cuts, values), codes]), axis=1, return_counts=True)
    return {(int(a), int(b)): int(c) for (a, b), c in zip(cells.T, n, strict=True)}


def adjusted(found: Sequence[Association]) -> list[float]:
    """The p values of a family, Holm-adjusted."""
    return holm([one.p for one in found]) if found else []


def tests_of(looked: Sequence[tuple[str, Association, float, float]]) -> list[str]:
    """The names of the tests that were made."""
    return sorted({found.test for _, found, *_ in looked})
