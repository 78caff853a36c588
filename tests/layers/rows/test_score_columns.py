# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from assay.core.errors import AssayError
from assay.rows.score_columns import demand_kind, labels_by_score, score_array, score_columns


def refused(code, call, *args, **given):
    with pytest.raises(AssayError) as caught:
        call(*args, **given)
    assert caught.value.code == code, caught.value
    assert caught.value.fix
    return caught.value


def test_a_score_is_one_column_a_mapping_names_or_a_matrix():
    assert score_columns(None) is None
    assert score_columns("s").single
    assert score_columns([0.1, 0.2]).single
    assert score_columns(np.array([0.1, 0.2])).single
    assert score_columns(["p"]).single
    assert score_columns({"a": "x", "b": "y"}).labels == ("a", "b")
    assert score_columns(["x", "y"]).columns == ("x", "y")
    matrix = score_columns(np.eye(3))
    assert len(matrix.columns) == 3
    assert matrix.labels is None
    assert len(score_columns([[0.1, 0.9], [0.4, 0.6]]).columns) == 2


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_the_columns_of_a_frame_are_named_after_the_classes(make):
    found = score_columns(make({"a": [0.1], "b": [0.9]}))
    assert found.labels == ("a", "b")
    assert [float(np.asarray(column)[0]) for column in found.columns] == [0.1, 0.9]


def test_a_pandas_frame_may_have_whole_numbers_as_column_names():
    labels = score_columns(pd.DataFrame(np.eye(2))).labels
    assert labels == (0, 1)
    assert all(type(x) is int for x in labels)


def test_a_matrix_with_one_column_or_rows_of_different_length_is_refused():
    refused("score-columns", score_columns, np.zeros((3, 1)))
    error = refused("score-columns", score_columns, [[0.1, 0.9], [1.0]])
    assert error.found == "first at index 1"


def test_columns_are_matched_to_classes_by_name_or_by_a_common_prefix():
    seen = {"cat", "dog"}
    assert labels_by_score(score_columns(["dog", "cat"]), seen, None) == ("dog", "cat")
    assert labels_by_score(score_columns(["p_dog", "p_cat"]), seen, None) == ("dog", "cat")
    assert labels_by_score(score_columns(["p_dog", "p_cat", "p_eel"]), seen, None) == ("dog", "cat", "eel")
    assert labels_by_score(score_columns(["s_0", "s_1", "s_2"]), {0, 2}, None) == (0, 1, 2)


def test_a_matrix_fits_declared_labels_or_whole_numbers_from_zero():
    matrix = score_columns(np.eye(3))
    assert labels_by_score(matrix, {0, 1}, None) == (0, 1, 2)
    assert labels_by_score(matrix, {"a", "b"}, ["b", "a", "c"]) == ("b", "a", "c")
    refused("score-columns", labels_by_score, matrix, {"a", "b", "c"}, None)
    refused("score-columns", labels_by_score, matrix, {1, 3}, None)
    refused("score-columns", labels_by_score, matrix, {"a"}, ["a", "b"])


def test_names_that_contradict_the_declared_order_are_refused():
    error = refused("score-columns", labels_by_score, score_columns(["p_b", "p_a"]), {"a", "b"}, ["a", "b"])
    assert "another order" in error.what


def test_a_class_without_a_column_is_named_with_the_nearest_one():
    error = refused("score-columns", labels_by_score, score_columns({"cat": "x", "dgo": "y"}), {"cat", "dog"}, None)
    assert '"dgo" is given: did you mean "dog"?' in error.fix
    error = refused("score-columns", labels_by_score, score_columns({"cat": "x", "dgo": "y"}), {"cat"}, ["cat", "dog"])
    assert "which is not a class" in error.what


def test_scores_become_float64_without_change():
    for kind in (np.float16, np.float32, np.float64, np.int8, np.uint64):
        array = score_array(np.array([0, 1], dtype=kind), "score")
        assert array.dtype == np.float64
        assert array.tolist() == [0.0, 1.0]
    assert np.isnan(score_array([0.5, None], "score")[1])
    assert score_array(np.array([np.float32(0.1)]), "score")[0] == float(np.float32(0.1))


def test_what_is_no_number_is_no_score():
    refused("column-not-numeric", score_array, ["a", "b"], "score")
    refused("column-not-numeric", score_array, [True, False], "score")
    error = refused("column-not-numeric", score_array, [0.5, "x"], "score")
    assert "at index 1" in error.found
    refused("score-not-finite", score_array, np.array([2**60]), "score")


def test_a_kind_of_score_is_one_of_three():
    assert demand_kind("logit") == "logit"
    assert '"probability"' in refused("option-unknown", demand_kind, "probabilities").fix
