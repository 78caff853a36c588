# SPDX-License-Identifier: Apache-2.0
"""Control of what a plan claims: whether the data bear it out, and whether it claims what such data can show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from assay.assess.controls.control_declaration import Inquiry, Outcome, control, no_evidence, settle
from assay.core.text import counted, listed
from assay.inference.decision_words import RESAMPLED
from assay.tally.base import digest

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
