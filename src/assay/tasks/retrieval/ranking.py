# SPDX-License-Identifier: Apache-2.0
"""Orders the documents of each query, as trec_eval does, and keeps the places of the judged ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.tasks.retrieval.exposure import Exposure
from assay.tasks.retrieval.tally import MOST_SHOWN, NAMED, SHOWN, Outside, Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tally.kernels import Batch

    Whole = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Texts = NDArray[np.object_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgements:
    """The grades of all judged documents and what is counted with them; small, so that every worker has them."""

    grades: Mapping[str, Mapping[str, float]]
    """By query and document; queries sorted by name."""
    relevant: float = 1.0
    cutoffs: tuple[int, ...] = (1, 5, 10, 20, 100, 1000)
    catalogue: int | None = None
    popularity: Mapping[str, float] | None = field(default=None)

    @property
    def ids(self) -> tuple[str, ...]:
        """The queries."""
        return tuple(self.grades)

    def tally(self, ids: Sequence[str], **counted: Any) -> Rankings:  # noqa: ANN401  parts of a tally
        """The tally of some queries, with their grades and the parts that were counted."""
        owner, level, number = [], [], []
        for place, query in enumerate(ids):
            counts: dict[float, int] = {}
            for grade in self.grades[query].values():
                counts[grade] = counts.get(grade, 0) + 1
            for grade in sorted(counts, reverse=True):
                owner.append(place)
                level.append(grade)
                number.append(counts[grade])
        return Rankings(
            ids=tuple(ids),
            level_owner=np.array(owner, dtype=np.int64),
            level=np.array(level, dtype=np.float64),
            level_count=np.array(number, dtype=np.int64),
            relevant=self.relevant,
            cutoffs=self.cutoffs,
            **counted,
        )

    def empty(self, ids: Sequence[str], *, exposed: bool) -> Rankings:
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
            exposure=self.expose(np.zeros(0, dtype=object), none) if exposed else None,
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
    documents = np.array([str(document) for document in batch["document"].tolist()], dtype=object)
    present = sorted({*queries} & judgements.grades.keys())
    place = {query: number for number, query in enumerate(present)}
    code = np.fromiter((place.get(query, -1) for query in queries), dtype=np.int64, count=len(queries))
    unjudged = sorted({query for query in queries if query not in place})
    outside = Outside(rows=int((code < 0).sum()), queries=len(unjudged), names=tuple(unjudged[:NAMED]))
    inside = np.flatnonzero(code >= 0)
    none: Mapping[str, float] = {}
    grade = np.array(
        [judgements.grades.get(queries[row], none).get(documents[row], np.nan) for row in inside], dtype=np.float64
    )
    kept = documents[inside]
    return rank_documents(
        code[inside],
        np.asarray(batch["score"], dtype=np.float64)[inside],
        grade,
        lambda rows: kept[rows],
        ids=present,
        judgements=judgements,
        outside=outside,
    )


def rank_documents(
    code: Whole,
    score: Reals,
    grade: Reals,
    name: Callable[[NDArray[np.intp]], Texts],
    *,
    ids: Sequence[str],
    judgements: Judgements,
    outside: Outside,
) -> Rankings:
    """The tally of rows by query code, score and grade (NaN where a document is not judged).

    `name` gives the documents of some rows: names decide among equal scores, and are not looked at elsewhere.
    """
    order = order_rows(code, score)
    code, score, grade = code[order], score[order], grade[order]
    retrieved = np.bincount(code, minlength=len(ids)).astype(np.int64)
    start = np.cumsum(retrieved) - retrieved
    new = np.ones(len(code), dtype=bool)
    new[1:] = (code[1:] != code[:-1]) | (score[1:] != score[:-1])
    begin = np.flatnonzero(new)
    size = np.diff(np.append(begin, len(code)))
    judged = ~np.isnan(grade)
    exposed, few = judgements.catalogue is not None, len(judgements.grades) <= MOST_SHOWN
    near = np.arange(len(code)) - start[code] < (max(judgements.cutoffs) if exposed else SHOWN if few else 0)
    mixed = _tied_rows(begin, size, judged | near)
    if len(mixed):
        names = name(order[mixed])
        group = np.repeat(np.arange(len(begin)), size)[mixed]
        inner = sorted(range(len(mixed)), key=names.__getitem__, reverse=True)
        sorted_rows = mixed[np.array(inner)[np.argsort(group[inner], kind="stable")]]
        order[mixed], grade[mixed] = order[sorted_rows], grade[sorted_rows]
        judged = ~np.isnan(grade)
    place = np.arange(len(code)) - start[code] + 1
    kept = np.flatnonzero(judged)
    tie = np.searchsorted(begin, kept, side="right") - 1
    shown_rows = np.flatnonzero(near)
    names = name(order[shown_rows]) if len(shown_rows) else np.zeros(0, dtype=object)
    owners, grades = code[shown_rows], grade[shown_rows]
    return judgements.tally(
        ids,
        retrieved=retrieved,
        owner=code[kept],
        rank=place[kept],
        first=place[begin[tie]] if len(kept) else kept,
        tied=size[tie] if len(kept) else kept,
        grade=grade[kept],
        outside=outside,
        shown=_shown(ids, owners, place[shown_rows], names, grades) if few else {},
        exposure=judgements.expose(names, place[shown_rows]) if exposed else None,
    )


def order_rows(code: Whole, score: Reals) -> NDArray[np.intp]:
    """Rows by query, then score falling; sorts scores only where they do not fall already."""
    order = np.argsort(code, kind="stable") if (code[1:] < code[:-1]).any() else np.arange(len(code))
    by_query, ordered = code[order], score[order]
    if ((ordered[1:] > ordered[:-1]) & (by_query[1:] == by_query[:-1])).any():
        order = np.lexsort((-score, code))
    return order


def _tied_rows(begin: NDArray[np.intp], size: NDArray[np.intp], wanted: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Rows of tie groups in which the order of names matters: those with a wanted document."""
    if not len(begin):
        return begin
    touched = (np.add.reduceat(wanted, begin, dtype=np.int64) > 0) & (size > 1)
    return np.flatnonzero(np.repeat(touched, size))


def _shown(
    ids: Sequence[str], owner: Whole, rank: Whole, names: Texts, grade: Reals
) -> dict[str, tuple[tuple[str, float | None], ...]]:
    first: dict[str, list[tuple[str, float | None]]] = {}
    rows = zip(owner.tolist(), rank.tolist(), names.tolist(), grade.tolist(), strict=True)
    for query, place, document, value in rows:
        if place <= SHOWN:
            first.setdefault(ids[query], []).append((document, None if value != value else value))  # noqa: PLR0124
    return {query: tuple(pairs) for query, pairs in sorted(first.items())}
