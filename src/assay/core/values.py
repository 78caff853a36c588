# SPDX-License-Identifier: Apache-2.0
"""What a measure can give: a Share, a Number, or Undefined with its reason.

One formula serves one table and ten thousand. Cells are Python integers or Fractions (exact, one final rounding) for a
single table, and float64 arrays with leading axes for a stack of tables (classes, groups, draws).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    # Checked as float64 arrays; at run time also int, Fraction and object arrays of these: the same operators.
    Amount: TypeAlias = NDArray[np.float64]
    Empty: TypeAlias = str | tuple[tuple[Amount, str], ...]

NO_ROWS: Final = "there are no rows"
SMALL: Final = 10
"""A group below this many rows is marked (ACCEPTANCE D04)."""
WORST: Final = -(2.0**960)
"""The score that stands for a missing one where those are ranked below all others; sums of it stay finite."""
EXACT = 2**53
ROOT_BITS = 160
"""Significant binary places kept of a square root, so that the final division rounds once in practice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undefined:
    """No value, and why; `{positive}` and `{negative}` in the reason stand for the class names."""

    reason: str
    code: str = "zero-denominator"

    def named(self, **names: str) -> Undefined:
        """The reason with the class names filled in.

        >>> Undefined(reason="no row is truly {positive}").named(positive="cat").reason
        'no row is truly cat'
        """
        text = self.reason
        for name, shown in names.items():
            text = text.replace("{" + name + "}", shown)
        return Undefined(reason=text, code=self.code)


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """Part of a whole: keeps both, so that an interval needs no second declaration."""

    numerator: Amount
    denominator: Amount
    empty: Empty = NO_ROWS
    note: str | None = None

    @property
    def value(self) -> float:
        """The quotient, rounded once."""
        return _divided(self.numerator, self.denominator)

    @property
    def values(self) -> NDArray[np.float64]:
        """The quotients of a stack; NaN marks the undefined ones and never leaves the library."""
        return quotient(self.numerator, self.denominator)

    def __eq__(self, other: object) -> bool:
        """Equal parts of equal wholes."""
        if not isinstance(other, Share):
            return False
        return _same(self.numerator, other.numerator) and _same(self.denominator, other.denominator)

    __hash__ = None  # type: ignore[assignment]

    def settled(self) -> Share | Undefined:
        """Itself, or the reason why there is no value."""
        return self if _nonzero(self.denominator) else _why(self.empty)

    def at(self, index: int) -> Share:
        """One entry of a stack."""
        return Share(pick(self.numerator, index), pick(self.denominator, index), _pick_empty(self.empty, index))


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A value that is not part of a whole: a correlation, a ratio of rates, a divergence."""

    top: Amount
    over: Amount = field(default=cast("Amount", 1))
    empty: Empty = NO_ROWS
    infinite: bool = False
    note: str | None = None

    @property
    def value(self) -> float:
        """The quotient, rounded once; plus infinity where the measure declares it."""
        return _divided(self.top, self.over) if _nonzero(self.over) else math.inf

    @property
    def values(self) -> NDArray[np.float64]:
        """The quotients of a stack; NaN marks the undefined ones and never leaves the library."""
        quotients = quotient(self.top, self.over)
        if not self.infinite:
            return quotients
        top, over = np.broadcast_arrays(floats(self.top), floats(self.over))
        return np.where((over == 0) & (top > 0), np.inf, quotients)

    def __eq__(self, other: object) -> bool:
        """Equal quotients, written alike."""
        return isinstance(other, Number) and _same(self.top, other.top) and _same(self.over, other.over)

    __hash__ = None  # type: ignore[assignment]

    def settled(self) -> Number | Undefined:
        """Itself, or the reason why there is no value."""
        if _nonzero(self.over) or (self.infinite and self.top > 0):
            return self
        return _why(self.empty)

    def at(self, index: int) -> Number:
        """One entry of a stack."""
        return Number(
            pick(self.top, index), pick(self.over, index), _pick_empty(self.empty, index), infinite=self.infinite
        )


Raw: TypeAlias = Share | Number | Undefined
Value: TypeAlias = Share | Number | Undefined


def share(top: Amount, *, of: Amount, empty: Empty) -> Share:
    """`top` out of `of`; `empty` says why there is none when `of` is zero."""
    return Share(top, of, empty)


def number(top: Amount, *, over: Amount | None = None, empty: Empty, infinite: bool = False) -> Number:
    """`top` divided by `over`; with `infinite`, a positive top over zero is plus infinity."""
    return Number(top, cast("Amount", 1) if over is None else over, empty, infinite=infinite)


def undefined_number(reason: str) -> Number:
    """A number that has no value, for a reason that was found before it was computed."""
    return Number(cast("Amount", 0), cast("Amount", 0), reason)


def root(x: Amount) -> Amount:
    """Square root: to 160 binary places for an exact amount, elementwise for an array."""
    if isinstance(x, np.ndarray) and x.dtype != object:
        return np.sqrt(x)
    if isinstance(x, np.ndarray):
        return cast("Amount", np.array([_exact_root(v) for v in x.flat], dtype=object).reshape(x.shape))
    return cast("Amount", _exact_root(x))


def _exact_root(x: object) -> Fraction:
    exact = Fraction(cast("int", x))
    smaller = max(0, exact.denominator.bit_length() - exact.numerator.bit_length())
    # A tiny amount, such as a product of tiny weights, keeps as many figures as a large one.
    places = ROOT_BITS + smaller
    scaled = (exact.numerator << (2 * places)) // exact.denominator
    return Fraction(math.isqrt(scaled), 1 << places)


def floats(x: Amount) -> NDArray[np.float64]:
    """Any amount as float64, each entry rounded once."""
    if isinstance(x, np.ndarray) and x.dtype == object:
        return x.astype(np.float64)
    return np.asarray(x if isinstance(x, np.ndarray) else float(x), dtype=np.float64)


def quotient(top: Amount, over: Amount) -> NDArray[np.float64]:
    """Elementwise quotient, correctly rounded for exact entries, NaN where the denominator is zero."""
    if _exact(top) and _exact(over) and not (_small(top) and _small(over)):
        wide = np.broadcast_arrays(np.asarray(top, dtype=object), np.asarray(over, dtype=object))
        pairs = zip(wide[0].flat, wide[1].flat, strict=True)
        found = [_divided(a, b) if b != 0 else math.nan for a, b in pairs]
        return np.array(found, dtype=np.float64).reshape(wide[0].shape)
    a, b = floats(top), floats(over)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(b == 0, np.nan, a / b)


def pick(x: Amount, index: int) -> Amount:
    """Entry `index` of a stack, or the amount itself when it is one for all."""
    return cast("Amount", x[index]) if isinstance(x, np.ndarray) and x.ndim else x


def exact_cells(x: object) -> Amount:
    """Whole counts as an object array of Python integers, which never overflow."""
    whole = [v if isinstance(v, Fraction) else int(v) for v in np.asarray(x).tolist()]
    return cast("Amount", np.array(whole, dtype=object))


def _same(a: Amount, b: Amount) -> bool:
    return bool(np.array_equal(a, b))


def _exact(x: object) -> bool:
    return x.dtype == object if isinstance(x, np.ndarray) else isinstance(x, (int, Fraction))


def _small(x: Amount) -> bool:
    """Whether every entry is a whole number that float64 holds exactly; the quotient of two such is rounded once."""
    if isinstance(x, np.ndarray):
        return bool(x.size) and set(map(type, x.flat)) == {int} and x.min() >= -EXACT and x.max() <= EXACT
    return isinstance(x, int) and -EXACT <= x <= EXACT


def _nonzero(x: Amount) -> bool:
    return bool(x != 0)


def _divided(top: Amount, over: Amount) -> float:
    if isinstance(top, int) and isinstance(over, int):
        return float(top / over)  # Python divides integers of any size with one correct rounding
    if isinstance(top, (int, Fraction)) and isinstance(over, (int, Fraction)):
        return float(Fraction(top) / Fraction(over))
    return float(top) / float(over)


def _why(empty: Empty) -> Undefined:
    if isinstance(empty, str):
        return Undefined(reason=empty, code="n=0" if empty == NO_ROWS else "zero-denominator")
    reasons = [reason for amount, reason in empty if not _nonzero(amount)]
    if NO_ROWS in reasons:
        return Undefined(reason=NO_ROWS, code="n=0")
    return Undefined(reason="; ".join(reasons) or "the denominator is zero", code="zero-margin")


def _pick_empty(empty: Empty, index: int) -> Empty:
    return empty if isinstance(empty, str) else tuple((pick(amount, index), reason) for amount, reason in empty)
