# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.assess import assessment_views
from assay.inference import estimates as inference_estimates
from tests import flat

ROWS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from("uvwxyz")), min_size=2, max_size=60
).filter(lambda rows: len({truth for truth, _, _ in rows}) == 2)
SOME = [
    "accuracy",
    "f1",
    "f2",
    "balanced_accuracy",
    "matthews_corrcoef",
    "likelihood_ratio_positive",
    "kl_pred_truth",
]
"""Shares, closed forms, draws and distances."""


def assessed(rows, **options):
    truth, predicted, group = zip(*rows, strict=True)
    return flat.assess(truth=list(truth), predicted=list(predicted), group={"g": list(group)}, **options)


def made_up(levels, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, 30 * levels)
    predicted = np.where(rng.random(len(truth)) < 0.8, truth, rng.integers(0, classes, len(truth)))
    return list(zip(truth.tolist(), predicted.tolist(), rng.integers(0, levels, len(truth)).tolist(), strict=True))


def same_as_one_by_one(rows, **options):
    """What a Record lists of each level is what that level gives when asked alone, measure by measure."""
    together, alone = assessed(rows, **options), assessed(rows, **options)
    of_levels = [estimate for estimate in together.record["estimates"] if estimate["slice"]]
    views = alone.by_group["g"].values()
    assert of_levels == [view[name].to_json() for view in views for name in view]


@given(ROWS)
@settings(max_examples=10)
def test_levels_worked_out_together_are_as_each_alone(rows):
    same_as_one_by_one(rows, draws=100, measures=SOME)


@pytest.mark.parametrize("cells", ["auto", "bca", "delta"])
def test_every_method_gives_a_level_the_same_beside_others(cells):
    same_as_one_by_one(made_up(18), cells=cells, draws=500)


def test_more_levels_than_take_further_draws_are_as_each_alone(monkeypatch):
    monkeypatch.setattr("assay.inference.intervals.functions_of_counts.MOST_LEVELS", 4)
    monkeypatch.setattr(assessment_views, "MOST_LEVELS", 4)
    same_as_one_by_one(made_up(6))
    drawn = assessed(made_up(6)).by_group["g"].values()
    assert {view["kl_truth_pred"].interval.draws for view in drawn} == {2000}


def test_levels_that_few_stand_beside_take_further_draws():
    views = assessed(made_up(6)).by_group["g"].values()
    assert len(views) <= inference_estimates.MOST_LEVELS
    assert max(view["kl_truth_pred"].interval.draws for view in views) > 2000


def test_a_record_of_many_levels_lists_the_leading_measures_and_says_so(monkeypatch):
    monkeypatch.setattr(assessment_views, "MOST_LISTED", 5)
    a = assessed(made_up(6))
    names = [estimate["measure"] for estimate in a.record["estimates"] if estimate["slice"] == {"g": 3}]
    assert sorted(names) == ["accuracy", "balanced_accuracy", "f1", "precision", "recall"]
    (note,) = (note for note in a.record["notes"] if "levels" in note)
    assert note == (
        'group "g" has 6 levels; of more than 5 only the leading measures are listed, '
        'and all others are computed when asked for: by_group["g"]'
    )
    assert a.by_group["g"][3]["cohen_kappa"].interval is not None
    again = assay.Assessment.from_record(a.record).record
    assert (again["estimates"], again["notes"]) == (a.record["estimates"], a.record["notes"])


def test_measures_that_were_asked_for_are_listed_of_any_number_of_levels(monkeypatch):
    monkeypatch.setattr(assessment_views, "MOST_LISTED", 5)
    a = assessed(made_up(6), measures=["specificity"])
    assert [estimate["measure"] for estimate in a.record["estimates"]] == ["specificity"] * 7
    assert not any("levels" in note for note in a.record["notes"])


@pytest.mark.parametrize("classes", [2, 3])
def test_a_level_that_is_listed_holds_no_draws(classes):
    a = assessed(made_up(3, classes=classes))
    a.record  # noqa: B018
    assert not any("_uncertainty" in vars(view) for view in a.by_group["g"].values())


def test_progress_reaches_its_total_with_groups():
    told = []
    assessed(made_up(6, classes=3)).work_out(lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == list(range(1, told[0][1] + 1))


def test_progress_of_another_task_is_one_step_a_level():
    told, rows = [], np.arange(12.0)
    assessment = assay.regression(truth=rows, predicted=rows[::-1], group={"g": rows % 3}, measures=["mae"])
    assessment.work_out(lambda done, total: told.append((done, total)))
    assert told == [(step, 4) for step in range(1, 5)], "all rows, and each of three levels"
