# SPDX-License-Identifier: Apache-2.0
"""Scores of all classes are compared by swapping whole rows of them."""

from __future__ import annotations

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import assay
from assay.assess.record.record import schema
from assay.assess.record.verification import verify
from assay.inference.units.class_score_units import MEANS, by_row
from assay.measures import REGISTRY, parse
from assay.tally.scores.row_probabilities import RowScores
from assay.tally.scores.score_tally import Scores
from assay.tally.scores.true_class_ranks import Ranks
from tests import flat

N, K = 90, 3
NAMES = ("cat", "dog", "emu")
rng = np.random.default_rng(11)
CODES = rng.integers(0, K, N)
Y = [NAMES[i] for i in CODES]


def probabilities(gain):
    logit = rng.normal(size=(N, K))
    logit[np.arange(N), CODES] += gain
    found = np.exp(logit)
    exact = np.floor(found / found.sum(axis=1, keepdims=True) * 256) / 256  # so that rows add up to 1, and scores tie
    exact[:, -1] += 1 - exact.sum(axis=1)
    return exact


A, B = probabilities(1.6), probabilities(0.6)
SCORES = {m: dict(zip(NAMES, one.T, strict=True)) for m, one in {"A": A, "B": B}.items()}
CALLS = {m: [NAMES[i] for i in one.argmax(axis=1)] for m, one in {"A": A, "B": B}.items()}
EVERY = [m.title if m.name != "top_k_accuracy" else "top_k_accuracy(k=2)" for m in REGISTRY
         if m.takes in (Scores, Ranks, RowScores)]  # fmt: skip
FEW = {"draws": 499}


@pytest.mark.parametrize("name", EVERY)
def test_every_measure_of_all_classes_is_compared_at_the_value_an_assessment_gives(name):
    c = flat.compare(truth=Y, score=SCORES, measures=[name], **FEW)
    found = c.findings[-1]
    assert (found.test, found.about) == ("class_score_permutation", name)
    for model, told in zip("AB", found.more, strict=True):
        alone = assay.assess(
            truth=Y, score=SCORES[model], scores=assay.ScoreSettings(kind="probability"), measures=[name]
        )[name]
        assert told.value == pytest.approx(alone.value, abs=1e-12)
    # On so few distinct scores nothing is joined, so what is drawn varies around the very value.
    from assay.inference.units.class_score_units import judge_units

    judged = judge_units(c.rows, name, None)
    assert judged.centre == pytest.approx(found.effect.value, abs=1e-9)


@given(
    arrays(np.float64, (5, 3), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    st.lists(st.integers(0, 2), min_size=5, max_size=5),
    st.sampled_from([*(m for m in MEANS if m != "top_k_accuracy"), "top_k_accuracy(k=1)",
                     "top_k_accuracy(k=2,ties='pessimistic')", "top_k_accuracy(k=2,ties='optimistic')",
                     "log_loss_multiclass(clip=0.01)"]),
)  # fmt: skip
def test_what_rows_add_is_on_average_the_measure(matrix, truth, name):
    measure, codes = parse(name), np.array(truth)
    tallies = {Ranks: Ranks.of, RowScores: RowScores.of}
    tally = tallies[measure.takes](matrix, codes) if measure.takes in tallies else Scores.per_class(
        matrix, codes, (0, 1, 2)
    )  # fmt: skip
    assert by_row(measure, matrix, codes).mean() == pytest.approx(float(measure(tally).value))


def test_predictions_and_scores_of_all_classes_stand_in_one_comparison(tmp_path):
    c = flat.compare(truth=Y, predicted=CALLS, score=SCORES, measures=["f1_macro", "log_loss_multiclass"], **FEW)
    assert [one.about for one in c.findings] == ["accuracy", "f1_macro", "auroc_macro", "log_loss_multiclass"]
    assert [(one.model, one.measure) for one in c.ranking] == [("A", "auroc_macro"), ("B", "auroc_macro")]
    jsonschema.validate(dict(c.record), schema("comparison"))
    assert dict(assay.load(c.save(tmp_path / "c.json")).record) == dict(c.record)
    assert verify(c.record).holds
    for ending in ("html", "md"):
        assert "log loss" in c.report(tmp_path / f"c.{ending}").read_text()


def test_tables_files_and_order_do_not_matter(tmp_path):
    want = flat.compare(truth=Y, score=SCORES, **FEW).record["findings"]
    table = {"y": Y, "i": range(N)} | {f"{m}_{c}": one for m in "AB" for c, one in SCORES[m].items()}
    names = {m: {c: f"{m}_{c}" for c in NAMES} for m in "AB"}
    order = rng.permutation(N)
    pl.DataFrame(table).write_csv(tmp_path / "t.csv")
    own = {m: pd.DataFrame({"i": table["i"], "y": Y, **{f"p_{c}": SCORES[m][c] for c in NAMES}}) for m in "AB"}
    forms = [
        {"data": pd.DataFrame(table).iloc[order], "truth": "y", "score": names},
        {"data": pl.DataFrame(table), "truth": "y", "score": {m: [f"{m}_{c}" for c in NAMES] for m in "AB"}},
        {"data": tmp_path / "t.csv", "truth": "y", "score": names},
        {"data": {"A": own["A"], "B": own["B"].iloc[order]}, "truth": "y", "id": "i",
         "score": [f"p_{c}" for c in NAMES]},
        {"data": own, "truth": "y", "id": "i", "score": {c: f"p_{c}" for c in NAMES}},
        {"truth": Y, "score": {"A": A, "B": B}, "labels": NAMES},
    ]  # fmt: skip
    for form in forms:
        assert flat.compare(**form, **FEW).record["findings"] == want


def test_a_model_against_itself_is_p_one_and_scales_do_not_matter():
    for measure in EVERY:
        c = flat.compare(truth=Y, score={"A": SCORES["A"], "B": SCORES["A"]}, measures=[measure], **FEW)
        assert {one.p for one in c.findings} == {1.0}
        assert "alike" in c.findings[-1].notes[0]
    other = {c: one * 3 - 7 for c, one in SCORES["A"].items()}
    assert flat.compare(truth=Y, score={"A": SCORES["A"], "B": other}, **FEW)["auroc_macro"].p == 1.0


@pytest.mark.parametrize("more", [{"subject": [i // 3 for i in range(N)]}, {"weight": [1 + i % 2 for i in range(N)]}])
def test_subjects_and_weights_of_class_scores(more):
    c = flat.compare(truth=Y, predicted=CALLS, score=SCORES, measures=["brier_score_multiclass"], **more, **FEW)
    assert [one.about for one in c.findings] == ["accuracy", "auroc_macro", "brier_score_multiclass"]
    assert verify(c.record).holds
    if "weight" in more:
        alone = assay.assess(
            truth=Y,
            score=SCORES["A"],
            scores=assay.ScoreSettings(kind="probability"),
            weight=more["weight"],
            measures=["brier_score_multiclass"],
        )
        assert c.findings[-1].more[0].value == pytest.approx(alone["brier_score_multiclass"].value)


def test_two_classes_are_compared_by_the_column_of_the_positive_one():
    y = [1 if one == "cat" else 0 for one in Y]
    scores = {m: {1: one[:, 0], 0: 1 - one[:, 0]} for m, one in {"A": A, "B": B}.items()}
    c = assay.compare(truth=y, score=scores, positive=1)
    assert c["delong"].p == assay.compare(truth=y, score={"A": A[:, 0], "B": B[:, 0]}, positive=1)["delong"].p


def test_three_models_are_compared_by_pairs():
    c = flat.compare(truth=Y, score={**SCORES, "C": SCORES["B"]}, **FEW)
    assert [one.models for one in c.findings] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert c["auroc_macro", "B", "C"].adjusted.p == 1.0


@pytest.mark.parametrize(
    ("given_", "says"),
    [
        ({"score": {"A": SCORES["A"], "B": A[:, 0]}}, "same number of score columns"),
        ({"score": {"A": {c: SCORES["A"][c] for c in NAMES[:2]}, "B": SCORES["B"]}}, "same number"),
        ({"score": {m: {c: SCORES[m][c] for c in NAMES[:2]} for m in "AB"}}, 'class "emu"'),
        ({"score": {"A": {**SCORES["A"], "fox": A[:, 0]}, "B": {**SCORES["B"], "gnu": A[:, 0]}}}, "the same classes"),
        ({"score": {"A": A[:, 0], "B": B[:, 0]}}, "there are 3 classes"),
        ({"score": {"A": A, "B": B}}, "the class of each score column is not stated"),
        ({"predicted": CALLS, "measures": ["auroc_macro"]}, "scores of all classes"),
        ({"score": SCORES, "measures": ["f1_macro"]}, "reads predictions"),
        ({"score": SCORES, "measures": ["average_precision"]}, "two classes"),
        ({"score": SCORES, "measures": ["auroc_macro(undefined='skip')"]}, "every class has a value"),
        ({"score": SCORES, "test": "delong", "because": "habit"}, "not admissible"),
        ({"score": SCORES, "test": "delong", "because": "habit", "override": True}, "no values to take"),
        ({"score": {"A": {**SCORES["A"], "emu": [np.nan] * N}, "B": SCORES["B"]}}, "missing or NaN"),
    ],
)  # fmt: skip
def test_scores_of_classes_that_make_no_sense_are_refused(given_, says):
    with pytest.raises(assay.AssayError, match=says):
        flat.compare(truth=Y, **given_)


def test_pairs_of_very_many_classes_are_refused_with_what_to_do():
    y = np.arange(63) % 21
    scores = rng.random((63, 21))
    with pytest.raises(assay.PlanError) as error:
        flat.compare(truth=y, score={"A": scores, "B": scores}, measures=["auroc_one_vs_one"], **FEW)
    assert "auroc_macro" in error.value.fix


def test_scores_that_are_no_probabilities_have_no_log_loss_to_compare():
    far = {c: one + 1 for c, one in SCORES["B"].items()}
    c = flat.compare(truth=Y, score={"A": SCORES["A"], "B": far}, measures=["log_loss_multiclass"], **FEW)
    assert c["log_loss_multiclass"].p is None
    assert "B is undefined" in c["log_loss_multiclass"].reason
