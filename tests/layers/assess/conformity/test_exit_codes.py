# SPDX-License-Identifier: Apache-2.0
"""What a planned run hands to the shell."""

from __future__ import annotations

import pytest

from tests import command
from tests.layers.assess.compare.test_plan_comparison import HEAD, rows, save

PLAN = '[metrics]\nmeasures = ["accuracy"]\n[data.test]\npath = "test.csv"\n[models.A]\npredicted = "a"\n'
TRAINED = PLAN + '[data.train]\npath = "test.csv"\n'


@pytest.mark.parametrize(
    ("plan", "more", "code", "says"),
    [
        (PLAN, (), 0, "conformity not demonstrated"),
        (PLAN, ("--require", "declared"), 3, "required declared, found conformity not demonstrated"),
        (TRAINED, (), 1, "non-conforming"),
        (TRAINED, ("--require", "conforming"), 1, "non-conforming"),
    ],
)
def test_a_shall_row_that_fails_ends_with_1_and_an_open_one_with_3_only_where_it_is_required(
    tmp_path, plan, more, code, says
):
    save(tmp_path / "test.csv", rows(30))
    (tmp_path / "plan.toml").write_text(HEAD + plan, encoding="utf-8")
    done = command.assay("run", "plan.toml", "--no-ledger", *more, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert says in done.stdout + done.stderr
