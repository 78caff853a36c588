# SPDX-License-Identifier: Apache-2.0
"""What all tallies share: exact counts in JSON, and one canonical text form for digests."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Final, TypeAlias

from assay.core.errors import OutOfRange, RecordError

Count: TypeAlias = int | Fraction

VERSION: Final = "1"
LARGEST: Final = 2**63 - 1
SAFE: Final = 2**53 - 1
"""Above this a JSON reader that uses doubles would change the number, so it is written as text."""


def count_to_json(count: Count) -> int | str:
    """A count as JSON: a number while every reader keeps it exact, otherwise text.

    >>> count_to_json(3), count_to_json(2**60), count_to_json(Fraction(1, 2))
    (3, '1152921504606846976', '1/2')
    """
    if isinstance(count, Fraction) and count.denominator == 1:
        return count_to_json(count.numerator)
    return count if isinstance(count, int) and count <= SAFE else str(count)


def count_from_json(text: object) -> Count:
    """The inverse of `count_to_json`.

    >>> count_from_json("1/2"), count_from_json(3)
    (Fraction(1, 2), 3)
    """
    if isinstance(text, bool) or not isinstance(text, (int, str)):
        raise RecordError(
            "record-unreadable", f"a count is written as {text!r}", fix="restore the file from its source"
        )
    try:
        exact = Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise RecordError(
            "record-unreadable", f"a count is written as {text!r}", fix="restore the file from its source"
        ) from error
    return exact.numerator if exact.denominator == 1 else exact


def checked(count: Count) -> Count:
    """A count that fits 63 bits, or an error; sums never wrap around silently."""
    if count > LARGEST:
        raise OutOfRange(
            "count-overflow",
            f"a count of {float(count):.3g} is larger than 2^63 - 1",
            fix="rescale the weights or split the data",
        )
    return count


def digest(content: object) -> str:
    """SHA-256 of the canonical JSON of some content."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
