# SPDX-License-Identifier: Apache-2.0
"""Rows of one table that holds the answers of all models: joint cells, scores, and every row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.rows.files.formats import FRAME
from assay.rows.joins.mismatch_errors import SUBJECT
from assay.rows.source import ArraySource, FrameSource, Source
from assay.tally.labels.label_cells import Codes
from assay.tally.labels.label_codes import columns_of

if TYPE_CHECKING:
    from assay.core.arrays import Floats, Whole
    from assay.rows.columns import Coded

Cell: TypeAlias = tuple[Label | None, ...]
TIMES: Final = "assay_times"
MOST_ENTRIES: Final = 1 << 24
"""Combinations of units that are held: about 20 bytes each."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lines:
    """The rows of one table in memory: truth, the calls of every model, scores, subject and weight."""

    truth: Codes
    calls: list[Codes] = field(default_factory=list)
    scores: tuple[Floats, ...] = ()
    subject: Codes | None = None
    weight: Floats | None = None
    times: Whole | None = None
    """How often each row occurs, where an engine counted rows alike."""


def lines(source: Source) -> Lines:
    """Every row of a table that holds the calls of its first model as predictions, of the others as groups."""
    others = [column for name, column in source.group.items() if name != SUBJECT]
    if isinstance(source, ArraySource):
        truth, *calls = (Codes.of_column(cast("Coded", one)) for one in (source.truth, source.predicted, *others))
        subject = Codes.of_column(source.group[SUBJECT]) if SUBJECT in source.group else None
        return Lines(truth=truth, calls=calls, scores=source.score, subject=subject, weight=source.weight)
    labelled = [source.truth, source.predicted, *cast("list[str]", others)]
    labelled += [source.group[SUBJECT]] if SUBJECT in source.group else []
    numbers = [*source.score, *([source.weight] if source.weight else [])]
    if not source.score and not is_held(source):
        return _counted_lines(source, labelled, len(others))
    names, reals = columns_of(source, labelled, numbers)
    return Lines(
        truth=names[0],
        calls=names[1 : len(others) + 2],
        scores=tuple(reals[: len(source.score)]),
        subject=names[-1] if SUBJECT in source.group else None,
        weight=reals[-1] if source.weight else None,
    )


def _counted_lines(source: FrameSource, labelled: list[str], others: int) -> Lines:
    """Rows alike, counted by the engine: a unit has few combinations of truth and calls, however many rows."""
    import narwhals.stable.v2 as nw

    by = dict.fromkeys([*labelled, *([source.weight] if source.weight else [])])
    counted_rows = source.frame.group_by(*by).agg(nw.len().alias(TIMES)).select(*by, TIMES)
    if not source.frame.implementation.is_dask():  # it would read one partition only
        counted_rows = counted_rows.head(MOST_ENTRIES + 1)
    names, reals = columns_of(
        replace(source, frame=counted_rows), labelled, [*([source.weight] if source.weight else []), TIMES], TIMES
    )
    if len(names[0]) > MOST_ENTRIES:
        raise PlanError(
            "comparison-needs",
            f"the units hold more than {MOST_ENTRIES:,} combinations of truth and predictions",
            where=source.where,
            fix="compare a random sample of whole units, or two models at a time",
        )
    return Lines(
        truth=names[0],
        calls=names[1 : others + 2],
        scores=(),
        subject=names[-1] if SUBJECT in source.group else None,
        weight=reals[0] if source.weight else None,
        times=reals[-1].astype("int64"),
    )


def joint(source: Source) -> dict[Cell, int]:
    """How often each combination of truth, first call and all further columns occurs, counted where the rows live."""
    if isinstance(source, FrameSource):
        from assay.tally.labels.engine_counts import _group

        cells = _group(source, [source.truth, source.predicted, *source.group.values()])
        if source.opened is not None:
            source.opened.confirm(sum(rows for rows, _ in cells.values()) + source.dropped)
    else:
        from assay.tally.labels.array_counts import count_columns

        cells = count_columns([source.truth, source.predicted, *source.group.values()], None)
    return {cell: rows for cell, (rows, _) in cells.items()}


def is_held(source: Source) -> bool:
    """Whether the rows are in memory already."""
    import narwhals.stable.v2 as nw

    if isinstance(source, ArraySource) or isinstance(source.frame, nw.DataFrame):
        return True
    return source.opened is not None and source.opened.format == FRAME


def rows_of(source: Source) -> int:
    """How many rows a table has."""
    import narwhals.stable.v2 as nw

    from assay.rows.engines.score_expressions import fetched

    if isinstance(source, ArraySource):
        return len(source.truth)
    return int(cast("int", fetched(source, source.frame.select(nw.len()))[0][0]))


def scored(source: Source) -> Lines:
    """The true labels and the scores of every row, in memory."""
    if isinstance(source, ArraySource):
        return Lines(truth=Codes.of_column(source.truth), scores=source.score)
    [truth], scores = columns_of(source, [source.truth], source.score)
    return Lines(truth=truth, scores=tuple(scores))
