# SPDX-License-Identifier: Apache-2.0
"""What a Record comes to, in a word: the first thing a reader sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One verdict above everything else."""

    sign: str
    word: str
    tone: str
    """good, bad or open."""
    says: str
    anchor: str
    more: str
    """What the section it leads to is called."""


class Stands(Protocol):
    """A part of a document that comes to a verdict."""

    @property
    def standing(self) -> Standing:
        """The verdict."""


def standings(*parts: Stands | None) -> tuple[Standing, ...]:
    """The verdicts of the parts there are; none where nothing was planned, claimed or to be decided."""
    return tuple(part.standing for part in parts if part is not None)
