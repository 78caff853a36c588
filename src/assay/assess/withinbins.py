# SPDX-License-Identifier: Apache-2.0
"""Checking numbers that were computed from every score against the bins that a Record of very many scores holds.

Bins leave open in which order their rows stand, so a number can be checked as far as they tell: counts at a threshold
between two ends, areas between theirs, every other value to a few parts in a thousand. Rates are checked exactly
against the cells they stand beside.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping
from typing import Any, Final, cast

from assay.assess.consistency import Mismatch
from assay.assess.points import CELLS, rates
from assay.assess.scoreslice import AT_LOWER_ENDS
from assay.core.errors import AssayError
from assay.inference.intervals import Wanted
from assay.inference.scoreintervals import DISTANCES
from assay.measures import parse
from assay.tally.base import count_from_json
from assay.tally.tables import Binary

NEAR: Final = 5e-3
"""How far a value from every score may lie from that at the lower ends of bins, in relation to it."""
DRAWN: Final = 0.15
"""How far two numbers may lie apart, in widths of the interval, where one comes from every score and one from bins."""
COARSE: Final = 0.05
"""How far the ends of a value may lie apart, in widths of its interval, so that bins tell the interval."""
NUMBERS: Final = ("value", "low", "high")
SLACK: Final = 1e-9
WHY: Final = "lies outside what the score bins allow"


def held_in_bins(record: Mapping[str, Any]) -> bool:
    """Whether numbers came from every score, while the Record holds bins of them."""
    scores = record.get("scores")
    tally = record["tallies"].get("scores") if isinstance(record.get("tallies"), Mapping) else None
    if not isinstance(scores, Mapping) or not isinstance(tally, Mapping):
        return False
    whole = tally.get("whole")
    return scores.get("form") == "exact" and isinstance(whole, Mapping) and whole.get("kind") == "binned-scores"


def from_bins(stored: Mapping[str, Any], again: Mapping[str, Any]) -> bool:
    """Whether an estimate rests on scores, of which its Record holds bins; of a small group it may hold every one."""
    try:
        scored = parse(str(stored.get("measure"))).from_scores
    except AssayError:
        return False
    rough = again.get("bracket") is not None or AT_LOWER_ENDS in again.get("notes", ())
    other = again.get("value") is None and any(stored.get(name) != again.get(name) for name in ("value", "undefined"))
    return scored and (rough or other)


def near(stored: object, again: object) -> bool:
    """Whether two numbers differ by no more than bins explain."""
    numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in (stored, again))
    return numbers and math.isclose(cast("float", stored), cast("float", again), rel_tol=NEAR, abs_tol=NEAR / 10)


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan


def open_numbers(stored: Mapping[str, Any], again: Mapping[str, Any]) -> tuple[str, ...]:
    """Which numbers of an estimate the bins of its Record leave open.

    How sure a calibration error is hangs on rows at the edges of calibration bins, and these may stand on either side;
    of log-odds, which have no certain ends, the error itself does. Draws are made of the bins, and only
    intervals in closed form are left, where bins are so coarse that they tell the value itself but roughly.
    """
    if again.get("value") is None:
        return NUMBERS
    measure = parse(str(stored.get("measure")))
    gap = measure.name in DISTANCES or measure.base in DISTANCES
    if gap and again.get("bracket") is None:
        return NUMBERS
    if stored.get("low") is None or _drawn(again):
        return ()
    low, high = again.get("bracket") or (0.0, 0.0)
    coarse = float(high) - float(low) > COARSE * abs(_number(again.get("high")) - _number(again.get("low")))
    return NUMBERS[1:] if gap or coarse else ()


def _drawn(estimate: Mapping[str, Any]) -> bool:
    """Whether an interval is nothing but draws; the one of the best threshold is of its two rates, too."""
    method = str(estimate.get("interval") or "")
    return "draws on scores" in method


def estimate_within(
    stored: Mapping[str, Any], again: Mapping[str, Any], path: str, left: Container[str]
) -> Iterator[Mismatch]:
    """An estimate from every score beside the one from bins, but for numbers that are left open."""
    value, ends = stored.get("value"), again.get("bracket")
    if ends is not None and isinstance(value, (int, float)):
        low, high = (float(end) for end in ends)
        if not low - SLACK <= value <= high + SLACK:
            yield Mismatch(path=f"{path}.value", stored=value, recomputed=ends, why=WHY)
    width = abs(_number(again.get("high")) - _number(again.get("low")))
    for name in [one for one in NUMBERS[ends is not None :] if one not in left]:
        one, other = stored.get(name), again.get(name)
        loose = abs(_number(one) - _number(other)) <= DRAWN * width
        if one != other and None not in (one, other) and not loose and not near(one, other):
            yield Mismatch(path=f"{path}.{name}", stored=one, recomputed=other, why=WHY)


def points_within(record: Mapping[str, Any], again: Mapping[str, Any]) -> Iterator[Mismatch]:
    """Cells at each threshold between the ends that bins leave open, and the rates of these very cells."""
    plan = record["plan"]
    wanted = Wanted(level=plan["level"], shares=plan["intervals"]["shares"])
    for place, (one, other) in enumerate(zip(record["operating_points"], again["operating_points"], strict=False)):
        path = f"operating_points[{place}]"
        spare = other.get("in_bin", {"positives": 0, "negatives": 0})
        for cell, side, sign in (
            ("tp", "positives", 1),
            ("fp", "negatives", 1),
            ("fn", "positives", -1),
            ("tn", "negatives", -1),
        ):
            stored, least = count_from_json(one[cell]), count_from_json(other[cell])
            ends = sorted((least, least + sign * count_from_json(spare[side])))
            if not ends[0] <= stored <= ends[1]:
                yield Mismatch(path=f"{path}.{cell}", stored=one[cell], recomputed=ends, why=WHY)
        cells = Binary(**{name: count_from_json(one[name]) for name in CELLS})  # type: ignore[arg-type]
        made = rates(cells, None, label=one.get("class"), named={}, optimistic=bool(one["optimistic"]), wanted=wanted)
        for rate, (told, found) in enumerate(zip(one.get("rates", ()), made, strict=False)):
            for name in ("measure", "value", "low", "high", "numerator", "denominator"):
                if told.get(name) != found.get(name):
                    yield Mismatch(
                        path=f"{path}.rates[{rate}].{name}",
                        stored=told.get(name),
                        recomputed=found.get(name),
                        why="computed again from the cells",
                    )
