# SPDX-License-Identifier: Apache-2.0
"""Rows that belong together: intervals by unit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import assay
from assay.assess.record.verification import verify
from assay.measures.declare import parse
from assay.tasks.classification.unit_part import find_places, score_table

MEASURES = ("accuracy", "recall", "precision", "f1", "matthews_corrcoef", "auroc", "average_precision")


def patients(seed=1, units=40, rows=10, shared=1.0):
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), rows)
    common = rng.normal(size=units)[unit] * shared
    truth = rng.integers(0, 2, units * rows)
    score = rng.normal(size=units * rows) + 1.2 * truth + common
    return {"truth": truth, "predicted": (score > 0.8).astype(int), "score": score}, unit


def test_values_stay_and_intervals_widen_where_rows_of_a_unit_are_alike():
    rows, unit = patients()
    alone, by_unit = assay.assess(**rows), assay.assess(**rows, unit=unit)
    for name in MEASURES:
        assert by_unit[name].value == alone[name].value
        assert by_unit[name].low < by_unit[name].value < by_unit[name].high
    for name in ("recall", "precision"):
        width = by_unit[name].high - by_unit[name].low
        assert width > 1.1 * (alone[name].high - alone[name].low)
    assert "design effect" in by_unit["recall"].interval.method
    assert by_unit.record["units"] == 40
    assert any("40 units" in note for note in by_unit.notes)


def test_every_unit_has_its_values_by_number():
    rows, unit = patients(units=12)
    a = assay.assess(**rows, unit=unit)
    assert len(a.by_unit) == 12
    assert sum(values["rows"] for values in a.by_unit.values()) == 120
    right = sum(values["rows"] * values["accuracy"] for values in a.by_unit.values())
    assert right == pytest.approx(120 * a["accuracy"].value)
    assert repr(a.by_unit).startswith("<12 units>\n  1: rows 10, accuracy 0.")
    assert str(a).startswith("Assessment of 120 rows of 12 units\n")
    assert repr(assay.assess(**rows).by_unit) == "<0 units>"


def test_every_table_gives_the_same_record_of_units_in_any_order(tmp_path):
    rows, unit = patients()
    frame = pl.DataFrame({**rows, "unit": [f"p{u}" for u in unit]})
    path = tmp_path / "rows.csv"
    frame.write_csv(path)
    columns = {"truth": "truth", "predicted": "predicted", "score": "score", "unit": "unit"}
    first = assay.assess(data=frame, **columns).record
    shuffled = assay.assess(data=frame.sample(fraction=1.0, shuffle=True, seed=3), **columns).record
    filed = assay.assess(data=str(path), positive="1", **columns)
    assert first["tallies"] == shuffled["tallies"]
    assert first["estimates"] == shuffled["estimates"]
    assert filed["auroc"].low == first_estimate(first, "auroc")["low"]


def first_estimate(record, measure):
    return next(estimate for estimate in record["estimates"] if estimate["measure"] == measure)


def test_the_record_verifies_and_a_changed_interval_is_found(tmp_path):
    rows, unit = patients()
    record = assay.load(assay.assess(**rows, unit=unit).save(tmp_path / "r.json")).record
    assert verify(record).holds
    changed = [{**estimate} for estimate in record["estimates"]]
    next(estimate for estimate in changed if estimate["measure"] == "recall")["low"] = 0.0
    assert not verify(type(record)({**record, "estimates": changed})).holds


def test_units_of_two_sites_merge_to_those_of_all():
    rows, unit = patients()
    half, level = unit < 20, np.arange(400) % 3
    parts = [
        assay.assess(**{name: column[side] for name, column in rows.items()}, unit=unit[side], group={"g": level[side]})
        for side in (half, ~half)
    ]
    merged, pooled = assay.merge(*parts), assay.assess(**rows, unit=unit, group={"g": level})
    for name in ("recall", "auroc"):
        assert merged.by_group["g"][1][name].interval == pooled.by_group["g"][1][name].interval
    for name in MEASURES:
        assert merged[name].low == pooled[name].low
        assert merged[name].high == pooled[name].high


@pytest.mark.parametrize(("units", "why"), [(4, "only 4 units"), (1, "unit")])
def test_few_units_have_no_interval(units, why):
    rows, unit = patients(units=units, rows=20)
    estimate = assay.assess(**rows, unit=unit)["accuracy"]
    assert estimate.low is None
    assert why in estimate.no_interval


def test_a_unit_with_most_rows_has_no_interval():
    rows, unit = patients(units=30)
    estimate = assay.assess(**rows, unit=np.where(unit < 20, 0, unit))["accuracy"]
    assert "more than half" in estimate.no_interval


def test_units_of_one_row_are_rows():
    rows, _ = patients()
    a = assay.assess(**rows, unit=np.arange(400))
    assert a["recall"].interval == assay.assess(**rows)["recall"].interval


def test_several_classes_and_each_of_them_are_judged_by_unit():
    rng = np.random.default_rng(2)
    truth, unit = rng.integers(0, 3, 300), np.repeat(np.arange(30), 10)
    called = np.where(rng.random(300) < 0.7, truth, rng.integers(0, 3, 300))
    a = assay.assess(truth=truth, predicted=called, unit=unit)
    assert "by unit" in a["f1_macro"].interval.method
    assert "by unit" in a.by_class[0]["recall"].interval.method


@pytest.mark.parametrize("site", [lambda unit: unit % 2, lambda unit: np.arange(len(unit)) % 3], ids=["of", "within"])
def test_groups_of_units_and_groups_within_units_have_intervals_by_unit(site):
    rows, unit = patients()
    a = assay.assess(**rows, unit=unit, group={"site": site(unit)})
    for level in a.by_group["site"]:
        here = site(unit) == level
        alone = assay.assess(**{name: column[here] for name, column in rows.items()}, unit=unit[here])
        for name in MEASURES:
            assert a.by_group["site"][level][name].interval == alone[name].interval
            assert a.by_group["site"][level][name].low < a.by_group["site"][level][name].high
    assert verify(a.record).holds


def test_equal_weights_change_nothing_and_others_move_value_and_interval():
    rows, unit = patients()
    plain, equal = assay.assess(**rows, unit=unit), assay.assess(**rows, unit=unit, weight=np.full(400, 2.5))
    weight = np.random.default_rng(5).lognormal(0, 0.7, 400)
    other = assay.assess(**rows, unit=unit, weight=weight)
    for name in MEASURES:
        assert (equal[name].low, equal[name].high) == pytest.approx((plain[name].low, plain[name].high), rel=1e-12)
        assert other[name].value != plain[name].value
        assert other[name].low < other[name].value < other[name].high
    assert verify(other.record).holds


def test_a_weight_of_two_is_the_row_twice():
    """The jackknife over units sees sums only; law of weights that are whole numbers."""
    rows, unit = patients()
    times = np.random.default_rng(2).integers(1, 4, 400)
    weighted = assay.assess(**rows, unit=unit, weight=times.astype(float))
    twice = assay.assess(
        **{name: np.repeat(column, times) for name, column in rows.items()}, unit=np.repeat(unit, times)
    )
    for name in MEASURES:
        assert (weighted[name].low, weighted[name].high) == pytest.approx((twice[name].low, twice[name].high), abs=2e-3)


def test_the_record_says_how_large_units_are_and_what_rows_are_worth():
    rows, unit = patients(shared=2.0)
    a = assay.assess(**rows, unit=unit)
    said = a.record["unit_sizes"]
    assert (said["median"], said["largest"]) == (10, 10)
    assert said["effective_rows"] == pytest.approx(400 / said["design_effect"])
    assert f"design effect {said['design_effect']:.3g}" in a.notes[0]


def test_a_group_that_looks_like_a_unit_is_pointed_out():
    rows, unit = patients()
    labels = {name: rows[name] for name in ("truth", "predicted")}
    assert any("unit=..." in note for note in assay.assess(**labels, group={"patient": unit}).notes)
    for quiet in (
        {"group": {"site": unit % 3}},
        {"group": {"patient": unit}, "unit": unit},
        {"group": {"row": np.arange(400)}},
    ):
        assert not any("unit=..." in note for note in assay.assess(**labels, **quiet).notes)


def test_rows_without_a_unit_are_refused():
    rows, unit = patients()
    with pytest.raises(assay.AssayError, match="without a unit"):
        assay.assess(**rows, unit=[None, *unit[1:].tolist()])
    for nothing in ([None] * len(unit), pd.array([pd.NA] * len(unit))):
        with pytest.raises(assay.AssayError, match="without a unit"):
            assay.assess(**rows, unit=nothing)


@pytest.mark.parametrize(
    "names",
    [
        pl.Series(range(40), dtype=pl.Int64),
        pl.Series(range(40), dtype=pl.Float64),
        pl.Series([2**63 + number for number in range(40)], dtype=pl.UInt64),
        pl.Series([2**60 + number for number in range(40)], dtype=pl.Int128),
        pl.Series(range(40)).cast(pl.Decimal(12, 0)),
        pl.Series([f"p{number}" for number in range(40)]).cast(pl.Categorical),
    ],
    ids=["int", "float", "above-2^63", "128-bit", "decimal", "category"],
)
def test_names_of_units_of_any_type_give_the_same_tallies(tmp_path, names):
    """Engines hand some wide numbers over as floats, which would make one unit of several."""
    rows, unit = patients()
    if names.dtype in (pl.Int128, pl.Decimal):
        del rows["score"]
    expected = assay.assess(**rows, unit=unit).record["tallies"]
    frame = pl.DataFrame(rows).with_columns(unit=names.gather(unit))
    columns = {name: name for name in frame.columns}
    assert assay.assess(data=frame, **columns).record["tallies"] == expected
    if names.dtype != pl.Int128:
        frame.write_parquet(tmp_path / "rows.parquet")
        assert assay.assess(data=str(tmp_path / "rows.parquet"), **columns).record["tallies"] == expected


def test_a_huge_integer_of_duckdb_names_units_by_all_digits():
    duckdb = pytest.importorskip("duckdb")
    rows, unit = patients()
    frame = pl.DataFrame({**{name: rows[name] for name in ("truth", "predicted")}, "unit": unit})  # noqa: F841
    with duckdb.connect() as connection:
        relation = connection.sql("SELECT truth, predicted, unit::HUGEINT + 1152921504606846976 AS unit FROM frame")
        a = assay.assess(data=relation, truth="truth", predicted="predicted", unit="unit")
    assert a.record["units"] == 40


def test_scores_of_the_other_class_borrow_no_interval():
    rows, unit = patients()
    chance = 1 / (1 + np.exp(-rows["score"]))
    a = assay.assess(**{**rows, "score": {0: 1 - chance, 1: chance}}, unit=unit)
    assert a.by_class[1]["average_precision"].interval == a["average_precision"].interval
    assert "positive of two classes" in a.by_class[0]["average_precision"].no_interval


def test_the_jackknife_of_areas_is_that_of_scikit_learn():
    """Delete one unit, the logit scale, Student's t with the units that hold the rarer class."""
    metrics = pytest.importorskip("sklearn.metrics")
    special = pytest.importorskip("scipy.special")
    rows, unit = patients(units=25, rows=6)
    a = assay.assess(**rows, unit=unit)
    rarer = len(set(unit[rows["truth"] == (rows["truth"].mean() <= 0.5)]))
    for name, area in (("auroc", metrics.roc_auc_score), ("average_precision", metrics.average_precision_score)):
        without = [special.logit(area(rows["truth"][unit != u], rows["score"][unit != u])) for u in range(25)]
        centre = special.logit(area(rows["truth"], rows["score"]))
        reach = special.stdtrit(rarer - 1, 0.975) * np.sqrt(24 / 25 * np.sum((np.array(without) - centre) ** 2))
        assert (a[name].low, a[name].high) == pytest.approx(tuple(special.expit([centre - reach, centre + reach])))


def test_errors_in_a_handful_of_units_are_noted():
    _, unit = patients()
    truth = np.arange(400) % 2
    for wrong in (3, 4, 5, 8):
        predicted = np.where((unit < wrong) & (np.arange(400) % 10 == 0), 1 - truth, truth)
        notes = assay.assess(truth=truth, predicted=predicted, unit=unit)["accuracy"].interval.notes
        assert any(f"errors are in {wrong} units only" in note for note in notes) == (wrong < 5)


def test_repeated_ids_point_to_units(tmp_path):
    rows, unit = patients()
    frame = pl.DataFrame({**rows, "patient": unit})
    frame.write_csv(tmp_path / "rows.csv")
    columns = {"truth": "truth", "predicted": "predicted"}
    for data in (frame, str(tmp_path / "rows.csv")):
        with pytest.raises(assay.AssayError, match="unit="):
            assay.assess(data=data, **columns, id="patient", positive=1)
        notes = assay.assess(
            data=data, **columns, group=["patient"], positive="1" if isinstance(data, str) else 1
        ).notes
        assert any("unit=..." in note for note in notes)


@pytest.mark.parametrize("weight", [None, "quarters"])
def test_areas_without_each_unit_equal_those_of_the_scores_that_are_left(weight):
    rows, unit = patients(seed=7, units=25, rows=8)
    rows["score"] = np.round(rows["score"], 1)  # ties within and between units
    quarters = np.random.default_rng(2).integers(1, 9, len(unit)) / 4
    a = assay.assess(**rows, unit=unit, **({} if weight is None else {"weight": quarters}))
    part, ranked = a.counts.units, score_table(a.counts)
    left = parse("auroc").values(part.scores_without(ranked, 0, part.units))
    np.testing.assert_allclose(part.areas_without(ranked), left, rtol=1e-14)


@pytest.mark.parametrize(
    "table",
    [
        np.arange(1300) / 1000, np.sort(np.random.default_rng(1).standard_cauchy(3000)), np.array([0.5]), np.zeros(0),
        np.array([-1.7e308, 0.0, 1.7e308]), np.array([0.0, 5e-324]), np.append(np.arange(1000) * 1e-12, 1.0),
    ],
    ids=["even", "heavy tails", "one", "none", "widest", "narrowest", "dense at one end"],
)  # fmt: skip
def test_scores_are_found_where_a_search_finds_them(table):
    values = table[np.random.default_rng(2).integers(0, max(len(table), 1), 5000 if len(table) else 0)]
    assert np.array_equal(find_places(table, values), np.searchsorted(table, values))
