# SPDX-License-Identifier: Apache-2.0
"""What somebody who comes from scikit-learn tries first."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import assay
from assay.assess.record.verification import verify
from assay.measures.declare import ELSEWHERE
from tests.command import assay as run

RNG = np.random.default_rng(5)
TRUTH = RNG.integers(0, 2, 240)
SCORE = RNG.normal(size=240) + TRUTH
CALLED = (SCORE > 0.5).astype(int)
OTHER = SCORE + RNG.normal(size=240)


def assessed():
    a = assay.assess(truth=TRUTH, predicted=CALLED, score=SCORE)
    a["recall"], a["auroc"], a.record
    return a


def failing():
    assay.assess(truth=[1, 0], predicted=[1])


@pytest.mark.parametrize(
    "make",
    [
        assessed,
        lambda: assessed().accept("recall >= 0.5"),
        lambda: assay.compare(truth=TRUTH, predicted={"A": CALLED, "B": 1 - CALLED}, score={"A": SCORE, "B": OTHER}),
        lambda: assay.measure("f_beta(beta=2)"),
        lambda: assay.regression(truth=SCORE, predicted=OTHER),
    ],
    ids=["assessment", "decided", "comparison", "measure", "task"],
)
def test_results_travel_between_processes(make):
    before = make()
    again = pickle.loads(pickle.dumps(before))  # noqa: S301  our own
    if hasattr(before, "record"):
        assert again.record["estimates"] == before.record["estimates"]
        assert again.record["digests"]["tallies"] == before.record["digests"]["tallies"]
    else:
        assert again.title == before.title


def test_an_error_comes_back_from_a_process_pool_with_all_its_lines():
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool, pytest.raises(assay.AssayError) as caught:
        pool.submit(failing).result(timeout=300)
    assert caught.value.code == "rows-unmatched"
    assert caught.value.fix


def test_scores_alone_give_every_measure_that_needs_no_threshold(tmp_path):
    a = assay.assess(truth=TRUTH, score=SCORE, positive=1)
    assert a["auroc"].low < a["auroc"].value < a["auroc"].high
    assert a["prevalence"].value == TRUTH.mean()
    assert a["recall"].value is None
    assert "threshold" in a["recall"].reason
    assert "recall" not in set(a)
    record = assay.load(a.save(tmp_path / "r.json")).record
    assert verify(record).holds
    page = a.report(tmp_path / "r.html").read_text()
    assert "Confusion matrix" not in page


def test_an_estimate_is_used_as_a_number_but_not_compared_as_one():
    estimate = assessed()["f1"]
    assert float(estimate) == estimate.value
    assert f"{estimate:.2f}" == f"{estimate.value:.2f}"
    assert repr(estimate).startswith("<Estimate: f1 0.")
    with pytest.raises(assay.PlanError, match="accept"):
        estimate > 0.5  # noqa: B015
    with pytest.raises(assay.PlanError, match="undefined"):
        float(assay.assess(truth=[0, 0], predicted=[0, 0])["recall"])


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: assay.assess(TRUTH, CALLED), "truth=..., predicted=..."),
        (lambda: assay.assess({"y": TRUTH}), "data=..."),
        (lambda: assay.assess(y_true=TRUTH, y_pred=CALLED), "truth"),
        (lambda: assay.assess(truth=TRUTH, y_score=SCORE), "score"),
        (lambda: assay.assess(truth=TRUTH, predicted=CALLED, pos_label=1), "positive"),
        (lambda: assay.compare(truth=TRUTH, predicted={"A": CALLED, "B": CALLED}, sample_weight=SCORE), "weight"),
    ],
)
def test_the_call_of_another_library_is_answered_with_ours(call, named):
    with pytest.raises(assay.AssayError, match=named.split("=", maxsplit=1)[0]) as caught:
        call()
    assert named in str(caught.value)


def test_names_of_scikit_learn_find_our_measures():
    for theirs, ours in ELSEWHERE.items():
        assert assay.measure(theirs).name == ours
    assert assessed()["roc_auc_score"].measure == "auroc"


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_estimates_become_a_tidy_frame(library):
    a = assay.assess(truth=TRUTH, predicted=CALLED, group={"site": TRUTH * 2})
    frame = a.to_frame(library)
    names = list(frame.columns) if library != "pyarrow" else frame.column_names
    assert names[:2] == ["measure", "class"]
    assert len(frame) == len(a.to_dict()) == len(a.estimates)


def test_a_threshold_chosen_on_the_assessed_rows_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,s\n" + "".join(f"{y},{s!r}\n" for y, s in zip(TRUTH.tolist(), SCORE.tolist(), strict=True)))
    copy = tmp_path / "copy.csv"
    copy.write_text(path.read_text())
    own = {"truth": TRUTH, "score": SCORE}
    for given in (
        {"truth": "y", "score": "s", "data": path, "scores": assay.ScoreSettings(threshold_from=path)},
        {"truth": "y", "score": "s", "data": path, "scores": assay.ScoreSettings(threshold_from=copy)},
        {**own, "scores": assay.ScoreSettings(threshold_from=own)},
    ):
        with pytest.raises(assay.PlanError, match="very rows"):
            assay.assess(**given, threshold="f1", positive=1 if "data" not in given else "1")
    other = {"truth": TRUTH[::2], "score": SCORE[::2]}
    a = assay.assess(**own, threshold="f1", positive=1, scores=assay.ScoreSettings(threshold_from=other))
    assert a.record["operating_points"][0]["optimistic"] is False


def test_groups_are_judged_on_the_command_line(tmp_path):
    path = tmp_path / "rows.csv"
    rows = zip(TRUTH.tolist(), CALLED.tolist(), strict=True)
    path.write_text("y,p,sex\n" + "".join(f"{y},{p},{'fm'[i % 2]}\n" for i, (y, p) in enumerate(rows)))
    asked = ["run", path, "--truth", "y", "--predicted", "p", "--positive", "1", "--group", "sex"]
    done = run(*asked, "--fairness", "equal_opportunity", "--tolerance", "0.9", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "fairness: pass" in done.stdout
    record = assay.load(tmp_path / "out" / "record.json").record
    assert verify(record).holds
    assert "Fairness" in (tmp_path / "out" / "report.html").read_text()
    strict = run(*asked, "--fairness", "equal_opportunity", "--tolerance", "0.0001", "-o", tmp_path / "two")
    assert strict.returncode in (1, 3)
    assert run(*asked, "--fairness", "equal_oportunity", "-o", tmp_path / "x").returncode == 2
