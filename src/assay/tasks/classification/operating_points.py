# SPDX-License-Identifier: Apache-2.0
"""Operating points: the four cells at each declared threshold, and the rates there with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, cast

from assay.core.labels import Label
from assay.core.text import quoted
from assay.core.values import Share, Undefined
from assay.inference.estimates import build_estimate
from assay.inference.intervals.interval_choice import Uncertainty
from assay.measures import parse
from assay.tally.base import Count, Weight, count_to_json
from assay.tally.labels.confusion import Confusion
from assay.tally.labels.one_vs_rest import Binary
from assay.tasks.classification.score_part import ScorePart

if TYPE_CHECKING:
    from assay.inference.intervals.interval_choice import Wanted

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
