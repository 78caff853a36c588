# SPDX-License-Identifier: Apache-2.0
"""Models in Spark frames or paths of their own, matched by id on the cluster to one frame.

What is wrong with rows that do not match is counted there. For the proof that all models saw the same rows, ids and
truth of one model come to this machine, some at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, cast

import narwhals.stable.v2 as nw

from assay.core.text import visible
from assay.rows.databases import is_database, refuse_selection
from assay.rows.differing import SUBJECT, Rows
from assay.rows.frames import demand_one_path
from assay.rows.labels import label_of
from assay.rows.limits import Limits
from assay.rows.matching import FIT, columns_of
from assay.rows.modeltables import KEY, demand_met
from assay.rows.opening import FrameSource, Roles, open_source
from assay.rows.scored import sound
from assay.rows.spark import from_spark
from assay.rows.sparkcolumns import slice_of
from assay.rows.sparkerrors import told_as_ours
from assay.rows.sparkfiles import SparkFile, read
from assay.rows.sparkids import SparkIds
from assay.rows.sparksession import is_cluster, is_spark, open_session

if TYPE_CHECKING:
    from assay.core.labels import Label
    from assay.rows.reading import Reading

ROWS: Final = 1 << 17
"""Rows that a part of the kept ones has at least, about: Spark keeps as many parts as it shuffles, 200 by default, and
takes longer to begin each for every question than to answer it of few rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkTable:
    """The rows of one model on a cluster, its columns under names that no other model has."""

    model: str
    place: int
    source: FrameSource
    frame: Any
    kinds: Mapping[str, str]
    """What kind of values ids, truth and subjects are."""
    counted: list[int] = field(default_factory=list)
    """How many rows there are, once that was asked."""

    @property
    def rows(self) -> Rows:
        """Whose rows these are, as errors call them."""
        return Rows(model=self.model, where=self.source.where)

    def name(self, what: str) -> str:
        """The column of an id, a truth, a subject, a weight or a call."""
        return f"t{self.place}_{what}"

    def value(self, what: str) -> str:
        """What is compared between models: the same SQL value for the same label."""
        name = self.name(what)
        if what == "weight":
            return f"CAST({name} AS DOUBLE)"
        return f"CASE WHEN isnan({name}) THEN NULL ELSE {name} END" if self.kinds[what] == "real" else name

    def label(self, what: str, value: object) -> Label | None:
        """A value of a column as a label."""
        column = self.source.group[KEY] if what == KEY else self.source.truth
        return label_of(value, where=f"{self.source.where}, {self.source.shown(column)}")

    def fetch(self, frame: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401  a Spark frame
        """The rows of a small answer."""
        with told_as_ours(visible(self.source.where)):
            return [tuple(row) for row in frame.collect()]

    def count(self, frame: Any) -> int:  # noqa: ANN401
        """How many rows a frame has."""
        return int(self.fetch(frame.selectExpr("count(*)"))[0][0])

    def size(self) -> int:
        """How many rows there are."""
        if not self.counted:
            known = cast("SparkFile", self.source.opened).rows if self.source.opened is not None else None
            self.counted.append(self.count(self.frame) if known is None else known)
        return self.counted[0]

    def confirm(self, rows: int) -> None:
        """Demand that as many rows were counted as a file has."""
        if self.source.opened is not None:
            self.source.opened.confirm(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkMatched:
    """All models as one frame of the cluster, and each by itself."""

    frame: Any
    tables: tuple[SparkTable, ...]
    named: Mapping[str, str] = field(default_factory=dict)
    """What the user calls the columns of the one frame."""
    close: Callable[[], None]

    def source(self, roles: Roles) -> FrameSource:
        """The one frame by roles, whose columns are named as `columns_of` says."""
        where = "; ".join(one.source.where for one in self.tables)
        read_ = self.tables[0].source.opened is not None
        opened = SparkFile(frame=self.frame, path=where, format="") if read_ else None
        made = from_spark(self.frame, roles, opened)
        shown = {alias: self.named.get(name, name) for alias, name in made.names.items()}
        return replace(made, where=where, names=shown)

    def fits(self) -> list[tuple[int, int]]:
        """What is wrong with rows, and in how many: 0 for nothing."""
        return [(int(fault), int(rows)) for fault, rows in self.tables[0].fetch(self.frame.groupBy(FIT).count())]

    def demand(self, fits: Sequence[tuple[int, int]]) -> None:
        """Demand that every id stands once in every frame with the same truth, subject and weight."""
        from assay.rows.sparkunmatched import faults

        demand_met(self.tables, fits, lambda: faults(self.tables))

    @contextmanager
    def proving(self) -> Iterator[SparkIds]:
        """Ids and truth of the first model, which prove which rows were compared."""
        first = self.tables[0]
        frame = first.frame.selectExpr(f"{first.name(KEY)} AS id", f"{first.name('truth')} AS truth")
        yield SparkIds.of(frame, text=first.kinds[KEY] == "text", model=first.model, source=first.source)


def match_on_cluster(
    data: Mapping[str, object],
    roles: Mapping[str, Roles],
    readings: Mapping[str, Reading],
    *,
    engine: str | None,
    limits: Limits | None,
    kept: bool,
) -> SparkMatched | None:
    """Every model's rows joined as one frame where they are, or where a cluster is to read them.

    None where not all are on one cluster, or of types that only memory can match. With `kept`, the cluster keeps the
    joined rows, so that they are not put together anew for every question.
    """
    if engine is not None and is_cluster(engine):
        return _from_paths(data, roles, readings, engine, limits, kept=kept)
    if not all(is_spark(one) for one in data.values()):
        return None
    sessions = {id(cast("Any", one).sparkSession): cast("Any", one).sparkSession for one in data.values()}
    if len(sessions) > 1 and not _same_context(list(sessions.values())):
        return None
    opened = {model: open_source(one, roles[model], readings[model]) for model, one in data.items()}
    sources = cast("dict[str, FrameSource]", opened)
    return _matched(sources, roles, kept=kept, end=lambda: None)


def _same_context(sessions: Sequence[Any]) -> bool:
    """Whether sessions are of one driver, so that their frames can be joined; those of Connect never are."""
    contexts = [getattr(one, "_sc", None) for one in sessions]
    return contexts[0] is not None and all(one is contexts[0] for one in contexts)


def _from_paths(
    data: Mapping[str, object],
    roles: Mapping[str, Roles],
    readings: Mapping[str, Reading],
    engine: str,
    limits: Limits | None,
    *,
    kept: bool,
) -> SparkMatched | None:
    if any(is_database(one) for one in data.values()):
        return None
    for model, one in data.items():
        refuse_selection(one, readings[model])
        demand_one_path(one, limits, where="data")
    session = open_session(engine)
    try:
        sources = {}
        for model, one in data.items():
            columns = list(map(str, roles[model].named().values()))
            opened = read(session.spark, cast("str", one), columns, readings[model])
            sources[model] = from_spark(opened.frame, roles[model], opened)
        found = _matched(sources, roles, kept=kept, end=session.end)
    except BaseException:
        session.end()
        raise
    if found is None:
        session.end()
    return found


def _matched(
    sources: Mapping[str, FrameSource], roles: Mapping[str, Roles], *, kept: bool, end: Callable[[], None]
) -> SparkMatched | None:
    tables = []
    for place, (model, source) in enumerate(sources.items()):
        score = roles[model].score
        checked = source
        if score is not None:
            checked = cast("FrameSource", sound(source, "any", single=len(score.columns) == 1, drop=False)[0])
        table = _table(model, place, checked)
        if table is None:
            return None
        tables.append(table)
    from assay.rows.sparkunmatched import faults

    if len({one.kinds[KEY] for one in tables}) > 1:
        raise faults(tables) or ArithmeticError
    with told_as_ours("; ".join(visible(one.source.where) for one in tables)):
        frame, named = _joined(tables, list(roles.values()))
        frame = frame.coalesce(max(one.size() for one in tables) // ROWS + 1).persist() if kept else frame

    def close() -> None:
        try:
            if kept:
                frame.unpersist()
        finally:
            end()

    return SparkMatched(frame=frame, tables=tuple(tables), named=named, close=close)


def _table(model: str, place: int, source: FrameSource) -> SparkTable | None:
    """The columns of a model under names of their own; None where a type compares otherwise than in memory."""
    schema = source.frame.collect_schema()
    labels = {KEY: source.group[KEY], "truth": source.truth}
    labels |= {SUBJECT: source.group[SUBJECT]} if SUBJECT in source.group else {}
    kinds = {what: _kind(schema[column]) for what, column in labels.items()}
    if kinds[KEY] not in {"text", "number"} or "" in kinds.values():
        return None
    if source.weight is not None and not schema[source.weight].is_numeric():
        return None
    columns = {**labels, "call": source.predicted, **{f"score{i}": name for i, name in enumerate(source.score)}}
    columns |= {} if source.weight is None else {"weight": source.weight}
    chosen = [f"{_as(what, kinds, column)} AS t{place}_{what}" for what, column in columns.items()]
    with told_as_ours(visible(source.where)):
        frame = source.frame.to_native().selectExpr(*chosen)
    return SparkTable(model=model, place=place, source=source, frame=frame, kinds=kinds)


def _as(what: str, kinds: Mapping[str, str], column: str) -> str:
    return column if what != KEY else f"CAST({column} AS {'STRING' if kinds[KEY] == 'text' else 'BIGINT'})"


def _kind(type_: Any) -> str:  # noqa: ANN401  a type of Narwhals
    """What kind of labels a column holds: numbers are real where they may be NaN."""
    if type_ == nw.String:
        return "text"
    if type_ == nw.Boolean:
        return "boolean"
    return "number" if type_.is_integer() else "real" if type_.is_float() else ""


def compared(one: SparkTable) -> list[str]:
    """What must be the same in every model, as far as it was named."""
    named = {"truth": True, SUBJECT: SUBJECT in one.kinds, "weight": one.source.weight is not None}
    return [what for what, there in named.items() if there]


def differ(first: SparkTable, other: SparkTable, what: str) -> str:
    """The condition that truth, subject or weight of a row is not the same in two models."""
    mine, theirs = first.value(what), other.value(what)
    kinds = {one.kinds[what].replace("real", "number") for one in (first, other)} if what != "weight" else set()
    if len(kinds) > 1:
        return f"({mine} IS NOT NULL OR {theirs} IS NOT NULL)"
    return f"NOT ({mine} <=> {theirs})"


def _joined(tables: Sequence[SparkTable], roles: Sequence[Roles]) -> tuple[Any, dict[str, str]]:
    """One frame of all models, with what is wrong with each row; and what the user calls its columns."""
    first, *others = tables
    frame = first.frame
    for other in others:
        frame = frame.join(other.frame, frame[first.name(KEY)] == other.frame[other.name(KEY)], "full")
    chosen: dict[str, str] = {}
    named: dict[str, str] = {}
    for one, own in zip(tables, roles, strict=True):
        target, source = columns_of(one.place, own), one.source
        columns = {"truth": ("truth", source.truth), str(target.predicted): ("call", source.predicted)}
        columns |= {SUBJECT: (SUBJECT, source.group[SUBJECT])} if target.group else {}
        columns |= {} if source.weight is None else {"weight": ("weight", source.weight)}
        scores = () if target.score is None else target.score.columns
        columns |= {str(name): (f"score{i}", source.score[i]) for i, name in enumerate(scores)}
        for name, (what, column) in columns.items():
            chosen.setdefault(name, f"{one.name(what)} AS `{name}`")
            named.setdefault(name, source.names.get(column, column))
    lost = " OR ".join(f"{one.name(KEY)} IS NULL" for one in tables)
    wrong = " OR ".join(differ(first, one, what) for one in others for what in compared(first))
    fit = f"CASE WHEN {lost} THEN 2 WHEN {wrong} THEN 1 ELSE 0 END AS {FIT}"
    return frame.selectExpr(*chosen.values(), fit, slice_of(first.name(KEY))), named


__all__ = ["SparkMatched", "SparkTable", "compared", "differ", "match_on_cluster"]
