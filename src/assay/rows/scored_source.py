# SPDX-License-Identifier: Apache-2.0
"""Sources with scores: unfit ones refused, left out or mended, logits as probabilities, and predictions of scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from assay.core.arrays import chance
from assay.core.errors import OutOfRange, PlanError
from assay.core.text import counted, figure
from assay.core.values import WORST
from assay.rows.columns import CHUNK, Coded
from assay.rows.score_columns import NORMAL, Kind, ScoreColumns, demand_sound
from assay.rows.source import ArraySource, FrameSource, Roles, Source, closing_on_failure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.labels import Label

MOST: int = 3
"""Rows an error names."""
Link: TypeAlias = Literal["logistic", "softmax"]
"""How logits become probabilities: one column of log-odds, or one column for each class before a softmax."""
MOST_LOGITS: Final = 32
"""Classes whose logits an engine turns into log-odds, each by an expression of all the others."""
FAR: Final = 700.0
"""Beyond this a double cannot tell a probability from 0 or 1, and some engines refuse to take the exponential."""


def sound(source: Source, kind: Kind, *, single: bool, drop: bool) -> tuple[Source, int]:
    """The source without rows whose score is missing, and how many those are; any other fault is an error."""
    if isinstance(source, FrameSource):
        from assay.rows.engines.score_expressions import sound_frame

        return sound_frame(source, kind, single=single, drop=drop)
    bad = _faulty(source.score, kind, single=single)
    counts = {"rows": len(source.truth), **{name: int(mask.sum()) for name, mask in bad.items()}}

    def first(name: str) -> str:
        rows = np.flatnonzero(bad[name])[:MOST].tolist()
        own = rows if source.kept is None else source.kept[rows].tolist()
        each = zip(rows, own, strict=True)
        return "; ".join(f"{_shown([c[r] for c in source.score], name)} at index {place}" for r, place in each)

    def far() -> float:
        return farthest([column[bad["unnormal"]] for column in source.score])

    demand_sound(counts, where="score", first=first, farthest=far, drop=drop)
    return (_kept(source, ~bad["missing"]), counts["missing"]) if counts["missing"] else (source, 0)


def _faulty(columns: Sequence[NDArray[np.float64]], kind: Kind, *, single: bool) -> dict[str, NDArray[np.bool_]]:
    rows = len(columns[0])
    masks = {name: np.zeros(rows, dtype=np.bool_) for name in ("missing", "infinite", "outside", "unnormal")}
    for start in range(0, rows, CHUNK):
        part = slice(start, start + CHUNK)
        values = [column[part] for column in columns]
        for scores in values:
            masks["missing"][part] |= np.isnan(scores)
            masks["infinite"][part] |= np.isinf(scores)
        if kind != "probability":
            continue
        for scores in values:
            masks["outside"][part] |= (scores < 0) | (scores > 1)
        if not single:
            masks["unnormal"][part] = np.abs(in_all(values) - 1) > NORMAL
    return masks


def in_all(columns: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """What the scores of each row add up to, from left to right, as every engine adds."""
    return reduce(add, columns)


def farthest(columns: Sequence[NDArray[np.float64]]) -> float:
    """How far from 1 the scores of a row add up at most."""
    return float(np.abs(in_all(columns) - 1).max(initial=0.0))


def _shown(values: Sequence[float], fault: str) -> str:
    """The score at fault, or what the scores of the row add up to."""
    if fault == "unnormal":
        return f"{figure(float(sum(values)), digits=7)} in all"
    if fault == "missing":
        return "nan"
    strange = np.isinf(values) if fault == "infinite" else (np.asarray(values) < 0) | (np.asarray(values) > 1)
    return str(float(values[int(np.flatnonzero(strange)[0])]))


def _kept(source: ArraySource, keep: NDArray[np.bool_]) -> ArraySource:
    def some(column: Coded) -> Coded:
        gone = None if column.missing is None else column.missing[keep]
        return replace(column, codes=column.codes[keep], missing=gone)

    rows = np.flatnonzero(keep)
    return replace(
        source,
        truth=some(source.truth),
        predicted=some(source.predicted),
        group={name: some(column) for name, column in source.group.items()},
        weight=None if source.weight is None else source.weight[keep],
        score=tuple(column[keep] for column in source.score),
        kept=rows if source.kept is None else source.kept[rows],
    )


def by_threshold(source: Source, threshold: float, place: int = 0) -> Source:
    """Predictions 1 where the score is at or above a threshold and 0 elsewhere (s >= t everywhere, E-TS-12)."""
    if isinstance(source, FrameSource):
        from assay.rows.engines.score_expressions import frame_by_threshold

        return frame_by_threshold(source, threshold, place)
    return replace(source, predicted=_decided((source.score[place] >= threshold).view(np.uint8), 2))


def by_largest(source: Source) -> tuple[Source, int]:
    """Predictions by the largest score, as the number of its column; and in how many rows several are largest."""
    if isinstance(source, FrameSource):
        from assay.rows.engines.score_expressions import frame_by_largest

        return frame_by_largest(source)
    best, place = source.score[0].copy(), np.zeros(len(source.truth), dtype=np.int32)
    tied = np.zeros(len(source.truth), dtype=np.bool_)
    for i, column in enumerate(source.score[1:], start=1):
        more = column > best
        tied = ~more & (tied | (column == best))
        place[more] = i
        np.maximum(best, column, out=best)
    return replace(source, predicted=_decided(place, len(source.score))), int(tied.sum())


def _decided(codes: NDArray[np.uint8] | NDArray[np.int32], span: int) -> Coded:
    return Coded(role="predicted", codes=codes, offset=0, span=span, labels=tuple(range(span)))


def undecided(rows: int) -> Coded:
    """Predictions that are still to be made of scores: all missing, so that counting them too early is an error."""
    return Coded(
        role="predicted",
        codes=np.zeros(rows, dtype=np.uint8),
        offset=0,
        span=0,
        labels=(),
        missing=np.ones(rows, dtype=np.bool_),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescaled:
    """Rows whose probabilities were divided by their sum, and how far from 1 that was at most."""

    rows: int
    farthest: float

    def __add__(self, other: Rescaled) -> Rescaled:
        """Both together."""
        return Rescaled(rows=self.rows + other.rows, farthest=max(self.farthest, other.farthest))

    def to_json(self) -> dict[str, object]:
        """As in a Record."""
        return {"rows": self.rows, "farthest": self.farthest}


def ranked_last(source: Source) -> tuple[Source, int]:
    """The source with missing scores ranked below all others, and how many those are."""
    if isinstance(source, FrameSource):
        return _frame_ranked_last(source)
    lowest = min((float(np.nanmin(one, initial=np.inf)) for one in source.score), default=np.inf)
    _demand_above(1 if -np.inf < lowest <= WORST else 0, source.where)
    lost = int(np.isnan(source.score[0]).sum())
    if not lost:
        return source, 0
    return replace(source, score=tuple(np.where(np.isnan(one), WORST, one) for one in source.score)), lost


def _frame_ranked_last(source: FrameSource) -> tuple[FrameSource, int]:
    import narwhals.stable.v2 as nw

    from assay.rows.engines.score_expressions import gone, sums

    (name,) = source.score
    column = nw.col(name)
    counts = sums(source, {"gone": gone(column), "low": (column <= WORST) & column.is_finite() & ~gone(column)})
    _demand_above(counts["low"], source.where)
    if not counts["gone"]:
        return source, 0
    there = nw.when(gone(column)).then(nw.lit(WORST)).otherwise(column)
    return replace(source, frame=source.frame.with_columns(there.alias(name))), counts["gone"]


def _demand_above(rows: int, where: str) -> None:
    if rows:
        raise OutOfRange(
            "score-out-of-range",
            f"a score is at or below {WORST:.3g}, so no missing score can be ranked below it",
            where=where,
            fix="rescale the scores, or leave rows without a score out: missing_score='drop' (--missing-score drop)",
        )


def renormalised(source: Source, *, drop: bool) -> tuple[Source, Rescaled]:
    """The source with the probabilities of a row divided by their sum where that is not 1; and in how many rows."""
    # Rows within the tolerance stay as they are, so that what was sound before is the same to the last bit.
    sound(source, "probability", single=True, drop=drop)
    if isinstance(source, FrameSource):
        return _frame_renormalised(source)
    whole = in_all(source.score)
    off = np.abs(whole - 1) > NORMAL
    _demand_some(int((whole == 0).sum()), source.where)
    if not off.any():
        return source, Rescaled(rows=0, farthest=0.0)
    mended = tuple(np.where(off, one / np.where(off, whole, 1.0), one) for one in source.score)
    far = farthest([column[off] for column in source.score])
    return replace(source, score=mended), Rescaled(rows=int(off.sum()), farthest=far)


def _frame_renormalised(source: FrameSource) -> tuple[FrameSource, Rescaled]:
    import narwhals.stable.v2 as nw

    from assay.rows.engines.score_expressions import fetched, off_one, sums

    whole: Any = reduce(add, (nw.col(name) for name in source.score))
    off = (whole - 1).abs() > NORMAL
    counts = sums(source, {"off": off, "nothing": whole == 0})
    _demand_some(counts["nothing"], source.where)
    if not counts["off"]:
        return source, Rescaled(rows=0, farthest=0.0)
    far = float(str(fetched(source, source.frame.select(off_one(source)))[0][0]))
    mended = [nw.when(off).then(nw.col(name) / whole).otherwise(nw.col(name)).alias(name) for name in source.score]
    return replace(source, frame=source.frame.with_columns(*mended)), Rescaled(rows=counts["off"], farthest=far)


def _demand_some(rows: int, where: str) -> None:
    if rows:
        raise OutOfRange(
            "probabilities-not-normalised",
            f"all probabilities of {counted(rows, 'row')} are 0, so no sum can be made 1",
            where=where,
            fix="correct these rows, or leave them out before assessing",
        )


def log_odds(source: Source) -> Source:
    """The source with the logits of a row (up to a constant, as before a softmax) as log-odds of each class."""
    if len(source.score) == 1:
        return source  # one column is the log-odds of the positive class
    if not isinstance(source, FrameSource):
        return replace(source, score=tuple(against_rest(source.score)))
    import narwhals.stable.v2 as nw

    if len(source.score) > MOST_LOGITS:
        raise PlanError(
            "score-columns",
            f"an engine turns the logits of up to {MOST_LOGITS} classes into probabilities, and there are"
            f" {len(source.score)}",
            where=source.where,
            fix='give arrays, or probabilities: scores="probability" (--scores probability)',
        )
    made = []
    for name in source.score:
        others: list[Any] = [nw.col(other) for other in source.score if other != name]
        most = nw.max_horizontal(*others)
        summed = reduce(
            add, ((nw.when(one - most < -FAR).then(nw.lit(-FAR)).otherwise(one - most)).exp() for one in others)
        )
        made.append((nw.col(name) - most - summed.log()).alias(name))
    return replace(source, frame=source.frame.with_columns(*made))


def against_rest(columns: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    """The log-odds of each class: its logit minus the logarithm of the summed exponentials of the others.

    >>> [one.round(9).tolist() for one in against_rest([np.array([800.0]), np.array([0.0]), np.array([0.0])])]
    [[799.306852819], [-800.0], [-800.0]]
    """
    rows = len(columns[0])
    out = [np.empty(rows) for _ in columns]
    for start in range(0, rows, CHUNK):
        part = slice(start, start + CHUNK)
        logits = np.stack([column[part] for column in columns])
        best = logits.argmax(axis=0)
        at = np.arange(logits.shape[1])
        top = logits[best, at]
        small = np.exp(logits - top)
        whole = small.sum(axis=0)
        for column, made in enumerate(out):  # the largest is among the others, so nothing cancels
            made[part] = logits[column] - top - np.log(np.maximum(whole - small[column], 1.0))
        rest = logits.copy()
        rest[best, at] = -np.inf
        second = rest.max(axis=0)
        first = top - second - np.log(np.exp(rest - second).sum(axis=0))
        for column, made in enumerate(out):
            mine = best == column
            made[part][mine] = first[mine]
    return out


def as_chances(source: Source) -> Source:
    """The source with log-odds as probabilities, for what looks at the probabilities of a row together."""
    if not isinstance(source, FrameSource):
        return replace(source, score=tuple(chance(column) for column in source.score))
    import narwhals.stable.v2 as nw

    made = []
    for name in source.score:
        column = nw.col(name)
        far = nw.when(column < -FAR).then(nw.lit(-FAR)).otherwise(column)
        made.append((1 / (1 + (-far).exp())).alias(name))
    return replace(source, frame=source.frame.with_columns(*made))


CALL = "assay_call_{}"
"""What columns of such labels are called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The positive label at or above a threshold of a score, the other label below (s >= t everywhere)."""

    score: str
    threshold: float
    positive: Label
    negative: Label

    def expression(self, score: str) -> Any:  # noqa: ANN401  a Narwhals expression
        """The label of a row, from a column of numbers, in any engine."""
        import narwhals.stable.v2 as nw

        above = nw.col(score) >= float(self.threshold)
        return nw.when(above).then(nw.lit(self.positive)).otherwise(nw.lit(self.negative))


def with_scores_of(roles: Roles, cuts: list[Cut]) -> Roles:
    """The roles with the scores that are cut behind the others, for whoever opens a table to check them, too."""
    own = () if roles.score is None else roles.score.columns
    columns = (*own, *(cut.score for cut in cuts))
    return replace(roles, score=ScoreColumns(columns=columns)) if columns else roles


def opened_cut(opened: Callable[[Roles], Source], roles: Roles) -> Source:
    """A table whose labels are columns or cuts of columns, by roles: every cut is a column of its own."""
    cuts = [one for one in (roles.predicted, *roles.group.values()) if isinstance(one, Cut)]
    if not cuts:
        return opened(roles)

    wide = with_scores_of(
        replace(
            roles,
            predicted=None if isinstance(roles.predicted, Cut) else roles.predicted,
            group={name: column for name, column in roles.group.items() if not isinstance(column, Cut)},
        ),
        cuts,
    )
    wide_source = opened(wide)
    with closing_on_failure(wide_source):
        source = sound(wide_source, "any", single=False, drop=False)[0]
    if isinstance(source, ArraySource):  # pragma: no cover  cuts are asked of files and frames
        raise TypeError
    own = len(source.score) - len(cuts)
    made = {CALL.format(i): (cut, score) for i, (cut, score) in enumerate(zip(cuts, source.score[own:], strict=True))}
    names = iter(made)

    def called(column: object, before: str | None) -> str:
        return next(names) if isinstance(column, Cut) else str(before)

    return replace(
        source,
        frame=source.frame.with_columns(**{name: cut.expression(score) for name, (cut, score) in made.items()}),
        predicted=called(roles.predicted, source.predicted),
        group={name: called(column, source.group.get(name)) for name, column in roles.group.items()},
        score=source.score[:own],
        names={**source.names, **{name: cut.score for name, (cut, _) in made.items()}},
    )
