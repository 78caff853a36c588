# SPDX-License-Identifier: Apache-2.0
"""The curves of a Record, thinned to what a chart can show, with every count they rest on; and its operating points.

An operating point has the four cells at a declared threshold, and the rates there with their intervals.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from assay.core.labels import Label
from assay.core.values import WORST, Share, Undefined
from assay.inference.estimates import build_estimate, real_to_json
from assay.inference.intervals.interval_choice import Uncertainty
from assay.inference.intervals.proportion import of_share
from assay.inference.intervals.score_draws import Band, Curve, band
from assay.measures import parse
from assay.tally.base import Count, Weight, count_to_json
from assay.tally.calibration_bins import BINS, CalibrationBins
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.one_vs_rest import Binary
from assay.tally.scores.ranked_table import Linked, Ranked
from assay.tally.scores.row_probabilities import RIGHT
from assay.tally.scores.score_tally import Scores
from assay.tasks.classification.measures.expected_costs import decision_curve
from assay.tasks.classification.score_part import ScorePart, Threshold
from assay.tasks.classification.settings import name_sides

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from assay.inference.intervals.interval_choice import Wanted
    from assay.tally.paired.joint_scores import PairedScores
    from assay.tasks.classification.tally import Classified

    Floats: TypeAlias = NDArray[np.float64]

POINTS: Final = 120
"""Points of a curve of two classes; with bands, a page of 1,000 rows stays below 150 KB."""
CLASS_POINTS: Final = 48
MOST_CLASSES: Final = 12
BAND: Final = 32
"""Places at which a band is held."""
CLASS_BAND: Final = 16
BARS: Final = 40
DECISIONS: Final = 100
"""Steps of a decision curve from 0 to 1."""
CLASS_DECISIONS: Final = 40
CELLS: Final = ("tp", "fp", "fn", "tn")
RATES: Final = ("recall", "false_positive_rate", "specificity", "precision", "negative_predictive_value")
"""What is told of a threshold beside its cells (TS 4213, clause 8 and Annex B)."""
FLATTERS: Final = "the threshold was chosen on these rows, so the value flatters"


def sections(tally: Classified, part: ScorePart, wanted: Wanted) -> dict[str, Any]:
    """The parts of a Record that speak of scores: what they are, curves, operating points."""
    positive, several = tally.positive, tally.positive is None
    labels = [positive] if positive is not None else _largest(part)
    stored = part.as_stored.whole  # so that whoever has the Record draws the same curves
    tables = {label: stored.one_vs_rest(label) for label in labels}
    first = next(iter(tables.values()))
    probability = part.probability
    drawn = partial(
        curve, thresholds=part.thresholds, wanted=wanted, probability=probability, linked=part.link is not None
    )
    curves = [drawn(table, label if several else None) for label, table in tables.items()]
    if several:
        curves.append(pooled(stored))
    # The cells of two classes as they were called, by labels of their own or by the scores.
    called = tally.confusion.binary(positive) if positive is not None and tally.called else None
    in_force, by_row = None if tally.confusion.weighted else called, part.as_stored.by_row
    top = {} if by_row is None else {"top_label": _reliability(by_row.top.one_vs_rest(RIGHT), wanted)}
    return {
        "scores": {
            **part.facts(),
            **part.mended(),
            "columns": len(part.whole.columns),
            **({} if stored.rounding is None else {"significant_bits": stored.rounding.bits}),
            "distinct": stored.distinct if several else len(first.score),
            "tied_pairs": None if several else tied_pairs(first),
            **top,
            **({"called": cells_to_json(called)} if called is not None and part.decided is None else {}),
        },
        "curves": [one for one in curves if one is not None],
        "operating_points": [
            point
            for label in labels
            for point in operating_points(part, label, several=several, wanted=wanted, in_force=in_force)
        ],
    }


def _largest(part: ScorePart) -> list[Label]:
    sizes = part.whole.sizes()
    order = sorted(range(len(sizes)), key=lambda i: (-sizes[i], i))[:MOST_CLASSES]
    return [part.whole.labels[i] for i in sorted(order)]


def tied_pairs(table: Ranked) -> float | None:
    """The share of pairs of a positive and a negative that have the same score."""
    pairs = float(table.positives) * float(table.negatives)
    return float(np.dot(table.pos.astype(np.float64), table.neg.astype(np.float64))) / pairs if pairs else None


def curve(
    table: Ranked,
    label: Label | None,
    thresholds: Sequence[Threshold],
    *,
    wanted: Wanted,
    probability: bool,
    linked: bool,
) -> dict[str, Any] | None:
    """One class against the rest: points from the strictest threshold to the most lenient one, bands, and bins.

    None where a class has no rows, or all. The curve of two classes stands alone, names none and is drawn larger.
    """
    alone = label is None
    if not table.positives or not table.negatives:
        return None
    points, places = _points(table, thresholds, POINTS if alone else CLASS_POINTS)
    out = {"class": label, **points}
    if table.exact:
        out["band"] = _bands(table, *places, wanted, BAND if alone else CLASS_BAND)
    if alone:
        out["histogram"] = _histogram(table, probability=probability and not linked)
    chances = Linked.of(table) if linked else table
    out["reliability"] = _reliability(chances, wanted) if probability else None
    out["decision"] = _decision(chances, DECISIONS if alone else CLASS_DECISIONS) if probability else None
    return out


def pooled(scores: Scores) -> dict[str, Any] | None:
    """The curve of all scores pooled, each positive for the true class of its row; rows enter once for each class."""
    table = scores.micro()
    if not table.positives or not table.negatives:
        return None
    return {"class": None, "average": "micro", **_points(table, (), CLASS_POINTS)[0]}


def _points(table: Ranked, thresholds: Sequence[Threshold], most: int) -> tuple[dict[str, Any], tuple[Floats, Floats]]:
    """Thinned points with the sizes of both sides, and the rates at these points."""
    score, tp, fp = (np.asarray(one)[::-1] for one in (table.score, table.tp, table.fp))
    with_start = [np.concatenate([[0], one]) for one in (tp, fp)]
    tpr, fpr = with_start[0] / float(table.positives), with_start[1] / float(table.negatives)
    called = with_start[0] + with_start[1]
    precision = np.divide(with_start[0], called, out=np.ones(len(called)), where=called > 0)
    keep = [int(np.searchsorted(-score, -one.value, side="right")) for one in thresholds]
    places = thinned(np.column_stack([fpr, tpr, precision]), most, keep)
    points = [
        [
            None if i == 0 else _threshold(float(score[i - 1])),
            count_to_json(whole(with_start[0][i])),
            count_to_json(whole(with_start[1][i])),
        ]
        for i in places.tolist()
    ]
    sizes = {side: count_to_json(whole(getattr(table, side))) for side in ("positives", "negatives")}
    return {**sizes, "points": points}, (fpr[places], tpr[places])


def model_curve(scores: PairedScores, model: str) -> dict[str, Any]:
    """The points of one of several models, without thresholds, for a comparison may keep only the order of scores."""
    i = scores.models.index(model)
    sides, times = (scores.positives[i], scores.negatives[i]), scores.counts()
    levels = np.unique(np.concatenate(sides))
    pairs, size = zip(sides, times, strict=True), len(levels)
    counts = [np.bincount(np.searchsorted(levels, side), weights=n, minlength=size) for side, n in pairs]
    tp, fp = (np.concatenate([[0.0], np.cumsum(side[::-1])]) for side in counts)
    places = thinned(np.column_stack([fp / fp[-1], tp / tp[-1]]), POINTS // 2)
    points = [[None, int(tp[at]), int(fp[at])] for at in places.tolist()]
    return {"model": model, "positives": int(tp[-1]), "negatives": int(fp[-1]), "points": points}


def _threshold(score: float) -> float | str:
    """A threshold of a curve; the one that calls also the rows without a score is below every number."""
    return real_to_json(-math.inf if score == WORST else score)


def _bands(table: Ranked, fpr: Floats, tpr: Floats, wanted: Wanted, most: int) -> dict[str, Any]:
    """At some places of each curve: the ends of the band that holds there, and of the one that holds everywhere."""
    fine: dict[Curve, Floats] = {"roc": _fine(fpr, most), "pr": _fine(tpr, most)[1:]}
    bands = {name: band(name, table, wanted, at, partial(_bent, most=most)) for name, at in fine.items()}
    drawn = {name: getattr(bands["roc"], name) for name in ("method", "level", "draws", "seed")}
    for name, one in bands.items():
        ends = np.column_stack([one.place, one.low, one.high, one.all_low, one.all_high])
        drawn[name] = ends.round(6).tolist()
    return drawn


def _fine(places: Floats, most: int) -> Floats:
    """Every place of a curve, and some evenly spread."""
    return np.unique(np.concatenate([np.linspace(0, 1, most // 2), places]))


def _bent(fine_band: Band, most: int) -> NDArray[np.int64]:
    """Evenly spread places of a band, and as many where it bends most, so that it can be drawn straight in between."""
    even = np.flatnonzero(np.isin(fine_band.place, np.linspace(0, 1, most // 2)))
    return thinned(np.column_stack([fine_band.place, fine_band.low, fine_band.high]), most - most // 2, even)


def _histogram(table: Ranked, *, probability: bool) -> dict[str, Any] | None:
    there = slice(int(table.score[0] == WORST), None)  # rows without a score stand nowhere
    score = table.score[there]
    if not len(score):
        return None
    low, high = (0.0, 1.0) if probability else (float(score[0]), float(score[-1]))
    high = high if high > low else low + 1.0
    edges = np.linspace(low, high, BARS + 1)
    place = np.clip(np.searchsorted(edges, score, side="right") - 1, 0, BARS - 1)
    sides = {}
    for name, counts in (("positives", table.pos), ("negatives", table.neg)):
        sums = np.bincount(place, weights=counts[there], minlength=BARS)
        sides[name] = [count_to_json(whole(float(x))) for x in sums]
    return {"edges": edges.tolist(), **sides}


def _reliability(table: Ranked, wanted: Wanted) -> dict[str, Any]:
    calibration_bins = CalibrationBins.of(table, BINS)  # those of the calibration errors beside the diagram
    bins = []
    for i, n in enumerate(calibration_bins.count):
        if not n:
            continue
        hits = calibration_bins.positive[i]
        low, high = of_share(int(hits), int(n), wanted.level, wanted.shares) if table.exact else (None, None)
        edges, means = calibration_bins.edges[i : i + 2], calibration_bins.mean_score[i]
        bins.append([*edges, count_to_json(n), means, calibration_bins.positive_share[i], low, high])
    return {"binning": f"{BINS} bins of equal width", "bins": bins}


def _decision(table: Ranked, steps: int) -> list[list[float]]:
    at = np.arange(1, steps) / steps
    model, everyone = decision_curve(table, at)
    return cast("list[list[float]]", np.column_stack([at, model, everyone]).tolist())


FINE: Final = 4096
"""A longer curve is first cut to points evenly spread along it, each nearer to the next than a pixel."""
FLAT: Final = 2e-4
"""A bend below this share of the chart's side cannot be seen."""


def thinned(curve: NDArray[np.float64], most: int, keep: Iterable[int] = ()) -> NDArray[np.int64]:
    """Places of at most `most` points (besides those to keep) of a curve given as rows of coordinates from 0 to 1.

    >>> thinned(np.array([[0, 0], [0.5, 0.5], [1, 1.0]]), 2).tolist()
    [0, 2]
    """
    places = _spread(curve)
    points = curve[places]
    chosen = {0, len(points) - 1}
    heap = [_widest(points, 0, len(points) - 1)]
    while heap and len(chosen) < most:
        bend, place, start, end = heapq.heappop(heap)
        if -bend < FLAT:
            break
        chosen.add(place)
        for a, b in ((start, place), (place, end)):
            if b - a > 1:
                heapq.heappush(heap, _widest(points, a, b))
    return np.unique(np.concatenate([places[sorted(chosen)], np.asarray(list(keep), dtype=np.int64)]))


def _spread(curve: NDArray[np.float64]) -> NDArray[np.int64]:
    if len(curve) <= FINE:
        return np.arange(len(curve))
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(curve, axis=0)).sum(axis=1))])
    wanted = np.searchsorted(way, np.linspace(0, way[-1], FINE))
    return np.unique(np.concatenate([[0], wanted.clip(max=len(curve) - 1), [len(curve) - 1]]))


def _widest(points: NDArray[np.float64], start: int, end: int) -> tuple[float, int, int, int]:
    """The point farthest from the straight line between two others."""
    if end - start < 2:  # noqa: PLR2004  nothing between
        return 0.0, start, start, end
    base, way = points[start], points[end] - points[start]
    inner = points[start + 1 : end] - base
    length = float(way @ way)
    along = inner @ way / length if length else np.zeros(len(inner))
    apart = np.abs(inner - along[:, None].clip(0, 1) * way).max(axis=1)
    place = int(np.argmax(apart))
    return -float(apart[place]), start + 1 + place, start, end


def operating_points(
    part: ScorePart, label: Label, *, several: bool, wanted: Wanted, in_force: Binary | None
) -> list[dict[str, Any]]:
    """Cells and rates at each declared threshold for one class; the first decides where predictions were not given."""
    table = part.whole.one_vs_rest(label)
    out: list[dict[str, Any]] = []
    for place, threshold in enumerate(part.thresholds):
        decides = place == 0 and part.decided == "threshold"
        # Rows were called one by one, so the cells in force are known even where scores were rounded.
        cells = in_force if decides and in_force is not None else table.at(threshold.value)
        out.append(
            {
                **({"class": label} if several else {}),
                "threshold": threshold.value,
                "from": threshold.chosen,
                "optimistic": threshold.optimistic,
                "in_force": decides,
                **cells_to_json(cells),
                "rates": rates(
                    cells,
                    label=label if several else None,
                    named=name_sides(part.whole.labels, label),
                    optimistic=threshold.optimistic,
                    wanted=wanted,
                    squares=part.whole.squares_at(label, threshold.value),
                ),
            }
        )
    return out


def cells_to_json(cells: Binary) -> dict[str, object]:
    """The four cells as in a Record."""
    return {name: count_to_json(whole(getattr(cells, name))) for name in CELLS}


def whole(count: object) -> Count:
    """A count as it is, a sum of weights as the exact fraction it stands for."""
    exact = Fraction(cast("float", count.item() if hasattr(count, "item") else count))
    return exact.numerator if exact.denominator == 1 else exact


def rates(
    cells: Binary,
    *,
    label: Label | None,
    named: dict[str, str],
    optimistic: bool,
    wanted: Wanted,
    squares: Mapping[str, Fraction] | None = None,
) -> list[dict[str, object]]:
    """The rates of some cells with their intervals, as in a Record; `squares` are the squared weights in each cell."""
    notes = (FLATTERS,) if optimistic else ()
    exact = Binary(**{name: whole(getattr(cells, name)) for name in CELLS})  # type: ignore[arg-type]
    sure, estimates = _uncertainty(exact, squares, wanted), []
    for measure in map(parse, RATES):
        value = measure(exact)
        result = value.named(**named) if isinstance(value, Undefined) else value
        n = cast("Count", result.denominator if isinstance(result, Share) else exact.n)
        interval = sure.overall(measure, result)
        estimates.append(build_estimate(measure.title, result, interval, n, label=label, notes=notes).to_json())
    return estimates


def _uncertainty(cells: Binary, squares: Mapping[str, Fraction] | None, wanted: Wanted) -> Uncertainty:
    """Intervals of cells, as measures of labels have them."""
    counts = {name: cast("Fraction", getattr(cells, name)) for name in CELLS}
    weighted = squares is not None or not all(isinstance(count, int) for count in counts.values())
    placed: dict[tuple[Label, Label], Count | Weight] = {
        place: count if squares is None else Weight(total=Fraction(count), squares=squares[name])
        for (name, count), place in zip(counts.items(), ((1, 1), (0, 1), (1, 0), (0, 0)), strict=True)
    }
    return Uncertainty(Confusion.from_cells(placed, labels=(0, 1), weighted=weighted), wanted, positive=1)
