# SPDX-License-Identifier: Apache-2.0
"""Ids: what names a row, so that truth and prediction meet by name and never by place.

Ids are compared byte for byte. Errors show them as keyed hashes beside the rows they stand in, for an id may name a
person; as they are only when that is asked for. No Record holds one.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

import numpy as np

from assay.core.errors import AssayError, MissingColumn, PlanError, RowsError, UnpairedRows
from assay.core.text import counted, listed, look, nearest, quoted, visible
from assay.rows.columns import as_array
from assay.rows.engine import case_blind
from assay.rows.labels import absent
from assay.rows.places import Index, places

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHOWN: Final = 3
"""Ids that an error lists."""

KEY: Final = "ASSAY_ID_KEY"
"""The variable of the environment that holds a site's own key."""

Told = TypeVar("Told", bound=AssayError)
Unmatched: TypeAlias = Literal["error", "count"]
Id: TypeAlias = tuple[object, ...]

_WHOLE = {
    "tinyint",
    "smallint",
    "integer",
    "bigint",
    "hugeint",
    "utinyint",
    "usmallint",
    "uinteger",
    "ubigint",
    "uhugeint",
}
_UNFIT = ("float", "double", "real", "blob", "struct", "map", "union", "variant", "json", "bit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """How truth and predictions met: by which columns, how many rows each side had, and how many found a partner."""

    by: tuple[str, ...]
    predictions: int
    truth: int
    matched: int

    @property
    def unmatched(self) -> int:
        """Rows of either side without a partner."""
        return self.predictions + self.truth - 2 * self.matched

    def to_json(self) -> dict[str, object]:
        """As in a Record: the equation of each side."""
        sides = {"predictions": self.predictions, "truth": self.truth}
        return {
            "id": list(self.by),
            **{
                side: {"read": read, "matched": self.matched, "unmatched": read - self.matched}
                for side, read in sides.items()
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """Columns of predictions (0) and truth (1) in one table, each under a name of its own."""

    names: Sequence[Sequence[str]]
    where: Sequence[str]
    by: tuple[str, ...]
    chosen: dict[str, tuple[int, str]] = field(default_factory=dict)
    """The name in the joined table -> side and name there."""

    def take(self, role: str, column: object) -> str:
        """The name a column gets; truth and predictions come from their own side, the rest from the one that has it."""
        wanted = str(column)
        if role in ("predicted", "score", "truth"):
            side = int(role == "truth")
            if wanted not in self.names[side]:
                raise self._nowhere(wanted, [side])
        else:
            side = self._side_of(wanted)
        name, taken = wanted, {case_blind(one): home for one, home in self.chosen.items()}
        while taken.get(case_blind(name), (side, wanted)) != (side, wanted):
            name = f"{name} ({('predictions', 'truth')[side]})"
        self.chosen[name] = (side, wanted)
        return name

    def _side_of(self, column: str) -> int:
        has = [column in names for names in self.names]
        if all(has) and column not in self.by:
            raise RowsError(
                "column-ambiguous",
                f"column {quoted(column)} stands in {self.where[0]} and in {self.where[1]}",
                where=f"{self.where[0]} and {self.where[1]}",
                found="the two could disagree",
                fix="rename one of them, or leave one out",
            )
        if not any(has):
            raise self._nowhere(column, [0, 1])
        return 0 if has[0] else 1

    def _nowhere(self, column: str, sides: Sequence[int]) -> MissingColumn:
        close = nearest(column, [name for side in sides for name in self.names[side]])
        return MissingColumn(
            "missing-column",
            f"there is no column {quoted(column)}",
            where=" and ".join(self.where[side] for side in sides),
            found=quoted(column),
            known="; ".join(f"{self.where[side]}: {listed(self.names[side], most=12)}" for side in sides),
            fix=f"did you mean {quoted(close)}?" if close else "name one of the known columns",
        )


def id_columns(id: object) -> tuple[str, ...]:
    """The columns that make an id, when they are named."""
    if id is None:
        return ()
    names = (id,) if isinstance(id, str) else tuple(id) if isinstance(id, (list, tuple)) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise PlanError(
            "role-clash",
            f"id is a {type(id).__name__}, but data= is given",
            where="id",
            fix="with data=, name the column, or the columns that make an id together: id=['site', 'case']",
        )
    if len(set(names)) < len(names):
        raise PlanError("role-clash", "id names a column twice", where="id", found=listed(names), fix="name it once")
    return names


def kind_of_id(type_: str, column: str, where: str) -> str:
    """What kind of id a type of the engine makes: kinds must agree between the sides, widths need not."""
    bare = type_.partition("(")[0].lower()
    if bare in _WHOLE:
        return "whole number"
    if bare in ("varchar", "enum"):
        return "text"
    if bare in _UNFIT or type_.endswith("]"):
        raise unfit_id(type_, column, where)
    return type_


def unfit_id(type_: object, column: str, where: str) -> RowsError:
    """The error for a column whose values cannot name rows."""
    return RowsError(
        "column-type",
        f"column {quoted(column)} is {visible(type_)}, which cannot hold ids",
        where=where,
        known="text, whole numbers, dates and times; fractions are not exact",
        fix="write the ids as text",
    )


def ids_differ(column: str, kinds: Sequence[str], where: Sequence[str]) -> RowsError:
    """The error for ids of two kinds: the text 1 and the number 1 are not the same id."""
    return RowsError(
        "column-type-differs",
        f"the id {quoted(column)} is {visible(kinds[0])} in {where[0]} and {visible(kinds[1])} in {where[1]}",
        where=f"{where[0]} and {where[1]}",
        found=f"{where[0]}: {visible(kinds[0])}; {where[1]}: {visible(kinds[1])}",
        known='the number 1 and the text "1" are two ids',
        fix="write the ids alike in both, for instance as text",
    )


def shown_id(one: Id) -> str:
    """An id as an error shows it.

    >>> shown_id(("a",)), shown_id(("north", 7))
    ('"a"', '("north", 7)')
    """
    each = [quoted(part) for part in one]
    return each[0] if len(each) == 1 else f"({', '.join(each)})"


def hashed_id(one: Id) -> str:
    """An id as an error shows it to anybody: ids are told apart, and cannot be guessed without the key.

    >>> hashed_id(("a",)) == hashed_id(("a",)), hashed_id(("1",)) == hashed_id((1,)), len(hashed_id(("a",)))
    (True, False, 13)
    """
    parts = "".join(f"{type(part).__name__} {len(str(part))} {part}" for part in one)
    return f"#{hashlib.blake2b(parts.encode('utf-8', 'surrogatepass'), key=_key(), digest_size=6).hexdigest()}"


def _key() -> bytes:
    """A site may set a key of its own, so that it can find an id again; else one is drawn for this process."""
    own = os.environ.get(KEY)
    return hashlib.sha256(own.encode()).digest() if own else _drawn()


@cache
def _drawn() -> bytes:
    return secrets.token_bytes(32)


def told_by(build: Callable[[Callable[[Id], str], str], Told]) -> Told:
    """An error with hashed ids, which carries itself with plain ones for whoever asked to see them."""
    error = build(hashed_id, "; see the ids themselves: reading=assay.Reading(show_ids=True) (--show-ids)")
    error.plain = build(shown_id, "")
    return error


def duplicate_ids(ids: int, rows: int, first: Mapping[Id, Sequence[int]], where: str) -> RowsError:
    """The error for ids that stand in several rows; `first` holds some of them with their rows."""
    return told_by(lambda shown, also: _duplicate_ids(ids, rows, first, where, shown, also))


def _duplicate_ids(  # noqa: PLR0917  the facts, and two ways to tell them
    ids: int,
    rows: int,
    first: Mapping[Id, Sequence[int]],
    where: str,
    shown: Callable[[Id], str],
    also: str,
) -> RowsError:
    found = "; ".join(f"{shown(one)} {places(at)}".rstrip() for one, at in first.items())
    return RowsError(
        "duplicate-id",
        f"{counted(ids, 'id')} {'stands' if ids == 1 else 'stand'} in more than one row, {rows:,} rows in all",
        where=where,
        found=found + (f" and {ids - len(first):,} more" if ids > len(first) else ""),
        known="every row has an id of its own",
        fix=f"keep one row of each id, or name further columns that tell the rows apart: id=['case', 'reader']{also}",
    )


def missing_ids(rows: int, first: Sequence[int], where: str) -> RowsError:
    """The error for rows without an id."""
    more = f" and {rows - len(first):,} more" if rows > len(first) else ""
    return RowsError(
        "missing-id",
        f"{counted(rows, 'row')} {'has' if rows == 1 else 'have'} no id",
        where=where,
        found=at + more if (at := places(first)) else counted(rows, "row"),
        fix="give every row its id",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lone:
    """The rows of one side without a partner: how many, and some of them."""

    side: str
    lacks: str
    rows: int
    first: Mapping[Id, Sequence[int]]

    def said(self, shown: Callable[[Id], str]) -> str:
        """How many there are and which come first."""
        each = ", ".join(f"{shown(one)} {places(at)}".rstrip() for one, at in self.first.items())
        more = f" and {self.rows - len(self.first):,} more" if self.rows > len(self.first) else ""
        return f"{self.side} without {self.lacks}: {each}{more}"


def unmatched_rows(lone: Sequence[Lone], matched: int, where: str) -> UnpairedRows:
    """The error for rows that found no partner."""
    return told_by(lambda shown, also: _unmatched_rows(lone, matched, where, shown, also))


def _unmatched_rows(
    lone: Sequence[Lone], matched: int, where: str, shown: Callable[[Id], str], also: str
) -> UnpairedRows:
    some = [one for one in lone if one.rows]
    said = " and ".join(f"{counted(one.rows, 'row')} of {one.side} without {one.lacks}" for one in some)
    alike = next(((a, b) for a in lone[0].first for b in lone[-1].first if a != b and _look(a) == _look(b)), None)
    return UnpairedRows(
        "rows-unmatched",
        f"{said}; {matched:,} matched",
        where=where,
        found="; ".join(one.said(shown) for one in some),
        known="ids are compared byte for byte"
        + (
            f": {shown(alike[0])} and {shown(alike[1])} differ{', though they look alike' * bool(also)}"
            if alike
            else ""
        ),
        fix="complete the rows, or assess the matched ones and count the rest:"
        f' unmatched="count" (--unmatched count){also}',
    )


def _look(one: Id) -> tuple[object, ...]:
    return tuple(look(part) if isinstance(part, str) else part for part in one)


@contextmanager
def ids_told(*, plainly: bool) -> Iterator[None]:
    """Let errors out with ids as they are, if that was asked for."""
    try:
        yield
    except AssayError as error:
        if plainly and error.plain is not None:
            raise error.plain from None
        raise


def demand_unique(column: object, rows: int) -> None:
    """Demand that ids in memory name every row once."""
    array = as_array(column, "id")
    if len(array) != rows:
        raise UnpairedRows(
            "rows-unmatched",
            f"there are {counted(len(array), 'id')} for {counted(rows, 'row')}",
            where="id",
            fix="give one id a row",
        )
    if array.dtype.kind not in "iubUTOMm":
        raise unfit_id(array.dtype, "id", "id")
    if array.dtype.kind in "iubU" and len(np.unique(array)) == rows:
        return
    _unique([(value,) for value in _values(array)], "id")


def demand_unique_together(columns: Mapping[str, object], rows: int) -> None:
    """Demand that ids of several columns in memory name every row once."""
    if len(columns) == 1:
        [only] = columns.values()
        demand_unique(only, rows)
        return
    arrays = {name: as_array(column, name) for name, column in columns.items()}
    for name, array in arrays.items():
        if array.dtype.kind not in "iubUTOMm":
            raise unfit_id(array.dtype, name, "id")
    _unique(list(zip(*(_values(array) for array in arrays.values()), strict=True)), "id")


def _values(array: NDArray[Any]) -> list[object]:
    values = array.tolist()
    odd = next((value for value in values if isinstance(value, float) and not absent(value)), None)
    if odd is not None:
        kind = f"a fraction such as {odd!r}"
        raise unfit_id(kind, "id", "id")
    return list(values)


def _unique(ids: Iterable[Id], where: str) -> None:
    rows: dict[tuple[tuple[type, object], ...], list[int]] = {}
    lacking: list[int] = []
    for place, one in enumerate(ids):
        if any(absent(part) for part in one):
            lacking.append(place)
        else:  # with types, because 1 and True are equal but not the same id
            rows.setdefault(tuple((type(part), part) for part in one), []).append(place)
    if lacking:
        raise missing_ids(len(lacking), [Index(place) for place in lacking[:SHOWN]], where)
    doubled = [(key, at) for key, at in rows.items() if len(at) > 1]
    if doubled:
        first = {tuple(part for _, part in key): [Index(place) for place in at[:SHOWN]] for key, at in doubled[:SHOWN]}
        raise duplicate_ids(len(doubled), sum(len(at) for _, at in doubled), first, where)
