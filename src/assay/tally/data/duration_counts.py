# SPDX-License-Identifier: Apache-2.0
"""Counts the times of answers by run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.tally.data.durations import FAILED, NANOSECONDS, Durations, Run, Section, find_bins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole

SECTIONS: Final = 20
"""Sections of a run at most."""
SHORTEST: Final = 5
"""Answers of a section at least."""


def count_run(
    name: str,
    times: Whole,
    bounds: Sequence[int] = (),
    *,
    span: int | None = None,
    amounts: Mapping[str, float] | None = None,
) -> Durations:
    """The tally of one run: times in nanoseconds by order of request, `FAILED` for those without an answer."""
    answered = times[times != FAILED]
    late = [(times > bound) | (times == FAILED) for bound in bounds]
    size = max(1, min(SECTIONS, len(times) // SHORTEST))
    edges = [place * len(times) // size for place in range(size + 1)]
    sections = tuple(
        _sum_section(times[first:last], [flags[first:last] for flags in late]) for first, last in pairwise(edges)
    )
    distinct, counts = np.unique(answered, return_counts=True)
    places, first = np.unique(find_bins(distinct), return_index=True)
    last = np.append(first[1:], len(distinct)) - 1 if len(first) else first
    steps = np.diff(distinct)
    run = Run(
        name=name,
        sections=sections,
        bins=places,
        counts=np.add.reduceat(counts, first) if len(first) else counts,
        episodes=tuple(int(np.diff(flags.astype(np.int8), prepend=0).clip(0).sum()) for flags in late),
        halves=_count_halves(times),
        step=int(steps.min()) if len(steps) else int(distinct[0]) if len(distinct) else 0,
        span=span,
        amounts=dict(amounts or {}),
    )
    longest = dict(zip(places.tolist(), distinct[last].tolist(), strict=True))
    return Durations(bounds=tuple(bounds), runs=(run,), longest=longest)


def _sum_section(times: Whole, late: Sequence[NDArray[np.bool_]]) -> Section:
    answered = times[times != FAILED]
    return Section(
        asked=len(times),
        failed=len(times) - len(answered),
        nanoseconds=int(answered.sum()),
        squares=math.fsum(((answered / NANOSECONDS) ** 2).tolist()),
        longest=int(answered.max(initial=0)),
        over=tuple(int(flags.sum()) for flags in late),
    )


def _count_halves(times: Whole) -> tuple[int, int, int]:
    """Counts for a runs test: answers above the median, the others, and stretches of either kind."""
    ranked = np.where(times == FAILED, np.iinfo(np.int64).max, times)
    above = ranked > np.sort(ranked)[(len(ranked) - 1) // 2] if len(ranked) else np.zeros(0, dtype=np.bool_)
    stretches = int((above[1:] != above[:-1]).sum()) + 1 if len(above) else 0
    return int(above.sum()), int((~above).sum()), stretches


def add_runs(tallies: Sequence[Durations], bounds: Sequence[int]) -> Durations:
    """All runs of some tallies with the same bounds in nanoseconds."""
    return reduce(Durations.__add__, tallies, Durations(bounds=tuple(bounds), runs=(), longest={}))


def to_nanoseconds(seconds: Floats) -> Whole:
    """Whole nanoseconds; `FAILED` where a time is missing."""
    times: Whole = np.rint(np.where(np.isnan(seconds), FAILED / NANOSECONDS, seconds) * NANOSECONDS).astype(np.int64)
    return times


def split_runs(runs: Sequence[object]) -> dict[str, NDArray[np.intp]]:
    """The rows of each run in their order, by the name of the run."""
    names, codes = np.unique(np.array([str(run) for run in runs]), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(codes, minlength=len(names)))[:-1]) if len(names) else []
    return dict(zip(names.tolist(), parts, strict=True))
