# SPDX-License-Identifier: Apache-2.0
"""Reads classes, clusters and features of rows, and counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.core.task import Counted, Request
from assay.core.text import counted
from assay.tally.batches import Column, open_batches
from assay.tasks.clustering.compare import ClusteredModels
from assay.tasks.clustering.geometry import Geometry
from assay.tasks.clustering.intervals import ANSWERS
from assay.tasks.clustering.tally import Contingency, count_pairs
from assay.tasks.unit_inputs import Parts, count_levels, side_columns

if TYPE_CHECKING:
    from assay.tally.batches import Batch, Batches

TRUTH, PREDICTED, FEATURE = "truth", "predicted", "feature "
MOST: int = 1 << 26
"""Numbers of features that are held."""


class TableParts(Parts[Contingency]):
    """The table of all rows, and those of each level of each group."""

    KIND = Contingency


def read_clustering(request: Request) -> Counted:
    """One clustering, against classes, with features, or both."""
    if request.given.get(PREDICTED) is None:
        raise PlanError("role-missing", "no predicted is given", where=PREDICTED, fix="give the cluster of every row")
    features = _feature_columns(request)
    if request.given.get(TRUTH) is None and not features:
        raise PlanError(
            "role-missing", "neither truth nor features are given", where=TRUTH,
            known="truth: the class of every row; features: numbers by which clusters were made",
            fix="give truth=... for agreement, or features=... for the shape of clusters",
        )  # fmt: skip
    columns = _label_columns(request, [role for role in (TRUTH, PREDICTED) if request.given.get(role) is not None])
    with open_batches(request, columns | side_columns(request) | features) as batches:
        if features:
            parts = _count_held(batches, tuple(request.group), len(features))
        else:
            parts = batches.run(partial(count_batch, tuple(request.group)), TableParts)
        tally = parts.tally
        notes = (*batches.notes, *describe_clusters(tally))
        groups_ = {factor: dict(levels) for factor, levels in parts.grouped.factors.items()}
        return Counted(tally=tally, census=batches.census, groups=groups_, notes=notes, data=batches.about)


def read_clusterings(request: Request, models: Mapping[str, Mapping[str, object]]) -> Counted:
    """Several clusterings of the same rows."""
    columns = _label_columns(request, [TRUTH])
    for model, given in models.items():
        own = Request(given=given, options=request.options)
        columns[f"{PREDICTED} of {model}"] = _label_columns(own, [PREDICTED])[PREDICTED]
    with open_batches(request, columns) as batches:
        paired = batches.run(partial(count_models, tuple(models)), ClusteredModels)
        return Counted(tally=paired, census=batches.census, notes=(*batches.notes, ANSWERS), data=batches.about)


def _label_columns(request: Request, roles: Iterable[str]) -> dict[str, Column]:
    if request.unit is not None:
        raise PlanError("option-unknown", "rows are the unit of clustering", where="unit", fix="leave unit out")
    missing = cast("Any", request.options.get("missing", "error"))
    columns = {}
    for role in roles:
        if request.given.get(role) is None:
            raise PlanError("role-missing", f"no {role} is given", where=role, fix=f"give {role}=... (--{role} COLUMN)")
        columns[role] = Column(request.given[role], "label", missing)
    return columns


def _feature_columns(request: Request) -> dict[str, Column]:
    """A matrix column by column, or names of columns of the data."""
    given = request.given.get("features")
    if given is None:
        return {}
    parts: Sequence[object]
    if request.data is not None:
        parts = [name.strip() for name in given.split(",")] if isinstance(given, str) else list(cast("Any", given))
    elif hasattr(given, "columns") and hasattr(given, "__getitem__"):
        parts = [cast("Any", given)[name] for name in cast("Any", given).columns]
    else:
        matrix = np.asarray(given, dtype=np.float64)
        parts = list(matrix.reshape(len(matrix), -1).T)
    missing = cast("Any", request.options.get("missing", "error"))
    return {f"{FEATURE}{place}": Column(part, "number", missing) for place, part in enumerate(parts)}


def count_batch(factors: tuple[str, ...], batch: Batch) -> TableParts:
    """Count a batch: the kernel."""

    def count(rows: Any) -> Contingency:  # noqa: ANN401  a slice or a mask
        truth = batch[TRUTH][rows].tolist() if TRUTH in batch else None
        return _table(truth, batch[PREDICTED][rows].tolist())

    return TableParts(count(slice(None)), count_levels(batch, factors, count))


def _table(truth: list[Label] | None, labels: list[Label]) -> Contingency:
    return Contingency.build({} if truth is None else count_pairs(truth, labels), clusters=set(labels))


def _count_held(batches: Batches, factors: tuple[str, ...], width: int) -> TableParts:
    """Count rows whose features are held all at once."""
    if batches.table.spark is not None:
        raise PlanError(
            "role-clash", "features of a Spark frame are not read", where="features",
            fix="leave features out, or select rows and call toPandas()",
        )  # fmt: skip
    batch_list: list[dict[str, Any]] = []
    for batch in batches:
        batch_list.append(batch)
        if sum(len(part[PREDICTED]) for part in batch_list) * width > MOST:
            raise PlanError(
                "too-many-rows", f"more than {MOST:,} numbers of features", where="features",
                fix="leave features out, or give fewer rows",
            )  # fmt: skip
    joined = {name: np.concatenate([part[name] for part in batch_list]) for name in batch_list[0]} if batch_list else {}
    if not joined:
        return TableParts(Contingency.build({}))
    parts = count_batch(factors, joined)
    matrix = np.column_stack([joined[f"{FEATURE}{place}"] for place in range(width)])
    geometry = Geometry.measure(matrix, joined[PREDICTED].tolist())
    tally = Contingency.build(parts.tally.counts, clusters=geometry.clusters, geometry=geometry)
    return TableParts(tally, parts.grouped)


def count_models(models: tuple[str, ...], batch: Batch) -> ClusteredModels:
    """Count a batch of rows for several clusterings: the kernel."""
    columns = [batch[TRUTH].tolist(), *(batch[f"{PREDICTED} of {model}"].tolist() for model in models)]
    return ClusteredModels(models=models, cells=Counter(zip(*columns, strict=True)))


def describe_clusters(tally: Contingency) -> tuple[str, ...]:
    """What is to be known of the clusters."""
    notes = [ANSWERS] if tally.classes else []
    if tally.classes and tally.clusters:
        notes.append(f"{counted(len(tally.classes), 'class', 'classes')} and {counted(len(tally.clusters), 'cluster')}")
    if {-1, "-1"} & set(tally.clusters):
        notes.append("a cluster is called -1: if that means noise, it counts as one cluster all the same")
    return tuple(notes)
