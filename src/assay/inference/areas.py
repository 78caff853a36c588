# SPDX-License-Identifier: Apache-2.0
"""Areas under the ROC curves of several models with their covariance, and what bins of scores leave open of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Final, TypeAlias

from assay.inference.tails import SMALLEST, Tail, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

ROUNDING: Final = 1e-14
"""Of a matrix of covariances: what is below this, as a share of its trace, has no rank."""
KNOWN: Final = 1e-6
"""Ends of a standard error that differ by less, as a share of it, say nothing that a reader could use."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Open:
    """What bins leave open: how far each area may be off, and between which ends standard errors lie for certain."""

    areas: Floats
    low: Floats
    """Of the standard error of each difference, at least."""
    high: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Areas:
    """Areas of several models and their covariance, with the numbers of positives and negatives."""

    models: tuple[str, ...]
    area: Floats
    covariance: Floats
    gaps: Floats
    """Variances of the differences, which are exact where nothing is open: 0 means 0."""
    known: tuple[float, ...]
    """Degrees of freedom of the variance of each area."""
    m: int
    n: int
    rounding: float = ROUNDING
    open: Open | None = None

    def gap(self, a: int, b: int) -> tuple[float, float]:
        """The difference of two areas and its variance."""
        return float(self.area[a] - self.area[b]), float(self.gaps[a, b])

    def bracket(self, i: int) -> tuple[float, float] | None:
        """Between which ends an area lies for certain, where bins leave it open."""
        if self.open is None:
            return None
        area, off = float(self.area[i]), float(self.open.areas[i])
        return max(area - off, 0.0), min(area + off, 1.0)

    def gap_bracket(self, a: int, b: int) -> tuple[float, float] | None:
        """The same of a difference."""
        if self.open is None:
            return None
        gap, off = self.gap(a, b)[0], float(self.open.areas[a] + self.open.areas[b])
        return max(gap - off, -1.0), min(gap + off, 1.0)

    def within(self, a: int, b: int, chance: Callable[[float, float], Tail]) -> dict[str, tuple[float, float]]:
        """Between which ends the standard error and p of two areas lie, p being `chance` of difference and error.

        The chance must rise or fall with each of both, but for a difference of 0, which is tried as well.
        """
        ends = self.gap_bracket(a, b)
        if self.open is None or ends is None:
            return {}
        errors = float(self.open.low[a, b]), float(self.open.high[a, b])
        found = {"standard error": errors}
        if errors[1] > 0:
            least = max(errors[0], errors[1] * 1e-9)  # an error of 0 would divide
            gaps = (*ends, *((0.0,) if ends[0] < 0 < ends[1] else ()))
            tails = [chance(gap, error).p for gap in gaps for error in (least, errors[1])]
            found["p"] = min(tails), max(tails)
        return found


def told_areas(found: Areas) -> tuple[str, ...]:
    """Between which ends the areas lie, in words, where bins leave them open."""
    if found.open is None or not found.open.areas.any():
        return ()
    return (f"scores were counted in bins: {', '.join(_areas(found, range(len(found.models))))}, for certain",)


def told_open(found: Areas, a: int, b: int, within: Mapping[str, tuple[float, float]], level: float) -> tuple[str, ...]:
    """What bins leave open of two areas, in words."""
    ends, errors = found.gap_bracket(a, b), within.get("standard error", (0.0, 0.0))
    if ends is None:
        return ()
    if ends[0] == ends[1] and errors[1] - errors[0] <= KNOWN * errors[1]:
        return ("scores were counted in bins of one score each: nothing is open",)
    parts = [*_areas(found, (a, b)), f"the difference between {_told(*ends)}"]
    low, high = within.get("p", (1.0, 1.0))
    if "standard error" in within:
        parts.append(f"its standard error between {_told(*errors)}")
    if "p" in within:
        parts.append(f"p {shown(high)}" if high <= SMALLEST else f"p between {_told(low, high)}")
    notes = [f"scores were counted in bins: {', '.join(parts)}, for certain"]
    alpha = round(1 - level, 12)
    if low <= alpha < high:
        notes.append(
            f"bins leave open whether p is below {alpha:g}: count the scores one by one (exact_scores=, --exact-scores)"
        )
    return tuple(notes)


def _areas(found: Areas, models: Iterable[int]) -> list[str]:
    brackets = ((found.models[i], found.bracket(i)) for i in models)
    return [f"AUROC of {name} lies between {_told(*ends)}" for name, ends in brackets if ends is not None]


def _told(low: float, high: float) -> str:
    """Two ends rounded outwards, so that they hold as printed, with as many digits as tell their distance.

    >>> _told(0.759056, 0.759067), _told(1e-300, 0.2), _told(-0.0278, 1.0)
    ('0.759056 and 0.759067', '0 and 0.2', '-0.0278 and 1')
    """
    size, width = max(abs(low), abs(high)), high - low
    digits = min(max(math.ceil(math.log10(size / width)) + 1, 3), 17) if width > 0 else 17
    return f"{_rounded(low, digits, ROUND_FLOOR)} and {_rounded(high, digits, ROUND_CEILING)}"


def _rounded(value: float, digits: int, way: str) -> str:
    if abs(value) <= SMALLEST:
        return "0"
    exact = Decimal(repr(float(value)))  # as a reader would write it
    found = exact.quantize(Decimal((0, (1,), exact.adjusted() - digits + 1)), rounding=way)
    return f"{float(found):.{digits}g}"
