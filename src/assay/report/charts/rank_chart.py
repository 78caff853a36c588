# SPDX-License-Identifier: Apache-2.0
"""Mean ranks of models on a line, with what cannot be told apart."""

from __future__ import annotations

import math
from xml.sax.saxutils import escape

from assay.core.text import figure
from assay.report.blocks.findings import Ranks
from assay.report.charts.plane import near, svg_document
from assay.report.fit_text import ems, fitted

WIDE, LINE, STEP, EM = 520, 82, 18, 11.5


def critical_difference(ranks: Ranks) -> str:
    """Mean ranks on a line, best at the left; a bar joins models that cannot be told apart."""
    k = len(ranks.places)
    half = math.ceil(k / 2)
    height = LINE + STEP * (half + 1) + 12 * len(ranks.cliques) + 20
    left, right = 150.0, WIDE - 150.0

    def at(rank: float) -> float:
        return left + (right - left) * (rank - 1) / max(k - 1, 1)

    ticks = "".join(
        f'<path class="gr" stroke="currentColor" d="M{near(at(i))} {LINE - 5}V{LINE}"/>'
        f'<text class="ax" x="{near(at(i))}" y="{LINE - 9}" text-anchor="middle" font-size="10">{i}</text>'
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
            f'<path class="rf" fill="none" stroke="currentColor" d="M{near(at(rank))} {LINE}'
            f'V{near(y)}H{near(edge)}"/>'
            f'<text x="{near(x)}" y="{near(y + 4)}" text-anchor="{anchor}">{shown} '
            f'<tspan class="so" font-size="10">{escape(figure(rank, digits=2))}</tspan></text>'
        )
    value = dict(ranks.places)
    bars = "".join(
        f'<path class="iv" stroke="currentColor" stroke-width="5" stroke-opacity=".5" '
        f'd="M{near(at(value[run[0]]) - 4)} {LINE + 10 + 12 * i}H{near(at(value[run[-1]]) + 4)}"/>'
        for i, run in enumerate(ranks.cliques)
    )
    critical = ""
    if ranks.critical is not None:
        span = (right - left) * ranks.critical / max(k - 1, 1)
        critical = (
            f'<path class="tk" stroke="currentColor" stroke-width="2" '
            f'd="M{near(left)} 42h{near(min(span, right - left))}"/>'
            f'<text x="{near(left)}" y="36">critical difference {escape(figure(ranks.critical, digits=2))}</text>'
        )
    groups = "; ".join(" and ".join(run) for run in ranks.cliques) or "none"
    order = ", ".join(f"{model} {figure(rank, digits=2)}" for model, rank in ranks.places)
    line = f'<path class="rf" stroke="currentColor" d="M{near(left)} {LINE}H{near(right)}"/>'
    body = f'<g font-size="{EM}">{critical}{line}{ticks}{bars}{"".join(names)}</g>'
    described = f"{order}; not told apart: {groups}."
    return svg_document("wideplot", (WIDE, height), "Mean ranks, 1 being best", described, body)
