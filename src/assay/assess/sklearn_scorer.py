# SPDX-License-Identifier: Apache-2.0
"""A measure as scikit-learn wants it: a callable of estimator, X and y that gives one number, more being better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from assay.assess.arguments import IntervalSettings, ScoreSettings
from assay.assess.assess import assess
from assay.conduct.fit_and_predict import class_scores
from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label
from assay.core.text import listed, quoted
from assay.core.traits import Better, Policy
from assay.measures import Measure, parse
from assay.rows.score_columns import Kind
from assay.tasks.classification.settings import ONE_CLASS


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """One measure for `cross_validate`, `GridSearchCV` and whoever else calls `scorer(estimator, X, y)`."""

    measure: str
    positive: Label | None = None
    undefined: Policy = "propagate"

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: object = None) -> float:  # noqa: ANN401, N803  their names
        """The value on these rows; of a measure where less is better its negative, as scikit-learn has it."""
        wanted = parse(self.measure)
        labels = _labels(estimator, y)
        positive = self._positive(wanted, labels)
        estimate = assess(
            truth=np.asarray(y),
            **_answers(estimator, X, wanted, labels, positive),
            labels=labels,
            positive=positive,
            weight=sample_weight,
            measures=[self.measure],
            # Only the value is used, so no draws are spent on its interval.
            intervals=IntervalSettings(cells="delta", undefined=self.undefined),
        )[self.measure]
        if estimate.value is None:
            what = f"{wanted.name} has no value on these rows: {estimate.reason}"
            fix = "larger or stratified folds, or for an average undefined='zero' or 'skip'"
            raise RowsError("measure-undefined", what, fix=fix)
        return -estimate.value if wanted.better is Better.LOWER else estimate.value

    def __repr__(self) -> str:
        """As it is typed."""
        more = "" if self.positive is None else f", positive={self.positive!r}"
        more += "" if self.undefined == "propagate" else f", undefined={self.undefined!r}"
        return f"assay.scorer({self.measure!r}{more})"

    def _positive(self, wanted: Measure, labels: list[Label]) -> Label | None:
        """Stated, or of no consequence: an average over both classes is the same either way."""
        if self.positive is None and len(labels) == 2 and wanted.takes not in ONE_CLASS:  # noqa: PLR2004  binary
            return labels[-1]
        return self.positive


def scorer(measure: str, *, positive: Label | None = None, undefined: Policy = "propagate") -> Scorer:
    """A measure as a scikit-learn scorer.

    measure: the name of a measure
    positive: the positive class of two
    undefined: what an average does with a class that has no value: "propagate", "skip", "zero" or "one"

    Of a measure where less is better it gives the negative, so that a search goes the right way.
    A measure without a value on a fold is an error there, which scikit-learn handles by `error_score`.

    >>> scorer("f1_macro")
    assay.scorer('f1_macro')
    """
    wanted = parse(measure)
    if wanted.better is Better.NEITHER:
        what = f"{wanted.name} {wanted.better}, so a search has nothing to go by"
        raise PlanError("measure-unfit", what, fix="choose a measure that has a better way, such as f1_macro")
    return Scorer(measure=wanted.title, positive=positive, undefined=undefined)


def _labels(estimator: Any, y: object) -> list[Label]:  # noqa: ANN401
    """Every class the estimator knows, then those only these rows have; a fold may lack one."""
    known = getattr(estimator, "classes_", ())
    seen = np.unique(np.asarray(y)).tolist()
    return cast("list[Label]", list(dict.fromkeys([*np.asarray(known).tolist(), *seen])))


def _answers(
    estimator: Any,  # noqa: ANN401
    X: object,  # noqa: N803
    wanted: Measure,
    labels: list[Label],
    positive: Label | None,
) -> dict[str, Any]:
    """What the estimator says: labels, and scores where the measure takes them."""
    if not wanted.from_scores:
        return {"predicted": np.asarray(estimator.predict(X))}
    given, kind = class_scores(estimator, X)
    if given is None:
        what = f"{wanted.name} takes scores: {type(estimator).__name__} has neither predict_proba nor decision_function"
        raise PlanError("role-missing", what, fix="choose a measure of labels, such as f1_macro, or another estimator")
    classes = np.asarray(estimator.classes_)
    named, predicted = classes.tolist(), classes[given.argmax(axis=1)]
    if len(named) == 2 and len(labels) == 2:  # noqa: PLR2004  binary
        chosen = named[-1] if positive is None else positive
        if chosen not in named:
            what = f"the estimator knows no class {quoted(chosen)}"
            raise PlanError("unknown-positive", what, known=listed(named), fix="state one of its classes: positive=...")
        score: object = given[:, named.index(chosen)]
    else:
        score = {label: given[:, i] for i, label in enumerate(named)}
    return {"predicted": predicted, "score": score, "scores": ScoreSettings(kind=cast("Kind", kind))}
