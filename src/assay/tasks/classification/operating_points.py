# SPDX-License-Identifier: Apache-2.0
"""Operating points: the four cells at each declared threshold, and the rates there with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from assay.core.labels import Label
from assay.core.text import quoted
from assay.core.values import Share, Undefined, Value
from assay.inference.estimates import Estimate, Interval
from assay.inference.intervals.interval_choice import Found, Uncertainty
from assay.inference.intervals.proportion import fitting, of_share
from assay.inference.intervals.score_intervals import WEIGHTED
from assay.measures import parse
from assay.tally.base import Count, Weight, count_to_json
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.one_vs_rest import Binary
from assay.tasks.classification.score_part import ScorePart

if TYPE_CHECKING:
    from assay.inference.intervals.interval_choice import Wanted
    from assay.measures.declare import Measure

CELLS: Final = ("tp", "fp", "fn", "tn")
RATES: Final = ("recall", "false_positive_rate", "specificity", "precision", "negative_predictive_value")
"""What is told of a threshold beside its cells (TS 4213, clause 8 and Annex B)."""
FLATTERS: Final = "the threshold was chosen on these rows, so the value flatters"


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
                    named=_names(part, label),
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


def _names(part: ScorePart, label: Label) -> dict[str, str]:
    """What the two sides of a class are called in a reason."""
    others = [one for one in part.whole.labels if one != label]
    other = quoted(others[0]) if len(others) == 1 else f"anything but {quoted(label)}"
    return {"positive": quoted(label), "negative": other}


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
    sure = None if squares is None else _weighted(exact, squares, wanted)
    intervals = partial(_interval, wanted=wanted) if sure is None else sure.overall
    every = [_rate(parse(name), exact, named, intervals) for name in RATES]
    return [replace(one, label=label, notes=notes).to_json() for one in every]


def _weighted(cells: Binary, squares: Mapping[str, Fraction], wanted: Wanted) -> Uncertainty:
    """Intervals of weighted cells, as measures of labels have them."""
    places = zip(CELLS, ((1, 1), (0, 1), (1, 0), (0, 0)), strict=True)
    cell_weights: dict[tuple[Label, Label], Count | Weight] = {
        place: Weight(total=Fraction(cast("Fraction", getattr(cells, name))), squares=squares[name])
        for name, place in places
    }
    return Uncertainty(Confusion.from_cells(cell_weights, labels=(0, 1), weighted=True), wanted, positive=1)


def _rate(
    measure: Measure,
    exact: Binary,
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
    )


def _interval(_: Measure, result: Value, *, wanted: Wanted) -> Found:
    share = cast("Share", result)
    top, of = cast("Count", share.numerator), cast("Count", share.denominator)
    if not isinstance(top, int) or not isinstance(of, int):  # weights without their squares
        return WEIGHTED
    low, high = of_share(top, of, wanted.level, wanted.shares)
    return Interval(low=low, high=high, level=wanted.level, method=fitting(wanted.shares, of))
