# SPDX-License-Identifier: Apache-2.0
"""Tables of values: numbers beside what they belong to, such as the accuracy of a model on a fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from assay.core.errors import OutOfRange
from assay.core.labels import Label
from assay.core.text import counted, quoted, visible
from assay.rows.label_types import label_of
from assay.rows.open import open_source
from assay.rows.score_columns import ScoreColumns
from assay.rows.source import FrameSource, Roles, refuse_limits, require
from assay.tally.labels.label_cells import Codes
from assay.tally.labels.label_codes import fetch_columns

if TYPE_CHECKING:
    import pandas as pd

    from assay.core.arrays import Floats
    from assay.rows.files.formats import Reading
    from assay.rows.limits import Limits

LISTED = 3
"""Places an error names."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ValueTable:
    """Columns of numbers and columns of names, row by row, and where they were read."""

    numbers: Mapping[str, Sequence[object] | Floats]
    names: Mapping[str, list[Label | None]]
    where: str
    opened: object = field(default=None)
    """The file, where it was one."""

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(next(iter(self.numbers.values())))


def read_values(
    data: object,
    *,
    numbers: Sequence[str],
    names: Sequence[str],
    reading: Reading | None = None,
    engine: str | None = None,
    limits: Limits | None = None,
) -> ValueTable:
    """Columns of a table by name; a cell that holds no number is an error that says where it stands.

    >>> read_values({"fold": [1, 2], "A": [0.8, 0.7]}, numbers=["A"], names=["fold"]).names
    {'fold': [1, 2]}
    """
    taken = _in_memory(data)
    refuse_limits(data, engine, limits)
    if taken is not None:
        table = ValueTable(
            numbers={name: _listed(taken[require(name, list(taken), "data")]) for name in numbers},
            names={
                name: [label_of(one, where=name) for one in _listed(taken[require(name, list(taken), "data")])]
                for name in names
            },
            where="the given columns",
        )
    else:
        table = _from_engine(data, numbers, names, reading, engine, limits)
    for name, column in table.numbers.items():
        _demand_numbers(column, name, table.where)
    return table


def _in_memory(data: object) -> Mapping[str, object] | None:
    """The columns of what is in memory already: a mapping, or a frame of pandas."""
    if isinstance(data, Mapping):
        return data
    if type(data).__module__.split(".")[0] != "pandas":
        return None
    frame = cast("pd.DataFrame", data)
    return {str(name): frame[name] for name in frame.columns}


def _from_engine(  # noqa: PLR0917  as they were given
    data: object,
    numbers: Sequence[str],
    names: Sequence[str],
    reading: Reading | None,
    engine: str | None,
    limits: Limits | None,
) -> ValueTable:
    # Some column must stand for the labels that every other table has; nobody reads it as such.
    roles = Roles(
        truth=numbers[0],
        predicted=numbers[0],
        group={name: name for name in names},
        score=ScoreColumns(columns=tuple(numbers)),
    )
    source = cast("FrameSource", open_source(data, roles, reading, engine=engine, limits=limits))
    try:
        columns = fetch_columns(source, [*(source.group[name] for name in names), *source.score])
        where = [f"{source.where}, {source.shown(source.group[name])}" for name in names]
        texts = [list(Codes.of_values(one, place)) for one, place in zip(columns, where, strict=False)]
    finally:
        source.close()
    return ValueTable(
        numbers={name: cast("Floats", one) for name, one in zip(numbers, columns[len(names) :], strict=True)},
        names=dict(zip(names, texts, strict=True)),
        where=source.where,
        opened=source.opened,
    )


def _listed(column: object) -> list[object]:
    return cast(
        "list[object]", column.tolist() if hasattr(column, "tolist") else list(cast("Sequence[object]", column))
    )


def _demand_numbers(column: Sequence[object] | Floats, name: str, where: str) -> None:
    """Empty cells are told by their rows; what else is no finite number is told where values enter a tally."""
    lost = [i for i, x in enumerate(column) if x is None or x != x]  # noqa: PLR0124  NaN differs from itself
    if not lost:
        return
    more = f" and {len(lost) - LISTED:,} more" if len(lost) > LISTED else ""
    shown = ", ".join(f"{i + 1:,}" for i in lost[:LISTED])
    raise OutOfRange(
        "value-not-finite",
        f"{counted(len(lost), 'value')} of column {quoted(name)} {'is' if len(lost) == 1 else 'are'} missing",
        where=visible(where),
        found=f"nothing in row {shown}{more}" if len(lost) == 1 else f"nothing in rows {shown}{more}",
        fix="give every model a value in every row, or leave the row out for all of them",
    )
