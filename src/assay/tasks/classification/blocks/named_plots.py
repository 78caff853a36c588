# SPDX-License-Identifier: Apache-2.0
"""Charts of classes by their names, with their numbers row by row for whoever draws them otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from assay.core.blocks import chart
from assay.core.blocks.estimate_rows import share
from assay.core.errors import PlanError
from assay.core.task import Drawn
from assay.core.text import visible
from assay.tasks.classification.blocks import score_figures as figures
from assay.tasks.classification.blocks.class_report import ClassRecord
from assay.tasks.classification.blocks.confusion_matrix import matrix
from assay.tasks.classification.blocks.decision_point import Scoring
from assay.tasks.classification.blocks.scores import reliability_chart

CURVES: Final = {"roc": figures.roc, "precision_recall": figures.precision_recall}


def class_plot(record: Mapping[str, Any], name: str) -> Drawn | None:
    """The chart of a name; None where the Record has no such."""
    if record["kind"] == "comparison":
        curves = figures.read_curves(record)
        return (figures.roc(curves), _curve_rows(curves, "roc")) if name == "roc" and curves else None
    read = ClassRecord(record)
    if name == "confusion":
        return _confusion(read)
    if read.scoring is None or not read.scoring.curves:
        return None
    if name == "reliability":
        return _reliability(read.scoring)
    if name not in CURVES:
        return None
    curves = read.scoring.curves
    return CURVES[name](curves, read.scoring.place, read.level), _curve_rows(curves, name)


def _curve_rows(curves: Sequence[figures.Curve], name: str) -> list[dict[str, Any]]:
    """Every point of every curve: the class or model, the threshold and the two rates."""
    rows: list[dict[str, Any]] = []
    for curve in curves:
        owner = {"model" if "model" in curve.content else "class": curve.label or None}
        for (t, tp, fp), (x, y, z) in zip(curve.cells, curve.rates, strict=True):
            if name == "roc":
                rows.append({**owner, "threshold": t, "tp": tp, "fp": fp, "fpr": x, "tpr": y})
            elif z is not None:
                rows.append({**owner, "threshold": t, "recall": y, "precision": z})
    return rows


def _reliability(scoring: Scoring) -> Drawn:
    """The share of positives by bin of predicted probability; of several classes, how often the top one is right."""
    alone = scoring.alone
    bins = alone.bins() if alone is not None else figures.read_bins(scoring.record["scores"].get("top_label"))
    if not bins:
        raise PlanError(
            "measure-needs",
            "reliability needs probabilities, and the scores are not stated to be any",
            fix="give scores=assay.ScoreSettings(kind='probability')",
        )
    return reliability_chart(scoring), [{**one, "rows": figures.count_of(one["rows"])} for one in bins]


def _confusion(read: ClassRecord) -> Drawn:
    """The confusion matrix: rows are what was predicted, columns what was true."""
    tally, grid = read.tally, matrix(read.tally)
    cells = {(t, p): n for t, p, n in tally.cells}
    names = [visible(label) for label in tally.labels]
    rows: list[dict[str, object]] = [
        {"truth": names[t], "predicted": names[p], "n": float(cells.get((t, p), 0)),
         "share_of_truth": share(cells.get((t, p), 0), tally.actual[t])}
        for t in range(len(names)) for p in range(len(names))
    ]  # fmt: skip
    drawn = [
        [{"text": cell.text, "share": cell.share, "tone": "" if cell.right or cell.empty else "bad"} for cell in row]
        for row in grid.rows
    ]
    title = "Confusion matrix: predicted down, true across"
    return chart("matrix", title=title, rows=grid.labels, columns=grid.labels, cells=drawn), rows
