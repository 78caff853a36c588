# SPDX-License-Identifier: Apache-2.0
"""Features that name a group of people, or stand for one."""

from __future__ import annotations

import random

import pytest

from assay.assess.controls import Inquiry, run_controls
from assay.assess.plan.checked_plan import planned
from assay.rows.files.formats import Reading
from assay.tally.data.split_counts import SplitRows


@pytest.mark.parametrize(
    ("features", "verdict", "says"),
    [
        (["size", "shade"], "pass", "none names or stands for a group; strongest association"),
        (["size", "sex_code"], "suspect", "sex_code names sex"),
        (["size", "height"], "suspect", "height tells sex in train: AUROC 1.000"),
    ],
)
def test_features_are_held_against_groups_by_name_and_by_association(tmp_path, features, verdict, says):
    chance = random.Random(4213)
    rows = ["sex,size,shade,sex_code,height"]
    rows += [
        f"{'fm'[i % 2]},{chance.gauss(0, 1):.4f},{chance.choice('ab')},{i % 2},{160 + 30 * (i % 2)}.{i}"
        for i in range(200)
    ]
    (tmp_path / "train.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    loaded = planned({"columns": {"features": features}, "fairness": {"groups": ["sex"]}}, tmp_path)
    split = SplitRows.of(str(tmp_path / "train.csv"), reading=Reading())
    (found,) = run_controls(Inquiry(loaded=loaded, splits={"train": split}), "plan", ["CHK-UNAWARE"])
    assert found.outcome.verdict == verdict
    assert says in found.outcome.says
