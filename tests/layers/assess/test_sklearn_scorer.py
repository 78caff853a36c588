# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, make_scorer, recall_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import assay
from assay.core.errors import PlanError, RowsError

FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def binary():
    return make_classification(240, 6, random_state=1)


@pytest.fixture(scope="module")
def many():
    X, y = make_classification(300, 8, n_informative=6, n_classes=4, random_state=1)  # noqa: N806
    return X, np.array(["ant", "bee", "cat", "dog"])[y]


@pytest.mark.parametrize("name", ["accuracy", "f1_macro", "precision_macro", "recall_weighted", "f1_micro"])
def test_cross_validation_gives_what_scikit_learn_gives(many, name):
    model = make_pipeline(StandardScaler(), LogisticRegression())
    theirs = cross_validate(model, *many, cv=FOLDS, scoring=name)["test_score"]
    ours = cross_validate(model, *many, cv=FOLDS, scoring=assay.scorer(name), error_score="raise")["test_score"]
    assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [("auroc", "roc_auc"), ("average_precision", "average_precision"), ("log_loss", "neg_log_loss"),
     ("brier_score", "neg_brier_score"), ("recall", "recall")],
)  # fmt: skip
def test_scores_of_the_estimator_are_used_where_the_measure_takes_them(binary, name, theirs):
    model = LogisticRegression()
    expected = cross_validate(model, *binary, cv=FOLDS, scoring=theirs)["test_score"]
    found = cross_validate(model, *binary, cv=FOLDS, scoring=assay.scorer(name), error_score="raise")["test_score"]
    assert found == pytest.approx(expected, abs=1e-9)


def test_an_estimator_without_probabilities_is_ranked_by_its_decision_function(binary):
    model = LinearSVC()
    expected = cross_validate(model, *binary, cv=FOLDS, scoring="roc_auc")["test_score"]
    found = cross_validate(model, *binary, cv=FOLDS, scoring=assay.scorer("auroc"), error_score="raise")["test_score"]
    assert found == pytest.approx(expected, abs=1e-12)


def test_several_classes_are_ranked_one_against_the_rest(many):
    model = LogisticRegression()
    expected = cross_validate(model, *many, cv=FOLDS, scoring="roc_auc_ovr")["test_score"]
    found = cross_validate(model, *many, cv=FOLDS, scoring=assay.scorer("auroc_macro"), error_score="raise")
    assert found["test_score"] == pytest.approx(expected, abs=1e-12)


def test_a_search_over_a_grid_finds_the_same_best_in_several_processes(binary):
    grid = {"C": [0.001, 0.1, 10.0]}
    ours = GridSearchCV(LogisticRegression(), grid, cv=FOLDS, scoring=assay.scorer("error_rate"), error_score="raise")
    theirs = GridSearchCV(LogisticRegression(), grid, cv=FOLDS, scoring="accuracy")
    ours.fit(*binary)
    theirs.fit(*binary)
    assert ours.best_params_ == theirs.best_params_
    assert (ours.cv_results_["mean_test_score"] <= 0).all()


def test_a_scorer_can_be_sent_to_another_process(binary):
    one = assay.scorer("recall", positive=1)
    again = pickle.loads(pickle.dumps(one))  # noqa: S301  our own
    model = LogisticRegression().fit(*binary)
    assert again == one
    assert again(model, *binary) == one(model, *binary)
    assert repr(one) == "assay.scorer('recall', positive=1)"


def test_the_positive_class_is_stated_not_guessed(binary):
    X, y = binary  # noqa: N806
    named = np.array(["ill", "well"])[y]
    model = LogisticRegression().fit(X, named)
    with pytest.raises(PlanError) as error:
        assay.scorer("recall")(model, X, named)
    assert error.value.code == "positive-class-undeclared"
    expected = make_scorer(recall_score, pos_label="ill")(model, X, named)
    assert assay.scorer("recall", positive="ill")(model, X, named) == expected
    mirrored = assay.scorer("auroc", positive="ill")(model, X, named)
    assert mirrored == pytest.approx(assay.scorer("auroc", positive="well")(model, X, named), abs=1e-12)
    assert assay.scorer("f1_macro")(model, X, named) == pytest.approx(get_scorer("f1_macro")(model, X, named))


def test_weights_count(binary):
    X, y = binary  # noqa: N806
    weight = np.linspace(0.5, 2, len(y))
    model = LogisticRegression().fit(X, y)
    found = assay.scorer("accuracy")(model, X, y, sample_weight=weight)
    assert found == pytest.approx(np.average(model.predict(X) == y, weights=weight), abs=1e-12)


def test_no_value_is_an_error_that_says_why(many):
    X, y = many  # noqa: N806
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    few = y != "dog"
    with pytest.raises(RowsError, match="has no value on these rows") as error:
        assay.scorer("recall_macro")(model, X[few], y[few])
    assert error.value.code == "measure-undefined"
    assert assay.scorer("recall_macro", undefined="skip")(model, X[few], y[few]) > 0


def test_a_measure_without_a_better_way_is_refused():
    with pytest.raises(PlanError, match="neither way is better"):
        assay.scorer("prevalence")
    with pytest.raises(PlanError):
        assay.scorer("recal")


def test_an_estimator_without_scores_is_told(binary):
    class Bare:
        classes_ = np.array([0, 1])

        def predict(self, X):  # noqa: N803
            return np.zeros(len(X), dtype=int)

    with pytest.raises(PlanError, match="neither predict_proba nor decision_function"):
        assay.scorer("auroc")(Bare(), *binary)
    assert assay.scorer("accuracy")(Bare(), *binary) == pytest.approx((binary[1] == 0).mean())
