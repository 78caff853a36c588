# SPDX-License-Identifier: Apache-2.0
"""Running what a plan describes: it is fixed and hashed first, then every model is counted on every test split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.assess.plan.answers import splits_of
from assay.assess.plan.loading import LoadedPlan
from assay.assess.run import assess
from assay.core.errors import PlanError, RowsError
from assay.core.text import quoted, visible
from assay.rows.reading import Reading

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.plan.model import Model, Split
    from assay.rows.limits import Limits

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """A plan at the moment nothing had been counted yet."""

    loaded: LoadedPlan
    frozen_at: str

    def to_json(self, model: str, split: str) -> dict[str, Any]:
        """As in a Record."""
        return {
            "given": "plan",
            "name": Path(self.loaded.path).name,
            "format": self.loaded.format,
            "sha256": self.loaded.sha256,
            "frozen_at": self.frozen_at,
            "declared": self.loaded.document,
            "declared_digest": self.loaded.digest,
            "model": model,
            "split": split,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One model on one test split."""

    model: str
    split: str
    path: Path
    pinned: str | None

    def title(self, parts: tuple[Part, ...]) -> str:
        """What tells it apart from the other parts; nothing where there is only one."""
        names = []
        if len({one.model for one in parts}) > 1:
            names.append(self.model)
        if len({one.split for one in parts}) > 1:
            names.append(self.split)
        return "-".join(names)


def freeze(loaded: LoadedPlan) -> Frozen:
    """Fix a plan by its digest and the time."""
    return Frozen(loaded=loaded, frozen_at=datetime.now(tz=UTC).isoformat(timespec="microseconds"))


def parts_of(loaded: LoadedPlan) -> tuple[Part, ...]:
    """Every model with predictions, on every test split."""
    plan, where = loaded.plan, visible(loaded.path)
    if plan.task.type == "multilabel":
        raise PlanError(
            "measure-unfit",
            "this version counts one label a row: a multilabel task can be planned and checked, not run",
            where=where,
            known="binary, multiclass",
            fix="assess each label as a binary task",
        )
    if plan.columns.truth is None:
        raise _lack(where, "the truth column", 'columns.truth = "..."')
    splits = {name: one for name, one in splits_of(loaded, "test").items() if one.path is not None}
    if not splits:
        raise _lack(where, "a test split with a file", '[data.test] path = "..."')
    models = {name: one for name, one in plan.models.items() if one.predicted is not None}
    if not models:
        raise _lack(where, "a model with predictions", '[models.NAME] predicted = "COLUMN"')
    return tuple(
        _part(loaded, model, one, split, split_) for split, split_ in splits.items() for model, one in models.items()
    )


def _part(loaded: LoadedPlan, name: str, model: Model, split: str, of: Split) -> Part:
    own = model.predictions is not None
    place = model.predictions if model.predictions is not None else str(of.path)
    return Part(model=name, split=split, path=loaded.folder / place, pinned=None if own else of.sha256)


def _lack(where: str, what: str, fix: str) -> PlanError:
    return PlanError("role-missing", f"the plan does not name {what}", where=where, fix=fix)


def columns_by_group(loaded: LoadedPlan) -> list[str]:
    """Columns whose levels are assessed one by one: groups of people, channels, strata."""
    plan = loaded.plan
    families = (plan.channels.acquisition, plan.channels.preprocessing, plan.channels.person, plan.channels.environment)
    named = [
        *(plan.fairness.groups or ()),
        *(one.column for one in families if one is not None and one.column is not None),
        *(plan.channels.other or ()),
        *(one.column for one in plan.use.strata or ()),
    ]
    return list(dict.fromkeys(named))


def count_part(
    frozen: Frozen, part: Part, *, limits: Limits | None = None, progress: Progress | None = None
) -> Assessment:
    """The assessment of one part, with the plan it followed."""
    plan = frozen.loaded.plan
    reading, intervals = plan.reading, plan.intervals
    found = assess(
        data=str(part.path),
        truth=plan.columns.truth,
        predicted=plan.models[part.model].predicted,
        weight=plan.columns.weight,
        group=columns_by_group(frozen.loaded) or None,
        positive=plan.task.positive,
        labels=plan.task.classes,
        level=intervals.level,
        shares=intervals.shares,
        cells=intervals.cells,
        seed=intervals.seed,
        measures=plan.metrics.measures,
        undefined=plan.metrics.undefined,
        missing=reading.missing,
        unknown=reading.unknown,
        reading=Reading(
            delimiter=reading.delimiter, decimal=reading.decimal, max_rows=reading.max_rows, sha256=part.pinned
        ),
        limits=limits,
        spelled=True,
        progress=progress,
    )
    _demand_rows(frozen.loaded, part, found)
    _demand_task(frozen.loaded, part, found)
    return found.with_evidence(plan=frozen.to_json(part.model, part.split))


def _demand_rows(loaded: LoadedPlan, part: Part, found: Assessment) -> None:
    wanted = loaded.plan.data[part.split].rows
    if wanted is not None and found.census.read != wanted:
        raise RowsError(
            "digest-mismatch",
            "the file does not hold as many rows as the plan states",
            where=visible(part.path.name),
            found=f"{found.census.read:,} rows",
            known=f"data.{part.split}.rows = {wanted}",
            fix="give the file that was planned, or plan anew",
        )


def _demand_task(loaded: LoadedPlan, part: Part, found: Assessment) -> None:
    wanted = loaded.plan.task.type
    if wanted is not None and str(found.task) != wanted:
        raise RowsError(
            "label-types-differ",
            f"the plan speaks of a {wanted} task, the data are {found.task}",
            where=visible(part.path.name),
            found=f"{len(found.labels)} classes: {', '.join(quoted(one) for one in found.labels[:8])}",
            fix="correct task.type and task.classes, or the file",
        )
