# SPDX-License-Identifier: Apache-2.0
"""Rows of one table that holds the answers of all models: joint cells, scores, and every row.

Very many scores are rounded and counted together by the engine that holds the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import narwhals.stable.v2 as nw
import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label, in_order
from assay.core.text import listed
from assay.rows.engines.duckdb_engine import quote_identifier
from assay.rows.engines.score_expressions import arrays, complete, embedded, fetched
from assay.rows.files.formats import FRAME
from assay.rows.files.opened_file import number_sql, translated
from assay.rows.joins.mismatch_errors import SUBJECT
from assay.rows.source import ArraySource, FrameSource, Source
from assay.rows.spark.spark_files import rows_changed
from assay.tally.labels.engine_counts import group_cells
from assay.tally.labels.label_cells import Codes
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.scores.engine_scores import coded, distinct_scores
from assay.tally.scores.rounded_scores import JOINT, round_column
from assay.tally.scores.score_tally import Wanted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from assay.core.arrays import Floats, Whole
    from assay.rows.columns import Coded

Cell: TypeAlias = tuple[Label | None, ...]
TIMES: Final = "assay_times"
MOST_ENTRIES: Final = 1 << 24
"""Combinations of units that are held: about 20 bytes each."""
_ROWS: Final = "assay_rows"
_LINES: Final = "assay_lines"
TWO: Final = 2
"""Classes that one column of scores tells apart."""
FEW_CELLS: Final = 1 << 20
"""Cells beyond which fewer bits are kept; a Record of so many takes about 8 MB."""
MOST_CELLS: Final = 1 << 22
"""Cells beyond which the comparison is refused."""


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
    alike = not source.score and not is_held(source)
    if alike:
        source, numbers = _count_alike(source, [*labelled, *numbers]), [*numbers, TIMES]
    names, reals = columns_of(source, labelled, numbers, TIMES if alike else None)
    times = reals.pop().astype("int64") if alike else None
    if alike and len(names[0]) > MOST_ENTRIES:
        raise PlanError(
            "comparison-needs",
            f"the units hold more than {MOST_ENTRIES:,} combinations of truth and predictions",
            where=source.where,
            fix="compare a random sample of whole units, or two models at a time",
        )
    return Lines(
        truth=names[0],
        calls=names[1 : len(others) + 2],
        scores=tuple(reals[: len(source.score)]),
        subject=names[-1] if SUBJECT in source.group else None,
        weight=reals[-1] if source.weight else None,
        times=times,
    )


def _count_alike(source: FrameSource, columns: Sequence[str]) -> FrameSource:
    """Rows alike, counted by the engine: a unit has few combinations of truth and calls, however many rows."""
    by = dict.fromkeys(columns)
    counted_rows = source.frame.group_by(*by).agg(nw.len().alias(TIMES)).select(*by, TIMES)
    if not source.frame.implementation.is_dask():  # it would read one partition only
        counted_rows = counted_rows.head(MOST_ENTRIES + 1)
    return replace(source, frame=counted_rows)


def joint(source: Source) -> dict[Cell, int]:
    """How often each combination of truth, first call and all further columns occurs, counted where the rows live."""
    if isinstance(source, FrameSource):
        return _count_cells(source, [source.truth, source.predicted, *source.group.values()])
    from assay.tally.labels.array_counts import count_columns

    cells = count_columns([source.truth, source.predicted, *source.group.values()], None)
    return {cell: rows for cell, (rows, _) in cells.items()}


def _count_cells(source: FrameSource, columns: Sequence[str]) -> dict[Cell, int]:
    cells = {cell: rows for cell, (rows, _) in group_cells(source, columns).items()}
    if source.opened is not None:
        source.opened.confirm(sum(cells.values()) + source.dropped)
    return cells


def is_held(source: Source) -> bool:
    """Whether the rows are in memory already."""
    if isinstance(source, ArraySource) or isinstance(source.frame, nw.DataFrame):
        return True
    return source.opened is not None and source.opened.format == FRAME


def rows_of(source: Source) -> int:
    """How many rows a table has."""
    if isinstance(source, ArraySource):
        return len(source.truth)
    return int(cast("int", fetched(source, source.frame.select(nw.len()))[0][0]))


def scored(source: Source) -> Lines:
    """The true labels and the scores of every row, in memory."""
    if isinstance(source, ArraySource):
        return Lines(truth=Codes.of_column(source.truth), scores=source.score)
    [truth], scores = columns_of(source, [source.truth], source.score)
    return Lines(truth=truth, scores=tuple(scores))


@dataclass(frozen=True, slots=True, kw_only=True)
class JointScores:
    """Rows by true label, and the joint counts of the scores, whose positive label is `own`."""

    truth: Mapping[Label | None, int]
    tally: PairedScores | None
    """None where rows have no true label, or there are more than two: the caller reports that."""
    own: Label | None = None

    def for_positive(self, positive: Label | None) -> PairedScores | None:
        """The counts with a class as the positive one."""
        return self.tally if self.tally is None or positive == self.own else self.tally.swapped()


def count_joint_scores(
    source: Source, models: Sequence[str], *, exact: int, by_row: Sequence[str] = ()
) -> JointScores | None:
    """Joint counts of one table, if it holds more distinct scores than `exact`; None for rows in memory.

    `by_row` are measures that were asked for and read scores row by row.
    """
    if not isinstance(source, FrameSource):
        return None
    wanted = Wanted(labels=(), scored=(), columns=tuple(range(len(models))), exact=exact)
    if distinct_scores(source, wanted) <= exact:
        return None
    if by_row:
        raise PlanError(
            "comparison-needs",
            f"{listed(by_row)} of two models is compared row by row, and more than {exact:,} distinct scores are"
            " rounded and counted",
            where=source.where,
            fix="compare the areas under the ROC curves; or hold the scores in memory, 8 bytes a row and model:"
            " scores=ScoreSettings(exact_scores=NUMBER) (--exact-scores)",
        )
    truth = {label: rows for (label,), rows in _count_cells(source, [source.truth]).items()}
    known = in_order(label for label in truth if label is not None)
    if None in truth or not 0 < len(known) <= TWO:
        return JointScores(truth=truth, tally=None)
    tally = joint_scores(source, models, known[-1])
    if (rows := sum(truth.values())) != tally.m + tally.n:  # the rows changed between two passes
        raise rows_changed(source.where, rows, tally.m + tally.n)
    return JointScores(truth=truth, tally=tally, own=known[-1])


def joint_scores(source: FrameSource, models: Sequence[str], positive: Label) -> PairedScores:
    """One group-by of the rounded scores of every model, with fewer bits where there are too many cells."""
    probability = _probabilities(source)
    for bits, most in zip(JOINT, (FEW_CELLS, MOST_CELLS), strict=True):
        columns = {f"s{i}": nw.col(name) for i, name in enumerate(source.score)}
        rounded = [
            round_column(column, bits, probability=kind).alias(name)
            for (name, column), kind in zip(columns.items(), probability, strict=True)
        ]
        rows = complete(source).select(nw.col(source.truth).alias("t"), *rounded)
        grouped = rows.group_by("t", *columns).agg(nw.len().alias(_ROWS)).select("t", *columns, _ROWS)
        if not rows.implementation.is_dask():  # it would read one partition only
            grouped = grouped.head(most + 1)
        truth, *scores, times = arrays(source, grouped)
        if len(times) <= most:
            side = coded(truth, lambda label: int(label == positive))
            held = np.stack([column.astype(np.float64) for column in scores])
            return PairedScores.of_cells(models, held, side == 1, times.astype(np.int64), bits)
    raise PlanError(
        "comparison-needs",
        f"the scores of {len(models)} models, rounded to {JOINT[-1]} bits, meet in more than {MOST_CELLS:,} cells",
        where=source.where,
        fix="compare two models at a time; or hold the scores in memory, 8 bytes a row and model:"
        " scores=ScoreSettings(exact_scores=NUMBER) (--exact-scores)",
    )


def _probabilities(source: FrameSource) -> list[bool]:
    """Whether all scores of each column lie between 0 and 1."""
    ends = [end(nw.col(name)) for name in source.score for end in (nw.Expr.min, nw.Expr.max)]
    found = fetched(source, source.frame.select(*(one.alias(f"e{place}") for place, one in enumerate(ends))))[0]
    low, high = (cast("tuple[float, ...]", found[side::2]) for side in (0, 1))
    return [a >= 0 and b <= 1 for a, b in zip(low, high, strict=True)]


def fetch_columns(source: FrameSource, columns: Sequence[str], times: str | None = None) -> list[NDArray[np.object_]]:
    """Columns of every row, brought to this machine as they are; `times` says how many rows each stands for."""
    names = [f"k{place}" for place in range(len(columns))]
    frame = source.frame.select(*(nw.col(c).alias(n) for c, n in zip(columns, names, strict=True)))
    values = arrays(source, frame)
    if source.opened is not None:
        rows = len(values[0]) if times is None else int(values[list(columns).index(times)].sum())
        source.opened.confirm(rows + source.dropped)
    return values


def columns_of(
    source: FrameSource, labelled: Sequence[str], numbers: Sequence[str], times: str | None = None
) -> tuple[list[Codes], list[Floats]]:
    """Columns of labels and columns of numbers of every row, held compactly: texts are numbered in the engine."""
    where = [f"{source.where}, {source.shown(column)}" for column in labelled]
    opened = embedded(source)
    if opened is None:
        found = fetch_columns(source, [*labelled, *numbers], times)
        codes = [Codes.of_values(one, place) for one, place in zip(found, where, strict=False)]
        return codes, [np.asarray(one, dtype=np.float64) for one in found[len(labelled) :]]
    relation = source.frame.to_native()
    types = {name: str(kind).partition("(")[0] for name, kind in zip(relation.columns, relation.types, strict=True)}
    texts: dict[int, list[Label | None]] = {}
    chosen, joins = [], []
    with translated(opened):
        opened.connection.execute(f"CREATE OR REPLACE TEMP VIEW {_LINES} AS {relation.sql_query()}")
        for place, column in enumerate(labelled):
            name, table = f"l.{quote_identifier(column)}", f"assay_names_{place}"
            if types[column] not in {"VARCHAR", "ENUM"}:
                chosen.append(name)
                continue
            opened.connection.execute(
                f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT t, CAST(row_number() OVER () - 1 AS INTEGER) AS n"  # noqa: S608
                f" FROM (SELECT DISTINCT CAST({name} AS VARCHAR) AS t FROM {_LINES} AS l WHERE {name} IS NOT NULL)"
            )
            texts[place] = [row[0] for row in opened.fetch(f"SELECT t FROM {table} ORDER BY n")]  # noqa: S608
            chosen.append(f"coalesce({table}.n, {len(texts[place])})")
            joins.append(f"LEFT JOIN {table} ON CAST({name} AS VARCHAR) = {table}.t")
    for column in numbers:
        own = column in opened.columns  # else a name of ours, and a number already
        chosen.append(number_sql(opened, column, "l") if own else f"l.{quote_identifier(column)}")
    asked = ", ".join(f"{sql} AS k{i}" for i, sql in enumerate(chosen))
    each = opened.arrays(f"SELECT {asked} FROM {_LINES} AS l {' '.join(joins)}")  # noqa: S608  quoted
    columns = [each[f"k{i}"] for i in range(len(chosen))]
    rows = len(columns[0]) if times is None else int(columns[len(labelled) + list(numbers).index(times)].sum())
    opened.confirm(rows + source.dropped)
    codes = [
        Codes(codes=array, names=(*texts[place], None)).labelled(where[place])
        if place in texts
        else Codes.of_values(array, where[place])
        for place, array in enumerate(columns[: len(labelled)])
    ]
    return codes, [np.ma.filled(array.astype(np.float64), np.nan) for array in columns[len(labelled) :]]
