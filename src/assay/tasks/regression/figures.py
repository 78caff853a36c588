# SPDX-License-Identifier: Apache-2.0
"""What the pictures of a report need, small whatever the number of rows: counts on grids, quantiles, deciles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.inference.intervals.proportion import student_quantile
from assay.tasks.regression.summary import view_of
from assay.tasks.regression.sums import as_double
from assay.tasks.regression.views import View

if TYPE_CHECKING:
    from assay.core.arrays import Floats
    from assay.tasks.regression.tally import Residuals


CELLS: Final = 28
BINS: Final = 40
DRAWN: Final = 300
"""Rows up to which single points are drawn."""
OUTPUTS: Final = 3
"""Outputs that are drawn."""
TAIL: Final = 0.001
"""Share of the rows at each end that a picture may leave out."""
SHARES: Final = (0.5, 0.75, 0.9, 0.95, 0.99)
DECILES: Final = 10


def collect_figures(tally: Residuals, level: float) -> dict[str, Any]:
    """Data of the pictures of the first outputs."""
    if not tally.rows:
        return {}
    return {output: draw_output(view_of(tally, output), level) for output in tally.facts.outputs[:OUTPUTS]}


def draw_output(view: View, level: float) -> dict[str, Any]:
    """Data of the pictures of one output."""
    truth, error, counts = view.truth, view.error, view.counts
    predicted = truth - error
    points = view.rows <= DRAWN
    skewness, kurtosis = view.shape()
    drawn = {
        "predicted": cloud(truth, predicted, counts, points=points),
        "residuals": cloud(predicted, error, counts, points=points),
        "agreement": cloud((truth + predicted) / 2, -error, counts, points=points),
        "limits": _limits(view),
        "distribution": _distribution(error, counts),
        "quantiles": [[share, *view.quantile(share, absolute=True)] for share in SHARES],
        "above": [[size, view.count_above(size) / view.rows] for size in round_sizes(view)],
        "deciles": deciles(truth, error, counts, level),
        "shape": [skewness, kurtosis],
    }
    return drawn | _calibration(view)


def cloud(x: Floats, y: Floats, counts: Floats, *, points: bool) -> dict[str, Any]:
    """Counts on equal cells, and the points themselves where they are few."""
    ends = [_range(values, counts) for values in (x, y)]
    edges = [np.linspace(low, high, CELLS + 1) for low, high in ends]
    inside = (x >= ends[0][0]) & (x <= ends[0][1]) & (y >= ends[1][0]) & (y <= ends[1][1])
    table = np.histogram2d(y[inside], x[inside], bins=[edges[1], edges[0]], weights=counts[inside])[0]
    data: dict[str, Any] = {
        "x_edges": _short(edges[0]), "y_edges": _short(edges[1]), "counts": table.astype(int).tolist(),
        "outside": int(counts[~inside].sum()),
    }  # fmt: skip
    if points:
        data["points"] = [[_digits(a), _digits(b)] for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    return data


def _range(values: Floats, counts: Floats) -> tuple[float, float]:
    """From the smallest to the largest value, without the far tails of very many rows."""
    order = np.argsort(values, kind="stable")
    running = np.cumsum(counts[order])
    low, high = np.searchsorted(running, [TAIL * running[-1], (1 - TAIL) * running[-1]])
    first, last = float(values[order[low]]), float(values[order[min(high, len(order) - 1)]])
    pad = 0.02 * (last - first) or abs(first) * 0.01 or 1.0
    return first - pad, last + pad


def _short(values: Floats) -> list[float]:
    """Edges with the digits that tell them apart."""
    step = float(values[1] - values[0])
    places = max(0, 3 - math.floor(math.log10(step))) if step > 0 else 6
    return [round(float(value), places) for value in values]


def _digits(value: float) -> float:
    return float(f"{value:.5g}")


def _limits(view: View) -> list[float] | None:
    """Bias and limits of agreement."""
    n = view.rows
    if n <= 1:
        return None
    bias = -float(view.total["e"] / n)
    sd = math.sqrt(max(as_double(view.total["dede"] - view.total["de"] ** 2 / n), 0.0) / (n - 1))
    return [bias - 1.96 * sd, bias, bias + 1.96 * sd] if math.isfinite(sd) else None


def _distribution(error: Floats, counts: Floats) -> dict[str, Any]:
    low, high = _range(error, counts)
    edges = np.linspace(low, high, BINS + 1)
    return {"edges": _short(edges), "counts": np.histogram(error, edges, weights=counts)[0].astype(int).tolist()}


def round_sizes(view: View) -> list[float]:
    """Sizes of errors in round numbers, from the median to the largest."""
    median, largest = view.quantile(0.5, absolute=True)[0], float(view.total["max_abs"])
    if not largest > 0:
        return []
    start = median if median > 0 else largest / 100
    sizes = [base * 10.0**power for power in range(math.floor(math.log10(start)), 309) for base in (1.0, 2.0, 5.0)]
    return [float(f"{size:.0e}") for size in sizes if start / 2 <= size < largest][:6]


def deciles(truth: Floats, error: Floats, counts: Floats, level: float) -> list[list[float]]:
    """Mean absolute error in ten parts of the truth: ends, rows, value and the ends of a t interval."""
    order = np.argsort(truth, kind="stable")
    running = np.cumsum(counts[order])
    parts = np.minimum((running - counts[order] / 2) * DECILES // running[-1], DECILES - 1).astype(int)
    ties = np.concatenate([[True], truth[order][1:] != truth[order][:-1]])
    parts = parts[np.maximum.accumulate(np.where(ties, np.arange(len(parts)), 0))]  # equal truth stays together
    rows = []
    for part in sorted(set(parts.tolist())):
        chosen = order[parts == part]
        weights, sizes = counts[chosen], np.abs(error[chosen])
        n = float(weights.sum())
        mean = float((weights * sizes).sum()) / n
        with np.errstate(over="ignore"):
            squares = float((weights * (sizes - mean) ** 2).sum())
        spread = math.sqrt(max(squares, 0.0) / (n - 1) / n) if n > 1 else 0.0
        reach = student_quantile((1 + level) / 2, n - 1) * spread if 0 < spread < math.inf else 0.0
        ends = [float(truth[chosen].min()), float(truth[chosen].max())]
        rows.append([*map(_digits, ends), n, mean, max(mean - reach, 0.0), mean + reach])
    return rows


def _calibration(view: View) -> dict[str, Any]:
    """Stated against observed shares of predicted quantiles, and of the interval."""
    total, rows = view.total, view.rows
    levels = sorted(float(name.split(" ")[1]) for name in total if name.startswith("under "))
    data: dict[str, Any] = {}
    if levels:
        data["calibration"] = [[level, float(total[f"under {level!r}"] / rows)] for level in levels]
    if "cover" in total:
        data["coverage"] = [view.facts.interval_level, float(total["cover"] / rows), float(total["width"] / rows)]
    return data
