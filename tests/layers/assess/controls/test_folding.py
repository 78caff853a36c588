# SPDX-License-Identifier: Apache-2.0
"""The same folds for every model."""

from __future__ import annotations

from tests.layers.assess.controls.looking import asked, look, opened

PLAN = {"columns": {"id": "id"}, "models": {"A": {}, "B": {}}}
FOLDS = "id,repetition,fold\n" + "".join(f"{i},{r},{i % 3}\n" for r in (1, 2) for i in range(9))


def test_models_must_share_scheme_and_folds(tmp_path):
    lines = FOLDS.splitlines(keepends=True)
    a, b = opened(tmp_path, FOLDS, "a.csv"), opened(tmp_path, "".join([lines[0], *lines[:0:-1]]), "b.csv")
    other = opened(tmp_path, FOLDS.replace("0,1,0", "0,1,1"), "c.csv")
    assert look("CHK-CV-SAME", asked(PLAN, fold_tables={"A": a, "B": b})).verdict == "pass"
    assert look("CHK-CV-SAME", asked(PLAN, fold_tables={"A": a, "B": other})).verdict == "fail"
    assert look("CHK-CV-SAME", asked(PLAN, fold_tables={"A": a})).verdict == "no-evidence"
    bare = opened(tmp_path, "id\n1\n", "d.csv")
    assert look("CHK-CV-SAME", asked(PLAN, fold_tables={"A": a, "B": bare})).verdict == "no-evidence"
    assert look("CHK-CV-SAME", asked(PLAN, folds=a)).verdict == "declared"
    schemes = {**PLAN, "models": {"A": {"scheme": "5-fold"}, "B": {"scheme": "holdout"}}}
    assert look("CHK-CV-SAME", asked(schemes, fold_tables={"A": a, "B": b})).verdict == "fail"
    assert look("CHK-CV-SAME", asked({"models": {"A": {}}}, fold_tables={"A": a})).verdict == "no-evidence"
    single = {**PLAN, "tuning": {"scheme": "holdout"}}
    assert look("CHK-CV-SAME", asked(single)).verdict == "n/a"
    assert look("CHK-CV-SAME", asked(single, fold_tables={"A": a, "B": other})).verdict == "fail"
