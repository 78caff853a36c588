# SPDX-License-Identifier: Apache-2.0
"""Models trained and tested on the same folds: cloned for each, so that nothing learned leaks from one to another."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from assay.conduct.fold_cache import Kept, Outcome, Scored, data_digest, fingerprint
from assay.conduct.splits import Fold, dice
from assay.core.errors import PlanError, RowsError, UnknownLabel, missing_extra
from assay.core.labels import Label
from assay.core.progress import progress_bar
from assay.core.text import counted, listed, quoted, visible
from assay.rows.columns import coded

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHANCE: Final = 2
"""A second number beside repeat and fold, so that estimators have chance of their own."""
ROUNDING: Final = 1e-9
"""How far a probability may stray from 0 to 1 by sums that were rounded."""
BATCH: Final = 4
"""Units handed out at a time for each worker where a backend cannot give results one by one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Data:
    """Features as estimators take them, true labels as they were given, and the classes."""

    x: Any
    y: NDArray[Any]
    labels: tuple[Label, ...]
    positive: Label | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Why a model failed in a fold; text only, because not every exception can travel between processes."""

    says: str
    trace: str


def run(
    estimators: Mapping[str, Any],
    data: Data,
    folds: Sequence[Fold],
    *,
    seed: int,
    jobs: int | None = None,
    folder: Any = None,  # noqa: ANN401  a path of any kind
) -> dict[str, list[Outcome]]:
    """Every model in every fold; finished folds are kept in the folder, and taken from there."""
    todo = [(model, i) for i in range(len(folds)) for model in estimators]  # all models meet a fold before the next
    outcomes: dict[tuple[str, int], Outcome] = {}
    keep: Callable[[tuple[str, int], Outcome], None] = outcomes.__setitem__
    if folder is not None:
        kept = Kept(folder, {"data": data_digest(data.x, data.y, data.labels, data.positive), "seed": seed})
        prints = {model: fingerprint(model, one) for model, one in estimators.items()}
        keys = {(model, i): kept.key(prints[model], folds[i]) for model, i in todo}
        loaded = {unit: kept.load(unit[0], folds[unit[1]], keys[unit]) for unit in todo}
        outcomes |= {unit: outcome for unit, outcome in loaded.items() if outcome is not None}

        def keep(unit: tuple[str, int], outcome: Outcome) -> None:
            kept.save(unit[0], folds[unit[1]], keys[unit], outcome)
            outcomes[unit] = outcome

    left = [unit for unit in todo if unit not in outcomes]
    failed: dict[tuple[str, int], Trouble] = {}
    # After a failure nothing new is begun; what runs is finished and kept.
    going = (unit for unit in left if not failed)
    with progress_bar("folds") as tell:
        for unit, outcome in _outcomes(estimators, data, folds, going, seed=seed, jobs=jobs):
            if isinstance(outcome, Trouble):
                failed[unit] = outcome
            else:
                keep(unit, outcome)
            tell(len(outcomes) + len(failed), len(todo))
    if failed:
        model, i = first = min(failed, key=left.index)
        raise _failed(model, folds[i], failed[first], kept=folder is not None)
    return {model: [outcomes[model, i] for i in range(len(folds))] for model in estimators}


def _outcomes(
    estimators: Mapping[str, Any],
    data: Data,
    folds: Sequence[Fold],
    units: Iterator[tuple[str, int]],
    *,
    seed: int,
    jobs: int | None,
) -> Iterator[tuple[tuple[str, int], Outcome | Trouble]]:
    from joblib import Parallel, delayed, effective_n_jobs

    calls = (delayed(_one)(unit, estimators[unit[0]], data, folds[unit[1]], seed) for unit in units)

    try:
        parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    except ValueError:  # a backend that hands results over all at once; small batches keep what is finished
        parallel = Parallel(n_jobs=jobs)
        step = effective_n_jobs(jobs) * BATCH
        while batch := list(islice(calls, step)):
            yield from parallel(batch)
        return
    yield from parallel(calls)


def _one(
    unit: tuple[str, int], estimator: Any, data: Data, fold: Fold, seed: int  # noqa: ANN401  anything with fit
) -> tuple[tuple[str, int], Outcome | Trouble]:  # fmt: skip
    try:
        return unit, _outcome(estimator, data, fold, seed)
    except Exception as error:  # noqa: BLE001  an estimator may raise anything; it is told with its fold
        says = error.what if isinstance(error, (PlanError, RowsError)) else str(error)
        return unit, Trouble(says=f"{type(error).__name__}: {says}", trace=traceback.format_exc())


def _outcome(estimator: Any, data: Data, fold: Fold, seed: int) -> Outcome:  # noqa: ANN401
    model, train = prepared(estimator, fold, seed), fold.train
    started = time.perf_counter()
    model.fit(taken(data.x, train), data.y[train])
    trained = time.perf_counter()
    asked = taken(data.x, fold.test)
    called = model.predict(asked)
    scores, kind = _scores(model, asked, data)
    done = time.perf_counter()
    predicted = numbered(called, "predictions", data.labels)
    if len(predicted) != len(fold.test):
        raise RowsError(
            "rows-unmatched",
            f"{counted(len(predicted), 'prediction')} for {counted(len(fold.test), 'row')}",
            fix="predict one label for each row",
        )
    return Outcome(predicted=predicted, scores=scores, kind=kind, fitting=trained - started, predicting=done - trained)


def prepared(estimator: Any, fold: Fold, seed: int) -> Any:  # noqa: ANN401
    """A fresh estimator for one fold: its chance comes from the seed, and a search tunes on the inner folds."""
    from sklearn.base import clone

    model = clone(estimator)
    number = int(dice(seed, fold.repeat, fold.fold, CHANCE).integers(2**31 - 1))
    open_ = [
        name
        for name, value in model.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    model.set_params(**dict.fromkeys(open_, number))
    name = inner_folds_go_to(model)
    if fold.inner and name is not None:
        train = fold.train
        local = [(np.searchsorted(train, one.train), np.searchsorted(train, one.test)) for one in fold.inner]
        model.set_params(**{name: local})
    return model


def inner_folds_go_to(estimator: Any) -> str | None:  # noqa: ANN401
    """The parameter that takes folds to tune on: that of a search, or of the search a pipeline ends in."""
    names = estimator.get_params(deep=True)
    if "cv" in names:
        return "cv"
    last = estimator.steps[-1][0] if getattr(estimator, "steps", None) else None
    return f"{last}__cv" if f"{last}__cv" in names else None


def _scores(fitted: Any, asked: Any, data: Data) -> tuple[NDArray[np.float64] | None, Scored | None]:  # noqa: ANN401
    """Scores of every class in the order of the labels, and what they are."""
    if not hasattr(fitted, "classes_"):
        return None, None
    if any(value == "ovo" for name, value in fitted.get_params().items() if name.endswith("decision_function_shape")):
        return None, None  # one column for each pair of classes
    scores, kind = class_scores(fitted, asked)
    if scores is None:
        return None, None
    known = numbered(fitted.classes_, "classes", data.labels)
    if not np.isfinite(scores).all():
        raise RowsError("score-not-finite", "a score is not finite", fix="repair the estimator")
    if kind == "probability":
        if scores.min() < -ROUNDING or scores.max() > 1 + ROUNDING:
            raise RowsError("score-out-of-range", "a probability lies outside 0 to 1", fix="repair the estimator")
        scores = np.clip(scores, 0.0, 1.0)
    if scores.ndim != 2 or scores.shape[1] != len(known):  # noqa: PLR2004  one column for each pair, for instance
        return None, None
    if kind == "any" and len(known) < len(data.labels):
        return None, None  # a class that was not trained on has no score; as a probability it has 0
    whole = np.zeros((len(scores), len(data.labels)))
    whole[:, known] = scores
    return whole, kind


def class_scores(fitted: Any, asked: Any) -> tuple[NDArray[np.float64] | None, Scored | None]:  # noqa: ANN401
    """Scores of every class that an estimator knows, in its order, and what they are; None where it gives none."""
    kind: Scored = "probability" if hasattr(fitted, "predict_proba") else "any"
    ask = getattr(fitted, "predict_proba" if kind == "probability" else "decision_function", None)
    if ask is None:
        return None, None
    scores = np.asarray(ask(asked), dtype=np.float64)
    return (np.column_stack([-scores, scores]) if scores.ndim == 1 else scores), kind  # of two classes the second's


def numbered(column: object, role: str, labels: Sequence[Label]) -> NDArray[np.int64]:
    """Labels as class numbers.

    >>> numbered(["b", "a", "b"], "predictions", ("a", "b")).tolist()
    [1, 0, 1]
    """
    coded_column = coded(column, role)
    if coded_column.missing is not None and coded_column.missing.any():
        raise RowsError(
            "missing-label",
            f"{counted(int(coded_column.missing.sum()), 'row')} without a label in {role}",
            where=role,
            fix="leave these rows out, or complete them",
        )
    values, inverse = np.unique(coded_column.codes, return_inverse=True)
    names = [coded_column.label(int(value) - coded_column.offset) for value in values]
    place = {label: i for i, label in enumerate(labels)}
    unknown = [name for name in names if name not in place]
    if unknown:
        raise UnknownLabel(
            "label-not-declared",
            f"{role} hold {listed(unknown, most=3)}, which is not a class",
            known=listed(labels),
            fix="give a classifier that calls the classes of y",
        )
    return np.array([place[name] for name in names], dtype=np.int64)[inverse]


def features(x: Any, rows: int) -> Any:  # noqa: ANN401  arrays, frames, sparse matrices, lists
    """Features in a form whose rows can be taken by number; as many rows as there are labels."""
    feature_rows = x.tocsr() if hasattr(x, "tocsr") else x
    shape = getattr(feature_rows, "shape", None)
    n = int(shape[0]) if shape else len(feature_rows) if hasattr(feature_rows, "__len__") else None
    if n != rows:
        raise RowsError(
            "rows-unmatched",
            f"X has {'an unknown number of rows' if n is None else counted(n, 'row')}, y has {rows:,}",
            where="X",
            fix="give one row of features for each label",
        )
    return feature_rows


def taken(x: Any, places: NDArray[np.int64]) -> Any:  # noqa: ANN401
    """Some rows of the features, in a copy of their own."""
    if hasattr(x, "iloc"):
        return x.iloc[places]
    if isinstance(x, (list, tuple)):
        return [x[i] for i in places.tolist()]
    return x[places]


def named(estimators: object) -> dict[str, Any]:
    """Estimators by name; those of a list are called by their class."""
    if isinstance(estimators, Mapping):
        pairs = [(str(name), estimator) for name, estimator in estimators.items()]
    elif isinstance(estimators, (list, tuple)):
        pairs = [(type(estimator).__name__, estimator) for estimator in estimators]
    else:
        pairs = [(type(estimators).__name__, estimators)]
    names = [name for name, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or not pairs:
        raise PlanError(
            "estimator-unfit",
            f"two estimators are called {listed(twice)}" if twice else "no estimators are given",
            fix='name them: {"shallow": ..., "deep": ...}',
        )
    for name, estimator in pairs:
        lacks = [what for what in ("fit", "predict", "get_params") if not callable(getattr(estimator, what, None))]
        if lacks or isinstance(estimator, type):
            raise PlanError(
                "estimator-unfit",
                f"{quoted(name)} is a class, not an estimator" if isinstance(estimator, type) else
                f"{quoted(name)} has no {' and no '.join(lacks)}",
                found=visible(repr(estimator)[:80]),
                fix="give an estimator as scikit-learn has them, such as LogisticRegression()",
            )  # fmt: skip
    return dict(pairs)


def demand_scikit_learn() -> None:
    """Cross-validation clones estimators as scikit-learn does, which brings joblib along."""
    try:
        import sklearn  # noqa: F401
    except ImportError as error:
        raise missing_extra("conduct", "running models needs scikit-learn") from error


def _failed(model: str, fold: Fold, trouble: Trouble, *, kept: bool) -> PlanError:
    error = PlanError(
        "fold-failed",
        f"{quoted(model)} failed in {fold.name}",
        where=f"{counted(len(fold.train), 'row')} to train on, {len(fold.test):,} to test on",
        found=visible(trouble.says),
        fix="repair the estimator or the data" + ("; finished folds are kept" if kept else ""),
    )
    error.add_note(trouble.trace)
    return error
