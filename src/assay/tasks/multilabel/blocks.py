# SPDX-License-Identifier: Apache-2.0
"""Figures and tables that only label sets have: labels one by one, set sizes, errors that occur together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.core.blocks import Block, Chart, Figure, Paragraph, Section, number_table, section
from assay.tasks.multilabel.estimates import LabelEstimates
from assay.tasks.multilabel.score_measures import tables_of
from assay.tasks.multilabel.table import read_table

if TYPE_CHECKING:
    from assay.tasks.multilabel.tally import LabelSets

DRAWN: Final = 12
"""Labels of a figure; of more those with the most errors."""
POINTS: Final = 40
BINS: Final = 10


def read_figures(tally: LabelSets, estimates: LabelEstimates) -> dict[str, object]:
    """What a Record keeps for figures."""
    tp, fp, fn = tally.counts
    order = np.argsort(-(fp + fn), kind="stable")[:DRAWN]
    chosen = [tally.labels[i] for i in order]
    labels = []
    for i in order.tolist():
        f1 = estimates.by_class[tally.labels[i]]["f1"]
        ends = {"f1": f1.value, "low": f1.low, "high": f1.high}
        labels.append({"label": tally.labels[i], "tp": int(tp[i]), "fp": int(fp[i]), "fn": int(fn[i]), **ends})
    out: dict[str, object] = {
        "labels": labels,
        "hidden": len(tally.labels) - len(order),
        "true_labels": int((tp + fn).sum()),
        "predicted_labels": int((tp + fp).sum()),
        "sizes": _sizes(tally),
    }
    if tally.cross is not None:
        size = len(tally.labels)
        out["together"] = {
            "labels": chosen,
            "missed_added": tally.cross[np.ix_(order + 2 * size, order + size)].tolist(),
            "missed_missed": tally.cross[np.ix_(order + 2 * size, order + 2 * size)].tolist(),
        }
    if tally.scores:
        out["roc"] = _roc(tally, chosen)
        if estimates.settings.options.get("scores") == "probability":
            out["calibration"] = _calibration(tally, chosen)
    return out


def _sizes(tally: LabelSets) -> list[list[int]]:
    """Rows by number of true and of predicted labels: number, rows with so many true, rows with so many predicted."""
    true, called, _, n = tally.sizes.T
    most = int(max(true.max(initial=0), called.max(initial=0)))
    by_true, by_called = (np.bincount(side, n, minlength=most + 1) for side in (true, called))
    return [[size, int(by_true[size]), int(by_called[size])] for size in range(min(most + 1, 50))]


def _roc(tally: LabelSets, chosen: list[Any]) -> list[dict[str, object]]:
    lines: list[dict[str, object]] = []
    for label, table in tables_of(read_table(tally)).items():
        if label not in chosen or not (table.positives and table.negatives):
            continue
        tpr, fpr = (np.asarray(x, dtype=np.float64) for x in (table.tp, table.fp))
        keep = np.unique(np.linspace(0, len(tpr) - 1, min(POINTS, len(tpr))).astype(int))[::-1]
        points = [
            [round(float(fpr[i]) / float(table.negatives), 6), round(float(tpr[i]) / float(table.positives), 6)]
            for i in keep
        ]
        lines.append({"name": str(label), "points": [[0.0, 0.0], *points]})
    return lines


def _calibration(tally: LabelSets, chosen: list[Any]) -> list[dict[str, object]]:
    lines: list[dict[str, object]] = []
    for label, table in tables_of(read_table(tally)).items():
        if label not in chosen:
            continue
        score, pos = np.asarray(table.score, dtype=np.float64), np.asarray(table.pos, dtype=np.float64)
        total = pos + np.asarray(table.neg)
        place = np.clip((score * BINS).astype(int), 0, BINS - 1)
        rows, hits, sums = (np.bincount(place, x, minlength=BINS) for x in (total, pos, score * total))
        points = [[float(sums[b] / rows[b]), float(hits[b] / rows[b])] for b in range(BINS) if rows[b]]
        lines.append({"name": str(label), "points": points})
    return lines


def label_blocks(record: Mapping[str, Any]) -> Iterator[Section]:
    """Sections from the figures of a Record."""
    figures = record.get("figures")
    if not figures:
        return
    yield section("label-sets", "Label sets", _set_blocks(record, figures))
    yield section("label-errors", "Labels and their errors", _error_blocks(figures))


def _set_blocks(record: Mapping[str, Any], figures: Mapping[str, Any]) -> Iterator[Block]:
    empty = record.get("empty_sets", {})
    rows = int(record["samples"])
    lacks = {side: int(empty.get(side, 0)) for side in ("truth", "predicted", "both")}
    yield Paragraph(
        f"{figures['true_labels']:,} true and {figures['predicted_labels']:,} predicted labels on {rows:,} rows. "
        f"Empty sets: {lacks['truth']:,} rows have no true label, {lacks['predicted']:,} no predicted one, "
        f"{lacks['both']:,} neither. Rows, not label slots, are what varies in every interval."
    )
    basis = record["plan"].get("options", {}).get("basis")
    yield Paragraph(
        f"Basis for the measures: {basis}." if basis else "No basis for the measures is stated (6.5.1).",
        "" if basis else "warn",
    )
    rows_ = [(str(size), f"{true:,}", f"{called:,}") for size, true, called in figures["sizes"]]
    yield number_table(
        "set-sizes", "Rows by size of the label set", ("labels of a row", "true", "predicted"), rows_, small=True
    )


def _error_blocks(figures: Mapping[str, Any]) -> Iterator[Block]:
    curves = [_lines(name, figures[name]) for name in ("roc", "calibration") if figures.get(name)]
    if figures["hidden"] and (curves or figures.get("together")):
        yield Paragraph(
            f"The {len(figures['labels'])} labels with the most errors; {figures['hidden']:,} more are not drawn.",
            "soft",
        )
    if together := figures.get("together"):
        charts = tuple(_matrix(together, key, title) for key, title in _TOGETHER.items())
        alt = "Errors that occur in the same row: labels missed while others were added, and labels missed together."
        note = "Rows where the label at the left was missed: while another was added, and together with another."
        yield Figure(charts=charts, alt=alt, look="wide", note=note)
    if curves:
        yield Figure(charts=tuple(curves), alt="Curves of each label.")


_TOGETHER: Final = {
    "missed_added": "Missed (down), added (across)",
    "missed_missed": "Missed in the same row",
}


def _matrix(together: Mapping[str, Any], key: str, title: str) -> Chart:
    names, counts = [str(label) for label in together["labels"]], together[key]
    most = max((n for row in counts for n in row), default=0) or 1
    cells = [[{"text": f"{n:,}" if n else "", "share": n / most} for n in row] for row in counts]
    return Chart("matrix", ({"title": title, "rows": names, "columns": names, "cells": cells},))


def _lines(name: str, series: list[Mapping[str, Any]]) -> Chart:
    titles = {
        "roc": ("ROC by label", "false positive rate", "recall"),
        "calibration": ("Calibration by label", "mean score", "share true"),
    }
    title, x, y = titles[name]
    data = {"title": title, "x": x, "y": y, "series": series, "x_range": [0, 1], "y_range": [0, 1], "diagonal": True}
    return Chart("lines", (data,))
