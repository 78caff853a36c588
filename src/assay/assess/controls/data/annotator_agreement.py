# SPDX-License-Identifier: Apache-2.0
"""The control of the ground truth: how far annotators agree."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, Final, TypeAlias

from assay.assess.controls.control_declaration import Inquiry, Outcome, control, no_evidence
from assay.core.labels import Label
from assay.core.text import figure
from assay.inference.intervals.rater_agreement import coefficients, kappas
from assay.tally.contingency_tables import Ratings
from assay.tally.data.split_counts import SplitRows
from assay.tally.labels.confusion import Confusion
from assay.tasks.classification.estimates import View
from assay.tasks.classification.settings import Settings
from assay.tasks.classification.tally import Classified

Cells: TypeAlias = Mapping[tuple[Any, ...], int]
TOGETHER: Final = {"fleiss_kappa": "Fleiss' kappa", "krippendorff_alpha": "alpha", "gwet_ac1": "AC1"}


@control("CHK-ANNOTATOR")
def annotators(q: Inquiry) -> Outcome:
    """Looks for annotators who do not agree."""
    names, table = q.plan.ground_truth.annotators or [], q.annotations
    if table is None or len(names) < 2 or not table.has(*names):  # noqa: PLR2004
        return no_evidence("the plan names no annotation table with two annotators")
    least, level = q.plan.ground_truth.minimum_agreement, q.plan.intervals.level
    rows = table.table(*names)
    ranked = None if rows is None else _ranked(q, names, rows)
    agreed = {pair: one for pair in combinations(names, 2) if (one := _compare(table, pair, ranked, level))}
    pairs: dict[str, Any] = {f"{a}, {b}": one for (a, b), one in agreed.items()}
    if not pairs:
        return no_evidence("no item was labelled by two annotators")
    facts: dict[str, Any] = {"pairs": pairs}
    if rows is not None:
        tally = Ratings.from_cells(rows, labels=ranked)
        facts["together"] = {"items": tally.items, "items_labelled_twice": tally.several.items}
        facts["together"] |= coefficients(tally, level, ordered=ranked is not None, raters=3)
    shown = _described(pairs, facts.get("together") if len(names) > 2 else None)  # noqa: PLR2004  two are a pair
    low = [] if least is None else _below(agreed, least)
    said = f"below the declared minimum: {'; '.join(low)}" if low else shown
    thresholds = {} if least is None else {"minimum_kappa": least}
    inputs = {table.name: table.sha256}
    return Outcome("fail" if low else "pass", said, facts=facts, thresholds=thresholds, inputs=inputs)


def _below(agreed: Mapping[tuple[str, str], dict[str, Any]], least: float) -> list[str]:
    """Pairs of annotators whose kappa is below the declared minimum."""
    kappas_of = {pair: one["kappa"] for pair, one in agreed.items() if one["kappa"] is not None}
    return [f"{a} and {b}: kappa {figure(kappa)}" for (a, b), kappa in kappas_of.items() if kappa < least]


def _described(pairs: Mapping[str, Any], together: Mapping[str, Any] | None) -> str:
    """The coefficients of all annotators where they are more than two, and of the first pairs."""
    words = [] if together is None else [f"{symbol} {_shown(together[name]['value'], together[name])}"
                                         for name, symbol in TOGETHER.items()]  # fmt: skip
    first = [
        f"{name}: agreement {figure(pair['agreement'])}, kappa {_shown(pair['kappa'], pair)}"
        for name, pair in list(pairs.items())[:3]
    ]
    return "; ".join([*([", ".join(words)] if words else []), *first])


def _shown(value: float | None, facts: dict[str, Any]) -> str:
    if value is None:
        return "undefined"
    ends = f"{figure(facts['low'])} to {figure(facts['high'])}" if facts["low"] is not None else "no interval"
    return f"{figure(value)} ({ends})"


def _compare(table: SplitRows, pair: tuple[str, str], ranked: tuple[Label, ...] | None, level: float) -> dict[str, Any]:
    """The agreement of two annotators on the items that both labelled; nothing where there are none."""
    cells = {key: n for key, n in (table.table(*pair) or {}).items() if None not in key}
    ordered = {} if ranked is None or not cells else kappas(cells, ranked, level, ordered=True)
    return _pair(cells) | {f"kappa{tail}": kappa for tail, kappa in ordered.items() if tail} if cells else {}


def _pair(cells: Cells) -> dict[str, Any]:
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
    kappa: dict[str, Any] = dict.fromkeys(("kappa", "low", "high"))
    if len(labels) > 1:
        tally = Confusion.from_cells({(a, b): c for (a, b), c in cells.items()}, labels=labels, rows=n)
        estimate = View(Classified(confusion=tally, positive=None), Settings())["cohen_kappa"]
        kappa = {"kappa": estimate.value, "low": estimate.low, "high": estimate.high}
    return {
        "items": n,
        "agreement": agreement,
        **kappa,
        "by_class": by_class,
        "bias_index": max(abs(first[label] - second[label]) for label in labels),
        "largest_share": max((first[label] + second[label]) / 2 for label in labels),
    }


def _ranked(q: Inquiry, names: list[str], rows: Cells) -> tuple[Label, ...] | None:
    """The classes in their order, if they have one and every label given is among them."""
    classes = q.plan.task.classes
    if not q.plan.task.ordered or not classes:
        return None
    own = {str(one): one for key in rows for one in key if one is not None}
    found = tuple(own.get(str(one), one) for one in classes)
    return found if set(own.values()) <= set(found) and names else None
