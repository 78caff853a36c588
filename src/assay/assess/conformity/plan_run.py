# SPDX-License-Identifier: Apache-2.0
"""Running what a plan describes: it is fixed and hashed first, then every model is counted on every test split."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.assess.arguments import IntervalSettings, ScoreSettings
from assay.assess.assess import assess
from assay.assess.compare.plan_comparison import Entrant, match, standings
from assay.assess.conformity.ledger import Access, looked, registered
from assay.assess.conformity.plan_files import PlanFiles, Progress
from assay.assess.conformity.plan_predictions import MadeHere, demand_consent, digest_of_file, make_predictions
from assay.assess.conformity.plan_sources import Held, of_model, of_split
from assay.assess.conformity.statement import judge
from assay.assess.conformity.task_plan import is_task_plan, run_task_plan
from assay.assess.controls import Checked, Inquiry, Moment, run_controls
from assay.assess.plan.checked_plan import LoadedPlan
from assay.assess.plan.plan_answers import channel_columns, splits_of
from assay.assess.record.machine_fingerprint import fingerprint
from assay.assess.shared_tally import pooled
from assay.core.errors import PlanError, RowsError
from assay.core.text import quoted, visible
from assay.tally.base import digest

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.plan.datasets import Split
    from assay.assess.plan.model_fields import Model
    from assay.rows.limits import Limits

Watching = Callable[[str | list[str]], AbstractContextManager[Progress | None]]
Working = Callable[[str], AbstractContextManager[Progress]]


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
    rows: Held
    truth: Held | None = None
    """Where truth is, if not beside the predictions."""

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


def parts_of(loaded: LoadedPlan, made: Mapping[tuple[str, str], MadeHere] | None = None) -> tuple[Part, ...]:
    """Every model with predictions, in files or made here, on every test split."""
    plan, where = loaded.plan, visible(loaded.path)
    if plan.columns.truth is None:
        raise _lack(where, "the truth column", 'columns.truth = "..."')
    splits = {name: one for name, one in splits_of(loaded, "test").items() if one.path is not None}
    if not splits:
        raise _lack(where, "a test split with a file", '[data.test] path = "..."')
    models = {name: one for name, one in plan.models.items() if one.counted}
    if not models:
        raise _lack(where, "a model with predictions", '[models.NAME] predicted = "COLUMN", or score and threshold')
    return tuple(
        _part(loaded, model, one, split, split_, (made or {}).get((model, split)))
        for split, split_ in splits.items()
        for model, one in models.items()
    )


def _part(loaded: LoadedPlan, name: str, model: Model, split: str, of: Split, made: MadeHere | None) -> Part:  # noqa: PLR0917
    rows, truth = of_model(loaded, model, of)
    if made is not None:
        rows, truth = Held(places=(str(made.path),)), of_split(loaded, of)
    return Part(model=name, split=split, rows=rows, truth=truth)


def _lack(where: str, what: str, fix: str) -> PlanError:
    return PlanError("role-missing", f"the plan does not name {what}", where=where, fix=fix)


def columns_by_group(loaded: LoadedPlan) -> list[str]:
    """Columns whose levels are assessed one by one: groups of people, channels, strata."""
    plan = loaded.plan
    strata, people = (stratum.column for stratum in plan.use.strata or ()), plan.fairness.groups or ()
    return list(dict.fromkeys([*people, *channel_columns(plan).values(), *strata]))


def count_part(
    frozen: Frozen, part: Part, *, limits: Limits | None = None, progress: Progress | None = None
) -> Assessment:
    """The assessment of one part, with the plan it followed."""
    plan = frozen.loaded.plan
    reading, intervals, model = plan.reading, plan.intervals, plan.models[part.model]
    # A pin would be asked of the validation file too; every split is held against its own pin when controls open it.
    pinned = model.threshold_from is None and part.truth is None
    found = assess(
        data=part.rows.data,
        id=None if part.truth is None else plan.columns.id,
        truth=plan.columns.truth,
        predicted=model.predicted,
        score=model.score,
        threshold=model.threshold if model.threshold_rule is None else model.threshold_rule,
        scores=ScoreSettings(
            kind=model.scores,
            missing=model.missing_score,
            renormalise=model.renormalise,
            threshold_from=_elsewhere(frozen.loaded, model),
            operating_points=plan.metrics.operating_points or () if model.score is not None else (),
        ),
        unit=plan.columns.subject if plan.columns.weight is None else None,
        weight=plan.columns.weight,
        group=columns_by_group(frozen.loaded) or None,
        positive=plan.task.positive,
        labels=plan.task.classes,
        level=intervals.level,
        intervals=IntervalSettings(
            shares=intervals.shares, cells=intervals.cells, seed=intervals.seed, undefined=plan.metrics.undefined
        ),
        measures=plan.metrics.measures,
        costs=plan.metrics.costs,
        missing=reading.missing,
        engine=reading.engine,
        reading=replace(
            part.rows.reading(frozen.loaded, pinned=pinned, truth=part.truth),
            truth_data=None if part.truth is None else part.truth.data,
            unknown=reading.unknown,
            unmatched=reading.unmatched,
            spelled=True,
            progress=progress,
        ),
        limits=limits,
    )
    _demand_rows(frozen.loaded, part, found)
    _demand_task(frozen.loaded, part, found)
    if plan.fairness.smallest_cell is not None:
        found = pooled(found, plan.fairness.smallest_cell)
    if (fair := plan.fairness).judged is not None:
        found = found.require_fairness(
            fair.judged, tolerance=fair.tolerance, minimum=fair.minimum or 10, reason=fair.criterion or ""
        )
    if plan.metrics.accept:
        against = None if plan.metrics.against is None else frozen.loaded.folder / plan.metrics.against
        found = found.accept(*plan.metrics.accept, against=against, correction=plan.metrics.correction)
    return found.with_evidence(plan=frozen.to_json(part.model, part.split))


def _elsewhere(loaded: LoadedPlan, model: Model) -> str | list[str] | None:
    """The rows of the split on which a threshold is chosen."""
    if model.threshold_from is None:
        return None
    held = of_split(loaded, loaded.plan.data[model.threshold_from])
    if held is None:
        raise _lack(visible(loaded.path), "the file", f'[data.{model.threshold_from}] path = "..."')
    return held.data


def _demand_rows(loaded: LoadedPlan, part: Part, found: Assessment) -> None:
    wanted = loaded.plan.data[part.split].rows
    if wanted is not None and found.census.read != wanted:
        raise RowsError(
            "digest-mismatch",
            "the file does not hold as many rows as the plan states",
            where=part.rows.name,
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
            where=part.rows.name,
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
        made = self.inquiry.made.get((self.inquiry.model, self.inquiry.split))
        run = {} if made is None else {"run": made.to_json()}
        return self.assessment.with_evidence(
            controls=[one.to_json() for one in self.checked],
            conformity=judge(self.inquiry, self.checked, self.assessment.record).to_json(),
            environment={"fingerprint": dict(self.inquiry.moments[0].fields), **run},
        )


def run_planned(
    loaded: LoadedPlan,
    *,
    limits: Limits | None = None,
    watching: Watching | None = None,
    working: Working | None = None,
    ledger: bool = True,
    allow_command: bool = False,
) -> list[tuple[str, Assessment]]:
    """Every assessment a plan describes, judged, each with the name that tells it apart."""
    if is_task_plan(loaded):
        return run_task_plan(loaded, limits=limits, working=working)
    found = examined(
        loaded, limits=limits, watching=watching, working=working, ledger=ledger, allow_command=allow_command
    )
    return [(one.title, one.judged()) for one in found]


def examined(
    loaded: LoadedPlan,
    *,
    limits: Limits | None = None,
    watching: Watching | None = None,
    working: Working | None = None,
    ledger: bool = True,
    allow_command: bool = False,
) -> list[Examined]:
    """Fix the plan and enter it in its ledger, count every part, enter every look, and let every control look."""
    watched = watching or (lambda _path: nullcontext(None))
    demand_consent(loaded, allowed=allow_command)
    parts_of(loaded)  # a plan that cannot be counted runs nothing
    frozen, salt = freeze(loaded), secrets.token_hex(16)
    access = registered(loaded, frozen.frozen_at, enter=ledger)
    moments = [Moment(name="start", fields=fingerprint(salt))]
    before = dict(_artefacts(loaded))
    made: dict[tuple[str, str], MadeHere] = {}
    for one in make_predictions(loaded, limits):
        made[one.model, one.split] = one
        moments.append(Moment(name=f"model {one.model}", fields=fingerprint(salt)))
    parts = parts_of(loaded, made)
    counted: list[tuple[Part, Assessment, str]] = []
    for part in parts:
        began = _now()
        with watched(part.rows.data) as progress:
            counted.append((part, count_part(frozen, part, limits=limits, progress=progress), began))
        if working is not None:
            with working(part.title(parts)) as progress:
                counted[-1][1].work_out(progress)
        moments.append(Moment(name=f"model {part.model}", fields=fingerprint(salt)))
    with watched(parts[0].rows.data) as progress:
        opened = PlanFiles.of(loaded, {part.model: part.rows for part in parts}, limits, progress)
        return _controlled(frozen, opened, parts, counted, before, tuple(moments), salt, access, limits, made)


def _controlled(  # noqa: PLR0917  all that was counted before
    frozen: Frozen,
    opened: PlanFiles,
    parts: tuple[Part, ...],
    counted: list[tuple[Part, Assessment, str]],
    before: Mapping[str, str],
    moments: tuple[Moment, ...],
    salt: str,
    access: Access,
    limits: Limits | None,
    made: Mapping[tuple[str, str], MadeHere],
) -> list[Examined]:
    """Every control on what was counted."""
    loaded = frozen.loaded
    entrants = [
        Entrant(
            name=part.model,
            split=part.split,
            model=loaded.plan.models[part.model],
            rows=part.rows,
            truth=part.truth,
            assessment=one,
            repeated=_repeated(opened, part, loaded.plan.columns.subject),
        )
        for part, one, _ in counted
    ]
    contests = match(loaded, entrants, limits, opened)
    beside = standings(loaded, entrants, contests)
    looks = [(part.model, part.split, _digest_of(opened, part, found)) for part, found, _ in counted]
    access = looked(loaded, access, ({"model": model, "split": split, "data": data} for model, split, data in looks))
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
        reference=opened.reference,
        fold_tables=opened.folds_of,
        latencies=opened.latencies,
        assessments={(part.model, part.split): one for part, one, _ in counted},
        contests=contests,
        ledger=access.entries if access.named else None,
        access=access,
        ran_here=bool(made) and all((part.model, part.split) in made for part in parts),
        made=made,
    )
    shared = tuple(run_controls(whole, "plan"))
    found = []
    for part, alone, began in counted:
        standing = beside.get((part.model, part.split))
        assessment = alone if standing is None else alone.beside(standing)
        data = next(data for model, split, data in looks if (model, split) == (part.model, part.split))
        assessment = assessment.with_evidence(ledger=access.to_json(data))
        inquiry = _about(whole, part, assessment, began)
        checked = (*shared, *run_controls(inquiry, "assessment"))
        found.append(Examined(title=part.title(parts), assessment=assessment, inquiry=inquiry, checked=checked))
    return found


def _about(whole: Inquiry, part: Part, assessment: Assessment, began: str) -> Inquiry:
    """What the controls of one assessment look at."""
    record = assessment.record
    return replace(
        whole,
        model=part.model,
        split=part.split,
        assessment=assessment,
        estimates=tuple(record["estimates"]),
        findings=tuple(record["findings"]),
        points=tuple(record.get("operating_points", ())),
        claims=tuple(record.get("claims", ())),
        not_compared=record["plan"].get("not_compared"),
        counted_at=began,
    )


def _repeated(opened: PlanFiles, part: Part, subject: str | None) -> bool:
    """Whether a subject has several rows, among the predictions or where the truth lies."""
    held = opened.splits.get(part.split) if part.truth is not None else opened.predictions.get(part.model)
    return subject is not None and held is not None and held.has(subject) and held.distinct(subject) < held.rows()


def _digest_of(opened: PlanFiles, part: Part, found: Assessment) -> str:
    """What a test set is known by in a ledger: the digest of its file."""
    held = opened.splits.get(part.split)
    return held.sha256 if held is not None else digest(found.record["plan"]["data"])


def _artefacts(loaded: LoadedPlan) -> Iterator[tuple[str, str]]:
    """Model -> digest of its file."""
    for name, one in loaded.plan.models.items():
        if one.artefact is not None:
            yield name, digest_of_file(loaded.folder / one.artefact)


def _now() -> str:
    return datetime.now(tz=UTC).isoformat(timespec="microseconds")
