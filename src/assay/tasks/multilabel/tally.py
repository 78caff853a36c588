# SPDX-License-Identifier: Apache-2.0
"""The tally of label sets: counts by label, a histogram of set sizes, and cross products that tell how rows vary.

Cross products are those of the indicators true positive, false positive and false negative of every label, so the
variance of any smooth function of label counts needs no rows. Slots of a row are never taken as independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label, in_order
from assay.core.text import listed
from assay.tally.base import VERSION, Digested, demand_kind
from assay.tally.scores.rounded_scores import LISTED
from assay.tally.scores.score_tally import Scores
from assay.tally.unit_table import UnitTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole

    Bits: TypeAlias = NDArray[np.uint8]

MOST_LABELS: Final = 500
"""Labels up to which cross products are kept: 1,500 x 1,500 numbers."""
WIDE: Final = 192
"""Indicators above which cross products are counted from the few that are 1."""
BLOCK: Final = 1 << 15
HELD: Final = 1 << 23
"""Slots of a block; the sums of a block are exact in single precision."""
GRID: Final = 1 << 30
"""Values of a row are kept as whole multiples of 1 / GRID where units are added up, so that their sums are exact."""
RANKED: Final = ("lrap", "coverage", "ranking_loss")
"""What the scores of a row say of the order of its labels."""
SIZES: Final = ("n", "exact", "wrong", "both", "true", "called")
RATIOS: Final = ("jaccard", "precision", "recall", "f1")
SAMPLE: Final = (*SIZES, *(f"{name}{end}" for name in (*RATIOS, *RANKED) for end in ("", "_rows")))
"""Sums over rows that need no label names."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelSets(Digested):
    """Rows with a set of true and a set of predicted labels each."""

    PUBLIC: ClassVar = ("labels", "rows_empty")

    labels: tuple[Label, ...]
    rows: int
    sizes: Whole
    """Sorted: labels truly there, labels predicted, labels in both, and how many rows are so."""
    counts: Whole
    """True positives, false positives, false negatives; by label."""
    cross: Whole | None
    """Cross products of the indicators, all three kinds by label; None above `MOST_LABELS`."""
    units: UnitTable | None = None
    """Sums by unit, where rows belong together."""
    scores: tuple[Scores, ...] = ()
    ranked: Mapping[str, Whole] = field(default_factory=dict)
    """By name: values of rows in units of 1 / GRID, and how many rows have each."""

    @property
    def rows_empty(self) -> dict[str, int]:
        """Rows whose sets are empty: both, the true one, the predicted one."""
        true, called, _, n = self.sizes.T
        return {
            "both": int(n[(true == 0) & (called == 0)].sum()),
            "truth": int(n[true == 0].sum()),
            "predicted": int(n[called == 0].sum()),
        }

    @property
    def independent(self) -> int:
        """How many units there are; rows, unless they belong together."""
        return self.rows if self.units is None else self.units.units

    def as_stored(self) -> LabelSets:
        """The same with scores rounded as a Record stores them, where there are very many."""
        if all(scores.distinct <= LISTED for scores in self.scores):
            return self
        return replace(self, scores=tuple(scores.stored(probability=False) for scores in self.scores))

    def with_labels(self, labels: Sequence[Label]) -> LabelSets:
        """The same rows over more labels, which nobody bears."""
        if tuple(labels) == self.labels:
            return self
        place = {label: i for i, label in enumerate(labels)}
        lost = [label for label in self.labels if label not in place]
        if lost or self.scores:
            raise PlanError(
                "tally-mismatch",
                "the two parts have other labels",
                found=listed(lost or self.labels),
                known=listed(labels),
                fix="count every part with the same labels: labels=[...]",
            )
        at, size = np.array([place[label] for label in self.labels], dtype=np.intp), len(labels)
        counts = np.zeros((3, size), dtype=np.int64)
        counts[:, at] = self.counts
        wide = np.concatenate([at, at + size, at + 2 * size])
        cross = None
        if self.cross is not None and size <= MOST_LABELS:
            cross = np.zeros((3 * size, 3 * size), dtype=np.int64)
            cross[np.ix_(wide, wide)] = self.cross
        units = None
        if self.units is not None:
            sums = np.zeros((self.units.units, len(SAMPLE) + 3 * size))
            sums[:, : len(SAMPLE)] = self.units.sums[:, : len(SAMPLE)]
            sums[:, len(SAMPLE) + wide] = self.units.sums[:, len(SAMPLE) :]
            units = UnitTable.build(unit_names(labels), sums, rows=self.units.rows, ids=self.units.ids)
        return replace(self, labels=tuple(labels), counts=counts, cross=cross, units=units)

    def __add__(self, other: LabelSets) -> LabelSets:
        """Both together, over the labels of either."""
        labels = self.labels
        if labels != other.labels:
            labels = in_order({*self.labels, *other.labels})
        a, b = self.with_labels(labels), other.with_labels(labels)
        if (a.units is None) != (b.units is None) or len(a.scores) != len(b.scores):
            raise PlanError(
                "tally-mismatch", "only one of the parts has units, or scores", fix="count both with the same columns"
            )
        return LabelSets(
            labels=labels,
            rows=a.rows + b.rows,
            sizes=pool_counts(a.sizes, b.sizes),
            counts=a.counts + b.counts,
            cross=None if a.cross is None or b.cross is None else a.cross + b.cross,
            units=None if a.units is None or b.units is None else a.units + b.units,
            scores=tuple(x + y for x, y in zip(a.scores, b.scores, strict=True)),
            ranked={name: pool_counts(values, b.ranked[name]) for name, values in a.ranked.items()},
        )

    def to_json(self) -> dict[str, object]:
        """As in a Record; of the cross products one triangle."""
        content: dict[str, object] = {
            "kind": "multilabel",
            "version": VERSION,
            "labels": list(self.labels),
            "rows": self.rows,
            "sizes": self.sizes.tolist(),
            "counts": self.counts.tolist(),
            "cross": None if self.cross is None else self.cross[np.triu_indices(len(self.cross))].tolist(),
            "ranked": {name: values.tolist() for name, values in self.ranked.items()},
        }
        if self.scores:
            content["scores"] = [scores.to_json() for scores in self.scores]
        return {"sets": content, **({} if self.units is None else self.units.to_json())}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> LabelSets:
        """The inverse of `to_json`."""
        own = content["sets"]
        demand_kind(own, "multilabel", "a tally of label sets")
        cross = None
        if own["cross"] is not None:
            size = 3 * len(own["labels"])
            cross = np.zeros((size, size), dtype=np.int64)
            upper = np.triu_indices(size)
            cross[upper] = own["cross"]
            cross[upper[::-1]] = own["cross"]
        return cls(
            labels=tuple(own["labels"]),
            rows=own["rows"],
            sizes=np.array(own["sizes"], dtype=np.int64).reshape(-1, 4),
            counts=np.array(own["counts"], dtype=np.int64).reshape(3, -1),
            cross=cross,
            units=UnitTable.from_json(content) if "units" in content else None,
            scores=tuple(Scores.from_json(part) for part in own.get("scores", ())),
            ranked={name: np.array(values, dtype=np.int64).reshape(-1, 2) for name, values in own["ranked"].items()},
        )


def unit_names(labels: Sequence[Label]) -> tuple[str, ...]:
    """Columns of the table of units."""
    return (*SAMPLE, *(f"{cell} {label}" for cell in ("tp", "fp", "fn") for label in labels))


def count_sets(
    labels: Sequence[Label],
    truth: Bits,
    predicted: Bits,
    *,
    units: NDArray[Any] | None = None,
    score: Floats | None = None,
) -> LabelSets:
    """Count rows given as matrices of 0 and 1; scores have a column for each label."""
    size, rows = len(labels), len(truth)
    crossed = size <= MOST_LABELS
    cross = np.zeros((3 * size, 3 * size)) if crossed else None
    sizes, columns = [], np.zeros(3 * size)
    step = max(1, min(BLOCK, HELD // max(size, 1)))
    for start in range(0, rows, step):
        cells = indicators(truth[start : start + step], predicted[start : start + step])
        if cross is not None:
            product = _products(cells)
            cross += product
            columns += np.diagonal(product)
        else:
            columns += cells.sum(axis=0)
        sizes.append(_size_histogram(cells, size))
    ranks = {} if score is None else rank_values(truth, score)
    return LabelSets(
        labels=tuple(labels),
        rows=rows,
        sizes=pool_counts(*sizes) if sizes else np.zeros((0, 4), dtype=np.int64),
        counts=np.rint(columns).astype(np.int64).reshape(3, size),
        cross=None if cross is None else np.rint(cross).astype(np.int64),
        units=None if units is None else _by_unit(labels, truth, predicted, units, ranks),
        scores=() if score is None else tuple(Scores.binary(score[:, j], truth[:, j] > 0) for j in range(size)),
        ranked={name: value_counts(values) for name, values in ranks.items()},
    )


def indicators(truth: Bits, predicted: Bits) -> NDArray[np.float32]:
    """True positives, false positives and false negatives side by side."""
    size = truth.shape[1]
    cells = np.empty((len(truth), 3 * size), dtype=np.float32)
    both = truth & predicted
    cells[:, :size] = both
    np.subtract(predicted, both, out=cells[:, size : 2 * size], casting="unsafe")
    np.subtract(truth, both, out=cells[:, 2 * size :], casting="unsafe")
    return cells


def _products(cells: NDArray[np.float32]) -> Floats:
    """Sums of products of every two indicators: whole numbers below 2^24, so exact in any order."""
    if cells.shape[1] <= WIDE:
        return cast("Floats", (cells.T @ cells).astype(np.float64))
    from scipy.sparse import csr_array

    sparse = csr_array(cells)
    return cast("Floats", (sparse.T @ sparse).toarray().astype(np.float64))


def _size_histogram(cells: NDArray[np.float32], size: int) -> Whole:
    kinds = np.zeros((3 * size, 3), dtype=np.float32)
    for kind in range(3):
        kinds[kind * size : (kind + 1) * size, kind] = 1
    both, added, missed = (cells @ kinds).astype(np.int64).T
    base = size + 1
    code = ((both + missed) * base + both + added) * base + both
    if base**3 <= 1 << 20:
        counts = np.bincount(code, minlength=1)
        places = np.flatnonzero(counts)
        counts = counts[places]
    else:
        places, counts = np.unique(code, return_counts=True)
    return np.stack([places // base**2, places // base % base, places % base, counts], axis=1).astype(np.int64)


def pool_counts(*tables: Whole) -> Whole:
    """Rows that are equal but for the count in the last column, added up and sorted."""
    table = np.concatenate(tables)
    keys, place = np.unique(table[:, :-1], axis=0, return_inverse=True)
    counts = np.zeros(len(keys), dtype=np.int64)
    np.add.at(counts, place.ravel(), table[:, -1])
    return np.column_stack([keys, counts])


def value_counts(values: Floats) -> Whole:
    """Distinct values in units of 1 / GRID, without the rows that have none."""
    known = np.rint(values[~np.isnan(values)] * GRID).astype(np.int64)
    keys, counts = np.unique(known, return_counts=True)
    return np.stack([keys, counts], axis=1)


def rank_values(truth: Bits, score: Floats) -> dict[str, Floats]:
    """Of each row how its scores rank its true labels; NaN where no label, or every label, is true.

    Ranking average precision, how far down the last true label stands, and the share of wrongly ordered pairs.
    """
    rows, size = truth.shape
    values = {name: np.full(rows, np.nan) for name in RANKED}
    true = truth.sum(axis=1, dtype=np.int64)
    step = max(1, HELD // max(size * size, 1))
    for start in range(0, rows, step):
        part = slice(start, start + step)
        t, s, n = truth[part].astype(bool), score[part], true[part]
        above = s[:, np.newaxis, :] >= s[:, :, np.newaxis]  # [row, label, other]: other scores at least as high
        rank = above.sum(axis=2)
        hits = (above & t[:, np.newaxis, :]).sum(axis=2)
        some = n > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            values["lrap"][part] = np.where(some, np.where(t, hits / rank, 0.0).sum(axis=1) / n, np.nan)
            values["coverage"][part] = np.where(some, np.where(t, rank, 0).max(axis=1, initial=0), np.nan)
            wrong = (above & ~t[:, np.newaxis, :]).sum(axis=2)
            pairs = n * (size - n)
            loss = np.where(t, wrong, 0).sum(axis=1) / pairs
            values["ranking_loss"][part] = np.where(pairs > 0, loss, np.nan)
    return values


def _row_parts(true: Any, called: Any, both: Any) -> tuple[dict[str, Any], dict[str, tuple[Any, Any]]]:  # noqa: ANN401
    """What rows with so many labels add to the sums: numbers, and ratios as what is above and below the line."""
    wrong = true + called - 2 * both
    plain = {"exact": wrong == 0, "wrong": wrong, "both": both, "true": true, "called": called}
    ratios = {
        "jaccard": (both, true + called - both),
        "precision": (both, called),
        "recall": (both, true),
        "f1": (2 * both, true + called),
    }
    return plain, ratios


def sample_values(sizes: Whole) -> dict[str, list[Fraction | int]]:
    """What one row of each kind adds to the sums: exact, ratios with how many rows have them."""
    out: dict[str, list[Fraction | int]] = {name: [] for name in SAMPLE[: len(SIZES) + 2 * len(RATIOS)]}
    for true, called, both, _ in sizes.tolist():
        plain, ratios = _row_parts(true, called, both)
        for name, value in {"n": 1, **plain}.items():
            out[name].append(int(value))
        for name, (top, of) in ratios.items():
            out[name].append(Fraction(top, of) if of else 0)
            out[f"{name}_rows"].append(int(of > 0))
    return out


def _by_unit(
    labels: Sequence[Label], truth: Bits, predicted: Bits, units: NDArray[Any], ranks: dict[str, Floats]
) -> UnitTable:
    cells = indicators(truth, predicted).astype(np.float64)
    size = len(labels)
    both, added, missed = (cells[:, kind * size : (kind + 1) * size].sum(axis=1) for kind in range(3))
    plain, ratios = _row_parts(both + missed, both + added, both)
    columns: dict[str, Floats] = {"n": np.ones(len(truth)), **plain}
    values = {
        name: np.divide(top, of, out=np.full_like(top, np.nan), where=of > 0) for name, (top, of) in ratios.items()
    }
    for name in (*RATIOS, *RANKED):
        own = values.get(name, ranks.get(name, np.full(len(truth), np.nan)))
        columns |= {name: np.nan_to_num(own), f"{name}_rows": ~np.isnan(own)}
    return sum_units(unit_names(labels), np.column_stack([*(columns[name] for name in SAMPLE), cells]), units)


def sum_units(names: Sequence[str], values: Floats, units: NDArray[Any]) -> UnitTable:
    """Values of rows, as multiples of 1 / GRID, added up by unit: exact in any order."""
    ids, place = np.unique(np.array([str(unit) for unit in units.tolist()], dtype=object), return_inverse=True)
    sums = np.zeros((len(ids), len(names)))
    np.add.at(sums, place, np.rint(values * GRID) / GRID)
    return UnitTable.build(names, sums, rows=len(values), ids=ids.tolist())
