# SPDX-License-Identifier: Apache-2.0
"""Logits of several classes as log-odds of each class against the rest, and log-odds as probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from assay.core.arrays import chance
from assay.core.errors import PlanError
from assay.rows.columns import CHUNK
from assay.rows.source import FrameSource, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

Link: TypeAlias = Literal["logistic", "softmax"]
"""How logits become probabilities: one column of log-odds, or one column for each class before a softmax."""
MOST: Final = 32
"""Classes whose logits an engine turns into log-odds, each by an expression of all the others."""
FAR: Final = 700.0
"""Beyond this a double cannot tell a probability from 0 or 1, and some engines refuse to take the exponential."""


def log_odds(source: Source) -> Source:
    """The source with the logits of a row (up to a constant, as before a softmax) as log-odds of each class."""
    if len(source.score) == 1:
        return source  # one column is the log-odds of the positive class
    if not isinstance(source, FrameSource):
        return replace(source, score=tuple(against_rest(source.score)))
    import narwhals.stable.v2 as nw

    if len(source.score) > MOST:
        raise PlanError(
            "score-columns",
            f"an engine turns the logits of up to {MOST} classes into probabilities, and there are {len(source.score)}",
            where=source.where,
            fix='give arrays, or probabilities: scores="probability" (--scores probability)',
        )
    made = []
    for name in source.score:
        others: list[Any] = [nw.col(other) for other in source.score if other != name]
        most = nw.max_horizontal(*others)
        summed = reduce(
            add, ((nw.when(one - most < -FAR).then(nw.lit(-FAR)).otherwise(one - most)).exp() for one in others)
        )
        made.append((nw.col(name) - most - summed.log()).alias(name))
    return replace(source, frame=source.frame.with_columns(*made))


def against_rest(columns: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    """The log-odds of each class: its logit minus the logarithm of the summed exponentials of the others.

    >>> [one.round(9).tolist() for one in against_rest([np.array([800.0]), np.array([0.0]), np.array([0.0])])]
    [[799.306852819], [-800.0], [-800.0]]
    """
    rows = len(columns[0])
    out = [np.empty(rows) for _ in columns]
    for start in range(0, rows, CHUNK):
        part = slice(start, start + CHUNK)
        logits = np.stack([column[part] for column in columns])
        best = logits.argmax(axis=0)
        at = np.arange(logits.shape[1])
        top = logits[best, at]
        small = np.exp(logits - top)
        whole = small.sum(axis=0)
        for column, made in enumerate(out):  # the largest is among the others, so nothing cancels
            made[part] = logits[column] - top - np.log(np.maximum(whole - small[column], 1.0))
        rest = logits.copy()
        rest[best, at] = -np.inf
        second = rest.max(axis=0)
        first = top - second - np.log(np.exp(rest - second).sum(axis=0))
        for column, made in enumerate(out):
            mine = best == column
            made[part][mine] = first[mine]
    return out


def as_chances(source: Source) -> Source:
    """The source with log-odds as probabilities, for what looks at the probabilities of a row together."""
    if not isinstance(source, FrameSource):
        return replace(source, score=tuple(chance(column) for column in source.score))
    import narwhals.stable.v2 as nw

    made = []
    for name in source.score:
        column = nw.col(name)
        far = nw.when(column < -FAR).then(nw.lit(-FAR)).otherwise(column)
        made.append((1 / (1 + (-far).exp())).alias(name))
    return replace(source, frame=source.frame.with_columns(*made))
