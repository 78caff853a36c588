# SPDX-License-Identifier: Apache-2.0
"""Models in tables of their own: matched by id inside the engine that has them, else in memory, or by position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.assess.demanding import demand_two
from assay.assess.pairing import Columns, Given, Paired, own_column, read_rows, score_classes
from assay.assess.provenance import origin, origins
from assay.core.errors import PlanError, RowsError
from assay.rows.differing import SUBJECT
from assay.rows.ids import ids_told
from assay.rows.limits import Limits
from assay.rows.opening import Roles, no_rows, refuse_limits
from assay.rows.reading import Reading
from assay.rows.scores import ScoreColumns
from assay.rows.stored import demand_whole
from assay.tally.codes import Codes
from assay.tally.pairing import KEY, Answers, Lines, answers, cells_of, joint, matched, proof, scores_of

if TYPE_CHECKING:
    from assay.rows.matching import Matched
    from assay.rows.sparkmatching import SparkMatched

LABELS_AND_IDS = ("truth", "id", "subject", "weight")


def apart(data: Mapping[str, object], given: Given) -> Paired:
    """One table a model: rows are matched by id, or by position where that was said and the truths agree."""
    models = tuple(map(str, data))
    demand_two(models)
    keyed = given.pairing != "position"
    if keyed and given.id is None:
        raise PlanError(
            "comparison-needs",
            "the models come in tables of their own, and nobody said which column tells their rows apart",
            fix="state id=COLUMN (--id), or pairing='position' (--by-position) if the rows stand in the same order",
        )
    scored_by = {} if given.score is None else {name: own_column(given.score, name) for name in models}
    by_class = score_classes(scored_by)
    roles = {name: _roles(given, name, scored_by, by_class, keyed=keyed) for name in models}
    if keyed and _for_engine(data, given, roles):
        with ids_told(plainly=_plainly(given)):
            found = _in_engine(dict(zip(models, data.values(), strict=True)), given, roles, by_class)
        if found is not None:
            return found
    return _in_memory(data, given, roles, by_class, keyed=keyed)


def _roles(
    given: Given,
    model: str,
    scored_by: Mapping[str, object],
    by_class: Mapping[str, ScoreColumns] | None,
    *,
    keyed: bool,
) -> Roles:
    """The columns of one model by role, in its own table."""
    columns = ScoreColumns(columns=(scored_by[model],)) if scored_by else None
    return Roles(
        truth=given.truth,
        predicted=given.truth if given.predicted is None else own_column(given.predicted, model),
        group=({KEY: given.id} if keyed else {}) | ({} if given.subject is None else {SUBJECT: given.subject}),
        weight=given.weight,
        score=columns if by_class is None else by_class[model],
    )


def _plainly(given: Given) -> bool:
    return given.reading is not None and given.reading.show_ids


def _for_engine(data: Mapping[str, object], given: Given, roles: Mapping[str, Roles]) -> bool:
    """Whether the embedded engine or a cluster is to read every table, and every column is named."""
    from assay.rows.sparksession import is_cluster

    for one in data.values():
        refuse_limits(one, given.engine, given.limits)
    named = all(isinstance(column, str) for own in roles.values() for column in own.named().values())
    return named and (given.engine in (None, "duckdb") or is_cluster(str(given.engine)))


def _opened(
    data: Mapping[str, object], given: Given, roles: Mapping[str, Roles], *, kept: bool
) -> Matched | SparkMatched | None:
    """All models as one table, on the cluster that has or reads them, else in the embedded engine."""
    from assay.rows.matching import open_matched, sides_of
    from assay.rows.sparksession import is_spark

    readings = {name: given.reading_of(name) or Reading() for name in data}
    if given.engine not in (None, "duckdb") or any(is_spark(one) for one in data.values()):
        from assay.rows.sparkmatching import match_on_cluster

        return match_on_cluster(data, roles, readings, engine=given.engine, limits=given.limits, kept=kept)
    sides = sides_of(data, roles, readings)
    return None if sides is None else open_matched(*sides, roles, readings, given.limits or Limits(), kept=kept)


def _in_engine(
    data: Mapping[str, object],
    given: Given,
    roles: Mapping[str, Roles],
    by_class: Mapping[str, ScoreColumns] | None,
) -> Paired | None:
    """Rows matched in the engine, whatever their number: cells come back, and what is compared row by row."""
    from assay.rows.matching import FIT, columns_of

    models = tuple(data)
    only_counted = given.score is given.subject is given.weight is None
    found = _opened(data, given, roles, kept=not only_counted)
    if found is None:
        return None
    own = {name: columns_of(place, roles[name]) for place, name in enumerate(models)}
    scored = {name: one.score for name, one in own.items() if one.score is not None}
    columns = Columns(
        truth="truth",
        models=models,
        called={} if given.predicted is None else {name: one.predicted for name, one in own.items()},
        scored={name: one.columns[0] for name, one in scored.items()},
        by_class=scored if by_class is not None else None,
        channel=FIT if only_counted else None,
        subject=None if given.subject is None else SUBJECT,
        weight=None if given.weight is None else "weight",
        exact=given.exact,
        by_row=given.by_row,
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
        return _told(found, list(data.values()), replace(paired, cells=cells, columns=by_class, channel=False))
    finally:
        found.close()


def _told(found: Matched | SparkMatched, given: Sequence[object], paired: Paired) -> Paired:
    """With where the rows come from, and the proof that they are the same."""
    from assay.tally.sameness import proof_of

    with found.proving() as rows:
        proved = proof_of(rows)
    names, files = origins(given, [origin(one.source) for one in found.tables])
    return replace(
        paired,
        where="; ".join(one.source.where for one in found.tables),
        named="; ".join(names),
        proof=proved,
        how="by id",
        files=files,
    )


def _told_by_table(found: Matched | SparkMatched) -> None:
    """A fault of labels is told of the table it stands in, if it stands in one."""
    for one in found.tables:
        joint(replace(one.source, group={}, score=()))


def _in_memory(
    data: Mapping[str, object],
    given: Given,
    roles: Mapping[str, Roles],
    by_class: Mapping[str, ScoreColumns] | None,
    *,
    keyed: bool,
) -> Paired:
    from assay.rows.scored import sound

    every: list[Answers] = []
    homes: list[tuple[str, dict[str, str]]] = []
    for (model, own), table in zip(roles.items(), data.values(), strict=True):
        source = given.opened(table, own, model)
        try:
            if own.score is not None:
                source, _ = sound(source, "any", single=by_class is None, drop=False)
            every.append(answers(source, model, keyed=keyed, called=given.predicted is not None))
            homes.append(origin(source))
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
    names, files = origins(list(data.values()), homes)
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
        models=tuple(roles),
        lines=None if given.subject is None and given.weight is None else rows,
        cells=cells_of(every, orders) if given.predicted is not None else None,
        truth=truth,
        scores=scores_of(every, orders) if given.score is not None else None,
        where="; ".join(one.where for one in every),
        named="; ".join(names),
        proof=proofs.pop(),
        how="by id" if keyed else "by position: same number of rows and the same truth in every row",
        files=files,
        columns=by_class,
    )
