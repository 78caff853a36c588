# SPDX-License-Identifier: Apache-2.0
"""Agreement of annotators beyond chance, and how sure it is: each coefficient has its own idea of chance.

Weights say how much two labels agree: 1 the same, 0 nothing in common. Without an order only the same label counts.
Items are the unit, each moves a coefficient by a known amount, and those vary. For two annotators this is the variance
of Fleiss, Cohen and Everitt (1969), for more that of Gwet (2014).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from assay.core.values import Undefined
from assay.inference.estimates import Interval
from assay.inference.intervals.proportion import normal_quantile, student_quantile
from assay.tally.contingency_tables import Ratings

if TYPE_CHECKING:
    from assay.core.arrays import Floats
    from assay.inference.intervals.interval_choice import Found

Weighting: TypeAlias = Literal["none", "linear", "quadratic"]
ONE_LABEL: Final = Undefined(reason="every label given is the same, which chance explains fully", code="zero-margin")
NO_PAIRS: Final = Undefined(reason="no item was labelled twice", code="n=0")
TWO: Final = 2
WEIGHTINGS: Final[tuple[Weighting, ...]] = ("none", "linear", "quadratic")
NO_SPREAD: Final = "all items agree or disagree alike, so the method sees no way for the value to vary"
FEW: Final = "one item has no spread"


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


def agreement_interval(agreement: Agreement, level: float, *, raters: int) -> Found:
    """The interval of a coefficient: of two annotators by the normal distribution, of more by Student's."""
    share, n = (1 + level) / 2, agreement.items
    if raters > TWO and n < TWO:
        return FEW
    error = standard_error(agreement, raters=raters)
    if not error > 1e-12:  # noqa: PLR2004  rounding of a spread of 0
        return NO_SPREAD
    times = normal_quantile(share) if raters == TWO else student_quantile(share, n - 1)
    low, high = max(-1.0, agreement.value - times * error), min(1.0, agreement.value + times * error)
    return Interval(low=low, high=high, level=level, method="fleiss-cohen-everitt" if raters == TWO else "gwet")


def standard_error(agreement: Agreement, *, raters: int) -> float:
    """The standard error of a coefficient: of two annotators by all items, of more by one less."""
    n = agreement.items
    return math.sqrt(float(agreement.count @ agreement.influence**2) / (n * n if raters == TWO else n * (n - 1)))


def told(agreement: Agreement | Undefined, level: float, *, raters: int) -> dict[str, object]:
    """A coefficient with its interval, as facts."""
    if isinstance(agreement, Undefined):
        return {"value": None, "undefined": agreement.reason}
    interval = agreement_interval(agreement, level, raters=raters)
    out: dict[str, object] = {"value": agreement.value, "observed": agreement.observed, "chance": agreement.chance}
    if isinstance(interval, Interval):
        return out | {"low": interval.low, "high": interval.high, "interval": interval.method, "items": agreement.items}
    return out | {"low": None, "high": None, "no_interval": interval, "items": agreement.items}


def coefficients(tally: Ratings, level: float, *, ordered: bool, raters: int) -> dict[str, dict[str, object]]:
    """Every coefficient of any number of annotators, with weights where classes have an order."""
    out: dict[str, dict[str, object]] = {}
    for weighting in WEIGHTINGS if ordered else WEIGHTINGS[:1]:
        tail, weight = "" if weighting == "none" else f"_{weighting}", weights(len(tally.labels), weighting)
        out[f"fleiss_kappa{tail}"] = told(fleiss(tally, weight), level, raters=raters)
        out[f"krippendorff_alpha{tail}"] = told(krippendorff(tally, weight), level, raters=raters)
        out[f"gwet_ac{1 if weighting == 'none' else 2}{tail}"] = told(gwet(tally, weight), level, raters=raters)
    return out


def kappas(
    cells: Mapping[tuple[Any, ...], int], labels: tuple[Any, ...], level: float, *, ordered: bool
) -> dict[str, dict[str, object]]:
    """Cohen's kappa of two annotators on the items that both labelled, by the tail of its name."""
    table = np.zeros((len(labels),) * 2)
    for (a, b), n in cells.items():
        table[labels.index(a), labels.index(b)] += n
    out = {}
    for weighting in WEIGHTINGS if ordered else WEIGHTINGS[:1]:
        agreement = cohen(table, weights(len(labels), weighting))
        out["" if weighting == "none" else f"_{weighting}"] = told(agreement, level, raters=TWO)
    return out
