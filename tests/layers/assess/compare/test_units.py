# SPDX-License-Identifier: Apache-2.0
"""Comparisons of scores by any measure, of rows that belong to subjects, and of weighted rows."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import polars as pl
import pytest

import assay
from assay.assess.record.record import schema
from assay.assess.record.verification import verify
from assay.inference import decision_words
from assay.inference.units.permutation_and_bootstrap import unit_z
from assay.tally.paired import joint_scores as pairedscores
from assay.tally.paired.joint_scores import PairedScores
from assay.tally.paired.per_unit import PerUnit
from tests import flat

rng = np.random.default_rng(11)
N = 120
Y = rng.integers(0, 2, N)
A, B = (np.where(rng.random(N) < share, Y, 1 - Y) for share in (0.9, 0.7))
SA, SB = (np.round(1 / (1 + np.exp(-rng.normal(size=N) - gain * (2 * Y - 1))), 3) for gain in (1.0, 0.6))
WHO = [f"s{i // 4}" for i in range(N)]
W = rng.integers(1, 5, N) / 2
FEW = {"draws": 499}


def test_any_measure_of_scores_is_compared_beside_the_area():
    c = flat.compare(truth=Y, score={"A": SA, "B": SB}, measures=["average_precision", "brier_score"], **FEW)
    assert [(one.test, one.about) for one in c.findings] == [
        ("delong", "auroc"),
        ("score_permutation", "average_precision"),
        ("score_permutation", "brier_score"),
    ]
    assert {one.adjusted.of for one in c.findings[1:]} == {2}
    for one in c.findings[1:]:
        values = [
            assay.assess(truth=Y, score=s, scores=assay.ScoreSettings(kind="probability"), threshold=0.5)[
                one.about
            ].value
            for s in (SA, SB)
        ]
        assert one.effect.value == pytest.approx(values[0] - values[1], rel=1e-12)
        assert one.effect.interval.low < one.effect.value < one.effect.interval.high
    three = flat.compare(truth=Y, score={"A": SA, "B": SB, "C": SA[::-1]}, measures=["average_precision"], **FEW)
    assert [one.models for one in three.findings if one.test == "score_permutation"] == [
        ("A", "B"),
        ("A", "C"),
        ("B", "C"),
    ]


def test_models_on_different_scales_are_swapped_by_rank():
    c, d = (
        flat.compare(truth=Y, score={"A": SA, "B": scale(SB)}, measures=["average_precision"], **FEW)
        for scale in (np.asarray, lambda s: 100 * s - 7)
    )
    assert c["score_permutation"].p == d["score_permutation"].p
    assert c["score_permutation"].effect == d["score_permutation"].effect


def test_scores_that_are_no_probabilities_have_no_brier_score_to_compare():
    c = flat.compare(truth=Y, score={"A": SA, "B": 100 * SB}, measures=["brier_score"], **FEW)
    assert c["brier_score"].p is None
    assert "B" in c.record["findings"][1]["undefined"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"predicted": {"A": A, "B": B}, "measures": ["average_precision"]}, "reads scores"),
        ({"score": {"A": SA, "B": SB}, "measures": ["f1"]}, "reads predictions"),
        ({"score": {"A": SA, "B": SB}, "measures": ["top_k_accuracy(k=2)"]}, "of all classes"),
        ({"predicted": {"A": A, "B": B}, "subject": WHO, "channel": WHO}, "channels"),
        ({"predicted": {"A": A, "B": B}, "subject": WHO, "test": "mcnemar_exact", "because": "habit"}, "admissible"),
        ({"predicted": {"A": A, "B": B}, "weight": W, "test": "delong", "because": "habit"}, "admissible"),
    ],
)
def test_what_a_measure_or_a_subject_does_not_allow_is_refused(given, says):
    with pytest.raises(assay.PlanError, match=says):
        flat.compare(truth=Y, **given)


@pytest.mark.parametrize(
    "given",
    [
        {"subject": [None, *WHO[1:]]},
        {"subject": WHO[:-1]},
        {"weight": -W},
        {"weight": np.r_[np.nan, W[1:]]},
        {"weight": 0 * W},
        {"weight": W[:-1]},
    ],
)
def test_subjects_and_weights_that_make_no_sense_are_refused(given):
    with pytest.raises(assay.RowsError):
        flat.compare(truth=Y, predicted={"A": A, "B": B}, **given)


def whole(**more):
    given = {"truth": Y, "predicted": {"A": A, "B": B}, "score": {"A": SA, "B": SB}}
    return flat.compare(**given, measures=["f1"], **FEW, **more)


@pytest.mark.parametrize("more", [{"subject": WHO}, {"weight": W}, {"subject": WHO, "weight": W}], ids="-".join)
def test_subjects_and_weights_are_compared_by_swaps_and_come_back_from_the_record(more, tmp_path):
    c = whole(**more)
    test = "subject_permutation" if "subject" in more else "weighted_permutation"
    assert {one.test for one in c.findings} == {test}
    assert [one.about for one in c.findings] == ["accuracy", "recall", "specificity", "auroc", "f1"]
    jsonschema.validate(json.loads(c.record.to_text()), schema("comparison"))
    assert dict(assay.load(c.save(tmp_path / "c.json")).record) == dict(c.record)
    assert '"s0"' not in c.record.to_text()
    order = rng.permutation(N)
    again = flat.compare(
        truth=Y[order],
        predicted={"A": A[order], "B": B[order]},
        score={"A": SA[order], "B": SB[order]},
        measures=["f1"],
        **FEW,
        **{name: np.asarray(column)[order] for name, column in more.items()},
    )
    assert again.record["findings"] == c.record["findings"]
    if "weight" in more:
        for model, calls in (("A", A), ("B", B)):
            want = assay.assess(truth=Y, predicted=calls, weight=W)["accuracy"].value
            assert next(one.value for one in c.findings[0].more if one.name.endswith(model)) == pytest.approx(want)
            assert next(place.value for place in c.ranking if place.model == model) == pytest.approx(want)


def test_tables_with_subjects_and_weights_give_what_arrays_give():
    table = pl.DataFrame({"id": range(N), "y": Y, "p": A, "s": SA, "who": WHO, "w": W})
    other = table.with_columns(p=pl.Series(B), s=pl.Series(SB))[::-1]
    roles = {"truth": "y", "predicted": "p", "score": "s", "subject": "who", "weight": "w", "id": "id"}
    found = flat.compare(data={"A": table, "B": other}, measures=["f1"], **roles, **FEW)
    want = whole(subject=WHO, weight=W)
    assert found.record["findings"] == want.record["findings"]
    both = table.with_columns(q=pl.Series(B), t=pl.Series(SB))
    roles = roles | {"predicted": {"A": "p", "B": "q"}, "score": {"A": "s", "B": "t"}, "id": None}
    found = flat.compare(data=both, measures=["f1"], **roles, **FEW)
    assert found.record["findings"] == want.record["findings"]
    for column in ("who", "w"):
        wrong = other.with_columns(pl.Series(column, other[column].to_list()[1:] + other[column].to_list()[:1]))
        with pytest.raises(assay.UnpairedRows, match="another"):
            flat.compare(data={"A": table, "B": wrong}, **{**roles, "predicted": "p", "score": "s", "id": "id"})


def test_a_model_against_itself_is_p_one_by_subject_too():
    c = flat.compare(truth=Y, predicted={"A": A, "copy": A}, score={"A": SA, "copy": SA}, subject=WHO, **FEW)
    assert {one.p for one in c.findings} == {1.0}
    assert all("alike" in one.notes[0] for one in c.findings)
    scored = flat.compare(truth=Y, score={"A": SA, "copy": SA}, measures=["average_precision"], **FEW)
    assert {one.p for one in scored.findings} == {1.0}


def test_few_subjects_are_described_and_a_forced_test_is_labelled(tmp_path):
    few = assay.compare(truth=Y, predicted={"A": A, "B": B}, subject=np.arange(N) % 5)
    assert not few.findings
    assert "fewer than six" in few.answers[0].notes[0]
    assert str(few)
    for test, about in (("mcnemar_exact", "accuracy"), ("delong", "auroc")):
        forced = whole(subject=WHO, test=test, because="habit", override=True)
        assert (forced.findings[0].test, forced.findings[0].about) == (test, about)
        assert "deviates from clause 7" in forced.findings[0].label
        assert "deviates from clause 7" in forced.report(tmp_path / "c.md").read_text().lower()
        assert dict(assay.load(forced.save(tmp_path / "f.json")).record) == dict(forced.record)


@pytest.mark.parametrize("measures", [None, ["average_precision"], ["brier_score"]], ids=str)
def test_very_many_scores_come_back_from_a_record(measures, tmp_path, monkeypatch):
    monkeypatch.setattr(pairedscores, "LISTED", 50)
    c = flat.compare(truth=Y, score={"A": SA, "B": SB, "C": SB[::-1]}, measures=measures, **FEW)
    packed = c.record["tallies"]["scores"]["packed"]
    assert (packed["values"] is None) == (measures != ["brier_score"])
    back = assay.load(c.save(tmp_path / "c.json"))
    assert dict(back.record) == dict(c.record)
    assert back["delong_many"].p == c["delong_many"].p
    assert verify(back.record).holds


def test_packed_scores_are_those_that_were_packed(monkeypatch):
    monkeypatch.setattr(pairedscores, "LISTED", 0)
    t = PairedScores.of(Y == 1, {"A": SA - 0.5, "B": np.round(SB, 1) * -1e300})
    assert PairedScores.from_json(t.to_json()) == t
    ranks = PairedScores.from_json(t.to_json(order_only=True))
    assert (ranks.m, ranks.n) == (t.m, t.n)
    assert ranks != t
    for damage in ("%", "9AAAA", "1AA"):
        content = t.to_json()
        content["packed"] = {**content["packed"], "ranks": [damage]}
        with pytest.raises(assay.RecordError):
            PairedScores.from_json(content)


def test_paired_rows_know_their_models_and_their_kind():
    t = PerUnit.of(truth=[1, 0], labels=(0, 1), models=("A", "B"), calls=[[1, 0], [0, 0]], subject=["x", "y"])
    assert t == PerUnit.from_json(t.to_json())
    assert len({t, PerUnit.from_json(t.to_json())}) == 1
    with pytest.raises(assay.PlanError):
        t.only("C")
    with pytest.raises(assay.RecordError):
        PerUnit.from_json({"kind": "other"})


LONG = {"truth": np.tile(Y, 10), "predicted": {"A": np.tile(A, 10), "B": np.tile(B[::-1], 10)}}
OWN = np.arange(10 * N) // 2


@pytest.fixture
def many(monkeypatch):
    """Any number of units is very many."""
    monkeypatch.setattr(decision_words, "MANY_UNITS", 500)


@pytest.mark.usefixtures("many")
def test_very_many_units_are_judged_by_how_far_each_moves_the_measure(tmp_path):
    more = {"costs": {(1, 0): 5.0, (0, 1): 1.0}, "margin": 0.02, "measures": ["f1", "mcc"]}
    c = flat.compare(**LONG, subject=OWN, **more)
    assert [(one.test, one.about) for one in c.findings] == [
        ("unit_z_cost", "mean_cost"),
        ("unit_z", "accuracy"),
        ("unit_z", "recall"),
        ("unit_z", "specificity"),
        ("unit_z", "f1"),
        ("unit_z", "matthews_corrcoef"),
        ("unit_z_non_inferiority", "accuracy"),
    ]
    assert "large-sample test, by how far each unit moves the measure" in c["accuracy"].chosen
    assert c["accuracy"].counts["subjects"] == 600
    assert {one.adjusted.of for one in c.findings[1:6]} == {5}
    jsonschema.validate(json.loads(c.record.to_text()), schema("comparison"))
    assert dict(assay.load(c.save(tmp_path / "c.json")).record) == dict(c.record)
    assert not verify(c.record).mismatches
    assert "large-sample z over 600 subjects" in " ".join(str(c).split())
    assert "random swaps" not in str(c)
    costs = {one.model: one.value for one in c.ranking}
    assert costs["A"] == pytest.approx(
        assay.assess(truth=LONG["truth"], predicted=LONG["predicted"]["A"], costs=more["costs"])["mean_cost"].value
    )


def test_three_models_on_very_many_rows_are_compared_by_pairs(monkeypatch):
    given = {**LONG, "predicted": {**LONG["predicted"], "C": np.tile(Y[::-1], 10)}, "weight": np.tile(W, 10)}
    swaps = flat.compare(**given, **FEW)
    monkeypatch.setattr(decision_words, "MANY_UNITS", 500)
    c = flat.compare(**given)
    assert [one.models for one in c.findings if one.about == "accuracy"] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert {one.adjusted.of for one in c.findings} == {9}
    for one, other in zip(c.findings, swaps.findings, strict=True):
        assert one.effect.value == pytest.approx(other.effect.value)
    assert [(one.model, pytest.approx(one.value)) for one in c.ranking] == [(x.model, x.value) for x in swaps.ranking]


@pytest.mark.usefixtures("many")
def test_scores_of_very_many_units_are_judged_alike():
    rng = np.random.default_rng(4)
    y = np.tile(Y, 10)
    score = {name: rng.normal(size=10 * N) + y * gain for name, gain in (("A", 1.2), ("B", 1.0))}
    z = flat.compare(truth=y, score=score, subject=OWN, positive=1)["auroc"]
    assert z.test == "unit_z"
    assert z.statistic == pytest.approx(z.effect.value / (z.effect.interval.high - z.effect.value) * 1.96, rel=1e-3)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    ("more", "says"),
    [({"stratified": True}, "draws nothing"), ({"test": "mcnemar_exact", "because": "habit"}, "admissible")],
)
def test_what_takes_rows_is_refused_for_very_many_units(more, says):
    with pytest.raises(assay.PlanError, match=says):
        flat.compare(**{**LONG, "subject": OWN, **more})


def test_few_units_in_dispute_are_too_few_for_the_large_sample_form():
    calls = [np.zeros(3000), np.where(np.arange(3000) < 40, 1, 0)]
    t = PerUnit.of(truth=[0] * 3000, labels=(0, 1), models=("A", "B"), calls=[c.astype(int).tolist() for c in calls],
                   subject=np.arange(3000).tolist())  # fmt: skip
    z = unit_z(t, measure="accuracy")
    assert "40 subjects" in z.reason


def test_a_test_of_single_rows_can_be_insisted_on():
    c = flat.compare(**LONG, subject=OWN, test="mcnemar_midp", because="a peer did", override=True)
    assert c["mcnemar"].p == flat.compare(**LONG)["mcnemar"].p
    assert "deviates" in c["mcnemar"].label
