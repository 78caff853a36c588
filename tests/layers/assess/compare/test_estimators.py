# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction
from types import FunctionType

import jsonschema
import numpy as np
import pytest
from mlxtend.evaluate import combined_ftest_5x2cv
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import assay
from assay.assess.controls import CONTROLS, Inquiry
from assay.assess.plan.checked_plan import planned
from assay.assess.record.record import schema
from assay.assess.record.verification import verify
from assay.conduct.splits import Fold
from assay.core.errors import PlanError, RowsError
from assay.rows.files.formats import Reading
from assay.tally.data.split_counts import SplitRows

X, Y = (part[:200] for part in load_breast_cancer(return_X_y=True))
IRIS = load_iris(return_X_y=True)
MODELS = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=2)}
THREE = MODELS | {"most": DummyClassifier()}


@pytest.fixture(scope="module")
def halves():
    return assay.conduct(MODELS, X, Y, "5x2", measures=["accuracy", "f1"])


@pytest.fixture(scope="module")
def tens():
    return assay.conduct(THREE, X, Y, "2x5", measures="accuracy")


def test_the_function_wins_over_the_folder_of_the_same_name():
    told = "import assay.conduct.splits, assay; print(type(assay.conduct).__name__, callable(assay.conduct))"
    heard = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert heard.stdout.split() == ["function", "True"]
    assert isinstance(assay.conduct, FunctionType)
    assert Fold.__module__ == "assay.conduct.splits"


def test_halves_of_few_rows_are_compared_by_the_corrected_t_with_the_tests_of_the_clause_beside_it(halves):
    found = halves.compare()
    values = halves.values("accuracy")
    ten = np.subtract(values["bayes"], values["tree"]).reshape(5, 2)
    spread = ((ten - ten.mean(axis=1, keepdims=True)) ** 2).sum()
    f = (ten**2).sum() / (2 * spread)
    assert found["five_by_two_f"].statistic == pytest.approx(f, rel=1e-12)
    assert found["five_by_two_f"].p == pytest.approx(stats.f.sf(f, 10, 5), rel=1e-9)
    t = ten[0, 0] / math.sqrt(spread / 5)
    assert found["five_by_two_t"].p == pytest.approx(2 * stats.t.sf(abs(t), 5), rel=1e-9)
    assert [one.test for one in found.findings] == ["corrected_resampled_t", "five_by_two_f", "five_by_two_t"]
    assert "false alarms" in found.findings[0].chosen


def test_the_peer_for_halves_is_of_the_same_mind():
    """Its halvings are its own, so the two agree in what they see, not in their digits."""
    models = {"tree": DecisionTreeClassifier(max_depth=3, random_state=0), "most": DummyClassifier()}
    ours = assay.conduct(models, X, Y, measures="accuracy").compare()["five_by_two_f"]
    f, p = combined_ftest_5x2cv(models["tree"], models["most"], X, Y, scoring="accuracy", random_seed=1)
    assert (ours.p < 0.05) == (p < 0.05)
    assert ours.statistic > 1
    assert f > 1


def test_other_folds_are_compared_by_the_corrected_t_test(tens):
    found = tens.compare()
    values = tens.values("accuracy")
    gap = np.subtract(values["bayes"], values["most"])
    t = gap.mean() / math.sqrt((1 / 10 + 1 / 4) * gap.var(ddof=1))
    one = found["corrected_resampled_t", "bayes", "most"]
    assert one.statistic == pytest.approx(t, rel=1e-12)
    assert one.p == pytest.approx(2 * stats.t.sf(abs(t), 9), rel=1e-9)
    assert len(found) == 3
    assert {one.adjusted.of for one in found} == {3}


def test_a_cross_validation_and_its_halves_are_compared_by_the_half_sample_t_test():
    found = assay.conduct(THREE, X[:120], Y[:120], "halved(k=3, repeats=2, splits=4)", measures="accuracy")
    values = {model: np.reshape(own, (9, 6)).mean(axis=1) for model, own in found.values("accuracy").items()}
    gap = values["bayes"] - values["most"]
    error = math.sqrt(((gap[1::2] - gap[2::2]) ** 2).mean() / 4)
    compared = found.compare()
    one = compared["half_sample_t", "bayes", "most"]
    assert one.statistic == pytest.approx(gap[0] / error, rel=1e-9)
    assert one.p == pytest.approx(2 * stats.t.sf(abs(gap[0] / error), 4), rel=1e-9)
    reach = stats.t.ppf(0.975, 4) * error
    assert one.effect.interval.low == pytest.approx(gap[0] - reach, rel=1e-9)
    assert {p.model: p.value for p in compared.ranking} == pytest.approx({m: v[0] for m, v in values.items()})
    assert {one.adjusted.of for one in compared} == {3}
    assert verify(compared.record).holds
    assert "6 folds, 80 rows to train on, 40 to test on; the same within both halves of 4 splits" in str(found)
    with pytest.raises(PlanError, match="not a sample of like values"):
        found.compare(test="corrected_resampled_t", because="habit")


def test_folds_of_unequal_size_share_what_k_says():
    found = assay.conduct(MODELS, X[:103], Y[:103], "2x5", measures="accuracy")
    assert found.compare().record["plan"]["data"]["test_over_train"] == str(Fraction(1, 4))


@pytest.mark.parametrize("scheme", ["5x2", "2x5", "leave_one_out", "time_ordered(k=4)"])
def test_the_plain_t_test_is_refused(scheme):
    found = assay.conduct(MODELS, X[:60], Y[:60], scheme, measures="accuracy")
    with pytest.raises(PlanError, match="not admissible"):
        found.compare(test="paired_t", because="habit")
    with pytest.raises(PlanError, match="not admissible"):
        found.compare(test="wilcoxon", because="habit")
    assert not {"paired_t", "wilcoxon"} & {one.test for one in found.compare().findings}


def test_three_models_in_halves_are_compared_pair_by_pair():
    found = assay.conduct(THREE, X, Y, measures="accuracy").compare()
    assert [one.test for one in found] == ["corrected_resampled_t"] * 3
    assert {one.adjusted.of for one in found} == {3}
    assert {one.models for one in found} == {("bayes", "tree"), ("bayes", "most"), ("tree", "most")}
    assert found.ranking[0].measure == "mean accuracy"


def test_all_measures_are_one_family_in_the_findings(halves):
    found = halves.findings
    assert [(one.test, one.about) for one in found] == [
        ("corrected_resampled_t", "mean accuracy"),
        ("five_by_two_f", "mean accuracy"),
        ("five_by_two_t", "mean accuracy"),
        ("corrected_resampled_t", "mean f1"),
        ("five_by_two_f", "mean f1"),
        ("five_by_two_t", "mean f1"),
    ]
    assert [one.adjusted.of if one.adjusted else None for one in found] == [2, None, None, 2, None, None]
    assert found[0].p == halves.compare("accuracy").findings[0].p
    assert any("corrected together" in note for note in halves.compare().notes)


def test_a_comparison_can_be_saved_read_and_shown(halves, tmp_path):
    found = halves.compare("f1", level=0.9)
    jsonschema.validate(dict(found.record), schema("comparison"))
    again = assay.load(found.save(tmp_path / "record.json"))
    assert again.record["findings"] == found.record["findings"]
    assert again.record["ranking"] == found.record["ranking"]
    assert again.record["plan"]["data"]["conduct"]["scheme"] == "5x2"
    assert again.record["test_data"]["digest"] == halves.digest
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "mean f1" in page
    assert "5.3.6" in str(found)


def test_the_folds_are_told(halves):
    table = halves.table
    assert {name: len(column) for name, column in table.items()} == dict.fromkeys(("id", "repetition", "fold"), 5 * 200)
    for repeat in range(1, 6):
        assert sorted(table["id"][table["repetition"] == repeat]) == list(range(200))
    told = halves.to_json()
    assert told["folds"][0] == [1, 1, 100, 100, 0]
    assert told["classes"] == [[0, int((Y == 0).sum())], [1, int((Y == 1).sum())]]
    assert told["estimators"]["tree"] == "DecisionTreeClassifier(max_depth=2)"


def test_the_control_of_folds_reads_the_fold_table(tmp_path):
    found = assay.conduct(MODELS, X, Y, "3x4", id=[f"case {i}" for i in range(200)])
    table = SplitRows.of(str(found.save_folds(tmp_path / "folds.csv")), reading=Reading())
    loaded = planned({"plan": {"assessor": "A", "date": "2026-01-31"}, "columns": {"id": "id"}})
    (outcome,) = CONTROLS["CHK-FOLDS"].look(Inquiry(loaded=loaded, folds=table))
    assert (outcome.verdict, outcome.says) == ("pass", "4 folds in 3 repetitions, every sample tested once in each")
    assert found.predictions("tree")["id"][0] == found.table["id"][0]


def test_folds_and_digests_are_those_of_all_models(halves):
    alone = assay.conduct({"most": DummyClassifier()}, X, Y, "5x2")
    assert alone.digest == halves.digest
    assert assay.conduct({"most": DummyClassifier()}, X, Y, "5x2", seed=1).digest != halves.digest
    assert assay.conduct({"most": DummyClassifier()}, X, 1 - Y, "5x2").digest != halves.digest


def test_unbalanced_classes_are_judged_by_balanced_accuracy():
    even = assay.conduct(MODELS, X[:60], np.arange(60) % 2)
    assert [one.name for one in even.measures] == ["accuracy"]
    uneven = assay.conduct(MODELS, X[:60], np.arange(60) % 3 == 0)
    assert [one.name for one in uneven.measures] == ["balanced_accuracy"]
    assert any("unbalanced" in note for note in uneven.notes)


def test_the_summary_shows_mean_and_spread(halves):
    text = str(halves)
    assert text.startswith("5x2 of 200 rows, seed 4213: 10 folds, 100 rows to train on, 100 to test on")
    values = halves.values("accuracy")["tree"]
    assert f"tree    {np.mean(values):.3f}   {np.std(values, ddof=1):.3f}" in text
    assert repr(halves) == "<Conducted: bayes, tree; 5x2, 10 folds>"


def test_what_is_undefined_in_a_fold_is_told_and_not_compared():
    found = assay.conduct(
        MODELS | {"none": DummyClassifier(strategy="constant", constant=0)}, X, Y, measures="accuracy"
    )
    assert found.values("precision")["none"] == (None,) * 10
    with pytest.raises(PlanError, match="undefined in 10 test parts") as told:
        found.compare("precision")
    assert "none, repeat 1, fold 1: no row" in told.value.found
    assert found.compare("accuracy")["corrected_resampled_t", "bayes", "none"].p is not None
    assert "undefined" in str(
        assay.conduct({"none": DummyClassifier(strategy="constant", constant=0)}, X, Y, measures="precision")
    )


def test_lower_is_better_where_the_measure_says_so():
    found = assay.conduct(MODELS, X, Y, measures="brier_score").compare()
    assert found.ranking[0].value < found.ranking[1].value
    assert found.asked.lower_is_better


def test_equal_models_have_p_one():
    twins = {"one": GaussianNB(), "two": GaussianNB()}
    for scheme in ("5x2", "2x5"):
        assert assay.conduct(twins, X, Y, scheme).compare().findings[0].p == 1.0


def test_splitters_of_scikit_learn_and_own_parts_serve_as_schemes():
    splitter = StratifiedKFold(4)
    found = assay.conduct(MODELS, X, Y, splitter)
    assert found.scheme.title == repr(splitter)
    own = assay.conduct(MODELS, X, Y, list(splitter.split(X, Y)))
    assert own.values("accuracy") == found.values("accuracy")
    assert own.scheme.title == "given(4 parts)"
    shuffled = assay.conduct(MODELS, X, Y, ShuffleSplit(6, test_size=0.2, random_state=0), measures="accuracy")
    assert shuffled.compare().record["plan"]["data"]["test_over_train"] == "1/4"
    with pytest.raises(RowsError, match="StratifiedKFold cannot split"):
        assay.conduct(MODELS, X, Y, StratifiedKFold(190))


def test_groups_and_times_are_heeded():
    groups = np.arange(200) // 5
    found = assay.conduct(MODELS, X, Y, "2x4", groups=[f"g{one}" for one in groups])
    for fold in found.folds:
        assert not set(groups[fold.train]) & set(groups[fold.test])
    days = np.datetime64("2026-01-01") + np.arange(200)[::-1]
    late = assay.conduct(MODELS, X, Y, "time_ordered(k=4, gap=3)", time=days, measures="accuracy")
    for fold in late.folds:
        assert days[fold.train].max() + 3 < days[fold.test].min()
    assert any("order of time" in note for note in late.compare().notes)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"y": [0] * 60}, "too-few-rows"),
        ({"y": ["a"] * 60}, "too-few-rows"),
        ({"y": ["a", "b"] * 30}, "positive-class-undeclared"),
        ({"y": [0, 1] * 20}, "rows-unmatched"),
        ({"y": [0, 1, None] * 20}, "missing-label"),
        ({"y": np.linspace(0, 1, 60)}, "label-precision"),
        ({"groups": [1, 2]}, "rows-unmatched"),
        ({"groups": [None, *range(59)]}, "missing-label"),
        ({"time": range(60)}, "role-clash"),
        ({"id": [1] * 60}, "duplicate-id"),
        ({"time": range(10), "scheme": "time_ordered"}, "rows-unmatched"),
        ({"time": [*range(59), float("nan")], "scheme": "time_ordered"}, "missing-label"),
        ({"time": ["a", *range(59)], "scheme": "time_ordered"}, "mixed-types-in-column"),
        ({"measures": "acuracy"}, "measure-unknown"),
        ({"seed": -1}, "value-out-of-domain"),
        ({"scheme": "5-folds"}, "option-unknown"),
        ({"x": 5}, "rows-unmatched"),
    ],
)
def test_bad_input_is_told(change, code):
    given = {"x": X[:60], "y": np.arange(60) % 2, "scheme": "5x2"} | change
    more = {name: value for name, value in given.items() if name not in ("x", "y", "scheme")}
    with pytest.raises(assay.AssayError) as told:
        assay.conduct(MODELS, given["x"], given["y"], given["scheme"], **more)
    assert told.value.code == code
    assert told.value.fix


def test_questions_that_cannot_be_answered_are_told(halves):
    with pytest.raises(PlanError, match="there is no model"):
        halves.predictions("forest")
    with pytest.raises(PlanError, match="there is only one model"):
        assay.conduct({"one": GaussianNB()}, X, Y).compare()
    with pytest.raises(PlanError, match="only one fold"):
        assay.conduct(MODELS, X, Y, [(np.arange(100), np.arange(100, 200))], measures="accuracy").compare()
    with pytest.raises(PlanError, match="speaks of one class"):
        assay.conduct(MODELS, *IRIS).values("recall")
    with pytest.raises(PlanError, match="several measures"):
        halves.values("chance-corrected")
    with pytest.raises(PlanError, match="level"):
        halves.compare(level=1.5)


def test_leave_one_out_can_be_compared_by_accuracy():
    found = assay.conduct(MODELS, X[:40], Y[:40], "leave_one_out", measures="accuracy")
    assert len(found.folds) == 40
    assert found.compare().findings[0].n == 40
    assert set(found.values("accuracy")["tree"]) <= {0.0, 1.0}


def test_too_few_groups_to_deal_anew_are_noted():
    groups = np.repeat([0, 1, 2, 3], 15)
    found = assay.conduct(MODELS, X[:60], np.arange(60) % 2, groups=groups)
    assert any("deals the rows as an earlier one" in note for note in found.notes)
