# SPDX-License-Identifier: Apache-2.0
"""Operating points: the four cells at each declared threshold, and the rates there with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from assay.assess.scoring import ScorePart, Threshold
from assay.core.labels import Label
from assay.core.text import quoted
from assay.core.values import Share, Undefined, Value
from assay.inference.estimates import Estimate, Interval
from assay.inference.intervals import Found, Uncertainty
from assay.inference.proportion import fitting, of_share
from assay.inference.scoreintervals import WEIGHTED
from assay.measures import parse
from assay.tally.base import Count, Weight, count_to_json
from assay.tally.binned import Binned
from assay.tally.confusion import Confusion
from assay.tally.ranked import Ranked
from assay.tally.tables import Binary

if TYPE_CHECKING:
    from assay.inference.intervals import Wanted
    from assay.measures.declare import Measure

CELLS: Final = ("tp", "fp", "fn", "tn")
RATES: Final = ("recall", "false_positive_rate", "specificity", "precision", "negative_predictive_value")
"""What is told of a threshold beside its cells (TS 4213, clause 8 and Annex B)."""
FLATTERS: Final = "the threshold was chosen on these rows, so the value flatters"
IN_BIN: Final = "the threshold lies inside a score bin, so rows of that bin may stand on either side"

Open: TypeAlias = tuple[int, int] | tuple[Fraction, Fraction]
"""Positives and negatives of the bin of a threshold, or what they weigh."""


def operating_points(
    part: ScorePart, label: Label, *, several: bool, wanted: Wanted, in_force: Binary | None
) -> list[dict[str, Any]]:
    """Cells and rates at each declared threshold for one class; the first decides where predictions were not given."""
    table = part.whole.one_vs_rest(label)
    out: list[dict[str, Any]] = []
    for place, one in enumerate(part.thresholds):
        decides = place == 0 and part.decided == "threshold"
        # Rows were called one by one, so the cells in force are known even where scores are held in bins.
        known = in_force if decides and in_force is not None else None
        cells, open_ = (known, None) if known is not None else _cells(part, label, table, one)
        out.append(
            {
                **({"class": label} if several else {}),
                "threshold": one.value,
                "from": one.chosen,
                "optimistic": one.optimistic,
                "in_force": decides,
                **{name: count_to_json(whole(getattr(cells, name))) for name in CELLS},
                **({} if open_ is None else {"in_bin": _open_to_json(open_)}),
                "rates": rates(
                    cells,
                    open_,
                    label=label if several else None,
                    named=_names(part, label),
                    optimistic=one.optimistic,
                    wanted=wanted,
                    squares=part.whole.squares_at(label, one.value),
                ),
            }
        )
    return out


def _open_to_json(open_: Open) -> dict[str, object]:
    return {"positives": count_to_json(open_[0]), "negatives": count_to_json(open_[1])}


def whole(count: object) -> Count:
    """A count as it is, a sum of weights as the exact fraction it stands for."""
    exact = Fraction(cast("float", count.item() if hasattr(count, "item") else count))
    return exact.numerator if exact.denominator == 1 else exact


def _names(part: ScorePart, label: Label) -> dict[str, str]:
    """What the two sides of a class are called in a reason."""
    others = [one for one in part.whole.labels if one != label]
    other = quoted(others[0]) if len(others) == 1 else f"anything but {quoted(label)}"
    return {"positive": quoted(label), "negative": other}


def _cells(part: ScorePart, label: Label, table: Ranked, one: Threshold) -> tuple[Binary, Open | None]:
    """The cells at a threshold, and how many positives and negatives of its own bin may be above it too."""
    cells = table.at(one.value)
    if not isinstance(part.whole, Binned):
        return cells, None
    bins = part.whole.bins(label)
    if (exact := bins.weights_at(one.value)) is not None:
        cells = Binary(**exact)  # type: ignore[arg-type]
    open_ = bins.within(one.value)
    return cells, open_ if any(open_) else None


def rates(
    cells: Binary,
    open_: Open | None,
    *,
    label: Label | None,
    named: dict[str, str],
    optimistic: bool,
    wanted: Wanted,
    squares: Mapping[str, Fraction] | None = None,
) -> list[dict[str, object]]:
    """The rates of some cells with their intervals, as in a Record; `squares` are the squared weights in each cell."""
    notes = (*((FLATTERS,) if optimistic else ()), *((IN_BIN,) if open_ is not None else ()))
    exact = Binary(**{name: whole(getattr(cells, name)) for name in CELLS})  # type: ignore[arg-type]
    sure = None if squares is None else _weighted(exact, squares, wanted)
    intervals = partial(_interval, wanted=wanted) if sure is None else sure.overall
    every = [_rate(parse(name), exact, open_, named, intervals) for name in RATES]
    return [replace(one, label=label, notes=notes).to_json() for one in every]


def _weighted(cells: Binary, squares: Mapping[str, Fraction], wanted: Wanted) -> Uncertainty:
    """Intervals of weighted cells, as measures of labels have them."""
    places = zip(CELLS, ((1, 1), (0, 1), (1, 0), (0, 0)), strict=True)
    held: dict[tuple[Label, Label], Count | Weight] = {
        place: Weight(total=Fraction(cast("Fraction", getattr(cells, name))), squares=squares[name])
        for name, place in places
    }
    return Uncertainty(Confusion.from_cells(held, labels=(0, 1), weighted=True), wanted, positive=1)


def _rate(
    measure: Measure,
    exact: Binary,
    open_: Open | None,
    named: dict[str, str],
    intervals: Callable[[Measure, Value], Found],
) -> Estimate:
    found = measure(exact)
    result = found.named(**named) if isinstance(found, Undefined) else cast("Share", found)
    n = cast("Count", result.denominator if isinstance(result, Share) else exact.n)
    drawn = intervals(measure, result) if isinstance(result, Share) else "the value is undefined"
    return Estimate(
        measure=measure.title,
        result=result,
        interval=drawn if isinstance(drawn, Interval) else None,
        no_interval=drawn if isinstance(drawn, str) else None,
        n=n,
        bracket=None if open_ is None or isinstance(result, Undefined) else _between(measure, exact, open_),
    )


def _interval(_: Measure, result: Value, *, wanted: Wanted) -> Found:
    share = cast("Share", result)
    top, of = cast("Count", share.numerator), cast("Count", share.denominator)
    if not isinstance(top, int) or not isinstance(of, int):  # weights without their squares
        return WEIGHTED
    low, high = of_share(top, of, wanted.level, wanted.shares)
    return Interval(low=low, high=high, level=wanted.level, method=fitting(wanted.shares, of))


def _between(measure: Measure, cells: Binary, open_: Open) -> tuple[float, float]:
    """The ends of a rate when none, either kind or all of the rows of the threshold's bin are called."""
    values = []
    tp, fp, fn, tn = (cast("Count", getattr(cells, name)) for name in CELLS)
    for more_tp in (0, open_[0]):
        for more_fp in (0, open_[1]):
            moved = Binary(tp=tp + more_tp, fp=fp + more_fp, fn=fn - more_tp, tn=tn - more_fp)  # type: ignore[arg-type]
            found = measure(moved)
            values += [] if isinstance(found, Undefined) else [found.value]
    return min(values), max(values)
