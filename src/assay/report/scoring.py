# SPDX-License-Identifier: Apache-2.0
"""The curves and operating points of a Record, ready to be drawn and listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from assay.core.text import figure, visible
from assay.core.values import WORST
from assay.report import scoresentences as sentences
from assay.report.entries import Entry, amount, entry, prose, real
from assay.report.labels import fitted
from assay.tally.base import count_from_json

Ends: TypeAlias = tuple[float, float, float, float, float]
"""A place on a curve; low and high end of the band that holds there, and of the one that holds everywhere."""
LISTED: Final = 21
"""Points of a curve that its table lists; the Record has the others."""
MOST_PANELS: Final = 6
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
    """One threshold and what it does, as text."""

    threshold: str
    chosen: str
    optimistic: bool
    tp: str
    fp: str
    fn: str
    tn: str
    recall: str
    specificity: str
    precision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One class against the rest at every threshold shown."""

    label: str
    head: str
    pr_head: str
    area: str
    precision_area: str
    prevalence: float
    fpr: tuple[float, ...]
    tpr: tuple[float, ...]
    precision: tuple[float | None, ...]
    roc_band: tuple[Ends, ...]
    pr_band: tuple[Ends, ...]
    rows: tuple[Row, ...]
    points: str
    """Threshold, true and false positives of every point, for the slider."""
    default: int
    """The point the declared threshold leads to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Rows whose scores lie together: how large the scores are and how many rows are positive."""

    low: float
    high: float
    rows: float
    shown: str
    score: float
    share: float
    share_low: float | None
    share_high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Net benefit by threshold probability."""

    threshold: tuple[float, ...]
    model: tuple[float, ...]
    everyone: tuple[float, ...]
    ceiling: float
    best_from: str
    best_to: str
    rows: tuple[tuple[str, str, str], ...]
    """Some thresholds with the net benefit of the model and of calling every row positive, as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How many positives and negatives have scores between neighbouring edges."""

    edges: tuple[float, ...]
    positives: tuple[float, ...]
    negatives: tuple[float, ...]
    shown_positives: str
    shown_negatives: str
    rows: tuple[tuple[str, str, str], ...]
    """Edges with the positives and negatives between them, as text."""


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


def read_scores(content: Mapping[str, Any], estimates: Sequence[Mapping[str, Any]]) -> Scoring | None:
    """The part of a Record that speaks of scores, if it has one."""
    about = content.get("scores")
    if not about:
        return None
    areas = _areas(estimates)
    rows = [_row(one) for one in content.get("operating_points", ())]
    found = content.get("curves", ())
    now = _now(content)
    curves = tuple(_curve(one, areas, now) for one in found[:MOST_PANELS])
    alone = found[0] if len(found) == 1 else {}
    bins = tuple(_bin(one) for one in (alone.get("reliability") or {}).get("bins", ()))
    return Scoring(
        said=prose(sentences.scores_said(about)),
        curves=curves,
        hidden=len(found) - len(curves),
        operating=tuple(rows),
        now=now,
        bins=bins,
        binning=visible((alone.get("reliability") or {}).get("binning", "")),
        decision=_decision(alone.get("decision")),
        histogram=_histogram(alone.get("histogram")),
        band=prose((found[0].get("band") or {}).get("method", "")) if found else "",
        positive="" if content.get("positive") is None else visible(content["positive"]),
    )


def _areas(estimates: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], Entry]:
    wanted = {"auroc", "average_precision"}
    return {
        (str(one["measure"]), repr(one.get("class"))): entry(one)
        for one in estimates
        if one["measure"] in wanted and one.get("slice") is None
    }


def _said(one: Entry | None) -> str:
    if one is None:
        return ""
    return f"{one.shown} ({one.short})" if one.interval else one.shown


def _count(content: object) -> float:
    return float(count_from_json(content))


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
    tp, fp, fn, tn = (_count(one[cell]) for cell in ("tp", "fp", "fn", "tn"))
    return Row(
        threshold=_threshold(one["threshold"]),
        chosen=prose(one.get("from", "")),
        optimistic=bool(one.get("optimistic")),
        **{cell: amount(count_from_json(one[cell])) for cell in ("tp", "fp", "fn", "tn")},
        recall=_shown(_share(tp, tp + fn)),
        specificity=_shown(_share(tn, tn + fp)),
        precision=_shown(_share(tp, tp + fp)),
    )


def _now(content: Mapping[str, Any]) -> Operating | None:
    one = next((x for x in content.get("operating_points", ()) if x.get("in_force")), None)
    if one is None:
        return None
    tp, fp, fn, tn = (_count(one[cell]) for cell in ("tp", "fp", "fn", "tn"))
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
    positives, negatives = _count(one["positives"]), _count(one["negatives"])
    cells = [(real(t), _count(tp), _count(fp)) for t, tp, fp in one["points"]]
    band = one.get("band") or {}
    label = "" if one.get("class") is None else visible(one["class"])
    area, precision_area = (_said(areas.get((name, repr(one.get("class"))))) for name in ("auroc", "average_precision"))
    step = max(1, -(-len(cells) // LISTED))
    listed = sorted({*range(0, len(cells), step), len(cells) - 1})
    return Curve(
        label=label,
        head=_head(label, area),
        pr_head=_head(label, precision_area),
        area=area,
        precision_area=precision_area,
        prevalence=_share(positives, positives + negatives) or 0.0,
        fpr=tuple(_share(fp, negatives) or 0.0 for _, _, fp in cells),
        tpr=tuple(_share(tp, positives) or 0.0 for _, tp, _ in cells),
        precision=tuple(_share(tp, tp + fp) for _, tp, fp in cells),
        roc_band=_ends(band.get("roc", ())),
        pr_band=_ends(band.get("pr", ())),
        rows=tuple(_row(_cells(one["points"][i], one)) for i in listed),
        points=";".join(f"{_scripted(t)},{tp:g},{fp:g}" for t, tp, fp in cells),
        default=_default(cells, now),
    )


def _scripted(threshold: float | None) -> str:
    """A threshold as a script reads it."""
    return "" if threshold is None else repr(threshold).replace("inf", "Infinity")


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


def _bin(one: Sequence[Any]) -> Bin:
    low, high, rows, score, share, share_low, share_high = one
    return Bin(
        low=float(low),
        high=float(high),
        rows=_count(rows),
        shown=amount(count_from_json(rows)),
        score=float(score),
        share=float(share),
        share_low=real(share_low),
        share_high=real(share_high),
    )


def _decision(content: Sequence[Sequence[float]] | None) -> Decision | None:
    if not content:
        return None
    threshold, model, everyone = (tuple(float(row[i]) for row in content) for i in range(3))
    best = [t for t, a, b in zip(threshold, model, everyone, strict=True) if a > max(b, 0.0)]
    return Decision(
        threshold=threshold,
        model=model,
        everyone=everyone,
        ceiling=everyone[0],
        best_from=figure(best[0], digits=2) if best else "",
        best_to=figure(best[-1], digits=2) if best else "",
        rows=tuple(
            (f"{t:.2f}", figure(a), figure(b)) for t, a, b in list(zip(threshold, model, everyone, strict=True))[::5]
        ),
    )


def _histogram(content: Mapping[str, Any] | None) -> Histogram | None:
    if not content:
        return None
    sides = {side: tuple(_count(n) for n in content[side]) for side in ("positives", "negatives")}
    return Histogram(
        edges=tuple(float(x) for x in content["edges"]),
        positives=sides["positives"],
        negatives=sides["negatives"],
        shown_positives=_middle(content["edges"], sides["positives"]),
        shown_negatives=_middle(content["edges"], sides["negatives"]),
        rows=tuple(
            (f"{low:.4g} to {high:.4g}", amount(count_from_json(a)), amount(count_from_json(b)))
            for low, high, a, b in zip(
                content["edges"][:-1], content["edges"][1:], content["positives"], content["negatives"], strict=True
            )
        ),
    )


def _middle(edges: Sequence[float], counts: Sequence[float]) -> str:
    """Between which edges the middle row of a side stands."""
    seen, half = 0.0, sum(counts) / 2
    for i, n in enumerate(counts):
        seen += n
        if n and seen >= half:
            return f"{figure(float(edges[i]), digits=2)} to {figure(float(edges[i + 1]), digits=2)}"
    return ""
