# SPDX-License-Identifier: Apache-2.0
"""Controls of the plan against what was counted: task, measures, basis, predictions, results, claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from assay.assess.controls.control_declaration import Inquiry, Outcome, control, no_evidence, settle
from assay.assess.plan.checked_plan import stated
from assay.core.text import counted, listed, quoted
from assay.core.traits import Task
from assay.inference.decision_words import RESAMPLED
from assay.measures import REGISTRY
from assay.tally.base import digest
from assay.tasks.classification.settings import chosen, of_class, of_whole


@control("CHK-PLAN")
def plan_first(q: Inquiry) -> Outcome:
    """Looks for a valid plan, fixed before anything was counted, that governs every model."""
    facts = {"digest": q.loaded.digest, "frozen_at": q.frozen_at, "counted_at": q.counted_at, "signed": q.loaded.signed}
    if not q.loaded.document or not q.frozen_at:
        return no_evidence("there is no plan, or nobody fixed it")
    if q.counted_at and q.frozen_at > q.counted_at:
        return Outcome("fail", "rows were counted before the plan was fixed", facts=facts)
    said = "the plan was valid and fixed before the first row was counted"
    return Outcome("pass", said, facts=facts, inputs={"plan": q.loaded.digest})


@control("CHK-TASK")
def task(q: Inquiry) -> Outcome:
    """Looks for data that agree with the declared task."""
    if q.plan.task.type is None or q.assessment is None:
        return no_evidence("the plan declares no task, or nothing was counted")
    kind, declared = str(q.kind), q.plan.task.type
    if q.other_task:
        return Outcome("pass" if kind == declared else "fail", f"declared {declared}, counted as {kind}")
    labels = [str(one) for one in q.assessment.labels]
    facts = {"declared": declared, "found": kind, "classes": len(labels)}
    strange = [one for one in labels if one not in {str(x) for x in q.plan.task.classes or labels}]
    odd = f"declared {declared}, found {kind}" + (f"; undeclared classes {listed(strange)}" if strange else "")
    return settle(
        (kind != declared or strange, "fail", odd),
        (not q.plan.task.classes, "suspect", "the plan does not list the classes, so none can be missing"),
        (True, "pass", f"{counted(len(labels), 'class', 'classes')}, each row with one label: {kind} as declared"),
        facts=facts,
    )


@control("CHK-METRIC-TASK")
def measures_fit(q: Inquiry) -> Outcome:
    """Looks for planned measures that the task cannot have."""
    if not q.plan.metrics.measures or q.assessment is None:
        return no_evidence("the plan names no measures, or nothing was counted")
    planned = q.planned()
    if q.other_task:
        return Outcome("pass", f"{counted(len(planned), 'planned measure')} of {q.kind}")
    kind = Task(str(q.kind))
    fitting = {m.title for m in (*of_whole(kind, planned), *of_class(kind, planned)) if m.only in (None, kind)}
    unfit = [m.title for m in planned if m.title not in fitting]
    bare = [m.title for m in planned if m.from_scores and q.assessment.scores is None and m.title not in unfit]
    facts = {"planned": [m.title for m in planned], "unfit": unfit, "without_scores": bare}
    return settle(
        (unfit, "fail", f"a {kind} task does not have {listed(unfit)}"),
        (bare, "fail", f"there are no scores for {listed(bare)}"),
        (True, "pass", f"{counted(len(planned), 'planned measure')} fit a {kind} task"),
        facts=facts,
    )


@control("CHK-NAMES")
def names(q: Inquiry) -> Outcome:
    """Looks for names of measures that nobody declared."""
    used = {str(one["measure"]).partition("(")[0].partition("@")[0] for one in q.estimates}
    registry = REGISTRY if q.assessment is None else q.assessment.measures
    strange = sorted(used - {one.name for one in registry})
    if not used:
        return no_evidence("there are no results")
    if strange:
        return Outcome("fail", f"not in the catalogue: {listed(strange)}", facts={"strange": strange})
    return Outcome("pass", f"{counted(len(used), 'measure')}, all by their canonical names")


@control("CHK-PRED")
def predictions(q: Inquiry) -> Outcome:
    """Looks for gaps, repeats and missing labels among the predictions."""
    file = q.predictions.get(q.model)
    if q.assessment is None or file is None:
        return no_evidence("nothing was counted")
    census, column = q.assessment.census, q.plan.columns.id
    lost = census.read - census.scored
    facts = {"read": census.read, "scored": census.scored, "left_out": lost}
    if column is None or not file.has(column):
        return no_evidence("no id column is declared, so repeated and missing samples cannot be seen", facts=facts)
    repeated = file.rows() - file.distinct(column)
    gone = f"{counted(lost, 'row')} of {census.read:,} {'was' if lost == 1 else 'were'} left out: {census.said()}"
    return settle(
        (repeated, "fail", f"{counted(repeated, 'row')} {'repeats' if repeated == 1 else 'repeat'} an id"),
        (lost, "suspect", gone),
        (True, "pass", f"{counted(census.read, 'row')}, ids unique, every one with a true and a predicted label"),
        facts={**facts, "repeated_ids": repeated},
        inputs={file.name: file.sha256},
    )


@control("CHK-RESULT")
def results(q: Inquiry) -> Outcome:
    """Looks for planned measures without a result."""
    if not q.estimates:
        return no_evidence("there are no results")
    there = {str(one["measure"]) for one in q.estimates if one.get("value") is not None or one.get("undefined")}
    planned = [m.title for m in q.planned()]
    lacking = [title for title in planned if title not in there]
    facts = {"planned": planned, "lacking": lacking, "reported": len(there)}
    return settle(
        (lacking, "fail", f"no result for {listed(lacking)}"),
        (planned, "pass", f"{counted(len(planned), 'planned measure')}, all reported"),
        (True, "no-evidence", f"the plan specifies no measures; all {len(there)} that fit are reported"),
        facts=facts,
    )


@control("CHK-BASIS")
def basis(q: Inquiry) -> Outcome:
    """Looks for averages and multi-label measures without a reason."""
    kind = q.plan.task.type or q.kind
    given, wanted, said = _bases(q, several=kind == "multilabel")
    lacking = sorted(wanted - said)
    if kind == "binary":
        return Outcome("n/a", "two classes are not averaged")
    shown = "; ".join(f"{name}: {quoted(text)}" for name, text in given.items())
    return settle(
        (not said, "no-evidence", "no basis is stated"),
        (not wanted, "no-evidence", "the plan chooses no averages that a basis could belong to"),
        (lacking, "fail", f"planned without a stated basis: {listed(lacking)}"),
        (not q.loaded.signed, "no-evidence", "a basis is stated, but the plan is not signed"),
        (True, "pass", f"the basis is stated and reported here: {shown}"),
        facts={"stated": dict(given), "lacking": lacking},
    )


def _bases(q: Inquiry, *, several: bool) -> tuple[Mapping[str, str], set[str], set[str]]:
    """The stated bases, the averages that want one, and those that have one."""
    metrics = q.plan.metrics
    given = (metrics.multilabel_basis if several else metrics.averaging_basis) or {}
    said = {name for name, text in given.items() if stated(text)}
    if several:
        return given, {m.title for m in q.planned()}, {m.title for name in said for m in q.named(name)}
    wanted = {m.title for m in q.planned() if m.average is not None}
    return given, wanted, {m.title for name in said for m in chosen(name) or ()}


@control("CHK-N")
def sizes(q: Inquiry) -> Outcome:
    """Looks for values without the number of samples they rest on."""
    if not q.estimates or q.assessment is None:
        return no_evidence("there are no results")
    bare = [str(one["measure"]) for one in q.estimates if one.get("n") is None]
    unsure = [
        str(one["measure"])
        for one in q.estimates
        if one.get("value") is not None and not (one.get("interval") or one.get("no_interval"))
    ]
    by_class = {} if q.other_task else q.assessment.class_sizes()
    facts = {"values": len(q.estimates), "without_n": bare[:20], "without_interval": unsure[:20], "by_class": by_class}
    if bare or unsure:
        return Outcome("fail", f"without n or interval: {listed([*bare, *unsure])}", facts=facts)
    said = f"all {len(q.estimates):,} values carry n and an interval or the reason for none"
    said += "" if q.other_task else "; classes are counted"
    return Outcome("pass", said, facts=facts)


@control("CHK-SIG")
def significance(q: Inquiry) -> Outcome:
    """Looks for significance tests, or the statement that there are none."""
    counted_models = [name for name, one in q.plan.models.items() if one.counted]
    none, alone = q.plan.tests.none, "no significance test was made: one model was assessed, and nothing is compared"
    return settle(
        (q.findings, "pass", f"{counted(len(q.findings), 'test')} reported"),
        (q.signed(none), "pass", f"no significance test was made: {quoted(none)}"),
        (len(counted_models) == 1, "pass", alone),
        (True, "no-evidence", f"no test is reported: {q.not_compared or 'the plan does not say why'}"),
    )


BY_ACCURACY: Final = ("accuracy", "error_rate")
CROSS_VALIDATED: Final = ("cv-comparison",)


@control("CHK-CLAIM")
def claims(q: Inquiry) -> Iterator[Outcome]:
    """Looks for claims that the data contradict, or that such data cannot bear out."""
    if not q.claims:
        said = "the plan claims nothing that could be held against the data"
        yield from (no_evidence(said, part=part) for part in PARTS)
        return
    for part, look in PARTS.items():
        yield replace(look(q), part=part)


def _answers(q: Inquiry) -> Outcome:
    """Every claim with its answer and its n."""
    by = {word: [str(one["claim"]) for one in q.claims if one["answer"] == word] for word in ANSWERS}
    bare = [str(one["claim"]) for one in q.claims if one.get("n") is None]
    facts = {"claims": len(q.claims), **{word: len(found) for word, found in by.items()}, "without_n": bare}
    return settle(
        (by["contradicted"], "fail", f"contradicted by the data: {listed(by['contradicted'])}"),
        (bare, "fail", "claims without n"),
        (by["not decidable"], "suspect", f"not decidable from these data: {listed(by['not decidable'])}"),
        (True, "pass", f"{counted(len(q.claims), 'claim')}, all supported and each with its n"),
        facts=facts,
    )


def _accuracy(q: Inquiry) -> Outcome:
    """No comparison by accuracy where classes are unbalanced (TS 4213, 6.2.3)."""
    limit = q.plan.checks.imbalance_ratio
    said = [one for one in _comparing(q) if str(one["measure"]) in BY_ACCURACY]
    sizes = [int(float(n)) for one in said for n in one["n_by_class"].values() if float(n)]
    ratio = max(sizes) / min(sizes) if sizes else None
    claimed = [str(one["claim"]) for one in said]
    odd = f"unbalanced classes (largest over smallest {ratio or 0:.3g}) are compared by accuracy: {listed(claimed)}"
    return settle(
        (ratio is not None and ratio > limit, "fail", odd),
        (said, "pass", "by accuracy, of balanced classes"),
        (True, "pass", "no models are compared by accuracy"),
        facts={"by_accuracy": claimed, "ratio": ratio},
        thresholds={"imbalance_ratio": limit},
    )


def _estimand(q: Inquiry) -> Outcome:
    """Values of the algorithm are not claimed for the trained model (TS 4213, 5.3.6)."""
    resampled = q.plan.purpose.estimand == "algorithm" or any(
        aim in CROSS_VALIDATED for aim in q.plan.purpose.aims or ()
    )
    made = [one.comparison for one in q.contests.values() if one.comparison is not None]
    resampled = resampled or any(answer.kind in RESAMPLED for found in made for answer in found.answers)
    wrong = [
        str(one["claim"]) for one in q.claims if resampled and (one.get("about") or "trained-model") != "algorithm"
    ]
    return settle(
        (wrong, "fail", f"values of the algorithm are claimed for a trained model: {listed(wrong)}"),
        (True, "pass", "claims speak of what was assessed"),
        facts={"estimand": q.plan.purpose.estimand, "of_the_trained_model": wrong},
    )


def _credit(q: Inquiry) -> Outcome:
    """A gap is credited to the algorithm only where nothing else differs (TS 4213, 5.3.3 and 5.3.4)."""
    wrong, unknown = [], []
    for claim in _comparing(q):
        if claim.get("about") != "algorithm":
            continue
        pair = [q.plan.models[str(claim[role])] for role in ("model", "reference")]
        if any(model.trained_on is None or model.preprocessing is None for model in pair):
            unknown.append(str(claim["claim"]))
        elif len({digest(_background(model)) for model in pair}) > 1:
            wrong.append(str(claim["claim"]))
    credited = "credited to the algorithm,"
    return settle(
        (wrong, "fail", f"{credited} though training data or preprocessing differ: {listed(wrong)}"),
        (unknown, "no-evidence", f"{credited} but training data or preprocessing are not stated: {listed(unknown)}"),
        (True, "pass", "no difference is credited to more than caused it"),
        facts={"differing": wrong, "not_stated": unknown},
    )


def _background(model: Any) -> list[object]:  # noqa: ANN401  a model of the plan
    return [model.trained_on, [[step.step, step.fitted_on] for step in model.preprocessing or ()]]


def _comparing(q: Inquiry) -> list[Mapping[str, Any]]:
    return [one for one in q.claims if one.get("reference") is not None]


ANSWERS: Final = ("supported", "contradicted", "not decidable")
PARTS: Final = {"answers": _answers, "accuracy": _accuracy, "estimand": _estimand, "credit": _credit}
