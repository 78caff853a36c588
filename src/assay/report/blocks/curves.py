# SPDX-License-Identifier: Apache-2.0
"""The curves and operating points of a Record, ready to be drawn and listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

from assay.core.text import figure, visible
from assay.core.values import WORST
from assay.report import sentences_scores as sentences
from assay.report.blocks.calibration import Bin, Decision, Histogram, count_of, decision, histogram, reliability
from assay.report.blocks.det_axes import Deviates, errors, reached, window
from assay.report.estimate_rows import Entry, amount, entry, prose, real
from assay.report.fit_text import fitted
from assay.tally.base import count_from_json

Ends: TypeAlias = tuple[float, float, float, float, float]
"""A place on a curve; low and high end of the band that holds there, and of the one that holds everywhere."""
Gain: TypeAlias = tuple[float, float, float]
"""Share of rows called positive, share of positives found, and how many times chance that is."""
ASKED: Final = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
"""Shares of rows at which a table of gains has a row."""
LISTED: Final = 21
"""Points of a curve that its table lists; the Record has the others."""
MOST_PANELS: Final = 6
AREAS: Final = ("auroc", "average_precision", "equal_error_rate")
SURE: Final = ("recall", "specificity", "precision")
"""Rates of an operating point that are listed with their intervals; the Record has further ones."""
HEAD: Final = 26
"""Cells of a class name above its chart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a threshold puts a system on its curves."""

    fpr: float
    tpr: float
    precision: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One threshold and what it does, as text; of several classes to one of them."""

    threshold: str
    label: str
    chosen: str
    optimistic: bool
    tp: str
    fp: str
    fn: str
    tn: str
    recall: str
    specificity: str
    precision: str
    sure: Mapping[str, str] = field(default_factory=dict)
    """The intervals of these three, by name; none where the Record has none."""

    @property
    def rates(self) -> tuple[tuple[str, str], ...]:
        """Recall, specificity and precision, each with its interval or nothing."""
        return tuple((getattr(self, name), self.sure.get(name, "")) for name in SURE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One class against the rest at every threshold shown."""

    label: str
    head: str
    pr_head: str
    det_head: str
    area: str
    precision_area: str
    equal_error: str
    prevalence: float
    fpr: tuple[float, ...]
    tpr: tuple[float, ...]
    precision: tuple[float | None, ...]
    roc_band: tuple[Ends, ...]
    pr_band: tuple[Ends, ...]
    rows: tuple[Row, ...]
    gains: tuple[Gain, ...]
    gain_rows: tuple[tuple[str, str, str], ...]
    """Some of them, as text."""
    error_rows: tuple[tuple[str, str, str, str], ...]
    """False positive rates people ask about, and the last point not above: its two error rates and threshold."""
    points: str
    """Threshold, true and false positives of every point, for the slider."""
    default: int
    """The point the declared threshold leads to."""
    bins: tuple[Bin, ...] = ()
    decision: Decision | None = None
    pooled: bool = False
    """Whether these are the scores of all classes together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operating:
    """The threshold in force: its rows by cell, and where it stands."""

    threshold: str
    value: float
    chosen: str
    optimistic: bool
    row: Row
    place: Place
    positives: str
    negatives: str
    npv: str
    f1: str
    accuracy: str
    called: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The numbers of charts of several classes, side by side."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def _held(one: Bin | None) -> str:
    return "–" if one is None else f"{one.share:.3f} ({one.shown})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """What a report says of scores."""

    said: str
    curves: tuple[Curve, ...]
    hidden: int
    operating: tuple[Row, ...]
    now: Operating | None
    bins: tuple[Bin, ...]
    binning: str
    decision: Decision | None
    histogram: Histogram | None
    band: str
    positive: str
    top: tuple[Bin, ...] = ()
    """Of several classes: how often the class with the largest probability is the true one."""

    @property
    def errors(self) -> Deviates | None:
        """The axis of the error rates of all curves; None where no curve has two points to draw."""
        return window(errors(one.fpr, one.tpr) for one in self.curves)

    @property
    def misses(self) -> Side:
        """Of several classes: the false negative rate of each by false positive rate."""
        asked = [row[0] for row in self.curves[0].error_rows] if self.curves else []
        rows = tuple((a, *(one.error_rows[i][2] for one in self.curves)) for i, a in enumerate(asked))
        return Side(head=(sentences.ERRORS_HEAD[0], *(one.label for one in self.curves)), rows=rows)

    @property
    def shares(self) -> Side:
        """Of several classes: the share of each class by bin of its probability."""
        found = {one.label: {(a.low, a.high): a for a in one.bins} for one in self.curves if one.bins}
        bins = sorted({bin_ for held in found.values() for bin_ in held})
        return Side(
            head=("bin", *found),
            rows=tuple(
                (f"{low:.2g} to {high:.2g}", *(_held(held.get((low, high))) for held in found.values()))
                for low, high in bins
            ),
        )

    @property
    def benefits(self) -> Side:
        """Of several classes: the net benefit of calling each by its probability, by threshold."""
        found = {one.label: {t: model for t, model, _ in one.decision.rows} for one in self.curves if one.decision}
        every = dict.fromkeys(t for held in found.values() for t in held)
        rows = tuple((t, *(held.get(t, "–") for held in found.values())) for t in every)
        return Side(head=("threshold", *found), rows=rows)


def read_scores(content: Mapping[str, Any], estimates: Sequence[Mapping[str, Any]]) -> Scoring | None:
    """The part of a Record that speaks of scores, if it has one."""
    about = content.get("scores")
    if not about:
        return None
    areas = _areas(estimates)
    rows = [_row(one) for one in content.get("operating_points", ())]
    found = [one for one in content.get("curves", ()) if one.get("average") is None]
    pooled = [one for one in content.get("curves", ()) if one.get("average") == "micro"]
    now = _now(content)
    curves = tuple(_curve(one, areas, now) for one in (*found[:MOST_PANELS], *pooled))
    alone = found[0] if len(found) == 1 and not pooled else {}
    binning = next((one["reliability"]["binning"] for one in found if one.get("reliability")), "")
    return Scoring(
        said=prose(sentences.scores_said(about)),
        curves=curves,
        hidden=max(len(found) - MOST_PANELS, 0),
        operating=tuple(rows),
        now=now,
        bins=reliability(alone.get("reliability")),
        binning=visible(binning),
        decision=decision(alone.get("decision")),
        histogram=histogram(alone.get("histogram")),
        band=prose((found[0].get("band") or {}).get("method", "")) if found else "",
        positive="" if content.get("positive") is None else visible(content["positive"]),
        top=reliability(about.get("top_label")),
    )


def _areas(estimates: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], Entry]:
    wanted = {"auroc", "average_precision", "equal_error_rate", "auroc_micro", "average_precision_micro"}
    return {
        (str(one["measure"]), repr(one.get("class"))): entry(one)
        for one in estimates
        if one["measure"] in wanted and one.get("slice") is None
    }


def _said(one: Entry | None) -> str:
    if one is None:
        return ""
    return f"{one.shown} ({one.short})" if one.interval else one.shown


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _shown(value: float | None) -> str:
    return "∅" if value is None else figure(value)


def _threshold(content: object) -> str:
    value = real(content)
    if value is None:
        return sentences.NOBODY
    return sentences.EVERYBODY if value <= WORST else f"{value:.6g}"


def _row(one: Mapping[str, Any]) -> Row:
    tp, fp, fn, tn = (count_of(one[cell]) for cell in ("tp", "fp", "fn", "tn"))
    return Row(
        threshold=_threshold(one["threshold"]),
        label="" if one.get("class") is None else visible(one["class"]),
        chosen=prose(one.get("from", "")),
        optimistic=bool(one.get("optimistic")),
        **{cell: amount(count_from_json(one[cell])) for cell in ("tp", "fp", "fn", "tn")},
        recall=_shown(_share(tp, tp + fn)),
        specificity=_shown(_share(tn, tn + fp)),
        precision=_shown(_share(tp, tp + fp)),
        sure={
            str(rate["measure"]): entry(rate).short
            for rate in one.get("rates", ())
            if rate["measure"] in SURE and rate.get("low") is not None
        },
    )


def _now(content: Mapping[str, Any]) -> Operating | None:
    one = next((x for x in content.get("operating_points", ()) if x.get("in_force")), None)
    if one is None:
        return None
    tp, fp, fn, tn = (count_of(one[cell]) for cell in ("tp", "fp", "fn", "tn"))
    value = real(one["threshold"])
    return Operating(
        threshold=_threshold(one["threshold"]),
        value=0.0 if value is None else value,
        chosen=prose(one.get("from", "")),
        optimistic=bool(one.get("optimistic")),
        row=_row(one),
        place=Place(fpr=_share(fp, fp + tn) or 0.0, tpr=_share(tp, tp + fn) or 0.0, precision=_share(tp, tp + fp)),
        positives=amount(count_from_json(one["tp"]) + count_from_json(one["fn"])),
        negatives=amount(count_from_json(one["fp"]) + count_from_json(one["tn"])),
        npv=_shown(_share(tn, tn + fn)),
        f1=_shown(_share(2 * tp, 2 * tp + fp + fn)),
        accuracy=_shown(_share(tp + tn, tp + fp + fn + tn)),
        called=_shown(_share(tp + fp, tp + fp + fn + tn)),
    )


def _curve(one: Mapping[str, Any], areas: Mapping[tuple[str, str], Entry], now: Operating | None) -> Curve:
    positives, negatives = count_of(one["positives"]), count_of(one["negatives"])
    cells = [(real(t), count_of(tp), count_of(fp)) for t, tp, fp in one["points"]]
    band = one.get("band") or {}
    pooled = one.get("average") == "micro"
    label = sentences.POOLED if pooled else "" if one.get("class") is None else visible(one["class"])
    names = ("auroc_micro", "average_precision_micro", "") if pooled else AREAS
    area, precision_area, equal_error = (_said(areas.get((name, repr(one.get("class"))))) for name in names)
    step = max(1, -(-len(cells) // LISTED))
    listed = sorted({*range(0, len(cells), step), len(cells) - 1})
    fpr, tpr = [_share(fp, negatives) or 0.0 for *_, fp in cells], [_share(tp, positives) or 0.0 for _, tp, _ in cells]
    gained = tuple(gains(((tp, fp) for _, tp, fp in cells), positives, negatives))
    return Curve(
        label=label,
        head=_head(label, area),
        pr_head=_head(label, precision_area),
        det_head=_head(label, equal_error),
        area=area,
        precision_area=precision_area,
        equal_error=equal_error,
        prevalence=_share(positives, positives + negatives) or 0.0,
        fpr=tuple(fpr),
        tpr=tuple(tpr),
        precision=tuple(_share(tp, tp + fp) for _, tp, fp in cells),
        roc_band=_ends(band.get("roc", ())),
        pr_band=_ends(band.get("pr", ())),
        rows=tuple(_row(_cells(one["points"][i], one)) for i in listed),
        gains=gained,
        gain_rows=tuple((figure(a), figure(b), figure(c)) for a, b, c in nearest(gained)),
        error_rows=tuple(
            (f"{asked:g}", figure(fpr[i]), figure(1 - tpr[i]), _threshold(one["points"][i][0]))
            for asked, i in reached(fpr)
        ),
        points=";".join(f"{_scripted(t)},{tp:.10g},{fp:.10g}" for t, tp, fp in cells),
        default=_default(cells, now),
        bins=reliability(one.get("reliability")),
        decision=decision(one.get("decision")),
        pooled=pooled,
    )


def _scripted(threshold: float | None) -> str:
    """A threshold as a script reads it, to more digits than the slider shows."""
    return "" if threshold is None else f"{threshold:.7g}".replace("inf", "Infinity")


def _head(label: str, area: str) -> str:
    """The head of a chart of one class among several; a chart of two classes needs none."""
    shown = area.partition(" ")[0]
    return f"{fitted(label, HEAD)}: {shown}" if label and shown else fitted(label, HEAD) if label else ""


def _ends(band: Sequence[Sequence[float]]) -> tuple[Ends, ...]:
    return tuple(cast("Ends", tuple(float(x) for x in row)) for row in band)


def _default(cells: Sequence[tuple[float | None, float, float]], now: Operating | None) -> int:
    if now is None:
        return 0
    return max((i for i, (t, _, _) in enumerate(cells) if t is None or t >= now.value), default=0)


def _cells(point: Sequence[Any], one: Mapping[str, Any]) -> dict[str, Any]:
    threshold, tp, fp = point
    return {
        "threshold": threshold,
        "tp": tp,
        "fp": fp,
        "fn": _rest(one["positives"], tp),
        "tn": _rest(one["negatives"], fp),
    }


def _rest(whole: object, part: object) -> int | str:
    from assay.tally.base import count_to_json

    return count_to_json(count_from_json(whole) - count_from_json(part))


def gains(cells: Iterable[tuple[float, float]], positives: float, negatives: float) -> Iterator[Gain]:
    """Of true and false positives at each threshold, where any row is called.

    >>> list(gains([(0, 0), (2, 0), (2, 4)], 2, 4))
    [(0.3333333333333333, 1.0, 3.0), (1.0, 1.0, 1.0)]
    """
    whole = positives + negatives
    for tp, fp in cells:
        if tp + fp and positives:
            called, found = (tp + fp) / whole, tp / positives
            yield called, found, found / called


def nearest(every: Sequence[Gain]) -> Iterator[Gain]:
    """Of all places those nearest to the shares people ask about, each once."""
    chosen = {min(range(len(every)), key=lambda i: abs(every[i][0] - asked)) for asked in ASKED} if every else set()
    return (every[i] for i in sorted(chosen))
