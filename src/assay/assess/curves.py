# SPDX-License-Identifier: Apache-2.0
"""The curves of a Record: thinned to what a chart can show, with every count they rest on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from assay.assess.scoring import ScorePart, Threshold
from assay.assess.thinning import thinned
from assay.core.labels import Label
from assay.core.values import WORST
from assay.inference.bands import pr_band, roc_band
from assay.inference.estimates import real_to_json
from assay.inference.proportion import of_share
from assay.measures.cost import decision_curve
from assay.tally.base import Count, count_to_json
from assay.tally.binned import Binned
from assay.tally.calibration import CalibrationBins
from assay.tally.ranked import Ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.inference.intervals import Wanted

    Floats: TypeAlias = NDArray[np.float64]

POINTS: Final = 120
"""Points of a curve of two classes; with bands, a page of 1,000 rows stays below 150 KB."""
CLASS_POINTS: Final = 48
MOST_CLASSES: Final = 12
BAND: Final = 32
"""Places at which a band is held."""
BARS: Final = 40
BINS: Final = 10


def sections(part: ScorePart, *, positive: Label | None, wanted: Wanted) -> dict[str, Any]:
    """The parts of a Record that speak of scores: what they are, curves, operating points."""
    labels = [positive] if positive is not None else _largest(part)
    tables = {label: part.whole.one_vs_rest(label) for label in labels}
    first = next(iter(tables.values()))
    return {
        "scores": {
            **part.facts(),
            **part.mended(),
            "columns": len(part.whole.columns),
            "form": "binned" if isinstance(part.whole, Binned) else "exact",
            "distinct": len(first.score) if positive is not None else part.whole.distinct,
            "tied_pairs": tied_pairs(first) if positive is not None else None,
        },
        "curves": [
            curve(
                table,
                None if positive is not None else label,
                part.thresholds,
                most=POINTS if positive is not None else CLASS_POINTS,
                wanted=wanted,
                probability=part.kind == "probability",
                detailed=positive is not None,
            )
            for label, table in tables.items()
            if table.positives and table.negatives
        ],
        "operating_points": operating_points(first, part) if positive is not None else [],
    }


def _largest(part: ScorePart) -> list[Label]:
    sizes = part.whole.sizes()
    order = sorted(range(len(sizes)), key=lambda i: (-sizes[i], i))[:MOST_CLASSES]
    return [part.whole.labels[i] for i in sorted(order)]


def tied_pairs(table: Ranked) -> float | None:
    """The share of pairs of a positive and a negative that have the same score."""
    pairs = float(table.positives) * float(table.negatives)
    return float(np.dot(table.pos.astype(np.float64), table.neg.astype(np.float64))) / pairs if pairs else None


def operating_points(table: Ranked, part: ScorePart) -> list[dict[str, Any]]:
    """The cells at each declared threshold (TS 4213, clause 8); the first decides where predictions were not given."""
    out = []
    for place, one in enumerate(part.thresholds):
        cells = table.at(one.value)
        out.append(
            {
                "threshold": one.value,
                "from": one.chosen,
                "optimistic": one.optimistic,
                "in_force": place == 0 and part.decided == "threshold",
                **{name: count_to_json(_whole(getattr(cells, name))) for name in ("tp", "fp", "fn", "tn")},
            }
        )
    return out


def curve(
    table: Ranked,
    label: Label | None,
    thresholds: Sequence[Threshold],
    *,
    most: int,
    wanted: Wanted,
    probability: bool,
    detailed: bool,
) -> dict[str, Any]:
    """One class against the rest: points from the strictest threshold to the most lenient one, bands, and bins."""
    score, tp, fp = (np.asarray(one)[::-1] for one in (table.score, table.tp, table.fp))
    positives, negatives = float(table.positives), float(table.negatives)
    with_start = [np.concatenate([[0], one]) for one in (tp, fp)]
    tpr, fpr = with_start[0] / positives, with_start[1] / negatives
    called = with_start[0] + with_start[1]
    precision = np.divide(with_start[0], called, out=np.ones(len(called)), where=called > 0)
    keep = [int(np.searchsorted(-score, -one.value, side="right")) for one in thresholds]
    places = thinned(np.column_stack([fpr, tpr, precision]), most, keep)
    points = [
        [
            None if i == 0 else _threshold(float(score[i - 1])),
            count_to_json(_whole(with_start[0][i])),
            count_to_json(_whole(with_start[1][i])),
        ]
        for i in places.tolist()
    ]
    out: dict[str, Any] = {
        "class": label,
        "positives": count_to_json(_whole(table.positives)),
        "negatives": count_to_json(_whole(table.negatives)),
        "points": points,
    }
    if table.exact and detailed:
        out["band"] = _bands(table, fpr[places], tpr[places], wanted)
    if detailed:
        out["histogram"] = _histogram(table, probability=probability)
        out["reliability"] = _reliability(table, wanted) if probability else None
        out["decision"] = _decision(table) if probability else None
    return out


def _threshold(score: float) -> float | str:
    """A threshold of a curve; the one that calls also the rows without a score is below every number."""
    return real_to_json(-math.inf if score == WORST else score)


def _whole(count: object) -> Count:
    exact = Fraction(cast("float", count.item() if hasattr(count, "item") else count))
    return exact.numerator if exact.denominator == 1 else exact


def _bands(table: Ranked, fpr: Floats, tpr: Floats, wanted: Wanted) -> dict[str, Any]:
    """At some places of each curve: the ends of the band that holds there, and of the one that holds everywhere."""
    roc = roc_band(table, wanted, _some(fpr))
    pr = pr_band(table, wanted, _some(tpr)[1:])
    return {
        "method": roc.method,
        "level": roc.level,
        "draws": roc.draws,
        "seed": roc.seed,
        **{
            name: np.column_stack([one.place, one.low, one.high, one.all_low, one.all_high]).round(6).tolist()
            for name, one in (("roc", roc), ("pr", pr))
        },
    }


def _some(places: Floats) -> Floats:
    """Some of the places of a curve, its ends among them."""
    every = np.unique(np.concatenate([[0.0], places, [1.0]]))
    return every[np.unique(np.linspace(0, len(every) - 1, BAND).round().astype(np.int64))]


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
        sides[name] = [count_to_json(_whole(float(x))) for x in sums]
    return {"edges": edges.tolist(), **sides}


def _reliability(table: Ranked, wanted: Wanted) -> dict[str, Any]:
    found = CalibrationBins.of(table, BINS)
    bins = []
    for i, n in enumerate(found.count):
        if not n:
            continue
        hits = found.positive[i]
        low, high = of_share(int(hits), int(n), wanted.level, wanted.shares) if table.exact else (None, None)
        bins.append(
            [
                found.edges[i],
                found.edges[i + 1],
                count_to_json(n),
                found.mean_score[i],
                found.positive_share[i],
                low,
                high,
            ]
        )
    return {"binning": f"{BINS} bins of equal width", "bins": bins}


def _decision(table: Ranked) -> list[list[float]]:
    at = np.arange(1, 100) / 100
    model, everyone = decision_curve(table, at)
    return cast("list[list[float]]", np.column_stack([at, model, everyone]).tolist())
