# SPDX-License-Identifier: Apache-2.0
"""From rows to paired tallies: joint cells counted where the rows live, or answers matched by id or by position."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.text import listed
from assay.rows.differing import LISTED, SUBJECT, Rows, Some, another, ids_twice, other_rows, without_id
from assay.rows.labels import label_of
from assay.rows.opening import ArraySource, FrameSource, Source
from assay.tally.codes import Codes, columns_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.rows.columns import Coded

    Floats: TypeAlias = NDArray[np.float64]

Cell: TypeAlias = tuple[Label | None, ...]
KEY: Final = "id"


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

    @property
    def rows(self) -> Rows:
        """Whose rows these are, as errors call them."""
        return Rows(model=self.model, where=self.where, keyed=self.keyed)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lines:
    """The rows of one table in memory: truth, the calls of every model, scores, subject and weight."""

    truth: Codes
    calls: list[Codes]
    scores: tuple[Floats, ...]
    subject: Codes | None
    weight: Floats | None


def lines(source: Source) -> Lines:
    """Every row of a table that holds the calls of its first model as predictions, of the others as groups."""
    others = [column for name, column in source.group.items() if name != SUBJECT]
    if isinstance(source, ArraySource):
        truth, *calls = (Codes.of_column(cast("Coded", one)) for one in (source.truth, source.predicted, *others))
        subject = Codes.of_column(source.group[SUBJECT]) if SUBJECT in source.group else None
        return Lines(truth=truth, calls=calls, scores=source.score, subject=subject, weight=source.weight)
    labelled = [source.truth, source.predicted, *cast("list[str]", others)]
    labelled += [source.group[SUBJECT]] if SUBJECT in source.group else []
    names, reals = columns_of(source, labelled, [*source.score, *([source.weight] if source.weight else [])])
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
        from assay.tally.counting import count_columns

        cells = count_columns([source.truth, source.predicted, *source.group.values()], None)
    return {cell: rows for cell, (rows, _) in cells.items()}


def is_held(source: Source) -> bool:
    """Whether the rows are in memory already."""
    import narwhals.stable.v2 as nw

    return isinstance(source, ArraySource) or isinstance(source.frame, nw.DataFrame)


def rows_of(source: Source) -> int:
    """How many rows a table has."""
    import narwhals.stable.v2 as nw

    from assay.rows.scoreframes import fetched

    if isinstance(source, ArraySource):
        return len(source.truth)
    return int(cast("int", fetched(source, source.frame.select(nw.len()))[0][0]))


def scored(source: Source) -> tuple[Codes, tuple[Floats, ...]]:
    """The true labels and the scores of every row, in memory."""
    if isinstance(source, ArraySource):
        return Codes.of_column(source.truth), source.score
    [truth], scores = columns_of(source, [source.truth], source.score)
    return truth, tuple(scores)


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
        raise without_id(keys.count(None), model, source.where)
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
    raise ids_twice(one.rows, Some.of(twice))


def _demand_same_rows(first: Answers, other: Answers, here: Mapping[Label, int], there: Mapping[Label, int]) -> None:
    lost, more = [k for k in here if k not in there], [k for k in there if k not in here]
    if lost or more:
        kinds = {type(k).__name__ for k in here} ^ {type(k).__name__ for k in there}
        raise other_rows(first.rows, other.rows, Some.of(lost), Some.of(more), kinds=bool(kinds))


def _demand_same(first: Answers, other: Answers, order: NDArray[np.intp], what: str) -> None:
    mine, theirs = (_column(one, what) for one in (first, other))
    placed = [theirs[i] for i in order.tolist()]
    pairs = zip(mine, placed, strict=True)
    wrong = [i for i, (a, b) in enumerate(pairs) if a != b or type(a) is not type(b)]
    if wrong:
        each = [(first.keys[i], mine[i], placed[i]) for i in wrong[:LISTED]]
        raise another(first.rows, other.rows, what, len(wrong), len(placed), each)


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

    from assay.rows.scoreframes import arrays

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
