# SPDX-License-Identifier: Apache-2.0
"""Assessments with scores: what is decided, what is refused, what a Record holds, and that parts add up."""

from __future__ import annotations

import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import metrics as sk

import assay
from assay.assess.record.record import Record
from assay.inference.intervals.score_draws import ScoreDraws, band
from assay.tasks.classification import score_part as scoring
from tests import flat, record_schema
from tests.scorecases import refused

rng = np.random.default_rng(4213)
TRUTH = rng.random(400) < 0.3
SCORE = np.round(1 / (1 + np.exp(-(rng.normal(size=400) + 1.8 * TRUTH - 1))), 3)
NAMES = np.array(["healthy", "ill"])
SEX = rng.choice(["f", "m"], 400)
KINDS = rng.integers(0, 3, 400)
MATRIX = rng.dirichlet(np.ones(3) * 0.7, 400)
GIVEN = {"truth": NAMES[TRUTH * 1], "score": SCORE, "positive": "ill", "scores": "probability"}
FEW = {"truth": GIVEN["truth"][:120], "score": SCORE[:120], "positive": "ill", "scores": "probability", "draws": 100}
"""Rows and draws enough for a Record of all measures, whatever their values."""


def test_a_threshold_calls_what_scores_at_or_above_it():
    a = flat.assess(**GIVEN, threshold=0.4, measures=["recall", "precision", "auroc"])
    called = SCORE >= 0.4
    assert a["recall"].numerator == int((called & TRUTH).sum())
    assert a["precision"].denominator == int(called.sum())
    assert [
        {name: one for name, one in point.items() if name != "rates"} for point in a.record["operating_points"]
    ] == [
        {
            "threshold": 0.4,
            "from": "stated",
            "optimistic": False,
            "in_force": True,
            "tp": int((called & TRUTH).sum()),
            "fp": int((called & ~TRUTH).sum()),
            "fn": int((~called & TRUTH).sum()),
            "tn": int((~called & ~TRUTH).sum()),
        }
    ]


def test_measures_of_scores_stand_beside_those_of_counts():
    a = flat.assess(**GIVEN, threshold=0.4, group={"sex": SEX})
    assert a["auroc"].value == pytest.approx(sk.roc_auc_score(TRUTH, SCORE), abs=1e-12)
    assert a["average_precision"].value == pytest.approx(sk.average_precision_score(TRUTH, SCORE), abs=1e-12)
    assert a["brier_score"].value == pytest.approx(sk.brier_score_loss(TRUTH, SCORE), abs=1e-12)
    assert {"accuracy", "auroc", "log_loss", "expected_calibration_error"} <= set(a)
    women = SEX == "f"
    assert a.by_group["sex"]["f"]["auroc"].value == pytest.approx(sk.roc_auc_score(TRUTH[women], SCORE[women]))


def test_a_band_has_no_long_stretch_without_a_place_where_the_curve_is_straight():
    """Forty positives come first: up to their recall precision is 1 and nothing bends, but it is not sure either."""
    truth = np.r_[np.ones(40), rng.random(160) < 0.4].astype(int)
    a = assay.assess(
        truth=truth,
        score=np.linspace(1, 0, 200),
        scores=assay.ScoreSettings(kind="any"),
        threshold=0.5,
        positive=1,
        measures=["auroc"],
    )
    for curve in ("roc", "pr"):
        places = [0.0, *(one[0] for one in a.record["curves"][0]["band"][curve]), 1.0]
        assert max(np.diff(places)) < 0.1


def test_a_band_does_not_lean_over_a_steep_rise():
    """Between the places at which it is held a band is drawn straight, and must not lie far from where it would be."""
    some = np.random.default_rng(5)
    kinds, chances = some.integers(0, 4, 4000), some.dirichlet(np.full(4, 0.7), 4000)
    chances[np.arange(4000), kinds] += 0.6
    a = assay.assess(
        truth=kinds,
        score=chances / chances.sum(axis=1, keepdims=True),
        scores=assay.ScoreSettings(kind="probability"),
        measures=["auroc"],
    )
    at = np.linspace(0.02, 1, 50)

    def off(one):
        place, low, *_ = np.array(one["band"]["roc"]).T
        there = band("roc", a.scores.whole.one_vs_rest(one["class"]), a.settings.wanted, at)
        return np.abs(np.interp(at, place, low) - there.low).max()

    assert max(off(one) for one in a.record["curves"] if "band" in one) < 0.1


def test_measures_of_scores_have_intervals_and_curves_have_bands():
    a = flat.assess(**GIVEN, threshold=0.4)
    assert a["auroc"].low < a["auroc"].value < a["auroc"].high
    assert a["auroc"].interval.method.startswith("delong-logit")
    for name in ("average_precision", "brier_score", "expected_calibration_error", "h_measure"):
        assert a[name].low <= a[name].value <= a[name].high, name
    band = a.record["curves"][0]["band"]
    for place, low, high, all_low, all_high in [*band["roc"], *band["pr"]]:
        assert 0 <= all_low <= low <= high <= all_high <= 1
        assert 0 <= place <= 1
    k = assay.assess(truth=KINDS, score=MATRIX, scores=assay.ScoreSettings(kind="probability"))
    assert k["auroc_macro"].low < k["auroc_macro"].value < k["auroc_macro"].high
    assert k["top_k_accuracy(k=2)"].low is not None
    assert flat.assess(**GIVEN, threshold=0.4, weight=np.ones(400))["auroc"].interval is None


def test_given_predictions_stay_as_they_are_and_thresholds_are_only_listed():
    predicted = NAMES[(SCORE >= 0.7) * 1]
    a = flat.assess(**GIVEN, predicted=predicted, threshold=0.4, operating_points=[0.2], measures=["recall", "auroc"])
    assert a["recall"].numerator == int(((SCORE >= 0.7) & TRUTH).sum())
    assert [(one["threshold"], one["in_force"]) for one in a.record["operating_points"]] == [(0.4, False), (0.2, False)]
    assert flat.assess(**GIVEN, predicted=predicted)["auroc"].value is not None


def test_the_largest_of_several_scores_calls_the_class():
    a = assay.assess(truth=KINDS, score=MATRIX, scores=assay.ScoreSettings(kind="probability"))
    assert a["accuracy"].numerator == int((MATRIX.argmax(axis=1) == KINDS).sum())
    assert a["auroc_macro"].value == pytest.approx(sk.roc_auc_score(KINDS, MATRIX, multi_class="ovr"), abs=1e-12)
    assert a["log_loss_multiclass"].value == pytest.approx(sk.log_loss(KINDS, MATRIX), abs=1e-12)
    assert a["top_k_accuracy(k=2)"].value == pytest.approx(sk.top_k_accuracy_score(KINDS, MATRIX, k=2))
    for i in range(3):
        assert a.by_class[i]["auroc"].value == pytest.approx(sk.roc_auc_score(i == KINDS, MATRIX[:, i]), abs=1e-12)


def test_ties_of_the_largest_score_are_told():
    a = assay.assess(
        truth=[0, 1, 2],
        score=[[0.4, 0.4, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]],
        scores=assay.ScoreSettings(kind="probability"),
    )
    assert any("with several largest scores: the first of these classes was taken" in note for note in a.notes)


def test_two_score_columns_of_two_classes_serve_as_well_as_one():
    both = {"healthy": 1 - SCORE, "ill": SCORE}
    given = {**GIVEN, "score": both}
    a = flat.assess(**given, threshold=0.4)
    b = flat.assess(**GIVEN, threshold=0.4)
    assert a.confusion.cells() == b.confusion.cells()
    assert a["auroc"].value == b["auroc"].value
    largest = flat.assess(**given)
    assert largest["accuracy"].value == flat.assess(**GIVEN, threshold=np.nextafter(0.5, 1).item())["accuracy"].value


def test_nothing_is_guessed():
    refused("role-missing", truth=TRUTH, predicted=TRUTH, threshold=0.5)
    refused("role-missing", truth=TRUTH, predicted=TRUTH, operating_points=[0.5])
    refused("positive-class-undeclared", truth=NAMES[TRUTH * 1], score=SCORE, threshold=0.5)
    refused("score-columns", truth=KINDS, score=SCORE[:400], threshold=0.5)
    refused("score-columns", truth=KINDS, score=MATRIX, threshold=0.5)
    refused("score-columns", truth=np.array(list("abc"))[KINDS], score=MATRIX)
    refused("option-unknown", **{**GIVEN, "scores": "probabilities"}, threshold=0.5)
    refused("option-unknown", **GIVEN, threshold=float("nan"))
    refused("option-unknown", **GIVEN, threshold=0.5, operating_points=[float("inf")])
    refused("rows-unmatched", truth=TRUTH, score=SCORE[:10], threshold=0.5)
    refused("role-clash", **GIVEN, threshold=0.5, threshold_from={"truth": TRUTH, "score": SCORE})


def test_calibration_is_measured_on_stated_probabilities_only():
    a = flat.assess(**{**GIVEN, "scores": "any"}, threshold=0.4)
    assert "brier_score" not in set(a)
    assert a["auroc"].value is not None
    with pytest.raises(assay.PlanError, match="not stated to be") as caught:
        a["brier_score"]
    assert 'scores="probability"' in caught.value.fix
    with pytest.raises(assay.PlanError, match="labels alone were given"):
        assay.assess(truth=TRUTH, predicted=TRUTH)["auroc"]
    assert a.record["curves"][0]["reliability"] is None


def test_a_threshold_is_chosen_on_other_rows():
    half = np.arange(400) < 200
    rest = {**GIVEN, "truth": GIVEN["truth"][~half], "score": SCORE[~half]}
    a = flat.assess(**rest, threshold="youden", threshold_from={"truth": GIVEN["truth"][half], "score": SCORE[half]})
    point = a.record["operating_points"][0]
    fpr, tpr, at = sk.roc_curve(TRUTH[half], SCORE[half])
    best = at[np.argmax(tpr - fpr)]
    assert point["threshold"] <= best
    assert ((SCORE[half] >= point["threshold"]) == (SCORE[half] >= best)).all()
    assert not point["optimistic"]
    assert "youden" in point["from"]
    assert "200 rows" in point["from"]


@pytest.fixture(scope="module")
def chosen_on_arrays():
    """The second half of the rows, with a threshold that is chosen on the first half."""
    return assay.assess(
        truth=GIVEN["truth"][200:],
        score=SCORE[200:],
        scores=assay.ScoreSettings(
            kind="probability", threshold_from={"truth": GIVEN["truth"][:200], "score": SCORE[:200]}
        ),
        positive="ill",
        threshold="recall 0.9",
        measures=["recall", "auroc"],
    )


@pytest.mark.parametrize("kind", ["polars", "pandas", "duckdb", "csv", "parquet"])
def test_the_rows_a_threshold_is_chosen_on_may_be_any_table_with_the_same_columns(kind, chosen_on_arrays, tmp_path):
    frame = pl.DataFrame({"y": GIVEN["truth"], "s": SCORE})
    one, other = frame[:200], frame[200:]

    def made(part, name):
        if kind in ("csv", "parquet"):
            path = tmp_path / f"{name}.{kind}"
            (part.write_csv if kind == "csv" else part.write_parquet)(path)
            return path
        return {
            "polars": lambda: part,
            "pandas": part.to_pandas,
            "duckdb": lambda: duckdb.connect().from_arrow(part.to_arrow()),
        }[kind]()

    a = assay.assess(
        data=made(other, "test"),
        truth="y",
        score="s",
        scores=assay.ScoreSettings(kind="probability", threshold_from=made(one, "validation")),
        positive="ill",
        threshold="recall 0.9",
        measures=["recall", "auroc"],
    )
    expected = chosen_on_arrays
    assert a.confusion == expected.confusion
    assert a.scores.whole == expected.scores.whole
    assert a.record["operating_points"][0]["threshold"] == expected.record["operating_points"][0]["threshold"]


def test_choosing_on_the_same_rows_is_refused_or_marked_in_every_output(tmp_path):
    error = refused("threshold-optimistic", **GIVEN, threshold="youden")
    assert "--threshold-from" in error.typed
    a = flat.assess(**GIVEN, threshold="youden", accept_optimistic_threshold=True, measures=["recall", "auroc"])
    assert a.record["operating_points"][0]["optimistic"]
    for ending in ("html", "md"):
        assert "flatter" in a.report(tmp_path / f"a.{ending}").read_text()
    assert "flatter" in str(a)


def test_a_rule_that_does_not_exist_is_told_with_the_nearest():
    error = refused("option-unknown", **GIVEN, threshold="yuoden", accept_optimistic_threshold=True)
    assert 'did you mean "youden"?' in error.fix
    refused(
        "target-not-reached",
        truth=[0, 1, 1, 0],
        score=[0.9, 0.8, 0.1, 0.2],
        threshold="precision 1",
        accept_optimistic_threshold=True,
    )
    refused("one-class", truth=[1, 1], score=[0.1, 0.2], threshold="youden", accept_optimistic_threshold=True)


def test_rows_without_a_score_follow_missing():
    score = [0.1, None, 0.8, 0.3]
    refused("score-not-finite", truth=[0, 1, 1, 0], score=score, threshold=0.5)
    a = assay.assess(truth=[0, 1, 1, 0], score=score, threshold=0.5, missing="drop")
    assert (a.census.read, a.census.scored, a.census.excluded) == (4, 3, {"score is missing": 1})
    b = assay.assess(truth=[0, 1, None, 0], score=score, threshold=0.2, missing="drop")
    assert b.census.excluded == {"score is missing": 1, "truth is missing": 1}
    assert b.scores.whole.rows == 2


def test_a_record_follows_its_schema_and_comes_back(tmp_path):
    for a in (
        flat.assess(**FEW, threshold=0.4, group={"sex": SEX[:120]}, operating_points=[0.1]),
        assay.assess(
            truth=KINDS[:120],
            score=MATRIX[:120],
            scores=assay.ScoreSettings(kind="probability"),
            group={"sex": SEX[:120]},
            intervals=assay.IntervalSettings(draws=100),
        ),
        flat.assess(**{**FEW, "scores": "any"}, predicted=FEW["truth"]),
        flat.assess(**FEW, threshold=0.4, weight=np.linspace(0, 2, 120)),
    ):
        content = json.loads(a.record.to_text())
        record_schema.validate(content)
        a.save(tmp_path / "a.json")
        b = assay.load(tmp_path / "a.json")
        assert b.record["tallies"] == a.record["tallies"]
        assert b.record["estimates"] == a.record["estimates"]
        assert b.record["curves"] == a.record["curves"]


def test_it_is_told_how_much_of_the_record_is_worked_out_and_nothing_is_worked_out_twice(monkeypatch):
    given = {"truth": KINDS[:120], "score": MATRIX[:120], "scores": "probability", "draws": 100}
    given["group"] = {"sex": SEX[:120]}
    a, heard = flat.assess(**given), []
    a.work_out(lambda done, total: heard.append((done, total)))
    assert heard == [(i, 12) for i in range(1, 13)], "three classes and all of them, for everybody and both sexes"
    with monkeypatch.context() as patch:
        patch.setattr(ScoreDraws, "values", None)
        estimates = a.estimates
    assert estimates == flat.assess(**given).estimates
    held = a.record
    with monkeypatch.context() as patch:
        patch.setattr(ScoreDraws, "blocks", None)
        assert a.accept("accuracy >= 0.1").record["curves"] == held["curves"]


def test_merging_parts_equals_assessing_the_pooled_rows():
    def part(rows):
        return flat.assess(
            **{**GIVEN, "truth": GIVEN["truth"][rows], "score": SCORE[rows]},
            threshold=0.4,
            group={"sex": SEX[rows]},
            draws=100,
        )

    halves = [np.arange(400) % 3 == i for i in range(3)]
    north, *_ = parts = [*map(part, halves)]
    merged = assay.merge(*parts)
    whole = part(slice(None))
    assert merged.record["tallies"] == whole.record["tallies"]
    assert merged["auroc"].value == whole["auroc"].value
    named = assay.merge(sites={"north": north, "south": part(halves[1] | halves[2])})
    assert named.by_group["site"]["north"]["auroc"].value == north["auroc"].value
    labels_only = flat.assess(
        truth=GIVEN["truth"], predicted=GIVEN["truth"], positive="ill", group={"sex": SEX}, draws=100
    )
    with pytest.raises(assay.PlanError, match="only some of the parts have scores"):
        assay.merge(whole, labels_only)


def test_many_distinct_scores_are_rounded_in_the_record_and_still_merge(monkeypatch, tmp_path):
    monkeypatch.setattr(scoring, "LISTED", 100)
    a = flat.assess(**{**GIVEN, "score": rng.random(400)}, threshold=0.4, draws=100)
    a.save(tmp_path / "a.json")
    b = assay.load(tmp_path / "a.json")
    assert (a.scores.whole.rounding, b.scores.whole.rounding.bits) == (None, 13)
    for name in ("auroc", "brier_score", "expected_calibration_error"):
        assert (b[name].value, b[name].stored_value) == (a[name].value, a[name].stored_value)
    assert a["brier_score"].stored_value is not None
    assert b["expected_calibration_error(bins=7)"].value == pytest.approx(
        a["expected_calibration_error(bins=7)"].value, abs=1e-4
    )
    both = assay.merge(a, b).scores.whole
    assert (both.rows, both.rounding.bits) == (800, 13)
    assert both == b.scores.whole + b.scores.whole
    record_schema.validate(json.loads(Record.load(tmp_path / "a.json").to_text()))


def test_scores_of_a_frame_beyond_the_limit_are_rounded():
    frame = pl.DataFrame({"y": TRUTH, "s": SCORE, "g": SEX})
    a = assay.assess(
        data=frame,
        truth="y",
        score="s",
        scores=assay.ScoreSettings(kind="probability", exact_scores=50),
        threshold=0.4,
        group="g",
    )
    assert a.scores.whole.rounding.bits == 13
    exact = assay.assess(truth=TRUTH, score=SCORE, scores=assay.ScoreSettings(kind="probability"), threshold=0.4)
    assert a["auroc"].value == pytest.approx(exact["auroc"].value, abs=1e-5)
    assert a.by_group["g"]["f"]["auroc"].value == pytest.approx(
        sk.roc_auc_score(TRUTH[SEX == "f"], SCORE[SEX == "f"]), abs=1e-5
    )


def test_a_frame_of_scores_is_matched_by_its_column_names():
    frame = pd.DataFrame(MATRIX, columns=[2, 0, 1])
    a = assay.assess(truth=KINDS, score=frame, scores=assay.ScoreSettings(kind="probability"))
    b = assay.assess(truth=KINDS, score=MATRIX[:, [1, 2, 0]], scores=assay.ScoreSettings(kind="probability"))
    assert a.scores.whole == b.scores.whole
    assert a.labels == (0, 1, 2)


def test_a_measure_of_many_classes_does_not_fit_two():
    a = flat.assess(**GIVEN, threshold=0.4, measures=["curves", "recall"])
    assert "auroc" in a
    assert "auroc_macro" not in set(a)
    with pytest.raises(assay.PlanError, match="is for multiclass tasks"):
        a["auroc_macro"]


def test_scores_stay_at_the_site():
    a = flat.assess(**GIVEN, threshold=0.4, measures=["recall", "auroc"])
    shared = a.tally(site="north", smallest_cell=1)
    assert "scores" not in shared["tallies"]
    assert "scores stay at the site" in " ".join(shared["notes"])
