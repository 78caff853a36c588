# SPDX-License-Identifier: Apache-2.0
"""Whether a threshold looks chosen on the test data: the best one there, and not where it is said to come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from assay.tally.data.feature_counts import numbers_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.assess.controls.evidence import Inquiry
    from assay.tally.data.split_counts import SplitRows

DISTINCT: Final = 20
"""Different scores from which on it is no coincidence to hit the best threshold."""
CLOSE: Final = 1e-12


def betrayed(q: Inquiry, threshold: float) -> list[str]:
    """What a stated threshold is best for on the test data, but not on the data that choices were made on."""
    model, truth = q.plan.models.get(q.model), q.plan.columns.truth
    score = None if model is None else model.score
    tuned = q.plan.tuning.data
    known = None if tuned is None else q.splits.get(tuned)
    elsewhere = list(q.of_role("validation").values()) if known is None else [known]
    test = q.splits.get(q.split)
    positive = None if q.assessment is None else q.assessment.positive
    if not isinstance(score, str) or truth is None or test is None or positive is None or not elsewhere:
        return []
    if not all(one.has(score, truth) for one in (test, *elsewhere)):
        return []
    here, distinct = _best(test, score, truth, str(positive), threshold)
    if distinct < DISTINCT:
        return []
    there = {name for one in elsewhere for name in _best(one, score, truth, str(positive), threshold)[0]}
    return [name for name in here if name not in there]


def _best(split: SplitRows, score: str, truth: str, positive: str, threshold: float) -> tuple[list[str], int]:
    values, codes, labels = numbers_by(split, score, truth)
    if positive not in labels or len(labels) != 2:  # noqa: PLR2004
        return [], 0
    return best_for(values, codes == labels.index(positive), threshold), len(np.unique(values))


def best_for(scores: NDArray[np.float64], positive: NDArray[np.bool_], threshold: float) -> list[str]:
    """Criteria that no other threshold of these scores serves better.

    >>> best_for(np.array([0.1, 0.4, 0.6, 0.9]), np.array([False, False, True, True]), 0.5)
    ['accuracy', "Youden's index"]
    """
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    true_positives = np.concatenate([[0], np.cumsum(positive[order])[last]])
    called = np.concatenate([[0], last + 1])
    p, n = int(positive.sum()), int((~positive).sum())
    if not p or not n:
        return []
    own = scores >= threshold
    mine = np.array([(own & positive).sum()]), np.array([own.sum()])

    def values(hits: NDArray[np.int64], calls: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        false = calls - hits
        return {"accuracy": (hits + n - false) / (p + n), "Youden's index": hits / p - false / n}

    every, here = values(true_positives, called), values(*mine)
    return [name for name in every if here[name][0] >= every[name].max() - CLOSE]
