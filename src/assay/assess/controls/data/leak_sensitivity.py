# SPDX-License-Identifier: Apache-2.0
"""What results would be without the test rows that leaked: the same measures on the rows that are left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.assess.controls.evidence import Inquiry
from assay.core.text import counted, figure
from assay.measures import parse
from assay.tally.census import Census
from assay.tally.labels.confusion import Confusion
from assay.tasks.classification.settings import chosen

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.core.labels import Label
    from assay.tally.data.split_counts import Shared, SplitRows


def without(q: Inquiry, split: str, rows: SplitRows, shared: Sequence[Shared]) -> dict[str, Any]:
    """By model: the measures of the plan on all rows and on those that no other data set has, or why there are none."""
    affected = [one for one in shared if one.rows]
    if not affected:
        return {}
    comparisons: dict[str, Any] = {}
    for (model, own), assessment in q.assessments.items():
        if own == split:
            comparisons[model] = _model(q, model, rows, affected, assessment)
    return comparisons


def told_without(found: Mapping[str, Any]) -> str:
    """The measure that leads, of every model, with all rows and without; nothing where there is no value."""
    told = list(_told(found))
    return f"; without them {', '.join(told)}" if told else ""


def _told(found: Mapping[str, Any]) -> Iterator[str]:
    for model, comparison in found.items():
        if isinstance(comparison, Mapping) and comparison["measures"]:
            name, pair = next(iter(comparison["measures"].items()))
            values = [figure(value) if value is not None else "undefined" for value in (pair["all"], pair["without"])]
            yield f"{name} of {model} is {values[1]} ({counted(comparison['rows'], 'row')}), not {values[0]}"


def _model(
    q: Inquiry, model: str, rows: SplitRows, affected: Sequence[Shared], assessment: Assessment
) -> dict[str, Any] | str:
    plan = q.plan
    truth, predicted = plan.columns.truth, plan.models[model].predicted
    if plan.columns.weight is not None:
        return "rows are weighted, and leaked ones are left out only where they count as one each"
    if truth is None or predicted is None or plan.models[model].predictions is not None:
        return "its labels do not stand beside the truth, so rows cannot be left out"
    cells = rows.table_without(affected, truth, predicted) if rows.has(truth, predicted) else None
    if cells is None:
        return "its labels do not stand beside the truth, so rows cannot be left out"
    known = {str(label): label for label in assessment.labels}
    counts: dict[tuple[Label, Label], int] = {}
    for cell, n in cells.items():
        if None not in cell and all(str(one) in known for one in cell):
            pair = known[str(cell[0])], known[str(cell[1])]
            counts[pair] = counts.get(pair, 0) + n
    left = sum(counts.values())
    if not left:
        return "no row is left"
    again = counted_again(assessment, Confusion.from_cells(counts, labels=assessment.labels))
    names = [one.title for one in chosen(plan.metrics.measures) or () if not one.from_scores]
    lead = plan.metrics.primary or (names[0] if names else "accuracy")
    names = list(dict.fromkeys([*([] if parse(lead).from_scores else [parse(lead).title]), *names]))
    values = {name: {"all": assessment[name].value, "without": again[name].value} for name in names}
    return {"rows": left, "measures": values}


def counted_again(model: Assessment, tally: Confusion) -> Assessment:
    """An assessment as it would be of other cells."""
    from assay.tasks.classification.tally import Classified

    return type(model)(
        model.contract,
        Classified(confusion=tally, positive=model.positive),
        model.settings,
        census=Census(read=tally.rows, scored=tally.rows),
        found_in={"python": ""},
    )
