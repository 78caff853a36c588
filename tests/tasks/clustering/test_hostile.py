# SPDX-License-Identifier: Apache-2.0
"""Bad input of clustering is refused with its place and a fix."""

from __future__ import annotations

import numpy as np
import pytest

import assay


@pytest.mark.parametrize("name", ["nmi", "NMI", "ami", "adjusted mutual information"])
def test_a_normaliser_must_be_named(name):
    a = assay.clustering([0, 0, 1], [0, 1, 1])
    with pytest.raises(assay.PlanError) as error:
        a[name]
    assert error.value.code == "measure-ambiguous"
    assert "_arithmetic" in error.value.known


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"truth": [0, 1]},
        {"predicted": [0, 1]},
        {"truth": [0, 1], "predicted": [0, 1], "unit": ["a", "b"]},
    ],
)
def test_roles_that_are_missing_or_make_no_sense_are_refused(given):
    with pytest.raises(assay.PlanError):
        assay.clustering(**given)


def test_no_rows_are_refused():
    with pytest.raises(assay.AssayError) as error:
        assay.clustering([], [])
    assert error.value.code == "no-rows"


def test_columns_of_other_lengths_are_refused():
    with pytest.raises(assay.AssayError):
        assay.clustering([0, 1, 1], [0, 1])
    with pytest.raises(assay.AssayError):
        assay.clustering(predicted=[0, 1, 1], features=np.zeros((2, 2)))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_features_that_are_not_finite_are_refused(value):
    features = np.ones((4, 2))
    features[2, 1] = value
    with pytest.raises(assay.RowsError) as error:
        assay.clustering(predicted=[0, 0, 1, 1], features=features)
    assert error.value.code == "value-not-finite"


def test_rows_without_a_label_are_refused_or_left_out():
    with pytest.raises(assay.RowsError):
        assay.clustering(["a", None, "b"], [0, 0, 1])
    a = assay.clustering(["a", None, "b"], [0, 0, 1], missing="drop")
    assert a.census.excluded == {"truth is missing": 1}


def test_one_cluster_has_no_shape_and_equal_centres_no_distance():
    features = np.random.default_rng(1).normal(size=(20, 2))
    one = assay.clustering(predicted=[0] * 20, features=features)
    for name in ("calinski_harabasz", "davies_bouldin", "davies_bouldin_rms", "silhouette"):
        assert one[name].value is None
    twins = assay.clustering(predicted=[0, 1] * 2, features=[[1.0], [1.0], [2.0], [2.0]])
    assert "same centre" in twins["davies_bouldin"].reason


def test_few_rows_have_no_interval_and_noise_is_noted():
    a = assay.clustering([0, 0, 1, 1], [0, -1, 1, 1])
    assert "needs 10 or more" in a["rand_index"].no_interval
    assert any("called -1" in note for note in a.notes)


def test_small_cells_stay_at_their_site():
    a = assay.clustering([0] * 30 + [1] * 30, [0] * 29 + [1] * 31)
    with pytest.raises(assay.PlanError) as error:
        a.tally(smallest_cell=5)
    assert error.value.code == "cell-too-small"
    assert a.tally(smallest_cell=1)
