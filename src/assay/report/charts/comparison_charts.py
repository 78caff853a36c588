# SPDX-License-Identifier: Apache-2.0
"""Charts of a comparison: differences around zero, and mean ranks with what cannot be told apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from assay.core.text import figure
from assay.report.blocks.findings import FindingText, Ranks
from assay.report.charts.svg import DOT, EM, Axis, _near, _tick, step_of
from assay.report.fit_text import ems, fitted

LABEL, PLOT, TEXT, GAP, ROW, TOP = 190, 220, 150, 10, 24, 34
WIDE, LINE, STEP = 520, 62, 18


def differences(findings: Sequence[FindingText], level: str) -> str:
    """Point and interval of every difference between two models, with a line at zero."""
    rows = [one for one in findings if one.bounded]
    by = 100.0 if all(one.share for one in rows) else 1.0
    scale = _axis([by * x for one in rows for x in (one.low or 0.0, one.high or 0.0)])
    width, bottom = LABEL + GAP + PLOT + GAP + TEXT, TOP + ROW * len(rows)
    alone = len({one.pair for one in rows}) == 1
    minus = escape(fitted(rows[0].minus, 40, ems)) if alone and rows[0].minus else "first minus second"
    labels, bars, points, texts = [], [], [], []
    for i, one in enumerate(rows):
        y = TOP + ROW * i + ROW / 2
        name = one.about if alone and one.about else f"{one.about}: {one.pair}" if one.about else one.pair
        labels.append(f'<text x="0" y="{_near(y + 4)}">{escape(fitted(name, LABEL / EM, ems))}</text>')
        low, high, at = (scale.at(by * (x or 0.0), 0, PLOT) for x in (one.low, one.high, one.value))
        bars.append(f"M{_near(low)} {_near(y)}H{_near(high)}")
        full = "" if one.significant else ' fill="none" stroke="currentColor" stroke-width="1.5"'
        points.append(f'<circle cx="{_near(at)}" cy="{_near(y)}" r="{DOT}"{full}/>')
        texts.append(
            f'<text x="{PLOT + GAP}" y="{_near(y + 4)}">{escape(one.effect)} '
            f'<tspan class="so" font-size="10.5">p {escape(one.adjusted or one.p)}</tspan></text>'
        )
    zero = _near(scale.at(0.0, 0, PLOT))
    grid = "".join(f"M{_near(scale.at(t, 0, PLOT))} {TOP - 4}V{bottom}" for t in scale.ticks)
    numbers = "".join(
        f'<text x="{_near(scale.at(t, 0, PLOT))}" y="{bottom + 14}">{_tick(t)}</text>' for t in scale.ticks
    )
    told = f"{len(rows)} differences with {level} intervals; filled points are significant, open ones are not."
    head = f"Differences, {minus}, in {'points' if by > 1 else 'units of the measure'}"
    return (
        f'<svg class="wideplot" role="img" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 34}"'
        f' width="{width}" fill="currentColor" font-family="system-ui, sans-serif" font-size="{EM}">'
        f"<title>Differences between the models</title><desc>{escape(told)}</desc>"
        f'<text class="hd" x="0" y="14" font-weight="600" font-size="13">{head}</text>'
        f'<g class="lb">{"".join(labels)}</g><g transform="translate({LABEL + GAP} 0)">'
        f'<path class="gr" stroke="currentColor" stroke-opacity=".18" d="{grid}"/>'
        f'<path class="rf" stroke="currentColor" stroke-dasharray="3 3" d="M{zero} {TOP - 6}V{bottom}"/>'
        f'<g class="ax" text-anchor="middle" font-size="10">{numbers}</g>'
        f'<path class="iv" stroke="currentColor" stroke-width="5" stroke-opacity=".35" d="{"".join(bars)}"/>'
        f'<g class="pt">{"".join(points)}</g><g class="vl">{"".join(texts)}</g></g></svg>'
    )


def critical_difference(ranks: Ranks) -> str:
    """Mean ranks on a line, best at the left; a bar joins models that cannot be told apart."""
    k = len(ranks.places)
    half = math.ceil(k / 2)
    height = LINE + STEP * (half + 1) + 12 * len(ranks.cliques) + 20
    left, right = 150.0, WIDE - 150.0

    def at(rank: float) -> float:
        return left + (right - left) * (rank - 1) / max(k - 1, 1)

    ticks = "".join(
        f'<path class="gr" stroke="currentColor" d="M{_near(at(i))} {LINE - 5}V{LINE}"/>'
        f'<text class="ax" x="{_near(at(i))}" y="{LINE - 9}" text-anchor="middle" font-size="10">{i}</text>'
        for i in range(1, k + 1)
    )
    below = LINE + 12 * len(ranks.cliques) + 10
    names = []
    for i, (model, rank) in enumerate(ranks.places):
        first = i < half
        y = below + STEP * (i + 1 if first else k - i)
        x, anchor, edge = (left - 8, "end", left - 4) if first else (right + 8, "start", right + 4)
        shown = escape(fitted(model, 130 / EM, ems))
        names.append(
            f'<path class="rf" fill="none" stroke="currentColor" d="M{_near(at(rank))} {LINE}'
            f'V{_near(y)}H{_near(edge)}"/>'
            f'<text x="{_near(x)}" y="{_near(y + 4)}" text-anchor="{anchor}">{shown} '
            f'<tspan class="so" font-size="10">{escape(figure(rank, digits=2))}</tspan></text>'
        )
    value = dict(ranks.places)
    bars = "".join(
        f'<path class="iv" stroke="currentColor" stroke-width="5" stroke-opacity=".5" '
        f'd="M{_near(at(value[run[0]]) - 4)} {LINE + 10 + 12 * i}H{_near(at(value[run[-1]]) + 4)}"/>'
        for i, run in enumerate(ranks.cliques)
    )
    critical = ""
    if ranks.critical is not None:
        span = (right - left) * ranks.critical / max(k - 1, 1)
        critical = (
            f'<path class="tk" stroke="currentColor" stroke-width="2" '
            f'd="M{_near(left)} 22h{_near(min(span, right - left))}"/>'
            f'<text x="{_near(left)}" y="16">critical difference {escape(figure(ranks.critical, digits=2))}</text>'
        )
    groups = "; ".join(" and ".join(run) for run in ranks.cliques) or "none"
    order = ", ".join(f"{model} {figure(rank, digits=2)}" for model, rank in ranks.places)
    return (
        f'<svg class="wideplot" role="img" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {height}"'
        f' width="{WIDE}" fill="currentColor" font-family="system-ui, sans-serif" font-size="{EM}">'
        f"<title>Mean ranks, 1 being best</title><desc>{escape(order)}; not told apart: {escape(groups)}.</desc>"
        f'{critical}<path class="rf" stroke="currentColor" d="M{_near(left)} {LINE}H{_near(right)}"/>{ticks}'
        f"{bars}{''.join(names)}</svg>"
    )


def _axis(ends: Sequence[float]) -> Axis:
    low, high = min(0.0, *ends), max(0.0, *ends)
    step = step_of(max(high - low, 1e-9))
    start, stop = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    count = max(1, round((stop - start) / step))
    return Axis(low=start, high=max(stop, start + step), ticks=tuple(start + i * step for i in range(count + 1)))
