# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import re

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binom

import assay
from assay.assess.record.record import schema
from assay.inference.tests_catalogue import every_test
from tests import flat

rng = np.random.default_rng(7)
N = 300
Y = rng.integers(0, 2, N)
A = np.where(rng.random(N) < 0.88, Y, 1 - Y)
B = np.where(rng.random(N) < 0.80, Y, 1 - Y)
SA, SB = Y + rng.normal(size=N), Y + 2 * rng.normal(size=N)


def whole(**more):
    return flat.compare(truth=Y, predicted={"A": A, "B": B}, score={"A": SA, "B": SB}, **more)


def test_the_names_of_the_contract_work():
    c = whole(positive=1)
    assert 0 < c["mcnemar"].p <= 1
    assert 0 < c["delong"].p <= 1
    assert [place.model for place in c.ranking] == ["A", "B"]
    assert len(c.findings) == len(c) == 7
    assert c["recall"].adjusted.by == "Holm"
    assert c["sensitivity"] is c["recall"]
    assert c["f1"].effect.interval.method == "bca of joint cells"
    with pytest.raises(assay.PlanError, match="there is no finding"):
        c["t test"]


def test_a_record_of_a_comparison_fits_its_schema_and_comes_back(tmp_path):
    c = whole()
    jsonschema.validate(dict(c.record), schema("comparison"))
    path = c.save(tmp_path / "c.json")
    again = assay.load(path)
    assert dict(again.record) == dict(c.record)
    content = json.loads(path.read_text())
    content["tallies"]["paired"]["cells"][0][-1] += 1
    path.write_text(json.dumps(content))
    with pytest.raises(assay.RecordError) as error:
        assay.load(path)
    assert error.value.code == "digest-mismatch"


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict], ids=["pandas", "polars", "mapping"])
def test_columns_of_a_table_give_what_arrays_give(frame):
    table = {"y": Y, "a": A, "b": B, "sa": SA, "sb": SB}
    found = assay.compare(
        data=frame(table), truth="y", predicted={"A": "a", "B": "b"}, score={"A": "sa", "B": "sb"}, positive=1
    )
    want = whole(positive=1)
    assert found.paired == want.paired
    assert found.scores == want.scores
    assert [one.p for one in found.findings] == [one.p for one in want.findings]


@pytest.mark.parametrize("more", [{}, {"unit": np.arange(N) // 2}], ids=["rows", "units"])
def test_scores_are_those_of_their_model_in_whatever_order_they_come(more):
    found = assay.compare(truth=Y, predicted={"A": A, "B": B}, score={"B": SB, "A": SA}, positive=1, **more)
    want = whole(positive=1, **more)
    assert found.record["tallies"] == want.record["tallies"]
    assert found.record["findings"] == want.record["findings"]


def files(tmp_path, *, shuffle=True, **changes):
    order = rng.permutation(N) if shuffle else np.arange(N)
    one = pl.DataFrame({"id": [f"r{i}" for i in range(N)], "y": Y, "p": A, "s": SA})
    two = pl.DataFrame({"id": [f"r{i}" for i in order], "y": Y[order], "p": B[order], "s": SB[order]})
    for name, column in changes.items():
        two = two.with_columns(pl.Series(name, column))
    one.write_csv(tmp_path / "A.csv")
    two.write_parquet(tmp_path / "B.parquet")
    return {"A": tmp_path / "A.csv", "B": tmp_path / "B.parquet"}


def test_files_are_matched_by_id_in_any_order(tmp_path):
    parts = files(tmp_path)
    parts["B"] = tmp_path / "B.csv"
    pl.read_parquet(tmp_path / "B.parquet").write_csv(parts["B"])
    c = assay.compare(data=parts, truth="y", predicted="p", score="s", id="id", positive="1")
    want = whole()
    assert c["mcnemar"].p == want["mcnemar"].p
    assert c["delong"].p == pytest.approx(want["delong"].p, rel=1e-12)
    assert c.record["test_data"]["pairing"] == "by id"
    assert len(c.record["test_data"]["digest"]) == 64
    assert set(c.record["digests"]["files"]) == {"A.csv", "B.csv"}


def tables(**changes):
    base = {"id": list(range(6)), "y": [1, 1, 1, 0, 0, 0], "p": [1, 1, 0, 0, 0, 1]}
    return {"A": pl.DataFrame(base), "B": pl.DataFrame({**base, **changes})}


@pytest.mark.parametrize(
    ("changes", "code", "says"),
    [
        ({"id": [0, 1, 2, 3, 4, 9]}, "rows-unmatched", "1 id only in A: 5; 1 id only in B: 9"),
        ({"id": [0, 1, 2, 3, 4, 4]}, "duplicate-id", "4"),
        ({"id": [0, 1, 2, 3, 4, None]}, "missing-id", "1 row"),
        ({"y": [1, 1, 0, 0, 0, 0]}, "rows-unmatched", "row 2: 1 and 0"),
        ({"id": ["0", "1", "2", "3", "4", "5"]}, "rows-unmatched", "different types"),
        ({"p": [1, 1, 0, 0, 0, None]}, "missing-label", "B: 1 row"),
        ({"p": ["1", "1", "0", "0", "0", "1"]}, "mixed-types-in-column", ""),
        ({"p": [1, 1, 0, 0, 0, 2]}, "label-not-declared", ""),
    ],
)
def test_rows_that_do_not_belong_together_are_refused_by_name(changes, code, says):
    with pytest.raises(assay.AssayError) as error:
        assay.compare(data=tables(**changes), truth="y", predicted="p", id="id", reading=assay.Reading(show_ids=True))
    assert error.value.code == code
    assert says in (error.value.found or "")


def test_without_an_id_position_must_be_said_and_truths_must_agree():
    with pytest.raises(assay.PlanError) as error:
        assay.compare(data=tables(), truth="y", predicted="p")
    assert error.value.code == "comparison-needs"
    found = assay.compare(data=tables(), truth="y", predicted="p", tests=assay.TestSettings(pairing="position"))
    assert found["mcnemar"].p == 1.0
    with pytest.raises(assay.UnpairedRows):
        assay.compare(
            data=tables(y=[0, 1, 1, 0, 0, 0]), truth="y", predicted="p", tests=assay.TestSettings(pairing="position")
        )
    short = {"A": pl.DataFrame({"y": [1, 0], "p": [1, 0]}), "B": pl.DataFrame({"y": [1], "p": [1]})}
    with pytest.raises(assay.UnpairedRows):
        assay.compare(data=short, truth="y", predicted="p", tests=assay.TestSettings(pairing="position"))


def test_a_model_against_itself_is_p_one_everywhere():
    c = assay.compare(truth=Y, predicted={"A": A, "copy": A}, score={"A": SA, "copy": SA})
    assert all(one.p == 1.0 for one in c.findings)
    assert all(one.notes or one.adjusted for one in c.findings)
    assert not any(place.ahead_of for place in c.ranking)


def test_opposite_strata_are_pointed_out():
    truth = [1] * 300 + [0] * 300
    a = [1] * 261 + [0] * 39 + [0] * 193 + [1] * 107
    b = [1] * 207 + [0] * 54 + [1] * 19 + [0] * 20 + [0] * 169 + [1] * 24 + [0] * 44 + [1] * 63
    c = assay.compare(truth=truth, predicted={"U-Net": a, "InceptionV3": b}, positive=1)
    for about, k, n in (("accuracy", 63, 141), ("recall", 19, 73), ("specificity", 24, 68)):  # mid-p by its definition
        assert c[about].p == pytest.approx(binom.cdf(k, n, 0.5) + binom.cdf(k - 1, n, 0.5))
    assert any("opposite directions" in note for note in c["accuracy"].notes)


def test_three_models_get_a_global_test_and_pairs_whatever_it_says():
    third = rng.integers(0, 2, N)
    c = assay.compare(truth=Y, predicted={"A": A, "B": B, "C": third})
    assert c["cochran_q"].significant
    assert c["mcnemar", "A", "C"].adjusted.of == 3
    with pytest.raises(assay.PlanError) as error:
        c["mcnemar"]
    assert error.value.code == "test-ambiguous"
    same = assay.compare(truth=Y, predicted={"A": A, "B": A, "C": A})
    assert [one.test for one in same.findings] == ["cochran_q", *["mcnemar_midp"] * 3]
    assert not any(one.significant for one in same.findings)
    scored = assay.compare(truth=Y, score={"A": SA, "B": SB, "C": rng.normal(size=N)})
    assert scored["delong_many"].significant
    assert scored["delong_pairs", "A", "C"].adjusted.by == "Holm"


def test_several_classes_compare_accuracy_and_averages():
    y = rng.integers(0, 3, 200)
    a = np.where(rng.random(200) < 0.8, y, rng.integers(0, 3, 200))
    b = np.where(rng.random(200) < 0.6, y, rng.integers(0, 3, 200))
    c = assay.compare(truth=y, predicted={"A": a, "B": b})
    assert [one.about for one in c.findings] == ["accuracy", "f1_macro", "matthews_corrcoef"]
    with pytest.raises(assay.PlanError, match="one score a row, and there are 3 classes"):
        assay.compare(truth=y, score={"A": a * 1.0, "B": b * 1.0})


def test_channels_are_compared_with_each_other():
    channel = np.where(np.arange(N) < 150, "left", "right")
    c = assay.compare(truth=Y, predicted={"A": A, "B": B}, tests=assay.TestSettings(channel=channel))
    found = c["channel_heterogeneity"]
    assert 0 < found.p <= 1
    assert any(name.startswith("left") for name in found.counts)
    assert assay.Comparison.from_record(c.record)["channel_heterogeneity"].p == found.p


def test_a_margin_asks_whether_a_is_good_enough():
    c = whole(margin=0.05)
    assert c["share_non_inferiority"].p < 0.01
    assert c["auroc_non_inferiority"].p < 0.01
    assert whole(margin=0.3, equivalence=True)["share_equivalence"].p < 0.05
    with pytest.raises(assay.PlanError):
        assay.compare(truth=Y, predicted={"A": A, "B": B, "C": B}, tests=assay.TestSettings(margin=0.1))


VALUES = {
    "A": [0.81, 0.80, 0.84, 0.79, 0.83, 0.85, 0.80, 0.82, 0.78, 0.86],
    "B": [0.80, 0.79, 0.80, 0.78, 0.81, 0.80, 0.77, 0.79, 0.77, 0.80],
}


def test_values_get_the_test_their_origin_asks_for(tmp_path):
    assert assay.compare_values(values=VALUES, per="fold", folds=10).findings[0].test == "corrected_resampled_t"
    ten = {"corrected_resampled_t", "five_by_two_f", "five_by_two_t"}
    for rows, first in ((0, "corrected_resampled_t"), (1000, "five_by_two_f")):
        tests = [one.test for one in assay.compare_values(values=VALUES, per="5x2", rows=rows).findings]
        assert (tests[0], set(tests)) == (first, ten)
    assert [one.test for one in assay.compare_values(values=VALUES, per="data set").findings] == [
        "wilcoxon",
        "sign_test",
    ]
    assert assay.compare_values(values=VALUES, per="item").findings[0].test == "wilcoxon"
    assert (
        assay.compare_values(values=VALUES, tests=assay.TestSettings(independent=True)).findings[0].test
        == "mann_whitney"
    )
    assert (
        assay.compare_values(values=VALUES, tests=assay.TestSettings(variance=True)).findings[0].test == "pitman_morgan"
    )
    few = assay.compare_values(values={m: v[:5] for m, v in VALUES.items()}, per="data set")
    assert not few.findings
    assert "fewer than six" in few.answers[0].notes[0]
    for c in (
        few,
        assay.compare_values(values=VALUES, per="fold", folds=10),
        assay.compare_values(values=VALUES, tests=assay.TestSettings(independent=True)),
    ):
        jsonschema.validate(dict(c.record), schema("comparison"))
        assert dict(assay.load(c.save(tmp_path / "v.json")).record) == dict(c.record)
        assert str(c)


def test_lower_can_be_better():
    c = assay.compare_values(values={**VALUES, "C": [2 * x for x in VALUES["A"]]}, per="data set", lower_is_better=True)
    assert [place.model for place in c.ranking] == ["B", "A", "C"]
    assert c.ranking[0].measure == "mean rank"


@pytest.mark.parametrize(
    "given",
    [
        {"values": VALUES, "per": "fold"},
        {"values": VALUES, "per": "month"},
        {"values": VALUES, "per": "fold", "folds": 1},
        {"values": {"A": [1.0], "B": [2.0]}},
        {"values": {"A": [1.0, 2.0]}},
        {"values": {m: v[:9] for m, v in VALUES.items()}, "per": "5x2"},
        {"values": VALUES, "truth": [1, 0]},
        {"truth": [1, 0]},
        {"predicted": {"A": [1, 0], "B": [1, 0]}},
        {"truth": [1, 0], "predicted": [1, 0]},
        {"truth": [1, 0], "predicted": {"A": [1, 0]}},
        {"truth": [1, 0], "predicted": {"A": [1, 0], "B": [1, 0]}, "score": {"A": [1, 0], "C": [1, 0]}},
        {"truth": ["a", "b"], "predicted": {"A": ["a", "b"], "B": ["a", "a"]}},
        {"truth": [1, 0], "predicted": {"A": [1, 0], "B": [1, 0]}, "correction": "bonferoni"},
        {"truth": [1, 0], "predicted": {"A": [1, 0], "B": [1, 0]}, "level": 95},
        {"truth": [1, 0], "predicted": {"A": [1, 0], "B": [1, 0]}, "test": "chi_squared_association"},
    ],
)
def test_what_cannot_be_compared_is_refused_with_a_fix(given):
    with pytest.raises(assay.PlanError) as error:
        flat.compare(**given)
    assert error.value.fix


@pytest.mark.parametrize(
    "given",
    [
        {"truth": [], "predicted": {"A": [], "B": []}},
        {"truth": [1, 0], "predicted": {"A": [1, 0], "B": [1]}},
        {"truth": [1, None], "predicted": {"A": [1, 0], "B": [1, 1]}},
        {"truth": [1, 0], "score": {"A": [1.0, 0.0], "B": [1.0, float("nan")]}},
        {"values": {"A": [1.0, 2.0], "B": [1.0, float("nan")]}},
    ],
)
def test_unfit_rows_are_refused(given):
    with pytest.raises(assay.RowsError):
        flat.compare(**given)


def test_a_forced_test_is_labelled_wherever_it_is_told(tmp_path):
    c = assay.compare(
        truth=Y,
        predicted={"A": A, "B": B},
        tests=assay.TestSettings(test="chi_squared_association", because="habit", override=True),
    )
    assert "deviates from clause 7" in c.findings[0].label
    assert "deviates from clause 7" in str(c).lower()
    for ending in ("html", "md", "json"):
        assert "deviates from clause 7" in c.report(tmp_path / f"c.{ending}").read_text().lower()


def test_a_p_value_is_never_zero_however_large_the_difference():
    y = [1, 0] * 2000
    c = assay.compare(truth=y, predicted={"A": y, "B": [1 - x for x in y]})
    found = c["mcnemar"]
    assert found.p == 1e-300
    assert found.log10_p < -300
    assert "p < 1e-300" in str(c)
    assert c.record["findings"][0]["log10_p"] < -300


def test_the_same_seed_gives_the_same_bytes():
    assert whole().record["findings"] == whole().record["findings"]
    assert whole(seed=1).record["findings"] != whole().record["findings"]


def test_several_values_of_a_subject_are_one():
    values = {"A": [1.0, 3.0, 5.0, 5.0], "B": [1.0, 1.0, 2.0, 4.0]}
    c = assay.compare_values(values=values, subject=["x", "x", "y", "z"])
    assert c.values.matrix().tolist() == [[2.0, 1.0], [5.0, 2.0], [5.0, 4.0]]
    with pytest.raises(assay.UnpairedRows):
        assay.compare_values(values=values, subject=["x", "x"])


def test_accuracy_of_unbalanced_classes_is_no_basis_for_a_choice_and_says_so_everywhere(tmp_path):
    y = np.r_[np.ones(60, int), np.zeros(240, int)]
    a, b = (np.where(np.random.default_rng(s).random(N) < share, y, 1 - y) for s, share in ((1, 0.9), (2, 0.8)))
    c = assay.compare(truth=y, predicted={"A": a, "B": b}, measures=["f1"])
    assert [one.about for one in c.findings] == ["balanced_accuracy", "recall", "specificity", "accuracy", "f1"]
    assert "4.0 times" in c["accuracy"].label
    assert not any(one.label for one in c.findings if one.about != "accuracy")
    refused = c.record["answers"][2]["refused"][0]
    assert (refused["test"], refused["hard"]) == ("accuracy", False)
    assert c.ranking[0].measure == "balanced_accuracy"
    assert "Balanced accuracy of A" in str(c).splitlines()[3]
    told = [str(c), *(c.report(tmp_path / f"c.{kind}").read_text() for kind in ("html", "md", "json"))]
    assert all("must not decide (6.2.3)" in re.sub(r"\s+", " ", text).replace("\\", "") for text in told)
    assert dict(assay.load(c.save(tmp_path / "c.json")).record) == dict(c.record)
    three = assay.compare(truth=y, predicted={"A": a, "B": b, "C": b})
    assert [one.about for one in three.findings[:3]] == ["balanced_accuracy"] * 3
    assert "6.2.3" in three["cochran_q"].label
    subjects = assay.compare(
        truth=y, predicted={"A": a, "B": b}, subject=np.arange(N) // 5, intervals=assay.IntervalSettings(draws=199)
    )
    assert [one.about for one in subjects.findings if one.label] == ["accuracy"]
    alike = whole(positive=1)
    assert not any(one.label for one in alike.findings)


def test_measures_asked_for_of_three_models_are_compared_by_pairs():
    c = assay.compare(
        truth=Y, predicted={"A": A, "B": B, "C": A[::-1]}, measures=["f1"], intervals=assay.IntervalSettings(draws=199)
    )
    assert [one.models for one in c.findings if one.about == "f1"] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert {one.adjusted.of for one in c.findings if one.about == "f1"} == {3}


def test_tables_and_columns_in_memory_are_matched_by_id():
    order = np.random.default_rng(5).permutation(N)
    ids = np.array([f"r{i}" for i in range(N)])
    one = {"id": ids, "y": Y, "p": A, "s": SA}
    two = {"id": ids[order], "y": Y[order], "p": B[order], "s": SB[order]}
    roles = {"truth": "y", "predicted": "p", "score": "s", "id": "id"}
    want = whole()
    for frame in (dict, pd.DataFrame, pl.DataFrame):
        found = flat.compare(frame(one), frame(two), **roles)
        assert found.models == ("A", "B")
        assert found.record["findings"] == want.record["findings"]
        assert found.record["test_data"]["pairing"] == "by id"
    columns = {role: {"A": one[name], "B": two[name]} for role, name in roles.items()}
    assert flat.compare(**columns).record["findings"] == want.record["findings"]
    wrong = columns["id"] | {"B": np.r_[["r0"], ids[order][1:]]}
    with pytest.raises(assay.RowsError):
        flat.compare(**columns | {"id": wrong})
    for change in ({"truth": Y}, {"data": one}, {"score": {"A": SA, "C": SB}}):
        with pytest.raises(assay.PlanError):
            flat.compare(**columns | change)
    with pytest.raises(assay.PlanError, match="twice"):
        flat.compare(one, two, data={"A": one, "B": two}, **roles)
    with pytest.raises(assay.PlanError, match="same name"):
        flat.compare("x/m.csv", "x/m.csv", **roles)


@pytest.mark.parametrize("test", [one.name for one in every_test()])
def test_whatever_test_is_named_runs_or_is_refused_with_a_reason(test):
    found = named(test)
    if isinstance(found, assay.AssayError):
        assert found.code in ("test-needs", "test-refused")
        assert found.fix
    else:
        assert found.findings


def named(test):
    """What a comparison by that test says, or its refusal."""
    try:
        return assay.compare(
            truth=Y,
            predicted={"A": A, "B": B},
            positive=1,
            tests=assay.TestSettings(test=test, because="it was asked for"),
        )
    except assay.AssayError as refused:
        return refused


@pytest.mark.parametrize(
    "stated", [{"limits": assay.Limits(threads=1)}, {"engine": "duckdb"}], ids=["limits", "engine"]
)
def test_limits_and_engines_are_refused_where_nothing_is_read_by_an_engine_of_ours(stated):
    for given in (
        {"truth": Y, "predicted": {"A": A, "B": B}},
        {"data": tables(), "truth": "y", "predicted": "p", "id": "id"},
        {"values": VALUES},
        {"data": pd.DataFrame(VALUES), "values": {"A": "A", "B": "B"}},
        {"truth": {"A": Y, "B": Y}, "predicted": {"A": A, "B": B}, "independent": True},
    ):
        with pytest.raises(assay.PlanError) as error:
            flat.compare(**given, **stated)
        assert error.value.code == "role-clash"


@pytest.mark.parametrize("given", [{"labels": [0, 1]}, {"labels": ["0", "1"], "spelled": True}, {}], ids=str)
def test_whole_labels_that_are_stated_must_be_stored_as_such_in_every_table(tmp_path, given):
    frame = pl.DataFrame({"id": range(N), "y": Y, "a": A, "b": B})
    frame.write_parquet(tmp_path / "A.parquet")
    frame.with_columns(pl.col("y").cast(pl.Float64)).write_parquet(tmp_path / "B.parquet")
    apart = {"data": {name: tmp_path / f"{name}.parquet" for name in "AB"}, "truth": "y", "predicted": "a"}
    one = {"data": tmp_path / "B.parquet", "truth": "y", "predicted": {"A": "a", "B": "b"}}
    for way in ({**apart, "id": "id"}, {**apart, "pairing": "position"}, {**apart, "independent": True}, one):
        if not given:
            assert flat.compare(**way).record["samples"] in {N, 2 * N}
            continue
        with pytest.raises(assay.RowsError) as error:
            flat.compare(**way, **given)
        assert (error.value.code, error.value.found) == ("column-type", "double")


def test_repeated_ids_of_one_table_are_refused_as_in_an_assessment():
    table = {"case": [1, 1, 2, 3], "y": [1, 0, 1, 0], "a": [1, 0, 0, 0], "b": [1, 1, 1, 0]}
    with pytest.raises(assay.RowsError, match="1 id stands in more than one row"):
        assay.compare(data=pl.DataFrame(table), truth="y", predicted={"a": "a", "b": "b"}, id="case", positive=1)


@pytest.mark.parametrize("more", [{}, {"unit": [i // 2 for i in range(20)]}], ids=["rows", "units"])
def test_models_without_a_value_are_not_ranked(more):
    """An area without positives is undefined, not one half or zero."""
    scores = {"A": np.arange(20) / 20, "B": np.arange(20)[::-1] / 20}
    c = assay.compare(truth=[0] * 20, score=scores, positive=1, labels=[0, 1], **more)
    assert c.ranking == c.record["ranking"] == []
    assert "Ranking" not in str(c)
    assert all(finding.reason for finding in c.findings)
