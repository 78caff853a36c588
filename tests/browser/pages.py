# SPDX-License-Identifier: Apache-2.0
"""One page of every kind, made once a process."""

from __future__ import annotations

from functools import cache

import numpy as np

import assay
import assay.report
from assay.assess.record.record import Record
from assay.assess.record.report_formats import RENDERERS
from tests.layers.assess.examples import example
from tests.layers.report import examples

EVIL = examples.NASTY[1]
FEW = assay.IntervalSettings(draws=500)
"""A quarter of the usual draws: what a page shows, and where, does not hang on them."""


@cache
def scored(names=("healthy", "ill")):
    """Two classes, scores that are probabilities, a stated threshold."""
    rng = np.random.default_rng(4213)
    ill = rng.random(1000) < 0.25
    score = 1 / (1 + np.exp(-(rng.normal(size=1000) * 1.2 + 1.9 * ill - 1.3)))
    return assay.assess(
        truth=np.array(names)[ill * 1],
        score=score,
        scores=assay.ScoreSettings(kind="probability"),
        positive=names[1],
        threshold=0.4,
        intervals=FEW,
    )


@cache
def scores_of(names=("cat", "dog", "fox", "owl")):
    """Several classes with a score each."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, len(names), 400)
    matrix = rng.dirichlet(np.ones(len(names)) * 0.7, 400)
    matrix[np.arange(400), truth] += 0.5
    score = dict(zip(names, (matrix / matrix.sum(axis=1, keepdims=True)).T, strict=True))
    return assay.assess(
        truth=[names[i] for i in truth],
        score=score,
        scores=assay.ScoreSettings(kind="probability"),
        intervals=FEW,
    )


@cache
def compared(models=("forest", "boosting", "logistic")):
    """Three models on the same rows."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 400)
    score = {m: np.clip(truth * k + rng.random(400) * 0.7, 0, 1) for m, k in zip(models, (0.4, 0.5, 0.2), strict=True)}
    return assay.compare(truth=truth, predicted={m: (s >= 0.5) * 1 for m, s in score.items()}, score=score, positive=1)


@cache
def ranked(models=("forest", "boosting", "logistic", "nearest")):
    """Four models on fifteen data sets."""
    rng = np.random.default_rng(2)
    values = {m: rng.normal(size=15) + shift for m, shift in zip(models, (0, 0.2, 2, 3), strict=True)}
    return assay.compare_values(values=values, per="data set")


def judged(kind):
    """The worked assessment with its conformity statement."""
    return example(kind)[0].judged()


def attacked(content, key=""):
    """A planned Record whose every free text is an attack; names that stand for something stay."""
    if isinstance(content, dict):
        return {name: attacked(value, str(name)) for name, value in content.items()}
    if isinstance(content, list):
        return [attacked(one, key) for one in content]
    free = {"says", "answer", "demand", "why", "title", "scope", "assessor"}
    return f"{EVIL} {content}" if key in free and isinstance(content, str) else content


def hostile():
    """The faulty assessment, its texts replaced."""
    content = dict(judged("faulty").record)
    kept = {name: attacked(content[name]) for name in ("controls", "conformity", "plan")}
    return Record({**content, **kept})


MADE = {
    "two classes": lambda: examples.screening().record,
    "decided": lambda: examples.screening().accept("recall >= 0.75", "precision >= 0.95", "f1 >= 0.74").record,
    "nine classes": lambda: examples.classes(9).record,
    "forty classes": lambda: examples.classes(40).record,
    "scores": lambda: scored().record,
    "scores of classes": lambda: scores_of().record,
    "comparison": lambda: compared().record,
    "mean ranks": lambda: ranked().record,
    "conformity": lambda: judged("faulty").record,
    "hostile classes": lambda: examples.nasty().record,
    "hostile scores": lambda: scored((EVIL, examples.NASTY[0])).record,
    "hostile scores of classes": lambda: scores_of(tuple(examples.NASTY[:4])).record,
    "hostile models": lambda: compared(tuple(examples.NASTY[:3])).record,
    "hostile ranks": lambda: ranked(tuple(examples.NASTY[:4])).record,
    "hostile conformity": hostile,
}
HOSTILE = [name for name in MADE if name.startswith("hostile")]


@cache
def record(name):
    """The Record of a page."""
    return MADE[name]()


@cache
def page(name):
    """The page itself."""
    return RENDERERS[".html"](record(name))
