# SPDX-License-Identifier: Apache-2.0
"""One feature that alone tells the label."""

from __future__ import annotations

import random

import pytest
from sklearn.metrics import roc_auc_score

from assay.assess.assess import assess
from tests.layers.assess.controls.looking import DATA, asked, look, splits

PLAN = {**DATA, "columns": {"truth": "y", "features": ["x"]}}


def screened(folder, rows, **given):
    text = "y,x\n" + "".join(f"{y},{x}\n" for y, x in rows)
    return look("CHK-PROXY", asked(PLAN, splits=splits(folder, train=text), **given))


def test_a_number_that_parts_the_classes_is_suspected_either_way_up(tmp_path):
    rng = random.Random(3)
    for sign in (1, -1):
        rows = [(y, sign * ((y == "b") * 10 + rng.random())) for y in "ab" * 100]
        found = screened(tmp_path, rows)
        assert found.verdict == "suspect"
        assert found.facts["x in train"]["auroc"] == 1


def test_the_area_and_its_interval_are_those_of_the_feature_as_a_score(tmp_path):
    rng = random.Random(4)
    rows = [(y, rng.gauss(y == "b", 1.0)) for y in "ab" * 200]
    found = screened(tmp_path, rows)
    assert found.verdict == "pass"
    one = found.facts["x in train"]
    assert one["auroc"] == pytest.approx(roc_auc_score([y == "b" for y, _ in rows], [x for _, x in rows]))
    assert one["auroc_low"] < one["auroc"] < one["auroc_high"]
    assert 0.6 < one["alone"] < 0.8


def test_one_class_of_three_told_by_a_number_is_enough(tmp_path):
    rng = random.Random(5)
    rows = [(y, 100 if y == "c" else rng.random()) for y in "abc" * 60]
    found = screened(tmp_path, rows)
    assert (found.verdict, found.facts["x in train"]["auroc_of"]) == ("suspect", "c")


def test_a_category_that_is_the_label_under_another_name_is_suspected(tmp_path):
    found = screened(tmp_path, [(y, {"a": "ward 1", "b": "ward 2"}[y]) for y in "ab" * 100])
    assert found.verdict == "suspect"
    assert found.facts["x in train"]["cramers_v_low"] > 0.8
    codes = screened(
        tmp_path, [(y, random.Random(i).choice([1, 3] if y == "a" else [2, 4])) for i, y in enumerate("ab" * 100)]
    )
    assert codes.verdict == "suspect"  # the order of the codes says little, the codes all
    assert codes.facts["x in train"]["auroc"] < 0.9


def test_ids_tell_nothing_but_subjects_of_one_class_do(tmp_path):
    rows = [("ab"[i % 2], f"id {i}") for i in range(10_100)]
    assert screened(tmp_path, rows).verdict == "pass"
    twice = [("ab"[i // 2 % 2], f"patient {i // 2}") for i in range(20_200)]
    assert screened(tmp_path, twice).verdict == "suspect"


def test_a_feature_that_alone_does_as_well_as_the_model_is_suspected(tmp_path):
    rows = [(y, {"a": "u", "b": "v"}[y] if i % 9 else "u") for i, y in enumerate("ab" * 400)]
    assert screened(tmp_path, rows).verdict == "pass"
    weak = assess(truth=list("ab" * 100), predicted=list("aabb" * 50), positive="b")
    found = screened(tmp_path, rows, assessments={("A", "test"): weak})
    assert found.verdict == "suspect"
    assert "the best model" in found.says


def test_without_features_or_training_data_nothing_is_shown(tmp_path):
    assert look("CHK-PROXY", asked({**DATA, "columns": {"truth": "y"}})).verdict == "no-evidence"
    held = splits(tmp_path, test="y,x\na,1\n")
    assert look("CHK-PROXY", asked(PLAN, splits=held)).verdict == "no-evidence"
