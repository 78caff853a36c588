# SPDX-License-Identifier: Apache-2.0
"""From rows, or from a confusion matrix, to an assessment."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast

from assay.assess.assessment import Assessment
from assay.assess.costs import Costs
from assay.assess.deciding import Asked, Decided, decided_scores, demand_scores, tallied, validation
from assay.assess.environment import environment
from assay.assess.provenance import about, file_notes
from assay.assess.record import Record
from assay.assess.scorenotes import score_notes
from assay.assess.settings import Settings, chosen
from assay.assess.spelling import speller
from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label, in_order
from assay.core.text import counted, quoted
from assay.core.threads import monotonic
from assay.core.traits import Task
from assay.inference.intervals import DRAWS, Wanted
from assay.inference.resampling import SEED
from assay.rows.labels import Classes, Locate, classes, kind_of
from assay.rows.opening import Roles, Source, no_rows, open_source
from assay.rows.scores import Kind, MissingScore, demand_mended, score_columns
from assay.rows.stored import demand_whole
from assay.tally.base import together
from assay.tally.census import Census
from assay.tally.confusion import Confusion
from assay.tally.counting import Cells, Counted, count
from assay.tally.grouped import MISSING, Grouped
from assay.tally.scoring import EXACT

if TYPE_CHECKING:
    from assay.assess.comparison import Comparison
    from assay.measures import Measure
    from assay.measures.averages import Policy
    from assay.rows.files import Reading
    from assay.rows.limits import Limits


def assess(
    *,
    truth: object = None,
    predicted: object = None,
    data: object = None,
    truth_data: object = None,
    id: object = None,
    confusion: object = None,
    orientation: str | None = None,
    positive: Label | None = None,
    labels: Sequence[Label] | None = None,
    score: object = None,
    scores: Kind = "any",
    threshold: float | str | None = None,
    threshold_from: object = None,
    accept_optimistic_threshold: bool = False,
    operating_points: Sequence[float] = (),
    exact_scores: int = EXACT,
    missing_score: MissingScore | None = None,
    renormalise: bool = False,
    group: object = None,
    weight: object = None,
    level: float = 0.95,
    measures: Iterable[str | Measure] | str | None = None,
    costs: object = None,
    missing: Literal["error", "drop"] = "error",
    unknown: Literal["error", "own"] = "error",
    unmatched: Literal["error", "count"] = "error",
    undefined: Policy = "propagate",
    shares: str = "wilson",
    cells: str = "auto",
    seed: int = SEED,
    draws: int = DRAWS,
    reading: Reading | None = None,
    table: str | None = None,
    query: str | None = None,
    engine: str | None = None,
    limits: Limits | None = None,
    spelled: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Assessment:
    """Every measure with its interval, from labels, from labels and scores, or from a confusion matrix.

    `score` is the column of the positive class, or one column for each class (a mapping, names of columns, a matrix);
    `scores` says what they are: "probability", "logit" or "any". Without `predicted`, a `threshold` (s >= t) or the
    largest score calls the class. A threshold by rule, such as "youden", is chosen on the rows of `threshold_from`.
    Rows without a score follow `missing`, unless `missing_score="worst"` ranks them below all others; probabilities
    that do not add up to 1 are divided by their sum with `renormalise=True`.

    `costs` states what each mistake costs, {("truth", "predicted"): 5, ...} or a file, and asks for mean_cost.

    A database is a path or address with table= or query=: "results.duckdb", "results.sqlite", "postgresql://me@host/db".
    A path is read by the embedded engine, within limits=Limits(memory="1GB", threads=2) if stated; or by a Spark
    cluster: engine="spark://host:7077" or "sc://host:15002".

    >>> a = assess(truth=[1, 1, 0, 0, 1], predicted=[1, 0, 0, 0, 1])
    >>> a["recall"].value, a["recall"].numerator, a["recall"].denominator
    (0.6666666666666666, 2, 3)
    """
    settings = Settings(
        wanted=Wanted(level=level, shares=shares, cells=cells, seed=seed, draws=draws),
        missing=missing,
        unknown=unknown,
        unmatched=unmatched,
        undefined=undefined,
        measures=chosen(measures),
        costs=Costs.read(costs),
    )
    if confusion is not None:
        if any(x is not None for x in (truth, predicted, score, data, truth_data, id, group, weight)):
            raise PlanError("role-clash", "both a confusion matrix and rows are given", fix="give one of them")
        from assay.assess.matrix import from_matrix

        return from_matrix(confusion, orientation=orientation, labels=labels, positive=positive, settings=settings)
    for role, column in (("truth", truth), ("predicted", predicted)):
        if column is None and (role == "truth" or score is None):
            raise PlanError(
                "role-missing",
                f"no {role} column is given",
                where=role,
                fix=f"give {role}=..., or a confusion matrix: confusion=..., orientation='rows=truth'",
            )
    if table is not None or query is not None:
        from assay.rows.reading import Reading

        reading = reading or Reading()
        reading = replace(
            reading, table=reading.table if table is None else table, query=reading.query if query is None else query
        )
    columns = score_columns(score)
    roles = Roles(truth=truth, predicted=predicted, group=_factors(group), weight=weight, id=id, score=columns)
    demand_scores(
        columns, kind=scores, threshold=threshold, threshold_from=threshold_from, operating_points=operating_points
    )
    demand_mended(missing_score, renormalise=renormalise, kind=scores, columns=columns)

    def opened(given: object, wanted: Roles, truth_data: object = None) -> Source:
        return open_source(
            given,
            wanted,
            reading,
            progress=progress,
            engine=engine,
            limits=limits,
            truth_data=truth_data,
            unmatched=unmatched,
        )

    progress = monotonic(progress)
    source = opened(data, roles, truth_data)
    try:
        demand_whole(source, labels, spelled=spelled)
        if columns is None:
            return _assessed(
                source,
                count(source),
                settings,
                labels=labels,
                positive=positive,
                spelled=spelled,
                roles=roles,
                limits=limits,
                reading=reading,
            )
        asked = Asked(
            columns=columns,
            kind=scores,
            missing=missing_score or missing,
            renormalise=renormalise,
            declared=labels,
            positive=positive,
            spelled=spelled,
            given=predicted is not None,
            rule=threshold,
            elsewhere=None if threshold_from is None else validation(opened, threshold_from, roles, data),
            accepted=accept_optimistic_threshold,
            points=tuple(float(one) for one in operating_points),
            exact=exact_scores,
        )
        found = decided_scores(source, asked)
        return _assessed(
            found.source,
            found.counted,
            settings,
            labels=found.labels,
            positive=positive,
            spelled=spelled,
            roles=roles,
            limits=limits,
            reading=reading,
            decided=found,
        )
    finally:
        source.close()


def load(path: str | os.PathLike[str]) -> Assessment | Comparison:
    """The assessment or comparison a record.json was written from."""
    record = Record.load(path)
    if record.get("kind") == "comparison":
        from assay.assess.comparison import Comparison

        return Comparison.from_record(record)
    return Assessment.from_record(record)


def _factors(group: object) -> dict[str, object]:
    if group is None:
        return {}
    if isinstance(group, Mapping):
        return {str(name): column for name, column in group.items()}
    if isinstance(group, str):
        return {group: group}
    if (
        isinstance(group, (list, tuple))
        and group
        and all(isinstance(x, str) for x in group)
        and len(set(group)) == len(group)
    ):
        return {name: name for name in group}
    return {str(getattr(group, "name", None) or "group"): group}


def _assessed(
    source: Source,
    counted_: Counted,
    settings: Settings,
    *,
    labels: Sequence[Label] | None,
    positive: Label | None,
    spelled: bool,
    roles: Roles,
    limits: Limits | None,
    reading: Reading | None,
    decided: Decided | None = None,
) -> Assessment:
    if not counted_.rows:
        raise no_rows(source.where)
    scored, census = _without_missing(counted_, settings, source)
    if decided is not None and decided.lost:
        census = census + Census(read=decided.lost, scored=0, excluded={"score is missing": decided.lost})
    if not census.scored:
        raise RowsError(
            "no-rows",
            "no row has both a true and a predicted label",
            where=source.where,
            found=census.said(),
            fix="check the columns",
        )
    seen = {place: {cell[place] for cell in scored} for place in (0, 1)}
    kinds = {
        role: kind_of(cast("set[Label]", seen[i]), where=source.where, locate=source.locate, role=role)
        for i, role in enumerate(("truth", "predicted"))
    }
    scored, notes = _one_kind(scored, kinds, source)
    truth, predicted = ({cell[i] for cell in scored} for i in (0, 1))
    if spelled:
        own = speller({*truth, *predicted})
        labels = None if labels is None else [own(x) for x in labels]
        positive = None if positive is None else own(positive)
    settled = classes(
        truth=cast("set[Label]", truth),
        predicted=cast("set[Label]", predicted),
        declared=labels,
        positive=positive,
        unknown=settings.unknown,
        where=source.where,
        locate=_aware(source.locate, kinds),
    )
    settings = settings.fitted(settled.labels, spelled=spelled)
    confusion = _confusion(scored, settled, counted_.weighted)
    if confusion.worth is not None:
        notes.append(f"the weighted rows are worth about {confusion.worth:,.0f} rows of equal weight (Kish)")
    part = None if decided is None else tallied(decided, settled)
    more = (*decided.notes, *score_notes(part, settled.positive)) if decided is not None and part is not None else ()
    return Assessment(
        confusion,
        settings,
        positive=settled.positive,
        census=census,
        grouped=_grouped(counted_, settled, kinds, source),
        scores=part,
        notes=(*notes, *settled.notes, *more, *file_notes(source)),
        data=about(source, roles, reading),
        found_in=environment(limits),
    )


def _aware(locate: Locate, kinds: dict[str, str | None]) -> Locate:
    """Looks labels up by the type their column has, when booleans and 0/1 were put together."""

    def found(role: str, label: Label | None) -> str:
        return locate(role, bool(label) if kinds.get(role) == "boolean" and label is not None else label)

    return found


def _without_missing(counted_: Counted, settings: Settings, source: Source) -> tuple[Cells, Census]:
    lost = {"truth": 0, "predicted": 0}
    for (truth, predicted), (rows, _) in counted_.cells.items():
        if truth is None or predicted is None:
            lost["truth" if truth is None else "predicted"] += rows
    if any(lost.values()) and settings.missing == "error":
        shown = "; ".join(
            f"{counted(n, 'row')} without {role} {source.locate(role, None)}".rstrip() for role, n in lost.items() if n
        )
        total = sum(lost.values())
        raise RowsError(
            "missing-label",
            f"{counted(total, 'row')} of {counted_.rows:,} {'has' if total == 1 else 'have'} no label",
            where=source.where,
            found=shown,
            fix='complete the labels, or leave these rows out and count them: missing="drop" (--missing drop)',
        )
    kept = {cell: found for cell, found in counted_.cells.items() if None not in cell}
    excluded = {f"{role} is missing": n for role, n in lost.items() if n}
    scored = counted_.rows - sum(excluded.values())
    alone = 0 if source.join is None else source.join.unmatched
    return kept, Census(read=counted_.rows + alone, scored=scored, excluded=excluded, unmatched=alone)


def _one_kind(cells: Cells, kinds: dict[str, str | None], source: Source) -> tuple[Cells, list[str]]:
    """Truth and prediction must hold labels of one type; booleans beside 0 and 1 are the one plain exception."""
    a, b = kinds["truth"], kinds["predicted"]
    if a == b or a is None or b is None:
        return cells, []
    labels = {label for cell in cells for label in cell}
    if {a, b} == {"boolean", "integer"} and labels <= {0, 1}:
        merged: Cells = {}
        for (t, p), (rows, weight) in cells.items():
            key = (int(cast("int", t)), int(cast("int", p)))
            before = merged.get(key, (0, 0))
            merged[key] = (before[0] + rows, together(before[1], weight))
        return merged, [f"{'truth' if a == 'boolean' else 'predicted'} is boolean: False is read as 0, True as 1"]
    first = {
        role: next(iter(in_order(cast("set[Label]", {c[i] for c in cells}))))
        for i, role in enumerate(("truth", "predicted"))
    }
    raise RowsError(
        "label-types-differ",
        f"truth holds {a} labels, predicted holds {b} ones",
        where=source.where,
        found="; ".join(f"{role}: {quoted(label)}" for role, label in first.items()),
        fix='make both one type before assessing, for instance both text; 1 and "1" are different labels',
    )


def _confusion(cells: Cells, settled: Classes, weighted: bool) -> Confusion:  # noqa: FBT001
    pairs = {(cast("Label", t), cast("Label", p)): weight for (t, p), (_, weight) in cells.items()}
    return Confusion.from_cells(
        pairs, labels=settled.labels, rows=sum(rows for rows, _ in cells.values()), weighted=weighted
    )


def _grouped(counted_: Counted, settled: Classes, kinds: dict[str, str | None], source: Source) -> Grouped:
    factors: dict[str, dict[Label, Confusion]] = {}
    for name, cells in counted_.by_factor.items():
        kind_of((cell[0] for cell in cells if cell[0] is not None), where=source.where, locate=source.locate, role=name)
        by_level: dict[Label | None, Cells] = {}
        for (level, *pair), found in cells.items():
            if None not in pair:
                by_level.setdefault(level, {})[tuple(pair)] = found
        order: list[Label | None] = [
            *in_order(level for level in by_level if level is not None),
            *([None] if None in by_level else []),
        ]
        missing = MISSING
        while missing in by_level:  # somebody's own level may be called so
            missing = f"({missing})"
        factors[name] = {
            missing if level is None else level: _confusion(
                _one_kind(by_level[level], kinds, source)[0], settled, counted_.weighted
            )
            for level in order
        }
    return Grouped(factors=factors)


__all__ = ["Task", "assess", "load"]
