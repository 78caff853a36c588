# SPDX-License-Identifier: Apache-2.0
"""Checks of a Record that stores rounded scores beside values from all digits.

The value from the stored scores is computed again exactly; the one from all digits must lie near it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.assess.record.consistency_checks import Mismatch
from assay.core.labels import Label
from assay.inference.intervals.interval_choice import Wanted
from assay.tally.base import count_from_json
from assay.tally.labels.one_vs_rest import Binary
from assay.tasks.classification.operating_points import CELLS, rates
from assay.tasks.classification.score_part import ScorePart

NEAR: Final = 0.05
"""Half widths of its interval by which rounding may move a value: bench/rounding.py finds half of that at most."""
STEP: Final = 2.0**-13
"""The same as a part of the value: ties of rounded scores add a bias that does not shrink with the rows."""
RELATIVE: Final = 1e-3
"""The same for a value without an interval, as a part of it: eight times what rounding moves a score by."""
ABSOLUTE: Final = 1e-4
DIGITS: Final = 1e-12
"""Relative difference allowed for the ends of an interval."""
FAR: Final = "lies too far from the value of the stored scores"
BESIDE: Final = "the stored scores allow no such count"


def rounds_scores(record: Mapping[str, Any]) -> bool:
    """Whether a Record stores rounded scores."""
    scores = record.get("scores")
    return isinstance(scores, Mapping) and "significant_bits" in scores


def check_value(estimate: Mapping[str, Any], path: str) -> Iterator[Mismatch]:
    """The value from all digits must lie near the one from the stored scores."""
    value, stored = estimate.get("value"), estimate.get("stored_value")
    if not _near(*(_number(estimate.get(name)) for name in ("value", "stored_value", "low", "high"))):
        yield Mismatch(path=f"{path}.value", stored=value, recomputed=stored, why=FAR)


def _near(value: float, stored: float, low: float, high: float) -> bool:
    if math.isnan(low) or math.isnan(high):
        return math.isclose(value, stored, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return abs(value - stored) <= max(NEAR * abs(high - low) / 2, STEP * abs(value))


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan


def check_points(record: Mapping[str, Any], again: Mapping[str, Any]) -> Iterator[Mismatch]:
    """Cells at each threshold: rows with the rounded score of the threshold may stand on either side of it."""
    plan = record["plan"]
    part = ScorePart.from_json(record["tallies"]["scores"], plan["scores"])
    wanted = Wanted(level=plan["level"], shares=plan["intervals"]["shares"])
    for place, (point, found) in enumerate(zip(record["operating_points"], again["operating_points"], strict=False)):
        path = f"operating_points[{place}]"
        for cell, ends in _possible_cells(part, point, found, record["positive"]).items():
            if not ends[0] <= count_from_json(point[cell]) <= ends[1]:
                yield Mismatch(path=f"{path}.{cell}", stored=point[cell], recomputed=list(ends), why=BESIDE)
        if part.whole.weighted:  # intervals of weighted rates take the squared weights of the very rows
            continue
        cells = Binary(**{name: count_from_json(point[name]) for name in CELLS})  # type: ignore[arg-type]
        made = rates(cells, label=point.get("class"), named={}, optimistic=bool(point["optimistic"]), wanted=wanted)
        for number, (rate, computed) in enumerate(zip(point.get("rates", ()), made, strict=False)):
            for name in ("measure", "value", "low", "high", "numerator", "denominator"):
                if not _alike(rate.get(name), computed.get(name)):
                    yield Mismatch(
                        path=f"{path}.rates[{number}].{name}",
                        stored=rate.get(name),
                        recomputed=computed.get(name),
                        why="computed again from the cells",
                    )


def _alike(stored: object, again: object) -> bool:
    if isinstance(stored, float) and isinstance(again, float):
        return math.isclose(stored, again, rel_tol=DIGITS)
    return stored == again


def _possible_cells(
    part: ScorePart, point: Mapping[str, Any], recomputed_point: Mapping[str, Any], positive: Label | None
) -> dict[str, tuple[float, float]]:
    """The least and the most rows of each cell, or their weight."""
    if point["in_force"] and not part.whole.weighted:
        return {cell: (count_from_json(recomputed_point[cell]),) * 2 for cell in CELLS}  # type: ignore[misc]
    import numpy as np

    table = part.whole.one_vs_rest(point.get("class", positive))
    rounding = part.whole.rounding
    threshold = point["threshold"]
    held = threshold if rounding is None else float(rounding.apply(np.array([float(threshold)]))[0])
    with_them, without = table.at(held), table.at(math.nextafter(held, math.inf))
    slack = 1e-9 * float(table.n) if part.whole.weighted else 0  # sums of doubles
    ends = {cell: sorted((getattr(with_them, cell), getattr(without, cell))) for cell in CELLS}
    return {cell: (float(low) - slack, float(high) + slack) for cell, (low, high) in ends.items()}
