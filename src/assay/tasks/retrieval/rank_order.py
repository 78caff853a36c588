# SPDX-License-Identifier: Apache-2.0
"""Orders the documents of each query, as trec_eval does, and keeps the places of the judged ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.tasks.retrieval.exposure import Exposure
from assay.tasks.retrieval.tally import MOST_SHOWN, NAMED, SHOWN, Outside, Rankings, find_groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole
    from assay.tally.batches import Batch

    Texts = NDArray[np.object_]


@dataclass(frozen=True, kw_only=True)
class Judgements:
    """The grades of all judged documents and what is counted with them; small, so that every worker has them."""

    ids: tuple[str, ...]
    """The queries, sorted by name."""
    code: Whole
    """Of each judged document: the place of its query; sorted."""
    document: Texts
    grade: Floats
    relevant: float = 1.0
    cutoffs: tuple[int, ...] = (1, 5, 10, 20, 100, 1000)
    catalogue: int | None = None
    popularity: Mapping[str, float] | None = None

    @cached_property
    def places(self) -> dict[str, dict[str, int]]:
        """By query and document: the place of the grade."""
        places: dict[str, dict[str, int]] = {query: {} for query in self.ids}
        for place, (code, document) in enumerate(zip(self.code.tolist(), self.document.tolist(), strict=True)):
            places[self.ids[code]][document] = place
        return places

    def tally(self, ids: Sequence[str], **counted: Any) -> Rankings:  # noqa: ANN401  parts of a tally
        """The tally of some queries, with their grades and the parts that were counted."""
        code, grade = self.code, self.grade
        if len(ids) < len(self.ids):
            new = np.full(len(self.ids), -1, dtype=np.int64)
            place = {query: number for number, query in enumerate(self.ids)}
            new[[place[query] for query in ids]] = np.arange(len(ids))
            kept = new[code] >= 0
            code, grade = new[code[kept]], grade[kept]
        order = np.lexsort((-grade, code))
        code, grade = code[order], grade[order]
        begin, sizes = find_groups(code, grade)
        return Rankings(
            ids=tuple(ids),
            level_owner=code[begin],
            level=grade[begin],
            level_count=sizes,
            relevant=self.relevant,
            cutoffs=self.cutoffs,
            **counted,
        )

    def empty(self, ids: Sequence[str]) -> Rankings:
        """The tally of queries for which the run holds nothing."""
        none = np.zeros(0, dtype=np.int64)
        return self.tally(
            ids,
            retrieved=np.zeros(len(ids), dtype=np.int64),
            owner=none,
            rank=none,
            first=none,
            tied=none,
            grade=np.zeros(0),
            exposure=self.expose(np.zeros(0, dtype=object), none),
        )

    def expose(self, documents: Texts, ranks: Whole) -> Exposure | None:
        """Count how often documents are shown, where the size of the catalogue is stated."""
        if self.catalogue is None:
            return None
        return Exposure.count(
            documents, ranks, catalogue=self.catalogue, cutoffs=self.cutoffs, popularity=self.popularity
        )


def count_batch(batch: Batch, judgements: Judgements) -> Rankings:
    """Count whole queries: the kernel for rows that are held as arrays, here or on a worker of Spark."""
    queries = [str(query) for query in batch["query"].tolist()]
    documents = [str(document) for document in batch["document"].tolist()]
    present = sorted({*queries} & judgements.places.keys())
    number = {query: place for place, query in enumerate(present)}
    code = np.fromiter((number.get(query, -1) for query in queries), dtype=np.int64, count=len(queries))
    unjudged = sorted({query for query in queries if query not in number})
    outside = Outside(rows=int((code < 0).sum()), queries=len(unjudged), names=tuple(unjudged[:NAMED]))
    inside = np.flatnonzero(code >= 0)
    place = np.array([judgements.places[queries[row]].get(documents[row], -1) for row in inside], dtype=np.int64)
    names = np.array([*documents, ""], dtype=object)[:-1][inside]
    score = np.asarray(batch["score"], dtype=np.float64)[inside]
    ranked = Ranked.of(code[inside], score, place, names.__getitem__, size=len(present), judgements=judgements)
    return rank_documents([ranked], present, judgements, outside)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Where the judged documents of some whole queries stand, and the documents that are remembered by name."""

    retrieved: Whole
    """By code of a query, of all queries."""
    judged: Whole
    """Owner, rank, first rank and number of ties, and place of the grade: a row each, a column a document."""
    near: Whole
    """Owner, rank and place of the grade of documents that are remembered."""
    names: Texts

    @classmethod
    def of(
        cls,
        code: Whole,
        score: Floats,
        place: Whole,
        name: Callable[[NDArray[np.intp]], Texts],
        *,
        size: int,
        judgements: Judgements,
    ) -> Ranked:
        """From rows by query code, score and place of the judgement (-1 where a document is not judged).

        `name` gives the documents of some rows: names decide among equal scores, and are not looked at elsewhere.
        """
        order = order_rows(code, score)
        if order is not None:
            code, score, place = code[order], score[order], place[order]
        start, retrieved = _extents(code, size)
        judged = np.flatnonzero(place >= 0)
        exposed, few = judgements.catalogue is not None, len(judgements.ids) <= MOST_SHOWN
        near = _first_rows(start, retrieved, max(judgements.cutoffs) if exposed else SHOWN if few else 0)
        ties = Ties.find(code, score)
        mixed = ties.rows_around(np.union1d(judged, near))
        needed = np.union1d(mixed, near)
        names = name(needed if order is None else order[needed]) if len(needed) else np.zeros(0, dtype=object)
        if len(mixed):
            moved = _order_by_name(mixed, names[np.searchsorted(needed, mixed)], ties)
            place[mixed], names[np.searchsorted(needed, mixed)] = place[moved], names[np.searchsorted(needed, moved)]
            judged = np.flatnonzero(place >= 0)
        first, last = ties.ends(judged)
        owner = code[judged].astype(np.int64)
        begin = start[owner] - 1
        return cls(
            retrieved,
            np.stack([owner, judged - begin, first - begin, last - first, place[judged]]),
            np.stack([code[near], near - start[code[near]] + 1, place[near]]).astype(np.int64),
            names[np.searchsorted(needed, near)],
        )


def rank_documents(parts: Sequence[Ranked], ids: Sequence[str], judgements: Judgements, outside: Outside) -> Rankings:
    """The tally of queries, each of them whole in one of the parts."""
    owner, rank, first, tied, place = _in_order(np.concatenate([part.judged for part in parts], axis=1))
    code, ranks, grades = np.concatenate([part.near for part in parts], axis=1)
    shown = np.concatenate([part.names for part in parts])
    few = len(judgements.ids) <= MOST_SHOWN
    return judgements.tally(
        ids,
        retrieved=np.sum([part.retrieved for part in parts], axis=0),
        owner=owner,
        rank=rank,
        first=first,
        tied=tied,
        grade=judgements.grade[place],
        outside=outside,
        shown=_shown(ids, (code, ranks, shown, grades), judgements.grade) if few else {},
        exposure=judgements.expose(shown, ranks),
    )


def _in_order(columns: Whole) -> Whole:
    """The columns by query, and by rank as they are."""
    return columns[:, np.argsort(columns[0], kind="stable")]


def _order_by_name(rows: Whole, names: Texts, ties: Ties) -> Whole:
    """Rows of tie groups with the names falling inside each group."""
    falling = np.array(sorted(range(len(rows)), key=names.__getitem__, reverse=True), dtype=np.int64)
    group = ties.ends(rows)[0]
    return rows[falling[np.argsort(group[falling], kind="stable")]]


def _first_rows(start: Whole, retrieved: Whole, most: int) -> Whole:
    """The first rows of each query."""
    return _expand(start, start + np.minimum(retrieved, most)) if most else start[:0]


def _expand(first: Whole, last: Whole) -> Whole:
    """All rows of ranges that do not overlap."""
    sizes = last - first
    return np.repeat(first - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))


@dataclass(frozen=True, slots=True)
class Ties:
    """Groups of two and more rows of a query with the same score: where they begin, and where they end."""

    begin: Whole
    end: Whole

    @classmethod
    def find(cls, code: Whole, score: Floats) -> Ties:
        """Groups among rows that are ordered by query and score."""
        alike = np.flatnonzero((score[1:] == score[:-1]) & (code[1:] == code[:-1]))
        if not len(alike):
            return cls(alike, alike)
        apart = np.diff(alike) > 1
        return cls(alike[np.append(True, apart)], alike[np.append(apart, True)] + 2)

    def ends(self, rows: Whole) -> tuple[Whole, Whole]:
        """The group of each row; a row without ties is a group of its own."""
        if not len(self.begin):
            return rows, rows + 1
        group = np.maximum(np.searchsorted(self.begin, rows, side="right") - 1, 0)
        inside = (rows >= self.begin[group]) & (rows < self.end[group])
        return np.where(inside, self.begin[group], rows), np.where(inside, self.end[group], rows + 1)

    def rows_around(self, rows: Whole) -> Whole:
        """All rows of the groups that hold some of these rows."""
        if not len(self.begin):
            return rows[:0]
        group = np.maximum(np.searchsorted(self.begin, rows, side="right") - 1, 0)
        touched = np.unique(group[(rows >= self.begin[group]) & (rows < self.end[group])])
        return _expand(self.begin[touched], self.end[touched])


def _extents(code: Whole, size: int) -> tuple[Whole, Whole]:
    """Where the rows of each query begin, and how many there are; they follow each other."""
    start, retrieved = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    begin, sizes = find_groups(code)
    start[code[begin]], retrieved[code[begin]] = begin, sizes
    return start, retrieved


def order_rows(code: Whole, score: Floats) -> NDArray[np.intp] | None:
    """An order in which rows of a query follow each other and scores fall; None where they do already."""
    change = np.flatnonzero(code[1:] != code[:-1]) + 1
    rises = np.flatnonzero(score[1:] > score[:-1]) + 1
    together = len(np.unique(code[np.append(0, change)])) == len(change) + 1 if len(code) else True
    if together and not len(np.setdiff1d(rises, change, assume_unique=True)):
        return None
    return np.lexsort((-score, code))


def _shown(
    ids: Sequence[str], columns: tuple[Whole, Whole, Texts, Whole], grades: Floats
) -> dict[str, tuple[tuple[str, float | None], ...]]:
    """The first documents of each query with their grades."""
    first: dict[str, list[tuple[str, float | None]]] = {}
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for query, position, document, judged in rows:
        if position <= SHOWN:
            first.setdefault(ids[query], []).append((document, float(grades[judged]) if judged >= 0 else None))
    return {query: tuple(pairs) for query, pairs in sorted(first.items())}
