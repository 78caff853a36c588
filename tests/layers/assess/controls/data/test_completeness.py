# SPDX-License-Identifier: Apache-2.0
"""Missing values, values new to training, and the age of the data."""

from __future__ import annotations

import random

import pytest

from tests.layers.assess.controls.looking import DATA, asked, look, splits

PLAN = {**DATA, "columns": {"truth": "y", "features": ["x"]}}


def test_missing_values_may_be_many_but_must_not_tell_the_class(tmp_path):
    rng = random.Random(1)
    free = "y,x\n" + "".join(f"{rng.choice('ab')},{'' if rng.random() < 0.3 else 1}\n" for _ in range(600))
    found = look("CHK-MISSING", asked(PLAN, splits=splits(tmp_path, train=free)))
    assert found.verdict == "pass"
    assert found.facts["x in train"]["share"] == pytest.approx(0.3, abs=0.06)
    told = "y,x\n" + "".join(f"{y},{'' if y == 'a' and i % 2 else 1}\n" for i in range(300) for y in "ab")
    found = look("CHK-MISSING", asked(PLAN, splits=splits(tmp_path, test=told)))
    assert found.verdict == "suspect"
    assert found.facts["x in test"]["share_by_class"] == {"a": 0.5, "b": 0.0}
    whole = look("CHK-MISSING", asked(PLAN, splits=splits(tmp_path, test="y,x\na,1\nb,2\n")))
    assert (whole.verdict, whole.says) == ("pass", "no value is missing")
    assert look("CHK-MISSING", asked(PLAN, splits=splits(tmp_path, test="x\n1\n"))).verdict == "no-evidence"


def test_numbers_outside_the_range_of_training_fail_unless_chance_brings_as_many(tmp_path):
    rng = random.Random(2)

    def of(train, test):
        texts = {"train": "x\n" + "".join(f"{v}\n" for v in train), "test": "x\n" + "".join(f"{v}\n" for v in test)}
        return look("CHK-RANGE", asked({**DATA, "columns": {"features": ["x"]}}, splits=splits(tmp_path, **texts)))

    same = of([rng.random() for _ in range(1000)], [rng.random() for _ in range(500)])
    assert same.verdict == "pass"
    shifted = of([rng.random() for _ in range(1000)], [rng.random() + 0.5 for _ in range(500)])
    assert shifted.verdict == "fail"
    assert shifted.facts["x in test"]["share"] > 0.4
    few = of([rng.random() for _ in range(10)], [0.5] * 18 + [-1, 2])  # a tenth outside, and ten rows cannot tell
    assert (few.verdict, few.facts["x in test"]["new"]) == ("pass", 2)
    assert few.facts["x in test"]["p"] > 0.05


def test_categories_that_training_never_met_fail(tmp_path):
    plan = {**DATA, "columns": {"features": ["x"]}}
    new = splits(tmp_path, train="x\n" + "a\nb\n" * 200, test="x\n" + "a\n" * 150 + "c\n" * 20)
    found = look("CHK-RANGE", asked(plan, splits=new))
    assert found.verdict == "fail"
    assert found.facts["x in test"]["new_levels"] == 1
    old = splits(tmp_path, train="x\n" + "a\nb\n" * 200, test="x\n" + "a\n" * 150)
    assert look("CHK-RANGE", asked(plan, splits=old)).verdict == "pass"
    texts = "x\n" + "".join(f"words number {i}\n" for i in range(10_100))
    free = look("CHK-RANGE", asked(plan, splits=splits(tmp_path, train=texts, test=texts)))
    assert (free.verdict, free.says) == ("no-evidence", "no feature can be compared; not comparable: x in test")
    assert look("CHK-RANGE", asked(plan, splits={"test": old["test"]})).verdict == "no-evidence"


def test_the_age_of_data_is_held_against_the_declared_maximum(tmp_path):
    plan = {**DATA, "columns": {"time": "t"}}
    held = splits(tmp_path, train="t\n2024-01-01\n", test="t\n2025-01-01\n2025-06-01\n")

    def of(most, at="2026-01-01T00:00:00+00:00"):
        use = {} if most is None else {"use": {"maximum_age_days": most}}
        return look("CHK-AGE", asked({**plan, **use}, splits=held, frozen_at=at))

    assert of(None).verdict == "no-evidence"
    assert of(None).facts["test"]["newest_age_days"] == 214
    assert of(731.0).verdict == "pass"
    assert of(730.0).verdict == "fail"
    assert "train" in of(730.0).says
    assert of(9999.0, at="2025-01-01T00:00:00+00:00").verdict == "suspect"
    assert look("CHK-AGE", asked(plan, splits=splits(tmp_path, test="t\nsoon\n"), frozen_at="2026-01-01")).verdict == (
        "no-evidence"
    )
