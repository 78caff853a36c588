# SPDX-License-Identifier: Apache-2.0
"""Intervals of times of answers, with runs as units, because answers of one run wait for each other.

Coverage in queues is simulated by `bench/latency.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from assay.core.text import counted
from assay.inference.estimates import Interval
from assay.inference.intervals.proportion import clopper_pearson, student_quantile
from assay.inference.unit_intervals import FEWEST, jackknife_error

if TYPE_CHECKING:
    from assay.core.arrays import Floats
    from assay.tally.data.durations import Durations

Bounds: TypeAlias = tuple[float, float]
PARTS: Final = 10
"""Sections of a run that serve as units where there are fewer than five runs."""
LONG: Final = 20
"""Independent answers that a section must be worth, so that neighbouring sections are nearly independent."""
EPISODES: Final = 100
"""Stretches of late answers below which their spread between runs says too little."""
TAIL: Final = 10
"""Independent answers beyond a percentile below which the same holds."""
ALIKE: Final = 0.05
"""Level of the test for dependence in a single stream."""
DEPENDENT: Final = "answers depend on each other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """What repeats independently: runs, or sections where runs are few."""

    kind: str
    asked: Floats
    seconds: Floats
    answered: Floats
    late: Floats
    """Units by bounds."""
    inflation: float
    """How many answers together tell as much as one independent answer."""
    dependent: bool
    """Whether sections are too short to be taken as independent."""

    @property
    def described(self) -> str:
        """Their number and kind."""
        return counted(len(self.asked), self.kind)


def find_units(durations: Durations) -> Units:
    """The units of a tally of durations."""
    sections = [
        np.array(
            [[s.asked, s.nanoseconds / 1e9, s.asked - s.failed, s.squares, *s.over] for s in run.sections], dtype=float
        )
        for run in durations.runs
    ]
    runs = np.array([part.sum(axis=0) for part in sections]).reshape(len(sections), -1)
    fine = np.concatenate(sections) if sections else runs
    by_section, by_run = _inflation(fine), _inflation(runs)
    if len(runs) >= FEWEST:
        return _units("run", runs, max(by_section, by_run), dependent=False)
    coarse = [
        np.add.reduceat(part, np.unique(np.arange(PARTS) * len(part) // PARTS), axis=0)
        for part in sections
        if len(part)
    ]
    rows = np.concatenate(coarse) if coarse else runs
    inflation = max(by_section, _inflation(rows))
    short = not len(rows) or rows[:, 0].mean() < LONG * inflation
    return _units("section", rows, inflation, dependent=short)


def _units(kind: str, rows: Floats, inflation: float, *, dependent: bool) -> Units:
    asked, seconds, answered, _, *late = rows.T if rows.size else np.zeros((5, 0))
    return Units(
        kind=kind, asked=asked, seconds=seconds, answered=answered, late=np.array(late).T, inflation=inflation,
        dependent=dependent,
    )  # fmt: skip


def _inflation(rows: Floats) -> float:
    """The variance of means of units, relative to that of means of as many independent answers; at least 1."""
    if len(rows) < 2:  # noqa: PLR2004  one unit has no spread
        return 1.0
    _, seconds, answered, squares = rows.T[:4]
    n = answered.sum()
    if not n:
        return 1.0
    mean = seconds.sum() / n
    variance = squares.sum() / n - mean**2
    if variance <= 1e-12 * mean**2:  # equal times, up to rounding
        return 1.0
    between = float(((seconds - mean * answered) ** 2).sum()) / (len(rows) - 1)
    return max(1.0, between / float(variance * n / len(rows)))


def share_interval(durations: Durations, bound: int, level: float) -> Interval | str:
    """The interval of the share of answers within a bound, or the reason why there is none."""
    units = find_units(durations)
    late = units.late[:, bound] if len(units.late) else units.late
    interval = _share(units, late, level, few=durations.episodes(bound) < EPISODES)
    if isinstance(interval, str) or not late.sum() or durations.episodes(bound) >= EPISODES:
        return interval
    note = f"only {counted(durations.episodes(bound), 'stretch', 'stretches')} of late answers"
    return Interval(low=interval.low, high=interval.high, level=level, method=interval.method, notes=(note,))


def _share(units: Units, late: Floats, level: float, *, few: bool) -> Interval | str:
    if not units.asked.sum():
        return "there are no answers"
    if units.dependent:
        return f"{DEPENDENT}: sections of one run are too short; measure {FEWEST} or more runs"
    bounds = _jackknife_logit(units.asked - late, units.asked, level)
    method = f"jackknife of {units.described}, logit scale, Student's t"
    if bounds is None or few:
        worth = units.asked.sum() / units.inflation
        exact = clopper_pearson((1 - late.sum() / units.asked.sum()) * worth, worth, level)
        bounds = exact if bounds is None else (min(bounds[0], exact[0]), max(bounds[1], exact[1]))
        told = f"answers of {units.described} worth {worth:,.0f} independent answers"
        method = f"Clopper-Pearson, {told}, and jackknife"
    return Interval(low=bounds[0], high=bounds[1], level=level, method=method)


def _jackknife_logit(within: Floats, asked: Floats, level: float) -> Bounds | None:
    """Delete-one jackknife of a share on the logit scale; None where the share without a unit is 0 or 1."""
    whole, total = np.append(within.sum() - within, within.sum()), np.append(asked.sum() - asked, asked.sum())
    if len(asked) < FEWEST or not ((whole > 0) & (whole < total)).all():
        return None
    logit = np.log(whole) - np.log(total - whole)
    reach = student_quantile((1 + level) / 2, len(asked) - 1) * jackknife_error(logit[-1], logit[:-1])
    low, high = logit[-1] - reach, logit[-1] + reach
    return 1 / (1 + math.exp(-low)), 1 / (1 + math.exp(-high))


def percentile_interval(durations: Durations, share: float, level: float, *, waits: bool) -> Interval | str:
    """The interval of a percentile, or the reason why there is none; `waits` tells whether requests can queue."""
    if len(durations.runs) < FEWEST:
        return _order_statistics(durations, share, level, waits=waits)
    units = find_units(durations)
    counts = durations.by_run()
    reached = np.cumsum(counts.sum(axis=0))
    place = int(np.searchsorted(reached, math.ceil(share * durations.rows)))
    late = units.asked - counts[:, : place + 1].sum(axis=1)
    few = (1 - share) * units.asked.sum() / units.inflation < TAIL
    within = _share(units, late, level, few=few)
    if isinstance(within, str):
        return within
    method = within.method.replace("jackknife", "inverted jackknife")
    return _time_interval(durations, within.low * durations.rows, within.high * durations.rows + 1, level, method)


def _time_interval(durations: Durations, first: float, last: float, level: float, method: str) -> Interval:
    low, high = durations.at_rank(math.floor(first)), durations.at_rank(math.ceil(last))
    notes = () if high is not None else ("too few answers for an upper end",)
    return Interval(low=low or 0.0, high=math.inf if high is None else high, level=level, method=method, notes=notes)


def _order_statistics(durations: Durations, share: float, level: float, *, waits: bool) -> Interval | str:
    from scipy.stats import binom

    few = f"only {counted(len(durations.runs), 'run')}; an interval needs {FEWEST} or more"
    if waits or not durations.runs:
        return few
    chance = runs_test(durations)
    if chance is None or chance < ALIKE:
        return f"{few}, because {DEPENDENT}"
    first, last = (float(binom.ppf(tail, durations.rows, share)) for tail in ((1 - level) / 2, (1 + level) / 2))
    return _time_interval(durations, max(1.0, first), last + 1, level, "order statistics, single stream")


def runs_test(durations: Durations) -> float | None:
    """Wald and Wolfowitz's test of answers above the median: the chance of so few or so many stretches."""
    from scipy.special import ndtr

    excess = variance = 0.0
    for above, below, stretches in (run.halves for run in durations.runs):
        n, product = above + below, 2.0 * above * below
        if product == 0 or n < 2:  # noqa: PLR2004
            continue
        excess += stretches - (product / n + 1)
        variance += product * (product - n) / (n * n * (n - 1))
    return None if variance <= 0 else float(2 * ndtr(-abs(excess) / math.sqrt(variance)))
