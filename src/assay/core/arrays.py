# SPDX-License-Identifier: Apache-2.0
"""The kinds of arrays that annotations name, and what rows and tallies both compute of one, such as a quantum."""

from __future__ import annotations

import math
from typing import Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import OutOfRange, PlanError

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

KEPT: Final = 30 << 20
"""Bytes; glibc follows the size of freed arrays up to 32 MiB."""
BITS: Final = 53
"""Bits of the largest weight in quanta, the power of two that weights are multiples of: as many as a double has."""
LEAST_BITS: Final = 40
"""Bits that a stated quantum must leave to the largest weight."""
SMALLEST: Final = 2.0**-500
"""The largest weight must not be smaller: its square must be a normal double."""


def keep_freed_memory() -> None:
    """Let freed arrays of some MiB be used again, where otherwise each new one has its pages mapped afresh.

    glibc keeps as much free memory as twice the largest array that it gave back; one is given back here, untouched.
    """
    np.empty(KEPT, np.uint8)


def chance(logit: Floats) -> Floats:
    """The probability of each log-odds.

    >>> chance(np.array([-800.0, 0.0, 800.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    small = np.exp(-np.abs(logit))
    return cast("Floats", np.where(logit >= 0, 1.0, small) / (1 + small))


def quantum_exponent(largest: float, stated: float | None = None) -> int:
    """The quantum as a power of two: 2**-53 of the power of two above the largest weight, unless stated.

    >>> quantum_exponent(1.0), quantum_exponent(0.9), quantum_exponent(3.0, stated=2.0**-48)
    (-52, -53, -48)
    """
    if largest < SMALLEST:
        raise OutOfRange(
            "value-out-of-domain",
            "all weights are zero" if largest == 0 else "all weights are below 2**-500",
            where="weight",
            fix="give weights above 0" if largest == 0 else "multiply all weights by the same large number",
        )
    above = math.frexp(largest)[1]
    if stated is None:
        return above - BITS
    significand, exponent = math.frexp(stated) if 0 < stated < math.inf else (0.0, 0)
    if significand != 0.5:  # noqa: PLR2004  the significand of a power of two
        raise PlanError(
            "option-unknown",
            f"weight_quantum cannot be {stated!r}",
            known="powers of two, such as 2**-40",
            fix="state a power of two",
        )
    finest, coarsest = above - BITS, above - LEAST_BITS
    if not finest <= exponent - 1 <= coarsest:
        raise PlanError(
            "option-unknown",
            f"weight_quantum = 2**{exponent - 1} does not suit a largest weight of {largest:g}",
            known=f"2**{finest} to 2**{coarsest}",
            fix="state a quantum of this range, the same at all sites",
        )
    return exponent - 1
