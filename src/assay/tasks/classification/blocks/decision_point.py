# SPDX-License-Identifier: Apache-2.0
"""The decision in force on the scores of a Record, its place on the curves, and the threshold a reader may move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from assay.core.blocks import Reach, Threshold
from assay.core.blocks.estimate_rows import amount, entry, prose, real, share
from assay.core.text import figure, visible
from assay.tally.base import count_from_json, count_to_json
from assay.tasks.classification.blocks import score_figures as figures
from assay.tasks.classification.blocks.score_figures import Curve, Data, Place, count_of, threshold_text

CELLS: Final = ("tp", "fp", "fn", "tn")
Cuts: TypeAlias = Sequence[tuple[float | None, float, float]]
OPTIMISTIC: Final = "chosen on the rows it is judged on, so the figures at it flatter"


class Scoring:
    """The part of a Record that speaks of scores, read once."""

    def __init__(self, record: Mapping[str, Any], level: str, unit: str) -> None:
        self.record, self.level, self.unit = record, level, unit
        self.curves = figures.read_curves(record)
        """With that of all classes pooled as the last."""
        self.alone = self.curves[0] if len(self.curves) == 1 else None
        """The curve of the positive class of two."""
        self.moved = self.alone or figures.worst_of(self.curves, "auroc") or next(iter(self.curves), None)
        """The curve whose threshold a reader may move: the only one, or that of the worst class."""
        self.point = _in_force(record)
        self.start = _start(self.moved.cells, self.point, record) if self.moved is not None else 0
        """The point of the moved curve where the threshold begins."""
        self.cut: Mapping[str, Any] | None = self.point if self.point and self.alone is not None else None
        """The cells at the decision in force, or at the start of the movable threshold."""
        if self.cut is None and self.moved is not None:
            self.cut = cells_at(self.moved, self.start)

    @property
    def place(self) -> Place:
        """Where the decision in force, or the movable threshold, stands on the curves."""
        if self.cut is None:
            return figures.NOWHERE
        tp, fp, fn, tn = (count_of(self.cut[cell]) for cell in CELLS)
        name = "labels as called" if self.cut.get("labels") else f"threshold {threshold_text(self.cut['threshold'])}"
        return share(fp, fp + tn) or 0.0, share(tp, tp + fn) or 0.0, share(tp, tp + fp), name

    def binned(self, content: Mapping[str, Any] | None, measure: str) -> str:
        """How many bins there are, and the calibration error that rests on the same ones."""
        whole = (e for e in self.record["estimates"] if e.get("slice") is None and e.get("class") is None)
        error = next(
            (entry(e, str(self.record["task"])) for e in whole if str(e["measure"]).partition("(")[0] == measure), None
        )
        name = "ECE" if measure == "expected_calibration_error" else "error"
        said = f", {name} {error.shown}" if error is not None and error.defined else ""
        return f"{visible((content or {}).get('binning', '')).removesuffix(' of equal width')}{said}"


def _in_force(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The decision in force, a threshold or labels given beside the scores; nothing where there is none."""
    for point in record.get("operating_points", ()):
        if point.get("in_force"):
            return dict(point)
    if (called := record["scores"].get("called")) is None:
        return {}
    return {"threshold": None, "from": "the labels that were given beside the scores", "labels": True, **called}


def _start(cells: Cuts, point: Mapping[str, Any], record: Mapping[str, Any]) -> int:
    """The point of a curve that a threshold in force, labels, or the middle of all probabilities stand at."""
    value = real(point.get("threshold"))
    if value is None and point:
        tp, fp = count_of(point["tp"]), count_of(point["fp"])
        return min(range(len(cells)), key=lambda i: abs(cells[i][1] - tp) + abs(cells[i][2] - fp), default=0)
    if value is None and record["scores"].get("kind") != "probability":
        return len(cells) // 2
    least = 0.5 if value is None else value
    return max((i for i, (t, _, _) in enumerate(cells) if t is None or t >= least), default=0)


def cells_at(curve: Curve, i: int) -> Data:
    """The four cells at a point of a curve."""
    threshold, tp, fp = curve.content["points"][i]
    rest = {
        name: count_to_json(count_from_json(curve.content[whole]) - count_from_json(part))
        for name, whole, part in (("fn", "positives", tp), ("tn", "negatives", fp))
    }
    return {"threshold": threshold, "tp": tp, "fp": fp, **rest}


def rate_text(part: float, whole: float) -> str:
    """A share as text; an empty set where the whole is nothing."""
    return figure(part / whole) if whole else "∅"


def cell_texts(point: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """True and false positives, false and true negatives."""
    tp, fp, fn, tn = (amount(count_from_json(point[cell])) for cell in CELLS)
    return tp, fp, fn, tn


def rate_texts(point: Mapping[str, Any]) -> tuple[str, str, str]:
    """Recall, specificity and precision."""
    tp, fp, fn, tn = (count_of(point[cell]) for cell in CELLS)
    return rate_text(tp, tp + fn), rate_text(tn, tn + fp), rate_text(tp, tp + fp)


def threshold_block(scoring: Scoring) -> Iterator[Threshold]:
    """What a threshold does to the rows, for a page to move; nothing where there is no curve."""
    curve, cut = scoring.moved, scoring.cut
    if curve is None or cut is None:
        return
    tp, fp, fn, tn = (count_of(cut[cell]) for cell in CELLS)
    recall, specificity, precision = rate_texts(cut)
    positive = curve.label or visible(scoring.record["positive"])
    free = "No threshold is in force; move this one to see what each would do."
    operating_point = scoring.point if scoring.alone is not None else {}
    yield Threshold(
        threshold="labels as called" if cut.get("labels") else threshold_text(cut["threshold"]),
        chosen=prose(operating_point.get("from", "")) if operating_point else free,
        warning=f"△ {OPTIMISTIC}" if operating_point.get("optimistic") else "",
        unit=scoring.unit,
        positive=positive,
        cells=cell_texts(cut),
        rates=(
            ("recall", "recall", recall),
            ("spec", "specificity", specificity),
            ("prec", "precision", precision),
            ("npv", "negative predictive value", rate_text(tn, tn + fn)),
            ("f1", "F1", rate_text(2 * tp, 2 * tp + fp + fn)),
            ("acc", "accuracy", rate_text(tp + tn, tp + fp + fn + tn)),
            ("call", "called positive", rate_text(tp + fp, tp + fp + fn + tn)),
        ),
        points=";".join(f"{_scripted(t)},{a:.10g},{b:.10g}" for t, a, b in curve.cells),
        at=scoring.start,
        reach=Reach.FULL,
    )


def _scripted(threshold: float | None) -> str:
    """A threshold as a script reads it, to more digits than the slider shows."""
    return "" if threshold is None else f"{threshold:.7g}".replace("inf", "Infinity")
