# SPDX-License-Identifier: Apache-2.0
"""Models in tables of their own: matched by id inside the engine that has them, else in memory, or by position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from assay.assess.demanding import demand_holdable, demand_two
from assay.assess.pairing import Columns, Given, Paired, left_out, own_column, read_rows, score_classes
from assay.assess.provenance import origin, origin_of, origins
from assay.core.errors import PlanError, RowsError
from assay.rows.cutting import Cut
from assay.rows.databases import is_database
from assay.rows.differing import SUBJECT
from assay.rows.ids import ids_told
from assay.rows.limits import Limits
from assay.rows.listing import are_paths
from assay.rows.modelsides import Model
from assay.rows.modeltables import ModelTable
from assay.rows.opening import Roles, no_rows, refuse_limits
from assay.rows.reading import Reading
from assay.rows.scores import ScoreColumns
from assay.rows.stored import demand_whole
from assay.tally.codes import Codes
from assay.tally.pairing import KEY, Answers, Lines, answers, cells_of, joint, matched, proof, scores_of

if TYPE_CHECKING:
    from assay.rows.matching import Matched
    from assay.rows.sparkmatching import SparkMatched

BY_ID: Final = "by id"
BY_POSITION: Final = "by position: same number of rows and the same truth in every row"


def apart(data: Mapping[str, object], given: Given) -> Paired:
    """One table a model: rows are matched by id, or by position where that was said and the truths agree."""
    names = tuple(map(str, data))
    demand_two(names)
    keyed = given.pairing != "position"
    if keyed and given.id is None:
        raise PlanError(
            "comparison-needs",
            "the models come in tables of their own, and nobody said which column tells their rows apart",
            fix="state id=COLUMN (--id), or pairing='position' (--by-position) if the rows stand in the same order",
        )
    if not keyed and given.truth_data is not None:
        raise PlanError(
            "role-clash",
            "the truth is in a table of its own, and rows are paired by position",
            where="truth_data",
            fix="state id=COLUMN (--id): truth and predictions are never matched by their order",
        )
    scored_by = {} if given.score is None else {name: own_column(given.score, name) for name in names}
    by_class = score_classes(scored_by)
    models = {
        name: _model(given, name, table, scored_by, by_class, keyed=keyed)
        for name, table in zip(names, data.values(), strict=True)
    }
    if _for_engine(models, given, keyed=keyed):
        with ids_told(plainly=_plainly(given)):
            found = _in_engine(models, given, by_class, keyed=keyed)
        if found is not None:
            return found
    return _in_memory(models, given, by_class, keyed=keyed)


def _model(
    given: Given,
    model: str,
    table: object,
    scored_by: Mapping[str, object],
    by_class: Mapping[str, ScoreColumns] | None,
    *,
    keyed: bool,
) -> Model:
    """The rows of one model: its columns by role in its own table, and where the truth is if not there."""
    columns = ScoreColumns(columns=(scored_by[model],)) if scored_by else None
    truth = given.truth_of(model)
    alone = given.truth if truth is None else None  # without labels, a column that is there in their place
    called = alone if given.predicted is None else own_column(given.predicted, model)
    cut = called if isinstance(called, Cut) else None
    roles = Roles(
        truth=given.truth,
        predicted=None if cut is not None else called,
        group=({KEY: given.id} if keyed else {}) | ({} if given.subject is None else {SUBJECT: given.subject}),
        weight=given.weight,
        score=columns if by_class is None else by_class[model],
    )
    reading = given.reading_of(model) or Reading()
    return Model(data=table, roles=roles, reading=reading, truth=truth, cut=cut)


def _plainly(given: Given) -> bool:
    return given.reading is not None and given.reading.show_ids


def _for_engine(models: Mapping[str, Model], given: Given, *, keyed: bool) -> bool:
    """Whether the embedded engine or a cluster is to read every table, and every column is named."""
    from assay.rows.sparksession import is_cluster

    for one in models.values():
        refuse_limits(one.data, given.engine, given.limits)
    if not all(isinstance(column, str) for one in models.values() for column in one.roles.named().values()):
        return False
    if given.engine in (None, "duckdb"):
        return keyed or not any(is_database(one.data) for one in models.values())  # tables of databases have no order
    plain = all(one.truth is None and one.cut is None for one in models.values())
    return is_cluster(str(given.engine)) and keyed and plain


def _opened(models: Mapping[str, Model], given: Given, *, kept: bool) -> Matched | SparkMatched | None:
    """All models as one table, on the cluster that has or reads them, else in the embedded engine."""
    from assay.rows.matching import open_matched
    from assay.rows.modelsides import sides_of
    from assay.rows.sparksession import is_spark

    spark = any(is_spark(one.data) for one in models.values())
    if given.engine not in (None, "duckdb") or spark:
        from assay.rows.sparkmatching import match_on_cluster

        if not all(KEY in one.roles.group and one.truth is None and one.cut is None for one in models.values()):
            return None
        data = {name: one.data for name, one in models.items()}
        roles, readings = ({name: getattr(one, what) for name, one in models.items()} for what in ("roles", "reading"))
        return match_on_cluster(data, roles, readings, engine=given.engine, limits=given.limits, kept=kept)
    sides = sides_of(models)
    if sides is None:
        return None
    return open_matched(sides, given.limits or Limits(), kept=kept, unmatched=given.unmatched)


def _in_engine(
    models: Mapping[str, Model], given: Given, by_class: Mapping[str, ScoreColumns] | None, *, keyed: bool
) -> Paired | None:
    """Rows matched in the engine, whatever their number: cells come back, and what is compared row by row."""
    from assay.rows.matching import FIT, columns_of
    from assay.rows.sparksession import is_spark

    only_counted = given.score is given.subject is given.weight is None
    found = _opened(models, given, kept=not only_counted)
    if found is None:
        return None
    own = {name: columns_of(place, one.roles) for place, (name, one) in enumerate(models.items())}
    scored = {name: one.score for name, one in own.items() if one.score is not None}
    columns = Columns(
        truth="truth",
        models=tuple(models),
        called={} if given.predicted is None else {name: one.predicted for name, one in own.items()},
        scored={name: one.columns[0] for name, one in scored.items()},
        by_class=scored if by_class is not None else None,
        channel=FIT if only_counted else None,
        subject=None if given.subject is None else SUBJECT,
        weight=None if given.weight is None else "weight",
        exact=given.exact,
        by_row=given.by_row,
        held=not any(are_paths(one.data) or is_spark(one.data) for one in models.values()),
    )
    try:
        for one in found.tables:
            demand_whole(one.source, given.labels, spelled=given.spelled)
        if not only_counted:
            found.demand(found.fits())
        try:
            paired = read_rows(columns, lambda wanted: nullcontext(found.source(wanted)))
        except RowsError:
            _told_by_table(found)
            raise
        cells = paired.cells
        if only_counted:
            found.demand([(int(cell[-1] or 0), n) for cell, n in (cells or {}).items()])
            cells = {cell[:-1]: n for cell, n in (cells or {}).items()}
        paired = replace(paired, cells=cells, columns=by_class, channel=False)
        return _told(found, models, paired, keyed=keyed)
    finally:
        found.close()


def _told(found: Matched | SparkMatched, models: Mapping[str, Model], paired: Paired, *, keyed: bool) -> Paired:
    """With where the rows come from, and the proof that they are the same."""
    from assay.tally.sameness import proof_of

    with found.proving() as rows:
        proved = proof_of(rows)
    given = [one.data for one in models.values()]
    tables = [origin(one.source) for one in found.tables]
    truths: dict[str, tuple[object, tuple[str, dict[str, str]]]] = {}
    for place, (own, one) in enumerate(zip(models.values(), found.tables, strict=True)):
        if isinstance(one, ModelTable) and own.truth is not None:  # made of two tables, the truth last
            tables[place] = origin_of(one.homes[0])
            truths[str(own.truth)] = own.truth, origin_of(one.homes[1])
    names, files = origins(
        [*given, *(data for data, _ in truths.values())], [*tables, *(truth for _, truth in truths.values())]
    )
    apart_ = [f"truth in {name}" for name in names[len(given) :]]
    return replace(
        paired,
        where="; ".join(one.source.where for one in found.tables),
        named="; ".join([*names[: len(given)], *apart_]),
        proof=proved,
        how=BY_ID if keyed else BY_POSITION,
        files=files,
        notes=tuple(note for one in found.tables for note in left_out(one.source.join, one.model)),
    )


def _told_by_table(found: Matched | SparkMatched) -> None:
    """A fault of labels is told of the table it stands in, if it stands in one."""
    for one in found.tables:
        joint(replace(one.source, group={}, score=()))


def _in_memory(
    models: Mapping[str, Model], given: Given, by_class: Mapping[str, ScoreColumns] | None, *, keyed: bool
) -> Paired:
    from assay.rows.scored import sound

    every: list[Answers] = []
    homes: list[tuple[str, dict[str, str]]] = []
    notes: list[str] = []
    for model, one in models.items():
        own = one.roles if one.cut is None else replace(one.roles, predicted=one.cut)
        source = given.opened(one.data, own, model)
        try:
            demand_holdable(source, given.exact, f"the rows of {model} can only be matched in memory")
            if own.score is not None:
                source, _ = sound(source, "any", single=by_class is None, drop=False)
            every.append(answers(source, model, keyed=keyed, called=given.predicted is not None))
            homes.append(origin(source))
            notes += left_out(source.join, model)
        finally:
            source.close()
    if not every[0].keys:
        raise no_rows(every[0].where)
    with ids_told(plainly=_plainly(given)):
        orders = matched(every)
    proofs = {proof(one.keys, one.truth) for one in every}
    if len(proofs) != 1:
        msg = "matched rows have different digests"
        raise ArithmeticError(msg)
    names, files = origins([one.data for one in models.values()], homes)
    first = every[0]
    truth = Codes.of(first.truth)
    placed: Sequence[Sequence[object]] = [
        [one.calls[i] for i in order.tolist()] for one, order in zip(every, orders, strict=True)
    ]
    rows = Lines(
        truth=truth,
        calls=[Codes.of(column) for column in placed],  # type: ignore[arg-type]
        scores=(),
        subject=None if first.subject is None else Codes.of(first.subject),
        weight=first.weight,
    )
    return Paired(
        models=tuple(models),
        lines=None if given.subject is None and given.weight is None else rows,
        cells=cells_of(every, orders) if given.predicted is not None else None,
        truth=truth,
        scores=scores_of(every, orders) if given.score is not None else None,
        where="; ".join(one.where for one in every),
        named="; ".join(names),
        proof=proofs.pop(),
        how=BY_ID if keyed else BY_POSITION,
        files=files,
        columns=by_class,
        notes=tuple(notes),
    )
