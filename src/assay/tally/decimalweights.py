# SPDX-License-Identifier: Apache-2.0
"""Weights that are written as decimals, added inside an engine by their digits.

0.25 and 1e-3 are whole numbers, 25 and 1, of two and of three decimals. Weights of as many decimals are added as whole
numbers of up to 38 digits; the square is that of the double, as everywhere. A few functions that all three engines
have in SQL take a text apart, many times quicker than patterns do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final, cast

import narwhals.stable.v2 as nw

from assay.rows.scoreframes import Frame
from assay.rows.sqlcolumns import POINT, with_sql

DIGITS: Final = "assay_digits"
PLACES: Final = ("assay_decimals", "assay_exponent")
"""Columns of how many decimals the digits have, and of the exponent behind them."""
LONGEST: Final = 27
"""Characters of a text at most: as many digits leave room for the sum of 10^11 rows."""
_STEPS: Final[tuple[Mapping[str, str], ...]] = (
    {"t": "CASE WHEN POSITION('E' IN t) > 0 THEN REPLACE(t, 'E', 'e') ELSE t END"},
    {"e": "POSITION('e' IN t)", "w": "CAST(t AS DOUBLE)"},
    {
        "m": "CASE WHEN e > 0 THEN LEFT(t, e - 1) ELSE t END",
        PLACES[1]: "CASE WHEN e > 0 THEN SUBSTR(t, e + 1) ELSE '0' END",
        # Too small a number for a double is no zero.
        "w": "CASE WHEN e > 0 AND w = 0 THEN CAST(-1 AS DOUBLE) ELSE w END",
    },
    {"d": f"POSITION({POINT} IN m)"},
    {
        PLACES[0]: "CASE WHEN d > 0 THEN LENGTH(m) - d ELSE 0 END",
        DIGITS: "CAST(REPLACE(m, '.', '') AS DECIMAL(28, 0))",
    },
)


def pattern(mark: str, *, exponent: int) -> str:
    """The pattern of a number without a sign, with its decimal mark and digits of the exponent at most."""
    return rf"^([0-9]+([{mark}][0-9]*)?|[{mark}][0-9]+)([eE][+-]?[0-9]{{1,{exponent}}})?\z"


def with_digits(rows: Frame, text: nw.Expr, mark: str) -> Frame:
    """The digits of each text, their place, and the double `w`, which is below zero where the digits are not told."""
    plain = text.str.contains(pattern(mark, exponent=2)) & (text.str.len_chars() <= LONGEST)
    pointed = text if mark == "." else text.str.replace_all(mark, ".", literal=True)
    rows = rows.with_columns(t=nw.when(plain).then(pointed).otherwise(nw.lit("-1")))
    return with_sql(rows, _STEPS)


def by_digits(digits: object, places: Sequence[object]) -> Fraction:
    """A sum of digits as the number it is.

    >>> by_digits(25, (2, "0")), by_digits(15, (1, "-03"))
    (Fraction(1, 4), Fraction(3, 2000))
    """
    decimals, exponent = (int(cast("str", one)) for one in places)
    return Fraction(int(cast("int", digits))) * Fraction(10) ** (exponent - decimals)
