# SPDX-License-Identifier: Apache-2.0
"""Areas under curves over labels: the mean of the areas of labels, and the area of all label slots pooled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from assay.core.text import figure, listed
from assay.core.values import Number, Undefined, undefined_number
from assay.measures.declare import parse
from assay.tasks.multilabel.measures import NO_SCORES, of_order
from assay.tasks.multilabel.table import LabelTable

if TYPE_CHECKING:
    from assay.core.values import Amount
    from assay.tally.scores.ranked_table import Ranked


@of_order(
    says="the area under the ROC curve of each label, averaged over labels",
    formula="mean over labels of the area under the ROC curve",
)
def auroc_macro(t: LabelTable) -> Number:
    return _mean_over_labels(t, "auroc")


@of_order(
    says="the average precision of each label, averaged over labels",
    formula="mean over labels of average precision",
)
def average_precision_macro(t: LabelTable) -> Number:
    return _mean_over_labels(t, "average_precision")


@of_order(
    says="the area under the ROC curve of all label slots, scores of all labels compared with each other",
    formula="area under the ROC curve of all slots",
)
def auroc_micro(t: LabelTable) -> Number:
    if not t.scores:
        return undefined_number(NO_SCORES)
    pooled = t.scores[0]
    for scores in t.scores[1:]:
        pooled += scores
    value = parse("auroc")(pooled.one_vs_rest(1))
    return undefined_number(value.reason) if isinstance(value, Undefined) else Number(cast("Amount", value.value))


def tables_of(t: LabelTable) -> dict[Any, Ranked]:
    """Positives and negatives of each label at each score."""
    return {label: scores.one_vs_rest(1) for label, scores in zip(t.labels, t.scores, strict=True)}


def _mean_over_labels(t: LabelTable, name: str) -> Number:
    if not t.scores:
        return undefined_number(NO_SCORES)
    values = {label: parse(name)(table) for label, table in tables_of(t).items()}
    known = [value.value for value in values.values() if not isinstance(value, Undefined)]
    lost = [label for label, value in values.items() if isinstance(value, Undefined)]
    mean = math.fsum(known) / len(known) if known else 0.0
    if lost:
        return undefined_number(f"no value for {listed(lost)}" + (f"; left out: {figure(mean)}" if known else ""))
    return Number(cast("Amount", mean))
