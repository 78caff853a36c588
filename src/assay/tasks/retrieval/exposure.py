# SPDX-License-Identifier: Apache-2.0
"""What recommendation asks beyond single lists: how often each document is shown, and how familiar it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.text import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Whole


MOST: Final = 200_000
"""Distinct documents that a tally holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """How many lists show each document within each cut-off, out of a catalogue of a stated size."""

    catalogue: int
    cutoffs: tuple[int, ...]
    documents: tuple[str, ...]
    """Sorted by name."""
    shown: Whole
    """Documents by cut-offs."""
    popularity: NDArray[np.float64] | None = None
    """Share of users who know each document; 0 where it is not stated."""

    @classmethod
    def count(
        cls,
        documents: NDArray[np.object_],
        ranks: Whole,
        *,
        catalogue: int,
        cutoffs: tuple[int, ...],
        popularity: Mapping[str, float] | None = None,
    ) -> Exposure:
        """Count documents of all lists by their ranks."""
        near = ranks <= max(cutoffs)
        names, place = np.unique(documents[near].astype(str), return_inverse=True)
        shown = np.column_stack(
            [np.bincount(place[ranks[near] <= cutoff], minlength=len(names)) for cutoff in cutoffs]
        ).astype(np.int64)
        known = None if popularity is None else np.array([popularity.get(name, 0.0) for name in names.tolist()])
        return cls(
            catalogue=catalogue, cutoffs=cutoffs, documents=tuple(names.tolist()), shown=shown, popularity=known
        ).validate()

    def validate(self) -> Exposure:
        """Refuse more documents than a tally or the catalogue holds."""
        if len(self.documents) > MOST:
            raise PlanError(
                "too-many-rows",
                f"the lists show {counted(len(self.documents), 'document')}, more than a tally holds ({MOST:,})",
                where="catalogue",
                fix="leave catalogue out, or state smaller cut-offs: k=10",
            )
        if len(self.documents) > self.catalogue:
            raise PlanError(
                "value-out-of-domain",
                "the lists show more documents than the catalogue holds",
                where="catalogue",
                found=f"{counted(len(self.documents), 'document')} shown, catalogue={self.catalogue}",
                fix="state how many documents could have been shown",
            )
        return self

    def at(self, cutoff: int) -> NDArray[np.int64] | None:
        """Times shown within a cut-off, or None where that was not counted."""
        return self.shown[:, self.cutoffs.index(cutoff)] if cutoff in self.cutoffs else None

    def __add__(self, other: Exposure) -> Exposure:
        """Both together."""
        if (self.catalogue, self.cutoffs) != (other.catalogue, other.cutoffs):
            raise PlanError(
                "tally-mismatch", "the two tallies speak of different catalogues or cut-offs",
                found=f"{self.catalogue:,} and {other.catalogue:,} documents", fix="state the same catalogue and k",
            )  # fmt: skip
        names, place = np.unique(np.array([*self.documents, *other.documents], dtype=object), return_inverse=True)
        shown = np.zeros((len(names), len(self.cutoffs)), dtype=np.int64)
        np.add.at(shown, place, np.concatenate([self.shown, other.shown]))
        known: NDArray[np.float64] | None = None
        if self.popularity is not None and other.popularity is not None:
            known = np.zeros(len(names))
            known[place] = np.concatenate([self.popularity, other.popularity])
        return Exposure(
            catalogue=self.catalogue,
            cutoffs=self.cutoffs,
            documents=tuple(names.tolist()),
            shown=shown,
            popularity=known,
        ).validate()

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "catalogue": self.catalogue,
            "cutoffs": list(self.cutoffs),
            "documents": list(self.documents),
            "shown": self.shown.tolist(),
            "popularity": None if self.popularity is None else self.popularity.tolist(),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Exposure:
        """The inverse of `to_json`."""
        cutoffs, known = tuple(cast("list[int]", content["cutoffs"])), content["popularity"]
        return cls(
            catalogue=cast("int", content["catalogue"]),
            cutoffs=cutoffs,
            documents=tuple(cast("list[str]", content["documents"])),
            shown=np.array(content["shown"], dtype=np.int64).reshape(-1, len(cutoffs)),
            popularity=None if known is None else np.array(known, dtype=np.float64),
        )
