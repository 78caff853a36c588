# SPDX-License-Identifier: Apache-2.0
"""Laws of label sets: order, merging, forms of input, ranges, intervals, round trips."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import assay
from assay.assess.record.verification import verify
from assay.core.task import find_task
from assay.fairness.fairness_by_factor import Fairness
from assay.tasks.multilabel.table import LabelTable, read_sums, read_table, stack_tables
from assay.tasks.multilabel.tally import LabelSets, count_sets

LABELS = ("a", "b", "c", "d")
TASK = find_task("multilabel")


def make_sets(rows=120, seed=1, labels=4):
    rng = np.random.default_rng(seed)
    truth = (rng.random((rows, labels)) < 0.4).astype(np.uint8)
    predicted = np.where(rng.random((rows, labels)) < 0.2, 1 - truth, truth).astype(np.uint8)
    return truth, predicted


def as_lists(matrix):
    return [[label for label, bit in zip(LABELS, row, strict=True) if bit] for row in matrix.tolist()]


def test_order_of_rows_does_not_matter():
    truth, predicted = make_sets()
    order = np.random.default_rng(2).permutation(len(truth))
    assert count_sets(LABELS, truth, predicted) == count_sets(LABELS, truth[order], predicted[order])


def test_merging_equals_pooling_also_over_other_labels():
    truth, predicted = make_sets()
    parts = count_sets(LABELS, truth[:50], predicted[:50]) + count_sets(LABELS, truth[50:], predicted[50:])
    assert parts == count_sets(LABELS, truth, predicted)
    first = assay.multilabel(truth=[{"a"}, {"b"}] * 5, predicted=[{"a"}, {"a"}] * 5)
    second = assay.multilabel(truth=[{"c"}] * 5, predicted=[{"b", "c"}] * 5)
    pooled = assay.multilabel(truth=[{"a"}, {"b"}] * 5 + [{"c"}] * 5, predicted=[{"a"}, {"a"}] * 5 + [{"b", "c"}] * 5)
    assert assay.merge(first, second).counts == pooled.counts


STACKED = [m for m in TASK.registry if m.name not in ("auroc_macro", "auroc_micro", "average_precision_macro")]


@pytest.mark.parametrize("measure", STACKED, ids=lambda measure: measure.name)
def test_a_stack_of_tables_gives_the_values_of_each(measure):
    tallies = [
        count_sets(LABELS, *make_sets(seed=seed), score=np.random.default_rng(seed).random((120, 4)))
        for seed in range(3)
    ]
    stack = stack_tables(LABELS, np.stack([read_sums(tally) for tally in tallies]))
    values = measure.values(stack)
    singles = [measure(read_table(tally)).value for tally in tallies]
    assert values == pytest.approx(singles, abs=1e-9)
    low, high = measure.range
    assert all(low <= value <= high for value in singles)


FORMULAS = [m for m in TASK.registry if "mean" not in m.formula and "area" not in m.formula and "ln" not in m.formula]


@pytest.mark.parametrize("measure", FORMULAS, ids=lambda measure: measure.name)
def test_the_formula_text_is_what_is_computed(measure):
    for seed in range(5):
        table = read_table(
            count_sets(LABELS, *make_sets(seed=seed), score=np.random.default_rng(seed).random((120, 4)))
        )
        names = {name: float(value) for name, value in vars(table).items() if np.ndim(value) == 0 and name != "scores"}
        value = eval(measure.formula, {"__builtins__": {}}, {**names, "L": table.size})  # noqa: S307  our own text
        assert measure(table).value == pytest.approx(value, rel=1e-12)


def test_perfect_predictions_reach_the_best_end():
    truth, _ = make_sets()
    a = assay.multilabel(truth=truth, predicted=truth)
    for name in a:
        best = a.measures.find(name)
        assert a[name].value == (0 if "lower" in best.better else 1)


def test_every_form_of_input_gives_the_same_tally(tmp_path):
    truth, predicted = make_sets()
    matrix = assay.multilabel(truth=truth, predicted=predicted, labels=LABELS).counts
    lists = assay.multilabel(truth=as_lists(truth), predicted=as_lists(predicted), labels=LABELS)
    sets = assay.multilabel(truth=list(map(set, as_lists(truth))), predicted=list(map(set, as_lists(predicted))))
    text = ["|".join(row) for row in as_lists(truth)], [" | ".join(row) for row in as_lists(predicted)]
    texts = assay.multilabel(truth=text[0], predicted=text[1], separator="|", labels=LABELS)
    coded = [json.dumps(row) for row in as_lists(truth)], [json.dumps(row) for row in as_lists(predicted)]
    in_json = assay.multilabel(truth=coded[0], predicted=coded[1], separator="json", labels=LABELS)
    columns = {f"t{i}": truth[:, i] for i in range(4)} | {f"p{i}": predicted[:, i] for i in range(4)}
    names = {"truth": [f"t{i}" for i in range(4)], "predicted": "p0,p1,p2,p3", "labels": LABELS}
    frames = [assay.multilabel(data=frame(columns), **names) for frame in (pd.DataFrame, pl.DataFrame)]
    named = pd.DataFrame(truth, columns=LABELS), pd.DataFrame(predicted, columns=LABELS)
    frame = assay.multilabel(truth=named[0], predicted=named[1])
    pl.DataFrame(columns).write_parquet(tmp_path / "bits.parquet")
    files = [assay.multilabel(data=tmp_path / "bits.parquet", **names)]
    pl.DataFrame({"t": as_lists(truth), "p": as_lists(predicted)}).write_parquet(tmp_path / "lists.parquet")
    files.append(assay.multilabel(data=tmp_path / "lists.parquet", truth="t", predicted="p", labels=LABELS))
    pl.DataFrame({"t": text[0], "p": text[1]}).write_csv(tmp_path / "text.csv", quote_style="always")
    files.append(assay.multilabel(data=tmp_path / "text.csv", truth="t", predicted="p", separator="|", labels=LABELS))
    for other in (lists, sets, texts, in_json, frame, *frames, *files):
        assert other.counts == matrix


def test_thresholds_by_label():
    score = np.array([[0.4, 0.6], [0.2, 0.8], [0.9, 0.1]] * 4)
    truth = (score > [0.3, 0.7]).astype(int)
    for threshold in ({"a": 0.3, "b": 0.7}, ["a=0.3", "b=0.7"]):
        a = assay.multilabel(truth=truth, score=score, labels=["a", "b"], threshold=threshold)
        assert a["exact_match_ratio"].value == 1


def test_the_interval_of_a_mean_over_rows_is_the_t_interval_on_the_logit_scale():
    truth, predicted = make_sets(400)
    estimate = assay.multilabel(truth=truth, predicted=predicted)["hamming_loss"]
    losses = (truth != predicted).mean(axis=1)
    mean, error = losses.mean(), losses.std(ddof=1) / np.sqrt(400)
    reach = 1.96593 * error / (mean * (1 - mean))
    low, high = (1 / (1 + np.exp(-(np.log(mean / (1 - mean)) + side * reach))) for side in (-1, 1))
    assert (estimate.low, estimate.high) == pytest.approx((low, high), rel=1e-5)


def test_the_linearised_interval_of_macro_f1_agrees_with_the_jackknife_of_rows():
    truth, predicted = make_sets(300)
    rows = assay.multilabel(truth=truth, predicted=predicted)["f1_macro"]
    units = assay.multilabel(truth=truth, predicted=predicted, unit=list(range(300)))["f1_macro"]
    assert rows.value == units.value
    assert (rows.low, rows.high) == pytest.approx((units.low, units.high), abs=2e-3)
    assert "jackknife of 300 units" in units.interval.method


def test_rows_that_are_repeated_within_units_widen_intervals():
    truth, predicted = make_sets(100)
    thrice = np.repeat(truth, 3, axis=0), np.repeat(predicted, 3, axis=0)
    unit = np.repeat(np.arange(100), 3)
    alone = assay.multilabel(truth=thrice[0], predicted=thrice[1])
    together = assay.multilabel(truth=thrice[0], predicted=thrice[1], unit=unit)
    for name in ("hamming_loss", "exact_match_ratio", "jaccard_samples", "f1_micro", "f1_macro"):
        ratio = (together[name].high - together[name].low) / (alone[name].high - alone[name].low)
        assert ratio == pytest.approx(np.sqrt(3), rel=0.1), name
    label = together.by_class[0]["recall"]
    assert label.high - label.low > alone.by_class[0]["recall"].high - alone.by_class[0]["recall"].low
    assert together.by_unit["0"]["hamming_loss"] == pytest.approx((truth[0] != predicted[0]).mean())


def test_more_labels_than_are_crossed_lose_only_intervals_over_labels():
    rng = np.random.default_rng(3)
    sets = [{int(label) for label in rng.choice(600, 3)} for _ in range(2000)]
    called = [{*list(own)[:2], int(rng.integers(600))} for own in sets]
    a = assay.multilabel(truth=sets, predicted=called, labels=list(range(600)))
    assert a.counts.cross is None
    assert a["f1_micro"].low is not None
    assert "more than 500 labels" in a["f1_weighted"].no_interval
    wide = count_sets(tuple(range(100)), *make_sets(500, labels=100))
    assert np.array_equal(np.diagonal(wide.cross), wide.counts.ravel())


def test_the_record_loads_verifies_and_round_trips(tmp_path):
    truth, predicted = make_sets()
    score = np.round(np.random.default_rng(1).random((120, 4)), 2)
    era = ["old", None, "new"] * 40
    a = assay.multilabel(
        truth=truth, predicted=predicted, score=score, labels=LABELS, group={"era": era}, basis="few labels"
    )
    again = assay.load(a.save(tmp_path / "a.json"))
    assert again.record["task"] == "multilabel"
    assert again.counts == a.counts == LabelSets.from_json(json.loads(json.dumps(a.counts.to_json())))
    assert set(again.by_group["era"]) == {"old", "new", "(missing)"}
    verification = verify(again.record)
    assert verification.holds, verification.mismatches
    assert again.record["plan"]["options"]["basis"] == "few labels"
    sections = list(TASK.blocks(again.record))
    assert [part.id for part in sections] == ["label-sets", "label-errors"]
    assert len(json.dumps(again.record["figures"])) < 30_000


def test_fairness_speaks_of_label_sets_too():
    truth, predicted = make_sets(400)
    a = assay.multilabel(truth=truth, predicted=predicted, group={"g": ["x", "y"] * 200})
    fairness = Fairness(a.by_group, a.grouped.factors, measures=TASK.headline)
    gap = fairness["g"]["gap(f1_macro)"]
    assert gap.low <= gap.value <= gap.high
    assert [d.name for d in fairness.listed] == [f"gap({name})" for name in TASK.headline]


def test_small_cells_are_not_shared():
    truth, predicted = make_sets(40)
    tally = count_sets(LABELS, truth, predicted)
    assert TASK.small_cells(tally, 1) == []
    assert TASK.small_cells(tally, 10)
    with pytest.raises(assay.AssayError, match="fewer than 10 rows"):
        TASK.shareable(tally, 10)


def test_every_measure_is_declared_with_the_place_in_the_specification():
    specs = {spec for measure in LabelTable.MEASURES for spec in measure.spec}
    assert {f"M-ML-{i:02}" for i in range(1, 10)} | {"M-DIS-04"} <= specs


@pytest.mark.parametrize(
    ("whole", "part"), [("auroc_macro", "auroc"), ("average_precision_macro", "average_precision")]
)
def test_the_interval_of_a_mean_of_areas_is_that_of_labels_that_vary_together(whole, part):
    truth, predicted = make_sets(labels=1)
    score = np.random.default_rng(3).normal(size=truth.shape) + 1.5 * truth
    same = assay.multilabel(
        np.repeat(truth, 3, axis=1), np.repeat(predicted, 3, axis=1), score=np.repeat(score, 3, axis=1)
    )
    alone = next(iter(same.by_class.values()))[part]
    assert (same[whole].low, same[whole].high) == pytest.approx((alone.low, alone.high))
    assert same[whole].low < same[whole].value < same[whole].high
    assert same["auroc_micro"].interval is None
