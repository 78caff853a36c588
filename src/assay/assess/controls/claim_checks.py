# SPDX-License-Identifier: Apache-2.0
"""Control of what a plan claims: whether the data bear it out, and whether it claims what such data can show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.assess.controls.control_declaration import Outcome, Verdict, control, no_evidence
from assay.assess.controls.evidence import Inquiry
from assay.core.text import counted, listed
from assay.core.traits import TS4213
from assay.inference.decision_words import RESAMPLED
from assay.tally.base import digest

BY_ACCURACY: Final = ("accuracy", "error_rate")
CROSS_VALIDATED: Final = ("cv-comparison",)


@control(
    "CHK-CLAIM",
    looks_for="claims that the data contradict, or that such data cannot bear out",
    clause=TS4213("7.1"),
    passes_when="every claim is supported, carries its n, compares no unbalanced classes by accuracy, speaks of what "
    "was assessed, and credits an algorithm only where training data and preprocessing are alike",
    scope="assessment",
    parts=("answers", "accuracy", "estimand", "credit"),
    lacks="claims",
    of_classes=True,
)
def claims(q: Inquiry) -> Iterator[Outcome]:
    """Claims, held against the data and against what data of this kind can show."""
    if not q.claims:
        said = "the plan claims nothing that could be held against the data"
        yield from (no_evidence(said, part=part) for part in PARTS)
        return
    for part, look in PARTS.items():
        yield look(q, part)


def _answers(q: Inquiry, part: str) -> Outcome:
    """Every claim with its answer and its n."""
    by = {word: [str(one["claim"]) for one in q.claims if one["answer"] == word] for word in ANSWERS}
    bare = [str(one["claim"]) for one in q.claims if one.get("n") is None]
    facts = {"claims": len(q.claims), **{word: len(found) for word, found in by.items()}, "without_n": bare}
    if by["contradicted"] or bare:
        said = f"contradicted by the data: {listed(by['contradicted'])}" if by["contradicted"] else "claims without n"
        return Outcome("fail", said, part=part, facts=facts)
    if by["not decidable"]:
        said = f"not decidable from these data: {listed(by['not decidable'])}"
        return Outcome("suspect", said, part=part, facts=facts)
    said = f"{counted(len(q.claims), 'claim')}, all supported and each with its n"
    return Outcome("pass", said, part=part, facts=facts)


def _accuracy(q: Inquiry, part: str) -> Outcome:
    """No comparison by accuracy where classes are unbalanced (TS 4213, 6.2.3)."""
    limit = q.plan.checks.imbalance_ratio
    said = [one for one in _comparing(q) if str(one["measure"]) in BY_ACCURACY]
    sizes = [int(float(n)) for one in said for n in one["n_by_class"].values() if float(n)]
    ratio = max(sizes) / min(sizes) if sizes else None
    facts = {"by_accuracy": [str(one["claim"]) for one in said], "ratio": ratio}
    bad = ratio is not None and ratio > limit
    words = "by accuracy, of balanced classes" if said else "no models are compared by accuracy"
    if bad:
        words = f"unbalanced classes (largest over smallest {ratio:.3g}) are compared by accuracy: "
        words += listed([str(one["claim"]) for one in said])
    verdict: Verdict = "fail" if bad else "pass"
    return Outcome(verdict, words, part=part, facts=facts, thresholds={"imbalance_ratio": limit})


def _estimand(q: Inquiry, part: str) -> Outcome:
    """Values of the algorithm are not claimed for the trained model (TS 4213, 5.3.6)."""
    resampled = q.plan.purpose.estimand == "algorithm" or any(
        aim in CROSS_VALIDATED for aim in q.plan.purpose.aims or ()
    )
    made = [one.comparison for one in q.contests.values() if one.comparison is not None]
    resampled = resampled or any(answer.kind in RESAMPLED for found in made for answer in found.answers)
    wrong = [
        str(one["claim"]) for one in q.claims if resampled and (one.get("about") or "trained-model") != "algorithm"
    ]
    facts = {"estimand": q.plan.purpose.estimand, "of_the_trained_model": wrong}
    if wrong:
        said = f"values of the algorithm are claimed for a trained model: {listed(wrong)}"
        return Outcome("fail", said, part=part, facts=facts)
    return Outcome("pass", "claims speak of what was assessed", part=part, facts=facts)


def _credit(q: Inquiry, part: str) -> Outcome:
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
    facts = {"differing": wrong, "not_stated": unknown}
    if wrong:
        said = f"credited to the algorithm, though training data or preprocessing differ: {listed(wrong)}"
        return Outcome("fail", said, part=part, facts=facts)
    if unknown:
        said = f"credited to the algorithm, but training data or preprocessing are not stated: {listed(unknown)}"
        return no_evidence(said, part=part, facts=facts)
    return Outcome("pass", "no difference is credited to more than caused it", part=part, facts=facts)


def _background(model: Any) -> list[object]:  # noqa: ANN401  a model of the plan
    return [model.trained_on, [[step.step, step.fitted_on] for step in model.preprocessing or ()]]


def _comparing(q: Inquiry) -> list[Mapping[str, Any]]:
    return [one for one in q.claims if one.get("reference") is not None]


ANSWERS: Final = ("supported", "contradicted", "not decidable")
PARTS: Final = {"answers": _answers, "accuracy": _accuracy, "estimand": _estimand, "credit": _credit}
