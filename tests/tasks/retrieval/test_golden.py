# SPDX-License-Identifier: Apache-2.0
"""Values of trec_eval, of other tools and of the sources, to the last digits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import assay
from assay.tasks.retrieval import TASK
from assay.tasks.retrieval.tally import Rankings
from assay.tasks.task_settings import TaskSettings

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text())
OURS = {
    "map": "map",
    "Rprec": "r_precision",
    "bpref": "bpref",
    "recip_rank": "mrr",
    "ndcg": "ndcg",
    "set_P": "retrieval_precision",
    "set_recall": "retrieval_recall",
    **{f"P_{k}": f"precision@{k}" for k in (3, 5, 10, 15, 20, 30, 100, 200, 500, 1000)},
    **{f"recall_{k}": f"recall@{k}" for k in (3, 5, 10, 100)},
    **{f"ndcg_cut_{k}": f"ndcg@{k}" for k in (3, 5, 10, 100)},
    **{f"success_{k}": f"hit_rate@{k}" for k in (1, 3, 5, 10)},
}


@pytest.mark.parametrize("case", ["small", "random_ties"])
def test_every_value_of_trec_eval_by_query(case):
    content = GOLDEN["cases"][case]
    a = assay.retrieval(content["qrels"], content["run"], k=[1, 3, 5, 10], negative="unjudged")
    compared = 0
    for query, expected in content["expected"].items():
        for theirs, ours in OURS.items():
            value = a.by_unit[query].get(ours)
            if theirs in expected and value is not None:
                assert value == pytest.approx(expected[theirs], abs=1e-12), (query, ours)
                compared += 1
            elif theirs in expected:
                assert not expected["num_rel"], "only a query without relevant documents has no value"
    assert compared > 50


def test_a_query_without_a_result_counts_0_and_one_without_relevant_documents_is_left_out():
    content = GOLDEN["cases"]["small"]
    a = assay.retrieval(content["qrels"], content["run"], negative="unjudged")
    mean_over_five = content["mean_over_5_judged_queries"]["map"]
    assert a["map"].value == pytest.approx(mean_over_five * 5 / 4, abs=1e-12)  # q2 is left out, q3 counts 0
    assert a["map"].n == 4
    assert a.by_unit["q3"]["map"] == 0
    assert a.by_unit["q2"]["map"] is None


def test_the_official_test_of_trec_eval():
    tally = Rankings.from_json(GOLDEN["official_tally"])
    estimates = TASK.estimates(tally, TaskSettings())
    for theirs, expected in GOLDEN["official"]["expected_all"].items():
        if theirs in OURS:
            assert f"{estimates[OURS[theirs]].value:.4f}" == expected, theirs
    by_query = TASK.unit_values(tally)
    for query, values in GOLDEN["official_by_query"].items():
        for theirs, expected in values.items():
            if OURS.get(theirs) in by_query[query]:
                assert by_query[query][OURS[theirs]] == pytest.approx(expected, abs=1e-12), (query, theirs)


def test_recommendation_of_lists_with_both_ideals():
    content = GOLDEN["ranking"]
    a = assay.retrieval(content["relevant"], content["ranked"], k=3)
    expected = content["expected_k3"]
    for theirs, ours in {
        "precision": "precision@3",
        "recall": "recall@3",
        "map": "map@3",
        "ndcg_achievable_ideal": "ndcg@3",
        "ndcg_full_k_ideal": "ndcg_full@3",
        "mrr": "mrr",
        "hit_rate": "hit_rate@3",
    }.items():
        assert a[ours].value == pytest.approx(expected[theirs], abs=1e-12), ours
    assert a["map"].n == expected["users_scored"]
    assert any('1 query was not judged and left out ("u5")' in note for note in a.notes)


def test_the_gains_that_rainio_quotes():
    gains = [10, 7, 3, 0.5, 0]
    a = assay.retrieval({"q": {f"d{i}": gain for i, gain in enumerate(gains)}}, {"q": [f"d{i}" for i in range(5)]}, k=5)
    assert a["dcg@5"].value == pytest.approx(16.131846554036898, rel=1e-15)
    assert a["ndcg@5"].value == 1


def test_the_ideal_holds_documents_that_were_not_retrieved():
    grades = {"a": 3, "b": 2, "c": 0, "d": 1, "e": 0, "f": 2, "g": 1}
    a = assay.retrieval({"q": grades}, {"q": list("abcdef")}, k=[3, 6])
    assert a["precision@3"].value == pytest.approx(2 / 3)
    assert a["recall@3"].value == pytest.approx(0.4)
    assert a["map"].value == pytest.approx(0.6833333333333333)
    assert a["dcg@6"].value == pytest.approx(5.404950439432353)
    assert a["ndcg@6"].value == pytest.approx(0.8890614752290713)


def test_rank_biased_precision_is_the_textbook_one():
    content = GOLDEN["cases"]["small"]
    a = assay.retrieval(content["qrels"], content["run"], negative="unjudged", measures=["rbp(p=0.8)"])
    order = [1, 0, 1, 1, 0, 0]  # d3 d2 d1 d5 d4 d6: ids fall among equal scores
    assert a["rbp(p=0.8)"].value * 4 == pytest.approx(
        0.2 * sum(hit * 0.8**i for i, hit in enumerate(order)) + 0.2 * 0.8 + 0.2 * 0.8, abs=1e-12
    )
    assert 0.2 * sum(hit * 0.8**i for i, hit in enumerate(order)) == pytest.approx(0.430, abs=5e-4)
