# SPDX-License-Identifier: Apache-2.0
"""Chance-corrected agreement, and the baselines a result must beat."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from assay.core.text import quoted
from assay.core.traits import FUND, NEITHER, RAINIO, SCHLOSSER, TS4213
from assay.core.values import NO_ROWS, Number, Share, number, root, share
from assay.measures.declare import measure
from assay.tally.labels.one_vs_rest import Multiclass
from assay.tasks.classification.measures.ratios import beyond_chance

if TYPE_CHECKING:
    from assay.core.values import Amount, Empty

baseline = partial(
    measure, range=(0, 1), better=NEITHER, family="baselines", source=(TS4213("5.3.13"), FUND("heuristics")),
    spec="M-CHN-09",
)  # fmt: skip
"""The accuracy of a guess that looks at nothing but the classes."""


def _total(x: Amount) -> Amount:
    return cast("Amount", x.sum(axis=-1))


def _others(t: Multiclass, cells: Amount) -> Amount:
    """Rows outside each class; products with these keep the figures that n squared minus squares would lose."""
    return (t.n[..., np.newaxis] if isinstance(t.n, np.ndarray) else t.n) - cells


def _only_class(t: Multiclass, cells: Amount) -> str:
    """The label every row carries, for a table whose margin has one class."""
    if cells.ndim != 1:
        return "one class"
    return next((quoted(label) for label, count in zip(t.labels, cells, strict=True) if count), "no class")


@beyond_chance(
    symbol="κ",
    also=("Cohen's kappa", "kappa", "Cohen's kappa coefficient"),
    says="agreement beyond what the two class distributions give by chance",
    formula="(sum(TP)/n - sum(r*c for r, c in zip(R, C))/n**2) / (1 - sum(r*c for r, c in zip(R, C))/n**2)",
    source=(TS4213("5.3.9"), RAINIO("eq. 2"), SCHLOSSER("eq. 50")),
    spec="M-CHN-01",
    errata=("E-RAI-01", "E-RAI-02", "E-RAI-13", "E-SCH-21"),
)
def cohen_kappa(t: Multiclass) -> Number:
    n, chance, beyond = t.n, _total(t.actual * t.called), _total(t.actual * _others(t, t.called))
    empty = f"every row is truly {_only_class(t, t.actual)} and was predicted so, which chance explains fully"
    return number(n * t.correct - chance, over=beyond, empty=((n, NO_ROWS), (beyond, empty)))


@beyond_chance(
    symbol="MCC",
    also=("phi coefficient", "Matthews correlation coefficient", "Yule phi", "R_K"),
    says="correlation between what was true and what was called",
    formula="(n*sum(TP) - sum(r*c for r, c in zip(R, C)))"
    " / sqrt((n**2 - sum(c**2 for c in C)) * (n**2 - sum(r**2 for r in R)))",
    source=(RAINIO("eq. 3"), SCHLOSSER("eq. 44")),
    spec="M-CHN-02",
    errata=("E-RAI-01", "E-SCH-06", "E-RAI-20", "E-XS-12"),
)
def matthews_corrcoef(t: Multiclass) -> Number:
    n = t.n
    spread_true, spread_called = (_total(cells * _others(t, cells)) for cells in (t.actual, t.called))
    empty: Empty = (
        (n, NO_ROWS),
        (spread_true, f"every row is truly {_only_class(t, t.actual)}"),
        (spread_called, f"every row was predicted {_only_class(t, t.called)}"),
    )
    return number(n * t.correct - _total(t.actual * t.called), over=root(spread_true * spread_called), empty=empty)


@baseline(
    symbol="NIR",
    also=("majority-class accuracy", "trivial baseline", "prediction by mode"),
    says="the accuracy of always calling the most frequent class of these rows",
    formula="max(R) / n",
)
def no_information_rate(t: Multiclass) -> Share:
    return share(cast("Amount", t.actual.max(axis=-1)), of=t.n, empty=NO_ROWS)


@baseline(
    also=("prior-random accuracy",),
    says="the expected accuracy of guessing each class as often as it occurs",
    formula="sum(r**2 for r in R) / n**2",
)
def stratified_chance_accuracy(t: Multiclass) -> Number:
    return number(_total(t.actual * t.actual), over=t.n * t.n, empty=NO_ROWS)


@baseline(
    says="the expected accuracy of guessing every class equally often",
    formula="1 / K",
    family="constants",
    source=FUND("heuristics"),
)
def uniform_chance_accuracy(t: Multiclass) -> Number:
    one = np.ones_like(t.n) if isinstance(t.n, np.ndarray) else cast("Amount", 1)
    return number(one, over=t.k * one, empty=NO_ROWS)
