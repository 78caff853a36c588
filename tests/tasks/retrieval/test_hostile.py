# SPDX-License-Identifier: Apache-2.0
"""Bad input of retrieval, by the ids of the acceptance cases where there is one."""

from __future__ import annotations

import pandas as pd
import pytest

import assay
from assay.core.errors import PlanError
from assay.tasks.retrieval.measures.lists import check_cutoff


def test_h01_a_missing_query_scores_0_and_is_listed():
    a = assay.retrieval({"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": {"d1": 2.0, "d9": 1.0}})
    assert a["map"].value == 0.5
    assert a["map"].n == 2
    assert any('1 query ("q2") without a result in the run: the value is 0' in note for note in a.notes)
    assert a.record["queries"]["without_result"] == 1
    both = assay.retrieval({"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": {"d1": 2.0}}, average="both")
    assert both["map"].value == 1
    assert any("both judged and in the run" in note for note in both.notes)


def test_h02_a_query_without_judgements_is_listed_and_not_in_the_mean():
    a = assay.retrieval({"q1": {"d1": 1}}, {"q1": {"d1": 2.0}, "qX": {"d1": 2.0}})
    assert a["map"].value == 1
    assert a["map"].n == 1
    assert any('1 query was not judged and left out ("qX")' in note for note in a.notes)
    assert a.census.excluded == {"its query was not judged": 1}


def test_h03_a_query_without_a_relevant_document_has_no_value():
    a = assay.retrieval({"q1": {"d1": 1}, "q2": {"d2": 0}}, {"q1": {"d1": 2.0}, "q2": {"d2": 2.0}})
    assert a.by_unit["q2"]["map"] is None
    assert a["map"].value == 1
    assert a["map"].n == 1
    assert any("without a relevant document: left out of every mean" in note for note in a.notes)
    alone = assay.retrieval({"q2": {"d2": 0}}, {"q2": {"d2": 2.0}})
    assert alone["map"].value is None
    assert alone["map"].reason == "no query has a relevant document"
    assert alone["ndcg@10"].reason == "no query has a document with a grade above 0"


def test_h04_ties_follow_the_names_of_documents_and_expected_values_do_not():
    first = assay.retrieval({"q1": {"d1": 1}}, {"q1": {"d1": 1.0, "d2": 1.0}})
    second = assay.retrieval({"q1": {"d2": 1}}, {"q1": {"d2": 1.0, "d1": 1.0}})
    assert (first["mrr"].value, second["mrr"].value) == (0.5, 1.0)
    assert first["mrr_expected"].value == second["mrr_expected"].value == pytest.approx(0.75)
    assert any("1 judged document of 1 query has the score of another document" in note for note in first.notes)
    assert first["mrr"].notes == ("from 0.500 to 1.000 by the order of tied documents",)


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_h06_a_score_that_is_not_finite_is_refused(score, tmp_path):
    run = {"q1": {"a": score, "b": 1.0, "c": 0.5}}
    (tmp_path / "run.txt").write_text("".join(f"q1 Q0 {d} 1 {s} x\n" for d, s in run["q1"].items()))
    frame = pd.DataFrame({"query": "q1", "document": list("abc"), "score": [1.0, 0.5, 0.1]})
    for given in (run, str(tmp_path / "run.txt")):
        with pytest.raises(assay.RowsError) as error:
            assay.retrieval({"q1": {"a": 1}}, given)
        assert error.value.code == "score-not-finite"
        assert "a" in error.value.found
    with pytest.raises(assay.RowsError):
        assay.retrieval({"q1": {"a": 1}}, frame.assign(score=[score, 1.0, 2.0]))


def test_h07_negative_grades_are_refused_unless_their_meaning_is_stated():
    truth, run = {"q1": {"a": -1, "b": 2, "c": 0}}, {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}}
    with pytest.raises(assay.RowsError) as error:
        assay.retrieval(truth, run)
    assert error.value.code == "value-out-of-domain"
    assert "negative='unjudged'" in error.value.fix
    assert assay.retrieval(truth, run, negative="unjudged")["bpref"].value == 1
    assert assay.retrieval(truth, run, negative="zero")["bpref"].value == 0


def test_h09_precision_divides_by_k_and_an_empty_run_is_refused():
    a = assay.retrieval({"q1": {"a": 1, "b": 1}}, {"q1": {"a": 1.0}}, k=10)
    assert a["precision@10"].value == pytest.approx(0.1)
    assert "/ k" in a.measures.find("precision").formula
    with pytest.raises(assay.RowsError) as error:
        assay.retrieval({"q1": {"a": 1}}, {"q1": {}})
    assert error.value.code == "no-rows"


def test_a_document_that_stands_twice_is_refused(tmp_path):
    (tmp_path / "run.txt").write_text("q1 Q0 a 1 2.0 x\nq1 Q0 b 2 1.0 x\nq1 Q0 a 3 0.5 x\n")
    rows = pd.DataFrame({"query": ["q1", "q1"], "document": ["a", "a"], "score": [1.0, 2.0]})
    for run in (str(tmp_path / "run.txt"), rows):
        with pytest.raises(assay.RowsError) as error:
            assay.retrieval({"q1": {"a": 1}}, run)
        assert error.value.code == "duplicate-id"
        assert "q1 a" in error.value.found
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 a 0\n")
    with pytest.raises(assay.RowsError) as error:
        assay.retrieval(str(tmp_path / "qrels.txt"), {"q1": {"a": 1.0}})
    assert error.value.code == "duplicate-id"


def test_the_same_document_in_two_unjudged_queries_is_no_duplicate(tmp_path):
    (tmp_path / "run.txt").write_text("q1 Q0 a 1 2.0 x\nq8 Q0 a 1 2.0 x\nq9 Q0 a 1 2.0 x\n")
    assert assay.retrieval({"q1": {"a": 1}}, str(tmp_path / "run.txt")).counts.outside.queries == 2


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("q1 Q0 a 1 2.0\n", "ragged-row"),
        ("q1 Q0 a 1 high x\n", "column-not-numeric"),
        ("", "no-rows"),
        ("# nothing but words\n", "no-rows"),
        ("q1 Q0 \xff 1 2.0 x\n", "encoding"),
    ],
)
def test_a_run_that_is_not_one_is_refused_with_its_place(text, code, tmp_path):
    path = tmp_path / "run.txt"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(assay.RowsError) as error:
        assay.retrieval({"q1": {"a": 1}}, str(path))
    assert error.value.code == code
    assert error.value.where is not None


def test_a_table_without_a_known_column_says_which_names_are_known():
    with pytest.raises(assay.MissingColumn) as error:
        assay.retrieval({"q1": {"a": 1}}, pd.DataFrame({"frage": ["q1"], "document": ["a"], "score": [1.0]}))
    assert "query_column" in error.value.fix
    assert "query_id" in error.value.known


@pytest.mark.parametrize(
    "given",
    [
        {"k": 0},
        {"k": [5, "x"]},
        {"unit": "subject"},
        {"negative": "maybe"},
        {"catalogue": 0},
        {"popularity": {"a": 0.5}},
        {"group": {"kind": ["x"]}},
        {"catalogue": 1, "predicted": {"q1": {"a": 1.0, "b": 0.5}}},
        {"predicted": None},
    ],
)
def test_options_that_make_no_sense_are_refused(given):
    with pytest.raises(assay.AssayError):
        assay.retrieval(**{"truth": {"q1": {"a": 1}}, "predicted": {"q1": {"a": 1.0}}, **given})


@pytest.mark.parametrize("p", ["0", "1", "-0.5", "1.5"])
def test_a_reader_goes_on_with_a_probability_between_0_and_1(p):
    a = assay.retrieval({"q1": {"a": 1}}, {"q1": {"a": 1.0}})
    with pytest.raises(assay.PlanError, match="is not a probability between 0 and 1"):
        a[f"rbp(p={p})"]


def test_too_few_queries_have_no_interval():
    a = assay.retrieval({f"q{i}": {"a": 1} for i in range(4)}, {f"q{i}": ["b", "a"][i % 2 :] for i in range(4)})
    assert a["map"].low is None
    assert "needs 10 or more" in a["map"].no_interval


@pytest.mark.parametrize("cutoff", [True, 0, 1.5, "3"])
def test_a_cutoff_is_a_whole_number_from_1_on(cutoff):
    with pytest.raises(PlanError, match="is not a cut-off"):
        check_cutoff(cutoff)
