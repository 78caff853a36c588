# SPDX-License-Identifier: Apache-2.0
"""Score tallies of any number of rows, in bins that keep the order of scores.

Each class against the rest in fixed bins, all columns pooled from the same ones or, with many classes, in finer ones;
each true class apart, for pairs of classes, in bins that are coarser the more classes there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError, RecordError
from assay.core.labels import Label
from assay.core.text import listed, quoted
from assay.tally.base import VERSION, digest
from assay.tally.binmaps import PROBABILITY, REAL, BinMap
from assay.tally.binweights import BinWeights
from assay.tally.pooledbins import PooledBins, pooled_map
from assay.tally.ranked import Multiset, Ranked, whole
from assay.tally.scorebins import ScoreBins
from assay.tally.scores import Scores
from assay.tally.truthbins import MOST_PAIRED, TruthBins, exact_weights, paired_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

LISTED: Final = 50_000
"""Distinct scores up to which a Record lists them all, about a megabyte; beyond, it holds bins."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Binned:
    """Positives and negatives by bin of score, for each class that has a column of scores."""

    labels: tuple[Label, ...]
    scored: tuple[Label, ...]
    columns: tuple[ScoreBins, ...]
    rows: int
    paired: tuple[TruthBins, ...] = ()
    """For each column the true classes apart; none with two classes, with very many, or from an older Record."""
    pool: PooledBins | None = None
    """All columns pooled in finer bins; not with few classes, weights or scores that are no probabilities."""

    @property
    def weighted(self) -> bool:
        """Whether bins hold sums of weights."""
        return any(column.weight is not None for column in self.columns)

    @property
    def distinct(self) -> int:
        """How many bins are occupied."""
        return sum(len(column.place) for column in self.columns)

    def one_vs_rest(self, label: Label) -> Ranked:
        """The scores of one class as bins: rows of one bin are tied."""
        return self.bins(label).ranked()

    def bins(self, label: Label) -> ScoreBins:
        """The bins of one class."""
        if label not in self.scored:
            raise PlanError(
                "score-columns",
                f"there is no score column for the class {quoted(label)}",
                known=listed(self.scored),
                fix="give a score column for each class that is asked about",
            )
        return self.columns[self.scored.index(label)]

    @property
    def k(self) -> int:
        """How many classes there are."""
        return len(self.labels)

    @property
    def averaged(self) -> bool:
        """Whether averages over classes are told; a Record that was written before they were holds no pairs."""
        return bool(self.paired) or self.k > MOST_PAIRED

    def one_vs_one(self, label: Label, other: Label) -> Ranked:
        """The scores of one class: its rows against those of one other class, rows of one bin tied."""
        return self.pair(label, other).ranked()

    def pair(self, label: Label, other: Label) -> ScoreBins:
        """The bins of one class: its rows and those of one other class."""
        truths = self.paired[self.scored.index(label)]
        return truths.pair(self.labels.index(label), self.labels.index(other), self.bins(label).coarser(truths.map))

    def pooled(self) -> ScoreBins:
        """The bins of all columns: each score of a row is positive when it is that of the true class."""
        columns = reduce(add, self.columns)
        return columns if self.pool is None else self.pool.bins(columns)

    def micro(self) -> Ranked:
        """All columns pooled, rows of one bin tied."""
        return self.pooled().ranked()

    def own(self) -> ScoreBins:
        """The bins of the score that each row gave its true class."""
        bins = self.pooled()
        there = bins.pos > 0
        if bins.weight is not None:
            own = bins.weight.only_positives()[there]
            return ScoreBins.weighing(
                map=bins.map, place=bins.place[there], weight=own, only=bins.only[there], rows=self.rows
            )
        none = whole(np.zeros(int(there.sum())))
        return ScoreBins(
            map=bins.map, place=bins.place[there], pos=bins.pos[there], neg=none, only=bins.only[there], rows=self.rows
        )

    def of_truth(self) -> Multiset:
        """The score each row gave its true class, at the lower end of its bin."""
        table = self.own().ranked()
        return Multiset(table.score, table.pos)

    def squares_at(self, label: Label, threshold: float) -> dict[str, Fraction] | None:
        """The squared weights in the four cells of one class at a threshold; None where rows have no weights."""
        return self.bins(label).weights_at(threshold, squared=True)

    def sizes(self) -> list[int] | list[Fraction]:
        """Rows, or their weight, by true class, as far as the columns tell."""
        first = self.columns[0].weight
        if first is not None:
            every = first.pos.total() + first.neg.total()
            held = {label: cast("BinWeights", self.bins(label).weight).pos.total() for label in self.scored}
            return [held.get(label, every - sum(held.values(), Fraction(0))) for label in self.labels]
        own = {label: int(self.bins(label).pos.sum()) for label in self.scored}
        return [own.get(label, self.rows - sum(own.values())) for label in self.labels]

    def __add__(self, other: Tallied) -> Binned:
        """Both tallies together; scores that are held one by one are put into bins first."""
        theirs = other if isinstance(other, Binned) else binned(other, self.columns[0].map)
        if (self.labels, self.scored) != (theirs.labels, theirs.scored):
            raise PlanError(
                "tally-mismatch",
                "the two score tallies have different classes, or the same in another order",
                found=f"{listed(self.labels)} and {listed(theirs.labels)}",
                fix="declare the same classes for both",
            )
        columns = tuple(a + b for a, b in zip(self.columns, theirs.columns, strict=True))
        both = bool(self.paired) and bool(theirs.paired)
        return Binned(
            labels=self.labels,
            scored=self.scored,
            columns=columns,
            rows=self.rows + theirs.rows,
            paired=tuple(a + b for a, b in zip(self.paired, theirs.paired, strict=True)) if both else (),
            pool=None if self.pool is None or theirs.pool is None else self.pool + theirs.pool,
        )

    def __eq__(self, other: object) -> bool:
        """The same classes, the same counts in the same bins."""
        return isinstance(other, Binned) and self.digest() == other.digest()

    def __hash__(self) -> int:
        """By digest."""
        return hash(self.digest())

    def digest(self) -> str:
        """SHA-256 of the canonical form; equal on every engine."""
        return digest(self.to_json())

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {
            "kind": "binned-scores",
            "version": VERSION,
            "labels": list(self.labels),
            "scored": list(self.scored),
            "rows": self.rows,
            "columns": [column.to_json() for column in self.columns],
            **({"paired": self._paired_to_json()} if self.paired else {}),
            **({"pooled": self.pool.to_json()} if self.pool is not None else {}),
        }

    def _paired_to_json(self) -> dict[str, object]:
        return {"halvings": self.paired[0].map.halvings, "columns": [one.to_json() for one in self.paired]}

    @classmethod
    def from_json(cls, content: Mapping[str, object]) -> Binned:
        """The inverse of `to_json`."""
        if content.get("kind") != "binned-scores" or content.get("version") != VERSION:
            raise RecordError(
                "record-unreadable",
                f"this is not a tally of binned scores of version {VERSION}",
                found=f"kind {content.get('kind')!r}, version {content.get('version')!r}",
                fix="write it again with this version of assay",
            )
        columns = tuple(ScoreBins.from_json(one) for one in cast("list[dict[str, object]]", content["columns"]))
        paired = cast("Mapping[str, object]", content.get("paired", {"halvings": 0, "columns": []}))
        by = BinMap(columns[0].map.kind, columns[0].map.edges, cast("int", paired["halvings"]))
        return cls(
            labels=tuple(cast("list[Label]", content["labels"])),
            scored=tuple(cast("list[Label]", content["scored"])),
            columns=columns,
            rows=cast("int", content["rows"]),
            paired=tuple(TruthBins.from_json(one, by) for one in cast("list[dict[str, object]]", paired["columns"])),
            pool=PooledBins.from_json(cast("Mapping[str, object]", content["pooled"]), columns[0].map)
            if "pooled" in content
            else None,
        )


Tallied: TypeAlias = Scores | Binned


def bin_map(*, probability: bool) -> BinMap:
    """The bins that are the same everywhere: finer towards 0 and 1 for probabilities, towards 0 for other scores."""
    return PROBABILITY if probability else REAL


def pairs_classes(scored: Sequence[Label]) -> bool:
    """Whether each true class is counted apart beside each class against the rest."""
    return 2 < len(scored) <= MOST_PAIRED  # noqa: PLR2004  two classes are a pair already


def binned(scores: Scores, wanted: BinMap) -> Binned:
    """Scores that are held one by one, put into bins."""
    columns = []
    for label in scores.scored:
        table = scores.one_vs_rest(label)
        place = wanted.place(table.score) if len(table.score) else np.zeros(0, dtype=np.int64)
        kept, first = np.unique(place, return_index=True)
        several = np.diff(first, append=len(place)) > 1  # the scores of a bin stand together
        only = np.where(several, np.nan, table.score[first])
        if scores.weighted:
            weight = _weights(scores, label, wanted, kept)
            columns.append(ScoreBins.weighing(map=wanted, place=kept, weight=weight, only=only, rows=scores.rows))
            continue
        pos, neg = (np.add.reduceat(one, first) if len(first) else one for one in (table.pos, table.neg))
        columns.append(ScoreBins(map=wanted, place=kept, pos=pos, neg=neg, only=only, rows=scores.rows))
    by = paired_map(wanted, scores.k, weighted=scores.weighted)
    return Binned(
        labels=scores.labels,
        scored=scores.scored,
        columns=tuple(columns),
        rows=scores.rows,
        paired=tuple(TruthBins.of_column(by, one, scores.k) for one in scores.columns)
        if pairs_classes(scores.scored)
        else (),
        pool=_pool(scores, wanted),
    )


def _pool(scores: Scores, wanted: BinMap) -> PooledBins | None:
    """All columns pooled in finer bins, where pooled scores are held so."""
    finer = pooled_map(wanted, scores.k) if pairs_classes(scores.scored) and not scores.weighted else None
    if finer is None:
        return None
    truth = [np.repeat(np.arange(scores.k), np.diff(column.start)) for column in scores.columns]
    own = [codes == scores.labels.index(label) for codes, label in zip(truth, scores.scored, strict=True)]
    place = np.concatenate([finer.place(column.value) for column in scores.columns])
    count = np.concatenate([np.asarray(column.count, dtype=np.int64) for column in scores.columns])
    return PooledBins.of_cells(finer, place, np.concatenate(own), count)


def _weights(scores: Scores, label: Label, wanted: BinMap, kept: NDArray[np.int64]) -> BinWeights:
    """The weights of a column in the bins that are occupied."""
    column = scores.columns[scores.scored.index(label)]
    truth = np.repeat(np.arange(scores.k), np.diff(column.start))
    at = np.searchsorted(kept, wanted.place(column.value))
    positive = truth == scores.labels.index(label)
    return BinWeights.by_class(at, len(kept), *exact_weights(column), positive=positive)


def joined(a: Tallied, b: Tallied) -> Tallied:
    """Two tallies together, in bins as soon as one of them is."""
    if isinstance(a, Scores):
        return a + b if isinstance(b, Scores) else b + a
    return a + b


def tally_from_json(content: Mapping[str, object]) -> Tallied:
    """Either kind of score tally, as a Record holds it."""
    return Binned.from_json(content) if content.get("kind") == "binned-scores" else Scores.from_json(content)
