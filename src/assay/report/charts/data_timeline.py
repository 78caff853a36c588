# SPDX-License-Identifier: Apache-2.0
"""When the rows of each data set were made: one bar a data set over a calendar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from typing import Final
from xml.sax.saxutils import escape

from assay.report import sentences
from assay.report.blocks.data_sources import Split
from assay.report.charts.svg import EM, Axis, _near
from assay.report.colours import LIGHT
from assay.report.fit_text import ems, fitted

LABEL, PLOT, TEXT, GAP, ROW, TOP = 110, 330, 170, 10, 24, 34
LONGEST: Final = 6
"""Dates below the chart."""
STEPS: Final = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000, 12_000, 36_000)
"""Months between them."""
YEAR: Final = 12


def timeline(splits: Sequence[Split]) -> str:
    """A chart of when each data set was made; nothing where fewer than two say so."""
    rows = [(one, one.span) for one in splits if one.span is not None]
    if len(rows) < 2:  # noqa: PLR2004
        return ""
    low, high = min(span[0] for _, span in rows), max(span[1] for _, span in rows)
    dates = list(_dates(low, high))
    scale = Axis(low=dates[0].timestamp(), high=dates[-1].timestamp(), ticks=tuple(one.timestamp() for one in dates))
    bottom = TOP + ROW * len(rows)
    width = LABEL + GAP + PLOT + GAP + TEXT
    labels, bars, texts = [], [], []
    for i, (one, span) in enumerate(rows):
        y = TOP + ROW * i + ROW / 2
        a, b = (scale.at(end, 0, PLOT) for end in span)
        labels.append(f'<text x="0" y="{_near(y + 4)}">{escape(fitted(one.name, LABEL / EM, ems))}</text>')
        bars.append(f"M{_near(a)} {_near(y)}H{_near(max(b, a + 2))}")
        texts.append(f'<text x="{PLOT + GAP}" y="{_near(y + 4)}">{escape(f"{one.begins} to {one.ends}")}</text>')
    grid = "".join(f"M{_near(scale.at(t, 0, PLOT))} {TOP - 4}V{bottom}" for t in scale.ticks)
    months = any(one.month > 1 for one in dates)
    numbers = "".join(
        f'<text x="{_near(scale.at(one.timestamp(), 0, PLOT))}" y="{bottom + 14}">'
        f"{one.year:04}{f'-{one.month:02}' if months else ''}</text>"
        for one in dates
    )
    told = sentences.timeline_described([(one.name, one.begins, one.ends) for one, _ in rows])
    return (
        f'<svg class="wideplot" role="img" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 24}"'
        f' width="{width}" height="{bottom + 24}" fill="currentColor" font-family="system-ui, sans-serif"'
        f' font-size="{EM}"><title>{sentences.TIMELINE}</title><desc>{escape(told)}</desc>'
        f'<text class="hd" x="0" y="14" font-weight="600" font-size="13">{sentences.TIMELINE}</text>'
        f'<g class="lb">{"".join(labels)}</g><g transform="translate({LABEL + GAP} 0)">'
        f'<path class="gr" stroke="currentColor" stroke-opacity=".18" d="{grid}"/>'
        f'<g class="ax" text-anchor="middle" font-size="10">{numbers}</g>'
        f'<path class="tk" stroke="{LIGHT.blue}" stroke-width="9" d="{"".join(bars)}"/>'
        f'<g class="so">{"".join(texts)}</g></g></svg>'
    )


def _dates(low: float, high: float) -> Iterator[datetime]:
    """Round dates around a stretch of time, few enough to be read."""
    first, last = (datetime.fromtimestamp(end, tz=UTC) for end in (low, high))
    begin, end = first.year * YEAR + first.month - 1, last.year * YEAR + last.month - 1
    step = next((one for one in STEPS if (end // one + 1) - begin // one <= LONGEST - 1), STEPS[-1])
    for i in range(begin // step, end // step + 2):
        year, month = divmod(i * step, YEAR)
        yield datetime(min(max(year, MINYEAR), MAXYEAR), month + 1, 1, tzinfo=UTC)
