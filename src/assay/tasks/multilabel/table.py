# SPDX-License-Identifier: Apache-2.0
"""What measures of label sets read: sums over rows and counts by label, of one table or of a stack of them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from assay.core.labels import Label
from assay.core.registry import Declared, Registry
from assay.tally.scores.score_tally import Scores
from assay.tasks.multilabel.tally import GRID, RANKED, SAMPLE, LabelSets, sample_values

if TYPE_CHECKING:
    from assay.core.arrays import Floats
    from assay.core.values import Amount


class LabelTable:
    """Sums over rows (`n`, `exact`, `wrong`, ...) and counts by label (`tp`, `fp`, `fn`, labels on the last axis)."""

    MEASURES: ClassVar[Registry[Declared]] = Registry("measure", {})

    n: Amount
    exact: Amount
    wrong: Amount
    both: Amount
    true: Amount
    called: Amount

    def __init__(
        self,
        labels: tuple[Label, ...],
        sums: Mapping[str, Any],
        counts: tuple[Any, Any, Any],
        scores: tuple[Scores, ...] = (),
    ) -> None:
        self.labels, self.size, self.scores = labels, len(labels), scores
        for name, value in sums.items():
            setattr(self, name, value)
        self.tp, self.fp, self.fn = counts

    def sum_of(self, name: str) -> Amount:
        """A sum over rows by name, such as `jaccard` or `jaccard_rows`."""
        return cast("Amount", getattr(self, name))

    @property
    def stacked(self) -> bool:
        """Whether there is a leading axis."""
        return bool(np.ndim(self.tp) > 1)


def read_table(tally: LabelSets) -> LabelTable:
    """One table of exact sums."""
    counts = tally.sizes[:, 3].tolist()
    sums: dict[str, object] = {
        name: sum(value * n for value, n in zip(values, counts, strict=True))
        for name, values in sample_values(tally.sizes).items()
    }
    for name in RANKED:
        values = tally.ranked.get(name, np.zeros((0, 2), dtype=np.int64))
        sums[name] = Fraction(sum(value * n for value, n in values.tolist()), GRID)
        sums[f"{name}_rows"] = int(values[:, 1].sum())
    cells = tuple(np.array(row, dtype=object) for row in tally.counts.tolist())
    return LabelTable(tally.labels, sums, cast("tuple[Any, Any, Any]", cells), tally.scores)


def stack_tables(labels: tuple[Label, ...], sums: Floats) -> LabelTable:
    """A stack from vectors of sums in the order of a table of units."""
    own = len(SAMPLE)
    by_name = {name: sums[..., place] for place, name in enumerate(SAMPLE)}
    tp, fp, fn = np.split(sums[..., own:], 3, axis=-1)
    return LabelTable(labels, by_name, (tp, fp, fn))


def read_sums(tally: LabelSets) -> Floats:
    """The sums of a tally as one vector, in the order of a table of units."""
    table = read_table(tally)
    return np.array([*(float(table.sum_of(name)) for name in SAMPLE), *tally.counts.ravel().tolist()])


def read_products(tally: LabelSets) -> tuple[Floats, Floats | None]:
    """Cross products of the sums of rows: those that need no label names, and those of the label counts."""
    values = sample_values(tally.sizes)
    counts = tally.sizes[:, 3].astype(np.float64)
    rows = np.zeros((len(SAMPLE), len(counts)))
    for place, name in enumerate(values):
        rows[place] = [float(value) for value in values[name]]
    products = (rows * counts) @ rows.T
    for name in RANKED:
        table = tally.ranked.get(name)
        if table is None or not len(table):
            continue
        at, beside = SAMPLE.index(name), SAMPLE.index(f"{name}_rows")
        value, n = table[:, 0] / GRID, table[:, 1].astype(np.float64)
        total, squares, known = float((value * n).sum()), float((value * value * n).sum()), float(n.sum())
        for a, b, product in ((at, at, squares), (at, beside, total), (beside, beside, known)):
            products[a, b] = products[b, a] = product
    return products, None if tally.cross is None else tally.cross.astype(np.float64)
