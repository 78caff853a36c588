# SPDX-License-Identifier: Apache-2.0
"""Values of scikit-learn on twelve rows, and on random clusterings."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

import assay

TRUTH = [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2]
CLUSTER = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2]
EXPECTED = {  # scikit-learn 1.9.1
    "rand_index": 0.696969696969697,
    "adjusted_rand_index": 0.34328358208955223,
    "mutual_information": 0.5200647239178225,
    "fowlkes_mallows": 0.5739640213948524,
    "homogeneity": 0.4826334464885771,
    "completeness": 0.5858601751708484,
    "v_measure": 0.5292604649599573,
    "nmi_min": 0.5858601751708484,
    "ami_min": 0.4571562677595632,
    "nmi_geometric": 0.5317477931342152,
    "ami_geometric": 0.40335349994988023,
    "nmi_arithmetic": 0.5292604649599573,
    "ami_arithmetic": 0.40095249079798706,
    "nmi_max": 0.4826334464885771,
    "ami_max": 0.35705533791917327,
    "purity": 0.75,
}


@pytest.mark.parametrize("name", EXPECTED)
def test_every_value_of_the_twelve_rows(name):
    a = assay.clustering(TRUTH, CLUSTER)
    assert a[name].value == pytest.approx(EXPECTED[name], abs=1e-14)


def test_the_table_is_rectangular():
    a = assay.clustering(TRUTH, CLUSTER)
    assert a.counts.counts == {(0, 0): 4, (0, 1): 1, (1, 1): 4, (2, 1): 2, (2, 2): 1}
    wide = assay.clustering(["a", "a", "b"], [1, 2, 3])
    assert (wide.record["classes"], wide.record["clusters"]) == (2, 3)


@pytest.mark.parametrize("seed", range(5))
def test_random_clusterings_equal_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 150)
    cluster = np.where(rng.random(150) < 0.6, truth, rng.integers(0, 6, 150))
    a = assay.clustering(truth, cluster)
    contingency = metrics.cluster.pair_confusion_matrix(truth, cluster)
    (_, fp), (fn, tp) = contingency
    expected = {
        "rand_index": metrics.rand_score(truth, cluster),
        "adjusted_rand_index": metrics.adjusted_rand_score(truth, cluster),
        "fowlkes_mallows": metrics.fowlkes_mallows_score(truth, cluster),
        "homogeneity": metrics.homogeneity_score(truth, cluster),
        "completeness": metrics.completeness_score(truth, cluster),
        "v_measure": metrics.v_measure_score(truth, cluster),
        "pair_precision": tp / (tp + fp),
        "pair_recall": tp / (tp + fn),
        "pair_f1": 2 * tp / (2 * tp + fp + fn),
    }
    for average in ("arithmetic", "geometric", "max", "min"):
        expected |= {
            f"nmi_{average}": metrics.normalized_mutual_info_score(truth, cluster, average_method=average),
            f"ami_{average}": metrics.adjusted_mutual_info_score(truth, cluster, average_method=average),
        }
    for name, value in expected.items():
        assert a[name].value == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize("seed", range(3))
def test_shapes_equal_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(120, 3)) + rng.integers(0, 3, (120, 1)) * 2
    cluster = rng.integers(0, 4, 120)
    cluster[0] = 9  # a cluster of one row
    far = 2.0**20 * (seed == 2)  # scikit-learn's distances lose digits far from 0: 29.07 for 29.45
    a = assay.clustering(predicted=cluster, features=np.round(features, 3) + far)
    features, tolerance = np.round(features, 3), 1e-6 if far else 1e-11
    assert a["calinski_harabasz"].value == pytest.approx(
        metrics.calinski_harabasz_score(features, cluster), rel=tolerance
    )
    assert a["davies_bouldin"].value == pytest.approx(metrics.davies_bouldin_score(features, cluster), rel=1e-6)
    assert a["silhouette"].value == pytest.approx(metrics.silhouette_score(features, cluster), abs=tolerance)
    assert "rand_index" not in list(a)
