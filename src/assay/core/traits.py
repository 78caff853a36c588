# SPDX-License-Identifier: Apache-2.0
"""What can be said of a measure besides its formula: direction, task, and where it is written down."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, TypeAlias


class Better(StrEnum):
    """Which way is good."""

    HIGHER = "higher is better"
    LOWER = "lower is better"
    NEITHER = "describes the data; neither way is better"


HIGHER, LOWER, NEITHER = Better.HIGHER, Better.LOWER, Better.NEITHER


class Task(StrEnum):
    """What kind of answer the model gives."""

    BINARY = "binary"
    MULTICLASS = "multiclass"


@dataclass(frozen=True, slots=True)
class Source:
    """A document and the place in it."""

    document: str
    place: str

    def __str__(self) -> str:
        """As it is cited.

        >>> str(TS4213("6.3.4")), str(SCHLOSSER("eq. 6"))
        ('ISO/IEC TS 4213:2022, clause 6.3.4', 'Schlosser et al. 2024, eq. 6')
        """
        return f"{self.document}, {self.place}"


def TS4213(clause: str) -> Source:  # noqa: N802  a document's own name
    """A clause of the standard."""
    place = clause if clause.startswith(("Annex", "Table")) else f"clause {clause}"
    return Source("ISO/IEC TS 4213:2022", place)


def RAINIO(place: str) -> Source:  # noqa: N802
    """A place in Rainio, Teuho and Klén 2024."""
    return Source("Rainio et al. 2024", place)


def FUND(place: str) -> Source:  # noqa: N802
    """A place in Fund's notes on classifier performance."""
    return Source("Fund", place)


def SCHLOSSER(place: str) -> Source:  # noqa: N802
    """A place in Schlosser et al. 2024."""
    return Source("Schlosser et al. 2024", place)


EXTENSION = Source("assay", "added by us: a bounded companion or a customary variant")


Policy: TypeAlias = Literal["propagate", "skip", "zero", "one"]
POLICIES: Final = ("propagate", "skip", "zero", "one")
"""What an average does with a class that has no value."""

OF_PROBABILITIES: Final = ("probabilities", "calibration", "cost")
"""Families whose measures read scores as probabilities, not only their order."""
