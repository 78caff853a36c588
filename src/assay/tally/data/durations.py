# SPDX-License-Identifier: Apache-2.0
"""How long answers took, by run and in order: log-linear bins, and sums of the sections of each run.

A run is what repeats independently. Within a run answers wait for each other, so their order is kept by sections.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.tally.base import (
    VERSION,
    Digested,
    demand_kind,
    digest,
    packed_reals,
    packed_steps,
    unpacked_reals,
    unpacked_steps,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole

BITS: Final = 7
"""Binary places of a bin: no bin is wider than 2^-7 of the times in it."""
FAILED: Final = -1
"""Stands for the time of an answer that failed or never came."""
NANOSECONDS: Final = 1_000_000_000
SECTIONS: Final = 20
"""Sections of a run at most."""
SHORTEST: Final = 5
"""Answers of a section at least."""


def find_bins(times: Whole) -> Whole:
    """The bin of each time in nanoseconds.

    >>> find_bins(np.array([5, 255, 256, 257, 5_000_000])).tolist()
    [5, 255, 256, 256, 2072]
    """
    shift = np.maximum(np.frexp(times.astype(np.float64))[1] - (BITS + 1), 0).astype(np.int64)
    bins: Whole = (shift << BITS) + (times >> shift)
    return bins


def _floor_bins(bins: Whole) -> Whole:
    """The shortest time of each bin."""
    shift = np.maximum((bins >> BITS) - 1, 0)
    floor: Whole = (bins - (shift << BITS)) << shift
    return floor


def _pack_bins(bins: Whole, values: Whole) -> dict[str, object]:
    """Values above 0 of bins that lie close together: those between them hold 0."""
    first = int(bins[0]) if len(bins) else 0
    row = np.zeros(int(bins[-1]) - first + 1 if len(bins) else 0, dtype=np.int64)
    row[bins - first] = values
    return {"first": first, "size": len(row), "values": packed_steps(row)}


def _unpack_bins(content: Mapping[str, object]) -> tuple[Whole, Whole]:
    row = unpacked_steps(cast("str", content["values"]), cast("int", content["size"]))
    places = np.flatnonzero(row)
    return places + cast("int", content["first"]), row[places]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Sums of some consecutive answers of a run."""

    asked: int
    failed: int
    nanoseconds: int
    squares: float
    """Of seconds."""
    longest: int
    over: tuple[int, ...]
    """Answers later than each bound; those that failed are late."""


def _pack_sections(sections: Sequence[Section]) -> dict[str, object]:
    columns = zip(*((s.asked, s.failed, s.nanoseconds, s.longest, *s.over) for s in sections), strict=True)
    return {
        "size": len(sections),
        "whole": [packed_steps(np.array(column, dtype=np.int64)) for column in columns],
        "squares": packed_reals(np.array([section.squares for section in sections])),
    }


def _unpack_sections(content: Mapping[str, object]) -> tuple[Section, ...]:
    size = cast("int", content["size"])
    columns = [unpacked_steps(text, size).tolist() for text in cast("list[str]", content["whole"])]
    squares = unpacked_reals(cast("str", content["squares"]), size).tolist()
    return tuple(
        Section(asked=asked, failed=failed, nanoseconds=total, squares=square, longest=longest, over=tuple(over))
        for square, (asked, failed, total, longest, *over) in zip(squares, zip(*columns, strict=True), strict=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """The answers of one run."""

    name: str
    sections: tuple[Section, ...]
    bins: Whole
    """Those that hold answers, ascending."""
    counts: Whole
    episodes: tuple[int, ...]
    """Stretches of consecutive late answers, by bound."""
    halves: tuple[int, int, int]
    """Answers above the median, other answers, and how often the two alternate, plus 1."""
    step: int
    """The smallest difference between two times, in nanoseconds: no clock can be finer."""
    span: int | None = None
    """Nanoseconds from the first request to the last answer."""
    amounts: Mapping[str, float] = field(default_factory=dict)
    """What else was measured of the run, such as joules or correct answers."""

    @property
    def asked(self) -> int:
        """Requests, answered or not."""
        return sum(section.asked for section in self.sections)

    @property
    def failed(self) -> int:
        """Requests without an answer."""
        return sum(section.failed for section in self.sections)

    @property
    def nanoseconds(self) -> int:
        """The sum of all times."""
        return sum(section.nanoseconds for section in self.sections)

    def late(self, bound: int) -> int:
        """Answers later than a bound, by its place."""
        return sum(section.over[bound] for section in self.sections)

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "name": self.name,
            "sections": _pack_sections(self.sections),
            "bins": _pack_bins(self.bins, self.counts),
            "episodes": list(self.episodes),
            "halves": list(self.halves),
            "step": self.step,
            "span": self.span,
            "amounts": dict(sorted(self.amounts.items())),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Run:
        """The inverse of `to_json`."""
        bins, counts = _unpack_bins(cast("Mapping[str, object]", content["bins"]))
        return cls(
            name=cast("str", content["name"]),
            sections=_unpack_sections(cast("Mapping[str, object]", content["sections"])),
            bins=bins,
            counts=counts,
            episodes=tuple(cast("list[int]", content["episodes"])),
            halves=cast("tuple[int, int, int]", tuple(cast("list[int]", content["halves"]))),
            step=cast("int", content["step"]),
            span=cast("int | None", content["span"]),
            amounts=cast("dict[str, float]", content["amounts"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Durations(Digested):
    """The times of answers of some runs, in an order that does not depend on how they were counted."""

    bounds: tuple[int, ...]
    """In nanoseconds."""
    runs: tuple[Run, ...]
    longest: Mapping[int, int]
    """By bin: its longest time."""

    @property
    def rows(self) -> int:
        """Requests of all runs, answered or not."""
        return sum(run.asked for run in self.runs)

    @property
    def failed(self) -> int:
        """Requests without an answer."""
        return sum(run.failed for run in self.runs)

    @property
    def step(self) -> int:
        """The finest step of the clock that was seen."""
        return min((run.step for run in self.runs), default=0)

    def by_run(self) -> Whole:
        """How many answers of each run fall into each bin of `longest`; runs by bins."""
        table = np.zeros((len(self.runs), len(self.longest)), dtype=np.int64)
        known = np.array(list(self.longest), dtype=np.int64)
        for row, run in zip(table, self.runs, strict=True):
            row[np.searchsorted(known, run.bins)] = run.counts
        return table

    def at(self, share: float) -> float | None:
        """The seconds within which at least a share of the requests was answered; None where fewer were.

        It is a time that occurred: the longest one of the bin that holds the nearest rank.

        >>> from assay.tally.data.durations import count_run
        >>> count_run("", np.arange(1, 5) * 1_000_000).at(0.5)
        0.002
        """
        return self.at_rank(math.ceil(share * self.rows))

    def at_rank(self, rank: int) -> float | None:
        """The time of the answer with a rank, counted from 1."""
        reached = np.cumsum(self.by_run().sum(axis=0))
        place = int(np.searchsorted(reached, max(1, rank)))
        return None if place == len(reached) else list(self.longest.values())[place] / NANOSECONDS

    def within(self, bound: int = 0) -> int:
        """Answers no later than a bound, by its place."""
        return self.rows - sum(run.late(bound) for run in self.runs)

    def episodes(self, bound: int = 0) -> int:
        """Stretches of late answers."""
        return sum(run.episodes[bound] for run in self.runs)

    def only(self, run: Run) -> Durations:
        """One of the runs alone."""
        longest = {place: self.longest[place] for place in run.bins.tolist()}
        return Durations(bounds=self.bounds, runs=(run,), longest=longest)

    def __add__(self, other: Durations) -> Durations:
        """The runs of both."""
        if self.bounds != other.bounds:
            raise PlanError(
                "tally-mismatch",
                "the two tallies were counted with different latency bounds",
                found=f"{_in_seconds(self.bounds)} and {_in_seconds(other.bounds)}",
                fix="count both with the same bounds",
            )
        longest = dict(self.longest)
        for place, time in other.longest.items():
            longest[place] = max(time, longest.get(place, 0))
        named = Counter(run.name for run in (*self.runs, *other.runs))
        runs = sorted(
            (*self.runs, *other.runs), key=lambda run: (run.name, digest(run.to_json()) if named[run.name] > 1 else "")
        )
        return Durations(bounds=self.bounds, runs=tuple(runs), longest=dict(sorted(longest.items())))

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        bins, times = np.array([*self.longest.items()], dtype=np.int64).reshape(-1, 2).T
        return {
            "durations": {
                "kind": "durations",
                "version": VERSION,
                "bounds": list(self.bounds),
                "runs": [run.to_json() for run in self.runs],
                "longest": _pack_bins(bins, times - _floor_bins(bins) + 1),
            }
        }

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Durations:
        """The inverse of `to_json`."""
        content = cast("Mapping[str, object]", content.get("durations", {}))
        demand_kind(content, "durations", "a tally of durations")
        bins, above = _unpack_bins(cast("Mapping[str, object]", content["longest"]))
        times = _floor_bins(bins) + above - 1
        return cls(
            bounds=tuple(cast("list[int]", content["bounds"])),
            runs=tuple(map(Run.from_json, cast("list[dict[str, object]]", content["runs"]))),
            longest=dict(zip(bins.tolist(), times.tolist(), strict=True)),
        )


def _in_seconds(bounds: tuple[int, ...]) -> str:
    return ", ".join(f"{bound / NANOSECONDS:g} s" for bound in bounds) or "no bound"


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
