# SPDX-License-Identifier: Apache-2.0
"""What all tallies share: exact counts in JSON, and one canonical text form for digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from assay.core.errors import OutOfRange, PlanError, RecordError
from assay.core.text import listed

Count: TypeAlias = int | Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """What some rows weigh together, and the sum of their squared weights, which tells how many rows they are worth."""

    total: Fraction
    squares: Fraction

    def __add__(self, other: Weight) -> Weight:
        """Both together."""
        return Weight(total=self.total + other.total, squares=self.squares + other.squares)


def together(a: Count | Weight, b: Count | Weight) -> Count | Weight:
    """Two counts, or two weights; 0 is the sum of nothing of either kind."""
    if isinstance(a, Weight) and isinstance(b, Weight):
        return a + b
    if isinstance(a, Weight) or isinstance(b, Weight):
        return a or b
    return a + b


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


def demand_kind(content: Mapping[str, object], kind: str, what: str) -> None:
    """Refuses content that is not a tally of a kind, as this version writes it."""
    if content.get("kind") != kind or content.get("version") != VERSION:
        raise RecordError(
            "record-unreadable",
            f"this is not {what} of version {VERSION}",
            found=f"kind {content.get('kind')!r}, version {content.get('version')!r}",
            fix="write it again with this version of assay",
        )


def demand_same_weighting(*weighted: bool) -> None:
    """Refuses to add a weighted tally to one that is not."""
    if len(set(weighted)) > 1:
        raise PlanError(
            "tally-mismatch",
            "one tally is weighted and the other is not",
            fix="give weights to both, or to neither",
        )


def checked(count: Count) -> Count:
    """A count that fits 63 bits, or an error; sums never wrap around silently."""
    if count > LARGEST:
        raise OutOfRange(
            "count-overflow",
            f"a count of {float(count):.3g} is larger than 2^63 - 1",
            fix="rescale the weights or split the data",
        )
    return count


def places(models: Sequence[str], known: Sequence[str]) -> list[int]:
    """Where some models stand among those of a tally.

    >>> places(["B"], ["A", "B"])
    [1]
    """
    lost = [model for model in models if model not in known]
    if lost:
        raise PlanError(
            "option-unknown",
            f"there is no model {listed(lost)}",
            known=listed(known),
            fix="name one of the models",
        )
    return [known.index(model) for model in models]


def digest(content: object) -> str:
    """SHA-256 of the canonical JSON of some content."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Digested:
    """A tally that equals another of its kind with the same digest."""

    __slots__ = ()

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        raise NotImplementedError

    def digest(self) -> str:
        """SHA-256 of the canonical form; equal on every engine."""
        return digest(self.to_json())

    def __eq__(self, other: object) -> bool:
        """Same content."""
        return isinstance(other, type(self)) and self.digest() == other.digest()

    def __hash__(self) -> int:
        """By digest."""
        return hash(self.digest())
