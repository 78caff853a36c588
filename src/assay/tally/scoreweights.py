# SPDX-License-Identifier: Apache-2.0
"""Exact weights of scores: doubles as long as these hold them, one Fraction for each distinct score in the end."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import OutOfRange
from assay.tally.base import squared
from assay.tally.exact import exact_sums

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    # Checked as arrays of objects, which are Fractions; doubles on the way to them.
    Weights: TypeAlias = NDArray[np.object_]

WHOLE: Final = 2**53


def given_weights(weight: ArrayLike | None) -> Weights | None:
    """Weights as doubles where these hold them exactly, else as Fractions."""
    if weight is None:
        return None
    given = np.asarray(weight)
    if given.dtype == object or (given.dtype.kind in "iu" and any(abs(int(x)) > WHOLE for x in _ends(given))):
        return _fractions(given)
    if not np.isfinite(given).all():
        raise OutOfRange("weight-not-finite", "a weight is NaN or infinite", fix="correct the weights")
    return cast("Weights", given.astype(np.float64))


def _ends(whole: NDArray[np.int64]) -> tuple[int, ...]:
    return (int(whole.min()), int(whole.max())) if len(whole) else ()


def _fractions(weight: Weights) -> Weights:
    """Each distinct weight is made a Fraction once, for there are often few and a Fraction takes its time."""
    if weight.dtype != object:
        distinct, place = np.unique(weight, return_inverse=True)
        return _fractions(distinct.astype(object))[place]
    exact = np.empty(len(weight), dtype=object)
    exact[:] = [one if isinstance(one, Fraction) else Fraction(one) for one in weight.tolist()]
    return exact


def squares_of(weight: Weights) -> Weights:
    """The square of each weight, as a double has it; exact where no double does."""
    if weight.dtype != object:
        with np.errstate(over="ignore", under="ignore"):
            squares = cast("NDArray[np.float64]", weight) ** 2
        if (np.isfinite(squares) & (squares > 0)).all():
            return cast("Weights", squares)
    held = np.empty(len(weight), dtype=object)
    held[:] = [squared(Fraction(one)) for one in weight.tolist()]
    return held


def summed(weight: Weights, times: NDArray[np.int64]) -> Weights:
    """The exact sum of the first weights, of those that follow and so on, as many each time as is said.

    >>> summed(np.array([0.5, 0.1, 0.25]), np.array([1, 2])).tolist()[0]
    Fraction(1, 2)
    """
    first = np.cumsum(times) - times
    if weight.dtype == object:
        return cast("Weights", np.add.reduceat(weight, first)) if len(first) else weight
    sums = _fractions(weight[first])
    tied = times > 1
    if tied.any():
        held = cast("NDArray[np.float64]", weight[np.repeat(tied, times)])
        groups = int(tied.sum())
        group = np.repeat(np.arange(groups), times[tied])
        sums[tied] = exact_sums(held, np.ones(len(held), dtype=np.int64), group, groups)
    return sums
