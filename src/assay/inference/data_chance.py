# SPDX-License-Identifier: Apache-2.0
"""What chance does to data: errors in the truth, two samples of values, and how many new values it brings.

Relabelled counts tell what errors in the truth do to a result, and the fewest labels that would turn a conclusion. The
declared tests work on exact values of a few thousand items; the screens of samples are for columns of millions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.labels import Label
from assay.inference.multiplicity import holm
from assay.inference.resampling import SEED, stream
from assay.tally.labels.one_vs_rest import Multiclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats
    from assay.core.values import Amount

    Counts: TypeAlias = NDArray[np.int64]

RELABELLED: Final = 1000
SHUFFLED: Final = 999
"""With the data that were seen this makes 1,000."""
AT_ONCE: Final = 1 << 20
"""Numbers drawn at a time: 8 MiB."""
NEW_VALUES, NEW_LABELS = 11, 12
"""The streams of these draws, apart from those of other rooms."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Relabelled:
    """Rows by truth and by what each model called them, and the chance that a truth should have been another class."""

    labels: tuple[Label, ...]
    codes: Counts
    count: Counts
    error: Floats
    draws: int = RELABELLED
    seed: int = SEED

    def tables(self, model: int) -> Multiclass:
        """The tables of one model, one for each relabelling; what it called stays as it is."""
        k = len(self.labels)
        actual, hits = np.zeros((self.draws, k)), np.zeros((self.draws, k))
        called = np.zeros(k)
        for cell, n, drawn in self._drawn():
            call = cell[model + 1]
            actual += drawn
            hits[:, call] += drawn[:, call]
            called[call] += n
        return Multiclass(
            hits=cast("Amount", hits),
            actual=cast("Amount", actual),
            called=cast("Amount", np.broadcast_to(called, hits.shape)),
            labels=self.labels,
        )

    def disputes(self, a: int, b: int) -> tuple[Counts, Counts]:
        """Rows that only A and that only B gets right, for each relabelling."""
        only_a, only_b = np.zeros(self.draws, dtype=np.int64), np.zeros(self.draws, dtype=np.int64)
        for cell, _, drawn in self._drawn():
            first, second = cell[a + 1], cell[b + 1]
            if first != second:
                only_a += drawn[:, first]
                only_b += drawn[:, second]
        return only_a, only_b

    def _drawn(self) -> list[tuple[list[int], int, Counts]]:
        """Each cell with the truths its rows get; the same for every model, because the stream is the same."""
        random = stream(self.seed, NEW_LABELS)
        rows = zip(self.codes.tolist(), self.count.tolist(), strict=True)
        return [(cell, n, random.multinomial(n, self.error[cell[0]], size=self.draws)) for cell, n in rows]


def error_rates(pairs: Mapping[tuple[int, int], int], classes: int) -> Floats:
    """The chance of each label an annotator gives, by true class; a class nobody labelled is taken to be right.

    >>> error_rates({(0, 0): 9, (0, 1): 1}, 2).tolist()
    [[0.9, 0.1], [0.0, 1.0]]
    """
    seen = np.zeros((classes, classes))
    for (truth, given), n in pairs.items():
        seen[truth, given] += n
    totals = seen.sum(axis=1, keepdims=True)
    return np.where(totals > 0, seen / np.maximum(totals, 1), np.eye(classes))


def even_errors(rate: float, classes: int) -> Floats:
    """The same chance of error for every class, spread evenly over the others.

    >>> even_errors(0.2, 3).tolist()[0]
    [0.8, 0.1, 0.1]
    """
    other = rate / (classes - 1)
    return np.full((classes, classes), other) + np.eye(classes) * (1 - rate - other)


def mcnemar_p(only_a: Counts, only_b: Counts) -> Floats:
    """McNemar's mid-p value of many tables at once.

    >>> mcnemar_p(np.array([5, 40]), np.array([0, 20])).round(4).tolist()
    [0.0312, 0.0099]
    """
    from scipy.special import bdtr

    total, fewer = np.maximum(only_a + only_b, 1), np.minimum(only_a, only_b)
    below = np.where(fewer > 0, bdtr(np.maximum(fewer - 1, 0), total, 0.5), 0.0)
    within = bdtr(fewer, total, 0.5)
    mid = np.where(only_a == only_b, 1 - (within - below) / 2, below + within)  # what was seen counts half
    return np.where(only_a + only_b == 0, 1.0, mid)


def holm_many(p: Floats) -> Floats:
    """Holm's correction of many families at once: a row a question, a column a family.

    >>> holm_many(np.array([[0.01, 0.5], [0.02, 0.01], [0.03, 0.3]])).round(2).tolist()
    [[0.03, 0.6], [0.04, 0.03], [0.04, 0.6]]
    """
    return np.stack([holm(family) for family in p.T.tolist()], axis=1)


def fewest_to_reverse(ahead: int, behind: int) -> int | None:
    """Labels that must be wrong for the model that is ahead to fall behind; None where nobody is ahead.

    The worst label for it is that of a row only it gets right, if the other model's call is the truth: it counts twice.

    >>> fewest_to_reverse(30, 20), fewest_to_reverse(20, 20)
    (6, None)
    """
    return None if ahead <= behind else (ahead - behind) // 2 + 1


def fewest_to_lose_significance(ahead: int, behind: int, alpha: float) -> int | None:
    """Labels that must be wrong for the difference to be no longer significant; None where it is not.

    >>> fewest_to_lose_significance(40, 20, 0.05)
    3
    """
    if mcnemar_p(np.array([ahead]), np.array([behind]))[0] >= alpha:
        return None
    moved = np.arange(1, (ahead - behind) // 2 + 1)
    ps = mcnemar_p(ahead - moved, behind + moved)
    return int(moved[np.argmax(ps >= alpha)])


def kolmogorov_smirnov(x: Floats, y: Floats) -> tuple[float, float]:
    """The largest gap between two distributions, and the chance of one as large.

    >>> kolmogorov_smirnov(np.arange(10.0), np.arange(10.0) + 10)[0]
    1.0
    """
    from scipy.stats import kstwo

    x, y = np.sort(x), np.sort(y)
    every = np.concatenate([x, y])
    first, second = np.searchsorted(x, every, "right") / len(x), np.searchsorted(y, every, "right") / len(y)
    gap = float(np.abs(first - second).max())
    size = len(x) * len(y) / (len(x) + len(y))
    return gap, float(kstwo.sf(gap, max(1, round(size))))


def kruskal_wallis_screen(groups: Sequence[Floats]) -> tuple[float, float]:
    """The share of the ranks' spread that lies between groups (epsilon squared), and the chance of one as large.

    >>> round(kruskal_wallis_screen([np.arange(5.0), np.arange(5.0) + 5])[0], 2)
    0.76
    """
    from scipy.stats import kruskal

    samples = [one for one in groups if len(one)]
    if len(samples) < 2 or not np.ptp(np.concatenate(samples)):  # noqa: PLR2004  nothing can differ
        return 0.0, 1.0
    found = kruskal(*samples)
    return float(found.statistic) / (sum(map(len, samples)) - 1), float(found.pvalue)


def outside_by_chance(outside: int, later: int, earlier: int) -> float:
    """The chance that so many of the later values or more lie outside the range of the earlier ones.

    Where both come from one distribution, the share outside follows Beta(2, earlier - 1), whatever the distribution.

    >>> round(outside_by_chance(4, 50, 49), 3)
    0.187
    """
    from scipy.stats import betabinom

    if earlier < 2 or outside == 0:  # noqa: PLR2004  one value has no range
        return 1.0
    return float(betabinom.sf(outside - 1, later, 2, earlier - 1))


def unseen_by_chance(
    earlier: Mapping[Label, int], later: Mapping[Label, int], *, draws: int = SHUFFLED, seed: int = SEED
) -> tuple[int, float]:
    """Later rows whose category was not met earlier, and the chance of as many if the rows are shuffled.

    >>> unseen_by_chance({"a": 50, "b": 50}, {"a": 10, "c": 40})
    (40, 0.001)
    """
    unseen = sum(n for label, n in later.items() if not earlier.get(label))
    size = sum(earlier.values())
    if not unseen or not size:
        return unseen, 1.0
    both = np.array([earlier.get(one, 0) + later.get(one, 0) for one in {**earlier, **later}], dtype=np.int64)
    random, at_least, left = stream(seed, NEW_VALUES), 0, draws
    while left:
        some = min(left, max(1, AT_ONCE // len(both)))
        drawn = random.multivariate_hypergeometric(both, size, size=some, method="marginals")
        at_least += int((np.where(drawn == 0, both, 0).sum(axis=-1) >= unseen).sum())
        left -= some
    return unseen, (1 + at_least) / (1 + draws)
