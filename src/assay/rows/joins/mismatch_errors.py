# SPDX-License-Identifier: Apache-2.0
"""Errors for rows that a join cannot match: missing, duplicate and unmatched ids, values that differ.

Errors show ids as keyed hashes, because an id may name a person; `show_ids` shows them as they are. No Record holds
an id.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from typing import Final, Literal, TypeAlias, TypeVar

from assay.core.errors import AssayError, PlanError, RowsError, UnpairedRows
from assay.core.text import counted, listed, look, quoted, visible
from assay.rows.row_positions import places

SHOWN: Final = 3
"""Ids that an error lists."""

ID_KEY: Final = "ASSAY_ID_KEY"
"""The variable of the environment that holds a site's own key."""

_DRAWN: Final = secrets.token_bytes(32)
Told = TypeVar("Told", bound=AssayError)
Unmatched: TypeAlias = Literal["error", "count"]
Id: TypeAlias = tuple[object, ...]

SUBJECT: Final = "subject"


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


def shown_id(row_id: Id) -> str:
    """An id as an error shows it.

    >>> shown_id(("a",)), shown_id(("north", 7))
    ('"a"', '("north", 7)')
    """
    each = [quoted(part) for part in row_id]
    return each[0] if len(each) == 1 else f"({', '.join(each)})"


def hashed_id(row_id: Id) -> str:
    """An id as an error shows it to anybody: ids are told apart, and cannot be guessed without the key.

    >>> hashed_id(("a",)) == hashed_id(("a",)), hashed_id(("1",)) == hashed_id((1,)), len(hashed_id(("a",)))
    (True, False, 13)
    """
    parts = "".join(f"{type(part).__name__} {len(str(part))} {part}" for part in row_id)
    return f"#{hashlib.blake2b(parts.encode('utf-8', 'surrogatepass'), key=_key(), digest_size=6).hexdigest()}"


def _key() -> bytes:
    """A site may set a key of its own, so that it can find an id again; else one is drawn for this process."""
    own = os.environ.get(ID_KEY)
    return hashlib.sha256(own.encode()).digest() if own else _DRAWN


def told_by(build: Callable[[Callable[[Id], str], str], Told]) -> Told:
    """An error with hashed ids, which carries itself with plain ones for whoever asked to see them."""
    error = build(hashed_id, "; see the ids themselves: reading=assay.Reading(show_ids=True) (--show-ids)")
    error.plain = build(shown_id, "")
    return error


@dataclass(frozen=True, slots=True, kw_only=True)
class SomeIds:
    """A number of ids, and the first of them with their rows, where these have an order."""

    count: int = 0
    first: Mapping[Id, Sequence[int]] = field(default_factory=dict)

    def format(self, shown: Callable[[Id], str], separator: str = ", ") -> str:
        """The first ids, and how many more there are."""
        more = f" and {self.count - len(self.first):,} more" if self.count > len(self.first) else ""
        return separator.join(f"{shown(one)} {places(at)}".rstrip() for one, at in self.first.items()) + more


def duplicate_ids(ids: SomeIds, rows: int, where: str, of: str = "") -> RowsError:
    """The error for ids, of some model, that stand in several rows."""

    def build(shown: Callable[[Id], str], also: str) -> RowsError:
        verb = "stands" if ids.count == 1 else "stand"
        return RowsError(
            "duplicate-id",
            f"{counted(ids.count, 'id')}{of} {verb} in more than one row, {rows:,} rows in all",
            where=where,
            found=ids.format(shown, "; "),
            known="every row has an id of its own",
            fix="keep one row of each id; or name further columns that tell the rows apart: id=['case', 'reader'];"
            f" or, if rows of one id belong together, give the column as unit=... (--unit) in place of id{also}",
        )

    return told_by(build)


def missing_ids(rows: int, first: Sequence[int], where: str, of: str = "") -> RowsError:
    """The error for rows, of some model, without an id."""
    more = f" and {rows - len(first):,} more" if rows > len(first) else ""
    return RowsError(
        "missing-id",
        f"{counted(rows, 'row')}{of} {'has' if rows == 1 else 'have'} no id",
        where=where,
        found=at + more if (at := places(first)) else counted(rows, "row"),
        fix="give every row its id" + (", or pair by position: leave id out" if of else ""),
    )


def unmatched_rows(lone: Mapping[str, SomeIds], matched: int, where: str) -> UnpairedRows:
    """The error for rows that found no partner, by "SIDE without WHAT"."""
    some = {without: ids for without, ids in lone.items() if ids.count}
    said = " and ".join(f"{counted(ids.count, 'row')} of {without}" for without, ids in some.items())
    pairs = product(*(ids.first for ids in lone.values()))
    alike = next(((a, b) for a, b in pairs if a != b and _look(a) == _look(b)), None)

    def build(shown: Callable[[Id], str], also: str) -> UnpairedRows:
        known = "ids are compared byte for byte"
        if alike is not None:
            known += f": {shown(alike[0])} and {shown(alike[1])} differ{', though they look alike' * bool(also)}"
        return UnpairedRows(
            "rows-unmatched",
            f"{said}; {matched:,} matched",
            where=where,
            found="; ".join(f"{without}: {ids.format(shown)}" for without, ids in some.items()),
            known=known,
            fix="complete the rows, or assess the matched ones and count the rest:"
            f' unmatched="count" (--unmatched count){also}',
        )

    return told_by(build)


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
