# SPDX-License-Identifier: Apache-2.0
"""Models whose rows do not belong together: which ids, how many, and what to do, wherever the rows were matched."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from assay.core.errors import RowsError, UnpairedRows
from assay.core.labels import Label
from assay.core.text import counted
from assay.rows.ids import shown_id, told_by

LISTED: Final = 5
"""Ids an error names."""
SUBJECT: Final = "subject"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of one model: whose they are, where they lie, and whether ids name them or their places."""

    model: str
    where: str
    keyed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Some:
    """So many ids, and the first of them."""

    ids: int
    first: tuple[Label, ...]

    @classmethod
    def of(cls, keys: Collection[Label]) -> Some:
        """From all of them."""
        return cls(ids=len(keys), first=tuple(islice(keys, LISTED)))

    def said(self, shown: Callable[[tuple[object, ...]], str]) -> str:
        """The first ones, and how many more there are."""
        more = f" and {self.ids - LISTED:,} more" if self.ids > LISTED else ""
        return ", ".join(shown((key,)) for key in self.first) + more


def without_id(rows: int, model: str, where: str) -> RowsError:
    """The error for rows of a model that have no id."""
    return RowsError(
        "duplicate-id",
        f"{counted(rows, 'row')} of {model} {'has' if rows == 1 else 'have'} no id",
        where=where,
        fix="give every row an id, or pair by position",
    )


def ids_twice(one: Rows, twice: Some) -> RowsError:
    """The error for ids of a model that stand for several rows."""
    return told_by(
        lambda shown, also: RowsError(
            "duplicate-id",
            f"{counted(twice.ids, 'id')} of {one.model} {'stands' if twice.ids == 1 else 'stand'} for several rows",
            where=one.where,
            found=twice.said(shown),
            fix=f"give every row an id of its own{also}",
        )
    )


def other_rows(first: Rows, other: Rows, lost: Some, more: Some, *, kinds: bool) -> UnpairedRows:
    """The error for models that were run on different rows; `kinds` says that their ids are of different types."""

    def told(shown: Callable[[tuple[object, ...]], str], also: str) -> UnpairedRows:
        each = [f"{counted(lost.ids, 'id')} only in {first.model}: {lost.said(shown)}"] if lost.ids else []
        each += [f"{counted(more.ids, 'id')} only in {other.model}: {more.said(shown)}"] if more.ids else []
        return UnpairedRows(
            "rows-unmatched",
            f"{first.model} and {other.model} were not run on the same rows (TS 4213, 5.3.5)",
            where="; ".join(dict.fromkeys((first.where, other.where))),
            found="; ".join(each) + ("; the ids are of different types" if kinds else ""),
            fix="run every model on the same test data, and give every row to both; if the rows differ on purpose,"
            f" say so: independent=True (--independent){also}",
        )

    return told_by(told) if first.keyed else told(shown_id, "")


def another(  # noqa: PLR0917  the two, what differs, and how
    first: Rows, other: Rows, what: str, wrong: int, rows: int, each: Sequence[tuple[Label, object, object]]
) -> UnpairedRows:
    """The error for rows that have another truth, subject or weight in one model; `each` are the first of them."""

    def told(shown: Callable[[tuple[object, ...]], str], also: str) -> UnpairedRows:
        told_as = shown if what == SUBJECT else shown_id  # a subject may be a person, as an id may
        some = [
            f"row {(shown if first.keyed else shown_id)((key,))}: {told_as((mine,))} and {told_as((theirs,))}"
            for key, mine, theirs in each
        ]
        return UnpairedRows(
            "rows-unmatched",
            f"{counted(wrong, 'row')} of {rows:,} {'has' if wrong == 1 else 'have'} another {what} in "
            f"{other.model} than in {first.model}",
            where=f"{first.where}; {other.where}",
            found="; ".join(some),
            fix=f"give the same {what} to every model; without ids, the rows may stand in another order: state the id"
            + also,
        )

    return told_by(told) if first.keyed or what == SUBJECT else told(shown_id, "")
