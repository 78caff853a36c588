# SPDX-License-Identifier: Apache-2.0
"""The tally of retrieval: by query, where its judged documents stand, and how many documents have which grade."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.registry import Declared, Registry
from assay.core.text import counted, listed
from assay.tally.base import VERSION, Digested, demand_kind, packed_steps, unpacked_steps
from assay.tasks.retrieval.exposure import Exposure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole


NAMED: Final = 20
"""Unjudged queries that are remembered by name."""
SHOWN: Final = 5
"""First documents of a query that are remembered by name, so that the worst queries can be looked at."""
MOST_SHOWN: Final = 1000
"""Queries up to which they are."""


def sum_weights(owner: Whole, weights: NDArray[Any], units: int) -> Floats:
    """Sums of weights by unit, in the order of the rows."""
    sums: Floats = np.bincount(owner, weights=weights, minlength=units).astype(np.float64)
    return sums


def find_groups(*columns: NDArray[Any]) -> tuple[Whole, Whole]:
    """Where rows begin that differ from the row before in some column, and how many are alike from there."""
    apart = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    begin = np.flatnonzero(np.append(True, apart)[: len(columns[0])])
    return begin, np.diff(np.append(begin, len(columns[0])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What the run holds for queries that nobody judged: rows, queries, and the first of them by name."""

    rows: int = 0
    queries: int = 0
    names: tuple[str, ...] = ()

    def __add__(self, other: Outside) -> Outside:
        """Both together."""
        names = tuple(sorted({*self.names, *other.names})[:NAMED])
        return Outside(rows=self.rows + other.rows, queries=self.queries + other.queries, names=names)


@dataclass(frozen=True, kw_only=True, eq=False)
class Rankings(Digested):
    """Ranks and grades of judged documents by query; every measure of a run follows from it.

    Queries are those that were judged, sorted by name. With `each`, measures give one value a query.
    """

    MEASURES: ClassVar[Registry[Declared]] = Registry("measure", {})

    ids: tuple[str, ...]
    retrieved: Whole
    """Documents that the run returned, by query."""
    owner: Whole
    """Of each judged document that was returned: its query; queries and ranks rise."""
    rank: Whole
    first: Whole
    """The first rank of the documents with the same score."""
    tied: Whole
    """How many documents have this score."""
    grade: Floats
    level_owner: Whole
    """Of each grade that a query has: the query; grades fall."""
    level: Floats
    level_count: Whole
    relevant: float = 1.0
    """The lowest grade of a relevant document."""
    cutoffs: tuple[int, ...] = (1, 5, 10, 20, 100, 1000)
    """The cut-offs that are listed; any other can be asked for."""
    outside: Outside = field(default_factory=Outside)
    shown: Mapping[str, tuple[tuple[str, float | None], ...]] = field(default_factory=dict)
    """By query: its first documents with their grades; None where a document is not judged."""
    exposure: Exposure | None = None
    scale: float | None = None
    """The highest grade of all queries, where this tally holds some of them."""
    each: bool = False

    @property
    def rows(self) -> int:
        """Rows of the run that belong to judged queries."""
        return int(self.retrieved.sum())

    @property
    def units(self) -> int:
        """How many queries were judged."""
        return len(self.ids)

    def sum_by_query(self, values: NDArray[np.float64] | NDArray[np.bool_]) -> Floats:
        """Sums of values of judged documents, in the order of their ranks."""
        return sum_weights(self.owner, values, self.units)

    @cached_property
    def hit(self) -> NDArray[np.bool_]:
        """Whether a judged document is relevant."""
        return self.grade >= self.relevant

    @cached_property
    def relevant_count(self) -> Floats:
        """Relevant documents that a query has."""
        return self._judged(self.level >= self.relevant)

    @cached_property
    def other_count(self) -> Floats:
        """Documents of a query that were judged not to be relevant."""
        return self._judged(self.level < self.relevant)

    def _judged(self, chosen: NDArray[np.bool_]) -> Floats:
        return sum_weights(self.level_owner, self.level_count * chosen, self.units)

    @property
    def highest(self) -> float:
        """The highest grade that was given to any document."""
        return float(self.level.max(initial=0.0)) if self.scale is None else self.scale

    @cached_property
    def discount(self) -> Floats:
        """What the rank of each judged document divides its gain by."""
        discount: Floats = np.log2(self.rank + 1.0)
        return discount

    @cached_property
    def gains(self) -> dict[bool, Floats]:
        """Discounted gains of judged documents: linear (False) and exponential (True); negative grades give none."""
        grade = np.maximum(self.grade, 0.0)
        return {False: grade / self.discount, True: (np.exp2(grade) - 1) / self.discount}

    @cached_property
    def starts(self) -> Whole:
        """Where the documents of each query begin."""
        return np.searchsorted(self.owner, np.arange(self.units + 1)).astype(np.int64)

    def count_before(self, chosen: NDArray[np.bool_]) -> Whole:
        """Of each judged document: how many chosen ones of its query stand above it."""
        running: Whole = np.cumsum(chosen) - chosen
        return running - running[self.starts[self.owner]] if len(running) else running

    def one_by_one(self) -> Rankings:
        """The same as a stack of single queries."""
        return replace(self, each=True)

    def order_ties(self, *, best: bool) -> Rankings:
        """The same run with ties broken for or against the system."""
        group = np.lexsort((-self.grade if best else self.grade, self.first, self.owner))
        owner, first, tied = self.owner[group], self.first[group], self.tied[group]
        begin, sizes = find_groups(owner, first)
        place, size = np.arange(len(group)) - np.repeat(begin, sizes), np.repeat(sizes, sizes)
        rank = (first + place + (0 if best else tied - size)).astype(np.int64)
        return replace(self, owner=owner, first=first, tied=tied, rank=rank, grade=self.grade[group])

    def select(self, ids: Sequence[str]) -> Rankings:
        """Some of the queries."""
        place = {name: number for number, name in enumerate(self.ids)}
        chosen = np.array(sorted(place[name] for name in ids), dtype=np.int64)
        new = np.full(self.units, -1, dtype=np.int64)
        new[chosen] = np.arange(len(chosen))
        kept, levels = new[self.owner] >= 0, new[self.level_owner] >= 0
        names = tuple(self.ids[number] for number in chosen)
        return replace(
            self,
            ids=names,
            retrieved=self.retrieved[chosen],
            owner=new[self.owner[kept]],
            **cast("Any", {name: getattr(self, name)[kept] for name in ("rank", "first", "tied", "grade")}),
            level_owner=new[self.level_owner[levels]],
            level=self.level[levels],
            level_count=self.level_count[levels],
            shown={name: self.shown[name] for name in names if name in self.shown},
            outside=Outside(),
            exposure=None,
        )

    def __add__(self, other: Rankings) -> Rankings:
        """The queries of both; a query must be whole in one of them."""
        self._check_addable(other)
        ids = sorted({*self.ids, *other.ids})
        place = {name: number for number, name in enumerate(ids)}
        parts = (self, other)
        moved = [np.array([place[name] for name in part.ids], dtype=np.int64) for part in parts]
        retrieved = np.zeros(len(ids), dtype=np.int64)
        for part, new in zip(parts, moved, strict=True):
            retrieved[new] = part.retrieved
        owner = np.concatenate([new[part.owner] for part, new in zip(parts, moved, strict=True)])
        level_owner = np.concatenate([new[part.level_owner] for part, new in zip(parts, moved, strict=True)])
        order, levels = np.argsort(owner, kind="stable"), np.argsort(level_owner, kind="stable")
        joined = {
            name: np.concatenate([getattr(part, name) for part in parts])[order]
            for name in ("rank", "first", "tied", "grade")
        }
        exposure = None if self.exposure is None or other.exposure is None else self.exposure + other.exposure
        return replace(
            self,
            ids=tuple(ids),
            retrieved=retrieved,
            owner=owner[order],
            **cast("Any", joined),
            level_owner=level_owner[levels],
            level=np.concatenate([self.level, other.level])[levels],
            level_count=np.concatenate([self.level_count, other.level_count])[levels],
            outside=self.outside + other.outside,
            shown=dict(sorted({**self.shown, **other.shown}.items())) if len(ids) <= MOST_SHOWN else {},
            exposure=exposure,
        )

    def _check_addable(self, other: Rankings) -> None:
        if (self.relevant, self.cutoffs) != (other.relevant, other.cutoffs):
            raise PlanError(
                "tally-mismatch",
                "the two tallies were counted with different cut-offs or another lowest relevant grade",
                found=f"{self.cutoffs} from {self.relevant:g} and {other.cutoffs} from {other.relevant:g}",
                fix="count both with the same k and relevant",
            )
        if both := sorted({*self.ids} & {*other.ids}):
            raise PlanError(
                "tally-mismatch",
                f"{counted(len(both), 'query', 'queries')} stand in both tallies, and parts of a list have no order",
                found=listed(both),
                fix="give every query to one of the two",
            )

    def to_json(self) -> dict[str, object]:
        """As in a Record: whole numbers packed, grades by their place among the distinct ones."""
        grades = sorted({*self.level.tolist(), *self.grade.tolist()})
        step = np.diff(self.rank, prepend=0)
        step[self.starts[:-1][np.diff(self.starts) > 0]] = 0  # a new query counts from its own first rank
        begin = self.starts[:-1][np.diff(self.starts) > 0]
        step[begin] = self.rank[begin]
        content: dict[str, object] = {
            "kind": "rankings",
            "version": VERSION,
            "relevant": self.relevant,
            "cutoffs": list(self.cutoffs),
            "ids": list(self.ids),
            "grades": grades,
            "documents": len(self.owner),
            "levels": len(self.level),
            "retrieved": packed_steps(self.retrieved),
            "judged_retrieved": packed_steps(np.diff(self.starts)),
            "rank_steps": packed_steps(step),
            "above_in_tie": packed_steps(self.rank - self.first),
            "tied": packed_steps(self.tied - 1),
            "grade": packed_steps(np.searchsorted(grades, self.grade)),
            "level_sizes": packed_steps(np.bincount(self.level_owner, minlength=self.units)),
            "level": packed_steps(np.searchsorted(grades, self.level)),
            "level_count": packed_steps(self.level_count),
            "outside": [self.outside.rows, self.outside.queries, list(self.outside.names)],
            "shown": {query: [list(pair) for pair in pairs] for query, pairs in self.shown.items()},
        }
        if self.exposure is not None:
            content["exposure"] = self.exposure.to_json()
        return {"rankings": content}

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Rankings:
        """The inverse of `to_json`."""
        part = cast("dict[str, object]", content.get("rankings", {}))
        demand_kind(part, "rankings", "a tally of rankings")
        ids = tuple(cast("list[str]", part["ids"]))
        size, levels = cast("int", part["documents"]), cast("int", part["levels"])

        def whole(name: str, count: int) -> Whole:
            return unpacked_steps(cast("str", part[name]), count)

        grades = np.array(part["grades"], dtype=np.float64)
        sizes = whole("judged_retrieved", len(ids))
        owner = np.repeat(np.arange(len(ids)), sizes)
        steps = np.cumsum(whole("rank_steps", size))
        begin = (np.cumsum(sizes) - sizes)[owner]
        rank = steps - np.where(begin > 0, steps[begin - 1], 0) if size else steps
        rows, queries, names = cast("tuple[int, int, list[str]]", part["outside"])
        shown = cast("dict[str, list[tuple[str, float | None]]]", part["shown"])
        exposed = cast("dict[str, object] | None", part.get("exposure"))
        return cls(
            ids=ids,
            retrieved=whole("retrieved", len(ids)),
            owner=owner,
            rank=rank,
            first=rank - whole("above_in_tie", size),
            tied=whole("tied", size) + 1,
            grade=grades[whole("grade", size)],
            level_owner=np.repeat(np.arange(len(ids)), whole("level_sizes", len(ids))),
            level=grades[whole("level", levels)],
            level_count=whole("level_count", levels),
            relevant=float(cast("float", part["relevant"])),
            cutoffs=tuple(cast("list[int]", part["cutoffs"])),
            outside=Outside(rows=rows, queries=queries, names=tuple(names)),
            shown={query: tuple((name, grade) for name, grade in pairs) for query, pairs in shown.items()},
            exposure=None if exposed is None else Exposure.from_json(exposed),
        )
