# SPDX-License-Identifier: Apache-2.0
"""Every control on data made to pass, to fail, and to show nothing."""

from __future__ import annotations

import random

import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from assay.assess.assess import assess
from assay.assess.controls import CONTROLS, Inquiry
from assay.assess.controls.data.association import associated, guessed_by
from assay.assess.plan.checked_plan import planned
from tests.layers.assess.controls.looking import DATA, asked, look, opened


@pytest.fixture
def table(tmp_path):
    return lambda text, name="t.csv": opened(tmp_path, text, name)


def splits(table, **texts):
    return {name: table(text, f"{name}.csv") for name, text in texts.items()}


@pytest.mark.parametrize("id", CONTROLS)
def test_every_control_says_what_it_looks_for_and_shows_nothing_without_evidence(id):
    one = CONTROLS[id]
    assert one.looks_for
    assert one.passes_when
    assert str(one.clause).startswith("ISO/IEC TS 4213:2022")
    for outcome in one.look(Inquiry(loaded=planned({}))):
        assert id == "CHK-KNOWN" or outcome.verdict in ("no-evidence", "fail"), outcome


def test_no_unsigned_statement_counts():
    said = {
        "leakage": {"distinct_subjects": "yes"},
        "tuning": {"test_unused": "sealed", "trials": {"A": 1}},
        "population": {"absent": "no register"},
        "models": {"A": {"trained_on": "train", "preprocessing": [], "hyperparameters": {}}},
    }
    for id in (
        "CHK-GROUP",
        "CHK-LEDGER",
        "CHK-POPULATION",
        "CHK-HPARAM",
        "CHK-TUNE-PARITY",
        "CHK-PREPROC",
        "CHK-TRAIN-SAME",
    ):
        assert look(id, Inquiry(loaded=planned(said))).verdict == "no-evidence", id
        assert look(id, asked(said)).verdict in ("declared", "pass"), id


def test_overlap_by_content_may_be_explained_where_features_are_few(table):
    held = splits(table, train="id,x\n1,a\n2,b\n", test="id,x\n3,a\n4,c\n")
    plan = {**DATA, "columns": {"id": "id", "features": ["x"]}}
    assert look("CHK-OVERLAP", asked(plan, splits=held), "test/train").verdict == "fail"
    plan["leakage"] = {"coincide": "one yes/no question"}
    found = look("CHK-OVERLAP", asked(plan, splits=held), "test/train")
    assert (found.verdict, found.facts["same_content"]) == ("suspect", 1)


def test_overlap_by_ids_alone_says_so(table):
    held = splits(table, train="id\n1\n", test="id\n2\n")
    found = look("CHK-OVERLAP", asked({**DATA, "columns": {"id": "id"}}, splits=held), "test/train")
    assert found.verdict == "pass"
    assert "only ids were compared" in found.says


def test_a_near_duplicate_is_a_suspicion(table):
    held = splits(table, train="x\nSome  Text\n", test="x\nsome text\n")
    plan = {**DATA, "columns": {"features": ["x"]}}
    assert look("CHK-OVERLAP", asked(plan, splits=held), "test/train").verdict == "suspect"


def test_near_duplicates_of_texts_and_numbers_are_suspicions_named_by_hashed_ids(table):
    rng = random.Random(8)
    lines = [" ".join(f"word{rng.randint(0, 500)}" for _ in range(30)) for _ in range(40)]
    texts = {"train": lines[:30], "test": [*lines[30:], lines[0].replace(lines[0].split()[9], "else")]}
    held = splits(table, **{k: "id,t\n" + "".join(f"{k}{i},{t}\n" for i, t in enumerate(v)) for k, v in texts.items()})
    plan = {**DATA, "columns": {"id": "id", "features": ["t"], "texts": ["t"]}}
    found = look("CHK-OVERLAP", asked(plan, splits=held), "test/train")
    assert (found.verdict, found.facts["near"]["texts"]["rows"]) == ("suspect", 1)
    assert "test10" not in str(found.facts)
    rows = [[rng.gauss(0, 1) for _ in range(3)] for _ in range(400)]
    near = {"train": rows[:200], "test": [*rows[200:], [x + 1e-5 for x in rows[0]]]}
    held = splits(table, **{k: "a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in v) for k, v in near.items()})
    plan = {**DATA, "columns": {"features": ["a", "b", "c"]}}
    found = look("CHK-OVERLAP", asked(plan, splits=held), "test/train")
    assert (found.verdict, found.facts["near"]["numbers"]["rows"]) == ("suspect", 1)
    assert "by their numbers" in found.says
    held["test"] = table("a,b,c\n9,9,9\n", "other.csv")
    assert look("CHK-OVERLAP", asked(plan, splits=held), "test/train").verdict == "pass"


def test_time_order(table):
    plan = {**DATA, "columns": {"time": "t"}}
    early, late = "t\n2024-01-01\n", "t\n2024-02-01\n"
    assert look("CHK-TIME", asked(plan, splits=splits(table, train=early, test=late))).verdict == "pass"
    mixed = splits(table, train=late, test=early)
    assert look("CHK-TIME", asked(plan, splits=mixed)).verdict == "suspect"
    assert look("CHK-TIME", asked({**plan, "purpose": {"aims": ["out-of-time"]}}, splits=mixed)).verdict == "fail"
    odd = splits(table, train="t\nsoon\n", test=late)
    assert look("CHK-TIME", asked(plan, splits=odd)).verdict == "no-evidence"


def test_folds(table):
    plan = {"columns": {"id": "id"}}
    good = "id,repetition,fold\n" + "".join(f"{i},{r},{i % 3}\n" for r in (1, 2) for i in range(9))
    assert look("CHK-FOLDS", asked(plan, folds=table(good))).verdict == "pass"
    twice = look("CHK-FOLDS", asked(plan, folds=table(good + "0,1,2\n", "b.csv")))
    assert (twice.verdict, twice.facts["tested_twice"]) == ("fail", 1)
    uneven = "id,fold\n" + "".join(f"{i},{int(i > 6)}\n" for i in range(9))
    assert look("CHK-FOLDS", asked(plan, folds=table(uneven, "c.csv"))).verdict == "suspect"


def test_ledger(table):
    held = splits(table, test="id\n1\n")
    plan = {"data": {"test": {}}}
    good = {"time": "2024-01-01", "purpose": "tune", "data": "0" * 64}
    bad = {**good, "data": held["test"].sha256}
    early = {**good, "purpose": "test", "model": "A"}
    given = {"splits": held, "frozen_at": "2026-01-01"}
    assert look("CHK-LEDGER", asked(plan, ledger=(good,), **given)).verdict == "declared"
    assert look("CHK-LEDGER", asked(plan, ledger=(good, bad), **given)).verdict == "fail"
    assert "before the plan" in look("CHK-LEDGER", asked(plan, ledger=(early,), **given)).says
    late = {**early, "time": "2026-02-01"}
    assert look("CHK-LEDGER", asked(plan, ledger=(late,), **given)).verdict == "declared"
    assert "more than once" in look("CHK-LEDGER", asked(plan, ledger=(late, late), **given)).says
    explained = {**late, "reason": "new machine"}
    assert look("CHK-LEDGER", asked(plan, ledger=(late, explained), **given)).verdict == "declared"
    assert look("CHK-LEDGER", asked(plan, ledger=({"purpose": "tune"},), **given)).verdict == "no-evidence"


def test_models_must_meet_the_same_test_rows(table):
    plan = {"columns": {"id": "id", "truth": "y"}}
    a, b = table("id,y,p\n1,a,a\n2,b,a\n", "a.csv"), table("id,y,p\n2,b,b\n1,a,a\n", "b.csv")
    other = table("id,y,p\n1,a,a\n3,b,b\n", "c.csv")
    assert look("CHK-TESTSET-SAME", asked(plan, predictions={"A": a, "B": b})).verdict == "pass"
    assert look("CHK-TESTSET-SAME", asked(plan, predictions={"A": a, "B": other})).verdict == "fail"
    nameless = {"columns": {"truth": "y"}}
    assert look("CHK-TESTSET-SAME", asked(nameless, predictions={"A": a, "B": other})).verdict == "declared"


def test_class_shares_of_splits(table):
    plan = {**DATA, "columns": {"truth": "y"}}

    def of(train, test):
        texts = {k: "y\n" + "a\n" * v[0] + "b\n" * v[1] for k, v in (("train", train), ("test", test))}
        return look("CHK-CLASS-DIST", asked(plan, splits=splits(table, **texts)))

    assert of((500, 500), (250, 250)).verdict == "pass"
    assert of((900, 100), (250, 250)).verdict == "fail"
    assert of((10, 10), (12, 8)).verdict == "pass"  # ten points apart, but twenty rows cannot tell
    assert of((10, 10), (12, 8)).facts["detectable_v"] > 0.3
    missing = of((500, 500), (500, 0))
    assert missing.verdict == "fail"
    assert "b in test" in missing.says


def test_population(table):
    plan = {"data": {"test": {}}, "columns": {"truth": "y"}, "population": {"classes": {"a": 0.5, "b": 0.5}}}
    even = splits(table, test="y\n" + "a\n" * 200 + "b\n" * 210)
    assert look("CHK-POPULATION", asked(plan, splits=even)).verdict == "pass"
    skewed = splits(table, test="y\n" + "a\n" * 300 + "b\n" * 100)
    assert look("CHK-POPULATION", asked(plan, splits=skewed)).verdict == "fail"
    strange = splits(table, test="y\n" + "a\n" * 200 + "c\n" * 210)
    assert look("CHK-POPULATION", asked(plan, splits=strange)).facts["test"]["not_in_population"] == ["c"]


def test_channels(table):
    rng = random.Random(1)
    plan = {"data": {"test": {}}, "columns": {"truth": "y"}, "channels": {"other": ["s"]}}
    free = "y,s\n" + "".join(f"{rng.choice('ab')},{rng.choice('XYZ')}\n" for _ in range(900))
    assert look("CHK-CHANNEL", asked(plan, splits=splits(table, test=free))).verdict == "pass"
    told = "y,s\n" + "".join(f"{y},{'X' if y == 'a' else 'Y'}\n" for y in "ab" * 200)
    found = look("CHK-CHANNEL", asked(plan, splits=splits(table, test=told)))
    assert found.verdict == "fail"
    assert found.facts["s in test"]["cramers_v"] == pytest.approx(1, abs=0.01)
    assert found.facts["s in test"]["guess_above_chance"] == pytest.approx(0.5)
    plan["channels"]["known_effects"] = "none known"
    assert look("CHK-CHANNEL", asked(plan, splits=splits(table, test=told)), "reported").verdict == "fail"
    plan["channels"]["known_effects"] = "Device X served class a."
    assert look("CHK-CHANNEL", asked(plan, splits=splits(table, test=told)), "reported").verdict == "pass"


def test_a_channel_of_one_row_each_cannot_guess_itself():
    cells = {(i, i % 2): 1 for i in range(100)}
    excess, low = guessed_by(cells)
    assert excess == -0.5
    assert low <= excess


def test_a_channel_that_tells_a_rare_class_is_not_hidden_by_a_frequent_one():
    """The rare class always comes by channel z, where it is still outnumbered."""
    cells = {("x", "often"): 300, ("y", "often"): 300, ("z", "often"): 300, ("z", "rarely"): 90}
    excess, low = guessed_by(cells)
    assert excess == pytest.approx((2 / 3 + 1) / 2 - 1 / 2)
    assert low > 0.3


def test_a_sparse_table_is_judged_by_random_tables():
    assert associated({("a", 1): 3, ("b", 2): 3}).method.startswith("random tables")
    assert associated({("a", 1): 300, ("a", 2): 300, ("b", 2): 300}).method == "chi-squared"
    assert associated({("a", 1): 3, ("b", 1): 3}) is None


def test_label_conflicts(table):
    plan = {**DATA, "columns": {"truth": "y", "features": ["x"]}}
    clash = splits(table, train="x,y\n1,a\n1,b\n", test="x,y\n2,a\n")
    assert look("CHK-LABEL-CONFLICT", asked(plan, splits=clash)).verdict == "suspect"
    fine = splits(table, train="x,y\n1,a\n", test="x,y\n2,a\n")
    assert look("CHK-LABEL-CONFLICT", asked(plan, splits=fine)).verdict == "pass"


def test_annotators_agree_as_peers_compute_it(table):
    rng = random.Random(2)
    rows = [(t, *(t if rng.random() < 0.8 else rng.choice("abc") for _ in range(3))) for t in rng.choices("abc", k=300)]
    text = "r1,r2,r3\n" + "".join(f"{a},{b},{c}\n" for _, a, b, c in rows)
    plan = {"ground_truth": {"annotations": "x.csv", "annotators": ["r1", "r2", "r3"]}}
    found = look("CHK-ANNOTATOR", asked(plan, annotations=table(text)))
    assert found.verdict == "pass"
    kappa = cohen_kappa_score([row[1] for row in rows], [row[2] for row in rows])
    pair = found.facts["pairs"]["r1, r2"]
    assert pair["kappa"] == pytest.approx(kappa, abs=1e-12)
    assert pair["low"] < kappa < pair["high"]
    counts, _ = aggregate_raters([row[1:] for row in rows])
    together = found.facts["together"]
    assert together["fleiss_kappa"]["value"] == pytest.approx(fleiss_kappa(counts), abs=1e-12)
    for name in ("fleiss_kappa", "krippendorff_alpha", "gwet_ac1"):
        assert together[name]["low"] < together[name]["value"] < together[name]["high"]
    assert "kappa_linear" not in pair
    plan["ground_truth"]["minimum_agreement"] = 0.9
    assert look("CHK-ANNOTATOR", asked(plan, annotations=table(text, "b.csv"))).verdict == "fail"


def test_ordered_classes_have_weighted_agreement(table):
    rng = random.Random(3)
    rows = [(rng.choice("123"), rng.choice("123")) for _ in range(200)]
    text = "r1,r2\n" + "".join(f"{a},{b}\n" for a, b in rows)
    plan = {
        "task": {"type": "multiclass", "classes": ["1", "2", "3"], "ordered": True},
        "ground_truth": {"annotations": "x.csv", "annotators": ["r1", "r2"]},
    }
    found = look("CHK-ANNOTATOR", asked(plan, annotations=table(text))).facts
    for weighting in ("linear", "quadratic"):
        peer = cohen_kappa_score([a for a, _ in rows], [b for _, b in rows], weights=weighting)
        assert found["pairs"]["r1, r2"][f"kappa_{weighting}"]["value"] == pytest.approx(peer, abs=1e-12)
        assert f"gwet_ac2_{weighting}" in found["together"]


def test_preprocessing_fitted_on_test_data_fails():
    def of(*on):
        steps = {
            name: {"preprocessing": [{"step": "scale", "fitted_on": split}]}
            for name, split in zip("AB", on, strict=True)
        }
        return look("CHK-PREPROC", asked({**DATA, "models": steps})).verdict

    assert of("train", "train") == "declared"
    assert of("train", "test") == "fail"
    assert of("train", "none") == "suspect"


def test_fitted_values_tell_on_which_data_a_step_was_fitted(table):
    held = splits(table, train="x\n1\n2\n3\n6\n", test="x\n9\n10\n")

    def of(**fitted):
        step = {"step": "scale", "fitted_on": "train", "fitted": {"x": fitted}}
        return look("CHK-PREPROC", asked({**DATA, "models": {"A": {"preprocessing": [step]}}}, splits=held))

    assert of(mean=3.0, std=1.87, median=2.5, min=1.0, max=6.0).verdict == "pass"
    assert of(std=2.16).verdict == "pass"  # the other divisor
    leaked = of(mean=5.17, std=1.87)
    assert leaked.verdict == "fail"
    assert "train and test" in leaked.says
    assert "the value of test" in of(max=10.0, mean=9.5).says
    assert of(mean=4.0).verdict == "suspect"


def test_measures_tasks_and_baselines():
    found = assess(truth=["a", "b"] * 50, predicted=["a", "b"] * 45 + ["a", "a"] * 5, positive="b")
    plan = {"task": {"type": "binary", "classes": ["a", "b"]}, "metrics": {"measures": ["recall"], "primary": "recall"}}
    given = {"assessment": found, "estimates": tuple(found.record["estimates"]), "model": "A"}
    for id in ("CHK-TASK", "CHK-METRIC-TASK", "CHK-RESULT", "CHK-NAMES", "CHK-N", "CHK-IMBALANCE", "CHK-BASELINE"):
        assert look(id, asked(plan, **given)).verdict == "pass", id
    assert look("CHK-BASELINE", asked(plan, **given), "beats").verdict == "pass"
    assert look("CHK-BASELINE", asked(plan, **given), "comparator").verdict == "fail"
    assert look("CHK-IMBALANCE", asked(plan, **given)).facts["balanced"]
    wrong = {"task": {"type": "multiclass", "classes": ["a", "b", "c"]}}
    assert look("CHK-TASK", asked(wrong, **given)).verdict == "fail"
    lacking = {"metrics": {"measures": ["f_beta(beta=3)"]}}
    assert look("CHK-RESULT", asked(lacking, **given)).verdict == "fail"
    published = {"models": {"B": {"kind": "published", "source": "x"}}}
    assert look("CHK-BASELINE", asked(published, **given), "comparator").verdict == "pass"


def test_auroc_as_primary_measure_of_rare_positives_is_a_deviation():
    found = assess(truth=[1] * 5 + [0] * 95, predicted=[1] * 5 + [0] * 95)
    plan = {"metrics": {"primary": "auroc"}}
    assert look("CHK-IMBALANCE", asked(plan, assessment=found), "auroc").verdict == "fail"
    even = assess(truth=[1, 0] * 50, predicted=[1, 0] * 50)
    assert look("CHK-IMBALANCE", asked(plan, assessment=even), "auroc").verdict == "pass"


def test_strata_need_their_rows():
    found = assess(
        data={"y": [1, 0] * 10, "p": [1, 0] * 10, "s": ["f"] * 15 + ["m"] * 5}, truth="y", predicted="p", group="s"
    )
    plan = {"use": {"strata": [{"column": "s", "level": "f", "minimum": 10}]}}
    assert look("CHK-COVERAGE", asked(plan, assessment=found)).verdict == "pass"
    plan["use"]["strata"].append({"column": "s", "level": "m", "minimum": 10})
    assert look("CHK-COVERAGE", asked(plan, assessment=found)).verdict == "fail"


def test_a_changed_model_file_is_found():
    plan = {"models": {"A": {"sha256": "a" * 64}}}
    assert look("CHK-MODEL-FREEZE", asked(plan, artefacts={"A": ("a" * 64, "a" * 64)})).verdict == "pass"
    assert look("CHK-MODEL-FREEZE", asked(plan, artefacts={"A": ("a" * 64, "b" * 64)})).verdict == "fail"
    assert look("CHK-MODEL-FREEZE", asked(plan, artefacts={"A": ("b" * 64, "b" * 64)})).verdict == "fail"


def test_repeated_ids_among_predictions_fail(table):
    text = "id,y,p\n1,a,a\n1,b,b\n2,a,b\n"
    found = assess(truth=["a", "b", "a"], predicted=["a", "b", "b"], positive="a")
    given = {"assessment": found, "model": "A"}
    plan = {"columns": {"id": "id"}}
    assert look("CHK-PRED", asked(plan, predictions={"A": table(text)}, **given)).verdict == "fail"
    fine = table(text.replace("1,b", "3,b"), "b.csv")
    assert look("CHK-PRED", asked(plan, predictions={"A": fine}, **given)).verdict == "pass"


def test_a_late_feature_fails():
    plan = {"columns": {"features": ["x"]}, "features": {"x": {"available": False}}}
    assert look("CHK-FEATURE", asked(plan)).verdict == "fail"
    plan["features"]["x"]["available"] = True
    assert look("CHK-FEATURE", asked(plan)).verdict == "declared"


def test_a_plan_fixed_after_counting_fails():
    plan = {"task": {"type": "binary"}}
    assert look("CHK-PLAN", asked(plan, frozen_at="2026-01-02", counted_at="2026-01-01")).verdict == "fail"
    assert look("CHK-PLAN", asked(plan, frozen_at="2026-01-01", counted_at="2026-01-02")).verdict == "pass"


CLAIMED = {"claim": "A is better than B in accuracy", "model": "A", "reference": "B", "measure": "accuracy", "n": 100,
           "answer": "supported", "about": None, "n_by_class": {"a": "50", "b": "50"}}  # fmt: skip
PAIR = {name: {"predicted": name, "trained_on": "train", "preprocessing": []} for name in "AB"}


@pytest.mark.parametrize(
    ("part", "changed", "document", "verdict"),
    [
        ("answers", {}, {}, "pass"),
        ("answers", {"answer": "contradicted"}, {}, "fail"),
        ("answers", {"answer": "not decidable"}, {}, "suspect"),
        ("answers", {"n": None}, {}, "fail"),
        ("accuracy", {}, {}, "pass"),
        ("accuracy", {"n_by_class": {"a": "90", "b": "10"}}, {}, "fail"),
        ("accuracy", {"n_by_class": {"a": "90", "b": "10"}, "measure": "recall"}, {}, "pass"),
        ("accuracy", {"n_by_class": {"a": "90", "b": "10"}, "reference": None}, {}, "pass"),
        ("estimand", {}, {}, "pass"),
        ("estimand", {}, {"purpose": {"estimand": "algorithm"}}, "fail"),
        ("estimand", {"about": "algorithm"}, {"purpose": {"aims": ["cv-comparison"]}}, "pass"),
        ("credit", {"about": "algorithm"}, {}, "pass"),
        ("credit", {"about": "algorithm"}, {"models": {**PAIR, "B": {"predicted": "B"}}}, "no-evidence"),
        ("credit", {"about": "algorithm"}, {"models": {**PAIR, "B": {**PAIR["B"], "trained_on": "more"}}}, "fail"),
        ("credit", {}, {"models": {**PAIR, "B": {**PAIR["B"], "trained_on": "more"}}}, "pass"),
    ],
)
def test_claims_are_held_to_what_such_data_can_show(part, changed, document, verdict):
    found = look("CHK-CLAIM", asked({"models": PAIR, **document}, claims=({**CLAIMED, **changed},)), part)
    assert found.verdict == verdict, found.says
