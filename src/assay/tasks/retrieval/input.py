# SPDX-License-Identifier: Apache-2.0
"""Reads judgements and runs, and accounts for every row and every query."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from assay.core.errors import PlanError, RowsError
from assay.core.task import Counted, Request
from assay.core.text import counted, listed, quoted
from assay.tally.base import ModelTallies
from assay.tally.census import Census
from assay.tasks.retrieval.engine_count import (
    Irregular,
    count_opened,
    count_trec,
    refuse_duplicates,
    unfit_scores,
)
from assay.tasks.retrieval.rank_order import Judgements, count_batch
from assay.tasks.retrieval.roles import (
    Rows,
    column_names,
    file_about,
    hold_rows,
    open_path,
    open_table,
    read_grades,
    table_about,
)
from assay.tasks.retrieval.tally import Rankings
from assay.tasks.retrieval.trec import is_trec, separator_of

if TYPE_CHECKING:
    from assay.core.labels import Label
    from assay.rows.limits import Limits

UNJUDGED = "its query was not judged"


def read_run(request: Request) -> Counted:
    """Judgements and one run."""
    judgements, about, notes = read_judgements(request)
    tally, census, run = _count_run(_given(request, "predicted"), request, judgements)
    files = {**_files(about), **_files(run)}
    return Counted(
        tally=tally,
        census=census,
        groups=_groups(request, tally),
        notes=(*notes, *describe_queries(tally, request)),
        data={"from": run.get("from"), "truth": about.get("from"), "columns": run.get("columns", {}), "files": files},
    )


def read_runs(request: Request, models: Mapping[str, Mapping[str, object]]) -> Counted:
    """Judgements and one run for each model."""
    judgements, about, notes = read_judgements(request)
    runs: dict[str, Rankings] = {}
    census, files, names = Census(read=0, scored=0), _files(about), {}
    for model, given in models.items():
        tally, rows, run = _count_run(given.get("predicted"), request, judgements)
        runs[model], census = tally, census + rows
        files |= _files(run)
        names[model] = run.get("from")
        notes += tuple(f"{model}: {note}" for note in describe_queries(tally, request))
    if request.options.get("average") == "both":
        shared = [query for query in judgements.ids if all(query in run.ids for run in runs.values())]
        runs = {model: run.select(shared) for model, run in runs.items()}
    data = {"from": listed(names.values()), "truth": about.get("from"), "columns": {}, "files": files}
    return Counted(tally=ModelTallies(models=runs), census=census, notes=notes, data=data)


def read_judgements(request: Request) -> tuple[Judgements, Mapping[str, object], tuple[str, ...]]:
    """The grades by query, checked; what a Record says of them, and notes."""
    given = _given(request, "truth")
    rows = read_grades(os.fspath(given) if isinstance(given, os.PathLike) else given, request)
    wrong = np.flatnonzero(~np.isfinite(rows.number))
    if len(wrong):
        raise RowsError(
            "value-not-finite",
            f"{counted(len(wrong), 'grade')} of the judgements missing, NaN or infinite",
            where="truth",
            found=listed([f"{rows.query[row]} {rows.document[row]}" for row in wrong], most=3),
            fix="give every judged document a grade",
        )
    refuse_duplicates(_twice(rows), "judgements", "truth")
    notes = list(_treat_negative(rows, str(request.options.get("negative", "refuse"))))
    queries = rows.query.tolist()
    ids = tuple(sorted(set(queries)))
    place = {query: number for number, query in enumerate(ids)}
    code = np.fromiter(map(place.__getitem__, queries), dtype=np.int64, count=len(queries))
    if request.options.get("negative") == "zero":
        rows = replace(rows, number=np.maximum(rows.number, 0.0))
    order = np.argsort(code, kind="stable")
    order = order[rows.number[order] >= 0]
    relevant = float(cast("float", request.options.get("relevant", 1.0)))
    lower = sorted({grade for grade in rows.number.tolist() if 0 < grade < relevant})
    if lower:
        notes.append(f"grades below {relevant:g} are not relevant, but have a gain: {', '.join(map(str, lower[:5]))}")
    catalogue, popularity = _catalogue(request)
    judgements = Judgements(
        ids=ids, code=code[order], document=rows.document[order],
        grade=rows.number[order], relevant=relevant, cutoffs=_cutoffs(request), catalogue=catalogue,
        popularity=popularity,
    )  # fmt: skip
    return judgements, rows.about, tuple(notes)


def _treat_negative(rows: Rows, policy: str) -> list[str]:
    negative = np.flatnonzero(rows.number < 0)
    if not len(negative):
        return []
    if policy == "refuse":
        raise RowsError(
            "value-out-of-domain",
            f"{counted(len(negative), 'document')} with a negative grade, which tools treat differently",
            where="truth",
            found=listed([f"{rows.query[row]} {rows.document[row]} {rows.number[row]:g}" for row in negative], most=3),
            known="negative='unjudged' (as trec_eval), negative='zero' (judged and not relevant)",
            fix="state what they mean: negative='unjudged' or negative='zero'",
        )
    meaning = "count as not judged" if policy == "unjudged" else "count as grade 0"
    return [f"{counted(len(negative), 'document')} with a negative grade {meaning}"]


def _twice(rows: Rows) -> list[tuple[str, str]]:
    pairs = list(zip(rows.query.tolist(), rows.document.tolist(), strict=True))
    if len(set(pairs)) == len(pairs):
        return []
    return sorted(pair for pair, times in Counter(pairs).items() if times > 1)


def _cutoffs(request: Request) -> tuple[int, ...]:
    given = request.options.get("k") or (1, 5, 10, 20, 100, 1000)
    values = given if isinstance(given, (tuple, list)) else (given,)
    wrong = [value for value in values if isinstance(value, bool) or not isinstance(value, int) or value < 1]
    if wrong:
        raise PlanError("option-unknown", f"k = {wrong[0]!r} is not a cut-off", known="1 and more", fix="state k=[10]")
    return tuple(sorted(set(cast("tuple[int, ...]", values))))


def _catalogue(request: Request) -> tuple[int | None, Mapping[str, float] | None]:
    size = request.options.get("catalogue")
    popularity = request.given.get("popularity")
    if popularity is not None and size is None:
        raise PlanError(
            "role-missing", "popularity needs the size of the catalogue", where="catalogue", fix="state catalogue=10000"
        )
    if size is not None and (isinstance(size, bool) or int(cast("int", size)) < 1):
        raise PlanError("option-unknown", f"catalogue = {size!r} is not a number of documents", fix="state 1 or more")
    if popularity is None:
        return (None if size is None else int(cast("int", size))), None
    if not isinstance(popularity, Mapping):
        raise PlanError(
            "role-clash", "popularity is not a mapping", where="popularity",
            found=type(popularity).__name__, fix="give {document: share of users who know it}",
        )  # fmt: skip
    shares = {str(document): float(share) for document, share in popularity.items()}
    if wrong := [document for document, share in shares.items() if not 0 <= share <= 1]:
        raise RowsError(
            "value-out-of-domain", f"{counted(len(wrong), 'popularity', 'popularities')} outside 0 to 1",
            where="popularity", found=listed(wrong, most=3), fix="give shares of users",
        )  # fmt: skip
    return int(cast("int", size)), shares


def _count_run(given: object, request: Request, judgements: Judgements) -> tuple[Rankings, Census, Mapping[str, Any]]:
    """Count a run by the way that fits where it is, then add the judged queries that it lacks."""
    if given is None:
        raise PlanError("role-missing", "no predicted is given", where="predicted", fix="give a run: predicted=...")
    given = os.fspath(given) if isinstance(given, os.PathLike) else given
    tally, read, about = _count_anywhere(given, request, judgements)
    lacking = sorted(set(judgements.ids) - set(tally.ids))
    if lacking:
        tally += judgements.empty(lacking)
    outside = {UNJUDGED: tally.outside.rows} if tally.outside.rows else {}
    census = Census(read=read, scored=read - tally.outside.rows, excluded=outside)
    if request.options.get("average") == "both":
        chosen = [query for query, size in zip(tally.ids, tally.retrieved.tolist(), strict=True) if size]
        tally = replace(tally.select(chosen), outside=tally.outside, exposure=tally.exposure)
    return tally, census, about


def _count_anywhere(given: object, request: Request, judgements: Judgements) -> tuple[Rankings, int, Mapping[str, Any]]:
    if isinstance(given, str) and is_trec(given) and (separator := separator_of(given)) is not None:
        try:
            tally, read = count_trec(given, separator, judgements, cast("Limits | None", request.limits))
        except Irregular:
            pass  # read below, line by line
        else:
            return tally, read, file_about(given, "trec")
    rows = hold_rows(given, "predicted", request)
    if rows is not None:
        return _count_held(rows, judgements)
    opened = open_path(given, request)
    if opened is not None:
        try:
            names = column_names(list(opened.columns), "score", request.options, "predicted")
            tally, read = count_opened(opened, names, judgements)
            return tally, read, table_about(opened, names)
        finally:
            opened.close()
    with open_table(given, "predicted", request) as batches:
        tally = batches.run(partial(count_checked, judgements=judgements), Rankings, unit="query")
        return tally, batches.census.read, batches.about


def _count_held(rows: Rows, judgements: Judgements) -> tuple[Rankings, int, Mapping[str, Any]]:
    if not len(rows.query):
        raise RowsError("no-rows", "the run is empty", where="predicted", fix="give a run with documents")
    batch = {"query": rows.query, "document": rows.document, "score": rows.number}
    return count_checked(batch, judgements), len(rows.query), rows.about


def count_checked(batch: Mapping[str, Any], judgements: Judgements) -> Rankings:
    """The kernel, after a check that scores can be ordered and no document stands twice."""
    score = np.asarray(batch["score"], dtype=np.float64)
    wrong = np.flatnonzero(~np.isfinite(score))
    if len(wrong):
        shown = [(str(batch["query"][row]), str(batch["document"][row]), f"{score[row]}") for row in wrong[:3]]
        raise unfit_scores(len(wrong), shown, "predicted")
    rows = Rows(query=batch["query"], document=batch["document"], number=score)
    refuse_duplicates([(str(query), str(document)) for query, document in _twice(rows)], "run", "predicted")
    return count_batch(batch, judgements)


def describe_queries(tally: Rankings, request: Request) -> tuple[str, ...]:
    """What is to be known of the queries: which have no list, no relevant document, no judgement; and ties."""
    notes = []

    def some(names: list[str]) -> str:
        return f"{counted(len(names), 'query', 'queries')} ({listed(names)})"

    if missing := [name for name, size in zip(tally.ids, tally.retrieved.tolist(), strict=True) if not size]:
        notes.append(f"{some(missing)} without a result in the run: the value is 0")
    if barren := [name for name, size in zip(tally.ids, tally.relevant_count.tolist(), strict=True) if not size]:
        notes.append(f"{some(barren)} without a relevant document: left out of every mean")
    if tally.outside.queries:
        names = listed(tally.outside.names)
        verb = "query was" if tally.outside.queries == 1 else "queries were"
        notes.append(f"{tally.outside.queries:,} {verb} not judged and left out ({names})")
    if request.options.get("average") == "both":
        notes.append("means are over queries that are both judged and in the run")
    if tied := int((tally.tied > 1).sum()):
        queries = len(set(tally.owner[tally.tied > 1].tolist()))
        notes.append(
            f"{counted(tied, 'judged document')} of {counted(queries, 'query', 'queries')} "
            f"{'has' if tied == 1 else 'have'} the score of another document; ties are ordered by document id, "
            "falling, as in trec_eval; measures named ..._expected average over all orders"
        )
    return tuple(notes)


def _groups(request: Request, tally: Rankings) -> dict[str, dict[Label, object]]:
    """Tallies of groups of queries, which are given as {query: level}."""
    if request.unit is not None:
        raise PlanError("option-unknown", "queries are the unit of retrieval", where="unit", fix="leave unit out")
    groups: dict[str, dict[Label, object]] = {}
    for factor, levels in request.group.items():
        if not isinstance(levels, Mapping):
            raise PlanError(
                "role-clash",
                f"the group {quoted(factor)} is not given by query",
                where="group",
                fix='give group={"length": {"q1": "short", "q2": "long"}}',
            )
        by_query = {str(query): level for query, level in levels.items()}
        lacking = [query for query in tally.ids if query not in by_query]
        if lacking:
            raise RowsError(
                "rows-unmatched",
                f"{counted(len(lacking), 'query', 'queries')} without a level of {quoted(factor)}",
                found=listed(lacking, most=5),
                fix="give a level to every judged query",
            )
        names = sorted({by_query[query] for query in tally.ids}, key=str)
        groups[factor] = {level: tally.select([q for q in tally.ids if by_query[q] == level]) for level in names}
    return groups


def _given(request: Request, role: str) -> object:
    given = request.given.get(role, request.data if role == "predicted" else None)
    if given is None:
        raise PlanError(
            "role-missing",
            f"no {role} is given",
            where=role,
            known="truth: judgements; predicted: a run",
            fix=f"give {role}=... (--{role} FILE)",
        )
    return given


def _files(about: Mapping[str, Any]) -> dict[str, str]:
    return dict(about.get("files", {}))
