# SPDX-License-Identifier: Apache-2.0
"""Running what a plan describes: it is fixed and hashed first, then models are counted and compared by split."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final

from assay.assess.arguments import arrange
from assay.assess.compare.compare import compare, compare_values
from assay.assess.compare.comparison import ByChannel, by_channel
from assay.assess.compare.plan_comparison import Entrant, request_of, standings
from assay.assess.conformity.ledger import Access, looked, now, registered
from assay.assess.conformity.plan_counts import Part, count_part, is_task_plan, parts_of
from assay.assess.conformity.plan_sources import MadeHere, PlanFiles, Progress, demand_consent, make_predictions
from assay.assess.conformity.statement import judge
from assay.assess.controls import Checked, Inquiry, Moment, run_controls
from assay.assess.controls.machine import fingerprint
from assay.assess.plan.checked_plan import LoadedPlan, stated
from assay.assess.plan.plan_answers import splits_of
from assay.core.errors import PlanError, RowsError
from assay.core.text import listed, visible
from assay.inference.tests_catalogue import tests_meant
from assay.rows.files.file_digests import digest_of
from assay.tally.base import digest

if TYPE_CHECKING:
    from assay.assess.assessment import Assessment
    from assay.assess.compare.comparison import Comparison
    from assay.assess.decide.plan_results import Standing
    from assay.rows.limits import Limits

PAIR: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A test that the plan names: whether the table admits it, and why or why not; None where nobody can tell."""

    test: str
    admitted: bool | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """The models on one test split: the comparison, or why there is none, and what became of the named tests."""

    models: tuple[str, ...]
    comparison: Comparison | None
    why_not: str = ""
    named: tuple[Named, ...] = ()
    channels: Mapping[str, ByChannel] = field(default_factory=dict)
    """By channel column, where the rows of its levels could be compared."""


def match(
    loaded: LoadedPlan, entrants: Sequence[Entrant], limits: Limits | None = None, opened: PlanFiles | None = None
) -> dict[str, Contest]:
    """By test split: the models compared on the rows they all answered, or by values; or why they were not."""
    contests = {}
    for split in dict.fromkeys(entrant.split for entrant in entrants):
        here = [entrant for entrant in entrants if entrant.split == split]
        if len(here) < PAIR:
            continue
        contests[split] = fought(loaded, here, limits, opened)
    return contests


def fought(loaded: LoadedPlan, entrants: Sequence[Entrant], limits: Limits | None, opened: PlanFiles | None) -> Contest:
    """Compare models by the table's tests, or by the one that the plan names if it may, or overrides the table."""
    tests, models = loaded.plan.tests, tuple(entrant.name for entrant in entrants)
    try:
        given, channels = request_of(loaded, entrants, limits, opened)
        comparison = _compare_given(given)
        apart = {one: by_channel(comparison, given, one) for one in channels} if len(models) == PAIR else {}
    except (PlanError, RowsError) as error:
        # Told in the Record: without a comparison there is no evidence. What was found names rows, and ids stay out.
        return Contest(models=models, comparison=None, why_not=error.what)
    named = tuple(_named(name, comparison, given, tests.justification) for name in tests.chosen or ())
    by_hand = [one.test for one in named if one.admitted is None or (one.admitted is False and tests.override)]
    if len(by_hand) > 1:
        what = f"{len(by_hand)} tests are chosen by hand for one question"
        where = f"{visible(loaded.path)}, tests.chosen"
        fix = "keep one: of several, the one that pleases would be reported"
        raise PlanError("role-clash", what, where=where, found=listed(by_hand), fix=fix)
    if by_hand and not stated(tests.justification):
        what = f"{by_hand[0]} is not the test that the table gives here, and the plan does not say why it is chosen"
        where = f"{visible(loaded.path)}, tests.justification"
        fix = "leave the test out, or state tests.justification"
        raise PlanError("test-refused", what, where=where, found=comparison.answers[0].choice.why, fix=fix)
    if by_hand:
        comparison = _compare_given(given, test=by_hand[0], because=tests.justification, override=bool(tests.override))
    return Contest(models=models, comparison=comparison, named=named, channels=apart)


def _compare_given(given: Mapping[str, Any], **more: Any) -> Comparison:  # noqa: ANN401  options by name
    """Labels and scores row by row, or values where they are given."""
    return (compare_values if "values" in given else compare)(**arrange(**given, **more))


def _named(name: str, comparison: Comparison, given: Mapping[str, Any], because: str | None) -> Named:
    """Whether a test that the plan names is the one the table gives, by its own name or by that of its family."""
    meant = {one.name for one in tests_meant(name)}
    for answer in comparison.answers:
        every = (answer.choice.test, *answer.choice.beside, answer.choice.after)
        if meant & {one.name for one in every if one is not None}:
            return Named(test=name, admitted=True, why=answer.choice.why)
    if len(meant) > 1:  # a family of which no form is the table's
        first = comparison.answers[0].choice
        given_ = "no test" if first.test is None else first.test.name
        return Named(test=name, admitted=False, why=f"the table gives {given_}: {first.why}")
    try:
        forced = _compare_given(given, test=name, because=because)
    except (PlanError, RowsError) as error:
        return Named(test=name, admitted=False, why=f"{error.what}; {error.found or error.fix or ''}".rstrip("; "))
    choice = next(one.choice for one in forced.answers if one.choice.test is not None and one.choice.test.name in meant)
    return Named(test=name, admitted=None, why=choice.label or choice.why)


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
    for one in make_predictions(loaded, splits_of(loaded, "test"), limits):
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
