# SPDX-License-Identifier: Apache-2.0
"""Agreement of annotators beyond chance: each coefficient from the same agreement, with its own idea of chance.

Weights say how much two labels agree: 1 the same, 0 nothing in common. Without an order only the same label counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from assay.core.values import Undefined
from assay.tally.contingency_tables import Ratings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

Weighting: TypeAlias = Literal["none", "linear", "quadratic"]
ONE_LABEL: Final = Undefined(reason="every label given is the same, which chance explains fully", code="zero-margin")
NO_PAIRS: Final = Undefined(reason="no item was labelled twice", code="n=0")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Agreement:
    """A coefficient, what it is made of, and how much each item moves it, one number a pattern."""

    value: float
    observed: float
    chance: float
    influence: Floats
    count: Floats

    @property
    def items(self) -> int:
        """The items it rests on."""
        return int(self.count.sum())


def weights(classes: int, kind: Weighting = "none") -> Floats:
    """How much two of the classes in their order agree.

    >>> weights(3, "linear").tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """
    if kind == "none" or classes < 2:  # noqa: PLR2004  nothing between
        return np.eye(classes)
    apart = np.abs(np.subtract.outer(np.arange(classes), np.arange(classes))) / (classes - 1)
    return 1 - (apart if kind == "linear" else apart**2)


def cohen(cells: Floats, weight: Floats) -> Agreement | Undefined:
    """Two annotators: chance is the product of what each of them says how often (Cohen 1960, 1968).

    `cells` is first annotator by second. The influence is that of Fleiss, Cohen and Everitt (1969), a cell each.
    """
    n = cells.sum()
    if not n:
        return NO_PAIRS
    share = cells / n
    first, second = share.sum(axis=1), share.sum(axis=0)
    observed, chance = float((weight * share).sum()), float(first @ weight @ second)
    if chance >= 1:
        return ONE_LABEL
    value = (observed - chance) / (1 - chance)
    mean = (weight @ second)[:, None] + (weight.T @ first)[None, :]
    pull = (weight - mean * (1 - value)) / (1 - chance)
    pull = pull - float((share * pull).sum())
    return Agreement(value=value, observed=observed, chance=chance, influence=pull.ravel(), count=cells.ravel())


def fleiss(t: Ratings, weight: Floats) -> Agreement | Undefined:
    """Any number of annotators: chance is what all labels together say how often (Fleiss 1971, Gwet 2014)."""

    def chance(share: Floats) -> float:
        return float(share @ weight @ share)

    def pulls(votes: Floats, share: Floats) -> Floats:
        return votes @ ((weight + weight.T) @ share / 2)

    return _of_shares(t, weight, chance, pulls)


def gwet(t: Ratings, weight: Floats) -> Agreement | Undefined:
    """Gwet's AC1, and AC2 with weights: chance is guessing on items that are hard (Gwet 2008, 2014).

    It stays near the agreement that was seen where one label prevails, where kappa falls.
    """
    k = len(t.labels)
    if k < 2:  # noqa: PLR2004  nothing to guess
        return ONE_LABEL
    scale = float(weight.sum()) / (k * (k - 1))

    def chance(share: Floats) -> float:
        return scale * float((share * (1 - share)).sum())

    def pulls(votes: Floats, share: Floats) -> Floats:
        return scale * (votes @ (1 - share))

    return _of_shares(t, weight, chance, pulls)


def krippendorff(t: Ratings, weight: Floats) -> Agreement | Undefined:
    """Krippendorff's alpha: chance is drawing two of all labels, one after the other (Krippendorff 2004, Gwet 2014)."""
    kept = t.several
    count, votes = kept.count.astype(float), kept.votes.astype(float)
    n, given = count.sum(), votes.sum(axis=1)
    if not n:
        return NO_PAIRS
    mean = float(count @ given) / n
    spare = 1 / (n * mean)
    pairs = (votes * (votes @ weight.T - 1)).sum(axis=1)
    own = pairs / (mean * (given - 1))
    seen = float(count @ own) / n
    share = (count @ votes) / (n * mean)
    chance = float(share @ weight @ share)
    if chance >= 1:
        return ONE_LABEL
    value = ((1 - spare) * seen + spare - chance) / (1 - chance)
    plain = (seen - chance) / (1 - chance)
    off = (given - mean) / mean
    pull = votes @ ((weight + weight.T) @ share / 2) / mean - chance * off
    agreed = (1 - spare) * seen + spare
    item = (own - agreed * off - chance) / (1 - chance) - 2 * (1 - plain) * (pull - chance) / (1 - chance)
    return Agreement(
        value=value,
        observed=agreed,
        chance=chance,
        influence=item - float(count @ item) / n,
        count=count,
    )


def _of_shares(
    t: Ratings, weight: Floats, chance_of: Callable[[Floats], float], pulls_of: Callable[[Floats, Floats], Floats]
) -> Agreement | Undefined:
    """A coefficient whose chance is a function of the shares of the labels, items with one label included in them."""
    count, votes = t.count.astype(float), t.votes.astype(float)
    n, given = count.sum(), votes.sum(axis=1)
    pairs = given > 1
    twice = float(count[pairs].sum())
    if not twice:
        return NO_PAIRS
    own = np.zeros(len(count))
    sums = (votes * (votes @ weight.T - 1)).sum(axis=1)
    own[pairs] = sums[pairs] / (given * (given - 1))[pairs]
    observed = float(count @ own) / twice
    spread = votes / given[:, None]
    share = (count @ spread) / n
    chance = chance_of(share)
    if chance >= 1:
        return ONE_LABEL
    value = (observed - chance) / (1 - chance)
    item = (n / twice) * (own - chance * pairs) / (1 - chance)
    item = item - 2 * (1 - value) * (pulls_of(spread, share) - chance) / (1 - chance)
    return Agreement(
        value=value, observed=observed, chance=chance, influence=item - float(count @ item) / n, count=count
    )
