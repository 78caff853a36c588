# SPDX-License-Identifier: Apache-2.0
"""Verdicts by guard band: the whole interval decides, or the rows that would decide are named."""

from __future__ import annotations

import math
from dataclasses import replace

from assay.core.text import figure, quoted
from assay.fairness.disparity import Disparity
from assay.fairness.group_statistics import GroupValue

PASS, FAIL, INCONCLUSIVE = "pass", "fail", "inconclusive"


def judge(disparity: Disparity, tolerance: float) -> Disparity:
    """The gap held to the largest accepted one, or the ratio to the smallest accepted one.

    A pass needs a value of every declared group; groups left out make it inconclusive, and never turn a fail around.
    """
    verdict, why = _judge(disparity, tolerance)
    return replace(disparity, tolerance=tolerance, verdict=verdict, why=why)


def _judge(disparity: Disparity, tolerance: float) -> tuple[str, str]:
    if disparity.value is None:
        return INCONCLUSIVE, f"there is no value: {disparity.reason}"
    if disparity.low is None or disparity.high is None:
        return INCONCLUSIVE, f"there is no interval: {disparity.no_interval}"
    limit = figure(tolerance)
    if disparity.form == "gap":
        passes, fails = disparity.high <= tolerance, disparity.low > tolerance
        reasons = (
            f"the upper end {figure(disparity.high)} is at most {limit}",
            f"the lower end {figure(disparity.low)} is above {limit}",
        )
    else:
        passes, fails = disparity.low >= tolerance, disparity.high < tolerance
        reasons = (
            f"the lower end {figure(disparity.low)} is at least {limit}",
            f"the upper end {figure(disparity.high)} is below {limit}",
        )
    if fails:
        return FAIL, reasons[1]
    if passes and not disparity.left_out:
        return PASS, reasons[0]
    if passes:
        names = ", ".join(quoted(group.level) for group in disparity.left_out)
        return INCONCLUSIVE, f"{reasons[0]}, but not every group is judged: {names}"
    ends = f"{figure(disparity.low)} and {figure(disparity.high)}"
    return INCONCLUSIVE, f"{limit} lies between {ends}; {_rows_needed(disparity, tolerance)}"


def _rows_needed(disparity: Disparity, tolerance: float) -> str:
    """The rows that would decide if values stayed as they are: of the group that is least sure, or of both."""
    part = max(disparity.parts.values(), key=lambda p: p.high or 0.0) if disparity.parts else disparity
    if part.value is None or part.low is None or part.high is None or part.worst is None:
        return "more rows would decide"
    room = abs(part.value - tolerance)
    outward = part.high - part.value if disparity.form == "gap" else part.value - part.low
    inside = (part.value < tolerance) == (disparity.form == "gap")
    reach = outward if inside else _inward(part)
    if room < 1e-9:  # noqa: PLR2004  rounding
        return "the value equals the tolerance, so no number of rows would decide"
    if reach <= 0:
        return "more rows would decide"
    by_level = {group.level: group for group in part.groups}
    sides = [by_level[level] for level in part.worst if level in by_level]
    word = part.denominators[0] if part.denominators else "rows"
    grow = (reach / room) ** 2
    return _of_one_group(sides, grow, word) or f"about {grow:.1f} times as many {word} of every group would decide"


def _inward(part: Disparity) -> float:
    """How far the interval of the two groups farthest apart reaches towards no difference, also beyond it."""
    far = next((pair for pair in part.pairs if {pair.first, pair.second} == set(part.worst or ())), None)
    if far is None or far.low is None or far.high is None:
        return 0.0
    return far.high - far.value if part.form == "ratio" or far.value < 0 else far.value - far.low


def _of_one_group(sides: list[GroupValue], grow: float, word: str) -> str:
    """More rows of the smaller of two groups, where those alone suffice."""
    if len(sides) != 2 or min(side.denominator for side in sides) == 0:  # noqa: PLR2004  a pair
        return ""
    small, large = sorted(sides, key=lambda side: side.denominator)
    # The squared reach is about a / n_small + b / n_large, with a and b alike.
    whole = 1 / small.denominator + 1 / large.denominator
    left = whole / grow - 1 / large.denominator
    if left <= 0:
        return ""
    more = math.ceil(1 / left - small.denominator)
    return f"about {max(more, 1):,} more {word} of group {quoted(small.level)} would decide"
