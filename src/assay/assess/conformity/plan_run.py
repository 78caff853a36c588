# SPDX-License-Identifier: Apache-2.0
"""Running what a plan describes: it is fixed and hashed first, then every model is counted on every test split."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from assay.assess.compare.plan_comparison import Entrant, standings
from assay.assess.conformity.ledger import Access, looked, now, registered
from assay.assess.conformity.plan_contests import match
from assay.assess.conformity.plan_counts import Part, count_part, is_task_plan, parts_of
from assay.assess.conformity.plan_predictions import MadeHere, demand_consent, make_predictions
from assay.assess.conformity.plan_sources import PlanFiles, Progress
from assay.assess.conformity.statement import judge
from assay.assess.controls import Checked, Inquiry, Moment, run_controls
from assay.assess.plan.checked_plan import LoadedPlan
from assay.assess.record.machine_fingerprint import fingerprint
from assay.rows.files.file_digests import digest_of
from assay.tally.base import digest

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.conformity.plan_contests import Contest
    from assay.assess.decide.plan_results import Standing
    from assay.rows.limits import Limits

Watching = Callable[[str | list[str]], AbstractContextManager[Progress | None]]
Working = Callable[[str], AbstractContextManager[Progress]]


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


def run_planned(loaded: LoadedPlan, **given: Any) -> list[tuple[str, Assessment]]:  # noqa: ANN401  as `examined` has it
    """Every assessment a plan describes, judged, each with the name that tells it apart."""
    return [(one.title, one.judged()) for one in examined(loaded, **given)]


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
    frozen_at, salt = now(), secrets.token_hex(16)
    access = registered(loaded, frozen_at, enter=ledger)
    moments = [Moment(name="start", fields=fingerprint(salt))]
    before = dict(_artefacts(loaded))
    made: dict[tuple[str, str], MadeHere] = {}
    for one in make_predictions(loaded, limits):
        made[one.model, one.split] = one
        moments.append(Moment(name=f"model {one.model}", fields=fingerprint(salt)))
    parts = parts_of(loaded, made)
    counted: list[tuple[Part, Assessment, str]] = []
    for part in parts:
        began = now()
        with watched(_rows_of(part)) as progress:
            counted.append((part, count_part(loaded, part, frozen_at, limits, progress), began))
        if working is not None:
            with working(part.title(parts)) as progress:
                counted[-1][1].work_out(progress)
        moments.append(Moment(name=f"model {part.model}", fields=fingerprint(salt)))
    with watched(_rows_of(parts[0])) as progress:
        files = {part.model: part.rows for part in parts if part.rows is not None}
        opened = PlanFiles.of(loaded, files, limits, progress)
        contests, standings_by_model = _compared(opened, loaded, counted, limits)
        looks = {(part.model, part.split): _digest_of(opened, part, own) for part, own, _ in counted}
        entries = [{"model": model, "split": split, "data": data} for (model, split), data in looks.items()]
        access, after = looked(access, entries), dict(_artefacts(loaded))
        whole = Inquiry(
            loaded=loaded,
            frozen_at=frozen_at,
            moments=(*moments, Moment(name="end", fields=fingerprint(salt))),
            artefacts={name: (digest, after.get(name, "")) for name, digest in before.items()},
            **{part.name: getattr(opened, part.name) for part in fields(opened)},
            assessments={(part.model, part.split): own for part, own, _ in counted},
            contests=contests,
            ledger=access.entries if access.ledger.named else None,
            access=access,
            ran_here=bool(made) and all((part.model, part.split) in made for part in parts),
            made=made,
        )
        return _controlled(whole, access, counted, standings_by_model, looks)


def _compared(
    opened: PlanFiles, loaded: LoadedPlan, counted: list[tuple[Part, Assessment, str]], limits: Limits | None
) -> tuple[dict[str, Contest], dict[tuple[str, str], Standing]]:
    """The models of a plan against each other, by test split, and how each stands to the others."""
    entrants = [
        Entrant(
            name=part.model,
            split=part.split,
            model=loaded.plan.models[part.model],
            rows=part.rows,
            truth=part.truth,
            assessment=own,
            repeated=_repeated(opened, part, loaded.plan.columns.subject),
        )
        for part, own, _ in counted
        if part.rows is not None and not is_task_plan(loaded)
    ]
    contests = match(loaded, entrants, limits, opened)
    return contests, standings(loaded, entrants, contests)


def _controlled(
    whole: Inquiry,
    access: Access,
    counted: list[tuple[Part, Assessment, str]],
    beside: Mapping[tuple[str, str], Standing],
    looks: Mapping[tuple[str, str], str],
) -> list[Examined]:
    """Every control on what was counted."""
    shared, parts = tuple(run_controls(whole, "plan")), tuple(part for part, *_ in counted)
    examined = []
    for part, alone, began in counted:
        key = part.model, part.split
        assessment = alone.beside(beside[key]) if key in beside else alone
        assessment = assessment.with_evidence(ledger=access.to_json(looks[key]))
        inquiry = _about(whole, part, assessment, began)
        checked = (*shared, *run_controls(inquiry, "assessment"))
        examined.append(Examined(title=part.title(parts), assessment=assessment, inquiry=inquiry, checked=checked))
    return examined


def _rows_of(part: Part) -> str | list[str]:
    """Where the rows of a part lie, for who watches."""
    return [] if part.rows is None else part.rows.data


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


def _digest_of(opened: PlanFiles, part: Part, assessment: Assessment) -> str:
    """What a test set is known by in a ledger: the digest of its file."""
    held = opened.splits.get(part.split)
    return held.sha256 if held is not None else digest(assessment.record["plan"]["data"])


def _artefacts(loaded: LoadedPlan) -> Iterator[tuple[str, str]]:
    """Model -> digest of its file."""
    for name, one in loaded.plan.models.items():
        if one.artefact is not None:
            yield name, digest_of(str(loaded.folder / one.artefact))
