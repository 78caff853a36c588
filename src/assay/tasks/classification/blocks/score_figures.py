# SPDX-License-Identifier: Apache-2.0
"""The curves of a Record as data of charts: ROC, precision-recall, gains, lift, reliability and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from assay.core.blocks import Chart, chart
from assay.core.blocks.estimate_rows import Entry, entry, real, share
from assay.core.text import counted, phrases, visible
from assay.core.values import WORST
from assay.tally.base import count_from_json

Data: TypeAlias = dict[str, Any]
POOLED: Final = "all classes pooled"
UNIT: Final = [0, 1]
CALLED: Final = "share of rows called positive"
BELOW: Final = "the numbers are in the table below the chart."
PROBABILITY: Final = "mean predicted probability"
AREAS: Final = {"auroc": "AUROC", "average_precision": "average precision", "equal_error_rate": "equal error rate"}


def count_of(content: object) -> float:
    """A count of a Record as a number to draw."""
    return float(count_from_json(content))


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One class against the rest at every threshold drawn, from the strictest to the most lenient."""

    content: Mapping[str, Any]
    areas: Mapping[str, Entry]
    """AUROC, average precision and equal error rate, those that the Record has."""

    @property
    def pooled(self) -> bool:
        """Whether these are the scores of all classes together."""
        return self.content.get("average") == "micro"

    @property
    def label(self) -> str:
        """The class or model; nothing for the positive one of two classes."""
        name = self.content.get("model", self.content.get("class"))
        return POOLED if self.pooled else "" if name is None else visible(name)

    @cached_property
    def cells(self) -> list[tuple[float | None, float, float]]:
        """Threshold (None where no row is called), true positives and false positives."""
        return [(real(t), count_of(tp), count_of(fp)) for t, tp, fp in self.content["points"]]

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """Positives and negatives."""
        return count_of(self.content["positives"]), count_of(self.content["negatives"])

    @property
    def prevalence(self) -> float:
        """The share of positives."""
        return share(self.sizes[0], sum(self.sizes)) or 0.0

    @cached_property
    def rates(self) -> list[tuple[float, float, float | None]]:
        """False positive rate, true positive rate and precision at each threshold."""
        p, n = self.sizes
        return [(share(fp, n) or 0.0, share(tp, p) or 0.0, share(tp, tp + fp)) for _, tp, fp in self.cells]

    @cached_property
    def gains(self) -> list[tuple[float, float, float]]:
        """Share of rows called, share of positives found, and how many times chance that is; from no row on."""
        p, n = self.sizes
        curve_points = [((tp + fp) / (p + n), tp / p) for _, tp, fp in self.cells if p]
        lifts = [gain / called for called, gain in curve_points if called]
        # Rows of the highest score are called together, so the lift before them is theirs.
        return [(called, gain, gain / called if called else lifts[0]) for called, gain in curve_points] if lifts else []

    def bins(self) -> list[Data]:
        """The bins of reliability."""
        return read_bins(self.content.get("reliability"))

    def named(self, measure: str) -> str:
        """The class with its area, as a legend says it."""
        area = self.areas.get(measure)
        said = "" if area is None or not area.defined else area.shown
        return " ".join(filter(None, (self.label, said)))

    def alone(self, measure: str) -> str:
        """The area with its interval, of a curve that needs no name."""
        area = self.areas.get(measure)
        ends = f" ({area.short})" if area is not None and area.interval else ""
        return f"{AREAS[measure]} {area.shown}{ends}" if area is not None and area.defined else "model"


def read_bins(content: Mapping[str, Any] | None) -> list[Data]:
    """The bins of a Record: edges, rows, mean score, share of positives and its interval."""
    keys = ("low", "high", "rows", "score", "share", "share_low", "share_high")
    return [dict(zip(keys, row, strict=True)) for row in (content or {}).get("bins", ())]


def read_curves(record: Mapping[str, Any]) -> list[Curve]:
    """The curves of a Record with the areas under them; of a comparison one a model."""
    areas: dict[tuple[bool, str], dict[str, Entry]] = {}
    for estimate in record["estimates"]:
        kind = str(estimate["measure"]).removesuffix("_micro")
        if kind in AREAS and estimate.get("slice") is None:
            owner = (kind != estimate["measure"], repr(estimate.get("model") or estimate.get("class")))
            areas.setdefault(owner, {})[kind] = entry(estimate, str(record["task"]))
    owners = ((c.get("average") == "micro", repr(c.get("model") or c.get("class"))) for c in record.get("curves", ()))
    pairs = zip(record.get("curves", ()), owners, strict=True)
    return [Curve(content=content, areas=areas.get(owner, {})) for content, owner in pairs]


def worst_of(curves: Sequence[Curve], measure: str) -> Curve | None:
    """The class with the worst area; None where one stands alone, none has an area, or models are compared."""
    known = [
        (c.areas[measure].value or 0.0, c)
        for c in curves
        if not c.pooled and measure in c.areas and "model" not in c.content
    ]
    if len(curves) < 2 or not known:  # noqa: PLR2004
        return None
    return min(known, key=lambda pair: pair[0])[1]


def _series(curves: Sequence[Curve], measure: str, points: Mapping[int, list[Any]], **more: object) -> list[Data]:
    """One line a class: of several all are thin but the worst, which is named, and the pooled one."""
    worst = worst_of(curves, measure)
    series: list[Data] = []
    for i, curve in enumerate(curves):
        look: Data = {"name": curve.named(measure) if curve.label else curve.alone(measure)}
        if curve is worst:
            look["name"] = f"worst: {look['name']}"
        elif worst is not None and curve.pooled:
            look["dashed"] = True
        elif worst is not None:
            others = sum(not other.pooled for other in curves) - 1
            look = {"name": counted(others, "other class", "other classes"), "quiet": True}
        series.append({**look, "points": points[i], **more})
    return sorted(series, key=lambda line: (bool(line.get("quiet")), bool(line.get("dashed"))))


def _mark(name: str, x: float | None, y: float | None, text: str) -> list[Data]:
    return [] if x is None or y is None else [{"id": f"mark-{name}", "x": x, "y": y, "text": text}]


def _said(curves: Sequence[Curve], measure: str, what: str) -> str:
    """A curve for who cannot see it."""
    shown = [f"{c.label} {c.areas[measure].shown}".strip() for c in curves if measure in c.areas]
    areas = phrases(shown, most=6) or "not given"
    return f"{what}; {AREAS[measure]} {areas}; {BELOW}"


def _banded(curve: Curve, name: str, level: str) -> tuple[Data, Data]:
    """The two bands of a curve that stands alone, and how the legend names them."""
    rows = (curve.content.get("band") or {}).get(name, ())
    if not rows:
        return {}, {}
    band, outer = [[x, a, b] for x, a, b, _, _ in rows], [[x, a, b] for x, _, _, a, b in rows]
    return {"band": band, "outer": outer}, {"shaded": f"{level} band: at a place, whole curve"}


def _lines(title: str, x: str, y: str, series: Sequence[Data], **more: object) -> Chart:
    """Lines over the unit square, unless stated otherwise."""
    return chart("lines", title=title, x=x, y=y, **{"x_range": UNIT, "y_range": UNIT, **more}, series=series)


Place: TypeAlias = "tuple[float | None, float | None, float | None, str]"
"""False positive rate, true positive rate and precision of the threshold in force, and its name."""
NOWHERE: Final[Place] = (None, None, None, "")


def roc(curves: Sequence[Curve], place: Place = NOWHERE, level: str = "") -> Chart:
    """True positive rate over false positive rate, with the line of chance and where the threshold stands."""
    points = {i: [[x, y] for x, y, _ in curve.rates] for i, curve in enumerate(curves)}
    band, said = _banded(curves[0], "roc", level) if len(curves) == 1 else ({}, {})
    series, marks = _series(curves, "auroc", points, **band), _mark("roc", place[0], place[1], place[3])
    words = _said(curves, "auroc", "True positive rate over false positive rate")
    names = ("ROC curve", "false positive rate", "true positive rate (recall)")
    return _lines(*names, series, diagonal="chance", marks=marks, described=words, **said)


def precision_recall(curves: Sequence[Curve], place: Place = NOWHERE, level: str = "") -> Chart:
    """Precision over recall, with the share of positives and where the threshold stands."""
    points = {}
    for i, curve in enumerate(curves):
        known = [[y, z] for _, y, z in curve.rates if z is not None]
        # The precision of a recall holds back to the recall before, as average precision counts it.
        points[i] = [[0, known[0][1]], *known] if known else []
    band, said = _banded(curves[0], "pr", level) if len(curves) == 1 else ({}, {})
    series = _series(curves, "average_precision", points, step=True, **band)
    if len(curves) == 1:
        level_line = [[0, curves[0].prevalence], [1, curves[0].prevalence]]
        series.append({"name": "share of positives", "points": level_line, "chance": True})
    marks = _mark("pr", place[1], place[2], place[3])
    words = _said(curves, "average_precision", "Precision over recall")
    return _lines("Precision-recall curve", "recall", "precision", series, marks=marks, described=words, **said)


def gains(curve: Curve) -> Chart:
    """The share of positives found over the share of rows called, between chance and a perfect order."""
    series: list[Data] = [
        {"name": "model", "points": [[called, gain] for called, gain, _ in curve.gains]},
        {"name": "perfect order", "bare": True, "points": [[0, 0], [curve.prevalence, 1], [1, 1]]},
    ]
    return _lines("Gains", CALLED, "share of positives found", series, diagonal="chance")


def lift(curve: Curve) -> Chart:
    """How many times as many positives a call finds as calling at random would, over the share of rows called."""
    series: list[Data] = [
        {"name": "model", "points": [[called, times] for called, _, times in curve.gains]},
        {"name": "chance", "points": [[0, 1], [1, 1]], "chance": True},
        {"points": [[0, 0]], "quiet": True},
    ]
    return _lines("Lift", CALLED, "times chance", series, y_range=None)


def reliability(bins: Sequence[Data], said: str, title: str = "Reliability", up: str = "share of positives") -> Chart:
    """The share of positives in each bin of scores, with its interval, over the mean score of the bin."""
    most = max((count_of(b["rows"]) for b in bins), default=0.0) or 1.0
    ends = [[b["score"], b["share_low"], b["share_high"]] for b in bins if b["share_low"] is not None]
    gap = max(bins, key=lambda b: abs(b["score"] - b["share"]), default=None)
    widest = "No bin holds a row." if gap is None else (
        f"{counted(len(bins), 'bin')} of predicted probabilities; the widest gap is at {gap['score']:.2f}, where the "
        f"{up} is {gap['share']:.2f}; {BELOW}"
    )  # fmt: skip
    floor = [[b["low"], b["high"], count_of(b["rows"]) / most] for b in bins]
    points = [[b["score"], b["share"]] for b in bins]
    series = [{"name": said, "points": points, "band": ends, "whiskers": True}]
    return _lines(title, PROBABILITY, up, series, diagonal="calibrated", described=widest, floor=floor)


def reliability_of_classes(curves: Sequence[Curve]) -> Chart:
    """The share of each class by its probability: one line a class, all thin but the widest apart."""
    apart = {i: sum(count_of(b["rows"]) * abs(b["score"] - b["share"]) for b in c.bins()) for i, c in enumerate(curves)}
    worst = max(apart, key=lambda i: apart[i])
    others = counted(len(curves) - 1, "other class", "other classes")
    series = [
        {"name": f"worst: {c.label}" if i == worst else others, "quiet": i != worst,
         "points": [[b["score"], b["share"]] for b in c.bins()]}
        for i, c in enumerate(curves)
    ]  # fmt: skip
    return _lines("Reliability of each class", PROBABILITY, "share of the class", series, diagonal="calibrated")


def decision(curves: Sequence[Curve]) -> Chart:
    """Net benefit over the threshold probability: of the model, of calling every row, of calling none."""
    series: list[Data] = []
    for curve in curves:
        rows = curve.content["decision"]
        series.append({"name": curve.label or "model", "points": [[t, model] for t, model, _ in rows]})
        if len(curves) == 1:
            series.append({"name": "call every row", "points": [[t, every] for t, _, every in rows]})
    top = max(max(model, 0.01) for c in curves for _, model, _ in c.content["decision"])
    top = max([top, *(c.content["decision"][0][2] for c in curves)])
    low = min([-0.15 * top, *(max(model, -0.5 * top) for c in curves for _, model, _ in c.content["decision"])])
    series.append({"name": "call no row", "points": [[0, 0], [1, 0]], "chance": True})
    return _lines("Decision curve", "threshold probability", "net benefit", series, y_range=[low, top])


def histogram(curve: Curve, cut: float | None) -> Chart | None:
    """How the scores of positives and negatives are spread, each as shares of its class."""
    content = curve.content.get("histogram")
    if not content:
        return None
    sides = {
        side: [count_of(n) / (sum(map(count_of, content[side])) or 1.0) for n in content[side]]
        for side in ("positives", "negatives")
    }
    said = f"Shares of negatives as blocks and of positives as a line, by score; {BELOW}"
    return chart(
        "distribution", title="Scores by true class", x="score", y="share of the class", edges=content["edges"],
        described=said, name="negatives", counts=sides["negatives"],
        second={"name": "positives", "counts": sides["positives"]},
        marks=[] if cut is None else [{"id": "cut", "x": cut, "text": "threshold"}],
    )  # fmt: skip


def threshold_text(content: object) -> str:
    """A threshold as it is shown."""
    value = real(content)
    return "none called" if value is None else "every row" if value <= WORST else f"{value:.6g}"
