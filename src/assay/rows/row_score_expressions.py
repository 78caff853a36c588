# SPDX-License-Identifier: Apache-2.0
"""The scores of a row taken together, inside an engine: the largest, whether its class is true, and the direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, Final

import narwhals.stable.v2 as nw

from assay.core.labels import Label
from assay.rows.engines.score_expressions import fetched, first_largest
from assay.rows.label_types import label_of
from assay.rows.source import FrameSource

TOP: Final = "assay_top"
DIRECTION: Final = "assay_direction"
RIGHT: Final = "assay_right"


def with_row_scores(source: FrameSource, columns: Sequence[int], labels: Sequence[Label]) -> FrameSource:
    """The frame with the two columns, and in place of the truth whether the largest score is that of the true class.

    The direction is the score of the true class over the length of all, summed from left to right.
    """
    every: list[Any] = [nw.col(source.score[place]) for place in columns]
    places = {label: i for i, label in enumerate(labels)}
    truth = nw.col(source.truth)
    best, first = first_largest(every)
    own: Any = nw.lit(0.0)
    right: Any = nw.lit(0)
    for (raw,) in fetched(source, source.frame.select(truth.alias("t")).unique()):
        label = None if raw is None else label_of(raw, where=source.where)
        if label is None or label not in places:
            continue
        hit, place = truth == raw, places[label]
        own = nw.when(hit).then(every[place]).otherwise(own)
        right = nw.when(hit & (first == place)).then(nw.lit(1)).otherwise(right)
    length = reduce(add, (column * column for column in every)).sqrt()
    direction = nw.when(length > 0).then(own / length).otherwise(nw.lit(0.0))
    there = source.frame.filter(~truth.is_null())
    made = there.with_columns(best.alias(TOP), direction.alias(DIRECTION), right.alias(RIGHT))
    return replace(source, frame=made, truth=RIGHT, group={}, seen=None)
