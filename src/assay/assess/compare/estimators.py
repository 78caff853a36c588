# SPDX-License-Identifier: Apache-2.0
"""From estimators, features and labels to a cross-validation of all of them on the same folds."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.assess.arguments import check_kinds
from assay.assess.compare.cross_validation import Conducted
from assay.conduct.fit_and_predict import Data, demand_scikit_learn, features, inner_folds_go_to, named, numbered, run
from assay.conduct.fold_cache import Outcome
from assay.conduct.schemes import Scheme, given_parts, scheme_of
from assay.conduct.splits import Rows, repeats_alike
from assay.core.errors import PlanError, RowsError
from assay.core.labels import Label
from assay.core.text import counted, quoted, visible
from assay.inference.decision_words import BALANCED
from assay.inference.resampling import SEED
from assay.measures import Measure, parse
from assay.rows.columns import Coded, as_array, coded
from assay.rows.joins.mismatch_errors import SHOWN
from assay.rows.label_types import Classes, absent, classes
from assay.rows.row_positions import Index, places
from assay.tally.labels.confusion import Confusion
from assay.tally.scores.row_probabilities import RowScores
from assay.tally.scores.score_tally import Scores
from assay.tally.scores.true_class_ranks import Ranks
from assay.tasks.classification.score_part import ScorePart
from assay.tasks.classification.settings import chosen
from assay.tasks.classification.tally import Classified

if TYPE_CHECKING:
    from numpy.typing import NDArray


def conduct(
    estimators: object,
    X: object,  # noqa: N803  the name scikit-learn gave it
    y: object,
    scheme: object = "5x2",
    *,
    groups: object = None,
    time: object = None,
    id: object = None,
    positive: Label | None = None,
    labels: Sequence[Label] | None = None,
    measures: Iterable[str | Measure] | str | None = None,
    seed: int = SEED,
    folder: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
) -> Conducted:
    """Train and test classifiers on the same folds; what they answer is counted fold by fold.

    estimators: classifiers of scikit-learn or like them, by name; preprocessing belongs into a Pipeline
    X, y: the features and the true labels, row by row
    scheme: "5x2", "10x10" (ten rounds of ten folds), "5-fold", "leave_one_out", "grouped(k=5)",
        "nested(k=5, inner=3)", "time_ordered(k=5, gap=7)", a splitter of scikit-learn, or pairs of row numbers
    groups: what a row belongs to, for "grouped": no group stands on both sides of a fold
    time: when a row was taken, for "time_ordered"
    id: the name of each row
    positive, labels: the positive class of two, and all classes in order
    measures: names of measures or families; None takes the first headline measure
    seed: the seed of all splits
    folder: where finished folds are kept, so that they are not run again
    jobs: how many folds joblib runs at once, with whatever backend it has

    >>> from sklearn.dummy import DummyClassifier
    >>> found = conduct({"most frequent": DummyClassifier()}, [[0]] * 8, [0, 1, 1, 1] * 2, "5x2", measures="accuracy")
    >>> found.values("accuracy")["most frequent"][:2]
    (0.75, 0.75)
    """
    demand_scikit_learn()
    check_kinds({"positive": positive, "labels": labels, "measures": measures, "seed": seed, "jobs": jobs,
                 "folder": folder})  # fmt: skip
    models = named(estimators)
    given = as_array(y, "y")
    settled = _settled(_names(given), labels, positive)
    truth = numbered(given, "y", settled.labels)
    matrix = features(X, len(truth))
    rows = Rows(classes=truth, labels=settled.labels, groups=None if groups is None else _groups(groups, len(truth)),
                moments=None if time is None else _moments(time, len(truth)))  # fmt: skip
    way = _scheme(scheme, matrix, given, groups)
    notes = [*settled.notes, *_nested(way, models)]
    if time is not None and way.name != "time_ordered":
        what = f"times are given, but {way.name} takes no notice of them"
        raise PlanError("role-clash", what, where="time", fix='scheme="time_ordered(k=5)", or leave time out')
    wanted = chosen(measures) or (_headline(truth, notes),)
    folds = way.folds(rows, seed)
    if alike := repeats_alike(folds):
        notes.append(f"{counted(alike, 'repeat')} deals the rows as an earlier one: they are too few to deal anew")
    data = Data(x=matrix, y=given, labels=settled.labels, positive=settled.positive)
    outcomes = run(models, data, folds, seed=seed, jobs=jobs, folder=folder)
    tallies = {
        model: tuple(_tally(outcome, truth[fold.test], settled) for outcome, fold in zip(own, folds, strict=True))
        for model, own in outcomes.items()
    }
    return Conducted(
        scheme=way, seed=int(seed), folds=folds, rows=rows, positive=settled.positive, measures=wanted,
        estimators={model: " ".join(visible(repr(one)).split()) for model, one in models.items()},
        outcomes=outcomes, tallies=tallies, ids=None if id is None else _ids(id, len(truth)), notes=tuple(notes),
    )  # fmt: skip


def _settled(names: set[Label], labels: Sequence[Label] | None, positive: Label | None) -> Classes:
    """The classes as declared or found, two at least."""
    settled = classes(names, names, labels, positive, where="y")
    if len(names) < 2:  # noqa: PLR2004  nothing to tell apart
        what = f"every row is {quoted(next(iter(names)))}" if names else "there are no rows"
        raise RowsError("too-few-rows", what, where="y", fix="give rows of two classes at least")
    return settled


def _tally(outcome: Outcome, truth: NDArray[np.int64], settled: Classes) -> Classified:
    """What is counted of one test part: the true classes, by number, and what a model answered."""
    labels, positive, scores = settled.labels, settled.positive, outcome.scores
    pairs, count = np.unique(truth * len(labels) + outcome.predicted, return_counts=True)
    confusion = Confusion.from_codes(labels, pairs // len(labels), pairs % len(labels), count, rows=len(truth))
    if scores is None or outcome.kind is None:
        return Classified(confusion=confusion, positive=positive)
    if positive is not None:
        own = labels.index(positive)
        column = scores[:, own] if scores.shape[1] > 1 else scores[:, 0]
        two = (next(label for label in labels if label != positive), positive)
        part = ScorePart(kind=outcome.kind, whole=Scores.binary(column, truth == own, labels=two))
    else:
        by_row = RowScores.of(scores, truth) if outcome.kind == "probability" else None
        whole = Scores.per_class(scores, truth, labels)
        part = ScorePart(kind=outcome.kind, whole=whole, ranks=Ranks.of(scores, truth), by_row=by_row)
    return Classified(confusion=confusion, positive=positive, scores=part)


def _whole(given: object, role: str, holds: str, n: int, fix: str) -> Coded:
    """A column with as many rows as y, and a value in each."""
    column = coded(given, role)
    _demand_length(role, len(column), n)
    if column.missing is not None and column.missing.any():
        what = f"{counted(int(column.missing.sum()), 'row')} of {n:,} without a {holds}"
        raise RowsError("missing-label", what, where=role, found=f"first at index {column.rows_of(None)[0]}", fix=fix)
    return column


def _names(given: NDArray[Any]) -> set[Label]:
    column = _whole(given, "y", "label", len(given), "leave these rows out of X and y")
    return {column.label(int(value) - column.offset) for value in np.unique(column.codes)}


def _groups(groups: object, n: int) -> NDArray[np.int64]:
    column = _whole(groups, "groups", "group", n, "name the group of every row; a row alone is a group of its own")
    return np.unique(column.codes, return_inverse=True)[1].astype(np.int64)


def _moments(time: object, n: int) -> NDArray[np.int64]:
    times = as_array(time, "time")
    _demand_length("time", len(times), n)
    if any(absent(one) or str(one) == "NaT" for one in times):
        raise RowsError("missing-label", "a row has no time", where="time", fix="give the time of every row")
    try:
        return np.unique(times, return_inverse=True)[1].astype(np.int64)
    except TypeError as error:
        what = "times of different types have no order"
        raise RowsError("mixed-types-in-column", what, where="time", fix="give one type") from error


def _ids(given: object, n: int) -> NDArray[Any]:
    ids = as_array(given, "id")
    _demand_length("id", len(ids), n)
    times = Counter(ids.tolist())
    several = [place for place, name in enumerate(ids.tolist()) if times[name] > 1]
    if several:  # told by their places: an id may name a person
        what = f"{counted(sum(each > 1 for each in times.values()), 'id')} not unique"
        shown = places([Index(place) for place in several[:SHOWN]])
        raise RowsError("duplicate-id", what, where="id", found=shown, fix="name rows apart")
    return ids


def _demand_length(role: str, length: int, n: int) -> None:
    if length != n:
        what = f"{role} has {counted(length, 'row')}, y has {n:,}"
        raise RowsError("rows-unmatched", what, where=role, fix="give one a row")


def _scheme(scheme: object, x: object, y: NDArray[Any], groups: object) -> Scheme:
    if not callable(split := getattr(scheme, "split", None)) or isinstance(scheme, str):
        return scheme_of(scheme)
    try:
        parts = tuple(split(x, y, groups))
    except ValueError as error:
        what = f"{type(scheme).__name__} cannot split the rows"
        raise RowsError("too-few-rows", what, found=str(error), fix="change the scheme") from error
    return given_parts(parts, called=visible(repr(scheme)))


def _nested(way: Scheme, models: dict[str, Any]) -> list[str]:
    """Which models tune on the inner folds; nesting without any would be for nothing."""
    if way.name != "nested":
        return []
    tuned = [model for model, one in models.items() if inner_folds_go_to(one) is not None]
    if not tuned:
        what = "nothing is tuned inside the folds: no estimator takes folds of its own"
        known = "GridSearchCV and others with a parameter cv, alone or as the last step of a Pipeline"
        fix = 'give a search, or a scheme without inner folds, such as "5-fold"'
        raise PlanError("estimator-unfit", what, known=known, fix=fix)
    rest = [model for model in models if model not in tuned]
    return [f"tuned on the inner folds: {', '.join(tuned)}" + (f"; not tuned: {', '.join(rest)}" if rest else "")]


def _headline(truth: NDArray[np.int64], notes: list[str]) -> Measure:
    """Accuracy, unless the classes are so unequal that it must not decide alone (6.2.3, E-TS-24)."""
    sizes = np.bincount(truth)
    sizes = sizes[sizes > 0]
    if sizes.max() / sizes.min() <= BALANCED:
        return parse("accuracy")
    notes.append("balanced accuracy instead of accuracy: the classes are unbalanced (6.2.3, E-TS-24)")
    return parse("balanced_accuracy")
