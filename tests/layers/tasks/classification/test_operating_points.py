# SPDX-License-Identifier: Apache-2.0
"""Operating points: rates with intervals at each threshold, in Record, reports and verification, also when rounded."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import assay
from assay.assess.record.record import sealed
from assay.assess.record.verification import verify
from assay.inference.intervals.proportion import wilson
from assay.inference.intervals.score_intervals import WEIGHTED
from assay.report.render.markdown import render as markdown
from assay.report.render.terminal import summary
from assay.tasks.classification import score_part as scoring
from assay.tasks.classification.curves import FLATTERS, RATES
from tests import flat, record_schema

rng = np.random.default_rng(5)
TRUTH = rng.random(200) < 0.4
SCORE = 1 / (1 + np.exp(-rng.normal(size=200) - 1.5 * TRUTH))
KIND = rng.integers(0, 3, 150)
MATRIX = rng.dirichlet(np.ones(3), 150)
FEW = ["recall", "auroc", "brier_score"]
GIVEN = {"truth": TRUTH * 1, "score": SCORE, "scores": "probability", "measures": FEW}
MANY = {
    "truth": np.array(list("abc"))[KIND],
    "score": dict(zip("abc", MATRIX.T, strict=True)),
    "scores": "probability",
    "measures": ["auroc_macro", "auroc", "log_loss_multiclass"],
}


def points(a):
    return a.record["operating_points"]


@pytest.fixture(scope="module")
def found():
    return flat.assess(**GIVEN, threshold=0.6, operating_points=[0.2, 0.8])


def test_every_point_has_its_rates_with_wilsons_intervals(found):
    for point in points(found):
        called = point["threshold"] <= SCORE
        parts = {
            "recall": (called & TRUTH, TRUTH),
            "false_positive_rate": (called & ~TRUTH, ~TRUTH),
            "specificity": (~called & ~TRUTH, ~TRUTH),
            "precision": (called & TRUTH, called),
            "negative_predictive_value": (~called & ~TRUTH, ~called),
        }
        assert [rate["measure"] for rate in point["rates"]] == list(RATES) == list(parts)
        for rate in point["rates"]:
            top, of = (int(side.sum()) for side in parts[rate["measure"]])
            assert (rate["numerator"], rate["denominator"], rate["value"]) == (top, of, top / of)
            assert (rate["low"], rate["high"]) == wilson(top, of, 0.95)
            assert rate["interval"] == "wilson"


def test_the_point_in_force_has_the_rates_of_the_assessment():
    a = flat.assess(**GIVEN, threshold=0.6, level=0.9, shares="jeffreys")
    for rate in points(a)[0]["rates"]:
        one = a[rate["measure"]].to_json()
        assert rate == one


def test_a_threshold_chosen_on_its_own_rows_marks_every_rate_of_its_point_only():
    a = flat.assess(**GIVEN, threshold="youden", accept_optimistic_threshold=True, operating_points=[0.5])
    chosen, stated = points(a)
    assert all(rate["notes"] == [FLATTERS] for rate in chosen["rates"])
    assert not any("notes" in rate for rate in stated["rates"])


def test_a_rate_without_rows_says_why_and_classes_are_told_apart():
    point = points(flat.assess(**GIVEN, threshold=2.0))[0]
    (precision,) = [rate for rate in point["rates"] if rate["measure"] == "precision"]
    assert (precision["value"], precision["undefined"]) == (None, "no row was predicted 1")
    every = points(flat.assess(**MANY, operating_points=[0.4]))
    assert [one["class"] for one in every] == list("abc")
    for one in every:
        assert {rate["class"] for rate in one["rates"]} == {one["class"]}


def test_weighted_rows_have_rates_with_the_intervals_of_weighted_labels():
    weight = rng.random(200).round(3) + 0.001
    a = flat.assess(**GIVEN, weight=weight, operating_points=[0.5], threshold=0.4)
    for place, threshold in enumerate((0.4, 0.5)):
        labels = assay.assess(truth=TRUTH * 1, predicted=(threshold <= SCORE) * 1, positive=1, weight=weight)
        for rate in points(a)[place]["rates"]:
            one = labels[rate["measure"]]
            assert rate["value"] == pytest.approx(one.value, abs=1e-12)
            assert (rate["low"], rate["high"]) == pytest.approx((one.low, one.high), abs=1e-9)
            assert rate["interval"] == "weighted dirichlet on cells"
    assert verify(a.record).holds


def test_whole_weights_are_not_taken_for_counts():
    once = flat.assess(**GIVEN, operating_points=[0.5], threshold=0.4)
    thrice = flat.assess(**GIVEN, weight=np.full(200, 3), operating_points=[0.5], threshold=0.4)
    for one, other in zip(points(once)[1]["rates"], points(thrice)[1]["rates"], strict=True):
        assert other["value"] == one["value"]
        assert other["high"] - other["low"] == pytest.approx(one["high"] - one["low"], rel=0.25)


def test_intervals_stand_in_every_report(found, tmp_path):
    a = found
    html = a.report(tmp_path / "r.html").read_text(encoding="utf-8")
    for point in points(a):
        rate = point["rates"][0]
        shown = f"{rate['low']:.3f}–{rate['high']:.3f}"
        assert all(shown in text for text in (summary(a.record, width=100), markdown(a.record), html))
    narrow = summary(a.record, width=60).partition("Operating points")[2].partition("\n\n")[0].split("\n")
    assert narrow[1].split()[-2:] == ["recall", "interval"]  # the columns that have no room go, from the last


def test_a_record_without_rates_still_reads_and_verifies(found):
    content = json.loads(found.record.to_text())
    for point in content["operating_points"]:
        del point["rates"]
    old = assay.Record(sealed(content))
    assert verify(old).holds
    assert "0.6" in markdown(old)


# ---------------------------------------------------------------- from rounded scores


def test_cells_from_rounded_scores_are_off_by_rows_next_to_the_threshold():
    frame = pl.DataFrame({"y": (rng.random(5000) < 0.5) * 1, "s": 0.5 + 0.01 * rng.random(5000)})
    given = {"data": frame, "truth": "y", "score": "s", "threshold": 0.5041234, "operating_points": [0.5061234, 2.0]}
    given["measures"] = ["auroc"]
    rounded, exact = (flat.assess(**given, exact_scores=limit) for limit in (100, 10**6))
    assert rounded.record["scores"]["significant_bits"] == 13
    assert any("share" in note and "rounded scores" in note for note in rounded.record["notes"])
    cells = ("tp", "fp", "fn", "tn")
    assert [points(rounded)[0][cell] for cell in cells] == [points(exact)[0][cell] for cell in cells]
    one, other = points(rounded)[1], points(exact)[1]
    assert 0 < sum(abs(one[cell] - other[cell]) for cell in cells) < 100
    record_schema.validate(json.loads(rounded.record.to_text()))
    assert verify(rounded.record).holds


def test_rounded_weighted_scores_have_intervals_at_their_points_and_merge(tmp_path):
    some = np.random.default_rng(6)
    frame = pl.DataFrame({"y": (some.random(2000) < 0.5) * 1, "s": some.random(2000)})
    frame = frame.with_columns(w=pl.Series(some.exponential(size=2000)))
    given = {"truth": "y", "score": "s", "scores": "probability", "weight": "w", "threshold": 0.501, "positive": 1}
    given |= {"operating_points": [0.5011234], "measures": ["auroc", "average_precision", "log_loss"]}

    def found(rows, limit):
        return flat.assess(data=rows.lazy(), **given, exact_scores=limit)

    rounded, exact = (found(frame, limit) for limit in (100, 10**6))
    for one in given["measures"]:
        assert rounded[one].value == pytest.approx(exact[one].value, abs=1e-4)
        assert rounded[one].no_interval == exact[one].no_interval == WEIGHTED
    point, other = points(rounded)[1], points(exact)[1]
    for rate, true in zip(point["rates"], other["rates"], strict=True):
        assert rate["interval"] == true["interval"]
        assert rate["low"] == pytest.approx(true["low"], abs=0.01)
        assert rate["high"] == pytest.approx(true["high"], abs=0.01)
    record_schema.validate(json.loads(rounded.record.to_text()))
    assert verify(rounded.record).holds
    rounded.save(tmp_path / "all.json")
    assert assay.load(tmp_path / "all.json").scores.whole == rounded.scores.whole
    merged = assay.merge(*(found(part, 100) for part in (frame[:900], frame[900:])))
    assert merged.scores.whole == rounded.scores.whole
    assert merged["auroc"].value == rounded["auroc"].value


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("given", [GIVEN, MANY], ids=["two classes", "three"])
def test_a_record_that_stores_rounded_scores_is_computed_again(given, weighted, monkeypatch):
    monkeypatch.setattr(scoring, "LISTED", 100)
    threshold = {"threshold": 0.6} if given is GIVEN else {}
    weight = {"weight": np.random.default_rng(3).exponential(size=len(given["truth"]))} if weighted else {}
    a = flat.assess(**given, **threshold, **weight, operating_points=[0.2])
    a = a.accept("recall >= 0.2", "auroc >= 0.6") if given is GIVEN else a
    assert a.record["scores"]["significant_bits"] == 13
    assert a.scores.whole.rounding is None
    assert any("stored_value" in one for one in a.record["estimates"])
    found = verify(a.record)
    assert found.holds, found.mismatches
    assert not found.unchecked
    record_schema.validate(json.loads(a.record.to_text()))


def test_rows_at_the_edges_of_calibration_bins_make_no_honest_record_doubtful(monkeypatch):
    """Scores next to an edge may be rounded across it; rows that lie close together move at once."""
    monkeypatch.setattr(scoring, "LISTED", 3000)
    rng = np.random.default_rng(0)
    chance = np.clip(rng.integers(0, 16, 4000) / 15 + rng.choice([-1e-6, 1e-6, 0.02], 4000), 1e-9, 1 - 1e-9)
    chance = np.clip(chance + rng.random(4000) * 1e-9, 0, 1)  # no two alike
    three = rng.dirichlet(np.full(3, 0.3), 2000) + 1e-9
    errors = ["expected_calibration_error", "adaptive_calibration_error", "maximum_calibration_error"]
    two = assay.assess(
        truth=rng.random(4000) < chance,
        score=chance,
        scores=assay.ScoreSettings(kind="probability"),
        intervals=assay.IntervalSettings(draws=200),
        threshold=0.5,
        positive=True,
        measures=errors,
    )
    many = assay.assess(
        truth=rng.integers(0, 3, 2000),
        score=three / three.sum(axis=1, keepdims=True),
        scores=assay.ScoreSettings(kind="probability"),
        intervals=assay.IntervalSettings(draws=200),
        measures=["top_label_calibration_error", *errors],
    )
    for a in (two, many):
        found = verify(a.record)
        assert found.holds, found.mismatches
        assert any("stored_value" in one for one in a.record["estimates"])
    content = json.loads(many.record.to_text())
    measures = [estimate["measure"] for estimate in content["estimates"]]
    forged = [measures.index(error) for error in errors]
    for place in forged:
        content["estimates"][place]["value"] *= 0.5
    paths = {mismatch.path for mismatch in verify(assay.Record(sealed(content))).mismatches}
    assert {f"estimates[{place}].value" for place in forged} <= paths


@pytest.mark.parametrize("close", [(0.7, 1e-4), (1.7e9, 1.0), (-3.0, 1e-9)])
def test_scores_that_lie_close_together_are_stored_with_more_bits(close, monkeypatch):
    monkeypatch.setattr(scoring, "LISTED", 100)
    score = close[0] + close[1] * np.random.default_rng(2).random(500)
    a = assay.assess(truth=np.arange(500) % 2, score=score, threshold=close[0], measures=["auroc", "average_precision"])
    assert a.record["scores"]["significant_bits"] > 13
    found = verify(a.record)
    assert found.holds, found.mismatches


@pytest.mark.parametrize(("kind", "lean"), [("probability", 0.0), ("logit", 0.8), ("any", 0.3)])
def test_intervals_are_the_same_from_the_scores_of_a_record(kind, lean, monkeypatch):
    """Intervals are made of the stored scores in the first place."""
    monkeypatch.setattr(scoring, "LISTED", 500)
    rng = np.random.default_rng(11)
    truth, chance = rng.integers(0, 3, 700), rng.dirichlet(np.ones(3), 700)
    chance[np.arange(700), truth] += lean
    chance /= chance.sum(axis=1, keepdims=True)
    score = np.log(chance) if kind == "logit" else chance
    names = ["h_measure", "average_precision", "equal_error_rate", "auroc_convex_hull", "kolmogorov_smirnov"]
    names += [] if kind == "any" else ["brier_score", "expected_calibration_error", "calibration_slope"]
    a = assay.assess(
        truth=truth,
        score=score,
        scores=assay.ScoreSettings(kind=kind),
        intervals=assay.IntervalSettings(draws=200),
        measures=names,
        group={"half": np.arange(700) % 2} if kind == "any" else None,
    )
    found = verify(a.record)
    assert found.holds, found.mismatches
    content = json.loads(a.record.to_text())
    one = next(e for e in content["estimates"] if e["measure"] == "h_measure" and e["class"] is not None)
    one["high"] = min(1.0, one["high"] + 1e-3 * (one["high"] - one["low"]))
    assert not verify(assay.Record(sealed(content))).holds


def test_scores_nearest_to_zero_keep_their_value_in_a_record(monkeypatch):
    monkeypatch.setattr(scoring, "LISTED", 100)
    score = np.r_[np.linspace(1e-300, 1e-299, 200), np.linspace(0.5, 0.6, 200), 5e-324 * np.arange(1, 101)]
    given = {"scores": "probability", "threshold": 0.4, "positive": True, "measures": ["calibration_slope", "log_loss"]}
    a = flat.assess(truth=np.arange(500) >= 200, score=score, **given)
    found = verify(assay.Record(json.loads(a.record.to_text())))
    assert found.holds, found.mismatches


@pytest.fixture(scope="module")
def stored_rounded(found):
    """The text of a Record that stores rounded scores."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "LISTED", 100)
        return found.restated(found.settings).record.to_text()


def brier(record):
    return next(one for one in record["estimates"] if one["measure"] == "brier_score")


@pytest.mark.parametrize(
    "forge",
    [
        lambda r: brier(r).update(value=0.1),
        lambda r: brier(r).update(value=0.1, stored_value=0.1),
        lambda r: brier(r).update(stored_value=brier(r)["stored_value"] + 1e-7),
        lambda r: (brier(r).pop("stored_value"), brier(r).update(value=brier(r)["value"] + 1e-7)),
        lambda r: brier(r).update(high=0.9),
        lambda r: next(e for e in r["estimates"] if e["measure"] == "recall").update(value=0.99999),
        lambda r: r["operating_points"][1].update(tp=r["operating_points"][1]["tp"] + 9),
        lambda r: r["operating_points"][1]["rates"][0].update(low=0.0),
        lambda r: r["curves"][0]["points"][3].__setitem__(1, r["curves"][0]["points"][3][1] + 1),
    ],
    ids=["a value", "both", "the stored one", "no stored one", "an end", "a share", "a cell", "a rate", "a curve"],
)
def test_a_number_that_the_stored_scores_do_not_give_is_found(forge, stored_rounded):
    content = json.loads(stored_rounded)
    assert "stored_value" in brier(content)
    forge(content)
    assert not verify(assay.Record(sealed(content))).holds
