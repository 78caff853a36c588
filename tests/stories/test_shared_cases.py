# SPDX-License-Identifier: Apache-2.0
"""Shared hostile cases by id that need more than one call: comparisons, groups, intervals, plans, files, reports."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import struct

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import assay
import assay.report
from assay.assess.plan.checked_plan import load_plan
from assay.core.text import chance_shown
from assay.tally.base import digest

NAN = float("nan")


def refused(call, code=None):
    """An error of ours, with something to do about it."""
    with pytest.raises(assay.AssayError) as error:
        call()
    assert code is None or error.value.code == code, error.value
    assert error.value.fix
    return str(error.value)


@pytest.mark.parametrize(
    ("kind", "truth", "predicted", "mae", "mse"),
    [
        ("A19", np.array([10, 20, 30], np.uint8), np.array([20, 10, 35], np.uint8), 25 / 3, 75.0),
        ("A20", np.zeros(3, np.int8), np.array([12, 13, 14], np.int8), 13.0, 509 / 3),
        ("A20", np.zeros(3, np.int16), np.full(3, 300, np.int16), 300.0, 90_000.0),
    ],
)
def test_a19_a20_small_integers_are_widened_before_any_arithmetic(kind, truth, predicted, mae, mse):
    a = assay.regression(truth=truth, predicted=predicted, measures=["mean_absolute_error", "mean_squared_error"])
    assert a["mean_absolute_error"].value == pytest.approx(mae, rel=1e-12), kind
    assert a["mean_squared_error"].value == pytest.approx(mse, rel=1e-12), kind


def test_a27_many_classes_are_counted_in_a_sparse_tally():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 20_000, 60_000)
    predicted = np.where(rng.random(60_000) < 0.9, truth, rng.permutation(truth))
    a = assay.assess(truth=truth, predicted=predicted, measures=["accuracy"])
    assert a["accuracy"].value == float((truth == predicted).mean())
    assert len(json.dumps(a.record["tallies"]["confusion"])) < 4_000_000, "cells that occur, not 20,000 squared"


def test_a31_a32_names_are_shown_as_text_and_cannot_add_lines(tmp_path):
    page, line = "<img src=x onerror=alert(1)>", "b\n    accuracy   0.99   9999"
    a = assay.assess(truth=[page, line] * 6, predicted=[page, line, line] * 4, positive=page)
    a.report(tmp_path / "r.html")
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<img src=x" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    a.report(tmp_path / "r.md")
    assert "\n    accuracy   0.99" not in (tmp_path / "r.md").read_text(encoding="utf-8")


def test_a35_ties_of_all_scores_are_counted_and_never_decided_by_column_order():
    scores = np.ones((12, 3)) / 3
    names = dict(zip("abc", scores.T, strict=True))
    a = assay.assess(truth=list("cccccccccabc"), score=names, scores=assay.ScoreSettings(kind="probability"))
    tied = [note for note in a.notes if "tie" in note or "several" in note]
    assert tied, "a note tells how many rows have several largest scores"
    assert "12" in " ".join(tied)


def test_a36_scores_at_the_threshold_are_positive_and_counted():
    a = assay.assess(truth=[1, 1, 0, 0], score=[0.5, 0.5, 0.5, 0.1], threshold=0.5, positive=1)
    assert (a["recall"].value, a["false_positive_rate"].value) == (1.0, 0.5)
    assert "3 rows have exactly the threshold 0.5 as score, and count as called positive" in a.notes


def test_c01_models_that_never_disagree():
    found = assay.test("mcnemar_exact", table=[[10, 0], [0, 5]])
    assert found.p == 1
    assert assay.compare(truth=[1, 0] * 8, predicted={"A": [1, 0] * 8, "B": [1, 0] * 8}, positive=1)["mcnemar"].p == 1


def test_c04_c05_differences_that_are_zero_or_missing():
    assert assay.test("wilcoxon", values={"A": [1.0] * 10, "B": [1.0] * 10}).p == 1
    for name in ("wilcoxon", "paired_t"):
        given = {"A": [1.0, 2.0, 3.0, NAN, 5.0], "B": [1.0] * 5}
        refused(lambda name=name, given=given: assay.test(name, values=given), "value-not-finite")


def test_c07_a_drawn_p_is_never_zero_and_names_its_draws():
    found = assay.test("mean_permutation", values={"A": np.arange(60) + 1000.0, "B": np.arange(60) * 1.0}, draws=199)
    assert found.p >= 1 / 200
    assert "199" in json.dumps(found.to_json())


def test_c08_c10_identical_models_and_one_row_of_each_class():
    truth, score = [0, 1, 0, 1, 0, 1], [0.1, 0.9, 0.4, 0.35, 0.8, 0.7]
    same = assay.test("delong", truth=truth, score={"A": score, "B": score}, positive=1)
    assert (same.p, float(same.effect.value)) == (1, 0)
    few = assay.assess(truth=[0, 1], score=[0.2, 0.7], positive=1)["auroc"]
    assert few.interval is None or (few.low, few.high) != (few.value, few.value)


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson", "jeffreys"])
@pytest.mark.parametrize("hits", [0, 10])
def test_c11_intervals_at_the_ends(method, hits):
    predicted = [1] * hits + [0] * (10 - hits)
    intervals = assay.IntervalSettings(shares=method)
    recall = assay.assess(truth=[1] * 10 + [0] * 5, predicted=predicted + [0] * 5, positive=1, intervals=intervals)[
        "recall"
    ]
    assert 0 <= recall.low < recall.high <= 1
    refused(lambda: assay.IntervalSettings(shares="wald").wanted(0.95))


def test_c13_c14_draws_that_lose_a_class_are_not_dropped_and_seeds_repeat():
    truth, score = [0] * 29 + [1], [*np.linspace(0, 0.9, 29), 0.95]
    a = assay.assess(truth=truth, score=score, predicted=[0] * 29 + [1], positive=1)
    for name in ("auroc", "f1", "matthews_corrcoef"):
        found = a[name]
        assert found.interval is None or (0 <= found.high <= 1 and found.low < found.high)
    y, p = [0, 1] * 20, [0, 1, 1, 1] * 10
    texts = [assay.assess(truth=y, predicted=p, positive=1).record["estimates"] for _ in range(2)]
    assert texts[0] == texts[1]


def test_c17_f1_of_zero():
    f1 = assay.assess(truth=[1, 1, 0, 0], predicted=[0, 0, 1, 1], positive=1)["f1"]
    assert f1.value == 0
    assert f1.interval is None or f1.low < f1.high


def test_c18_a_p_below_the_smallest_double_is_not_zero():
    found = assay.test("mcnemar_plain", table=[[0, 900_000], [0, 0]])
    assert found.p == 0 or found.p > 0
    assert chance_shown(found.p) != "0"
    text = json.dumps(found.to_json())
    assert "log10" in text
    assert "< 1e-300" in found.p_shown


def test_d01_rows_without_a_group_are_a_level():
    for missing in (NAN, None):
        group = np.array(["a", "a", "b", "b", missing, missing], dtype=object)
        a = assay.assess(truth=[1, 1, 0, 0, 1, 0], predicted=[1, 0, 0, 1, 1, 1], positive=1, group={"g": group})
        assert {level: tally.rows for level, tally in a.grouped.factors["g"].items()} == {
            "a": 2,
            "b": 2,
            "(missing)": 2,
        }


def test_d02_d03_d04_groups_without_a_value_never_count_as_zero():
    a = assay.assess(
        truth=[1, 1, 0, 0, 0, 0] * 4, predicted=[1, 1, 0, 0, 0, 0] * 4, positive=1, group={"g": list("aaabbb") * 4}
    )
    gap = a.fairness["g"]["gap(recall)"]
    assert gap.value is None
    assert any(one.level == "b" for one in gap.left_out)
    none = assay.assess(truth=[1, 0] * 20, predicted=[0] * 40, positive=1, group={"g": list("aabb") * 10})
    assert none.fairness["g"]["ratio(predicted_positive_rate)"].value is None
    one = assay.assess(
        truth=[1] * 50 + [0] * 50 + [1], predicted=[1] * 45 + [0] * 56, positive=1, group={"g": ["a"] * 100 + ["b"]}
    )
    assert any(left.level == "b" for left in one.fairness["g"]["gap(recall)"].left_out)


def test_d05_a_group_with_another_index_is_not_taken_by_position():
    index = list("abcd")
    truth = pd.Series([1, 1, 0, 0], index=index)
    group = pd.Series(["M", "M", "F", "F"], index=index).iloc[::-1]
    refused(lambda: assay.assess(truth=truth, predicted=truth, positive=1, group={"sex": group}))


def test_d08_empty_combinations_are_listed():
    group = {"sex": ["M", "M", "F", "F"] * 6, "age": ["young", "young", "old", "old"] * 6}
    a = assay.assess(truth=[1, 0, 1, 0] * 6, predicted=[1, 0, 0, 0] * 6, positive=1, group=group, cross="sex:age")
    left = {one.level: one.reason for one in a.fairness["sex:age"]["gap(accuracy)"].left_out}
    assert left == {"F:young": "there are no rows", "M:old": "there are no rows"}


def test_i21_a_flipped_bit_changes_the_digest_and_a_pinned_file_is_refused(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"y": np.arange(1000) % 2, "p": np.arange(1000, dtype=np.int64) % 2}), path,
                   compression="none", use_dictionary=False)  # fmt: skip
    roles = {"data": str(path), "truth": "y", "predicted": "p", "positive": 1}
    pinned = next(iter(assay.assess(**roles).record["digests"]["files"].values()))
    content = bytearray(path.read_bytes())
    place = content.find(struct.pack("<q", 1), 9000)
    content[place] ^= 0x01
    path.write_bytes(content)
    refused(lambda: assay.assess(**roles, reading=assay.Reading(sha256=pinned)), "digest-mismatch")


def test_i24_a_file_that_expands_past_its_limit_is_refused(tmp_path):
    path = tmp_path / "rows.csv.gz"
    with gzip.open(path, "wb", 6) as file:
        file.write(b"y,p\n" + b"0,0\n" * 400_000)
    reading = assay.Reading(max_rows=10_000)
    refused(lambda: assay.assess(data=str(path), truth="y", predicted="p", positive=0, reading=reading))


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        (
            "I26",
            "plan.yaml",
            "a: &a [x,x,x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}]\n" for i in range(8)),
        ),
        ("I27", "plan.toml", "a=" + "[" * 100_000 + "]" * 100_000),
        ("I27", "plan.json", "[" * 100_000 + "]" * 100_000),
        ("I27", "plan.yaml", "[" * 100_000 + "]" * 100_000),
        ("I25", "plan.yaml", "task: {classes: [yes, no, on, NO, 012, 1e3, 12:30]}"),
        ("I28", "plan.json", '{"plan": {}, "plan": {}}'),
        ("I28", "plan.json", '{"intervals": {"level": NaN}}'),
        ("I28", "plan.json", '{"intervals": {"level": 1e400}}'),
        ("I28", "plan.json", '{"plan": {"title": "\\ud800"}}'),
    ],
)
def test_i25_to_i28_plans_are_toml_or_strict_json(tmp_path, kind, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert refused(lambda: load_plan(tmp_path / name)), kind


def test_i32_a_name_that_is_a_formula_is_no_formula_in_a_table(tmp_path):
    names = ['=HYPERLINK("http://x","y")', "+1", "-1", "@SUM(1)"]
    a = assay.assess(truth=names * 6, predicted=names * 6, measures=["recall"])
    a.report(tmp_path / "r.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "r.csv").read_text(encoding="utf-8"))))
    assert not [cell for row in rows for cell in row if cell[:1] in "=+@" and cell[:1]]


def test_i34_tallies_do_not_depend_on_the_order_of_rows(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"y": rng.integers(0, 2, 500), "s": rng.random(500), "w": rng.random(500) * 1e6})
    roles = {"truth": "y", "score": "s", "weight": "w", "positive": 1, "threshold": 0.5}
    found = []
    for place, rows in enumerate((frame, frame.sample(frac=1, random_state=2))):
        rows.to_parquet(tmp_path / f"{place}.parquet", row_group_size=97)
        found += [
            assay.assess(data=data, **roles).record["tallies"] for data in (rows, str(tmp_path / f"{place}.parquet"))
        ]
    assert len({digest(one) for one in found}) == 1


def test_i39_a_column_that_begins_with_whole_numbers_keeps_its_fractions(tmp_path):
    rows = [f"{i},{i % 2},{i % 2}" for i in range(30_000)] + [f"{30_000 + i},1,0.{i}" for i in range(1, 10)]
    (tmp_path / "rows.csv").write_text("id,y,s\n" + "\n".join(rows) + "\n", encoding="utf-8")
    a = assay.assess(data=str(tmp_path / "rows.csv"), truth="y", score="s", positive="1", threshold=0.5,
                     measures=["auroc", "recall"])  # fmt: skip
    assert a["recall"].value == pytest.approx((15_000 + 5) / 15_009)
    assert math.isfinite(a["auroc"].value)
