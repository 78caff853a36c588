# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import sys
from itertools import pairwise

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import assay
from assay.conduct.fit_and_predict import inner_folds_go_to, prepared
from assay.conduct.schemes import scheme_of
from assay.conduct.splits import Rows
from assay.core.errors import PlanError

CANCER = load_breast_cancer(return_X_y=True)
IRIS = load_iris(return_X_y=True)
NUMBERS = np.arange(60.0)[:, np.newaxis]
HALF = np.arange(60) % 2


class Witness(TransformerMixin, BaseEstimator):
    """A scaler that writes down the rows it was fitted on; the first feature is the number of the row."""

    seen: list = []  # noqa: RUF012  one list for all clones is the point

    def fit(self, x, y=None):  # noqa: ARG002
        Witness.seen.append(sorted(x[:, 0].astype(int).tolist()))
        self.mean_ = x.mean(axis=0)
        return self

    def transform(self, x):
        return x - self.mean_


class Fails(ClassifierMixin, BaseEstimator):
    """A classifier that cannot bear a certain row in its test part."""

    def __init__(self, at=7, says="cannot bear it"):
        self.at, self.says = at, says

    def fit(self, x, y):  # noqa: ARG002
        self.classes_ = np.unique(y)
        return self

    def predict(self, x):
        if self.at in x[:, 0]:
            raise ArithmeticError(self.says)
        return np.full(len(x), self.classes_[0])


class Answers(Fails):
    """A classifier with a fixed answer."""

    def __init__(self, answer=0, probability=None):
        self.answer, self.probability = answer, probability

    def predict(self, x):
        return self.answer(x) if callable(self.answer) else np.full(len(x), self.answer)


class Odd(Answers):
    """A classifier with odd probabilities."""

    def predict_proba(self, x):
        return np.full((len(x), 2), self.probability)


def parts(found):
    return [(fold.train, fold.test) for fold in found.folds]


@pytest.mark.parametrize("scheme", ["5x2", "2x4", "kfold(k=5)", "stratified(k=5, shuffle=False)"])
def test_two_classes_get_the_values_of_scikit_learn(scheme):
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    found = assay.conduct({"tree": tree}, *CANCER, scheme)
    scorers = {"accuracy": "accuracy", "f1": "f1", "auroc": "roc_auc", "balanced_accuracy": "balanced_accuracy"}
    scorers |= {"matthews_corrcoef": "matthews_corrcoef", "brier_score": "neg_brier_score"}
    theirs = cross_validate(tree, *CANCER, cv=parts(found), scoring=list(scorers.values()))
    for ours, name in scorers.items():
        sign = -1 if name.startswith("neg") else 1
        np.testing.assert_allclose(found.values(ours)["tree"], sign * theirs[f"test_{name}"], rtol=1e-12)


def test_many_classes_get_the_values_of_scikit_learn():
    model = make_pipeline(Witness(), LogisticRegression(max_iter=500))
    found = assay.conduct({"model": model}, *IRIS, "2x5")
    scorers = {
        "accuracy": "accuracy",
        "f1_macro": "f1_macro",
        "auroc_macro": "roc_auc_ovr",
        "log_loss_multiclass": "neg_log_loss",
    }
    theirs = cross_validate(model, *IRIS, cv=parts(found), scoring=list(scorers.values()))
    for ours, name in scorers.items():
        sign = -1 if name.startswith("neg") else 1
        np.testing.assert_allclose(found.values(ours)["model"], sign * theirs[f"test_{name}"], rtol=1e-12)


def test_what_is_answered_out_of_fold_is_what_scikit_learn_collects():
    model = GaussianNB()
    found = assay.conduct({"bayes": model}, *CANCER, "5-fold")
    mine = found.predictions("bayes")
    order = np.argsort(mine["id"])
    assert mine["id"][order].tolist() == list(range(len(CANCER[1])))
    labels = cross_val_predict(model, *CANCER, cv=parts(found))
    chances = cross_val_predict(model, *CANCER, cv=parts(found), method="predict_proba")
    assert mine["predicted"][order].tolist() == labels.tolist()
    assert mine["truth"][order].tolist() == CANCER[1].tolist()
    np.testing.assert_array_equal(mine["score"][order], chances[:, 1])
    several = assay.conduct({"bayes": model}, *IRIS, "5-fold").predictions("bayes")
    assert [name for name in several if name.startswith("score")] == ["score of 0", "score of 1", "score of 2"]


def test_a_score_of_a_margin_points_to_the_positive_class():
    x, y = CANCER[0], np.where(CANCER[1] == 1, "benign", "malignant")
    model = make_pipeline(Witness(), LinearSVC(dual=False, tol=1e-3, C=1e-3))
    areas = {
        positive: assay.conduct({"svm": model}, x, y, "3-fold", positive=positive).values("auroc")["svm"]
        for positive in ("benign", "malignant")
    }
    assert min(areas["benign"]) > 0.9
    np.testing.assert_allclose(areas["benign"], areas["malignant"], rtol=1e-12)
    found = assay.conduct({"svm": model}, x, y, "3-fold", positive="benign")
    with pytest.raises(PlanError, match="speaks of probabilities"):
        found.values("brier_score")


def test_all_models_meet_the_same_folds_and_a_scaler_sees_training_rows_only():
    Witness.seen = []
    models = {name: make_pipeline(Witness(), GaussianNB()) for name in "ABC"}
    found = assay.conduct(models, NUMBERS, HALF, "3x4")
    assert len(Witness.seen) == 3 * 12
    for i, fold in enumerate(found.folds):
        assert Witness.seen[3 * i : 3 * i + 3] == [fold.train.tolist()] * 3
        assert not set(Witness.seen[3 * i]) & set(fold.test.tolist())


def test_estimators_are_left_as_they_were():
    model = RandomForestClassifier(n_estimators=3)
    assay.conduct({"forest": model}, NUMBERS, HALF, "2-fold")
    assert not hasattr(model, "classes_")
    assert model.random_state is None


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_workers_do_not_change_a_number(backend):
    models = {"forest": RandomForestClassifier(n_estimators=5), "tree": DecisionTreeClassifier(splitter="random")}
    x, y = CANCER[0][:120], CANCER[1][:120]
    alone = assay.conduct(models, x, y, "2x3", seed=3)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        many = assay.conduct(models, x, y, "2x3", seed=3)
    another = assay.conduct(models, x, y, "2x3", seed=4)
    assert many.digest == alone.digest != another.digest
    for model in models:
        assert many.values("log_loss") == alone.values("log_loss")
        for one, two in zip(alone.outcomes[model], many.outcomes[model], strict=True):
            np.testing.assert_array_equal(one.scores, two.scores)
            np.testing.assert_array_equal(one.predicted, two.predicted)


def test_a_dask_cluster_changes_no_number():
    """The backend that carries folds beyond one machine; here the scheduler and its workers are threads."""
    distributed = pytest.importorskip("distributed", reason="no Dask scheduler here: pip install distributed")
    models = {"forest": RandomForestClassifier(n_estimators=5), "bayes": GaussianNB()}
    x, y = CANCER[0][:120], CANCER[1][:120]
    alone = assay.conduct(models, x, y, "2x3", seed=3)
    cluster = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None,
               "host": "127.0.0.1", "protocol": "tcp://"}  # fmt: skip
    with (
        distributed.LocalCluster(**cluster) as local,
        distributed.Client(local),
        joblib.parallel_config(backend="dask"),
    ):
        many = assay.conduct(models, x, y, "2x3", seed=3)
    assert many.digest == alone.digest
    assert many.values("log_loss") == alone.values("log_loss")


def test_chance_differs_between_folds_and_is_the_same_for_models():
    rows = Rows(classes=HALF, labels=(0, 1))
    folds = scheme_of("5x2").folds(rows, 0)
    states = [prepared(make_pipeline(Witness(), RandomForestClassifier()), fold, 0)[-1].random_state for fold in folds]
    assert len(set(states)) == len(states)
    assert [prepared(DecisionTreeClassifier(), fold, 0).random_state for fold in folds] == states
    assert prepared(DecisionTreeClassifier(random_state=5), folds[0], 0).random_state == 5


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_fold_names_model_fold_and_cause(jobs):
    with pytest.raises(PlanError) as told:
        assay.conduct(
            {"good": DummyClassifier(), "bad": Fails(at=7)}, NUMBERS, HALF, "kfold(k=4, shuffle=False)", jobs=jobs
        )
    error = told.value
    assert error.code == "fold-failed"
    assert '"bad" failed in repeat 1, fold 1' in error.what
    assert error.found == "ArithmeticError: cannot bear it"
    assert "45 rows to train on, 15 to test on" in error.where
    assert "predict" in error.__notes__[0]


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (LinearRegression(), "cannot be a label"),
        (Answers(answer=9), "9, which is not a class"),
        (Answers(answer=lambda _: [0]), "1 prediction for 15 rows"),
        (Answers(answer=lambda x: [None] * len(x)), "without a label"),
        (Odd(probability=1.5), "outside 0 to 1"),
        (Odd(probability=float("nan")), "not finite"),
    ],
)
def test_answers_that_cannot_be_counted_are_told(model, says):
    with pytest.raises(PlanError) as told:
        assay.conduct({"odd": model}, NUMBERS, HALF, "4-fold")
    assert told.value.code == "fold-failed"
    assert says in told.value.found


@pytest.mark.parametrize(
    ("models", "says"),
    [
        ([GaussianNB(), GaussianNB()], 'two estimators are called "GaussianNB"'),
        ({}, "no estimators are given"),
        ({"a": GaussianNB}, "is a class, not an estimator"),
        ({"a": "forest"}, "has no fit and no predict"),
        ({"a": Witness()}, "has no predict"),
    ],
)
def test_what_is_no_estimator_is_told(models, says):
    with pytest.raises(PlanError) as told:
        assay.conduct(models, NUMBERS, HALF)
    assert told.value.code == "estimator-unfit"
    assert says in told.value.what


def test_estimators_of_a_list_are_called_by_their_class():
    assert assay.conduct([GaussianNB(), DummyClassifier()], NUMBERS, HALF).models == ("GaussianNB", "DummyClassifier")
    assert assay.conduct(GaussianNB(), NUMBERS, HALF).models == ("GaussianNB",)


def test_features_may_be_of_any_kind():
    x, y = CANCER[0][:100], CANCER[1][:100]
    names = [f"f{i}" for i in range(x.shape[1])]
    forms = [x, pd.DataFrame(x, columns=names), pl.DataFrame(x, schema=names), sparse.coo_matrix(x), x.tolist()]
    values = {
        assay.conduct({"tree": DecisionTreeClassifier(max_depth=2)}, form, y, "3-fold").values("accuracy")["tree"]
        for form in forms
    }
    assert len(values) == 1


def test_text_goes_through_a_pipeline():
    x = ["good day", "bad day"] * 10
    model = make_pipeline(CountVectorizer(), MultinomialNB())
    found = assay.conduct({"bayes": model}, x, ["up", "down"] * 10, "5-fold", positive="up")
    assert found.values("accuracy")["bayes"] == (1.0,) * 5


def test_inner_folds_tune_a_search_and_nothing_else_sees_them():
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]})
    rows = Rows(classes=HALF, labels=(0, 1))
    for fold in scheme_of("nested(k=3, inner=4)").folds(rows, 0):
        for model in (search, make_pipeline(Witness(), search)):
            ready = prepared(model, fold, 0)
            cv = ready.get_params()[inner_folds_go_to(model)]
            assert len(cv) == 4
            for (train, test), inner in zip(cv, fold.inner, strict=True):
                np.testing.assert_array_equal(fold.train[train], inner.train)
                np.testing.assert_array_equal(fold.train[test], inner.test)
    found = assay.conduct({"search": search, "plain": GaussianNB()}, NUMBERS, HALF, "nested(k=2, inner=2)")
    assert "tuned on the inner folds: search; not tuned: plain" in found.notes
    with pytest.raises(PlanError, match="nothing is tuned"):
        assay.conduct({"plain": GaussianNB()}, NUMBERS, HALF, "nested")


def test_scores_of_pairs_of_classes_are_not_taken_for_scores_of_classes():
    found = assay.conduct({"svm": SVC(decision_function_shape="ovo")}, *IRIS, "3-fold")
    assert all(tally.scores is None for tally in found.tallies["svm"])
    with pytest.raises(PlanError, match="needs scores"):
        found.values("auroc_macro")
    found = assay.conduct({"svm": SVC()}, *IRIS, "3-fold")
    assert min(found.values("auroc_macro")["svm"]) > 0.9


def test_a_class_that_was_not_trained_on_has_probability_zero():
    y = np.repeat([0, 1, 2], 20)
    found = assay.conduct({"bayes": GaussianNB()}, NUMBERS, y, "kfold(k=3, shuffle=False)")
    first = found.outcomes["bayes"][0]
    assert first.scores.shape == (20, 3)
    assert not first.scores[:, 0].any()
    assert found.values("accuracy")["bayes"] == (0.0, 0.0, 0.0)


def test_seconds_are_taken_fold_by_fold():
    timing = assay.conduct({"tree": DecisionTreeClassifier()}, NUMBERS, HALF, "5-fold").timing["tree"]
    assert [len(timing["fit"]), len(timing["predict"])] == [5, 5]
    assert min(*timing["fit"], *timing["predict"]) > 0


def test_progress_is_shown_to_somebody_who_watches_and_nobody_else(monkeypatch, capsys):
    assay.conduct({"tree": DecisionTreeClassifier()}, NUMBERS, HALF)
    heard = capsys.readouterr()
    assert (heard.out, heard.err) == ("", "")
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr("assay.core.progress.PATIENCE", 0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", screen)
    assay.conduct({"tree": DecisionTreeClassifier()}, NUMBERS, HALF)
    assert "10/10" in screen.getvalue()
    assert capsys.readouterr().out == ""


def test_without_scikit_learn_the_install_command_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(PlanError) as told:
        assay.conduct({"tree": DecisionTreeClassifier()}, NUMBERS, HALF)
    assert told.value.code == "missing-extra"
    assert 'pip install "assay[conduct]"' in told.value.fix


def test_repeats_follow_each_other_and_halves_too():
    folds = assay.conduct({"tree": DecisionTreeClassifier()}, NUMBERS, HALF).folds
    assert [(fold.repeat, fold.fold) for fold in folds] == [(i, j) for i in range(1, 6) for j in (1, 2)]
    for one, two in list(pairwise(folds))[::2]:
        np.testing.assert_array_equal(one.train, two.test)
