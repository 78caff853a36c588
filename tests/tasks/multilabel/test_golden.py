# SPDX-License-Identifier: Apache-2.0
"""Values of the edge case, of the emotions data and of the specification; scikit-learn and SciPy beside them."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn import metrics

import assay

CASES = json.loads((Path(__file__).parent / "cases.json").read_text())
EDGE, EMOTIONS = CASES["edge"], CASES["emotions"]


def near(value):
    return pytest.approx(value, abs=1e-9)


def assess_case(case, **more):
    truth = np.array(case["truth"], dtype=np.uint8)
    predicted = {"predicted": np.array(case["predicted"])} if "predicted" in case else {"threshold": 0.5}
    return assay.multilabel(truth=truth, score=np.array(case["score"]), **predicted, **more)


@pytest.mark.parametrize("case", [EDGE, EMOTIONS], ids=["edge", "emotions"])
class TestEveryValue:
    def test_sets_and_frequencies(self, case):
        a, expected = assess_case(case), case["expected"]
        for name in (
            "hamming_loss",
            "exact_match_ratio",
            "jaccard_dataset",
            "kl_pred_truth_multilabel",
            "kl_truth_pred",
        ):
            assert a[name].value == near(expected[name]), name
        assert (a.census.scored, len(a.labels)) == (expected["n"], expected["labels"])
        counts = a.counts.counts
        assert (counts[0] + counts[2]).sum() == expected["true_labels"]
        assert (counts[0] + counts[1]).sum() == expected["predicted_labels"]
        empty = {"both": "rows_both_empty", "truth": "rows_truth_empty", "predicted": "rows_predicted_empty"}
        assert a.rows_empty == {side: expected[name] for side, name in empty.items()}

    def test_jaccard_of_rows_in_all_readings(self, case):
        a, expected = assess_case(case), case["expected"]["jaccard_samples"]
        assert a["jaccard_samples"].value == near(expected["skip"])
        for reading, value in expected.items():
            assert a[f"jaccard_samples(undefined='{reading}')"].value == near(value)

    @pytest.mark.parametrize("kind", ["precision", "recall", "f1"])
    def test_averages_in_all_readings(self, case, kind):
        a, expected = assess_case(case), case["expected"][kind]
        names = {
            "micro": f"{kind}_micro",
            "macro": f"{kind}_macro(undefined='skip')",
            "macro_zero": f"{kind}_macro(undefined='zero')",
            "weighted": f"{kind}_weighted",
            "samples": f"{kind}_samples",
            "samples_zero": f"{kind}_samples(undefined='zero')",
            "samples_one": f"{kind}_samples(undefined='one')",
        }
        for key, name in names.items():
            assert a[name].value == near(expected[key]), name
        assert [a.by_class[label][kind].value for label in a.labels] == [
            None if value is None else near(value) for value in expected["per_label"]
        ]

    def test_labels_and_scores(self, case):
        a, expected = assess_case(case), case["expected"]
        cells = [[*column, expected["n"] - sum(column)] for column in a.counts.counts.T.tolist()]
        assert cells == expected["per_label_counts_TP_FP_FN_TN"]
        areas = [a.by_class[label]["auroc"].value for label in a.labels]
        assert areas == [None if area is None else near(area) for area in expected["auroc_per_label"]]
        assert a["auroc_micro"].value == near(expected["auroc_micro"])
        assert a["label_ranking_average_precision"].value == near(expected["label_ranking_average_precision"])
        assert a["label_ranking_loss"].value == near(expected["label_ranking_loss"])
        ranked = expected["n"] - expected["rows_truth_empty"]
        # scikit-learn counts rows without labels as 0
        assert a["coverage_error"].value == near(expected["coverage_error"] * expected["n"] / ranked)


def test_a_label_that_nobody_bears_has_no_value_and_both_readings_are_printed():
    a = assess_case(EDGE, labels=["w", "x", "y", "z"])
    assert a["jaccard_macro"].value is None
    assert a["jaccard_macro"].reason == 'no value for "z"; left out: 0.583, as 0: 0.438'
    assert "left out" in a["auroc_macro"].reason
    notes = a["hamming_loss"].to_json()["notes"]
    assert notes == ["4 declared labels, of which 3 occur; over those alone: 0.222"]
    assert "as 0: 0.444, as 1: 0.611" in a["jaccard_samples"].to_json()["notes"][0]
    assert any("empty sets: 2 of 6 rows" in note for note in a.notes)


def test_values_of_the_specification():
    truth = [[1, 0, 1, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 1]]  # golden G-ANC-ML
    predicted = [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 0], [1, 0, 0, 1]]
    a = assay.multilabel(truth=np.array(truth), predicted=np.array(predicted))
    assert a["hamming_loss"].value == near(0.2)
    assert a["exact_match_ratio"].value == near(0.4)
    assert a["jaccard_dataset"].value == near(0.6)
    assert a["jaccard_samples"].value == near(19 / 30)
    shares = [np.sum(side, axis=0) / np.sum(side) for side in (predicted, truth)]
    assert a["kl_pred_truth_multilabel"].value == near(entropy(*shares))


def test_scikit_learn_agrees_on_random_sets():
    rng = np.random.default_rng(7)
    truth, predicted = rng.integers(0, 2, (300, 7)), rng.integers(0, 2, (300, 7))
    a = assay.multilabel(truth=truth, predicted=predicted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in ("precision", "recall", "f1"):
            score = getattr(metrics, f"{kind}_score")
            for average in ("micro", "macro", "weighted"):
                assert a[f"{kind}_{average}"].value == near(score(truth, predicted, average=average))
            value = score(truth, predicted, average="samples", zero_division=0)
            assert a[f"{kind}_samples(undefined='zero')"].value == near(value)
    assert a["hamming_loss"].value == near(metrics.hamming_loss(truth, predicted))
    assert a["jaccard_macro"].value == near(metrics.jaccard_score(truth, predicted, average="macro"))


def test_scores_agree_with_scikit_learn():
    rng = np.random.default_rng(8)
    truth, score = rng.integers(0, 2, (200, 5)), rng.integers(0, 20, (200, 5)) / 20
    truth[:, 0] |= truth.sum(axis=1) == 0
    truth[truth.sum(axis=1) == 5, 1] = 0
    a = assay.multilabel(truth=truth, score=score, threshold=0.5)
    assert a["auroc_macro"].value == near(metrics.roc_auc_score(truth, score, average="macro"))
    assert a["average_precision_macro"].value == near(metrics.average_precision_score(truth, score, average="macro"))
    assert a["label_ranking_average_precision"].value == near(
        metrics.label_ranking_average_precision_score(truth, score)
    )
    assert a["coverage_error"].value == near(metrics.coverage_error(truth, score))
    assert a["label_ranking_loss"].value == near(metrics.label_ranking_loss(truth, score))
