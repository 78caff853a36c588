# SPDX-License-Identifier: Apache-2.0
"""The control of the ground truth: how far annotators agree."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from assay.assess.controls.declare import Outcome, control
from assay.assess.controls.inquiry import Inquiry
from assay.assess.settings import Settings
from assay.assess.view import View
from assay.core.text import counted, figure
from assay.core.traits import TS4213
from assay.tally.confusion import Confusion


@control(
    "CHK-ANNOTATOR",
    looks_for="annotators who do not agree",
    clause=TS4213("5.3.9"),
    passes_when="agreement was computed, and no pair lies below the declared minimum",
)
def annotators(q: Inquiry) -> Iterator[Outcome]:
    """How far annotators agree, pair by pair and all together."""
    names, table = q.plan.ground_truth.annotators or [], q.annotations
    if table is None or len(names) < 2 or not table.has(*names):  # noqa: PLR2004
        yield Outcome(verdict="no-evidence", says="the plan names no annotation table with two annotators")
        return
    pairs: dict[str, Any] = {}
    low: list[str] = []
    least = q.plan.ground_truth.minimum_agreement
    for a, b in combinations(names, 2):
        cells = {key: n for key, n in (table.table(a, b) or {}).items() if None not in key}
        if not cells:
            continue
        found = _pair(cells)
        pairs[f"{a}, {b}"] = found
        if least is not None and found["kappa"] is not None and found["kappa"] < least:
            low.append(f"{a} and {b}: kappa {figure(found['kappa'])}")
    if not pairs:
        yield Outcome(verdict="no-evidence", says="no item was labelled by two annotators")
        return
    facts: dict[str, Any] = {"pairs": pairs, **_together(table.table(*names) or {}, len(names))}
    shown = "; ".join(
        f"{name}: agreement {figure(one['agreement'])}, kappa "
        + ("undefined" if one["kappa"] is None else f"{figure(one['kappa'])} ({_interval(one)})")
        for name, one in list(pairs.items())[:3]
    )
    said = f"below the declared minimum: {'; '.join(low)}" if low else shown
    thresholds = {} if least is None else {"minimum_kappa": least}
    inputs = {table.name: table.sha256}
    yield Outcome(verdict="fail" if low else "pass", says=said, facts=facts, thresholds=thresholds, inputs=inputs)


def _interval(one: dict[str, Any]) -> str:
    return f"{figure(one['low'])} to {figure(one['high'])}" if one["low"] is not None else "no interval"


def _pair(cells: dict[tuple[Any, ...], int]) -> dict[str, Any]:
    labels = tuple(sorted({label for key in cells for label in key}, key=str))
    n = sum(cells.values())
    agreement = sum(count for (a, b), count in cells.items() if a == b) / n
    first = {label: sum(c for (a, _), c in cells.items() if a == label) / n for label in labels}
    second = {label: sum(c for (_, b), c in cells.items() if b == label) / n for label in labels}
    by_class = {
        str(label): 2 * cells.get((label, label), 0) / (n * (first[label] + second[label]))
        for label in labels
        if first[label] + second[label]
    }
    kappa = None
    if len(labels) > 1:
        tally = Confusion.from_cells({(a, b): c for (a, b), c in cells.items()}, labels=labels, rows=n)
        kappa = View(tally, Settings(), positive=None)["cohen_kappa"]
    return {
        "items": n,
        "agreement": agreement,
        "kappa": None if kappa is None else kappa.value,
        "low": None if kappa is None else kappa.low,
        "high": None if kappa is None else kappa.high,
        "by_class": by_class,
        "bias_index": max(abs(first[label] - second[label]) for label in labels),
        "largest_share": max((first[label] + second[label]) / 2 for label in labels),
    }


def _together(rows: dict[tuple[Any, ...], int], raters: int) -> dict[str, Any]:
    """Fleiss' kappa and Krippendorff's alpha for nominal labels, over items that all annotators labelled."""
    whole = {key: n for key, n in rows.items() if None not in key}
    items = sum(whole.values())
    if raters < 3 or not items:  # noqa: PLR2004  for two, kappa says it
        return {}
    agreeing = 0.0
    totals: dict[Any, int] = {}
    for key, n in whole.items():
        for label in set(key):
            m = key.count(label)
            totals[label] = totals.get(label, 0) + m * n
            agreeing += n * m * (m - 1)
    observed = agreeing / (items * raters * (raters - 1))
    ratings = items * raters
    by_chance = sum((t / ratings) ** 2 for t in totals.values())
    without_self = sum(t * (t - 1) for t in totals.values()) / (ratings * (ratings - 1))
    if by_chance == 1:
        return {"complete_items": counted(items, "item"), "fleiss_kappa": None, "krippendorff_alpha": None}
    return {
        "complete_items": items,
        "fleiss_kappa": (observed - by_chance) / (1 - by_chance),
        "krippendorff_alpha": 1 - (1 - observed) / (1 - without_self),
    }
