# SPDX-License-Identifier: Apache-2.0
"""Running what a plan describes: it is fixed and hashed first, then every model is counted on every test split."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.assess.conformity import judge
from assay.assess.contests import Contest, contest
from assay.assess.controls import Checked, Inquiry, Moment, run_controls
from assay.assess.fingerprint import fingerprint
from assay.assess.plan.answers import channel_columns, splits_of
from assay.assess.plan.loading import LoadedPlan
from assay.assess.record import strict_json
from assay.assess.run import assess
from assay.core.errors import PlanError, RowsError
from assay.core.text import quoted, visible
from assay.rows.reading import Reading
from assay.tally.splits import SplitRows

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.plan.model import Model, Split
    from assay.rows.limits import Limits

Progress = Callable[[int, int], None]
Watching = Callable[[str], AbstractContextManager[Progress | None]]
LEDGER = 16 * 2**20
"""Bytes a ledger may have."""


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
    return Frozen(loaded=loaded, frozen_at=_now())


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
    models = {name: one for name, one in plan.models.items() if one.counted}
    if not models:
        raise _lack(where, "a model with predictions", '[models.NAME] predicted = "COLUMN", or score and threshold')
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
    named = [
        *(plan.fairness.groups or ()),
        *channel_columns(plan).values(),
        *(one.column for one in plan.use.strata or ()),
    ]
    return list(dict.fromkeys(named))


def count_part(
    frozen: Frozen, part: Part, *, limits: Limits | None = None, progress: Progress | None = None
) -> Assessment:
    """The assessment of one part, with the plan it followed."""
    plan = frozen.loaded.plan
    reading, intervals, model = plan.reading, plan.intervals, plan.models[part.model]
    # A pin would be asked of the validation file too; every split is held against its own pin when controls open it.
    pinned = part.pinned if model.threshold_from is None else None
    found = assess(
        data=str(part.path),
        truth=plan.columns.truth,
        predicted=model.predicted,
        score=model.score,
        scores=model.scores,
        missing_score=model.missing_score,
        renormalise=model.renormalise,
        threshold=model.threshold if model.threshold_rule is None else model.threshold_rule,
        threshold_from=_elsewhere(frozen.loaded, model),
        operating_points=plan.metrics.operating_points or () if model.score is not None else (),
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
        reading=Reading(delimiter=reading.delimiter, decimal=reading.decimal, max_rows=reading.max_rows, sha256=pinned),
        limits=limits,
        spelled=True,
        progress=progress,
    )
    _demand_rows(frozen.loaded, part, found)
    _demand_task(frozen.loaded, part, found)
    if plan.metrics.accept:
        found = found.accept(*plan.metrics.accept)
    return found.with_evidence(plan=frozen.to_json(part.model, part.split))


def _elsewhere(loaded: LoadedPlan, model: Model) -> str | None:
    """The file of the split on which a threshold is chosen."""
    if model.threshold_from is None:
        return None
    place = loaded.plan.data[model.threshold_from].path
    if place is None:
        raise _lack(visible(loaded.path), "the file", f'[data.{model.threshold_from}] path = "..."')
    return str(loaded.folder / place)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """One part of a plan, counted and looked at by every control, but not yet judged."""

    title: str
    assessment: Assessment
    inquiry: Inquiry
    checked: tuple[Checked, ...]

    def judged(self) -> Assessment:
        """The assessment with its controls and its conformity statement."""
        return self.assessment.with_evidence(
            controls=[one.to_json() for one in self.checked],
            conformity=judge(self.inquiry, self.checked, self.assessment.record).to_json(),
            environment={"fingerprint": dict(self.inquiry.moments[0].fields)},
        )


def run_planned(
    loaded: LoadedPlan, *, limits: Limits | None = None, watching: Watching | None = None
) -> list[tuple[str, Assessment]]:
    """Every assessment a plan describes, judged, each with the name that tells it apart."""
    return [(one.title, one.judged()) for one in examined(loaded, limits=limits, watching=watching)]


def examined(loaded: LoadedPlan, *, limits: Limits | None = None, watching: Watching | None = None) -> list[Examined]:
    """Fix the plan, count every part, and let every control look."""
    watched = watching or (lambda _path: nullcontext(None))
    parts = parts_of(loaded)
    frozen, salt = freeze(loaded), secrets.token_hex(16)
    moments = [Moment(name="start", fields=fingerprint(salt))]
    before = dict(_artefacts(loaded))
    counted: list[tuple[Part, Assessment, str]] = []
    for part in parts:
        began = _now()
        with watched(str(part.path)) as progress:
            counted.append((part, count_part(frozen, part, limits=limits, progress=progress), began))
        moments.append(Moment(name=f"model {part.model}", fields=fingerprint(salt)))
    with watched(str(max((part.path for part in parts), key=lambda path: path.stat().st_size))) as progress:
        return _looked(frozen, _opened(loaded, parts, limits, progress), parts, counted, before, tuple(moments), salt)


def _looked(  # noqa: PLR0917  all that was counted before
    frozen: Frozen,
    opened: _Opened,
    parts: tuple[Part, ...],
    counted: list[tuple[Part, Assessment, str]],
    before: Mapping[str, str],
    moments: tuple[Moment, ...],
    salt: str,
) -> list[Examined]:
    """Every control on what was counted."""
    loaded = frozen.loaded
    after = dict(_artefacts(loaded))
    whole = Inquiry(
        loaded=loaded,
        frozen_at=frozen.frozen_at,
        splits=opened.splits,
        predictions=opened.predictions,
        moments=(*moments, Moment(name="end", fields=fingerprint(salt))),
        artefacts={name: (digest, after.get(name, "")) for name, digest in before.items()},
        annotations=opened.annotations,
        folds=opened.folds,
        ledger=_ledger(loaded),
        reference=opened.reference,
        fold_tables=opened.folds_of,
        latencies=opened.latencies,
        assessments={(part.model, part.split): one for part, one, _ in counted},
        contests=_contests(loaded, parts),
    )
    shared = tuple(run_controls(whole, "plan"))
    found = []
    for part, assessment, began in counted:
        record = assessment.record
        inquiry = replace(
            whole,
            model=part.model,
            split=part.split,
            assessment=assessment,
            estimates=tuple(record["estimates"]),
            findings=(*record["findings"], *(found for one in whole.contests.values() for found in one.findings)),
            points=tuple(record.get("operating_points", ())),
            counted_at=began,
        )
        checked = (*shared, *run_controls(inquiry, "assessment"))
        found.append(Examined(title=part.title(parts), assessment=assessment, inquiry=inquiry, checked=checked))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """Files that controls look into."""

    splits: Mapping[str, SplitRows]
    predictions: Mapping[str, SplitRows]
    annotations: SplitRows | None
    folds: SplitRows | None
    reference: SplitRows | None
    folds_of: Mapping[str, SplitRows]
    latencies: Mapping[str, SplitRows]


def _opened(loaded: LoadedPlan, parts: tuple[Part, ...], limits: Limits | None, progress: Progress | None) -> _Opened:
    plan, held = loaded.plan, {}

    def at(place: str | Path | None, pinned: str | None = None) -> SplitRows | None:
        if place is None:
            return None
        path = loaded.folder / place
        if path not in held:
            reading = Reading(
                delimiter=plan.reading.delimiter,
                decimal=plan.reading.decimal,
                max_rows=plan.reading.max_rows,
                sha256=pinned,
            )
            held[path] = SplitRows.open(path, reading=reading, limits=limits, progress=progress)
        return held[path]

    splits = {name: at(one.path, one.sha256) for name, one in plan.data.items() if one.path is not None}
    return _Opened(
        splits={name: one for name, one in splits.items() if one is not None},
        predictions={part.model: one for part in parts if (one := at(part.path)) is not None},
        annotations=at(plan.ground_truth.annotations),
        folds=at(plan.tuning.folds),
        reference=at(plan.population.sample),
        folds_of={name: one for name, model in plan.models.items() if (one := at(model.folds)) is not None},
        latencies={name: one for name, model in plan.models.items() if (one := at(model.latencies)) is not None},
    )


def _contests(loaded: LoadedPlan, parts: tuple[Part, ...]) -> dict[str, Contest]:
    """The models against each other on every test split, unless the plan says why not."""
    if loaded.plan.tests.none:
        return {}
    splits: dict[str, dict[str, Path]] = {}
    for part in parts:
        splits.setdefault(part.split, {})[part.model] = part.path
    channels = list(dict.fromkeys(channel_columns(loaded.plan).values()))
    return {split: contest(loaded, paths, channels) for split, paths in splits.items() if len(paths) > 1}


def _artefacts(loaded: LoadedPlan) -> Iterator[tuple[str, str]]:
    """Model -> digest of its file, which is hashed and never opened as anything else."""
    for name, one in loaded.plan.models.items():
        if one.artefact is not None:
            with (loaded.folder / one.artefact).open("rb") as file:
                yield name, hashlib.file_digest(file, "sha256").hexdigest()


def _ledger(loaded: LoadedPlan) -> tuple[Mapping[str, Any], ...] | None:
    place = loaded.plan.tuning.ledger
    if place is None:
        return None
    path = loaded.folder / place
    if path.stat().st_size > LEDGER:
        raise PlanError("plan-too-large", "the ledger is larger than any ledger", where=visible(place), fix="split it")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    entries = [
        strict_json(line, f"{visible(place)}, line {i}") for i, line in enumerate(lines, start=1) if line.strip()
    ]
    return tuple(one if isinstance(one, dict) else {} for one in entries)


def _now() -> str:
    return datetime.now(tz=UTC).isoformat(timespec="microseconds")
