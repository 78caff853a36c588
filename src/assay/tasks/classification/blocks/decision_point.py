# SPDX-License-Identifier: Apache-2.0
"""The decision in force on the scores of a Record, its place on the curves, and the threshold a reader may move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from assay.core.blocks import Reach, Threshold
from assay.core.blocks.estimate_rows import amount, entry, prose, real, share
from assay.core.text import figure, visible
from assay.tally.base import count_from_json, count_to_json
from assay.tasks.classification.blocks import score_figures as figures
from assay.tasks.classification.blocks.score_figures import Curve, Data, Place, count_of, threshold_text

CELLS: Final = ("tp", "fp", "fn", "tn")
OPTIMISTIC: Final = "chosen on the rows it is judged on, so the figures at it flatter"


@dataclass(frozen=True)
class Scoring:
    """The part of a Record that speaks of scores, read once."""

    record: Mapping[str, Any]
    level: str
    unit: str

    @cached_property
    def curves(self) -> list[Curve]:
        """The curves, with that of all classes pooled as the last."""
        return figures.read_curves(self.record)

    @property
    def alone(self) -> Curve | None:
        """The curve of the positive class of two."""
        return self.curves[0] if len(self.curves) == 1 else None

    @cached_property
    def moved(self) -> Curve | None:
        """The curve whose threshold a reader may move: the only one, or that of the worst class."""
        return self.alone or figures.worst_of(self.curves, "auroc") or next(iter(self.curves), None)

    @cached_property
    def point(self) -> Mapping[str, Any]:
        """The decision in force, a threshold or labels given beside the scores; nothing where there is none."""
        points = self.record.get("operating_points", ())
        in_force = next((point for point in points if point.get("in_force")), None)
        called = self.record["scores"].get("called")
        if in_force is not None or called is None:
            return in_force or {}
        return {"threshold": None, "from": "the labels that were given beside the scores", "labels": True, **called}

    @property
    def start(self) -> int:
        """The point of the moved curve where the threshold begins."""
        cells = self.moved.cells if self.moved is not None else []
        value = real(self.point.get("threshold"))
        if value is not None:
            return max((i for i, (t, _, _) in enumerate(cells) if t is None or t >= value), default=0)
        if self.point:
            tp, fp = count_of(self.point["tp"]), count_of(self.point["fp"])
            return min(range(len(cells)), key=lambda i: abs(cells[i][1] - tp) + abs(cells[i][2] - fp), default=0)
        if self.record["scores"].get("kind") == "probability":
            return max((i for i, (t, _, _) in enumerate(cells) if t is None or t >= 0.5), default=0)  # noqa: PLR2004
        return len(cells) // 2

    @property
    def place(self) -> Place:
        """Where the decision in force, or the movable threshold, stands on the curves."""
        cut = self.cut
        if cut is None:
            return figures.NOWHERE
        tp, fp, fn, tn = (count_of(cut[cell]) for cell in CELLS)
        name = "labels as called" if cut.get("labels") else f"threshold {threshold_text(cut['threshold'])}"
        return share(fp, fp + tn) or 0.0, share(tp, tp + fn) or 0.0, share(tp, tp + fp), name

    @property
    def cut(self) -> Mapping[str, Any] | None:
        """The cells at the decision in force, or at the start of the movable threshold."""
        if self.point and self.alone is not None:
            return self.point
        return None if self.moved is None else cells_at(self.moved, self.start)

    def binned(self, content: Mapping[str, Any] | None, measure: str) -> str:
        """How many bins there are, and the calibration error that rests on the same ones."""
        whole = (e for e in self.record["estimates"] if e.get("slice") is None and e.get("class") is None)
        error = next(
            (entry(e, str(self.record["task"])) for e in whole if str(e["measure"]).partition("(")[0] == measure), None
        )
        name = "ECE" if measure == "expected_calibration_error" else "error"
        said = f", {name} {error.shown}" if error is not None and error.defined else ""
        return f"{visible((content or {}).get('binning', '')).removesuffix(' of equal width')}{said}"


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
