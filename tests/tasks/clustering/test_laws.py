# SPDX-License-Identifier: Apache-2.0
"""Laws of clustering: formulas, undefined values, names of clusters, merging, intervals."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

import assay
from assay.assess.record.verification import verify
from assay.tasks.clustering import TASK
from assay.tasks.clustering import geometry as geometry_module
from assay.tasks.clustering.agreement_sums import Agreement, expected_information
from assay.tasks.clustering.compare import ClusteredModels
from assay.tasks.clustering.intervals import jackknife_spread, values_without
from assay.tasks.clustering.tally import Contingency, count_pairs
from assay.tasks.task_settings import TaskSettings

AGREEMENT = [measure for measure in TASK.measures if measure.family != "shape"]


def sample(seed, rows=80):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, rows)
    return truth, np.where(rng.random(rows) < 0.7, truth, rng.integers(0, 5, rows))


@pytest.mark.parametrize("name", ["rand_index", "adjusted_rand_index", "pair_precision", "pair_recall", "pair_f1",
                                  "fowlkes_mallows", "purity", "mutual_information"])  # fmt: skip
def test_the_formula_is_the_function(name):
    a = assay.clustering(*sample(1))
    sums = a.counts.agreement
    names = {part: getattr(sums, part) for part in ("n", "together", "by_class", "by_cluster", "joint_log", "class_log",
                                                    "cluster_log", "matched")}  # fmt: skip
    value = eval(a.measures.find(name).formula, {"sqrt": math.sqrt, "log": math.log}, names)  # noqa: S307
    assert a[name].value == pytest.approx(value, abs=1e-13)


def test_pairs_counted_one_by_one():
    truth, cluster = sample(2, rows=30)
    pairs = [(truth[i] == truth[j], cluster[i] == cluster[j]) for i in range(30) for j in range(i)]
    a = assay.clustering(truth, cluster)
    assert a["rand_index"].value == pytest.approx(np.mean([x == y for x, y in pairs]))
    assert a["pair_precision"].value == pytest.approx(np.mean([x for x, y in pairs if y]))
    assert a["pair_recall"].value == pytest.approx(np.mean([y for x, y in pairs if x]))


def test_expected_information_is_the_mean_over_all_orders():
    from itertools import permutations

    truth, cluster = [0, 0, 1, 1, 2], [0, 1, 1, 1, 0]
    values = [assay.clustering(truth, list(order))["mutual_information"].value for order in set(permutations(cluster))]
    assert expected_information(np.array([2, 2, 1]), np.array([2, 3])) == pytest.approx(np.mean(values), abs=1e-12)


def test_names_of_clusters_mean_nothing_and_two_roles_can_be_swapped():
    truth, cluster = sample(3)
    a = assay.clustering(truth, cluster)
    renamed = assay.clustering(truth, [f"group {(label * 3 + 1) % 7}" for label in cluster])
    swapped = assay.clustering(cluster, truth)
    for measure in AGREEMENT:
        assert renamed[measure.name].value == pytest.approx(a[measure.name].value, abs=1e-13), measure.name
    for name in ("rand_index", "adjusted_rand_index", "nmi_max", "ami_min", "v_measure", "fowlkes_mallows"):
        assert swapped[name].value == pytest.approx(a[name].value, abs=1e-13)
    assert swapped["homogeneity"].value == pytest.approx(a["completeness"].value, abs=1e-13)
    assert swapped["pair_precision"].value == pytest.approx(a["pair_recall"].value, abs=1e-13)


def test_merging_and_the_order_of_rows():
    truth, cluster = sample(4)
    rng = np.random.default_rng(4)
    features, order = rng.normal(size=(80, 2)), rng.permutation(80)
    whole = assay.clustering(truth, cluster, features=features)
    mixed = assay.clustering(truth[order], cluster[order], features=features[order])
    assert mixed.counts == whole.counts
    parts = [assay.clustering(truth[p], cluster[p], features=features[p]) for p in (slice(0, 30), slice(30, 80))]
    merged = assay.merge(*parts)
    for measure in AGREEMENT:
        assert merged[measure.name].value == whole[measure.name].value
    for name in ("calinski_harabasz", "davies_bouldin_rms"):
        assert merged[name].value == pytest.approx(whole[name].value, rel=1e-12)
    assert merged["silhouette"].value is None
    assert "pairs of rows" in merged["davies_bouldin"].reason


@pytest.mark.parametrize(
    ("truth", "cluster", "undefined"),
    [
        ([0] * 12, [0] * 12, {"adjusted_rand_index", "homogeneity", "completeness", "v_measure", "nmi_min", "ami_max"}),
        (range(12), range(12), {"adjusted_rand_index", "fowlkes_mallows", "pair_precision", "pair_recall", "pair_f1"}),
        ([0] * 12, range(12), {"homogeneity", "nmi_geometric", "nmi_min", "pair_precision", "fowlkes_mallows"}),
        (range(12), [0] * 12, {"completeness", "nmi_min", "pair_recall"}),
    ],
)
def test_degenerate_clusterings_are_undefined_with_a_reason(truth, cluster, undefined):
    a = assay.clustering(list(truth), list(cluster))
    for name in undefined:
        assert a[name].value is None, name
        assert a[name].reason
    assert a["rand_index"].value is not None


def test_perfect_agreement_is_1_without_an_interval():
    a = assay.clustering(["x", "x", "y", "y"] * 5, [1, 1, 2, 2] * 5)
    for name in ("adjusted_rand_index", "nmi_arithmetic", "ami_arithmetic", "purity", "fowlkes_mallows"):
        assert a[name].value == pytest.approx(1, abs=1e-12)
        assert a[name].low is None


def test_the_jackknife_leaves_out_every_row_in_turn():
    truth, cluster = (column.tolist() for column in sample(5, rows=25))
    tally = Contingency.build(count_pairs(truth, cluster))
    alone = [
        Contingency.build(count_pairs(truth[:row] + truth[row + 1 :], cluster[:row] + cluster[row + 1 :])).agreement
        for row in range(25)
    ]
    for measure in AGREEMENT:
        by_cell = dict(zip(tally.counts, values_without(measure, tally), strict=True))
        for row, sums in enumerate(alone):
            assert by_cell[truth[row], cluster[row]] == pytest.approx(measure(sums).value, abs=1e-9), measure.name


def test_intervals_hold_the_agreement_of_the_population():
    rng, hits = np.random.default_rng(6), {"adjusted_rand_index": 0, "nmi_arithmetic": 0, "purity": 0}
    shares = np.array([[0.25, 0.05, 0.02], [0.03, 0.3, 0.02], [0.05, 0.08, 0.2]])
    huge = Contingency.build({(i, j): round(shares[i, j] * 10**8) for i in range(3) for j in range(3)})
    true = {name: TASK.registry.find(name)(huge.agreement).value for name in hits}
    for _ in range(200):
        drawn = rng.multinomial(150, shares.ravel()).reshape(3, 3)
        tally = Contingency.build({(i, j): int(drawn[i, j]) for i in range(3) for j in range(3)})
        estimates = TASK.estimates(tally, TaskSettings())
        for name in hits:
            hits[name] += estimates[name].low <= true[name] <= estimates[name].high
    for name, count in hits.items():
        assert 0.9 <= count / 200 <= 0.995, name


def test_what_an_interval_answers_is_said():
    a = assay.clustering(*sample(7))
    assert "with the clusters held fixed" in a["adjusted_rand_index"].interval.method
    assert any("how sure the agreement of these assignments is" in note for note in a.notes)
    assert (
        "made from these very rows"
        in assay.clustering(predicted=[0, 0, 1, 1] * 5, features=np.random.default_rng(1).normal(size=(20, 2)))[
            "silhouette"
        ].no_interval
    )


def test_a_large_silhouette_is_taken_on_a_stated_sample(monkeypatch):
    monkeypatch.setattr(geometry_module, "EXACT", 100)
    monkeypatch.setattr(geometry_module, "SAMPLE", 80)
    rng = np.random.default_rng(8)
    features, cluster = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    features += cluster[:, None] * 4
    a = assay.clustering(predicted=cluster, features=features)
    assert a["silhouette"].notes == ("on 80 rows of 300, chosen by a hash of their values",)
    order = rng.permutation(300)
    again = assay.clustering(predicted=cluster[order], features=features[order])
    assert again["silhouette"].value == a["silhouette"].value
    monkeypatch.setattr(geometry_module, "EXACT", 1000)
    exact = assay.clustering(predicted=cluster, features=features)
    assert a["silhouette"].value == pytest.approx(exact["silhouette"].value, abs=0.1)


def test_two_clusterings_of_the_same_rows():
    truth, good = sample(9, rows=200)
    poor = np.random.default_rng(99).integers(0, 3, 200)
    c = assay.compare(task="clustering", truth=truth, predicted={"good": good, "poor": poor})
    finding = c["adjusted_rand_index"]
    values = [assay.clustering(truth, one)["adjusted_rand_index"].value for one in (good, poor)]
    assert finding.effect.value == pytest.approx(values[0] - values[1], abs=1e-12)
    assert finding.effect.interval.low > 0
    assert finding.p < 0.01
    assert c.ranking[0].model == "good"
    assert verify(c.record).holds
    whole = ClusteredModels.from_json(json.loads(json.dumps(c.counts.to_json())))
    assert whole.digest() == c.counts.digest()
    same = assay.compare(task="clustering", truth=truth, predicted={"a": good, "b": good})
    assert same["adjusted_rand_index"].p is None


def test_the_spread_of_a_difference_is_that_of_leaving_out_rows():
    truth, first = sample(12, rows=30)
    second = np.random.default_rng(12).permutation(first)
    c = assay.compare(task="clustering", truth=truth, predicted={"a": first, "b": second}, measures=["rand_index"])
    finding = c["rand_index"]
    gaps = []
    for row in range(30):
        kept = np.arange(30) != row
        values = [assay.clustering(truth[kept], one[kept])["rand_index"].value for one in (first, second)]
        gaps.append(values[0] - values[1])
    error = math.sqrt(29 / 30 * sum((gap - finding.effect.value) ** 2 for gap in gaps))
    assert finding.effect.value / finding.statistic == pytest.approx(error, rel=1e-9)


def test_every_kind_of_table_gives_the_same_counts(tmp_path):
    truth, cluster = sample(10)
    frame = pd.DataFrame({"kind": truth, "group": cluster, "site": np.arange(80) % 2})
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    expected = assay.clustering(truth, cluster).counts
    for data in (frame, str(tmp_path / "rows.parquet")):
        a = assay.clustering(data=data, truth="kind", predicted="group", group="site")
        assert a.counts == expected
        odd = frame[frame["site"] == 1]
        alone = assay.clustering(odd["kind"], odd["group"])
        assert a.by_group["site"][1]["purity"].value == alone["purity"].value
    text = assay.clustering(data=str(tmp_path / "rows.csv"), truth="kind", predicted="group")
    assert text["adjusted_rand_index"].value == assay.clustering(truth, cluster)["adjusted_rand_index"].value


def test_the_record_loads_and_verifies(tmp_path):
    truth, cluster = sample(11)
    a = assay.clustering(truth, cluster, features=np.random.default_rng(1).normal(size=(80, 2)))
    again = assay.load(a.save(tmp_path / "record.json"))
    assert again.counts == a.counts
    assert verify(again.record).holds
    assert "Clusters by class" in a.report(tmp_path / "report.md").read_text()


def test_sums_of_one_table_are_exact():
    count = np.array([[0, 0, 3_000_000_000], [1, 1, 4_000_000_000]])
    sums = Agreement.of_cells(count, count[:, 2], count[:, 2])
    assert sums.together == 25 * 10**18
    assert jackknife_spread(0.0, np.array([1.0, 1.0]), np.array([1, 1])) == pytest.approx(1.0)
    assert count_pairs([1], ["a"]) == {(1, "a"): 1}
