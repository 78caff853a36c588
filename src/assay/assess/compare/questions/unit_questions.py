# SPDX-License-Identifier: Apache-2.0
"""Questions about rows that are not independent or not of equal weight: every measure by swaps of whole units.

Very many units are not swapped: they are judged by how far each moves the measure.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np

from assay.assess.compare.questions.label_questions import by_pairs, not_alone, of_costs, of_labels, of_scores
from assay.assess.compare.questions.request import Answer, Asked, Asking
from assay.core.errors import PlanError
from assay.core.labels import Label
from assay.inference import decision_words
from assay.inference.choose_test import insist
from assay.inference.decision_words import BALANCED, Facts, Kind, Question
from assay.inference.units.class_score_units import OF_CLASSES, class_value, judge_units
from assay.measures.declare import Measure, parse
from assay.tally.paired.joint_cells import PairedLabels
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from assay.tally.scores.ranked_table import Ranked

BINARY: Final = ("accuracy", "recall", "specificity")
SEVERAL: Final = ("accuracy",)
SWAPS: Final = {
    Kind.SUBJECTS: "subject_permutation",
    Kind.WEIGHTED: "weighted_permutation",
    Kind.CLASS_SCORES: "class_score_permutation",
}
OF_VERY_MANY: Final = "unit_z"


def of_rows(t: PerUnit, asked: Asked, *, positive: Label | None) -> list[Answer]:
    """Labels and scores of subjects, or of weighted rows."""
    kind, many = _kind(t), t.units > decision_words.MANY_UNITS
    asking = Asking(asked=asked, kind=kind, models=len(t.models))
    sizes = t.class_weights()
    sizes = sizes[sizes > 0]
    imbalance = float(sizes.max() / sizes.min())
    facts = Facts(n=t.n, blocks=t.units, models=len(t.models))
    if asked.test is not None and asked.test not in (OF_VERY_MANY, SWAPS[kind]):
        return _forced(t, asked, kind, facts, positive)
    if many and kind is not Kind.CLASS_SCORES and asked.stratified:
        raise PlanError(
            "comparison-needs",
            f"{t.units:,} units are compared by a large-sample test, which draws nothing",
            where="stratified",
            fix="leave it out",
        )
    measures = _wanted(t, asked, imbalance, positive=positive is not None)
    answers = of_costs(asking, t, facts) if t.calls is not None else []
    answers += by_pairs(asking, t, facts, measures, positive=positive, free=asked.test is None)
    about = [*(["accuracy"] if t.calls is not None else []), *([_area(t)] if t.scores is not None else [])]
    answers += asking.margins(t, facts, about, positive)
    return [_accuracy_marked(one, imbalance) for one in answers] if imbalance > BALANCED else answers


def _kind(t: PerUnit) -> Kind:
    return Kind.SUBJECTS if t.subject is not None else Kind.WEIGHTED if t.weight is not None else Kind.CLASS_SCORES


def unit_values(t: PerUnit, positive: Label | None) -> tuple[str, dict[str, float], bool]:
    """The measure models are ranked by, the value of each, and that high is good."""
    sizes = t.class_weights()
    unbalanced = float(sizes.max()) > BALANCED * float(sizes.min())
    of_labels = "balanced_accuracy" if unbalanced and sizes.min() else "accuracy"
    if t.classwise:
        areas = {model: class_value(t, "auroc_macro", model) for model in t.models}
        return "auroc_macro", {model: 0.0 if math.isnan(value) else value for model, value in areas.items()}, True
    name = "auroc" if t.calls is None else of_labels
    found = {model: judge_units(t.only(model, model), name, positive).values()[0] for model in t.models}
    return name, {model: 0.0 if math.isnan(value) else value for model, value in found.items()}, True


def _area(t: PerUnit) -> str:
    return "auroc_macro" if t.classwise else "auroc"


def _wanted(t: PerUnit, asked: Asked, imbalance: float, *, positive: bool) -> list[Measure]:
    """Accuracy first, or the mean of the recalls where the classes are unbalanced; then what else was asked for."""
    names: list[str] = []
    if t.calls is not None:
        names += BINARY if positive else SEVERAL
        if imbalance > BALANCED:
            names.insert(0, "balanced_accuracy")
    if t.scores is not None:
        names.append(_area(t))
    found = [parse(name) for name in names] + list(asked.measures)
    return list({one.title: one for one in found if _fits(t, one)}.values())


def _fits(t: PerUnit, measure: Measure) -> bool:
    """Whether the rows hold what a measure reads."""
    if measure.takes in OF_CLASSES:
        return t.classwise
    return t.scores is not None and not t.classwise if measure.takes is Ranked else t.calls is not None


def _forced(t: PerUnit, asked: Asked, kind: Kind, facts: Facts, positive: Label | None) -> list[Answer]:
    """A test that takes rows one by one, where somebody insists on it: its label says what it disregards."""
    forced = insist(
        asked.test or "", kind, len(t.models), Question.MEASURE, facts,
        because=asked.because, override=asked.override, accept_dependence=asked.accept_dependence,
    )  # fmt: skip
    free = replace(asked, test=forced.test.name if forced.test else None, because=asked.because, override=True)
    takes = None if forced.test is None else forced.test.takes
    if takes is PairedScores and t.scores is not None and positive is not None:
        is_positive = t.truth == t.labels.index(positive)
        rows = PairedScores.of(is_positive, dict(zip(t.models, t.scores, strict=True)))
        answers = of_scores(rows, free)
    elif takes not in (PairedScores, PerUnit) and t.calls is not None:
        codes, place = np.unique(np.stack([t.truth, *t.calls]), axis=1, return_inverse=True)
        rows = np.bincount(place.ravel(), weights=t.entries).astype(np.int64).tolist()
        by_label = {tuple(t.labels[i] for i in cell): n for cell, n in zip(codes.T.tolist(), rows, strict=True)}
        answers = of_labels(
            PairedLabels.from_cells(by_label, models=t.models, labels=t.labels), free, positive=positive
        )
    else:
        raise PlanError(
            "comparison-needs", f"{asked.test} has no values to take", fix="give predictions, or scores of two classes"
        )
    return [_marked(one, kind, forced.label) for one in answers[:1]]


def _accuracy_marked(answer: Answer, imbalance: float) -> Answer:
    marked = not_alone(answer, imbalance).findings
    told = (new if old.about == "accuracy" else old for old, new in zip(answer.findings, marked, strict=True))
    return replace(answer, findings=tuple(told))


def _marked(one: Answer, kind: Kind, label: str) -> Answer:
    told = tuple(finding.said(label=label) for finding in one.findings)
    return replace(one, kind=kind, choice=replace(one.choice, label=label), findings=told)
