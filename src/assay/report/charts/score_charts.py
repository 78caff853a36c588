# SPDX-License-Identifier: Apache-2.0
"""Charts of scores as small static SVG: ROC, precision-recall, error rates, gains, lift, reliability and others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from assay.report import sentences_scores as sentences
from assay.report.blocks.calibration import Bin, Decision, Histogram
from assay.report.blocks.curves import Curve, Ends, Place
from assay.report.blocks.det_axes import Deviates, chance, deviate, equal, errors, inside
from assay.report.charts.plane import LEFT, SIDE, TOP, Plane, Scale, path_text, round_axis
from assay.report.charts.plane import straightened as _straightened
from assay.report.charts.svg import Axis, _near
from assay.report.colours import LIGHT
from assay.report.fit_text import fitted

COLOURS: Final = {"ln": LIGHT.blue, "ln2": LIGHT.orange, "rf": "currentColor"}
"""Where no style sheet speaks, as on paper."""
WIDE: Final = 34
"""Cells of a class name above its chart."""
UNIT: Final = Axis(low=0.0, high=1.0, ticks=(0.0, 0.25, 0.5, 0.75, 1.0))


def roc(curve: Curve, place: Place | None = None) -> str:
    """True positive rate over false positive rate, its band, the line of chance, and where the threshold stands."""
    xs, ys = curve.fpr, curve.tpr
    body = _bands(curve.roc_band)
    body += [_line([(0, 0), (1, 1)], UNIT, UNIT, "rf"), _line(zip(xs, ys, strict=True), UNIT, UNIT, "ln")]
    if place is not None:
        body.append(_mark(place.fpr, place.tpr, "roc"))
    return _plane(
        sentences.ROC,
        sentences.roc_described(curve.area, curve.label),
        "".join(body),
        across=("false positive rate", UNIT),
        up=("true positive rate (recall)", UNIT),
        head=curve.head,
    )


def precision_recall(curve: Curve, place: Place | None = None) -> str:
    """Precision over recall, its band, the share of positives, and where the threshold stands."""
    there = [i for i, y in enumerate(curve.precision) if y is not None]
    points = [(curve.tpr[i], curve.precision[i] or 0.0) for i in there]
    body = _bands(curve.pr_band)
    level = curve.prevalence
    body += [_line([(0, level), (1, level)], UNIT, UNIT, "rf"), _steps(points, UNIT, UNIT, "ln")]
    if place is not None and place.precision is not None:
        body.append(_mark(place.tpr, place.precision, "pr"))
    return _plane(
        sentences.PRECISION_RECALL,
        sentences.pr_described(curve.precision_area, curve.label),
        "".join(body),
        across=("recall", UNIT),
        up=("precision", UNIT),
        head=curve.pr_head,
    )


def det(curve: Curve, axis: Deviates, place: Place | None = None) -> str:
    """False negative rate over false positive rate on axes of normal deviates, with band and equal-error point."""
    points = errors(curve.fpr, curve.tpr)
    ends = [
        (x, 1 - high, 1 - low, 1 - all_high, 1 - all_low)
        for x, low, high, all_low, all_high in curve.roc_band
        if axis.low <= deviate(x) <= axis.high
    ]
    body = _bands(ends, axis)
    body += [
        f'<path class="gr" stroke="currentColor" stroke-opacity=".18" d="M{LEFT} {TOP + SIDE}L{LEFT + SIDE} {TOP}"/>',
        _line(chance(axis), axis, axis, "rf") if chance(axis) else "",
        _line(inside(points, axis), axis, axis, "ln"),
    ]
    if place is not None:
        body.append(_mark(place.fpr, 1 - place.tpr, "det", axis))
    if (rate := equal(points)) is not None:
        x, y = _x(rate, axis), _y(rate, axis)
        body.append(f'<circle class="pt" fill="{LIGHT.blue}" cx="{x}" cy="{y}" r="3"/>')
        body.append(_said(float(x) + 9, float(y) - 6, sentences.EQUAL_ERROR, "start"))
    return _plane(
        sentences.DET,
        sentences.det_described(curve.equal_error, curve.label),
        "".join(body),
        across=("false positive rate", axis),
        up=("false negative rate", axis),
        head=curve.det_head,
        data=f' data-low="{axis.low:.4f}" data-high="{axis.high:.4f}"',
    )


def reliability(bins: Sequence[Bin], label: str = "", share_of: str = "share of positives") -> str:
    """The share of positives in each bin of scores, with its interval, over the mean score of the bin."""
    most = max((one.rows for one in bins), default=1.0) or 1.0
    bars = "".join(
        f'<rect x="{_x(one.low, UNIT)}" y="{_near(TOP + SIDE - 34 * one.rows / most)}"'
        f' width="{_near(SIDE * (one.high - one.low) - 1)}" height="{_near(34 * one.rows / most)}"/>'
        for one in bins
    )
    ends = "".join(
        f"M{_x(one.score, UNIT)} {_y(one.share_low, UNIT)}V{_y(one.share_high, UNIT)}"
        for one in bins
        if one.share_low is not None and one.share_high is not None
    )
    dots = "".join(f'<circle cx="{_x(b.score, UNIT)}" cy="{_y(b.share, UNIT)}" r="3.6"/>' for b in bins)
    body = (
        f'<g class="hs" fill-opacity=".25">{bars}</g>{_line([(0, 0), (1, 1)], UNIT, UNIT, "rf")}'
        f'<path class="iv" stroke="{LIGHT.blue}" stroke-width="4" stroke-opacity=".38" d="{ends}"/>'
        f'<g class="pt" fill="{LIGHT.blue}">{dots}</g>'
    )
    return _plane(
        sentences.RELIABILITY,
        sentences.reliability_described([(one.score, one.share) for one in bins], label, share_of),
        body,
        across=("mean predicted probability", UNIT),
        up=(share_of, UNIT),
        head=fitted(label, WIDE) if label else "",
    )


def top_label(bins: Sequence[Bin]) -> str:
    """How often the class with the largest probability is the true one, over that probability."""
    return reliability(bins, sentences.TOP_LABEL, "share that is right")


def decision(curve: Decision, label: str = "") -> str:
    """Net benefit over the threshold probability: of the model, of treating all, of treating none."""
    top = max((*curve.model, curve.ceiling), default=0.1)
    bottom = min(-0.15 * top, min(curve.model, default=0.0) if curve.model else 0.0)
    up = round_axis(max(bottom, -0.5 * top), top)
    across = UNIT
    lines = [
        _line([(0, 0), (1, 0)], across, up, "rf"),
        _line(_inside(zip(curve.threshold, curve.everyone, strict=True), up), across, up, "ln2"),
        _line(_inside(zip(curve.threshold, curve.model, strict=True), up), across, up, "ln"),
        _said(LEFT + SIDE * 0.55, float(_y(0, up)) + 13, "none", "middle"),
        _said(LEFT + SIDE * 0.62, float(_y(curve.model[len(curve.model) * 3 // 5], up)) - 8, "model", "start", "tb"),
    ]
    falls = [(x, y) for x, y in zip(curve.threshold, curve.everyone, strict=True) if y > up.low * 0.5]
    if falls:
        x, y = falls[-1]
        lines.append(_said(float(_x(x, across)) + 7, float(_y(y, up)), "all", "start", "to"))
    return _plane(
        sentences.DECISION,
        sentences.decision_described(curve.best_from, curve.best_to, label),
        "".join(lines),
        across=("threshold probability", across),
        up=("net benefit", up),
        head=fitted(label, WIDE) if label else "",
    )


def gains(curve: Curve) -> str:
    """The share of positives found over the share of rows called, between chance and a perfect order."""
    points = [(called, found) for called, found, _ in curve.gains]
    body = [
        _line([(0, 0), (1, 1)], UNIT, UNIT, "rf"),
        _line([(0, 0), (curve.prevalence, 1), (1, 1)], UNIT, UNIT, "ln2"),
        _line(points, UNIT, UNIT, "ln"),
    ]
    return _plane(
        sentences.GAINS,
        sentences.gains_described(curve.gain_rows, curve.label),
        "".join(body),
        across=("share of rows called positive", UNIT),
        up=("share of positives found", UNIT),
    )


def lift(curve: Curve) -> str:
    """How many times as many positives a call finds as calling at random would, over the share of rows called."""
    points = [(called, times) for called, _, times in curve.gains if called]
    top = max((y for _, y in points), default=1.0)
    up = round_axis(0.0, max(top, 1.0))
    body = [_line([(0, 1), (1, 1)], UNIT, up, "rf"), _line(points, UNIT, up, "ln")]
    return _plane(
        sentences.LIFT,
        sentences.lift_described(curve.gain_rows, curve.label),
        "".join(body),
        across=("share of rows called positive", UNIT),
        up=("lift", up),
    )


def histogram(found: Histogram, cut: float | None = None) -> str:
    """How many positives (above) and negatives (below the line) have each score."""
    low, high = found.edges[0], found.edges[-1]
    across = round_axis(low, high)
    most = {
        side: max(counts, default=0.0) or 1.0 for side, counts in (("up", found.positives), ("down", found.negatives))
    }
    middle = TOP + SIDE / 2
    parts: dict[str, list[str]] = {"up": [], "down": []}
    for side, counts in (("up", found.positives), ("down", found.negatives)):
        for i, n in enumerate(counts):
            if not n:
                continue
            a, b = (across.at(x, LEFT, LEFT + SIDE) for x in found.edges[i : i + 2])
            height = max(0.6, (SIDE / 2 - 4) * n / most[side])
            y = middle - height if side == "up" else middle
            parts[side].append(f"M{_near(a)} {_near(y)}h{_near(max(b - a - 0.6, 0.4))}v{_near(height)}H{_near(a)}z")
    line = ""
    if cut is not None:
        at = _near(across.at(cut, LEFT, LEFT + SIDE))
        line = f'<path id="cut" class="ct" stroke="currentColor" stroke-width="2" d="M{at} {TOP}V{TOP + SIDE}"/>'
    return _plane(
        sentences.HISTOGRAM,
        sentences.histogram_described(found.shown_positives, found.shown_negatives),
        f'<path class="up" fill="{LIGHT.orange}" d="{"".join(parts["up"])}"/>'
        f'<path class="dn" fill="{LIGHT.blue}" fill-opacity=".55" d="{"".join(parts["down"])}"/>'
        f'<path class="gr" stroke="currentColor" d="M{LEFT} {middle}H{LEFT + SIDE}"/>{line}'
        f"{_upright(TOP + SIDE // 4, 'positives', 'to')}{_upright(TOP + SIDE * 3 // 4, 'negatives', 'tb')}",
        across=("score", across),
        up=("", None),
        data=f' data-low="{across.low!r}" data-high="{across.high!r}"',
    )


def _said(x: float, y: float, text: str, anchor: str, kind: str = "so") -> str:
    """A word beside what it names, so that no legend is needed."""
    return f'<text class="{kind}" x="{_near(x)}" y="{_near(y)}" text-anchor="{anchor}" font-size="11">{text}</text>'


def _upright(y: int, text: str, kind: str) -> str:
    turned = f'transform="rotate(-90 {LEFT - 8} {y})" text-anchor="middle" font-size="11"'
    return f'<text class="{kind}" {turned} x="{LEFT - 8}" y="{y}">{text}</text>'


def _plane(
    title: str,
    described: str,
    body: str,
    *,
    across: tuple[str, Scale],
    up: tuple[str, Scale | None],
    head: str = "",
    data: str = "",
) -> str:
    """A frame with two named axes around what is drawn."""
    plane = Plane(across=across[1], up=up[1], names=(across[0], up[0]))
    return plane.draw(title, described, body, head=head, data=data)


def _inside(points: Iterable[tuple[float, float]], up: Scale) -> list[tuple[float, float]]:
    """The part of a line above the floor of a chart, ending where it meets it."""
    kept: list[tuple[float, float]] = []
    before: tuple[float, float] | None = None
    for x, y in points:
        if y < up.low:
            if before is not None and before[1] > up.low:
                part = (before[1] - up.low) / (before[1] - y)
                kept.append((before[0] + part * (x - before[0]), up.low))
            before = (x, y)
            break
        kept.append((x, y))
        before = (x, y)
    return kept


def _line(points: Iterable[tuple[float, float]], across: Scale, up: Scale, kind: str) -> str:
    path = _path([(_x(x, across), _y(y, up)) for x, y in points])
    dash = ' stroke-dasharray="3 3"' if kind == "rf" else ' stroke-width="2"'
    return f'<path class="{kind}" fill="none" stroke="{COLOURS[kind]}"{dash} d="{path}"/>'


def _steps(points: Sequence[tuple[float, float]], across: Scale, up: Scale, kind: str) -> str:
    """A line of steps: the precision of a recall holds back to the recall before, as average precision counts it."""
    if not points:
        return ""
    start = _y(points[0][1], up)
    path = f"M{_x(0, across)} {start}"
    for x, y in points:
        path += f"V{_y(y, up)}H{_x(x, across)}"
    return f'<path class="{kind}" fill="none" stroke="{COLOURS[kind]}" stroke-width="2" d="{path}"/>'


def _bands(ends: Sequence[Ends], axis: Scale = UNIT) -> list[str]:
    """The band that holds everywhere, and inside it the one that holds at each place alone."""
    if not ends:
        return []
    pairs = (
        ([(x, b) for x, *_, b in ends], [(x, a) for x, _, _, a, _ in ends]),
        ([(x, b) for x, _, b, _, _ in ends], [(x, a) for x, a, *_ in ends]),
    )
    return [_band(high, low, axis) for high, low in pairs]


def _band(high: Sequence[tuple[float, float]], low: Sequence[tuple[float, float]], axis: Scale) -> str:
    way = _placed((*high, *reversed(low)), axis)
    return f'<path class="bd" fill="{LIGHT.blue}" fill-opacity=".14" d="{_path(way)}Z"/>'


def _path(points: Sequence[tuple[str, str]]) -> str:
    """A path without what nobody sees: points on a straight line, to a fifth of a pixel."""
    return path_text(_straightened([(float(x), float(y)) for x, y in points]))


def _placed(points: Iterable[tuple[float, float]], axis: Scale) -> list[tuple[str, str]]:
    return [(_x(x, axis), _y(y, axis)) for x, y in points]


def _mark(x: float, y: float, name: str, axis: Scale = UNIT) -> str:
    look = f'fill="{LIGHT.card}" stroke="{LIGHT.blue}" stroke-width="3"'
    return f'<circle id="mark-{name}" class="mk" cx="{_x(x, axis)}" cy="{_y(y, axis)}" r="6" {look}/>'


def _x(value: float, across: Scale) -> str:
    return _near(across.at(value, LEFT, LEFT + SIDE))


def _y(value: float, up: Scale) -> str:
    return _near(TOP + SIDE - up.at(value, 0, SIDE))
