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


def nested(change=None):
    """Six samples, three outer folds, two inner ones; a sample without an inner fold is tested outside."""
    rows = [(i, f, "" if i % 3 == f else (i + f) // 3 % 2) for f in range(3) for i in range(6)]
    rows = [(i, f, inner if inner == "" else [k for k in range(6) if k % 3 != f].index(i) % 2) for i, f, inner in rows]
    return "id,fold,inner\n" + "".join(f"{a},{b},{c}\n" for a, b, c in (change or (lambda x: x))(rows))


def test_inner_folds_lie_in_the_training_data_of_their_outer_fold(tmp_path):
    plan = {"columns": {"id": "id"}}
    found = look("CHK-FOLDS", asked(plan, folds=opened(tmp_path, nested(), "a.csv")))
    assert found.verdict == "pass"
    assert (found.facts["outer_folds"], found.facts["tested_outside"]) == (3, 6)
    leaked = opened(tmp_path, nested(lambda rows: [(i, f, 0 if (i, f) == (0, 0) else k) for i, f, k in rows]), "b.csv")
    assert "5 tests in the outer loop of 6 samples" in look("CHK-FOLDS", asked(plan, folds=leaked)).says
    lost = opened(tmp_path, nested(lambda rows: rows[1:]), "c.csv")
    assert "place in every outer fold" in look("CHK-FOLDS", asked(plan, folds=lost)).says


def test_a_subject_in_two_folds_fails(tmp_path):
    plan = {"columns": {"id": "id", "subject": "who"}}
    good = opened(tmp_path, "id,who,fold\n1,a,0\n2,a,0\n3,b,1\n4,b,1\n", "a.csv")
    assert look("CHK-FOLDS", asked(plan, folds=good)).verdict == "pass"
    bad = opened(tmp_path, "id,who,fold\n1,a,0\n2,a,1\n3,b,1\n4,b,0\n", "b.csv")
    found = look("CHK-FOLDS", asked(plan, folds=bad))
    assert (found.verdict, found.facts["shared_subjects"]) == ("fail", 2)
