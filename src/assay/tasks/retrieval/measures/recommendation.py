# SPDX-License-Identifier: Apache-2.0
"""Measures of all lists together, for recommendation: how much of a catalogue is shown, how evenly, how familiar."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.traits import EXTENSION, HIGHER, LOWER, Source
from assay.core.values import Number, number, undefined_number
from assay.measures.declare import measure
from assay.tasks.retrieval.tally import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_CATALOGUE: Final = "the size of the catalogue is not stated (catalogue=)"
NO_POPULARITY: Final = "the popularity of documents is not stated (popularity=), or no known document is shown"
NO_INTERVAL: Final = "it speaks of all lists together and grows with the number of queries, so it is not a mean"
RECOMMENDATION: Final = "recommendation"


def _shown(t: Rankings, k: int) -> NDArray[np.int64] | None:
    """Times that each document is shown within a cut-off; None without a catalogue."""
    if t.exposure is None:
        return None
    shown = t.exposure.at(k)
    if shown is None:
        raise PlanError(
            "measure-needs",
            f"documents up to rank {k} were not counted",
            known=", ".join(f"{cutoff}" for cutoff in t.exposure.cutoffs),
            fix=f"count them: k=[..., {k}]",
        )
    return shown


@measure(
    also=("catalogue coverage", "item coverage"),
    says="the share of the catalogue that stands among the first k documents of at least one query",
    formula="(distinct documents up to rank k of any query) / (documents of the catalogue)",
    range=(0, 1),
    better=HIGHER,
    source=EXTENSION,
    family=RECOMMENDATION,
)
def coverage(t: Rankings, *, k: int) -> Number:
    shown = _shown(t, k)
    top = 0 if shown is None else int((shown > 0).sum())
    return number(
        cast("Any", top), over=cast("Any", 0 if t.exposure is None else t.exposure.catalogue), empty=NO_CATALOGUE
    )


@measure(
    also=("Gini index of exposure",),
    says="how unevenly documents of the catalogue are shown: 0 all alike, near 1 only a few",
    formula="sum over documents of the catalogue, from the least shown, of (2 i - n - 1) shown_i / (n sum of shown)",
    range=(0, 1),
    better=LOWER,
    source=(Source("Gini 1912", "as for incomes"), EXTENSION),
    family=RECOMMENDATION,
)
def exposure_gini(t: Rankings, *, k: int) -> Number:
    shown = _shown(t, k)
    if shown is None or t.exposure is None:
        return undefined_number(NO_CATALOGUE)
    size, rising = t.exposure.catalogue, np.sort(shown)
    place = np.arange(size - len(rising) + 1, size + 1)
    top = sum((2 * int(i) - size - 1) * int(times) for i, times in zip(place, rising, strict=True))
    return number(cast("Any", top), over=cast("Any", size * int(shown.sum())), empty="no document is shown")


@measure(
    also=("mean self-information",),
    says="how unfamiliar the first k documents are: bits of surprise, averaged over what is shown",
    formula="mean over shown documents of -log2(share of users who know the document)",
    range=(0, math.inf),
    better=HIGHER,
    source=(Source("Zhou et al. 2010", "surprisal"), EXTENSION),
    family=RECOMMENDATION,
)
def novelty(t: Rankings, *, k: int) -> Number:
    shown = _shown(t, k)
    popularity = None if t.exposure is None else t.exposure.popularity
    if shown is None or popularity is None:
        return undefined_number(NO_POPULARITY)
    known = (popularity > 0) & (shown > 0)
    bits = -np.log2(popularity[known]) * shown[known]
    return number(cast("Any", math.fsum(bits.tolist())), over=cast("Any", int(shown[known].sum())), empty=NO_POPULARITY)
