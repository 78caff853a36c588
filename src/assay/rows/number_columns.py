# SPDX-License-Identifier: Apache-2.0
"""Columns in memory as numbers: what float64 holds is taken, anything else is refused."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.errors import AssayError, RowsError, not_numbers
from assay.core.text import counted, visible
from assay.rows.columns import as_array
from assay.rows.label_types import EXACT, absent

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIGITS: Final = 17
"""Decimal digits that a float64 can tell apart."""


def exact_floats(
    array: NDArray[Any], *, unfit: Callable[[str], AssayError], inexact: Callable[[str], AssayError]
) -> NDArray[np.float64]:
    """Numbers as float64, missing ones as NaN; `unfit` and `inexact` make the errors of all other values.

    >>> exact_floats(np.array([1, None], dtype=object), unfit=RowsError, inexact=RowsError)
    array([ 1., nan])
    """
    if array.dtype.kind == "O":
        return np.array([_exact(v, f" at index {i}", unfit, inexact) for i, v in enumerate(array)], dtype=np.float64)
    if array.dtype.kind not in "iufb":
        raise unfit(str(array.dtype))
    real: NDArray[np.float64] = array.astype(np.float64, copy=False)
    if array.dtype.kind in "iu" and len(array) and max(int(array.max()), -int(array.min())) > EXACT:
        raise inexact(str(array[np.argmax(np.abs(array.astype(np.float64)))]))
    if array.dtype.itemsize > real.dtype.itemsize and not bool((same := (real == array) | np.isnan(array)).all()):
        raise inexact(repr(array[np.flatnonzero(~same)[0]]))
    return real


def _exact(
    value: Any,  # noqa: ANN401
    place: str,
    unfit: Callable[[str], AssayError],
    inexact: Callable[[str], AssayError],
) -> float:
    """A number as float64, if that holds it: whole to 2^53, not more digits than it has, neither too large nor lost."""
    if absent(value):
        return np.nan
    if not isinstance(value, (numbers.Real, Decimal)):
        raise unfit(visible(repr(value)) + place)
    real = _real(value)
    whole = isinstance(value, int) and abs(value) > EXACT
    digits = isinstance(value, Decimal) and value.is_finite() and len(value.normalize().as_tuple().digits) > DIGITS
    lost = (not real and bool(value)) or (np.isinf(real) and value != real)
    wider = not isinstance(value, (int, float, Decimal, Fraction)) and not np.isnan(real) and real != value
    if whole or digits or lost or wider:
        raise inexact(visible(repr(value)) + place)
    return real


def weights(column: object, rows: int) -> NDArray[np.float64]:
    """A column of weights: finite, not negative, one a row."""
    array = as_array(column, "weight")
    if array.dtype.kind == "O":
        strange = next((v for v in array if not absent(v) and not isinstance(v, (numbers.Real, Decimal))), None)
        if strange is not None:
            raise not_numbers("weight", "the weights are not numbers", found=visible(repr(strange)))
        array = np.array([np.nan if absent(v) else _real(v) for v in array], dtype=np.float64)
    if array.dtype.kind not in "iufb":
        raise not_numbers("weight", f"the weights are {array.dtype}, not numbers")
    if len(array) != rows:
        raise RowsError(
            "rows-unmatched",
            f"there are {counted(len(array), 'weight')} for {counted(rows, 'row')}",
            where="weight",
            fix="give one weight a row",
        )
    real: NDArray[np.float64] = array.astype(np.float64)
    if array.dtype.kind in "iu" and len(array) and int(array.max()) > EXACT:
        raise RowsError(
            "weight-not-finite", "a weight is a whole number above 2^53", where="weight", fix="rescale the weights"
        )
    _refuse(~np.isfinite(real), real, "weight-not-finite", "missing, NaN or infinite")
    _refuse(real < 0, real, "weight-negative", "below zero")
    return real


def _real(value: Any) -> float:  # noqa: ANN401  any number
    """A number as float64; infinite where it is too large."""
    try:
        return float(value)
    except OverflowError:
        return np.inf


def _refuse(bad: NDArray[np.bool_], values: NDArray[np.float64], code: str, what: str) -> None:
    rows = np.flatnonzero(bad)
    if len(rows):
        shown = ", ".join(f"{values[i]} at index {i}" for i in rows[:3].tolist())
        raise RowsError(
            code,
            f"{counted(len(rows), 'weight')} of {len(values):,} {'is' if len(rows) == 1 else 'are'} {what}",
            where="weight",
            found=visible(shown),
            fix="correct the weights, or leave the rows out before assessing",
        )
