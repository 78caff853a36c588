# SPDX-License-Identifier: Apache-2.0
"""Laws of retrieval: definitions, ties, merging, order of rows, formats and engines."""

from __future__ import annotations

import json
import math
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import assay
from assay.assess.record.verification import verify
from assay.tasks.retrieval import TASK, engine_count
from assay.tasks.retrieval.engine_count import cut_blocks
from assay.tasks.retrieval.estimates import listed_measures
from assay.tasks.retrieval.figures import interpolated_precision
from assay.tasks.retrieval.tally import Rankings
from tests.tasks.retrieval.query_definitions import ordered, orders, values


def sample(seed, queries=12, documents=9, *, digits=0):
    rng = np.random.default_rng(seed)
    truth, run = {}, {}
    for number in range(queries):
        names = [f"d{i}" for i in rng.permutation(30)[: documents + 4]]
        truth[f"q{number}"] = {name: int(rng.choice([0, 0, 1, 2, 3])) for name in names[4:]} | {names[4]: 1}
        run[f"q{number}"] = {name: float(np.round(rng.normal(), digits)) for name in names[:documents]}
    return truth, run


@pytest.mark.parametrize("seed", range(4))
def test_every_measure_equals_its_definition(seed):
    truth, run = sample(seed)
    a = assay.retrieval(truth, run, k=5)
    highest = max(grade for grades in truth.values() for grade in grades.values())
    expected = {query: values(truth[query], ordered(run[query]), highest=highest) for query in truth}
    for name in expected["q0"]:
        mean = np.mean([expected[query][name] for query in truth])
        assert a[name].value == pytest.approx(mean, abs=1e-12), name


def test_a_query_without_a_relevant_document_is_left_out_of_every_mean_but_that_of_the_share_judged():
    truth, run = sample(1)
    plain = assay.retrieval(truth, run, k=5)
    more = assay.retrieval(truth | {"none": {"d0": 0, "d1": 0}}, run | {"none": {"d0": 1.0, "d1": 0.5}}, k=5)
    for name in {estimate.measure for estimate in plain.estimates} - {"judged@5"} | {"dcg", "dcg@3"}:
        assert more[name].value == plain[name].value, name
    assert more["judged@5"].value == (12 * plain["judged@5"].value + 1) / 13


@pytest.mark.parametrize("seed", range(3))
def test_expected_values_are_means_over_all_orders_of_ties(seed):
    rng = np.random.default_rng(seed)
    truth, run = sample(seed, queries=5, documents=7)
    for scores in run.values():
        for name in scores:
            scores[name] = float(rng.integers(0, 3))
    a = assay.retrieval(truth, run, k=5)
    for name in ("precision@5", "recall@5", "ndcg@5", "ndcg", "map", "mrr"):
        means = [np.mean([values(truth[query], order)[name] for order in orders(run[query])]) for query in truth]
        base, at, cutoff = name.partition("@")
        assert a[f"{base}_expected{at}{cutoff}"].value == pytest.approx(np.mean(means), abs=1e-12), name


def test_the_bracket_of_ties_holds_the_best_and_the_worst_order():
    truth, run = sample(5, queries=4, documents=6)
    tally = assay.retrieval(truth, run, k=3).counts
    for best, choose in ((True, max), (False, min)):
        found = TASK.unit_values(tally.order_ties(best=best))
        for query in truth:
            extreme = choose(values(truth[query], order, k=3)["ndcg@3"] for order in orders(run[query]))
            assert found[query]["ndcg@3"] == pytest.approx(extreme, abs=1e-12)


def test_without_ties_expected_values_equal_the_plain_ones():
    truth, run = sample(6, digits=9)
    a = assay.retrieval(truth, run, k=5)
    for name in ("precision", "recall", "ndcg"):
        assert a[f"{name}_expected@5"].value == pytest.approx(a[f"{name}@5"].value, abs=1e-12)
    assert a["map_expected"].value == pytest.approx(a["map"].value, abs=1e-12)
    assert a["mrr_expected"].value == pytest.approx(a["mrr"].value, abs=1e-12)
    assert "map_expected" not in list(a)


def test_values_lie_in_their_ranges_and_the_mean_of_queries_is_the_value():
    truth, run = sample(7, queries=30)
    a = assay.retrieval(truth, run, k=[1, 5], catalogue=30)
    for measure in listed_measures(a.counts, TASK.registry):
        value = a[measure.title].value
        assert value is None or measure.range[0] <= value <= measure.range[1], measure.title
        if measure.title in a.by_unit["q0"]:
            column = [row[measure.title] for row in a.by_unit.values() if row[measure.title] is not None]
            assert value == pytest.approx(np.mean(column), abs=1e-12)


def test_merging_queries_equals_pooling_them():
    truth, run = sample(8)
    names = sorted(truth)
    parts = [
        assay.retrieval({q: truth[q] for q in some}, {q: run[q] for q in some}, catalogue=40)
        for some in (names[:5], names[5:])
    ]
    whole = assay.retrieval(truth, run, catalogue=40)
    assert assay.merge(*parts).counts == whole.counts
    with pytest.raises(assay.PlanError, match="stand in both tallies"):
        parts[0].counts + whole.counts


def test_the_order_of_rows_does_not_matter(tmp_path):
    truth, run = sample(9)
    rows = [(query, name, score) for query, scores in run.items() for name, score in scores.items()]
    tallies = set()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(rows))
        mixed = pd.DataFrame([rows[i] for i in order], columns=["query", "document", "score"])
        path = tmp_path / f"{seed}.txt"
        path.write_text("".join(f"{q} Q0 {d} 1 {s!r} x\n" for q, d, s in mixed.itertuples(index=False)))
        tallies |= {assay.retrieval(truth, mixed).counts.digest(), assay.retrieval(truth, str(path)).counts.digest()}
    assert len(tallies) == 1


@pytest.mark.parametrize("shape", ["by query", "scattered", "not judged between"])
def test_blocks_of_queries_give_the_tally_of_all_rows(tmp_path, monkeypatch, shape):
    truth, run = sample(7)
    if shape == "not judged between":
        run = {name: docs for q, own in run.items() for name, docs in ((q, own), (f"{q}x", {"d1": 1.0, "d2": 0.5}))}
    expected = assay.retrieval(truth, run).counts.digest()
    rows = pd.DataFrame(
        [(q, d, s) for q, own in run.items() for d, s in own.items()], columns=["query", "document", "score"]
    )
    if shape == "scattered":
        rows = rows.sample(frac=1, random_state=1)
    rows.to_parquet(tmp_path / "run.parquet")
    sizes = []

    def cut_small(pieces, most):
        small = (piece.part(a, min(a + 4, len(piece.code))) for piece in pieces for a in range(0, len(piece.code), 4))
        for block in cut_blocks(small, most):
            sizes.append(sum(len(piece.code) for piece in block))
            yield block

    monkeypatch.setattr(engine_count, "BLOCK", 20)
    monkeypatch.setattr(engine_count, "cut_blocks", cut_small)
    assert assay.retrieval(truth, str(tmp_path / "run.parquet")).counts.digest() == expected
    assert len(sizes) > 2
    assert (sizes[-1] == len(rows)) == (shape == "scattered")
    pd.concat([rows, rows.iloc[-1:]]).to_parquet(tmp_path / "twice.parquet")
    with pytest.raises(assay.RowsError, match="more than once under one query"):
        assay.retrieval(truth, str(tmp_path / "twice.parquet"))


def test_every_format_gives_the_same_tally(tmp_path):
    truth, run = sample(10)
    judged = pd.DataFrame(
        [(q, d, g) for q, part in truth.items() for d, g in part.items()], columns=["query_id", "doc_id", "relevance"]
    )
    rows = pd.DataFrame(
        [(q, d, s) for q, part in run.items() for d, s in part.items()], columns=["query_id", "doc_id", "score"]
    )
    expected = assay.retrieval(truth, run).counts
    judged.to_parquet(tmp_path / "qrels.parquet")
    rows.to_parquet(tmp_path / "run.parquet")
    judged.to_csv(tmp_path / "qrels.tsv", sep="\t", index=False)
    rows.to_csv(tmp_path / "run.csv", index=False)
    rows.to_json(tmp_path / "run.jsonl", orient="records", lines=True)
    (tmp_path / "run.json").write_text(json.dumps(run))
    (tmp_path / "qrels.txt").write_text("# made up\n" + "".join(f"{q}\t0\t{d}\t {g}\n" for q, d, g in judged.values))
    (tmp_path / "odd.run").write_text("".join(f"{q}  Q0 {d}\t1 {s!r} x \n" for q, d, s in rows.values))
    (tmp_path / "plain.run").write_text("".join(f"{q} Q0 {d} 1 {s!r} x\n" for q, d, s in rows.values))
    for truth_ in (
        judged,
        pl.from_pandas(judged),
        *(str(tmp_path / f"qrels.{end}") for end in ("parquet", "tsv", "txt")),
    ):
        assert assay.retrieval(truth_, run).counts == expected
    names = ("run.parquet", "run.csv", "run.jsonl", "run.json", "odd.run", "plain.run")
    columns = {name: rows[name].to_numpy() for name in rows}
    for run_ in (rows, pl.from_pandas(rows), columns, *(str(tmp_path / name) for name in names)):
        assert assay.retrieval(truth, run_).counts == expected, run_


def test_columns_may_be_stated():
    truth, run = sample(11)
    rows = pd.DataFrame(
        [(q, d, s) for q, part in run.items() for d, s in part.items()], columns=["frage", "text", "wert"]
    )
    a = assay.retrieval(truth, rows, query_column="frage", document_column="text", score_column="wert")
    assert a.counts == assay.retrieval(truth, run).counts


def test_the_record_loads_and_verifies(tmp_path):
    truth, run = sample(12)
    a = assay.retrieval(truth, run, catalogue=50, popularity={f"d{i}": (i + 1) / 40 for i in range(30)}, k=[1, 5])
    again = assay.load(a.save(tmp_path / "record.json"))
    assert verify(again.record).holds
    assert again.counts == a.counts
    assert Rankings.from_json(json.loads(json.dumps(a.counts.to_json()))) == a.counts
    assert (tmp_path / "record.json").stat().st_size < 300_000


def test_coverage_novelty_and_exposure_of_lists():
    lists = {"u1": ["a", "b"], "u2": ["a", "c"], "u3": ["a", "b"]}
    a = assay.retrieval(
        {user: ["a"] for user in lists}, lists, k=[1, 2], catalogue=6, popularity={"a": 0.5, "b": 0.25, "c": 0.125}
    )
    assert a["coverage@1"].value == pytest.approx(1 / 6)
    assert a["coverage@2"].value == pytest.approx(3 / 6)
    assert a["novelty@1"].value == pytest.approx(1)
    assert a["novelty@2"].value == pytest.approx((3 * 1 + 2 * 2 + 3) / 6)
    shown = np.array([0, 0, 0, 1, 2, 3])
    gini = np.abs(shown[:, None] - shown[None]).sum() / (2 * 36 * shown.mean())
    assert a["exposure_gini@2"].value == pytest.approx(gini)
    assert a["coverage@1"].low is None
    assert assay.retrieval({user: ["a"] for user in lists}, lists)["coverage@1"].value is None


def test_interpolated_precision_is_the_highest_precision_from_that_recall_on():
    truth, run = sample(13)
    tally = assay.retrieval(truth, run).counts
    expected = []
    for step in range(11):
        column = []
        for query, grades in truth.items():
            hit = [grades.get(name, 0) >= 1 for name in ordered(run[query])]
            relevant = sum(grade >= 1 for grade in grades.values())
            points = [(sum(hit[: i + 1]) / relevant, sum(hit[: i + 1]) / (i + 1)) for i, h in enumerate(hit) if h]
            column.append(max((p for r, p in points if r >= step / 10 - 1e-9), default=0.0))
        expected.append(np.mean(column))
    assert interpolated_precision(tally) == pytest.approx(expected, abs=1e-12)


def test_groups_of_queries_are_given_by_query():
    truth, run = sample(14)
    kind = {query: "even" if int(query[1:]) % 2 == 0 else "odd" for query in truth}
    a = assay.retrieval(truth, run, group={"kind": kind})
    odd = [query for query, level in kind.items() if level == "odd"]
    alone = assay.retrieval({q: truth[q] for q in odd}, {q: run[q] for q in odd})
    assert a.by_group["kind"]["odd"]["map"].value == alone["map"].value


def test_two_runs_are_compared_by_swaps_of_queries():
    truth, run = sample(15, queries=40)
    better = {q: {d: s + 2 * (truth[q].get(d, 0) >= 1) for d, s in scores.items()} for q, scores in run.items()}
    c = assay.compare(task="retrieval", truth=truth, predicted={"old": run, "new": better})
    old, new = (assay.retrieval(truth, one) for one in (run, better))
    finding = c["map"]
    assert finding.effect.value == pytest.approx(old["map"].value - new["map"].value, abs=1e-12)
    assert finding.p < 0.01
    assert finding.adjusted.by == "Holm"
    assert c.ranking[0].model == "new"
    same = assay.compare(task="retrieval", truth=truth, predicted={"a": run, "b": run})
    assert same["map"].p is None
    assert verify(c.record).holds


def test_other_cut_offs_come_from_the_same_tally():
    truth, run = sample(16)
    a = assay.retrieval(truth, run, k=5)
    assert a["ndcg@7"].value == assay.retrieval(truth, run, k=7)["ndcg@7"].value
    assert a["rbp(p=0.5)"].value != a["rbp(p=0.8)"].value
    with pytest.raises(assay.PlanError):
        a["ndcg(k=0)"]


def test_the_share_judged_counts_queries_with_one_document_and_leaves_out_those_with_none():
    truth = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}, "q3": {"a": 1}}
    run = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"x": 1.0}}
    a = assay.retrieval(truth, run, measures=["judged(k=2)", "judged(k=3)"])
    assert [a[f"judged(k={k})"].value for k in (2, 3)] == pytest.approx([(2 / 2 + 0) / 2, (2 / 3 + 0) / 2])


@pytest.mark.parametrize("relevant", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("first", ["tied", "alone"])
def test_the_expected_reciprocal_rank_is_the_mean_over_all_orders_of_tied_documents(relevant, first):
    tied = [f"d{i}" for i in range(6)]
    judged, lead = {name: int(i < relevant) for i, name in enumerate(tied)}, ["d9"] if first == "alone" else []
    run = dict.fromkeys(tied, 1.0) | dict.fromkeys(lead, 2.0)
    ranks = [1 / (1 + [*lead, *order].index(next(name for name in order if judged[name])))
             for order in permutations(tied)]  # fmt: skip
    found = assay.retrieval({"q": judged | dict.fromkeys(lead, 0)}, {"q": run})["mrr_expected"]
    assert found.value == pytest.approx(math.fsum(ranks) / len(ranks), rel=1e-12)
