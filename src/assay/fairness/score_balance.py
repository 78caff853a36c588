# SPDX-License-Identifier: Apache-2.0
"""Criteria of scores: mean scores of positives and negatives, and how often rows of a score are truly positive."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from assay.core.labels import Label
from assay.core.text import figure
from assay.fairness.disparity import Disparity, Equality
from assay.fairness.gaps import combine, measure_gap
from assay.fairness.group_statistics import GroupValue, value_of_share
from assay.inference.intervals.proportion import student_quantile
from assay.inference.tail_probabilities import chi_squared
from assay.tasks.classification.measures.logistic_fit import lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.tally.scores.ranked_table import Ranked

    Floats: TypeAlias = NDArray[np.float64]

BINS: Final = 10
DISTINCT: Final = 20
"""Distinct scores up to which each is a bin of its own, where scores are not probabilities."""
CURVE_POINTS: Final = 60
PLACES: Final = 512
"""Scores that a logistic line is fitted to; more are pooled by rank."""


def read_scores(tally: Any) -> Ranked | None:  # noqa: ANN401  a tally of classification
    """Positives and negatives of a group at each score; None where there are no scores."""
    part, positive = getattr(tally, "scores", None), getattr(tally, "positive", None)
    if part is None or positive is None:
        return None
    ranked: Ranked = part.whole.one_vs_rest(positive)
    if part.link is not None:
        from assay.tally.scores.ranked_table import Linked

        return Linked.of(ranked)
    return ranked


def mean_score(table: Ranked, level: Label, rows: int, *, positive: bool) -> GroupValue:
    """The mean score of the truly positive or negative rows, with Student's interval."""
    counts = np.asarray(table.pos if positive else table.neg)
    n = float(counts.sum())
    if not n:
        kind = "positive" if positive else "negative"
        return GroupValue(level=level, rows=rows, value=None, reason=f"no row is truly {kind}")
    score = np.asarray(table.score, dtype=np.float64)
    mean = math.fsum((score * counts).tolist()) / n
    whole = counts.dtype.kind == "i"
    if not whole or n < 2:  # noqa: PLR2004  a spread
        why = "only one such row" if whole else "rows are weighted"
        return GroupValue(level=level, rows=rows, value=mean, no_ends=why)
    error = math.sqrt(math.fsum((counts * (score - mean) ** 2).tolist()) / (n - 1) / n)

    def ends(wanted: float) -> tuple[float, float]:
        reach = student_quantile((1 + wanted) / 2, n - 1) * error
        return mean - reach, mean + reach

    # The denominator of a mean is its number of rows; it is not a share, so no counts are given.
    return GroupValue(level=level, rows=int(n), value=mean, ends=ends, error=error)


def find_edges(tables: Sequence[Ranked], *, probability: bool, bins: int | Sequence[float] | None) -> Floats | str:
    """The borders of the score bins as stated, or those that need no statement; else the reason why there are none."""
    if bins is not None and not isinstance(bins, int):
        return np.asarray(bins, dtype=np.float64)
    if probability:
        return np.linspace(0.0, 1.0, (bins or BINS) + 1)
    distinct = np.unique(np.concatenate([np.asarray(table.score, dtype=np.float64) for table in tables]))
    if len(distinct) > DISTINCT:
        return f"{len(distinct):,} distinct scores that are not probabilities: state the borders of the bins"
    return np.append(distinct, np.inf)


def calibration_gap(
    factor: str,
    tables: Mapping[Label, Ranked],
    level: float,
    *,
    judged: Mapping[Label, bool],
    probability: bool,
    bins: int | Sequence[float] | None,
) -> Disparity:
    """The largest gap of the share of positives among rows of a score bin, all bins at once (Šidák)."""
    name = "calibration_parity"
    blank = Disparity(name=name, factor=factor, value=None, level=level)
    edges = find_edges(list(tables.values()), probability=probability, bins=bins)
    if isinstance(edges, str):
        return replace(blank, reason=edges)
    counts = {label: _bin(table, edges) for label, table in tables.items()}
    if any(np.asarray(table.pos).dtype.kind != "i" for table in tables.values()):
        return replace(blank, reason="rows are weighted")
    shared = [b for b in range(len(edges) - 1) if sum(of[b] > 0 for _, of in counts.values()) > 1]
    if not shared:
        return replace(blank, reason="no score bin holds rows of two groups")
    within = level ** (1 / len(shared))
    titles = {_bin_title(edges, b): b for b in shared}
    parts = {title: _bin_gap(factor, title, counts, b, judged=judged, level=within) for title, b in titles.items()}
    few = {g.level: g for part in parts.values() for g in part.left_out if not judged[g.level]}
    return replace(
        combine(name, parts, level),
        left_out=tuple(few.values()),
        equality=_same_line(list(tables.values()), probability=probability),
        method=f"Newcombe, all bins and pairs at once ({len(shared)} bins, Šidák)",
        notes=_bin_notes(parts, counts, shared),
    )


def _bin_notes(
    parts: Mapping[str, Disparity], counts: Mapping[Label, tuple[Floats, Floats]], shared: Sequence[int]
) -> tuple[str, ...]:
    """The mean of the gaps weighted by rows, and the groups that some bins lack."""
    sizes = [float(sum(of[b] for _, of in counts.values())) for b in shared]
    total = sum(n * cast("float", part.value) for n, part in zip(sizes, parts.values(), strict=True))
    note = f"weighted mean of the gaps of {len(shared)} bins: {figure(total / sum(sizes))}"
    missing = sorted({str(label) for b in shared for label, (_, of) in counts.items() if not of[b]})
    return (note, f"no rows in some bins: {', '.join(missing)}") if missing else (note,)


def _bin_gap(
    factor: str,
    title: str,
    counts: Mapping[Label, tuple[Floats, Floats]],
    place: int,
    *,
    judged: Mapping[Label, bool],
    level: float,
) -> Disparity:
    """The gap of the share of positives in one bin."""
    values = []
    for label, (pos, of) in counts.items():
        share = value_of_share(int(pos[place]), int(of[place]), label, int(of[place]))
        values.append(replace(share, judged=judged[label], reason="no row in this bin"))
    return measure_gap(title, factor, values, level, denominators=("rows in this bin",))


def calibration_lines(tables: Mapping[Label, Ranked], edges: Floats) -> list[dict[str, object]]:
    """Of each group the share of positives against the mean score of a bin, as lines of a figure."""
    series: list[dict[str, object]] = []
    for label, table in tables.items():
        pos, of = _bin(table, edges)
        total = np.asarray(table.pos) + np.asarray(table.neg)
        sums = np.bincount(_place(table, edges), np.asarray(table.score) * total, minlength=len(of))
        points = [[float(sums[b] / of[b]), float(pos[b] / of[b])] for b in range(len(of)) if of[b]]
        series.append({"name": str(label), "points": points})
    return series


def roc_lines(tables: Mapping[Label, Ranked]) -> list[dict[str, object]]:
    """The ROC curve of each group, in at most sixty points."""
    series: list[dict[str, object]] = []
    for label, table in tables.items():
        if not (table.positives and table.negatives):
            continue
        tpr = np.asarray(table.tp, dtype=np.float64) / float(table.positives)
        fpr = np.asarray(table.fp, dtype=np.float64) / float(table.negatives)
        keep = np.unique(np.linspace(0, len(tpr) - 1, min(CURVE_POINTS, len(tpr))).astype(int))
        points = [[0.0, 0.0], *([float(fpr[i]), float(tpr[i])] for i in keep[::-1])]
        series.append({"name": str(label), "points": points})
    return series


def _place(table: Ranked, edges: Floats) -> NDArray[np.intp]:
    place = np.searchsorted(edges, np.asarray(table.score, dtype=np.float64), side="right") - 1
    return np.clip(place, 0, len(edges) - 2)


def _bin(table: Ranked, edges: Floats) -> tuple[Floats, Floats]:
    """Positives and all rows of each bin."""
    place, bins = _place(table, edges), len(edges) - 1
    pos = np.bincount(place, np.asarray(table.pos, dtype=np.float64), minlength=bins)
    neg = np.bincount(place, np.asarray(table.neg, dtype=np.float64), minlength=bins)
    return cast("Floats", pos), cast("Floats", pos + neg)


def _bin_title(edges: Floats, b: int) -> str:
    low, high = float(edges[b]), float(edges[b + 1])
    one_score = math.isinf(high) or (low == int(low) and high == low + 1 and low >= 1)
    return f"score {low:g}" if one_score else f"{low:g} to {high:g}"


def _same_line(tables: Sequence[Ranked], *, probability: bool) -> Equality | None:
    """Likelihood ratio of one logistic line of the truth on the score against a line for each group."""
    score = np.unique(np.concatenate([np.asarray(table.score, dtype=np.float64) for table in tables]))
    if len(score) > PLACES:
        score = np.unique(np.quantile(score, np.linspace(0, 1, PLACES)))
    pos, rows = np.zeros((len(tables) + 1, len(score))), np.zeros((len(tables) + 1, len(score)))
    for i, table in enumerate(tables):
        place = np.clip(np.searchsorted(score, np.asarray(table.score)), 0, len(score) - 1)
        pos[i] = np.bincount(place, np.asarray(table.pos, dtype=np.float64), minlength=len(score))
        rows[i] = pos[i] + np.bincount(place, np.asarray(table.neg, dtype=np.float64), minlength=len(score))
    pos[-1], rows[-1] = pos[:-1].sum(axis=0), rows[:-1].sum(axis=0)
    clipped = np.clip(score, 1e-6, 1 - 1e-6)
    x = np.log(clipped / (1 - clipped)) if probability else (score - score.mean()) / (score.std() or 1.0)
    intercept, slope, failed = lines(x, pos, rows, (0.0, 1.0), fixed=False)
    if failed.any():
        return None
    eta = intercept[:, np.newaxis] + slope[:, np.newaxis] * x
    likelihood = (pos * eta - rows * np.logaddexp(0.0, eta)).sum(axis=1)
    statistic = max(0.0, 2 * float(likelihood[:-1].sum() - likelihood[-1]))
    df = 2 * (len(tables) - 1)
    p = chi_squared(statistic, df).p
    return Equality(test="likelihood ratio of logistic lines", statistic=statistic, df=df, p=p)
