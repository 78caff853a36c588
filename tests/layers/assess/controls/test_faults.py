# SPDX-License-Identifier: Apache-2.0
"""Controls of plans, models, thresholds and guesses on what they must find."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import balanced_accuracy_score, roc_curve

from assay.assess.assess import assess
from assay.assess.controls import Moment
from assay.assess.controls.results import best_for
from assay.tally.scores.score_tally import Scores
from tests.layers.assess.controls.looking import asked, look, opened

RNG = np.random.default_rng(7)
TRUTH = RNG.choice(["a", "b", "c"], 300, p=[0.6, 0.25, 0.15])
CALLED = np.where(RNG.random(300) < 0.8, TRUTH, RNG.choice(["a", "b", "c"], 300))


def test_models_of_one_algorithm_state_the_same_hyperparameters_each_with_a_value():
    def of(**models):
        return look("CHK-HPARAM", asked({"models": models})).verdict

    tree = {"algorithm": "tree 1.0", "hyperparameters": {"depth": {"value": 3}, "leaves": {"value": 9}}}
    fewer = {"algorithm": "tree 1.0", "hyperparameters": {"depth": {"value": 4}}}
    assert of(A=tree, B={**fewer, "algorithm": "forest"}) == "pass"
    assert of(A=tree, B=fewer) == "fail"
    assert of(A={**tree, "hyperparameters": {"depth": {"value": "unknown"}}}) == "fail"
    assert of(A=tree, B={}) == "no-evidence"


def test_a_model_that_was_tuned_much_harder_is_a_suspicion():
    models = {"A": {"hyperparameters": {}}, "B": {"hyperparameters": {}}}
    for trials, verdict in (({"A": 40, "B": 20}, "pass"), ({"A": 41, "B": 20}, "suspect")):
        assert look("CHK-TUNE-PARITY", asked({"models": models, "tuning": {"trials": trials}})).verdict == verdict


def test_models_on_other_data_are_told_and_their_gap_is_credited_to_both():
    models = {"A": {"trained_on": "train"}, "B": {"trained_on": "more"}}
    found = look("CHK-TRAIN-SAME", asked({"models": models, "data": {"train": {}, "more": {"role": "train"}}}))
    assert (found.verdict, found.facts["same"]) == ("pass", False)
    assert "algorithm and training data together" in found.says


def test_models_on_different_machines_fail():
    moments = tuple(Moment(name=f"model {name}", fields={"python": version}) for name, version in ("A1", "B2"))
    assert look("CHK-ENV-SAME", asked(moments=moments)).verdict == "fail"


def test_measures_the_task_does_not_have_strange_names_and_lost_operating_points_fail():
    seen = assess(truth=TRUTH, predicted=CALLED)
    assert look("CHK-METRIC-TASK", asked({"metrics": {"measures": ["f1_macro"]}}, assessment=seen)).verdict == "pass"
    assert look("CHK-METRIC-TASK", asked({"metrics": {"measures": ["auroc"]}}, assessment=seen)).verdict == "fail"
    assert look("CHK-NAMES", asked(estimates=({"measure": "goodness"},))).verdict == "fail"
    points = ({"threshold": 0.3}, {"threshold": 0.5})
    for wanted, verdict in (([0.3], "pass"), ([0.3, 0.7], "fail")):
        assert look("CHK-OPP", asked({"metrics": {"operating_points": wanted}}, points=points)).verdict == verdict


def test_two_models_without_a_test_or_a_reason_show_nothing():
    two = {"models": {"A": {"predicted": "a"}, "B": {"predicted": "b"}}}
    assert look("CHK-SIG", asked(two)).verdict == "no-evidence"
    assert look("CHK-SIG", asked({**two, "tests": {"none": "a pilot"}})).verdict == "pass"


def scored(tmp_path, threshold, **tuning):
    """Test and validation data whose best thresholds lie apart, and a threshold that somebody states."""
    held = {}
    for name, centre in (("validation", 0.4), ("test", 0.6)):
        score = np.round(np.clip(RNG.normal(centre, 0.15, 200), 0, 1), 4)
        truth = np.where(score + RNG.normal(0, 0.03, 200) > centre, "yes", "no")
        held[name] = (truth, score)
        rows = "".join(f"{t},{float(s)!r}\n" for t, s in zip(truth, score, strict=True))
        held[name] = opened(tmp_path, "y,s\n" + rows, f"{name}.csv"), truth, score
    truth, score = held["test"][1:]
    at = threshold(truth == "yes", score)
    seen = assess(truth=list(truth), score=list(score), threshold=at, positive="yes")
    plan = {
        "data": {"test": {}, "validation": {}},
        "columns": {"truth": "y"},
        "models": {"A": {"score": "s", "threshold": at}},
        "tuning": tuning,
    }
    inquiry = asked(
        plan, assessment=seen, model="A", split="test", splits={name: one[0] for name, one in held.items()},
        points=({"threshold": at, "in_force": True},),
    )  # fmt: skip
    return look("CHK-THRESH", inquiry)


def youden(positive, score):
    false, true, thresholds = roc_curve(positive, score, drop_intermediate=False)
    return float(thresholds[np.argmax(true - false)])


def test_a_threshold_that_is_the_best_on_the_test_data_only_is_a_suspicion(tmp_path):
    found = scored(tmp_path, youden, test_unused="sealed")
    assert found.verdict == "suspect"
    assert "Youden's index" in found.facts["best_on_test_only"]
    assert scored(tmp_path, lambda *_: 0.5, test_unused="sealed").verdict == "declared"
    assert scored(tmp_path, lambda *_: 0.5).verdict == "no-evidence"


def test_the_best_threshold_is_that_of_a_peer():
    positive, score = RNG.random(400) < 0.4, np.round(RNG.random(400), 2)
    best = youden(positive, score)
    ranked = Scores.binary(score, positive).one_vs_rest(1)
    assert "Youden's index" in best_for(ranked, best)
    false, true, thresholds = roc_curve(positive, score, drop_intermediate=False)
    for at, gain in zip(thresholds[1:], (true - false)[1:], strict=True):
        assert ("Youden's index" in best_for(ranked, float(at))) == (gain >= (true - false).max() - 1e-12)


def test_a_threshold_chosen_on_the_rows_it_is_judged_by_fails():
    points = ({"threshold": 0.5, "in_force": True, "optimistic": True},)
    assert look("CHK-THRESH", asked(points=points)).verdict == "fail"
    plan = {"models": {"A": {"score": "s", "threshold_rule": "youden", "threshold_from": "validation"}}}
    points = ({"threshold": 0.5, "in_force": True},)
    assert look("CHK-THRESH", asked({**plan, "data": {"validation": {}}}, model="A", points=points)).verdict == "pass"


def test_every_planned_measure_stands_beside_three_guesses_as_a_peer_makes_them():
    seen = assess(truth=TRUTH, predicted=CALLED)
    plan = {"metrics": {"measures": ["balanced_accuracy", "accuracy", "f1_macro"]}}
    found = look("CHK-BASELINE", asked(plan, assessment=seen), "guesses")
    assert found.verdict == "pass"
    dull = np.zeros((len(TRUTH), 1))
    most = DummyClassifier(strategy="prior").fit(dull, TRUTH).predict(dull)
    assert found.facts["balanced_accuracy"]["majority"]["value"] == pytest.approx(balanced_accuracy_score(TRUTH, most))
    many = np.zeros((200_000, 1))
    rows = RNG.choice(TRUTH, len(many))
    for name in ("stratified", "uniform"):
        peer = DummyClassifier(strategy=name, random_state=1).fit(dull, TRUTH).predict(many)
        assert found.facts["accuracy"][name]["value"] == pytest.approx((peer == rows).mean(), abs=0.006)
    told, own = found.facts["accuracy"]["majority"], seen["accuracy"]
    assert told["low"] == pytest.approx(own.low - told["value"])
    lazy = assess(truth=TRUTH, predicted=["a"] * len(TRUTH), labels=["a", "b", "c"])
    found = look("CHK-BASELINE", asked({"metrics": {"measures": ["accuracy"]}}, assessment=lazy), "guesses")
    assert found.verdict == "suspect"
    assert "accuracy (majority)" in found.says
