# SPDX-License-Identifier: Apache-2.0
"""From rows to paired tallies: joint cells counted where the rows live, or answers matched by id or by position."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError, RowsError, UnpairedRows
from assay.core.labels import Label
from assay.core.text import counted, listed
from assay.rows.ids import shown_id, told_by
from assay.rows.labels import label_of
from assay.rows.opening import ArraySource, FrameSource, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.rows.columns import Coded

    Floats: TypeAlias = NDArray[np.float64]

Cell: TypeAlias = tuple[Label | None, ...]
KEY: Final = "id"
SUBJECT: Final = "subject"
LISTED: Final = 5
"""Ids an error names."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """What one model said, row by row: truth, call and score under the key that pairs the rows."""

    model: str
    keys: list[Label]
    truth: list[Label | None]
    calls: list[Label | None]
    scores: Floats | None
    """One a row, or with scores of all classes one a row and class."""
    where: str
    subject: list[Label | None] | None = None
    weight: Floats | None = None
    keyed: bool = True
    """Whether the keys are ids; else they are the places of the rows."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lines:
    """The rows of one table in memory: truth, the calls of every model, scores, subject and weight."""

    truth: list[Label | None]
    calls: list[list[Label | None]]
    scores: tuple[Floats, ...]
    subject: list[Label | None] | None
    weight: Floats | None


def lines(source: Source) -> Lines:
    """Every row of a table that holds the calls of its first model as predictions, of the others as groups."""
    others = [column for name, column in source.group.items() if name != SUBJECT]
    if isinstance(source, ArraySource):
        columns = [source.truth, source.predicted, *others]
        truth, *calls = (_decoded(cast("Coded", one)) for one in columns)
        subject = _decoded(source.group[SUBJECT]) if SUBJECT in source.group else None
        return Lines(truth=truth, calls=calls, scores=source.score, subject=subject, weight=source.weight)
    labelled = [source.truth, source.predicted, *cast("list[str]", others)]
    labelled += [source.group[SUBJECT]] if SUBJECT in source.group else []
    found = _fetched(source, [*labelled, *source.score, *([source.weight] if source.weight else [])])
    names = [_labels(found[i], source, column) for i, column in enumerate(labelled)]
    reals = [_real(one) for one in found[len(labelled) :]]
    return Lines(
        truth=names[0],
        calls=names[1 : len(others) + 2],
        scores=tuple(reals[: len(source.score)]),
        subject=names[-1] if SUBJECT in source.group else None,
        weight=reals[-1] if source.weight else None,
    )


def joint(source: Source) -> dict[Cell, int]:
    """How often each combination of truth, first call and all further columns occurs, counted where the rows live."""
    if isinstance(source, FrameSource):
        from assay.tally.grouping import _group

        cells = _group(source, [source.truth, source.predicted, *source.group.values()])
        if source.opened is not None:
            source.opened.confirm(sum(rows for rows, _ in cells.values()) + source.dropped)
    else:
        from assay.tally.counting import _count

        cells = _count([source.truth, source.predicted, *source.group.values()], None)
    return {cell: rows for cell, (rows, _) in cells.items()}


def scored(source: Source) -> tuple[list[Label | None], tuple[Floats, ...]]:
    """The true labels and the scores of every row, in memory."""
    if isinstance(source, ArraySource):
        return _decoded(source.truth), source.score
    truth, *scores = _fetched(source, [source.truth, *source.score])
    return _labels(truth, source, source.truth), tuple(np.asarray(one, dtype=np.float64) for one in scores)


def answers(source: Source, model: str, *, keyed: bool, called: bool) -> Answers:
    """The rows of one model in memory, by id where one is given, otherwise by their place."""
    scores: Floats | None = None
    weight: Floats | None = None
    subject: list[Label | None] | None = None
    calls: list[Label | None]
    keys: list[Label | None]
    if isinstance(source, ArraySource):
        truth = _decoded(source.truth)
        calls = _decoded(source.predicted) if called else [None] * len(truth)
        keys = _decoded(source.group[KEY]) if keyed else list(range(len(truth)))
        scores, weight = _side_by_side(source.score), source.weight
        subject = _decoded(source.group[SUBJECT]) if SUBJECT in source.group else None
    else:
        wanted = [source.truth, *([source.predicted] if called else []), *([source.group[KEY]] if keyed else [])]
        more = [source.group[SUBJECT]] if SUBJECT in source.group else []
        more += [source.weight] if source.weight else []
        found = _fetched(source, [*wanted, *more, *source.score])
        subject = _labels(found[len(wanted)], source, more[0]) if SUBJECT in source.group else None
        weight = _real(found[len(wanted) + len(more) - 1]) if source.weight else None
        truth = _labels(found[0], source, wanted[0])
        calls = _labels(found[1], source, wanted[1]) if called else [None] * len(truth)
        keys = _labels(found[len(wanted) - 1], source, wanted[-1]) if keyed else list(range(len(truth)))
        scores = _side_by_side([_real(one) for one in found[len(found) - len(source.score) :]])
    if None in keys:
        raise RowsError(
            "duplicate-id",
            f"{counted(keys.count(None), 'row')} of {model} {'has' if keys.count(None) == 1 else 'have'} no id",
            where=source.where,
            fix="give every row an id, or pair by position",
        )
    return Answers(
        model=model,
        keys=cast("list[Label]", keys),
        truth=truth,
        calls=calls,
        scores=scores,
        where=source.where,
        subject=subject,
        weight=weight,
        keyed=keyed,
    )


def matched(every: Sequence[Answers]) -> list[NDArray[np.intp]]:
    """For each model the order that brings its rows beside those of the first; what does not match is an error."""
    for one in every:
        _demand_unique(one)
    first = every[0]
    place = {key: i for i, key in enumerate(first.keys)}
    orders = [np.arange(len(first.keys))]
    for other in every[1:]:
        there = {key: i for i, key in enumerate(other.keys)}
        _demand_same_rows(first, other, place, there)
        order = np.fromiter((there[key] for key in first.keys), np.intp, len(place))
        _demand_same(first, other, order, "truth")
        if first.subject is not None:
            _demand_same(first, other, order, "subject")
        if first.weight is not None:
            _demand_same(first, other, order, "weight")
        orders.append(order)
    return orders


def proof(keys: Sequence[Label], truth: Sequence[Label | None]) -> str:
    """SHA-256 over id and truth of every row in the order of the ids: equal exactly if the test data are."""
    sha = hashlib.sha256()
    pairs = zip(keys, truth, strict=True)
    for one in sorted(line(key, label) for key, label in pairs):
        sha.update(one.encode("utf-8", "surrogatepass"))
    return sha.hexdigest()


def line(key: Label | None, label: Label | None) -> str:
    """An id and a truth as the proof takes them, types and all."""
    return f"{type(key).__name__} {key!r} {type(label).__name__} {label!r}\n"


def cells_of(every: Sequence[Answers], orders: Sequence[NDArray[np.intp]]) -> dict[Cell, int]:
    """Joint cells of matched answers."""
    cells: dict[Cell, int] = {}
    columns = [[one.calls[i] for i in order.tolist()] for one, order in zip(every, orders, strict=True)]
    for cell in zip(every[0].truth, *columns, strict=True):
        cells[cell] = cells.get(cell, 0) + 1
    return cells


def scores_of(every: Sequence[Answers], orders: Sequence[NDArray[np.intp]]) -> dict[str, Floats]:
    """Scores of matched answers, by model."""
    lost = [one.model for one in every if one.scores is None]
    if lost:
        raise PlanError(
            "comparison-needs", f"{listed(lost)} came without scores", fix="give scores of every model, or of none"
        )
    return {one.model: cast("Floats", one.scores)[order] for one, order in zip(every, orders, strict=True)}


def _demand_unique(one: Answers) -> None:
    if len(set(one.keys)) == len(one.keys):
        return
    seen: set[Label] = set()
    twice = dict.fromkeys(key for key in one.keys if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    raise told_by(
        lambda shown, also: RowsError(
            "duplicate-id",
            f"{counted(len(twice), 'id')} of {one.model} {'stands' if len(twice) == 1 else 'stand'} for several rows",
            where=one.where,
            found=_some(twice, shown),
            fix=f"give every row an id of its own{also}",
        )
    )


def _some(keys: Collection[Label], shown: Callable[[tuple[object, ...]], str]) -> str:
    more = f" and {len(keys) - LISTED:,} more" if len(keys) > LISTED else ""
    return ", ".join(shown((key,)) for key in islice(keys, LISTED)) + more


def _demand_same_rows(first: Answers, other: Answers, here: Mapping[Label, int], there: Mapping[Label, int]) -> None:
    lost, more = [k for k in here if k not in there], [k for k in there if k not in here]
    if not lost and not more:
        return
    kinds = {type(k).__name__ for k in here} ^ {type(k).__name__ for k in there}

    def told(shown: Callable[[tuple[object, ...]], str], also: str) -> UnpairedRows:
        each = [f"{counted(len(lost), 'id')} only in {first.model}: {_some(lost, shown)}"] if lost else []
        each += [f"{counted(len(more), 'id')} only in {other.model}: {_some(more, shown)}"] if more else []
        return UnpairedRows(
            "rows-unmatched",
            f"{first.model} and {other.model} were not run on the same rows (TS 4213, 5.3.5)",
            where="; ".join(dict.fromkeys((first.where, other.where))),
            found="; ".join(each) + ("; the ids are of different types" if kinds else ""),
            fix="run every model on the same test data, and give every row to both; if the rows differ on purpose,"
            f" say so: independent=True (--independent){also}",
        )

    raise told_by(told) if first.keyed else told(shown_id, "")


def _demand_same(first: Answers, other: Answers, order: NDArray[np.intp], what: str) -> None:
    mine, theirs = (_column(one, what) for one in (first, other))
    placed = [theirs[i] for i in order.tolist()]
    pairs = zip(mine, placed, strict=True)
    wrong = [i for i, (a, b) in enumerate(pairs) if a != b or type(a) is not type(b)]
    if not wrong:
        return

    def told(shown: Callable[[tuple[object, ...]], str], also: str) -> UnpairedRows:
        told_as = shown if what == SUBJECT else shown_id  # a subject may be a person, as an id may
        each = [
            f"row {(shown if first.keyed else shown_id)((first.keys[i],))}:"
            f" {told_as((mine[i],))} and {told_as((placed[i],))}"
            for i in wrong[:LISTED]
        ]
        return UnpairedRows(
            "rows-unmatched",
            f"{counted(len(wrong), 'row')} of {len(placed):,} {'has' if len(wrong) == 1 else 'have'} another {what} in "
            f"{other.model} than in {first.model}",
            where=f"{first.where}; {other.where}",
            found="; ".join(each),
            fix=f"give the same {what} to every model; without ids, the rows may stand in another order: state the id"
            + also,
        )

    raise told_by(told) if first.keyed or what == SUBJECT else told(shown_id, "")


def _side_by_side(columns: Sequence[Floats]) -> Floats | None:
    if not columns:
        return None
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def _column(one: Answers, what: str) -> Sequence[Label | None]:
    if what == "weight":
        return [] if one.weight is None else one.weight.tolist()
    return one.truth if what == "truth" else one.subject or []


def _real(values: NDArray[np.object_]) -> Floats:
    return np.asarray(values, dtype=np.float64)


def _decoded(column: Coded) -> list[Label | None]:
    codes, inverse = np.unique(column.codes, return_inverse=True)
    names: list[Label | None] = [column.label(int(code) - column.offset) for code in codes.tolist()]
    found = [names[i] for i in inverse.tolist()]
    if column.missing is not None:
        for i in np.flatnonzero(column.missing).tolist():
            found[i] = None
    return found


def _fetched(source: FrameSource, columns: Sequence[str]) -> list[NDArray[np.object_]]:
    import narwhals.stable.v2 as nw

    from assay.rows.databases import CountedTable
    from assay.rows.scoreframes import arrays

    if isinstance(source.opened, CountedTable):
        raise PlanError(
            "comparison-needs",
            "rows of a database are only counted there, never fetched",
            where=source.where,
            fix="give one table with a column of predictions for each model",
        )
    names = [f"k{place}" for place in range(len(columns))]
    frame = source.frame.select(*(nw.col(c).alias(n) for c, n in zip(columns, names, strict=True)))
    found = arrays(source, frame)
    if source.opened is not None:
        source.opened.confirm(len(found[0]) + source.dropped)
    return found


def _labels(values: NDArray[np.object_], source: FrameSource, column: str) -> list[Label | None]:
    where = f"{source.where}, {source.shown(column)}"
    known: dict[tuple[type, object], Label | None] = {}
    found: list[Label | None] = []
    items: list[Label | None] = values.tolist()
    if set(map(type, items)) == {int}:
        return items  # as they are: millions of ids need no second look
    for value in items:
        key = (type(value), value)
        if key not in known:
            known[key] = label_of(value, where=where)
        found.append(known[key])
    return found
