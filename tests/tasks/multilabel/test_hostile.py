# SPDX-License-Identifier: Apache-2.0
"""Bad label sets are refused with place and fix; nothing is guessed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import assay
from assay.core.errors import PlanError, RowsError

BITS = np.array([[1, 0], [0, 1], [1, 1]])


def refused(code, **given):
    with pytest.raises(assay.AssayError) as caught:
        assay.multilabel(**given)
    assert caught.value.code == code
    assert caught.value.fix
    return caught.value


def test_lists_of_zeros_and_ones_are_ambiguous():
    error = refused("role-clash", truth=BITS.tolist(), predicted=BITS.tolist())
    assert "form=" in error.fix
    assert assay.multilabel(truth=BITS.tolist(), predicted=BITS.tolist(), form="matrix")["exact_match_ratio"].value == 1
    sets = assay.multilabel(truth=BITS.tolist(), predicted=BITS.tolist(), form="sets")
    assert sets.counts.sizes.tolist() == [[1, 1, 1, 1], [2, 2, 2, 2]]


def test_indicators_other_than_zero_and_one_are_all_named():
    wrong = np.array([[1, 2], [0, 1], [np.nan, 1]])
    error = refused("value-out-of-domain", truth=wrong, predicted=BITS, labels=["a", "b"])
    assert 'truth of "b" is 2' in error.found
    assert 'truth of "a" is nan' in error.found


def test_labels_that_are_not_declared_are_all_named():
    error = refused("label-not-declared", truth=[["a"], ["x"]], predicted=[["y", "a"], ["x"]], labels=["a", "b"])
    assert '"x" in truth (1 row)' in error.found
    assert '"y" in predicted (1 row)' in error.found


def test_missing_sets_are_not_empty_sets():
    refused("missing-label", truth=[["a"], None], predicted=[["a"], []])
    a = assay.multilabel(truth=[["a"], None], predicted=[["a"], []], empty_is_set=True)
    assert a.rows_empty["both"] == 1


def test_an_empty_field_of_a_file_is_missing_unless_stated(tmp_path):
    path = tmp_path / "sets.csv"
    path.write_text("t,p\na|b,a\n,b\n")
    with pytest.raises(RowsError):
        assay.multilabel(data=path, truth="t", predicted="p", separator="|")
    a = assay.multilabel(data=path, truth="t", predicted="p", separator="|", empty_is_set=True)
    assert a.rows_empty["truth"] == 1


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("role-missing", {"truth": ["a|b"], "predicted": ["a"]}),
        ("role-missing", {"truth": BITS}),
        ("role-missing", {"predicted": BITS}),
        ("role-missing", {"truth": BITS, "score": BITS / 2}),
        ("matrix-shape", {"truth": BITS, "predicted": np.ones((3, 3), dtype=int)}),
        ("matrix-shape", {"truth": BITS, "predicted": BITS, "labels": ["a"]}),
        ("rows-unmatched", {"truth": BITS, "predicted": BITS[:2]}),
        ("no-rows", {"truth": BITS[:0], "predicted": BITS[:0]}),
        ("option-unknown", {"truth": BITS, "predicted": BITS, "labels": ["a", "a"]}),
        ("option-unknown", {"truth": BITS, "score": BITS / 2, "labels": ["a", "b"], "threshold": {"z": 0.5}}),
        ("option-unknown", {"truth": BITS, "score": BITS / 2, "labels": ["a", "b"], "threshold": {"a": 0.5}}),
        ("option-unknown", {"truth": BITS, "score": BITS / 2, "threshold": "half"}),
        ("score-not-finite", {"truth": BITS, "score": np.array([[0.1, np.nan]] * 3), "threshold": 0.5}),
        ("mixed-types-in-column", {"truth": [["a", 1], [1]], "predicted": [["a"], [1]]}),
        ("column-type", {"truth": [[1.5], [2]], "predicted": [[1], [2]]}),
    ],
)
def test_what_cannot_be_counted_is_refused(code, given):
    refused(code, **given)


def test_frames_whose_rows_are_in_another_order_are_not_paired_by_position():
    truth = pd.DataFrame(BITS, columns=["a", "b"])
    refused("rows-unmatched", truth=truth, predicted=truth.iloc[::-1])
    assert assay.multilabel(truth=truth, predicted=truth)["exact_match_ratio"].value == 1


def test_groups_of_numbers_and_text_are_refused():
    refused("mixed-types-in-column", truth=BITS, predicted=BITS, group={"g": [1, "1", 1]})


def test_rows_without_a_group_are_shown():
    a = assay.multilabel(truth=BITS, predicted=BITS, group={"g": ["x", None, float("nan")]})
    assert {level: tally.rows for level, tally in a.grouped.factors["g"].items()} == {"x": 1, "(missing)": 2}


def test_few_rows_have_values_and_no_intervals():
    a = assay.multilabel(truth=BITS, predicted=BITS[::-1])
    assert a["hamming_loss"].value == pytest.approx(2 / 6)
    assert "only 3 rows" in a["hamming_loss"].no_interval


def test_an_unknown_label_is_asked_for_with_the_nearest():
    a = assay.multilabel(truth=[["cat"], ["dog"]], predicted=[["cat"], ["cat"]])
    with pytest.raises(PlanError, match="cat"):
        a.by_class["cot"]["recall"]
    with pytest.raises(PlanError):
        a.by_class["cat"]["auroc"]
    with pytest.raises(PlanError):
        a["f1_macro(undefined='guess')"]
