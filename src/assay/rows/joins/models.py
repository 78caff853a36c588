# SPDX-License-Identifier: Apache-2.0
"""Models in tables of their own, joined by id or by place to one table, and the proof that they saw the same rows.

The proof is counts and order-free sums of 64-bit hashes of ids, by true label. The hash of an id is the first 8 bytes
of the MD5 digest of its text, which DuckDB, Spark and Python compute alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final, cast

import narwhals.stable.v2 as nw

from assay.core.errors import UnpairedRows
from assay.core.labels import Label
from assay.core.text import counted
from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.files.formats import Reading
from assay.rows.joins.matches import (
    HERE,
    JoinTable,
    check_ids,
    find_differences,
    find_lone_ids,
    first_ids,
    full_join,
    is_crowded,
)
from assay.rows.joins.matches import (
    KEY as ID,
)
from assay.rows.joins.mismatch_errors import SUBJECT, Id, SomeIds, shown_id, told_by
from assay.rows.label_types import label_of
from assay.rows.scored_source import Cut, opened_cut, sound, with_scores_of
from assay.rows.source import FrameSource, Roles, no_rows

if TYPE_CHECKING:
    from assay.rows.files.opened_file import OpenedFile

KEY: Final = "id"
"""The group that holds the ids among the roles of a model."""
FIT: Final = "assay_fit"
"""The column that says of a joined row what is wrong with it: 0 for nothing."""
LISTED: Final = 5
"""Ids that an error about two models lists."""
_KINDS: Final = {"text": "str", "whole number": "int"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The rows of one model as the user gave them."""

    data: object
    roles: Roles
    reading: Reading
    truth: object = None
    """The table that holds the truth, where that is another one."""
    cut: Cut | None = None
    """How a threshold makes labels of scores, where the model has none of its own."""

    @property
    def by(self) -> tuple[str, ...]:
        """The column of the ids; none where places pair the rows."""
        return (str(self.roles.group[KEY]),) if KEY in self.roles.group else ()

    @property
    def labelled(self) -> Roles:
        """The roles with the labels that a threshold makes."""
        return self.roles if self.cut is None else replace(self.roles, predicted=self.cut)

    @property
    def wide(self) -> Roles:
        """The columns to be read, with the scores of which a threshold makes labels."""
        return self.roles if self.cut is None else with_scores_of(self.roles, [self.cut])

    def source(self, open_: Callable[[Roles], FrameSource]) -> FrameSource:
        """The rows by role, after a look at the scores; labels that a threshold makes are a column."""
        source = cast("FrameSource", opened_cut(open_, self.labelled))
        if self.roles.score is None:
            return source
        single = len(self.roles.score.columns) == 1
        return cast("FrameSource", sound(source, "any", single=single, drop=False)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTable:
    """The rows of one model in the engine that joins them."""

    model: str
    source: FrameSource
    table: JoinTable
    keyed: bool = True
    homes: tuple[OpenedFile, ...] = ()
    """The tables it was made of: predictions, and the truth if that is elsewhere."""

    def column(self, what: str) -> str | None:
        """The column of the truth, the subject or the weight, if the model has it."""
        if what == "weight":
            return self.source.weight
        return (self.source.truth or None) if what == "truth" else self.source.group.get(what)

    def sql(self, column: str, alias: str) -> str:
        """A column in SQL; columns of Spark have plain names."""
        return f"{alias}.{quote_identifier(column) if self.table.dialect == 'duckdb' else column}"

    def number(self, column: str, alias: str) -> str:
        """A column of numbers in SQL."""
        comma = self.source.opened is not None and self.source.opened.decimal != "." and self.kind(column) == "text"
        name = self.sql(column, alias)
        return f"CAST(replace({name}, ',', '.') AS DOUBLE)" if comma else f"CAST({name} AS DOUBLE)"

    def kind(self, column: str) -> str:
        """The kind of labels that a column holds."""
        type_ = self.source.frame.collect_schema()[column]
        if isinstance(type_, (nw.String, nw.Categorical, nw.Enum)):
            return "text"
        return "boolean" if type_ == nw.Boolean else "number"

    def value(self, what: str, alias: str) -> str:
        """What is compared between models: the same SQL value for the same label."""
        column = str(self.column(what))
        if what == "weight":
            return self.number(column, alias)
        name = self.sql(column, alias)
        if self.kind(column) == "text":
            return f"CAST({name} AS STRING)"
        real = self.source.frame.collect_schema()[column].is_float()
        return f"CASE WHEN isnan({name}) THEN NULL ELSE {name} END" if real else name

    def compared(self) -> list[str]:
        """What must be the same in every model, as far as it was named."""
        return [what for what in ("truth", SUBJECT, "weight") if self.column(what) is not None]

    def differ(self, other: ModelTable, what: str, alias: str) -> str:
        """The condition that truth, subject or weight of a row is not the same in another model."""
        mine, theirs = self.value(what, "t0"), other.value(what, alias)
        kinds = {one.kind(str(one.column(what))) for one in (self, other)}
        if what != "weight" and len(kinds) > 1:
            return f"({mine} IS NOT NULL OR {theirs} IS NOT NULL)"
        return f"{mine} IS DISTINCT FROM {theirs}"

    def label(self, what: str, value: object) -> object:
        """A value of the truth or the subject as a label; a weight as it is."""
        if what == "weight":
            return value
        return label_of(value, where=f"{self.source.where}, {self.source.shown(str(self.column(what)))}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedModels:
    """All models as one table, and each by itself."""

    tables: tuple[ModelTable, ...]
    source: Callable[[Roles], FrameSource]
    """The joined rows by roles, whose columns are named as `columns_of` says."""
    fetch: Callable[[], list[tuple[Any, ...]]]
    """What is wrong with joined rows, and in how many."""
    close: Callable[[], None]

    def check_rows(self, fits: Sequence[tuple[int, int]] | None = None) -> None:
        """Check that every id stands once in every table with the same truth, subject and weight."""
        fits = [(int(fault), int(rows)) for fault, rows in self.fetch()] if fits is None else fits
        sizes = [model_table.table.size for model_table in self.tables]
        rows = sum(number for _, number in fits)
        if not sizes[0]:
            raise no_rows(self.tables[0].source.where)
        if any(fault for fault, _ in fits) or any(rows != size for size in sizes):
            refuse_mismatch(self.tables)
            msg = "rows do not match, and nothing is wrong with them"
            raise ArithmeticError(msg)
        for model_table in self.tables:
            if model_table.source.opened is not None:
                model_table.source.opened.confirm(rows)

    def digest(self) -> str:
        """The digest of ids and truth, which every model has."""
        first = self.tables[0]
        hashed = HASHES[first.table.dialect].format(text=f"CAST(t0.{ID}0 AS STRING)")
        rows = first.table.fetch(
            f"SELECT {first.value('truth', 't0')}, count(*), sum({hashed}) FROM {first.table.source} AS t0 GROUP BY 1"  # noqa: S608
        )
        sums = ((cast("Any", first.label("truth", truth)), int(number), int(total)) for truth, number, total in rows)
        return digest_sums(_KINDS.get(first.table.kinds[0], first.table.kinds[0]), sums)


def columns_of(place: int, roles: Roles) -> Roles:
    """The columns of one model by the names they have in the joined table."""
    numbers = count()
    return Roles(
        truth="truth",
        predicted=f"call_{place}",
        group={SUBJECT: SUBJECT} if SUBJECT in roles.group else {},
        weight=None if roles.weight is None else "weight",
        score=None if roles.score is None else roles.score.mapped(lambda _: f"score_{place}_{next(numbers)}"),
    )


def join_models(tables: Sequence[ModelTable], models: Sequence[Model]) -> tuple[str, dict[str, tuple[ModelTable, str]]]:
    """The SQL text of the join, and which column of which model each of its columns is."""
    homes: dict[str, tuple[ModelTable, str]] = {}
    chosen: list[str] = []
    for place, (model_table, model) in enumerate(zip(tables, models, strict=True)):
        for name, column, number in _columns(model_table.source, columns_of(place, model.roles)):
            if name not in homes:
                homes[name] = model_table, column
                alias = f"t{place}"
                chosen.append(
                    f"{model_table.number(column, alias) if number else model_table.sql(column, alias)} AS {name}"
                )
    first = tables[0]
    lost = " OR ".join(f"t{place}.{HERE} IS NULL OR t{place}.{ID}0 IS NULL" for place in range(len(tables)))
    wrong = " OR ".join(
        first.differ(model_table, what, f"t{i}")
        for i, model_table in enumerate(tables)
        if i
        for what in first.compared()
    )
    fit = f"CAST(CASE WHEN {lost} THEN 2 WHEN {wrong} THEN 1 ELSE 0 END AS TINYINT) AS {FIT}"
    return full_join([model_table.table for model_table in tables], [*chosen, fit, f"t0.{ID}0 AS {ID}0"]), homes


def _columns(source: FrameSource, target: Roles) -> Iterator[tuple[str, str, bool]]:
    """Name in the joined table, own name, and whether it must be made a number."""
    yield "truth", source.truth, False
    if source.predicted:
        yield str(target.predicted), source.predicted, False
    if target.group:
        yield SUBJECT, source.group[SUBJECT], False
    if source.weight is not None:
        yield "weight", source.weight, True
    for name, column in zip(() if target.score is None else target.score.columns, source.score, strict=True):
        yield str(name), column, False


def refuse_mismatch(tables: Sequence[ModelTable]) -> None:
    """Raise what is wrong with rows that did not match, if anything is."""
    for model_table in tables:
        check_ids(model_table.table, of=f" of {model_table.model}")
    first = tables[0]
    for other in tables[1:]:
        kinds = first.table.kinds != other.table.kinds
        lone = [
            first_ids(a, LISTED) if kinds else find_lone_ids(a, b, LISTED)
            for a, b in ((first.table, other.table), (other.table, first.table))
        ]
        if lone[0].count or lone[1].count:
            raise _different_rows(first, other, lone, kinds=kinds)
        for what in first.compared():
            values = [
                model_table.value(what, alias)
                if what == "weight"
                else model_table.sql(str(model_table.column(what)), alias)
                for model_table, alias in ((first, "t0"), (other, "t1"))
            ]
            differ = first.differ(other, what, "t1")
            wrong, rows = find_differences(first.table, other.table, differ, values, LISTED)
            if wrong:
                examples = [(key, first.label(what, mine), other.label(what, theirs)) for key, (mine, theirs) in rows]
                raise _different_values(first, other, what, wrong, examples)


def _different_rows(first: ModelTable, other: ModelTable, lone: Sequence[SomeIds], *, kinds: bool) -> UnpairedRows:
    """The error for models that were run on different rows; `kinds` says that their ids are of different types."""

    def build(shown: Callable[[Id], str], also: str) -> UnpairedRows:
        sides = zip((first.model, other.model), lone, strict=True)
        each = [f"{counted(ids.count, 'id')} only in {model}: {ids.format(shown)}" for model, ids in sides if ids.count]
        return UnpairedRows(
            "rows-unmatched",
            f"{first.model} and {other.model} were not run on the same rows (TS 4213, 5.3.5)",
            where="; ".join(dict.fromkeys((first.source.where, other.source.where))),
            found="; ".join(each) + ("; the ids are of different types" if kinds else ""),
            fix="run every model on the same test data, and give every row to both; if the rows differ on purpose,"
            f" say so: independent=True (--independent){also}",
        )

    return told_by(build) if first.keyed else build(shown_id, "")


def _different_values(
    first: ModelTable, other: ModelTable, what: str, wrong: int, examples: Sequence[tuple[Id, object, object]]
) -> UnpairedRows:
    """The error for rows that have another truth, subject or weight in one model than in the first."""

    def build(shown: Callable[[Id], str], also: str) -> UnpairedRows:
        show_value = shown if what == SUBJECT else shown_id  # a subject may be a person, as an id may
        show_key = shown if first.keyed else shown_id
        return UnpairedRows(
            "rows-unmatched",
            f"{counted(wrong, 'row')} of {first.table.size:,} {'has' if wrong == 1 else 'have'} another {what} in "
            f"{other.model} than in {first.model}",
            where=f"{first.source.where}; {other.source.where}",
            found="; ".join(
                f"row {show_key(key)}: {show_value((mine,))} and {show_value((theirs,))}"
                for key, mine, theirs in examples
            ),
            fix=f"give the same {what} to every model; without ids, the rows may stand in another order: state the id"
            + also,
        )

    return told_by(build) if first.keyed or what == SUBJECT else build(shown_id, "")


def check_joinable(tables: Sequence[ModelTable]) -> None:
    """Check before the join that ids are of one kind, and that none stands in very many rows."""
    alike = len({one.table.kinds for one in tables}) == 1
    if not alike or any(is_crowded(one.table) for one in tables if one.keyed):
        refuse_mismatch(tables)


HASHES: Final = {
    "duckdb": "CAST(CAST('0x' || substr(md5({text}), 1, 16) AS UBIGINT) AS HUGEINT)",
    "spark": "CAST(conv(substr(md5({text}), 1, 16), 16, 10) AS DECIMAL(20, 0))",
}
"""The hash of a text in the SQL of each engine, as a whole number that can be summed."""


def hash_text(text: str) -> int:
    """The hash of the text of an id.

    >>> hash_text("a")
    919145239626757800
    """
    return int(hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16], 16)


def digest_rows(keys: Sequence[Label], truth: Sequence[Label | None]) -> str:
    """The digest of rows in memory: equal exactly where ids and truth are, in any order.

    >>> digest_rows([1, 2], ["x", "y"]) == digest_rows([2, 1], ["y", "x"]) != digest_rows(["1", "2"], ["x", "y"])
    True
    """
    sums: dict[tuple[type, Label | None], tuple[int, int]] = {}
    for key, label in zip(keys, truth, strict=True):
        rows, total = sums.get((type(label), label), (0, 0))
        sums[type(label), label] = rows + 1, total + hash_text(str(key))
    kind = type(keys[0]).__name__ if keys else ""
    return digest_sums(kind, ((label, rows, total) for (_, label), (rows, total) in sums.items()))


def digest_sums(kind: str, sums: Iterable[tuple[Label | None, int, int]]) -> str:
    """SHA-256 of the kind of ids and, for every true label, its rows and the sum of the hashes of their ids."""
    lines = sorted(f"{type(label).__name__} {label!r} {rows} {total}\n" for label, rows, total in sums)
    return hashlib.sha256((f"{kind}\n" + "".join(lines)).encode("utf-8", "surrogatepass")).hexdigest()
